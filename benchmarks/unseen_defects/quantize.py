"""ngraph.Quantize and onnx.QuantizeLinear as steps, and the defects of them alone."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from benchmarks.known_defects.numbers import (
    FLOAT32,
    NAMED,
    RULES,
    Array,
    as_type,
    converted,
    ends,
    in_type,
    significant,
    to_integers,
    wrapped,
)
from benchmarks.known_defects.places import coordinate
from benchmarks.known_defects.quantize import index_for
from benchmarks.unseen_defects import common
from benchmarks.unseen_defects.steps import Context, bf16, cut_bits, defect, digits, directed, estimate, f16, f32, same
from tiebreak.golden.nodes import Node


def quantize(node: Node, inputs: tuple[Array, ...], how: dict[str, Any]) -> tuple[Array, ...]:
    x, scale, *rest = inputs
    named = node.attributes.get("precision", "") or node.inputs[1].dtype.name
    c = Context(node=node, how=how, out=node.outputs[0].dtype, kind=NAMED.get(named, FLOAT32))
    c.s, c.rule = in_type(c.kind), RULES[node.round_mode]
    c.low, c.high = (0, 0) if c.out.name.startswith("float") else ends(c.out)
    scale_at, zero_at = places(c, x.shape, scale)
    values = c.s(c.do("x", same, x.astype(np.float64)))
    scales = c.s(c.do("scale", same, scale.astype(np.float64).reshape(-1)[scale_at]))
    if c.out.name.startswith("float"):
        quotient = c.do("divide", divide, values, scales)
        return (c.do("small", small, quotient, bool(node.value("saturate"))),)
    whole = rest[0].astype(np.int64).reshape(-1) if rest else np.zeros(max(scale.size, 1), np.int64)
    zeros = c.do("zp", same, whole[zero_at].astype(np.float64))
    total = c.do("kernel", kernel, values, scales, zeros)
    return (as_type(c.do("clamp", clamp, total), c.out),)


def places(c: Context, shape: tuple[int, ...], scale: Array) -> tuple[Array, Array]:
    c.at, c.count, c.own = index_for(c.node, shape, scale.shape, {}), scale.size, scale.shape
    found = c.do("place", same, c.at)
    return found if isinstance(found, tuple) else (found, found)


def divide(c: Context, x: Array, scale: Array) -> Array:
    return c.s(x / scale)


def rounding(c: Context, values: Array) -> Array:
    return c.do("round", common.whole, values, c.rule)


def kernel(c: Context, x: Array, scale: Array, zero: Array) -> Array:
    return c.do("sum", total, c.do("divide", divide, x, scale), zero)


def total(c: Context, quotient: Array, zero: Array) -> Array:
    return rounding(c, quotient) + zero


def clamp(c: Context, sums: Array) -> Array:
    return np.clip(np.nan_to_num(sums, nan=0.0, posinf=1e300, neginf=-1e300), c.low, c.high)


def small(c: Context, values: Array, saturate: bool) -> Array:
    """Quotients as float 8 or float 4, by Cast's tables."""
    found = onto_grid(c, values, np.rint)
    highest = float(ml_dtypes.finfo(c.out).max)
    edge = highest if saturate or c.out.name.startswith("float4") else np.inf
    return converted(np.where(np.abs(found) > highest, np.copysign(edge, values), found), c.out)


def onto_grid(c: Context, values: Array, rint: Any) -> Array:
    info = ml_dtypes.finfo(c.out)
    exponent = np.frexp(values)[1] - 1.0
    exponent = np.maximum(
        np.where(np.isfinite(values) & (values != 0), exponent, -999), np.log2(float(info.smallest_normal))
    )
    unit = np.exp2(exponent - info.nmant)
    return np.where(np.isfinite(values), np.copysign(rint(values / unit) * unit, values), values)


# --- the division


def dividing(name: str, sentence: str, way: Any) -> None:
    defect("Q", "divide", name, sentence)(way)


