"""gemmlowp's product of high halves rounds ties upward, and is the vector instruction that its text names."""

from __future__ import annotations

from tiebreak.golden.lemmas import domains
from tiebreak.golden.lemmas.domains import Ends
from tiebreak.golden.lemmas.model import Lemma
from tiebreak.golden.lemmas.steps import GEMMLOWP, NEON, high_mul
from tiebreak.golden.lemmas.words import Word


def domain(w: int) -> Ends:
    """Products of two words but for that of the two least, which saturates."""
    ends = domains.products(w)["product"]
    return {"product": (ends[0], ends[1] - 1)}


UPWARD = Lemma(
    id="high-mul-upward",
    statement="SaturatingRoundingDoublingHighMul is (product + 2^30) shifted right by 31: ties go upward, of negative "
    "products too, although its text divides toward zero.",
    sources=(GEMMLOWP,),
    clauses=("TLR-R3",),
    domain=domain,
    claim=lambda w, product: high_mul(w, product).same((product + (1 << (w - 2))) >> (w - 1)),
)


def instruction(w: int, product: Word) -> Word:
    """SQRDMULH: twice the product and 2^31, of which the upper half stays."""
    return (product + product + (1 << (w - 1))) >> w


SAME = Lemma(
    id="high-mul-is-sqrdmulh",
    statement="SaturatingRoundingDoublingHighMul is the upper half of twice the product and 2^31, as Arm's "
    "SQRDMULH has it.",
    sources=(GEMMLOWP, NEON),
    clauses=("TLR-R3",),
    domain=domain,
    claim=lambda w, product: high_mul(w, product).same(instruction(w, product)),
    bits=lambda w: 2 * w + 2,  # the instruction's intermediate is not narrower than its sum
)
LEMMAS = {lemma.id: lemma for lemma in (UPWARD, SAME)}
