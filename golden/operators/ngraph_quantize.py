"""`ngraph.Quantize`: nGraph's Quantize, in the form of both of its documents."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from tiebreak.golden.arithmetic.term import Term, finite, rounded, step, to_integer
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import (
    ALL_QUANTIZED_TYPES,
    ALL_REAL_TYPES,
    Answer,
    Attribute,
    Clause,
    Contest,
    Operator,
    parse_axis_set,
    parse_choice,
    quantize_signature,
)
from tiebreak.golden.operators.ngraph_dequantize import check_projection
from tiebreak.golden.problem import Array, Quantization, bits_of
from tiebreak.golden.rounding import DEFINITIONS, EVEN, ROUND_MODES
from tiebreak.golden.samples.model import Sample
from tiebreak.golden.vector_inputs.by_theme import HALF, Setting, quotient_sample, small_floors, spread_over
from tiebreak.golden.vector_inputs.by_trap import large_scales, scale_classes

DOCUMENT = "nGraph documentation, ops/quantize.rst"
OLDER = "nGraph documentation, older ops/quantize.rst (third input named offset)"

MODE_CLAUSES = {mode: f"NGQ-R{number}" for number, mode in enumerate(ROUND_MODES, start=1)}

CLAUSES = (
    Clause(
        "NGQ-F1",
        "The argument of round is input divided by scale, in a type that is not named: input's or a wider one.",
        f"{DOCUMENT}, Mathematical Definition",
    ),
    Clause("NGQ-F2", "The quotient is rounded before the zero point is added.", f"{DOCUMENT}, Mathematical Definition"),
    Clause("NGQ-F3", "The zero point is added to the rounded quotient.", f"{DOCUMENT}, Mathematical Definition"),
    *(
        Clause(clause, f"{mode}: {DEFINITIONS[mode]}.", f"{DOCUMENT}, Attributes, round_mode")
        for mode, clause in MODE_CLAUSES.items()
    ),
    Clause(
        "NGQ-A1",
        "Coordinate j of scale and zero_point is the output coordinate projected onto axes.",
        f"{DOCUMENT}, Description",
        situation="parameters that vary",
    ),
    Clause(
        "NGQ-A2",
        "scale and zero_point have the input's shape projected onto axes, for any set of axes; no axes means a scalar.",
        f"{DOCUMENT}, Inputs and Attributes",
    ),
    Clause("NGQ-S1", "The output has the shape of the input, whatever it is.", f"{DOCUMENT}, Inputs and Outputs"),
    Clause("NGQ-T1", "The input is of any real type and scale of the same.", f"{DOCUMENT}, Inputs"),
    Clause("NGQ-T2", "The output is of the type that `type` names, any quantized type.", f"{DOCUMENT}, Attributes"),
    Clause("NGQ-T3", "The zero point has the type of the output.", f"{DOCUMENT}, Inputs"),
    Clause(
        "NGQ-O1",
        "In the older form the third input is named offset and is added the same way. Its round_mode refers to a "
        "header, src/ngraph/op/quantize.hpp; the modes are those that the later form names.",
        f"{OLDER}, offset and round_mode",
        situation="the older form",
    ),
    Clause(
        "NGQ-U1",
        "What a result outside the output type's range becomes.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a result out of range",
    ),
    Clause(
        "NGQ-U2",
        "What a NaN input, scale or quotient becomes.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a NaN operand",
    ),
    Clause(
        "NGQ-U3",
        "What an infinite input or scale becomes.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an infinite operand",
    ),
    Clause(
        "NGQ-U4",
        "What division by a zero scale gives.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a zero scale",
    ),
)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Quantization, ...]:
    x, scale, zero_point = inputs
    axes = node.attributes.get("axes", ())
    check_projection(node.operator, axes, x.shape, {"scale": scale.shape, node.inputs[2].name: zero_point.shape})
    values = zero_point.astype(np.int64)
    operands = bits_of(x), bits_of(scale), values
    return (Quantization(node.real, node.quantized, node.round_mode, axes, *operands, open_division=True),)


SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((3, 3, 3), (0, 2)),
    ((2, 3, 4), (1,)),
    ((2, 2, 2, 2), ()),
    ((2, 2, 2, 2), (2, 3)),
    ((3, 2, 1), (0, 1)),
    ((2, 2, 2, 2), (1,)),
    ((2, 2, 2, 2), (0, 3)),
    ((2, 2, 2, 2, 2), (1, 2, 4)),
    ((3, 1), (0,)),
    ((3, 3), (0,)),
    ((3, 3), (1,)),
    ((3, 3, 3), (0,)),
    ((3, 3, 3), (1,)),
    ((3, 3, 3), (2,)),
    ((3, 3, 3), (0, 1)),
    ((3, 3, 3), (1, 2)),
    ((3, 3, 3), (0, 1, 2)),
    ((2, 3, 4), ()),
    ((2, 3, 4), (0, 2)),
    ((2, 1, 3, 2), (1, 3)),
    ((2, 2, 1, 3), (0, 3)),
    ((2, 1, 2, 1, 3), (0, 2, 4)),
    ((2, 3, 67), (1,)),
    ((5, 67), (1,)),
    ((7,), (0,)),
    ((1031,), ()),
    ((2, 1, 2, 1, 2, 2), (0, 4)),
    ((), ()),
    ((0,), ()),
    ((2, 0, 3), (1,)),
    ((2, 0, 3), (0, 2)),
)


def axes_theme(s: Setting) -> Iterator[Sample]:
    """Every kind of axis set, shape and rank; modes other than ties-to-even get the first five."""
    shapes = SHAPES if s.mode == EVEN else SHAPES[:5]
    for shape, axes in shapes:
        name = f"axes-{'x'.join(map(str, shape)) or 'scalar'}-{'_'.join(map(str, axes)) or 'none'}"
        yield spread_over(name, s, shape, axes, {"axes": list(axes)}, "granularity", "shape")


def older_form_theme(s: Setting) -> Iterator[Sample]:
    quotients = [k + HALF for k in small_floors(s, s.zero_points[1])]
    flags, roles = ("OlderForm", "Tie"), ("older-form", "zero-point-type", "real-type", "output-type")
    yield quotient_sample("offset", s, quotients, Fraction(1), s.zero_points[1], *flags, roles=roles, form=1)


def scales_theme(s: Setting) -> Iterator[Sample]:
    """The largest scales, and scales of every class along an axis; of some modes, since all divide alike."""
    if s.mode in (EVEN, "ROUND_NEAREST_TOWARD_INFINITY", "ROUND_DOWN"):
        yield from large_scales(s)
        for shape, axis in (((7, 5), 0), ((5, 7), 1)):
            yield scale_classes(s, shape, axis, {"axes": [axis]})


CONTESTED = (
    Contest(
        "NGQ-Q1",
        "Is the third input called zero_point or offset?",
        ("NGQ-F3", "NGQ-O1"),
        {"quantized": "int8", "attributes": {"round_mode": EVEN}},
        ([2.5], 1, 3),
        (
            Answer(DOCUMENT, "`zero_point`, added to the rounded quotient", (5.0,), judged=True),
            Answer(
                OLDER, "`offset`, added to the rounded quotient: another name, the same result", (5.0,), judged=True
            ),
        ),
    ),
    Contest(
        "NGQ-Q2",
        "What becomes of a result beyond the output type's range?",
        ("NGQ-U1",),
        {"quantized": "int8", "attributes": {"round_mode": EVEN}},
        ([300.0, -300.0], 1, 0),
        (
            Answer(DOCUMENT, "nothing is said", "unspecified"),
            Answer(
                "nGraph's own unit tests (quantize_clamp_int8 and its like)",
                "the nearer end of the range",
                (127.0, -128.0),
            ),
            Answer("ONNX QuantizeLinear", "saturates", (127.0, -128.0)),
            Answer("a plain C cast of the sum", "wraps around in two's complement on most machines", (44.0, -44.0)),
        ),
    ),
    Contest(
        "NGQ-Q3",
        "Is the quotient rounded before or after the zero point is added?",
        ("NGQ-F2",),
        {"quantized": "int8", "attributes": {"round_mode": EVEN}},
        ([0.5, 1.5], 1, 1),
        (
            Answer(DOCUMENT, "round(input / scale) + zero_point: before", (1.0, 3.0), judged=True),
            Answer("OpenVINO's decomposition of QuantizeLinear into FakeQuantize", "after", (2.0, 2.0)),
        ),
    ),
    Contest(
        "NGQ-Q4",
        "Is the older form's offset projected onto axes, or along them?",
        ("NGQ-A1", "NGQ-A2", "NGQ-O1"),
        {"quantized": "int8", "attributes": {"round_mode": EVEN, "axes": [0]}, "form": 1},
        ([[0.0, 0.0], [0.0, 0.0]], [1, 1], [1, 3]),
        (
            Answer(f"{OLDER}, Description", "onto, as scale: each row has its own", (1.0, 1.0, 3.0, 3.0), judged=True),
            Answer(f"{OLDER}, Inputs", "along: read as all other axes, each column has its own", (1.0, 3.0, 1.0, 3.0)),
        ),
    ),
)


def quantize(p: Quantization, x: Term, scale: Term, zero_point: Term) -> Term:
    quotient = step((finite(x, "NGQ-U2", "NGQ-U3") / finite(scale, "NGQ-U2", "NGQ-U3")).by("NGQ-F1", "NGQ-U4"))
    total = (rounded(quotient, p.mode).by("NGQ-F2") + zero_point).by("NGQ-F3")
    return to_integer(total, p.quantized).by("NGQ-U1")


TERMS = {"ngraph.Quantize": quantize}


OPERATOR = Operator(
    id="ngraph.Quantize",
    prefix="NGQ",
    formula="output[i] = round(input[i] / scale[j]) + zero_point[j]",
    sources=(DOCUMENT, OLDER),
    clauses=CLAUSES,
    attributes=(
        Attribute("type", "the output's element type", parse_choice(ALL_QUANTIZED_TYPES), required=True),
        Attribute("axes", "axis positions on which scale and zero_point vary", parse_axis_set, default=()),
        Attribute("round_mode", "one of the nine rounding modes", parse_choice(tuple(ROUND_MODES)), required=True),
    ),
    forms=(("input", "scale", "zero_point"), ("input", "scale", "offset")),
    outputs=("output",),
    family="quantize",
    real_types=ALL_REAL_TYPES,
    quantized_types=ALL_QUANTIZED_TYPES,
    signature=quantize_signature,
    problems=problems,
    modes_of=lambda attributes: (str(attributes["round_mode"]),),
    steps=(
        "quotient = input / scale, rounded to the input's type",
        "rounded = round(quotient), an integer, exact",
        "output = rounded + zero_point, an integer sum, exact",
    ),
    mode_clause=MODE_CLAUSES.__getitem__,
    letters={"formula": "F", "rounding": "R", "placement": "A", "signature": "STO"},
    roles={
        "quotient": "NGQ-F1",
        "round-first": "NGQ-F2",
        "add": "NGQ-F3",
        "projection": "NGQ-A1",
        "granularity": "NGQ-A2",
        "shape": "NGQ-S1",
        "real-type": "NGQ-T1",
        "output-type": "NGQ-T2",
        "zero-point-type": "NGQ-T3",
        "older-form": "NGQ-O1",
        "range": "NGQ-U1",
        "nan": "NGQ-U2",
        "infinity": "NGQ-U3",
        "zero-scale": "NGQ-U4",
    },
    modes=tuple(ROUND_MODES),
    themes=(axes_theme, older_form_theme, scales_theme),
    contested=CONTESTED,
)
