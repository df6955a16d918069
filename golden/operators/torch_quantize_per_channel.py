"""`torch.quantize_per_channel`: a scale and a zero point for each index of one axis."""

from __future__ import annotations

from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import torch_quantize_per_tensor as per_tensor
from tiebreak.golden.operators.model import Attribute, Clause, Operator, parse_integer
from tiebreak.golden.rounding import NEAREST
from tiebreak.golden.samples import torch_quantize_per_channel as samples

ID = "torch.quantize_per_channel"
DOCUMENT = "PyTorch 2.13, docstring of torch.quantize_per_channel"


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


OPERATOR = Operator(
    id=ID,
    prefix="PQC",
    formula=per_tensor.FORMULA,
    sources=(DOCUMENT, per_tensor.QUANTIZER, per_tensor.FAKE),
    clauses=(
        *per_tensor.clauses("PQC", DOCUMENT),
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
    attributes=(Attribute("axis", "the axis whose indices have parameters of their own", parse_axis, required=True),),
    forms=(("input", "scales", "zero_points"),),
    outputs=("output",),
    family="quantize",
    real_types=("float32",),
    quantized_types=per_tensor.TYPES,
    signature=per_tensor.signature,
    problems=per_tensor.problems_over(channels),
    modes_of=lambda attributes: NEAREST,
    mode_clause=lambda mode: "PQC-R1",
    steps=per_tensor.STEPS,
    letters={**per_tensor.LETTERS, "placement": "A"},
    roles=per_tensor.roles("PQC") | {"axis": "PQC-A1", "channels": "PQC-S2"},
    saturates=True,
    files=tuple(("float32", kind) for kind in per_tensor.TYPES),
    samples=samples.samples,
    contested=per_tensor.contests(
        "PQC", lambda value: [value], {"attributes": {"axis": 0}}, ("of one qint8, zero", (0.0,))
    ),
)
