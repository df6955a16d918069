"""TFLite's single rounding is TOSA's, wherever TOSA defines a result; the other way round it is not."""

from __future__ import annotations

from tiebreak.golden.lemmas import domains
from tiebreak.golden.lemmas.domains import Ends
from tiebreak.golden.lemmas.model import Lemma
from tiebreak.golden.lemmas.steps import COMMON, TOSA, kernels_single, single
from tiebreak.golden.lemmas.words import Word


def same(w: int, value: Word, multiplier: Word, shift: Word) -> Word:
    product = value * multiplier
    return kernels_single(product, shift).same(single(product, shift))


def of_word(w: int, value: Word, multiplier: Word, shift: Word) -> Word:
    """Whether TFLite's result is a word, which its kernels assert and do not ensure."""
    end = 1 << (w - 1)
    return kernels_single(value * multiplier, shift).between(-end, end - 1)


def kernels_domain(w: int) -> Ends:
    """TFLite asserts shifts of -31 to 30, which are total shifts of 1 to 62, and no range of the value."""
    return {**domains.values(w), "shift": (1, 2 * w - 2)}


def furthest(w: int, shift: Word) -> Word:
    """The greatest magnitude of a product: of the value -2^(shift-1)."""
    return shift.of((1 << (w - 1)) - 1) << (shift - 1)


SAME = Lemma(
    id="single-is-tflite",
    statement="SINGLE_ROUND with a multiplier of 32 bits is TFLite's MultiplyByQuantizedMultiplier, built with "
    "TFLITE_SINGLE_ROUNDING, of the shift 31 - shift.",
    sources=(TOSA, COMMON),
    clauses=("TRS-R1", "TLR-R2"),
    domain=domains.values,
    claim=same,
    given=domains.required,
)
FITS = Lemma(
    id="single-fits",
    statement="What TOSA requires of the value makes the result one of 32 bits, as TFLite asserts.",
    sources=(TOSA, COMMON),
    clauses=("TRS-U3", "TLR-R2"),
    domain=lambda w: {"shift": (2, w), "product": (-(1 << (2 * w - 2)), 1 << (2 * w - 2))},
    claim=lambda w, product, shift: single(product, shift).between(-(1 << (w - 1)), (1 << (w - 1)) - 1),
    given=lambda w, product, shift: product.between(furthest(w, shift) * -1, furthest(w, shift)),
    after=("product-range",),
)


WITHOUT = Lemma(
    id="single-fits-always",
    statement="TFLite's single rounding gives 32 bits for each value, multiplier and shift that it asserts.",
    sources=(COMMON,),
    clauses=("TLR-U4",),
    domain=kernels_domain,
    claim=of_word,
    sides=lambda w, value, multiplier, shift: (kernels_single(value * multiplier, shift), value.of((1 << (w - 1)) - 1)),
    true=False,
    why="The result is 2^31. TOSA leaves such values out, and a shift of 1; TFLite asserts what the result is.",
)
LEMMAS = {lemma.id: lemma for lemma in (SAME, FITS, WITHOUT)}
