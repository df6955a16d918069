"""The truths of many cases at once, computed once for all backends: arrays over all elements of a chunk of cases.

The elements stand case by case and, within a case, output by output.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from tiebreak.conformance.judging.boundary import RoundedNumber
from tiebreak.conformance.judging.domains import CALIBRATED, EDGE, PATHOLOGICAL, domains_of
from tiebreak.conformance.judging.exponents import exponents
from tiebreak.conformance.judging.families import Family, families_of, parts, solve_families
from tiebreak.conformance.judging.judge import negative_zero
from tiebreak.conformance.judging.narrow import narrow, widened
from tiebreak.conformance.judging.other_order import has_orders, in_other_order
from tiebreak.conformance.judging.truths import (
    MadeTruths,
    Truth,
    Truths,
    check_against_vector,
    differs_from_vector,
    is_specified,
)
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.nodes import Case, Expected
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import ZERO, Array, Problem
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES

MOST_CASES = 512
MOST_ELEMENTS = 1 << 15  # of the first inputs; a larger case is a chunk by itself
MOST_KEPT = 3_000_000  # elements of the chunks whose truths are kept, counted in one mode


@dataclass(frozen=True)
class Chunk:
    """Consecutive cases of one operator, what they pose, and what the kernel and their documents say of it.

    `starts` has the place of each case's first element and, at its end, the number of all elements.
    """

    cases: tuple[Case, ...]
    problems: tuple[tuple[Problem, ...], ...] = field(init=False)
    starts: Array = field(init=False)
    families: list[Family] = field(init=False)
    operand_texts: dict[int, str] = field(default_factory=dict)  # by place: made for the first backend that needs one
    rounded: dict[int, RoundedNumber] = field(default_factory=dict)  # by place: what is rounded to an integer
    confirmed: set[int] = field(default_factory=set)  # places where the oracle gave the kernel's results

    def __post_init__(self) -> None:
        problems = tuple(problems_of(case) for case in self.cases)
        sizes = [sum(math.prod(problem.shape) for problem in outputs) for outputs in problems]
        starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        object.__setattr__(self, "problems", problems)
        object.__setattr__(self, "starts", starts)
        object.__setattr__(self, "families", families_of(self.cases, problems, starts))

    @property
    def operator(self) -> str:
        return self.cases[0].node.operator

    @property
    def size(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def sizes(self) -> Array:
        return np.diff(self.starts)

    @cached_property
    def case_of(self) -> Array:
        """The number of each element's case."""
        return np.repeat(np.arange(len(self.cases)), self.sizes)

    def by_case(self, mask: Array) -> Array:
        """How many elements of each case are in the mask."""
        sums = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
        return np.asarray(sums[self.starts[1:]] - sums[self.starts[:-1]])

    @cached_property
    def modes(self) -> tuple[str, ...]:
        """The rounding modes of the truths; the empty text alone where nothing is rounded to an integer."""
        return tuple(ROUND_MODES) if self.cases[0].node.modes else ("",)

    @cached_property
    def by_mode(self) -> MadeTruths:
        """The kernel's results of all elements in both forms, by rounding mode; codes in narrow types."""
        masks: list[Array] = []
        return MadeTruths(self.modes, lambda mode: compact(self.truth_of_mode(mode), masks))

    def truth_of_mode(self, mode: str) -> Truth:
        saturates = get_operator(self.operator).saturates
        exact, exact_state = solve_families(self.families, self.size, mode, working=False)
        working, working_state = solve_families(self.families, self.size, mode, working=True)
        zero = (exact_state == ZERO) | (working_state == ZERO)
        return Truth(exact, working, is_specified(exact_state, saturates), is_specified(working_state, saturates), zero)

    @cached_property
    def allowed(self) -> list[tuple[str, ...]]:
        """The rounding modes that each case's document allows."""
        return [case.node.modes or ("",) for case in self.cases]

    @cached_property
    def by_allowed(self) -> list[tuple[Truths, Array]]:
        """The truths under each set of allowed modes that occurs, with the elements (bool) that it holds for."""
        found = []
        for allowed in dict.fromkeys(self.allowed):
            own = np.array([one == allowed for one in self.allowed])
            found.append((Truths(self.by_mode, allowed, ()), np.repeat(own, self.sizes)))
        return found

    @cached_property
    def judged_by(self) -> Truth:
        """The truth by which the elements are judged. MachineryFailed if it differs from a case's golden vector."""
        (first, _), *others = self.by_allowed
        if others:
            names = ("exact", "working", "exact_specified", "working_specified", "zero")
            arrays = [np.empty(self.size, np.int64 if name in names[:2] else bool) for name in names]
            for truths, own in self.by_allowed:
                for array, name in zip(arrays, names, strict=True):
                    array[own] = getattr(truths.judged_by, name)[own]
            found = compact(Truth(*arrays), [])
        else:
            found = first.judged_by
        self.check_vectors(found)
        return found

    def check_vectors(self, truth: Truth) -> None:
        """MachineryFailed if the kernel's `truth` differs from the stored results of a golden vector."""
        stored = [(number, case.expected) for number, case in enumerate(self.cases) if case.expected is not None]
        if not stored:
            return
        own = np.zeros(len(self.cases), bool)
        own[[number for number, _ in stored]] = True
        names = [field.name for field in fields(Expected)]
        expected = Expected(*(np.concatenate([getattr(one, name) for _, one in stored]) for name in names))
        if differs_from_vector(expected, part_of_truth(truth, np.repeat(own, self.sizes))):
            for number, _ in stored:
                check_against_vector(self.cases[number], part_of_truth(truth, self.of_case(number)))

    def of_case(self, number: int) -> slice:
        """The places of one case's elements."""
        return slice(int(self.starts[number]), int(self.starts[number + 1]))

    @cached_property
    def open_between_modes(self) -> Array:
        """The elements whose allowed modes all give a result, but not the same one."""
        found = np.zeros(self.size, bool)
        for truths, own in self.by_allowed:
            found |= own & truths.open_between_modes
        return found

    def contradicts_all_allowed(self, values: Array) -> Array:
        """The elements that are open between modes where `values` are none of their results."""
        found = np.zeros(self.size, bool)
        if self.open_between_modes.any():
            for truths, own in self.by_allowed:
                if len(truths.allowed) > 1:
                    found |= own & truths.contradicts_all_allowed(values)
        return found

    def within_bounds(self, values: Array) -> Array:
        """The elements of bounded nodes where `values` are between both ends."""
        found = np.zeros(self.size, bool)
        if self.bounded.any():
            truths = Truths(self.by_mode, self.allowed[int(self.bounded.argmax())], (), True)
            found = np.repeat(self.bounded, self.sizes) & truths.within_bounds(values)
        return found

    def in_other_order(self, values: Array, among: Array) -> Array:
        """Which of the elements `among` (bool) another order of the document's steps gives."""
        found = np.zeros(self.size, bool)
        if not any(has_orders(family.problem) for family in self.families):
            return found
        for truths, own in self.by_allowed:
            for _, places, problem in parts(self.families, among & own):
                found[places] = in_other_order(problem, values[places], truths.allowed)
        return found

    @cached_property
    def bounded(self) -> Array:
        """Which cases (bool) have a bounded node; see Node.is_bounded."""
        return np.array([case.node.is_bounded for case in self.cases])

    def truths_of(self, number: int) -> Truths:
        """The truths of one case by itself."""
        own = self.of_case(number)
        by_mode = MadeTruths(self.modes, lambda mode: widened_truth(part_of_truth(self.by_mode[mode], own)))
        return Truths(by_mode, self.allowed[number], self.problems[number], bool(self.bounded[number]))

    @cached_property
    def compared(self) -> dict[str, Truth]:
        """The truths of all rounding modes; empty where nothing is rounded."""
        return {mode: truth for mode, truth in self.by_mode.items() if mode}

    @cached_property
    def compared_counts(self) -> dict[str, Array]:
        """For each rounding mode, how many elements of each case it specifies."""
        return {mode: self.by_case(truth.specified) for mode, truth in self.compared.items()}

    @cached_property
    def exponents(self) -> Array:
        """The exponent of each element's first operand; see exponents.py."""
        found = np.empty(self.size, np.int64)
        for family in self.families:
            found[family.elements] = exponents(family.problem)
        return narrow(found)

    @cached_property
    def domains(self) -> Array:
        """The domain (uint8) of each element; see domains.py."""
        found, exact = np.empty(self.size, np.uint8), widened(self.judged_by.exact)
        for family in self.families:
            found[family.elements] = domains_of(family, self.operator, exact[family.elements])
        found[np.repeat(self.has_empty_input, self.sizes) & (found == CALIBRATED)] = EDGE
        return found

    @cached_property
    def has_empty_input(self) -> Array:
        """Which cases (bool) have an input without elements: nothing that a calibrated model has."""
        return np.array([any(x is not None and x.size == 0 for x in case.inputs) for case in self.cases], bool)

    def at_an_end(self, codes: Array) -> Array:
        """Which codes (one for each element) are the lowest or the highest value of an integer output's type."""
        found = np.zeros(self.size, bool)
        for family in self.families:
            kind, own = family.problem.result, codes[family.elements]
            if isinstance(kind, IntegerType):
                found[family.elements] = (own == kind.lowest) | (own == kind.highest)
        return found

    @cached_property
    def case_domains(self) -> Array:
        """The domain of each case: the worst of its elements, calibrated if it has none."""
        counts = [self.by_case(self.domains == domain) > 0 for domain in (PATHOLOGICAL, EDGE)]
        return np.select(counts, [PATHOLOGICAL, EDGE], CALIBRATED).astype(np.uint8)

    @cached_property
    def negative_zeros(self) -> Array:
        """The code of negative zero in each element's type; 0 if it has none."""
        found = np.zeros(self.size, np.int64)
        for family in self.families:
            found[family.elements] = negative_zero(family.problem)
        return narrow(found)


