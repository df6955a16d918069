"""Terms in the arithmetic of a float type, for arrays of scales, in NumPy: every step is rounded once.

NumPy's float32 and float16 steps are IEEE 754's. ml_dtypes computes a bfloat16 step in float32 and rounds it again,
which gives the same, as float32 has more than twice the digits (Figueroa 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tiebreak.conformance.proof_checker.refusal import ProofRefused
from tiebreak.conformance.proof_checker.terms import Term

Values = NDArray[Any]
DTYPES: dict[str, np.dtype[Any]] = {
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}
# Bits of the significand, exponents of the least and of the greatest normal numbers.
FORMATS = {
    "float16": (11, -14, 15),
    "bfloat16": (8, -126, 127),
    "float32": (24, -126, 127),
    "float64": (53, -1022, 1023),
}


def scales_from(first: int, count: int, real: str) -> Values:
    """Scales whose bit patterns follow each other."""
    bits = 8 * DTYPES[real].itemsize
    if not 0 < count <= 1 << 16 or not 0 <= first < first + count <= 1 << bits:
        raise ProofRefused(f"a block of {count} scales from {first} is none: it has 1 to 65536 bit patterns of {real}")
    return np.arange(first, first + count, dtype=np.uint64).astype(f"u{bits // 8}").view(DTYPES[real])


def refuse_flushing() -> None:
    """ProofRefused if this processor's mode takes subnormal numbers for zero."""
    least = np.array([1], np.uint32).view(np.float32)
    if not (least / np.float32(0.5) > least).all():
        raise ProofRefused("this process flushes subnormal numbers: nothing can be tried again in it")


def float_values(term: Term, known: Mapping[str, Values], scales: Values, room: int) -> Values:
    """A term's values; codes are differences from the zero point, as int32.

    Q stops at `room` + 1 steps, which every zero point clamps; what it makes of NaN is -room - 2.
    """
    if not term.operation:
        return known[term.name]
    inner = [float_values(one, known, scales, room) for one in term.inputs]
    if term.operation == "Q":
        return steps_of(inner[0] / scales, room)
    if term.operation == "DQ":
        return np.asarray(inner[0].astype(scales.dtype) * scales)
    kind = scales.dtype.type
    if term.operation == "Clip":
        low, high = (np.asarray(number, scales.dtype) for number in term.numbers)
        return np.asarray(np.minimum(np.maximum(inner[0], low), high))
    steps: dict[str, Callable[..., Any]] = {
        "Relu": lambda a: np.maximum(a, kind(0)),
        "Max": np.maximum,
        "Add": np.add,
        "Sub": np.subtract,
        "Mul": np.multiply,
        "Mean": lambda a, b: (a + b) / kind(2),
        "Linear": lambda a, b: kind(0.75) * a + kind(0.25) * b,
    }
    if term.operation not in steps:
        raise ProofRefused(f"{term.operation} is a curve: its float is not that of every library")
    return np.asarray(steps[term.operation](*inner))


def steps_of(quotients: Values, room: int) -> Values:
    """Quotients rounded to nearest even, bounded."""
    whole = np.rint(quotients).astype(np.float64)
    bounded = np.clip(whole, -room - 1, room + 1)
    return np.asarray(np.where(np.isnan(whole), -room - 2, bounded).astype(np.int32))


def real_steps(values: Values, scales: Values, room: int) -> Values:
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
