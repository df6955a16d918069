"""tensorflow.UniformQuantize: a product with the reciprocal of the scale, and the floor of a half more.

    output = floor(input * (1.0f / scale) + 0.5f) + zero_point

Working precision rounds the reciprocal, the product and the sum with 0.5 to float32; the integers are exact. Source:
TensorFlow API documentation, raw_ops.UniformQuantize.
"""

from __future__ import annotations

import math
from fractions import Fraction

from tiebreak.golden.elements import Real
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite, to_ends
from tiebreak.golden.problem import Elementwise

HALF = Fraction(1, 2)
UPWARD = "ROUND_NEAREST_UPWARD"


def uniform_quantize(s: Steps, p: Elementwise, x: Real, scale: Real, zero_point: Real) -> Result:
    value, divisor = finite(x, scale)  # TUQ-U1, TUQ-U2
    if not divisor or not p.constants["usable"]:
        raise UndefinedResult  # TUQ-U2, TUQ-U4
    product = s(value * s(1 / divisor))  # TUQ-F1, TUQ-U3
    total = whole(s, product) + zero_point  # TUQ-F2
    return to_ends(total, p.constants["least"], p.constants["greatest"])  # TUQ-C2, TUQ-U5


def whole(s: Steps, product: Real) -> Real:
    """The floor of a half more; rounded by another mode where the question is what that would give."""
    if s.mode != UPWARD:
        return s.round(product)
    half_more = s(product + HALF)
    return half_more if isinstance(half_more, float) else Fraction(math.floor(half_more))  # TUQ-R1


FORMULAS = {"tensorflow.UniformQuantize": uniform_quantize}
