"""DequantizeLinear backends that are wrong on purpose, each in one way, and right ones, in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from wrong_onnx_linear import FORMATS, RANGES, Array, Layout, Number, held, nearest, numbers, powers, sixteen_bits

from wrong_model import WrongBackend

EACH_ITS_OWN = Layout()


@dataclass(frozen=True)
class Dequantizer:
    """y = (x - zero) * scale, with replaceable parts."""

    layout: Layout = EACH_ITS_OWN
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


def as_other_float6(array: Array) -> list[Number]:
    """Read as if it had the other float 6 type's exponent."""
    other = "float6_e3m2fn" if array.dtype.name == "float6_e2m3fn" else "float6_e2m3fn"
    return numbers(array.view(getattr(ml_dtypes, other)))


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


D = Dequantizer()


def wrong_dequantizer(name: str, flag: str, *types: tuple[str, str], **parts: Any) -> WrongBackend:
    return WrongBackend(f"onnx-dequantize-{name}", "onnx.DequantizeLinear", replace(D, **parts).run, flag, types)


WRONG: tuple[WrongBackend, ...] = (
    wrong_dequantizer("no-zero-point", "RangeEdge", ("int8", "float32"), ("uint4", "float16"), difference=unsubtracted),
    wrong_dequantizer("wraps", "RangeEdge", ("int8", "float32"), ("uint8", "bfloat16"), difference=wraps),
    wrong_dequantizer("divides", "ScaleNotPowerOfTwo", ("int8", "float32"), ("int32", "float32"), combine=safe_ratio),
    wrong_dequantizer("loses-sign", "ScaleNotPowerOfTwo", ("int4", "float32"), ("int2", "float32"), read=as_unsigned),
    wrong_dequantizer("int32-as-int16", "WideInteger", ("int32", "float32"), read=sixteen_bits),
    wrong_dequantizer("fnuz-as-fn", "SmallFloat", ("float8_e4m3fnuz", "float32"), read=as_sibling),
    wrong_dequantizer("infinity-as-65536", "Infinity", ("float8_e5m2", "float32"), read=infinite_as_finite),
    wrong_dequantizer("nan-as-zero", "NaN", ("float8_e4m3fn", "float32"), ("float8_e5m2", "float16"), read=nan_as_zero),
    wrong_dequantizer("float4-table", "SmallFloat", ("float4_e2m1fn", "float32"), read=linear_float4),
    wrong_dequantizer("float6-as-other", "SmallFloat", ("float6_e2m3fn", "float32"), ("float6_e3m2fn", "float32"),
                      read=as_other_float6),
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
ALL_DEQUANTIZED = (("int8", "float32"), ("int32", "bfloat16"), ("uint4", "float16"), ("float8_e5m2", "float16"))
BELOW_8_BITS = tuple((name, "float32") for name in ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"))
RIGHT: tuple[WrongBackend, ...] = (
    wrong_dequantizer("right-in-steps", "", *ALL_DEQUANTIZED, *BELOW_8_BITS),
    wrong_dequantizer("right-exact", "", *ALL_DEQUANTIZED, *BELOW_8_BITS, ("float8_e4m3fnuz", "float32"), exact=True),
)
