"""stablehlo.uniform_dequantize: the number that an integer of a quantized type stands for.

    result = (operand - zero_point) * scale

Working precision rounds the difference and the product to the expressed type. storage_min and storage_max have no part
in it. Source: StableHLO specification, quantized element types.
"""

from __future__ import annotations

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, to_real
from tiebreak.golden.problem import Elementwise


def uniform_dequantize(s: Steps, p: Elementwise, x: Real, scale: Real, zero_point: Real) -> Result:  # SUD-F3
    difference = s(x - zero_point)  # SUD-F1
    return to_real(difference * scale, p.working)  # SUD-F2, SUD-U1


FORMULAS = {"stablehlo.uniform_dequantize": uniform_dequantize}
