"""Decisions of LiteRT's kernels, of its converter, and of XNNPACK as its delegate.

They are taken on the integer graph. TensorFlow's repository holds the kernels.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tiebreak.adapters.patterns.litert_integer import FIXED
from tiebreak.conformance.patterns.decisions.kinds import (
    BYTES,
    KNOBS,
    Where,
    around,
    both,
    equal_pairs,
    equal_to_output,
    input_ratio,
    product_ratio,
    product_scale,
    requantized,
    weighted,
    with_scale,
    zero,
    zero_points,
)
from tiebreak.conformance.patterns.decisions.model import (
    Pairs,
    RewriteBorder,
    RewriteDecision,
    RewriteSource,
)
from tiebreak.conformance.patterns.decisions.places import DecisionPlace
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.patterns.graph import Pattern, ScalePair

KERNELS = "tensorflow/lite/kernels"
CURVES = {"Sigmoid": "LOGISTIC", "Tanh": "TANH", "Softmax": "SOFTMAX"}
POOLED = ("MaxPool", "AveragePool", "Resize")  # QUANTIZE rescales what they give or take
WIDE = ("int16",)


def kernel(file: str, rule: str) -> RewriteSource:
    return RewriteSource("litert", f"{KERNELS}/{file}", rule)


def xnnpack(file: str, rule: str) -> RewriteSource:
    return RewriteSource("xnnpack", file, rule)


MULTIPLIER = kernel("internal/quantization_util.cc", "QuantizeMultiplier")
REQUANTIZE = kernel("internal/reference/requantize.h", "Requantize")
CONCATENATED = kernel("concatenation.cc", "Prepare; the converter's tfl.concatenation")
SPECIFICATION = RewriteSource("litert", "tensorflow/lite/g3doc/performance/quantization_spec.md", "8-bit specification")
DELEGATE = "tensorflow/lite/delegates/xnnpack/xnnpack_delegate.cc"
ADDED = xnnpack(DELEGATE, "VisitAddNode, VisitSubNode")
MULTIPLIED = xnnpack(DELEGATE, "VisitMulNode")
CONVERTED = xnnpack("src/operators/unary-elementwise-nc.c", "xnn_create_convert_nc")
AVERAGED = xnnpack("src/operators/global-average-pooling-nwc.c", "xnn_create_global_average_pooling_nwc")
SUMMED = xnnpack("src/operators/convolution-nhwc.c", "xnn_create_convolution2d_nhwc")


def is_smaller_than_one(place: DecisionPlace, pairs: Pairs) -> bool:
    """The multiplier as a double is below 1: its shift is to the right."""
    product = math.prod(Fraction(float(pairs[name].scale)) for name in place.inputs)
    return product < Fraction(float(pairs[place.output].scale))


def one(place: DecisionPlace, pairs: Pairs) -> RewriteBorder:
    return RewriteBorder(with_scale(pairs, place.output, product_scale(place, pairs)), place.output)


def fixed_pair(place: DecisionPlace, pairs: Pairs) -> ScalePair:
    """The scale and zero point that the operator's output has."""
    kind = pairs[place.output].type
    ends = INTEGER_TYPES[kind]
    scale, offset = FIXED[CURVES[place.names[0]]][ends.bits]
    return ScalePair(np.float32(scale), offset + (ends.lowest + ends.highest + 1) // 2, kind)


def fixed_pairs() -> Iterator[RewriteDecision]:
    for knob in KNOBS:
        yield RewriteDecision(
            SPECIFICATION,
            "no QUANTIZE follows if the output has the scale and the zero point of the operator",
            both(around(*CURVES, types=(*BYTES, *WIDE)), requantized),
            lambda place, pairs: pairs[place.output] == fixed_pair(place, pairs),
            lambda place, pairs: RewriteBorder({**pairs, place.output: fixed_pair(place, pairs)}, place.output),
            knob,
        )


def of_both_signs(pattern: Pattern, place: DecisionPlace) -> bool:
    return {pattern.pairs[name] for name in place.pairs} == set(BYTES)


def is_flipped_bit(place: DecisionPlace, pairs: Pairs) -> bool:
    """Equal scales, and zero points that mean the same code counted from the lowest."""
    read, written = pairs[place.inputs[0]], pairs[place.output]
    return read.scale == written.scale and read.zero_point - written.zero_point == read.ends[0] - written.ends[0]


def flipped_bit(place: DecisionPlace, pairs: Pairs) -> RewriteBorder:
    read, written = pairs[place.inputs[0]], pairs[place.output]
    zero_point = read.zero_point - read.ends[0] + written.ends[0]
    return RewriteBorder(
        {**pairs, place.output: replace(written, scale=read.scale, zero_point=zero_point)}, place.output
    )


def flips() -> Iterator[RewriteDecision]:
    for knob in KNOBS:
        where = both(around(""), of_both_signs)
        yield RewriteDecision(
            REQUANTIZE, "flip the first bit if scales and codes mean the same", where, is_flipped_bit, flipped_bit, knob
        )


def symmetric(file: str, *operations: str) -> RewriteDecision:
    return zero_points(
        kernel(file, "Prepare"),
        "int16 runs if all zero points are 0",
        both(around(*operations, types=WIDE), requantized),
        lambda place: tuple(dict.fromkeys(place.pairs)),
        zero,
    )


def ratios(source: RewriteSource, where: Where, inputs: int, low: float, high: float) -> Iterator[RewriteDecision]:
    """An input's scale by the output's is at least `low` and below `high`, for each input."""
    for number in range(inputs):
        scales = "the input's scale by the output's" if inputs == 1 else f"scale {number + 1} by the output's"
        yield input_ratio(source, f"{scales} is at least {power(low)}", where, number, operator.ge, low)
        yield input_ratio(source, f"{scales} is below {power(high)}", where, number, operator.lt, high)


def power(number: float) -> str:
    return f"2^{round(math.log2(number))}"


PRODUCT = "the product of the inputs' scales by the output's"
CONVERTING = around("", "Relu", "Clip", *POOLED)
DECISIONS: tuple[RewriteDecision, ...] = (
    RewriteDecision(
        MULTIPLIER,
        "the multiplier is below 1, its shift to the right",
        both(around("", "Relu", "Clip", *POOLED, "GlobalAveragePool", "Mul", "MatMul", "Gemm", "Conv"), requantized),
        is_smaller_than_one,
        one,
        "scale",
    ),
    *equal_pairs(SPECIFICATION, around(*POOLED)),
    *equal_to_output(CONCATENATED, around("Concat", types=("int8", *WIDE))),
    *fixed_pairs(),
    *flips(),
    symmetric("add.cc", "Add", "Sub"),
    symmetric("quantize.cc", ""),
    symmetric("reduce.cc", "GlobalAveragePool"),
    *ratios(ADDED, around("Add", "Sub"), 2, 2.0**-10, 2.0**8),
    product_ratio(MULTIPLIED, f"{PRODUCT} is at least 2^-16", around("Mul"), operator.ge, 2.0**-16),
    product_ratio(MULTIPLIED, f"{PRODUCT} is below 2^8", around("Mul"), operator.lt, 2.0**8),
    product_ratio(
        SUMMED, f"{PRODUCT} is below 2^8", both(around("MatMul", "Gemm", "Conv"), weighted), operator.lt, 2.0**8
    ),
    input_ratio(CONVERTED, "the input's scale by the output's is at least 2^-8", CONVERTING, 0, operator.ge, 2.0**-8),
    input_ratio(CONVERTED, "the input's scale by the output's is at most 2^7", CONVERTING, 0, operator.le, 2.0**7),
    *ratios(AVERAGED, around("GlobalAveragePool"), 1, 2.0**-8, 2.0**8),
)
