"""Usual mistakes of a cast to float8_e8m0fnu, whose values are powers of two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from tiebreak.conformance.operators.onnx_cast_steps import (
    POWERS,
    Upward,
    Write,
    at_ends,
    power_mode,
    powers_saturate,
    to_powers,
)
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import E8M0
from tiebreak.golden.operators.onnx_cast import DOWN, NEAREST, UP
from tiebreak.golden.problem import Array

OTHER_POWERS: Mapping[str, Upward] = {
    "up": POWERS[UP],
    "down": POWERS[DOWN],
    "to nearest, halfway up,": POWERS[NEAREST],
    "to nearest, halfway down,": lambda significand, exponent: significand > 1.5,
    "to nearest, halfway to an even code,": lambda s, exponent: (s > 1.5) | ((s == 1.5) & (exponent % 2 == 0)),
    "to the nearest exponent": lambda significand, exponent: significand**2 >= 2,
    "up, powers of two themselves too,": lambda significand, exponent: significand >= 1,
}


def only_where(test: Callable[[Node], bool], write: Write) -> Write:
    """A write for casts to float8_e8m0fnu of nodes that pass a test."""

    def run(node: Node, values: Array) -> Array:
        if node.output_type not in E8M0 or not test(node):
            raise NotImplementedError
        return write(node, values)

    return run


def in_mode(mode: str, write: Write) -> Write:
    return only_where(lambda node: power_mode(node) == mode, write)


def tabled_ends(saturate: bool, write: Write) -> Write:
    """A write for nodes with this value of saturate."""
    return only_where(lambda node: powers_saturate(node) == saturate, write)


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


def power_steps() -> Iterator[tuple[str, str, Write]]:
    for mode in (UP, DOWN, NEAREST):
        for other, upward in OTHER_POWERS.items():
            if upward is not POWERS[mode]:
                key = f"power-rounds:{other} where round_mode is {mode}"
                yield key, mode, in_mode(mode, partial(to_powers, upward=upward))


# One rounding in all modes. It is right in the mode that asks for it, if one does.
IGNORED_MODES: tuple[tuple[str, str, Write], ...] = tuple(
    (f"power-mode-ignored:{words.rstrip(',')}", "power", partial(to_powers, upward=upward))
    for words, upward in OTHER_POWERS.items()
)


POWER_WRITES: tuple[tuple[str, str, Write], ...] = (
    *power_steps(),
    ("power-of-field", "power", by_field),
    ("power-of-field:infinity saturates", "power", partial(by_field, infinite=True)),
    ("power-of-field:but zero is NaN", "power-unsaturated", field_but_zero),
    ("power-of-field:within the range", "power", field_within),
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
    ("power-one-more", "power", partial(to_powers, moved=1)),
    ("power-one-less", "power", partial(to_powers, moved=-1)),
)
