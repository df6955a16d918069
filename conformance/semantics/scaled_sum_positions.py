"""Where sums of two scaled integers are rounded on their way: steps in float32 of runtimes, and fixed point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.semantics.integer_scaling_facets import HIGH, Factor, ProductPosition
from tiebreak.conformance.semantics.places import as_array, fused_multiply_add
from tiebreak.conformance.semantics.precisions import FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.scaled_operands import (
    A_POINT,
    B_POINT,
    B,
    Others,
    in_type,
    of_output,
    scales_of,
    second_difference,
)
from tiebreak.golden.problem import Array

SINGLE = np.dtype(np.float32)


def fma(a: Array, b: Array, added: Array) -> Array:
    first, second, third = np.broadcast_arrays(a, b, added)
    return fused_multiply_add(first, second, third, SINGLE)


def terms(values: Array, others: Others, precision: Precision) -> tuple[Array, Array]:
    """Both numbers that the operands stand for."""
    a, b, _ = in_type(others, precision)
    second = second_difference(others).astype(precision.dtype)
    return as_array(values.astype(precision.dtype) * a), as_array(second * b)


def as_written(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    first, second = terms(values, others, precision)
    return as_array((first + second) / in_type(others, precision)[2])


def by_reciprocal(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    first, second = terms(values, others, precision)
    return as_array((first + second) * (precision.dtype.type(1) / in_type(others, precision)[2]))


def by_ratios(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    a, b, c = in_type(others, precision)
    second = second_difference(others).astype(precision.dtype)
    return as_array(values.astype(precision.dtype) * (a / c) + second * (b / c))


def by_fused_reciprocal(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    """A's product is fused to B's number, and the output's zero point to the product with the reciprocal."""
    a, _, c = in_type(others, precision)
    total = fma(values.astype(SINGLE), a, terms(values, others, precision)[1])
    return without_point(fma(total, SINGLE.type(1) / c, of_output(others)[1].astype(SINGLE)), others)


def without_point(total: Array, others: Others) -> Array:
    """What the output's zero point is added to, without a rounding."""
    return as_array(total.astype(np.float64) - of_output(others)[1].astype(np.float64))


