"""openvino.FakeQuantize: to one of `levels` levels and back, as its document writes it.

    if x <= min(input_low, input_high): output_low
    elif x > max(input_low, input_high): output_high
    else: round((x - input_low) / (input_high - input_low) * (levels-1)) / (levels-1)
          * (output_high - output_low) + output_low

The first two branches copy a limit and round nothing. Working precision rounds every step of the last one to X's type,
and levels - 1 too; only round itself is exact. Source: OpenVINO documentation, FakeQuantize-1.
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
        raise UndefinedResult  # OVF-U2
    if output_low > output_high:
        raise UndefinedResult  # OVF-U8
    if x <= min(input_low, input_high):  # OVF-F9, OVF-F10, OVF-I1
        return to_real(output_low, p.working)  # OVF-F1
    if x > max(input_low, input_high):  # OVF-F9, OVF-F10, OVF-I1
        return to_real(output_high, p.working)  # OVF-F2
    limits = finite(input_low, input_high, output_low, output_high)  # OVF-U2, OVF-U3
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
    """The last branch; the caller rounds its last step, the sum."""
    n = s(Fraction(levels - 1))  # OVF-U6
    quotient = s(s(x - input_low) / s(input_high - input_low))  # OVF-F3, OVF-F10
    position = s(quotient * n)  # OVF-F4
    level = s.round(position)  # OVF-F5, OVF-U1
    fraction = s(level / n)  # OVF-F6
    product = s(fraction * s(output_high - output_low))  # OVF-F7, OVF-F11
    return product + output_low  # OVF-F8


FORMULAS = {"openvino.FakeQuantize": fake_quantize}