dividing(
    "mul-inverse",
    "x times the reciprocal of the scale, both rounded to the working type.",
    lambda c, x, d: c.s(x * c.s(1 / d)),
)
dividing(
    "mul-inverse-double",
    "x times the reciprocal in float64, then rounded to the working type.",
    lambda c, x, d: c.s(x * (1 / d)),
)
dividing("mul-inverse-bf16", "The reciprocal is rounded to bfloat16.", lambda c, x, d: c.s(x * bf16(1 / d)))
dividing("mul-inverse-f16", "The reciprocal is rounded to float16.", lambda c, x, d: c.s(x * f16(1 / d)))
dividing(
    "mul-inverse-up",
    "The reciprocal is rounded upward in the working type.",
    lambda c, x, d: c.s(x * directed(1 / d, c.kind, True)),
)
dividing(
    "mul-inverse-text",
    "The reciprocal is a constant with six significant digits.",
    lambda c, x, d: c.s(x * c.s(digits(1 / d, 6))),
)
dividing("rcp14", "A reciprocal estimate of 14 bits, not refined.", lambda c, x, d: c.s(x * estimate(d, 14, 0, c.s)))
dividing(
    "rcp11-newton",
    "A reciprocal estimate of 11 bits with one Newton step.",
    lambda c, x, d: c.s(x * estimate(d, 11, 1, c.s)),
)
dividing(
    "recpe-newton-2",
    "A reciprocal estimate of 8 bits with two Newton steps, as NEON has it.",
    lambda c, x, d: c.s(x * estimate(d, 8, 2, c.s)),
)
dividing(
    "recpe-newton-1",
    "A reciprocal estimate of 8 bits with one Newton step.",
    lambda c, x, d: c.s(x * estimate(d, 8, 1, c.s)),
)
dividing(
    "quotient-up",
    "The quotient is rounded upward: the rounding mode was left so.",
    lambda c, x, d: directed(x / d, c.kind, True),
)
dividing(
    "quotient-down",
    "The quotient is rounded downward: the rounding mode was left so.",
    lambda c, x, d: directed(x / d, c.kind, False),
)
dividing("quotient-cut", "The quotient is cut off to the working type.", lambda c, x, d: common.to_cut(x / d, c.kind))
dividing("quotient-cut-bf16", "The quotient is cut off to bfloat16.", lambda c, x, d: cut_bits(c.s(x / d), 8))
dividing("quotient-exact", "The quotient is not rounded before it is rounded to an integer.", lambda c, x, d: x / d)
dividing(
    "divides-f32",
    "The division is one of float32, whatever the type, and not rounded further.",
    lambda c, x, d: f32(f32(x) / f32(d)),
)
dividing("divides-f16", "The division is one of float16.", lambda c, x, d: f16(f16(x) / f16(d)))
dividing(
    "divides-tf32",
    "Both operands of the division have 11 significant bits.",
    lambda c, x, d: c.s(significant(x, 11) / significant(d, 11)),
)
dividing(
    "divides-whole",
    "The integer part of the quotient alone is kept, as a division of integers does.",
    lambda c, x, d: np.trunc(c.s(x / d)),
)
dividing("multiplies-scale", "x is multiplied by the scale.", lambda c, x, d: c.s(x * d))
dividing(
    "by-next-power-of-two",
    "The scale is replaced by the next power of two above it.",
    lambda c, x, d: c.s(x / np.copysign(np.exp2(np.ceil(np.log2(np.abs(d)))), d)),
)


@defect(
    "Q", "kernel", "requant-double", "A multiplier of 31 bits: doubling high product, rounded, then a rounding shift."
)
def requant_double(c: Context, x: Array, d: Array, zero: Array) -> Array:
    fraction, exponent = np.frexp(1 / d)
    multiplier, shift = np.rint(fraction * 2.0**31), -exponent
    high = np.trunc((x * multiplier + np.where(x * multiplier >= 0, 2.0**30, 1 - 2.0**30)) / 2.0**31)
    return to_integers(np.ldexp(high, -shift), "away") + zero


@defect("Q", "kernel", "requant-single", "A multiplier of 31 bits and one shift that rounds ties up.")
def requant_single(c: Context, x: Array, d: Array, zero: Array) -> Array:
    fraction, exponent = np.frexp(1 / d)
    return np.floor(np.ldexp(x * np.rint(fraction * 2.0**31), exponent - 31) + 0.5) + zero


@defect("Q", "kernel", "requant-15", "A multiplier of 15 bits and one shift that rounds ties up.")
def requant_15(c: Context, x: Array, d: Array, zero: Array) -> Array:
    fraction, exponent = np.frexp(1 / d)
    return np.floor(np.ldexp(x * np.rint(fraction * 2.0**15), exponent - 15) + 0.5) + zero


@defect("Q", "kernel", "fma-inverse", "Rounds fma(x, reciprocal, zero point), the reciprocal rounded.")
def fma_inverse(c: Context, x: Array, d: Array, zero: Array) -> Array:
    return rounding(c, c.s(x * c.s(1 / d) + zero))


