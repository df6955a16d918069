"""The results that the kernel computes for a case, by rounding mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tiebreak.conformance.judging.other_order import has_orders, in_other_order
from tiebreak.golden import kernel
from tiebreak.golden.elements import FloatType
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.nodes import Case, Expected, Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, ZERO, Array, Problem
from tiebreak.golden.problems import output_slices, problems_of

ENDS = ("ROUND_DOWN", "ROUND_UP")  # the modes that give the ends of what a bounded node allows


@dataclass(frozen=True)
class Truth:
    """Both results of one case under one mode: codes (int64) and what is specified (bool), flat, output by output.

    A quotient may leave the range only by its rounding to the input's type. nGraph's text then specifies the exact
    result but not the working one. `zero` marks real results that are zero in real arithmetic.
    """

    exact: Array
    working: Array
    exact_specified: Array
    working_specified: Array
    zero: Array = field(default_factory=lambda: np.zeros((), bool))

    @property
    def specified(self) -> Array:
        """The elements that can be wrong: both forms are specified."""
        both: Array = self.exact_specified & self.working_specified
        return both

    def agrees(self, values: Array) -> Array:
        """The elements where `values` (codes) equal one of the two results."""
        agreement: Array = (values == self.exact) | (values == self.working)
        return agreement


@dataclass(frozen=True)
class MadeTruths(Mapping[str, Truth]):
    """Truths by rounding mode, each made when it is first asked for."""

    modes: Sequence[str]
    make: Callable[[str], Truth]
    made: dict[str, Truth] = field(default_factory=dict)

    def __getitem__(self, mode: str) -> Truth:
        if mode not in self.modes:
            raise KeyError(mode)
        if mode not in self.made:
            self.made[mode] = self.make(mode)
        return self.made[mode]

    def __iter__(self) -> Iterator[str]:
        return iter(self.modes)

    def __len__(self) -> int:
        return len(self.modes)


@dataclass(frozen=True)
class Truths:
    """A case's truths by rounding mode, with the modes that its document allows.

    Where nothing is rounded to an integer, the only mode is the empty text. If the node is `bounded`, see
    Node.is_bounded, the modes of ENDS are there, too.
    """

    by_mode: Mapping[str, Truth]
    allowed: tuple[str, ...]
    problems: tuple[Problem, ...]
    bounded: bool = False

    @cached_property
    def judged_by(self) -> Truth:
        """The truth by which the case is judged; where several modes are allowed, specified only where they agree."""
        first, *others = (self.by_mode[mode] for mode in self.allowed)
        exact, working = first.exact_specified.copy(), first.working_specified.copy()
        for other in others:
            exact &= other.exact_specified & (other.exact == first.exact)
            working &= other.working_specified & (other.working == first.working)
        return Truth(first.exact, first.working, exact, working, first.zero)

    @cached_property
    def open_between_modes(self) -> Array:
        """The elements whose allowed modes all give a result, but not the same one; any of these results conforms."""
        result = np.zeros(self.by_mode[self.allowed[0]].exact.shape, bool)
        if len(self.allowed) > 1:
            all_specified = np.logical_and.reduce([self.by_mode[mode].specified for mode in self.allowed])
            result = all_specified & ~self.judged_by.specified
        return result

    def contradicts_all_allowed(self, values: Array) -> Array:
        """The elements that are open between modes where `values` are none of their results."""
        if len(self.allowed) == 1:
            return np.zeros(self.open_between_modes.shape, bool)
        agrees = np.logical_or.reduce([self.by_mode[mode].agrees(values) for mode in self.allowed])
        return np.asarray(self.open_between_modes & ~agrees)

    def within_bounds(self, values: Array) -> Array:
        """The elements of a bounded node where `values` are between both ends; none of another node."""
        specified = self.judged_by.specified
        if not self.bounded:
            return np.zeros(specified.shape, bool)
        low, high = (self.by_mode[mode].working for mode in ENDS)
        return np.asarray(specified & (low <= values) & (values <= high))

    def in_other_order(self, values: Array, among: Array) -> Array:
        """Which of the elements `among` (bool) another order of the document's steps gives."""
        found = np.zeros(among.shape, bool)
        for problem, own in zip(self.problems, output_slices(self.problems), strict=True):
            places = np.flatnonzero(among[own])
            if places.size and has_orders(problem):
                found[own.start + places] = in_other_order(problem.some(places), values[own][places], self.allowed)
        return found

    def allowed_codes(self, at: int) -> list[int]:
        """The distinct codes that the allowed modes give for one element, in either form."""
        found = [self.by_mode[mode] for mode in self.allowed]
        return list(dict.fromkeys(int(codes[at]) for truth in found for codes in (truth.exact, truth.working)))

    @property
    def compared(self) -> dict[str, Truth]:
        """The truths of all rounding modes; empty where nothing is rounded."""
        return {mode: truth for mode, truth in self.by_mode.items() if mode}


