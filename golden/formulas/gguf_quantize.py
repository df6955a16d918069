"""gguf.Quantize: a float16 scale for each block, and its numbers as integers.

    Q8_0:  d = amax / 127     element = round(x * (1 / d)), ties away from zero
    Q4_0:  d = amax / -8      element = min(trunc(x * (1 / d) + 8.5), 15)
    scale = float16(d)        amax: the block's number of greatest magnitude, whose sign only Q4_0 keeps

Exactly, x * (1 / d) is x / d. Working precision rounds each step to float32. Whether d is zero, and whether its
reciprocal is a number, is asked of the float32 that the document has in either form. Source: ggml, ggml-quants.c.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.golden.elements import FLOAT_TYPES, FloatType, IntegerType, Real, decode, encode
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_integer, to_real
from tiebreak.golden.problem import IN_RANGE, Elementwise
from tiebreak.golden.rounding import nearest_toward_infinity

FLOAT32 = FLOAT_TYPES["float32"]


def elements(s: Steps, p: Elementwise, x: Real, amax: Real) -> Result:
    value, greatest = finite(x, amax)  # GGQ-U1
    assert isinstance(p.result, IntegerType)
    product = s(value * inverse(s, step(p, greatest)))  # GGQ-F3
    if p.constants["divisor"] > 0:
        return nearest_toward_infinity(Fraction(product)), IN_RANGE  # GGQ-R1
    total = s(product + Fraction(17, 2))  # GGQ-F5
    return to_integer(Fraction(math.trunc(total)), p.result)  # GGQ-R2, GGQ-C1


def scales(s: Steps, p: Elementwise, amax: Real) -> Result:
    (greatest,) = finite(amax)  # GGQ-U1
    assert isinstance(p.result, FloatType)
    return to_real(s(step(p, greatest)), p.result)  # GGQ-F6, GGQ-R3, GGQ-U4


def step(p: Elementwise, greatest: Fraction) -> Fraction:
    """The scale d before any rounding."""
    divisor: int = p.constants["divisor"]
    if divisor > 0:
        return abs(greatest) / divisor  # GGQ-F1
    return greatest / divisor  # GGQ-F2


def inverse(s: Steps, step: Fraction) -> Fraction:
    """What stands for 1 / d. UndefinedResult where that is beyond float32."""
    single = Fraction(decode(encode(step, FLOAT32), FLOAT32))
    if not single:
        return Fraction(0)  # GGQ-F4
    if encode(abs(1 / single), FLOAT32) >= FLOAT32.infinity_bits:
        raise UndefinedResult  # GGQ-U3
    return Fraction(s(1 / Fraction(s(step))))  # GGQ-F3


ID = "gguf.Quantize"
FORMULAS = {ID: elements, f"{ID}:scales": scales}
