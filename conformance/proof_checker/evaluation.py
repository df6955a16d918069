"""Terms in the arithmetic of a float type, or in real arithmetic.

NumPy's float32 and float16 steps are IEEE 754's. ml_dtypes computes a bfloat16 step in float32 and rounds it again,
which gives the same, as float32 has more than twice the digits (Figueroa 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tiebreak.conformance.proof_checker.refusal import require
from tiebreak.conformance.proof_checker.terms import Term

Values = NDArray[Any]
Lift = Callable[[Values], Values]
CODES = {f"uint{bits}": (0, (1 << bits) - 1) for bits in (2, 4, 8, 16)}
CODES |= {f"int{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (2, 4, 8, 16)}
DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in ("float16", "float32", "float64")}
DTYPES["bfloat16"] = np.dtype(ml_dtypes.bfloat16)
# Bits of the significand, exponents of the least and of the greatest normal numbers.
FORMATS = {"float16": (11, -14, 15), "bfloat16": (8, -126, 127), "float32": (24, -126, 127)}
STEPS: Mapping[str, Callable[..., Any]] = {  # `number` makes a constant of the arithmetic
    "Relu": lambda number, a: np.maximum(a, number(0)),
    "Clip": lambda number, a, low, high: np.minimum(np.maximum(a, number(low)), number(high)),
    "Max": lambda number, a, b: np.maximum(a, b),
    "Add": lambda number, a, b: a + b,
    "Sub": lambda number, a, b: a - b,
    "Mul": lambda number, a, b: a * b,
    "Mean": lambda number, a, b: (a + b) / number(2),
    "Linear": lambda number, a, b: number(0.75) * a + number(0.25) * b,
}
FAR = 1 << 20  # beyond every code
TO_EVEN = np.frompyfunc(lambda number: min(max(round(number), -FAR), FAR), 1, 1)
TO_FRACTIONS = np.frompyfunc(Fraction, 1, 1)


class CheckedPair(NamedTuple):
    """A scale, a zero point (an array, or a number), and the least and the greatest code."""

    scale: Values
    zero_point: Any
    lowest: int
    highest: int


def infinity_of(real: str) -> int:
    """The bit pattern of infinity."""
    digits, emin, emax = FORMATS[real]
    return (emax - emin + 2) << (digits - 1)


def floats_of(bits: Values, real: str) -> Values:
    """Floats of bit patterns."""
    return bits.astype(f"u{DTYPES[real].itemsize}").view(DTYPES[real])


as_is: Lift = np.asarray  # for arithmetic that rounds each step to the float type


def in_reals(values: Values) -> Values:
    """For real arithmetic, in which only a Q rounds: Python's fractions."""
    require(np.isfinite(wide := values.astype(np.float64)).all(), "a number of real arithmetic is infinite")
    return np.asarray(TO_FRACTIONS(wide))


@np.errstate(all="ignore")
def value_of(term: Term, known: Mapping[Term, Values], pairs: Mapping[str, CheckedPair], lift: Lift) -> Values:
    """A term's values in the arithmetic of `lift`; codes are int32. A code below the least one stands for NaN's.

    `known` has int32 codes, and floats of the float type, as have scales.
    """
    if not term.operation:
        return known[term] if term.kind in CODES else lift(known[term])
    inner = [value_of(one, known, pairs, lift) for one in term.inputs]
    if term.operation in ("Q", "DQ"):
        scale, zero, lowest, highest = pairs[term.pair]
        scale = lift(scale)
        if term.operation == "DQ":
            return np.asarray((inner[0] - np.int32(zero)).astype(scale.dtype) * scale)
        quotient = inner[0] / scale
        whole = (TO_EVEN if quotient.dtype == object else np.rint)(quotient).astype(np.float64) + zero
        return np.where(np.isnan(whole), lowest - 1, np.clip(whole, lowest, highest)).astype(np.int32)
    require(term.operation in STEPS, f"{term.operation} is a curve: its float is not that of every library")

    def number(one: float) -> Values:
        return lift(np.full(1, one).astype(DTYPES[term.kind]))

    return np.asarray(STEPS[term.operation](number, *inner, *term.numbers))


@np.errstate(all="ignore")
def quotients(x: Values, scales: Values) -> Values:
    """Float64 numbers that lie as the real x / scale does to each multiple of 1/2: on it, or between the same two.

    Scales are positive. NaN stays NaN; what is beyond every code may become another such number. Products of 21 and at
    most 24 bits are exact. Rounding lifts a quotient up to a multiple at most, which the first of them shows.
    """
    twice, wide = 2 * x.astype(np.float64), scales.astype(np.float64)
    halves = np.clip(np.floor(twice / wide), -FAR, FAR)
    halves = halves - (halves * wide > twice)
    return np.asarray(halves / 2 + np.where(halves * wide == twice, 0.0, 0.25))
