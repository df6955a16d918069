"""What the kernel says a case must give, for its own rounding mode and for each of the others."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tiebreak.golden import kernel
from tiebreak.golden.elements import FloatType
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, ZERO, Array, Problem
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES


@dataclass(frozen=True)
class Truth:
    """Both truths of one case under one mode, flat, outputs one after the other, with what the spec speaks of.

    In nGraph's text a quotient may leave the range only when it is rounded to the input's type; then the spec speaks
    of the exact result but not of the other. `zero` marks real results that are zero in real arithmetic.
    """

    exact: Array
    working: Array
    exact_specified: Array
    working_specified: Array
    zero: Array = field(default_factory=lambda: np.zeros((), bool))

    @property
    def specified(self) -> Array:
        """Where a result can be wrong: both forms are specified."""
        both: Array = self.exact_specified & self.working_specified
        return both

    def agrees(self, values: Array) -> Array:
        """Where `values` equal one of the two."""
        agreement: Array = (values == self.exact) | (values == self.working)
        return agreement


@dataclass(frozen=True)
class Truths:
    """A case's truths by rounding mode, and those modes that its document allows (none if nothing is rounded).

    The one key of `by_mode` is empty where nothing is rounded to an integer.
    """

    by_mode: dict[str, Truth]
    allowed: tuple[str, ...]
    problems: tuple[Problem, ...]

    @cached_property
    def own(self) -> Truth:
        """The truth by which the case is judged; where several modes are allowed, specified only where they agree."""
        first, *others = (self.by_mode[mode] for mode in self.allowed)
        exact, working = first.exact_specified.copy(), first.working_specified.copy()
        for other in others:
            exact &= other.exact_specified & (other.exact == first.exact)
            working &= other.working_specified & (other.working == first.working)
        return Truth(first.exact, first.working, exact, working, first.zero)

    @cached_property
    def open_between_modes(self) -> Array:
        """Where every allowed mode gives a result, but not the same: one of them must have come."""
        result = np.zeros(self.by_mode[self.allowed[0]].exact.shape, bool)
        if len(self.allowed) > 1:
            all_specified = np.logical_and.reduce([self.by_mode[mode].specified for mode in self.allowed])
            result = all_specified & ~self.own.specified
        return result

    def any_agrees(self, values: Array) -> Array:
        found: Array = np.logical_or.reduce([self.by_mode[mode].agrees(values) for mode in self.allowed])
        return found

    def allowed_codes(self, at: int) -> list[int]:
        """Every result that an allowed mode gives for an element, in either form, without repeats."""
        found = [self.by_mode[mode] for mode in self.allowed]
        return list(dict.fromkeys(int(codes[at]) for truth in found for codes in (truth.exact, truth.working)))

    @property
    def compared(self) -> dict[str, Truth]:
        """The modes that rounding can be compared with; nothing where nothing is rounded."""
        return {mode: truth for mode, truth in self.by_mode.items() if mode}


MOST_KEPT = 2_000_000  # elements in one mode of the cases whose truths are kept


class TruthCache:
    """Truths of all modes, computed once for cases that share their inputs (the vectors of a group do).

    Backends that run the same cases side by side share it; what was not asked for longest goes first.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: OrderedDict[tuple[int, str], tuple[object, dict[str, Truth]]] = OrderedDict()
        self.elements = 0

    def of(self, case: Case) -> Truths:
        node = case.node
        attributes = sorted((name, str(value)) for name, value in node.attributes.items() if name != "round_mode")
        key = id(case.inputs), f"{node.operator} {node.opset} {node.output_type} {attributes}"
        problems = problems_of(case)  # of each case anew, since they say its rounding mode
        truths = Truths(self.find(key, case, problems), node.modes or ("",), problems)
        check_against_vector(case, truths.own)
        return truths

    def find(self, key: tuple[int, str], case: Case, problems: tuple[Problem, ...]) -> dict[str, Truth]:
        with self.lock:
            found = self.kept.get(key)
            if found is not None:  # an id is good as long as what it belongs to is kept
                self.kept.move_to_end(key)
                return found[1]
        modes = tuple(ROUND_MODES) if case.node.modes else ("",)
        by_mode = {mode: kernel_truth(case, problems, mode) for mode in modes}
        with self.lock:
            if key not in self.kept:  # another backend may have been quicker
                self.elements += by_mode[modes[0]].exact.size
            self.kept[key] = case.inputs, by_mode
            while self.elements > MOST_KEPT and len(self.kept) > 1:
                _, (_, oldest) = self.kept.popitem(last=False)
                self.elements -= next(iter(oldest.values())).exact.size
        return by_mode


def kernel_truth(case: Case, problems: Sequence[Problem], mode: str) -> Truth:
    """The kernel's results in both forms, the outputs one after the other."""
    saturates = get_operator(case.node.operator).saturates
    exact, exact_state = solved(problems, mode, working=False)
    working, working_state = solved(problems, mode, working=True)
    zero = (exact_state == ZERO) | (working_state == ZERO)
    return Truth(exact, working, is_specified(exact_state, saturates), is_specified(working_state, saturates), zero)


def solved(problems: Sequence[Problem], mode: str, *, working: bool) -> tuple[Array, Array]:
    pairs = [kernel.solve(problem, working=working, mode=mode or None) for problem in problems]
    return np.concatenate([codes for codes, _ in pairs]), np.concatenate([states for _, states in pairs])


def is_specified(state: Array, saturates: bool) -> Array:
    found: Array = (state == IN_RANGE) | (state == ZERO) | ((state == OUT_OF_RANGE) & saturates)
    return found


def check_against_vector(case: Case, truth: Truth) -> None:
    """The stored results are the oracle's, `truth` is the kernel's: MachineryFailed if they differ."""
    stored = case.expected
    if stored is None:
        return
    exact, working = is_specified(stored.exact_state, False), is_specified(stored.working_state, False)
    same = np.array_equal(exact, truth.exact_specified) and np.array_equal(working, truth.working_specified)
    if not same or np.any((stored.exact != truth.exact)[exact]) or np.any((stored.working != truth.working)[working]):
        raise MachineryFailed(f"{case.id}: the kernel and the golden vector disagree; one of them is wrong")


def canonical(codes: Array, problem: Problem) -> Array:
    """Codes of an output with every NaN of a real type made the one that stands for NaN."""
    kind = problem.result
    if not isinstance(kind, FloatType) or kind.nan_bits is None:
        return codes
    nans = np.array([kind.nan_bits], np.uint64).view(np.int64)[0]
    return np.where(is_nan(codes, kind), nans, codes)


def is_nan(codes: Array, kind: FloatType) -> Array:
    unsigned = codes.view(np.uint64)
    if kind.specials in ("fnuz", "e8m0", "none"):
        return np.asarray(unsigned == np.uint64(kind.nan_bits if kind.nan_bits is not None else 1 << 63))
    magnitude = unsigned & np.uint64((1 << (kind.bits - 1)) - 1)
    limit = np.uint64(kind.infinity_bits)
    return np.asarray(magnitude > limit if kind.specials == "ieee" else magnitude == limit)
