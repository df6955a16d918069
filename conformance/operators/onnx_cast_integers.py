"""Usual mistakes of a cast to integers, and to floats of 16 bits and more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.onnx_cast_steps import (
    Change,
    Write,
    as_integers,
    small_kind,
    to_output,
)
from tiebreak.conformance.semantics.type_grids import largest_of
from tiebreak.golden.elements import ELEMENT_TYPES, INTEGER_TYPES, FloatType, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


def exchanged(node: Node, values: Array) -> Array:
    """Results of which two share a byte, exchanged within it."""
    found = to_output(node, values)
    if ELEMENT_TYPES[node.output_type].bits != 4:
        raise NotImplementedError
    partner = np.minimum(np.arange(found.size) ^ 1, max(found.size - 1, 0))
    return np.asarray(found.reshape(-1)[partner])


def from_integers(change: Callable[[Array, IntegerType], Array]) -> Write:
    """What becomes of an integer that is cast to a narrower one."""

    def write(node: Node, values: Array) -> Array:
        kind, source = INTEGER_TYPES.get(node.output_type), INTEGER_TYPES.get(node.input_type)
        if kind is None or source is None:
            raise NotImplementedError
        return as_integers(node, change(values, kind))

    return write


def half_added_in_float32(values: Array) -> Array:
    """The magnitude plus 0.5, both in float32, cut off: a half and what is next to it go away from zero."""
    single = values.astype(np.float32)
    return np.copysign(np.trunc(np.abs(single) + np.float32(0.5)), single).astype(np.float64)


def wrapped_after(whole: Change) -> Write:
    """A float brought to a whole number, of which the low bits are kept beyond the range."""

    def write(node: Node, values: Array) -> Array:
        kind = INTEGER_TYPES.get(node.output_type)
        if kind is None or node.input_type in INTEGER_TYPES:
            raise NotImplementedError
        found = np.nan_to_num(whole(values), posinf=0, neginf=0)
        return as_integers(node, np.mod(found - kind.lowest, 2.0**kind.bits) + kind.lowest)

    return write


def saturated(values: Array, kind: IntegerType) -> Array:
    return np.clip(values, kind.lowest, kind.highest)


def beyond_to_zero(values: Array, kind: IntegerType) -> Array:
    return np.where(saturated(values, kind) == values, values, 0)


def higher_bits(values: Array, kind: IntegerType) -> Array:
    moved = np.floor(values / 2.0**kind.bits)
    return np.asarray(np.mod(moved - kind.lowest, 2.0**kind.bits) + kind.lowest)


def remainder_of_sign(values: Array, kind: IntegerType) -> Array:
    """The magnitude's lower bits with the number's sign, as a division's remainder has it."""
    return saturated(np.fmod(values, 2.0**kind.bits), kind)


def wide_kind(node: Node) -> FloatType:
    kind = small_kind(node)
    if kind.bits <= 8:
        raise NotImplementedError
    return kind


def wide_flushed(node: Node, values: Array) -> Array:
    kind = wide_kind(node)
    return to_output(node, np.where(np.abs(values) < 2.0**kind.emin, np.copysign(0.0, values), values))


def wide_saturated(node: Node, values: Array) -> Array:
    kind = wide_kind(node)
    beyond = np.isfinite(values) & (np.abs(values) > largest_of(kind))
    return to_output(node, np.where(beyond, np.copysign(largest_of(kind), values), values))


WHOLE_WRITES: tuple[tuple[str, str, Write], ...] = (
    ("ties-away-and-wraps", "integer", wrapped_after(ws.away)),
    ("half-added-in-float32-and-wraps", "integer", wrapped_after(half_added_in_float32)),
    ("integers-saturate", "wrap", from_integers(saturated)),
    ("beyond-to-zero", "wrap", from_integers(beyond_to_zero)),
    ("higher-bits-kept", "wrap", from_integers(higher_bits)),
    ("remainder-of-sign", "wrap", from_integers(remainder_of_sign)),
    ("nibbles-swapped:of the output", "exact", exchanged),
    ("flushes-outputs:of 16 bits and more", "exact", wide_flushed),
    ("beyond-to-largest", "overflow", wide_saturated),
)
