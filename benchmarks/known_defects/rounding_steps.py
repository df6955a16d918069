"""The rounding to an integer, in the ways that go wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import NEAREST, Array, Step, in_type, to_integers

TIES = {"ties-away": "away", "ties-up": "up", "ties-down": "down", "ties-zero": "zero", "ties-odd": "odd"} | {
    "ties-even": "even"
}
WHOLE = {"truncates": "trunc", "floors": "floor", "ceils": "ceil"}
OTHER_RULES: dict[str, Callable[[str], str]] = {
    "mode-ignored": lambda rule: "even",
    "up-and-down-swapped": lambda rule: {"up": "down", "down": "up", "ceil": "floor", "floor": "ceil"}.get(rule, rule),
    "infinity-means-up": lambda rule: {"away": "up", "from-zero": "ceil"}.get(rule, rule),
    "zero-means-down": lambda rule: {"zero": "down", "trunc": "floor"}.get(rule, rule),
    "directed-as-nearest": lambda rule: rule if rule in NEAREST else "even",
}
MAGIC = 1.5 * 2.0**23


def rounded(values: Array, rule: str, s: Step, how: How) -> Array:
    """Whole numbers by the rule, or as the defect of this step has them; `s` rounds to the working type."""
    defect = how.get("round", "")
    if defect in TIES:
        return to_integers(values, TIES[defect] if rule in NEAREST else rule)
    if defect in WHOLE:
        return to_integers(values, WHOLE[defect] if rule in NEAREST else rule)
    if defect in OTHER_RULES:
        return to_integers(values, OTHER_RULES[defect](rule))
    return BY_SUMS[defect](values, s) if defect in BY_SUMS and rule in NEAREST else to_integers(values, rule)


def adds_half(values: Array, s: Step) -> Array:
    return np.floor(s(values + 0.5))


def adds_signed_half(values: Array, s: Step) -> Array:
    return np.trunc(s(values + np.copysign(0.5, values)))


def magic(values: Array, s: Step) -> Array:
    """Adds and subtracts 1.5 * 2^23 in float32; right below 2^22."""
    f = in_type("float32")
    return f(f(values + MAGIC) - MAGIC)


def magic_bits(values: Array, s: Step) -> Array:
    """Adds 1.5 * 2^23 in float32 and takes the integer from the bits; right below 2^22."""
    bits = (values + MAGIC).astype(np.float32).view(np.int32).astype(np.int64)
    return (((bits - 0x4B400000 + 2**31) & 0xFFFFFFFF) - 2**31).astype(np.float64)


def to_halves_first(values: Array, s: Step) -> Array:
    return to_integers(np.rint(values * 2) / 2, "away")


BY_SUMS = {
    "adds-half": adds_half,
    "adds-signed-half": adds_signed_half,
    "magic-number": magic,
    "magic-number-bits": magic_bits,
    "halves-first": to_halves_first,
}
