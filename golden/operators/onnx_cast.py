"""`onnx.Cast` of operator sets 19 to 28, from and to the types of 8 bits and fewer that came with them.

One end at least is a float 8, float8_e8m0fnu, a float 6, float4_e2m1fn, or an integer of 2 or 4 bits. Strings and bool
are left out, and so are 64-bit integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tiebreak.golden.arithmetic.term import (
    Term,
    bits,
    equal,
    exponent,
    finite,
    held,
    is_finite,
    is_nan,
    is_negative,
    power_of_two,
    require,
    rounded,
    to_float,
    to_integer,
    where,
    whole,
    wrapped,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType, scaled
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import E8M0, FLOAT4, FLOAT6, FLOAT8, INT2, INT4, LARGEST_FOR_INFINITY, ONE_ZERO
from tiebreak.golden.operators.model import (
    Attribute,
    Clause,
    Operator,
    Types,
    parse_boolean,
    parse_choice,
)
from tiebreak.golden.operators.onnx_cast_contested import (
    BEFORE_24,
    CONTESTED,
    DOCUMENT,
    FLOAT4_PAGE,
    FLOAT6_PAGE,
    FLOAT8_PAGE,
    INT2_PAGE,
    INT4_PAGE,
    NEWER,
    OLDER,
)
from tiebreak.golden.operators.onnx_linear import parse_type
from tiebreak.golden.problem import Array, Elementwise, codes_of, kind_of
from tiebreak.golden.rounding import EVEN, ROUND_MODES
from tiebreak.golden.samples import onnx_cast as samples

ID = "onnx.Cast"

# The operator set from which on each of the small types can be cast.
SINCE = {
    name: opset
    for opset, names in ((19, FLOAT8), (21, INT4), (23, FLOAT4), (24, E8M0), (25, INT2), (28, FLOAT6))
    for name in names
}
SMALL = tuple(SINCE)
WIDE_REALS = ("float32", "float16", "bfloat16", "float64")
WIDE_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
TYPES = (*SMALL, *WIDE_REALS, *WIDE_INTEGERS)
OPSETS = (19, 21, 23, 24, 25, 28)
UP, DOWN, NEAREST = "up", "down", "nearest"
POWER = "power"  # the role of the rounding to float8_e8m0fnu by whatever mode a node has
ROUNDING = {
    **dict.fromkeys(FLOAT8, "float8"),
    **dict.fromkeys(FLOAT6, "float6"),
    **dict.fromkeys(FLOAT4, "float4"),
}

CLAUSES = (
    Clause(
        "ONC-F1",
        "A value that the output's type holds stays what it is; a small type's values are exact in the wider types.",
        f"{FLOAT8_PAGE}; {INT4_PAGE}; {FLOAT4_PAGE}; {FLOAT6_PAGE}, Cast",
    ),
    Clause(
        "ONC-F2",
        "To a floating-point type of 16 bits and more, a number beyond its range becomes an infinity.",
        f"{DOCUMENT}, rules",
        situation="a result beyond the largest value",
    ),
    Clause(
        "ONC-R1",
        "To a float 8 type a float is rounded to nearest, ties to even; subnormals are kept.",
        f"{DOCUMENT}, first table, else",
        situation="a float 8 output",
    ),
    Clause(
        "ONC-R2",
        "To float4_e2m1fn a number is rounded to nearest, ties to even.",
        f"{FLOAT4_PAGE}, Cast",
        situation="a float4_e2m1fn output",
    ),
    Clause(
        "ONC-R7",
        "To a float 6 type a number is rounded to nearest, ties to even.",
        f"{FLOAT6_PAGE}, Cast",
        situation="a float 6 output",
    ),
    Clause(
        "ONC-R3",
        "To an integer of 2 or 4 bits a float is rounded to the nearest integer, ties to even.",
        f"{INT4_PAGE}; {INT2_PAGE}, Cast",
        situation="a float to an integer of 2 or 4 bits",
    ),
    Clause(
        "ONC-R4",
        "To float8_e8m0fnu with round_mode up, the default, a number goes to the next power of two away from zero.",
        f"{DOCUMENT}, round_mode",
        when={"round_mode": UP},
        situation="a float8_e8m0fnu output",
    ),
    Clause(
        "ONC-R5",
        "With round_mode down it goes to the power of two toward zero.",
        f"{DOCUMENT}, round_mode",
        when={"round_mode": DOWN},
        situation="a float8_e8m0fnu output",
    ),
    Clause(
        "ONC-R6",
        "With round_mode nearest it goes to the nearest power of two, halfway up.",
        f"{DOCUMENT}, round_mode",
        when={"round_mode": NEAREST},
        situation="a float8_e8m0fnu output",
    ),
    Clause(
        "ONC-C1",
        "With saturate, the default, what rounds beyond the largest float 8 value becomes it.",
        f"{DOCUMENT}, first table",
        when={"saturate": True},
        situation="a float 8 output",
    ),
    Clause(
        "ONC-C2",
        "Without saturate it becomes NaN, or in float8_e5m2 an infinity.",
        f"{DOCUMENT}, second table",
        when={"saturate": False},
        situation="a float 8 output",
    ),
    Clause(
        "ONC-C3",
        "An infinity with saturate becomes the largest float 8 value of its sign.",
        f"{DOCUMENT}, first table, Inf",
        when={"saturate": True},
        situation="an infinite input to a float 8",
    ),
    Clause(
        "ONC-C4",
        "Up to operator set 23 it becomes NaN in the types with one zero, saturate or not.",
        f"{BEFORE_24}, first table, Inf",
        situation="an infinite input to a type with one zero, before operator set 24",
    ),
    Clause(
        "ONC-C5",
        "In float4_e2m1fn what lies beyond 6 becomes 6, and -6 below; infinities too, and NaN becomes 6.",
        f"{FLOAT4_PAGE}, Cast",
        situation="a float4_e2m1fn output",
    ),
    Clause(
        "ONC-C9",
        "In a float 6 type what lies beyond the largest value becomes it, 7.5 or 28, and -7.5 or -28 below; infinities "
        "too.",
        f"{FLOAT6_PAGE}, Cast",
        situation="a float 6 output",
    ),
    Clause(
        "ONC-C6",
        "In float8_e8m0fnu with saturate and up, zero and what is too small become 2^-127, an infinity and what is "
        "too large 2^127.",
        f"{DOCUMENT}, third table",
        when={"saturate": True, "round_mode": UP},
        situation="a float8_e8m0fnu output",
    ),
    Clause(
        "ONC-C7",
        "Without saturate and with nearest all of these become NaN.",
        f"{DOCUMENT}, third table",
        when={"saturate": False, "round_mode": NEAREST},
        situation="a float8_e8m0fnu output",
    ),
    Clause(
        "ONC-C8",
        "From integer to integer the higher bits are discarded, and what is left is read in two's complement.",
        f"{DOCUMENT}, rules",
        situation="an integer to a narrower integer",
    ),
    Clause(
        "ONC-F3",
        "NaN becomes NaN, where the type has one.",
        f"{DOCUMENT}, tables; {FLOAT8_PAGE}, Cast",
        situation="a NaN input",
    ),
    Clause(
        "ONC-F4",
        "A zero keeps its sign in float8_e4m3fn, float8_e5m2, a float 6 and float4_e2m1fn. A negative number that "
        "rounds to zero gives the negative zero: rounding to nearest keeps the sign.",
        f"{DOCUMENT}, tables; {FLOAT4_PAGE}; {FLOAT6_PAGE}, Cast; IEEE 754-2019, 6.3",
        situation="a negative zero",
    ),
    Clause("ONC-T1", "`to` names the output's type, in the numbers of TensorProto.", f"{DOCUMENT}, to"),
    Clause(
        "ONC-T2", "saturate is about float 8 types alone, round_mode about float8_e8m0fnu.", f"{DOCUMENT}, saturate"
    ),
    Clause("ONC-S1", "The output has the size of the input.", f"{DOCUMENT}, description"),
    Clause(
        "ONC-V1",
        "float 8 and saturate came with operator set 19, 4-bit integers with 21, float4_e2m1fn with 23, float8_e8m0fnu "
        "and round_mode with 24, 2-bit integers with 25, float 6 with 28.",
        f"{OLDER}, {DOCUMENT} and {NEWER}",
    ),
    Clause(
        "ONC-U1",
        "What a float beyond an integer's range, an infinity or NaN gives there.",
        f"{DOCUMENT}, rules: undefined",
        unspecified=True,
        situation="a float beyond an integer's range",
    ),
    Clause(
        "ONC-U2",
        "How a float is rounded to an integer of 8 bits and more. Either neighbour is accepted.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a float to an integer of 8 bits and more",
    ),
    Clause(
        "ONC-U3",
        "How an integer is rounded that a float 8 type does not hold: the tables are about floats.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an integer to a float 8",
    ),
    Clause(
        "ONC-U4",
        "What a negative number and the negative zero give in float8_e8m0fnu.",
        f"{DOCUMENT}, third table: unspecified",
        unspecified=True,
        situation="a float8_e8m0fnu output",
    ),
    Clause(
        "ONC-U5",
        "What zero, infinities and what is too small or too large give in float8_e8m0fnu, with other attributes than "
        "those of the third table.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a float8_e8m0fnu output",
    ),
    Clause(
        "ONC-U6",
        "The sign of NaN, and of a zero in a type of 16 bits and more: it is not necessarily preserved.",
        f"{FLOAT8_PAGE}, Cast",
        unspecified=True,
        situation="a zero result",
    ),
    Clause(
        "ONC-U7",
        "How a number is rounded that float16 does not hold: a float8_e8m0fnu below its least number.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a float8_e8m0fnu input",
    ),
    Clause(
        "ONC-U8",
        "What NaN gives in a float 6 type, which has none.",
        f"{FLOAT6_PAGE}, Cast: unspecified",
        unspecified=True,
        situation="a float 6 output",
    ),
)


def first_opset(types: Types, attributes: Mapping[str, Any]) -> int:
    """The operator set, from 21 on, that has both types and the attributes."""
    return max([21, *(SINCE.get(name, 19) for name in (types.real, types.quantized)), *attribute_opsets(attributes)])


def attribute_opsets(attributes: Mapping[str, Any]) -> list[int]:
    return [24] if "round_mode" in attributes else []


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    source, target = types.real, types.quantized
    if source not in SINCE and target not in SINCE:
        raise InvalidInput(f"{ID}: {source} to {target} is no cast of its tables; one of the two is {', '.join(SMALL)}")
    for name in (source, target):
        if SINCE.get(name, 19) > types.opset:
            raise InvalidInput(f"{ID}: opset {types.opset} has no type {name}; it came with {SINCE[name]}")
    if "round_mode" in attributes and types.opset < 24:
        raise InvalidInput(f"{ID}: opset {types.opset} has no attribute 'round_mode'")
    return (source,), (target,)


def modes_of(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    """To an integer of 2 or 4 bits the pages say how a float is rounded, to a wider one nothing does."""
    target = attributes.get("to", "")
    if target not in INTEGER_TYPES:
        return ()
    return (EVEN,) if target in SINCE else tuple(ROUND_MODES)


def role_in(node: Node, role: str) -> str:
    """The role of the rounding to the node's own type, and to float8_e8m0fnu by its own mode."""
    target = node.output_type
    if target in E8M0:
        return str(node.value("round_mode")) if role in ("mode", POWER) else role
    return ROUNDING.get(target, role) if role == "mode" else role


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    (x,) = inputs
    kind, result = kind_of(x), ELEMENT_TYPES[node.output_type]
    constants = {
        "saturate": node.value("saturate"),
        "round_mode": node.value("round_mode"),
        "infinity_is_nan": result.name in ONE_ZERO and node.opset < LARGEST_FOR_INFINITY,
    }
    wide = (FLOAT_TYPES[end.name] for end in (result, kind) if end.name in FLOAT_TYPES)
    working = next(wide, FLOAT_TYPES["float32"])
    mode = node.modes[0] if node.modes else ""
    operands = (codes_of(x).reshape(-1),)
    return (Elementwise(ID, "output", x.shape, result, working, mode, (kind,), operands, constants, True),)


