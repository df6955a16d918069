"""stablehlo.uniform_quantize: a quotient and a zero point, clamped, then rounded.

    result = round_nearest_even(clamp(storage_min, operand / scale + zero_point, storage_max))

A quantized operand stands for (operand - operand_zero_point) * operand_scale. Working precision rounds each step to the
expressed type, the ends too. An end that it lacks may become a number outside the range of the ends, which is no value
of the result: the end itself is. Source: StableHLO specification, quantize and quantized element types.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import IntegerType, Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, clamp
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, Elementwise


def uniform_quantize(
    s: Steps, p: Elementwise, x: Real, scale: Real, zero_point: Real, own_scale: Real = Fraction(1),
    own_point: Real = Fraction(0),
) -> Result:  # fmt: skip
    number = x if len(p.operands) == 3 else s(s(x - own_point) * own_scale)  # SUQ-F3
    total = s(s(number / scale) + s(zero_point))  # SUQ-F1, SUQ-F2, SUQ-F4, SUQ-U1
    least, greatest = (s(Fraction(p.constants[end])) for end in ("least", "greatest"))  # SUQ-C2
    whole = s.round(clamp(total, least, greatest))  # SUQ-C1, SUQ-R1
    assert isinstance(p.result, IntegerType)
    if not p.result.lowest <= whole <= p.result.highest:
        raise UndefinedResult  # SUQ-U2
    found = int(clamp(whole, Fraction(p.constants["least"]), Fraction(p.constants["greatest"])))  # SUQ-C2
    return found, IN_RANGE if found == s.round(total) else OUT_OF_RANGE


FORMULAS = {"stablehlo.uniform_quantize": uniform_quantize}
