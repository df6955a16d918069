"""tensorflow.QuantizeAndDequantizeV4: scaling only, so that 0 stays 0.

    output = round(clamp(value, input_min, input_max) * scale_factor) / scale_factor

scale_factor is the largest that keeps [input_min, input_max] within the representable integers. One end of the range
determines it; the other end is then moved outward, to the last representable value. Working precision rounds the
integers at the ends, every quotient and every product to the input's type. Source: TensorFlow API documentation,
QuantizeAndDequantizeV2, to which V4 refers.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, clamp, divide, finite, to_real
from tiebreak.golden.problem import Elementwise


def quantize_and_dequantize(  # TQD-E1
    s: Steps, p: Elementwise, value: Real, input_min: Real, input_max: Real
) -> Result:
    x, low, high = finite(value, input_min, input_max)  # TQD-R1, TQD-R2, TQD-U1
    if low > high:
        raise UndefinedResult  # TQD-U3
    if not p.constants["signed"]:
        low = Fraction(0)  # TQD-S3
    scale_factor, least, greatest = scaled(s, p, low, high)
    clamped = clamp(x, least, greatest)  # TQD-F1
    integer = s.round(s(clamped * scale_factor))  # TQD-F2, TQD-M1, TQD-M2
    return to_real(divide(integer, scale_factor), p.working)  # TQD-F3


def scaled(s: Steps, p: Elementwise, low: Fraction, high: Fraction) -> tuple[Real, Real, Real]:
    """scale_factor and the updated range; a side that is 0, or has no integers of its sign, allows any factor."""
    lowest, highest = (s(Fraction(p.constants[end])) for end in ("lowest", "highest"))  # TQD-Q1, TQD-Q2, TQD-Q3
    from_min = s(lowest / low) if low < 0 else None  # TQD-S1
    from_max = s(highest / high) if high > 0 else None  # TQD-S1
    if from_min is not None and (from_max is None or from_min < from_max):
        return from_min, low, s(divide(highest, from_min))  # TQD-S2
    if from_max is None:
        raise UndefinedResult  # TQD-U2
    return from_max, s(divide(lowest, from_max)), high  # TQD-S2


FORMULAS = {"tensorflow.QuantizeAndDequantizeV4": quantize_and_dequantize}
