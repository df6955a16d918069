"""Domains that several lemmas have."""

from __future__ import annotations

from tiebreak.golden.lemmas.words import Word

Ends = dict[str, tuple[int, int]]


def products(w: int) -> Ends:
    """A product, whether its value is negative, and every shift that TOSA allows."""
    return {"shift": (2, 2 * w - 2), "negative": (0, 1), "product": (-(1 << (2 * w - 2)), 1 << (2 * w - 2))}


def long_shifts(w: int) -> Ends:
    """The same with the shifts at which double_round adds something: above 31."""
    return {**products(w), "shift": (w, 2 * w - 2)}


def values(w: int) -> Ends:
    """A value, a multiplier and a shift of apply_scale_32."""
    word, multiplier = 1 << (w - 1), (1 << (w - 1)) - 1
    return {"shift": (2, 2 * w - 2), "value": (-word, word - 1), "multiplier": (0, multiplier)}


def signs_agree(w: int, *, product: Word, negative: Word, **others: Word) -> Word:
    """A product has the sign of its value, or is 0."""
    below = negative.same(1)
    return (below & (product <= 0)) | (~below & (product >= 0))


def required(w: int, *, value: Word, shift: Word, **others: Word) -> Word:
    """What apply_scale_32 requires of a value: that it is of [-2^(shift - 1), 2^(shift - 1))."""
    half = shift.of(1) << (shift - 1)
    return (value >= half * -1) & (value < half)
