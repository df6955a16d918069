"""`onnx.QuantizeLinear` of every operator set from 10 to 28.

Nodes whose x and y_scale have one real type, with an integer output of 4 to 16 bits and a scalar scale or one axis, are
solved as a Quantization. All others are solved element by element (Elementwise).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    Term,
    agreed,
    all_of,
    by_form,
    equal,
    finite,
    floor,
    in_reals,
    in_type,
    is_finite,
    require,
    rounded,
    step,
    to_float,
    to_integer,
    truncated,
    where,
)
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import (
    BYTES,
    CLASSIC_OUTPUTS,
    CLASSIC_REALS,
    E8M0,
    FLOAT4,
    FLOAT6,
    FLOAT8,
    INT2,
    LARGEST_FOR_INFINITY,
    ONE_ZERO,
    OPSETS,
    REALS,
    WORDS,
)
from tiebreak.golden.operators import onnx_linear as linear
from tiebreak.golden.operators.model import Attribute, Clause, Operator, Types, parse_boolean, parse_integer
from tiebreak.golden.operators.onnx_linear import DEFAULT_AXIS, Version
from tiebreak.golden.operators.onnx_quantize_linear_contested import (
    CAST,
    CONTESTED,
    DOCUMENT,
    FLOAT4_PAGE,
    FLOAT6_PAGE,
    NEWER,
    NEWEST,
)
from tiebreak.golden.operators.onnx_quantize_linear_themes import axes_theme, no_zero_point_theme, traps_theme
from tiebreak.golden.problem import Array, Elementwise, Problem, Quantization, bits_of, codes_of, kind_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import onnx_quantize_linear as samples

ID = "onnx.QuantizeLinear"
DIVISION_NAMED = 23  # the first operator set that says in which type x is divided
OLDER = "ONNX operator schema, QuantizeLinear-10, -13 and -19"

OUTPUTS = (*CLASSIC_OUTPUTS, *INT2, *FLOAT8, *FLOAT4, *FLOAT6)

WIDE = (*REALS, "int32")
OLD_WIDE = ("float32", "int32")
VERSIONS = {
    10: Version(OLD_WIDE, ("float32",), BYTES, ()),
    13: Version(OLD_WIDE, ("float32",), BYTES, ("axis",)),
    19: Version(WIDE, linear.SAME, (*BYTES, *FLOAT8), ("axis", "saturate")),
    21: Version(
        WIDE,
        linear.SAME,
        (*BYTES, *FLOAT8, *WORDS),
        ("axis", "saturate", "block_size", "output_dtype"),
    ),
    23: Version(
        WIDE,
        WIDE,
        (*BYTES, *FLOAT8, *WORDS, *FLOAT4),
        ("axis", "saturate", "block_size", "output_dtype", "precision"),
    ),
}
VERSIONS[24] = Version(WIDE, (*WIDE, *E8M0), VERSIONS[23].narrow, VERSIONS[23].attributes)
VERSIONS[25] = Version(WIDE, VERSIONS[24].scale, (*VERSIONS[23].narrow, *INT2), VERSIONS[23].attributes)
VERSIONS[28] = Version(WIDE, VERSIONS[24].scale, (*VERSIONS[25].narrow, *FLOAT6), VERSIONS[23].attributes)

CLAUSES = (
    Clause(
        "ONQ-F1",
        "The argument of round is x divided by y_scale, before operator set 23 in a type that is not named: x's or a "
        "wider one.",
        f"{DOCUMENT}, formula",
    ),
    Clause("ONQ-F2", "The quotient alone is rounded; y_zero_point is added to the result.", f"{DOCUMENT}, formula"),
    Clause("ONQ-R1", "The quotient is rounded to nearest, ties to even.", f"{DOCUMENT}, description"),
    Clause(
        "ONQ-C1",
        "A result outside the output type's range becomes the nearer end of it.",
        f"{DOCUMENT}, saturation",
        situation="a result out of range",
    ),
    Clause("ONQ-G1", "Per tensor: y_scale is a scalar.", f"{DOCUMENT}, granularities", situation="scalar parameters"),
    Clause(
        "ONQ-G2",
        "Per axis: y_scale[i] belongs to slice i of x along axis.",
        f"{DOCUMENT}, granularities",
        situation="one axis",
    ),
    Clause("ONQ-G3", "y_zero_point has the shape of y_scale.", f"{DOCUMENT}, granularities"),
    Clause("ONQ-A1", "axis counts from the back if negative, from -r to r-1; absent it is 1.", f"{DOCUMENT}, axis"),
    Clause(
        "ONQ-T1",
        "x is float16, bfloat16, float32 or int32 and y_scale of the same type (of its own from opset 23 on).",
        f"{DOCUMENT}, types",
    ),
    Clause("ONQ-T2", "y has the type of y_zero_point.", f"{DOCUMENT}, y_zero_point"),
    Clause(
        "ONQ-T3",
        "Without y_zero_point, y is uint8 and the zero point 0.",
        f"{DOCUMENT}, y_zero_point",
        situation="an optional input left off",
    ),
    Clause("ONQ-S1", "y has the shape of x.", f"{DOCUMENT}, outputs"),
    Clause(
        "ONQ-U1",
        "What a NaN x, scale or quotient becomes in an integer type.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a NaN operand",
    ),
    Clause(
        "ONQ-U2",
        "What an infinite x or scale becomes in an integer type.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an infinite operand",
    ),
    Clause(
        "ONQ-U3",
        "What division by a zero scale gives.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a zero scale",
    ),
    Clause(
        "ONQ-B1",
        "Blocked: y_scale has x's shape but for axis, where each of its elements stands for block_size neighbours.",
        f"{DOCUMENT}, granularities",
        situation="a block size",
    ),
    Clause(
        "ONQ-B2",
        "The last block may be shorter: ceil(D / block_size) scales.",
        f"{DOCUMENT}, granularities",
        situation="a block size",
    ),
    Clause(
        "ONQ-O1",
        "output_dtype gives y's type; a y_zero_point must have the same.",
        f"{DOCUMENT}, output_dtype",
        situation="an output_dtype",
    ),
    Clause(
        "ONQ-P1",
        "x / y_scale is a division in y_scale's type, which need not be x's.",
        f"{NEWER}, description",
        situation="another type of scale",
    ),
    Clause("ONQ-P2", "precision names another type for that division.", f"{NEWER}, precision", situation="a precision"),
    Clause("ONQ-I1", "x may be int32.", f"{OLDER}, types", situation="an int32 input"),
    Clause(
        "ONQ-X1",
        "y_scale may be float8_e8m0fnu, a power of two.",
        f"{NEWEST}, types",
        situation="a float8_e8m0fnu scale",
    ),
    Clause(
        "ONQ-C2",
        "int2 saturates to [-2, 1] and uint2 to [0, 3].",
        f"{NEWEST}, saturation",
        situation="a type of 2 or 4 bits",
    ),
    Clause(
        "ONQ-E1",
        "To a float 8 type the quotient is rounded to nearest, ties to even; subnormals are kept.",
        CAST,
        situation="a small float output",
    ),
    Clause(
        "ONQ-E2",
        "With saturate (the default) what rounds beyond the largest float 8 value becomes it.",
        CAST,
        when={"saturate": True},
        situation="a small float output",
    ),
    Clause(
        "ONQ-E3",
        "Without saturate it becomes NaN, or in float8_e5m2 an infinity.",
        CAST,
        when={"saturate": False},
        situation="a small float output",
    ),
    Clause("ONQ-E4", "A NaN x gives NaN in a float 8 type.", CAST, situation="a small float output"),
    Clause(
        "ONQ-E5",
        "An infinite quotient is beyond the largest float 8 value, as ONQ-E2 and ONQ-E3 say; up to operator set 23 it "
        "becomes NaN in the types with one zero, saturate or not.",
        f"{CAST}, row Inf, and those of Cast-24",
        situation="a small float output",
    ),
    Clause(
        "ONQ-E6",
        "float4_e2m1fn is rounded to nearest, ties to even, and ends at -6 and 6.",
        FLOAT4_PAGE,
        situation="a float4_e2m1fn output",
    ),
    Clause(
        "ONQ-E8",
        "float6_e2m3fn and float6_e3m2fn are rounded to nearest, ties to even, and end at -7.5 and 7.5, -28 and 28.",
        FLOAT6_PAGE,
        situation="a float 6 output",
    ),
    Clause(
        "ONQ-E7",
        "A negative quotient that rounds to zero gives -0, where the type has one: Cast's table has both zeros, and "
        "rounding to nearest keeps the sign.",
        f"{CAST}; IEEE 754-2019, 6.3",
        situation="a small float output",
    ),
    Clause(
        "ONQ-V1",
        "Opset 10 is per tensor only; axis came with 13, float 8 types and float16 with 19, blocks and 4 and 16 bits "
        "with 21, types of its own for y_scale with 23, 2 bits with 25, float 6 with 28.",
        f"{OLDER}, and later ones",
        situation="another opset than 21",
    ),
    Clause(
        "ONQ-U4",
        "What a zero point other than 0 does to a float 8, float 6 or float 4 output.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a small float output",
    ),
    Clause(
        "ONQ-U5",
        "What division in the type of an int32 or float8_e8m0fnu y_scale is. The quotient of the numbers is accepted, "
        "and required where every reading gives the same: numbers, float32, x's own type, and integers for an int32.",
        f"{NEWEST}: silent",
        unspecified=True,
        situation="a float8_e8m0fnu scale",
    ),
    Clause(
        "ONQ-U6",
        "The sign of a zero result of a zero x: either zero is accepted. The table of Cast keeps the sign of a zero, "
        "but real arithmetic gives the quotient none.",
        f"{CAST}: silent on the quotient",
        unspecified=True,
        situation="a zero result",
    ),
    Clause(
        "ONQ-U7",
        "What a NaN becomes in float4_e2m1fn or a float 6.",
        f"{DOCUMENT}: silent; 6 by {FLOAT4_PAGE}; {FLOAT6_PAGE}: unspecified",
        unspecified=True,
        situation="a float 6 or float 4 output",
    ),
    Clause(
        "ONQ-U8",
        "What an infinite or NaN y_scale gives in a float type.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a small float output",
    ),
)


def scale_axes(attributes: Mapping[str, Any], shape: tuple[int, ...], scale_shape: tuple[int, ...]) -> tuple[int, ...]:
    if scale_shape == ():
        return ()
    if len(scale_shape) != 1:
        raise InvalidInput(f"onnx.QuantizeLinear: y_scale has shape {list(scale_shape)}; it needs [] or one axis")
    axis = linear.check_axis(ID, attributes.get("axis", DEFAULT_AXIS), len(shape))
    if scale_shape != (shape[axis],):
        raise InvalidInput(
            f"onnx.QuantizeLinear: y_scale has shape {list(scale_shape)}; x of shape {list(shape)} with axis {axis} "
            f"needs [] or [{shape[axis]}]"
        )
    return (axis,)


def asked(types: Types, attributes: Mapping[str, Any]) -> tuple[str, str, str, Mapping[str, Any]]:
    """What a version must allow: the types of x, y_scale and y, and the attributes."""
    return types.real, scale_type(types), types.quantized, attributes


def scale_type(types: Types) -> str:
    """y_scale's type where none is asked for: x's, and float32 for an int32 x."""
    return types.scale or ("float32" if types.real == "int32" else types.real)


def first_opset(types: Types, attributes: Mapping[str, Any]) -> int:
    return linear.first_version(VERSIONS, *asked(types, attributes))


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    linear.check_version(ID, VERSIONS, types.opset, *asked(types, attributes))
    named = attributes.get("output_dtype", "")
    if named and named != types.quantized:
        raise InvalidInput(f"{ID}: output_dtype is {named}, the quantized type {types.quantized}")
    if not types.optional and not named and types.quantized != "uint8":
        raise InvalidInput(f"{ID}: y_zero_point can't be left off for {types.quantized}, unless output_dtype names it")
    inputs = (types.real, scale_type(types), types.quantized)
    return inputs if types.optional else inputs[:2], (types.quantized,)


def is_classic(node: Node) -> bool:
    """Whether a node is a plain quantization, of which every version of the document says the same."""
    plain = not set(node.attributes) - {"axis"} and node.inputs[1].dtype == node.inputs[0].dtype
    return plain and node.input_type in CLASSIC_REALS and node.output_type in CLASSIC_OUTPUTS


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Problem, ...]:
    x, scale = inputs[:2]
    plain = scale.shape == () or not linear.is_one_for_all(node.attributes, x.shape, scale.shape)
    return (pose_classic(node, inputs),) if plain and is_classic(node) else (pose_other(node, inputs),)


def pose_classic(node: Node, inputs: tuple[Array, ...]) -> Quantization:
    x, scale, *rest = inputs
    if node.opset < 13 and scale.shape != ():
        raise InvalidInput(f"{ID}: y_scale has shape {list(scale.shape)}; opset {node.opset} wants a scalar")
    axes = scale_axes(node.attributes, x.shape, scale.shape)
    zero_point = rest[0].astype(np.int64) if rest else np.zeros(scale.shape, np.int64)
    if zero_point.shape != scale.shape and not (scale.shape == () and zero_point.shape == (1,)):
        shapes = f"{list(zero_point.shape)}, y_scale {list(scale.shape)}"
        raise InvalidInput(f"onnx.QuantizeLinear: y_zero_point has shape {shapes}")
    operands = bits_of(x), bits_of(scale), zero_point.reshape(scale.shape)
    return Quantization(node.real, node.quantized, EVEN, axes, *operands, "y", node.opset < DIVISION_NAMED)


def pose_other(node: Node, inputs: tuple[Array, ...]) -> Elementwise:
    """The problem element by element; `division` tells whether the document names the type of the division."""
    x, scale, *rest = inputs
    zero_point = rest[0] if rest else None
    scales, zeros = linear.spread(ID, node.attributes, x.shape, scale, zero_point, node.opset)
    kind = linear.kind_named(node.output_type)
    precision = node.attributes.get("precision", scale.dtype.name)
    return Elementwise(
        formula=ID,
        output="y",
        shape=x.shape,
        result=kind,
        working=FLOAT_TYPES.get(precision, FLOAT_TYPES["float32"]),
        mode=EVEN,
        kinds=(kind_of(x), kind_of(scale), kind),
        operands=(codes_of(x).reshape(-1), scales, np.zeros(x.size, np.int64) if zeros is None else zeros),
        constants={
            "saturate": node.attributes.get("saturate", True),
            "division": precision in FLOAT_TYPES,
            "infinity_is_nan": kind.name in ONE_ZERO and node.opset < LARGEST_FOR_INFINITY,
        },
        open_division=node.opset < DIVISION_NAMED and isinstance(kind, IntegerType),  # a small float is the same by all
    )


def quantize_linear(p: Problem, x: Term, y_scale: Term, y_zero_point: Term) -> Term:
    scale = finite(y_scale, "ONQ-U1", "ONQ-U2", "ONQ-U8")
    quotient = step(step(x).by("ONQ-P1") / step(scale).by("ONQ-P2")).by("ONQ-F1", "ONQ-U3")
    own = quantized(p, x, quotient, y_zero_point)
    if isinstance(p, Quantization) or p.constants["division"]:
        return own
    others = [quantized(p, x, reading, y_zero_point) for reading in readings(p, x, scale, quotient)]
    return by_form(own, agreed(*others).by("ONQ-U5"))


def quantized(p: Problem, x: Term, quotient: Term, y_zero_point: Term) -> Term:
    """The result of x for its quotient."""
    if isinstance(p.result, FloatType):
        assert isinstance(p, Elementwise)
        result = to_small_float(p, p.result, quotient)
        return require(equal(y_zero_point, 0), result, "ONQ-U4")
    zero_point = finite(y_zero_point)
    shown = require(is_finite(x), rounded(quotient, p.mode).by("ONQ-F2", "ONQ-R1"), "ONQ-U1", "ONQ-U2")
    return to_integer(shown + zero_point, p.result).by("ONQ-F2", "ONQ-C1", "ONQ-C2")


def readings(p: Elementwise, x: Term, scale: Term, quotient: Term) -> Iterator[Term]:
    """The possible meanings of x / y_scale where its type is int32 or float8_e8m0fnu; a result needs all to agree.

    The quotient of the numbers, in float32, in x's own type, and a division of integers.
    """
    own = p.kinds[0] if isinstance(p.kinds[0], FloatType) else p.working
    yield from (in_reals(quotient), quotient, in_type(quotient, own))
    if isinstance(p.kinds[1], IntegerType):
        yield from of_integers(finite(x), scale)


def of_integers(x: Term, y_scale: Term) -> Iterator[Term]:
    """The quotient truncated, as in C, and floored, as in Python; undefined beyond int32."""
    quotient, kind = x / y_scale, INTEGER_TYPES["int32"]
    fits = all_of(*(within for value in (x, quotient) for within in (value >= kind.lowest, value <= kind.highest)))
    yield from (require(fits, found, "ONQ-U5") for found in (truncated(quotient), floor(quotient)))


def to_small_float(p: Elementwise, kind: FloatType, quotient: Term) -> Term:
    """Cast's tables: beyond the largest value the quotient becomes that value if it saturates, else NaN or infinity."""
    saturated, plain = (to_float(quotient, kind, beyond, "exact") for beyond in ("largest", "ieee"))
    saturated = saturated.by("ONQ-E1", "ONQ-E2", "ONQ-E4", "ONQ-E6", "ONQ-E7", "ONQ-E8", "ONQ-U6", "ONQ-U7")
    plain = plain.by("ONQ-E1", "ONQ-E3", "ONQ-E4", "ONQ-E6", "ONQ-E7", "ONQ-E8", "ONQ-U6", "ONQ-U7")
    if not p.constants["saturate"]:
        return plain
    return where(is_finite(quotient), saturated, plain).by("ONQ-E5") if p.constants["infinity_is_nan"] else saturated


