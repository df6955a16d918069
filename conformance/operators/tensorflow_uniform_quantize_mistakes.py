"""Usual mistakes of `tensorflow.UniformQuantize`: those of every quantizer, and those of its range and parameters.

The shared predictions get the document's own product in place of the quotient: x times the rounded reciprocal, and the
half that is added in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tiebreak.conformance.judging.misplaced import Misplace
from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.conformance.operators.quantize_pairs import finished, pairs_of
from tiebreak.conformance.operators.quantize_prediction import Predict, predicted
from tiebreak.conformance.operators.tensorflow_uniform import IN_PLACE, PLACES, taken
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.places import flush_subnormals, fused_multiply_add
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tensorflow_uniform_quantize import UPWARD
from tiebreak.golden.problem import Array

Ends = tuple[int, int]
HALF = np.float32(0.5)
SINGLE = FLOAT_TYPES["float32"]


def product(x: Array, scale: Array) -> Array:
    """x times the rounded reciprocal, as float64."""
    return np.asarray(x * (np.float32(1) / scale), np.float64)


def half_more(x: Array, scale: Array) -> Array:
    """The number whose floor of a half more is the document's, whose sum float32 rounds."""
    total = product(x, scale).astype(np.float32) + HALF
    return np.asarray(total.astype(np.float64) - 0.5)


def operands_of(
    node: Node, x: Array, scales: Array, zero_points: Array, places: tuple[Misplace, Misplace] = IN_PLACE
) -> QuantizationOperands:
    scale, zero = taken(x, int(node.value("quantization_axis")), scales, zero_points, places)
    least, greatest = ends_of(node)
    points = zero.astype(np.int64).reshape(-1)
    return QuantizationOperands(x.reshape(-1), scale.reshape(-1), points, least, greatest, UPWARD, half_more)


def ends_of(node: Node) -> Ends:
    return int(node.value("quantization_min_val")), int(node.value("quantization_max_val"))


def as_output(node: Node, x: Array, predict: Predict, operands: QuantizationOperands) -> tuple[Array, ...]:
    return (predicted(predict, operands, node.outputs[0].dtype).reshape(x.shape),)


def mistake(predict: Predict, places: tuple[Misplace, Misplace] = IN_PLACE) -> Mistake:
    def run(node: Node, x: Array, scales: Array, zero_points: Array) -> tuple[Array, ...]:
        return as_output(node, x, predict, operands_of(node, x, scales, zero_points, places))

    return run


def misplaced(places: tuple[Misplace, Misplace], predict: Predict = finished) -> Mistake:
    """As `mistake`, where there are several scales."""
    run = mistake(predict, places)

    def where_several(node: Node, x: Array, scales: Array, zero_points: Array) -> tuple[Array, ...]:
        if scales.size < 2:
            raise NotImplementedError
        return run(node, x, scales, zero_points)

    return where_several


def with_ends(change: Callable[[Ends, Ends], Ends]) -> Mistake:
    """Other ends, from those of the attributes and those of the type; the output's type holds what fits."""

    def run(node: Node, x: Array, scales: Array, zero_points: Array) -> tuple[Array, ...]:
        kind = INTEGER_TYPES[node.output_type]
        own = ends_of(node)
        other = change(own, (kind.lowest, kind.highest))
        if other == own:
            raise NotImplementedError
        operands = operands_of(node, x, scales, zero_points)
        return as_output(node, x, finished, replace(operands, lowest=other[0], highest=other[1]))

    return run


def of_low_bits(predict: Predict) -> Mistake:
    """The sum is not clipped: the type takes its low bits."""

    def run(node: Node, x: Array, scales: Array, zero_points: Array) -> tuple[Array, ...]:
        kind = INTEGER_TYPES[node.output_type]
        operands = replace(operands_of(node, x, scales, zero_points), lowest=kind.lowest, highest=kind.highest)
        return as_output(node, x, predict, operands)

    return run


def wrapped(o: QuantizationOperands) -> Array:
    return o.wrap(round_array(o.quotient(), o.mode) + o.zero_point)


