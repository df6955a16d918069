"""ocp.MXQuantize and nvidia.NVFP4Quantize: a scale for each block, then each number by it in a small type."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from benchmarks.known_defects import small_floats
from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, flushed, in_type
from benchmarks.known_defects.rounding_steps import rounded
from tiebreak.golden.nodes import Node

BLOCK, LEAST, MOST = 32, -127, 127
NVFP4_BLOCK = 16


def mx_quantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    (x,) = inputs
    values = np.nan_to_num(x.astype(np.float64), posinf=0.0, neginf=0.0)
    values = flushed(values, x.dtype) if how.get("flush") == "flush-x" else values
    starts = range(0, x.shape[-1], BLOCK)
    amax = [np.abs(values[..., start : start + BLOCK]).max(axis=-1) for start in starts]
    exponents = exponent(node, np.stack(amax, axis=-1)) if amax else np.zeros((*x.shape[:-1], 0), np.int64)
    quotients = np.ldexp(values, -np.repeat(exponents, BLOCK, axis=-1)[..., : x.shape[-1]])
    codes = (exponents + 127).astype(np.uint8)
    return elements(node, quotients, how), codes.view(node.outputs[1].dtype)


def exponent(node: Node, amax: Array) -> Array:
    """The exponents of the scales, kept in E8M0's range."""
    mode, (largest, power, bits) = node.value("scaling_mode"), limits(node)
    if mode == "rceil":
        amax = in_type(FLOAT32)(amax / largest)
    if mode == "even":
        part, own = np.frexp(amax)
        amax = np.ldexp(np.rint(np.ldexp(part, bits)), own - bits)
    part, own = np.frexp(amax)
    found = own - 1 + ((part > 0.5) & (mode in ("ceil", "rceil"))) - (0 if mode == "rceil" else power)
    return np.where(amax == 0, LEAST, np.clip(found, LEAST, MOST)).astype(np.int64)


def limits(node: Node) -> tuple[float, int, int]:
    """The largest element, the exponent of the largest power of two, and the bits of a significand."""
    if node.output_type == "int8":
        return 127 / 64, 0, 7
    info = ml_dtypes.finfo(node.outputs[0].dtype)
    return float(info.max), int(np.frexp(float(info.max))[1]) - 1, int(info.nmant) + 1


def elements(node: Node, quotients: Array, how: How) -> Array:
    out = node.outputs[0].dtype
    if out.name != "int8":
        return small_floats.encoded(quotients, out, True, how)
    whole = rounded(quotients * 64, RULES[node.modes[0]], in_type(FLOAT32), how)
    return np.clip(whole, -127, 127).astype(np.int8)


def nvfp4_quantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    x, single = inputs[0], in_type(FLOAT32)
    values = np.nan_to_num(x.astype(np.float64), posinf=0.0, neginf=0.0)
    values = flushed(values, x.dtype) if how.get("flush") == "flush-x" else values
    with np.errstate(all="ignore"):
        encode = single(2688 / inputs[1].astype(np.float64).reshape(-1)[0]) if len(inputs) > 1 else np.float64(1)
        starts = range(0, x.shape[-1], NVFP4_BLOCK)
        amax = [np.abs(values[..., start : start + NVFP4_BLOCK]).max(axis=-1) for start in starts]
        found = np.stack(amax, axis=-1) if amax else np.zeros((*x.shape[:-1], 0))
        scales = np.minimum(single(single(found / 6) * encode), 448).astype(node.outputs[1].dtype)
        factor = single(1 / single(scales.astype(np.float64) * single(1 / encode)))
        products = single(values * np.repeat(factor, NVFP4_BLOCK, axis=-1)[..., : x.shape[-1]])
        return small_floats.encoded(np.nan_to_num(products), node.outputs[0].dtype, True, how), scales


ARITHMETIC = {"ocp.MXQuantize": mx_quantize, "nvidia.NVFP4Quantize": nvfp4_quantize}
