"""The facets `nan`, `positive_infinity` and `negative_infinity` of round(x / scale) + zero_point: their codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from tiebreak.conformance.semantics.model import Facet
from tiebreak.golden.elements import IntegerType

SPECIALS = ("nan", "positive_infinity", "negative_infinity")


@dataclass(frozen=True, eq=False)
class SpecialEnd:
    """`code` gives the code, from the type's lowest and highest value and the zero point.

    `of_zero`: where the lowest value is 0, it coincides with another one.
    """

    id: str
    sentence: str
    code: Callable[[int, int, int], int]
    of_zero: bool = False
    cause: str = ""


def wrapped(total: int, lowest: int, highest: int) -> int:
    return (total - lowest) % (highest - lowest + 1) + lowest


LOWEST = SpecialEnd("lowest", "the type's lowest value", lambda lowest, highest, zero_point: lowest)
HIGHEST = SpecialEnd("highest", "the type's highest value", lambda lowest, highest, zero_point: highest)
ZERO = SpecialEnd(
    "zero",
    "0, or the end of the range that is next to it",
    lambda lowest, highest, zero_point: min(max(0, lowest), highest),
)
ENDS = (
    LOWEST,
    SpecialEnd("lowest-but-one", "the lowest value of a narrow range", lambda lowest, highest, zero_point: lowest + 1),
    HIGHEST,
    ZERO,
    SpecialEnd("zero-point", "the zero point, as if 0 were quantized", lambda lowest, highest, zero_point: zero_point),
    SpecialEnd(
        "zero-point-but-lowest",
        "the zero point, as if 0 were quantized to a narrow range",
        lambda lowest, highest, zero_point: max(zero_point, lowest + 1),
    ),
    SpecialEnd(
        "int32",
        "the lowest int32 (or int64) plus the zero point, which overflows if that is negative, clamped",
        lambda lowest, highest, zero_point: lowest if zero_point >= 0 else highest,
        of_zero=True,
    ),
    SpecialEnd(
        "highest-before-zero-point",
        "the type's highest value plus the zero point, clamped",
        lambda lowest, highest, zero_point: min(highest + zero_point, highest),
        of_zero=True,
    ),
    SpecialEnd(
        "lowest-before-zero-point",
        "the type's lowest value plus the zero point, clamped",
        lambda lowest, highest, zero_point: max(lowest + zero_point, lowest),
        of_zero=True,
    ),
    SpecialEnd(
        "highest-before-zero-point-then-wrap",
        "the low bits of the type's highest value plus the zero point",
        lambda lowest, highest, zero_point: wrapped(highest + zero_point, lowest, highest),
    ),
    SpecialEnd(
        "lowest-before-zero-point-then-wrap",
        "the low bits of the type's lowest value plus the zero point",
        lambda lowest, highest, zero_point: wrapped(lowest + zero_point, lowest, highest),
        of_zero=True,
    ),
)


@lru_cache(maxsize=16)
def special_facets(quantized: IntegerType) -> tuple[Facet, ...]:
    """Where the range begins with 0, some values coincide: only "zero" is kept for NaN, "lowest" for infinities."""
    return tuple(
        Facet(name, tuple(end for end in ENDS if quantized.lowest or not (end.of_zero or end is same)))
        for name, same in zip(SPECIALS, (LOWEST, ZERO, ZERO), strict=True)
    )
