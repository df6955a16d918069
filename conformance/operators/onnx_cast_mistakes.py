"""Usual mistakes of a cast, each as small backends: how the input is read, and what becomes of a number.

Numbers are float64, which holds those of every type that is cast. Infinities and negative zeros are numbers, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.dequantize_mistakes import INPUTS, rounded_to
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.semantics.type_grids import largest_of, on_grid
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType, decode
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import E8M0, FLOAT4, FLOAT8
from tiebreak.golden.operators.onnx_cast import DOWN, LARGEST_FOR_INFINITY, NEAREST, ONE_ZERO, UP
from tiebreak.golden.problem import Array

Change = Callable[[Array], Array]
Read = Callable[[Node, Array], Array]
Write = Callable[[Node, Array], Array]
SIBLINGS = {"float8_e4m3fnuz": "float8_e4m3fn", "float8_e5m2fnuz": "float8_e5m2"}
FEW_BITS = 8  # of a small type
BOTH_SIBLINGS = SIBLINGS | {fn: fnuz for fnuz, fn in SIBLINGS.items()}


def mistake(write: Write, read: Read | None = None) -> Mistake:
    def run(node: Node, x: Array) -> tuple[Array, ...]:
        values = (read or numbers)(node, x)
        return (np.asarray(write(node, values)).reshape(x.shape),)

    return run


# The right steps.


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
    """Whether numbers beyond the largest value become it; float4_e2m1fn has nothing else."""
    if node.output_type in FLOAT8:
        return bool(node.attributes.get("saturate", True))
    return node.output_type in FLOAT4


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
    """Values of the output's type, of which no NaN is left where it has none."""
    if node.output_type in FLOAT4:
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
OTHER_POWERS: Mapping[str, Upward] = {
    "up": POWERS[UP],
    "down": POWERS[DOWN],
    "to nearest, halfway up,": POWERS[NEAREST],
    "to nearest, halfway down,": lambda significand, exponent: significand > 1.5,
    "to nearest, halfway to an even code,": lambda s, exponent: (s > 1.5) | ((s == 1.5) & (exponent % 2 == 0)),
    "to the nearest exponent": lambda significand, exponent: significand**2 >= 2,
    "up, powers of two themselves too,": lambda significand, exponent: significand >= 1,
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


# Reading the input wrongly. Those that dequantizers share take integers as int64.


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


def of_powers(change: Change) -> Read:
    """A change of the numbers of a float8_e8m0fnu."""

    def read(node: Node, x: Array) -> Array:
        if node.input_type not in E8M0:
            raise NotImplementedError
        return change(x.astype(np.float64))

    return read


def exchanged(node: Node, values: Array) -> Array:
    """Results of which two share a byte, exchanged within it."""
    found = to_output(node, values)
    if ELEMENT_TYPES[node.output_type].bits != 4:
        raise NotImplementedError
    partner = np.minimum(np.arange(found.size) ^ 1, max(found.size - 1, 0))
    return np.asarray(found.reshape(-1)[partner])


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


def to_types(*names: str, write: Write = to_output) -> Write:
    """A write for some types of output only."""

    def run(node: Node, values: Array) -> Array:
        if node.output_type not in names:
            raise NotImplementedError
        return write(node, values)

    return run


# Rounding to float 8 and float 4.


def away(position: Array) -> Array:
    """No half is added: that sum might be rounded."""
    size = np.abs(position)
    return np.asarray(np.copysign(np.floor(size) + (size - np.floor(size) >= 0.5), position))


def inward(position: Array) -> Array:
    return np.copysign(np.ceil(np.abs(position) - 0.5), position)


def outward(position: Array) -> Array:
    return np.copysign(np.ceil(np.abs(position)), position)


def ties_up(position: Array) -> Array:
    return np.where(position < 0, inward(position), away(position))


def ties_down(position: Array) -> Array:
    return np.where(position < 0, away(position), inward(position))


def ties_to_odd(position: Array) -> Array:
    even = np.rint(position)
    is_tie = (np.abs(position - np.trunc(position)) == 0.5) & np.isfinite(position)
    return np.where(is_tie, 2 * position - even, even)


def lowest_bit_lost(position: Array) -> Array:
    return np.trunc(np.rint(position) / 2) * 2


STEPS: tuple[tuple[str, Change], ...] = (
    ("cuts-off", np.trunc),
    ("ties-away-to-type", away),
    ("ties-toward-zero-to-type", inward),
    ("ties-up-to-type", ties_up),
    ("ties-down-to-type", ties_down),
    ("ties-odd-to-type", ties_to_odd),
    ("away-to-type", outward),
    ("down-to-type", np.floor),
    ("up-to-type", np.ceil),
    ("lowest-bit-lost", lowest_bit_lost),
)


def by_step(step: Change, *names: str) -> Write:
    return to_types(*names, write=lambda node, values: to_small(node, values, step))


def flushed(node: Node, values: Array) -> Array:
    """Subnormal results are zero, of the number's sign."""
    found = to_small(node, values).astype(np.float64)
    small = np.abs(found) < 2.0 ** small_kind(node).emin
    return as_small(node, np.where(small, np.copysign(0.0, found), found))


def zeros_positive(node: Node, values: Array) -> Array:
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where(found == 0, 0.0, found))


