"""tensorflow.Dequantize: MIN_COMBINED, MIN_FIRST and SCALED, each in the order of its document.

    MIN_COMBINED  min_range + (input [+ (range(T) + 1) / 2]) * (max_range - min_range) / range(T)
    MIN_FIRST     min_range + (input - lowest of T) * range_scale
    SCALED        input * max(min_range / min_expected_T, max_range / max_expected_T)

Working precision rounds each step to float32. The steps of MIN_FIRST after its static_cast<double> are rounded to
double, and a bfloat16 result is rounded from the float32 one. Source: TensorFlow API documentation, Dequantize.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import FLOAT_TYPES, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_real
from tiebreak.golden.problem import Elementwise

DOUBLE = FLOAT_TYPES["float64"]


def dequantize(s: Steps, p: Elementwise, x: Fraction, min_range: Real, max_range: Real) -> Result:
    low, high = finite(min_range, max_range)  # TFD-U3
    if high < low:
        raise UndefinedResult  # TFD-U2
    formula = {"MIN_COMBINED": min_combined, "MIN_FIRST": min_first, "SCALED": scaled}[p.constants["mode"]]
    return to_real(formula(s, p, x, low, high), FLOAT_TYPES[p.result.name])


def min_combined(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    kind = p.constants["T"]
    if kind.signed and kind.name != "int8":
        raise UndefinedResult  # TFD-U1
    range_t = kind.highest - kind.lowest  # TFD-C2
    if kind.name == "int8":
        x += Fraction(range_t + 1, 2)  # TFD-C3: an integer below 256, exact
    return s(low + s(s(x * s(high - low)) / range_t))  # TFD-C1


def min_first(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    kind = p.constants["T"]
    num_discrete_values = 1 << kind.bits
    range_adjust = s(Fraction(num_discrete_values, num_discrete_values - 1))  # TFD-M1
    range_scale = s(s(s(high - low) * range_adjust) / num_discrete_values)  # TFD-M1
    offset_input = x - kind.lowest  # TFD-M3: a double, and exact in it
    return s.in_type(low + s.in_type(offset_input * range_scale, DOUBLE), DOUBLE)  # TFD-M2, TFD-M3


def scaled(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    kind = p.constants["T"]
    min_expected, max_expected = Fraction(p.constants["lowest"]), Fraction(kind.highest)  # TFD-N1
    factor = s(high / s(max_expected))  # TFD-S3
    if kind.lowest != 0:
        factor = max(s(low / s(min_expected)), factor)  # TFD-S2
    return s(x) * factor  # TFD-S1: rounded once, as the result


FORMULAS = {"tensorflow.Dequantize": dequantize}
