"""The steps of the codes that NaN and infinities have, as values of the facets of special_ends.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.conformance.emulators.saturation_steps import TypeEnds
from tiebreak.conformance.emulators.steps import Computed, constant, step, where
from tiebreak.conformance.semantics.special_ends import SpecialEnd
from tiebreak.golden.elements import FLOAT_TYPES, numpy_dtype

ZERO, ONE = constant(0), constant(1)


def special_code(end: SpecialEnd, zero_point: Computed, ends: TypeEnds) -> Computed:
    """The code as a float64, of the zero point as a float64."""
    return CODES[end.id](zero_point, ends)


CODES: Mapping[str, Callable[[Computed, TypeEnds], Computed]] = {
    "lowest": lambda zero_point, ends: ends.lowest,
    "lowest-but-one": lambda zero_point, ends: ends.lowest + ONE,
    "highest": lambda zero_point, ends: ends.highest,
    "zero": lambda zero_point, ends: ZERO,  # every range holds it
    "zero-point": lambda zero_point, ends: zero_point,
    "zero-point-but-lowest": lambda zero_point, ends: step("maximum", zero_point, ends.lowest + ONE),
    "int32": lambda zero_point, ends: where(zero_point >= ZERO, ends.lowest, ends.highest),
    "highest-before-zero-point": lambda zero_point, ends: step("minimum", ends.highest + zero_point, ends.highest),
    "lowest-before-zero-point": lambda zero_point, ends: step("maximum", ends.lowest + zero_point, ends.lowest),
    "highest-before-zero-point-then-wrap": lambda zero_point, ends: ends.wrap(ends.highest + zero_point),
    "lowest-before-zero-point-then-wrap": lambda zero_point, ends: ends.wrap(ends.lowest + zero_point),
}


def first_seen(seen: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """What NaN and infinities gave, by facet; those alone that have an answer."""
    return {name: values[0] for name, values in seen.items() if values}


def is_special(name: str, x: Computed) -> Computed:
    """Whether x is a NaN or the infinity that a special facet is about."""
    if name == "nan":
        return step("is_nan", x)
    return step("equal", x, constant(np.inf if name == "positive_infinity" else -np.inf, x.type))


def as_largest(x: Computed, negative: Mapping[str, bool]) -> Computed:
    """x, but for these special facets the largest finite number, or its negative."""
    real = FLOAT_TYPES[x.type]
    largest = float(np.array([real.largest_bits], f"uint{real.bits}").view(numpy_dtype(x.type))[0])
    for name, below in negative.items():
        x = where(is_special(name, x), constant(-largest if below else largest, x.type), x)
    return x


def with_results(result: Computed, x: Computed, specials: Mapping[str, Computed]) -> Computed:
    """The result, but what the special facets have for a special x."""
    for name, value in specials.items():
        result = where(is_special(name, x), value, result)
    return result
