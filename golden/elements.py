"""Element types: what each bit pattern means, as exact rational numbers.

float16, float32 and float64 follow IEEE 754-2019; bfloat16 has 8 exponent bits and 8 significand bits. The small
floating-point types follow the OCP 8-bit and Microscaling formats, or their variants without a negative zero. Integer
types are two's complement. Only Python integers and fractions are used here, so that the oracle rests on nothing that
a runtime under test may share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from tiebreak.golden.errors import InvalidInput, MissingType

if TYPE_CHECKING:
    import numpy as np

Real = Fraction | float  # a float only for what no fraction can hold: NaN, infinities and, where it counts, -0.0


@dataclass(frozen=True)
class FloatType:
    """A binary floating-point format: `bits` in all, `precision` significand bits counting the hidden one.

    `specials` says what the patterns beyond the largest finite value are:

    - "ieee": infinity, then NaNs.
    - "fn": no infinity, one NaN of either sign.
    - "fnuz": no infinity; the pattern of the negative zero is the one NaN.
    - "none": neither infinity nor NaN.
    - "e8m0": no sign and no zero, only powers of two and one NaN.
    """

    name: str
    bits: int
    precision: int
    specials: str = "ieee"
    exponent_bias: int = 0  # 0: the usual one

    @cached_property
    def exponent_bits(self) -> int:
        return self.bits - self.precision + (self.specials == "e8m0")

    @cached_property
    def bias(self) -> int:
        return self.exponent_bias or (1 << (self.exponent_bits - 1)) - 1

    @cached_property
    def emax(self) -> int:
        """The largest exponent of a finite value."""
        reserved = self.specials in ("ieee", "e8m0")
        return (1 << self.exponent_bits) - 1 - self.bias - reserved

    @cached_property
    def emin(self) -> int:
        """The smallest exponent of a normal value."""
        return 1 - self.bias if self.specials != "e8m0" else -self.bias

    @cached_property
    def infinity_bits(self) -> int:
        """The first magnitude that is not a finite value: infinity where the format has one."""
        if self.specials == "ieee":
            return ((1 << self.exponent_bits) - 1) << (self.precision - 1)
        return (1 << (self.bits - (self.specials != "e8m0"))) - (self.specials in ("fn", "e8m0"))

    @cached_property
    def largest_bits(self) -> int:
        return self.infinity_bits - 1

    @cached_property
    def nan_bits(self) -> int | None:
        """The pattern that Tiebreak writes for NaN; None if the format has none."""
        if self.specials == "ieee":
            return self.infinity_bits | 1 << (self.precision - 2)
        return {"fn": self.infinity_bits, "fnuz": 1 << (self.bits - 1), "e8m0": 255}.get(self.specials)

    def is_nan(self, bits: int) -> bool:
        if self.specials == "ieee":
            return bits & ~(1 << (self.bits - 1)) > self.infinity_bits
        if self.specials == "fn":
            return bits & ~(1 << (self.bits - 1)) == self.infinity_bits
        return bits == self.nan_bits


@dataclass(frozen=True)
class IntegerType:
    """A two's complement (`signed`) or plain binary integer of `bits` bits."""

    name: str
    bits: int
    signed: bool

    @cached_property
    def lowest(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @cached_property
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
    for bits in (2, 4, 8, 16, 32)
    for signed in (True, False)
} | {"int48": IntegerType("int48", 48, True)}
CARRIERS = {"int48": "int64"}  # of types that no array has: what holds their values. Each holds one type alone
SMALL_FLOAT_TYPES = {
    t.name: t
    for t in (
        FloatType("float8_e4m3fn", 8, 4, "fn"),
        FloatType("float8_e4m3fnuz", 8, 4, "fnuz", 8),
        FloatType("float8_e5m2", 8, 3),
        FloatType("float8_e5m2fnuz", 8, 3, "fnuz", 16),
        FloatType("float6_e3m2fn", 6, 3, "none"),
        FloatType("float6_e2m3fn", 6, 4, "none"),
        FloatType("float4_e2m1fn", 4, 2, "none"),
        FloatType("float8_e8m0fnu", 8, 1, "e8m0"),
    )
}
ELEMENT_TYPES: dict[str, FloatType | IntegerType] = {**FLOAT_TYPES, **INTEGER_TYPES, **SMALL_FLOAT_TYPES}
NUMPY_OWN = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32", "float64")


