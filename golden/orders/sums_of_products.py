"""Orders of ONNX's and onnxruntime's matrix products, convolutions, and of their linear pairs.

Sums of products of integers are exact by their documents. What is open is how scales meet them.
"""

from __future__ import annotations

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, FloatType
from tiebreak.golden.orders.ends import OrderSteps, StepEnds, point
from tiebreak.golden.orders.products import product
from tiebreak.golden.orders.question import Question
from tiebreak.golden.problem import Array

SINGLE = FLOAT_TYPES["float32"]


def qlinear_conv(q: Question) -> Array:
    """sum * x_scale * w_scale / y_scale."""
    terms = q.constants["terms"]
    bias, x_zero_point, w_zero_point, x_scale, w_scale, y_scale, y_zero_point = q.operands[2 * terms :]
    pairs = zip(q.operands[:terms], q.operands[terms : 2 * terms], strict=True)
    summed = sum(((x - x_zero_point) * (w - w_zero_point) for x, w in pairs), bias)
    factors = OrderSteps(SINGLE).held(point(summed)), point(x_scale), point(w_scale)
    return q.among_integers(product(q.steps, factors, [point(y_scale)]), y_zero_point)


def qlinear_matmul(q: Question) -> Array:
    """sum * a_scale * b_scale / y_scale; the sum becomes a float32 at least."""
    summed, a_scale, b_scale, y_scale, y_zero_point, _ = q.operands
    factors = OrderSteps(SINGLE).held(point(summed)), point(a_scale), point(b_scale)
    return q.among_integers(product(q.steps, factors, [point(y_scale)]), y_zero_point)


def qgemm(q: Question) -> Array:
    """sum * alpha * a_scale * b_scale, and / y_scale for an integer."""
    summed, a_scale, b_scale, *of_y, _ = q.operands
    alpha = q.constants["alpha"]
    scales: list[StepEnds] = [point(a_scale), point(b_scale)]
    scales += [point(np.full(summed.shape, alpha))] if alpha != 1 else []
    factors = OrderSteps(SINGLE).held(point(summed)), *scales
    if isinstance(q.problem.result, FloatType):
        return q.among_numbers(product(q.steps, factors))
    return q.among_integers(product(q.steps, factors, [point(of_y[0])]), of_y[1])


ORDERS = {
    "onnx.QLinearConv": qlinear_conv,
    "onnx.QLinearMatMul": qlinear_matmul,
    "com.microsoft.QGemm": qgemm,
}
