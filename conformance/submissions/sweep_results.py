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
from tiebreak.conformance.submissions.sweep_numbers import digests_of, faulty_blocks
from tiebreak.conformance.sweep.digests import sha256
from tiebreak.conformance.sweep.solving import SolvingJudge
from tiebreak.golden.elements import FloatType
from tiebreak.golden.problem import Array, array_of
from tiebreak.golden.space import Space
from tiebreak.golden.untrusted_text import plural


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

    `fewest` to `most` inputs are unspecified, and `two` have a right result of working precision alone.
    """

    exact: Collection[str] = ()
    working: Collection[str] = ()
    fewest: int = 0
    most: int = 0
    two: int = 0


@dataclass
class RightParts:
    """The right results of parts of a block in both forms, which of them may be either zero, and counts as above."""

    exact: list[Array] = field(default_factory=list)
    working: list[Array] = field(default_factory=list)
    zeros: list[Array] = field(default_factory=list)
    certain: bool = True
    fewest: int = 0
    most: int = 0
    two: int = 0

    def add(self, truths: Truths, name: str) -> None:
        truth, between = truths.judged_by, bounded(truths)
        zeros, nans = ambiguous(truths)
        self.zeros.append(zeros)
        self.certain &= bool((truth.specified & ~nans & ~between).all()) and sum(map(np.count_nonzero, self.zeros)) < 2
        self.fewest += int((~truth.specified & ~truth.exact_specified & ~truths.open_between_modes).sum())
        self.most += int((~truth.specified).sum())
        self.two += int((truth.specified & ((truth.exact != truth.working) | between)).sum())
        for codes, found in ((truth.exact, self.exact), (truth.working, self.working)):
            if self.certain:
                found.append(array_of(name, codes.shape, codes))

    def block(self) -> RightBlock:
        exact, working = (self.checksums(form) if self.certain else set[str]() for form in (self.exact, self.working))
        return RightBlock(exact, working, self.fewest, self.most, self.two)

    def checksums(self, form: list[Array]) -> set[str]:
        """That of the results, and where one of them may be either zero, that with the other zero."""
        results, zeros = np.concatenate(form), np.concatenate(self.zeros)
        return {sha256(results), sha256(np.where(zeros, -results, results)) if zeros.any() else sha256(results)}


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
            found.add(truths, space.node.output_type)
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
    digests, told = digests_of(data, space.blocks), 0
    for number, one in tried.items():
        right = certain_digests(one, data["counts"]["working-precision"], two) if number in clean else ()
        require(not right or digests[number] in right, f"block {number} has another checksum than its right results")
        told += bool(right)
    said = f"{len(tried):,} of {plural(len(ran), 'block')} tried again"
    return f"{said}; {told:,} can have no other checksum"


def certain_digests(one: RightBlock, working: int, two: int) -> Collection[str]:
    """The checksums of which a block must have one; none if it may have others.

    `working` inputs of the sweep have a result of working precision alone, of `two` that have one.
    """
    if one.exact == one.working or working == 0:
        return one.exact
    return one.working if working == two else ()


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
