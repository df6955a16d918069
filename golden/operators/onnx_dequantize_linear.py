"""`onnx.DequantizeLinear` of every operator set from 10 to 28."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import Term, equal, finite, is_finite, is_nan, require, step, to_real
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import BYTES, E8M0, FLOAT4, FLOAT6, FLOAT8, INT2, OPSETS, REALS, WORDS
from tiebreak.golden.operators import onnx_linear as linear
from tiebreak.golden.operators.model import Answer, Attribute, Clause, Contest, Operator, Types, parse_integer
from tiebreak.golden.operators.onnx_linear import DEFAULT_AXIS, Version
from tiebreak.golden.operators.onnx_rank_one_contested import DEQUANTIZE, rank_one
from tiebreak.golden.problem import Array, Elementwise, codes_of, kind_of
from tiebreak.golden.samples import onnx_dequantize_linear as samples

ID = "onnx.DequantizeLinear"
DOCUMENT = "ONNX operator schema, DequantizeLinear-21"
OLDER = "ONNX operator schema, DequantizeLinear-10, -13 and -19"
NEWER = "ONNX operator schema, DequantizeLinear-23"
NEWEST = "ONNX operator schema, DequantizeLinear-24, -25 and -28"

CLAUSES = (
    Clause("OND-F1", "The zero point is subtracted from x, not within x's own type.", f"{DOCUMENT}, formula"),
    Clause("OND-F2", "The difference is multiplied by x_scale.", f"{DOCUMENT}, formula"),
    Clause("OND-G1", "Per tensor: x_scale is a scalar.", f"{DOCUMENT}, description", situation="scalar parameters"),
    Clause(
        "OND-G2",
        "Per axis: x_scale[i] belongs to slice i of x along axis.",
        f"{DOCUMENT}, description",
        situation="one axis",
    ),
    Clause("OND-G3", "x_zero_point has the shape of x_scale.", f"{DOCUMENT}, description"),
    Clause(
        "OND-B1",
        "Blocked: x_scale has the rank of x, and each of its elements stands for block_size neighbours along axis.",
        f"{DOCUMENT}, description",
        situation="a block size",
    ),
    Clause(
        "OND-B2",
        "The last block may be shorter: ceil(D / block_size) scales.",
        f"{DOCUMENT}, block_size",
        situation="a block size",
    ),
    Clause("OND-A1", "axis counts from the back if negative, from -r to r-1; absent it is 1.", f"{DOCUMENT}, axis"),
    Clause("OND-T1", "x_zero_point has the type of x.", f"{DOCUMENT}, description"),
    Clause("OND-T2", "y has the type of x_scale, unless output_dtype names another.", f"{DOCUMENT}, types"),
    Clause(
        "OND-T3", "Without x_zero_point it is 0.", f"{DOCUMENT}, x_zero_point", situation="an optional input left off"
    ),
    Clause(
        "OND-T4", "x may be int32, which has no zero point.", f"{DOCUMENT}, description", situation="an int32 input"
    ),
    Clause(
        "OND-O1",
        "output_dtype names y's type and the precision of the multiplication.",
        f"{NEWER}, description",
        situation="an output_dtype",
    ),
    Clause(
        "OND-X1",
        "x_scale may be float8_e8m0fnu, a power of two; output_dtype is needed then.",
        f"{NEWEST}, T2: tensor(float8e8m0)",
        situation="a float8_e8m0fnu scale",
    ),
    Clause(
        "OND-E1",
        "Of float 8, float 6 and float 4 inputs the formula is the same, zero point included.",
        f"{NEWER}, types",
        situation="a float input",
    ),
    Clause(
        "OND-E2",
        "A NaN x gives NaN; an infinite one the infinity of the product's sign: the types are IEEE's.",
        f"{DOCUMENT}, types; ONNX Cast-19, tables",
        situation="a float input",
        derived=True,
    ),
    Clause("OND-I2", "x may be of 2 or 4 bits.", f"{NEWEST}, types", situation="a type of 2 or 4 bits"),
    Clause("OND-S1", "y has the shape of x.", f"{DOCUMENT}, outputs"),
    Clause(
        "OND-V1",
        "Opset 10 is per tensor only; axis came with 13, float 8, float16 and bfloat16 with 19, blocks and 4 and 16 "
        "bits with 21, output_dtype and float 4 with 23, 2 bits with 25, float 6 with 28.",
        f"{OLDER}, and later ones",
        situation="another opset than 21",
    ),
    Clause(
        "OND-U1",
        "What a NaN or infinite scale gives.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "OND-U2",
        "The sign of a zero result: either zero is accepted, also where a number rounds to zero. The formula names no "
        "arithmetic with two zeros.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a zero result",
    ),
    Clause(
        "OND-U3",
        "What a difference too large for the output's type gives: infinity in working precision.",
        f"{DOCUMENT}: silent",
        unspecified=True,
    ),
    Clause(
        "OND-U4",
        "What a zero point other than 0 does to an int32 x.",
        f"{DOCUMENT}: supposed to be 0",
        unspecified=True,
        situation="an int32 input",
    ),
    Clause(
        "OND-U5",
        "What a NaN or infinite zero point, or an infinite x by scale 0, gives.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
)

BASIC = (*BYTES, "int32")
FLOATS = (*BASIC, *FLOAT8)
MORE = (*FLOATS, *WORDS)
VERSIONS = {
    10: Version(("float32",), ("float32",), BASIC, ()),
    13: Version(("float32",), ("float32",), BASIC, ("axis",)),
    19: Version(REALS, linear.SAME, FLOATS, ("axis",)),
    21: Version(REALS, linear.SAME, MORE, ("axis", "block_size")),
    23: Version(REALS, REALS, (*MORE, *FLOAT4), ("axis", "block_size", "output_dtype")),
}
VERSIONS[24] = Version(REALS, (*REALS, *E8M0), VERSIONS[23].narrow, VERSIONS[23].attributes)
VERSIONS[25] = Version(REALS, VERSIONS[24].scale, (*VERSIONS[23].narrow, *INT2), VERSIONS[23].attributes)
VERSIONS[28] = Version(REALS, VERSIONS[24].scale, (*VERSIONS[25].narrow, *FLOAT6), VERSIONS[23].attributes)
INPUTS = VERSIONS[28].narrow


def asked(types: Types, attributes: Mapping[str, Any]) -> tuple[str, str, str, Mapping[str, Any]]:
    """What a version must allow: the types of y, x_scale and x, and the attributes."""
    return types.real, types.scale or types.real, types.quantized, attributes


def first_opset(types: Types, attributes: Mapping[str, Any]) -> int:
    return linear.first_version(VERSIONS, *asked(types, attributes))


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    linear.check_version(ID, VERSIONS, types.opset, *asked(types, attributes))
    scale, named = types.scale or types.real, attributes.get("output_dtype", "")
    if (named or scale) != types.real:
        raise InvalidInput(f"{ID}: the output is {named or scale} by output_dtype or else x_scale, not {types.real}")
    inputs = (types.quantized, scale, types.quantized)
    return inputs if types.optional else inputs[:2], (types.real,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x, scale, *rest = inputs
    zero_point = rest[0] if rest else None
    scales, zeros = linear.spread(ID, node.attributes, x.shape, scale, zero_point, node.opset)
    kind, result = kind_of(x), FLOAT_TYPES[node.output_type]
    operands = (codes_of(x).reshape(-1), scales, np.zeros(x.size, np.int64) if zeros is None else zeros)
    return (Elementwise(ID, "y", x.shape, result, result, "", (kind, kind_of(scale), kind), operands),)


CONTESTED = (
    Contest(
        "onnx-int32-zero-point",
        "May an int32 x have a zero point?",
        ("OND-U4", "OND-T4"),
        {"real": "float32", "quantized": "int32"},
        ([5], 2.0, 3),
        (
            Answer(f"{DOCUMENT}, description", "there is none, it is supposed to be 0", "unspecified", judged=True),
            Answer(f"{DOCUMENT}, formula; asked in onnx#7752", "the formula holds for every type", (4.0,)),
            Answer("ONNX Runtime 1.31.1, CPU kernel; onnxruntime#25646", "it is subtracted", (4.0,)),
            Answer("a reader who takes it for absent", "it is 0 whatever it says", (10.0,)),
        ),
    ),
    Contest(
        "onnx-difference-overflow",
        "In which type is x - x_zero_point, where x's own does not hold it?",
        ("OND-F1",),
        {"real": "float32", "quantized": "uint8"},
        ([3], 1.0, 5),
        (
            Answer(f"{DOCUMENT}, formula; asked in onnx#6132", "it is a difference of numbers", (-2.0,), judged=True),
            Answer("arithmetic of x's type", "x and x_zero_point must have the same type: it wraps", (254.0,)),
        ),
    ),
    Contest(
        "onnx-float8-dequantize-zero-point",
        "May a float 8 x have a zero point other than 0?",
        ("OND-E1",),
        {"real": "float32", "quantized": "float8_e4m3fn"},
        ([2.0], 3.0, 1.0),
        (
            Answer(f"{DOCUMENT}, description", "usually not, but the formula remains the same", (3.0,), judged=True),
            Answer("ONNX reference evaluator", "it must be 0", "an error"),
        ),
    ),
    Contest(
        "onnx-dequantize-precision",
        "With output_dtype: is the product of the operands as given, or of operands converted to the output's type?",
        ("OND-O1",),
        {
            "real": "float16",
            "quantized": "int8",
            "scale": "float32",
            "attributes": {"output_dtype": "float16"},
        },
        ([100], 1.00048828125 + 2.0**-14, 0),
        (
            Answer(f"{NEWER}, description", "the multiplication has the output's precision", (100.125,), judged=True),
            Answer("real arithmetic, rounded once (accepted as well)", "100 * 1.00054931640625", (100.0625,)),
        ),
    ),
    *rank_one(DEQUANTIZE),
    Contest(
        "onnx-dequantize-zero-point-shape",
        "May the zero point have shape [1] beside a scalar scale?",
        ("OND-G3",),
        {"real": "float32", "quantized": "float8_e4m3fn"},
        ([1.0, -2.0], 2.0, [0.0]),
        (
            Answer(f"{DOCUMENT}, description", "x_scale and x_zero_point must have the same shape", "an error"),
            Answer("ONNX's test_dequantizelinear_e4m3fn_zero_point", "it has shape [1]", (2.0, -4.0), judged=True),
        ),
    ),
)


def dequantize_linear(p: Elementwise, x: Term, x_scale: Term, x_zero_point: Term) -> Term:
    scale, zero_point = finite(x_scale, "OND-U1"), finite(x_zero_point, "OND-U5")
    difference = step(x - zero_point).by("OND-F1", "OND-E1")
    assert isinstance(p.result, FloatType)
    found = to_real((difference * step(scale)).by("OND-F2", "OND-E2"), p.result).by("OND-O1", "OND-U2", "OND-U3")
    defined = require(is_finite(x) | is_nan(x) | ~equal(scale, 0), found, "OND-U5")
    return require(equal(zero_point, 0), defined, "OND-U4") if p.kinds[0] == INTEGER_TYPES["int32"] else defined


TERMS = {ID: dequantize_linear}


OPERATOR = Operator(
    id=ID,
    prefix="OND",
    formula="y = (x - x_zero_point) * x_scale",
    sources=(DOCUMENT, OLDER, NEWER, NEWEST),
    clauses=CLAUSES,
    attributes=(
        Attribute("axis", "the axis of a 1-D or blocked x_scale, default 1", parse_integer, default=DEFAULT_AXIS),
        Attribute("block_size", "how many neighbours share a scale, 0 for none", linear.parse_block_size, default=0),
        Attribute("output_dtype", "y's element type", linear.parse_type(REALS), default=""),
    ),
    forms=(("x", "x_scale", "x_zero_point"),),
    outputs=("y",),
    family="dequantize",
    real_types=REALS,
    quantized_types=INPUTS,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (),
    steps=(
        "difference = x - x_zero_point, exact, then rounded to the output's type",
        "x_scale converted to the output's type",
        "y = difference * x_scale, rounded to the output's type",
    ),
    optional_inputs=1,
    opsets=OPSETS,
    first_opset=first_opset,
    letters={"formula": "FE", "placement": "GBA", "signature": "TOIXSV"},
    roles={
        "difference": "OND-F1",
        "product": "OND-F2",
        "per-tensor": "OND-G1",
        "projection": "OND-G2",
        "granularity": "OND-G3",
        "blocks": "OND-B1",
        "last-block": "OND-B2",
        "axis": "OND-A1",
        "input-type": "OND-T1",
        "output-type": "OND-T2",
        "no-zero-point": "OND-T3",
        "int32": "OND-T4",
        "output-dtype": "OND-O1",
        "power-scale": "OND-X1",
        "small-float": "OND-E1",
        "special-input": "OND-E2",
        "few-bits": "OND-I2",
        "shape": "OND-S1",
        "version": "OND-V1",
        "special-scale": "OND-U1",
        "zero-sign": "OND-U2",
        "overflow": "OND-U3",
        "int32-zero-point": "OND-U4",
        "special-zero-point": "OND-U5",
    },
    files=samples.FILES,
    samples=samples.samples,
    contested=CONTESTED,
)
