"""`tensorflow.QuantizeV2`: TensorFlow's QuantizeV2 in its three modes, with its three outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators.model import (
    Answer,
    Attribute,
    Clause,
    Contest,
    Operator,
    Types,
    parse_boolean,
    parse_choice,
)
from tiebreak.golden.problem import Array, Elementwise, along, flat, kind_of
from tiebreak.golden.samples import tensorflow_quantize_v2 as samples

if TYPE_CHECKING:
    from tiebreak.golden.nodes import Node

JAVA = "TensorFlow for Java documentation, Quantize"
API = "TensorFlow API documentation, QuantizeV2"
KERNEL = "TensorFlow 2.21, CPU kernel"
TESTS = "TensorFlow, quantize_op_test.cc"

RANGE_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
ROUND_MODES = {
    "HALF_AWAY_FROM_ZERO": "ROUND_NEAREST_TOWARD_INFINITY",
    "HALF_TO_EVEN": "ROUND_NEAREST_TOWARD_EVEN",
}
QUANTIZED_TYPES = ("int8", "uint8", "int16", "uint16", "int32")
LEAST = 0.01

CLAUSES = (
    Clause(
        "TFQ-C1",
        "MIN_COMBINED: (input - min_range) * range(T) / (max_range - min_range).",
        f"{JAVA}, MIN_COMBINED",
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFQ-C2",
        "range(T) is the highest value of T minus the lowest: 255 for 8 bits.",
        f"{API}, MIN_COMBINED",
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFQ-C3",
        "MIN_COMBINED to int8 subtracts (range(T) + 1) / 2 = 128 before rounding; unsigned types subtract nothing.",
        f"{JAVA}, MIN_COMBINED and its example",
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFQ-M1",
        "MIN_FIRST: range_scale = 2^bits / ((max_range - min_range) * (2^bits / (2^bits - 1))).",
        f"{JAVA}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFQ-M2",
        "MIN_FIRST rounds input * range_scale and min_range * range_scale apart.",
        f"{JAVA}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFQ-M3",
        "MIN_FIRST subtracts the second from the first and adds the lowest value of T.",
        f"{JAVA}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFQ-M4",
        "MIN_FIRST then clamps to the lowest and the highest value of T.",
        f"{JAVA}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFQ-S1",
        "SCALED: scale_factor is the smaller of min_T / min_range and max_T / max_range.",
        f"{JAVA}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFQ-S2",
        "SCALED: a side whose end of the range has not the sign of T's end there does not count: "
        "the largest float stands for it.",
        f"{JAVA}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFQ-S3",
        "SCALED: the range becomes min_T / scale_factor to max_T / scale_factor.",
        f"{JAVA}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFQ-S4",
        "SCALED: the input is clipped to the adjusted range, then multiplied by scale_factor, then rounded.",
        f"{JAVA}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFQ-N1",
        "narrow_range leaves the lowest value of T unused: min_T is one more.",
        f"{JAVA}, narrow_range; TensorFlow API documentation, Dequantize, SCALED (min_expected_T)",
        when={"mode": "SCALED", "narrow_range": True},
    ),
    Clause(
        "TFQ-N2",
        "narrow_range changes nothing in the other modes.",
        f"{JAVA}, narrow_range",
        when={"mode": ("MIN_COMBINED", "MIN_FIRST"), "narrow_range": True},
    ),
    Clause(
        "TFQ-R1",
        "HALF_AWAY_FROM_ZERO: to the nearest integer, ties away from zero.",
        f"{JAVA}, round_mode",
        when={"round_mode": "HALF_AWAY_FROM_ZERO"},
    ),
    Clause(
        "TFQ-R2",
        "HALF_TO_EVEN: to the nearest integer, ties to the even one.",
        f"{JAVA}, round_mode",
        when={"round_mode": "HALF_TO_EVEN"},
    ),
    Clause(
        "TFQ-R3", "HALF_TO_EVEN is allowed with SCALED only.", f"{API}, round_mode", when={"round_mode": "HALF_TO_EVEN"}
    ),
    Clause(
        "TFQ-K1",
        "Inputs are clipped to [output_min, output_max] before they are scaled and rounded.",
        f"{JAVA}, outputMin and outputMax",
    ),
    Clause(
        "TFQ-O1",
        "output_min and output_max are the range that was used: SCALED's adjusted one, else what was given.",
        f"{JAVA}, minRange, maxRange, outputMin and outputMax",
    ),
    Clause("TFQ-O2", "output_min and output_max have the shape of min_range and max_range.", f"{JAVA}, outputMin"),
    Clause(
        "TFQ-A1",
        "With axis, each slice of the input along it has a range of its own.",
        f"{JAVA}, axis",
        when={"axis": (0, 1, 2, 3)},
    ),
    Clause(
        "TFQ-A2",
        "With axis, min_range and max_range are 1-D of that dimension's size.",
        f"{JAVA}, minRange, maxRange",
        when={"axis": (0, 1, 2, 3)},
    ),
    Clause(
        "TFQ-A3",
        "Without axis (-1) they are scalars, and one range serves the whole tensor.",
        f"{JAVA}, axis",
        when={"axis": -1},
    ),
    Clause("TFQ-E1", "A range of at least ensure_minimum_range is left as it is.", f"{JAVA}, ensure_minimum_range"),
    Clause("TFQ-T1", "Input, ranges and their outputs are float32.", f"{JAVA}, create"),
    Clause("TFQ-T2", "The output is of type T: int8, uint8, int16, uint16 or int32.", f"{API}, T"),
    Clause("TFQ-G1", "The output has the shape of the input.", f"{JAVA}, axis"),
    Clause(
        "TFQ-U1",
        "What a range without zero in it means where that matters: the range 'may be adjusted'.",
        f"{JAVA}, minRange: silent on how",
        True,
        situation="an undefined result",
    ),
    Clause(
        "TFQ-U2",
        "Which end of a range smaller than ensure_minimum_range moves, and how far.",
        f"{JAVA}, ensure_minimum_range: silent",
        True,
        situation="an undefined result",
    ),
    Clause("TFQ-U3", "What max_range below min_range gives.", f"{JAVA}: silent", True, situation="an undefined result"),
    Clause(
        "TFQ-U4",
        "What a range of width zero gives outside SCALED: a division by zero.",
        f"{JAVA}: silent",
        True,
        situation="an undefined result",
    ),
    Clause(
        "TFQ-U5",
        "What MIN_COMBINED subtracts for int16 and int32: the text has int8 alone, whose results would not fit them.",
        f"{JAVA}, MIN_COMBINED: silent",
        True,
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFQ-U6",
        "What NaN and infinite inputs or ranges give.",
        f"{JAVA}: silent",
        True,
        situation="a NaN or infinite operand",
    ),
    Clause(
        "TFQ-U7",
        "What a step that overflows in float32 gives.",
        f"{JAVA}: silent",
        True,
        situation="an undefined result",
    ),
    Clause(
        "TFQ-U8",
        "The sign of an output_min or output_max of zero.",
        f"{JAVA}: silent; either is accepted",
        True,
        situation="a zero result",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All float32 but the output, which is of type T. InvalidInput for HALF_TO_EVEN with another mode than SCALED."""
    mode, rounding = attributes.get("mode", "MIN_COMBINED"), attributes.get("round_mode", "HALF_AWAY_FROM_ZERO")
    if rounding == "HALF_TO_EVEN" and mode != "SCALED":
        raise InvalidInput(
            f"tensorflow.QuantizeV2: round_mode HALF_TO_EVEN goes with mode SCALED only, not with {mode}"
        )
    return (types.real,) * 3, (attributes["T"], types.real, types.real)


