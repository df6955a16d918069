"""Values of QLinearAdd: the right one, and what runtimes and mistakes make of both ratios of scales.

Values are extended floats unless a step makes them float32.
"""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.operators.microsoft_qlinear_steps import Change, ScaledPair, f32, fma, wide
from tiebreak.golden.problem import Array


def sum_exactly(given: ScaledPair) -> Array:
    (first, second), (a, b, c) = given.differences, map(wide, given.scales)
    return np.asarray((a * first + b * second) / c + given.points[2])


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
