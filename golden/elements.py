"""Element types: what each bit pattern means, as exact rational numbers.

Floating-point types follow IEEE 754-2019 (float16, float32, float64) and the bfloat16 format (8 exponent bits,
8 significand bits); integer types are two's complement. Only Python integers and fractions are used here, so that
the oracle rests on nothing that a runtime under test may share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

Real = Fraction | float  # a float only for what no fraction can hold: NaN and the infinities


@dataclass(frozen=True)
class FloatType:
    """A binary floating-point format: `bits` in all, `precision` significand bits counting the hidden one."""

    name: str
    bits: int
    precision: int

    @property
    def exponent_bits(self) -> int:
        return self.bits - self.precision

    @property
    def emax(self) -> int:
        """The largest exponent of a finite value; also the exponent bias."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def emin(self) -> int:
        """The smallest exponent of a normal value."""
        return 1 - self.emax

    @property
    def infinity_bits(self) -> int:
        return ((1 << self.exponent_bits) - 1) << (self.precision - 1)

    @property
    def largest_bits(self) -> int:
        return self.infinity_bits - 1


@dataclass(frozen=True)
class IntegerType:
    """A two's complement (`signed`) or plain binary integer of `bits` bits."""

    name: str
    bits: int
    signed: bool

    @property
    def lowest(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        return (1 << (self.bits - self.signed)) - 1


FLOAT_TYPES = {
    t.name: t
    for t in (
        FloatType("float16", 16, 11),
        FloatType("bfloat16", 16, 8),
        FloatType("float32", 32, 24),
        FloatType("float64", 64, 53),
    )
}
INTEGER_TYPES = {
    f"{'' if signed else 'u'}int{bits}": IntegerType(f"{'' if signed else 'u'}int{bits}", bits, signed)
    for bits in (4, 8, 16, 32)
    for signed in (True, False)
}


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy dtype of an element type; bfloat16, int4 and uint4 are ml_dtypes'."""
    import ml_dtypes
    import numpy as np

    return np.dtype(getattr(ml_dtypes, name) if name in ("bfloat16", "int4", "uint4") else name)


def decode(bits: int, real: FloatType) -> Real:
    """The value of a bit pattern: a Fraction, or a float NaN or infinity. Both zeros give Fraction(0)."""
    negative, magnitude = divmod(bits, 1 << (real.bits - 1))
    if magnitude >= real.infinity_bits:
        return math.nan if magnitude > real.infinity_bits else math.copysign(math.inf, -negative or 1)
    exponent, significand = divmod(magnitude, 1 << (real.precision - 1))
    if exponent:
        significand += 1 << (real.precision - 1)
    power = max(exponent, 1) - real.emax - (real.precision - 1)
    value = Fraction(significand << power) if power >= 0 else Fraction(significand, 1 << -power)
    return -value if negative else value


def exponent_of(value: Fraction) -> int:
    """floor(log2(|value|)) of a non-zero value."""
    numerator, denominator = abs(value.numerator), value.denominator
    guess = numerator.bit_length() - denominator.bit_length()
    fits = numerator >= denominator << guess if guess >= 0 else numerator << -guess >= denominator
    return guess if fits else guess - 1


def encode(value: Fraction, real: FloatType) -> int:
    """The bit pattern nearest to `value`, ties to even, subnormals kept, overflow to infinity (IEEE 754-2019, 4.3.1).

    A negative value that rounds to zero gives the negative zero; Fraction(0) gives the positive one.
    """
    if not value:
        return 0
    power = max(exponent_of(value), real.emin) - (real.precision - 1)
    scaled = abs(value) * Fraction(2) ** -power
    significand = round(scaled)  # Fraction rounds half to even
    # A subnormal has exponent field 0, a normal's hidden bit adds one to it, a carry to the next binade one more.
    field = (power + real.precision - 1) + real.emax - 1
    bits = min((field << (real.precision - 1)) + significand, real.infinity_bits)
    return bits | (1 << (real.bits - 1) if value < 0 else 0)


def ulp(value: Fraction, real: FloatType) -> Fraction:
    """The distance between neighbouring values of `real` at the magnitude of `value`."""
    exponent = max(exponent_of(value), real.emin) if value else real.emin
    return Fraction(2) ** (exponent - (real.precision - 1))


def neighbour(bits: int, real: FloatType, steps: int) -> int:
    """The bit pattern `steps` values further up (down if negative), both zeros being one; infinities are the end."""
    sign = 1 << (real.bits - 1)
    ordinal = -(bits - sign) if bits & sign else bits
    ordinal = max(-real.infinity_bits, min(real.infinity_bits, ordinal + steps))
    return sign - ordinal if ordinal < 0 else ordinal


@lru_cache(maxsize=1 << 16)
def decimal(bits: int, real: FloatType) -> str:
    """The shortest decimal that reads back as these bits, as repr() of a Python float would write it."""
    value = decode(bits, real)
    sign = "-" if bits >> (real.bits - 1) else ""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else f"{sign}inf"
    digits = 0
    while True:
        digits += 1
        text = f"{float(abs(value)):.{digits}g}"
        if digits == 17 or encode(Fraction(text), real) == bits & ~(1 << (real.bits - 1)):
            return sign + repr(float(text))


def parse_real(text: str, real: FloatType) -> int:
    """Bits of a real number typed by a person: 0x… is a bit pattern, anything else a decimal rounded once.

    Raises ValueError with one line for anything else.
    """
    cleaned = text.strip().lower()
    sign = 1 << (real.bits - 1) if cleaned.startswith("-") else 0
    try:
        if cleaned.startswith("0x"):
            return bounded_bits(cleaned, real)
        if cleaned.lstrip("+-") in ("inf", "infinity"):
            return sign | real.infinity_bits
        if cleaned.lstrip("+-") == "nan":
            return sign | real.infinity_bits | 1 << (real.precision - 2)
        return encode(bounded_fraction(cleaned), real) | sign
    except (ValueError, ZeroDivisionError):
        allowed = f"write a decimal, inf, nan, or the {real.bits} bits of a {real.name} as 0x…"
        raise ValueError(f"{text[:40]!r} is not a number: {allowed}") from None


def bounded_bits(text: str, real: FloatType) -> int:
    bits = int(text, 16)
    if bits >> real.bits:
        raise ValueError(text)
    return bits


def bounded_fraction(text: str) -> Fraction:
    """Fraction(text), refusing exponents that would fill the memory before they overflow every type."""
    exponent = text.partition("e")[2]
    if len(text) > 2000 or (exponent and abs(int(exponent)) > 5000):
        raise ValueError(text)
    return Fraction(text)
