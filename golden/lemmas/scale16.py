"""A multiplier of 16 bits against one of 32."""

from __future__ import annotations

from tiebreak.golden.lemmas.domains import Ends
from tiebreak.golden.lemmas.model import Lemma
from tiebreak.golden.lemmas.steps import COMMON, TOSA, double, single
from tiebreak.golden.lemmas.words import Word


def halves(w: int) -> Ends:
    """A value of 32 bits, a multiplier of 16 and the shifts that the wider one has, too."""
    word, multiplier = 1 << (w - 1), (1 << (w // 2 - 1)) - 1
    return {"shift": (2, 2 * w - 2 - w // 2), "value": (-word, word - 1), "multiplier": (0, multiplier)}


def upper(w: int, multiplier: Word) -> Word:
    """The multiplier as the upper half of one of 32 bits."""
    return multiplier << (w // 2)


def sides(w: int, value: Word, multiplier: Word, shift: Word) -> tuple[Word, Word]:
    """scale16, and scale32 with DOUBLE_ROUND."""
    product = value * multiplier
    return single(product, shift), double(w, product << (w // 2), value < 0, shift + w // 2)


def products(w: int) -> Ends:
    """Products of 32 and 16 bits."""
    end = 1 << (w - 1 + w // 2 - 1)
    return {"shift": halves(w)["shift"], "product": (-end, end)}


def product_moves(w: int, value: Word, multiplier: Word) -> Word:
    return (value * upper(w, multiplier)).same((value * multiplier) << (w // 2))


def reduced(w: int, multiplier: Word) -> Word:
    """What TFLite makes of a multiplier of 32 bits where the value has more than 32: 16 bits, rounded."""
    most = (1 << (w // 2 - 1)) - 1
    nearest = (multiplier + (1 << (w // 2 - 1))) >> (w // 2)
    return (multiplier < (most << (w // 2))).choose(nearest, most)


def of_kernels(w: int, value: Word, multiplier: Word, shift: Word) -> tuple[Word, Word]:
    """TFLite's results of a value of 16 bits: with the reduced multiplier, and with all its bits."""
    less = single(value * reduced(w, multiplier), shift - w // 2)
    return less, single(value * multiplier, shift)


MOVES = Lemma(
    id="scale16-product",
    statement="2^16 times the multiplier gives 2^16 times the product.",
    sources=(TOSA,),
    clauses=("TRS-F2", "TRS-F3"),
    domain=lambda w: {name: ends for name, ends in halves(w).items() if name != "shift"},
    claim=product_moves,
)
SAME = Lemma(
    id="scale16-is-scale32",
    statement="RESCALE of 32 bits without scale32 is RESCALE with scale32 and SINGLE_ROUND, of the multiplier times "
    "2^16 and the shift plus 16, as far as that shift goes: to 62.",
    sources=(TOSA,),
    clauses=("TRS-F2", "TRS-F3", "TRS-R1"),
    domain=products,
    claim=lambda w, product, shift: single(product, shift).same(single(product << (w // 2), shift + w // 2)),
    after=("scale16-product",),
)
DOUBLE = Lemma(
    id="scale16-is-double",
    statement="RESCALE of 32 bits without scale32 is RESCALE with scale32 and DOUBLE_ROUND, of the multiplier times "
    "2^16 and the shift plus 16.",
    sources=(TOSA,),
    clauses=("TRS-R2", "TRS-F3"),
    domain=halves,
    claim=lambda w, **words: sides(w, **words)[0].same(sides(w, **words)[1]),
    sides=sides,
    true=False,
    why="A quarter goes to 1 with DOUBLE_ROUND: its shift is above 31, although that of scale16 is not.",
)


def short_values(w: int) -> Ends:
    """A value of 16 bits, a multiplier of 32 whose first bit is set, and shifts of both ways."""
    half = 1 << (w // 2 - 1)
    factor = 1 << (w - 2)
    return {"shift": (w - 1, 2 * w - 2), "value": (-half, half - 1), "multiplier": (factor, 2 * factor - 1)}


REDUCED = Lemma(
    id="reduced-multiplier",
    statement="TFLite's result with a multiplier that it reduces to 16 bits, as for 16-bit activations with 64-bit "
    "sums, is that with 32 bits.",
    sources=(COMMON,),
    clauses=("TRS-F3", "TLR-F2"),
    domain=short_values,
    claim=lambda w, **words: of_kernels(w, **words)[0].same(of_kernels(w, **words)[1]),
    sides=of_kernels,
    true=False,
    why="The bits that were left out decide.",
)
LEMMAS = {lemma.id: lemma for lemma in (MOVES, SAME, DOUBLE, REDUCED)}
