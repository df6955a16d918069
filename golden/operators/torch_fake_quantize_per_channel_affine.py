"""`torch.fake_quantize_per_channel_affine`: a scale and a zero point for each index of one axis.

Zero points may be floats, which the formula adds and subtracts as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.operators import torch_fake_quantize_per_tensor_affine as per_tensor
from tiebreak.golden.operators.model import Answer, Attribute, Clause, Contest, Operator, Types, parse_choice
from tiebreak.golden.operators.torch_quantize_per_channel import channels, parse_axis
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import torch_fake_quantize_per_channel_affine as samples

ID = "torch.fake_quantize_per_channel_affine"
DOCUMENT = "PyTorch 2.13, docstring of torch.fake_quantize_per_channel_affine"
ZERO_POINTS = ("int32", "float32", "float16")


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real, types.real, attributes.get("zero_point_type", "int32")), (types.real,)


FLOAT_ORDER = Contest(
    "PFC-FLOAT-ORDER",
    "Is a zero point that is a float added before rounding or after it?",
    ("PFC-F2", "PFC-R1", "PFC-T4"),
    {"attributes": {"axis": 0, "quant_min": 0, "quant_max": 255, "zero_point_type": "float32"}},
    ([[7.0, 0.5, 2.25]], [1.0], [1.25]),
    (
        Answer(f"{DOCUMENT}, formula", "after: (7 + 1.25) - 1.25", (7.0, 0.0, 2.0), judged=True),
        Answer(
            f"{per_tensor.KERNEL}, a zero point of float32 or float16",
            "before: nearby_int(7 + 1.25) - 1.25",
            (6.75, 0.75, 2.75),
        ),
    ),
)

OPERATOR = Operator(
    id=ID,
    prefix="PFC",
    formula=per_tensor.FORMULA,
    sources=(DOCUMENT, per_tensor.ROUNDING),
    clauses=(
        *per_tensor.clauses("PFC", DOCUMENT),
        Clause(
            "PFC-T3",
            "A zero point is an int32.",
            f"{DOCUMENT}, Args, zero_point",
            when={"zero_point_type": "int32"},
        ),
        Clause(
            "PFC-T4",
            "Or a zero point is a float32 or a float16; the formula is the same, and nothing rounds the zero point.",
            f"{DOCUMENT}, Args, zero_point",
            when={"zero_point_type": ("float32", "float16")},
        ),
        Clause(
            "PFC-A1",
            "Each index of axis has a scale and a zero point of its own.",
            f"{DOCUMENT}, Args",
            situation="parameters that vary",
        ),
        Clause(
            "PFC-S2",
            "Scale and zero point are per channel: 1-D, of the input's size along axis.",
            f"{DOCUMENT}, Args: per channel",
        ),
    ),
    attributes=(
        Attribute("axis", "the axis whose indices have parameters of their own", parse_axis, required=True),
        *per_tensor.ATTRIBUTES,
        Attribute("zero_point_type", "the element type of zero_point", parse_choice(ZERO_POINTS), default="int32"),
    ),
    forms=(("input", "scale", "zero_point"),),
    outputs=("output",),
    family="fake",
    real_types=("float32",),
    quantized_types=(),
    signature=signature,
    problems=per_tensor.problems_over(channels),
    modes_of=lambda attributes: (EVEN,),
    mode_clause=lambda mode: "PFC-R1",
    steps=(*per_tensor.STEPS, "with a zero point that is a float, level and difference are rounded to float32"),
    letters={**per_tensor.LETTERS, "placement": "A"},
    roles=per_tensor.roles("PFC")
    | {"zero-point-type": "PFC-T3", "float-zero-point": "PFC-T4", "axis": "PFC-A1", "channels": "PFC-S2"},
    files=(("float32", "float32"),),
    samples=samples.samples,
    contested=(*per_tensor.contests("PFC", lambda value: [value], {"axis": 0}), FLOAT_ORDER),
)
