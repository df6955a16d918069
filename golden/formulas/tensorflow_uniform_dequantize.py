"""tensorflow.UniformDequantize, the way back from integers.

    output = (input - zero_point) * scale

Working precision rounds the difference and the product to float32. quantization_min_val and quantization_max_val have
no part in it. Source: TensorFlow API documentation, raw_ops.UniformDequantize.
"""

from __future__ import annotations

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, finite, to_real
from tiebreak.golden.problem import Elementwise


def uniform_dequantize(s: Steps, p: Elementwise, x: Real, scale: Real, zero_point: Real) -> Result:  # TUD-F3
    (factor,) = finite(scale)  # TUD-U1
    difference = s(x - zero_point)  # TUD-F1
    return to_real(difference * factor, p.working)  # TUD-F2, TUD-U2, TUD-U3


FORMULAS = {"tensorflow.UniformDequantize": uniform_dequantize}
