"""tensorflow.FakeQuantWithMinMaxVars and …PerChannel: adjust min and max, clamp, quantize, de-quantize.

    q = round((clamp(inputs, min_adj, max_adj) - min_adj) / scale) + lowest
    outputs = (q - lowest + round(min / scale)) * scale

The document gives the adjustment; it puts 0 on the grid of outputs. It does not write down how a clamped value becomes
an integer and comes back; the order above fits the printed values of its example. Working precision rounds every
difference, quotient and product to float32; sums of integers are exact. Source: TensorFlow API documentation,
FakeQuantWithMinMaxVars.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, clamp, divide, finite, to_real
from tiebreak.golden.problem import Elementwise


def fake_quant(s: Steps, p: Elementwise, x: Real, low: Real, high: Real) -> Result:
    """What every reading of the divisor gives."""
    x, low, high = finite(x, low, high)  # TFF-U5, TFC-U5
    if not low < high:
        raise UndefinedResult  # TFF-U4, TFC-U4
    result, *others = (of_divisor(s, p, x, low, high, divisor) for divisor in p.constants["divisors"])
    if any(other != result for other in others):
        raise UndefinedResult  # TFF-U3, TFC-U3
    return result


def of_divisor(s: Steps, p: Elementwise, x: Fraction, low: Fraction, high: Fraction, divisor: int) -> Result:
    scale = s(s(high - low) / divisor)  # TFF-A3, TFC-A3
    first, min_adj, max_adj = adjusted(s, low, high, scale, divisor)
    clamped = clamp(x, min_adj, max_adj)  # TFF-F1, TFC-F1
    integer = s.round(s(divide(s(clamped - min_adj), scale)))  # TFF-F2, TFC-F2, TFF-U1, TFC-U1
    quantized = integer + p.constants["lowest"]  # TFF-F3, TFC-F3
    return to_real((quantized - p.constants["lowest"] + first) * scale, p.working)  # TFF-F4, TFC-F4, TFF-U2, TFC-U2


def adjusted(s: Steps, low: Fraction, high: Fraction, scale: Real, divisor: int) -> tuple[Real, Real, Real]:
    """The document's three situations: min_adj in units of scale, min_adj and max_adj."""
    if low > 0:
        return Fraction(0), Fraction(0), s(high - low)  # TFF-A1, TFC-A1
    if high < 0:
        return Fraction(-divisor), s(low - high), Fraction(0)  # TFF-A2, TFC-A2
    first = s.round(s(divide(low, scale)))  # TFF-A4, TFC-A4, TFF-U1, TFC-U1
    min_adj = s(scale * first)  # TFF-A4, TFC-A4
    return first, min_adj, s(s(high + min_adj) - low)  # TFF-A5, TFC-A5


FORMULAS = {
    "tensorflow.FakeQuantWithMinMaxVars": fake_quant,
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": fake_quant,
}
