"""Usual mistakes of `com.microsoft.MatMulNBits` as small NumPy backends: how weights are read, and dequantized."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiebreak.conformance.operators import operand_mistakes as om
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.dequantized_results import in_bfloat16
from tiebreak.conformance.operators.microsoft_matmul_nbits_odd import HalfForOdd
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.wrong_steps import frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.variants import conversions
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.microsoft_matmul_nbits import bias_of, given, weights_of
from tiebreak.golden.packed_weights import Weights, unpacked
from tiebreak.golden.problem import Array

Read = Callable[[Node, Weights], Weights]
Dequantize = Callable[[Array, Array, Array], Array]  # codes, zero points and scales of one type, for each weight


def as_they_are(node: Node, weights: Weights) -> Weights:
    return weights


def right(code: Array, point: Array, scale: Array) -> Array:
    return (code - point) * scale


@dataclass(frozen=True)
class NBitsSteps:
    """Steps in order, the right ones unless given."""

    a: Callable[[Array], Array] = conversions.as_is
    unpack: Callable[[Node, tuple[Array, ...]], Weights] = weights_of
    read: Read = as_they_are
    dequantize: Dequantize = right
    bias: Callable[[Array, Array], Array] = lambda product, bias: product + bias  # both of A's type
    out: Callable[[Array], Array] = conversions.as_is

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        a, kind = inputs[0], inputs[0].dtype
        weights = self.read(node, self.unpack(node, inputs))
        at = weights.block_of(np.arange(weights.codes.shape[1]))
        with np.errstate(all="ignore"):
            ws.check_conversions(kind, self.a, self.out)
            parts = (weights.codes, weights.points[:, at], weights.scales[:, at])
            dequantized = np.asarray(self.dequantize(*(part.astype(kind) for part in parts))).astype(kind)
            rows = self.a(a).reshape(-1, a.shape[-1]).astype(np.float64)
            product = (rows @ dequantized.astype(np.float64).T).astype(kind)
            found = self.out(self.with_bias(product, bias_of(node, inputs)))
        return (found.reshape(*a.shape[:-1], len(weights.codes)),)

    def with_bias(self, product: Array, bias: Array | None) -> Array:
        return product if bias is None else np.asarray(self.bias(product, bias)).astype(product.dtype)


def pipeline(**steps: Any) -> Mistake:
    return NBitsSteps(**steps)


# Weights, zero points and scales


def with_codes(change: Callable[[Array, int], Array]) -> Read:
    """Codes after a change that their number of bits decides; there is nothing to mistake where nothing changes."""

    def found(node: Node, weights: Weights) -> Weights:
        codes = change(weights.codes, int(node.value("bits")))
        if np.array_equal(codes, weights.codes):
            raise ValueError("there is nothing to mistake")
        return replace(weights, codes=codes)

    return found


def from_upper_bits(node: Node, inputs: tuple[Array, ...]) -> Weights:
    """Each byte is read from its upper bits on, so that of a row's last byte what fills it may come in."""
    weights, packed, bits = weights_of(node, inputs), given(node, inputs)["B"], int(node.value("bits"))
    rows, held = packed.reshape(len(packed), -1), 8 // bits
    every = unpacked(rows, bits, rows.shape[1] * held).reshape(len(rows), -1, held)
    codes = every[:, :, ::-1].reshape(len(rows), -1)[:, : weights.codes.shape[1]]
    if np.array_equal(codes, weights.codes):
        raise ValueError("there is nothing to mistake")
    return replace(weights, codes=codes)


def signed(codes: Array, bits: int) -> Array:
    return om.wrapped_to(codes, bits, signed=True)


def with_points(change: Callable[[Array, int], Array]) -> Read:
    def found(node: Node, weights: Weights) -> Weights:
        points = change(weights.points, int(node.value("bits")))
        if np.array_equal(points, weights.points):
            raise ValueError("there is nothing to mistake")
        return replace(weights, points=points)

    return found


def rounded_points(points: Array, bits: int) -> Array:
    return np.asarray(np.rint(points.astype(np.float64)))


