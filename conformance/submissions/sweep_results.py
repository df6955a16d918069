"""Tries some blocks of a sweep again with the reference kernel: what is certain of their results, and its checksum."""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiebreak.conformance.judging.judge import negative_zero
from tiebreak.conformance.judging.truths import ENDS, Truths, is_nan
from tiebreak.conformance.submissions.refused import require
from tiebreak.conformance.submissions.sweep_intervals import read_intervals
from tiebreak.conformance.submissions.sweep_numbers import digests_of, faulty_blocks, finite_digests_of
from tiebreak.conformance.sweep.digests import finite_inputs, settled, sha256
from tiebreak.conformance.sweep.solving import SolvingJudge
from tiebreak.golden.elements import FloatType
from tiebreak.golden.problem import Array, array_of
from tiebreak.golden.space import Space
from tiebreak.golden.untrusted_text import plural

NEITHER: tuple[Collection[str], Collection[str]] = ((), ())
WRONG = "has another checksum than"


@dataclass(frozen=True)
class Trial:
    """For how many `seconds` blocks are tried again, and the `chance` that draws them."""

    seconds: float
    chance: random.Random

    def drawn(self, blocks: list[int]) -> Iterator[int]:
        """The blocks in an order of chance: one at least, and more until the time is over."""
        end = time.monotonic() + self.seconds
        for tried, number in enumerate(self.chance.sample(blocks, len(blocks))):
            if tried and time.monotonic() >= end:
                return
            yield number


@dataclass
class RightBlock:
    """The checksums of a block's exact results and of those of working precision, none where others conform, too.

    `finite` has both of the finite inputs alone. `fewest` to `most` inputs are unspecified, and `two` have a right
    result of working precision alone.
    """

    exact: Collection[str] = ()
    working: Collection[str] = ()
    finite: tuple[Collection[str], Collection[str]] = ((), ())
    fewest: int = 0
    most: int = 0
    two: int = 0


@dataclass
class RightForms:
    """Right results in both forms, as long as no others conform, and which of them may be either zero."""

    exact: list[Array] = field(default_factory=list)
    working: list[Array] = field(default_factory=list)
    zeros: list[Array] = field(default_factory=list)
    certain: bool = True

    def add(self, results: tuple[Array, Array], zeros: Array, certain: Array) -> None:
        self.zeros.append(zeros)
        self.certain &= bool(certain.all()) and sum(map(np.count_nonzero, self.zeros)) < 2
        for found, form in zip((self.exact, self.working), results, strict=True):
            if self.certain:
                found.append(form)

    def checksums(self) -> tuple[set[str], set[str]]:
        return self.checksums_of(self.exact), self.checksums_of(self.working)

    def checksums_of(self, form: list[Array]) -> set[str]:
        """That of the results, and where one of them may be either zero, that with the other zero."""
        if not self.certain:
            return set()
        results, zeros = np.concatenate(form), np.concatenate(self.zeros)
        return {sha256(results), sha256(np.where(zeros, -results, results)) if zeros.any() else sha256(results)}


@dataclass
class RightParts:
    """The right results of parts of a block, of all inputs and of the finite ones, and counts as above."""

    every: RightForms = field(default_factory=RightForms)
    finite: RightForms = field(default_factory=RightForms)
    fewest: int = 0
    most: int = 0
    two: int = 0

    def add(self, truths: Truths, space: Space, at: int) -> None:
        truth, between = truths.judged_by, bounded(truths)
        zeros, nans = ambiguous(truths)
        self.fewest += int((~truth.specified & ~truth.exact_specified & ~truths.open_between_modes).sum())
        self.most += int((~truth.specified).sum())
        self.two += int((truth.specified & ((truth.exact != truth.working) | between)).sum())
        forms = [array_of(space.node.output_type, (form.size,), form) for form in (truth.exact, truth.working)]
        certain, open_zeros = (one.reshape(-1) for one in (truth.specified & ~between, zeros))
        self.every.add((forms[0], forms[1]), open_zeros, certain & ~nans.reshape(-1))
        some = finite_inputs(space, at, truth.exact.size)
        of = slice(None) if some is None else some
        exact, working = (settled(space, at, form)[0] for form in forms)
        self.finite.add((exact, working), open_zeros[of], certain[of])

    def block(self) -> RightBlock:
        return RightBlock(*self.every.checksums(), self.finite.checksums(), self.fewest, self.most, self.two)


