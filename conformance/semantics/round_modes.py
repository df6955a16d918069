"""The facet `round_mode`: how an argument becomes an integer. The nine modes, and sums with a half that are cut off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.semantics import _steps
from tiebreak.conformance.semantics.places import Place, takes_integer_above
from tiebreak.conformance.semantics.precisions import Precision
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN, NEAREST, ROUND_MODES


@dataclass(frozen=True, eq=False)
class SumWithHalf:
    """Rounding by adding a half, in the working precision, and cutting the sum off."""

    half_of: Callable[[Array], Array]
    cut: Callable[[Array], Array]

    def round(self, values: Array, precision: Precision) -> Array:
        dtype = precision.dtype
        total = (values.astype(dtype) + self.half_of(values).astype(dtype)).astype(dtype)
        return self.cut(total.astype(np.float64))


@dataclass(frozen=True, eq=False)
class RoundMode:
    """One of ROUND_MODES, whose name is the id; or, with a `sum`, one that no document asks for."""

    id: str
    sentence: str
    cause: str = ""  # of one of ROUND_MODES: facet_causes.mode_cause
    sum: SumWithHalf | None = None

    @property
    def is_nearest(self) -> bool:
        """Whether it is one of the nine and rounds to nearest."""
        return self.id in NEAREST

    def round(self, values: Array, precision: Precision) -> Array:
        """Whole numbers (float64) of float64 numbers that have a precision; NaN and infinities stay."""
        if self.sum and (self.id, precision.id) not in _steps.SUMS:
            return self.sum.round(values, precision)
        number = _steps.SUMS[self.id, precision.id] if self.sum else _steps.MODES[self.id]
        flat = np.ascontiguousarray(values, np.float64).reshape(-1)
        return _steps.rounded(flat, number).reshape(values.shape)

    def round_place(self, place: Place) -> Array:
        """As round, by one of the nine modes, of numbers that float64 does not hold."""
        below, rest, value = place
        return np.asarray(np.where(np.isfinite(value), below + takes_integer_above(below, rest, self.id), value))


def plain_half(values: Array) -> Array:
    return np.full(values.shape, 0.5)


def signed_half(values: Array) -> Array:
    return np.copysign(0.5, values)


WORDS = {
    "ROUND_NEAREST_TOWARD_INFINITY": "to nearest, ties away from zero",
    "ROUND_NEAREST_TOWARD_ZERO": "to nearest, ties toward zero",
    "ROUND_NEAREST_UPWARD": "to nearest, ties up",
    "ROUND_NEAREST_DOWNWARD": "to nearest, ties down",
    EVEN: "to nearest, ties to even",
    "ROUND_TOWARD_INFINITY": "away from zero",
    "ROUND_TOWARD_ZERO": "toward zero: truncation, a cast to an integer",
    "ROUND_UP": "up: ceil",
    "ROUND_DOWN": "down: floor",
}
MODES = {name: RoundMode(name, WORDS[name]) for name in ROUND_MODES}
FLOOR = RoundMode(
    "floor-of-half-more",
    "floor(q + 0.5), the sum rounded in the working precision",
    "floor-of-half-more",
    SumWithHalf(plain_half, np.floor),
)
TRUNCATE = RoundMode(
    "adds-half-and-truncates",
    "a cast of q + 0.5 to an integer, the sum rounded in the working precision",
    "adds-half-and-truncates",
    SumWithHalf(plain_half, np.trunc),
)
AWAY = RoundMode(
    "half-added-to-magnitude",
    "0.5 added to the magnitude in the working precision, then truncation",
    "half-added-to-magnitude",
    SumWithHalf(signed_half, np.trunc),
)
EVERY = (*MODES.values(), FLOOR, TRUNCATE, AWAY)
NEVER_NEGATIVE = (  # on numbers that are never negative, every other mode equals one of these
    MODES[EVEN],
    MODES["ROUND_NEAREST_TOWARD_INFINITY"],
    MODES["ROUND_NEAREST_TOWARD_ZERO"],
    MODES["ROUND_UP"],
    MODES["ROUND_DOWN"],
    FLOOR,
)
