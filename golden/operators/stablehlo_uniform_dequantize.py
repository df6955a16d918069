"""`stablehlo.uniform_dequantize`: the number that an integer of a quantized type stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.arithmetic.term import Term, step, to_real
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Clause, Operator, Types
from tiebreak.golden.operators.stablehlo import (
    EXPRESSED,
    SPEC,
    STORAGE,
    TYPES,
    ends_of,
    parameters,
    type_attributes,
    type_clauses,
)
from tiebreak.golden.operators.stablehlo_contested import OF_DEQUANTIZE
from tiebreak.golden.problem import Array, Elementwise, flat, kind_of
from tiebreak.golden.samples import stablehlo_uniform_dequantize as samples

ID = "stablehlo.uniform_dequantize"
DEQUANTIZE = f"{SPEC}, uniform_dequantize"

CLAUSES = (
    Clause(
        "SUD-F1",
        "The zero point is subtracted from the integer. A difference that the storage type does not hold is a number, "
        "too; the function dequantize subtracts in that type, where an overflow is implementation-defined.",
        f"{TYPES}: f = (i - zero_point) * scale for a given integer i",
    ),
    Clause("SUD-F2", "The difference is multiplied by the scale.", f"{TYPES}: f = (i - zero_point) * scale"),
    Clause(
        "SUD-F3",
        "storage_min and storage_max tell which integers the type has. The formula has neither.",
        f"{TYPES}: f = (i - zero_point) * scale",
    ),
    *type_clauses("SUD", "the operand"),
    Clause(
        "SUD-T1", "Scales and result have the expressed type.", f"{TYPES}: (C4); {DEQUANTIZE}: element_type(result)"
    ),
    Clause("SUD-S1", "The result has the shape of the operand.", f"{DEQUANTIZE}: shape(operand) = shape(result)"),
    Clause(
        "SUD-U1",
        "The sign of a zero result: either zero is accepted, also where a number rounds to zero.",
        f"{TYPES}: silent",
        unspecified=True,
        situation="a zero result",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    ends_of(ID, types.quantized, attributes)
    return (types.quantized, types.real, types.quantized), (types.real,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x, scales, points = inputs
    ends = ends_of(ID, node.input_type, node.attributes)
    own = parameters(ID, node.value("quantization_dimension"), x.shape, scales, points, ends)
    real, kinds = FLOAT_TYPES[node.output_type], tuple(map(kind_of, inputs))
    operands, named = (flat(x, x.shape), *own), ("operand", "scale", "zero_point")
    return (Elementwise(ID, "result", x.shape, real, real, "", kinds, operands, named=named),)


def uniform_dequantize(p: Elementwise, x: Term, scale: Term, zero_point: Term) -> Term:
    difference = step(x - zero_point).by("SUD-F1")
    return to_real((difference * scale).by("SUD-F2", "SUD-F3"), p.working).by("SUD-U1")


TERMS = {ID: uniform_dequantize}


OPERATOR = Operator(
    id=ID,
    prefix="SUD",
    formula="result = (operand - zero_point) * scale",
    sources=(SPEC,),
    clauses=CLAUSES,
    attributes=type_attributes(whose="the operand"),
    forms=(("operand", "scales", "zero_points"),),
    outputs=("result",),
    family="dequantize",
    real_types=EXPRESSED,
    quantized_types=STORAGE,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (),
    steps=(
        "difference = operand - zero_point, of integers, exact, then rounded to the expressed type",
        "result = difference * scale, rounded to the expressed type",
    ),
    letters={"formula": "F", "placement": "A", "signature": "TS"},
    roles={
        "difference": "SUD-F1",
        "product": "SUD-F2",
        "range": "SUD-F3",
        "projection": "SUD-A1",
        "per-tensor": "SUD-A2",
        "axis": "SUD-A3",
        "output-type": "SUD-T1",
        "scales": "SUD-T2",
        "points": "SUD-T3",
        "ends": "SUD-T4",
        "left-off": "SUD-T5",
        "shape": "SUD-S1",
        "zero-sign": "SUD-U1",
    },
    files=samples.FILES,
    samples=samples.samples,
    contested=OF_DEQUANTIZE,
)
