"""`tensorflow.UniformDequantize`: the difference from a zero point, times a scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.arithmetic.term import Term, finite, step, to_real
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Clause, Operator, Types
from tiebreak.golden.operators.tensorflow_uniform import along_axis, axis_attribute, range_attributes
from tiebreak.golden.operators.tensorflow_uniform_contested import DEQUANTIZE_API, OF_DEQUANTIZE
from tiebreak.golden.problem import Array, Elementwise, flat, kind_of
from tiebreak.golden.samples import tensorflow_uniform_dequantize as samples

ID = "tensorflow.UniformDequantize"
TYPES = ("int8", "uint8", "int32")
AXES = (0, 1, 2, 3)

CLAUSES = (
    Clause("TUD-F1", "The zero point is subtracted from the input.", f"{DEQUANTIZE_API}, formula"),
    Clause("TUD-F2", "The difference is multiplied by the scale.", f"{DEQUANTIZE_API}, formula"),
    Clause(
        "TUD-F3",
        "quantization_min_val and quantization_max_val tell how the input was made. The formula has neither.",
        f"{DEQUANTIZE_API}, quantization_min_val, quantization_max_val",
    ),
    Clause(
        "TUD-A1",
        "With quantization_axis each slice along it has its own scale and zero point: 1-D tensors of that dimension's "
        "size.",
        f"{DEQUANTIZE_API}, scales, zero_points, quantization_axis",
        when={"quantization_axis": AXES},
    ),
    Clause(
        "TUD-A2",
        "Without it (-1) scales and zero_points are scalars.",
        f"{DEQUANTIZE_API}, scales, zero_points, quantization_axis",
        when={"quantization_axis": -1},
    ),
    Clause("TUD-A3", "quantization_axis is -1 or in [0, rank of the input).", f"{DEQUANTIZE_API}, quantization_axis"),
    Clause("TUD-T1", "The input is int8, uint8 or int32.", f"{DEQUANTIZE_API}, input"),
    Clause("TUD-T2", "Scales and output are float32, zero points int32.", f"{DEQUANTIZE_API}, scales, Tout"),
    Clause("TUD-S1", "The output has the shape of the input.", f"{DEQUANTIZE_API}: the formula is for each element"),
    Clause(
        "TUD-U1",
        "What a NaN or infinite scale gives.",
        f"{DEQUANTIZE_API}: silent",
        unspecified=True,
        situation="a NaN or infinite operand",
    ),
    Clause(
        "TUD-U2",
        "The sign of a zero result: either zero is accepted, also where a number rounds to zero.",
        f"{DEQUANTIZE_API}: silent",
        unspecified=True,
        situation="a zero result",
    ),
    Clause(
        "TUD-U3",
        "What a product beyond float32 gives: infinity in float32.",
        f"{DEQUANTIZE_API}: silent",
        unspecified=True,
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.quantized, "float32", "int32"), (types.real,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x, scales, zero_points = inputs
    own = along_axis(ID, node.value("quantization_axis"), x.shape, {"scales": scales, "zero_points": zero_points})
    single, kinds = FLOAT_TYPES["float32"], tuple(map(kind_of, inputs))
    operands, named = (flat(x, x.shape), *own), ("input", "scale", "zero_point")
    return (Elementwise(ID, "output", x.shape, single, single, "", kinds, operands, named=named),)


def uniform_dequantize(p: Elementwise, x: Term, scale: Term, zero_point: Term) -> Term:
    difference = step(x - zero_point).by("TUD-F1")
    return to_real((difference * finite(scale, "TUD-U1")).by("TUD-F2", "TUD-F3"), p.working).by("TUD-U2", "TUD-U3")


TERMS = {ID: uniform_dequantize}


OPERATOR = Operator(
    id=ID,
    prefix="TUD",
    formula="output = (input - zero_point) * scale",
    sources=(DEQUANTIZE_API,),
    clauses=CLAUSES,
    attributes=(*range_attributes(whose="the input"), axis_attribute()),
    forms=(("input", "scales", "zero_points"),),
    outputs=("output",),
    family="dequantize",
    real_types=("float32",),
    quantized_types=TYPES,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (),
    steps=(
        "difference = input - zero_point, of integers, exact, then rounded to float32",
        "output = difference * scale, rounded to float32",
    ),
    letters={"formula": "F", "placement": "A", "signature": "TS"},
    roles={
        "difference": "TUD-F1",
        "product": "TUD-F2",
        "range": "TUD-F3",
        "projection": "TUD-A1",
        "per-tensor": "TUD-A2",
        "axis": "TUD-A3",
        "input-type": "TUD-T1",
        "output-type": "TUD-T2",
        "shape": "TUD-S1",
        "special": "TUD-U1",
        "zero-sign": "TUD-U2",
        "overflow": "TUD-U3",
    },
    files=tuple((quantized, "float32") for quantized in TYPES),
    samples=samples.samples,
    contested=OF_DEQUANTIZE,
)
