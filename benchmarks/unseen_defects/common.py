"""Defects that stand in for the same step of several operators: operands, scales, rounding, results, places."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.numbers import Array, cut_to, flushed, in_type, significant, to_integers
from benchmarks.known_defects.places import coordinate
from benchmarks.unseen_defects.steps import EPS, F32, Context, bf16, cut_bits, defect, digits, directed, f16, f32

# --- the input, a real number


@defect("QFRAM", "x", "x-cut-bf16", "The input is cut off to bfloat16, its low 16 bits dropped.")
def x_cut_bf16(c: Context, x: Array) -> Array:
    return cut_bits(x, 8)


@defect("QFRAM", "x", "x-tf32", "The input is rounded to 11 significant bits, as TF32 has them.")
def x_tf32(c: Context, x: Array) -> Array:
    return significant(x, 11)


@defect("QFRAM", "x", "x-f16", "The input is rounded to float16 first.")
def x_f16(c: Context, x: Array) -> Array:
    return f16(x)


@defect("QFRAM", "x", "x-bf16", "The input is rounded to bfloat16 first.")
def x_bf16(c: Context, x: Array) -> Array:
    return bf16(x)


@defect("QFRAM", "x", "x-f16-saturating", "The input is rounded to float16 first, at most 65504 in magnitude.")
def x_f16_saturating(c: Context, x: Array) -> Array:
    return f16(np.clip(x, -65504, 65504))


@defect("QFRAM", "x", "x-tiny-zero", "An input below 2^-23 in magnitude is taken as zero.")
def x_tiny(c: Context, x: Array) -> Array:
    return np.where(np.abs(x) < EPS, 0 * x, x)


@defect("QFRAM", "x", "x-daz", "A subnormal float32 input is taken as zero.")
def x_daz(c: Context, x: Array) -> Array:
    return flushed(x, F32)


@defect("QFRAM", "x", "x-magnitude", "The sign of the input is lost.")
def x_magnitude(c: Context, x: Array) -> Array:
    return np.abs(x)


@defect("QFRAM", "x", "x-clipped-1024", "The input is clipped to [-1024, 1024] first.")
def x_clipped(c: Context, x: Array) -> Array:
    return np.clip(x, -1024, 1024)


# --- the scale


@defect("QD", "scale", "scale-eps", "A scale below 2^-23 is raised to it.")
def scale_eps(c: Context, scale: Array) -> Array:
    return np.where(scale > EPS, scale, np.where(np.isnan(scale), scale, EPS))


@defect("QD", "scale", "scale-magnitude", "The sign of the scale is lost.")
def scale_magnitude(c: Context, scale: Array) -> Array:
    return np.abs(scale)


@defect("QD", "scale", "scale-text-6", "The scale went through text with six significant digits.")
def scale_text(c: Context, scale: Array) -> Array:
    return c.s(digits(scale, 6))


@defect("QD", "scale", "scale-cut-bf16", "The scale is cut off to bfloat16.")
def scale_cut(c: Context, scale: Array) -> Array:
    return cut_bits(scale, 8)


@defect("QD", "scale", "scale-near-bf16", "The scale is rounded to bfloat16; no box has this: it is compared with.")
def scale_near(c: Context, scale: Array) -> Array:
    return bf16(scale)


@defect("QD", "scale", "scale-exponent", "Only the exponent of the scale is used: it is cut off to a power of two.")
def scale_exponent(c: Context, scale: Array) -> Array:
    return cut_bits(scale, 1)


@defect("QD", "scale", "scale-15-bits", "The scale is held with 15 significant bits, as a 16-bit multiplier is.")
def scale_15(c: Context, scale: Array) -> Array:
    return significant(scale, 15)


@defect("QD", "scale", "scale-f16", "The scale is held in float16.")
def scale_f16(c: Context, scale: Array) -> Array:
    return f16(scale)


@defect("QD", "scale", "scale-tf32", "The scale is rounded to 11 significant bits, as TF32 has them.")
def scale_tf32(c: Context, scale: Array) -> Array:
    return significant(scale, 11)


@defect("QD", "scale", "scale-daz", "A subnormal float32 scale is taken as zero.")
def scale_daz(c: Context, scale: Array) -> Array:
    return flushed(scale, F32)


@defect("QD", "scale", "scale-f32", "The scale is rounded to float32 first.")
def scale_f32(c: Context, scale: Array) -> Array:
    return f32(scale)


# --- rounding to an integer; `rule` is the node's


def whole(c: Context, values: Array, rule: str) -> Array:
    return to_integers(values, rule)


def always(name: str, rule: str, sentence: str) -> None:
    defect("QRAFM", "round", name, sentence)(lambda c, values, _: to_integers(values, rule))


always("std-round", "away", "std::round: nearest, ties away from zero.")
always("rint", "even", "rint: nearest, ties to even.")
always("floor-half-exact", "up", "Nearest, ties to the greater integer.")
always("ceil-half-exact", "down", "Nearest, ties to the smaller integer.")
always("half-to-zero", "zero", "Nearest, ties toward zero.")
always("cast", "trunc", "A plain cast: the fraction is cut off.")
always("mxcsr-down", "floor", "The rounding mode was left at downward.")
always("mxcsr-up", "ceil", "The rounding mode was left at upward.")
always("away-always", "from-zero", "Any fraction rounds away from zero.")


@defect("QRAFM", "round", "half-then-cast", "0.5 is added, whatever the sign, in the working type; then a plain cast.")
def half_then_cast(c: Context, values: Array, rule: str) -> Array:
    return np.trunc(c.s(values + 0.5))


@defect("QRAFM", "round", "half-then-floor", "0.5 is added in the working type, then floor.")
def half_then_floor(c: Context, values: Array, rule: str) -> Array:
    return np.floor(c.s(values + 0.5))


@defect("QRAFM", "round", "signed-half-then-cast", "0.5 of the value's sign is added in the working type, then a cast.")
def signed_half(c: Context, values: Array, rule: str) -> Array:
    return np.trunc(c.s(values + np.copysign(0.5, values)))


@defect("QRA", "round", "below-half-then-cast", "The float32 below 0.5, with the value's sign, is added; then a cast.")
def below_half(c: Context, values: Array, rule: str) -> Array:
    return np.trunc(c.s(values + np.copysign(0.5 - 2.0**-25, values)))


@defect(
    "QRAF", "round", "sixteenths-first", "The value is rounded to sixteenths first, then, ties to even, to an integer."
)
def sixteenths(c: Context, values: Array, rule: str) -> Array:
    return np.rint(np.rint(values * 16) / 16)


@defect("QRAF", "round", "fixed-8-cut", "The value is cut off to 8 fractional bits, then rounded, ties up.")
def fixed_8(c: Context, values: Array, rule: str) -> Array:
    return to_integers(np.trunc(values * 256) / 256, "up")


@defect(
    "QRA", "round", "magic-2-23", "2^23 is added and subtracted in float32 and the rest cast: right from 0 on only."
)
def magic_23(c: Context, values: Array, rule: str) -> Array:
    return np.trunc(f32(f32(values + 2.0**23) - 2.0**23))


@defect("QRA", "round", "round-of-f16", "The value is rounded to float16 before it is rounded to even.")
def round_of_f16(c: Context, values: Array, rule: str) -> Array:
    return np.rint(np.where(np.abs(values) < 65504, f16(values), values))


@defect("QRA", "round", "negatives-floor", "Negative values are rounded down, others to nearest even.")
def negatives_floor(c: Context, values: Array, rule: str) -> Array:
    return np.where(values < 0, np.floor(values), np.rint(values))


@defect("QRA", "round", "half-odd", "Nearest, ties to the odd integer.")
def half_odd(c: Context, values: Array, rule: str) -> Array:
    return to_integers(values, "odd")


@defect("QRAF", "round", "threshold-0.501", "Fractions up to 0.501 go down in magnitude, greater ones up.")
def threshold(c: Context, values: Array, rule: str) -> Array:
    part = np.abs(values) - np.floor(np.abs(values))
    return np.copysign(np.floor(np.abs(values)) + (part > 0.501), values)


# --- a real result, float64 before the last conversion; c.out is its type


@defect("DFBAM", "out", "out-f16", "The result goes through float16.")
def out_f16(c: Context, y: Array) -> Array:
    return f16(y)


@defect("DFBAM", "out", "out-bf16", "The result goes through bfloat16.")
def out_bf16(c: Context, y: Array) -> Array:
    return bf16(y)


@defect("DFBAM", "out", "out-cut-bf16", "The result is cut off to bfloat16.")
def out_cut_bf16(c: Context, y: Array) -> Array:
    return cut_bits(y, 8)


@defect("DFBAM", "out", "out-ftz", "A subnormal result becomes zero.")
def out_ftz(c: Context, y: Array) -> Array:
    return flushed(y, c.out)


@defect("DFBAM", "out", "out-tiny-zero", "A result below 2^-23 in magnitude becomes zero.")
def out_tiny(c: Context, y: Array) -> Array:
    return np.where(np.abs(y) < EPS, 0.0, y)


@defect("DFBAM", "out", "out-relu", "A negative result becomes zero.")
def out_relu(c: Context, y: Array) -> Array:
    return np.where(y < 0, 0.0, y)


@defect("DFBAM", "out", "out-text-6", "The result is rounded to six significant decimal digits.")
def out_text(c: Context, y: Array) -> Array:
    return digits(y, 6)


@defect("DFBAM", "out", "out-tf32", "The result is rounded to 11 significant bits, as TF32 has them.")
def out_tf32(c: Context, y: Array) -> Array:
    return significant(y, 11)


@defect("DFBAM", "out", "out-f16-saturating", "The result goes through float16, at most 65504 in magnitude.")
def out_f16_saturating(c: Context, y: Array) -> Array:
    return f16(np.clip(y, -65504, 65504))


# --- which parameter; `at` is each element's flat index, c.count the number of parameters


def moved(name: str, sentence: str, move: object) -> None:
    def place(c: Context, at: Array) -> Array:
        return at if c.count < 2 or not at.size else move(c, at) % c.count  # type: ignore[operator]

    defect("QDRBAM", "place", name, sentence)(place)


moved("all-from-first", "The first channel's parameters serve all.", lambda c, at: 0 * at)
moved("all-from-last", "The last channel's parameters serve all.", lambda c, at: 0 * at + c.count - 1)
moved("previous-channel", "Each channel takes the previous one's parameters.", lambda c, at: at - 1)
moved("following-channel", "Each channel takes the next one's parameters.", lambda c, at: at + 1)
moved("channel-pairs", "Channels share parameters in pairs, the even one's.", lambda c, at: at // 2 * 2)
moved("four-lanes", "Only the first four channels' parameters are loaded, and repeated.", lambda c, at: at % 4)
moved("reversed-order", "Channels take the parameters in reverse order.", lambda c, at: c.count - 1 - at)
moved("by-first-axis", "Parameters go along the first axis.", lambda c, at: coordinate(at.shape, 0))
moved("by-last-axis", "Parameters go along the last axis.", lambda c, at: coordinate(at.shape, at.ndim - 1))
moved("by-flat-position", "Parameters repeat along the flat array.",
      lambda c, at: np.arange(at.size).reshape(at.shape))  # fmt: skip
moved("by-contiguous-runs", "The flat array is dealt in equal runs among the parameters.",
      lambda c, at: np.arange(at.size).reshape(at.shape) // max(-(-at.size // c.count), 1))  # fmt: skip


def to_cut(values: Array, kind: object) -> Array:
    return cut_to(values, np.dtype(kind))  # type: ignore[call-overload]


def to_up(values: Array, kind: object) -> Array:
    return directed(values, kind, True)


def to_down(values: Array, kind: object) -> Array:
    return directed(values, kind, False)


STEP = in_type
