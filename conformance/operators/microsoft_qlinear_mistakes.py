"""Usual mistakes of QLinearAdd and QLinearMul as small NumPy backends.

The pipeline has five steps: the zero points, the scales, the value with the output's zero point, its rounding, and the
output. Values are extended floats unless a step makes them float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics.places import fused_multiply_add
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

FAR = 2.0**62


@dataclass(frozen=True)
class ScaledPair:
    """Operands and zero points as int64, scales as float32; A and B of any shapes, the others scalars."""

    a: Array
    b: Array
    scales: tuple[Array, Array, Array]
    points: tuple[Array, Array, Array]

    @property
    def differences(self) -> tuple[Array, Array]:
        return self.a - self.points[0], self.b - self.points[1]


Three = tuple[Array, Array, Array]
Change = Callable[[Array], Array]
Value = Callable[[ScaledPair], Array]
single: Change = ws.in_float32


def f32(values: Any) -> Array:
    """A value as float32, held in float64: sums and products of two such values round once when rounded again."""
    return np.asarray(np.asarray(values, np.float64).astype(np.float32).astype(np.float64))


# The right values


def wide(values: Array) -> Array:
    return values.astype(np.longdouble)


def sum_exactly(given: ScaledPair) -> Array:
    (first, second), (a, b, c) = given.differences, map(wide, given.scales)
    return np.asarray((a * first + b * second) / c + given.points[2])


def product_exactly(given: ScaledPair) -> Array:
    (first, second), (a, b, c) = given.differences, map(wide, given.scales)
    return np.asarray((first * second) * (a * b) / c + given.points[2])


def saturated(node: Node, whole: Array) -> Array:
    kind = INTEGER_TYPES[node.output_type]
    return np.asarray(np.clip(whole, kind.lowest, kind.highest))


@dataclass(frozen=True)
class QLinearSteps:
    """Steps in order, the right ones unless given. With `zero_last` the zero point is added to the rounded quotient.

    `nan` takes the place of a value that is NaN, where a ratio of scales is infinite.
    """

    value: Value
    points: Callable[[Three], Three] = lambda points: points
    scales: Callable[[Three], Three] = lambda scales: scales
    difference: Callable[[Node, Array, Array], Array] | None = None
    whole: Change = np.rint
    zero_last: bool = False
    nan: float = 0.0
    out: Callable[[Node, Array], Array] = saturated

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        a, s_a, z_a, b, s_b, z_b, s_c, *rest = inputs
        z_a, z_b, z_c = (np.asarray(zero, np.int64) for zero in (z_a, z_b, *(rest or [np.zeros(())])))
        x, y, (z_a, z_b, z_c) = a.astype(np.int64), b.astype(np.int64), self.points((z_a, z_b, z_c))
        if self.difference is not None:
            x, y = self.difference(node, x, z_a), self.difference(node, y, z_b)
            z_a, z_b = 0 * z_a, 0 * z_b
        scales = self.scales((finite(s_a), finite(s_b), no_zero(finite(s_c))))
        last = z_c if self.zero_last else 0 * z_c
        with np.errstate(all="ignore"):
            value = self.value(ScaledPair(x, y, scales, (z_a, z_b, z_c - last)))
            whole = np.clip(self.whole(np.nan_to_num(value, nan=self.nan, posinf=FAR, neginf=-FAR)), -FAR, FAR)
            return (self.out(node, whole.astype(np.int64) + last).astype(node.outputs[0].dtype),)


def finite(scale: Array) -> Array:
    """The scale as float64, or 1 where results are open."""
    found = np.asarray(scale, np.float64)
    return np.where(np.isfinite(found), found, 1.0)


def no_zero(scale: Array) -> Array:
    """The output's scale, or 1 where it is 0: results are open."""
    return np.where(scale == 0, 1.0, scale)


# Values of a sum


def sum_in_steps(given: ScaledPair, change: Change = f32) -> Array:
    """The document's steps, each rounded."""
    (first, second), (a, b, c) = given.differences, given.scales
    total = change(change(a * first) + change(b * second))
    return change(change(total / c) + given.points[2])


