"""Results that a document's formula has by correctly rounded steps in another order than it writes them.

A document that names no precision leaves the order of its steps open, their contraction, and their types, if these are
no narrower than the operands'. Each of these operators says in orders/ what its formula is a product or a sum of; the
ends of what all orders give say which results are among them. Both ends are results of an order. What lies between them
counts, too: a few integers, or numbers some units in the last place apart, where an order for each need not be sought.
Where a step overflows or underflows the ends may be far apart, and only they count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction

import numpy as np

from tiebreak.conformance.judging.boundary import Listening
from tiebreak.conformance.judging.codes import values_of_codes
from tiebreak.conformance.judging.orders import linear_pairs, packed_weights, sums_of_products
from tiebreak.conformance.judging.orders.ends import OrderSteps
from tiebreak.golden.formulas import FORMULAS
from tiebreak.golden.formulas.steps import UndefinedResult
from tiebreak.golden.oracle import signed_value_of, value_of
from tiebreak.golden.problem import Array, Elementwise, Problem
from tiebreak.golden.rounding import is_nearest

Admits = Callable[[OrderSteps, Elementwise, Sequence[Array], Array, str], Array]
ORDERS: dict[str, Admits] = sums_of_products.FORMULAS | linear_pairs.FORMULAS | packed_weights.FORMULAS


def has_orders(problem: Problem) -> bool:
    """Whether the document of what is posed leaves the order of steps open."""
    return isinstance(problem, Elementwise) and problem.formula in ORDERS


def in_other_order(problem: Problem, got: Array, modes: Sequence[str]) -> Array:
    """Which codes (int64, one for each element) an order of the formula's steps gives, by one of the modes.

    Where the number that is rounded to an integer is a tie the mode alone decides, and no other code is admitted.
    """
    found = np.zeros(got.shape, bool)
    if not isinstance(problem, Elementwise) or problem.formula not in ORDERS:
        return found
    kind, own = problem.working, tuple(dict.fromkeys(mode or problem.mode for mode in modes))
    near = np.flatnonzero(admitted((OrderSteps(kind, coarse=True),), problem, got, own))
    if near.size:
        every = OrderSteps(kind), OrderSteps(kind, beyond=True)
        found[near] = admitted(every, problem.some(near), got[near], own)
    for place in np.flatnonzero(found).tolist():
        found[place] = not is_tie(problem, place, own[0])
    return found


def admitted(every: Sequence[OrderSteps], problem: Elementwise, got: Array, modes: Sequence[str]) -> Array:
    """Which codes steps of some kind give by one of the modes."""
    found = np.zeros(got.shape, bool)
    operands = [values_of_codes(codes, kind) for codes, kind in zip(problem.operands, problem.kinds, strict=True)]
    with np.errstate(all="ignore"):
        for steps in every:
            for mode in modes:
                found |= ORDERS[problem.formula](steps, problem, operands, got, mode)
    return found


def is_tie(problem: Elementwise, place: int, mode: str) -> bool:
    """Whether the formula, in real arithmetic, rounds a number that is on a decision boundary of the mode."""
    steps, read = Listening(mode), signed_value_of if problem.signed_zeros else value_of
    codes = (int(operand[place]) for operand in problem.operands)
    with suppress(UndefinedResult):
        FORMULAS[problem.formula](steps, problem, *map(read, codes, problem.kinds))
    return any(on_boundary(value, mode) for value in steps.heard if isinstance(value, Fraction))


def on_boundary(value: Fraction, mode: str) -> bool:
    return value.denominator == (2 if is_nearest(mode) else 1)
