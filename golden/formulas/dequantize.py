"""ngraph.Dequantize: output[i] = (input[i] - zero_point[j]) * scale[j].

Working precision: the difference is one of integers and exact; it is rounded to the output's type, and so is the
product; a difference beyond that type is infinite. Source: nGraph documentation, ops/dequantize.rst.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, finite, to_real
from tiebreak.golden.problem import Elementwise


def dequantize(s: Steps, p: Elementwise, x: Fraction, scale: Real, zero_point: Fraction) -> Result:
    (factor,) = finite(scale)
    return to_real(s(x - zero_point) * factor, p.working)
