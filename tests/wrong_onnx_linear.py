"""QuantizeLinear and DequantizeLinear backends that are wrong on purpose, each in one way, and right ones.

Everything is done element by element on exact fractions, with a rounding of its own; only reading and writing the
tensors is NumPy's and ml_dtypes'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from wrong_model import WrongBackend

Array = np.ndarray[Any, Any]
Number = Fraction | float  # a float for NaN and the infinities
# Precision, least exponent, largest value.
FORMATS = {
    "float16": (11, -14, 65504.0),
    "bfloat16": (8, -126, 3.3895313892515355e38),
    "float32": (24, -126, 3.4028234663852886e38),
    "float8_e4m3fn": (4, -6, 448.0),
    "float8_e4m3fnuz": (4, -7, 240.0),
    "float8_e5m2": (3, -14, 57344.0),
    "float8_e5m2fnuz": (3, -15, 57344.0),
    "float4_e2m1fn": (2, 0, 6.0),
}
RANGES = {f"{u}int{n}": (0 if u else -(2 ** (n - 1)), 2 ** (n - (not u)) - 1) for u in ("u", "") for n in (2, 4, 8, 16)}
WIDE_FORMATS = ("float16", "bfloat16", "float32")


def nearest(value: Fraction, name: str, tie: str = "even") -> Fraction:
    """The value rounded to a type's precision; no end to the exponents. `tie`: even, away, or down to truncate."""
    precision, least, _ = FORMATS[name]
    if not value:
        return value
    exponent = math.frexp(float(abs(value)))[1] - 1
    exponent += (abs(value) >= Fraction(2) ** (exponent + 1)) - (abs(value) < Fraction(2) ** exponent)
    quantum = Fraction(2) ** (max(exponent, least) - precision + 1)
    steps = abs(value) / quantum
    whole = {"even": round(steps), "away": math.floor(steps + Fraction(1, 2)), "down": math.floor(steps)}[tie]
    return (whole if value > 0 else -whole) * quantum


def held(value: Number, name: str) -> Number:
    """A value as one of the three wide types has it."""
    if isinstance(value, float):
        return value
    rounded = nearest(value, name)
    return math.copysign(math.inf, rounded) if abs(rounded) > FORMATS[name][2] else rounded


def numbers(array: Array) -> list[Number]:
    return [Fraction(v) if math.isfinite(v) else v for v in array.astype(np.float64).reshape(-1).tolist()]


@dataclass(frozen=True)
class Layout:
    """Which scale belongs to an element: the right rule, with what a wrong one changes."""

    default_axis: int = 1
    tiled: bool = False
    last_block: str = ""  # "first" or "previous": whose scale the uneven last block takes
    one: bool = False

    def spread(self, node: Any, parameter: Array, shape: tuple[int, ...]) -> Array:
        if parameter.size == 1 or self.one or not shape:
            return np.full(shape, parameter.reshape(-1)[0] if parameter.size else 0, parameter.dtype)
        axis = node.attributes.get("axis", self.default_axis) % len(shape)
        size = node.attributes.get("block_size", 0)
        found = np.empty(shape, parameter.dtype)
        for where in np.ndindex(*shape):
            found[where] = parameter[self.index(where, axis, size, shape, parameter.shape)]
        return found

    def index(
        self, where: tuple[int, ...], axis: int, size: int, shape: tuple[int, ...], scale: tuple[int, ...]
    ) -> tuple[int, ...]:
        if not size:
            return (where[axis] % scale[0],)
        block = where[axis] % scale[axis] if self.tiled else where[axis] // size
        if self.last_block and block == scale[axis] - 1 and shape[axis] % size:
            block = 0 if self.last_block == "first" else max(0, block - 1)
        return tuple(
            min(block, length - 1) if i == axis else min(where[i], length - 1) for i, length in enumerate(scale)
        )


def small_code(value: Number, name: str, saturate: bool, tie: str = "even") -> float:
    """The float 8 or float 4 value, as a float."""
    largest = FORMATS[name][2]
    if isinstance(value, Fraction):
        rounded = nearest(value, name, tie)
        if abs(rounded) <= largest:
            return math.copysign(float(rounded), 1 if value >= 0 else -1)
        value = math.copysign(math.inf, rounded)
    if math.isnan(value) or (saturate or name == "float4_e2m1fn"):
        return value if math.isnan(value) else math.copysign(largest, value)
    return value if name == "float8_e5m2" else math.nan


