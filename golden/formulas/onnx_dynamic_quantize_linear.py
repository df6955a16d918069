"""onnx.DynamicQuantizeLinear: a range that contains 0, the scale and the zero point that follow from it, then uint8.

    y_scale      = (max - min) / 255
    y_zero_point = round_half_to_even(saturate(-min / y_scale))
    y            = saturate(round_half_to_even(x / y_scale) + y_zero_point)

The second and the third formula take y_scale as it is put out, a float32: exactly, too, it is rounded once there.
Working precision rounds every step to float32. Source: ONNX DynamicQuantizeLinear-11.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import INTEGER_TYPES, Real
from tiebreak.golden.formulas.steps import (
    Result,
    Steps,
    UndefinedResult,
    clamp,
    divide,
    finite,
    to_integer,
    to_real,
)
from tiebreak.golden.problem import IN_RANGE, Elementwise

UINT8 = INTEGER_TYPES["uint8"]  # ODQ-T1


def y(s: Steps, p: Elementwise, x: Real, low: Real, high: Real) -> Result:  # ODQ-S1
    (value,) = finite(x)  # ODQ-U2
    quotient = s(divide(value, scale(s, p, low, high)))  # ODQ-F4, ODQ-F5, ODQ-U1, ODQ-U3
    return to_integer(s.round(quotient) + zero_point(s, p, low, high), UINT8)  # ODQ-R1, ODQ-C1


def y_scale(s: Steps, p: Elementwise, low: Real, high: Real) -> Result:
    return to_real(scale(s, p, low, high), p.working)


def y_zero_point(s: Steps, p: Elementwise, low: Real, high: Real) -> Result:
    return int(zero_point(s, p, low, high)), IN_RANGE


def scale(s: Steps, p: Elementwise, low: Real, high: Real) -> Real:
    """y_scale as it is put out: a float32, even in real arithmetic. `low` and `high` include 0."""
    bottom, top = finite(low, high)  # ODQ-U2
    if p.constants["empty"]:
        raise UndefinedResult  # ODQ-U1
    return Steps(p.working, s.mode)(s(top - bottom) / Fraction(255))  # ODQ-F1, ODQ-F2, ODQ-F5


def zero_point(s: Steps, p: Elementwise, low: Real, high: Real) -> Fraction:
    intermediate = 0 - s(divide(low, scale(s, p, low, high)))  # ODQ-F3, ODQ-U1, ODQ-U3
    saturated = clamp(intermediate, Fraction(UINT8.lowest), Fraction(UINT8.highest))  # ODQ-C2
    return Fraction(s.round(saturated))  # ODQ-R1


ID = "onnx.DynamicQuantizeLinear"
FORMULAS = {ID: y, f"{ID}:y_scale": y_scale, f"{ID}:y_zero_point": y_zero_point}
