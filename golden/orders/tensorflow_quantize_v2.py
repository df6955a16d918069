"""Orders of TensorFlow's QuantizeV2, mode by mode.

The pseudo-code of SCALED gives its factors the type float, so they are what float32 makes of them; the other steps, and
those of both other modes, have no type.
"""

from __future__ import annotations

import numpy as np

from tiebreak.golden.orders.ends import StepEnds, hull, point
from tiebreak.golden.orders.openvino_fake_quantize import scaled_difference
from tiebreak.golden.orders.products import product, total
from tiebreak.golden.orders.question import Question
from tiebreak.golden.problem import Array

LARGEST = np.finfo(np.float32).max


def output(q: Question) -> Array:
    return MODES[q.constants["mode"]](q)


def combined(q: Question) -> Array:
    """(input - min_range) * range(T) / (max_range - min_range), less half of range(T) + 1 for int8."""
    x, low, high = q.operands
    kind, clipped = q.constants["T"], np.clip(x, low, high)
    size, width = constant(q, kind.highest - kind.lowest), q.steps.subtract(point(high), point(low))
    argument = scaled_difference(q.steps, clipped, low, size, width)
    if kind.name == "int8":
        less = constant(q, -(kind.highest - kind.lowest + 1) / 2)
        terms = [product(q.steps, [point(part), size], [width]) for part in (clipped, -low)]
        argument = hull([q.steps.add(argument, less), total(q.steps, [*terms, less])])
    return between(q, q.rounded(argument))


def first(q: Question) -> Array:
    """round(input * N / range) - round(min_range * N / range) + lowest, where range = width * (N / (N - 1))."""
    x, low, high = q.operands
    kind = q.constants["T"]
    size, width = constant(q, 1 << kind.bits), q.steps.subtract(point(high), point(low))
    adjust = q.steps.divide(size, constant(q, (1 << kind.bits) - 1))
    one, other = (
        q.rounded(product(q.steps, [point(value), size], [width, adjust]), which)
        for value, which in ((np.clip(x, low, high), -2), (low, -1))
    )
    return between(q, StepEnds(one.low - other.high + kind.lowest, one.high - other.low + kind.lowest))


def scaled(q: Question) -> Array:
    """clip(input, min_T / factor, max_T / factor) * factor. Of an infinite factor comes no number, and any integer."""
    x, *ends = q.operands
    factor = factor_of(q, *ends)
    below, above = (bound(q, end, factor) for end in ("lowest", "highest"))
    clipped = StepEnds(np.clip(x, below.low, above.low), np.clip(x, below.high, above.high))
    return between(q, q.rounded(product(q.steps, [clipped, point(factor)]))) | np.isinf(factor)


def output_min(q: Question) -> Array:
    return end_of_range(q, "lowest")


def output_max(q: Question) -> Array:
    return end_of_range(q, "highest")


def end_of_range(q: Question, end: str) -> Array:
    """What SCALED divides; in the other modes an end is copied."""
    if q.constants["mode"] != "SCALED":
        return np.zeros(q.given.shape, bool)
    return q.among_numbers(bound(q, end, factor_of(q, *q.operands)))


def factor_of(q: Question, low: Array, high: Array) -> Array:
    """scale_factor: the smaller one of both sides', each a float32."""
    sides = []
    for name, end in (("lowest", low), ("highest", high)):
        value = q.constants[name]
        quotient = np.float32(value) / end.astype(np.float32)
        sides.append(np.where(value * end > 0, quotient, LARGEST).astype(float))
    return np.asarray(np.minimum(*sides))


def bound(q: Question, end: str, factor: Array) -> StepEnds:
    """min_T / factor or max_T / factor."""
    return product(q.steps, [q.steps.held(constant(q, q.constants[end]))], [point(factor)])


def constant(q: Question, value: float) -> StepEnds:
    return point(np.full(q.given.shape, float(value)))


def between(q: Question, whole: StepEnds) -> Array:
    """Which codes are among the integers, clamped to those that the mode uses."""
    lowest, highest = (q.constants[end] for end in ("lowest", "highest"))
    return q.among(q.given, np.clip(whole.low, lowest, highest), np.clip(whole.high, lowest, highest))


MODES = {"MIN_COMBINED": combined, "MIN_FIRST": first, "SCALED": scaled}
ORDERS = {
    "tensorflow.QuantizeV2": output,
    "tensorflow.QuantizeV2:output_min": output_min,
    "tensorflow.QuantizeV2:output_max": output_max,
}
