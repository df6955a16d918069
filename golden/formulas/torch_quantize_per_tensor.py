"""torch.quantize_per_tensor and torch.quantize_per_channel: the zero point is added before round.

    output = clamp(round(input / scale + zero_point), min, max)

Working precision rounds the quotient, the zero point and their sum to float32; rounding and clamping are exact.
Source: PyTorch 2.13, ATen/quantized/Quantizer.h, the comment on AffineQuantizer. The docstrings give no formula.
"""

from __future__ import annotations

from tiebreak.golden.elements import IntegerType, Real
from tiebreak.golden.formulas.steps import Result, Steps, divide, finite, to_integer
from tiebreak.golden.problem import Elementwise


def quantize(s: Steps, p: Elementwise, value: Real, scale: Real, zero_point: Real) -> Result:
    x, step = finite(value, scale)  # PQT-U2, PQT-U3, PQC-U2, PQC-U3
    quotient = s(divide(x, step))  # PQT-F1, PQC-F1, PQT-U4, PQC-U4
    total = s(quotient + s(zero_point))  # PQT-F2, PQC-F2
    rounded = s.round(total)  # PQT-R1, PQC-R1, PQT-U1, PQC-U1
    assert isinstance(p.result, IntegerType)
    return to_integer(rounded, p.result)  # PQT-C1, PQC-C1


FORMULAS = {"torch.quantize_per_tensor": quantize, "torch.quantize_per_channel": quantize}
