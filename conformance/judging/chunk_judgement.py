"""A backend's outputs for a chunk of cases against their truths: grades and counts as arrays, no step a case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np

from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.domains import PATHOLOGICAL
from tiebreak.conformance.judging.exponents import NONE
from tiebreak.conformance.judging.families import parts
from tiebreak.conformance.judging.judge import Judgement, as_int64, judge
from tiebreak.conformance.judging.narrow import widened
from tiebreak.conformance.judging.truths import canonical
from tiebreak.golden import oracle
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.problem import Array, codes_of
from tiebreak.golden.rounding import short_mode
from tiebreak.golden.verdicts import DEVIATES, DOMAINS, EXACT, GRADES, OTHER_ORDER, UNSPECIFIED, WORKING

COUNTED = {grade.replace("-", "_"): number for number, grade in enumerate(GRADES)}
COUNTED_DOMAINS = DOMAINS[:PATHOLOGICAL]  # the rest of the judged elements is pathological
DOMAIN_GRADES = {"working": WORKING, "other_order": OTHER_ORDER, "deviates": DEVIATES}
DOMAIN_COUNTS = tuple(f"{what}_{domain}" for domain in COUNTED_DOMAINS for what in ("judged", *DOMAIN_GRADES))


@dataclass(frozen=True)
class ChunkJudgement:
    """The judgement of all elements of a chunk. It means something for the elements of cases that `ran` (bool).

    `given` are the codes of the outputs (int64) as the backend gave them, each zero with its sign; all NaNs are one.
    """

    chunk: Chunk
    ran: Array
    judgement: Judgement
    given: Array

    @cached_property
    def elements_that_ran(self) -> Array:
        return np.repeat(self.ran, self.chunk.sizes)

    @cached_property
    def deviating(self) -> Array:
        """The places of the deviating elements."""
        return np.flatnonzero((self.judgement.grades == DEVIATES) & self.elements_that_ran)

    def counts(self) -> dict[str, Array]:
        """For each case the elements of each grade, those judged in each domain, those that differ from each mode."""
        chunk, values, found = self.chunk, self.judgement.values, dict[str, Array]()
        for name, grade in COUNTED.items():
            found[name] = chunk.by_case(self.judgement.grades == grade)
        judged = self.judgement.grades != UNSPECIFIED
        for number, domain in enumerate(COUNTED_DOMAINS):
            own = judged & (chunk.domains == number)
            found[f"judged_{domain}"] = chunk.by_case(own)
            for name, grade in DOMAIN_GRADES.items():
                found[f"{name}_{domain}"] = chunk.by_case(own & (self.judgement.grades == grade))
        for mode, truth in chunk.compared.items():
            found[f"compared_{short_mode(mode)}"] = chunk.compared_counts[mode]
            found[f"differs_{short_mode(mode)}"] = chunk.by_case(truth.specified & ~truth.agrees(values))
        return {name: np.where(self.ran, column, 0) for name, column in found.items()}

    def contradictions(self) -> dict[str, Array]:
        """For each mode and case, how many conforming elements contradict that the backend rounds by it.

        Pathological elements do not count: an environment that flushes subnormals makes them look so. Nor do those
        that the mode takes to an end of the output's range, where another mistake may hide it.
        """
        grades, values = self.judgement.grades, self.judgement.values
        regular = self.elements_that_ran & (self.chunk.domains != PATHOLOGICAL)
        right = regular & ((grades == EXACT) | (grades == WORKING))
        compared = self.chunk.compared.items()
        inside = {mode: right & ~self.chunk.at_an_end(truth.exact) for mode, truth in compared}
        return {mode: self.chunk.by_case(inside[mode] & ~truth.agrees(values)) for mode, truth in compared}

    def digests(self) -> Array:
        """For each case 64 bits (uint64) that tell what it was given; 0 where it did not run."""
        found = np.zeros(len(self.chunk.cases), np.uint64)
        for number in np.flatnonzero(self.ran).tolist():
            codes = self.given[self.chunk.of_case(number)].tobytes()
            found[number] = int.from_bytes(blake2b(codes, digest_size=8).digest(), "little") or 1
        return found

    def judged_by_exponent(self) -> Counter[int]:
        """The number of judged elements by exponent (4.0 to 7.9 have exponent 2); zeros and specials do not count."""
        every, judged = self.chunk.exponents, self.elements_that_ran & (self.judgement.grades != UNSPECIFIED)
        found, counts = np.unique(every[judged & (every != NONE)], return_counts=True)
        return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


def worst_grades(counts: Array) -> Array:
    """The worst grade of each case that has elements of it; `counts` begin with a row for each grade, in order."""
    ranks = range(len(GRADES) - 1, 0, -1)
    return np.select([counts[grade] > 0 for grade in ranks], ranks, EXACT)


def judge_chunk(chunk: Chunk, outputs: Mapping[int, Sequence[Array]]) -> ChunkJudgement:
    """Grade a backend's outputs, by the number of their case. They must have the types and shapes of their nodes.

    Raises MachineryFailed if the oracle does not confirm the kernel's results of a deviating element.
    """
    ran = np.zeros(len(chunk.cases), bool)
    ran[list(outputs)] = True
    given = codes_of_chunk(chunk, outputs, ran)
    found = ChunkJudgement(chunk, ran, judge(with_one_zero(given, chunk), chunk.judged_by, chunk), given)
    confirm(chunk, found.deviating)
    return found


def codes_of_chunk(chunk: Chunk, outputs: Mapping[int, Sequence[Array]], ran: Array) -> Array:
    """The outputs as codes (int64) of all elements, with one code for NaN."""
    values = widened(chunk.judged_by.exact).copy()  # of what did not run: nothing to be looked at
    for family in chunk.families:
        arrays = [outputs[number][output].reshape(-1) for number, output in family.slots if ran[number]]
        if arrays:
            codes = canonical(as_int64(codes_of(np.concatenate(arrays))), family.problem)
            values[family.elements[ran[chunk.case_of[family.elements]]]] = codes
    return values


def with_one_zero(values: Array, chunk: Chunk) -> Array:
    """The codes with one for zero where either zero conforms."""
    truth = chunk.judged_by
    other_zero = truth.zero & (values == chunk.negative_zeros) & (values != truth.exact)
    return np.where(other_zero, 0, values)


def confirm(chunk: Chunk, places: Array) -> None:
    """Check the kernel's results of deviating elements with the oracle, once for all backends.

    Golden vectors need no check: they hold the oracle's results. Raises MachineryFailed if the two disagree.
    """
    own = np.array([case.expected is None for case in chunk.cases])
    left = [place for place in places[own[chunk.case_of[places]]].tolist() if place not in chunk.confirmed]
    modes = np.array([allowed[0] for allowed in chunk.allowed])[chunk.case_of[left]] if left else np.array([])
    for mode in np.unique(modes):
        wanted = np.zeros(chunk.size, bool)
        wanted[np.array(left)[modes == mode]] = True
        truth = chunk.by_mode[str(mode)]
        for _, at, problem in parts(chunk.families, wanted):
            for working, codes in ((False, truth.exact), (True, truth.working)):
                wrong = at[oracle.solve(problem, working=working, mode=str(mode) or None)[0] != codes[at]]
                if wrong.size:
                    case = chunk.cases[int(chunk.case_of[wrong[0]])]
                    raise MachineryFailed(f"{case.id}: the kernel and the oracle disagree; one of them is wrong")
    chunk.confirmed.update(left)
