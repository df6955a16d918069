"""tensorflow.UniformRequantize: a difference times the ratio of two scales, plus a zero point, rounded once.

    output = clip((input - input_zero_point) * (input_scale / output_scale) + output_zero_point,
                  output_quantization_min_val, output_quantization_max_val)

Working precision rounds the difference, the ratio, the product, the zero point and the sum to float32. The ends of the
input's range have no part in it. Source: TensorFlow API documentation, raw_ops.UniformRequantize.
"""

from __future__ import annotations

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, divide, finite, to_ends
from tiebreak.golden.problem import Elementwise


def requantize(s: Steps, p: Elementwise, x: Real, s_in: Real, z_in: Real, s_out: Real, z_out: Real) -> Result:
    scale, other = finite(s_in, s_out)  # TUR-U2
    if not p.constants["usable"]:
        raise UndefinedResult  # TUR-U4
    difference = s(x - z_in)  # TUR-F1, TUR-F5
    ratio = s(divide(scale, other))  # TUR-F2, TUR-U2
    total = s(s(difference * ratio) + s(z_out))  # TUR-F3, TUR-F4, TUR-U3
    return to_ends(s.round(total), p.constants["least"], p.constants["greatest"])  # TUR-R1, TUR-C1, TUR-C2, TUR-U1


FORMULAS = {"tensorflow.UniformRequantize": requantize}
