"""Where, in a run of inputs with one right answer and one result, that result is one of another order of steps.

Rounded steps are monotone in the input, in every order. So among inputs with one right answer those for which another
order gives the result that was given lie together, at an end of the run. An end itself may be a tie, which decides
alone: the inputs between are what is halved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import DEVIATES, OTHER_ORDER

Grade = Callable[[Array], Array]  # of inputs by their numbers


def cut_by_orders(firsts: Array, end: int, grade: Grade) -> Array:
    """The first inputs of runs up to `end`, and where a run with a wrong result is cut so that each has one grade."""
    grades, lasts = grade(firsts), np.append(firsts[1:], end) - 1
    wrong = ((grades == DEVIATES) | (grades == OTHER_ORDER)) & (lasts > firsts)
    low, high = firsts[wrong] + 1, lasts[wrong]
    cuts, high = [firsts, low, high], high - 1
    low, high = low[low < high], high[low < high]
    if not low.size:
        return np.unique(np.concatenate(cuts))
    below = grade(low) == OTHER_ORDER
    changing = below != (grade(high) == OTHER_ORDER)
    low, high, below = low[changing], high[changing], below[changing]
    while low.size and (high - low > 1).any():
        middle = (low + high) // 2
        same = (grade(middle) == OTHER_ORDER) == below
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.unique(np.concatenate([*cuts, high]))
