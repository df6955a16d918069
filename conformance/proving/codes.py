"""Decides a claim about codes of one scale: every difference of code and zero point, with every scale.

A code counts only by its difference from the zero point, so that each difference stands for many pairs of them. The
zero point then matters only where a result is clamped: results are compared before clamping, and those that differ are
clamped for each zero point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from tiebreak.conformance.proving.arithmetic import Evaluation, Parameters, is_computed
from tiebreak.conformance.proving.blocks import BlockChain, BlockResults, Progress, total, try_blocks
from tiebreak.conformance.proving.findings import Undecidable
from tiebreak.conformance.proving.records import Differences, DifferingGroup, ZeroPoints
from tiebreak.conformance.proving.scalars import LINEAR, MAX, MEAN, Scalar
from tiebreak.conformance.proving.scales import (
    BLOCK,
    ScaleSpan,
    Sizes,
    Standing,
    every_scale,
    sizes_of,
    standing_scales,
)
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.kernel import refuse_flushing
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, REAL
from tiebreak.golden.problem import Array

MOST_COMBINATIONS = 1 << 22  # they are held in memory


@dataclass(frozen=True)
class Goal:
    """left = right for one place of a row; `exact` says of each side whether its arithmetic is real."""

    left: Scalar
    right: Scalar
    exact: tuple[bool, bool]

    def __str__(self) -> str:
        words = [
            f"exact({one})" if real and one.operation else str(one)
            for one, real in zip((self.left, self.right), self.exact, strict=True)
        ]
        return " = ".join(words)

    @property
    def sides(self) -> tuple[tuple[Scalar, bool], ...]:
        return (self.left, self.exact[0]), (self.right, self.exact[1])

    def operands(self) -> tuple[Scalar, ...]:
        return tuple(dict.fromkeys((*self.left.operands(), *self.right.operands())))

    def pair(self) -> str:
        """The one pair of both sides. Undecidable if there are more, or none."""
        pairs = dict.fromkeys((*self.left.pairs(), *self.right.pairs()))
        if len(pairs) != 1:
            raise Undecidable(f"{len(pairs)} scales that vary independently of each other" if pairs else "no scale")
        return next(iter(pairs))


@dataclass(frozen=True)
class ScaleSet:
    """Element types of codes and of floats, the scales' sign and extent ("normal" or "all"), and the zero points."""

    kind: str
    real: str
    sign: str
    extent: str
    zero_points: Sequence[int]

    def zero_points_of(self, goal: Goal) -> ZeroPoints:
        return ZeroPoints(self.kind, self.zero_points, goal.left.is_code, self.real)


@dataclass(frozen=True)
class Tried:
    """What was tried: digests of results by block, pairs of results that differ, and the scales tried."""

    chain: BlockChain
    differing: Differences
    standing: Standing
    scales: int


def check_form(goal: Goal) -> None:
    """Undecidable unless each side rounds to a code at most once, as its last step."""
    for side, _ in goal.sides:
        for part in side.parts():
            if part.operation == QUANTIZE and part is not side:
                raise Undecidable(f"{part} is clamped within a side, where each zero point counts")
        if not is_computed(side):
            raise Undecidable("a curve such as Sigmoid: its float32 is not that of every library")


def span(kind: str) -> int:
    """How far a code can be from a zero point."""
    return INTEGER_TYPES[kind].highest - INTEGER_TYPES[kind].lowest


def scales_for(goal: Goal, domain: ScaleSet, room: int, inputs: Sizes | None = None) -> Standing:
    """The scales to try, and the exponents of those for which they stand. Undecidable if they are too many."""
    sizes: list[Sizes] = []
    for side, is_exact in goal.sides:
        if is_exact:
            continue  # real arithmetic is invariant throughout
        found = sizes_of(side, room, domain.real, inputs)
        if found is None:
            return whole(domain)
        sizes += found.values()
    found_scales = standing_scales(domain.real, domain.sign, domain.extent, sizes)
    if not found_scales.blocks:
        raise Undecidable(f"no scale of {domain.real} keeps all numbers in the normal range; --scales all has others")
    return found_scales


def whole(domain: ScaleSet) -> Standing:
    """All scales, where none stands for others."""
    if domain.extent != "all":
        raise Undecidable(
            "no scale stands for another where a number is not proportional to it; --scales all tries each"
        )
    if domain.real == REAL:
        raise Undecidable(
            "2,139,095,039 scales, as no scale stands for another where a number is not proportional to it"
        )
    return Standing(list(every_scale(domain.real, domain.sign)), 1, 0)


