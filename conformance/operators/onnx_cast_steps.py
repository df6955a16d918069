"""The right steps of a cast, of which its mistakes change one, and what turns steps into a backend.

Numbers are float64, which holds those of every type that is cast. Infinities and negative zeros are numbers, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.semantics.type_grids import largest_of, on_grid
from tiebreak.golden.elements import ELEMENT_TYPES, INTEGER_TYPES, FloatType, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import E8M0, FLOAT4, FLOAT6, FLOAT8, LARGEST_FOR_INFINITY, ONE_ZERO
from tiebreak.golden.operators.onnx_cast import DOWN, NEAREST, UP
from tiebreak.golden.problem import Array

Change = Callable[[Array], Array]
Read = Callable[[Node, Array], Array]
Write = Callable[[Node, Array], Array]


def mistake(write: Write, read: Read | None = None) -> Mistake:
    def run(node: Node, x: Array) -> tuple[Array, ...]:
        values = (read or numbers)(node, x)
        return (np.asarray(write(node, values)).reshape(x.shape),)

    return run


def numbers(node: Node, x: Array) -> Array:
    return x.astype(np.float64)


def to_output(node: Node, values: Array) -> Array:
    kind = ELEMENT_TYPES[node.output_type]
    if isinstance(kind, IntegerType):
        return to_whole(node, values)
    return to_powers(node, values) if kind.name in E8M0 else to_small(node, values)


def to_whole(node: Node, values: Array) -> Array:
    """The nearest integer of a float, the even one of two, and the lower bits of an integer.

    What a float gives beyond the range is open. Here it saturates.
    """
    kind = INTEGER_TYPES[node.output_type]
    if node.input_type not in INTEGER_TYPES:
        return as_integers(node, np.clip(np.rint(np.nan_to_num(values)), kind.lowest, kind.highest))
    return as_integers(node, np.mod(values - kind.lowest, 2.0**kind.bits) + kind.lowest)


def as_integers(node: Node, values: Array) -> Array:
    return values.astype(np.int64).astype(node.outputs[0].dtype)


def to_small(node: Node, values: Array, step: Change = np.rint, *, saturate: bool | None = None) -> Array:
    """To a floating-point type but float8_e8m0fnu: rounded to a value by `step`, then held in the type's range."""
    kind = small_kind(node)
    return held(node, on_grid(values, kind, step), np.isinf(values), saturate)


def small_kind(node: Node, *names: str) -> FloatType:
    """The output's floating-point type. NotImplementedError for another one than those named, if any are."""
    kind = ELEMENT_TYPES[node.output_type]
    if not isinstance(kind, FloatType) or kind.name in E8M0 or (names and kind.name not in names):
        raise NotImplementedError
    return kind


def saturates(node: Node) -> bool:
    """Whether numbers beyond the largest value become it; a float 6 and float4_e2m1fn have nothing else."""
    if node.output_type in FLOAT8:
        return bool(node.attributes.get("saturate", True))
    return node.output_type in (*FLOAT4, *FLOAT6)


def held(node: Node, rounded: Array, infinite: Array, saturate: bool | None = None) -> Array:
    """Rounded numbers as the output: what is beyond the largest value saturates, or is infinite or NaN."""
    kind = small_kind(node)
    saturate = saturates(node) if saturate is None else saturate
    old = kind.name in ONE_ZERO and node.opset < LARGEST_FOR_INFINITY
    largest, nothing = largest_of(kind), np.inf if kind.specials == "ieee" else np.nan
    beyond = np.abs(rounded) > largest
    found = np.where(beyond, np.copysign(largest if saturate else nothing, rounded), rounded)
    return as_small(node, np.where(infinite & old, np.nan, found))


def as_small(node: Node, values: Array) -> Array:
    """Values of the output's type, of which no NaN is left where it has none. In a float 6 it is open."""
    if node.output_type in (*FLOAT4, *FLOAT6):
        values = np.where(np.isnan(values), largest_of(small_kind(node)), values)
    if node.output_type in ONE_ZERO:
        values = np.where(values == 0, 0.0, values)
    return values.astype(node.outputs[0].dtype)


Upward = Callable[[Array, Array], Array]  # of the significand, from 1 to 2, and the exponent: whether it goes up
POWERS: Mapping[str, Upward] = {
    UP: lambda significand, exponent: significand > 1,
    DOWN: lambda significand, exponent: significand < 0,
    NEAREST: lambda significand, exponent: significand >= 1.5,
}


def power_mode(node: Node) -> str:
    return str(node.attributes.get("round_mode", UP))


def powers_saturate(node: Node) -> bool:
    return bool(node.attributes.get("saturate", True))


def to_powers(
    node: Node, values: Array, upward: Upward | None = None, *, moved: int = 0, saturate: bool | None = None
) -> Array:
    """To float8_e8m0fnu, whose code is the exponent plus 127. What its attributes leave open is as with others."""
    if node.output_type not in E8M0:
        raise NotImplementedError
    fraction, exponent = np.frexp(np.where(np.isfinite(values) & (values > 0), values, 1.0))
    exponent = exponent - 1
    up = (upward or POWERS[power_mode(node)])(2 * fraction, exponent)
    codes = np.clip(exponent + up + moved + 127, 0, 254)
    return at_ends(codes, values, powers_saturate(node) if saturate is None else saturate).view(node.outputs[0].dtype)


def at_ends(codes: Array, values: Array, saturate: bool) -> Array:
    """Codes (uint8) with those of what lies below 2^-127 or beyond 2^127, and of NaN."""
    below, beyond = values < 2.0**-127, values > 2.0**127
    found = np.where(below, 0 if saturate else 255, np.where(beyond, 254 if saturate else 255, codes))
    return np.where(np.isnan(values), 255, found).astype(np.uint8)


def to_types(*names: str, write: Write = to_output) -> Write:
    """A write for some types of output only."""

    def run(node: Node, values: Array) -> Array:
        if node.output_type not in names:
            raise NotImplementedError
        return write(node, values)

    return run