@defect("Q", "kernel", "zp-in-input", "Rounds (x + zero_point * scale) / scale, each step in the working type.")
def zp_in_input(c: Context, x: Array, d: Array, zero: Array) -> Array:
    return rounding(c, c.s(c.s(x + c.s(zero * d)) / d))


@defect(
    "Q", "kernel", "as-fake-quantize", "x is clipped to the range, then (x - low) / (high - low) * levels is rounded."
)
def as_fake_quantize(c: Context, x: Array, d: Array, zero: Array) -> Array:
    low, high = c.s((c.low - zero) * d), c.s((c.high - zero) * d)
    position = c.s(c.s(c.s(np.clip(x, low, high) - low) / c.s(high - low)) * (c.high - c.low))
    return np.rint(position) + c.low


@defect("Q", "kernel", "affine-bf16", "x / scale + zero_point is computed in bfloat16, then rounded.")
def affine_bf16(c: Context, x: Array, d: Array, zero: Array) -> Array:
    return rounding(c, bf16(bf16(bf16(x) / bf16(d)) + zero))


@defect("Q", "kernel", "affine-f16", "x / scale + zero_point is computed in float16, then rounded.")
def affine_f16(c: Context, x: Array, d: Array, zero: Array) -> Array:
    return rounding(c, f16(f16(f16(x) / f16(d)) + zero))


# --- the zero point and the sum


@defect("Q", "sum", "sum-then-round", "The zero point is added in the working type, then the sum rounded.")
def sum_then_round(c: Context, q: Array, zero: Array) -> Array:
    return rounding(c, c.s(q + zero))


@defect("Q", "sum", "exact-sum-then-round", "The zero point is added exactly, then the sum rounded.")
def exact_sum_then_round(c: Context, q: Array, zero: Array) -> Array:
    return rounding(c, q + zero)


@defect("Q", "sum", "sat-int8-first", "The rounded quotient saturates to int8 before the zero point is added.")
def sat_int8_first(c: Context, q: Array, zero: Array) -> Array:
    return np.clip(np.nan_to_num(rounding(c, q)), -128, 127) + zero


@defect("Q", "sum", "sat-int16-first", "The rounded quotient saturates to int16 before the zero point is added.")
def sat_int16_first(c: Context, q: Array, zero: Array) -> Array:
    return np.clip(np.nan_to_num(rounding(c, q)), -(2**15), 2**15 - 1) + zero


@defect("Q", "sum", "int16-sum-wraps", "The rounded quotient saturates to int16, and the sum wraps in 16 bits.")
def int16_sum_wraps(c: Context, q: Array, zero: Array) -> Array:
    first = np.clip(np.nan_to_num(rounding(c, q)), -(2**15), 2**15 - 1)
    return wrapped(first + zero, -(2**15), 2**15 - 1)


@defect("Q", "sum", "cvtps2dq", "A quotient beyond int32 becomes the lowest int32, then the zero point is added.")
def cvtps2dq(c: Context, q: Array, zero: Array) -> Array:
    first = rounding(c, q)
    return np.where(np.abs(first) < 2.0**31, first, -(2.0**31)) + zero


@defect("Q", "sum", "relu-fused", "A negative rounded quotient becomes zero before the zero point is added.")
def relu_fused(c: Context, q: Array, zero: Array) -> Array:
    return np.maximum(np.nan_to_num(rounding(c, q)), 0) + zero


@defect("Q", "sum", "sum-in-f32", "The rounded quotient and the zero point are added in float32.")
def sum_in_f32(c: Context, q: Array, zero: Array) -> Array:
    return f32(rounding(c, q) + f32(zero))


@defect("Q", "sum", "sum-in-f16", "The rounded quotient and the zero point are added in float16.")
def sum_in_f16(c: Context, q: Array, zero: Array) -> Array:
    return f16(f16(rounding(c, q)) + f16(zero))


def zero_point(name: str, sentence: str, way: Any, families: str = "QD") -> None:
    defect(families, "zp", name, sentence)(way)


