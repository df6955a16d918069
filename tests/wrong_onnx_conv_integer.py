"""Integer convolutions that are wrong on purpose, each in one way, and right ones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from onnx.reference.ops.op_conv import _conv_implementation
from wrong_onnx_qlinear_conv import RIGHT_SUMS, SUMS, Summing, is_plain, one_weight_at_once, wraps

from wrong_model import Array, WrongBackend

OPERATOR = "onnx.ConvInteger"
EVERY = (("uint8", "int32"), ("int8", "int32"))


def by_name(node: Any, x: Array, w: Array, points: tuple[Array, ...], absent: int = 0) -> tuple[Array, Array]:
    """The zero points of x and of w."""
    given = dict(zip((tensor.name for tensor in node.inputs[2:]), points, strict=True))
    of_x, of_w = (np.full((), absent if array.dtype == np.uint8 else 0, array.dtype) for array in (x, w))
    return given.get("x_zero_point", of_x), given.get("w_zero_point", of_w)


def convolver(own: Summing) -> Any:
    """Backends with these steps; a zero point that is left off is 0."""

    def run(node: Any, x: Array, w: Array, *points: Array) -> tuple[Array, ...]:
        given = by_name(node, x, w, points)
        plain = own == RIGHT_SUMS and is_plain(x, w) and not node.attributes
        sums = (one_weight_at_once if plain else own.sums)(node, x, w, *given)
        return (sums.astype(np.int32),)

    return run


def saturating(node: Any, *inputs: Array) -> tuple[Array, ...]:
    (found,) = convolver(RIGHT_SUMS)(node, *inputs)
    return (np.clip(found, -(1 << 15), (1 << 15) - 1),)


def with_points_of_128(node: Any, x: Array, w: Array, *points: Array) -> tuple[Array, ...]:
    """A zero point that is left off is the middle of an unsigned type."""
    return of_both(node, x, w, *by_name(node, x, w, points, 128))


def by_place(node: Any, x: Array, w: Array, *points: Array) -> tuple[Array, ...]:
    """The first zero point is x's, whosever it is, if it is a scalar."""
    own = by_name(node, x, w, points)
    exchanged = len(points) == 1 and points[0].ndim == 0
    return of_both(node, x, w, *((points[0], np.zeros((), w.dtype)) if exchanged else own))


def alone(node: Any, x: Array, w: Array, *points: Array) -> tuple[Array, ...]:
    """No zero points unless both are there."""
    return of_both(node, x, w, *(points if len(points) == 2 else by_name(SimpleNamespace(inputs=()), x, w, ())))


def of_both(node: Any, x: Array, w: Array, *points: Array) -> tuple[Array, ...]:
    """The right sums with these two zero points."""
    return (RIGHT_SUMS.sums(node, x, w, *points).astype(np.int32),)


def convolved(node: Any, x: Array, w: Array) -> Array:
    """By ONNX's reference evaluator, of differences."""
    axes = x.ndim - 2
    auto_pad, pads = node.value("auto_pad"), tuple(node.value("pads")) or (0,) * 2 * axes
    strides, dilations = (tuple(node.value(name)) or (1,) * axes for name in ("strides", "dilations"))
    group = int(node.value("group"))
    return np.asarray(_conv_implementation(x, w, None, auto_pad, dilations, group, w.shape[2:], pads, strides))


def of_differences(node: Any, x: Array, w: Array, *points: Array) -> tuple[Array, ...]:
    """Differences of int64 convolved by another implementation."""
    x_point, w_point = by_name(node, x, w, points)
    channels = w_point.astype(np.int64).reshape(-1, *(1,) * (w.ndim - 1))
    return (convolved(node, x.astype(np.int64) - x_point, w.astype(np.int64) - channels).astype(np.int32),)


WRONG = [
    *(
        WrongBackend(f"integer conv: {name}", OPERATOR, convolver(Summing(**parts)), flag, EVERY[:1])
        for name, flag, parts in SUMS
    ),
    WrongBackend("integer conv: result in 16 bits", OPERATOR, saturating, "LongSum", EVERY),
    WrongBackend("integer conv: a zero point by its place", OPERATOR, by_place, "OneZeroPoint", EVERY[:1]),
    WrongBackend("integer conv: no zero point alone", OPERATOR, alone, "OneZeroPoint", EVERY[:1]),
    WrongBackend("integer conv: zero points of 128", OPERATOR, with_points_of_128, "NoZeroPoint", EVERY[:1]),
    WrongBackend("integer conv: products wrap", OPERATOR, convolver(
        Summing(total=lambda terms: sum(wraps("int16", term) for term in terms))), "ZeroPointEdge", EVERY[:1]),
]  # fmt: skip
RIGHT = [
    WrongBackend("integer conv, right: in Python's integers", OPERATOR, convolver(RIGHT_SUMS), "", EVERY),
    WrongBackend("integer conv, right: of differences", OPERATOR, of_differences, "", EVERY),
]
