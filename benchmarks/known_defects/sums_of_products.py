"""Products of matrices and convolutions of bytes: differences from zero points, their sum, and its requantization."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from benchmarks.known_defects.defects import How
from benchmarks.known_defects.numbers import RULES, Array, converted, ends, in_type
from benchmarks.known_defects.quantize import divided, integers
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_convolution import geometry_of
from tiebreak.golden.rounding import EVEN

Outputs = tuple[Array, ...]
PAIRS = "pairs-saturate"
AS_THEY_ARE: How = {"operands": "input-zp-ignored"}


def difference(values: Array, point: Array, how: How) -> Array:
    wide, defect = values.astype(np.int64) - point, how.get("difference", "")
    low, high = ends(values.dtype)
    if defect == "difference-wraps":
        return np.asarray(np.mod(wide - low, 256) + low)
    return np.clip(wide, low, high) if defect == "difference-saturates" else wide


def first_point(point: Array, how: How) -> Array:
    return np.asarray(point, np.int64) * (how.get("operands") != "input-zp-ignored")


def summed(terms: list[Array], how: How) -> Array:
    """The sum of the terms (at least one), each of the result's shape."""
    defect = how.get("sum", "")
    total = np.sum(terms[:-1] if defect == "last-product-lost" and len(terms) > 1 else terms, axis=0)
    return wrapped(total) if defect == "sum-wraps-in-16-bits" else total


def wrapped(total: Array) -> Array:
    return np.asarray(total).astype(np.int16).astype(np.int64)


def rows(parameter: Array, a: Array) -> Array:
    return parameter[:, np.newaxis] if parameter.ndim == 1 and a.ndim == 2 else parameter


def matrices(a: Array, b: Array) -> tuple[Array, Array]:
    """Vectors as a row or a column."""
    return a if a.ndim > 1 else a[np.newaxis], b if b.ndim > 1 else b[:, np.newaxis]


def each_product(left: Array, right: Array) -> Iterator[Array]:
    return (left[..., k : k + 1] * right[..., k : k + 1, :] for k in range(left.shape[-1]))


def lost_in_pairs(terms: list[Array]) -> Array:
    """What is lost if two products of bytes at a time are added in 16 bits that saturate."""
    pairs = [one + other for one, other in zip(terms[::2], terms[1::2], strict=False)]
    return np.asarray(sum((pair - np.clip(pair, -(1 << 15), (1 << 15) - 1) for pair in pairs), np.zeros((), np.int64)))


def matrix_sums(a: Array, a_point: Array, b: Array, b_point: Array, how: How) -> Array:
    """Of numpy.matmul's shape, but vectors are matrices of one row or column."""
    left, right = difference(a, rows(first_point(a_point, how), a), how), difference(b, b_point.astype(np.int64), how)
    left, right = matrices(left, right)
    terms = list(each_product(left, right))
    if not terms:
        return left @ right
    if how.get("sum") == PAIRS:
        raw = matrices(
            a.astype(np.int64) + 128 * (a.dtype == np.int8), b.astype(np.int64) - 128 * (b.dtype == np.uint8)
        )
        return summed(terms, how) - lost_in_pairs(list(each_product(*raw)))
    return summed(terms, how)


def image_sums(node: Node, x: Array, x_point: Array, w: Array, w_point: Array, how: How) -> Array:
    """The sums of a convolution, of y's shape. What pads add is x's zero point, so that its difference is 0."""
    of_channels = w_point.astype(np.int64).reshape(-1, *(1,) * (w.ndim - 1))
    if how.get("place") == "axis-of-inputs" and w_point.size == w.shape[1] > 1:
        of_channels = of_channels.reshape(-1, *(1,) * (w.ndim - 2))
    total = summed([term for _, term in image_terms(node, x, x_point, w, of_channels, how)], how)
    if how.get("sum") == PAIRS and (x.dtype, w.dtype) == (np.int8, np.uint8):
        nothing = np.zeros_like(of_channels)
        total = total - lost_in_pairs([term for _, term in image_terms(node, x, x_point, w, nothing, AS_THEY_ARE)])
    return total


def image_terms(
    node: Node, x: Array, x_point: Array, w: Array, w_point: Array, how: How
) -> Iterator[tuple[int, Array]]:
    """The products of each place in the kernel, with its input channel. `w_point` broadcasts to w."""
    found, group = geometry_of(node, x.shape, w.shape), int(node.value("group"))
    around = [(0, 0), (0, 0), *zip(found.before, found.after, strict=True)]
    pixels = np.pad(x, around, constant_values=x_point.reshape(-1)[0])
    pixels = difference(pixels, first_point(x_point, how), how)
    weights = difference(w, w_point, how)
    first = np.arange(w.shape[0]) // (w.shape[0] // group) * w.shape[1]  # the group's first channel, for each output
    for channel, *place in product(*map(range, w.shape[1:])):
        axes = zip(place, found.dilations, found.strides, found.output, strict=True)
        spots = tuple(slice(at * gap, at * gap + step * (n - 1) + 1, step) for at, gap, step, n in axes)
        own = weights[(slice(None), channel, *place)].reshape(-1, *(1,) * len(place))
        yield channel, pixels[(slice(None), first + channel, *spots)] * own


