"""Both sides of a step for every combination of codes, or around every decision of one float operand.

Of a code only its difference from the zero point counts. A decision is (k + 1/2) * scale. Each side is made of steps
that never fall as the operand grows. So a result at the first and at the last float between two decisions is the result
everywhere between. Where the two differ, the floats next to the ends are tried, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from tiebreak.conformance.proof_checker.blocks import BlockDraw, Span
from tiebreak.conformance.proof_checker.claims import CheckedClaim
from tiebreak.conformance.proof_checker.evaluation import (
    CODES,
    DTYPES,
    Values,
    as_is,
    floats_of,
    in_reals,
    infinity_of,
    quotients,
)
from tiebreak.conformance.proof_checker.refusal import ProofRefused, check_form, require
from tiebreak.conformance.proof_checker.terms import Equation
from tiebreak.conformance.proof_checker.tried_scales import TriedGoal, goal_of

MOST = 1 << 22  # combinations
AT_ONCE = 1 << 16
FORM = {"exponents": [(int, int)], "scales": int, "blocks": [(str, int, int | None)], "chain": str}
RISING = ("", "Q", "Relu", "Clip", "Max", "Mean", "Add")
RISING_EXACTLY = ("", "Q", "Relu", "Max")  # but for Q they round nothing
Found = Iterator[tuple[Values, Values, Values, Values]]


def check_tried(claim: CheckedClaim, step: Equation, row: Mapping[str, Any], draw: BlockDraw) -> str:
    """What was tried again. ProofRefused if a scale is left out, a block gives something else, or the sides differ."""
    check_form(row, FORM, "a step")
    goal = goal_of(claim, step, near=row["rule"] == "every decision")
    for side in step[:2]:
        within = any(part.operation == "Q" for one in side.inputs for part in one.parts())
        require(not within, f"{side} rounds to a code within, where each zero point counts")
    blocks, exponents = goal.needed()
    require(row["exponents"] == exponents, "the step claims other exponents of scales than its numbers allow")
    needed = sum(end - first for first, end in blocks)
    require(row["scales"] == needed, f"{row['scales']} scales are said to be tried: {needed} are needed")
    return draw.check(row, blocks, lambda block: block_of(goal, block))


def block_of(goal: TriedGoal, block: Span) -> list[Any]:
    """A block's digest, at how many scales the sides differ, and the least distance of codes that shows it.

    ProofRefused if they differ for a zero point for which the proof says that they do not.
    """
    scales, digest = goal.scales(block), hashlib.sha256()
    differ, nearest = np.zeros(len(scales), bool), []
    chosen, proved = (np.array(some[goal.kind], np.int64) for some in (goal.claim.chosen, goal.claim.proved))
    for inputs, left, right, places in (by_decisions if goal.near else by_codes)(goal, scales, digest):
        low, high = showing(goal, inputs, left, right)
        wrong, counts = (np.searchsorted(some, low) < np.searchsorted(some, high, "right") for some in (proved, chosen))
        if wrong.any():
            zero = proved[np.searchsorted(proved, low[wrong][0])]
            raise ProofRefused(f"its sides differ for zero point {zero}: {left[wrong][0]} and {right[wrong][0]}")
        differ[places[counts]] = True
        if len(inputs) and counts.any():
            nearest.append(int(np.abs(inputs[:, counts].astype(np.int64)).sum(axis=0).min()))
    return [digest.hexdigest(), int(differ.sum()), min(nearest, default=None)]


def showing(goal: TriedGoal, inputs: Values, left: Values, right: Values) -> tuple[Values, Values]:
    """The least and the greatest zero point for which results that differ ([n]) do so after clamping; none if crossed.

    `inputs` are differences of codes and the zero point, [operands, n]: each code has to be one of its type. Results
    stay apart unless both reach the lowest code, or both the highest. What Q makes of NaN no document says, and of
    floats NaN is no number: that is no difference.
    """
    lowest, highest = CODES[goal.kind]
    codes = np.concatenate([np.zeros((1, len(left)), np.int64), inputs.astype(np.int64)])
    low, high = lowest - codes.min(axis=0), highest - codes.max(axis=0)
    if goal.equation.left.kind in CODES:
        least, most = np.minimum(left, right).astype(np.int64), np.maximum(left, right).astype(np.int64)
        low, high = np.maximum(low, lowest - most + 1), np.minimum(high, highest - least - 1)
        is_nan = least == -goal.room - 2
    else:
        is_nan = np.isnan(floats_of(left, goal.claim.real)) | np.isnan(floats_of(right, goal.claim.real))
    return low, np.where(is_nan, low - 1, high)


def by_codes(goal: TriedGoal, scales: Values, digest: Any) -> Found:
    """Differences ([operands, n]), both sides' results ([n]), packed, and their scales' places, wherever these differ.

    `digest` gets, for each combination, the results of each side that depends on the scale.
    """
    one_scale = np.full(1, goal.claim.sign).astype(DTYPES[goal.claim.real])  # for real arithmetic, where it cancels
    for side, is_exact in goal.equation.sides:
        cancels = side.operation in ("", "Q") and all(one.operation not in ("Mul", "Clip") for one in side.parts())
        require(cancels or not is_exact, f"exact({side}) does not end in a Q of what is proportional to the scale")
    combinations = combinations_of(goal)
    rows = max(1, AT_ONCE // len(scales))
    for start in range(0, len(combinations), rows):
        some = combinations[start : start + rows]
        inputs, sides = list(some.T[:, :, None]), []
        for side, is_exact in goal.equation.sides:
            found = goal.results(side, inputs, *((one_scale, in_reals) if is_exact else (scales, as_is)))
            sides.append(packed(goal, found))
        if kept := [one for one in sides if one.shape[1] == len(scales)]:
            digest.update(np.ascontiguousarray(np.stack(kept, axis=1)).data)
        left, right = (np.broadcast_to(one, (len(some), len(scales))) for one in sides)
        which, places = np.nonzero(left != right)
        yield some[which].T, left[which, places], right[which, places], places


def combinations_of(goal: TriedGoal) -> Values:
    """Differences, [combinations, operands], in ascending order: all that codes of one type have from a zero point."""
    operands, room = goal.equation.operands, goal.room
    for one in operands:
        lowest, highest = CODES.get(one.kind, (0, 0))
        require(highest - lowest == room, f"{one} is no code of the pair, but every code was tried")
    is_bounded = operands and (2 * room + 1) ** len(operands) <= MOST
    require(is_bounded, "more combinations of codes than a step can have tried")
    every = np.array(list(product(range(-room, room + 1), repeat=len(operands))), np.int32)
    spread = np.maximum(every.max(axis=1), 0) - np.minimum(every.min(axis=1), 0)
    return np.asarray(every[spread <= room])


def packed(goal: TriedGoal, values: Values) -> Values:
    """As digests have them: codes as little-endian integers, floats as their bits, zeros without a sign."""
    if values.dtype.kind in "iu":
        return np.ascontiguousarray(values, "<i2" if goal.room < 1 << 14 else "<i4")
    return np.ascontiguousarray(values + np.zeros((), values.dtype)).view(f"<u{values.dtype.itemsize}")


def by_decisions(goal: TriedGoal, scales: Values, digest: Any) -> Found:
    """As by_codes, with no differences ([0, n]); `digest` gets all results."""
    check_rising(goal)
    largest = np.repeat(floats_of(np.array([infinity_of(goal.claim.real) - 1]), goal.claim.real), len(scales))
    low, everywhere = -largest, np.arange(len(scales))
    for k in range(-goal.room - 2, goal.room + 3):
        high = float_from((k + 0.5) * scales.astype(np.float64), largest)
        last = np.nextafter(high, -largest) if k < goal.room + 2 else largest
        ends = [both_sides(goal, at, scales) for at in (low, last)]
        tried = [(end, everywhere) for end in ends]
        places = np.flatnonzero((ends[0] != ends[1]).any(axis=0) & (low < last))
        first, end = np.nextafter(low[places], largest[places]), np.nextafter(last[places], -largest[places])
        if (within := first <= end).any():
            places = places[within]
            inner, other = (both_sides(goal, at[within], scales[places]) for at in (first, end))
            require((inner == other).all(), f"a side changes between decisions {k - 1} and {k}, where nobody tried it")
            tried.append((inner, places))
        for sides, where in tried:
            digest.update(sides.data)
            apart = np.flatnonzero(sides[0] != sides[1])
            yield np.zeros((0, len(apart)), np.int32), sides[0][apart], sides[1][apart], where[apart]
        low = high


def check_rising(goal: TriedGoal) -> None:
    """ProofRefused unless both sides never fall as one float operand grows."""
    is_float = [one.kind for one in goal.equation.operands] == [goal.claim.real]
    require(is_float, "every decision was tried of a claim that has not one float operand")
    require(goal.claim.sign > 0, "with negative scales a side falls as its operand grows")
    for side, is_exact in goal.equation.sides:
        rises = all(part.operation in (RISING_EXACTLY if is_exact else RISING) for part in side.parts())
        require(rises and side.operation == "Q", f"{side} is no Q of what is known to rise with its operand")


def float_from(bounds: Values, largest: Values) -> Values:
    """The least float that is not below each bound (float64); finite."""
    with np.errstate(over="ignore"):
        near = np.minimum(np.maximum(bounds.astype(largest.dtype), -largest), largest)
    return np.asarray(np.where(near.astype(np.float64) < bounds, np.nextafter(near, largest), near))


def both_sides(goal: TriedGoal, at: Values, scales: Values) -> Values:
    """Both sides' results, [2, n], at floats. What is exact rounds nothing before its Q."""
    found = []
    for side, is_exact in goal.equation.sides:
        value = goal.results(side.inputs[0] if is_exact else side, [at], scales, as_is)
        if is_exact:
            value = np.clip(np.rint(quotients(value, scales)), -goal.room - 1, goal.room + 1).astype(np.int32)
        found.append(packed(goal, value))
    return np.stack(found)
