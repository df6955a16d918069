"""The facets of round(x / scale) + zero_point as black boxes compute it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics import quantize_saturation, quantize_scaling, round_modes, subnormals
from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.precisions import PRECISIONS, Precision
from tiebreak.conformance.semantics.quantize_saturation import Saturation
from tiebreak.conformance.semantics.quantize_scaling import Scaling
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.conformance.semantics.subnormals import Subnormals
from tiebreak.golden.problem import Array


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
        nothing = np.zeros_like(zero_point)
        return (zero_point, nothing) if self.first else (nothing, zero_point)


AFTER = Order("after-rounding", "added to the rounded quotient, as an integer")
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


FACETS = (
    Facet("precision", PRECISIONS),
    Facet("scaling", quantize_scaling.EVERY),
    Facet("subnormals", subnormals.EVERY),
    Facet("zero_point", (AFTER, BEFORE, WIDER)),
    Facet("round_mode", round_modes.EVERY),
    Facet("saturation", quantize_saturation.EVERY),
)
