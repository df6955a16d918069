"""tensorflow.Dequantize: MIN_COMBINED, MIN_FIRST and SCALED, each in the order of its document.

Working precision is float32, but for the steps of MIN_FIRST that follow its static_cast<double>, which are double; a
bfloat16 result is rounded from the float32 one. Source: TensorFlow API documentation, Dequantize.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import FLOAT_TYPES, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_real
from tiebreak.golden.problem import Elementwise

DOUBLE = FLOAT_TYPES["float64"]


def dequantize(s: Steps, p: Elementwise, x: Fraction, min_range: Real, max_range: Real) -> Result:
    low, high = finite(min_range, max_range)
    if high < low:
        raise UndefinedResult
    formula = {"MIN_COMBINED": min_combined, "MIN_FIRST": min_first, "SCALED": scaled}[p.constants["mode"]]
    return to_real(formula(s, p, x, low, high), FLOAT_TYPES[p.result.name])


def min_combined(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    kind = p.constants["T"]
    if kind.signed and kind.name != "int8":
        raise UndefinedResult
    range_t = kind.highest - kind.lowest
    if kind.name == "int8":
        x += Fraction(range_t + 1, 2)  # an integer below 256, exact
    return s(low + s(s(x * s(high - low)) / range_t))


def min_first(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    kind = p.constants["T"]
    num_discrete_values = 1 << kind.bits
    range_adjust = s(Fraction(num_discrete_values, num_discrete_values - 1))
    range_scale = s(s(s(high - low) * range_adjust) / num_discrete_values)
    offset_input = x - kind.lowest  # a double, and exact in it
    return s.in_type(low + s.in_type(offset_input * range_scale, DOUBLE), DOUBLE)


def scaled(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    kind = p.constants["T"]
    min_expected, max_expected = Fraction(p.constants["lowest"]), Fraction(kind.highest)
    factor = s(high / s(max_expected))
    if kind.lowest != 0:
        factor = max(s(low / s(min_expected)), factor)
    return s(x) * factor  # rounded once, as the result
