"""Both sides of one float operand around every decision, (k + 1/2) * scale.

Each side is made of steps that never fall as the operand grows. So a result at the first and at the last float between
two decisions is the result everywhere between. Where the two differ, the floats next to the ends are tried, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tiebreak.conformance.proof_checker.float_terms import FORMATS, Values, float_values, packed, real_steps
from tiebreak.conformance.proof_checker.refusal import ProofRefused, shortened
from tiebreak.conformance.proof_checker.terms import Term, operands_of
from tiebreak.conformance.proof_checker.tried_goal import TriedGoal

RISING = ("", "Q", "Relu", "Clip", "Max", "Mean", "Add")
RISING_EXACTLY = ("", "Q", "Relu", "Max")  # but for Q they round nothing


def check_rising(goal: TriedGoal) -> None:
    """ProofRefused unless both sides never fall as one float operand grows."""
    operands = operands_of(goal.left, goal.right)
    if len(operands) != 1 or goal.is_code(Term(name=operands[0])):
        raise ProofRefused("every decision was tried of a claim that has not one float operand")
    if goal.claim.sign != "positive":
        raise ProofRefused("with negative scales a side falls as its operand grows")
    for side, is_exact in goal.sides:
        for part in side.parts():
            if part.operation not in (RISING_EXACTLY if is_exact else RISING):
                raise ProofRefused(f"{shortened(side)} is not known to rise with its operand")
        if is_exact and side.operation != "Q":
            raise ProofRefused(f"exact({shortened(side)}) does not end in a Q")


def by_decisions(goal: TriedGoal, scales: Values, digest: Any) -> Iterator[tuple[Values, Values, Values]]:
    """No differences ([0, n]) and both sides' results ([n]), packed; `digest` gets the results."""
    nothing, room = np.zeros((0, len(scales)), np.int32), goal.room
    largest = np.full(scales.shape, largest_of(goal.claim.real), scales.dtype)
    low = -largest
    for k in range(-room - 2, room + 3):
        high = float_from((k + 0.5) * scales.astype(np.float64), largest)
        last = np.nextafter(high, -largest) if k < room + 2 else largest
        ends = [results(goal, at, scales) for at in (low, last)]
        for left, right in ends:
            digest.update(left.data)
            digest.update(right.data)
            yield nothing, left, right
        uneven = (ends[0][0] != ends[1][0]) | (ends[0][1] != ends[1][1])
        places = np.flatnonzero(uneven & (low < last))
        first, end = np.nextafter(low[places], largest[places]), np.nextafter(last[places], -largest[places])
        if (within := first <= end).any():
            first, end, some = first[within], end[within], scales[places][within]
            inner, other = results(goal, first, some), results(goal, end, some)
            if (inner[0] != other[0]).any() or (inner[1] != other[1]).any():
                raise ProofRefused(f"a side changes between decisions {k - 1} and {k}, where nobody tried it")
            for one in inner:
                digest.update(one.data)
            yield nothing[:, : len(some)], *inner
        low = high


def largest_of(real: str) -> float:
    digits, _, emax = FORMATS[real]
    return float((2 - 2.0 ** (1 - digits)) * 2.0**emax)


def float_from(bounds: Values, largest: Values) -> Values:
    """The least float that is not below each bound (float64); finite."""
    with np.errstate(over="ignore"):
        near = bounds.astype(largest.dtype)
    near = np.minimum(np.maximum(near, -largest), largest)
    return np.asarray(
        np.where(near.astype(np.float64) < bounds, np.nextafter(near, largest), near).astype(largest.dtype)
    )


def results(goal: TriedGoal, at: Values, scales: Values) -> tuple[Values, Values]:
    (name,) = operands_of(goal.left, goal.right)
    found = []
    for side, is_exact in goal.sides:
        with np.errstate(all="ignore"):
            if is_exact:
                inner = float_values(side.inputs[0], {name: at}, scales, goal.room)
                value = real_steps(inner, scales, goal.room)
            else:
                value = float_values(side, {name: at}, scales, goal.room)
        found.append(packed(value, goal.room))
    return found[0], found[1]
