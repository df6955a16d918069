"""Orders of onnxruntime's QLinearAdd and QLinearMul: when zero points, scales and the output's scale come in."""

from __future__ import annotations

from collections.abc import Sequence

from tiebreak.conformance.judging.orders.ends import OrderSteps, StepEnds, hull, point
from tiebreak.conformance.judging.orders.products import product, total
from tiebreak.conformance.judging.orders.quantized import as_integers
from tiebreak.golden.problem import Array, Elementwise


def add(steps: OrderSteps, p: Elementwise, operands: Sequence[Array], got: Array, mode: str) -> Array:
    """(A_scale * (A - A_zero_point) + B_scale * (B - B_zero_point)) / C_scale + C_zero_point.

    Both products are divided, or their sum; a zero point is subtracted before its number is scaled, or scaled too.
    """
    a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero = operands
    divisor, added = [point(c_scale)], point(c_zero)
    whole = [(a - a_zero, a_scale), (b - b_zero, b_scale)]
    apart = [(a, a_scale), (-a_zero, a_scale), (b, b_scale), (-b_zero, b_scale)]
    found = []
    for pairs in (whole, apart):
        terms = [[point(number), point(scale)] for number, scale in pairs]
        found.append(total(steps, [*(product(steps, one, divisor) for one in terms), added]))
        undivided = total(steps, [product(steps, one) for one in terms])
        found.append(steps.add(product(steps, [undivided], divisor), added))
    return as_integers(steps, p, hull(found), 0 * c_zero, got, mode)


def multiply(steps: OrderSteps, p: Elementwise, operands: Sequence[Array], got: Array, mode: str) -> Array:
    """(A - A_zero_point) * (B - B_zero_point) * A_scale * B_scale / C_scale + C_zero_point.

    A zero point is subtracted before its number is scaled, or scaled too.
    """
    a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero = operands
    whole = [point(a - a_zero), point(b - b_zero), point(a_scale), point(b_scale)]
    apart = [scaled(steps, a, a_zero, a_scale), scaled(steps, b, b_zero, b_scale)]
    quotients = [product(steps, factors, [point(c_scale)]) for factors in (whole, apart)]
    argument = hull([steps.add(quotient, point(c_zero)) for quotient in quotients])
    return as_integers(steps, p, argument, 0 * c_zero, got, mode)


def scaled(steps: OrderSteps, number: Array, zero_point: Array, scale: Array) -> StepEnds:
    """A number and its zero point, each scaled, and then subtracted."""
    one, other = (product(steps, [point(part), point(scale)]) for part in (number, zero_point))
    return steps.subtract(one, other)


FORMULAS = {"com.microsoft.QLinearAdd": add, "com.microsoft.QLinearMul": multiply}