TABLED = (("up", True), ("nearest", False))  # attributes for which the third table has a column


def cast(p: Elementwise, x: Term) -> Term:
    if isinstance(p.result, IntegerType):
        return to_whole_number(p, p.result, finite(x, "ONC-U1"))
    if p.result.specials == "e8m0":
        return to_power_of_two(p, p.result, x)
    return to_wide(p.result, x) if p.result.bits >= 16 else to_small(p, p.result, x)


def to_whole_number(p: Elementwise, kind: IntegerType, x: Term) -> Term:
    if isinstance(p.kinds[0], IntegerType):
        return whole(wrapped(x, kind)).by("ONC-C8", "ONC-F1")
    return to_integer(rounded(x, p.mode).by("ONC-R3", "ONC-U2"), kind).by("ONC-F1", "ONC-U1")


def to_wide(kind: FloatType, x: Term) -> Term:
    """A small type's value in a type of 16 bits and more, which holds it: only float16 lacks powers of two."""
    value = held(x, kind)
    found = to_float(x, kind, "ieee", "exact").by("ONC-F1", "ONC-F2", "ONC-F3", "ONC-U6")
    return require(~is_finite(value) | equal(value, x), found, "ONC-U7")


def to_small(p: Elementwise, kind: FloatType, x: Term) -> Term:
    """A float 8, float 6 or float 4: the tables, row by row."""
    saturate, infinity_is_nan = kind.nan_bits is None or p.constants["saturate"], p.constants["infinity_is_nan"]
    found = to_float(x, kind, "largest" if saturate else "ieee", "signed")
    found = found.by("ONC-R1", "ONC-R2", "ONC-R7", "ONC-C1", "ONC-C2", "ONC-C3", "ONC-C4", "ONC-C5", "ONC-C9", "ONC-F4")
    if isinstance(p.kinds[0], IntegerType):
        return require(equal(held(x, kind), x), found, "ONC-U3") if kind.bits == 8 else found
    of_nan = bits(kind.largest_bits if kind.nan_bits is None else kind.nan_bits).by("ONC-F3", "ONC-C5")
    if infinity_is_nan and kind.nan_bits is not None:
        found = where(is_finite(x), found, bits(kind.nan_bits)).by("ONC-C2", "ONC-C4")
    return where(is_nan(x), require(kind.bits != 6, of_nan, "ONC-U8"), found)


