"""A cast's input read wrongly. Reads that dequantizers share take integers as int64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.dequantize_inputs import INPUTS
from tiebreak.conformance.operators.dequantize_numbers import rounded_to
from tiebreak.conformance.operators.onnx_cast_steps import Change, Read
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import E8M0
from tiebreak.golden.problem import Array

FEW_BITS = 8  # of a small type
SIBLINGS = {"float8_e4m3fnuz": "float8_e4m3fn", "float8_e5m2fnuz": "float8_e5m2"}
BOTH_SIBLINGS = SIBLINGS | {fn: fnuz for fnuz, fn in SIBLINGS.items()}


def shared_read(change: Callable[[Node, Array], Array]) -> Read:
    def read(node: Node, x: Array) -> Array:
        if ELEMENT_TYPES[node.input_type].bits > FEW_BITS and node.input_type not in INTEGER_TYPES:
            raise NotImplementedError
        wide = x.astype(np.int64 if x.dtype.name in INTEGER_TYPES else np.float64)
        return np.asarray(change(node, wide), np.float64)

    return read


def read_as_sibling(node: Node, x: Array) -> Array:
    other = BOTH_SIBLINGS.get(node.input_type)
    if other is None:
        raise NotImplementedError
    read = np.ascontiguousarray(x).view(getattr(ml_dtypes, other)).reshape(x.shape)
    return np.asarray(read.astype(np.float64))


def input_kind(node: Node, most: int = 64) -> FloatType:
    """The input's floating-point type. NotImplementedError for an integer, or one of more bits than that."""
    kind = ELEMENT_TYPES[node.input_type]
    if not isinstance(kind, FloatType) or kind.bits > most:
        raise NotImplementedError
    return kind


def bits_as_integers(node: Node, x: Array) -> Array:
    input_kind(node, FEW_BITS)
    return np.ascontiguousarray(x).view(np.uint8).reshape(x.shape).astype(np.float64)


def subnormals_as_zero(node: Node, x: Array) -> Array:
    kind, values = input_kind(node), x.astype(np.float64)
    if kind.bits <= FEW_BITS:
        raise NotImplementedError
    return np.where(np.abs(values) < 2.0**kind.emin, np.copysign(0.0, values), values)


def nan_as(number: float) -> Read:
    def read(node: Node, x: Array) -> Array:
        input_kind(node)
        values = x.astype(np.float64)
        return np.where(np.isnan(values), number, values)

    return read


def nan_code_as_number(node: Node, x: Array) -> Array:
    """NaN and infinities read as if their exponent and significand were those of a number."""
    kind = input_kind(node, FEW_BITS)
    if node.input_type in E8M0:
        raise NotImplementedError
    codes = np.ascontiguousarray(x).view(np.uint8).reshape(x.shape).astype(np.int64)
    width = kind.precision - 1
    field, fraction = codes >> width & ((1 << (kind.bits - 1 - width)) - 1), codes & ((1 << width) - 1)
    digits = np.where(field == 0, fraction, fraction + (1 << width)).astype(np.float64)
    number = np.ldexp(digits, np.maximum(field, 1) - kind.bias - width) * np.where(codes >> (kind.bits - 1), -1.0, 1.0)
    values = x.astype(np.float64)
    return np.where(np.isfinite(values), values, number)


def of_powers(change: Change) -> Read:
    """A change of the numbers of a float8_e8m0fnu."""

    def read(node: Node, x: Array) -> Array:
        if node.input_type not in E8M0:
            raise NotImplementedError
        return change(x.astype(np.float64))

    return read


def rounded_first(dtype: np.dtype[Any]) -> Read:
    """The input rounded to a narrower type first, of types of which it loses something."""

    def read(node: Node, x: Array) -> Array:
        kind, narrow = ELEMENT_TYPES[node.input_type], FLOAT_TYPES[dtype.name]
        digits = kind.precision if isinstance(kind, FloatType) else kind.bits
        if kind.bits <= FEW_BITS or (digits <= narrow.precision and kind.bits <= narrow.bits):
            raise NotImplementedError
        return rounded_to(x, dtype)

    return read


def cut_first(precision: int) -> Read:
    """The input cut off to so many significant bits first."""

    def read(node: Node, x: Array) -> Array:
        if input_kind(node).precision <= precision:
            raise NotImplementedError
        fraction, exponent = np.frexp(x.astype(np.float64))
        return np.asarray(np.ldexp(np.trunc(np.ldexp(fraction, precision)), exponent - precision))

    return read


SOURCES: tuple[tuple[str, Read], ...] = (
    ("sibling-float8", read_as_sibling),
    ("float-bits-as-integers", bits_as_integers),
    *((key, shared_read(change)) for key, change in INPUTS if not key.startswith("x-in")),
    ("nan-to-zero:of the input", nan_as(0.0)),
    ("nan-code-as-number", nan_code_as_number),
    ("power-of-zero-to-zero", of_powers(lambda values: np.where(values == 2.0**-127, 0.0, values))),
    ("power-of-zero-doubled", of_powers(lambda values: np.where(values == 2.0**-127, 2.0**-126, values))),
    ("power-nan-to-infinity", of_powers(lambda values: np.where(np.isnan(values), np.inf, values))),
    ("power-nan-to-next", of_powers(lambda values: np.where(np.isnan(values), 2.0**128, values))),
    ("power-read-doubled", of_powers(lambda values: values * 2)),
    ("power-read-halved", of_powers(lambda values: values / 2)),
)
NARROWED: tuple[tuple[str, Read], ...] = (
    *((name, rounded_first(np.dtype(name))) for name in ("float32", "float16")),
    ("bfloat16", rounded_first(np.dtype(ml_dtypes.bfloat16))),
)