def moved_by(by: int) -> Callable[[Array, int], Array]:
    return lambda points, bits: points.astype(np.float64) + by


def moved_points(by: int) -> Read:
    return with_points(moved_by(by))


def of_packed_points(change: Callable[[Array, int], Array]) -> Read:
    """Packed zero points after a change; those that are left off, or have A's type, are right."""

    def found(node: Node, weights: Weights) -> Weights:
        if not any(tensor.name == "zero_points" and tensor.element == "uint8" for tensor in node.inputs):
            raise ValueError("there is nothing to mistake")
        return with_points(change)(node, weights)

    return found


def zero_as_highest(points: Array, bits: int) -> Array:
    return np.where(points == 0, (1 << bits) - 1, points)


def of_blocks(place: Callable[[Array], Array], *, points: bool = True, scales: bool = True) -> Read:
    """Each block takes the scale and zero point of another one, whose number `place` gives."""

    def found(node: Node, weights: Weights) -> Weights:
        count = weights.scales.shape[1]
        at = place(np.arange(count)) % count
        if count < 2:
            raise ValueError("there is nothing to mistake")
        others = replace(weights, points=weights.points[:, at], scales=weights.scales[:, at])
        return (
            others
            if points and scales
            else replace(
                weights,
                points=others.points if points else weights.points,
                scales=others.scales if scales else weights.scales,
            )
        )

    return found


def of_first_column(node: Node, weights: Weights) -> Weights:
    if len(weights.scales) < 2:
        raise ValueError("there is nothing to mistake")
    first = (np.broadcast_to(part[:1], part.shape) for part in (weights.points, weights.scales))
    points, scales = first
    return replace(weights, points=points, scales=scales)


def with_scales(change: Callable[[Array], Array]) -> Read:
    def found(node: Node, weights: Weights) -> Weights:
        with np.errstate(all="ignore"):
            scales = np.asarray(change(weights.scales)).astype(weights.scales.dtype)
        return replace(weights, scales=scales)

    return found


def flushed(scales: Array) -> Array:
    least = 2.0 ** FLOAT_TYPES[scales.dtype.name].emin
    return np.where(np.abs(scales.astype(np.float64)) < least, np.zeros_like(scales), scales)


def distributed(code: Array, point: Array, scale: Array) -> Array:
    kind = scale.dtype
    return np.asarray((code * scale).astype(kind) - (point * scale).astype(kind))


def fused(code: Array, point: Array, scale: Array) -> Array:
    return ws.fused(code, scale, -(point * scale).astype(scale.dtype))


def to_bfloat16(code: Array, point: Array, scale: Array) -> Array:
    """Weights of float32 for OpenVINO's product of bfloat16, whose sum and bias are float32."""
    if scale.dtype != np.float32:
        raise ValueError("other types have other steps")
    return in_bfloat16(right(code, point, scale))


def product_in(change: Callable[[Array], Array]) -> Dequantize:
    """Difference and scale go to a narrower type, which holds their product; ValueError where A's type is no wider."""

    def found(code: Array, point: Array, scale: Array) -> Array:
        ws.check_conversions(scale.dtype, change)
        return change(np.asarray(change(code - point) * change(scale)))

    return found


def of_real_points(node: Node, weights: Weights) -> Weights:
    """The weights as they are where zero points have A's type, for backends that are right with packed ones."""
    if weights.points.dtype == np.uint8:
        raise ValueError("there is nothing to mistake")
    return weights


