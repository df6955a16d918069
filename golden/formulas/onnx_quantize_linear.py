"""onnx.QuantizeLinear: y = saturate(round_half_to_even(x / y_scale) + y_zero_point), and its float 8 and float 4 forms.

Working precision: x and y_scale are converted to the division's type and the quotient is rounded to it. Sources: ONNX
QuantizeLinear-10 to -25; for float 8 and float 4 outputs the tables of Cast and of technical/float4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from tiebreak.golden.elements import INTEGER_TYPES, FloatType, IntegerType, Real, encode, encode_saturated
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, divide, finite, to_integer
from tiebreak.golden.problem import IN_RANGE, ZERO, Elementwise


def quantize_linear(s: Steps, p: Elementwise, x: Real, scale: Real, zero_point: Real) -> Result:
    if s.kind is None or p.constants["division"]:
        return quantized(s, p, x, quotient(s, x, scale), zero_point)
    numbers, *others = (quantized(s, p, x, q, zero_point) for q in readings(s, p, x, scale))
    if any(code != numbers[0] for code, _ in others):
        raise UndefinedResult
    return numbers


def quotient(s: Steps, x: Real, scale: Real) -> Real:
    """x / scale; of a NaN or infinite x what IEEE 754 says, of such a scale nothing."""
    return s(divide(s(x), s(*finite(scale))))


def quantized(s: Steps, p: Elementwise, x: Real, q: Real, zero_point: Real) -> Result:
    """The result of x for its quotient q."""
    if isinstance(p.result, FloatType):
        if zero_point != 0:
            raise UndefinedResult
        return to_small_float(q, p.result, saturate=p.constants["saturate"])
    (offset,) = finite(zero_point)
    finite(x)
    return to_integer(s.round(q) + offset, p.result)


def readings(s: Steps, p: Elementwise, x: Real, scale: Real) -> Iterator[Real]:
    """What x / y_scale may mean where its type is int32 or float8_e8m0fnu; a result on which all agree is the result.

    The quotient of the numbers, in float32 (which `s` rounds to), in x's own type, and a division of integers.
    """
    own = p.kinds[0] if isinstance(p.kinds[0], FloatType) else p.working
    for steps in (Steps(None, s.mode), s, Steps(own, s.mode)):
        yield quotient(steps, x, scale)
    if isinstance(p.kinds[1], IntegerType):
        yield from of_integers(*finite(x, scale))


def of_integers(x: Fraction, scale: Fraction) -> Iterator[Fraction]:
    """The quotient truncated, as in C, and floored, as in Python; UndefinedResult beyond int32."""
    q, kind = divide(x, scale), INTEGER_TYPES["int32"]
    if not all(kind.lowest <= value <= kind.highest for value in (x, q)):
        raise UndefinedResult
    yield from (Fraction(math.trunc(q)), Fraction(math.floor(q)))


def to_small_float(value: Real, kind: FloatType, *, saturate: bool) -> Result:
    """By Cast's tables: ends at the largest value, or beyond it becomes NaN (infinite, if the type can be)."""
    if isinstance(value, Fraction):
        bits = encode_saturated(value, kind) if saturate else encode(value, kind)
        return (bits, IN_RANGE) if value else (0, ZERO)
    sign = 0 if math.isnan(value) or value > 0 else 1 << (kind.bits - 1)
    if kind.specials == "none" or (saturate and math.isinf(value)):
        if math.isnan(value):
            raise UndefinedResult
        return kind.largest_bits | sign, IN_RANGE
    if kind.specials == "ieee" and math.isinf(value):
        return kind.infinity_bits | sign, IN_RANGE
    assert kind.nan_bits is not None
    return kind.nan_bits, IN_RANGE
