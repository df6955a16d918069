"""A term as a formula: usual signs, as few brackets as it needs, named numbers by their names."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tiebreak.golden.arithmetic.term import (
    Term,
    clamp,
    finite,
    lifted,
    magnitude,
    operand,
    require,
    rounded,
    step,
    to_ends,
    total,
    where,
)
from tiebreak.golden.arithmetic.text import text_of
from tiebreak.golden.rounding import EVEN

X, Y, Z = (operand(place, name) for place, name in enumerate(("x", "y", "z")))


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (step(X / Y), "x / y"),
        (X - (Y - Z), "x - (y - z)"),
        ((X - Y) - Z, "x - y - z"),
        (X + (Y + Z), "x + (y + z)"),
        (step(step(X + Y) * Z), "(x + y) * z"),
        (X * (Y * Z), "x * (y * z)"),
        (X / (Y * Z), "x / (y * z)"),
        (X * (Y / Z), "x * (y / z)"),
        (X * Y / Z, "x * y / z"),
        (X * Fraction(1, 3), "x * 1/3"),
        (X + Fraction(1, 1 << 20), "x + 9.536743e-07"),
        (to_ends(rounded(finite(X), EVEN) + 3, 0, 7), "round(x) + 3"),
        (clamp(magnitude(X), 0, Y), "clamp(abs(x), 0, y)"),
        (require(X < Y, Z), "z"),
        (where(X < 0, Y, Z), "where(less(x, 0), y, z)"),
        (total([X * Y, Y * Z, Z]), "sum + z"),
        (total([X * Y, Y * Z]), "sum"),
        (step(X / lifted(255).named("steps")), "x / steps"),
        (step(X * (Y / Z).named("ratio")), "x * ratio"),
    ],
)
def test_a_term_is_written_as_a_formula(term: Term, text: str) -> None:
    assert text_of(term) == text


def test_a_name_is_no_part_of_a_term() -> None:
    assert step(X / Y).named("ratio") == step(X / Y)
