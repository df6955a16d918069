"""Products of two integers times three scales as black boxes compute them: the facets, and inputs that separate values.

    output = saturate(round((a - a_zero_point) * (b - b_zero_point) * a_scale * b_scale / y_scale) + y_zero_point)

onnx.QLinearMatMul, onnx.QLinearConv and com.microsoft.QGemm do it with sums of one product, com.microsoft.QLinearMul
with every element. Where the inputs stand, scaled_operands says.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache, partial

import numpy as np

from tiebreak.conformance.semantics.integer_scaling import IntegerScaling, ScalingTable, documented
from tiebreak.conformance.semantics.integer_scaling_ends import SATURATE, ends_of
from tiebreak.conformance.semantics.integer_scaling_facets import (
    AFTER,
    AT_31,
    BEFORE,
    HIGH,
    NO_SECOND,
    OWN_SIGNS,
    SECOND,
    Factor,
    FactorOf,
    OutputPoint,
    ProductPosition,
    ScalingCombination,
    multiplier_of_bits,
    output_points_of,
    readings_of,
)
from tiebreak.conformance.semantics.integer_scaling_rules import adds_soundly, hides_int32, rounds_soundly
from tiebreak.conformance.semantics.model import Candidates, Facet, Semantics, valid_candidates
from tiebreak.conformance.semantics.places import as_array, fused_multiply_add
from tiebreak.conformance.semantics.precisions import FLOAT32, FLOAT64, Precision
from tiebreak.conformance.semantics.round_modes import MODES
from tiebreak.conformance.semantics.scaled_operands import (
    A_POINT,
    Others,
    first_probes,
    further_probe,
    in_type,
    names_of,
    of_output,
    scales_of,
    second_difference,
)
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

# What the first difference is multiplied by


def ratio_of(others: Others) -> Fraction:
    """The real product of both scales over the output's."""
    a, b, y = (Fraction(float(scale)) for scale in scales_of(others))
    return a * b / y


def real_ratio(others: Others) -> Factor:
    return Factor(*(ratio_of(others) * int(second_difference(others))).as_integer_ratio())


def whole_ratio(others: Others) -> Factor:
    """The ratio as a multiplier of 31 bits and a shift, of both products in float64."""
    a, b, y = map(float, scales_of(others))
    found = multiplier_of_bits(HIGH, a * b / y)
    return found._replace(over=found.over * int(second_difference(others)))


REAL = FactorOf("real", "no integer stands for the scales' ratio", real_ratio, "real-ratio", has_shift=False)
OF_31_BITS = FactorOf(
    "31-bits",
    "the ratio as a whole number of 31 bits and a shift",
    whole_ratio,
    "multiplier-of-bits:31",
    is_real=False,
)


# What floating-point numbers are made; `values` are the first differences


def products(values: Array, others: Others, precision: Precision) -> Array:
    return as_array((values * second_difference(others)).astype(precision.dtype))


