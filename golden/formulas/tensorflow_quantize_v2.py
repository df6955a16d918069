"""tensorflow.QuantizeV2: MIN_COMBINED, MIN_FIRST and SCALED, and the range that each of them used.

Everything is float32 in working precision; what has been rounded to an integer stays exact, or infinite. Sources:
TensorFlow for Java documentation, Quantize; TensorFlow API documentation, QuantizeV2.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import FLOAT_TYPES, IntegerType, Real, decode
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
from tiebreak.golden.problem import Elementwise

MAX_FLOAT = Fraction(decode(FLOAT_TYPES["float32"].largest_bits, FLOAT_TYPES["float32"]))


def output(s: Steps, p: Elementwise, x: Real, min_range: Real, max_range: Real) -> Result:
    low, high = known_range(p, min_range, max_range)
    (value,) = finite(x)
    formula = {"MIN_COMBINED": min_combined, "MIN_FIRST": min_first, "SCALED": scaled}[p.constants["mode"]]
    return to_integer(formula(s, p, value, low, high), p.constants["T"], lowest=p.constants["lowest"])


def output_min(s: Steps, p: Elementwise, min_range: Real, max_range: Real) -> Result:
    low, high = known_range(p, min_range, max_range)
    if p.constants["mode"] != "SCALED":
        return to_real(low, p.working)
    return to_real(s(Fraction(p.constants["lowest"])) / scale_factor(s, p, low, high), p.working)


def output_max(s: Steps, p: Elementwise, min_range: Real, max_range: Real) -> Result:
    low, high = known_range(p, min_range, max_range)
    if p.constants["mode"] != "SCALED":
        return to_real(high, p.working)
    return to_real(s(Fraction(p.constants["highest"])) / scale_factor(s, p, low, high), p.working)


def known_range(p: Elementwise, min_range: Real, max_range: Real) -> tuple[Fraction, ...]:
    """The range, unless the document leaves open what it is adjusted to: then UndefinedResult."""
    low, high = finite(min_range, max_range)
    zero_matters = p.constants["mode"] != "SCALED" or p.constants["lowest"] > 0
    if high < low or high - low < Fraction(p.constants["least"]) or (zero_matters and not low <= 0 <= high):
        raise UndefinedResult
    return low, high


def min_combined(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    kind = p.constants["T"]
    if kind.signed and kind.name != "int8":
        raise UndefinedResult
    clipped = clamp(x, low, high)  # what output_min and output_max are there for
    range_t = kind.highest - kind.lowest
    out = s(divide(s(s(clipped - low) * range_t), s(high - low)))
    if kind.name == "int8":
        out = s(out - Fraction(range_t + 1, 2))
    return s.round(out)


def min_first(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    kind: IntegerType = p.constants["T"]
    num_discrete_values = 1 << kind.bits
    range_adjust = s(Fraction(num_discrete_values, num_discrete_values - 1))
    range_scale = s(divide(Fraction(num_discrete_values), s(s(high - low) * range_adjust)))
    clipped = clamp(x, low, high)  # as outputMin and outputMax say of every mode
    quantized = s.round(s(clipped * range_scale)) - s.round(s(low * range_scale)) + kind.lowest
    return clamp(quantized, Fraction(kind.lowest), Fraction(kind.highest))


def scaled(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    factor = scale_factor(s, p, low, high)
    least, greatest = (s(s(Fraction(p.constants[end])) / factor) for end in ("lowest", "highest"))
    return s.round(s(clamp(x, least, greatest) * factor))


def scale_factor(s: Steps, p: Elementwise, low: Fraction, high: Fraction) -> Real:
    min_t, max_t = Fraction(p.constants["lowest"]), Fraction(p.constants["highest"])
    from_min_side = s(s(min_t) / low) if min_t * low > 0 else MAX_FLOAT
    from_max_side = s(s(max_t) / high) if max_t * high > 0 else MAX_FLOAT
    return min(from_min_side, from_max_side)
