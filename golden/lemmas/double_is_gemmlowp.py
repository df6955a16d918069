"""TOSA's DOUBLE_ROUND is gemmlowp's pair of roundings, for everything that TOSA defines."""

from __future__ import annotations

from tiebreak.golden.lemmas import domains
from tiebreak.golden.lemmas.domains import Ends
from tiebreak.golden.lemmas.model import Lemma
from tiebreak.golden.lemmas.steps import COMMON, GEMMLOWP, TOSA, divide_by_power, double, high_mul
from tiebreak.golden.lemmas.words import Word


def right(w: int, product: Word, negative: Word, shift: Word) -> Word:
    twice = divide_by_power(high_mul(w, product), shift - (w - 1))
    return double(w, product, negative.same(1), shift).same(twice)


RIGHT = Lemma(
    id="double-is-gemmlowp",
    statement="DOUBLE_ROUND with a shift of 31 or more is SaturatingRoundingDoublingHighMul and then "
    "RoundingDivideByPOT by shift - 31.",
    sources=(TOSA, GEMMLOWP, COMMON),
    clauses=("TRS-R2", "TLR-R3", "TLR-R4"),
    domain=lambda w: {**domains.products(w), "shift": (w - 1, 2 * w - 2)},
    claim=right,
    given=domains.signs_agree,
    after=("product-range",),
)


def left_domain(w: int) -> Ends:
    """TFLite's positive shifts, 31 - shift of TOSA's, and products of the values that TOSA allows with them."""
    return {"left": (0, w - 3), "product": (-(1 << (2 * w - 2)), 1 << (2 * w - 2))}


def fits(w: int, product: Word, left: Word) -> Word:
    """The value lies within 2^(shift-1), so the product moved left lies within 2^30 * 2^31."""
    end = 1 << (2 * w - 3)
    return (product << left).between(-end, end) & ((product << left) >> left).same(product)


def left_claim(w: int, product: Word, left: Word) -> Word:
    shift = left * -1 + (w - 1)
    return double(w, product, product < 0, shift).same(high_mul(w, product << left))


LEFT = Lemma(
    id="double-is-gemmlowp-left",
    statement="DOUBLE_ROUND with a shift of 2 to 31 is SaturatingRoundingDoublingHighMul of the value moved left by "
    "31 - shift, which 32 bits hold, since TOSA requires that the value lies within 2^(shift-1).",
    sources=(TOSA, GEMMLOWP, COMMON),
    clauses=("TRS-R2", "TRS-U3", "TLR-R3"),
    domain=left_domain,
    claim=left_claim,
    given=fits,
    after=("product-range",),
)
LEMMAS = {lemma.id: lemma for lemma in (RIGHT, LEFT)}
