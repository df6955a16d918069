"""Where an order ends: in an integer, or in a number of the output's type. Which results its ends admit."""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.judging.codes import values_of_codes
from tiebreak.conformance.judging.operands import round_array
from tiebreak.conformance.judging.orders.ends import OrderSteps, StepEnds, rounded
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.problem import Array, Elementwise


def as_integers(
    steps: OrderSteps, problem: Elementwise, argument: StepEnds, zero_point: Array, got: Array, mode: str
) -> Array:
    """Which codes come of the argument of round: rounded by the mode, the zero point added, saturated."""
    kind = problem.result
    assert isinstance(kind, IntegerType)
    low, high = (
        np.clip(round_array(end, mode) + zero_point, kind.lowest, kind.highest) for end in (argument.low, argument.high)
    )
    return among(steps, got, low, high)


def as_numbers(steps: OrderSteps, problem: Elementwise, value: StepEnds, got: Array) -> Array:
    """Which codes come of a number that is rounded to the output's type."""
    kind = problem.result
    assert isinstance(kind, FloatType)
    given = values_of_codes(got, kind)
    return among(steps, given, rounded(value.low, kind), rounded(value.high, kind))


def among(steps: OrderSteps, given: Array, low: Array, high: Array) -> Array:
    """What lies between the ends; only they where steps overflow or underflow, since nothing need be between."""
    inside = (given == low) | (given == high) if steps.beyond else (low <= given) & (given <= high)
    return np.asarray(inside)