def sum_by_ratios(given: ScaledPair, *, fused: bool = False) -> Array:
    """Ratios in float32, and one part that holds all zero points; then both products, fused, B's first.

    As MLAS does it for AVX2 (qladd_avx2.cpp). An operand that is one number along the last axis joins the part, with a
    product that is rounded. With `fused` its compiler fuses what makes the part, too: A's zero point, or B's where A is
    one number, since the operands then change places.
    """
    a, b = (f32(scale / given.scales[2]) for scale in given.scales[:2])
    part = fixed_part(given, a, b, "" if not fused else "B" if is_single(given.a, given.b) else "A")
    if is_single(given.a, given.b):
        return fma(given.b, b, add_product(given.a, a, part, fused=fused))
    if is_single(given.b, given.a):
        return fma(given.a, a, add_product(given.b, b, part, fused=fused))
    return fma(given.a, a, fma(given.b, b, part))


def fixed_part(given: ScaledPair, a: Array, b: Array, fused: str) -> Array:
    """C's zero point less both others times their ratios; `fused` names the operand whose product is not rounded."""
    zero_a, zero_b, zero_c = given.points
    if fused == "A":
        return f32(zero_c - fma(zero_a, a, f32(b * zero_b)))
    if fused == "B":
        return f32(zero_c - fma(zero_b, b, f32(a * zero_a)))
    return f32(zero_c - f32(f32(a * zero_a) + f32(b * zero_b)))


def is_single(operand: Array, other: Array) -> bool:
    """Whether an operand is one number along the last axis that has several."""
    shape = np.broadcast_shapes(operand.shape, other.shape)
    axis = next((n for n in range(-1, -len(shape) - 1, -1) if shape[n] > 1), 0)
    return operand.size == 1 or (operand.ndim >= -axis > 0 and operand.shape[axis] == 1)


def add_product(x: Array, ratio: Array, part: Array, *, fused: bool) -> Array:
    return fma(x, ratio, part) if fused else f32(part + f32(x * ratio))


def sum_by_rounded_ratios(given: ScaledPair) -> Array:
    """Ratios in float32 times differences, each step rounded."""
    (first, second), c = given.differences, given.scales[2]
    a, b = (f32(scale / c) for scale in given.scales[:2])
    return f32(f32(f32(a * first) + f32(b * second)) + given.points[2])


def fma(x: Array, factor: Array, addend: Array) -> Array:
    """x * factor + addend of values that float32 holds, rounded once."""
    first, second, third = np.broadcast_arrays(x, factor, addend)
    added = np.ascontiguousarray(third, np.float64)
    return fused_multiply_add(first, second, added, np.dtype(np.float32)).astype(np.float64)


def each_rounded(given: ScaledPair) -> Array:
    (first, second), (a, b, c) = given.differences, given.scales
    return np.asarray(np.rint(wide(a) * first / c) + np.rint(wide(b) * second / c) + given.points[2])


def sum_by_reciprocal(given: ScaledPair) -> Array:
    (first, second), (a, b, c) = given.differences, given.scales
    return f32(f32(f32(f32(a * first) + f32(b * second)) * f32(1 / c)) + given.points[2])


def sum_by_fused_reciprocal(given: ScaledPair) -> Array:
    """A's number is added fused to B's, and C's zero point fused to the sum times the reciprocal.

    As OpenVINO does it: its front end writes the document's steps, and its plugin fuses what can be.
    """
    (first, second), (a, b, c) = given.differences, given.scales
    return fma(fma(first, a, f32(b * second)), f32(1 / c), given.points[2])


def sum_in_fixed_point(given: ScaledPair) -> Array:
    """Both ratios as whole numbers with one shift, of 22 bits for the greater; ties away from zero.

    As MLAS does it for NEON (qladd.cpp). ValueError for ratios that it computes in float32.
    """
    (first, second), c = given.differences, given.scales[2]
    a, b = (f32(scale / c) for scale in given.scales[:2])
    exponent = np.frexp(np.maximum(a, b))[1] - 1
    if min(a, b) < 2.0**-14 or max(a, b) >= 256 or not 13 <= 21 - exponent <= 31:
        raise ValueError("ratios in float32")
    multipliers = (np.rint(ratio * 2.0 ** (21 - exponent)) for ratio in (a, b))
    m_a, m_b = multipliers
    total = (first * m_a + second * m_b) / 2.0 ** (21 - exponent)
    return np.asarray(np.copysign(np.floor(np.abs(total) + 0.5), total) + given.points[2])


# Values of a product


def product_in_steps(given: ScaledPair, change: Change = f32) -> Array:
    """The document's steps, each rounded."""
    (first, second), (a, b, c) = given.differences, given.scales
    number = change(change(first * second) * change(a * b))
    return change(change(number / c) + given.points[2])


