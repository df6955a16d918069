"""Orders of ONNX's and onnxruntime's matrix products, convolutions, and of their linear pairs.

Sums of products of integers are exact by their documents. What is open is how scales meet them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiebreak.conformance.judging.orders.ends import OrderSteps, StepEnds, point
from tiebreak.conformance.judging.orders.products import product
from tiebreak.conformance.judging.orders.quantized import as_integers, as_numbers
from tiebreak.golden.elements import FLOAT_TYPES, FloatType
from tiebreak.golden.problem import Array, Elementwise

SINGLE = FLOAT_TYPES["float32"]


def qlinear_conv(steps: OrderSteps, p: Elementwise, operands: Sequence[Array], got: Array, mode: str) -> Array:
    """sum * x_scale * w_scale / y_scale."""
    terms = p.constants["terms"]
    bias, x_zero_point, w_zero_point, x_scale, w_scale, y_scale, y_zero_point = operands[2 * terms :]
    pairs = zip(operands[:terms], operands[terms : 2 * terms], strict=True)
    summed = sum(((x - x_zero_point) * (w - w_zero_point) for x, w in pairs), bias)
    factors = OrderSteps(SINGLE).held(point(summed)), point(x_scale), point(w_scale)
    return as_integers(steps, p, product(steps, factors, [point(y_scale)]), y_zero_point, got, mode)


def qlinear_matmul(steps: OrderSteps, p: Elementwise, operands: Sequence[Array], got: Array, mode: str) -> Array:
    """sum * a_scale * b_scale / y_scale; the sum becomes a float32 at least."""
    summed, a_scale, b_scale, y_scale, y_zero_point, _ = operands
    factors = OrderSteps(SINGLE).held(point(summed)), point(a_scale), point(b_scale)
    return as_integers(steps, p, product(steps, factors, [point(y_scale)]), y_zero_point, got, mode)


def qgemm(steps: OrderSteps, p: Elementwise, operands: Sequence[Array], got: Array, mode: str) -> Array:
    """sum * alpha * a_scale * b_scale, and / y_scale for an integer."""
    summed, a_scale, b_scale, *of_y, _ = operands
    alpha = p.constants["alpha"]
    scales: list[StepEnds] = [point(a_scale), point(b_scale)]
    scales += [point(np.full(summed.shape, alpha))] if alpha != 1 else []
    factors = OrderSteps(SINGLE).held(point(summed)), *scales
    if isinstance(p.result, FloatType):
        return as_numbers(steps, p, product(steps, factors), got)
    return as_integers(steps, p, product(steps, factors, [point(of_y[0])]), of_y[1], got, mode)


FORMULAS = {
    "onnx.QLinearConv": qlinear_conv,
    "onnx.QLinearMatMul": qlinear_matmul,
    "com.microsoft.QGemm": qgemm,
}