@dataclass(frozen=True)
class Quantizer:
    """y = saturate(round(x / scale) + zero), with replaceable parts."""

    layout: Layout = Layout()
    precision: Callable[[Any, str, str], str] = lambda node, x, scale: node.attributes.get("precision", scale)
    read_scale: Callable[[Array], Sequence[Number]] = numbers
    read_x: Callable[[Array], Sequence[Number]] = numbers
    divide: Callable[[Fraction, Fraction], Fraction] = lambda x, scale: x / scale
    exact: bool = False
    whole: Callable[[Fraction, int, int, int], int] = lambda q, zero, low, high: min(max(round(q) + zero, low), high)
    small: Callable[[Number, str, bool], float] = small_code

    def run(self, node: Any, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
        shape, output = x.shape, node.outputs[0].dtype
        zero = rest[0].reshape(scale.shape) if rest else np.zeros(scale.shape, np.int64)
        scales, zeros = (self.layout.spread(node, p, shape) for p in (scale, zero))
        precision = self.precision(node, x.dtype.name, scale.dtype.name)
        quotients = [
            self.quotient(a, b, precision) for a, b in zip(self.read_x(x), self.read_scale(scales), strict=True)
        ]
        if output.name not in RANGES:
            saturate = bool(node.attributes.get("saturate", True))
            found: list[Any] = [self.small(q, output.name, saturate) for q in quotients]
            return (np.array(found, np.float64).astype(output).reshape(shape),)
        ends = RANGES[output.name]
        found = [
            self.integer(q, z, *ends)
            for q, z in zip(quotients, zeros.astype(np.int64).reshape(-1).tolist(), strict=True)
        ]
        return (np.array(found, np.int64).astype(output).reshape(shape),)

    def quotient(self, x: Number, scale: Number, precision: str) -> Number:
        if not self.exact and precision in WIDE_FORMATS:
            x, scale = held(x, precision), held(scale, precision)
        if isinstance(scale, float) or scale == 0:
            return math.nan
        if isinstance(x, float):
            return x if scale > 0 else -x
        q = self.divide(x, scale)
        return q if self.exact or precision not in WIDE_FORMATS else held(q, precision)

    def integer(self, q: Number, zero: int, low: int, high: int) -> int:
        if isinstance(q, float):
            return 0 if math.isnan(q) else high if q > 0 else low
        return self.whole(q, zero, low, high)


@dataclass(frozen=True)
class Dequantizer:
    """y = (x - zero) * scale, with replaceable parts."""

    layout: Layout = Layout()
    read: Callable[[Array], Sequence[Number]] = numbers
    read_scale: Callable[[Array], Sequence[Number]] = numbers
    difference: Callable[[Fraction, Fraction, tuple[int, int]], Fraction] = lambda x, zero, ends: x - zero
    combine: Callable[[Fraction, Fraction], Fraction] = lambda difference, scale: difference * scale
    exact: bool = False
    write: Callable[[Number, str], Number] = held
    convert_scale: bool = True

    def run(self, node: Any, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
        shape, output = x.shape, node.outputs[0].dtype
        zero = rest[0].reshape(scale.shape) if rest else np.zeros(scale.shape, x.dtype)
        scales, zeros = (self.layout.spread(node, p, shape) for p in (scale, zero))
        ends = RANGES.get(x.dtype.name, (0, 0))
        operands = zip(self.read(x), self.read_scale(scales), self.read(zeros), strict=True)
        found = [float(self.element(*three, ends, output.name)) for three in operands]
        return (np.array(found, np.float64).astype(output).reshape(shape),)

    def element(self, x: Number, scale: Number, zero: Number, ends: tuple[int, int], output: str) -> Number:
        factor = held(scale, output) if self.convert_scale and not self.exact else scale
        if isinstance(x, float) or isinstance(factor, float) or isinstance(zero, float):
            return float(x) * float(factor)
        difference: Number = self.difference(x, zero, ends)
        if not self.exact:
            difference = held(difference, output)
        if isinstance(difference, float):
            return math.inf
        product = self.combine(difference, factor)
        return self.write(product, output) or (-0.0 if product < 0 else 0.0)


# Wrong parts.


def by_x(node: Any, x: str, scale: str) -> str:
    return x if x in WIDE_FORMATS else scale


def without_attribute(node: Any, x: str, scale: str) -> str:
    return scale


def other_half(node: Any, x: str, scale: str) -> str:
    asked = node.attributes.get("precision", scale)
    return {"bfloat16": "float16", "float16": "bfloat16"}.get(asked, asked)


def powers(bias: int) -> Callable[[Array], list[Number]]:
    def read(scale: Array) -> list[Number]:
        if scale.dtype.name != "float8_e8m0fnu":
            return numbers(scale)
        return [Fraction(2) ** (code - bias) for code in scale.view(np.uint8).reshape(-1).tolist()]

    return read


def power_codes(scale: Array) -> list[Number]:
    return (
        [Fraction(v) for v in scale.view(np.uint8).reshape(-1).tolist()]
        if scale.dtype.itemsize == 1
        else numbers(scale)
    )


def truncated_division(x: Fraction, scale: Fraction) -> Fraction:
    return Fraction(math.trunc(x / scale))


def sixteen_bits(x: Array) -> list[Number]:
    return [Fraction((v + 2**15) % 2**16 - 2**15) for v in x.astype(np.int64).reshape(-1).tolist()]


def add_first(q: Fraction, zero: int, low: int, high: int) -> int:
    return min(max(round(q + zero), low), high)


def unsigned_end(q: Fraction, zero: int, low: int, high: int) -> int:
    return min(max(round(q) + zero, 0), high)


def narrow_end(q: Fraction, zero: int, low: int, high: int) -> int:
    return min(max(round(q) + zero, low + 1), high)


def low_bits(q: Fraction, zero: int, low: int, high: int) -> int:
    return (round(q) + zero - low) % (high - low + 1) + low


def away(q: Fraction, zero: int, low: int, high: int) -> int:
    rounded = math.floor(abs(q) + Fraction(1, 2))
    return min(max((rounded if q > 0 else -rounded) + zero, low), high)


def small_with(tie: str) -> Callable[[Number, str, bool], float]:
    return lambda q, name, saturate: small_code(q, name, saturate, tie)


def always(saturate: bool) -> Callable[[Number, str, bool], float]:
    return lambda q, name, given: small_code(q, name, saturate)


def flushed(q: Number, name: str, saturate: bool) -> float:
    found = small_code(q, name, saturate)
    return 0.0 if abs(found) < 2.0 ** FORMATS[name][1] else found


def doubled(q: Number, name: str, saturate: bool) -> float:
    return small_code(q * 2, name, saturate)


def no_nan(q: Number, name: str, saturate: bool) -> float:
    return 0.0 if isinstance(q, float) and math.isnan(q) else small_code(q, name, saturate)


def infinite_is_nan(q: Number, name: str, saturate: bool) -> float:
    return math.nan if isinstance(q, float) else small_code(q, name, saturate)


def tiny_is_nan(q: Number, name: str, saturate: bool) -> float:
    """The pattern of the negative zero, which is NaN in the fnuz types."""
    found = small_code(q, name, saturate)
    return math.nan if found == 0 and not isinstance(q, float) and q < 0 else found


def beyond_is_zero(q: Number, name: str, saturate: bool) -> float:
    found = small_code(q, name, True)
    return 0.0 if not isinstance(q, float) and abs(q) > 8 and name == "float4_e2m1fn" else found


def as_unsigned(array: Array) -> list[Number]:
    low, high = RANGES.get(array.dtype.name, (0, 0))
    return (
        [Fraction(v % (high - low + 1)) for v in array.astype(np.int64).reshape(-1).tolist()] if low else numbers(array)
    )


def as_sibling(array: Array) -> list[Number]:
    """A fnuz type read as if it had the other's bias and NaN."""
    other = getattr(ml_dtypes, array.dtype.name.removesuffix("uz") if "e4m3" in array.dtype.name else "float8_e5m2")
    return numbers(np.ascontiguousarray(array).view(other))


def infinite_as_finite(array: Array) -> list[Number]:
    return [
        Fraction(65536) * (1 if v > 0 else -1) if isinstance(v, float) and math.isinf(v) else v for v in numbers(array)
    ]


def nan_as_zero(array: Array) -> list[Number]:
    return [Fraction(0) if isinstance(v, float) and math.isnan(v) else v for v in numbers(array)]


def linear_float4(array: Array) -> list[Number]:
    """A table with 5 in place of 6."""
    return [v if abs(v) != 6 else v / 6 * 5 for v in numbers(array)]


def wraps(x: Fraction, zero: Fraction, ends: tuple[int, int]) -> Fraction:
    return Fraction((int(x - zero) - ends[0]) % (ends[1] - ends[0] + 1) + ends[0])


def unsubtracted(x: Fraction, zero: Fraction, ends: tuple[int, int]) -> Fraction:
    return x


def flushed_write(value: Number, name: str) -> Number:
    found = held(value, name)
    return Fraction(0) if abs(found) < Fraction(2) ** FORMATS[name][1] else found


def truncated_write(value: Number, name: str) -> Number:
    return value if isinstance(value, float) else nearest(value, name, "down")


def through_float32(value: Number, name: str) -> Number:
    return held(held(value, "float32"), name)


def safe_ratio(difference: Fraction, scale: Fraction) -> Fraction:
    return difference / scale if scale else Fraction(0)


Q, D = Quantizer(), Dequantizer()
INT8, UINT4 = ("float32", "int8-further"), ("float32", "uint4-further")
E4M3, E5M2, FLOAT4 = (("float32", name) for name in ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"))
E4M3FNUZ, INT2, UINT2 = (("float32", name) for name in ("float8_e4m3fnuz", "int2", "uint2"))


def wrong_quantizer(name: str, flag: str, *types: tuple[str, str], **parts: Any) -> WrongBackend:
    return WrongBackend(f"onnx-quantize-{name}", "onnx.QuantizeLinear", replace(Q, **parts).run, flag, types)


def wrong_dequantizer(name: str, flag: str, *types: tuple[str, str], **parts: Any) -> WrongBackend:
    return WrongBackend(f"onnx-dequantize-{name}", "onnx.DequantizeLinear", replace(D, **parts).run, flag, types)


WRONG: tuple[WrongBackend, ...] = (
    wrong_quantizer("one-scale", "Blocked", INT8, UINT4, layout=Layout(one=True)),
    wrong_quantizer("tiled-blocks", "Blocked", INT8, UINT4, E4M3, layout=Layout(tiled=True)),
    wrong_quantizer("last-block-first-scale", "Blocked", INT8, UINT4, layout=Layout(last_block="first")),
    wrong_quantizer("default-axis-0", "PerAxis", E4M3, INT2, layout=Layout(default_axis=0)),
    wrong_quantizer("ignores-precision", "MixedTypes", INT8, precision=without_attribute),
    wrong_quantizer("other-half-precision", "MixedTypes", INT8, ("float16", "int8-further"), precision=other_half),
    wrong_quantizer("divides-in-type-of-x", "MixedTypes", ("float16", "int8-further"), precision=by_x),
    wrong_quantizer("power-bias-128", "MixedTypes", INT8, read_scale=powers(128)),
    wrong_quantizer("power-as-integer", "MixedTypes", INT8, read_scale=power_codes),
    wrong_quantizer("range-of-uint8", "NoZeroPoint", INT8, whole=unsigned_end),
    wrong_quantizer("zero-point-first", "Blocked", INT8, UINT4, whole=add_first),
    wrong_quantizer("ties-away", "Tie", INT8, INT2, UINT2, whole=away),
    wrong_quantizer("float8-truncates", "SmallFloat", E4M3, E5M2, small=small_with("down")),
    wrong_quantizer("float8-ties-away", "Tie", E4M3, E5M2, FLOAT4, small=small_with("away")),
    wrong_quantizer("float8-always-saturates", "Unsaturated", E4M3, E5M2, small=always(True)),
    wrong_quantizer("float8-never-saturates", "Saturates", E4M3, E5M2, small=always(False)),
    wrong_quantizer("float8-flushes", "SmallFloat", E4M3, E5M2, FLOAT4, small=flushed),
    wrong_quantizer("fnuz-bias", "SmallFloat", E4M3FNUZ, small=doubled),
    wrong_quantizer("fnuz-negative-zero", "SmallFloat", E4M3FNUZ, small=tiny_is_nan),
    wrong_quantizer("float8-nan-to-zero", "NaN", E4M3, E5M2, small=no_nan),
    wrong_quantizer("float8-infinity-to-nan", "Infinity", E4M3, E5M2, small=infinite_is_nan),
    wrong_quantizer("float4-beyond-is-zero", "Saturates", FLOAT4, small=beyond_is_zero),
    wrong_quantizer("int2-narrow", "TwoBits", INT2, whole=narrow_end),
    wrong_quantizer("two-bits-wrap", "TwoBits", INT2, UINT2, whole=low_bits),
    wrong_quantizer("integer-division", "Tie", ("int32", "int8"), ("int32", "uint8"), divide=truncated_division),
    wrong_quantizer("int32-as-int16", "WideInteger", ("int32", "int8"), ("int32", "int16"), read_x=sixteen_bits),
    wrong_dequantizer("no-zero-point", "RangeEdge", ("int8", "float32"), ("uint4", "float16"), difference=unsubtracted),
    wrong_dequantizer("wraps", "RangeEdge", ("int8", "float32"), ("uint8", "bfloat16"), difference=wraps),
    wrong_dequantizer("divides", "ScaleNotPowerOfTwo", ("int8", "float32"), ("int32", "float32"), combine=safe_ratio),
    wrong_dequantizer("loses-sign", "ScaleNotPowerOfTwo", ("int4", "float32"), ("int2", "float32"), read=as_unsigned),
    wrong_dequantizer("int32-as-int16", "WideInteger", ("int32", "float32"), read=sixteen_bits),
    wrong_dequantizer("fnuz-as-fn", "SmallFloat", ("float8_e4m3fnuz", "float32"), read=as_sibling),
    wrong_dequantizer("infinity-as-65536", "Infinity", ("float8_e5m2", "float32"), read=infinite_as_finite),
    wrong_dequantizer("nan-as-zero", "NaN", ("float8_e4m3fn", "float32"), ("float8_e5m2", "float16"), read=nan_as_zero),
    wrong_dequantizer("float4-table", "SmallFloat", ("float4_e2m1fn", "float32"), read=linear_float4),
    wrong_dequantizer("tiled-blocks", "Blocked", ("int8", "float32"), ("uint4", "float16"), layout=Layout(tiled=True)),
    wrong_dequantizer("last-block", "Blocked", ("int8", "float32"), layout=Layout(last_block="previous")),
    wrong_dequantizer("default-axis-0", "PerAxis", ("int8", "float32"), layout=Layout(default_axis=0)),
    wrong_dequantizer("power-bias-128", "MixedTypes", ("int8", "float32"), read_scale=powers(128)),
    wrong_dequantizer("flushes", "Subnormal", ("int8", "float16"), ("int8", "bfloat16"), write=flushed_write),
    wrong_dequantizer("truncates", "ScaleNotPowerOfTwo", ("int8", "float16"), write=truncated_write),
    wrong_dequantizer(
        "rounds-twice", "MixedTypes", ("int32", "bfloat16"), exact=True, write=through_float32
    ),
)  # fmt: skip
ALL_QUANTIZED = (INT8, UINT4, E4M3, E5M2, FLOAT4, E4M3FNUZ, INT2, ("float16", "int8-further"), ("bfloat16", "uint2"))
ALL_DEQUANTIZED = (("int8", "float32"), ("int32", "bfloat16"), ("uint4", "float16"), ("float8_e5m2", "float16"))
RIGHT: tuple[WrongBackend, ...] = (
    wrong_quantizer("right-in-steps", "", *ALL_QUANTIZED, ("int32", "int8")),
    wrong_quantizer("right-exact", "", *ALL_QUANTIZED, ("int32", "uint8"), exact=True),
    wrong_dequantizer("right-in-steps", "", *ALL_DEQUANTIZED, ("float4_e2m1fn", "float32")),
    wrong_dequantizer("right-exact", "", *ALL_DEQUANTIZED, ("float8_e4m3fnuz", "float32"), exact=True),
)