def product_of_numbers(given: ScaledPair, *, reciprocal: bool = False, fused: bool = False) -> Array:
    """Both numbers in float32, their product divided, or times the reciprocal; `fused` with the zero point's sum."""
    (first, second), (a, b, c) = given.differences, given.scales
    number = f32(f32(a * first) * f32(b * second))
    if fused:
        return fma(number, f32(1 / c), given.points[2])
    quotient = f32(number * f32(1 / c)) if reciprocal else f32(number / c)
    return f32(quotient + given.points[2])


def product_by_ratio(given: ScaledPair, *, fused: bool = False, whole: bool = False) -> Array:
    """The product of the differences times one ratio in float32; with `whole` the ratio is rounded once alone.

    As MLAS does it (qlmul.cpp), which rounds the product of the scales first and fuses nothing.
    """
    (first, second), (a, b, c) = given.differences, given.scales
    ratio = f32(wide(a) * b / c) if whole else f32(f32(a * b) / c)
    product = first * second
    return fma(product, ratio, given.points[2]) if fused else f32(f32(product * ratio) + given.points[2])


def product_by_reciprocal(given: ScaledPair) -> Array:
    (first, second), (a, b, c) = given.differences, given.scales
    return f32(f32(f32(first * second * f32(a * b)) * f32(1 / c)) + given.points[2])


def product_in_fixed_point(bits: int, given: ScaledPair) -> Array:
    """The product times a whole number of so many bits, shifted once, ties upward."""
    (first, second), (a, b, c) = given.differences, given.scales
    part, shift = np.frexp((a * b) / c)
    total = first * second * wide(np.rint(np.ldexp(part, bits))) * np.exp2(wide(shift - bits))
    return np.asarray(np.floor(total + np.longdouble(0.5)) + given.points[2])


# The output


def low_bits(node: Node, whole: Array) -> Array:
    return np.asarray(whole.astype(np.int64))


def narrow(node: Node, whole: Array) -> Array:
    return np.maximum(saturated(node, whole), INTEGER_TYPES[node.output_type].lowest + 1)


