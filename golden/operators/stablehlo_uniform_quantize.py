"""`stablehlo.uniform_quantize`: numbers, or integers of another scale, divided by a scale, clamped and rounded.

A quantized operand has scales and zero points, too: the last two inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.arithmetic.term import Term, clamp, end_of_range, equal, require, rounded, step, where, whole
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Clause, Operator, Types
from tiebreak.golden.operators.stablehlo import (
    AXES,
    EXPRESSED,
    SPEC,
    STORAGE,
    TYPES,
    ends_of,
    parameters,
    type_attributes,
    type_clauses,
)
from tiebreak.golden.operators.stablehlo_contested import OF_QUANTIZE
from tiebreak.golden.problem import Array, Elementwise, flat, kind_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import stablehlo_uniform_quantize as samples

ID = "stablehlo.uniform_quantize"
QUANTIZE, DEQUANTIZE = f"{SPEC}, quantize", f"{SPEC}, dequantize"
UNIFORM_QUANTIZE = f"{SPEC}, uniform_quantize"
FORM = ("operand", "scales", "zero_points", "operand_scales", "operand_zero_points")
OPERANDS = ("operand", "scale", "zero_point", "operand_scale", "operand_zero_point")
OWN = "operand_"  # what the attributes of a quantized operand begin with

CLAUSES = (
    Clause("SUQ-F1", "The number is divided by the scale.", f"{QUANTIZE}: x_scaled = x / compute_scales"),
    Clause(
        "SUQ-F2",
        "The zero point is added to the quotient, before it is rounded.",
        f"{QUANTIZE}: x_scaled_add_zp = x_scaled + converted_zero_points",
    ),
    Clause(
        "SUQ-F3",
        "A quantized operand stands for (operand - its zero point) * its scale, which is quantized. A difference that "
        "its storage type does not hold is a number, too.",
        f"{UNIFORM_QUANTIZE}; {TYPES}: f = (i - zero_point) * scale",
        situation="a quantized operand",
    ),
    Clause(
        "SUQ-F4",
        "Every step is one of the expressed type.",
        f"{QUANTIZE}: convert(zero_points, expressed_type(type)), converted_min, converted_max",
    ),
    Clause(
        "SUQ-R1",
        "The clamped sum is rounded to the nearest integer, ties to the even one.",
        f"{QUANTIZE}: x_rounded = round_nearest_even(x_clamped)",
    ),
    Clause(
        "SUQ-C1",
        "The sum is clamped to storage_min and storage_max.",
        f"{QUANTIZE}: x_clamped = clamp(converted_min, x_scaled_add_zp, converted_max)",
        situation="a result out of range",
    ),
    Clause(
        "SUQ-C2",
        "The two may leave integers of the storage type unused. A result is never one of them, whatever the expressed "
        "type makes of an end.",
        f"{TYPES}: in the range from storage_min to storage_max (inclusive)",
        situation="storage ends narrower than the type",
    ),
    *type_clauses("SUQ", "the result"),
    Clause(
        "SUQ-A4",
        "A quantized operand may have a quantization_dimension, too.",
        UNIFORM_QUANTIZE,
        when={f"{OWN}quantization_dimension": AXES},
    ),
    Clause("SUQ-T1", "Scales have the expressed type: that of a floating-point operand.", f"{TYPES}: (C4)"),
    Clause("SUQ-S1", "The result has the shape of the operand.", f"{UNIFORM_QUANTIZE}: shape(operand) = shape(result)"),
    Clause(
        "SUQ-U1",
        "What NaN gives.",
        f"{QUANTIZE}: convert of NaN to an integer is open",
        unspecified=True,
        situation="a NaN operand",
    ),
    Clause(
        "SUQ-U2",
        "What a value gives that is clamped to an end which the expressed type does not hold: it rounds to a number "
        "beyond the storage type.",
        f"{QUANTIZE}: convert of such a number is open",
        unspecified=True,
        situation="float32 steps that overflow",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    ends_of(ID, types.quantized, attributes)
    if types.real not in INTEGER_TYPES:
        return (types.real, types.real, types.quantized), (types.quantized,)
    ends_of(ID, types.real, attributes, OWN)
    return (types.real, "float32", types.quantized, "float32", types.real), (types.quantized,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x, scales, points, *own = inputs
    ends = ends_of(ID, node.output_type, node.attributes)
    found = parameters(ID, node.value("quantization_dimension"), x.shape, scales, points, ends)
    if own:
        own_ends = ends_of(ID, node.input_type, node.attributes, OWN)
        found = (*found, *parameters(ID, node.value(f"{OWN}quantization_dimension"), x.shape, own[0], own[1], own_ends))
    expressed = FLOAT_TYPES[node.inputs[1].dtype.name]
    constants = {"least": ends[0], "greatest": ends[1]}
    return (Elementwise(ID, "result", x.shape, INTEGER_TYPES[node.output_type], expressed, EVEN,
                        tuple(map(kind_of, inputs)), (flat(x, x.shape), *found), constants,
                        named=OPERANDS[: len(inputs)]),)  # fmt: skip


def uniform_quantize(
    p: Elementwise, x: Term, scale: Term, zero_point: Term, own_scale: Term | None = None, own_point: Term | None = None
) -> Term:
    number = x
    if own_scale is not None and own_point is not None:
        number = step(step(x - own_point) * own_scale).by("SUQ-F3")
    quotient = step(number / scale).by("SUQ-F1", "SUQ-U1")
    summed = step(quotient + step(zero_point)).by("SUQ-F2", "SUQ-F4")
    least, greatest = p.constants["least"], p.constants["greatest"]
    shown = rounded(clamp(summed, step(least), step(greatest)).by("SUQ-C2"), p.mode).by("SUQ-C1", "SUQ-R1")
    assert isinstance(p.result, IntegerType)
    holds = (shown >= p.result.lowest) & (shown <= p.result.highest)
    found = clamp(shown, least, greatest).by("SUQ-C2")
    result = where(equal(found, rounded(summed, p.mode)), whole(found), end_of_range(found))
    return require(holds, result, "SUQ-U2")


TERMS = {ID: uniform_quantize}


OPERATOR = Operator(
    id=ID,
    prefix="SUQ",
    formula="result = round_nearest_even(clamp(storage_min, operand / scale + zero_point, storage_max))",
    sources=(SPEC,),
    clauses=CLAUSES,
    attributes=(*type_attributes(), *type_attributes(OWN, "a quantized operand")),
    forms=(FORM,),
    outputs=("result",),
    family="cast",
    real_types=(*EXPRESSED, *STORAGE),
    quantized_types=STORAGE,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (EVEN,),
    mode_clause=lambda mode: "SUQ-R1",
    optional_inputs=2,
    steps=(
        "of a quantized operand: number = (operand - its zero point) * its scale, difference and product rounded to "
        "the expressed type",
        "quotient = number / scale, rounded to the expressed type",
        "sum = quotient + zero_point, both rounded to the expressed type",
        "result = round(clamp(storage_min, sum, storage_max)), the ends rounded to the expressed type",
    ),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "placement": "A", "signature": "TS"},
    roles={
        "quotient": "SUQ-F1",
        "zero-point": "SUQ-F2",
        "operand": "SUQ-F3",
        "expressed": "SUQ-F4",
        "round": "SUQ-R1",
        "range": "SUQ-C1",
        "narrow": "SUQ-C2",
        "projection": "SUQ-A1",
        "per-tensor": "SUQ-A2",
        "axis": "SUQ-A3",
        "operand-projection": "SUQ-A4",
        "types": "SUQ-T1",
        "scales": "SUQ-T2",
        "points": "SUQ-T3",
        "ends": "SUQ-T4",
        "left-off": "SUQ-T5",
        "shape": "SUQ-S1",
        "special": "SUQ-U1",
        "beyond": "SUQ-U2",
    },
    saturates=True,
    files=samples.FILES,
    samples=samples.samples,
    contested=OF_QUANTIZE,
)