zero_point("no-zp", "The zero point is not used.", lambda c, z: 0 * z)
zero_point("zp-subtracted", "The zero point has the wrong sign.", lambda c, z: -z)
zero_point("zp-plus-one", "The zero point is one too great.", lambda c, z: z + 1)
zero_point("zp-7-bits", "Only the low seven bits of the zero point are used.", lambda c, z: np.mod(z, 128))
zero_point("zp-sat-127", "A zero point above 127 is taken as 127.", lambda c, z: np.minimum(z, 127))
zero_point("zp-int8-cast", "The zero point is cast to int8.", lambda c, z: wrapped(z, -128, 127))
zero_point("zp-uint8-cast", "The zero point is cast to uint8.", lambda c, z: wrapped(z, 0, 255))
zero_point("zp-4-bits-unsigned", "The zero point is read as an unsigned one of 4 bits.", lambda c, z: wrapped(z, 0, 15))
zero_point("zp-4-bits-signed", "The zero point is read as a signed one of 4 bits.", lambda c, z: wrapped(z, -8, 7))
zero_point("zp-flipped-128", "128 is subtracted from the zero point, as if it were converted to int8.",
           lambda c, z: z - 128)  # fmt: skip
zero_point("zp-half-8", "8 is subtracted from the zero point, as if it were converted to int4.", lambda c, z: z - 8)
zero_point("zp-through-f16", "The zero point goes through float16.", lambda c, z: f16(z))
zero_point("zp-through-bf16", "The zero point goes through bfloat16.", lambda c, z: bf16(z))
zero_point("zp-through-f32", "The zero point goes through float32.", lambda c, z: f32(z))
zero_point("zp-magnitude", "The sign of the zero point is lost.", lambda c, z: np.abs(z))
zero_point("zp-halved", "The zero point is halved, rounded down.", lambda c, z: np.floor(z / 2))


# --- the clamp


def clamping(name: str, sentence: str, way: Any) -> None:
    defect("Q", "clamp", name, sentence)(way)


def number(total_: Array) -> Array:
    return np.nan_to_num(total_, nan=0.0, posinf=1e300, neginf=-1e300)


