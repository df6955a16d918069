"""`paddle.QuantizeLinear`: PaddlePaddle's quantize_linear at inference, from its OpProto, the text that it ships with.

Integers stay floats. The scale is what becomes the greatest integer, not a step: X * range / Scale is rounded.
Training (is_test false) and calibration (only_observer true) are other functions, and are not here. dequantize_linear
has the same OpProto, word for word: its own arithmetic no document says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.arithmetic.term import Term, equal, finite, lifted, require, rounded, step, to_real
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Attribute, Clause, Kind, Operator, Types, parse_integer
from tiebreak.golden.operators.paddle_quantize_linear_contested import AWAY_TEXT, CONTESTED, DOCUMENT, EVEN_TEXT, KERNEL
from tiebreak.golden.problem import Array, Elementwise, along, flat, kind_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import paddle_quantize_linear as samples

ID = "paddle.QuantizeLinear"
MAKER = "PaddlePaddle at 11632813b9ea, quantize_linear_op.cc"
FORMULA = "Y = round(X * range / Scale), range = 2^(bit_length - 1) - 1"
STEPS = (
    "product = X * range, rounded to float32",
    "quotient = product / Scale, rounded to float32",
    "Y = round(quotient), an integer, as float32",
)
AWAY = "ROUND_NEAREST_TOWARD_INFINITY"
MODES = {0: EVEN, 1: AWAY}  # by round_type
AXES, MOST_BITS = (-1, 0, 1), 16
LETTERS: Mapping[Kind, str] = {"formula": "F", "rounding": "R", "placement": "A", "signature": "TS"}


def parse_one_of(allowed: tuple[int, ...], value: Any) -> int:
    number = parse_integer(value)
    if number not in allowed:
        raise ValueError(f"{number} is not one of {', '.join(map(str, allowed))}")
    return number


def parse_bit_length(value: Any) -> int:
    length = parse_integer(value)
    if not 1 <= length <= MOST_BITS:
        raise ValueError(f"{length} is not between 1 and {MOST_BITS}")
    return length


def parse_end(value: Any) -> int:
    end = parse_integer(value)
    if not -(1 << 31) <= end < 1 << 31:
        raise ValueError(f"{end} is no int32")
    return end


ATTRIBUTES = (
    Attribute(
        "quant_axis",
        "the axis whose indices have scales of their own, -1 for none",
        lambda value: parse_one_of(AXES, value),
        default=0,
    ),
    Attribute("bit_length", "the number of bits that range follows from", parse_bit_length, default=8),
    Attribute("qmin", "the lowest integer", parse_end, default=-128),
    Attribute("qmax", "the highest integer", parse_end, default=127),
    Attribute(
        "round_type",
        "0: ties to even, 1: ties away from zero",
        lambda value: parse_one_of(tuple(MODES), value),
        default=0,
    ),
)
CLAUSES = (
    Clause("PQL-F1", "range is 2^(bit_length - 1) - 1.", f"{DOCUMENT}, comment, second formula"),
    Clause("PQL-F2", "X is multiplied by range.", f"{DOCUMENT}, comment, third formula"),
    Clause("PQL-F3", "The product is divided by the scale.", f"{DOCUMENT}, comment, third formula"),
    Clause(
        "PQL-R1",
        "With round_type 0 the quotient is rounded to nearest, ties to even.",
        f"{DOCUMENT}, round_type: {EVEN_TEXT}",
        when={"round_type": 0},
    ),
    Clause(
        "PQL-R2",
        "With round_type 1 it is rounded to nearest, ties away from zero.",
        f"{DOCUMENT}, round_type: {AWAY_TEXT}",
        when={"round_type": 1},
    ),
    Clause("PQL-A1", "Each channel of X, an index of quant_axis, has a scale of its own.", f"{DOCUMENT}, comment",
           situation="parameters that vary"),
    Clause(
        "PQL-A2",
        "With quant_axis -1 one scale serves the whole tensor.",
        "PaddlePaddle 3.3.1, header quantize_linear_impl.h: quant_axis < 0",
        when={"quant_axis": -1},
    ),
    Clause("PQL-T1", "X, Scale and ZeroPoint are floats; here float32.", f"{DOCUMENT}, inputs"),
    Clause("PQL-T2", "Y is quantized, but also saved as a float.", f"{DOCUMENT}, Y"),
    Clause("PQL-T3", "bit_length is between 1 and 16.", f"{MAKER}, checker of bit_length"),
    Clause("PQL-T4", "quant_axis is 0 or 1, or -1.", f"{KERNEL}: 'quant_axis' should be 0 or 1"),
    Clause("PQL-T5", "round_type is 0 or 1.", f"{DOCUMENT}, round_type"),
    Clause("PQL-S1", "Y has the shape of X.", f"{MAKER}, InferShape"),
    Clause("PQL-S2", "Scale is a vector: one value for each channel, or one.", f"{DOCUMENT}, comment"),
    Clause("PQL-U1", "What a NaN operand gives.", f"{DOCUMENT}: silent", unspecified=True, situation="a NaN operand"),
    Clause("PQL-U2", "What an infinite operand gives.", f"{DOCUMENT}: silent", unspecified=True,
           situation="an infinite operand"),
    Clause(
        "PQL-U3",
        "What a scale gives that is not positive: the text has it as the greatest magnitude of a channel.",
        f"{DOCUMENT}, comment, first formula",
        unspecified=True,
        situation="a scale that is not positive",
    ),
    Clause(
        "PQL-U4",
        "What a result below qmin or above qmax becomes: the text names both, and gives only their defaults.",
        f"{DOCUMENT}, qmin, qmax",
        unspecified=True,
        situation="a result beyond qmin or qmax",
    ),
    Clause(
        "PQL-U5",
        "What a zero point other than 0 does: it is an input that no formula has.",
        f"{DOCUMENT}, ZeroPoint",
        unspecified=True,
        situation="a zero point that is not 0",
    ),
    Clause("PQL-U6", "The sign of a zero result: either zero is accepted.", f"{DOCUMENT}: silent", unspecified=True,
           situation="a zero result"),
)  # fmt: skip
ROLES = {
    "range": "PQL-F1", "product": "PQL-F2", "quotient": "PQL-F3", "even": "PQL-R1", "away": "PQL-R2",
    "axis": "PQL-A1", "per-tensor": "PQL-A2", "type": "PQL-T1", "output-type": "PQL-T2", "bit-length": "PQL-T3",
    "axes": "PQL-T4", "round-type": "PQL-T5", "shape": "PQL-S1", "channels": "PQL-S2", "nan": "PQL-U1",
    "infinity": "PQL-U2", "not-positive": "PQL-U3", "clamp": "PQL-U4", "zero-point": "PQL-U5", "zero-sign": "PQL-U6",
}  # fmt: skip


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real,) * 3, (types.real,)


def modes_of(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    return (MODES[attributes.get("round_type", 0)],)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """InvalidInput for an axis that X lacks, and for parameters of another size."""
    constants = {name: node.value(name) for name in ("bit_length", "qmin", "qmax")}
    operands, kinds, (mode,) = operands_of(node, inputs), tuple(map(kind_of, inputs)), node.modes
    return (Elementwise(node.operator, "Y", inputs[0].shape, node.real, node.real, mode, kinds, operands, constants),)


def operands_of(node: Node, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
    """X, the scale and the zero point of each element, flat."""
    x, *parameters = inputs
    axis = int(node.value("quant_axis"))
    if axis >= x.ndim:
        raise InvalidInput(f"{node.operator}: quant_axis {axis} outside an input of rank {x.ndim}")
    check_shapes(node, parameters, (1,) if axis < 0 else (x.shape[axis],))
    spread = (array.reshape(()) if axis < 0 else along(array, (axis,), x.shape) for array in parameters)
    return flat(x, x.shape), *(flat(array, x.shape) for array in spread)


def check_shapes(node: Node, parameters: list[Array], wanted: tuple[int, ...]) -> None:
    for tensor, array in zip(node.inputs[1:], parameters, strict=True):
        if array.shape != wanted:
            raise InvalidInput(f"{node.operator}: {tensor.name} has shape {list(array.shape)}, not {list(wanted)}")


def quantize(p: Elementwise, value: Term, scale: Term, zero_point: Term) -> Term:
    x, largest, zero = (finite(one, "PQL-U1", "PQL-U2") for one in (value, scale, zero_point))
    whole_range = lifted(2 ** (p.constants["bit_length"] - 1) - 1).by("PQL-F1").named("2^(bit_length-1)-1")
    quotient = step(step(x * whole_range).by("PQL-F2") / largest).by("PQL-F3")
    integer = rounded(quotient, p.mode).by("PQL-R1", "PQL-R2")
    within = (integer >= p.constants["qmin"]) & (integer <= p.constants["qmax"])
    found = require(within, to_real(integer, p.working).by("PQL-U6"), "PQL-U4")
    return require((largest > 0) & equal(zero, 0), found, "PQL-U3", "PQL-U5")


TERMS = {ID: quantize}


OPERATOR = Operator(
    id=ID,
    prefix="PQL",
    formula=FORMULA,
    sources=(DOCUMENT, KERNEL, MAKER),
    clauses=CLAUSES,
    attributes=ATTRIBUTES,
    forms=(("X", "Scale", "ZeroPoint"),),
    outputs=("Y",),
    family="fake",
    real_types=("float32",),
    quantized_types=(),
    signature=signature,
    problems=problems,
    modes_of=modes_of,
    mode_clause=lambda mode: {EVEN: "PQL-R1", AWAY: "PQL-R2"}.get(mode, ""),
    modes=tuple(MODES.values()),
    steps=STEPS,
    letters=LETTERS,
    roles=ROLES,
    files=(("float32", "float32"),),
    samples=samples.samples,
    contested=CONTESTED,
)
