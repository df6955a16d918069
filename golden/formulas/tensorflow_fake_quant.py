"""tensorflow.FakeQuantWithMinMaxVars and …PerChannel: adjust min and max, clamp, quantize, de-quantize.

The adjustment is the document's. It does not write down how a clamped value becomes an integer and comes back; the
printed values of its example fit one product of scale and a sum of integers, which is what stands here. Source:
TensorFlow API documentation, FakeQuantWithMinMaxVars.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, clamp, divide, finite, to_real
from tiebreak.golden.problem import Elementwise


def fake_quant(s: Steps, p: Elementwise, x: Real, low: Real, high: Real) -> Result:
    x, low, high = finite(x, low, high)
    if not low < high:
        raise UndefinedResult
    scale = s(s(high - low) / p.constants["intervals"])
    first, min_adj, max_adj = adjusted(s, p, low, high, scale)
    clamped = clamp(x, min_adj, max_adj)
    quantized = s.round(s(divide(s(clamped - min_adj), scale))) + p.constants["lowest"]
    return to_real((quantized - p.constants["lowest"] + first) * scale, p.working)


def adjusted(s: Steps, p: Elementwise, low: Fraction, high: Fraction, scale: Real) -> tuple[Real, Real, Real]:
    """The document's three situations: how many times scale min_adj is, min_adj and max_adj."""
    if low > 0:
        return Fraction(0), Fraction(0), s(high - low)
    if high < 0:
        return Fraction(-p.constants["intervals"]), s(low - high), Fraction(0)
    first = s.round(s(divide(low, scale)))
    min_adj = s(scale * first)
    return first, min_adj, s(s(high + min_adj) - low)
