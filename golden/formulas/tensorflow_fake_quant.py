"""tensorflow.FakeQuantWithMinMaxVars and …PerChannel: adjust min and max, clamp, quantize, de-quantize.

The adjustment is the document's; how a clamped value becomes an integer and comes back is written here in the plain
order, since the document gives none. Source: TensorFlow API documentation, FakeQuantWithMinMaxVars.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, divide, finite, to_real
from tiebreak.golden.problem import Elementwise


def fake_quant(s: Steps, p: Elementwise, x: Real, low: Real, high: Real) -> Result:
    x, low, high = finite(x, low, high)
    if not low < high:
        raise UndefinedResult
    scale = s(s(high - low) / p.constants["intervals"])
    min_adj, max_adj = adjusted(s, low, high, scale)
    clamped = min(max(x, min_adj), max_adj)
    quantized = s.round(s(divide(s(clamped - min_adj), scale))) + p.constants["lowest"]
    return to_real(s((quantized - p.constants["lowest"]) * scale) + min_adj, p.working)


def adjusted(s: Steps, low: Fraction, high: Fraction, scale: Fraction) -> tuple[Fraction, Fraction]:
    """The document's three situations."""
    if low > 0:
        return Fraction(0), s(high - low)
    if high < 0:
        return s(low - high), Fraction(0)
    min_adj = s(scale * s.round(s(divide(low, scale))))
    return min_adj, s(s(high + min_adj) - low)
