"""ngraph.Quantize and the QuantizeLinear nodes that are the same.

    output[i] = round(input[i] / scale[j]) + zero_point[j]

Working precision: the quotient is rounded once to the input's own type, as a division in that type gives it;
rounding to an integer and adding the integer zero point are exact in both forms. Source: nGraph documentation,
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
    if isinstance(numerator, float) or isinstance(denominator, float) or denominator == 0:
        return None
    exact = numerator / denominator
    return decode(encode(exact, real), real) if working else exact


def quantize_quotient(q: Real | None, zero_point: int, mode: str, quantized: IntegerType) -> tuple[int, int]:
    """round(q) + zero_point as (value, state); a value outside the type's range is replaced by the nearer end."""
    if q is None:
        return 0, UNDEFINED
    if isinstance(q, Fraction):
        result = ROUND_MODES[mode](q) + zero_point
        if quantized.lowest <= result <= quantized.highest:
            return result, IN_RANGE
        q = Fraction(result)
    return (quantized.highest if q > 0 else quantized.lowest), OUT_OF_RANGE


def quantize(problem: Quantization, *, working: bool, mode: str | None = None) -> tuple[Array, Array]:
    """(values int64, state uint8) of the input's shape; `mode` replaces the problem's own."""
    mode = mode or problem.mode
    divide = lru_cache(maxsize=4096)(quotient)
    values = np.zeros(problem.x.shape, np.int64)
    state = np.zeros(problem.x.shape, np.uint8)
    for i in itertools.product(*map(range, problem.x.shape)):
        j = tuple(i[axis] for axis in problem.axes)  # the output coordinate projected onto axes
        q = divide(int(problem.x[i]), int(problem.scale[j]), problem.real, working=working)
        values[i], state[i] = quantize_quotient(q, int(problem.zero_point[j]), mode, problem.quantized)
    return values, state