@dataclass(frozen=True)
class WithPoints:
    """One number holds the three zero points, times the ratios, and both products of ratios are added to it.

    As MLAS does it (qladd.cpp), its kernels with vectors and those for an operand that is a single number. `last` names
    the operand that is added last. `point` names the operand whose zero point has no rounding of its own in the number.
    """

    last: str = "A"
    point: str = ""
    first_fused: bool = False
    last_fused: bool = True

    def __call__(self, values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
        a, b, c = in_type(others, FLOAT32)
        ratios = a / c, b / c
        operands = (values + others[A_POINT].astype(np.int64)).astype(SINGLE), others[B].astype(SINGLE)
        first, last = (1, 0) if self.last == "A" else (0, 1)
        total = added(operands[first], ratios[first], self.part(ratios, others), fused=self.first_fused)
        total = added(operands[last], ratios[last], total, fused=self.last_fused)
        return without_point(total, others)

    def part(self, ratios: tuple[Array, Array], others: Others) -> Array:
        a, b, c = (one.astype(SINGLE) for one in (others[A_POINT], others[B_POINT], of_output(others)[1]))
        one, other = (a, ratios[0]), (b, ratios[1])
        if self.point == "B":
            one, other = other, one
        return as_array(c - added(*one, as_array(other[0] * other[1]), fused=bool(self.point)))


def added(x: Array, ratio: Array, part: Array, *, fused: bool) -> Array:
    return fma(x, ratio, part) if fused else as_array(part + x * ratio)


def in_range(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    """As a FakeQuantize: how far the sum is from what the lowest output stands for, of the way to the highest."""
    c, point = in_type(others, precision)[2], of_output(others)[1]
    ends = np.iinfo(point.dtype)
    low, high = (c * (end - point.astype(np.int64)).astype(precision.dtype) for end in (ends.min, ends.max))
    first, second = terms(values, others, precision)
    part = (np.clip(first + second, low, high) - low) / (high - low) * precision.dtype.type(ends.max - ends.min)
    return as_array(part.astype(np.float64) + ends.min - point.astype(np.float64))


def each_rounded(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    first, second = terms(values, others, precision)
    c = in_type(others, precision)[2]
    return as_array(np.rint(first / c) + np.rint(second / c))


# TensorFlow Lite's fixed point

LEFT_SHIFT = 20


def multiplier_and_shift(value: float) -> tuple[int, int]:
    """QuantizeMultiplier: 31 bits, halves away from zero, and the power of two that is left."""
    part, shift = np.frexp(value)
    return int(np.floor(np.ldexp(part, HIGH) + 0.5)), int(shift)


def high_half(values: Array, multiplier: int) -> Array:
    """SaturatingRoundingDoublingHighMul: the product loses 31 bits, ties up."""
    return (values * np.int64(multiplier) + (1 << (HIGH - 1))) >> HIGH


def rescaled(values: Array, value: float) -> Array:
    """Times a multiplier of 31 bits, twice rounded, the second time with ties away from zero."""
    multiplier, shift = multiplier_and_shift(value)
    found = high_half(values, multiplier).astype(np.float64) * 2.0**shift
    return np.asarray(np.copysign(np.floor(np.abs(found) + 0.5), found).astype(np.int64))


def in_three_steps(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    """Both differences times 2^20, rescaled to twice the greater scale; their sum, before its last rounding.

    As TensorFlow Lite's reference kernel does it (reference/add.h), whose multipliers are made in float64.
    """
    a, b, c = map(float, scales_of(others))
    twice = 2 * max(a, b)
    second = second_difference(others)
    total = rescaled(values << LEFT_SHIFT, a / twice) + rescaled(second << LEFT_SHIFT, b / twice)
    multiplier, shift = multiplier_and_shift(twice / (2.0**LEFT_SHIFT * c))
    return np.asarray(high_half(total, multiplier).astype(np.float64) * 2.0**shift)


ALL_POINTS = "both float32 ratios, and one number of all zero points"
AS_WRITTEN = ProductPosition(
    "as-written",
    "both numbers, their sum, and the sum over the output's scale: each a float32",
    "steps-in:float32",
    precision=FLOAT32,
    number=as_written,
)
EXACTLY = ProductPosition(
    "exact", "the real quotient, or one of steps in float64: no input is known that tells them apart", "scaled-exactly"
)
FUSED = ProductPosition(
    "fused-reciprocal",
    "B's number plus A's product rounded once (fma), times the reciprocal plus the zero point rounded once",
    "reciprocal-of-output-scale:fused",
    precision=FLOAT32,
    number=by_fused_reciprocal,
)
MERGED = tuple(
    ProductPosition(
        f"merged{name}",
        f"{ALL_POINTS}: {how}",
        f"ratios-in-float32:{cause}",
        precision=FLOAT32,
        number=number,
    )
    for name, how, cause, number in (
        ("-fused", "B's product is fused to it, then A's", "fused with all zero points", WithPoints(first_fused=True)),
        (
            "-fused-thrice",
            "made with a fused step, too; B's product is fused to it, then A's",
            "zero points fused, too",
            WithPoints(point="A", first_fused=True),
        ),
        (
            "-fused-last",
            "A's product, rounded, is added, and B's is fused",
            "B's product fused with A's and all zero points",
            WithPoints(last="B"),
        ),
        (
            "-fused-thrice-a-first",
            "made with a fused step, too; A's product is fused to it, then B's",
            "zero points fused, too, A's product first",
            WithPoints(last="B", point="B", first_fused=True),
        ),
        ("", "B's product is added to it, then A's", "with all zero points", WithPoints(last_fused=False)),
    )
)
RANGE = ProductPosition(
    "range",
    "both numbers, and their sum as a part of the output's range: each a float32",
    "range-formula",
    precision=FLOAT32,
    number=in_range,
)
EACH = ProductPosition(
    "each-rounded",
    "each number over the output's scale is rounded, and then both are added",
    "rounds-each-operand",
    precision=FLOAT64,
    number=each_rounded,
)
TWICE = ProductPosition(
    "three-multipliers",
    "both differences rescaled to one scale by 31 bits, their sum rescaled, each rounded twice; this is the last one",
    "ratios-in-fixed-point:31",
    precision=FLOAT64,
    number=in_three_steps,
)
WITH_POINT = (FUSED, *MERGED, RANGE)  # they have the output's zero point in them
POSITIONS = (
    AS_WRITTEN,
    EXACTLY,
    ProductPosition(
        "ratios",
        "both differences times float32 ratios of the scales, and their sum: each a float32",
        "ratios-in-float32:of differences",
        precision=FLOAT32,
        number=by_ratios,
    ),
    ProductPosition(
        "reciprocal",
        "both numbers, their sum, and the sum times the reciprocal of the output's scale: each a float32",
        "reciprocal-of-output-scale",
        precision=FLOAT32,
        number=by_reciprocal,
    ),
    FUSED,
    *MERGED,
    RANGE,
    EACH,
    TWICE,
)