def cast_to_int32(o: QuantizationOperands) -> Array:
    """A cast gives int32's least number for what int32 does not hold; the sum with the zero point wraps around."""
    rounded = round_array(o.quotient(), o.mode)
    held = np.where(np.abs(rounded) < 2.0**31, rounded, -(2.0**31))
    total = np.mod(np.nan_to_num(held, nan=-(2.0**31)) + o.zero_point + 2.0**31, 2.0**32) - 2.0**31
    return o.clamp(total)


def flushed(values: Array) -> Array:
    return flush_subnormals(values, SINGLE.emin)


def half_more_flushed(x: Array, scale: Array) -> Array:
    """As half_more where subnormal numbers are read as zero, and none comes out."""
    reciprocal = flushed(np.float32(1) / flushed(scale))
    total = flushed(flushed(x) * reciprocal) + HALF
    return np.asarray(total.astype(np.float64) - 0.5)


def sum_first(o: QuantizationOperands) -> Array:
    """The product plus the zero point in float32, then to the nearest integer, ties to even."""
    return rounded_to_even(o, (o.x * (np.float32(1) / o.scale) + o.zero_point.astype(np.float32)).astype(np.float32))


def fused_sum_first(o: QuantizationOperands) -> Array:
    return rounded_to_even(o, fused(o.x, np.float32(1) / o.scale, o.zero_point))


def sum_of_flushed_first(o: QuantizationOperands) -> Array:
    return rounded_to_even(o, fused(flushed(o.x), flushed(np.float32(1) / flushed(o.scale)), o.zero_point))


def fused(x: Array, reciprocal: Array, zero_point: Array) -> Array:
    return fused_multiply_add(x, reciprocal, zero_point.astype(np.float32).astype(np.float64), np.dtype(np.float32))


def rounded_to_even(o: QuantizationOperands, total: Array) -> Array:
    """NaN is clipped to NaN, which the last cast makes 0, whatever the range."""
    return np.where(np.isnan(total), 0, o.clamp(np.rint(total.astype(np.float64))))


def with_flushing(predict: Predict) -> Predict:
    return lambda o: predict(replace(o, divide=half_more_flushed))


OF_ENDS: tuple[tuple[str, Callable[[Ends, Ends], Ends]], ...] = (
    ("ignores:quantization_min_val and quantization_max_val", lambda own, kind: kind),
    ("ignores:quantization_min_val", lambda own, kind: (kind[0], own[1])),
    ("ignores:quantization_max_val", lambda own, kind: (own[0], kind[1])),
)
OWN: tuple[tuple[Cause, Mistake], ...] = (
    (Cause("casts-to-int32:the sum wraps", "range"), mistake(cast_to_int32)),
    (Cause(f"flushes-all{JOINT}casts-to-int32:the sum wraps", "range"), mistake(with_flushing(cast_to_int32))),
    (Cause("reciprocal-plus-zero-point-fused:ties to even", "round-first"), mistake(fused_sum_first)),
    (Cause("reciprocal-plus-zero-point:ties to even", "round-first"), mistake(sum_first)),
    (
        Cause(f"flushes-all{JOINT}reciprocal-plus-zero-point-fused:ties to even", "round-first"),
        mistake(sum_of_flushed_first),
    ),
    *((Cause(key, "narrow"), with_ends(change)) for key, change in OF_ENDS),
    (Cause("wraps:the type's low bits", "range"), of_low_bits(wrapped)),
)
OF_PLACES = tuple((Cause(key, "projection"), misplaced((first, last))) for key, first, last in PLACES)
NAMED = {cause.id for cause, _ in (*OWN, *OF_PLACES)}
MISTAKES: tuple[tuple[Cause, Mistake], ...] = (
    *OF_PLACES,
    *OWN,
    *((cause, mistake(predict)) for cause, predict in HYPOTHESES if cause.id not in NAMED),
)
PAIRS: tuple[tuple[Cause, Mistake], ...] = tuple((cause, mistake(predict)) for cause, predict in pairs_of(UPWARD))
