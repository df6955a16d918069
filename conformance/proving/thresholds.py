"""Decides a claim about one float operand and one scale: both sides on both sides of every decision, with every scale.

Each side is composed of steps that never fall as the operand grows, so that it is a staircase. Between two neighbouring
decisions, (k - 1/2) * scale and (k + 1/2) * scale, the first and the last float are tried. A side with one result at
both has it everywhere between. Where it has two, floats next to the ends are tried too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tiebreak.conformance.proving.arithmetic import Evaluation, Parameters
from tiebreak.conformance.proving.blocks import BlockResults, Progress, total, try_blocks
from tiebreak.conformance.proving.codes import (
    Goal,
    ScaleSet,
    Tried,
    as_results,
    check_form,
    collected,
    scales_for,
    span,
)
from tiebreak.conformance.proving.findings import Undecidable
from tiebreak.conformance.proving.records import DifferingGroup
from tiebreak.conformance.proving.scalars import MAX, MEAN, Scalar
from tiebreak.conformance.proving.scales import ScaleSpan, Sizes
from tiebreak.golden.elements import FLOAT_TYPES, numpy_dtype
from tiebreak.golden.kernel import refuse_flushing
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE
from tiebreak.golden.problem import Array

RISING = (QUANTIZE, DEQUANTIZE, "Relu", "Clip", MAX, MEAN, "Add")
EXACT = (QUANTIZE, "Relu", MAX)  # beside Q they round nothing


def try_thresholds(goal: Goal, domain: ScaleSet, most: int, progress: Progress, workers: int) -> Tried:
    """Both sides around each decision, for every scale. Undecidable if that does not decide, or is too much."""
    check_form(goal)
    pair, (operand,) = goal.pair(), one_operand(goal)
    if domain.sign != "positive":
        raise Undecidable("negative scales, with which a side falls as its operand grows")
    for side, is_exact in goal.sides:
        for part in side.parts():
            if part.operation and part.operation not in (EXACT if is_exact else RISING):
                raise Undecidable(f"{part.operation} is not known to rise with its operand")
    room, real = span(domain.kind), domain.real
    standing = scales_for(goal, domain, room, Sizes(-2, room.bit_length() + 2, -2 - FLOAT_TYPES[real].precision))
    blocks = standing.blocks
    needed = 4 * (room + 3) * total(blocks)
    if needed > most:
        raise Undecidable(f"{needed:.3g} decisions and scales, more than {most:.3g}")
    refuse_flushing()
    zero_points = domain.zero_points_of(goal)

    def of_block(span: ScaleSpan) -> BlockResults:
        block = BlockResults(span, real, zero_points)
        staircase = Staircase(goal, operand, pair, room, real, block.scales)
        for inputs, (left, right), places in staircase.between_decisions():
            block.add(left)
            block.add(right)
            which = np.flatnonzero(left != right)
            if which.size and not zero_points.hide(left, right):
                scales = np.arange(span.count)[places][which]
                words = np.ascontiguousarray(inputs).view(f"u{inputs.itemsize}")[which]
                codes = left[which].astype(np.int64), right[which].astype(np.int64)
                some = DifferingGroup(
                    *codes, block.words[scales], block.bits[scales], operands=words, decision=staircase.decision
                )
                block.touched[scales[block.differing.note(some)]] = True
        return block

    return collected(standing, zero_points, try_blocks(blocks, of_block, progress, workers))


def one_operand(goal: Goal) -> tuple[Scalar]:
    operands = goal.operands()
    if len(operands) != 1 or operands[0].is_code:
        raise Undecidable(f"{len(operands)} operands, of which one is a float")
    return (operands[0],)


class Staircase:
    """Both sides at the floats next to each decision, for an array of scales."""

    def __init__(self, goal: Goal, operand: Scalar, pair: str, room: int, real: str, scales: Array) -> None:
        self.goal, self.operand, self.pair, self.room, self.real = goal, operand, pair, room, real
        self.scales, self.wide = scales, scales.astype(np.float64)
        self.decision = 0

    def between_decisions(self) -> Iterator[tuple[Array, list[Array], Any]]:
        """Floats with the results of both sides, and which of the scales these are of.

        They are the first and the last float between decisions, in ascending order, and floats next to them where a
        side's result changes.
        """
        largest = bounded(np.full(self.scales.shape, np.inf, self.scales.dtype))
        low = -largest
        for k in range(-self.room - 2, self.room + 3):
            self.decision = k
            high = self.above(k)
            last = np.nextafter(high, -largest) if k < self.room + 2 else largest
            at_low, at_last = self.results(low), self.results(last)
            yield low, at_low, slice(None)
            yield last, at_last, slice(None)
            uneven = np.logical_or.reduce([one != other for one, other in zip(at_low, at_last, strict=True)])
            places = np.flatnonzero(uneven & (low < last))
            first, end = np.nextafter(low[places], largest[places]), np.nextafter(last[places], -largest[places])
            if (inside := first <= end).any():
                places, first, end = places[inside], first[inside], end[inside]
                yield first, self.level_results(first, end, places), places
            low = high

    def above(self, k: int) -> Array:
        """The least float that is not below (k + 1/2) * scale, which float64 holds; the largest if none is."""
        kind = numpy_dtype(self.real)
        with np.errstate(over="ignore"):
            decision = (k + 0.5) * self.wide
            near = decision.astype(kind)
            found = np.where(near.astype(np.float64) < decision, np.nextafter(near, kind.type(np.inf)), near)
        return bounded(found.astype(kind))

    def results(self, inputs: Array, places: Array | None = None) -> list[Array]:
        scales = self.scales if places is None else self.scales[places]
        parameters = {self.pair: Parameters(scales, 0, -self.room - 1, self.room + 1)}
        found = []
        for side, is_exact in self.goal.sides:
            if is_exact:
                value = self.exact(side, inputs, scales)
            else:
                with np.errstate(all="ignore"):
                    value = np.asarray(Evaluation(self.real, parameters, {self.operand: inputs}).of(side))
            found.append(as_results(value, self.room))
        return found

    def exact(self, side: Scalar, inputs: Array, scales: Array) -> Array:
        """Relu and Max round nothing; the quotient of the last step is rounded as a real number."""
        if side.operation != QUANTIZE:
            raise Undecidable("an exact side that does not end in a Q")
        with np.errstate(all="ignore"):
            value = np.asarray(Evaluation(self.real, {}, {self.operand: inputs}).of(side.inputs[0]))
        return nearest_even(value.astype(np.float64), scales.astype(np.float64), self.room)

    def level_results(self, first: Array, end: Array, places: Array) -> list[Array]:
        """DifferingGroup that each side has from `first` to `end`. Undecidable if it has two."""
        found = self.results(first, places)
        for one, other in zip(found, self.results(end, places), strict=True):
            if (wrong := one != other).any():
                scale, k = self.scales[places][wrong][0], self.decision
                raise Undecidable(f"a side changes between decisions {k - 1} and {k} of scale {scale}")
        return found


def bounded(values: Array) -> Array:
    """Infinities replaced by the largest finite numbers."""
    kind = FLOAT_TYPES[values.dtype.name]
    largest = np.array(kind.largest_bits, f"u{values.itemsize}").view(values.dtype)
    return np.asarray(np.minimum(np.maximum(values, -largest), largest))


def nearest_even(values: Array, scales: Array, room: int) -> Array:
    """round(value / scale) for float64 arrays that hold narrower floats, in int32, bounded to one more than `room`.

    The rest of the quotient's nearest integer is exact in float64: it is a multiple of the smaller last place of value
    and scale, and not above the scale.
    """
    with np.errstate(all="ignore"):
        whole = np.clip(np.rint(values / scales), -room - 2, room + 2)
        rest = values - whole * scales
        twice = 2 * rest
        odd = np.mod(whole, 2) == 1
        whole += (twice > scales) | ((twice == scales) & odd)
        whole -= (twice < -scales) | ((twice == -scales) & odd)
    return np.asarray(np.clip(whole, -room - 1, room + 1).astype(np.int32))
