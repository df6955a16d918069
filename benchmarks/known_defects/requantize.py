"""tflite.Requantize: integers of one scale to another, in real numbers or by a multiplier and a shift."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, in_type
from benchmarks.known_defects.quantize import integers
from tiebreak.golden.nodes import Node
from tiebreak.golden.rounding import EVEN

WORD = 1 << 31


def requantize(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    x, s_in, z_in, s_out, z_out = inputs
    first, last = points(z_in, z_out, how)
    d = x.astype(np.float64) - first.astype(np.float64)
    scales = [np.where(np.isfinite(scale) & (scale > 0), scale, 1).astype(np.float64) for scale in (s_in, s_out)]
    whole = product(node.value("rounding"), d, scales[0], scales[1], how.get("multiply", ""))
    zeros = np.broadcast_to(last.astype(np.float64), x.shape)
    return (integers(whole, zeros, node.outputs[0].dtype, RULES[EVEN], in_type(FLOAT32), how),)


def points(z_in: Array, z_out: Array, how: How) -> tuple[Array, Array]:
    """The zero points that are subtracted and added."""
    defect = how.get("operands", "")
    first, last = (z_out, z_in) if defect == "zps-exchanged" else (z_in, z_out)
    return 0 * first if defect == "input-zp-ignored" else first, last


def product(way: str, d: Array, scale: Array, other: Array, defect: str) -> Array:
    """The difference times the ratio of the scales; whole where the way has multipliers."""
    scale = 2 * scale if defect == "ratio-doubled" else scale
    if defect == "factor-8-bits":
        return np.floor(d * np.rint(256 * np.minimum(scale / other, 2.0**20)) / 256 + 0.5)
    if defect == "rounded-twice" or way == "double":
        return twice(d, scale / other)
    if way == "single":
        return once(d, scale / other)
    return np.asarray(d.astype(np.longdouble) * scale / other).astype(np.float64)


def multiplier(ratio: Array) -> tuple[Array, Array]:
    part, shift = np.frexp(ratio)
    kept = shift >= -31
    return np.where(kept, np.floor(part * WORD + 0.5), 0).astype(np.int64), np.where(kept, shift, 0).astype(np.int64)


def words(values: Array) -> Array:
    return np.clip(values, -WORD, WORD - 1).astype(np.int64)


def once(d: Array, ratio: Array) -> Array:
    found, shift = multiplier(ratio)
    found, shift = np.where(shift > 30, WORD - 1, found), np.minimum(shift, 30)
    return np.asarray((words(d) * found + (np.int64(1) << (30 - shift))) >> (31 - shift)).astype(np.float64)


def twice(d: Array, ratio: Array) -> Array:
    found, shift = multiplier(ratio)
    high = (words(words(d) << np.clip(shift, 0, 31)) * found + (1 << 30)) >> 31
    right = np.maximum(-shift, 0)
    away = (np.abs(high) + (np.int64(1) << right >> 1)) >> right
    return np.asarray(np.sign(high) * away).astype(np.float64)


ARITHMETIC = {"tflite.Requantize": requantize}
