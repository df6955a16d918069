"""Orders of onnxruntime's MatMulNBits, where a row of A has one number that is not zero, or sums that are exact."""

from __future__ import annotations

from tiebreak.golden.orders.ends import hull, point
from tiebreak.golden.orders.products import product, total
from tiebreak.golden.orders.question import Question
from tiebreak.golden.problem import Array


def one_of_a_row(q: Question) -> Array:
    """A * (weight - zero_point) * scale + other products + bias.

    A zero point is subtracted from the weight, or multiplied as it is and subtracted then.
    """
    number, weight, zero_point, scale, others, *bias, _ = q.operands
    rest = [point(one) for one in (others, *bias) if one.any()]
    factors = [point(number), point(scale)]
    whole = product(q.steps, [*factors, q.steps.subtract(point(weight), point(zero_point))])
    apart = [product(q.steps, [*factors, point(one)]) for one in (weight, -zero_point)]
    sums = [total(q.steps, [*terms, *rest]) for terms in ([whole], apart)]
    return q.among_numbers(hull(sums))


ORDERS = {"com.microsoft.MatMulNBits": one_of_a_row}
