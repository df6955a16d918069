"""Irrational functions of rational numbers, between two rational bounds as near to each other as wanted.

decimal's exp is correctly rounded (General Decimal Arithmetic Specification 1.70, "exp"), so it is wrong by at most
half a unit in the last place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from fractions import Fraction

from tiebreak.golden.errors import InvalidInput

FIRST_DIGITS, MOST_DIGITS = 30, 2000
LARGEST = 1_000_000  # of an argument: e to its power has half as many digits
Bounds = tuple[Fraction, Fraction]


def exponential(x: Fraction, digits: int) -> Bounds:
    """Two numbers between which e^x lies; x is a binary fraction, so that decimal can hold it."""
    exact = Context(prec=10 * MOST_DIGITS).divide(Decimal(x.numerator), Decimal(x.denominator))
    middle = Fraction(Context(prec=digits, Emin=-(10**9), Emax=10**9).exp(exact))
    error = middle / 10 ** (digits - 1)
    return middle - error, middle + error


def sigmoid(x: Fraction, digits: int) -> Bounds:
    """1 / (1 + e^-x)."""
    low, high = exponential(-x, digits)
    return 1 / (1 + high), 1 / (1 + low)


def tanh(x: Fraction, digits: int) -> Bounds:
    """2 / (1 + e^-2x) - 1."""
    low, high = sigmoid(2 * x, digits)
    return 2 * low - 1, 2 * high - 1


CURVES: dict[str, Callable[[Fraction, int], Bounds]] = {"Sigmoid": sigmoid, "Tanh": tanh, "Softmax": sigmoid}


def rounded(curve: str, x: Fraction, rounding: Callable[[Fraction], int]) -> int:
    """What a monotone rounding makes of the curve at x, decided by bounds on both sides of which it is the same.

    The curves are rational at 0 only (Lindemann and Weierstrass), so everywhere else bounds near enough decide.
    """
    if abs(x) > LARGEST:
        raise InvalidInput(f"{curve} of {float(x):.6g}: the exact truth is worked out up to {LARGEST:,}")
    if x == 0:
        return rounding(Fraction(0 if curve == "Tanh" else 1, 2))
    for digits in doubled(FIRST_DIGITS):
        low, high = (rounding(bound) for bound in CURVES[curve](x, digits))
        if low == high:
            return low
    raise ArithmeticError(f"{curve} of {x} is not told apart from a boundary by {MOST_DIGITS} digits")


def doubled(digits: int) -> Iterator[int]:
    while digits <= MOST_DIGITS:
        yield digits
        digits *= 2