def bounded(truths: Truths) -> Array:
    """The elements of which several integers conform."""
    if not truths.bounded:
        return np.zeros(truths.judged_by.exact.shape, bool)
    low, high = (truths.by_mode[mode].working for mode in ENDS)
    return np.asarray(low != high)


def ambiguous(truths: Truths) -> tuple[Array, Array]:
    """The elements of which either zero is right, and those that are NaN, which has many bit patterns."""
    kind, truth = truths.problems[0].result, truths.judged_by
    if not isinstance(kind, FloatType):
        return np.zeros(truth.exact.shape, bool), np.zeros(truth.exact.shape, bool)
    zeros = np.broadcast_to(truth.zero, truth.exact.shape) & (negative_zero(truths.problems[0]) != 0)
    return np.asarray(zeros), is_nan(truth.exact, kind) | is_nan(truth.working, kind)


def right_block(solving: SolvingJudge, number: int) -> RightBlock:
    """What is right of a block, by the reference kernel."""
    space, found = solving.space, RightParts()
    for at in space.pieces(number):
        for start, part in solving.parts(at, np.empty(space.piece, np.bool_)):
            numbers = np.arange(start, start + part.size)
            truths = solving.truths(numbers, solving.modes, bounded=space.node.is_bounded)
            found.add(truths, space, start)
    return found.block()


def check_results(data: Mapping[str, Any], space: Space, trial: Trial) -> str:
    """What was checked. Refused if a block's checksum is none of its right results, or counts can't be."""
    faulty = faulty_blocks(data, space.blocks)
    ran = [number for number in range(space.blocks) if number not in faulty]
    solving = SolvingJudge(space)
    tried = {number: right_block(solving, number) for number in trial.drawn(ran)}
    whole = len(tried) == len(ran)
    if whole:
        check_bounds(data["counts"], list(tried.values()))
    clean = blocks_without_intervals(data, space)
    two = sum(one.two for one in tried.values()) if whole else -1
    every, finite, told, partly = digests_of(data, space.blocks), finite_digests_of(data, space.blocks), 0, 0
    for number, one in tried.items():
        working = data["counts"]["working-precision"]
        forms = ((one.exact, one.working), one.finite) if number in clean else (NEITHER, NEITHER)
        all_right, right = (certain_digests(*form, working, two) for form in forms)
        require(not all_right or every[number] in all_right, f"block {number} {WRONG} its right results")
        good = not right or not finite[number] or finite[number] in right
        require(good, f"block {number} {WRONG} the right results of its finite inputs")
        told, partly = told + bool(all_right), partly + bool(right and finite[number] and not all_right)
    said = f"{len(tried):,} of {plural(len(ran), 'block')} tried again; {told:,} can have no other checksum"
    return f"{said}, {partly:,} none but for NaN and infinite inputs" if partly else said


def certain_digests(exact: Collection[str], working: Collection[str], found: int, two: int) -> Collection[str]:
    """The checksums of which a block must have one; none if it may have others.

    `found` inputs of the sweep have a result of working precision alone, of `two` that have one.
    """
    if exact == working or found == 0:
        return exact
    return working if found == two else ()


def check_bounds(counts: Mapping[str, int], blocks: list[RightBlock]) -> None:
    """Raise Refused unless as many inputs are unspecified, or of working precision, as can be."""
    most, two = sum(one.most for one in blocks), sum(one.two for one in blocks)
    fewest, found = sum(one.fewest for one in blocks), counts["unspecified"]
    require(fewest <= found <= most, f"{found:,} inputs are unspecified; the document leaves {most:,} open")
    found = counts["working-precision"]
    require(found <= two, f"{found:,} inputs are of working precision; {two:,} can be")


def blocks_without_intervals(data: Mapping[str, Any], space: Space) -> set[int]:
    """The blocks of which the certificate says that nothing in them deviates."""
    intervals = read_intervals(data, space)
    end = space.blocks
    if data["intervals"]["count"] > len(intervals):
        end = intervals[-1].last // space.block
    taken = {number for one in intervals for number in range(one.first // space.block, one.last // space.block + 1)}
    return set(range(end)) - taken
