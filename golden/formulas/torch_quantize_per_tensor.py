"""torch.quantize_per_tensor and torch.quantize_per_channel: the zero point is added before round.

    output = clamp(round(input / scale + zero_point), min, max)

Working precision rounds the quotient, the zero point and their sum to float32; rounding and clamping are exact.
Source: PyTorch 2.13, ATen/quantized/Quantizer.h, the comment on AffineQuantizer. The docstrings give no formula.

With zero points that are floats the formula is Round(input * inv_scale + zero_point), inv_scale = 1 / scale, which
working precision rounds too: the comment in _calculate_qparams of torch/ao/quantization/observer.py.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import FloatType, IntegerType, Real
from tiebreak.golden.formulas.steps import Result, Steps, divide, finite, to_integer
from tiebreak.golden.problem import Elementwise


def times_inverse(s: Steps, x: Fraction, step: Fraction) -> Real:
    return s(x * s(divide(Fraction(1), step)))  # PQC-F3, PQT-U4, PQC-U4


def quantize(s: Steps, p: Elementwise, value: Real, scale: Real, zero_point: Real) -> Result:
    x, step, zero = finite(value, scale, zero_point)  # PQT-U2, PQT-U3, PQC-U2, PQC-U3
    quotient = times_inverse(s, x, step) if isinstance(p.kinds[2], FloatType) else s(divide(x, step))  # PQT-F1, PQC-F1
    total = s(quotient + s(zero))  # PQT-F2, PQC-F2
    rounded = s.round(total)  # PQT-R1, PQC-R1, PQT-U1, PQC-U1
    assert isinstance(p.result, IntegerType)
    return to_integer(rounded, p.result)  # PQT-C1, PQC-C1


FORMULAS = {"torch.quantize_per_tensor": quantize, "torch.quantize_per_channel": quantize}
