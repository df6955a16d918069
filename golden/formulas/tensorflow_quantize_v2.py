"""tensorflow.QuantizeV2: MIN_COMBINED, MIN_FIRST and SCALED, and the range that each of them used.

    MIN_COMBINED  round((input - min_range) * range(T) / (max_range - min_range) [- (range(T) + 1) / 2])
    MIN_FIRST     clamp(round(input * range_scale) - round(min_range * range_scale) + lowest of T)
    SCALED        round(clip(input, min_T / scale_factor, max_T / scale_factor) * scale_factor)

Working precision rounds every step to float32; what has been rounded to an integer stays exact, or infinite. Sources:
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
    (value,) = finite(x)  # TFQ-U6
    formula = {"MIN_COMBINED": min_combined, "MIN_FIRST": min_first, "SCALED": scaled}[p.constants["mode"]]
    return to_integer(formula(s, p, value, low, high), p.constants["T"], lowest=p.constants["lowest"])


def output_min(s: Steps, p: Elementwise, min_range: Real, max_range: Real) -> Result:  # TFQ-O2
    low, high = known_range(p, min_range, max_range)
    if p.constants["mode"] != "SCALED":
        return to_real(low, p.working)  # TFQ-O1
    return to_real(s(Fraction(p.constants["lowest"])) / scale_factor(s, p, low, high), p.working)  # TFQ-O1, TFQ-S3


def output_max(s: Steps, p: Elementwise, min_range: Real, max_range: Real) -> Result:  # TFQ-O2
    low, high = known_range(p, min_range, max_range)
    if p.constants["mode"] != "SCALED":
        return to_real(high, p.working)  # TFQ-O1
    return to_real(s(Fraction(p.constants["highest"])) / scale_factor(s, p, low, high), p.working)  # TFQ-O1, TFQ-S3


def known_range(p: Elementwise, min_range: Real, max_range: Real) -> tuple[Fraction, ...]:
    """The range, unless the document leaves open what it is adjusted to: then UndefinedResult."""
    low, high = finite(min_range, max_range)  # TFQ-U6
    zero_matters = p.constants["mode"] != "SCALED" or p.constants["lowest"] > 0
    if high < low or (zero_matters and not low <= 0 <= high):
        raise UndefinedResult  # TFQ-U1, TFQ-U3
    if high - low < Fraction(p.constants["least"]):
        raise UndefinedResult  # TFQ-U2
    return low, high  # TFQ-E1


def min_combined(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    kind = p.constants["T"]
    if kind.signed and kind.name != "int8":
        raise UndefinedResult  # TFQ-U5
    clipped = clamp(x, low, high)  # TFQ-K1
    range_t = kind.highest - kind.lowest  # TFQ-C2, TFQ-N2
    out = s(divide(s(s(clipped - low) * range_t), s(high - low)))  # TFQ-C1, TFQ-U4
    if kind.name == "int8":
        out = s(out - Fraction(range_t + 1, 2))  # TFQ-C3
    return s.round(out)  # TFQ-R1


def min_first(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    kind: IntegerType = p.constants["T"]
    num_discrete_values = 1 << kind.bits
    range_adjust = s(Fraction(num_discrete_values, num_discrete_values - 1))  # TFQ-M1
    range_scale = s(divide(Fraction(num_discrete_values), s(s(high - low) * range_adjust)))  # TFQ-M1, TFQ-U4
    clipped = clamp(x, low, high)  # TFQ-K1: the document has it for every mode
    rounded, rounded_low = s.round(s(clipped * range_scale)), s.round(s(low * range_scale))  # TFQ-M2, TFQ-R1
    quantized = rounded - rounded_low + kind.lowest  # TFQ-M3, TFQ-N2
    return clamp(quantized, Fraction(kind.lowest), Fraction(kind.highest))  # TFQ-M4


def scaled(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction) -> Real:
    factor = scale_factor(s, p, low, high)
    least, greatest = (s(s(Fraction(p.constants[end])) / factor) for end in ("lowest", "highest"))  # TFQ-S3
    clipped = clamp(x, least, greatest)  # TFQ-S4, TFQ-K1
    return s.round(s(clipped * factor))  # TFQ-S4, TFQ-R1, TFQ-R2, TFQ-R3


def scale_factor(s: Steps, p: Elementwise, low: Fraction, high: Fraction) -> Real:
    min_t, max_t = Fraction(p.constants["lowest"]), Fraction(p.constants["highest"])  # TFQ-N1
    from_min_side = s(s(min_t) / low) if min_t * low > 0 else MAX_FLOAT  # TFQ-S2
    from_max_side = s(s(max_t) / high) if max_t * high > 0 else MAX_FLOAT  # TFQ-S2
    return min(from_min_side, from_max_side)  # TFQ-S1


FORMULAS = {
    "tensorflow.QuantizeV2": output,
    "tensorflow.QuantizeV2:output_min": output_min,
    "tensorflow.QuantizeV2:output_max": output_max,
}