def pose(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x, low, high = inputs
    axis = node.attributes.get("axis", -1)
    check_ranges(node.operator, axis, x.shape, {"min_range": low.shape, "max_range": high.shape})
    mode, real, constants = node.round_mode, FLOAT_TYPES["float32"], constants_of(node)
    axes = () if axis < 0 else (axis,)
    spread = (flat(x, x.shape), *(flat(along(end, axes, x.shape), x.shape) for end in (low, high)))
    kinds = tuple(map(kind_of, inputs))
    output = Elementwise(node.operator, "output", x.shape, node.quantized, real, mode, kinds, spread, constants)
    ends = (flat(low, low.shape), flat(high, low.shape))
    return output, *(
        Elementwise(f"{node.operator}:{name}", name, low.shape, real, real, mode, kinds[1:], ends, constants)
        for name in ("output_min", "output_max")
    )


def constants_of(node: Node) -> dict[str, Any]:
    """What the attributes say, as numbers; `lowest` and `highest` are min_T and max_T, `least` a float32's value."""
    mode, kind = node.attributes.get("mode", "MIN_COMBINED"), INTEGER_TYPES[node.output_type]
    narrow = mode == "SCALED" and node.attributes.get("narrow_range", False)
    least = float(np.float32(node.attributes.get("ensure_minimum_range", LEAST)))
    return {"mode": mode, "T": kind, "lowest": kind.lowest + narrow, "highest": kind.highest, "least": least}


def check_ranges(operator: str, axis: int, shape: tuple[int, ...], ranges: Mapping[str, tuple[int, ...]]) -> None:
    """InvalidInput unless the ranges are scalars without an axis, and of the axis's size with one."""
    if axis >= len(shape):
        raise InvalidInput(f"{operator}: axis {axis} outside an input of rank {len(shape)}")
    wanted = () if axis < 0 else (shape[axis],)
    for name, found in ranges.items():
        if found != wanted:
            raise InvalidInput(
                f"{operator}: {name} has shape {list(found)}; an input of shape {list(shape)} with axis {axis} "
                f"needs {list(wanted)}"
            )


def parse_axis(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < -1:
        raise ValueError(f"{value!r} is not an axis: 0, 1, … or -1 for none")
    return value


def parse_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a finite number")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    if abs(value) > float(np.finfo(np.float32).max):  # a comparison that integers of any size survive
        raise ValueError("the number is beyond float32")
    return float(value)


def contest(
    id: str,
    question: str,
    clauses: tuple[str, ...],
    attributes: Mapping[str, Any],
    inputs: tuple[Any, ...],
    *answers: Answer,
    quantized: str = "uint8",
) -> Contest:
    return Contest(id, question, clauses, {"quantized": quantized, "attributes": dict(attributes)}, inputs, answers)


CONTESTED = (
    contest(
        "tfq-range-without-zero",
        "Does a range that lies on one side of zero grow until it holds zero?",
        ("TFQ-U1",),
        {"mode": "MIN_FIRST"},
        ([0.1, 0.2, 0.3], 0.1, 0.3),
        Answer(JAVA, "says only that the range may be adjusted depending on other parameters", "unspecified", True),
        Answer(TESTS, "QuantizeV2MovesMinToIncludeZero: the range becomes 0 to 0.3", (85.0, 170.0, 255.0)),
        Answer(KERNEL, "moves the nearer end to zero", (85.0, 170.0, 255.0)),
        Answer("the formula, read alone", "takes the range as it is given", (0.0, 128.0, 255.0)),
    ),
    contest(
        "tfq-range-below-zero",
        "The same for a range below zero.",
        ("TFQ-U1",),
        {"mode": "MIN_FIRST"},
        ([-0.1, -0.2, -0.3], -0.3, -0.1),
        Answer(JAVA, "says only that the range may be adjusted depending on other parameters", "unspecified", True),
        Answer(TESTS, "QuantizeV2MovesMaxToIncludeZero: the range becomes -0.3 to 0", (170.0, 85.0, 0.0)),
        Answer(KERNEL, "moves the nearer end to zero", (170.0, 85.0, 0.0)),
    ),
    contest(
        "tfq-equal-range",
        "What becomes of a range without width?",
        ("TFQ-U2", "TFQ-U4"),
        {"mode": "MIN_FIRST"},
        ([0.0, 0.0], 0.0, 0.0),
        Answer(JAVA, "does not say which end ensure_minimum_range moves", "unspecified", True),
        Answer(TESTS, "QuantizeV2EqualRange: output_min stays 0, output_max is more than 0", (0.0, 0.0)),
        Answer(KERNEL, "max_range becomes 0.01", (0.0, 0.0)),
    ),
    contest(
        "tfq-axis-of-one",
        "Which shape have output_min and output_max for an axis of size 1?",
        ("TFQ-O2", "TFQ-A2"),
        {"mode": "SCALED", "axis": 0},
        ([[1.0, 2.0]], [0.0], [2.0]),
        Answer(JAVA, "1-D, of the axis's size: [1]", (128.0, 255.0), True),
        Answer(KERNEL, "the same values, but output_min and output_max are scalars", (128.0, 255.0)),
    ),
    contest(
        "tfq-one-element-ranges",
        "May the ranges be of shape [1] where there is no axis?",
        ("TFQ-A3",),
        {"mode": "MIN_FIRST"},
        ([1.0, 1.75], [0.0], [255.0]),
        Answer(JAVA, "they are scalars", "error", True),
        Answer(TESTS, "QuantizeV2 gives them so", (1.0, 2.0)),
        Answer(KERNEL, "takes any shape of one element, and returns scalars", (1.0, 2.0)),
    ),
    contest(
        "tfq-min-first-axis",
        "Which modes may have an axis?",
        ("TFQ-A1",),
        {"mode": "MIN_FIRST", "axis": 0},
        ([1.0, 1.0], [0.0, 0.0], [1.0, 2.0]),
        Answer(JAVA, "names no mode that may not", (255.0, 128.0), True),
        Answer(KERNEL, "MIN_FIRST has none", "error"),
    ),
    contest(
        "tfq-min-first-scale",
        "Is range_scale of MIN_FIRST rounded in three steps, or in one?",
        ("TFQ-M1",),
        {"mode": "MIN_FIRST"},
        ([3.3333333], 0.0, 4.0),
        Answer(JAVA, "range_adjust, range and range_scale are rounded apart", (212.0,), True),
        Answer(KERNEL, "(2^bits - 1) / (max_range - min_range), rounded once", (213.0,)),
    ),
    contest(
        "tfq-least-range-too-small",
        "What becomes of a range smaller than ensure_minimum_range?",
        ("TFQ-U2", "TFQ-E1"),
        {"mode": "MIN_COMBINED"},
        ([0.001, 0.005], 0.0, 0.005),
        Answer(JAVA, "ensures that the range is at least so wide, and does not say how", "unspecified", True),
        Answer(KERNEL, "moves max_range to min_range + ensure_minimum_range * max(1, |min|, |max|)", (26.0, 128.0)),
    ),
    contest(
        "tfq-least-range-scaled",
        "Is ensure_minimum_range a width, or a multiple of the range's magnitude?",
        ("TFQ-E1",),
        {"mode": "MIN_COMBINED", "ensure_minimum_range": 2.0},
        ([1.0, 3.0], -1.0, 3.0),
        Answer(JAVA, "a width, and 4 is more than 2: the range stays", (128.0, 255.0), True),
        Answer(KERNEL, "times the larger of 1, |min_range| and |max_range|: max_range becomes 5", (85.0, 170.0)),
    ),
    contest(
        "tfq-even-outside-scaled",
        "Which modes allow round_mode HALF_TO_EVEN?",
        ("TFQ-R3",),
        {"mode": "MIN_COMBINED", "round_mode": "HALF_TO_EVEN"},
        ([0.5, 1.5, 2.5], 0.0, 255.0),
        Answer(API, "SCALED only: such a node is an error", "error", True),
        Answer(KERNEL, "SCALED only: refuses the node", "error"),
        Answer(JAVA, "names round_mode without that limit: ties to even everywhere", (0.0, 2.0, 2.0)),
    ),
    contest(
        "tfq-signed-min-combined",
        "What does MIN_COMBINED subtract for the signed types other than int8?",
        ("TFQ-U5", "TFQ-C3"),
        {"mode": "MIN_COMBINED"},
        ([-10.0, 0.0, 10.0], -10.0, 10.0),
        Answer(JAVA, "names int8 alone; without an offset int16 could not hold the result", "unspecified", True),
        Answer(KERNEL, "(range(T) + 1) / 2 for every signed type", (-32768.0, -1.0, 32767.0)),
        quantized="int16",
    ),
    contest(
        "tfq-range-of-t",
        "Is range(T) the number of steps between the ends of T (255), or the number of its values (256)?",
        ("TFQ-C2",),
        {"mode": "MIN_COMBINED"},
        ([0.0, 5.5], 0.0, 6.0),
        Answer(API, "highest minus lowest, 255", (0.0, 234.0), True),
        Answer(JAVA, "leaves the name unexplained; its example multiplies by 255/6", (0.0, 234.0)),
        Answer("the name read as a count of values", "256", (0.0, 235.0)),
    ),
    contest(
        "tfq-cast-or-round",
        "Does MIN_COMBINED round, or cast (truncate)?",
        ("TFQ-R1",),
        {"mode": "MIN_COMBINED"},
        ([0.75, 1.25, 1.75], 0.0, 255.0),
        Answer(f"{JAVA}, round_mode", "rounding of values to quantized ones follows round_mode", (1.0, 1.0, 2.0), True),
        Answer(f"{JAVA}, the example of MIN_COMBINED", "speaks of a cast, which in C truncates", (0.0, 1.0, 1.0)),
        Answer(KERNEL, "rounds (unsigned types by adding a half and truncating)", (1.0, 1.0, 2.0)),
    ),
    contest(
        "tfq-add-half-in-float32",
        "Does the largest float32 below a half round to 0 in MIN_COMBINED?",
        ("TFQ-R1", "TFQ-C1"),
        {"mode": "MIN_COMBINED"},
        ([0.49999997], 0.0, 255.0),
        Answer(f"{JAVA}, round_mode", "0 is the nearest integer", (0.0,), True),
        Answer(KERNEL, "adds 0.5 in float32, which gives 1, and truncates", (1.0,)),
    ),
    contest(
        "tfq-combined-order",
        "Is the range ratio of MIN_COMBINED rounded before it is multiplied?",
        ("TFQ-C1",),
        {"mode": "MIN_COMBINED"},
        ([4.0117645, 3.0235293], 0.0, 6.0),
        Answer(f"{JAVA}, the formula", "multiplies first, then divides", (170.0, 128.0), True),
        Answer(f"{JAVA}, the example", "multiplies by 255/6, which float32 rounds", (171.0, 129.0)),
        Answer(KERNEL, "multiplies by 255/6 in float32", (171.0, 129.0)),
    ),
    contest(
        "tfq-int32-ends",
        "What do inputs at the top of the range give for int32?",
        ("TFQ-S4", "TFQ-T2"),
        {"mode": "SCALED"},
        ([-10.0, 9.0, 10.0], -10.0, 10.0),
        Answer(
            JAVA,
            "the range is representable in T, so its upper end gives the highest value",
            (-2147483647.0, 1932735282.0, 2147483647.0),
            True,
        ),
        Answer(
            KERNEL,
            "2^31 in float32, cast to int32: the lowest value",
            (-2147483648.0, 1932735360.0, -2147483648.0),
        ),
        quantized="int32",
    ),
    contest(
        "tfq-int32-min-first",
        "Are MIN_FIRST's sums, and its clamp, of integers or of floats for int32?",
        ("TFQ-M3", "TFQ-M4"),
        {"mode": "MIN_FIRST"},
        ([1.0, 500.0], -256.0, 256.0),
        Answer(JAVA, "clamps at the highest value of T", (8388608.0, 2147483647.0), True),
        Answer(TESTS, "QuantizeV2_32Bit: the same to within 256", (8388608.0, 2147483647.0)),
        Answer(KERNEL, "clamps at the largest float32 below it", (8388608.0, 2147483520.0)),
        quantized="int32",
    ),
    contest(
        "tfq-onednn-scaled",
        "Has SCALED one factor for both sides, from the end further from zero?",
        ("TFQ-S1", "TFQ-S3"),
        {"mode": "SCALED", "round_mode": "HALF_TO_EVEN"},
        ([1.5, 126.5, 127.0], -128.0, 127.0),
        Answer(JAVA, "-128 below and 127 above, whichever allows less: 1 here", (2.0, 126.0, 127.0), True),
        Answer(f"{KERNEL}, without oneDNN", "as the text", (2.0, 126.0, 127.0)),
        Answer(f"{KERNEL}, with oneDNN", "127.5 over the larger end, and output_max is 128", (1.0, 126.0, 127.0)),
        quantized="int8",
    ),
    contest(
        "tfq-scaled-without-width",
        "Is SCALED determined for min_range = max_range = -128, which needs no width, at the default "
        "ensure_minimum_range?",
        ("TFQ-U2", "TFQ-E1"),
        {"mode": "SCALED", "round_mode": "HALF_TO_EVEN"},
        ([-126.5, 0.0, 1.0, 2.5, 3.5, 64.0, 127.0], -128.0, -128.0),
        Answer(JAVA, "the range is smaller than 0.01, and is widened the text does not say how", "unspecified", True),
        Answer(
            TESTS,
            "QuantizeV2Qint8ScaledRoundToEven: -128 decides alone, and the range used is -128 to 127",
            (-126.0, 0.0, 1.0, 2.0, 4.0, 64.0, 127.0),
        ),
        Answer(f"{KERNEL}, without oneDNN", "the same", (-126.0, 0.0, 1.0, 2.0, 4.0, 64.0, 127.0)),
        quantized="int8",
    ),
    contest(
        "tfq-scaled-without-width-away",
        "The same with ties away from zero.",
        ("TFQ-U2", "TFQ-E1"),
        {"mode": "SCALED", "round_mode": "HALF_AWAY_FROM_ZERO"},
        ([-126.5, 0.0, 1.0, 2.5, 3.5, 64.0, 127.0], -128.0, -128.0),
        Answer(JAVA, "the range is smaller than 0.01, and is widened the text does not say how", "unspecified", True),
        Answer(
            TESTS,
            "QuantizeV2Qint8ScaledRoundAwayFromZero: -128 decides alone, and the range used is -128 to 127",
            (-127.0, 0.0, 1.0, 3.0, 4.0, 64.0, 127.0),
        ),
        Answer(KERNEL, "the same", (-127.0, 0.0, 1.0, 3.0, 4.0, 64.0, 127.0)),
        quantized="int8",
    ),
    contest(
        "tfq-int32-narrow",
        "Does narrow_range leave the lowest value unused in int32, too, whose -2147483647 is no float32?",
        ("TFQ-N1", "TFQ-S4"),
        {"mode": "SCALED", "narrow_range": True},
        ([-10.0, 9.0, 10.0], -10.0, 10.0),
        Answer(JAVA, "the lowest value is not used, in any type", (-2147483647.0, 1932735282.0, 2147483647.0), True),
        Answer(KERNEL, "min_T becomes -2^31 in float32, and comes out", (-2147483648.0, 1932735360.0, -2147483648.0)),
        quantized="int32",
    ),
    contest(
        "tfq-min-first-beyond",
        "What does MIN_FIRST give for int32 inputs beyond the range: the highest value, or what max_range gives?",
        ("TFQ-K1", "TFQ-M4"),
        {"mode": "MIN_FIRST"},
        ([34.89024353027344], -35.36893081665039, 17.44512176513672),
        Answer(f"{JAVA}, in real arithmetic", "the same: the highest value", (2147483647.0,), True),
        Answer(
            f"{JAVA}, outputMin and outputMax",
            "clips to max_range first, which float32 steps leave short",
            (2147483520.0,),
        ),
        Answer(KERNEL, "clamps at the largest float32 below the highest value", (2147483520.0,)),
        quantized="int32",
    ),
    contest(
        "tfq-narrow-unsigned",
        "Does narrow_range take a value from unsigned types, too?",
        ("TFQ-N1",),
        {"mode": "SCALED", "narrow_range": True},
        ([0.0, 1.0, 255.0], 0.0, 255.0),
        Answer(JAVA, "the lowest value is not used: 1 stands for zero", (1.0, 1.0, 255.0), True),
        Answer(KERNEL, "as the text", (1.0, 1.0, 255.0)),
        Answer(
            "TensorFlow API documentation, Dequantize", "ignores narrow_range for unsigned types", (0.0, 1.0, 255.0)
        ),
    ),
)

OPERATOR = Operator(
    id="tensorflow.QuantizeV2",
    prefix="TFQ",
    formula="MIN_COMBINED: round((input - min_range) * range(T) / (max_range - min_range) [- (range(T) + 1) / 2]); "
    "MIN_FIRST: clamp(round(input * range_scale) - round(min_range * range_scale) + lowest); "
    "SCALED: round(clip(input, min_T / scale_factor, max_T / scale_factor) * scale_factor)",
    sources=(JAVA, API),
    clauses=CLAUSES,
    attributes=(
        Attribute("T", "the output's element type", parse_choice(QUANTIZED_TYPES), required=True),
        Attribute("mode", "how the range becomes a scale", parse_choice(RANGE_MODES), default="MIN_COMBINED"),
        Attribute("round_mode", "the tie rule", parse_choice(tuple(ROUND_MODES)), default="HALF_AWAY_FROM_ZERO"),
        Attribute("narrow_range", "leave the lowest value unused (SCALED)", parse_boolean, default=False),
        Attribute("axis", "the dimension whose slices have their own ranges; -1 for none", parse_axis, default=-1),
        Attribute("ensure_minimum_range", "the least width of the range", parse_float, default=LEAST),
    ),
    forms=(("input", "min_range", "max_range"),),
    outputs=("output", "output_min", "output_max"),
    family="quantize",
    real_types=("float32",),
    quantized_types=QUANTIZED_TYPES,
    signature=signature,
    pose=pose,
    modes_of=lambda attributes: (ROUND_MODES[attributes.get("round_mode", "HALF_AWAY_FROM_ZERO")],),
    mode_clause=lambda mode: "TFQ-R2" if mode == "ROUND_NEAREST_TOWARD_EVEN" else "TFQ-R1",
    steps=(
        "MIN_COMBINED: input clipped to [min_range, max_range]",
        "MIN_COMBINED: difference = input - min_range, then product = difference * range(T), each rounded to float32",
        "MIN_COMBINED: width = max_range - min_range, then quotient = product / width, each rounded to float32",
        "MIN_COMBINED, int8: quotient - 128, rounded to float32; output = round(that)",
        "MIN_FIRST: range_adjust = 2^bits / (2^bits - 1), rounded to float32",
        "MIN_FIRST: range = (max_range - min_range) * range_adjust, both steps rounded to float32",
        "MIN_FIRST: range_scale = 2^bits / range, rounded to float32",
        "MIN_FIRST: input clipped to [min_range, max_range]",
        "MIN_FIRST: input * range_scale and min_range * range_scale, each rounded to float32, then to an integer",
        "MIN_FIRST: difference, plus the lowest value of T, clamped: of integers, exact",
        "SCALED: min_T and max_T as float32; each side's quotient by its end of the range, rounded to float32",
        "SCALED: scale_factor, the smaller; min_T / scale_factor and max_T / scale_factor, each rounded to float32",
        "SCALED: clipped input * scale_factor, rounded to float32; output = round(that), clamped to [min_T, max_T]",
    ),
    roles={
        "combined": "TFQ-C1",
        "range-of-T": "TFQ-C2",
        "offset": "TFQ-C3",
        "range-scale": "TFQ-M1",
        "round-both": "TFQ-M2",
        "add-lowest": "TFQ-M3",
        "clamp": "TFQ-M4",
        "scale-factor": "TFQ-S1",
        "idle-side": "TFQ-S2",
        "adjusted-range": "TFQ-S3",
        "scaled": "TFQ-S4",
        "narrow": "TFQ-N1",
        "narrow-elsewhere": "TFQ-N2",
        "half-away": "TFQ-R1",
        "half-even": "TFQ-R2",
        "even-only-scaled": "TFQ-R3",
        "clip": "TFQ-K1",
        "range-outputs": "TFQ-O1",
        "range-shape": "TFQ-O2",
        "axis": "TFQ-A1",
        "axis-shape": "TFQ-A2",
        "no-axis": "TFQ-A3",
        "least-range": "TFQ-E1",
        "real-type": "TFQ-T1",
        "output-type": "TFQ-T2",
        "shape": "TFQ-G1",
        "zero-outside": "TFQ-U1",
        "too-small": "TFQ-U2",
        "inverted": "TFQ-U3",
        "no-width": "TFQ-U4",
        "signed-offset": "TFQ-U5",
        "special": "TFQ-U6",
        "overflow": "TFQ-U7",
        "zero-sign": "TFQ-U8",
    },
    saturates=True,
    files=tuple(("float32", quantized) for quantized in QUANTIZED_TYPES),
    samples=samples.samples,
    contested=CONTESTED,
)
