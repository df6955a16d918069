"""Results that a document's formula has by correctly rounded steps in another order than it writes them.

A document that names no precision leaves the order of its steps open, their contraction, and their types, which are no
narrower than the operands'. Of a formula whose only step is a division, the type alone is open. The modules of
golden/orders say what each such operator's formula is a product or a sum of. The ends of what all orders give say which
results are among them. Both ends are results of an order. What lies between them counts, too: a few integers, or
numbers some units in the last place apart, where an order for each need not be sought. Where a step overflows or
underflows the ends may be far apart, and only they count.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tiebreak.conformance.judging.boundary import heard_in_formula
from tiebreak.conformance.judging.codes import values_of_codes
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.orders import ORDERS
from tiebreak.golden.orders.ends import OrderSteps
from tiebreak.golden.orders.question import Question
from tiebreak.golden.problem import Array, Elementwise, Problem
from tiebreak.golden.rounding import is_nearest

ROUNDINGS = 2  # the most numbers that a formula rounds to integers


def has_orders(problem: Problem) -> bool:
    """Whether the document of what is posed leaves the order of steps open."""
    return problem.orders in ORDERS


def in_other_order(problem: Problem, given: Array, modes: Sequence[str]) -> Array:
    """Which codes (int64, one for each element) an order of the formula's steps gives, by one of the modes.

    Where the number that is rounded to an integer is a tie in real arithmetic it is none other in any order.
    """
    found = np.zeros(given.shape, bool)
    if not has_orders(problem):
        return found
    kind, own = problem.working, tuple(dict.fromkeys(mode or problem.mode for mode in modes))
    none = np.full((ROUNDINGS, given.size), np.nan)
    near = np.flatnonzero(admitted(OrderSteps(kind, coarse=True), problem, given, own, none))
    if near.size:
        some, got = problem.some(near), given[near]
        ties = ties_of(some, own[0])
        found[near] = admitted(OrderSteps(kind), some, got, own, ties)
        far = np.flatnonzero(~found[near] & has_extremes(some))
        if far.size:
            steps = OrderSteps(kind, beyond=True)
            found[near[far]] = admitted(steps, some.some(far), got[far], own, ties[:, far])
    return found


def admitted(steps: OrderSteps, problem: Problem, given: Array, modes: Sequence[str], ties: Array) -> Array:
    """Which codes the steps give by one of the modes."""
    with np.errstate(all="ignore"):
        values = values_of_codes(given, problem.result)
        question = Question(steps, problem, values_of(problem), given, values, modes, ties, round_array)
        return ORDERS[problem.orders](question)


def values_of(problem: Problem) -> list[Array]:
    return [values_of_codes(codes, kind) for codes, kind in zip(problem.operands, problem.kinds, strict=True)]


def has_extremes(problem: Problem) -> Array:
    """Which elements have a factor that may take a product of a few out of the type's normal numbers."""
    least, greatest = 2.0 ** (problem.working.emin / 8), 2.0 ** (problem.working.emax / 8)
    constants = problem.constants.values() if isinstance(problem, Elementwise) else ()
    factors = [np.full(problem.operands[0].shape, one) for one in constants if isinstance(one, float)]
    sizes = [np.abs(values) for values in [*values_of(problem), *factors]]
    extreme = [~((size == 0) | ((least < size) & (size < greatest))) for size in sizes]
    return np.asarray(np.logical_or.reduce(extreme))


def ties_of(problem: Problem, mode: str) -> Array:
    """The last numbers that each element's formula rounds, in real arithmetic: the ties among them, NaN else."""
    found, hear = np.full((ROUNDINGS, problem.operands[0].size), np.nan), heard_in_formula(problem, mode)
    for place, codes in enumerate(zip(*(operand.tolist() for operand in problem.operands), strict=True)):
        heard, _ = hear(codes)
        for number, value in enumerate(heard[-ROUNDINGS:], start=-min(len(heard), ROUNDINGS)):
            if isinstance(value, Fraction) and value.denominator == (2 if is_nearest(mode) else 1):
                found[number, place] = float(value)
    return found
