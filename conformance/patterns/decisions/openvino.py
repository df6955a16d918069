"""Decisions of OpenVINO's low-precision transformations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tiebreak.conformance.patterns.decisions.kinds import (
    around,
    both,
    input_of,
    requantized,
    same_type,
    weighted,
    zero,
    zero_points,
)
from tiebreak.conformance.patterns.decisions.model import Pairs, RewriteBorder, RewriteDecision, RewriteSource
from tiebreak.conformance.patterns.decisions.places import DecisionPlace
from tiebreak.golden.patterns.graph import Pattern

FOLDER = "src/common/low_precision_transformations/src"
LEVELS = 256
WHOLE = 60  # codes below a limit that one step of the scale cuts off
MOST = Fraction(LEVELS - 1, LEVELS)  # of codes by which the ends of a dropped FakeQuantize may differ from the type's


def transformation(file: str, rule: str) -> RewriteSource:
    return RewriteSource("openvino", f"{FOLDER}/{file}.cpp", rule)


MULTIPLY = transformation("multiply", "MultiplyTransformation")
ADD = transformation("add", "AddTransformation")
ELIMINATE = transformation("eliminate_fake_quantize", "EliminateFakeQuantizeTransformation")
MATMUL = transformation("mat_mul", "MatMulTransformation")


def unweighted(pattern: Pattern, place: DecisionPlace) -> bool:
    return not weighted(pattern, place)


def keeping(pattern: Pattern, place: DecisionPlace) -> bool:
    """Whether no operation makes numbers that it has not read: then DQ moves behind it."""
    return all(step.attributes.get("mode") != "linear" for step in place.operations) and requantized(pattern, place)


def ends_in_codes(place: DecisionPlace, pairs: Pairs) -> tuple[Fraction, Fraction]:
    """The input's codes, as fractions, at which the output's lowest and highest code lie."""
    read, written = pairs[place.inputs[0]], pairs[place.output]
    ratio = Fraction(float(written.scale)) / Fraction(float(read.scale))
    low, high = ((end - written.zero_point) * ratio + read.zero_point for end in written.ends)
    return low, high


def nearly_identical(way: str, side: int) -> RewriteDecision:
    """At the border both zero points are the lowest code; the output's highest lies just less than a code away."""

    def border(place: DecisionPlace, pairs: Pairs) -> RewriteBorder:
        read, written = pairs[place.inputs[0]], pairs[place.output]
        scale = np.float32(float(read.scale) * (1 + side / LEVELS))
        ends = {
            place.inputs[0]: replace(read, zero_point=read.ends[0]),
            place.output: replace(written, zero_point=written.ends[0], scale=scale),
        }
        return RewriteBorder({**pairs, **ends}, place.output)

    def holds(place: DecisionPlace, pairs: Pairs) -> bool:
        codes = zip(ends_in_codes(place, pairs), pairs[place.output].ends, strict=True)
        return all(side * (end - code) <= MOST for end, code in codes)

    where = both(both(around("", "MaxPool", "Relu", "Resize"), keeping), same_type)
    says = f"drop Q if its ends are less than a code {way} the type's"
    return RewriteDecision(ELIMINATE, says, where, holds, border, "scale", doubt=8)


def limit_in_codes(place: DecisionPlace, pairs: Pairs) -> Fraction:
    """Clip's upper limit in units of the input's scale."""
    return Fraction(float(np.float32(place.operations[0].attributes["max"]))) / Fraction(
        float(pairs[place.inputs[0]].scale)
    )


def is_limit_kept(place: DecisionPlace, pairs: Pairs) -> bool:
    """Cut down to an integer, the limit is the integer that it is nearest to."""
    limit = limit_in_codes(place, pairs)
    return limit // 1 == round(limit)


def whole_limit(place: DecisionPlace, pairs: Pairs) -> RewriteBorder:
    """The limit is nearly 60 codes of the input, and of the output, which counts from its lowest."""
    read, written = pairs[place.inputs[0]], pairs[place.output]
    scale = np.float32(float(place.operations[0].attributes["max"]) / WHOLE)
    ends = {
        place.inputs[0]: replace(read, scale=scale, zero_point=0),
        place.output: replace(written, scale=scale, zero_point=written.ends[0]),
    }
    return RewriteBorder({**pairs, **ends}, place.inputs[0])


def no_shift(which: str, order: tuple[int, int]) -> RewriteDecision:
    """At the border both zero points are 0; the last of the order is moved."""
    return zero_points(
        ADD,
        f"no shift if both zero points are 0; the {which} is moved",
        around("Add"),
        lambda place: tuple(place.inputs[k] for k in order),
        zero,
    )


DECISIONS: tuple[RewriteDecision, ...] = (
    zero_points(
        transformation("relu", "ReluTransformation"),
        "move DQ behind Relu if its zero point is 0",
        around("Relu"),
        input_of(0),
        zero,
    ),
    *(
        zero_points(MULTIPLY, f"merge both DQ if the {which} zero point is 0", around("Mul"), input_of(number), zero)
        for number, which in enumerate(("first", "second"))
    ),
    no_shift("first", (1, 0)),
    no_shift("second", (0, 1)),
    zero_points(
        MATMUL,
        "move both DQ behind the product if the second zero point is 0",
        around("MatMul", "Gemm"),
        input_of(1),
        zero,
    ),
    zero_points(
        MATMUL,
        "move both DQ behind the product of two inputs if the first zero point is 0",
        both(around("MatMul"), unweighted),
        input_of(0),
        zero,
    ),
    zero_points(
        transformation("convolution", "ConvolutionTransformation"),
        "drop the weights' Subtract if their zero point is 0",
        both(around("Conv"), weighted),
        input_of(1),
        zero,
    ),
    RewriteDecision(
        transformation("clamp", "ClampTransformation"),
        "the limit by the input's scale is not cut down to the code below",
        around("Clip"),
        is_limit_kept,
        whole_limit,
        "scale",
    ),
    nearly_identical("above", 1),
    nearly_identical("below", -1),
)