def requantized(node: Node, total: Array, scales: Outputs, point: Array, how: How) -> Array:
    """`scales` are those of both operands, which broadcast to the sums, and of the result."""
    one, other, last = (scale.astype(np.float64) for scale in scales)
    kind = scales[2].dtype
    s = in_type(kind)
    if how.get("multiply") == "factor-of-scales":
        quotient = s(s(total) * s(s(one * other) / last))
    elif how.get("multiply") == "factor-of-scales-wide":
        quotient = total * s(s(one * other) / last)
    else:
        x = converted(total.astype(np.longdouble) * s(one * other), kind).astype(np.float64)
        quotient = divided(x, np.broadcast_to(last, x.shape), kind, how.get("divide", ""))
    points = np.broadcast_to(point.astype(np.float64), quotient.shape)
    return integers(quotient, points, node.outputs[0].dtype, RULES[EVEN], s, how)


def points_of(node: Node, inputs: Outputs) -> Iterator[Array]:
    """The zero points of both operands; 0 for one that is left off."""
    own = {tensor.name: found for tensor, found in zip(node.inputs, inputs, strict=True)}
    for operand in node.inputs[:2]:
        names = (f"{operand.name}_zero_point", f"{operand.name.lower()}_zero_point")
        yield next((own[name] for name in names if name in own), np.zeros((), np.int64))


def integer_matrices(node: Node, inputs: Outputs, how: How) -> Outputs:
    a, b, *_ = inputs
    of_a, of_b = points_of(node, inputs)
    return (in_shape(matrix_sums(a, of_a, b, of_b, how), a, b).astype(np.int32),)


def in_shape(found: Array, a: Array, b: Array) -> Array:
    """Without the axes that vectors lack."""
    return found.reshape(np.matmul(np.zeros(a.shape, np.int8), np.zeros(b.shape, np.int8)).shape)


def quantized_matrices(node: Node, inputs: Outputs, how: How) -> Outputs:
    a, a_scale, a_point, b, b_scale, b_point, y_scale, y_point = inputs
    total = matrix_sums(a, a_point, b, b_point, how)
    return (in_shape(requantized(node, total, (rows(a_scale, a), b_scale, y_scale), y_point, how), a, b),)


def integer_images(node: Node, inputs: Outputs, how: How) -> Outputs:
    x, w, *_ = inputs
    of_x, of_w = points_of(node, inputs)
    return (image_sums(node, x, of_x, w, of_w, how).astype(np.int32),)


def quantized_images(node: Node, inputs: Outputs, how: How) -> Outputs:
    x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point, *bias = inputs
    of_channels = (-1, *(1,) * (x.ndim - 2))
    if how.get("place") == "axis-of-inputs" and w_scale.size == w.shape[1] > 1:
        return (along_inputs(node, inputs, of_channels, how),)
    total = image_sums(node, x, x_point, w, w_point, how)
    total = total + (bias[0].astype(np.int64).reshape(of_channels) if bias else 0)
    total = total.astype(np.float32).astype(np.float64)  # QLinearConv rounds the sum, too
    return (requantized(node, total, (x_scale, w_scale.reshape(of_channels), y_scale), y_point, how),)


def along_inputs(node: Node, inputs: Outputs, of_channels: tuple[int, ...], how: How) -> Array:
    """The sums of real numbers, in extended floats, as the scales of the terms of a sum differ."""
    x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point, *bias = inputs
    of_inputs = w_point.astype(np.int64).reshape(-1, *(1,) * (w.ndim - 2))
    scales = w_scale.astype(np.longdouble)
    terms = image_terms(node, x, x_point, w, of_inputs, how)
    total = sum(term * scales[channel] for channel, term in terms)
    total = total + (bias[0].astype(np.int64) * scales).reshape(of_channels) if bias else total
    quotient = np.asarray(total * x_scale.astype(np.longdouble) / y_scale).astype(np.float64)
    points = np.broadcast_to(y_point.astype(np.float64), quotient.shape)
    return integers(quotient, points, node.outputs[0].dtype, RULES[EVEN], in_type("float64"), how)


ARITHMETIC = {
    "onnx.MatMulInteger": integer_matrices,
    "onnx.QLinearMatMul": quantized_matrices,
    "onnx.ConvInteger": integer_images,
    "onnx.QLinearConv": quantized_images,
}
