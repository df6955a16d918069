"""Values of QLinearMul: the right one, and what runtimes and mistakes make of the one ratio of scales.

Values are extended floats unless a step makes them float32.
"""

from __future__ import annotations

import numpy as np

from tiebreak.conformance.operators.microsoft_qlinear_steps import Change, ScaledPair, f32, fma, wide
from tiebreak.golden.problem import Array


def product_exactly(given: ScaledPair) -> Array:
    (first, second), (a, b, c) = given.differences, map(wide, given.scales)
    return np.asarray((first * second) * (a * b) / c + given.points[2])


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
