"""paddle.QuantizeLinear: integers of a range that the scale stands for, kept as floats.

    Y = round(X * range / Scale), range = 2^(bit_length - 1) - 1

Working precision rounds the product and the quotient to float32; the integer is float32, too. Source: PaddlePaddle
3.3.1, the OpProto of quantize_linear.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, divide, finite, to_real
from tiebreak.golden.problem import Elementwise


def quantize(s: Steps, p: Elementwise, value: Real, scale: Real, zero_point: Real) -> Result:
    x, greatest, zero = finite(value, scale, zero_point)  # PQL-U1, PQL-U2
    if greatest <= 0 or zero:
        raise UndefinedResult  # PQL-U3, PQL-U5
    whole_range = Fraction(2 ** (p.constants["bit_length"] - 1) - 1)  # PQL-F1
    product = s(x * whole_range)  # PQL-F2
    rounded = s.round(s(divide(product, greatest)))  # PQL-F3, PQL-R1, PQL-R2
    if not p.constants["qmin"] <= rounded <= p.constants["qmax"]:
        raise UndefinedResult  # PQL-U4
    return to_real(rounded, p.working)  # PQL-U6


FORMULAS = {"paddle.QuantizeLinear": quantize}
