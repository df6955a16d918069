"""`onnx.QLinearConv` of operator set 10: a convolution of integers whose sums become integers of another scale.

The schema names no formula. What its neighbours in the same operator set say is cited where it is silent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import Term, finite, require, rounded, step, to_integer, total
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Clause, Operator, Types
from tiebreak.golden.operators.onnx_convolution import (
    ATTRIBUTES,
    BYTES,
    LOWER,
    UPPER,
    VALID,
    Windows,
    check_of_channels,
    check_scalar,
    names_of_terms,
    output_shape,
    products_of,
    stays_within,
    windows_of,
)
from tiebreak.golden.operators.onnx_qlinear_conv_contested import CONTESTED, DOCUMENT, MATMUL, PADDED, QUANTIZE
from tiebreak.golden.problem import Array, Elementwise, codes_of, kind_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import onnx_qlinear_conv as samples

ID = "onnx.QLinearConv"
INPUTS = ("x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point", "B")
SCALARS = ("x_scale", "x_zero_point", "y_scale", "y_zero_point")

CLAUSES = (
    Clause("OQC-F1", "Zero points are subtracted: x - x_zero_point meets w - w_zero_point.",
           f"{DOCUMENT}: quantized tensors, their scales and zero points", derived=True),
    Clause("OQC-F2", "An output element is the sum of the products over its window, exact.",
           f"{DOCUMENT}: the convolution operator; {MATMUL}: production must never overflow", derived=True),
    Clause("OQC-F3", "B is added to the sum: its scale is x_scale * w_scale, its zero point 0.", f"{DOCUMENT}, B",
           situation="a bias"),
    Clause("OQC-F4", "The sum stands for itself times x_scale * w_scale.", f"{DOCUMENT}, B: its scale"),
    Clause("OQC-F5", "That number is divided by y_scale, and y_zero_point is added to the rounded quotient.",
           f"{MATMUL}: the quantization formula; {QUANTIZE}; the schema itself is silent", derived=True),
    Clause("OQC-R1", "The quotient is rounded to nearest, ties to even.", f"{MATMUL}; {QUANTIZE}", derived=True),
    Clause("OQC-C1", "y saturates to the range of its type.", f"{MATMUL}; {QUANTIZE}",
           situation="a result out of range", derived=True),
    Clause("OQC-G1", "Pads add pixels that stand for 0: x's zero point.",
           f"{PADDED}; the schema names no value", situation="padding"),
    Clause("OQC-G2", "SAME_UPPER and SAME_LOWER pad so that the output has ceil(size / stride) pixels; an odd one is "
           "added at the end, or at the beginning.", f"{DOCUMENT}, auto_pad", when={"auto_pad": (UPPER, LOWER)}),
    Clause("OQC-G3", "VALID pads nothing.", f"{DOCUMENT}, auto_pad, as in Conv", when={"auto_pad": VALID}),
    Clause("OQC-G4", "Channels are divided into groups: those of w meet x's channels of their group.",
           f"{DOCUMENT}, group and w", situation="groups"),
    Clause("OQC-G5", "Strides are the distances of windows.", f"{DOCUMENT}, strides", situation="a stride"),
    Clause("OQC-G6", "Dilations are the distances of weights in a window.", f"{DOCUMENT}, dilations",
           situation="a dilation"),
    Clause("OQC-G7", "w_scale and w_zero_point have one value, or one for each output channel.",
           f"{DOCUMENT}, w_scale", situation="a scale for each channel"),
    Clause("OQC-T1", "x, w and y are int8 or uint8, each its own; a zero point has the type of its tensor, B is int32.",
           f"{DOCUMENT}, type constraints"),
    Clause("OQC-S1", "x has the shape [N, C, …], w [M, C / group, …], y [N, M, …], B [M].", f"{DOCUMENT}, inputs"),
    Clause("OQC-S2", "x_scale, y_scale and their zero points are scalars.", f"{DOCUMENT}, inputs"),
    Clause("OQC-S3", "kernel_shape repeats what w has.", f"{DOCUMENT}, kernel_shape", situation="a kernel_shape"),
    Clause("OQC-S4", "pads can't be used with auto_pad.", f"{DOCUMENT}, pads"),
    Clause("OQC-S5", "Each scale and its zero point have the same shape.", f"{DOCUMENT}, description"),
    Clause("OQC-V1", "The operator came with operator set 10.", f"{DOCUMENT}, since version 10"),
    Clause("OQC-U1", "What a NaN or infinite scale gives.", f"{DOCUMENT}: silent", unspecified=True,
           situation="a NaN or infinite operand"),
    Clause("OQC-U2", "What a y_scale of 0 gives.", f"{DOCUMENT}: silent", unspecified=True,
           situation="a zero y_scale"),
    Clause("OQC-U3", "What a sum with B gives that leaves 32 bits in some order of summation.",
           f"{MATMUL}: accumulation may overflow if and only if in 32 bits; the schema itself is silent",
           unspecified=True, situation="a convolution's sum beyond 32 bits"),
)  # fmt: skip


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types of x and y are those of the node, that of w is its scale's: x's unless given."""
    x, w, y = types.real, types.scale or types.real, types.quantized
    if w not in BYTES:
        raise InvalidInput(f"{ID}: w is {w}, not one of {', '.join(BYTES)}")
    inputs = (x, "float32", x, w, "float32", w, "float32", y, "int32")
    return inputs if types.optional else inputs[:-1], (y,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """For each element its window of x and w, the bias, and all scales and zero points."""
    x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point = inputs[:8]
    found = windows_of(node, x, w, int(x_point.reshape(-1)[0]))
    check_parameters(node, inputs, w.shape[0])
    bias = inputs[8] if len(inputs) == len(INPUTS) else np.zeros((), np.int32)
    parameters = {"B": bias, "x_zero_point": x_point, "w_zero_point": w_point, "x_scale": x_scale, "w_scale": w_scale,
                  "y_scale": y_scale, "y_zero_point": y_point}  # fmt: skip
    return (posed(node, found, (x, w), parameters),)


def posed(node: Node, found: Windows, tensors: tuple[Array, Array], parameters: Mapping[str, Array]) -> Elementwise:
    terms = len(found.x)
    kinds = [kind for tensor in tensors for kind in (kind_of(tensor),) * terms]
    return Elementwise(
        formula=ID,
        output="y",
        shape=found.shape,
        result=ELEMENT_TYPES[node.output_type],
        working=FLOAT_TYPES["float32"],
        mode=EVEN,
        kinds=(*kinds, *(kind_of(array) for array in parameters.values())),
        operands=(*found.x, *found.w, *(found.of_channels(codes_of(array)) for array in parameters.values())),
        constants={"terms": terms},
        named=(*names_of_terms("x", terms), *names_of_terms("w", terms), *parameters),
    )


def check_parameters(node: Node, inputs: tuple[Array, ...], channels: int) -> None:
    """InvalidInput for a scale, a zero point or a bias of a wrong shape."""
    given = dict(zip(INPUTS, inputs, strict=False))
    for name in SCALARS:
        check_scalar(node, name, given[name])
    check_of_channels(node, "w_scale", given["w_scale"], channels)
    if given["w_zero_point"].shape != given["w_scale"].shape:
        shapes = f"{list(given['w_zero_point'].shape)}, w_scale {list(given['w_scale'].shape)}"
        raise InvalidInput(f"{ID}: w_zero_point has shape {shapes}")
    if "B" in given and given["B"].shape != (channels,):
        raise InvalidInput(f"{ID}: B has shape {list(given['B'].shape)}, [{channels}] is wanted")


ACCUMULATOR = INTEGER_TYPES["int32"]


def qlinear_conv(p: Elementwise, *operands: Term) -> Term:
    terms = p.constants["terms"]
    bias, x_zero_point, w_zero_point, *scales, y_zero_point = operands[2 * terms :]
    x_scale, w_scale, y_scale = (finite(scale, "OQC-U1") for scale in scales)
    products = products_of(operands[:terms], operands[terms : 2 * terms], x_zero_point, w_zero_point)
    summed = total([*(product.by("OQC-F1") for product in products), bias]).by("OQC-F2")
    number = step(step(summed) * step(x_scale * w_scale).by("OQC-F3")).by("OQC-F4")
    quotient = step(number / y_scale).by("OQC-F5", "OQC-U2")
    assert isinstance(p.result, IntegerType)
    found = to_integer((rounded(quotient, p.mode).by("OQC-R1") + y_zero_point).by("OQC-F5"), p.result).by("OQC-C1")
    return require(stays_within(ACCUMULATOR, [*products, bias]), found, "OQC-U3")


TERMS = {ID: qlinear_conv}


OPERATOR = Operator(
    id=ID,
    prefix="OQC",
    formula="y = saturate(round_half_to_even((sum((x - x_zero_point) * (w - w_zero_point)) + B) * x_scale * w_scale "
    "/ y_scale) + y_zero_point)",
    sources=(DOCUMENT, MATMUL, QUANTIZE, PADDED),
    clauses=CLAUSES,
    attributes=ATTRIBUTES,
    forms=(INPUTS,),
    outputs=("y",),
    family="cast",
    real_types=BYTES,
    quantized_types=BYTES,
    signature=signature,
    problems=problems,
    shape_of=lambda node, inputs: output_shape(node, inputs[0].shape, inputs[3].shape),
    modes_of=lambda attributes: (EVEN,),
    mode_clause=lambda mode: "OQC-R1",
    steps=(
        "sum = B + the products of x - x_zero_point and w - w_zero_point, of integers, exact; rounded to float32",
        "scale = x_scale * w_scale, rounded to float32",
        "product = sum * scale, rounded to float32",
        "quotient = product / y_scale, rounded to float32",
        "y = saturate(round half to even(quotient) + y_zero_point), of integers, exact",
    ),
    saturates=True,
    optional_inputs=1,
    opsets=(10,),
    first_opset=lambda types, attributes: 10,
    letters={"formula": "F", "rounding": "R", "saturation": "C", "placement": "G", "signature": "TSV"},
    roles={
        "difference": "OQC-F1",
        "sum": "OQC-F2",
        "bias": "OQC-F3",
        "scale": "OQC-F4",
        "zero-point": "OQC-F5",
        "even": "OQC-R1",
        "saturate": "OQC-C1",
        "padding": "OQC-G1",
        "same": "OQC-G2",
        "valid": "OQC-G3",
        "groups": "OQC-G4",
        "strides": "OQC-G5",
        "dilations": "OQC-G6",
        "channels": "OQC-G7",
        "types": "OQC-T1",
        "shape": "OQC-S1",
        "scalars": "OQC-S2",
        "kernel-shape": "OQC-S3",
        "pads-alone": "OQC-S4",
        "same-shape": "OQC-S5",
        "version": "OQC-V1",
        "special": "OQC-U1",
        "no-scale": "OQC-U2",
        "beyond-32": "OQC-U3",
    },
    files=tuple((x, y) for x in BYTES for y in BYTES),
    samples=samples.samples,
    contested=CONTESTED,
)