TERMS = {ID: quantize_linear}


OPERATOR = Operator(
    id="onnx.QuantizeLinear",
    prefix="ONQ",
    formula="y = saturate(round_half_to_even(x / y_scale) + y_zero_point)",
    sources=(DOCUMENT,),
    clauses=CLAUSES,
    attributes=(
        Attribute("axis", "the axis of a 1-D or blocked y_scale, default 1", parse_integer, default=DEFAULT_AXIS),
        Attribute("block_size", "how many neighbours share a scale, 0 for none", linear.parse_block_size, default=0),
        Attribute("output_dtype", "y's element type", linear.parse_type(OUTPUTS), default=""),
        Attribute("precision", "the type of the division", linear.parse_type(tuple(FLOAT_TYPES)), default=""),
        Attribute("saturate", "whether float 8 outputs end at the largest value", parse_boolean, default=True),
    ),
    forms=(("x", "y_scale", "y_zero_point"),),
    outputs=("y",),
    family="quantize",
    real_types=(*CLASSIC_REALS, "int32"),
    quantized_types=OUTPUTS,
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (EVEN,),
    steps=(
        "x and y_scale converted to the type that precision names, else y_scale's own; where that is int32 or "
        "float8_e8m0fnu, there is a result if all readings of the division agree on it (contested)",
        "quotient = x / y_scale, rounded to that type",
        "rounded = round half to even(quotient), an integer, exact",
        "y = saturate(rounded + y_zero_point), an integer sum, exact; for a float 8, float 6 or float 4 type instead",
        "y = quotient rounded to the output's type, by the tables of Cast beyond its largest value",
    ),
    saturates=True,
    optional_inputs=1,
    opsets=OPSETS,
    first_opset=first_opset,
    mode_clause=lambda mode: "ONQ-R1",
    letters={"formula": "FP", "rounding": "R", "saturation": "CE", "placement": "GBA", "signature": "TOIXSV"},
    roles={
        "quotient": "ONQ-F1",
        "round-first": "ONQ-F2",
        "add": "ONQ-F2",
        "projection": "ONQ-G2",
        "granularity": "ONQ-G3",
        "per-tensor": "ONQ-G1",
        "axis": "ONQ-A1",
        "shape": "ONQ-S1",
        "real-type": "ONQ-T1",
        "output-type": "ONQ-T2",
        "zero-point-type": "ONQ-T2",
        "no-zero-point": "ONQ-T3",
        "range": "ONQ-C1",
        "nan": "ONQ-U1",
        "infinity": "ONQ-U2",
        "zero-scale": "ONQ-U3",
        "blocks": "ONQ-B1",
        "last-block": "ONQ-B2",
        "output-dtype": "ONQ-O1",
        "scale-precision": "ONQ-P1",
        "precision": "ONQ-P2",
        "int32": "ONQ-I1",
        "power-scale": "ONQ-X1",
        "two-bits": "ONQ-C2",
        "float8": "ONQ-E1",
        "saturate": "ONQ-E2",
        "no-saturate": "ONQ-E3",
        "float8-nan": "ONQ-E4",
        "float8-infinity": "ONQ-E5",
        "float4": "ONQ-E6",
        "float6": "ONQ-E8",
        "small-zero": "ONQ-E7",
        "version": "ONQ-V1",
        "float-zero-point": "ONQ-U4",
        "division-type": "ONQ-U5",
        "zero-sign": "ONQ-U6",
        "float4-nan": "ONQ-U7",
        "special-scale": "ONQ-U8",
    },
    modes=(EVEN,),
    themes=(axes_theme, no_zero_point_theme, traps_theme),
    themed=tuple((real, output) for real in CLASSIC_REALS for output in CLASSIC_OUTPUTS),
    files=samples.FILES,
    samples=samples.samples,
    contested=CONTESTED,
)
