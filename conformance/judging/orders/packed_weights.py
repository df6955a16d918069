"""Orders of onnxruntime's MatMulNBits, where a row of A has one number that is not zero, or sums that are exact."""

from __future__ import annotations

from collections.abc import Sequence

from tiebreak.conformance.judging.orders.ends import OrderSteps, hull, point
from tiebreak.conformance.judging.orders.products import product, total
from tiebreak.conformance.judging.orders.quantized import as_numbers
from tiebreak.golden.problem import Array, Elementwise


def one_of_a_row(steps: OrderSteps, p: Elementwise, operands: Sequence[Array], got: Array, mode: str) -> Array:
    """A * (weight - zero_point) * scale + other products + bias.

    A zero point is subtracted from the weight, or multiplied as it is and subtracted then.
    """
    number, weight, zero_point, scale, others, *bias, _ = operands
    rest = [point(one) for one in (others, *bias) if one.any()]
    factors = [point(number), point(scale)]
    whole = product(steps, [*factors, steps.subtract(point(weight), point(zero_point))])
    apart = [product(steps, [*factors, point(one)]) for one in (weight, -zero_point)]
    sums = [total(steps, [*terms, *rest]) for terms in ([whole], apart)]
    return as_numbers(steps, p, hull(sums), got)


FORMULAS = {"com.microsoft.MatMulNBits": one_of_a_row}
