"""onnx.QuantizeLinear: the nodes that ngraph_quantize.py does not cover, such as blocks, int32 x and small floats.

    y = saturate(round_half_to_even(x / y_scale) + y_zero_point)     to an integer
    y = the quotient x / y_scale rounded to y's type                 to a float 8, float 6 or float 4

Working precision converts x and y_scale to the division's type and rounds the quotient to it; what follows is exact.
Sources: ONNX QuantizeLinear-10 to -28; for small float outputs the tables of Cast, technical/float4 and float6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from tiebreak.golden.elements import INTEGER_TYPES, FloatType, IntegerType, Real, encode, encode_saturated
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, divide, finite, to_integer
from tiebreak.golden.problem import IN_RANGE, ZERO, Elementwise


def quantize_linear(s: Steps, p: Elementwise, x: Real, y_scale: Real, y_zero_point: Real) -> Result:
    if s.kind is None or p.constants["division"]:
        return quantized(s, p, x, quotient(s, x, y_scale), y_zero_point)
    numbers, *others = (quantized(s, p, x, q, y_zero_point) for q in readings(s, p, x, y_scale))
    if any(code != numbers[0] for code, _ in others):
        raise UndefinedResult  # ONQ-U5
    return numbers


def quotient(s: Steps, x: Real, y_scale: Real) -> Real:
    """x / y_scale; a NaN or infinite x follows IEEE 754, a NaN or infinite y_scale is undefined."""
    (scale,) = finite(y_scale)  # ONQ-U1, ONQ-U2, ONQ-U8
    numerator, denominator = s(x), s(scale)  # ONQ-P1, ONQ-P2
    return s(divide(numerator, denominator))  # ONQ-F1, ONQ-U3


def quantized(s: Steps, p: Elementwise, x: Real, q: Real, y_zero_point: Real) -> Result:
    """The result of x for its quotient q."""
    if isinstance(p.result, FloatType):
        if y_zero_point != 0:
            raise UndefinedResult  # ONQ-U4
        saturate = p.constants["saturate"] and not (isinstance(q, float) and p.constants["infinity_is_nan"])  # ONQ-E5
        return to_small_float(q, p.result, saturate=saturate)
    (zero_point,) = finite(y_zero_point)
    finite(x)  # ONQ-U1, ONQ-U2
    rounded = s.round(q)  # ONQ-F2, ONQ-R1
    return to_integer(rounded + zero_point, p.result)  # ONQ-F2, ONQ-C1, ONQ-C2


def readings(s: Steps, p: Elementwise, x: Real, y_scale: Real) -> Iterator[Real]:
    """The possible meanings of x / y_scale where its type is int32 or float8_e8m0fnu; a result needs all to agree.

    The quotient of the numbers, in float32 (which `s` rounds to), in x's own type, and a division of integers.
    """
    own = p.kinds[0] if isinstance(p.kinds[0], FloatType) else p.working
    for steps in (Steps(None, s.mode), s, Steps(own, s.mode)):
        yield quotient(steps, x, y_scale)
    if isinstance(p.kinds[1], IntegerType):
        yield from of_integers(*finite(x, y_scale))


def of_integers(x: Fraction, y_scale: Fraction) -> Iterator[Fraction]:
    """The quotient truncated, as in C, and floored, as in Python; UndefinedResult beyond int32."""
    q, kind = divide(x, y_scale), INTEGER_TYPES["int32"]
    if not all(kind.lowest <= value <= kind.highest for value in (x, q)):
        raise UndefinedResult
    yield from (Fraction(math.trunc(q)), Fraction(math.floor(q)))


def to_small_float(q: Real, kind: FloatType, *, saturate: bool) -> Result:
    """Cast's tables: beyond the largest value q becomes that value if `saturate`, else NaN or an infinity."""
    if isinstance(q, Fraction):
        rounded = encode_saturated if saturate else encode  # ONQ-E2, ONQ-E3
        return (rounded(q, kind), IN_RANGE) if q else (0, ZERO)  # ONQ-E1, ONQ-E6, ONQ-E7, ONQ-E8, ONQ-U6
    sign = 0 if math.isnan(q) or q > 0 else 1 << (kind.bits - 1)
    if kind.specials == "none" or (saturate and math.isinf(q)):
        if math.isnan(q):
            raise UndefinedResult  # ONQ-U7
        return kind.largest_bits | sign, IN_RANGE  # ONQ-E2, ONQ-E5, ONQ-E6, ONQ-E8
    if kind.specials == "ieee" and math.isinf(q):
        return kind.infinity_bits | sign, IN_RANGE  # ONQ-E3, ONQ-E5
    assert kind.nan_bits is not None
    return kind.nan_bits, IN_RANGE  # ONQ-E3, ONQ-E4, ONQ-E5


FORMULAS = {"onnx.QuantizeLinear": quantize_linear}
