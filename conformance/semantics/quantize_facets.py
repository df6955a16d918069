"""The facets of round(x / scale) + zero_point as black boxes compute it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.semantics import quantize_saturation, quantize_scaling, round_modes, subnormals
from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.places import as_type
from tiebreak.conformance.semantics.precisions import FLOAT16, PRECISIONS, Precision
from tiebreak.conformance.semantics.quantize_saturation import Saturation
from tiebreak.conformance.semantics.quantize_scaling import Scaling, Unscaled
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.conformance.semantics.subnormals import Subnormals
from tiebreak.golden.elements import FLOAT_TYPES, IntegerType
from tiebreak.golden.problem import Array

NOTHING = np.zeros((), np.int64)


@dataclass(frozen=True, eq=False)
class Order:
    """When the zero point is added. `first`: before rounding. `wider`: then in float64."""

    id: str
    sentence: str
    cause: str = ""
    first: bool = False
    wider: bool = False

    def before_and_after(self, zero_point: Array) -> tuple[Array, Array]:
        """The integers that are added before and after rounding."""
        return (zero_point, NOTHING) if self.first else (NOTHING, zero_point)


AFTER = Order("after-rounding", "added to the rounded quotient, as an integer", "zero-point-last")
BEFORE = Order(
    "before-rounding",
    "added to the quotient in the working precision, then rounded",
    "zero-point-first-in-own-type",
    first=True,
)
WIDER = Order(
    "before-rounding-in-float64",
    "added in float64 to the quotient of the working precision, then rounded",
    "zero-point-first-in:float64",
    first=True,
    wider=True,
)


class Combination(NamedTuple):
    """One value of each facet."""

    precision: Precision
    scaling: Scaling
    subnormals: Subnormals
    zero_point: Order
    round_mode: RoundMode
    saturation: Saturation


class UpToRounding(NamedTuple):
    """The values of the facets that say what is rounded; not for an exact quotient, which no type holds."""

    precision: Precision
    scaling: Scaling
    subnormals: Subnormals
    zero_point: Order

    def before_and_after(self, zero_point: Array, quantized: IntegerType) -> tuple[Array, Array]:
        """The integers that are added before and after rounding: to a number of steps the lowest value."""
        if self.scaling.of_range:
            return zero_point, np.asarray(quantized.lowest)
        return self.zero_point.before_and_after(zero_point)

    def argument(self, x: Array, scale: Array, added: Array, quantized: IntegerType) -> Array:
        """The argument of round (float64), `added` being the integer that is added before it, or 0.

        `x` and `scale` have the input's type; `scale` and `added` are scalars, or as long as `x`.
        """
        x, scale = self.subnormals.operands(x, scale, least_normal(self.precision, x.dtype))
        summed = NOTHING if self.zero_point.wider else added
        unscaled = Unscaled(x, scale, summed, self.precision, self.subnormals, quantized)
        value = as_type(self.scaling.argument(unscaled), np.dtype(np.float64))
        return value + added if self.zero_point.wider else value


def least_normal(precision: Precision, dtype: np.dtype[Any]) -> int:
    """The exponent of the smallest operand that is a normal number."""
    return (precision.type if precision is FLOAT16 else FLOAT_TYPES[dtype.name]).emin


FACETS = (
    Facet("precision", PRECISIONS),
    Facet("scaling", quantize_scaling.EVERY),
    Facet("subnormals", subnormals.EVERY),
    Facet("zero_point", (AFTER, BEFORE, WIDER)),
    Facet("round_mode", round_modes.EVERY),
    Facet("saturation", quantize_saturation.EVERY),
)