Solve = Callable[..., tuple[Array, Array]]  # codes and states of a problem: the kernel's solve or the oracle's


def truths_of(case: Case, modes: Sequence[str] = ()) -> Truths:
    """The case's truths in the modes that it allows, and in `modes`.

    Raises MachineryFailed if the kernel contradicts the case's golden vector.
    """
    truths = truths_by(kernel.solve, case, modes)
    check_against_vector(case, truths.judged_by)
    return truths


def truths_by(solve: Solve, case: Case, modes: Sequence[str] = ()) -> Truths:
    """The case's truths in the modes that it allows, and in `modes`, by the kernel or by the oracle."""
    problems, allowed = problems_of(case), case.node.modes or ("",)
    wanted = dict.fromkeys((*allowed, *modes, *ends_of(case.node)))
    by_mode = {mode: truth_by(solve, case, problems, mode) for mode in wanted}
    return Truths(by_mode, allowed, problems, case.node.is_bounded)


def ends_of(node: Node) -> tuple[str, ...]:
    """The modes beside the allowed ones that a node is judged by."""
    return ENDS if node.is_bounded else ()


def kernel_truth(case: Case, problems: Sequence[Problem], mode: str) -> Truth:
    """The kernel's results in both forms, output by output."""
    return truth_by(kernel.solve, case, problems, mode)


def truth_by(solve: Solve, case: Case, problems: Sequence[Problem], mode: str) -> Truth:
    saturates = get_operator(case.node.operator).saturates
    exact, exact_state = solved(solve, problems, mode, working=False)
    working, working_state = solved(solve, problems, mode, working=True)
    zero = (exact_state == ZERO) | (working_state == ZERO)
    return Truth(exact, working, is_specified(exact_state, saturates), is_specified(working_state, saturates), zero)


def solved(solve: Solve, problems: Sequence[Problem], mode: str, *, working: bool) -> tuple[Array, Array]:
    pairs = [solve(problem, working=working, mode=mode or None) for problem in problems]
    return np.concatenate([codes for codes, _ in pairs]), np.concatenate([states for _, states in pairs])


def is_specified(state: Array, saturates: bool) -> Array:
    found: Array = (state == IN_RANGE) | (state == ZERO) | ((state == OUT_OF_RANGE) & saturates)
    return found


def check_against_vector(case: Case, truth: Truth) -> None:
    """MachineryFailed if the kernel's `truth` differs from the case's stored results, which the oracle computed."""
    if case.expected is not None and differs_from_vector(case.expected, truth):
        raise MachineryFailed(f"{case.id}: the kernel and the golden vector disagree; one of them is wrong")


def differs_from_vector(stored: Expected, truth: Truth) -> bool:
    exact, working = is_specified(stored.exact_state, False), is_specified(stored.working_state, False)
    same = np.array_equal(exact, truth.exact_specified) and np.array_equal(working, truth.working_specified)
    if not same:
        return True
    return bool(np.any((stored.exact != truth.exact)[exact]) or np.any((stored.working != truth.working)[working]))


def canonical(codes: Array, problem: Problem) -> Array:
    """The codes of an output with every NaN replaced by the type's canonical NaN."""
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
