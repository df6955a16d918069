"""gemmlowp's division by a power of two: ties go away from zero; with vector instructions only if they are helped."""

from __future__ import annotations

from tiebreak.golden.lemmas.domains import Ends
from tiebreak.golden.lemmas.model import Lemma
from tiebreak.golden.lemmas.steps import EARLIER, GEMMLOWP, NEON, divide_by_power, upward_by_power
from tiebreak.golden.lemmas.words import Word


def domain(w: int) -> Ends:
    return {"exponent": (0, w - 1), "number": (-(1 << (w - 1)), (1 << (w - 1)) - 1)}


def twice_remainder(number: Word, exponent: Word) -> Word:
    """Twice what the shift drops."""
    remainder = number.bits_and((number.of(1) << exponent) - 1)
    return remainder + remainder


def nearest_away(w: int, number: Word, exponent: Word) -> Word:
    """The result is the greater neighbour just if the rest is above 1/2, or is 1/2 of a number that is not negative."""
    rest, whole = twice_remainder(number, exponent), number.of(1) << exponent
    more = (rest > whole) | (rest.same(whole) & (number >= 0))
    return divide_by_power(number, exponent).same((number >> exponent) + more.choose(1, 0))


def helped(w: int, number: Word, exponent: Word) -> Word:
    """gemmlowp's vectors subtract 1 of a negative number first, but not with exponent 0; the sum saturates."""
    least = -(1 << (w - 1))
    fixup = ((number < 0) & (exponent > 0)).choose(-1, 0)
    moved = number + fixup
    return upward_by_power((moved < least).choose(least, moved), exponent)


def is_negative_tie(number: Word, exponent: Word) -> Word:
    return (number < 0) & (exponent > 0) & twice_remainder(number, exponent).same(number.of(1) << exponent)


AWAY = Lemma(
    id="divide-by-power-away",
    statement="RoundingDivideByPOT rounds to nearest, ties away from zero, with each exponent from 0 to 31.",
    sources=(GEMMLOWP,),
    clauses=("TLR-R4",),
    domain=domain,
    claim=nearest_away,
)
VECTOR = Lemma(
    id="divide-by-power-neon",
    statement="gemmlowp's vector version, a rounding shift of a number that is moved first, is the same.",
    sources=(GEMMLOWP, NEON),
    clauses=("TLR-R4",),
    domain=domain,
    claim=lambda w, number, exponent: helped(w, number, exponent).same(divide_by_power(number, exponent)),
)
UNHELPED = Lemma(
    id="rounding-shift-differs",
    statement="A rounding shift alone, as gemmlowp's vector version once was, differs from RoundingDivideByPOT "
    "exactly at ties below zero. It is one more there.",
    sources=(GEMMLOWP, EARLIER),
    clauses=("TLR-R4",),
    domain=domain,
    claim=lambda w, number, exponent: upward_by_power(number, exponent).same(
        divide_by_power(number, exponent) + is_negative_tie(number, exponent).choose(1, 0)
    ),
)
FALSE = Lemma(
    id="rounding-shift-is-divide-by-power",
    statement="A rounding shift alone, ties upward, is RoundingDivideByPOT.",
    sources=(GEMMLOWP, EARLIER),
    clauses=("TLR-R4",),
    domain=domain,
    claim=lambda w, number, exponent: upward_by_power(number, exponent).same(divide_by_power(number, exponent)),
    sides=lambda w, number, exponent: (upward_by_power(number, exponent), divide_by_power(number, exponent)),
    true=False,
    why="Half of -1 goes to 0 with a rounding shift, to -1 with gemmlowp.",
)
LEMMAS = {lemma.id: lemma for lemma in (AWAY, VECTOR, UNHELPED, FALSE)}
