"""Where the product of a value and a multiplier lies: with 32 bits each, and with 48 and 16."""

from __future__ import annotations

from tiebreak.golden.lemmas.model import Lemma
from tiebreak.golden.lemmas.steps import TOSA
from tiebreak.golden.lemmas.words import Word


def claim(w: int, magnitude: Word, multiplier: Word) -> Word:
    product = magnitude * multiplier
    return product.between(0, 1 << (2 * w - 2))


PLAIN = Lemma(
    id="product-range",
    statement="A magnitude of at most 2^31 times a multiplier of 32 bits, not negative, lies between 0 and 2^62. So "
    "the product lies between -2^62 and 2^62, and a value below 0 gives none above 0.",
    sources=(TOSA,),
    clauses=("TRS-F1", "TRS-F2"),
    domain=lambda w: {"magnitude": (0, 1 << (w - 1)), "multiplier": (0, (1 << (w - 1)) - 1)},
    claim=claim,
)
WIDE = Lemma(
    id="product-range-16",
    statement="A magnitude of at most 2^47 times a multiplier of 16 bits, not negative, lies between 0 and 2^62.",
    sources=(TOSA,),
    clauses=("TRS-F1", "TRS-F3"),
    domain=lambda w: {"magnitude": (0, 1 << (3 * w // 2 - 1)), "multiplier": (0, (1 << (w // 2 - 1)) - 1)},
    claim=claim,
)
LEMMAS = {lemma.id: lemma for lemma in (PLAIN, WIDE)}
