"""com.microsoft.QLinearAdd and QLinearMul: two tensors of bytes as numbers, their sum or product, and its bytes."""

from __future__ import annotations

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import FLOAT32, RULES, Array, Step, in_type
from benchmarks.known_defects.quantize import divided, integers
from benchmarks.known_defects.sums_of_products import difference, first_point, matrix_sums, requantized
from tiebreak.golden.nodes import Node
from tiebreak.golden.rounding import EVEN

Outputs = tuple[Array, ...]
SINGLE = in_type(FLOAT32)


def added(node: Node, inputs: Outputs, how: How) -> Outputs:
    x, y, (one, other, last) = operands(inputs, how)
    if how.get("multiply") == "fused-reciprocal":
        return (fused_result(node, fused(x, one, SINGLE(y * other)), last, inputs[7:], how),)
    return (result(node, SINGLE(SINGLE(x * one) + SINGLE(y * other)), last, inputs[7:], how),)


def multiplied(node: Node, inputs: Outputs, how: How) -> Outputs:
    x, y, (one, other, last) = operands(inputs, how)
    if how.get("multiply") == "fused-reciprocal":
        return (fused_result(node, SINGLE(SINGLE(x * one) * SINGLE(y * other)), last, inputs[7:], how),)
    return (result(node, SINGLE(SINGLE(x * y) * SINGLE(one * other)), last, inputs[7:], how),)


def operands(inputs: Outputs, how: How) -> tuple[Array, Array, tuple[Array, ...]]:
    """Both operands without their zero points, and the three scales, as float64."""
    a, a_scale, a_point, b, b_scale, b_point, c_scale = inputs[:7]
    x = difference(a, first_point(a_point, how), how).astype(np.float64)
    y = difference(b, b_point.astype(np.int64), how).astype(np.float64)
    return x, y, tuple(scale.astype(np.float64) for scale in (a_scale, b_scale, c_scale))


def result(node: Node, number: Array, scale: Array, points: Outputs, how: How) -> Array:
    quotients = divided(number, np.broadcast_to(scale, number.shape), FLOAT32, how.get("divide", ""))
    return point_first(node, quotients, np.broadcast_to(point_of(points), quotients.shape), SINGLE, how)


def fused_result(node: Node, number: Array, scale: Array, points: Outputs, how: How) -> Array:
    total = fused(number, SINGLE(1 / scale), point_of(points))
    return integers(total, 0 * total, node.outputs[0].dtype, RULES[EVEN], SINGLE, how)


def fused(x: Array, factor: Array, addend: Array) -> Array:
    """x * factor + addend, rounded once to float32: an extended float holds the product of two float32."""
    total = x.astype(np.longdouble) * factor + addend
    return np.asarray(total.astype(np.float32).astype(np.float64))


def point_of(points: Outputs) -> Array:
    return points[0].astype(np.float64) if points else np.zeros(())


def point_first(node: Node, quotients: Array, zeros: Array, s: Step, how: How) -> Array:
    """The zero point goes to the working type and is added before the sum is rounded; its defects are done here."""
    zeros = {"zp-ignored": 0 * zeros, "zp-negated": -zeros}.get(how.get("zero", ""), zeros)
    rest = {step: defect for step, defect in how.items() if step != "zero"}
    return integers(s(quotients + s(zeros)), 0 * zeros, node.outputs[0].dtype, RULES[EVEN], s, rest)


def product_of_matrices(node: Node, inputs: Outputs, how: How) -> Outputs:
    """QGemm: the sum of products and C times alpha and both scales; quantized, or a number."""
    own = dict(zip((tensor.name for tensor in node.inputs), inputs, strict=False))
    a, b = (own[name].T if node.value(f"trans{name}") else own[name] for name in "AB")
    total = matrix_sums(a, own["a_zero_point"], b, own["b_zero_point"], how) + own.get("C", 0)
    first = np.float32(node.value("alpha")) * own["a_scale"]
    if "y_scale" in own:
        return (requantized(node, total, (first, own["b_scale"], own["y_scale"]), own["y_zero_point"], how),)
    scale = SINGLE(first.astype(np.float64) * own["b_scale"].astype(np.float64))
    return ((total.astype(np.longdouble) * scale).astype(np.float32),)


ARITHMETIC = {
    "com.microsoft.QGemm": product_of_matrices,
    "com.microsoft.QLinearAdd": added,
    "com.microsoft.QLinearMul": multiplied,
}
