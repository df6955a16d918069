"""ocp.MXQuantize: a power of two for each block, and what is left of its numbers in few bits.

    scale   = 2^(floor(log2(amax)) - emax)      amax: the block's greatest magnitude, 2^emax: the type's largest power
    element = round(x / scale)

The quotient is exact in any floating-point type. The only step that rounds before is that of the mode rceil, which
divides amax by the type's largest value. Sources: OCP MX 1.0, 6.3; torchao's ScaleCalculationMode; cuBLAS, 1D block
quantization.
"""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.elements import (
    ELEMENT_TYPES,
    FloatType,
    IntegerType,
    Real,
    decode,
    encode_saturated,
    exponent_of,
    scaled,
)
from tiebreak.golden.formulas.steps import Result, Steps, UndefinedResult, finite
from tiebreak.golden.problem import IN_RANGE, OUT_OF_RANGE, ZERO, Elementwise

LEAST, MOST = -127, 127  # exponents of E8M0
UNIT = 64  # an INT8 element's integer is its value in 64ths
HIGHEST = 127


def elements(s: Steps, p: Elementwise, x: Real, amax: Real) -> Result:
    value, greatest = finite(x, amax)  # OMQ-U1
    quotient = value / scaled(1, exponent(s, p, greatest)) if greatest else Fraction(0)  # OMQ-F2, OMQ-U3
    return to_int8(s, quotient) if isinstance(p.result, IntegerType) else to_float(p.result, quotient)


def scales(s: Steps, p: Elementwise, amax: Real) -> Result:
    (greatest,) = finite(amax)  # OMQ-U1
    return exponent(s, p, greatest) - LEAST, IN_RANGE  # OMQ-F3


def to_float(kind: FloatType, quotient: Fraction) -> Result:
    code = encode_saturated(quotient, kind)  # OMQ-R1
    if quotient and abs(to_precision(quotient, kind)) > Fraction(decode(kind.largest_bits, kind)):
        return code, OUT_OF_RANGE  # OMQ-U6
    return (code, IN_RANGE) if decode(code, kind) else (0, ZERO)  # OMQ-U4


def to_int8(s: Steps, quotient: Fraction) -> Result:
    whole = int(s.round(quotient * UNIT))  # OMQ-F4, OMQ-R1
    if whole < -HIGHEST:
        raise UndefinedResult  # OMQ-U5
    return min(whole, HIGHEST), IN_RANGE if whole <= HIGHEST else OUT_OF_RANGE  # OMQ-U6


def exponent(s: Steps, p: Elementwise, amax: Fraction) -> int:
    """The scale's exponent of two."""
    mode, kind = p.constants["scaling_mode"], ELEMENT_TYPES[p.constants["to"]]
    if mode == "rceil":
        assert isinstance(kind, FloatType)
        quotient = Fraction(s(amax / decode(kind.largest_bits, kind)))  # OMQ-F7
        return min(max(upward(quotient), LEAST), MOST) if quotient else LEAST  # OMQ-C2
    if not amax:
        raise UndefinedResult  # OMQ-U3
    found = EXPONENTS[mode](amax, kind) - (kind.emax if isinstance(kind, FloatType) else 0)
    if not LEAST <= found <= MOST:
        raise UndefinedResult  # OMQ-U2
    return found


def upward(value: Fraction) -> int:
    """ceil(log2(value)) of a positive value."""
    below = exponent_of(value)
    return below + (value != scaled(1, below))


def of_rounded(amax: Fraction, kind: FloatType) -> int:
    return exponent_of(to_precision(amax, kind))


def to_precision(value: Fraction, kind: FloatType) -> Fraction:
    """A number rounded to a type's precision, ties to even, whatever the type's range."""
    unit = scaled(1, exponent_of(abs(value)) - (kind.precision - 1))
    return round(value / unit) * unit


EXPONENTS = {
    "floor": lambda amax, kind: exponent_of(amax),  # OMQ-F1
    "ceil": lambda amax, kind: upward(amax),  # OMQ-F5
    "even": of_rounded,  # OMQ-F6
}

ID = "ocp.MXQuantize"
FORMULAS = {ID: elements, f"{ID}:scales": scales}
