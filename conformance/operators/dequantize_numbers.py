"""What mistakes of a dequantizer are made of: an arithmetic, a change of one step, and numbers rounded to a type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.operand_mistakes import (
    BFLOAT16,
)
from tiebreak.conformance.operators.quantize_quotients import cut_off
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Arithmetic = Callable[[Node, Array, Array, Array], Array]
Change = Callable[[Node, Array], Array]
HALF = np.dtype(np.float16)


def rounded_to(values: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers rounded once to a type, as float64."""
    wide = values.astype(np.float64)
    if dtype == BFLOAT16:  # ml_dtypes goes through float32: rounded to odd there, a number is not rounded twice
        near = cut_off(wide, np.dtype(np.float32)).astype(np.float32)
        inexact = np.isfinite(wide) & (near.astype(np.float64) != wide)
        wide = (near.view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)
    return np.asarray(wide.astype(dtype).astype(np.float64))


def same(node: Node, values: Array) -> Array:
    return values


def in_output_type(node: Node, values: Array) -> Array:
    return rounded_to(values, node.outputs[0].dtype)


def rounded_in(dtype: np.dtype[Any]) -> Change:
    return lambda node, values: rounded_to(values, dtype)


def limits_of(dtype: np.dtype[Any]) -> Any:
    limits: Callable[[Any], Any] = ml_dtypes.finfo
    return limits(dtype)


def whole_kind(node: Node) -> IntegerType:
    kind = INTEGER_TYPES.get(node.inputs[0].dtype.name)
    if kind is None:
        raise NotImplementedError
    return kind
