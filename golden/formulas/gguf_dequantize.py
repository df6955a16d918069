"""gguf.Dequantize, the way back from GGUF's blocks.

    Q8_0:  y = element * scale     Q4_0:  y = (element - 8) * scale

An integer of 8 bits times a float16 is a float32, even a subnormal one: nothing is rounded. Source: ggml,
ggml-quants.c, dequantize_row_q8_0 and dequantize_row_q4_0.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, finite, to_real
from tiebreak.golden.problem import Elementwise


def dequantize(s: Steps, p: Elementwise, element: Fraction, scale: Real) -> Result:
    (factor,) = finite(scale)  # GGD-U1
    whole = element - p.constants["offset"]  # GGD-F2
    return to_real(s(whole * factor), p.working)  # GGD-F1, GGD-U3


FORMULAS = {"gguf.Dequantize": dequantize}
