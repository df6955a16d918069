"""Each node as written in float32: every step rounded once, to nearest with ties to even, by NumPy.

This shares nothing with the exact truth but the pattern. NumPy's float32 arithmetic is IEEE 754's. exp and tanh are
those of float64, rounded to float32; an argument at which their error could matter is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.kernel import refuse_flushing
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, REAL, Pattern, PatternStep, ScalePair
from tiebreak.golden.problem import Array

ONE = np.float32(1)
UNSURE = 2.0**-49  # relative; above the error of NumPy's float64 functions, far below float32's last place


class Undecided(MachineryFailed):
    """A float32 of a function lies so near to a rounding boundary that float64 does not decide it."""


def stepwise(pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array]) -> Array:
    """The output's codes as int64, or its float32 bits as uint32, [rows, width]; `rows` as in exact. Undecided."""
    refuse_flushing()
    known: dict[str, Array] = dict(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        for step in pattern.steps:
            known[step.output] = apply(step, [known[name] for name in step.inputs], pairs)
    result = known[pattern.result]
    return np.ascontiguousarray(result).view(np.uint32) if pattern.output == REAL else result.astype(np.int64)


def apply(step: PatternStep, values: list[Array], pairs: Mapping[str, ScalePair]) -> Array:
    if step.operation in (QUANTIZE, DEQUANTIZE):
        pair = pairs[step.pair]
        return quantize(values[0], pair) if step.operation == QUANTIZE else dequantize(values[0], pair)
    found = STEPS[step.operation](step.attributes, *values)
    assert found.dtype == np.float32
    return found


def quantize(x: Array, pair: ScalePair) -> Array:
    lowest, highest = pair.ends
    rounded = np.rint(x / pair.scale)
    bounded = np.clip(rounded, lowest - pair.zero_point, highest - pair.zero_point)  # exact: below 2^24
    return np.asarray(bounded.astype(np.int64) + pair.zero_point)


def dequantize(q: Array, pair: ScalePair) -> Array:
    return np.asarray((q.astype(np.int64) - pair.zero_point).astype(np.float32) * pair.scale)


def relu(attributes: Mapping[str, Any], x: Array) -> Array:
    return np.maximum(x, np.float32(0))


def clip(attributes: Mapping[str, Any], x: Array) -> Array:
    return np.clip(x, np.float32(attributes["min"]), np.float32(attributes["max"]))


def max_pool(attributes: Mapping[str, Any], x: Array) -> Array:
    return np.asarray(x.max(axis=1, keepdims=True))


def average(attributes: Mapping[str, Any], x: Array) -> Array:
    return np.asarray((x[:, :1] + x[:, 1:]) / np.float32(2))


def concatenate(attributes: Mapping[str, Any], a: Array, b: Array) -> Array:
    return np.concatenate([a, b], axis=1)


def resize(attributes: Mapping[str, Any], x: Array) -> Array:
    if attributes["mode"] == "nearest":
        return np.repeat(x, 2, axis=1)
    near, far = np.float32(0.75), np.float32(0.25)
    a, b = x[:, :1], x[:, 1:]
    return np.concatenate([a, near * a + far * b, far * a + near * b, b], axis=1)


def sigmoid(attributes: Mapping[str, Any], x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    return np.asarray(ONE / (ONE + rounded(np.exp, -x)))


def tanh(attributes: Mapping[str, Any], x: Array) -> Array:
    return rounded(np.tanh, x)


def softmax(attributes: Mapping[str, Any], x: Array) -> Array:
    """exp(x - max) divided by the sum of both."""
    powers = rounded(np.exp, x - x.max(axis=1, keepdims=True))
    return np.asarray(powers / (powers[:, :1] + powers[:, 1:]))


def rounded(function: Callable[[Array], Array], x: Array) -> Array:
    """A function's float32. Undecided where float64 may lie on the other side of a rounding boundary."""
    wide = function(x.astype(np.float64))
    low, high = ((wide * (1 + side)).astype(np.float32) for side in (-UNSURE, UNSURE))
    if (unsure := low != high).any():
        raise Undecided(f"float64 does not decide the float32 of a function at {x[unsure].ravel()[0]!r}")
    return np.asarray(wide.astype(np.float32))


def product(attributes: Mapping[str, Any], x: Array, w: Array) -> Array:
    """Products of one or two numbers, added to 0 one after the other. A constant is [1, k, columns]."""
    lines = [w[0, k : k + 1] if w.ndim == 3 else w[:, k : k + 1] for k in range(x.shape[1])]
    parts = (x[:, k : k + 1] * line for k, line in enumerate(lines))
    return sum(parts, np.zeros((), np.float32))


STEPS: dict[str, Callable[..., Array]] = {
    "Relu": relu,
    "Clip": clip,
    "Add": lambda _, a, b: a + b,
    "Sub": lambda _, a, b: a - b,
    "Mul": lambda _, a, b: a * b,
    "MaxPool": max_pool,
    "AveragePool": average,
    "GlobalAveragePool": average,
    "Concat": concatenate,
    "Resize": resize,
    "Sigmoid": sigmoid,
    "Tanh": tanh,
    "Softmax": softmax,
    "MatMul": product,
    "Gemm": product,
    "Conv": product,
}