clamping("no-clamp", "Nothing is clamped: the low bits are stored.", lambda c, t: wrapped(t, c.low, c.high))
clamping(
    "sum-wraps-16",
    "The sum wraps in 16 bits, then saturates.",
    lambda c, t: np.clip(wrapped(t, -(2**15), 2**15 - 1), c.low, c.high),
)
clamping(
    "sum-wraps-32",
    "The sum wraps in 32 bits, then saturates.",
    lambda c, t: np.clip(wrapped(t, -(2**31), 2**31 - 1), c.low, c.high),
)
clamping(
    "negative-to-highest",
    "A negative sum is cast to unsigned and becomes the highest value.",
    lambda c, t: np.where(t < 0, c.high, clamp(c, t)),
)
clamping(
    "unsigned-then-signed",
    "The sum saturates as the unsigned type's, then its bits are read as signed.",
    lambda c, t: wrapped(np.clip(number(t), 0, c.high - c.low), c.low, c.high),
)
clamping(
    "to-8-bits-always",
    "Results saturate to the 8-bit type's range.",
    lambda c, t: np.clip(number(t), *((0, 255) if c.low == 0 else (-128, 127))),
)
clamping(
    "to-7-bits",
    "Results saturate to one bit fewer.",
    lambda c, t: np.clip(number(t), -(-c.low // 2) if c.low else 0, c.high // 2),
)
clamping(
    "symmetric",
    "The lowest result is the highest's negative.",
    lambda c, t: np.clip(number(t), -c.high if c.low else 0, c.high),
)
clamping(
    "lowest-is-one", "The lowest result of an unsigned type is 1.", lambda c, t: np.clip(number(t), c.low + 1, c.high)
)
clamping(
    "high-exclusive",
    "The highest result is one less than the type's.",
    lambda c, t: np.clip(number(t), c.low, c.high - 1),
)
clamping(
    "overflow-to-zero",
    "A sum above the range becomes zero.",
    lambda c, t: np.where(number(t) > c.high, 0.0, clamp(c, t)),
)
clamping(
    "low-missing",
    "Only the upper end is clamped; below it the low bits are stored.",
    lambda c, t: wrapped(np.minimum(number(t), c.high), c.low, c.high),
)
clamping(
    "high-missing",
    "Only the lower end is clamped; above it the low bits are stored.",
    lambda c, t: wrapped(np.maximum(number(t), c.low), c.low, c.high),
)
clamping(
    "swapped-ends",
    "A sum beyond one end becomes the other end.",
    lambda c, t: np.where(number(t) > c.high, c.low, np.where(number(t) < c.low, c.high, clamp(c, t))),
)


# --- ngraph's rounding modes

LIST = ("away", "zero", "up", "down", "even", "from-zero", "trunc", "ceil", "floor")


def mode(name: str, sentence: str, other: Any) -> None:
    defect("Q", "round", name, sentence)(lambda c, values, rule: to_integers(values, other(rule)))


mode(
    "mode-off-by-one",
    "Each mode is taken for the next one in the document's list.",
    lambda rule: LIST[(LIST.index(rule) + 1) % len(LIST)],
)
mode(
    "decimal-names",
    "ROUND_UP goes away from zero and ROUND_DOWN toward zero, as in Python's decimal.",
    lambda rule: {"ceil": "from-zero", "floor": "trunc"}.get(rule, rule),
)
mode("upward-is-away", "ROUND_NEAREST_UPWARD sends ties away from zero.", lambda rule: {"up": "away"}.get(rule, rule))
mode(
    "downward-is-zero", "ROUND_NEAREST_DOWNWARD sends ties toward zero.", lambda rule: {"down": "zero"}.get(rule, rule)
)
mode("toward-infinity-is-up", "ROUND_TOWARD_INFINITY rounds up.", lambda rule: {"from-zero": "ceil"}.get(rule, rule))
mode(
    "zero-and-infinity-swapped",
    "The modes toward zero and toward infinity are exchanged.",
    lambda rule: {"away": "zero", "zero": "away", "from-zero": "trunc", "trunc": "from-zero"}.get(rule, rule),
)
mode(
    "nearest-is-even",
    "All nearest modes send ties to even.",
    lambda rule: "even" if rule in ("away", "zero", "up", "down") else rule,
)


# --- which parameter


@defect("QD", "place", "zp-of-next", "Each channel takes the next one's zero point; scales are right.")
def zp_of_next(c: Context, at: Array) -> tuple[Array, Array]:
    return at, (at + 1) % max(c.count, 1)


@defect("QD", "place", "scale-of-next", "Each channel takes the next one's scale; zero points are right.")
def scale_of_next(c: Context, at: Array) -> tuple[Array, Array]:
    return (at + 1) % max(c.count, 1), at


@defect("QD", "place", "zp-pairs-swapped", "Neighbouring zero points are exchanged in pairs; scales are right.")
def zp_pairs(c: Context, at: Array) -> tuple[Array, Array]:
    return at, np.where(at ^ 1 < c.count, at ^ 1, at)


@defect("QD", "place", "zp-of-first", "The first zero point serves all; scales are right.")
def zp_of_first(c: Context, at: Array) -> tuple[Array, Array]:
    return at, 0 * at


@defect("QD", "place", "scale-of-first", "The first scale serves all; zero points are right.")
def scale_of_first(c: Context, at: Array) -> tuple[Array, Array]:
    return 0 * at, at


def blocked(name: str, sentence: str, block_of: Any) -> None:
    def place(c: Context, at: Array) -> Array:
        size = int(c.node.attributes.get("block_size", 0))
        if not size or len(c.own) != at.ndim:
            return at
        axis, index = c.node.value("axis") % at.ndim, np.zeros(at.shape, np.int64)
        for i in range(at.ndim):
            own = coordinate(at.shape, i)
            index = index * c.own[i] + (np.clip(block_of(own, size, c.own[i]), 0, c.own[i] - 1) if i == axis else own)
        return index

    defect("QD", "place", name, sentence)(place)


blocked("block-starts-early", "Each block starts one element early.", lambda at, size, count: (at + 1) // size)
blocked("block-starts-late", "Each block starts one element late.", lambda at, size, count: (at - 1) // size)
blocked("block-of-first", "The first block of a row serves all its blocks.", lambda at, size, count: 0 * at)
blocked("block-one-shorter", "Each block is one element too short.", lambda at, size, count: at // max(size - 1, 1))
blocked(
    "block-previous",
    "Each block but the first takes the previous one's parameters.",
    lambda at, size, count: at // size - 1,
)
blocked(
    "block-strided", "Blocks are strided: position modulo the number of blocks.", lambda at, size, count: at % count
)
blocked(
    "block-last-missing",
    "The last block takes the one before's parameters.",
    lambda at, size, count: np.minimum(at // size, max(count - 2, 0)),
)


@defect("QD", "place", "axes-transposed", "Parameters on several axes are indexed with the axes in reverse order.")
def axes_transposed(c: Context, at: Array) -> Array:
    if len(c.own) < 2 or c.node.attributes.get("block_size"):
        return at
    parts = np.unravel_index(at, c.own)
    index = np.zeros(at.shape, np.int64)
    for part, size in reversed(list(zip(parts, c.own, strict=True))):
        index = index * size + part
    return index


@defect("QD", "place", "first-axis-only", "Of several axes only the first counts for the parameters.")
def first_axis_only(c: Context, at: Array) -> Array:
    if len(c.own) < 2 or c.node.attributes.get("block_size"):
        return at
    parts = np.unravel_index(at, c.own)
    return np.ravel_multi_index([parts[0], *(0 * part for part in parts[1:])], c.own)


# --- float 8 and float 4


def encoding(name: str, sentence: str, way: Any) -> None:
    defect("Q", "small", name, sentence)(way)


def with_rint(c: Context, values: Array, saturate: bool, rint: Any) -> Array:
    found, highest = onto_grid(c, values, rint), float(ml_dtypes.finfo(c.out).max)
    edge = highest if saturate or c.out.name.startswith("float4") else np.inf
    return converted(np.where(np.abs(found) > highest, np.copysign(edge, values), found), c.out)


encoding("enc-never-saturates", "saturate is taken as 0.", lambda c, v, on: small(c, v, False))
encoding("enc-always-saturates", "saturate is taken as 1.", lambda c, v, on: small(c, v, True))
encoding("enc-through-bf16", "The quotient goes through bfloat16 first.", lambda c, v, on: small(c, bf16(v), on))
encoding("enc-through-f16", "The quotient goes through float16 first.", lambda c, v, on: small(c, f16(v), on))
encoding("enc-cut", "The quotient is cut off.", lambda c, v, on: with_rint(c, v, on, np.trunc))
encoding(
    "enc-away",
    "Any rest rounds away from zero.",
    lambda c, v, on: with_rint(c, v, on, lambda p: to_integers(p, "from-zero")),
)
encoding(
    "enc-half-away",
    "Ties go away from zero: half a unit is added to the bits.",
    lambda c, v, on: with_rint(c, v, on, lambda p: to_integers(p, "away")),
)
encoding(
    "enc-half-up", "Ties go to the greater value.", lambda c, v, on: with_rint(c, v, on, lambda p: to_integers(p, "up"))
)
encoding(
    "enc-half-zero", "Ties go toward zero.", lambda c, v, on: with_rint(c, v, on, lambda p: to_integers(p, "zero"))
)
encoding("enc-down", "Rounded downward: the rounding mode was left so.", lambda c, v, on: with_rint(c, v, on, np.floor))


@defect("Q", "small", "enc-inf-to-nan", "An infinite quotient becomes NaN, even if saturated.")
def enc_inf(c: Context, values: Array, saturate: bool) -> Array:
    return converted(np.where(np.isinf(values), np.nan, small(c, values, saturate).astype(np.float64)), c.out)


@defect("Q", "small", "enc-minus-zero-lost", "A zero result is always positive.")
def enc_minus_zero(c: Context, values: Array, saturate: bool) -> Array:
    return converted(small(c, values, saturate).astype(np.float64) + 0.0, c.out)


@defect("Q", "small", "enc-subnormals-cut", "Results below the smallest normal value are cut off, others rounded.")
def enc_subnormals(c: Context, values: Array, saturate: bool) -> Array:
    cut = onto_grid(c, values, np.trunc)
    below = np.abs(values) < float(ml_dtypes.finfo(c.out).smallest_normal)
    return converted(np.where(below, cut, small(c, values, saturate).astype(np.float64)), c.out)


@defect("Q", "small", "enc-ftz", "Results below the smallest normal value become zero.")
def enc_ftz(c: Context, values: Array, saturate: bool) -> Array:
    found = small(c, values, saturate).astype(np.float64)
    return converted(np.where(np.abs(found) < float(ml_dtypes.finfo(c.out).smallest_normal), 0 * found, found), c.out)


@defect("Q", "small", "enc-half-range", "Results saturate at half the type's largest value.")
def enc_half(c: Context, values: Array, saturate: bool) -> Array:
    edge = float(ml_dtypes.finfo(c.out).max) / 2
    return small(c, np.clip(values, -edge, edge), saturate)


@defect("Q", "small", "enc-step-below-max", "The largest result is the value below the type's largest.")
def enc_below_max(c: Context, values: Array, saturate: bool) -> Array:
    top = c.out.type(ml_dtypes.finfo(c.out).max)
    edge = float(np.nextafter(top, c.out.type(0)))
    found = small(c, values, saturate).astype(np.float64)
    return converted(np.where(np.isfinite(found), np.clip(found, -edge, edge), found), c.out)


ARITHMETIC = {"ngraph.Quantize": quantize, "onnx.QuantizeLinear": quantize}