def element_type(name: str) -> FloatType | IntegerType:
    """The element type with this name, as a file gives it. InvalidInput, which lists all, for a name of none."""
    if name not in ELEMENT_TYPES:
        raise InvalidInput(f"unknown element type {name!r}; there are {', '.join(ELEMENT_TYPES)}")
    return ELEMENT_TYPES[name]


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy dtype of an element type; those that NumPy lacks are ml_dtypes', or an integer of more bits.

    MissingType if ml_dtypes lacks it too, InvalidInput for a name that is no element type.
    """
    import numpy as np

    element_type(name)
    if name in NUMPY_OWN or name in CARRIERS:
        return np.dtype(CARRIERS.get(name, name))
    try:
        import ml_dtypes
    except ImportError:
        raise MissingType(f"no {name} here: it needs ml_dtypes") from None
    found = getattr(ml_dtypes, name, None)
    version = str(ml_dtypes.__version__)
    # Before 0.5 the unused bits of a byte that holds a narrow integer could be anything.
    if found is None or ("int" in name and tuple(map(int, version.split(".")[:2])) < (0, 5)):
        raise MissingType(f"no {name} here: ml_dtypes {version} is too old")
    dtype: np.dtype = np.dtype(found)
    return dtype


def decode(bits: int, real: FloatType) -> Real:
    """The value of a bit pattern: a Fraction, or a float NaN or infinity. Both zeros give Fraction(0)."""
    if real.is_nan(bits):
        return math.nan
    if real.specials == "e8m0":
        return scaled(1, bits - real.bias)
    negative, magnitude = divmod(bits, 1 << (real.bits - 1))
    if magnitude >= real.infinity_bits:
        return math.copysign(math.inf, -negative or 1)
    exponent, significand = divmod(magnitude, 1 << (real.precision - 1))
    if exponent:
        significand += 1 << (real.precision - 1)
    power = max(exponent, 1) - real.bias - (real.precision - 1)
    return scaled(-significand if negative else significand, power)


def scaled(number: int, power: int) -> Fraction:
    """number * 2^power; faster than powers of a Fraction."""
    return Fraction(number << power) if power >= 0 else Fraction(number, 1 << -power)


def exponent_of(value: Fraction) -> int:
    """floor(log2(|value|)) of a non-zero value."""
    numerator, denominator = abs(value.numerator), value.denominator
    guess = numerator.bit_length() - denominator.bit_length()
    fits = numerator >= denominator << guess if guess >= 0 else numerator << -guess >= denominator
    return guess if fits else guess - 1


def magnitude_of(value: Fraction, real: FloatType) -> int:
    """The pattern of |value| rounded to nearest, ties to even, subnormals kept; the exponent has no upper limit."""
    if not value:
        return 0
    power = max(exponent_of(value), real.emin) - (real.precision - 1)
    numerator, denominator = abs(value.numerator) << max(-power, 0), value.denominator << max(power, 0)
    significand, rest = divmod(numerator, denominator)
    significand += (2 * rest, significand & 1) > (denominator, 0)  # half to even
    # A subnormal has exponent field 0, a normal's hidden bit adds one to it, a carry to the next binade one more.
    field = (power + real.precision - 1) + real.bias - 1
    return (field << (real.precision - 1)) + significand


def encode(value: Fraction, real: FloatType) -> int:
    """The bit pattern nearest to `value`, ties to even, subnormals kept, overflow to infinity (IEEE 754-2019, 4.3.1).

    A negative value that rounds to zero gives the negative zero, where there is one; Fraction(0) gives the positive
    one. A format without infinity gives its NaN instead, one without NaN its largest value.
    """
    magnitude = magnitude_of(value, real)
    if magnitude >= real.infinity_bits and real.specials != "ieee":
        return real.largest_bits | signed_bit(value, real) if real.nan_bits is None else real.nan_bits
    if not magnitude and real.specials == "fnuz":
        return 0
    return min(magnitude, real.infinity_bits) | signed_bit(value, real)


def encode_saturated(value: Fraction, real: FloatType) -> int:
    """Like `encode`, but a value that rounds beyond the largest finite value becomes that value."""
    magnitude = min(magnitude_of(value, real), real.largest_bits)
    return magnitude | (signed_bit(value, real) if magnitude or real.specials != "fnuz" else 0)


def signed_bit(value: Fraction, real: FloatType) -> int:
    return 1 << (real.bits - 1) if value < 0 else 0


def ulp(value: Fraction, real: FloatType) -> Fraction:
    """The distance between neighbouring values of `real` at the magnitude of `value`."""
    exponent = max(exponent_of(value), real.emin) if value else real.emin
    return scaled(1, exponent - (real.precision - 1))


def neighbour(bits: int, real: FloatType, steps: int) -> int:
    """The bit pattern `steps` values up (down if negative). Both zeros are one value; infinities are the last ones."""
    sign = 1 << (real.bits - 1)
    ordinal = -(bits - sign) if bits & sign else bits
    ordinal = max(-real.infinity_bits, min(real.infinity_bits, ordinal + steps))
    return sign - ordinal if ordinal < 0 else ordinal


@lru_cache(maxsize=1 << 16)
def decimal(bits: int, real: FloatType) -> str:
    """The value of these bits, as repr() of a Python float writes it; see `shortest` for those of too many digits."""
    value = decode(bits, real)
    mark = 0 if real.specials == "e8m0" else 1 << (real.bits - 1)
    sign = "-" if bits & mark else ""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else f"{sign}inf"
    text = repr(float(abs(value)))
    return sign + (text if Fraction(text) == abs(value) else shortest(Fraction(abs(value)), real))


def shortest(value: Fraction, real: FloatType) -> str:
    """The shortest decimal that reads back as a positive value of the type, or of float32 if the type is narrower."""
    held = real if real.bits > 32 else FLOAT_TYPES["float32"]
    bits = encode(value, held)
    texts = (f"{float(value):.{digits}g}" for digits in range(1, 17))
    return repr(float(next((text for text in texts if encode(Fraction(text), held) == bits), float(value))))


def parse_real(text: str, real: FloatType) -> int:
    """Bits of a real number typed by a person: 0x… is a bit pattern, anything else a decimal rounded once.

    Raises ValueError with a message of one line for a text that is no number.
    """
    cleaned = text.strip().lower()
    sign = 1 << (real.bits - 1) if cleaned.startswith("-") else 0
    try:
        if cleaned.startswith("0x"):
            return bounded_bits(cleaned, real)
        if cleaned.lstrip("+-") in ("inf", "infinity") and real.specials == "ieee":
            return sign | real.infinity_bits
        if cleaned.lstrip("+-") == "nan":
            return sign | (real.nan_bits or bounded_bits("", real))
        return encode(bounded_fraction(cleaned), real) | sign
    except (ValueError, ZeroDivisionError):
        words = "" if real.nan_bits is None else "nan, " if real.specials != "ieee" else "inf, nan, "
        allowed = f"write a decimal, {words}or the {real.bits} bits of a {real.name} as 0x…"
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
