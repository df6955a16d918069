"""`tensorflow.Dequantize`: TensorFlow's Dequantize in its three modes."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tiebreak.golden.arithmetic.term import Term, finite, greatest, lifted, require, step, to_real
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Answer, Attribute, Clause, Operator, Types, parse_boolean, parse_choice
from tiebreak.golden.operators.tensorflow_ranges import (
    KERNEL,
    QUANTIZE_API,
    QUANTIZED_TYPES,
    RANGE_MODES,
    contest,
    laid_over,
    parse_axis,
)
from tiebreak.golden.problem import Array, Elementwise, kind_of
from tiebreak.golden.samples import tensorflow_dequantize as samples

API = "TensorFlow API documentation, Dequantize"
TESTS = "TensorFlow, dequantize_op_test.cc"
REAL_TYPES = ("float32", "bfloat16")

CLAUSES = (
    Clause(
        "TFD-C1",
        "MIN_COMBINED: min_range + input * (max_range - min_range) / range(T).",
        f"{API}, MIN_COMBINED",
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFD-C2",
        "range(T) is the highest value of T minus the lowest: 255 for 8 bits.",
        f"{API}, MIN_COMBINED",
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFD-C3",
        "MIN_COMBINED from int8 adds (range(T) + 1) / 2 = 128 to the input first.",
        f"{API}, MIN_COMBINED",
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFD-M1",
        "MIN_FIRST: range_scale = (max_range - min_range) * (2^bits / (2^bits - 1)) / 2^bits.",
        f"{API}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFD-M2",
        "MIN_FIRST: min_range + (input - lowest value of T) * range_scale.",
        f"{API}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFD-M3",
        "MIN_FIRST: input minus the lowest value is a double, and so what is made of it.",
        f"{API}, MIN_FIRST",
        when={"mode": "MIN_FIRST"},
    ),
    Clause(
        "TFD-S1",
        "SCALED: the input is multiplied by one factor, so that 0 gives 0.",
        f"{API}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFD-S2",
        "SCALED, signed T: the factor is the larger of min_range / min_expected_T and max_range / max_expected_T.",
        f"{API}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFD-S3",
        "SCALED, unsigned T: the factor is max_range / max_expected_T.",
        f"{API}, SCALED",
        when={"mode": "SCALED"},
    ),
    Clause(
        "TFD-N1",
        "narrow_range makes min_expected_T one more than T's lowest value.",
        f"{API}, SCALED",
        when={"mode": "SCALED", "narrow_range": True},
    ),
    Clause(
        "TFD-A1",
        "With axis, each slice of the input along it has a range of its own; the ranges are 1-D of its size.",
        f"{API}, axis (named only); {QUANTIZE_API}, axis",
        when={"axis": (0, 1, 2, 3)},
    ),
    Clause(
        "TFD-A2",
        "Without axis (-1) min_range and max_range are scalars.",
        f"{API}, min_range, max_range",
        when={"axis": -1},
    ),
    Clause("TFD-T1", "The input is of type int8, uint8, int16, uint16 or int32.", f"{API}, input"),
    Clause("TFD-T2", "The output is float32, or bfloat16 if dtype says so.", f"{API}, dtype"),
    Clause("TFD-T3", "bfloat16 is allowed with MIN_COMBINED only.", f"{API}, dtype", when={"dtype": "bfloat16"}),
    Clause("TFD-T4", "The ranges are float32 whatever the output.", f"{API}, min_range, max_range"),
    Clause("TFD-G1", "The output has the shape of the input.", f"{API}, Returns"),
    Clause(
        "TFD-U1",
        "What MIN_COMBINED adds for int16 and int32: the text has int8 alone, whose results would leave the range.",
        f"{API}, MIN_COMBINED: silent",
        unspecified=True,
        when={"mode": "MIN_COMBINED"},
    ),
    Clause(
        "TFD-U2",
        "What max_range below min_range gives.",
        f"{API}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "TFD-U3",
        "What NaN and infinite ranges give.",
        f"{API}: silent",
        unspecified=True,
        situation="a NaN or infinite operand",
    ),
    Clause(
        "TFD-U4",
        "What a step that overflows in float32 gives: infinity in working precision, and what IEEE 754 makes of it.",
        f"{API}: silent",
        unspecified=True,
    ),
    Clause(
        "TFD-U5",
        "The sign of a zero result: either zero is accepted, also where a number rounds to zero. The text asks for "
        "float32 and double, and for no sign.",
        f"{API}: silent",
        unspecified=True,
        situation="a zero result",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`dtype` says the output's type, if it is given. InvalidInput for bfloat16 with another mode than MIN_COMBINED."""
    real, mode = attributes.get("dtype", types.real), attributes.get("mode", "MIN_COMBINED")
    if real == "bfloat16" and mode != "MIN_COMBINED":
        raise InvalidInput(f"tensorflow.Dequantize: bfloat16 goes with mode MIN_COMBINED only, not with {mode}")
    return (types.quantized, "float32", "float32"), (real,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    operands, shape = laid_over(node, inputs), inputs[0].shape
    kinds, kind = tuple(map(kind_of, inputs)), INTEGER_TYPES[node.input_type]
    narrow = bool(node.attributes.get("narrow_range", False))
    constants = {"mode": node.attributes.get("mode", "MIN_COMBINED"), "T": kind, "lowest": kind.lowest + narrow}
    result, working = FLOAT_TYPES[node.output_type], FLOAT_TYPES["float32"]
    return (Elementwise(node.operator, "output", shape, result, working, "", kinds, operands, constants),)


CONTESTED = (
    contest(
        "tfd-min-first-rounds-min",
        "Does MIN_FIRST round min_range to a multiple of the scale?",
        ("TFD-M2",),
        {"mode": "MIN_FIRST"},
        ([0, 1, 255], -0.5, 254.5),
        Answer(API, "adds min_range as it is", (-0.5, 0.5, 254.5), True),
        Answer(KERNEL, "rounds it, as QuantizeV2's MIN_FIRST does", (-1.0, 0.0, 254.0)),
    ),
    contest(
        "tfd-signed-min-combined",
        "What does MIN_COMBINED add for the signed types other than int8?",
        ("TFD-U1", "TFD-C3"),
        {"mode": "MIN_COMBINED"},
        ([-32768, 0, 32767], 0.0, 65535.0),
        Answer(API, "names int8 alone; without an offset the results leave the range", "unspecified", True),
        Answer(TESTS, "DequantizeMinCombinedQint16: a half of the range's values", (0.0, 32768.0, 65535.0)),
        Answer(KERNEL, "(range(T) + 1) / 2 for every signed type", (0.0, 32768.0, 65535.0)),
        quantized="int16",
    ),
    contest(
        "tfd-signed-min-combined-int32",
        "The same for int32.",
        ("TFD-U1",),
        {"mode": "MIN_COMBINED"},
        ([-2147483648, 0], 0.0, 2.0),
        Answer(API, "names int8 alone", "unspecified", True),
        Answer(KERNEL, "(range(T) + 1) / 2 for every signed type", (0.0, 1.0)),
        quantized="int32",
    ),
    contest(
        "tfd-max-expected-declared-twice",
        "Which max_expected_T does SCALED divide by: its code declares the name twice.",
        ("TFD-S2", "TFD-S3"),
        {"mode": "SCALED"},
        ([0, 1, 255], 0.0, 255.0),
        Answer(f"{API}, the first declaration", "the highest value of T, as in QuantizeV2", (0.0, 1.0, 255.0), True),
        Answer(TESTS, "the highest value of T", (0.0, 1.0, 255.0)),
        Answer(
            f"{API}, the second declaration", "the largest float, which gives almost nothing", "255 / 3.4e38 and less"
        ),
    ),
    contest(
        "tfd-offset-input-unused",
        "MIN_FIRST makes offset_input, a double, and never uses it: is the product of doubles or of floats?",
        ("TFD-M3",),
        {"mode": "MIN_FIRST"},
        ([321], -1.0, 1.0),
        Answer(f"{API}, offset_input", "of doubles, rounded to float32 at the end", (-0.9902036786079407,), True),
        Answer(f"{API}, the last line", "taken as float32 steps", (-0.9902037382125854,)),
        quantized="uint16",
    ),
    contest(
        "tfd-combined-order",
        "Is the range ratio of MIN_COMBINED rounded before it is multiplied?",
        ("TFD-C1",),
        {"mode": "MIN_COMBINED"},
        ([513, 769], 0.0, 255.0),
        Answer(API, "multiplies by the width, then divides", (1.9961090087890625, 2.992218017578125), True),
        Answer(
            TESTS,
            "DequantizeMinCombinedQuint16: multiplies by the ratio, and compares within 4 ulp",
            "either passes",
        ),
        Answer(KERNEL, "multiplies by the ratio", (1.996108889579773, 2.992217779159546)),
        quantized="uint16",
    ),
    contest(
        "tfd-one-element-ranges",
        "May the ranges be of shape [1] where there is no axis?",
        ("TFD-A2",),
        {"mode": "SCALED"},
        ([0, 51, 255], [-1.0], [5.0]),
        Answer(API, "they are scalars", "error", True),
        Answer(TESTS, "gives SCALED's ranges so, with axis -1", (0.0, 1.0, 5.0)),
        Answer(KERNEL, "takes any shape of one element", (0.0, 1.0, 5.0)),
    ),
    contest(
        "tfd-narrow-unsigned",
        "Has min_range a part in SCALED of an unsigned type with narrow_range, whose min_expected_T is then 1?",
        ("TFD-S3", "TFD-N1"),
        {"mode": "SCALED", "narrow_range": True},
        ([0, 255], 200.0, 400.0),
        Answer(API, "it asks for T's lowest value, which stays 0: max_range alone decides", (0.0, 400.0), True),
        Answer(f"{KERNEL}, without oneDNN", "as the text", (0.0, 400.0)),
        Answer(f"{KERNEL}, with oneDNN", "the larger of 200 / 1 and 400 / 255", (0.0, 51000.0)),
    ),
    contest(
        "tfd-bfloat16-modes",
        "Which modes may give bfloat16?",
        ("TFD-T3",),
        {"mode": "SCALED", "dtype": "bfloat16"},
        ([0, 51, 255], 0.0, 5.0),
        Answer(API, "MIN_COMBINED only: such a node is an error", "error", True),
        Answer(KERNEL, "refuses the node", "error"),
        Answer(f"{KERNEL}, with oneDNN", "computes SCALED from 8-bit types", (0.0, 1.0, 5.0)),
        real="bfloat16",
    ),
    contest(
        "tfd-axis-modes",
        "Which modes may have an axis?",
        ("TFD-A1",),
        {"mode": "MIN_FIRST", "axis": 0},
        ([0, 255], [0.0, 0.0], [255.0, 510.0]),
        Answer(API, "names no mode that may not", (0.0, 510.0), True),
        Answer(KERNEL, "MIN_FIRST has none", "error"),
    ),
    contest(
        "tfd-int32-scaled",
        "What does SCALED give at the top of int32?",
        ("TFD-S1",),
        {"mode": "SCALED"},
        ([1, 2147483647], -4.0, 4.0),
        Answer(API, "max_range", (2.0**-29, 4.0), True),
        Answer(f"{KERNEL}, without oneDNN and axis", "the lowest value's, of the wrong sign", (2.0**-29, -4.0)),
        Answer(f"{KERNEL}, with oneDNN", "has no such kernel", "error"),
        quantized="int32",
    ),
)


def dequantize(p: Elementwise, x: Term, min_range: Term, max_range: Term) -> Term:
    low, high = finite(min_range, "TFD-U3"), finite(max_range, "TFD-U3")
    formula = {"MIN_COMBINED": min_combined, "MIN_FIRST": min_first, "SCALED": scaled}[p.constants["mode"]]
    found = to_real(formula(p, x, low, high), FLOAT_TYPES[p.result.name]).by("TFD-U4", "TFD-U5")
    return require(high >= low, found, "TFD-U2")


def min_combined(p: Elementwise, x: Term, low: Term, high: Term) -> Term:
    kind = p.constants["T"]
    range_t = lifted(kind.highest - kind.lowest).by("TFD-C2")
    if kind.signed:
        x = step(x + Fraction(kind.highest - kind.lowest + 1, 2)).by("TFD-C3")  # of int8 an integer below 256, exact
    found = step(low + step(step(x * step(high - low)) / range_t)).by("TFD-C1")
    return require(not kind.signed or kind.name == "int8", found, "TFD-U1")


def min_first(p: Elementwise, x: Term, low: Term, high: Term) -> Term:
    kind, double = p.constants["T"], FLOAT_TYPES["float64"]
    num_discrete_values = 1 << kind.bits
    range_adjust = step(lifted(Fraction(num_discrete_values, num_discrete_values - 1)))
    range_scale = step(step(step(high - low) * range_adjust) / num_discrete_values).by("TFD-M1")
    offset_input = (x - kind.lowest).by("TFD-M3")  # a double, and exact in it
    return step(low + step(offset_input * range_scale, double), double).by("TFD-M2", "TFD-M3")


def scaled(p: Elementwise, x: Term, low: Term, high: Term) -> Term:
    kind = p.constants["T"]
    factor = step(high / step(kind.highest).by("TFD-N1")).by("TFD-S3")
    if kind.lowest != 0:
        factor = greatest(step(low / step(p.constants["lowest"]).by("TFD-N1")), factor).by("TFD-S2")
    return (step(x) * factor).by("TFD-S1")  # rounded once, as the result


TERMS = {"tensorflow.Dequantize": dequantize}


OPERATOR = Operator(
    id="tensorflow.Dequantize",
    prefix="TFD",
    formula="MIN_COMBINED: min_range + (input [+ (range(T) + 1) / 2]) * (max_range - min_range) / range(T); "
    "MIN_FIRST: min_range + (input - lowest) * range_scale; SCALED: input * scale_factor",
    sources=(API, QUANTIZE_API),
    clauses=CLAUSES,
    attributes=(
        Attribute("mode", "how the range becomes a scale", parse_choice(RANGE_MODES), default="MIN_COMBINED"),
        Attribute("narrow_range", "the lowest value is unused (SCALED)", parse_boolean, default=False),
        Attribute("axis", "the dimension whose slices have their own ranges; -1 for none", parse_axis, default=-1),
        Attribute("dtype", "the output's element type", parse_choice(REAL_TYPES), default="float32"),
    ),
    forms=(("input", "min_range", "max_range"),),
    outputs=("output",),
    family="dequantize",
    real_types=REAL_TYPES,
    quantized_types=QUANTIZED_TYPES,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (),
    steps=(
        "MIN_COMBINED, int8: input + 128, exact",
        "MIN_COMBINED: width = max_range - min_range; product = input * width; quotient = product / range(T); "
        "sum = min_range + quotient; each rounded to float32",
        "MIN_COMBINED, bfloat16: the sum rounded once more, to bfloat16",
        "MIN_FIRST: range_adjust = 2^bits / (2^bits - 1); range = (max_range - min_range) * range_adjust, both steps; "
        "range_scale = range / 2^bits; each rounded to float32",
        "MIN_FIRST: offset_input = input - lowest, a double, exact; its product with range_scale and the sum with "
        "min_range each rounded to double; the sum rounded to float32",
        "SCALED: min_expected_T, max_expected_T and the input as float32; each quotient rounded to float32",
        "SCALED: output = input * factor, rounded to float32",
    ),
    letters={"formula": "CMSN", "placement": "A", "signature": "TG"},
    roles={
        "combined": "TFD-C1",
        "range-of-T": "TFD-C2",
        "offset": "TFD-C3",
        "range-scale": "TFD-M1",
        "min-first": "TFD-M2",
        "double-steps": "TFD-M3",
        "scaled": "TFD-S1",
        "signed-factor": "TFD-S2",
        "unsigned-factor": "TFD-S3",
        "narrow": "TFD-N1",
        "axis": "TFD-A1",
        "no-axis": "TFD-A2",
        "input-type": "TFD-T1",
        "output-type": "TFD-T2",
        "bfloat16-mode": "TFD-T3",
        "range-type": "TFD-T4",
        "shape": "TFD-G1",
        "signed-offset": "TFD-U1",
        "inverted": "TFD-U2",
        "special": "TFD-U3",
        "overflow": "TFD-U4",
        "zero-sign": "TFD-U5",
    },
    files=tuple((quantized, real) for real in REAL_TYPES for quantized in QUANTIZED_TYPES),
    samples=samples.samples,
    contested=CONTESTED,
)
