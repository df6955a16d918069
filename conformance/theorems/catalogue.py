"""The theorems: which two arithmetics are compared, where, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tiebreak.conformance.theorems.arithmetics import NamedArithmetic, arithmetic_named
from tiebreak.conformance.theorems.scale_domains import ScaleDomain


@dataclass(frozen=True)
class Theorem:
    """Two arithmetics on a domain. `equal` says whether no code differs, `why` gives the reason."""

    left: NamedArithmetic
    right: NamedArithmetic
    domain: ScaleDomain
    equal: bool
    why: str

    @property
    def id(self) -> str:
        """A name for files and links: both arithmetics and the domain."""
        domain = self.domain
        zero_point = "every-zero-point" if domain.zero_point is None else f"zero-point-{domain.zero_point}"
        where = [domain.real, domain.quantized, zero_point, *([] if domain.ends else ["normal"])]
        return "-".join([hyphened(self.left.name), "against", hyphened(self.right.name), *where])

    @property
    def statement(self) -> str:
        verb = "gives the same codes as" if self.equal else "gives other codes than"
        return f"`{self.left.name}` {verb} `{self.right.name}`: {self.domain.text}."


def hyphened(name: str) -> str:
    return "-".join(name.lower().replace(",", " ").replace("_", "-").split())


BYTES = (ScaleDomain(quantized="uint8"), ScaleDomain(quantized="int8"))
NORMAL_BYTES = (ScaleDomain(quantized="uint8", ends=False), ScaleDomain(quantized="int8", ends=False))
ALL_BYTES = (ScaleDomain(quantized="uint8", zero_point=None),)
NORMAL_ALL_BYTES = (ScaleDomain(quantized="uint8", zero_point=None, ends=False),)
EVEN, NORMAL_EVEN = (ScaleDomain(zero_point=128),), (ScaleDomain(zero_point=128, ends=False),)
ODD = (ScaleDomain(zero_point=127, ends=False), ScaleDomain(zero_point=255, ends=False))
WORDS = (ScaleDomain(quantized="uint16", ends=False),)
RANGES = (*NORMAL_BYTES, ScaleDomain(zero_point=128, ends=False))
NARROW = tuple(ScaleDomain(real, one) for real in ("float16", "bfloat16") for one in ("uint8", "int8"))

DOUBLE = (
    "The quotient is either k + 1/2, which float64 holds, or farther from it than float64's rounding reaches: "
    "x and (k + 1/2) * scale have at most 24 and 42 significant bits."
)
SINGLE = "A quotient nearer to a half than float32 can tell is rounded to the half, and then to even."
INVERSE = "1 / scale is rounded, then the product is: two errors instead of one."
INVERSE_DOUBLE = (
    "1 / scale is rounded to float64. Only a tie can be missed: no other quotient is near enough to a half."
)
INVERSE_NARROW = "1 / scale is rounded to float32; the product of two float32 numbers is exact in float64."
ONCE = "1 / scale is rounded; then the product plus the zero point is, as coarsely as the sum is large."
EVEN_SHIFT = "An even zero point keeps each tie's even neighbour even, and sums near a half are exact."
ODD_SHIFT = "An odd zero point makes each tie's even neighbour odd."
SUM_SINGLE = "The sum of the quotient and the zero point is rounded to float32, which can move it to a half."
HALF = "v + 0.5 is rounded to float32; and floor takes each tie up, not to even."
UPWARD = "v + 0.5 is rounded to float32, which can make an integer of a sum just below it."
TIES = "Only a tie, a quotient of k + 1/2, can differ: ties away from zero, not to even."
NARROW_DIVIDED = (
    "The quotient is k + 1/2 or farther from it than float32's rounding reaches: x and (k + 1/2) * scale have at most "
    "11 and 20 significant bits."
)
NARROW_ROUNDED = "A quotient nearer to a half than the type can tell is rounded to the half, and then to even."
TIES_AND_SINGLE = "Quotients that are a tie, or that float32 takes for one, go away from zero, not to even."
RANGE = "A FakeQuantize counts steps of a range whose ends and width are rounded to float32."


def theorems() -> tuple[Theorem, ...]:
    """Every theorem, the quick ones first."""
    return (*single(), *further(), *zero_points(), *narrow(), *words())


def each(left: str, right: str, domains: Iterable[ScaleDomain], *, equal: bool = False, why: str) -> Iterator[Theorem]:
    pair = arithmetic_named(left), arithmetic_named(right)
    return (Theorem(*pair, domain, equal, why) for domain in domains)


def single() -> Iterator[Theorem]:
    """Float32 inputs, codes of 8 bits: every scale."""
    yield from each("reciprocal in float32", "divide in float32", BYTES, why=INVERSE)
    yield from each("divide in float32", "exact", BYTES, why=SINGLE)
    yield from each("reciprocal in float32", "exact", BYTES, why=INVERSE)
    yield from each("divide in float64", "exact", ALL_BYTES, equal=True, why=DOUBLE)
    yield from each("reciprocal in float32", "divide in float32", NORMAL_ALL_BYTES, why=INVERSE)
    yield from each("divide in float32", "exact", NORMAL_ALL_BYTES, why=SINGLE)


def further() -> Iterator[Theorem]:
    """Float32 inputs, codes of 8 bits: scales at which nothing is subnormal or overflows."""
    yield from each("reciprocal in float64", "exact", NORMAL_BYTES, why=INVERSE_DOUBLE)
    yield from each("narrow-reciprocal in float64", "exact", NORMAL_BYTES, why=INVERSE_NARROW)
    yield from each("narrow-reciprocal in float64", "divide in float32", NORMAL_BYTES, why=INVERSE_NARROW)
    away = ", ROUND_NEAREST_TOWARD_INFINITY"
    yield from each(f"exact{away}", "exact", NORMAL_BYTES, why=TIES)
    yield from each(f"divide in float32{away}", "divide in float32", NORMAL_BYTES, why=TIES_AND_SINGLE)
    up = "divide in float32, floor-of-half-more"
    yield from each(up, "divide in float32", NORMAL_BYTES, why=HALF)
    yield from each(up, "divide in float32, ROUND_NEAREST_UPWARD", NORMAL_BYTES, why=UPWARD)
    for name in ("range", "range-multiplied", "range-fused"):
        yield from each(f"{name} in float32", "exact", RANGES, why=RANGE)
        yield from each(f"{name} in float32", "divide in float32", RANGES, why=RANGE)


def zero_points() -> Iterator[Theorem]:
    """A zero point that is added before rounding, or in a fused step."""
    wider = "divide in float32, before-rounding-in-float64"
    for left, right in (("exact, before-rounding", "exact"), (wider, "divide in float32")):
        yield from each(left, right, EVEN, equal=True, why=EVEN_SHIFT)
        yield from each(left, right, ODD, why=ODD_SHIFT)
    yield from each("divide in float32, before-rounding", "divide in float32", (*NORMAL_EVEN, *ODD), why=SUM_SINGLE)
    yield from each("reciprocal in float32, before-rounding", "divide in float32", (*NORMAL_EVEN, *ODD), why=SUM_SINGLE)
    for right in ("divide in float32", "exact"):
        yield from each("fused in float32", right, (NORMAL_BYTES[0], *NORMAL_EVEN, *ODD), why=ONCE)


def narrow() -> Iterator[Theorem]:
    """Inputs and scales of float16 or bfloat16: every one."""
    yield from each("divide in float32", "exact", NARROW, equal=True, why=NARROW_DIVIDED)
    yield from each("reciprocal in float32", "exact", NARROW, why=INVERSE)
    for real in ("float16", "bfloat16"):
        own = [domain for domain in NARROW if domain.real == real]
        yield from each(f"divide in {real}", "exact", own, why=NARROW_ROUNDED)
        yield from each(f"reciprocal in {real}", f"divide in {real}", own, why=INVERSE)


def words() -> Iterator[Theorem]:
    """Float32 inputs, codes of 16 bits: scales at which nothing is subnormal or overflows."""
    yield from each("reciprocal in float32", "divide in float32", WORDS, why=INVERSE)