def at_most_signed(node: Node, whole: Array) -> Array:
    kind = INTEGER_TYPES[node.output_type]
    if kind.signed:
        raise NotImplementedError
    return np.minimum(saturated(node, whole), kind.highest // 2)


def through_int16(node: Node, whole: Array) -> Array:
    """The low 16 bits, saturated."""
    return saturated(node, whole.astype(np.int64).astype(np.int16).astype(np.int64))


def through_int32(node: Node, whole: Array) -> Array:
    return saturated(node, ws.through_int32(whole))


def wrapping_difference(node: Node, x: Array, zero: Array) -> Array:
    return np.asarray((x - zero).astype(node.outputs[0].dtype).astype(np.int64))


def saturating_difference(node: Node, x: Array, zero: Array) -> Array:
    return saturated(node, x - zero)


# The tables


def without(place: int) -> Callable[[Three], Three]:
    """The zero points but one."""
    return lambda points: replaced(points, place, 0 * points[place])


def negated(place: int) -> Callable[[Three], Three]:
    return lambda points: replaced(points, place, -points[place])


def one_for(place: int) -> Callable[[Three], Three]:
    """The scales with 1 for one."""
    return lambda scales: replaced(scales, place, np.ones_like(scales[place]))


def replaced(three: Three, place: int, value: Array) -> Three:
    a, b, c = (value if n == place else one for n, one in enumerate(three))
    return a, b, c


def of_both(of: Three) -> Three:
    return of[1], of[0], of[2]


POINTS = (
    *(frequent(f"ignores:{'ABC'[n]}_zero_point", "zero-point", points=without(n)) for n in range(3)),
    step("ignores:all zero points", "zero-point", points=lambda points: (0 * points[0], 0 * points[1], 0 * points[2])),
    frequent("zero-points-exchanged:of A and B", "zero-point", points=of_both),
    step("zero-point-negated:A_zero_point", "zero-point", points=negated(0)),
    step("zero-point-negated:B_zero_point", "zero-point", points=negated(1)),
    step("zero-point-negated:C_zero_point", "zero-point", points=negated(2)),
    step("difference-wraps", "zero-point", difference=wrapping_difference),
    step("difference-saturates", "zero-point", difference=saturating_difference),
)
SCALES = (
    *(frequent(f"ignores:{'ABC'[n]}_scale", "quotient", scales=one_for(n)) for n in range(3)),
    step("multiplies-by-output-scale", "quotient", scales=lambda of: (of[0], of[1], np.asarray(1 / of[2]))),
    step("one-scale-for-both:A_scale", "together", scales=lambda of: (of[0], of[0], of[2])),
    step("one-scale-for-both:B_scale", "together", scales=lambda of: (of[1], of[1], of[2])),
)
OUTPUTS = (
    frequent("wraps", "saturate", out=low_bits),
    frequent("truncates-and-wraps", "nearest", whole=np.trunc, out=low_bits),
    frequent("truncates-then-adds-zero-point", "nearest", whole=np.trunc, zero_last=True),
    step("truncates-then-adds-zero-point-and-wraps", "nearest", whole=np.trunc, zero_last=True, out=low_bits),
    frequent("casts-to-int32", "saturate", out=through_int32, nan=FAR),  # NaN, too, becomes the least int32
    step("narrow-range", "saturate", out=narrow),
    step("highest-of-signed", "saturate", out=at_most_signed),
    step("wraps-in-int16-then-saturates", "saturate", out=through_int16),
)
STEPWISE = "steps-in-float32"  # conforms alone: it is for pairs
ADD_VALUES = (
    frequent("ratios-in-float32:fused with all zero points", "quotient", value=sum_by_ratios),
    frequent("ratios-in-float32:zero points fused, too", "quotient", value=partial(sum_by_ratios, fused=True)),
    frequent("ratios-in-float32:of differences", "quotient", value=sum_by_rounded_ratios),
    frequent("rounds-each-operand", "together", value=each_rounded),
    frequent("ratios-in-fixed-point:22", "quotient", value=sum_in_fixed_point),
    frequent("reciprocal-of-output-scale", "quotient", value=sum_by_reciprocal),
    frequent("reciprocal-of-output-scale:fused", "quotient", value=sum_by_fused_reciprocal),
    step("steps-in:float16", "nearest", value=partial(sum_in_steps, change=ws.in_float16)),
    step("steps-in:bfloat16", "nearest", value=partial(sum_in_steps, change=ws.in_bfloat16)),
    frequent(STEPWISE, "nearest", value=sum_in_steps),
    step("scales-exchanged:of A and B", "numbers", scales=of_both),
)
MUL_VALUES = (
    frequent("ratio-of-scales-in-float32", "quotient", value=product_by_ratio),
    frequent("ratio-of-scales-in-float32:fused", "quotient", value=partial(product_by_ratio, fused=True)),
    frequent("ratio-of-scales-in-float32:rounded once", "quotient", value=partial(product_by_ratio, whole=True)),
    frequent("multiplies-numbers-in-float32", "together", value=product_of_numbers),
    frequent(
        "multiplies-numbers-in-float32:by the reciprocal",
        "together",
        value=partial(product_of_numbers, reciprocal=True),
    ),
    frequent(
        "multiplies-numbers-in-float32:by the reciprocal, fused",
        "together",
        value=partial(product_of_numbers, fused=True),
    ),
    step("ratios-in-fixed-point:15", "quotient", value=partial(product_in_fixed_point, 15)),
    frequent("reciprocal-of-output-scale", "quotient", value=product_by_reciprocal),
    step("steps-in:float16", "nearest", value=partial(product_in_steps, change=ws.in_float16)),
    step("steps-in:bfloat16", "nearest", value=partial(product_in_steps, change=ws.in_bfloat16)),
    frequent(STEPWISE, "nearest", value=product_in_steps),
)


def pipeline(right: Value) -> Callable[..., Mistake]:
    return lambda **steps: QLinearSteps(**{"value": right, **steps})


ADD_STEPS: tuple[WrongStep, ...] = (*ADD_VALUES, *OUTPUTS, *POINTS, *SCALES)
MUL_STEPS: tuple[WrongStep, ...] = (*MUL_VALUES, *OUTPUTS, *POINTS, *SCALES)
ADD_MISTAKES = single_steps(pipeline(sum_exactly), [one for one in ADD_STEPS if one.id != STEPWISE])
MUL_MISTAKES = single_steps(pipeline(product_exactly), [one for one in MUL_STEPS if one.id != STEPWISE])
ADD_PAIRS = pairs_of_steps(pipeline(sum_exactly), ADD_STEPS)
MUL_PAIRS = pairs_of_steps(pipeline(product_exactly), MUL_STEPS)
