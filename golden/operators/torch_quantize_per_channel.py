"""`torch.quantize_per_channel`: a scale and a zero point for each index of one axis.

Zero points may be floats: then nothing rounds them, and the inverse of the scale is a step of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import torch_quantize_per_tensor as per_tensor
from tiebreak.golden.operators.model import (
    Answer,
    Attribute,
    Clause,
    Contest,
    Operator,
    Types,
    parse_choice,
    parse_integer,
)
from tiebreak.golden.rounding import NEAREST
from tiebreak.golden.samples import torch_quantize_per_channel as samples

ID = "torch.quantize_per_channel"
DOCUMENT = "PyTorch 2.13, docstring of torch.quantize_per_channel"
FLOATS = "PyTorch 2.13, ATen/quantized/Quantizer.h, comment on PerChannelAffineFloatQParamsQuantizer"
OBSERVER = "PyTorch 2.13, torch/ao/quantization/observer.py, comment in _calculate_qparams"
INTEGER, FLOAT = "integer", "float32"  # the types of zero points


def parse_axis(value: Any) -> int:
    axis = parse_integer(value)
    if axis < 0:
        raise ValueError(f"{axis} is no position of an axis (0, 1, …)")
    return axis


def channels(node: Node, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axis along which scales and zero points vary; InvalidInput if the input has none of this number."""
    axis = node.attributes["axis"]
    if axis >= len(shape):
        raise InvalidInput(f"{node.operator}: axis {axis} outside an input of rank {len(shape)}")
    return (axis,)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    points = FLOAT if attributes.get("zero_point_type") == FLOAT else types.quantized
    return (types.real, types.real, points), (types.quantized,)


def clauses() -> tuple[Clause, ...]:
    """Those of the form with one scale; what one of integers says is none of a float's."""
    integers = {"zero_point_type": INTEGER}
    return tuple(
        replace(one, when=integers) if one.id == "PQC-T3" else one for one in per_tensor.clauses("PQC", DOCUMENT)
    )


FLOAT_ORDER = Contest(
    "PQC-FLOAT-ORDER",
    "Is a zero point that is a float a number of steps, added to the quotient, or a real number, subtracted from X?",
    ("PQC-F2", "PQC-T4"),
    {"quantized": "uint8", "attributes": {"axis": 0, "zero_point_type": FLOAT}},
    ([[3.0, 5.75, -1.0]], [0.5], [1.25]),
    (
        Answer(OBSERVER, "a number of steps: Round(Xf * inv_scale + zero_point)", (7.0, 13.0, 0.0), judged=True),
        Answer(FLOATS, "a real number: (Xf - zero_point) * inv_scale; no rounding", (4.0, 9.0, 0.0)),
        Answer(per_tensor.KERNEL, "a number of steps, ties to even", (7.0, 13.0, 0.0)),
        Answer(DOCUMENT, "a zero point is an integer", "an error"),
    ),
)

OPERATOR = Operator(
    id=ID,
    prefix="PQC",
    formula=per_tensor.FORMULA,
    sources=(DOCUMENT, per_tensor.QUANTIZER, per_tensor.FAKE, FLOATS, OBSERVER),
    clauses=(
        *clauses(),
        Clause(
            "PQC-F3",
            "With zero points that are floats the inverse of the scale, 1 / scale, multiplies the input.",
            f"{OBSERVER}: inv_scale",
            when={"zero_point_type": FLOAT},
        ),
        Clause(
            "PQC-T4",
            "Or zero points are floats; all else is the same, and nothing rounds the zero point.",
            f"{FLOATS}: both are floating point values; {OBSERVER}",
            when={"zero_point_type": FLOAT},
        ),
        Clause(
            "PQC-A1",
            "Each index of axis has a scale and a zero point of its own.",
            f"{DOCUMENT}, Arguments",
            situation="parameters that vary",
        ),
        Clause(
            "PQC-S2",
            "Scales and zero points are 1-D, of the input's size along axis.",
            f"{DOCUMENT}, Arguments, scales",
        ),
    ),
    attributes=(
        Attribute("axis", "the axis whose indices have parameters of their own", parse_axis, required=True),
        Attribute(
            "zero_point_type",
            "integer: zero_points have the quantized type; float32: they are floats",
            parse_choice((INTEGER, FLOAT)),
            default=INTEGER,
        ),
    ),
    forms=(("input", "scales", "zero_points"),),
    outputs=("output",),
    family="quantize",
    real_types=("float32",),
    quantized_types=per_tensor.TYPES,
    signature=signature,
    problems=per_tensor.problems_over(channels),
    modes_of=lambda attributes: NEAREST,
    mode_clause=lambda mode: "PQC-R1",
    steps=(
        *per_tensor.STEPS,
        "with a float zero point, inverse = 1 / scale and quotient = input * inverse, each rounded to float32",
    ),
    letters={**per_tensor.LETTERS, "placement": "A"},
    roles=per_tensor.roles("PQC")
    | {"inverse": "PQC-F3", "float-zero-point": "PQC-T4", "axis": "PQC-A1", "channels": "PQC-S2"},
    saturates=True,
    files=tuple(("float32", kind) for kind in per_tensor.TYPES),
    samples=samples.samples,
    contested=(
        *per_tensor.contests("PQC", lambda value: [value], {"attributes": {"axis": 0}}, ("of one qint8, zero", (0.0,))),
        FLOAT_ORDER,
    ),
)
