"""onnx.DequantizeLinear: causes that IREE, TVM and onnxruntime-openvino showed, by boxes that do the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from causes_of_records import causes_of

from tiebreak.conformance.semantics.causes import sentence_of
from tiebreak.golden.builder import file_name
from tiebreak.golden.nodes import Case, Node
from tiebreak.golden.problem import Array
from tiebreak.golden.vector_index import indexed_cases
from tiebreak.golden.vectorfile import VECTORS

OPERATOR = "onnx.DequantizeLinear"
SINGLE = np.float32
Box = Callable[..., tuple[Array, ...]]


def cases_of(given: str, result: str) -> list[Case]:
    return list(indexed_cases(VECTORS / file_name(OPERATOR, given, result)))


def spread(node: Node, parameter: Array, shape: tuple[int, ...], block: int) -> Array:
    """A parameter in the input's shape, for blocks of a length; zero beyond the last."""
    if parameter.size == 1:
        return np.broadcast_to(parameter.reshape(()), shape)
    axis = int(node.value("axis")) % len(shape)
    if parameter.ndim < len(shape) and parameter.ndim == 1:
        return np.broadcast_to(parameter.reshape([-1 if at == axis else 1 for at in range(len(shape))]), shape)
    zeros = np.zeros((*parameter.shape[:axis], shape[axis], *parameter.shape[axis + 1 :]), parameter.dtype)
    return np.concatenate([parameter, zeros], axis).take(np.arange(shape[axis]) // max(block, 1), axis)


def numbers(node: Node, x: Array, scale: Array, zero: Array, block: int) -> tuple[Array, Array]:
    """x less the zero point, and the scale, both in the input's shape and float32."""
    wide = np.int64 if x.dtype.kind in "iu" else np.float64
    difference = x.astype(wide) - spread(node, zero, x.shape, block).astype(wide)
    return difference.astype(SINGLE), spread(node, scale, x.shape, block).astype(SINGLE)


def zero_of(x: Array, scale: Array, rest: tuple[Array, ...]) -> Array:
    return rest[0] if rest else np.zeros(scale.shape, x.dtype)


def block_of(node: Node) -> int:
    return int(node.value("block_size") or 0)


@np.errstate(all="ignore")
def short_last_block(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    block, axis = block_of(node), int(node.value("axis"))
    own = 1 if block and x.shape[axis] % block else block
    difference, factor = numbers(node, x, scale, zero_of(x, scale, rest), own)
    return ((difference * factor).astype(node.outputs[0].dtype),)


@np.errstate(all="ignore")
def negative_nan(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    """A subnormal result is 0, too."""
    bits = x.view(np.uint8)
    difference, factor = numbers(node, x, scale, zero_of(x, scale, rest), block_of(node))
    product = np.where(bits == 0xFF, SINGLE(-480), difference) * factor
    return (np.where(np.abs(product) < SINGLE(2.0**-126), np.copysign(SINGLE(0), product), product),)


@np.errstate(all="ignore")
def saturated(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    difference, factor = numbers(node, x, scale, zero_of(x, scale, rest), block_of(node))
    product = difference * factor
    ends = np.where(np.isfinite(product), np.clip(product, -65504, 65504), product)
    return (ends.astype(np.float16),)


@np.errstate(all="ignore")
def bytes_of_float32(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    """Of a scale in float32, the halves of results in float32; other scales are right."""
    difference, factor = numbers(node, x, scale, zero_of(x, scale, rest), block_of(node))
    product = difference * factor
    if scale.dtype != np.float32:
        return (product.astype(np.float16),)
    return (product.reshape(-1).view(np.float16)[: x.size].reshape(x.shape),)


@np.errstate(all="ignore")
def pairs_of_zero_points(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    """Of several int32 zero points two make an int64: z0 + z1 * 2^32, z2 + z3 * 2^32, and then 0."""
    zero = zero_of(x, scale, rest).astype(np.int64)
    if scale.ndim == 1 and scale.size > 1:
        padded = np.append(zero, np.zeros(zero.size, np.int64))
        zero = padded[0::2] % 2**32 + padded[1::2] * 2**32
    difference, factor = numbers(node, x, scale, zero, block_of(node))
    return ((difference * factor).astype(node.outputs[0].dtype),)


FOUND: tuple[tuple[str, Box, str, str], ...] = (
    ("short-last-block-makes-all-one", short_last_block, "int8", "float32"),
    ("negative-nan-as-number", negative_nan, "float8_e4m3fn", "float32"),
    ("multiplies-and-rounds-again:float32 + overflow-saturates", saturated, "int32", "float16"),
    ("zero-points-as-int64", pairs_of_zero_points, "int8", "float32"),
    ("bytes-of-scale-type", bytes_of_float32, "int8", "float16"),
)


@pytest.mark.parametrize(("cause", "box", "given", "result"), FOUND, ids=[one[0] for one in FOUND])
def test_it_is_named(cause: str, box: Box, given: str, result: str) -> None:
    counts: Counter[str] = causes_of(box, cases_of(given, result))
    flushes = [f"{cause} + flushes-outputs"] if cause == "negative-nan-as-number" else []
    assert sum(counts[sentence_of(one)] for one in (cause, *flushes)) > 10
    assert counts["unexplained"] == 0, counts


@np.errstate(all="ignore")
def flushed_but_exact(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    """Rounded once, from float32, where a known mistake has a difference of bfloat16; but a subnormal result is 0."""
    difference, factor = numbers(node, x, scale, zero_of(x, scale, rest), block_of(node))
    kind = ml_dtypes.bfloat16
    product = difference * factor.astype(kind).astype(SINGLE)
    kept = np.where(np.abs(product) < SINGLE(2.0**-126), np.copysign(SINGLE(0), product), product)
    return (kept.astype(kind),)


def test_what_flushes_is_not_refuted_where_it_is_right_by_another_truth() -> None:
    counts = causes_of(flushed_but_exact, cases_of("int16", "bfloat16"))
    assert counts[sentence_of("flushes-outputs")] + counts[sentence_of("flushes")] > 10, counts
