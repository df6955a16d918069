"""Subnormal numbers of a dequantizer that become zeros: of the input, of the scale and of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tiebreak.conformance.operators.dequantize_numbers import Change, in_output_type, limits_of
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


def small_flushed(node: Node, values: Array) -> Array:
    if node.inputs[0].dtype.name in INTEGER_TYPES:
        raise NotImplementedError
    return without_small(values, float(limits_of(node.inputs[0].dtype).smallest_normal))


def without_small(values: Array, least: float) -> Array:
    return np.where(np.abs(values) < least, 0.0, values)


def flushing_outputs(change: Change) -> tuple[tuple[str, Change], ...]:
    """A zero that stands for a subnormal output has its sign, or none."""
    return ("flushes-outputs", with_sign(change)), ("flushes-outputs:to positive zero", change)


def with_sign(change: Change) -> Change:
    """A zero that a change makes keeps the sign."""
    return lambda node, values: np.copysign(change(node, values), values)


def flushed_in_type_of(pick: Callable[[Node], np.dtype[Any]]) -> Change:
    def change(node: Node, values: Array) -> Array:
        kind = FLOAT_TYPES.get(pick(node).name)
        if kind is None:
            raise NotImplementedError
        return without_small(values, float(2.0**kind.emin))

    return change


flushed = flushed_in_type_of(lambda node: node.outputs[0].dtype)
own_flushed = flushed_in_type_of(lambda node: node.inputs[1].dtype)


def output_flushed(node: Node, product: Array) -> Array:
    return flushed(node, in_output_type(node, product))
