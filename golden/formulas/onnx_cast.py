"""onnx.Cast from and to types of 8 bits and fewer: one number, rounded once.

    output = the input in another element type

There is one step, so working precision is no other result. What differs is how each type rounds and where it ends.
Sources: ONNX Cast-19 to -28, tables and rules; ONNX documentation, technical/float8, float6, float4, int4 and int2.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.golden.elements import (
    FloatType,
    IntegerType,
    Real,
    decode,
    encode,
    encode_saturated,
    exponent_of,
    scaled,
)
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, special, to_integer
from tiebreak.golden.problem import IN_RANGE, ZERO, Elementwise

TABLED = (("up", True), ("nearest", False))  # attributes for which the third table has a column


def cast(s: Steps, p: Elementwise, x: Real) -> Result:
    if isinstance(p.result, IntegerType):
        return to_whole(s, p, p.result, *finite(Fraction(0) if x == 0 else x))  # ONC-U1
    if p.result.specials == "e8m0":
        return to_power_of_two(p, p.result, x)
    return to_wide(p.result, x) if p.result.bits >= 16 else to_small(p, p.result, x)


def to_whole(s: Steps, p: Elementwise, kind: IntegerType, x: Fraction) -> Result:
    if isinstance(p.kinds[0], IntegerType):
        return (int(x) - kind.lowest) % (1 << kind.bits) + kind.lowest, IN_RANGE  # ONC-C8, ONC-F1
    return to_integer(s.round(x), kind)  # ONC-R3, ONC-U1, ONC-U2


def to_wide(kind: FloatType, x: Real) -> Result:
    """A small type's value in a type of 16 bits and more, which holds it: only float16 lacks powers of two."""
    if x == 0:
        return 0, ZERO  # ONC-U6
    if isinstance(x, float):
        return special(x, kind), IN_RANGE  # ONC-F3, ONC-F1
    code = encode(Fraction(x), kind)  # ONC-F2
    if math.isfinite(value := decode(code, kind)) and value != x:
        raise UndefinedResult  # ONC-U7
    return code, IN_RANGE  # ONC-F1


def to_small(p: Elementwise, kind: FloatType, x: Real) -> Result:
    """A float 8, float 6 or float 4: the tables, row by row."""
    negative = math.copysign(1, x) < 0
    sign = 1 << (kind.bits - 1) if negative else 0
    if x == 0:
        return 0 if kind.specials == "fnuz" else sign, IN_RANGE  # ONC-F4
    if x != x:
        if kind.bits == 6:
            raise UndefinedResult  # ONC-U8
        return (kind.largest_bits if kind.nan_bits is None else kind.nan_bits), IN_RANGE  # ONC-F3, ONC-C5
    saturate = kind.nan_bits is None or p.constants["saturate"]
    if isinstance(x, float):
        if saturate and not p.constants["infinity_is_nan"]:
            return kind.largest_bits | sign, IN_RANGE  # ONC-C3, ONC-C5, ONC-C9
        infinite = kind.specials == "ieee" and not p.constants["infinity_is_nan"]
        return special(x if infinite else math.nan, kind), IN_RANGE  # ONC-C2, ONC-C4
    code = (encode_saturated if saturate else encode)(
        Fraction(x), kind
    )  # ONC-R1, ONC-R2, ONC-R7, ONC-C1, ONC-C2, ONC-C5, ONC-C9, ONC-F4
    if isinstance(p.kinds[0], IntegerType) and kind.bits == 8 and decode(code, kind) != x:
        raise UndefinedResult  # ONC-U3
    return code, IN_RANGE


def to_power_of_two(p: Elementwise, kind: FloatType, x: Real) -> Result:
    """A float8_e8m0fnu, whose code is the exponent of two plus 127."""
    mode, saturate = p.constants["round_mode"], p.constants["saturate"]
    assert kind.nan_bits is not None
    if x != x:
        return kind.nan_bits, IN_RANGE  # ONC-F3
    if math.copysign(1, x) < 0:
        raise UndefinedResult  # ONC-U4
    if not scaled(1, kind.emin) <= x <= scaled(1, kind.emax):
        if (mode, saturate) not in TABLED:
            raise UndefinedResult  # ONC-U5
        end = kind.largest_bits if x > 1 else 0
        return end if saturate else kind.nan_bits, IN_RANGE  # ONC-C6, ONC-C7
    exponent = exponent_of(Fraction(x))
    beyond = Fraction(x) / scaled(1, exponent)  # from 1 to 2
    upward = {"up": beyond > 1, "down": False, "nearest": beyond >= Fraction(3, 2)}[mode]  # ONC-R4, ONC-R5, ONC-R6
    return exponent + upward + kind.bias, IN_RANGE


FORMULAS = {"onnx.Cast": cast}
