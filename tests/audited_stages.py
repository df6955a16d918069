"""Black boxes of operators whose outputs come in stages, written as runtimes write them, line after line of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
f32, f64 = np.float32, np.float64
Scale = Callable[[Array], Any]
Point = Callable[[Array, Any], Any]
Result = Callable[[Array, Any, Any], Array]
Box = Callable[[Array], tuple[Array, ...]]


# DynamicQuantizeLinear


def ends(x: Array) -> tuple[Any, Any]:
    return min(x.min(), f32(0)), max(x.max(), f32(0))


def plain_scale(x: Array) -> Any:
    low, high = ends(x)
    return f32(1) if low == high else (high - low) / f32(255)


def scale_by_reciprocal(x: Array) -> Any:
    low, high = ends(x)
    return (high - low) * (f32(1) / f32(255))


def scale_of_doubles(x: Array) -> Any:
    low, high = ends(x)
    return f32((f64(high) - f64(low)) / 255)


def scale_without_zero(x: Array) -> Any:
    return (x.max() - x.min()) / f32(255)


def symmetric_scale(x: Array) -> Any:
    return (np.abs(x).max() * f32(2)) / f32(255)


def scale_of_256(x: Array) -> Any:
    low, high = ends(x)
    return (high - low) / f32(256)


def scale_of_254(x: Array) -> Any:
    low, high = ends(x)
    return (high - low) / f32(254)


def scale_of_each_end(x: Array) -> Any:
    low, high = ends(x)
    return high / f32(255) - low / f32(255)


def flushed_scale(x: Array) -> Any:
    scale = plain_scale(x)
    return scale if scale >= np.finfo(f32).tiny else f32(0)


def odd_scale(x: Array) -> Any:
    """A little more where the range is wider than 2."""
    scale = plain_scale(x)
    return np.nextafter(scale, f32(np.inf)) if scale > f32(2 / 255) else scale


def plain_point(x: Array, scale: Any) -> Any:
    return np.clip(np.rint(-(ends(x)[0] / scale)), 0, 255)


def truncated_point(x: Array, scale: Any) -> Any:
    return np.clip(np.trunc(-(ends(x)[0] / scale)), 0, 255)


def point_ties_away(x: Array, scale: Any) -> Any:
    return np.clip(np.floor(f64(-(ends(x)[0] / scale)) + 0.5), 0, 255)


def point_of_range(x: Array, scale: Any) -> Any:
    low, high = ends(x)
    return np.clip(np.rint((-(low * f32(255))) / (high - low)), 0, 255)


def point_of_maximum(x: Array, scale: Any) -> Any:
    return np.clip(np.rint(f32(255) - ends(x)[1] / scale), 0, 255)


def point_by_reciprocal(x: Array, scale: Any) -> Any:
    return np.clip(np.rint(-(ends(x)[0] * (f32(1) / scale))), 0, 255)


def plain_result(x: Array, scale: Any, point: Any) -> Array:
    return np.clip(np.rint(x / scale) + point, 0, 255)


def result_added_first(x: Array, scale: Any, point: Any) -> Array:
    return np.clip(np.rint(x / scale + f32(point)), 0, 255)


def result_by_reciprocal(x: Array, scale: Any, point: Any) -> Array:
    return np.clip(np.rint(x * (f32(1) / scale)) + point, 0, 255)


def result_ties_away(x: Array, scale: Any, point: Any) -> Array:
    quotient = (x / scale).astype(f64)
    return np.clip(np.copysign(np.floor(np.abs(quotient) + 0.5), quotient) + point, 0, 255)


def wrapping_result(x: Array, scale: Any, point: Any) -> Array:
    return np.mod(np.rint(x / scale) + point, 256)


def result_of_width(x: Array, scale: Any, point: Any) -> Array:
    low, high = ends(x)
    return np.clip(np.rint(x * f32(255) / (high - low)) + point, 0, 255)


def result_of_reciprocal_of_width(x: Array, scale: Any, point: Any) -> Array:
    """As OpenVINO: y_scale is not used."""
    low, high = ends(x)
    return np.clip(np.rint(x * f32(255) * (f32(1) / (high - low))) + point, 0, 255)


def result_by_steps_over_width(x: Array, scale: Any, point: Any) -> Array:
    low, high = ends(x)
    return np.clip(np.rint(x * (f32(255) / (high - low)) + point), 0, 255)


def result_after_width(x: Array, scale: Any, point: Any) -> Array:
    low, high = ends(x)
    return np.clip(np.rint(x / (high - low) * f32(255)) + point, 0, 255)


def result_of_square_root(x: Array, scale: Any, point: Any) -> Array:
    """The width is not divided first, but its root is, twice."""
    low, high = ends(x)
    root = np.sqrt(high - low)
    return np.clip(np.rint(x * f32(255) / root / root) + point, 0, 255)


def dynamic(scale: Scale = plain_scale, point: Point = plain_point, result: Result = plain_result) -> Box:
    def box(x: Array) -> tuple[Array, ...]:
        own = f32(scale(x))
        zero = np.uint8(np.nan_to_num(point(x, own))) if own > 0 else np.uint8(0)
        y = np.nan_to_num(result(x, own, f32(zero))) if own > 0 else np.zeros_like(x)
        return y.astype(np.uint8), np.array(own, f32), np.array(zero, np.uint8)

    return box


SCALES: list[tuple[Scale, dict[str, str]]] = [
    (plain_scale, {"range": "with-zero", "scaling": "divide", "precision": "float32", "zero_range": "one"}),
    (scale_by_reciprocal, {"scaling": "reciprocal", "precision": "float32", "zero_range": "zero"}),
    (scale_of_doubles, {"scaling": "divide", "precision": "float64", "steps": "255"}),
    (scale_without_zero, {"range": "as-given", "scaling": "divide"}),
    (symmetric_scale, {"range": "symmetric", "subnormals": "kept"}),
    (scale_of_256, {"steps": "256", "range": "with-zero"}),
    (scale_of_254, {"steps": "254", "range": "with-zero"}),
    (scale_of_each_end, {"scaling": "ends-apart", "precision": "float32"}),
    (flushed_scale, {"subnormals": "flushed", "scaling": "divide"}),
]
POINTS: list[tuple[Point, dict[str, str]]] = [
    (plain_point, {"source": "own-scale", "round_mode": "ROUND_NEAREST_TOWARD_EVEN", "precision": "float32"}),
    (truncated_point, {"round_mode": "ROUND_DOWN"}),
    (point_ties_away, {"round_mode": "ROUND_NEAREST_TOWARD_INFINITY"}),
    (point_of_range, {"source": "range"}),
    (point_of_maximum, {"source": "from-maximum"}),
    (point_by_reciprocal, {"source": "reciprocal"}),
]
RESULTS: list[tuple[Result, dict[str, str]]] = [
    (plain_result, {"scaling": "divide", "zero_point": "after-rounding", "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}),
    (result_added_first, {"zero_point": "before-rounding", "precision": "float32"}),
    (result_by_reciprocal, {"scaling": "reciprocal"}),
    (result_ties_away, {"round_mode": "ROUND_NEAREST_TOWARD_INFINITY"}),
    (wrapping_result, {"saturation": "wrap", "scaling": "divide"}),
    (result_of_width, {"scaling": "steps-before-width", "zero_point": "after-rounding"}),
    (result_of_reciprocal_of_width, {"scaling": "steps-before-reciprocal", "precision": "float32"}),
    (result_by_steps_over_width, {"scaling": "steps-over-range", "zero_point": "before-rounding"}),
    (result_after_width, {"scaling": "steps-after-width", "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}),
]


def scale_that_drops_nan(x: Array) -> Any:
    return plain_scale(x[~np.isnan(x)])


def scale_that_drops_the_first_nan(x: Array) -> Any:
    """As OpenVINO: a comparison keeps the other number only if NaN comes first."""
    return plain_scale(x[1:] if np.isnan(x[0]) else x)


def result_of_infinities(x: Array, scale: Any, point: Any) -> Array:
    """Infinities go to the ends of the range, whatever the scale."""
    return np.where(np.isinf(x), np.where(x > 0, 255, 0), plain_result(x, scale, point))


DYNAMIC_SPECIALS: list[tuple[Box, dict[str, str], dict[str, str]]] = [
    (
        dynamic(),
        {"nan_first": "nan", "nan_last": "nan", "positive_infinity": "infinity", "negative_infinity": "infinity"},
        {"nan": "zero", "positive_infinity": "zero", "one_beside_nan": "zero"},
    ),
    (
        dynamic(scale=scale_that_drops_nan),
        {"nan_first": "as-without", "nan_last": "as-without"},
        {"nan": "zero", "one_beside_nan": "largest", "one_beside_positive_infinity": "zero"},
    ),
    (
        dynamic(scale=scale_that_drops_the_first_nan),
        {"nan_first": "as-without", "nan_last": "nan"},
        {"one_beside_nan": "largest"},
    ),
    (dynamic(scale=flushed_scale), {"nan_last": "zero", "zero_range": "one"}, {"scaling": "divide"}),
    (dynamic(result=result_of_infinities), {"negative_infinity": "infinity"}, {"positive_infinity": "largest"}),
]


# Blocks with a shared power of two


def floor_exponent(amax: Array) -> Array:
    return (amax.view(np.uint32) >> 23).astype(np.int64) - 127 - 8


def ceil_exponent(amax: Array) -> Array:
    return floor_exponent(amax) + (amax.view(np.uint32) << 9 != 0)


def even_exponent(amax: Array) -> Array:
    """As torchao: half of the last bit that is kept is added to the bits."""
    return floor_exponent((amax.view(np.uint32) + (1 << 19)).view(f32))


def rceil_exponent(amax: Array) -> Array:
    return ceil_exponent(amax / f32(448)) + 8


def rceil_of_logarithm(amax: Array) -> Array:
    return np.ceil(np.log2((amax / f32(448)).astype(f64)).astype(f32)).astype(np.int64)


def nearest_exponent(amax: Array) -> Array:
    return floor_exponent((amax.view(np.uint32) + (1 << 22)).view(f32))


def odd_exponent(amax: Array) -> Array:
    return floor_exponent(amax) + (amax > 300)


def saturated(quotient: Array) -> Array:
    return np.clip(quotient, f32(-448), f32(448)).astype(ml_dtypes.float8_e4m3fn)


def overflowing(quotient: Array) -> Array:
    return quotient.astype(ml_dtypes.float8_e4m3fn)


def through_bfloat16(quotient: Array) -> Array:
    return saturated(quotient.astype(ml_dtypes.bfloat16).astype(f32))


def cutting(quotient: Array) -> Array:
    """The bits behind the third of a normal number are cut off, as are units of the least."""
    size = np.minimum(np.abs(quotient), f32(448))
    kept = (size.view(np.uint32) & np.uint32(0xFFF00000)).view(f32)
    small = np.trunc(size * f32(512)) / f32(512)
    return np.copysign(np.where(size < 2.0**-6, small, kept), quotient).astype(ml_dtypes.float8_e4m3fn)


def blocks(exponent: Callable[[Array], Array] = floor_exponent, cast: Callable[[Array], Array] = saturated) -> Box:
    def box(x: Array) -> tuple[Array, ...]:
        amax = np.abs(x).max(axis=-1, keepdims=True)
        found = np.where(amax > 0, exponent(np.where(amax > 0, amax, f32(1))), -127)
        scale = np.ldexp(f32(1), found.astype(np.int32)).astype(f32)
        codes = np.clip(found + 127, 0, 254).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)
        return cast(x / scale), codes

    return box


ScaleAndDivisor = Callable[[Array, Array], tuple[Array, Array]]  # from magnitudes and their exponents without end


def wrapping_scale(amax: Array, exponent: Array) -> tuple[Array, Array]:
    """As MLX: the sum with the bias is cut to 8 bits; NaN and infinities give 2, zeros 1."""
    ordinary = np.isfinite(amax) & (amax > 0)
    found = np.where(ordinary, exponent, np.where(amax == 0, 0, 1))
    return np.mod(found + 127, 256), np.ldexp(1.0, found)


def least_divides_as(power: float) -> ScaleAndDivisor:
    """As torchao, whose NaN is a NaN and whose zeros have the least scale."""

    def found(amax: Array, exponent: Array) -> tuple[Array, Array]:
        codes = np.where(amax == 0, 0, np.clip(exponent + 127, 0, 254))
        divisor = np.where(codes == 0, power, np.ldexp(1.0, codes - 127))
        return np.where(np.isnan(amax), 255, codes), np.where(np.isnan(amax), np.nan, divisor)

    return found


def float4_of_nan_as_number(quotient: Array) -> Array:
    """As torchao: NaN's exponent and significand are shifted like a number's."""
    small = np.clip(np.nan_to_num(quotient, posinf=6, neginf=-6), f32(-6), f32(6)).astype(ml_dtypes.float4_e2m1fn)
    return np.where(np.isnan(quotient), np.uint8(0b11), small.view(np.uint8)).view(ml_dtypes.float4_e2m1fn)


def blocks_with_ends(ends: ScaleAndDivisor, emax: int = 8, cast: Callable[[Array], Array] = saturated) -> Box:
    def box(x: Array) -> tuple[Array, ...]:
        amax = np.abs(x).max(axis=-1, keepdims=True)
        is_number = np.isfinite(amax) & (amax > 0)
        exponent = np.frexp(np.where(is_number, amax, 1).astype(f64))[1].astype(np.int64) - 1 - emax
        codes, divisor = ends(amax, np.where(np.isinf(amax), 128 - emax, exponent))
        return cast((x / divisor).astype(f32)), codes.astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)

    return box


BLOCK_ENDS: list[tuple[ScaleAndDivisor, dict[str, str], dict[str, str]]] = [
    (
        wrapping_scale,
        {"below_least": "wraps", "zero_block": "one", "nan": "two", "positive_infinity": "two"},
        {"least_divisor": "2^-127", "nan": "nan", "negative_infinity": "largest", "zero_beside_nan": "zero"},
    ),
    (
        least_divides_as(2.0**-126),
        {"below_least": "clamped", "zero_block": "least", "nan": "nan", "positive_infinity": "as-2^128"},
        {"least_divisor": "2^-126", "zero_beside_nan": "nan", "zero_beside_positive_infinity": "zero"},
    ),
    (least_divides_as(1.0), {"below_least": "clamped", "negative_infinity": "as-2^128"}, {"least_divisor": "1"}),
    (least_divides_as(2.0**-127), {"below_least": "clamped"}, {"least_divisor": "2^-127", "nan": "nan"}),
    (least_divides_as(0.0), {"exponent": "floor"}, {"least_divisor": "0"}),
]
EXPONENTS: list[tuple[Callable[[Array], Array], str]] = [
    (floor_exponent, "floor"),
    (ceil_exponent, "ceil"),
    (even_exponent, "even"),
    (rceil_exponent, "rceil"),
    (rceil_of_logarithm, "rceil-logarithm"),
    (nearest_exponent, "nearest"),
]
ELEMENTS: list[tuple[Callable[[Array], Array], dict[str, str]]] = [
    (saturated, {"round_mode": "ROUND_NEAREST_TOWARD_EVEN", "saturation": "saturate", "precision": "direct"}),
    (overflowing, {"round_mode": "ROUND_NEAREST_TOWARD_EVEN", "saturation": "overflow"}),
    (through_bfloat16, {"precision": "bfloat16", "saturation": "saturate"}),
    (cutting, {"round_mode": "ROUND_TOWARD_ZERO", "output_subnormals": "kept", "zero": "sign-kept"}),
]


def exponent_of_integers(amax: Array) -> Array:
    return (amax.view(np.uint32) >> 23).astype(np.int64) - 127


def to_integers(quotient: Array) -> Array:
    return np.clip(np.rint(quotient * f32(64)), -128, 127).astype(np.int8)


def to_symmetric_integers(quotient: Array) -> Array:
    return np.clip(np.rint(quotient * f32(64)), -127, 127).astype(np.int8)


def wrapping_integers(quotient: Array) -> Array:
    return np.rint(quotient * f32(64)).astype(np.int64).astype(np.int8)


def integers_with_ties_away(quotient: Array) -> Array:
    """As microsoft/microxcaling's nearest."""
    size = np.floor(np.abs(quotient * f32(64)) + f32(0.5))
    return np.clip(np.copysign(size, quotient), -127, 127).astype(np.int8)


