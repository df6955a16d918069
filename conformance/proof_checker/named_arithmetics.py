"""Arithmetics of round(x / scale) + zero_point by name, computed in NumPy, and where their codes change.

The names are those of docs/audit.md: `divide in float32`, `reciprocal in float64, ROUND_UP`, `exact`. This checker
knows division, reciprocals, the nine modes of rounding, and the zero point after or before rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.proof_checker.evaluation import DTYPES, Values, floats_of, infinity_of, quotients
from tiebreak.conformance.proof_checker.refusal import require

SCALINGS = ("divide", "reciprocal", "narrow-reciprocal")
AFTER, BEFORE, IN_FLOAT64 = ORDERS = ("after-rounding", "before-rounding", "before-rounding-in-float64")
EVEN = "ROUND_NEAREST_TOWARD_EVEN"


def upward(value: Values) -> Values:
    """To nearest, ties up. The subtraction is exact but for numbers from -1/2 to 0, for which it gives 1/2 or more."""
    return np.asarray(np.floor(value) + (value - np.floor(value) >= 0.5))


MODES: Mapping[str, Callable[[Values], Values]] = {
    EVEN: np.rint,
    "ROUND_NEAREST_UPWARD": upward,
    "ROUND_NEAREST_DOWNWARD": lambda value: -upward(-value),
    "ROUND_NEAREST_TOWARD_INFINITY": lambda value: np.sign(value) * upward(np.abs(value)),
    "ROUND_NEAREST_TOWARD_ZERO": lambda value: -np.sign(value) * upward(-np.abs(value)),
    "ROUND_UP": np.ceil,
    "ROUND_DOWN": np.floor,
    "ROUND_TOWARD_ZERO": np.trunc,
    "ROUND_TOWARD_INFINITY": lambda value: np.sign(value) * np.ceil(np.abs(value)),
}


@dataclass(frozen=True)
class CheckedArithmetic:
    """The scaling, the type of its steps or "exact", when the zero point is added, and how it rounds."""

    scaling: str
    precision: str
    order: str
    mode: str

    @property
    def inverts(self) -> bool:
        """Whether 1 / scale is rounded to float32."""
        return self.scaling == "narrow-reciprocal" or (self.scaling == "reciprocal" and self.precision == "float32")

    def before_and_after(self, zero_point: int) -> tuple[int, int]:
        """What is added before and after rounding."""
        return (0, zero_point) if self.order == AFTER else (zero_point, 0)

    @np.errstate(all="ignore")
    def codes(self, x: Values, scales: Values, zero_point: int) -> Values:
        """Codes, unclamped, in float64; each step is rounded to the precision. An infinite 1 / scale takes 0 to 0."""
        before, after = self.before_and_after(zero_point)
        if self.precision == "exact":
            quotient = quotients(x, scales)
        else:
            kind = DTYPES[self.precision]
            divisor = scales if self.scaling == "narrow-reciprocal" else scales.astype(kind)
            wide, inverse = x.astype(kind), (np.ones((), divisor.dtype) / divisor).astype(kind)
            quotient = wide / divisor if self.scaling == "divide" else wide * inverse
            if before and self.order == BEFORE:
                quotient, before = quotient + np.asarray(before).astype(kind), 0
        value = quotient.astype(np.float64) + before
        value = np.where(np.isnan(value) & (x == 0), self.before_and_after(zero_point)[0], value)
        return np.asarray(MODES[self.mode](value) + after)

    def thresholds(self, codes: Values, zero_point: int) -> Values:
        """Where a real quotient gets more than each code."""
        before, after = self.before_and_after(zero_point)
        below = codes.astype(np.float64) - after
        quarter, half, more = (MODES[self.mode](below + part) > below for part in (0.25, 0.5, 0.75))
        return np.asarray(below + np.where(quarter, 0.0, np.where(half | more, 0.5, 1.0)) - before)

    def least_inputs(self, real: str, codes: Values, scales: Values, zero_point: int) -> Values:
        """Ordinals of the least inputs with more than each code (rows), for each scale; beyond infinity if none has.

        A code never falls as the input grows. They are looked for around where a real quotient passes: in ever wider
        steps, then by halving. NaN, which is beyond both infinities, has no code.
        """
        beyond, wide = infinity_of(real) + 1, np.broadcast_to(scales, (len(codes), len(scales)))

        def passing(counted: Values) -> Values:
            return np.asarray(self.codes(inputs_of(counted, real), wide, zero_point) > codes)

        with np.errstate(all="ignore"):
            guess = (self.thresholds(codes, zero_point) * scales.astype(np.float64)).astype(DTYPES[real])
        low = high = ordinals(guess)
        for step in (4, 1 << 8, 1 << 16, 2 * beyond):
            low_passes, high_fails = passing(low), ~passing(high) & (high < beyond)
            low = np.where(low_passes, np.maximum(low - step, -beyond), low)
            high = np.where(high_fails, np.minimum(high + step, beyond), high)
            if not (low_passes | high_fails).any():
                break
        while (high - low > 1).any():
            middle = (low + high) // 2
            passes = passing(middle)
            low, high = np.where(passes, low, middle), np.where(passes, middle, high)
        return high


def arithmetic_of(name: str) -> CheckedArithmetic:
    """The arithmetic of a name. ProofRefused if this checker does not know it."""
    first, *others = (part.strip() for part in name.split(","))
    scaling, _, precision = ("divide", "", "exact") if first == "exact" else first.partition(" in ")
    known = first == "exact" or (scaling in SCALINGS and precision in DTYPES)
    orders, modes = ([one for one in others if one in some] for some in (ORDERS, MODES))
    known = known and len(orders) + len(modes) == len(others) and len(orders) < 2 and len(modes) < 2
    require(known, f"not recounted: this checker does not know the arithmetic {name}")
    return CheckedArithmetic(scaling, precision, (orders or [AFTER])[0], (modes or [EVEN])[0])


def ordinals(values: Values) -> Values:
    """Floats counted from 0 in both directions."""
    bits = values.view(f"u{values.dtype.itemsize}").astype(np.int64)
    sign = 1 << (8 * values.dtype.itemsize - 1)
    return np.asarray(np.where(bits >= sign, -(bits - sign), bits))


def inputs_of(counted: Values, real: str) -> Values:
    """The floats that ordinals count; NaN beyond infinity."""
    return floats_of(np.where(counted < 0, (1 << 8 * DTYPES[real].itemsize - 1) - counted, counted), real)
