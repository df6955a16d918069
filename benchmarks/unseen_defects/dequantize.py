"""ngraph.Dequantize and onnx.DequantizeLinear as steps, and the defects of them alone."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from benchmarks.known_defects.numbers import Array, converted, ends, in_type, significant, ties_away_to, wrapped
from benchmarks.unseen_defects import common
from benchmarks.unseen_defects.quantize import places
from benchmarks.unseen_defects.steps import Context, bf16, cut_bits, defect, estimate, f16, f32, same
from tiebreak.golden.nodes import Node


def dequantize(node: Node, inputs: tuple[Array, ...], how: dict[str, Any]) -> tuple[Array, ...]:
    x, scale, *rest = inputs
    c = Context(node=node, how=how, out=node.outputs[0].dtype, s=in_type(node.outputs[0].dtype), kind=x.dtype)
    c.is_float = x.dtype.name.startswith("float")
    c.low, c.high = (0, 0) if c.is_float else ends(x.dtype)
    scale_at, zero_at = places(c, x.shape, scale)
    scales = c.s(c.do("scale", same, scale.astype(np.float64).reshape(-1)[scale_at]))
    zeros = rest[0].astype(np.float64).reshape(-1) if rest else np.zeros(max(scale.size, 1))
    values = c.do("code", code, x)
    y = c.do("kernel", kernel, values, c.do("zp", same, zeros[zero_at]), scales)
    return (converted(c.do("out", same, y), c.out),)


def code(c: Context, x: Array) -> Array:
    return x.astype(np.float64)


def difference(c: Context, x: Array, zero: Array) -> Array:
    return x - zero


def product(c: Context, found: Array, scale: Array) -> Array:
    return c.s(found * scale)


def kernel(c: Context, x: Array, zero: Array, scale: Array) -> Array:
    return c.do("product", product, c.s(c.do("difference", difference, x, zero)), scale)


# --- the input


def reading(name: str, sentence: str, way: Any) -> None:
    defect("D", "code", name, sentence)(way)


def bits_of(c: Context) -> int:
    return int(np.log2(c.high - c.low + 1))


reading("code-unsigned", "The input's bits are read as unsigned.", lambda c, x: wrapped(code(c, x), 0, c.high - c.low))
reading(
    "code-signed",
    "The input's bits are read as signed.",
    lambda c, x: wrapped(code(c, x), -((c.high - c.low + 1) // 2), (c.high - c.low) // 2),
)
reading(
    "code-minus-half",
    "Half the range is subtracted from the input alone, as if it were converted to signed.",
    lambda c, x: code(c, x) - (c.high - c.low + 1) // 2,
)
reading("code-symmetric", "The lowest input is read as the next one.", lambda c, x: np.maximum(code(c, x), c.low + 1))
reading("code-sat-16", "The input saturates to int16.", lambda c, x: np.clip(code(c, x), -(2**15), 2**15 - 1))
reading("code-sat-8", "The input saturates to int8.", lambda c, x: np.clip(code(c, x), -128, 127))
reading(
    "code-low-16",
    "Only the low 16 bits of the input are read, signed.",
    lambda c, x: wrapped(code(c, x), -(2**15), 2**15 - 1),
)
reading("code-low-byte", "Only the low byte of the input is read, signed.", lambda c, x: wrapped(code(c, x), -128, 127))
reading("code-24-bits", "The input goes through float32.", lambda c, x: f32(code(c, x)))
reading("code-through-f16", "The input goes through float16.", lambda c, x: f16(code(c, x)))
reading("code-through-bf16", "The input goes through bfloat16.", lambda c, x: bf16(code(c, x)))
reading(
    "code-magnitude-sign",
    "The input's bits are read as sign and magnitude.",
    lambda c, x: np.where(code(c, x) < 0, -(code(c, x) - c.low), code(c, x)),
)
reading("code-low-nibble-first", "Pairs that share a byte are exchanged.", lambda c, x: paired(code(c, x)))
reading(
    "code-low-nibble-twice",
    "Both of a pair that shares a byte get the first one's value.",
    lambda c, x: code(c, x).reshape(-1)[np.arange(x.size) // 2 * 2].reshape(x.shape),
)


def paired(x: Array) -> Array:
    flat = x.reshape(-1)
    partner = np.arange(flat.size) ^ 1
    return flat[np.where(partner < flat.size, partner, np.arange(flat.size))].reshape(x.shape)


@defect("D", "code", "code-byte-swapped", "The input's two bytes are exchanged.")
def byte_swapped(c: Context, x: Array) -> Array:
    return x.byteswap().astype(np.float64)


reading(
    "f8-bits-as-int8", "The float 8 input's bits are read as int8.", lambda c, x: x.view(np.int8).astype(np.float64)
)
reading("f8-sign-lost", "The sign bit of the float 8 input is not used.", lambda c, x: np.abs(code(c, x)))
reading(
    "f8-subnormal-leading-one", "Subnormal inputs get the leading one of normal values.", lambda c, x: leading_one(x)
)
reading("f8-nan-as-number", "The codes of NaN and infinity are read as numbers.", lambda c, x: all_numbers(x))
reading(
    "f8-daz",
    "Subnormal inputs are taken as zero.",
    lambda c, x: np.where(np.abs(code(c, x)) < float(ml_dtypes.finfo(x.dtype).smallest_normal), 0.0, code(c, x)),
)
reading("f8-other-bias", "The exponent's bias is one too great, as in the fnuz format.", lambda c, x: code(c, x) / 2)
reading(
    "f8-nan-to-zero",
    "A NaN input is read as zero.",
    lambda c, x: np.nan_to_num(code(c, x), nan=0.0, posinf=np.inf, neginf=-np.inf),
)
reading(
    "f8-infinity-to-highest",
    "An infinite input is read as the largest number.",
    lambda c, x: np.where(
        np.isinf(code(c, x)), np.copysign(float(ml_dtypes.finfo(x.dtype).max), code(c, x)), code(c, x)
    ),
)
reading(
    "f4-as-int4",
    "The float 4 input's bits are read as int4.",
    lambda c, x: wrapped(x.view(np.uint8).astype(np.float64), -8, 7),
)
reading("f4-as-e3m0", "The float 4 input is read as E3M0: powers of two.", lambda c, x: e3m0(x))


def leading_one(x: Array) -> Array:
    info, wide = ml_dtypes.finfo(x.dtype), x.astype(np.float64)
    normal = float(info.smallest_normal)
    small = (np.abs(wide) < normal) & (wide != 0)
    return np.where(small, np.copysign(normal / 2 + np.abs(wide) / 2, wide), wide)


def all_numbers(x: Array) -> Array:
    info, raw = ml_dtypes.finfo(x.dtype), x.view(np.uint8).astype(np.int64)
    mantissa, exponent = raw & ((1 << info.nmant) - 1), (raw & 127) >> info.nmant
    bias = 1 - int(info.minexp)
    value = np.where(exponent > 0, (1 + mantissa / 2**info.nmant) * np.exp2(exponent - bias), x.astype(np.float64))
    special = ~np.isfinite(x.astype(np.float64))
    return np.where(special, np.where(raw > 127, -value, value), x.astype(np.float64))


def e3m0(x: Array) -> Array:
    raw = x.view(np.uint8).astype(np.int64)
    value = np.where(raw & 7, np.exp2((raw & 7) - 3.0), 0.0)
    return np.where(raw & 8, -value, value)


# --- the difference


def subtracting(name: str, sentence: str, way: Any) -> None:
    defect("D", "difference", name, sentence)(way)


subtracting("diff-wraps", "The difference wraps in the input's type.", lambda c, x, z: wrapped(x - z, c.low, c.high))
subtracting(
    "diff-saturates", "The difference saturates in the input's type.", lambda c, x, z: np.clip(x - z, c.low, c.high)
)
subtracting("diff-wraps-16", "The difference wraps in 16 bits.", lambda c, x, z: wrapped(x - z, -(2**15), 2**15 - 1))
subtracting("diff-sat-16", "The difference saturates to int16.", lambda c, x, z: np.clip(x - z, -(2**15), 2**15 - 1))
subtracting(
    "diff-wraps-signed",
    "The difference wraps in the signed type of the input's width.",
    lambda c, x, z: wrapped(x - z, -((c.high - c.low + 1) // 2), (c.high - c.low) // 2),
)
subtracting("diff-reversed", "The input is subtracted from the zero point.", lambda c, x, z: z - x)
subtracting("diff-added", "The zero point is added.", lambda c, x, z: x + z)
subtracting("diff-f16", "The difference is rounded to float16.", lambda c, x, z: f16(x - z))
subtracting("diff-bf16", "The difference is rounded to bfloat16.", lambda c, x, z: bf16(x - z))
subtracting(
    "diff-not-below-zero",
    "A negative difference becomes zero, as in unsigned saturating arithmetic.",
    lambda c, x, z: np.maximum(x - z, 0),
)
subtracting(
    "diff-of-rounded",
    "Input and zero point are rounded to the output's type before they are subtracted.",
    lambda c, x, z: c.s(x) - c.s(z),
)
subtracting(
    "diff-of-f32",
    "Input and zero point go through float32 before they are subtracted.",
    lambda c, x, z: f32(x) - f32(z),
)


# --- the product


def multiplying(name: str, sentence: str, way: Any) -> None:
    defect("D", "product", name, sentence)(way)


multiplying("prod-f16", "Difference, scale and product are float16.", lambda c, d, k: f16(f16(d) * f16(k)))
multiplying("prod-bf16", "Difference, scale and product are bfloat16.", lambda c, d, k: bf16(bf16(d) * bf16(k)))
multiplying(
    "prod-f32", "The product is rounded to float32, then to the output's type.", lambda c, d, k: f32(f32(d) * f32(k))
)
multiplying(
    "prod-tf32", "Both factors have 11 significant bits.", lambda c, d, k: c.s(significant(d, 11) * significant(k, 11))
)
multiplying("prod-cut", "The product is cut off to the output's type.", lambda c, d, k: common.to_cut(d * k, c.out))
multiplying(
    "prod-up",
    "The product is rounded upward: the rounding mode was left so.",
    lambda c, d, k: common.to_up(d * k, c.out),
)
multiplying(
    "prod-down",
    "The product is rounded downward: the rounding mode was left so.",
    lambda c, d, k: common.to_down(d * k, c.out),
)
multiplying(
    "prod-half-away",
    "A product halfway between two numbers of the output's type goes away from zero.",
    lambda c, d, k: ties_away_to(d * k, c.out),
)
multiplying(
    "div-inverse",
    "The difference is divided by the rounded reciprocal of the scale.",
    lambda c, d, k: c.s(d / c.s(1 / k)),
)
multiplying(
    "div-estimate",
    "The difference is divided by a reciprocal of the scale of 12 bits.",
    lambda c, d, k: c.s(d / estimate(k, 12, 0, c.s)),
)
multiplying("div-scale", "The difference is divided by the scale.", lambda c, d, k: c.s(d / k))
multiplying("no-scale", "The scale is not used.", lambda c, d, k: d)
multiplying("scale-squared", "The scale is applied twice.", lambda c, d, k: c.s(c.s(d * k) * k))
multiplying(
    "prod-saturates",
    "A product beyond the largest number becomes it, not infinite.",
    lambda c, d, k: np.where(
        np.isfinite(d * k), np.clip(d * k, -float(ml_dtypes.finfo(c.out).max), float(ml_dtypes.finfo(c.out).max)), d * k
    ),
)
multiplying(
    "prod-inf-to-nan",
    "A product beyond the largest number becomes NaN, not infinite.",
    lambda c, d, k: np.where(np.isinf(c.s(d * k)) & np.isfinite(d * k), np.nan, c.s(d * k)),
)


@defect(
    "D",
    "product",
    "prod-split-scale",
    "The scale's upper half, 12 bits, and the rest are multiplied apart, rounded and added.",
)
def split_scale(c: Context, d: Array, k: Array) -> Array:
    upper = cut_bits(k, 12)
    return c.s(c.s(d * upper) + c.s(d * (k - upper)))


@defect(
    "D", "kernel", "distributes", "Input and zero point are multiplied by the scale apart, rounded, then subtracted."
)
def distributes(c: Context, x: Array, zero: Array, k: Array) -> Array:
    return c.s(c.s(c.s(x) * k) - c.s(c.s(zero) * k))


@defect("D", "kernel", "fma-bias", "fma(x, scale, bias), the bias -zero_point * scale rounded.")
def fma_bias(c: Context, x: Array, zero: Array, k: Array) -> Array:
    return c.s(c.s(x) * k - c.s(c.s(zero) * k))


@defect("D", "kernel", "distributes-f16", "x * scale - zero_point * scale, every step in float16.")
def distributes_f16(c: Context, x: Array, zero: Array, k: Array) -> Array:
    return f16(f16(f16(x) * f16(k)) - f16(f16(zero) * f16(k)))


@defect("D", "kernel", "distributes-bf16", "x * scale - zero_point * scale, every step in bfloat16.")
def distributes_bf16(c: Context, x: Array, zero: Array, k: Array) -> Array:
    return bf16(bf16(bf16(x) * bf16(k)) - bf16(bf16(zero) * bf16(k)))


@defect("D", "kernel", "bias-f16", "x * scale plus a bias -zero_point * scale that is held in float16.")
def bias_f16(c: Context, x: Array, zero: Array, k: Array) -> Array:
    return c.s(c.s(c.s(x) * k) - f16(zero * k))


@defect(
    "D",
    "kernel",
    "table-cumulative",
    "A table of the values of all inputs, each the one before plus the scale, from the lowest on.",
)
def cumulative(c: Context, x: Array, zero: Array, k: Array) -> Array:
    found = c.s(c.s(c.low - zero) * k)
    for code_ in range(c.low + 1, c.high + 1):
        found = np.where(x >= code_, c.s(found + k), found)
    return found


@defect(
    "D", "kernel", "zp-after-scale", "The zero point is subtracted after the multiplication: x * scale - zero_point."
)
def zp_after(c: Context, x: Array, zero: Array, k: Array) -> Array:
    return c.s(c.s(c.s(x) * k) - zero)


ARITHMETIC = {"ngraph.Dequantize": dequantize, "onnx.DequantizeLinear": dequantize}