def compact(truth: Truth, masks: list[Array]) -> Truth:
    """The truth with its codes in narrow types, and with masks that equal known ones, which are added to."""
    flags = (truth.exact_specified, truth.working_specified, truth.zero)
    return Truth(narrow(truth.exact), narrow(truth.working), *(shared(flag, masks) for flag in flags))


def shared(mask: Array, known: list[Array]) -> Array:
    """The mask, or an equal one: modes seldom differ in what is specified."""
    same = next((one for one in known if np.array_equal(one, mask)), None)
    if same is None:
        known.append(mask)
    return mask if same is None else same


def widened_truth(truth: Truth) -> Truth:
    return replace(truth, exact=widened(truth.exact), working=widened(truth.working))


def part_of_truth(truth: Truth, own: slice | Array) -> Truth:
    """The truth of some elements: a slice or a mask."""
    zero = truth.zero[own] if truth.zero.shape else truth.zero
    return Truth(truth.exact[own], truth.working[own], truth.exact_specified[own], truth.working_specified[own], zero)


def chunks_of(cases: Sequence[Case]) -> Iterator[tuple[Case, ...]]:
    """The cases in order, in chunks: consecutive cases of one operator, not too many elements together."""
    chunk: list[Case] = []
    elements = 0
    for case in cases:
        full = len(chunk) >= MOST_CASES or elements + case.size > MOST_ELEMENTS
        if chunk and (full or case.node.operator != chunk[0].node.operator or rounds(case) != rounds(chunk[0])):
            yield tuple(chunk)
            chunk, elements = [], 0
        chunk.append(case)
        elements += case.size
    if chunk:
        yield tuple(chunk)