def minus_zero_for_negative_alone(node: Node, values: Array) -> Array:
    """A negative number that rounds to zero gives the positive zero, though the negative zero stays."""
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where((found == 0) & (values != 0), 0.0, found))


def subnormals_cut_off(node: Node, values: Array) -> Array:
    """Results below the smallest normal value are cut off, others rounded."""
    kind = small_kind(node)
    below = np.abs(values) < 2.0**kind.emin
    return to_small(node, np.where(below, on_grid(values, kind, np.trunc), values))


# The ends of float 8 and float 4.


def infinity_as(number: float) -> Write:
    """An infinity becomes a number, of its sign; NaN and infinities stay what they are."""

    def write(node: Node, values: Array) -> Array:
        found = to_small(node, values).astype(np.float64)
        return as_small(node, np.where(np.isinf(values), np.copysign(number, values), found))

    return write


def infinity_to_largest(node: Node, values: Array) -> Array:
    return infinity_as(largest_of(small_kind(node)))(node, values)


def nan_to(number: Callable[[FloatType], float]) -> Write:
    def write(node: Node, values: Array) -> Array:
        found = to_small(node, values).astype(np.float64)
        return as_small(node, np.where(np.isnan(values), number(small_kind(node)), found))

    return write


def nan_to_largest_of_its_sign(node: Node, values: Array) -> Array:
    largest = largest_of(small_kind(node))
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where(np.isnan(values), np.copysign(largest, values), found))


def nan_to_zero_of_other_sign(node: Node, values: Array) -> Array:
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where(np.isnan(values), np.copysign(0.0, -np.copysign(1.0, values)), found))


def saturate_always(node: Node, values: Array) -> Array:
    return to_small(node, values, saturate=True)


def saturate_never(node: Node, values: Array) -> Array:
    return to_small(node, values, saturate=False)


def only_finite_saturates_never(node: Node, values: Array) -> Array:
    """Finite numbers do not saturate, infinities do."""
    kind = small_kind(node)
    found = to_small(node, values, saturate=False).astype(np.float64)
    return as_small(node, np.where(np.isinf(values), np.copysign(largest_of(kind), values), found))


def largest_is_the_end(node: Node, values: Array) -> Array:
    """A number beyond the largest value is NaN or infinite though it rounds to it."""
    if saturates(node):
        raise NotImplementedError
    beyond = np.abs(values) > largest_of(small_kind(node))
    return to_small(node, np.where(beyond, np.copysign(np.inf, values), values))


def largest_never(node: Node, values: Array) -> Array:
    kind = small_kind(node)
    found = to_small(node, values).astype(np.float64)
    end = float(decode(kind.largest_bits - 1, kind))
    return as_small(node, np.where(np.isfinite(found), np.clip(found, -end, end), found))


def ends_at(end: Callable[[float], float]) -> Write:
    """Results end below the type's highest value; beyond it they saturate, or are infinite or NaN."""

    def write(node: Node, values: Array) -> Array:
        kind = small_kind(node)
        highest = end(largest_of(kind))
        found = to_small(node, values).astype(np.float64)
        last = highest if saturates(node) else np.inf if kind.specials == "ieee" else np.nan
        return as_small(node, np.where(np.abs(found) > highest, np.copysign(last, values), found))

    return write


