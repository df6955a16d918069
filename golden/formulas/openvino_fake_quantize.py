"""openvino.FakeQuantize, as its document writes it.

    if x <= min(input_low, input_high): output_low
    elif x > max(input_low, input_high): output_high
    else: round((x - input_low) / (input_high - input_low) * (levels-1)) / (levels-1)
          * (output_high - output_low) + output_low

Working precision rounds every step to the type, levels - 1 too. Source: OpenVINO documentation, FakeQuantize-1.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_real
from tiebreak.golden.problem import Elementwise


def fake_quantize(
    s: Steps, p: Elementwise, x: Real, input_low: Real, input_high: Real, output_low: Real, output_high: Real
) -> Result:
    if any(math.isnan(value) for value in (x, input_low, input_high)):
        raise UndefinedResult
    if x <= min(input_low, input_high):
        return to_real(output_low, p.working)
    if x > max(input_low, input_high):
        return to_real(output_high, p.working)
    limits = finite(input_low, input_high, output_low, output_high)
    return to_real(inside(s, p.constants["levels"], Fraction(x), *limits), p.working)


def inside(
    s: Steps,
    levels: int,
    x: Fraction,
    input_low: Fraction,
    input_high: Fraction,
    output_low: Fraction,
    output_high: Fraction,
) -> Real:
    """The last branch; the sum is rounded by the caller."""
    n = s(Fraction(levels - 1))
    level = s.round(s(s(s(x - input_low) / s(input_high - input_low)) * n))
    return s(s(level / n) * s(output_high - output_low)) + output_low