def as_written(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    a, b, y = in_type(others, precision)
    return as_array(products(values, others, precision) * (a * b) / y)


def by_one_multiplier(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    a, b, y = in_type(others, precision)
    return as_array(products(values, others, precision) * (a * b / y))


def by_widened_multiplier(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    """A float32 multiplier, in a product of a wider type."""
    a, b, y = in_type(others, FLOAT32)
    return as_array(products(values, others, precision) * (a * b / y).astype(precision.dtype))


def by_rounded_multiplier(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    a, b, y = in_type(others, FLOAT64)
    return as_array(products(values, others, precision) * (a * b / y).astype(precision.dtype))


def by_reciprocal(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    a, b, y = in_type(others, precision)
    return as_array(products(values, others, precision) * (a * b) * (precision.dtype.type(1) / y))


def numbers(values: Array, others: Others, precision: Precision) -> Array:
    """The product of the two dequantized numbers."""
    a, b, _ = in_type(others, precision)
    second = second_difference(others).astype(precision.dtype)
    return as_array((values.astype(precision.dtype) * a) * (second * b))


def dequantized(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    return as_array(numbers(values, others, precision) / in_type(others, precision)[2])


def dequantized_reciprocal(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    reciprocal = precision.dtype.type(1) / in_type(others, precision)[2]
    return as_array(numbers(values, others, precision) * reciprocal)


def fused_with_zero_point(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    """By the reciprocal, and with the zero point rounded once; it is taken off again without a rounding."""
    reciprocal = precision.dtype.type(1) / in_type(others, precision)[2]
    point = of_output(others)[1].astype(np.float64)
    total = fused_multiply_add(numbers(values, others, precision), reciprocal, point, precision.dtype)
    return as_array(total.astype(np.float64) - point)


def in_range(values: Array, factor: Factor, others: Others, precision: Precision) -> Array:
    """As a FakeQuantize: how far the number is from what the lowest output stands for, of the way to the highest.

    Numbers beyond are clamped. What is returned lacks the zero point, which is added again without a rounding.
    """
    y, point = in_type(others, precision)[2], of_output(others)[1]
    ends = np.iinfo(point.dtype)
    low, high = (y * (end - point.astype(np.int64)).astype(precision.dtype) for end in (ends.min, ends.max))
    steps = precision.dtype.type(ends.max - ends.min)
    part = (np.clip(numbers(values, others, precision), low, high) - low) / (high - low) * steps
    return as_array(part.astype(np.float64) + ends.min - point.astype(np.float64))


AS_WRITTEN = ProductPosition(
    "as-written",
    "the product times both scales' product, over the output's scale: each step a float32",
    "scaled-in:float32",
    precision=FLOAT32,
    number=as_written,
)
MULTIPLIER = ProductPosition(
    "multiplier",
    "the product times one float32 multiplier, made of the scales in float32",
    "one-multiplier:in float32",
    precision=FLOAT32,
    number=by_one_multiplier,
)
IN_RANGE = ProductPosition(
    "dequantized-range",
    "both numbers in float32, their product as a part of the output's range",
    "product-of-numbers:as a part of the output's range",
    precision=FLOAT32,
    number=in_range,
)
FUSED = ProductPosition(
    "dequantized-fused",
    "both numbers in float32, their product times the reciprocal plus the zero point rounded once",
    "product-of-numbers:by the reciprocal, fused with the zero point",
    precision=FLOAT32,
    number=fused_with_zero_point,
)
EXACTLY = ProductPosition(
    "exact", "the real quotient, or one of steps in float64: no input is known that tells them apart", "scaled-exactly"
)
POSITIONS = (
    AS_WRITTEN,
    MULTIPLIER,
    EXACTLY,
    ProductPosition("at-31", AT_31.sentence, "scaled-by-two-shifts", high=True),
    ProductPosition(
        "multiplier-from-float64",
        "the product times one float32 multiplier, made of the scales in float64",
        "one-multiplier:of float64, in float32",
        precision=FLOAT32,
        number=by_rounded_multiplier,
    ),
    ProductPosition(
        "multiplier-widened",
        "the product times one float32 multiplier, in float64",
        "one-multiplier:of float32, in float64",
        precision=FLOAT64,
        number=by_widened_multiplier,
    ),
    ProductPosition(
        "multiplier-in-float64",
        "the product times one float64 multiplier",
        "one-multiplier:in float64",
        precision=FLOAT64,
        number=by_one_multiplier,
    ),
    ProductPosition(
        "reciprocal",
        "the product times both scales' product, times the reciprocal of the output's scale: each a float32",
        "reciprocal-of-output-scale",
        precision=FLOAT32,
        number=by_reciprocal,
    ),
    ProductPosition(
        "dequantized",
        "both numbers in float32, their product over the output's scale",
        "product-of-numbers",
        precision=FLOAT32,
        number=dequantized,
    ),
    ProductPosition(
        "dequantized-reciprocal",
        "both numbers in float32, their product times the reciprocal of the output's scale",
        "product-of-numbers:by the reciprocal",
        precision=FLOAT32,
        number=dequantized_reciprocal,
    ),
    IN_RANGE,
    FUSED,
)


@cache  # values are told apart by identity: candidates and what is documented must have the same ones
def product_facets(source: IntegerType, target: IntegerType) -> tuple[Facet, ...]:
    return (
        Facet("reading", readings_of(source, has_point=True)),
        Facet("factor", (REAL, OF_31_BITS)),
        Facet("position", POSITIONS),
        Facet("round_mode", tuple(MODES.values())),
        Facet("second_rounding", (NO_SECOND, *SECOND)),
        Facet("zero_point", output_points_of(has_point=True)),
        Facet("saturation", ends_of(target, has_point=True, far=True)),
    )


def is_valid(target: IntegerType, semantics: Semantics) -> bool:
    """Whether a combination makes sense. What is read with another sign is rounded to even, from few positions."""
    one = ScalingCombination._make(semantics)
    if one.position is IN_RANGE:
        return is_of_a_range(one)
    usual = one.round_mode.id == EVEN and one.position in (AS_WRITTEN, EXACTLY, MULTIPLIER)
    return rounds_soundly(one) and adds(target, one) and (one.reading is OWN_SIGNS or usual)


def is_of_a_range(one: ScalingCombination) -> bool:
    """A part of a range has the zero point in it, and nothing beyond."""
    return rounds_soundly(one) and one.reading is OWN_SIGNS and one.zero_point is BEFORE and one.saturation is SATURATE


def adds(target: IntegerType, one: ScalingCombination) -> bool:
    """A sum that wraps around may be cut off after the zero point, also where it is unsigned."""
    if (one.position is FUSED and one.zero_point is not BEFORE) or hides_int32(target, one):
        return False
    wraps = one.saturation.keeps_low_bits and not one.saturation.of_point
    cut = one.round_mode.id == "ROUND_TOWARD_ZERO" and wraps and not one.position.high
    return adds_soundly(target, one) or (one.zero_point is BEFORE and cut)


@lru_cache(maxsize=64)
def product_candidates(source: IntegerType, target: IntegerType) -> Candidates:
    return valid_candidates(product_facets(source, target), partial(is_valid, target))


SCALES = (  # of a, b and the output
    *((1.0, 1.0, 2.0), (1.0, 1.0, 4.0), (1.0, 3.0, 4.0), (0.5, 0.5, 0.75), (1.0, 1.0, 1.0), (1.0, 1.0, 6.0)),
    *((0.02, 0.03, 0.04), (0.02, 0.05, 0.02), (0.1, 0.1, 0.04), (0.1, 0.07, 0.02), (0.01, 0.03, 0.025)),
    *((0.1, 0.3, 0.02), (0.05, 0.01, 0.1), (0.7, 0.11, 0.02), (0.003, 0.5, 0.01), (0.9, 0.7, 0.3), (0.3, 0.3, 0.9)),
    *((0.0038, 0.0021, 0.013), (12.3, 0.457, 21.0), (3.0, 5.0, 7.0), (1e-3, 7.0, 0.2), (5.0, 1.0, 16.0)),
    *((1.0, 1.0, 2.0**-27), (0.1, 0.3, 1e-8)),  # quotients on both sides of 2^31
)
TIES = (  # and the second difference: quotients are ties, which a float64 multiplier misses
    *(((1.0, 7.0, 50.0), 5), ((1.0, 7.0, 50.0), 25), ((1.0, 9.0, 70.0), 5), ((1.0, 11.0, 10.0), 1)),
    *(((1.0, 11.0, 10.0), 5), ((1.0, 13.0, 90.0), 5), ((1.0, 7.0, 110.0), 5), ((1.0, 1.0, 198.0), 99)),
)


BELOW_INT32 = (65793.0, 1.0, 2.0**-7)  # 255 times their ratio is 2^31 - 128, which zero points take beyond int32


def zero_point_after(node: Node) -> IntegerScaling:
    """The arithmetics of a node whose document rounds the quotient and then adds the zero point."""
    return scaled_products(node, AFTER)


def zero_point_before(node: Node) -> IntegerScaling:
    """Those of a node whose document rounds the sum of quotient and zero point."""
    return scaled_products(node, BEFORE)


def products_of_gemm(node: Node) -> IntegerScaling:
    """Those of a QGemm. InvalidInput for one with a real output, transposed matrices or another alpha than 1."""
    if node.outputs[0].dtype.name not in INTEGER_TYPES:
        raise InvalidInput(f"{node.operator}: semantics are known of integer outputs, not of {node.output_type}")
    if node.value("alpha") != 1 or node.value("transA") or node.value("transB"):
        raise InvalidInput(f"{node.operator}: semantics are known with alpha 1 and without transA and transB")
    return zero_point_after(node)


def scaled_products(node: Node, zero_point: OutputPoint) -> IntegerScaling:
    source, target = INTEGER_TYPES[node.input_type], INTEGER_TYPES[node.output_type]
    facets = product_facets(source, target)
    table = ScalingTable(
        facets,
        documented(facets, round_mode=MODES[EVEN], factor=REAL, position=AS_WRITTEN, zero_point=zero_point),
        partial(product_candidates, source, target),
        lambda others: (others[A_POINT].astype(np.int64), of_output(others)[1].astype(np.int64)),
        lambda probe: np.zeros(probe.x.shape, bool),
        partial(first_probes, node, real_ratio, SCALES, TIES, BELOW_INT32),
        partial(further_probe, node, real_ratio),
        names_of(node),
        "product",
    )
    return IntegerScaling(node, table)


def roles(*, difference: str, scale: str, quotient: str, rounding: str) -> Callable[[Node, str], str]:
    """The role of the clause that a facet is about, from an operator's names for its steps."""
    named = {"reading": difference, "factor": scale, "position": scale, "second_rounding": quotient}
    named |= {"round_mode": rounding, "zero_point": "zero-point", "saturation": "saturate"}
    return lambda node, facet: named[facet]
