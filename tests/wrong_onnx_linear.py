"""QuantizeLinear backends that are wrong on purpose, each in one way, and right ones.

Everything is done element by element on exact fractions, with a rounding of its own; only reading and writing the
tensors is NumPy's and ml_dtypes'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

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
    "float6_e2m3fn": (4, 0, 7.5),
    "float6_e3m2fn": (3, -2, 28.0),
    "float4_e2m1fn": (2, 0, 6.0),
}
RANGES = {f"{u}int{n}": (0 if u else -(2 ** (n - 1)), 2 ** (n - (not u)) - 1) for u in ("u", "") for n in (2, 4, 8, 16)}
BOUNDED = ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")  # types without NaN and infinities
WIDE_FORMATS = ("float16", "bfloat16", "float32")


@lru_cache(maxsize=1 << 16)
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
    """The small float's value, as a float."""
    largest = FORMATS[name][2]
    if isinstance(value, Fraction):
        rounded = nearest(value, name, tie)
        if abs(rounded) <= largest:
            return math.copysign(float(rounded), 1 if value >= 0 else -1)
        value = math.copysign(math.inf, rounded)
    if math.isnan(value) or (saturate or name in BOUNDED):
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
    infinity_is_nan: Callable[[Any], bool] = lambda node: node.opset < 24

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
            lost = self.infinity_is_nan(node) and output.name.endswith("fnuz")
            found: list[Any] = [
                math.nan if lost and isinstance(q, float) else self.small(q, output.name, saturate) for q in quotients
            ]
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


def ones(scale: Array) -> list[Number]:
    return [Fraction(1)] * scale.size


def upward_division(x: Fraction, scale: Fraction) -> Fraction:
    return Fraction(math.ceil(x / scale))


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
    return 0.0 if not isinstance(q, float) and abs(q) > FORMATS[name][2] + 1 and name in BOUNDED else found


Q = Quantizer()
INT8, UINT4 = ("float32", "int8-further"), ("float32", "uint4-further")
E4M3, E5M2, FLOAT4 = (("float32", name) for name in ("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"))
E2M3, E3M2 = (("float32", name) for name in BOUNDED[:2])
E4M3FNUZ, INT2, UINT2 = (("float32", name) for name in ("float8_e4m3fnuz", "int2", "uint2"))


def wrong_quantizer(name: str, flag: str, *types: tuple[str, str], **parts: Any) -> WrongBackend:
    return WrongBackend(f"onnx-quantize-{name}", "onnx.QuantizeLinear", replace(Q, **parts).run, flag, types)


def wrong_without_type(name: str, scale: str, *types: tuple[str, str], **parts: Any) -> WrongBackend:
    """Wrong only where the document gives the division no type: for a scale of this type without precision."""

    def run(node: Any, *inputs: Array) -> tuple[Array, ...]:
        here = inputs[1].dtype.name == scale and "precision" not in node.attributes
        return (replace(Q, **parts) if here else Q).run(node, *inputs)

    return WrongBackend(f"onnx-quantize-untyped-{name}", "onnx.QuantizeLinear", run, "MixedTypes", types)


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
    wrong_without_type("power-bias-128", "float8_e8m0fnu", INT8, E4M3, read_scale=powers(128)),
    wrong_without_type("int32-scale-as-one", "int32", INT8, E4M3, ("int32", "uint8"), read_scale=ones),
    wrong_without_type("int32-to-upward", "int32", INT8, ("int32", "uint8"), divide=upward_division),
    wrong_quantizer("range-of-uint8", "NoZeroPoint", INT8, whole=unsigned_end),
    wrong_quantizer("zero-point-first", "Blocked", INT8, UINT4, whole=add_first),
    wrong_quantizer("ties-away", "Tie", INT8, INT2, UINT2, whole=away),
    wrong_quantizer("float8-truncates", "SmallFloat", E4M3, E5M2, small=small_with("down")),
    wrong_quantizer("float8-ties-away", "Tie", E4M3, E5M2, E2M3, E3M2, FLOAT4, small=small_with("away")),
    wrong_quantizer("float8-always-saturates", "Unsaturated", E4M3, E5M2, small=always(True)),
    wrong_quantizer("float8-never-saturates", "Saturates", E4M3, E5M2, small=always(False)),
    wrong_quantizer("float8-flushes", "SmallFloat", E4M3, E5M2, E2M3, E3M2, FLOAT4, small=flushed),
    wrong_quantizer("fnuz-bias", "SmallFloat", E4M3FNUZ, small=doubled),
    wrong_quantizer("fnuz-negative-zero", "SmallFloat", E4M3FNUZ, small=tiny_is_nan),
    wrong_quantizer("float8-nan-to-zero", "NaN", E4M3, E5M2, small=no_nan),
    wrong_quantizer("float8-infinity-to-nan", "Infinity", E4M3, E5M2, small=infinite_is_nan),
    wrong_quantizer("fnuz-infinity-to-largest", "Infinity", E4M3FNUZ, infinity_is_nan=lambda node: False),
    wrong_quantizer("fnuz-infinity-always-nan", "Infinity", E4M3FNUZ, infinity_is_nan=lambda node: True),
    wrong_quantizer("beyond-is-zero", "Saturates", E2M3, E3M2, FLOAT4, small=beyond_is_zero),
    wrong_quantizer("int2-narrow", "TwoBits", INT2, whole=narrow_end),
    wrong_quantizer("two-bits-wrap", "TwoBits", INT2, UINT2, whole=low_bits),
    wrong_quantizer("integer-division", "Tie", ("int32", "int8"), ("int32", "uint8"), divide=truncated_division),
    wrong_quantizer("int32-as-int16", "WideInteger", ("int32", "int8"), ("int32", "int16"), read_x=sixteen_bits),
)  # fmt: skip
SMALL_FLOATS = (E4M3, E5M2, E4M3FNUZ, E2M3, E3M2, FLOAT4)
ALL_QUANTIZED = (INT8, UINT4, *SMALL_FLOATS, INT2, ("float16", "int8-further"), ("bfloat16", "uint2"))
RIGHT: tuple[WrongBackend, ...] = (
    wrong_quantizer("right-in-steps", "", *ALL_QUANTIZED, ("int32", "int8")),
    wrong_quantizer("right-exact", "", *ALL_QUANTIZED, ("int32", "uint8"), exact=True),
)