def of_other_columns(place: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    """Each column takes the bias of another one, whose number `place` gives."""

    def found(product: Array, bias: Array) -> Array:
        if len(bias) < 2:
            raise ValueError("there is nothing to mistake")
        return np.asarray(product + bias[place(np.arange(len(bias))) % len(bias)])

    return found


def converted(change: Callable[[Array], Array]) -> Callable[[Array, Array], Array]:
    def found(product: Array, bias: Array) -> Array:
        ws.check_conversions(bias.dtype, change)
        return np.asarray(product + change(bias))

    return found


BIASES = (
    frequent("ignores:the bias", "bias", bias=lambda product, bias: product),
    frequent("bias-subtracted", "bias", bias=lambda product, bias: product - bias),
    frequent("bias-twice", "bias", bias=lambda product, bias: product + bias + bias),
    frequent("column-bias-of:the first one", "bias-column", bias=of_other_columns(np.zeros_like)),
    step("column-bias-of:the one before it", "bias-column", bias=of_other_columns(lambda at: at - 1)),
    step("column-bias-of:the one after it", "bias-column", bias=of_other_columns(lambda at: at + 1)),
    step("bias-to:float16", "bias", bias=converted(conversions.in_float16)),
    step("bias-to:bfloat16", "bias", bias=converted(conversions.in_bfloat16)),
)
STEPS = (
    frequent(
        "distributes-scale:for zero points of A's type alone",
        "real-points",
        read=of_real_points,
        dequantize=distributed,
    ),
    frequent("distributes-scale", "weight", dequantize=distributed),
    step("flushes-scales", "weight", read=with_scales(flushed)),  # before what else makes zeros of subnormal scales
    step("distributes-scale-fused", "weight", dequantize=fused),
    frequent("ignores-zero-point", "weight", dequantize=lambda code, point, scale: code * scale),
    frequent("adds-zero-point", "weight", dequantize=lambda code, point, scale: (code + point) * scale),
    step("zero-point-after-scale", "weight", dequantize=lambda code, point, scale: code * scale - point),
    frequent("ignores-scale", "weight", dequantize=lambda code, point, scale: code - point),
    step("scale-twice", "weight", dequantize=lambda code, point, scale: (code - point) * scale * scale),
    frequent("divides-by-reciprocal", "weight", dequantize=lambda code, point, scale: (code - point) / (1 / scale)),
    step("rounds-zero-point", "real-points", read=with_points(rounded_points)),
    step("zero-point-moved:1", "weight", read=moved_points(1)),
    step("zero-point-moved:-1", "weight", read=moved_points(-1)),
    *(step(f"packed-zero-point-moved:{by}", "packed-points", read=of_packed_points(moved_by(by))) for by in (1, -1)),
    step("packed-zero-point-of-0:the highest", "packed-points", read=of_packed_points(zero_as_highest)),
    step("product-in:float16", "weight", dequantize=product_in(conversions.in_float16)),
    step("product-in:bfloat16", "weight", dequantize=product_in(conversions.in_bfloat16)),
    frequent("nibbles-swapped", "packed", unpack=from_upper_bits),
    frequent("unsigned-as-signed", "weight", read=with_codes(signed)),
    frequent("first-block-for-all", "block", read=of_blocks(np.zeros_like)),
    step("previous-block", "block", read=of_blocks(lambda at: at - 1)),
    step("last-for-all", "block", read=of_blocks(lambda at: np.full_like(at, len(at) - 1))),
    step("one-for-all:zero point", "block", read=of_blocks(np.zeros_like, scales=False)),
    step("one-for-all:scale", "block", read=of_blocks(np.zeros_like, points=False)),
    step("one-for-all:scale and zero point", "block", read=of_first_column),
    *(step(name, "weight", read=with_scales(change)) for name, change in om.OF_SCALES),
    step("operands-in:bfloat16", "product", a=in_bfloat16, dequantize=to_bfloat16),
    frequent("x-in:float16", "product", a=conversions.in_float16),
    frequent("x-in:bfloat16", "product", a=conversions.in_bfloat16),
    *BIASES,
    *ws.of_result("product"),
)
HALF_FOR_ODD = "half-for-odd-bfloat16"
OF_CONVERSIONS: tuple[tuple[Cause, Mistake], ...] = (
    (Cause(HALF_FOR_ODD, "weight"), HalfForOdd()),
    (Cause(f"{HALF_FOR_ODD}{JOINT}flushes-scales", "weight"), HalfForOdd(flushes=True)),
)
MISTAKES = (*OF_CONVERSIONS, *single_steps(pipeline, STEPS))
PAIRS = pairs_of_steps(pipeline, STEPS)
