"""tosa.RESCALE: a product of integers, shifted right and rounded, between two zero points."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import RULES, Array, ends
from benchmarks.known_defects.places import misplaced
from benchmarks.known_defects.rounding_steps import TIES, WHOLE
from tiebreak.golden.nodes import Node

NUDGE, SINGLE_SHIFT = np.int64(1) << 30, 31  # what rounding twice adds, and the last shift that rounds once


def rescale(node: Node, inputs: tuple[Array, ...], how: How) -> tuple[Array, ...]:
    x, multiplier, shift, input_zp, output_zp = (array.astype(np.int64) for array in inputs)
    index = np.broadcast_to(np.arange(multiplier.size), x.shape) if multiplier.size > 1 else np.zeros(x.shape, int)
    where = misplaced(index, multiplier.size, how)
    factor, places = multiplier[where], np.clip(shift[where], 1, 62)
    value = read(node, x, how) - input_zp
    product = value * factor + nudged(node, value, places, how)
    whole = rounded(product, places, rule(node, how))
    point = {"zp-ignored": 0 * output_zp, "zp-negated": -output_zp}.get(how.get("zero", ""), output_zp)
    return (clamped(whole + point, node.outputs[0].dtype, how).reshape(x.shape),)


def read(node: Node, x: Array, how: How) -> Array:
    """The input, or its bits as the other signedness has them."""
    defect, bits = how.get("operand", ""), 8 * node.inputs[0].dtype.itemsize
    if defect == "x-as-unsigned":
        return x & ((1 << bits) - 1)
    if defect == "x-as-signed":
        return np.where(x >= 1 << (bits - 1), x - (1 << bits), x)
    return x


def nudged(node: Node, value: Array, shift: Array, how: How) -> Array:
    """What rounding twice adds to the product."""
    defect = how.get("twice", "")
    wanted = defect == "rounds-twice" or (node.value("rounding_mode") == "DOUBLE_ROUND" and defect != "rounds-once")
    return np.where(wanted & (shift > SINGLE_SHIFT), np.where(value < 0, -NUDGE, NUDGE), 0)


def rule(node: Node, how: How) -> str:
    defect = how.get("round", "")
    return {**TIES, **WHOLE}.get(defect, RULES[node.modes[0]])


def rounded(product: Array, shift: Array, rule: str) -> Array:
    """product / 2^shift by a rule."""
    below, half = product >> shift, np.int64(1) << (shift - 1)
    rest = product - (below << shift)
    if rule in ("floor", "trunc", "ceil"):
        return below + {"floor": rest < 0, "trunc": (rest > 0) & (product < 0), "ceil": rest > 0}[rule]
    tie = {
        "up": rest == half,
        "down": rest < 0,
        "away": product >= 0,
        "zero": product < 0,
        "even": below % 2 == 1,
        "odd": below % 2 == 0,
    }[rule]
    return below + np.where(rest == half, tie, rest > half)


def clamped(total: Array, kind: np.dtype, how: How) -> Array:
    low, high = ends(kind)
    if how.get("clamp") == "wraps":
        return total.astype(kind)
    return np.clip(total, low + (how.get("clamp") == "clamps-narrow"), high).astype(kind)


ARITHMETIC = {"tosa.RESCALE": rescale}
