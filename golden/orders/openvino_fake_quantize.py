"""Orders of OpenVINO's FakeQuantize: to a level and back."""

from __future__ import annotations

import numpy as np

from tiebreak.golden.orders.ends import OrderSteps, StepEnds, hull, point
from tiebreak.golden.orders.products import product, total
from tiebreak.golden.orders.question import Question
from tiebreak.golden.problem import Array


def fake_quantize(q: Question) -> Array:
    """round((x - input_low) / (input_high - input_low) * (levels - 1)) / (levels - 1) * (output_high - output_low) + …

    Differences are scaled, or their parts are and then subtracted. What lies outside the input range is copied.
    """
    x, input_low, input_high, output_low, output_high = q.operands
    steps, n = q.steps, q.steps.held(point(np.full(x.shape, float(q.constants["levels"] - 1))))
    inside = (x > np.minimum(input_low, input_high)) & (x <= np.maximum(input_low, input_high))
    width = steps.subtract(point(input_high), point(input_low))
    level = q.rounded(scaled_difference(steps, x, input_low, n, width))
    found = np.zeros(x.shape, bool)
    for candidate in candidates(q, level):
        back = scaled_difference(steps, output_high, output_low, point(candidate), n)
        terms = [candidate / n.low * end for end in (output_high, output_low)]
        found |= q.among_sums(steps.add(back, point(output_low)), [*terms, output_low])
    return np.asarray(found & inside)


def scaled_difference(steps: OrderSteps, one: Array, other: Array, factor: StepEnds, divisor: StepEnds) -> StepEnds:
    """(one - other) * factor / divisor."""
    whole = product(steps, [steps.subtract(point(one), point(other)), factor], [divisor])
    apart = [product(steps, [point(part), factor], [divisor]) for part in (one, -other)]
    return hull([whole, total(steps, apart)])


def candidates(q: Question, level: StepEnds) -> list[Array]:
    """The levels that are reached: both ends, and those between that lie next to what was given."""
    *_, low, high = q.operands
    if q.steps.beyond:
        return [level.low, level.high]
    n = q.constants["levels"] - 1
    nearest = np.rint((q.values - low) / (high - low) * n)
    return [level.low, level.high, *(np.clip(nearest + beside, level.low, level.high) for beside in (-1, 0, 1))]


ORDERS = {"openvino.FakeQuantize": fake_quantize}
