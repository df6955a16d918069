"""Arithmetics of round(x / scale) + zero_point by name, computed in NumPy.

The names are those of docs/audit.md: `divide in float32`, `reciprocal in float64, ROUND_UP`, `exact`. This checker
knows division, reciprocals, the nine modes of rounding, and the zero point after or before rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.proof_checker.evaluation import DTYPES, Values
from tiebreak.conformance.proof_checker.refusal import ProofRefused, shortened

SCALINGS = ("divide", "reciprocal", "narrow-reciprocal")
AFTER, BEFORE, IN_FLOAT64 = ORDERS = ("after-rounding", "before-rounding", "before-rounding-in-float64")
EVEN = "ROUND_NEAREST_TOWARD_EVEN"
NEAREST = {  # whether a tie, a number half above `below`, goes up: of its sign and of whether `below` is odd
    EVEN: lambda value, odd: odd,
    "ROUND_NEAREST_TOWARD_INFINITY": lambda value, odd: value > 0,
    "ROUND_NEAREST_TOWARD_ZERO": lambda value, odd: value < 0,
    "ROUND_NEAREST_UPWARD": lambda value, odd: (value > 0) | (value <= 0),
    "ROUND_NEAREST_DOWNWARD": lambda value, odd: (value > 0) & (value <= 0),
}
DIRECTED = {  # whether a number above an integer goes up: of its sign
    "ROUND_UP": lambda value: (value > 0) | (value <= 0),
    "ROUND_DOWN": lambda value: (value > 0) & (value <= 0),
    "ROUND_TOWARD_ZERO": lambda value: value < 0,
    "ROUND_TOWARD_INFINITY": lambda value: value > 0,
}


@dataclass(frozen=True)
class CheckedArithmetic:
    """The scaling, the type of its steps or "exact", when the zero point is added, and how it rounds."""

    scaling: str
    precision: str
    order: str
    mode: str

    def before_and_after(self, zero_point: int) -> tuple[int, int]:
        """What is added before and after rounding."""
        return (0, zero_point) if self.order == AFTER else (zero_point, 0)

    @property
    def inverts(self) -> bool:
        """Whether 1 / scale is rounded to float32."""
        return self.scaling == "narrow-reciprocal" or (self.scaling == "reciprocal" and self.precision == "float32")

    def passes(self, x: Values, scales: Values, codes: Values, zero_point: int) -> Values:
        """Whether each input's code is more than a code; NaN never passes. An infinite 1 / scale takes 0 to 0."""
        before, after = self.before_and_after(zero_point)
        with np.errstate(all="ignore"):
            if self.precision == "exact":
                at, inclusive = self.thresholds(codes - after)
                bounds = (at - before) * scales.astype(np.float64)  # exact: at most 18 and 24 bits
                numbers = x.astype(np.float64)
                return np.asarray((numbers > bounds) | ((numbers == bounds) & inclusive))
            value = self.argument(x, scales, before)
            value = np.where(np.isnan(value) & (x == 0), float(before), value)
            return np.asarray(whole_of(value, self.mode) > codes - after)

    def argument(self, x: Values, scales: Values, before: int) -> Values:
        """What is rounded, in float64; every step is rounded to the precision."""
        kind = DTYPES[self.precision]
        wide = x.astype(kind)
        if self.scaling == "divide":
            quotient = wide / scales.astype(kind)
        else:
            divisor = scales if self.scaling == "narrow-reciprocal" else scales.astype(kind)
            quotient = wide * (np.ones((), divisor.dtype) / divisor).astype(kind)
        if before and self.order == BEFORE:
            quotient = quotient + np.asarray(before).astype(kind)
        return np.asarray(quotient.astype(np.float64) + (before if self.order == IN_FLOAT64 else 0))

    def thresholds(self, codes: Values) -> tuple[Values, Values]:
        """Where a real number becomes more than each code, and whether it does so at that number."""
        below = codes.astype(np.float64)
        quarter, half, more = (whole_of(below + part, self.mode) > below for part in (0.25, 0.5, 0.75))
        at = below + np.where(quarter, 0.0, np.where(half | more, 0.5, 1.0))
        return at, ~quarter & (half | ~more)


def arithmetic_of(name: str) -> CheckedArithmetic:
    """The arithmetic of a name. ProofRefused if this checker does not know it."""
    first, *others = (part.strip() for part in name.split(","))
    scaling, _, precision = ("divide", "", "exact") if first == "exact" else first.partition(" in ")
    known = scaling in SCALINGS and precision in (*DTYPES, "exact") and (first == "exact" or precision != "exact")
    orders, modes = ([one for one in others if one in some] for some in (ORDERS, (*NEAREST, *DIRECTED)))
    if not known or len(orders) + len(modes) != len(others) or len(orders) > 1 or len(modes) > 1:
        raise ProofRefused(f"not recounted: this checker does not know the arithmetic {shortened(name)}")
    return CheckedArithmetic(scaling, precision, (orders or [AFTER])[0], (modes or [EVEN])[0])


def whole_of(values: Values, mode: str) -> Values:
    """Float64 numbers rounded to whole ones; infinities and NaN stay."""
    below = np.floor(values)
    if mode in DIRECTED:
        up = (values > below) & DIRECTED[mode](values)
    else:
        middle = below + 0.5  # exact wherever a number is not whole
        up = (values > middle) | ((values == middle) & NEAREST[mode](values, np.mod(below, 2) == 1))
    return np.asarray(np.where(np.isfinite(values), below + up, values))
