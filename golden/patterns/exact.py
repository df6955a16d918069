"""The exact truth: the pattern in real arithmetic, rounded once by each Q, to nearest with ties to even.

A value is an array of integers, one row for each row of the operands, times one rational unit. Sums, products and
maxima of such values are such values, so that everything is exact. Source of each rule: the operator of that name in
ONNX's operator set 21.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, encode
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns import enclosures
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, REAL, Pattern, PatternStep, ScalePair
from tiebreak.golden.problem import Array


@dataclass(frozen=True)
class ExactValue:
    """numbers * unit, or a curve of that."""

    numbers: Array  # of Python integers, [rows, width]
    unit: Fraction
    curve: str = ""

    def in_unit(self, unit: Fraction) -> Array:
        factor = self.unit / unit
        assert factor.denominator == 1
        return self.numbers * factor.numerator


def exact(pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array]) -> Array:
    """The output's codes as int64, or its float32 bits as uint32, [rows, width].

    `rows` are the operands, [rows, width]. A constant is [1, columns], or [1, k, columns] if it is a second factor.
    InvalidInput if what follows a curve is no Q.
    """
    known = {name: ExactValue(*read(array)) for name, array in rows.items()}
    for step in pattern.steps:
        values = [known[name] for name in step.inputs]
        if step.operation != QUANTIZE and (curves := [value.curve for value in values if value.curve]):
            raise InvalidInput(f"{step.operation} of {curves[0]}: the exact truth needs a Q between them")
        known[step.output] = apply(step, values, pairs)
    result = known[pattern.result]
    return floats(result) if pattern.output == REAL else result.numbers.astype(np.int64)


def read(array: Array) -> tuple[Array, Fraction]:
    """Codes as they are, or float32 numbers in units of their last place."""
    if array.dtype.kind in "iu":
        return array.astype(object), Fraction(1)
    smallest = Fraction(1, 1 << 149)
    numbers = [int(Fraction(float(number)) / smallest) for number in array.ravel()]
    return np.array(numbers, object).reshape(array.shape), smallest


def apply(step: PatternStep, values: list[ExactValue], pairs: Mapping[str, ScalePair]) -> ExactValue:
    if step.operation == QUANTIZE:
        return quantize(values[0], pairs[step.pair])
    if step.operation == DEQUANTIZE:
        pair = pairs[step.pair]
        scale = Fraction(float(pair.scale))
        sign = 1 if scale > 0 else -1  # a unit is positive, so that numbers are in its order
        return ExactValue((values[0].numbers - pair.zero_point) * sign, abs(scale))
    return STEPS[step.operation](step.attributes, *values)


def quantize(value: ExactValue, pair: ScalePair) -> ExactValue:
    """round(x / scale) + zero_point, clamped to the type."""
    scale = Fraction(float(pair.scale))
    if value.curve:
        numbers = curved(value, lambda real: round(real / scale))
    else:
        numbers = nearest_even(value.numbers * (1 if scale > 0 else -1), value.unit / abs(scale))
    return ExactValue(np.clip(numbers + pair.zero_point, *pair.ends), Fraction(1))


def nearest_even(numbers: Array, unit: Fraction) -> Array:
    scaled = narrow(numbers, 2 * max(unit.numerator, unit.denominator)) * unit.numerator
    floors = scaled // unit.denominator
    twice = 2 * (scaled - floors * unit.denominator)
    up = (twice > unit.denominator) | ((twice == unit.denominator) & (floors % 2 == 1))
    return np.asarray(floors.astype(object) + up.astype(object))


def narrow(numbers: Array, factor: int) -> Array:
    """The same integers as int64 if products with the factor fit, which are computed faster."""
    largest = max(abs(int(numbers.min())), abs(int(numbers.max())), 1)
    return numbers.astype(np.int64) if largest * factor < 1 << 62 else numbers


def curved(value: ExactValue, rounding: Callable[[Fraction], int]) -> Array:
    """What a rounding makes of a curve, worked out once for each argument that occurs."""
    distinct = {
        number: enclosures.rounded(value.curve, number * value.unit, rounding) for number in set(value.numbers.flat)
    }
    return np.array([distinct[number] for number in value.numbers.flat], object).reshape(value.numbers.shape)


def floats(value: ExactValue) -> Array:
    """The float32 nearest to each number, as bits."""
    real = FLOAT_TYPES[REAL]
    bits = {number: encode(number * value.unit, real) for number in set(value.numbers.flat)}
    return np.array([bits[number] for number in value.numbers.flat], np.uint32).reshape(value.numbers.shape)


def relu(attributes: Mapping[str, Any], x: ExactValue) -> ExactValue:
    return ExactValue(np.maximum(x.numbers, 0), x.unit)


def clip(attributes: Mapping[str, Any], x: ExactValue) -> ExactValue:
    """Its limits are float32."""
    ends = [Fraction(float(np.float32(attributes[name]))) for name in ("min", "max")]
    unit = common(x.unit, *ends)
    return ExactValue(np.minimum(np.maximum(x.in_unit(unit), int(ends[0] / unit)), int(ends[1] / unit)), unit)


def common(*units: Fraction) -> Fraction:
    """The largest unit of which all these are multiples; zeros do not count."""
    found = Fraction(0)
    for unit in units:
        denominator = found.denominator * unit.denominator
        found = Fraction(math.gcd(int(found * denominator), int(unit * denominator)), denominator)
    return found


def together(*values: ExactValue) -> tuple[Fraction, list[Array]]:
    unit = common(*(value.unit for value in values))
    return unit, [value.in_unit(unit) for value in values]


def add(attributes: Mapping[str, Any], a: ExactValue, b: ExactValue) -> ExactValue:
    unit, (x, y) = together(a, b)
    return ExactValue(x + y, unit)


def subtract(attributes: Mapping[str, Any], a: ExactValue, b: ExactValue) -> ExactValue:
    unit, (x, y) = together(a, b)
    return ExactValue(x - y, unit)


def multiply(attributes: Mapping[str, Any], a: ExactValue, b: ExactValue) -> ExactValue:
    return ExactValue(a.numbers * b.numbers, a.unit * b.unit)


def max_pool(attributes: Mapping[str, Any], x: ExactValue) -> ExactValue:
    return ExactValue(x.numbers.max(axis=1, keepdims=True), x.unit)


def average(attributes: Mapping[str, Any], x: ExactValue) -> ExactValue:
    return ExactValue(x.numbers.sum(axis=1, keepdims=True), x.unit / x.numbers.shape[1])


def concatenate(attributes: Mapping[str, Any], a: ExactValue, b: ExactValue) -> ExactValue:
    unit, found = together(a, b)
    return ExactValue(np.concatenate(found, axis=1), unit)


def resize(attributes: Mapping[str, Any], x: ExactValue) -> ExactValue:
    """Twice as wide, half_pixel: outputs lie at -1/4, 1/4, 3/4 and 5/4; beyond the ends the last value counts."""
    if attributes["mode"] == "nearest":
        return ExactValue(np.repeat(x.numbers, 2, axis=1), x.unit)
    weights = np.array([[4, 3, 1, 0], [0, 1, 3, 4]], object)
    return ExactValue(x.numbers @ weights, x.unit / 4)


def sigmoid(attributes: Mapping[str, Any], x: ExactValue) -> ExactValue:
    return ExactValue(x.numbers, x.unit, "Sigmoid")


def tanh(attributes: Mapping[str, Any], x: ExactValue) -> ExactValue:
    return ExactValue(x.numbers, x.unit, "Tanh")


def softmax(attributes: Mapping[str, Any], x: ExactValue) -> ExactValue:
    """e^a / (e^a + e^b) is the sigmoid of a - b."""
    return ExactValue(x.numbers - x.numbers[:, ::-1], x.unit, "Softmax")


def product(attributes: Mapping[str, Any], x: ExactValue, w: ExactValue) -> ExactValue:
    """[rows, k] by a constant's [1, k, columns]; or row by row the sum of the products."""
    if w.numbers.ndim == 3:
        return ExactValue(x.numbers @ w.numbers[0], x.unit * w.unit)
    return ExactValue((x.numbers * w.numbers).sum(axis=1, keepdims=True), x.unit * w.unit)


STEPS: dict[str, Callable[..., ExactValue]] = {
    "Relu": relu,
    "Clip": clip,
    "Add": add,
    "Sub": subtract,
    "Mul": multiply,
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
