"""A quantizer's division where its document names no type for it: the operands' type, or a wider one."""

from __future__ import annotations

import numpy as np

from tiebreak.golden.arithmetic.doubles import two_quotient
from tiebreak.golden.orders.ends import point
from tiebreak.golden.orders.question import Question
from tiebreak.golden.problem import Array


def divide(q: Question) -> Array:
    """round(x / scale) + zero_point. The only step has a result in each type, and none lies between them."""
    x, scale, zero_point = q.operands
    quotient, rest = two_quotient(x * np.sign(scale), np.abs(scale))
    found = [q.among_integers(point(q.steps.narrowed(quotient, rest, kind)), zero_point) for kind in q.steps.kinds]
    return np.asarray(np.logical_or.reduce(found))


ORDERS = {"a division": divide}
