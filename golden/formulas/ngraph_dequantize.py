"""ngraph.Dequantize, the way back from integers.

    output[i] = (input[i] - zero_point[j]) * scale[j]

Two steps: a difference of integers, then a product. Working precision rounds each of them to the output's type, where
a difference beyond the largest value is infinite. Source: nGraph documentation, ops/dequantize.rst.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, finite, to_real
from tiebreak.golden.problem import Elementwise


def dequantize(s: Steps, p: Elementwise, x: Fraction, scale: Real, zero_point: Fraction) -> Result:
    (factor,) = finite(scale)  # NGD-U1
    difference = s(x - zero_point)  # NGD-F1
    return to_real(difference * factor, p.working)  # NGD-F2


FORMULAS = {"ngraph.Dequantize": dequantize}
