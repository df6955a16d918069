"""tensorflow.QuantizeAndDequantizeV2, V3 and V4: scaling only, so that 0 stays 0.

    output = round(clamp(value, input_min, input_max) * scale_factor) / scale_factor

scale_factor is the largest that keeps [input_min, input_max] within the representable integers. One end of the range
determines it; the other end is then moved outward, to the last representable value. Working precision rounds the
integers at the ends, every quotient and every product to the input's type. Source: TensorFlow API documentation,
QuantizeAndDequantizeV2, to which V3 and V4 refer. V3 has the number of bits as an operand.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, clamp, divide, finite, to_real
from tiebreak.golden.problem import Elementwise


@dataclass(frozen=True)
class Integers:
    """The ends of the representable integers."""

    signed: bool
    lowest: int
    highest: int


def of_attributes(  # TQD-E1
    s: Steps, p: Elementwise, value: Real, input_min: Real, input_max: Real
) -> Result:
    ends = p.constants["lowest"], p.constants["highest"]  # TQB-Q1, TQB-Q2, TQB-Q3, TQD-Q1, TQD-Q2, TQD-Q3
    whole = Integers(p.constants["signed"], *ends)
    return there_and_back(s, p, whole, value, input_min, input_max)


def of_width(  # TQC-E1
    s: Steps, p: Elementwise, value: Real, input_min: Real, input_max: Real, num_bits: Real
) -> Result:
    if not 1 <= num_bits <= 62:
        raise UndefinedResult  # TQC-U5
    signed = p.constants["signed"]
    highest = (1 << (int(num_bits) - signed)) - 1  # TQC-Q1, TQC-Q2
    lowest = -highest - (not p.constants["narrow_range"]) if signed else 0  # TQC-Q1, TQC-Q2, TQC-Q3
    return there_and_back(s, p, Integers(signed, lowest, highest), value, input_min, input_max)


def there_and_back(s: Steps, p: Elementwise, whole: Integers, value: Real, input_min: Real, input_max: Real) -> Result:
    ranged = value, input_min, input_max  # TQB-R1, TQC-R1, TQD-R1, TQB-R2, TQC-R2, TQD-R2
    x, low, high = finite(*ranged)  # TQB-U1, TQC-U1, TQD-U1
    if low > high:
        raise UndefinedResult  # TQB-U3, TQC-U3, TQD-U3
    if not whole.signed:
        low = Fraction(0)  # TQB-S3, TQC-S3, TQD-S3
    scale_factor, least, greatest = scaled(s, whole, low, high)
    clamped = clamp(x, least, greatest)  # TQB-F1, TQC-F1, TQD-F1
    integer = s.round(held(s(clamped * scale_factor)))  # TQB-F2, TQC-F2, TQD-F2, TQB-M1, TQC-M1, TQD-M1, TQB-M2, TQD-M2
    return to_real(divide(integer, scale_factor), p.working)  # TQB-F3, TQC-F3, TQD-F3


def scaled(s: Steps, whole: Integers, low: Fraction, high: Fraction) -> tuple[Real, Real, Real]:
    """scale_factor and the updated range; a side that is 0, or has no integers of its sign, allows any factor."""
    lowest, highest = (held(s(Fraction(end))) for end in (whole.lowest, whole.highest))
    from_min = s(lowest / low) if low < 0 else None  # TQB-S1, TQC-S1, TQD-S1
    from_max = s(highest / high) if high > 0 else None  # TQB-S1, TQC-S1, TQD-S1
    if from_min is not None and (from_max is None or from_min < from_max):
        return held(from_min), low, held(s(divide(highest, from_min)))  # TQB-S2, TQC-S2, TQD-S2
    if from_max is None:
        raise UndefinedResult  # TQB-U2, TQC-U2, TQD-U2
    return held(from_max), held(s(divide(lowest, from_max))), high  # TQB-S2, TQC-S2, TQD-S2


def held(value: Real) -> Fraction:
    """A step's result; UndefinedResult where it overflows."""
    if not isinstance(value, Fraction):
        raise UndefinedResult  # TQB-U6, TQC-U6, TQD-U6
    return value


FORMULAS = {
    "tensorflow.QuantizeAndDequantizeV2": of_attributes,
    "tensorflow.QuantizeAndDequantizeV3": of_width,
    "tensorflow.QuantizeAndDequantizeV4": of_attributes,
}
