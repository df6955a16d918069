"""Numbers of an expression in the arithmetic of a float type, for arrays of scales: every step rounded once.

NumPy's float32 and float16 arithmetic is IEEE 754's; ml_dtypes rounds each bfloat16 step from float32, which has more
than twice its digits, so that rounding twice does no harm (Figueroa 1995).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.proving.scalars import CURVES, LINEAR, MAX, MEAN, Scalar
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE
from tiebreak.golden.problem import Array

NO_CODE = -(1 << 24)  # stands for what Q makes of NaN, which no document says


@dataclass(frozen=True)
class Parameters:
    """A pair: scales (an array or a number), a zero point, and the least and the greatest code."""

    scale: Any
    zero_point: int
    lowest: int
    highest: int


@dataclass
class Evaluation:
    """Values of scalars for given operands and pairs, each computed once. Codes are int32, others of type `real`."""

    real: str
    pairs: Mapping[str, Parameters]
    known: dict[Scalar, Any]

    def of(self, number: Scalar) -> Any:
        if number not in self.known:
            self.known[number] = self.apply(number, [self.of(one) for one in number.inputs])
        return self.known[number]

    def apply(self, number: Scalar, values: list[Any]) -> Any:
        if number.operation == QUANTIZE:
            return self.quantized(values[0], self.pairs[number.pair])
        if number.operation == DEQUANTIZE:
            return self.dequantized(values[0], self.pairs[number.pair])
        kind = numpy_dtype(self.real).type
        if number.operation == "Clip":
            low, high = (kind(one) for one in number.numbers)
            return np.minimum(np.maximum(values[0], low), high)
        return STEPS[number.operation](kind, *values)

    def quantized(self, value: Any, pair: Parameters) -> Array:
        bounded = np.asarray(value / pair.scale)  # from here on in the memory of the quotients
        bounded = np.rint(bounded, out=bounded).astype(np.float32, copy=False)
        least, most = np.float32(pair.lowest - pair.zero_point), np.float32(pair.highest - pair.zero_point)
        np.minimum(np.maximum(bounded, least, out=bounded), most, out=bounded)
        if np.isnan(bounded).any():
            bounded[np.isnan(bounded)] = NO_CODE
        codes: Array = bounded.astype(np.int32)
        codes += np.int32(pair.zero_point)
        return codes

    def dequantized(self, code: Any, pair: Parameters) -> Array:
        difference = np.asarray(code) - np.int32(pair.zero_point)
        return np.asarray(difference.astype(numpy_dtype(self.real)) * pair.scale)


STEPS: dict[str, Callable[..., Any]] = {
    "Relu": lambda kind, x: np.maximum(x, kind(0)),
    "Add": lambda kind, a, b: a + b,
    "Sub": lambda kind, a, b: a - b,
    "Mul": lambda kind, a, b: a * b,
    MAX: lambda kind, a, b: np.maximum(a, b),
    MEAN: lambda kind, a, b: (a + b) / kind(2),
    LINEAR: lambda kind, a, b: kind(0.75) * a + kind(0.25) * b,
}


def is_computed(number: Scalar) -> bool:
    """Whether every step of it is one of arithmetic; curves are none."""
    return not any(part.operation in CURVES for part in number.parts())
