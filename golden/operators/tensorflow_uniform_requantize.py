"""`tensorflow.UniformRequantize`: integers of one scale and zero point to integers of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.arithmetic.term import Term, finite, require, rounded, step, to_ends
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Clause, Operator, Types
from tiebreak.golden.operators.tensorflow_uniform import along_axis, axis_attribute, is_range_of, range_attributes
from tiebreak.golden.operators.tensorflow_uniform_contested import API, OF_REQUANTIZE, REQUANTIZE_API
from tiebreak.golden.problem import Array, Elementwise, flat, kind_of
from tiebreak.golden.rounding import NEAREST
from tiebreak.golden.samples import tensorflow_uniform_requantize as samples

ID = "tensorflow.UniformRequantize"
TYPES = ("int8", "int32")
PAIRS = tuple((source, target) for source in TYPES for target in TYPES)
AXES = (0, 1, 2, 3)
INPUT_AXIS, OUTPUT_AXIS = "input_quantization_axis", "output_quantization_axis"
INPUTS: tuple[str, ...] = ("input", "input_scales", "input_zero_points", "output_scales", "output_zero_points")
OPERANDS = ("input", "input_scale", "input_zero_point", "output_scale", "output_zero_point")

CLAUSES = (
    Clause("TUR-F1", "The input's zero point is subtracted from the input.", f"{REQUANTIZE_API}, formula"),
    Clause("TUR-F2", "The input's scale is divided by the output's.", f"{REQUANTIZE_API}, formula"),
    Clause("TUR-F3", "The difference is multiplied by this ratio.", f"{REQUANTIZE_API}, formula"),
    Clause("TUR-F4", "The output's zero point is added to the product.", f"{REQUANTIZE_API}, formula"),
    Clause(
        "TUR-F5",
        "input_quantization_min_val and input_quantization_max_val tell how the input was made. The formula has "
        "neither.",
        f"{REQUANTIZE_API}, input_quantization_min_val, input_quantization_max_val",
    ),
    Clause(
        "TUR-R1",
        "The output is an integer. Between both ends none is nearer to the formula's value.",
        f"{REQUANTIZE_API}: to quantize original data that `input` represents; {API}, formula: how a number is "
        "quantized, to the nearest",
    ),
    Clause(
        "TUR-C1",
        "The output's integers lie between output_quantization_min_val and output_quantization_max_val. What is beyond "
        "becomes the nearer of the two.",
        f"{REQUANTIZE_API}, formula: clip",
        situation="a result out of range",
    ),
    Clause(
        "TUR-C2",
        "The two may leave integers of the type unused: a narrow range.",
        f"{REQUANTIZE_API}, output_quantization_min_val; input_quantization_min_val: narrow range",
        situation="a range narrower than the type",
    ),
    Clause(
        "TUR-A1",
        "With input_quantization_axis each slice along it has its own input scale and zero point: 1-D tensors of that "
        "dimension's size.",
        f"{REQUANTIZE_API}, input_scales, input_zero_points",
        when={INPUT_AXIS: AXES},
    ),
    Clause(
        "TUR-A2",
        "With output_quantization_axis each slice along it has its own output scale and zero point.",
        f"{REQUANTIZE_API}, output_scales, output_zero_points",
        when={OUTPUT_AXIS: AXES},
    ),
    Clause(
        "TUR-A3",
        "Without input_quantization_axis (-1) the input's scale and zero point are scalars.",
        f"{REQUANTIZE_API}, input_scales, input_zero_points",
        when={INPUT_AXIS: -1},
    ),
    Clause(
        "TUR-A4",
        "Without output_quantization_axis (-1) the output's scale and zero point are scalars.",
        f"{REQUANTIZE_API}, output_scales, output_zero_points",
        when={OUTPUT_AXIS: -1},
    ),
    Clause(
        "TUR-A5",
        "One of the two axes is -1, or they are equal.",
        f"{REQUANTIZE_API}: 'At least one among input_quantization_axis and output_quantization_axis must be -1, or "
        "two must be equal'",
    ),
    Clause("TUR-A6", "An axis is -1 or in [0, rank of the input).", f"{REQUANTIZE_API}, {INPUT_AXIS}"),
    Clause("TUR-T1", "Input and output are int8 or int32, each by itself.", f"{REQUANTIZE_API}, Tin, Tout"),
    Clause("TUR-T2", "Scales are float32, zero points int32.", f"{REQUANTIZE_API}, input_scales, input_zero_points"),
    Clause("TUR-S1", "The output has the shape of the input.", f"{REQUANTIZE_API}, output"),
    Clause(
        "TUR-U1",
        "Which of two integers it is if both are equally near.",
        f"{REQUANTIZE_API}: silent",
        unspecified=True,
    ),
    Clause(
        "TUR-U2",
        "What a scale gives that is NaN or infinite, or an output's that is 0. A negative one is a number like others.",
        f"{REQUANTIZE_API}: silent",
        unspecified=True,
        situation="a scale that is no number to divide by",
    ),
    Clause(
        "TUR-U3",
        "What a difference of 0 gives with a ratio beyond float32: NaN in float32 steps.",
        f"{REQUANTIZE_API}: silent",
        unspecified=True,
        situation="float32 steps that overflow",
    ),
    Clause(
        "TUR-U4",
        "What it gives if output_quantization_min_val is greater than output_quantization_max_val, or one of them is "
        "outside Tout.",
        f"{REQUANTIZE_API}, input_quantization_min_val: 'typically (but not limited to)'",
        unspecified=True,
        situation="no range of the type",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real, "float32", "int32", "float32", "int32"), (types.quantized,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x = inputs[0]
    kind, single = INTEGER_TYPES[node.output_type], FLOAT_TYPES["float32"]
    least, greatest = node.value("output_quantization_min_val"), node.value("output_quantization_max_val")
    constants = {"least": least, "greatest": greatest, "usable": is_range_of(kind, least, greatest)}
    return (Elementwise(ID, "output", x.shape, kind, single, NEAREST[0], tuple(map(kind_of, inputs)),
                        (flat(x, x.shape), *parameters(node, x, inputs[1:])), constants, named=OPERANDS),)  # fmt: skip


def parameters(node: Node, x: Array, given: tuple[Array, ...]) -> tuple[Array, ...]:
    """Scales and zero points of both sides for every element, flat. InvalidInput for axes that do not go together."""
    axes = [int(node.value(name)) for name in (INPUT_AXIS, OUTPUT_AXIS)]
    if min(axes) >= 0 and axes[0] != axes[1]:
        raise InvalidInput(f"{ID}: axes {axes[0]} and {axes[1]} differ, and neither is -1")
    sides = (dict(zip(INPUTS[at : at + 2], given[at - 1 : at + 1], strict=True)) for at in (1, 3))
    first, last = (along_axis(ID, axis, x.shape, side) for axis, side in zip(axes, sides, strict=True))
    return (*first, *last)


def requantize(p: Elementwise, x: Term, s_in: Term, z_in: Term, s_out: Term, z_out: Term) -> Term:
    ratio = step(finite(s_in, "TUR-U2") / finite(s_out, "TUR-U2")).by("TUR-F2")
    difference = step(x - z_in).by("TUR-F1", "TUR-F5")
    summed = step(step(difference * ratio).by("TUR-F3", "TUR-U3") + step(z_out)).by("TUR-F4")
    found = to_ends(rounded(summed, p.mode).by("TUR-R1", "TUR-U1"), p.constants["least"], p.constants["greatest"])
    return require(p.constants["usable"], found.by("TUR-C1", "TUR-C2"), "TUR-U4")


TERMS = {ID: requantize}


OPERATOR = Operator(
    id=ID,
    prefix="TUR",
    formula="output = clip((input - input_zero_point) * (input_scale / output_scale) + output_zero_point, "
    "output_quantization_min_val, output_quantization_max_val)",
    sources=(REQUANTIZE_API, API),
    clauses=CLAUSES,
    attributes=(
        *range_attributes("input_", "the input"),
        *range_attributes("output_"),
        axis_attribute("input_"),
        axis_attribute("output_"),
    ),
    forms=(INPUTS,),
    outputs=("output",),
    family="cast",
    real_types=TYPES,
    quantized_types=TYPES,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: NEAREST,
    mode_clause=lambda mode: "TUR-R1",
    steps=(
        "difference = input - input_zero_point, of integers, exact, then rounded to float32",
        "ratio = input_scale / output_scale, rounded to float32",
        "product = difference * ratio, rounded to float32; sum = product + output_zero_point, rounded to float32",
        "output = round(sum), clipped",
    ),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "placement": "A", "signature": "TS"},
    roles={
        "difference": "TUR-F1",
        "ratio": "TUR-F2",
        "product": "TUR-F3",
        "zero-point": "TUR-F4",
        "input-range": "TUR-F5",
        "nearest": "TUR-R1",
        "range": "TUR-C1",
        "narrow": "TUR-C2",
        "projection": "TUR-A1",
        "output-projection": "TUR-A2",
        "per-tensor": "TUR-A3",
        "output-per-tensor": "TUR-A4",
        "axes": "TUR-A5",
        "axis": "TUR-A6",
        "types": "TUR-T1",
        "scales-type": "TUR-T2",
        "shape": "TUR-S1",
        "ties": "TUR-U1",
        "scale": "TUR-U2",
        "overflow": "TUR-U3",
        "no-range": "TUR-U4",
    },
    saturates=True,
    files=PAIRS,
    samples=samples.samples,
    contested=OF_REQUANTIZE,
)
