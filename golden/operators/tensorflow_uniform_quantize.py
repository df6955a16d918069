"""`tensorflow.UniformQuantize`: times the reciprocal of a scale, floor of a half more, plus a zero point."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tiebreak.golden.arithmetic.term import Term, finite, floor, require, rounded, step, to_ends
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Clause, Operator, Types
from tiebreak.golden.operators.tensorflow_uniform import along_axis, axis_attribute, is_range_of, range_attributes
from tiebreak.golden.operators.tensorflow_uniform_contested import API, OF_QUANTIZE
from tiebreak.golden.problem import Array, Elementwise, flat, kind_of
from tiebreak.golden.samples import tensorflow_uniform_quantize as samples

ID = "tensorflow.UniformQuantize"
UPWARD = "ROUND_NEAREST_UPWARD"
TYPES = ("int8", "uint8", "int32")
AXES = (0, 1, 2, 3)

CLAUSES = (
    Clause("TUQ-F1", "The input is multiplied by 1.0f / scale: a reciprocal.", f"{API}, formula"),
    Clause("TUQ-F2", "The zero point is added to what is rounded.", f"{API}, formula"),
    Clause(
        "TUQ-R1",
        "floor(product + 0.5f): to nearest, ties to the greater integer.",
        f"{API}, formula",
    ),
    Clause(
        "TUQ-C2",
        "The two may leave integers of the type unused: a narrow range.",
        f"{API}, quantization_min_val",
        situation="a range narrower than the type",
    ),
    Clause(
        "TUQ-A1",
        "With quantization_axis each slice along it has its own scale and zero point: 1-D tensors of that dimension's "
        "size.",
        f"{API}, scales, zero_points, quantization_axis",
        when={"quantization_axis": AXES},
    ),
    Clause(
        "TUQ-A2",
        "Without it (-1) scales and zero_points are scalars.",
        f"{API}, scales, zero_points, quantization_axis",
        when={"quantization_axis": -1},
    ),
    Clause("TUQ-A3", "quantization_axis is -1 or in [0, rank of the input).", f"{API}, quantization_axis"),
    Clause("TUQ-T1", "Input and scales are float32, zero points int32.", f"{API}, input, scales, zero_points"),
    Clause("TUQ-T2", "The output is int8, uint8 or int32.", f"{API}, Tout"),
    Clause("TUQ-S1", "The output has the shape of the input.", f"{API}: the formula is for each element"),
    Clause(
        "TUQ-U1",
        "What a NaN or infinite input gives.",
        f"{API}: silent",
        unspecified=True,
        situation="a NaN or infinite operand",
    ),
    Clause(
        "TUQ-U2",
        "What a scale gives that is zero, NaN or infinite. A negative one is a number like others.",
        f"{API}: silent",
        unspecified=True,
        situation="a scale that is zero or no number",
    ),
    Clause(
        "TUQ-U3",
        "What the product of 0 and a reciprocal beyond float32 gives: NaN in float32 steps.",
        f"{API}: silent",
        unspecified=True,
        situation="a reciprocal beyond float32",
    ),
    Clause(
        "TUQ-U4",
        "What it gives if quantization_min_val is greater than quantization_max_val, or one of them is outside Tout.",
        f"{API}, quantization_min_val: 'typically (but not limited to)'",
        unspecified=True,
        situation="no range of the type",
    ),
    Clause(
        "TUQ-U5",
        "What a result becomes that is beyond quantization_min_val or quantization_max_val: its formula has no clip, "
        "as that of UniformRequantize has.",
        f"{API}, quantization_min_val: silent",
        unspecified=True,
        situation="a result out of range",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real, types.real, "int32"), (types.quantized,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x, scales, zero_points = inputs
    axis = node.value("quantization_axis")
    own = along_axis(ID, axis, x.shape, {"scales": scales, "zero_points": zero_points})
    kind, result = INTEGER_TYPES[node.output_type], ELEMENT_TYPES[node.output_type]
    least, greatest = node.value("quantization_min_val"), node.value("quantization_max_val")
    constants = {"least": least, "greatest": greatest, "usable": is_range_of(kind, least, greatest)}
    kinds = tuple(map(kind_of, inputs))
    return (Elementwise(ID, "output", x.shape, result, FLOAT_TYPES["float32"], UPWARD, kinds,
                        (flat(x, x.shape), *own), constants, named=("input", "scale", "zero_point")),)  # fmt: skip


def uniform_quantize(p: Elementwise, x: Term, scale: Term, zero_point: Term) -> Term:
    value, divisor = finite(x, "TUQ-U1"), finite(scale, "TUQ-U2")
    product = step(value * step(1 / divisor)).by("TUQ-F1", "TUQ-U2", "TUQ-U3")
    summed = (nearest(p, product) + zero_point).by("TUQ-F2")
    found = to_ends(summed, p.constants["least"], p.constants["greatest"]).by("TUQ-C2", "TUQ-U5")
    return require(p.constants["usable"], found, "TUQ-U4")


def nearest(p: Elementwise, product: Term) -> Term:
    """The floor of a half more; rounded by another mode where the question is what that would give."""
    if p.mode != UPWARD:
        return rounded(product, p.mode)
    return floor(step(product + Fraction(1, 2))).by("TUQ-R1")


TERMS = {ID: uniform_quantize}


OPERATOR = Operator(
    id=ID,
    prefix="TUQ",
    formula="output = floor(input * (1.0f / scale) + 0.5f) + zero_point",
    sources=(API,),
    clauses=CLAUSES,
    attributes=(*range_attributes(), axis_attribute()),
    forms=(("input", "scales", "zero_points"),),
    outputs=("output",),
    family="quantize",
    real_types=("float32",),
    quantized_types=TYPES,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (UPWARD,),
    mode_clause=lambda mode: "TUQ-R1",
    steps=(
        "reciprocal = 1 / scale, rounded to float32",
        "product = input * reciprocal, rounded to float32",
        "sum = product + 0.5, rounded to float32; floor(sum), exact",
        "output = that + zero_point, exact",
    ),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "placement": "A", "signature": "TS"},
    roles={
        "quotient": "TUQ-F1",
        "add": "TUQ-F2",
        "round-first": "TUQ-F2",
        "round": "TUQ-R1",
        "range": "TUQ-U5",
        "narrow": "TUQ-C2",
        "projection": "TUQ-A1",
        "per-tensor": "TUQ-A2",
        "axis": "TUQ-A3",
        "real-type": "TUQ-T1",
        "output-type": "TUQ-T2",
        "shape": "TUQ-S1",
        "special": "TUQ-U1",
        "scale": "TUQ-U2",
        "reciprocal": "TUQ-U3",
        "no-range": "TUQ-U4",
    },
    files=tuple(("float32", quantized) for quantized in TYPES),
    samples=samples.samples,
    contested=OF_QUANTIZE,
)
