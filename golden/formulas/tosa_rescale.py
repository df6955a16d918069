"""tosa.RESCALE: a quotient of integers, rounded once; with DOUBLE_ROUND moved by a little before.

    quotient = (x - input_zp) * multiplier / 2^shift
    output   = round(quotient) + output_zp, saturated

INEXACT_ROUND allows all integers between two ends. These are what working precision gives in the modes ROUND_DOWN and
ROUND_UP; the other modes give the result that rounding once has. Source: TOSA 1.0 and 1.1, RESCALE.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.golden.elements import INTEGER_TYPES, IntegerType, Real, scaled
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, clamp, to_integer
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, Elementwise
from tiebreak.golden.rounding import nearest_upward

INT32 = INTEGER_TYPES["int32"]
UNIT = scaled(1, -24)  # half a unit in the last place of a float32 between 1 and 2
ENDS = {"ROUND_DOWN": -1, "ROUND_UP": 1}


def rescale(
    s: Steps, p: Elementwise, x: Real, multiplier: Real, shift: Real, input_zp: Real, output_zp: Real, unmet: Real
) -> Result:
    assert isinstance(p.result, IntegerType)
    value, point = Fraction(x - input_zp), Fraction(output_zp)  # TRS-F1
    if unmet or multiplier < 0 or not 2 <= shift <= 62:
        raise UndefinedResult  # TRS-U1, TRS-U2, TRS-U6
    half = scaled(1, int(shift) - 1)
    if p.constants["scale32"] and not -half <= value < half:
        raise UndefinedResult  # TRS-U3
    quotient = value * Fraction(multiplier) / (2 * half)  # TRS-F2, TRS-F3
    if p.constants["rounding_mode"] == "DOUBLE_ROUND" and shift > 31:
        quotient += scaled(1 if value >= 0 else -1, 30 - int(shift))  # TRS-R2
    sign = ENDS.get(s.mode, 0) if p.constants["rounding_mode"] == "INEXACT_ROUND" and s.kind is not None else 0
    rounded = nearest_upward(quotient) if sign else int(s.round(quotient))  # TRS-R1
    total = rounded + point  # TRS-F4
    if not fits(rounded) or not fits(total):
        raise UndefinedResult  # TRS-U4, TRS-U5
    if total < 0 and p.result.lowest == 0 and s.kind is not None:
        if p.constants["rounding_mode"] == "INEXACT_ROUND":
            raise UndefinedResult  # TRS-U7
        return p.result.highest, OUT_OF_RANGE  # TRS-U7
    return (end(quotient, point, sign, p.result), IN_RANGE) if sign else to_integer(total, p.result)  # TRS-C1


def fits(value: Fraction | int) -> bool:
    return INT32.lowest <= value <= INT32.highest


def end(quotient: Fraction, point: Fraction, sign: int, kind: IntegerType) -> int:
    """The least (-1) or the greatest (1) integer that INEXACT_ROUND allows."""
    bound = Fraction(1, 2) + (3 * abs(quotient) + abs(quotient + point)) * UNIT  # TRS-R3
    furthest = math.floor(quotient + point + bound) if sign > 0 else math.ceil(quotient + point - bound)
    return int(clamp(Fraction(furthest), Fraction(kind.lowest), Fraction(kind.highest)))  # TRS-C1


FORMULAS = {"tosa.RESCALE": rescale}