def to_power_of_two(p: Elementwise, kind: FloatType, x: Term) -> Term:
    """A float8_e8m0fnu, whose code is the exponent of two plus 127."""
    mode, saturate = p.constants["round_mode"], p.constants["saturate"]
    power = exponent(x)
    beyond = x / power_of_two(power)  # from 1 to 2
    upward: Mapping[str, Term | bool] = {"up": beyond > 1, "down": False, "nearest": beyond >= Fraction(3, 2)}
    held_power = whole(power + where(upward[mode], 1, 0) + kind.bias).by("ONC-R4", "ONC-R5", "ONC-R6")
    ends = where(x > 1, bits(kind.largest_bits), bits(0)) if saturate else bits(kind.nan_bits)
    outside = require((mode, saturate) in TABLED, ends.by("ONC-C6", "ONC-C7"), "ONC-U5")
    inside = (x >= scaled(1, kind.emin)) & (x <= scaled(1, kind.emax))
    found = require(~is_negative(x), where(inside, held_power, outside), "ONC-U4")
    return where(is_nan(x), bits(kind.nan_bits).by("ONC-F3"), found)


TERMS = {ID: cast}


OPERATOR = Operator(
    id=ID,
    prefix="ONC",
    formula="output = input converted to the type `to`",
    sources=(DOCUMENT, OLDER, NEWER, FLOAT8_PAGE, FLOAT6_PAGE, FLOAT4_PAGE, INT4_PAGE, INT2_PAGE),
    clauses=CLAUSES,
    attributes=(
        Attribute("to", "the output's element type", parse_type(TYPES), required=True),
        Attribute("saturate", "whether a float 8 result saturates, default true", parse_boolean, default=True),
        Attribute(
            "round_mode",
            f"how float8_e8m0fnu is rounded: {UP}, the default, {DOWN} or {NEAREST}",
            parse_choice((UP, DOWN, NEAREST)),
            default=UP,
        ),
    ),
    forms=(("input",),),
    outputs=("output",),
    family="cast",
    real_types=TYPES,
    quantized_types=TYPES,
    signature=signature,
    problems=problems,
    modes_of=modes_of,
    mode_clause=lambda mode: "ONC-R3",
    role_in=role_in,
    steps=("output = input, rounded once to the output's type: no step rounds before",),
    not_offered=(
        "Casts between types of 16 bits and more, such as float32 to bfloat16: one end at least is a type of 8 bits or "
        "fewer that came with operator set 19 or later.",
        "bool and strings: a cast to or from them rounds no number to a grid. It compares with 0, or reads a text.",
        "64-bit integers: the kernel computes in doubles, which do not hold them.",
    ),
    opsets=OPSETS,
    first_opset=first_opset,
    letters={"formula": "F", "rounding": "R", "saturation": "C", "signature": "TSV"},
    roles={
        "exact": "ONC-F1",
        "overflow": "ONC-F2",
        "nan": "ONC-F3",
        "zero": "ONC-F4",
        "float8": "ONC-R1",
        "float4": "ONC-R2",
        "float6": "ONC-R7",
        "integer": "ONC-R3",
        "up": "ONC-R4",
        POWER: "ONC-R4",
        "down": "ONC-R5",
        "nearest": "ONC-R6",
        "saturate": "ONC-C1",
        "unsaturated": "ONC-C2",
        "infinity": "ONC-C3",
        "older-infinity": "ONC-C4",
        "float4-ends": "ONC-C5",
        "float6-ends": "ONC-C9",
        "power-saturated": "ONC-C6",
        "power-unsaturated": "ONC-C7",
        "wrap": "ONC-C8",
        "type": "ONC-T1",
        "attributes": "ONC-T2",
        "shape": "ONC-S1",
        "version": "ONC-V1",
        "beyond-integers": "ONC-U1",
        "open-rounding": "ONC-U2",
        "integer-to-float8": "ONC-U3",
        "negative-power": "ONC-U4",
        "power-open": "ONC-U5",
        "sign": "ONC-U6",
        "underflow": "ONC-U7",
        "float6-nan": "ONC-U8",
    },
    files=samples.FILES,
    samples=samples.samples,
    contested=CONTESTED,
)