def try_codes(goal: Goal, domain: ScaleSet, most: int, progress: Progress, workers: int) -> Tried:
    """Both sides for every combination of differences and every scale. Undecidable if these are more than `most`."""
    check_form(goal)
    pair, operands = goal.pair(), goal.operands()
    if any(not one.is_code for one in operands):
        raise Undecidable("an operand that is no code")
    room, real = span(domain.kind), domain.real
    standing = scales_for(goal, domain, room)
    blocks = standing.blocks
    count = (2 * room + 1) ** len(operands)
    if count > MOST_COMBINATIONS:
        raise Undecidable(f"{count:.3g} combinations of codes, more than {MOST_COMBINATIONS:.3g}")
    if count * total(blocks) > most:
        raise Undecidable(f"{count * total(blocks):.3g} combinations of codes and scales, more than {most:.3g}")
    refuse_flushing()
    combinations = list(combinations_of(room, len(operands)))
    codes, zero_points = np.array(combinations, np.int32), domain.zero_points_of(goal)
    sign = 1 if domain.sign == "positive" else -1
    fixed = [
        exact_codes(side, operands, combinations, room, sign) if is_exact else None for side, is_exact in goal.sides
    ]

    def of_block(span: ScaleSpan) -> BlockResults:
        block = BlockResults(span, real, zero_points)
        parameters = {pair: Parameters(block.scales, 0, -room - 1, room + 1)}
        step = max(1, BLOCK // span.count)
        for start in range(0, len(codes), step):
            rows = codes[start : start + step]
            values = [
                results_of(side, operands, rows, parameters, real) if known is None else known[start : start + step]
                for (side, _), known in zip(goal.sides, fixed, strict=True)
            ]
            left, right = results = [as_results(value, room) for value in values]
            # An operand, or real arithmetic, is the same for all scales. Both sides of a combination stand together.
            if kept := [one for one in results if one.shape[1] == span.count]:
                block.add(np.stack(kept, axis=1) if len(kept) > 1 else kept[0])
            # To look for places takes longer than all the arithmetic, and mostly there are none.
            if (differs := np.broadcast_to(left != right, (len(rows), span.count))).any():
                which, places = np.nonzero(differs)
                at = [np.broadcast_to(result, (len(rows), span.count))[which, places] for result in results]
                one, other = (value.astype(np.int64) for value in at)
                some = DifferingGroup(one, other, block.words[places], block.bits[places], rows[which])
                block.touched[places[block.differing.note(some)]] = True
        return block

    return collected(standing, zero_points, try_blocks(blocks, of_block, progress, workers))


def collected(standing: Standing, zero_points: ZeroPoints, results: Iterator[BlockResults]) -> Tried:
    """What all blocks gave."""
    chain, differing = BlockChain(), Differences(zero_points)
    for block in results:
        chain.add(block)
        differing.join(block.differing)
    return Tried(chain, differing, standing, total(standing.blocks))


def results_of(
    side: Scalar, operands: Sequence[Scalar], codes: Array, parameters: dict[str, Parameters], real: str
) -> Array:
    """[combinations, scales], or [combinations, 1] of an operand; `codes` are [combinations, operands]."""
    known = {operand: codes[:, number : number + 1] for number, operand in enumerate(operands)}
    with np.errstate(all="ignore"):
        return np.asarray(Evaluation(real, parameters, dict(known)).of(side))


def as_results(value: Array, room: int) -> Array:
    """As they are compared and kept: codes as integers of 16 or 32 bits, floats as their bits.

    A zero has no sign here: no document says which of two zeros Relu and MaxPool give.
    """
    if value.dtype.kind != "i":
        unsigned = value + np.zeros((), value.dtype)  # -0 + 0 is 0
        return np.ascontiguousarray(unsigned).view(f"<u{value.itemsize}")
    kind = "<i2" if room < 1 << 14 else "<i4"
    return np.ascontiguousarray(np.maximum(value, np.int32(-room - 2)).astype(kind))  # NaN has no code


def exact_codes(
    side: Scalar, operands: Sequence[Scalar], combinations: Sequence[Sequence[int]], room: int, sign: int
) -> Array:
    """What real arithmetic gives for each combination, which no scale of this sign changes: [combinations, 1]."""
    if side.operation and side.operation != QUANTIZE:
        raise Undecidable("an exact side that does not end in a Q")
    number, unit = (side.inputs[0], sign) if side.operation else (side, 1)
    values = [
        round(real_number(number, dict(zip(operands, map(Fraction, combination), strict=True)), sign) / unit)
        for combination in combinations
    ]
    return np.array([[min(max(value, -room - 1), room + 1)] for value in values], np.int32)


def real_number(number: Scalar, known: dict[Scalar, Fraction], sign: int) -> Fraction:
    """A number for a scale of 1 or -1; codes are their differences from the zero point."""
    if number in known:
        return known[number]
    if number.operation == DEQUANTIZE:
        return real_number(number.inputs[0], known, sign) * sign
    steps: dict[str, Callable[..., Fraction]] = {
        "Relu": lambda a: max(a, Fraction(0)),
        MAX: max,
        "Add": lambda a, b: a + b,
        "Sub": lambda a, b: a - b,
        MEAN: lambda a, b: (a + b) / 2,
        LINEAR: lambda a, b: (3 * a + b) / 4,
    }
    if number.operation not in steps:
        raise Undecidable(f"the exact truth of {number.operation}, which is not proportional to the scale")
    return steps[number.operation](*(real_number(one, known, sign) for one in number.inputs))


def clamped(value: int, zero_point: int, kind: str) -> int:
    """The code of a number of steps from the zero point."""
    ends = INTEGER_TYPES[kind]
    return min(max(value + zero_point, ends.lowest), ends.highest)


def combinations_of(room: int, count: int) -> Iterator[tuple[int, ...]]:
    """The differences that codes of one type can have from one zero point of it."""
    for one in product(range(-room, room + 1), repeat=count):
        if max(0, *one) - min(0, *one) <= room:
            yield one
