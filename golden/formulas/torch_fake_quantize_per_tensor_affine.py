"""torch.fake_quantize_per_tensor_affine and …_per_channel_affine: to a grid and back.

    output = (min(quant_max, max(quant_min, nearby_int(input / scale) + zero_point)) - zero_point) * scale

Working precision rounds the quotient and the last product to float32. Sums of integers are exact. A zero point that is
a float makes them sums of floats: then each rounds to float32. Source: the docstrings of PyTorch 2.13.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import FloatType, Real
from tiebreak.golden.formulas.steps import Result, Steps, clamp, divide, finite, to_real
from tiebreak.golden.problem import Elementwise


def fake_quantize(s: Steps, p: Elementwise, value: Real, scale: Real, zero_point: Real) -> Result:
    x, step, zero = finite(value, scale, zero_point)  # PFT-U1, PFT-U2, PFC-U1, PFC-U2
    quotient = s(divide(x, step))  # PFT-F1, PFC-F1, PFT-U3, PFC-U3
    rounded = s.round(quotient)  # PFT-R1, PFC-R1
    of_floats = isinstance(p.kinds[2], FloatType)
    level = s(rounded + zero) if of_floats else rounded + zero  # PFT-F2, PFC-F2
    low, high = (Fraction(p.constants[end]) for end in ("quant_min", "quant_max"))
    limited = clamp(level, s(low) if of_floats else low, s(high) if of_floats else high)  # PFT-C1, PFC-C1
    difference = s(limited - zero) if of_floats else limited - zero  # PFT-F3, PFC-F3
    return to_real(difference * step, p.working)  # PFT-F4, PFC-F4, PFT-U4, PFC-U4


FORMULAS = {
    "torch.fake_quantize_per_tensor_affine": fake_quantize,
    "torch.fake_quantize_per_channel_affine": fake_quantize,
}
