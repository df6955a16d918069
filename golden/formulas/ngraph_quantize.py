"""ngraph.Quantize, and the onnx.QuantizeLinear nodes that are the same function.

    output[i] = round(input[i] / scale[j]) + zero_point[j]

Three steps: a quotient, round, and a sum of integers. Working precision rounds the quotient once to the input's own
type, as a division in that type does; the other two are exact in both forms. Source: nGraph documentation,
ops/quantize.rst; ONNX QuantizeLinear-21.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import lru_cache

import numpy as np

from tiebreak.golden.elements import FloatType, IntegerType, Real, decode, encode
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, UNDEFINED, Array, Quantization
from tiebreak.golden.rounding import ROUND_MODES


def quotient(x: int, scale: int, real: FloatType, *, working: bool) -> Real | None:
    """input / scale of two bit patterns: a Fraction, ±inf if it overflows in working precision, None if undefined."""
    numerator, denominator = decode(x, real), decode(scale, real)
    if not isinstance(numerator, Fraction) or not isinstance(denominator, Fraction) or denominator == 0:
        return None  # NGQ-U2, NGQ-U3, NGQ-U4, ONQ-U1, ONQ-U2, ONQ-U3
    exact = numerator / denominator  # NGQ-F1, ONQ-F1
    return decode(encode(exact, real), real) if working else exact  # ONQ-P1


def quantize_quotient(q: Real | None, zero_point: int, mode: str, quantized: IntegerType) -> tuple[int, int]:
    """round(q) + zero_point as (value, state); a value outside the type's range is replaced by the nearer end."""
    if q is None:
        return 0, UNDEFINED
    if isinstance(q, Fraction):
        rounded = ROUND_MODES[mode](q)  # NGQ-F2, ONQ-F2, ONQ-R1
        result = rounded + zero_point  # NGQ-F3, ONQ-F2
        if quantized.lowest <= result <= quantized.highest:
            return result, IN_RANGE
        q = Fraction(result)
    return (quantized.highest if q > 0 else quantized.lowest), OUT_OF_RANGE  # NGQ-U1, ONQ-C1


def quantize(problem: Quantization, *, working: bool, mode: str | None = None) -> tuple[Array, Array]:
    """(values int64, state uint8) of the input's shape; `mode` replaces the problem's own."""
    mode = mode or problem.mode
    divide = lru_cache(maxsize=4096)(quotient)
    values = np.zeros(problem.x.shape, np.int64)
    state = np.zeros(problem.x.shape, np.uint8)
    for i in itertools.product(*map(range, problem.x.shape)):
        j = tuple(i[axis] for axis in problem.axes)  # NGQ-A1, ONQ-G2: the output coordinate projected onto axes
        q = divide(int(problem.x[i]), int(problem.scale[j]), problem.real, working=working)
        values[i], state[i] = quantize_quotient(q, int(problem.zero_point[j]), mode, problem.quantized)
    return values, state
