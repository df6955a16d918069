"""tensorflow.QuantizeAndDequantizeV4: output = round(clamp(value, input_min, input_max) * scale_factor) / scale_factor.

scale_factor is the largest that keeps [input_min, input_max] within the representable integers; the end of the range
that does not determine it is then moved outward. Working precision: the integers at the ends are rounded to the
input's type, and so is every quotient and product. Source: TensorFlow API documentation, QuantizeAndDequantizeV2, to
which V4 refers.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, clamp, divide, finite, to_real
from tiebreak.golden.problem import Elementwise


def quantize_and_dequantize(s: Steps, p: Elementwise, value: Real, input_min: Real, input_max: Real) -> Result:
    x, low, high = finite(value, input_min, input_max)
    if low > high:
        raise UndefinedResult
    if not p.constants["signed"]:
        low = Fraction(0)
    scale_factor, least, greatest = scaled(s, p, low, high)
    clamped = clamp(x, least, greatest)
    return to_real(divide(s.round(s(clamped * scale_factor)), scale_factor), p.working)


def scaled(s: Steps, p: Elementwise, low: Fraction, high: Fraction) -> tuple[Real, Real, Real]:
    """scale_factor and the updated range; a side whose sign no integer has (or that is 0) allows any factor."""
    lowest, highest = (s(Fraction(p.constants[end])) for end in ("lowest", "highest"))
    from_min = s(lowest / low) if low < 0 else None
    from_max = s(highest / high) if high > 0 else None
    if from_min is not None and (from_max is None or from_min < from_max):
        return from_min, low, s(divide(highest, from_min))
    if from_max is None:
        raise UndefinedResult
    return from_max, s(divide(lowest, from_max)), high
