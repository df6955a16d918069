"""Nothing that RESCALE adds leaves 64 bits."""

from __future__ import annotations

from tiebreak.golden.lemmas import domains
from tiebreak.golden.lemmas.model import Lemma
from tiebreak.golden.lemmas.steps import TOSA, half_of, nudge
from tiebreak.golden.lemmas.words import Word


def claim(w: int, product: Word, negative: Word, shift: Word) -> Word:
    once = product + half_of(shift)
    end = 1 << (2 * w - 1)
    return once.between(-end, end - 1) & (once + nudge(w, negative.same(1))).between(-end, end - 1)


LEMMA = Lemma(
    id="no-overflow",
    statement="The product, 2^(shift-1) and the 2^30 of DOUBLE_ROUND have a sum that 64 bits hold, whatever the shift.",
    sources=(TOSA,),
    clauses=("TRS-R1", "TRS-R2"),
    domain=domains.products,
    claim=claim,
    after=("product-range", "product-range-16"),
    bits=lambda w: 2 * w + 2,
)
LEMMAS = {LEMMA.id: LEMMA}