def rounded_as_sibling(node: Node, values: Array) -> Array:
    """The bits that the sibling type has for a number, rounded and held as that type does it."""
    other = BOTH_SIBLINGS.get(node.output_type)
    if other is None:
        raise NotImplementedError
    kind = ELEMENT_TYPES[other]
    assert isinstance(kind, FloatType)
    largest = largest_of(kind)
    rounded = on_grid(values, kind, np.rint)
    nothing = np.inf if kind.specials == "ieee" else np.nan
    end = np.copysign(largest if saturates(node) else nothing, rounded)
    found = np.where(np.abs(rounded) > largest, end, rounded).astype(getattr(ml_dtypes, other))
    return found.view(node.outputs[0].dtype)


def nan_below_infinity(node: Node, values: Array) -> Array:
    """float8_e5m2 without saturation: what lies below 65536 and rounds up to it, beyond the type, becomes NaN."""
    if node.output_type != "float8_e5m2" or saturates(node):
        raise NotImplementedError
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where(np.isinf(found) & (np.abs(values) < 65536), np.nan, found))


def step_beyond(node: Node, values: Array) -> Array:
    """float8_e4m3fn without saturation: 480 and up to half a step more become 448."""
    if node.output_type != "float8_e4m3fn" or saturates(node):
        raise NotImplementedError
    beyond = (np.abs(values) >= 480) & (np.abs(values) < 496)
    return to_small(node, np.where(beyond, np.copysign(448.0, values), values))


def infinity_as_from_24(node: Node, values: Array) -> Array:
    """Before operator set 24, what came with it: with saturate an infinity is the largest value."""
    if node.output_type not in ONE_ZERO or node.opset >= LARGEST_FOR_INFINITY or not saturates(node):
        raise NotImplementedError
    return infinity_to_largest(node, values)


FLOAT8_WRITES: tuple[tuple[str, str, Write], ...] = (
    ("always-saturates", "unsaturated", saturate_always),
    ("never-saturates", "saturate", saturate_never),
    ("never-saturates:but infinities do", "saturate", only_finite_saturates_never),
    ("infinity-stays", "infinity", infinity_as(np.inf)),
    ("infinity-to-nan", "infinity", infinity_as(np.nan)),
    ("infinity-to-largest:as from operator set 24 on", "older-infinity", infinity_as_from_24),
    ("infinity-to-largest", "unsaturated", infinity_to_largest),
    ("infinity-to-zero", "infinity", infinity_as(0.0)),
    ("nan-below-infinity", "unsaturated", nan_below_infinity),
    ("step-beyond-largest", "unsaturated", step_beyond),
    ("largest-is-the-end", "unsaturated", largest_is_the_end),
    ("output-as-sibling", "float8", rounded_as_sibling),
    ("nan-to-zero", "nan", nan_to(lambda kind: 0.0)),
    ("nan-to-highest", "nan", nan_to(largest_of)),
    ("nan-to-lowest", "nan", nan_to(lambda kind: -largest_of(kind))),
    ("nan-to-infinity", "nan", nan_to(lambda kind: np.inf if kind.specials == "ieee" else np.nan)),
    ("flushes-outputs", "float8", flushed),
    ("below-normal-cut-off", "float8", subnormals_cut_off),
    ("minus-zero-lost", "zero", zeros_positive),
    ("minus-zero-lost:where a number rounds to it", "zero", minus_zero_for_negative_alone),
    ("largest-never", "saturate", largest_never),
    ("ends-at:240", "float8", ends_at(lambda highest: min(240.0, highest))),
    ("ends-at:half the highest value", "float8", ends_at(lambda highest: highest / 2)),
)
IN_FLOAT4, IN_POWERS = "in float4_e2m1fn", "in float8_e8m0fnu"
FLOAT4_WRITES: tuple[tuple[str, str, Write], ...] = (
    (f"nan-to-zero:{IN_FLOAT4}", "float4-ends", nan_to(lambda kind: 0.0)),
    (f"nan-to-zero:the negative one, {IN_FLOAT4}", "float4-ends", nan_to(lambda kind: -0.0)),
    (f"nan-to-zero:of the other sign, {IN_FLOAT4}", "float4-ends", nan_to_zero_of_other_sign),
    (f"nan-to-highest:of its sign, {IN_FLOAT4}", "float4-ends", nan_to_largest_of_its_sign),
    (f"nan-to-lowest:{IN_FLOAT4}", "float4-ends", nan_to(lambda kind: -largest_of(kind))),
    (f"infinity-to-zero:{IN_FLOAT4}", "float4-ends", infinity_as(0.0)),
    (f"flushes-outputs:{IN_FLOAT4}", "float4", flushed),
    (f"below-normal-cut-off:{IN_FLOAT4}", "float4", subnormals_cut_off),
    (f"minus-zero-lost:{IN_FLOAT4}", "zero", zeros_positive),
    (f"minus-zero-lost:where a number rounds to it, {IN_FLOAT4}", "zero", minus_zero_for_negative_alone),
    (f"largest-never:{IN_FLOAT4}", "float4-ends", largest_never),
)


