"""Orders of onnxruntime's QLinearAdd and QLinearMul: when zero points, scales and the output's scale come in."""

from __future__ import annotations

from tiebreak.golden.orders.ends import OrderSteps, StepEnds, hull, point
from tiebreak.golden.orders.products import product, total
from tiebreak.golden.orders.question import Question
from tiebreak.golden.problem import Array


def add(q: Question) -> Array:
    """(A_scale * (A - A_zero_point) + B_scale * (B - B_zero_point)) / C_scale + C_zero_point.

    Both products are divided, or their sum; a zero point is subtracted before its number is scaled, or scaled too.
    """
    a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero = q.operands
    divisor, added = [point(c_scale)], point(c_zero)
    whole = [(a - a_zero, a_scale), (b - b_zero, b_scale)]
    apart = [(a, a_scale), (-a_zero, a_scale), (b, b_scale), (-b_zero, b_scale)]
    found = []
    for pairs in (whole, apart):
        terms = [[point(number), point(scale)] for number, scale in pairs]
        found.append(total(q.steps, [*(product(q.steps, one, divisor) for one in terms), added]))
        undivided = total(q.steps, [product(q.steps, one) for one in terms])
        found.append(q.steps.add(product(q.steps, [undivided], divisor), added))
    return q.among_integers(hull(found))


def multiply(q: Question) -> Array:
    """(A - A_zero_point) * (B - B_zero_point) * A_scale * B_scale / C_scale + C_zero_point.

    A zero point is subtracted before its number is scaled, or scaled too.
    """
    a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero = q.operands
    whole = [point(a - a_zero), point(b - b_zero), point(a_scale), point(b_scale)]
    apart = [scaled(q.steps, a, a_zero, a_scale), scaled(q.steps, b, b_zero, b_scale)]
    quotients = [product(q.steps, factors, [point(c_scale)]) for factors in (whole, apart)]
    argument = hull([q.steps.add(quotient, point(c_zero)) for quotient in quotients])
    return q.among_integers(argument)


def scaled(steps: OrderSteps, number: Array, zero_point: Array, scale: Array) -> StepEnds:
    """A number and its zero point, each scaled, and then subtracted."""
    one, other = (product(steps, [point(part), point(scale)]) for part in (number, zero_point))
    return steps.subtract(one, other)


ORDERS = {"com.microsoft.QLinearAdd": add, "com.microsoft.QLinearMul": multiply}
