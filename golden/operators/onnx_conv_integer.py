"""`onnx.ConvInteger` of operator set 10: a convolution of integers of 8 bits whose sums have 32."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.arithmetic.term import Term, require, total, whole
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Answer, Clause, Contest, Operator, Types
from tiebreak.golden.operators.onnx_convolution import (
    ATTRIBUTES,
    BYTES,
    LOWER,
    UPPER,
    VALID,
    check_of_channels,
    check_scalar,
    names_of_terms,
    output_shape,
    products_of,
    stays_within,
    windows_of,
)
from tiebreak.golden.problem import Array, Elementwise, codes_of, kind_of
from tiebreak.golden.products import points_of_both
from tiebreak.golden.samples import onnx_conv_integer as samples

ID = "onnx.ConvInteger"
DOCUMENT = "ONNX operator schema, ConvInteger-10"
PADDED = "ONNX 1.23.2, node test convinteger_with_padding"
OPERANDS, POINTS = ("x", "w"), ("x_zero_point", "w_zero_point")
FORMS = ((*OPERANDS, *POINTS), *((*OPERANDS, point) for point in POINTS))

CLAUSES = (
    Clause("OCI-F1", "Zero points are subtracted: x - x_zero_point meets w - w_zero_point.",
           f"{DOCUMENT}, inputs; {PADDED}", derived=True),
    Clause("OCI-F2", "An output element is the sum of the products over its window. Products never overflow, sums only "
           "beyond 32 bits.", f"{DOCUMENT}: the production must never overflow"),
    Clause("OCI-G1", "Pads add pixels that stand for 0: x's zero point.",
           f"{PADDED}; the schema names no value", situation="padding"),
    Clause("OCI-G2", "SAME_UPPER and SAME_LOWER pad so that the output has ceil(size / stride) pixels; an odd one is "
           "added at the end, or at the beginning.", f"{DOCUMENT}, auto_pad", when={"auto_pad": (UPPER, LOWER)}),
    Clause("OCI-G3", "VALID pads nothing.", f"{DOCUMENT}, auto_pad, as in Conv", when={"auto_pad": VALID}),
    Clause("OCI-G4", "Channels are divided into groups: those of w meet x's channels of their group.",
           f"{DOCUMENT}, group and w", situation="groups"),
    Clause("OCI-G5", "Strides are the distances of windows.", f"{DOCUMENT}, strides", situation="a stride"),
    Clause("OCI-G6", "Dilations are the distances of weights in a window.", f"{DOCUMENT}, dilations",
           situation="a dilation"),
    Clause("OCI-G7", "w_zero_point has one value, or one for each output channel.", f"{DOCUMENT}, w_zero_point",
           situation="a zero point for each channel"),
    Clause("OCI-T1", "x and w are int8 or uint8, each its own; a zero point has the type of its tensor, y is int32.",
           f"{DOCUMENT}, type constraints"),
    Clause("OCI-T2", "A zero point that is left off is 0; each is optional by itself.", f"{DOCUMENT}, inputs",
           situation="an optional input left off"),
    Clause("OCI-S1", "x has the shape [N, C, …], w [M, C / group, …], y [N, M, …].", f"{DOCUMENT}, inputs"),
    Clause("OCI-S2", "x_zero_point is a scalar.", f"{DOCUMENT}, inputs"),
    Clause("OCI-S3", "kernel_shape repeats what w has.", f"{DOCUMENT}, kernel_shape", situation="a kernel_shape"),
    Clause("OCI-S4", "pads can't be used with auto_pad.", f"{DOCUMENT}, pads"),
    Clause("OCI-V1", "The operator came with operator set 10.", f"{DOCUMENT}, since version 10"),
    Clause("OCI-U1", "What a sum gives that leaves 32 bits in some order of summation.",
           f"{DOCUMENT}: the accumulation may overflow if and only if in 32 bits", unspecified=True,
           situation="an undefined result"),
)  # fmt: skip

CONTESTED = (
    Contest(
        "conv-integer-pads",
        "Which number do pads add?",
        ("OCI-G1",),
        {"real": "uint8", "quantized": "int32", "attributes": {"pads": [1, 1]}},
        ([[[10, 20]]], [[[1]]], 8, 0),
        (
            Answer(PADDED, "x's zero point, which stands for 0", (0, 2, 12, 0), judged=True),
            Answer("by the letter: pixels added", "0, which stands for -x_zero_point", (-8, 2, 12, -8)),
        ),
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The type of w is that of the scale asked for: x's unless given."""
    x, w = types.real, types.scale or types.real
    if w not in BYTES:
        raise InvalidInput(f"{ID}: w is {w}, not one of {', '.join(BYTES)}")
    points = ((x, w), (x,), (w,))[types.form] if types.optional else ()
    return (x, w, *points), (types.quantized,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """For each element its window of x and w, and both zero points."""
    x, w = inputs[:2]
    x_point, w_point = points_of_both(node, inputs, POINTS)
    found = windows_of(node, x, w, int(x_point.reshape(-1)[0]))
    check_scalar(node, "x_zero_point", x_point)
    check_of_channels(node, "w_zero_point", w_point, w.shape[0])
    terms, kinds = len(found.x), (kind_of(x), kind_of(w))
    return (
        Elementwise(
            formula=ID,
            output="y",
            shape=found.shape,
            result=INTEGER_TYPES["int32"],
            working=FLOAT_TYPES["float32"],
            mode="",
            kinds=(*kinds[:1] * terms, *kinds[1:] * terms, *kinds),
            operands=(*found.x, *found.w, *(found.of_channels(codes_of(point)) for point in (x_point, w_point))),
            constants={"terms": terms},
            named=(*names_of_terms("x", terms), *names_of_terms("w", terms), "x_zero_point", "w_zero_point"),
        ),
    )


def conv_integer(p: Elementwise, *operands: Term) -> Term:
    terms = p.constants["terms"]
    *_, x_zero_point, w_zero_point = operands
    products = products_of(operands[:terms], operands[terms : 2 * terms], x_zero_point, w_zero_point)
    assert isinstance(p.result, IntegerType)
    found = total([product.by("OCI-F1") for product in products]).by("OCI-F2")
    return require(stays_within(p.result, products), whole(found), "OCI-U1")


TERMS = {ID: conv_integer}


OPERATOR = Operator(
    id=ID,
    prefix="OCI",
    formula="y = sum((x - x_zero_point) * (w - w_zero_point))",
    sources=(DOCUMENT, PADDED),
    clauses=CLAUSES,
    attributes=ATTRIBUTES,
    forms=FORMS,
    outputs=("y",),
    family="cast",
    real_types=BYTES,
    quantized_types=("int32",),
    signature=signature,
    problems=problems,
    shape_of=lambda node, inputs: output_shape(node, inputs[0].shape, inputs[1].shape),
    modes_of=lambda attributes: (),
    steps=("every step is exact: products have 18 bits, sums 32",),
    optional_inputs=2,
    opsets=(10,),
    first_opset=lambda types, attributes: 10,
    letters={"formula": "F", "placement": "G", "signature": "TSV"},
    roles={
        "difference": "OCI-F1",
        "sum": "OCI-F2",
        "padding": "OCI-G1",
        "same": "OCI-G2",
        "valid": "OCI-G3",
        "groups": "OCI-G4",
        "strides": "OCI-G5",
        "dilations": "OCI-G6",
        "channels": "OCI-G7",
        "types": "OCI-T1",
        "no-zero-point": "OCI-T2",
        "shape": "OCI-S1",
        "scalars": "OCI-S2",
        "kernel-shape": "OCI-S3",
        "pads-alone": "OCI-S4",
        "version": "OCI-V1",
        "beyond-32": "OCI-U1",
    },
    files=tuple((x, "int32") for x in BYTES),
    samples=samples.samples,
    contested=CONTESTED,
)