# float8_e8m0fnu.


def in_mode(mode: str, write: Write) -> Write:
    """A write for nodes with this round_mode only."""

    def run(node: Node, values: Array) -> Array:
        if node.output_type not in E8M0 or power_mode(node) != mode:
            raise NotImplementedError
        return write(node, values)

    return run


def rounded_field(node: Node, values: Array) -> Array:
    """A float32's exponent field, of subnormals too, rounded by its mantissa.

    To nearest the half of a normal number goes up, that of a subnormal one down.
    """
    if node.output_type not in E8M0:
        raise NotImplementedError
    word = values.astype(np.float32).view(np.uint32)
    field, mantissa = (word >> 23 & 255).astype(np.int64), word & 0x7FFFFF
    up = POWERS[power_mode(node)](1 + mantissa / 2.0**23, field - 127)
    stays = (field == 0) & (mantissa == 1 << 22) & (power_mode(node) == NEAREST)
    return np.asarray(field + (up & ~stays))


def field_within(node: Node, values: Array) -> Array:
    """The field within the range, and beyond it what the document says."""
    codes = np.minimum(rounded_field(node, values), 254)
    return at_ends(codes, values, powers_saturate(node)).view(node.outputs[0].dtype)


def by_field(node: Node, values: Array, *, infinite: bool = False) -> Array:
    """The field whatever the number; what is no finite float32 is NaN, an infinity too unless it saturates."""
    codes = np.minimum(rounded_field(node, values), 254 if powers_saturate(node) else 255)
    single = values.astype(np.float32)
    nothing = np.isnan(single) if infinite and powers_saturate(node) else ~np.isfinite(single)
    return np.where(nothing, 255, codes).astype(np.uint8).view(node.outputs[0].dtype)


def field_but_zero(node: Node, values: Array) -> Array:
    """The field whatever the number, but of zero, which is NaN without saturation, as the document says."""
    if powers_saturate(node):
        raise NotImplementedError
    codes = by_field(node, values).view(np.uint8)
    return np.where(values == 0, 255, codes).astype(np.uint8).view(node.outputs[0].dtype)


def ends_of_rounded(node: Node, values: Array) -> Array:
    """Without saturation the rounded number, not the number, is held against the ends of the range."""
    if node.output_type not in E8M0 or powers_saturate(node):
        raise NotImplementedError
    some = np.isfinite(values) & (values > 0)
    fraction, exponent = np.frexp(np.where(some, values, 1.0))
    codes = exponent - 1 + POWERS[power_mode(node)](2 * fraction, exponent - 1) + 127
    inside = some & (codes >= 0) & (codes <= 254)
    return np.where(inside, codes, 255).astype(np.uint8).view(node.outputs[0].dtype)


def powers_where(test: Callable[[Array], Array], code: int) -> Write:
    """Numbers that pass a test get another code."""

    def write(node: Node, values: Array) -> Array:
        codes = to_powers(node, values).view(np.uint8)
        return np.where(test(values), code, codes).astype(np.uint8).view(node.outputs[0].dtype)

    return write


def lowest_never(node: Node, values: Array) -> Array:
    codes = to_powers(node, values).view(np.uint8)
    return np.maximum(codes, 1).astype(np.uint8).view(node.outputs[0].dtype)


def tabled_ends(saturate: bool, write: Write) -> Write:
    """A write for nodes with this value of saturate only."""

    def run(node: Node, values: Array) -> Array:
        if node.output_type not in E8M0 or powers_saturate(node) != saturate:
            raise NotImplementedError
        return write(node, values)

    return run


def power_steps() -> Iterator[tuple[str, str, Write]]:
    for mode in (UP, DOWN, NEAREST):
        for other, upward in OTHER_POWERS.items():
            if upward is not POWERS[mode]:
                key = f"power-rounds:{other} where round_mode is {mode}"
                yield key, mode, in_mode(mode, partial(to_powers, upward=upward))


