"""Where rounding twice differs from rounding once."""

from __future__ import annotations

from tiebreak.golden.lemmas import domains
from tiebreak.golden.lemmas.model import Lemma
from tiebreak.golden.lemmas.steps import TOSA, double, half_of, single
from tiebreak.golden.lemmas.words import Word


def moved(w: int, product: Word, negative: Word, shift: Word) -> Word:
    """Whether the product's low bits lie less than 2^30 before the tie; of a negative value at it or behind it."""
    low, half = product.bits_and((product.of(1) << shift) - 1), half_of(shift)
    before = (low < half) & (low >= half - (1 << (w - 2)))
    behind = (low >= half) & (low < half + (1 << (w - 2)))
    return (negative & behind) | (~negative & before)


def exactly(w: int, product: Word, negative: Word, shift: Word) -> Word:
    below = negative.same(1)
    step = moved(w, product, below, shift).choose(below.choose(-1, 1), 0)
    return double(w, product, below, shift).same(single(product, shift) + step)


def product_of(w: int, value: Word, multiplier: Word, shift: Word) -> tuple[Word, Word]:
    product = value * multiplier
    return double(w, product, value < 0, shift), single(product, shift)


EXACTLY = Lemma(
    id="double-differs-exactly",
    statement="With a shift above 31 DOUBLE_ROUND differs from SINGLE_ROUND exactly if the product's low `shift` bits "
    "lie in [2^(shift-1) - 2^30, 2^(shift-1)), and for a negative value in [2^(shift-1), 2^(shift-1) + 2^30). It is "
    "then one further from zero.",
    sources=(TOSA,),
    clauses=("TRS-R1", "TRS-R2"),
    domain=domains.long_shifts,
    claim=exactly,
    given=domains.signs_agree,
    after=("product-range",),
)
NEVER = Lemma(
    id="double-is-single-below-32",
    statement="With a shift of at most 31 DOUBLE_ROUND is SINGLE_ROUND.",
    sources=(TOSA,),
    clauses=("TRS-R1", "TRS-R2"),
    domain=lambda w: {**domains.products(w), "shift": (2, w - 1)},
    claim=lambda w, product, negative, shift: double(w, product, negative.same(1), shift).same(single(product, shift)),
)
FALSE = Lemma(
    id="double-is-single",
    statement="DOUBLE_ROUND is SINGLE_ROUND.",
    sources=(TOSA,),
    clauses=("TRS-R1", "TRS-R2"),
    domain=domains.values,
    claim=lambda w, **words: product_of(w, **words)[0].same(product_of(w, **words)[1]),
    given=domains.required,
    sides=product_of,
    true=False,
    why="A quarter goes to 1: first to 1/2, then up.",
)


def at_ties(w: int, product: Word, negative: Word, shift: Word) -> Word:
    """Whether both are the neighbour of the quotient that is not further than 1/2."""
    below = negative.same(1)
    off = (double(w, product, below, shift) << shift) - product
    return off.between(half_of(shift) * -1, half_of(shift))


NEAREST = Lemma(
    id="double-is-nearest",
    statement="DOUBLE_ROUND gives a nearest integer.",
    sources=(TOSA,),
    clauses=("TRS-R2",),
    domain=domains.values,
    claim=lambda w, value, multiplier, shift: at_ties(w, value * multiplier, (value < 0).choose(1, 0), shift),
    given=domains.required,
    sides=product_of,
    true=False,
    why="A quarter goes to 1, which is 3/4 away.",
)


def off_by(w: int, product: Word, negative: Word, shift: Word) -> Word:
    off = (double(w, product, negative.same(1), shift) << shift) - product
    most = half_of(shift) + (1 << (w - 2))
    return off.between(most * -1, most)


BOUND = Lemma(
    id="double-error",
    statement="DOUBLE_ROUND is never further from the quotient than 1/2 and 2^(30-shift).",
    sources=(TOSA,),
    clauses=("TRS-R2",),
    domain=domains.long_shifts,
    claim=off_by,
    given=domains.signs_agree,
    after=("product-range",),
    bits=lambda w: 2 * w + 2,
)
LEMMAS = {lemma.id: lemma for lemma in (NEVER, EXACTLY, BOUND, FALSE, NEAREST)}
