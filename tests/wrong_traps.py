"""Backends that are wrong at one kind of place alone, or for one class of scales: each was a defect of a runtime."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from wrong_onnx_linear import Layout, nearest

from wrong_model import Array, WrongBackend

QUANTIZE, DEQUANTIZE, FAKE = "onnx.QuantizeLinear", "onnx.DequantizeLinear", "openvino.FakeQuantize"
BYTES = (("float32", "uint8"), ("float32", "int8"))
PACKED = (("float32", "int4"), ("float32", "uint4"), ("float32", "int2"), ("float32", "uint2"))
HALVES = (("float16", "uint8"), ("float16", "int8"))
Where = Callable[[Any, Array, Array, Array], Any]  # (node, x, scale, zero point, both of x's shape) to a mask
SPREAD = Layout()


def ends_of(dtype: Any) -> tuple[int, int]:
    found = ml_dtypes.iinfo(dtype)
    return int(found.min), int(found.max)


def spread(node: Any, parameter: Array, shape: tuple[int, ...], most: int = 0) -> Array:
    """A parameter over x; `most` is the largest block that the backend knows: longer ones lie in turn."""
    size = node.attributes.get("block_size", 0)
    if not most or size <= most or parameter.size == 1:
        return SPREAD.spread(node, parameter, shape)
    axis = node.attributes.get("axis", 1) % len(shape)
    index = np.minimum(np.arange(shape[axis]) // most, parameter.shape[axis] - 1)
    return parameter.take(index, axis=axis)


def quantizer(where: Where, divide: Callable[[Array, Array], Array] = np.divide, most: int = 0) -> Callable[..., Any]:
    """QuantizeLinear; a quotient of 2^31 and more becomes -2^31 `where` it says, as x86 converts it to int32."""

    def run(node: Any, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
        dtype = node.outputs[0].dtype
        zero = rest[0].reshape(scale.shape).astype(np.int64) if rest else np.zeros(scale.shape, np.int64)
        scales, zeros = (spread(node, p, x.shape, most) for p in (scale, zero))
        q = np.rint(np.nan_to_num(np.asarray(divide(x, scales), np.float64), posinf=2.0**200, neginf=-(2.0**200)))
        wrong = where(node, x, scales, zeros) & (np.abs(q) >= 2.0**31)
        held = np.clip(np.where(wrong, -(2.0**31), q), -(2.0**31), 2.0**31 - 1) + zeros
        return (np.clip(held, *ends_of(dtype)).astype(np.int64).astype(dtype),)

    return run


def nowhere(node: Any, x: Array, scale: Array, zero: Array) -> Any:
    return np.zeros(x.shape, bool)


def odd_last(node: Any, x: Array, scale: Array, zero: Array) -> Any:
    mask = np.zeros(x.size, bool)
    mask[-1:] = x.size % 2 == 1
    return mask.reshape(x.shape)


def sliced(node: Any, x: Array, scale: Array, zero: Array) -> Any:
    return np.full(x.shape, node.inputs and "block_size" not in node.attributes and np.unique(scale).size > 1)


def blocked(node: Any, x: Array, scale: Array, zero: Array) -> Any:
    return np.full(x.shape, node.attributes.get("block_size", 0) > 1)


def even_zero(node: Any, x: Array, scale: Array, zero: Array) -> Any:
    return zero % 2 == 0


def odd_zero(node: Any, x: Array, scale: Array, zero: Array) -> Any:
    return zero % 2 == 1


def flushed_reciprocal(x: Array, scale: Array) -> Array:
    """Divides, but by scales from 2^126 on (float32) multiplies by the reciprocal, zero if it is subnormal."""
    tiny = float(ml_dtypes.finfo(x.dtype).tiny)
    inverse = 1 / scale.astype(np.float64)
    product = np.asarray(x * np.where(np.abs(inverse) < tiny, 0, 1).astype(x.dtype))
    return np.asarray(product / scale)


def rounded_reciprocal(x: Array, scale: Array) -> Array:
    """Divides, but multiplies by a reciprocal that is subnormal."""
    tiny = float(ml_dtypes.finfo(x.dtype).tiny)
    inverse = np.asarray(np.ones((), x.dtype) / scale)
    return np.where(np.abs(inverse.astype(np.float64)) < tiny, x * inverse, x / scale)


def dequantizer(name: str) -> Callable[..., Any]:
    """DequantizeLinear in fractions; `name` is what is wrong with it."""

    def run(node: Any, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
        output, size = node.outputs[0].dtype, 64 if name == "blocks" else 0
        zero = rest[0].reshape(scale.shape) if rest else np.zeros(scale.shape, x.dtype)
        operands = (x, *(spread(node, p, x.shape, size) for p in (scale, zero)))
        rows = zip(*(np.asarray(p, np.float64).reshape(-1).tolist() for p in operands), strict=True)
        found = [dequantized(*row, output, name) for row in rows]
        return (np.array(found, np.float64).astype(output).reshape(x.shape),)

    return run


def dequantized(x: float, scale: float, zero: float, output: Any, name: str) -> float:
    if not np.isfinite([x, scale, zero]).all():
        return (x - zero) * scale
    if name == "separate" and abs(scale) >= 2.0**126:
        with np.errstate(all="ignore"):
            return float(np.float32(x) * np.float32(scale) - np.float32(zero) * np.float32(scale))
    value = (Fraction(x) - Fraction(zero)) * Fraction(scale)
    if name == "twice":
        value = Fraction(float(np.float32(float(value)))) if abs(value) < 2**127 else value
    limit = float(ml_dtypes.finfo(output).max)
    rounded = nearest(value, output.name)
    return float(rounded) if abs(rounded) <= limit else float(np.copysign(np.inf, float(rounded)))


def fake_quantizer(name: str) -> Callable[..., Any]:
    """FakeQuantize in fractions, its ties to even; `name` is what is wrong with it."""

    def run(node: Any, x: Array, *limits: Array) -> tuple[Array, ...]:
        n = node.attributes["levels"] - 1
        operands = [np.broadcast_to(p, x.shape).astype(np.float64).reshape(-1).tolist() for p in (x, *limits)]
        found = [faked(*row, n, x.dtype, name) for row in zip(*operands, strict=True)]
        return (np.array(found, np.float64).astype(x.dtype).reshape(x.shape),)

    return run


def faked(x: float, low: float, high: float, first: float, last: float, n: int, dtype: Any, name: str) -> float:
    if x <= min(low, high):
        return first
    if x > max(low, high):
        return last
    if not np.isfinite([x, low, high, first, last]).all():
        return float("nan")
    x_, low_, high_, first_, last_ = map(Fraction, (x, low, high, first, last))
    position = (x_ - low_) / (high_ - low_) * n
    if name == "flushed" and 1 / abs(high_ - low_) < Fraction(float(ml_dtypes.finfo(dtype).tiny)):
        position = Fraction(0)
    value = Fraction(round(position)) / n * (last_ - first_) + first_
    if name == "twice":
        value = Fraction(float(np.float32(float(value)))) if abs(value) < 2**127 else value
    return as_float(value, dtype)


def as_float(value: Fraction, dtype: Any) -> float:
    if dtype == np.float64:
        return float(value)
    rounded, limit = nearest(value, dtype.name), float(ml_dtypes.finfo(dtype).max)
    return float(rounded) if abs(rounded) <= limit else float(np.copysign(np.inf, float(rounded)))


WRONG: tuple[WrongBackend, ...] = (
    WrongBackend("far-in-odd-last", QUANTIZE, quantizer(odd_last), "Overflow", BYTES + PACKED),
    WrongBackend("far-per-axis", QUANTIZE, quantizer(sliced), "PerAxis", BYTES + HALVES[:1]),
    WrongBackend("far-in-blocks", QUANTIZE, quantizer(blocked), "Blocked", (("float32", "int2"),)),
    WrongBackend("far-by-even-zero-point", QUANTIZE, quantizer(even_zero), "Overflow", BYTES + PACKED),
    WrongBackend("far-by-odd-zero-point", QUANTIZE, quantizer(odd_zero), "Overflow", BYTES + PACKED),
    WrongBackend("flushes-reciprocals", QUANTIZE, quantizer(nowhere, flushed_reciprocal), "HugeScale", BYTES + HALVES),
    WrongBackend("rounds-subnormal-reciprocals", QUANTIZE, quantizer(nowhere, rounded_reciprocal), "HugeScale", BYTES),
    WrongBackend("knows-blocks-of-64", QUANTIZE, quantizer(nowhere, most=64), "LargeBlock", (("float32", "int2"),)),
    WrongBackend("dequantizes-blocks-of-64", DEQUANTIZE, dequantizer("blocks"), "LargeBlock", (("int8", "float32"),)),
    WrongBackend("dequantizes-twice", DEQUANTIZE, dequantizer("twice"), "RoundedTwice", (("uint16", "float16"),)),
    WrongBackend(
        "dequantizes-apart",
        DEQUANTIZE,
        dequantizer("separate"),
        "HugeScale",
        (("int8", "float32"), ("uint8", "float32")),
    ),
    WrongBackend(
        "fake-flushes-reciprocals",
        FAKE,
        fake_quantizer("flushed"),
        "HugeScale",
        tuple((f, f) for f in ("float32", "float16")),
    ),
)
# Steps in a wider type than the operands', which the document leaves open: no deviation.
OTHER_ORDERS: tuple[WrongBackend, ...] = (
    WrongBackend(
        "fake-rounds-twice",
        FAKE,
        fake_quantizer("twice"),
        "RoundedTwice",
        tuple((f, f) for f in ("float16", "bfloat16")),
    ),
)
RIGHT: tuple[WrongBackend, ...] = (
    WrongBackend("traps-dequantize", DEQUANTIZE, dequantizer(""), "", (("uint16", "float16"), ("int8", "float32"))),
)
