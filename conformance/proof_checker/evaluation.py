"""Terms in the arithmetic of a float type, in NumPy, or in real arithmetic, by fractions.

NumPy's float32 and float16 steps are IEEE 754's. ml_dtypes computes a bfloat16 step in float32 and rounds it again,
which gives the same, as float32 has more than twice the digits (Figueroa 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tiebreak.conformance.proof_checker.refusal import ProofRefused, shortened
from tiebreak.conformance.proof_checker.terms import Term

Values = NDArray[Any]
CODES = {f"uint{bits}": (0, (1 << bits) - 1) for bits in (2, 4, 8, 16)}
CODES |= {f"int{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (2, 4, 8, 16)}
DTYPES: dict[str, np.dtype[Any]] = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}
# Bits of the significand, exponents of the least and of the greatest normal numbers.
FORMATS = {"float16": (11, -14, 15), "bfloat16": (8, -126, 127), "float32": (24, -126, 127)}
REALS = set(FORMATS)


@dataclass(frozen=True)
class CheckedPair:
    """A scale (a fraction, or an array of floats), a zero point, and the least and the greatest code."""

    scale: Any
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


def refuse_flushing() -> None:
    """ProofRefused if this processor's mode takes subnormal numbers for zero."""
    least = np.array([1], np.uint32).view(np.float32)
    if not (least / np.float32(0.5) > least).all():
        raise ProofRefused("this process flushes subnormal numbers: nothing can be tried again in it")


def float_value(term: Term, known: Mapping[Term, Values], pairs: Mapping[str, CheckedPair], real: str) -> Values:
    """A term's values, each step rounded; codes are int32. A code less than the least one stands for NaN's."""
    kind = DTYPES[real].type
    if not term.operation:
        return known[term]
    inner = [float_value(one, known, pairs, real) for one in term.inputs]
    if term.operation == "Q":
        pair = pairs[term.pair]
        whole = np.rint(inner[0] / pair.scale).astype(np.float64) + pair.zero_point
        codes = np.clip(whole, pair.lowest, pair.highest)
        return np.asarray(np.where(np.isnan(whole), pair.lowest - 1, codes).astype(np.int32))
    if term.operation == "DQ":
        pair = pairs[term.pair]
        return np.asarray((inner[0] - np.int32(pair.zero_point)).astype(DTYPES[real]) * pair.scale)
    return np.asarray(step_of(term, kind, np.maximum, np.minimum)(*inner))


def real_value(term: Term, known: Mapping[Term, Fraction], pairs: Mapping[str, CheckedPair], real: str) -> Fraction:
    """A term's value in real arithmetic; each Q rounds to nearest even. Numbers of a Clip are of the float type."""
    if not term.operation:
        return known[term]
    inner = [real_value(one, known, pairs, real) for one in term.inputs]
    if term.operation == "Q":
        pair = pairs[term.pair]
        return Fraction(min(max(round(inner[0] / pair.scale) + pair.zero_point, pair.lowest), pair.highest))
    if term.operation == "DQ":
        return Fraction((inner[0] - pairs[term.pair].zero_point) * pairs[term.pair].scale)
    kind = DTYPES[real].type
    found: Fraction = step_of(term, lambda number: Fraction(float(kind(number))), max, min)(*inner)
    return found


def step_of(term: Term, kind: Callable[[float], Any], most: Callable[..., Any], least: Callable[..., Any]) -> Any:
    """What an operation makes of its inputs; `kind` makes a number of its arithmetic."""
    steps: dict[str, Callable[..., Any]] = {
        "Relu": lambda a: most(a, kind(0)),
        "Clip": lambda a: least(most(a, kind(term.numbers[0])), kind(term.numbers[1])),
        "Max": most,
        "Add": lambda a, b: a + b,
        "Sub": lambda a, b: a - b,
        "Mul": lambda a, b: a * b,
        "Mean": lambda a, b: (a + b) / kind(2),
        "Linear": lambda a, b: kind(0.75) * a + kind(0.25) * b,
    }
    if term.operation not in steps:
        raise ProofRefused(f"{shortened(term)} is a curve: its float is not that of every library")
    return steps[term.operation]


def nearest_steps(values: Values, scales: Values, room: int) -> Values:
    """round(value / scale) in real arithmetic, to nearest even, for positive scales; `values` are of the scales' type.

    Twice a value, and an odd multiple of a scale of at most 24 bits, are exact in float64.
    """
    x, s = values.astype(np.float64), scales.astype(np.float64)
    with np.errstate(all="ignore"):
        below = np.clip(np.floor(x / s), -room - 2, room + 2)
    below = np.where(x < below * s, below - 1, below)
    below = np.where(x >= (below + 1) * s, below + 1, below)
    middle = (2 * below + 1) * s
    up = (2 * x > middle) | ((2 * x == middle) & (np.mod(below, 2) == 1))
    return np.asarray(np.clip(below + up, -room - 1, room + 1).astype(np.int32))


def packed(values: Values, room: int) -> Values:
    """As digests have them: codes as little-endian integers, floats as their bits, zeros without a sign."""
    if values.dtype.kind in "iu":
        return np.ascontiguousarray(values, "<i2" if room < 1 << 14 else "<i4")
    return np.ascontiguousarray(values + np.zeros((), values.dtype)).view(f"<u{values.dtype.itemsize}")