POWER_WRITES: tuple[tuple[str, str, Write], ...] = (
    *power_steps(),
    ("power-of-field", "up", by_field),
    ("power-of-field:infinity saturates", "up", partial(by_field, infinite=True)),
    ("power-of-field:but zero is NaN", "power-unsaturated", field_but_zero),
    ("power-of-field:within the range", "up", field_within),
    ("power-ends-of-rounded", "power-unsaturated", ends_of_rounded),
    ("power-zero-to-nan", "power-saturated", tabled_ends(True, powers_where(lambda x: x == 0, 255))),
    ("power-infinity-to-nan", "power-saturated", tabled_ends(True, powers_where(np.isinf, 255))),
    ("power-beyond-to-nan", "power-saturated", tabled_ends(True, partial(to_powers, saturate=False))),
    ("power-always-saturates", "power-unsaturated", tabled_ends(False, partial(to_powers, saturate=True))),
    ("power-zero-to-least", "power-unsaturated", tabled_ends(False, powers_where(lambda x: x == 0, 0))),
    ("power-infinity-to-largest", "power-unsaturated", tabled_ends(False, powers_where(np.isinf, 254))),
    ("power-nan-to-largest", "nan", powers_where(np.isnan, 254)),
    ("power-nan-to-zero", "nan", powers_where(np.isnan, 0)),
    ("power-nan-to-zero:where its sign is negative", "nan", powers_where(lambda x: np.isnan(x) & np.signbit(x), 0)),
    ("power-least-never", "power-saturated", lowest_never),
    ("power-one-more", "up", partial(to_powers, moved=1)),
    ("power-one-less", "up", partial(to_powers, moved=-1)),
)


# Integers of few bits, and wide results.


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
    ("ties-away-and-wraps", "integer", wrapped_after(away)),
    ("half-added-in-float32-and-wraps", "integer", wrapped_after(half_added_in_float32)),
    ("integers-saturate", "wrap", from_integers(saturated)),
    ("beyond-to-zero", "wrap", from_integers(beyond_to_zero)),
    ("higher-bits-kept", "wrap", from_integers(higher_bits)),
    ("remainder-of-sign", "wrap", from_integers(remainder_of_sign)),
    ("nibbles-swapped:of the output", "exact", exchanged),
    ("flushes-outputs:of 16 bits and more", "exact", wide_flushed),
    ("beyond-to-largest", "overflow", wide_saturated),
)
# By the type of output: the role of rounding, the ending of ids, the key of rounding twice, and the types.
GOALS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("float8", "", "x-in", FLOAT8),
    ("float4", IN_FLOAT4, "x-in-before-float4", FLOAT4),
    ("integer", "in an integer", "x-in-before-integer", tuple(INTEGER_TYPES)),
    ("up", IN_POWERS, "x-in-before-power", E8M0),
)


def ending(key: str, goal: str) -> str:
    """The id of a mistake in casts to some types."""
    return f"{key}:{goal}" if goal else key


def rounding() -> Iterator[tuple[Cause, Mistake]]:
    for role, goal, _, names in GOALS[:2]:
        for key, step in STEPS:
            yield Cause(ending(key, goal), role), mistake(by_step(step, *names))
    for role, goal, twice, names in GOALS:
        for narrow, read in NARROWED:
            yield Cause(f"{twice}:{narrow}", role), mistake(to_types(*names), read)
        yield Cause(ending("x-cut-off-to-bfloat16", goal), role), mistake(to_types(*names), cut_first(8))


def writes() -> Iterator[tuple[Cause, Mistake]]:
    for key, role, write in FLOAT8_WRITES:
        yield Cause(key, role), mistake(to_types(*FLOAT8, write=write))
    for key, role, write in FLOAT4_WRITES:
        yield Cause(key, role), mistake(to_types(*FLOAT4, write=write))
    for key, role, write in (*POWER_WRITES, *WHOLE_WRITES):
        yield Cause(key, role), mistake(write)


def sources() -> Iterator[tuple[Cause, Mistake]]:
    for key, read in SOURCES:
        yield Cause(key, "exact"), mistake(to_output, read)
    for role, goal, names in (("float8", "", FLOAT8), ("up", IN_POWERS, E8M0)):  # others are zero anyway
        yield Cause(ending("flushes-inputs", goal), role), mistake(to_types(*names), subnormals_as_zero)


MISTAKES: tuple[tuple[Cause, Mistake], ...] = (*rounding(), *writes(), *sources())