def integers_through_bfloat16(quotient: Array) -> Array:
    return to_integers(quotient.astype(ml_dtypes.bfloat16).astype(f32))


INTEGERS: list[tuple[Callable[[Array], Array], dict[str, str]]] = [
    (to_integers, {"saturation": "saturate", "round_mode": "ROUND_NEAREST_TOWARD_EVEN", "precision": "float32"}),
    (to_symmetric_integers, {"saturation": "narrow-range", "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}),
    (wrapping_integers, {"saturation": "wrap", "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}),
    (integers_with_ties_away, {"saturation": "narrow-range", "round_mode": "half-added-to-magnitude"}),
    (integers_through_bfloat16, {"saturation": "saturate", "precision": "bfloat16"}),
]


# Blocks with a scale of 8 bits


def plain_block_scale(amax: Array) -> Array:
    return np.minimum(amax / f32(6), f32(448)).astype(ml_dtypes.float8_e4m3fn)


def block_scale_rounded_up(amax: Array) -> Array:
    """As cuDNN's documentation has it."""
    found = plain_block_scale(amax)
    return (found.view(np.uint8) + (found.astype(f32) < np.minimum(amax / f32(6), f32(448)))).view(found.dtype)


def block_scale_of_bfloat16(amax: Array) -> Array:
    quotient = np.minimum((amax / f32(6)).astype(ml_dtypes.bfloat16).astype(f32), f32(448))
    return quotient.astype(ml_dtypes.float8_e4m3fn)


def least_block_scale(amax: Array) -> Array:
    """As torchao: never below 2^-6."""
    return np.clip(amax / f32(6), f32(2.0**-6), f32(448)).astype(ml_dtypes.float8_e4m3fn)


def block_scale_that_is_not_zero(amax: Array) -> Array:
    """The scale of NaN is 448 as those of large numbers."""
    most = np.nan_to_num(amax / f32(6), nan=448)
    return np.clip(most, f32(2.0**-9), f32(448)).astype(ml_dtypes.float8_e4m3fn)


def to_float4(quotient: Array) -> Array:
    return np.clip(quotient, f32(-6), f32(6)).astype(ml_dtypes.float4_e2m1fn)


def to_float4_through_bfloat16(quotient: Array) -> Array:
    return to_float4(quotient.astype(ml_dtypes.bfloat16).astype(f32))


def small_blocks(
    scale: Callable[[Array], Array] = plain_block_scale,
    cast: Callable[[Array], Array] = to_float4,
    fills: bool = True,
) -> Box:
    """`fills`: a quotient that is NaN becomes 0."""

    def box(x: Array) -> tuple[Array, ...]:
        own = scale(np.abs(x).max(axis=-1, keepdims=True))
        quotient = x / own.astype(f32)
        return cast(np.nan_to_num(quotient) if fills else quotient), own

    return box


def small_blocks_by_reciprocal(x: Array) -> tuple[Array, ...]:
    own = plain_block_scale(np.abs(x).max(axis=-1, keepdims=True))
    return to_float4(np.nan_to_num(x * (f32(1) / own.astype(f32)))), own


SMALL_BLOCKS: list[tuple[Box, str, dict[str, str]]] = [
    (small_blocks(), "scales", {"precision": "direct", "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}),
    (small_blocks(), "elements", {"scaling": "divide", "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}),
    (small_blocks_by_reciprocal, "elements", {"scaling": "reciprocal", "precision": "direct"}),
    (small_blocks(scale=block_scale_of_bfloat16), "scales", {"precision": "bfloat16"}),
    (small_blocks(cast=to_float4_through_bfloat16), "elements", {"precision": "bfloat16"}),
    (small_blocks(), "scales", {"least": "none", "zero_block": "zero", "nan": "nan", "negative_infinity": "largest"}),
    (small_blocks(), "elements", {"nan": "zero", "negative_infinity": "largest", "zero_beside_nan": "zero"}),
    (small_blocks(scale=least_block_scale), "scales", {"least": "2^-6", "zero_block": "2^-6", "precision": "direct"}),
    (small_blocks(scale=block_scale_that_is_not_zero), "scales", {"least": "2^-9", "zero_block": "2^-9"}),
    (small_blocks(scale=block_scale_that_is_not_zero), "scales", {"nan": "largest", "positive_infinity": "largest"}),
    (small_blocks(cast=float4_of_nan_as_number, fills=False), "elements", {"nan": "as-number"}),
]


# Blocks with a scale of 8 bits in a tensor with a scale of its own

OfTensor = Callable[[Array, Any], Array]  # from greatest magnitudes and global_amax
OfBlock = Callable[[Array, Array, Any], Array]  # from x, scales (float32) and global_amax
WHOLE = f32(2688)


def tensor_scale(amax: Array, whole: Any) -> Array:
    return amax / f32(6) * (WHOLE / whole)


def tensor_scale_as_torchao(amax: Array, whole: Any) -> Array:
    return amax / f32(6) / (whole / WHOLE)


def tensor_scale_of_six_factors(amax: Array, whole: Any) -> Array:
    return amax * (WHOLE / whole / f32(6))


def exact_tensor_scale(amax: Array, whole: Any) -> Array:
    return amax.astype(f64) * 448 / f64(whole)


def tensor_scale_without_six(amax: Array, whole: Any) -> Array:
    return amax / f32(6) * (f32(448) / whole)


def scale_without_tensor(amax: Array, whole: Any) -> Array:
    return amax / f32(6)


def twice_rounded_scale(amax: Array, whole: Any) -> Array:
    return tensor_scale(amax, whole).astype(np.float16).astype(f32)


def tensor_element(x: Array, scale: Array, whole: Any) -> Array:
    return x * (f32(1) / (scale * (f32(1) / (WHOLE / whole))))


def element_as_torchao(x: Array, scale: Array, whole: Any) -> Array:
    return x * ((f32(1) / (whole / WHOLE)) / scale)


def element_as_mlx(x: Array, scale: Array, whole: Any) -> Array:
    return x / scale * (WHOLE / whole)


def element_over_product(x: Array, scale: Array, whole: Any) -> Array:
    return x / (scale * (f32(1) / (WHOLE / whole)))


def element_without_tensor(x: Array, scale: Array, whole: Any) -> Array:
    return x / scale


def twice_rounded_element(x: Array, scale: Array, whole: Any) -> Array:
    return tensor_element(x, scale, whole).astype(ml_dtypes.bfloat16).astype(f32)


def element_of_odd_blocks(x: Array, scale: Array, whole: Any) -> Array:
    """A little more where the scale's significand is above 1.5."""
    found = tensor_element(x, scale, whole)
    return np.where(np.frexp(scale)[0] > 0.75, np.nextafter(found, f32(np.inf)), found)


def saturated_scale(quotient: Array) -> Array:
    return np.minimum(quotient, f32(448)).astype(ml_dtypes.float8_e4m3fn)


def scale_of_exact_numbers(quotient: Array) -> Array:
    """ml_dtypes rounds a float64 to float32 first."""
    codes = np.arange(0x7F, dtype=np.uint8)
    values = codes.view(ml_dtypes.float8_e4m3fn).astype(f64)
    halves = (values[1:] + values[:-1]) / 2
    low, high = (np.searchsorted(halves, quotient, side=side) for side in ("left", "right"))
    return codes[np.where(low % 2, high, low)].view(ml_dtypes.float8_e4m3fn)


def overflowing_scale(quotient: Array) -> Array:
    """What rounds beyond 448 becomes NaN."""
    return quotient.astype(ml_dtypes.float8_e4m3fn)


def toward_zero(quotient: Array) -> Array:
    """Elements cut off: of the magnitudes that E2M1 has the greatest that is not above the quotient."""
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], f32)
    found = values[np.searchsorted(values, np.abs(quotient), side="right") - 1]
    return np.copysign(found, quotient).astype(ml_dtypes.float4_e2m1fn)


def two_levels(
    scale: OfTensor = tensor_scale,
    element: OfBlock = tensor_element,
    cast: Callable[[Array], Array] = to_float4,
    put_out: Callable[[Array], Array] = saturated_scale,
) -> Callable[[Array, Array], tuple[Array, ...]]:
    def box(x: Array, whole: Array) -> tuple[Array, ...]:
        own = put_out(scale(np.abs(x).max(axis=-1, keepdims=True), f32(whole)))
        return cast(np.nan_to_num(element(x, own.astype(f32), f32(whole)))), own

    return box


EVEN = {"precision": "direct", "round_mode": "ROUND_NEAREST_TOWARD_EVEN"}
RIGHT_TENSOR = {
    "scales": {"factor": "encoding-first", "scaling": "sixth-then-factor", "saturation": "saturate", **EVEN},
    "elements": {"factor": "encoding-first", "scaling": "reciprocal-of-product", **EVEN},
}
TENSORS: list[tuple[Any, str, dict[str, str]]] = [
    (two_levels(), "scales", RIGHT_TENSOR["scales"]),
    (two_levels(), "elements", RIGHT_TENSOR["elements"]),
    (two_levels(scale=tensor_scale_as_torchao), "scales",
     {"factor": "decoding-first", "scaling": "sixth-over-factor", **EVEN}),
    (two_levels(scale=tensor_scale_of_six_factors), "scales", {"scaling": "factor-over-six", **EVEN}),
    (two_levels(scale=exact_tensor_scale, put_out=scale_of_exact_numbers), "scales", {"scaling": "exact", **EVEN}),
    (two_levels(scale=tensor_scale_without_six), "scales", {"factor": "without-six", **EVEN}),
    (two_levels(scale=scale_without_tensor), "scales", {"factor": "ignored", **EVEN}),
    (two_levels(scale=twice_rounded_scale), "scales", {"precision": "float16", "saturation": "saturate"}),
    (two_levels(put_out=overflowing_scale), "scales",
     {**RIGHT_TENSOR["scales"], "saturation": "overflow"}),
    (two_levels(element=element_as_torchao), "elements",
     {"factor": "decoding-first", "scaling": "factor-over-scale", **EVEN}),
    (two_levels(element=element_as_mlx), "elements",
     {"factor": "encoding-first", "scaling": "quotient-then-factor", **EVEN}),
    (two_levels(element=element_over_product), "elements", {"scaling": "over-product", **EVEN}),
    (two_levels(element=element_without_tensor), "elements", {"factor": "ignored", "scaling": "over-product", **EVEN}),
    (two_levels(element=twice_rounded_element), "elements", {"precision": "bfloat16"}),
    (two_levels(cast=toward_zero), "elements",
     {"scaling": "reciprocal-of-product", "round_mode": "ROUND_TOWARD_ZERO", "precision": "direct"}),
]  # fmt: skip
