"""tflite.Requantize: from one scale and zero point to another, in real numbers or with integers alone.

    nearest    round((q - z) * s / s') + z'
    single     ((q - z) * m + half) >> (31 - shift), where s / s' = m * 2^(shift - 31)
    double     the same in two steps, each of which rounds: the product by 2^31, then by 2^-shift

Then the zero point z' is added, and the sum saturated. Working precision rounds the difference, the ratio and their
product to float32; the ways with integers have none. Sources: LiteRT's 8-bit quantization specification; of the
kernels quantization_util.cc, common.cc and requantize.h; gemmlowp's fixedpoint.h.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType, Real, decode, encode, exponent_of, scaled
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_integer
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import nearest_toward_infinity, nearest_upward

BITS = 31  # of the multiplier
LEAST, MOST = -31, 30  # shifts
WORD, DOUBLE = INTEGER_TYPES["int32"], FLOAT_TYPES["float64"]


def requantize(s: Steps, p: Elementwise, x: Real, s_in: Real, z_in: Real, s_out: Real, z_out: Real) -> Result:
    scale, other = finite(s_in, s_out)  # TLR-U3
    if min(scale, other) <= 0:
        raise UndefinedResult  # TLR-U3
    (difference, zero_point) = finite(x - z_in, z_out)
    assert isinstance(p.result, IntegerType)
    rounding = p.constants["rounding"]
    if rounding == "nearest":
        product = s(s(difference) * s(scale / other))  # TLR-F1, TLR-F5
        return to_integer(s.round(product) + zero_point, p.result)  # TLR-R1, TLR-C1
    number = WAYS[rounding](word(difference), *multiplier_of(scale / other))
    return to_integer(Fraction(word(number + zero_point)), p.result)  # TLR-C1


def multiplier_of(ratio: Fraction) -> tuple[int, int]:
    """The ratio as a whole number of 31 bits and a shift: multiplier * 2^(shift - 31)."""
    quotient = Fraction(decode(encode(ratio, DOUBLE), DOUBLE))  # TLR-F2
    shift = exponent_of(quotient) + 1
    multiplier = nearest_toward_infinity(quotient * scaled(1, BITS - shift))  # TLR-F2
    if multiplier == 1 << BITS:
        multiplier, shift = multiplier // 2, shift + 1
    return (multiplier, shift) if shift >= LEAST else (0, 0)  # TLR-F3


def single(number: int, multiplier: int, shift: int) -> int:
    if shift > MOST:
        multiplier, shift = (1 << BITS) - 1, MOST  # TLR-F4
    return word(nearest_upward(number * multiplier * scaled(1, shift - BITS)))  # TLR-R2


def double(number: int, multiplier: int, shift: int) -> int:
    if shift > MOST:
        raise UndefinedResult  # TLR-U4
    shifted = word(number << max(shift, 0))
    high = nearest_upward(shifted * multiplier * scaled(1, -BITS))  # TLR-R3
    return nearest_toward_infinity(high * scaled(1, min(shift, 0)))  # TLR-R4


def word(value: Fraction | int) -> int:
    """A whole number that int32 holds."""
    if not WORD.lowest <= value <= WORD.highest:
        raise UndefinedResult  # TLR-U4
    return math.floor(value)


WAYS = {"single": single, "double": double}
FORMULAS = {"tflite.Requantize": requantize}