def rounds(case: Case) -> bool:
    return bool(case.node.modes)


class Chunks:
    """The chunks of a run's cases. Backends that run side by side share them; the truths used last are kept.

    One that is expected by some backends is dropped when each of them is done with it.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.expected: Counter[int] = Counter()
        self.locks: dict[int, threading.Lock] = {}
        self.kept: OrderedDict[int, Chunk] = OrderedDict()

    def expect(self, parts: Sequence[tuple[Case, ...]]) -> None:
        """Note that a backend is going to judge these cases. Tell of all backends before the first is done."""
        with self.lock:
            self.expected.update(map(id, parts))

    def done(self, cases: tuple[Case, ...]) -> None:
        """Note that a backend has judged these cases, or has nothing to be judged."""
        with self.lock:
            self.expected[id(cases)] -= 1
            if self.expected[id(cases)] == 0:
                self.kept.pop(id(cases), None)

    def of(self, cases: tuple[Case, ...]) -> Chunk:
        """The chunk of these cases, which must be the same tuple for every backend."""
        with self.lock:
            lock = self.locks.setdefault(id(cases), threading.Lock())
        with lock:  # the others wait, since two of them would both take the time
            with self.lock:
                if id(cases) in self.kept:
                    self.kept.move_to_end(id(cases))
                    return self.kept[id(cases)]
            made = Chunk(cases)
            with self.lock:
                self.kept[id(cases)] = made
                while sum(one.size for one in self.kept.values()) > MOST_KEPT and len(self.kept) > 1:
                    self.kept.popitem(last=False)
            return made
