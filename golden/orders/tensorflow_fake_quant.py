"""Orders of TensorFlow's FakeQuantWithMinMaxVars: the range is adjusted so that 0 is on its grid, then there and back.

With scale = (max - min) / n the formula is a product or a sum of such in each of its steps:

    first = round(min / scale), min_adj = first * scale, max_adj = max + min_adj - min
    q = round((clamp(inputs, min_adj, max_adj) - min_adj) / scale), outputs = (q + first) * scale
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tiebreak.golden.orders.ends import StepEnds, hull, point
from tiebreak.golden.orders.products import product, total
from tiebreak.golden.orders.question import Question
from tiebreak.golden.problem import Array


def fake_quant(q: Question) -> Array:
    found = np.zeros(q.given.shape, bool)
    for first in firsts(q):
        for level in levels(q, first):
            found |= outputs(q, first, level)
    return found


def intervals(q: Question) -> StepEnds:
    return point(np.full(q.given.shape, float(q.constants["intervals"])))


def times_scale(q: Question, factor: StepEnds) -> StepEnds:
    """factor * (max - min) / n."""
    _, low, high = map(point, q.operands)
    return product(q.steps, [factor, q.steps.subtract(high, low)], [intervals(q)])


def over_scale(q: Question, factor: StepEnds) -> StepEnds:
    """factor * n / (max - min)."""
    _, low, high = map(point, q.operands)
    return product(q.steps, [factor, intervals(q)], [q.steps.subtract(high, low)])


def firsts(q: Question) -> list[Array]:
    """min_adj in units of scale: one integer by most orders, two where some orders round to another.

    The lowest quantized value may be added before the quotient is rounded, and subtracted then.
    """
    _, low, high = q.operands
    lowest, quotient = point(np.full(low.shape, float(q.constants["lowest"]))), over_scale(q, point(low))
    shifted = q.rounded(q.steps.subtract(quotient, lowest), -2)
    whole = hull([q.rounded(quotient, -2), StepEnds(shifted.low + lowest.low, shifted.high + lowest.low)])
    above, below = low > 0, high < 0
    ends = (np.where(above, 0.0, np.where(below, -intervals(q).low, end)) for end in (whole.low, whole.high))
    return list(ends)


def levels(q: Question, first: Array) -> Iterator[Array]:
    """The quantized values: both ends, and what lies between them next to what was given."""
    x, low, high = q.operands
    multiple = times_scale(q, point(first))
    below = hull([multiple, q.steps.subtract(point(low), point(high)).where(high < 0, multiple)])
    above = total(q.steps, [point(high), below, point(-low)])
    clamped = StepEnds(np.clip(x, below.low, above.low), np.clip(x, below.high, above.high))
    difference = over_scale(q, q.steps.subtract(clamped, below))
    apart = q.steps.subtract(over_scale(q, clamped), point(first))
    level = q.rounded(hull([difference, apart]))
    yield from (level.low, level.high)
    if not q.steps.beyond:
        nearest = np.rint(q.values / (high - low) * intervals(q).low) - first
        yield from (np.clip(nearest + beside, level.low, level.high) for beside in (-1, 0, 1))


def outputs(q: Question, first: Array, level: Array) -> Array:
    """(q + first) * scale, or q * scale + first * scale."""
    apart = [times_scale(q, point(one)) for one in (level, first)]
    whole = q.among_numbers(times_scale(q, point(level + first)))
    return whole | q.among_sums(total(q.steps, apart), [one.high for one in apart])


ORDERS = {
    "tensorflow.FakeQuantWithMinMaxVars": fake_quant,
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": fake_quant,
}
