"""nvidia.NVFP4Quantize: a scale of 8 bits for each block, and what is left of its numbers in 4 bits.

    s_enc   = 6 * 448 / global_amax, or 1        s_dec = 1 / s_enc
    scale   = e4m3(amax / 6 * s_enc)             amax: the block's greatest magnitude
    element = e2m1(x * (1 / (scale * s_dec)))

The elements take the scale as it is put out: exactly, too, it is rounded there. Working precision rounds every other
step to float32. With global_amax the paper and cuBLAS order the steps differently: what depends on the order is open.
Sources: cuBLAS, 1D Block Quantization; arXiv 2509.25149, appendix B; PTX, cvt.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, Real, decode, encode, encode_saturated
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, divide, finite
from tiebreak.golden.problem import IN_RANGE, ZERO, Elementwise

SIX, WHOLE = Fraction(6), Fraction(6 * 448)


def elements(s: Steps, p: Elementwise, x: Real, of_block: Real, global_amax: Real | None = None) -> Result:
    """`of_block` is the block's greatest magnitude, or its scale if that is given."""
    scale_type = ELEMENT_TYPES["float8_e4m3fn"]
    assert isinstance(p.result, FloatType) and isinstance(scale_type, FloatType)
    scale = of_block if p.constants["given"] else decode(scale_code(s, scale_type, of_block, global_amax), scale_type)
    value, divisor = finite(x, scale)  # NVQ-U1
    if global_amax is None:
        products = [s(value * reciprocal(s, divisor))]  # NVQ-F3
    else:
        whole = encoding(s, global_amax)
        own = reciprocal(s, Fraction(s(divisor * Fraction(s(1 / whole)))))  # NVQ-F5
        factor = Fraction(s(in_float32(whole * reciprocal(s, divisor))))
        products = [s(value * own), s(value * factor), s(s(value * whole) * reciprocal(s, divisor))]  # NVQ-U5
    code = agreed(to_nearest(product, p.result) for product in products)  # NVQ-R2, NVQ-C2
    return (code, IN_RANGE) if decode(code, p.result) else (0, ZERO)  # NVQ-U4


def reciprocal(s: Steps, divisor: Fraction) -> Fraction:
    return Fraction(s(in_float32(divide(Fraction(1), divisor))))  # NVQ-F3, NVQ-U2, NVQ-U3


def agreed(codes: Iterable[int]) -> int:
    """The code that all orders of the steps give; UndefinedResult where they differ."""
    code, *others = codes
    if any(other != code for other in others):
        raise UndefinedResult  # NVQ-U5
    return code


def scales(s: Steps, p: Elementwise, amax: Real, global_amax: Real | None = None) -> Result:
    assert isinstance(p.result, FloatType)
    return scale_code(s, p.result, amax, global_amax), IN_RANGE


def scale_code(s: Steps, kind: FloatType, amax: Real, global_amax: Real | None) -> int:
    (greatest,) = finite(amax)  # NVQ-U1
    quotients = [s(greatest / SIX)]  # NVQ-F1
    if global_amax is not None:
        whole = encoding(s, global_amax)
        quotients = [s(quotients[0] * whole), s(s(greatest * whole) / SIX), s(greatest * s(whole / SIX))]  # NVQ-F4
    return agreed(to_nearest(quotient, kind) for quotient in quotients)  # NVQ-F2, NVQ-R1, NVQ-C1, NVQ-U5


def encoding(s: Steps, global_amax: Real) -> Fraction:
    """The factor s_enc."""
    (whole,) = finite(global_amax)
    if whole <= 0:
        raise UndefinedResult  # NVQ-U3
    return Fraction(s(in_float32(WHOLE / whole)))  # NVQ-F4, NVQ-U3


def in_float32(factor: Real) -> Real:
    """A factor that is a float32 when it is rounded to one. Even in real arithmetic UndefinedResult for a greater."""
    assert isinstance(FLOAT32, FloatType)
    if encode(Fraction(factor), FLOAT32) >= FLOAT32.infinity_bits:
        raise UndefinedResult
    return factor


def to_nearest(value: Real, kind: FloatType) -> int:
    """The code nearest to a number, ties to even, within the type's range. UndefinedResult for NaN."""
    if not math.isfinite(value):
        if math.isnan(value):
            raise UndefinedResult
        return kind.largest_bits | (1 << (kind.bits - 1) if value < 0 else 0)
    return encode_saturated(Fraction(value), kind)


FLOAT32 = ELEMENT_TYPES["float32"]
ID = "nvidia.NVFP4Quantize"
FORMULAS = {ID: elements, f"{ID}:scales": scales}
