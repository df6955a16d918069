"""What becomes of a sum of dequantized numbers: it is divided, or is a level of a FakeQuantize.

Sums, scales and zero points are float32. OpenVINO's ONNX front end writes the product of two dequantized tensors, and a
FakeQuantize between the ends of the range of real numbers that y has.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.variants import conversions
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.problem import Array

Finish = Callable[[str, Array, Array, Array], Array]  # y's type, the sum, y's scale and zero point to integers
FinishOfSum = Callable[[str, Array, Array, Array, Array], Array]  # the same of a sum of integers and its factor
Level = Callable[[Array, Array, Array], Array]  # x, and the ends of its range
Change = Callable[[Array], Array]
STEPS = np.float32(255)  # of 8 bits
LANES = 8  # numbers of float32 in a vector of AVX2
LEAST = np.float32(2.0**-126)  # of normal float32, and of bfloat16


def in_bfloat16(values: Array) -> Array:
    """float32 numbers rounded to bfloat16 as the instructions of AVX512_BF16 do it: subnormal ones become 0."""
    return np.where(np.abs(values) < LEAST, np.copysign(np.float32(0), values), conversions.in_bfloat16(values))


def summed(numbers: Array, others: Array) -> Array:
    """Products of their pairs along the first axis, summed in their own type."""
    return np.asarray((numbers * others).sum(axis=0, dtype=numbers.dtype))


def summed_of_bfloat16(numbers: Array, others: Array) -> Array:
    """The same of float32 numbers that become bfloat16 first; the sum is rounded to float32 once."""
    pairs = (in_bfloat16(values).astype(np.float64) for values in (numbers, others))
    return np.asarray(np.multiply(*pairs).sum(axis=0)).astype(np.float32)


def summed_to_bfloat16(numbers: Array, others: Array) -> Array:
    return in_bfloat16(summed_of_bfloat16(numbers, others))


def divides(kind: str, total: Array, scale: Array, point: Array) -> Array:
    return np.asarray(np.rint(total / scale) + point.astype(np.float64))


def adds_point_first(kind: str, total: Array, scale: Array, point: Array) -> Array:
    return np.rint(total / scale + point).astype(np.float64)


def fake_quantizes(by: Level, end: Change = conversions.as_is) -> Finish:
    """The level between both ends of y's range; what is at the least end or beyond the greatest has its own level.

    `end` says what becomes of the ends. Those that overflow leave no number: it becomes 0.
    """

    def found(kind: str, total: Array, scale: Array, point: Array) -> Array:
        own = INTEGER_TYPES[kind]
        low, high = (end(scale * (np.float32(one) - point)) for one in (own.lowest, own.highest))
        least, most = np.minimum(low, high), np.maximum(low, high)
        level = np.rint(by(np.clip(total, least, most), low, high))
        inside = np.where(total <= least, np.float32(0), np.where(total > most, STEPS, level))
        return np.nan_to_num(inside.astype(np.float64) + own.lowest, nan=0.0)

    return found


def level_by_scale_and_shift(x: Array, low: Array, high: Array) -> Array:
    factor = STEPS / (high - low)
    return np.asarray(x * factor + -low * factor)


def level_fused(x: Array, low: Array, high: Array) -> Array:
    factor = STEPS / (high - low)
    return ws.fused(x, factor, -low * factor)


def level_by_formula(x: Array, low: Array, high: Array) -> Array:
    return np.asarray((x - low) / (high - low) * STEPS)


def fake_quantizes_sum(kind: str, total: Array, factor: Array, scale: Array, point: Array) -> Array:
    """The integer of a sum of integers that times a factor is a real number.

    Where parameters are constants, OpenVINO divides the ends of y's range by the factor, so that a FakeQuantize takes
    the sum itself. Scale and shift are computed first; the shift has y's lowest integer in it; the two steps are fused.
    """
    own = INTEGER_TYPES[kind]
    low, high = (scale * (np.float32(end) - point) / factor for end in (own.lowest, own.highest))
    shift = -low * STEPS / (high - low) + np.float32(own.lowest)
    return np.rint(ws.fused(total.astype(np.float32), STEPS / (high - low), shift)).astype(np.float64)


def product_in_eight_sums(a: Array, b: Array) -> Array:
    """A matrix times one column: eight sums of each eighth product, halves of which are added, and the rest after them.

    OpenVINO multiplies by a vector so on AVX2. Each step is fused and rounded to float32. NotImplementedError for more
    columns than one.
    """
    if b.shape[-1] != 1:
        raise NotImplementedError
    terms = a.astype(np.float64) * np.swapaxes(b, -1, -2)
    whole = terms.shape[-1] // LANES * LANES
    total = np.zeros((*terms.shape[:-1], LANES), np.float32)
    for at in range(0, whole, LANES):
        total = (total + terms[..., at : at + LANES]).astype(np.float32)
    while total.shape[-1] > 1:
        half = total.shape[-1] // 2
        total = total[..., :half] + total[..., half:]
    for at in range(whole, terms.shape[-1]):
        total = (total + terms[..., at : at + 1]).astype(np.float32)
    return total


IN_RANGE_OF_SUM = "then a FakeQuantize whose range is divided by the factor first"
USUAL = "then a FakeQuantize by its formula"
FINISHES: tuple[tuple[str, Finish], ...] = (
    ("and divides", divides),
    ("and adds the zero point before rounding", adds_point_first),
    ("then a FakeQuantize with scale and shift computed first", fake_quantizes(level_by_scale_and_shift)),
    ("then a FakeQuantize with scale and shift fused", fake_quantizes(level_fused)),
    (USUAL, fake_quantizes(level_by_formula)),
)
