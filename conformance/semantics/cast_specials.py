"""The facets `nan`, `positive_infinity` and `negative_infinity` of a cast: what these inputs give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tiebreak.conformance.semantics.cast_inputs import SMALL_BITS, ElementType
from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.type_grids import sign_bit
from tiebreak.golden.elements import FloatType, IntegerType

SPECIALS = ("nan", "positive_infinity", "negative_infinity")


@dataclass(frozen=True, eq=False)
class CastSpecial:
    """`code` gives the output's code, from its type and whether the input's sign is negative; None if it has none.

    `as_large`: what the largest finite number of that sign gives, whatever that is.
    """

    id: str
    sentence: str
    code: Callable[[ElementType, bool], int | None]
    cause: str = ""
    as_large: bool = False


def sign_of(kind: FloatType, negative: bool) -> int:
    return sign_bit(kind) if negative and kind.specials != "e8m0" else 0


def nan(kind: ElementType, negative: bool) -> int | None:
    return kind.nan_bits if isinstance(kind, FloatType) else None


def infinity(kind: ElementType, negative: bool) -> int | None:
    if isinstance(kind, FloatType) and kind.specials == "ieee":
        return kind.infinity_bits | sign_of(kind, negative)
    return None


def end(below: bool | None, kind: ElementType, negative: bool) -> int | None:
    """The highest value, the lowest if `below`; of the input's sign if that is None."""
    low = negative if below is None else below
    if isinstance(kind, IntegerType):
        return kind.lowest if low else kind.highest
    if kind.specials == "e8m0":
        return 0 if low else kind.largest_bits
    return kind.largest_bits | sign_of(kind, low)


def zero(turned: bool | None, kind: ElementType, negative: bool) -> int | None:
    """Zero, with the input's sign, or the other one if `turned`; the positive one if that is None."""
    if isinstance(kind, IntegerType):
        return 0 if turned is None else None
    if kind.specials == "e8m0" or (turned is not None and (kind.specials == "fnuz" or kind.bits > SMALL_BITS)):
        return None
    return 0 if turned is None else sign_of(kind, negative is not turned)


def all_ones(kind: ElementType, negative: bool) -> int | None:
    return -1 if isinstance(kind, IntegerType) and kind.signed else None


def not_known(kind: ElementType, negative: bool) -> int | None:
    return None


def end_but_nan_if_positive(kind: ElementType, negative: bool) -> int | None:
    return 0 if negative and isinstance(kind, FloatType) and kind.specials == "e8m0" else nan(kind, negative)


VALUES = (
    CastSpecial("nan", "NaN", nan),
    CastSpecial("infinity", "an infinity of the input's sign", infinity, "infinity-stays"),
    CastSpecial("largest", "the end of the range on the side of the input's sign", partial(end, None)),
    CastSpecial("zero", "0", partial(zero, None)),
    CastSpecial("highest", "the type's highest value", partial(end, False)),
    CastSpecial("lowest", "the type's lowest value", partial(end, True)),
    CastSpecial("zero-of-its-sign", "0 with the input's sign", partial(zero, False)),
    CastSpecial("zero-of-other-sign", "0 with the other sign than the input's", partial(zero, True)),
    CastSpecial("minus-one", "-1, whose bits are all ones", all_ones),
    CastSpecial("nan-or-least", "NaN, but the least power of two if its sign is negative", end_but_nan_if_positive),
)


AS_LARGE = CastSpecial(
    "as-large-numbers", "what the largest finite number of that sign gives", not_known, as_large=True
)


def special_facets(source: ElementType, target: ElementType) -> tuple[Facet, ...]:
    """Those of the inputs that the source's type has, each with the values that differ from the ones before."""
    if not isinstance(source, FloatType):
        return ()
    has = (source.nan_bits is not None, source.specials == "ieee", source.specials == "ieee")
    return tuple(
        Facet(name, (*distinct(target, signs_of(source, name)), *((AS_LARGE,) if name != "nan" else ())))
        for name, there in zip(SPECIALS, has, strict=True)
        if there
    )


def signs_of(source: FloatType, name: str) -> tuple[bool, ...]:
    """The signs (whether negative) that such an input may have."""
    if name != "nan":
        return (name == "negative_infinity",)
    return (False, True) if source.specials in ("ieee", "fn") else (False,)


def distinct(target: ElementType, signs: tuple[bool, ...]) -> Iterator[CastSpecial]:
    seen = set[tuple[int | None, ...]]()
    for value in VALUES:
        codes = tuple(value.code(target, sign) for sign in signs)
        if None not in codes and codes not in seen:
            seen.add(codes)
            yield value
