"""Both sides of a step for every combination of codes, or around every decision of one float operand.

Of a code only its difference from the zero point counts. A decision is (k + 1/2) * scale. Each side is made of steps
that never fall as the operand grows. So a result at the first and at the last float between two decisions is the result
everywhere between. Where the two differ, the floats next to the ends are tried, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from tiebreak.conformance.proof_checker.claims import ProofStep
from tiebreak.conformance.proof_checker.evaluation import (
    CODES,
    CheckedPair,
    Values,
    float_value,
    floats_of,
    infinity_of,
    nearest_steps,
    packed,
    real_value,
)
from tiebreak.conformance.proof_checker.refusal import ProofRefused, shortened
from tiebreak.conformance.proof_checker.terms import Term, operands_of

MOST = 1 << 22  # combinations
AT_ONCE = 1 << 16
RISING = ("", "Q", "Relu", "Clip", "Max", "Mean", "Add")
RISING_EXACTLY = ("", "Q", "Relu", "Max")  # but for Q they round nothing
Found = Iterator[tuple[Values, Values, Values, Values]]


@dataclass(frozen=True)
class TriedGoal:
    """What a step says; `room` is how far a code can be from a zero point, `sign` that of the scales."""

    step: ProofStep
    real: str
    sign: int
    room: int

    def pairs(self, scale: Any) -> dict[str, CheckedPair]:
        """The one pair, with room for every difference: Q stops one step beyond, which every zero point clamps."""
        return {self.step.pair: CheckedPair(scale, 0, -self.room - 1, self.room + 1)}


def by_codes(goal: TriedGoal, scales: Values, digest: Any) -> Found:
    """Differences ([operands, n]), both sides' results ([n]), packed, and their scales' places, wherever these differ.

    `digest` gets, for each combination, the results of each side that depends on the scale.
    """
    combinations, operands = combinations_of(goal), operands_of(goal.step.left, goal.step.right)
    rows = max(1, AT_ONCE // len(scales))
    for start in range(0, len(combinations), rows):
        some = combinations[start : start + rows]
        known = {one: some[:, k : k + 1] for k, one in enumerate(operands)}
        sides = []
        for side, is_exact in goal.step.sides:
            with np.errstate(all="ignore"):
                value = None if is_exact else float_value(side, known, goal.pairs(scales), goal.real)
            sides.append(packed(exact_codes(goal, side, some) if value is None else value, goal.room))
        if kept := [one for one in sides if one.shape[1] == len(scales)]:
            digest.update(np.ascontiguousarray(np.stack(kept, axis=1)).data)
        left, right = (np.broadcast_to(one, (len(some), len(scales))) for one in sides)
        which, places = np.nonzero(left != right)
        yield some[which].T, left[which, places], right[which, places], places


def combinations_of(goal: TriedGoal) -> Values:
    """Differences, [combinations, operands], in ascending order: all that codes of one type have from a zero point."""
    operands, room = operands_of(goal.step.left, goal.step.right), goal.room
    if not operands or (2 * room + 1) ** len(operands) > MOST:
        raise ProofRefused("more combinations of codes than a step can have tried")
    if any(CODES.get(one.kind, (0, 0))[1] - CODES.get(one.kind, (0, 0))[0] != room for one in operands):
        raise ProofRefused(f"{shortened(operands[0])} is no code of the pair, but every code was tried")
    every = np.array(list(product(range(-room, room + 1), repeat=len(operands))), np.int32)
    spread = np.maximum(every.max(axis=1), 0) - np.minimum(every.min(axis=1), 0)
    return np.asarray(every[spread <= room])


def exact_codes(goal: TriedGoal, side: Term, some: Values) -> Values:
    """What real arithmetic gives, [combinations, 1]: the scale cancels, but for its sign."""
    if side.operation not in ("", "Q") or any(part.operation in ("Mul", "Clip") for part in side.parts()):
        raise ProofRefused(f"exact({shortened(side)}) does not end in a Q of what is proportional to the scale")
    operands, pairs = operands_of(goal.step.left, goal.step.right), goal.pairs(Fraction(goal.sign))
    rows = [dict(zip(operands, map(Fraction, row), strict=True)) for row in some.tolist()]
    return np.array([[int(real_value(side, row, pairs, goal.real))] for row in rows], np.int32)


def by_decisions(goal: TriedGoal, scales: Values, digest: Any) -> Found:
    """As by_codes, with no differences ([0, n]); `digest` gets all results."""
    check_rising(goal)
    room, everywhere = goal.room, np.arange(len(scales))
    largest = np.repeat(floats_of(np.array([infinity_of(goal.real) - 1]), goal.real), len(scales))
    low = -largest
    for k in range(-room - 2, room + 3):
        high = float_from((k + 0.5) * scales.astype(np.float64), largest)
        last = np.nextafter(high, -largest) if k < room + 2 else largest
        ends = [results(goal, at, scales) for at in (low, last)]
        tried = [(end, everywhere) for end in ends]
        uneven = (ends[0][0] != ends[1][0]) | (ends[0][1] != ends[1][1])
        places = np.flatnonzero(uneven & (low < last))
        first, end = np.nextafter(low[places], largest[places]), np.nextafter(last[places], -largest[places])
        if (within := first <= end).any():
            places = places[within]
            inner, other = (results(goal, at[within], scales[places]) for at in (first, end))
            if (inner[0] != other[0]).any() or (inner[1] != other[1]).any():
                raise ProofRefused(f"a side changes between decisions {k - 1} and {k}, where nobody tried it")
            tried.append((inner, places))
        for (left, right), where in tried:
            digest.update(left.data)
            digest.update(right.data)
            apart = np.flatnonzero(left != right)
            yield np.zeros((0, len(apart)), np.int32), left[apart], right[apart], where[apart]
        low = high


def check_rising(goal: TriedGoal) -> None:
    """ProofRefused unless both sides never fall as one float operand grows."""
    operands = operands_of(goal.step.left, goal.step.right)
    if len(operands) != 1 or operands[0].kind in CODES:
        raise ProofRefused("every decision was tried of a claim that has not one float operand")
    if goal.sign < 0:
        raise ProofRefused("with negative scales a side falls as its operand grows")
    for side, is_exact in goal.step.sides:
        if any(part.operation not in (RISING_EXACTLY if is_exact else RISING) for part in side.parts()):
            raise ProofRefused(f"{shortened(side)} is not known to rise with its operand")
        if side.operation != "Q":
            raise ProofRefused(f"{shortened(side)} does not end in a Q")


def float_from(bounds: Values, largest: Values) -> Values:
    """The least float that is not below each bound (float64); finite."""
    with np.errstate(over="ignore"):
        near = bounds.astype(largest.dtype)
    near = np.minimum(np.maximum(near, -largest), largest)
    found = np.where(near.astype(np.float64) < bounds, np.nextafter(near, largest), near)
    return np.asarray(found.astype(largest.dtype))


def results(goal: TriedGoal, at: Values, scales: Values) -> tuple[Values, Values]:
    (operand,) = operands_of(goal.step.left, goal.step.right)
    found = []
    for side, is_exact in goal.step.sides:
        with np.errstate(all="ignore"):
            inner = side.inputs[0] if is_exact else side
            value = float_value(inner, {operand: at}, goal.pairs(scales), goal.real)
            found.append(packed(nearest_steps(value, scales, goal.room) if is_exact else value, goal.room))
    return found[0], found[1]
