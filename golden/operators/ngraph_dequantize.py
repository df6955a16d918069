"""`ngraph.Dequantize`: nGraph's Dequantize."""

from __future__ import annotations

from collections.abc import Mapping

from tiebreak.golden.arithmetic.term import Term, finite, step, to_real
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import (
    ALL_QUANTIZED_TYPES,
    ALL_REAL_TYPES,
    Answer,
    Attribute,
    Clause,
    Contest,
    Operator,
    dequantize_signature,
    parse_axis_set,
    parse_choice,
)
from tiebreak.golden.problem import Array, Elementwise, along, flat, kind_of
from tiebreak.golden.samples import ngraph_dequantize as samples

DOCUMENT = "nGraph documentation, ops/dequantize.rst"
OLDER = "nGraph documentation, older form of the pair (third input named offset)"

CLAUSES = (
    Clause("NGD-F1", "The zero point is subtracted from the input.", f"{DOCUMENT}, Mathematical Definition"),
    Clause("NGD-F2", "The difference is multiplied by scale.", f"{DOCUMENT}, Mathematical Definition"),
    Clause(
        "NGD-A1",
        "Coordinate j of scale and zero_point is the output coordinate projected onto axes.",
        f"{DOCUMENT}, Description",
        situation="parameters that vary",
    ),
    Clause(
        "NGD-A2",
        "scale and zero_point have the input's shape projected onto axes, for any set of axes; no axes means a scalar.",
        f"{DOCUMENT}, Inputs and Attributes",
    ),
    Clause("NGD-S1", "The output has the shape of the input, whatever it is.", f"{DOCUMENT}, Inputs and Outputs"),
    Clause("NGD-T1", "The input is of any quantized type and the zero point of the same.", f"{DOCUMENT}, Inputs"),
    Clause("NGD-T2", "The output is of the type that `type` names, any real type.", f"{DOCUMENT}, Attributes"),
    Clause("NGD-T3", "scale has the type of the output.", f"{DOCUMENT}, Inputs"),
    Clause(
        "NGD-O1",
        "In the older form the third input is named offset and is subtracted the same way.",
        f"{OLDER}, offset",
        situation="the older form",
    ),
    Clause(
        "NGD-U1",
        "What a NaN or infinite scale gives.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
    Clause(
        "NGD-U2",
        "The sign of a zero result: either zero is accepted, also where a number rounds to zero. Real arithmetic, in "
        "which the formula is written, has one zero.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a zero result",
    ),
    Clause(
        "NGD-U3",
        "What a difference too large for the output's type gives: infinity in working precision.",
        f"{DOCUMENT}: silent",
        unspecified=True,
    ),
)


CONTESTED = (
    Contest(
        "NGD-Q1",
        "Is the difference multiplied by scale, or the zero point alone?",
        ("NGD-F1", "NGD-F2"),
        {"quantized": "int8", "real": "float32"},
        ([5], 2, 3),
        (
            Answer(f"{DOCUMENT}, Mathematical Definition", "(input - zero_point) * scale", (4.0,), judged=True),
            Answer(f"{DOCUMENT}, Description", "word by word: input - zero_point * scale", (-1.0,)),
        ),
    ),
)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    x, scale, zero_point = inputs
    axes = node.attributes.get("axes", ())
    check_projection(node.operator, axes, x.shape, {"scale": scale.shape, node.inputs[2].name: zero_point.shape})
    operands = (flat(x, x.shape), *(flat(along(p, axes, x.shape), x.shape) for p in (scale, zero_point)))
    kinds = tuple(map(kind_of, inputs))
    return (Elementwise(node.operator, "output", x.shape, node.real, node.real, "", kinds, operands),)


def check_projection(
    operator: str, axes: tuple[int, ...], shape: tuple[int, ...], parameters: Mapping[str, tuple[int, ...]]
) -> None:
    """InvalidInput unless each parameter has `shape` projected onto `axes`."""
    if axes and axes[-1] >= len(shape):
        raise InvalidInput(f"{operator}: axes {list(axes)} outside an input of rank {len(shape)}")
    projected = tuple(shape[axis] for axis in axes)
    for name, found in parameters.items():
        if found != projected:
            raise InvalidInput(
                f"{operator}: {name} has shape {list(found)}; input of shape {list(shape)} projected onto axes "
                f"{list(axes)} needs {list(projected)}"
            )


def dequantize(p: Elementwise, x: Term, scale: Term, zero_point: Term) -> Term:
    difference = step(x - zero_point).by("NGD-F1", "NGD-U3")
    return to_real((difference * finite(scale, "NGD-U1")).by("NGD-F2"), p.working).by("NGD-U2")


TERMS = {"ngraph.Dequantize": dequantize}


OPERATOR = Operator(
    id="ngraph.Dequantize",
    prefix="NGD",
    formula="output[i] = (input[i] - zero_point[j]) * scale[j]",
    sources=(DOCUMENT, OLDER),
    clauses=CLAUSES,
    attributes=(
        Attribute("type", "the output's element type", parse_choice(ALL_REAL_TYPES), required=True),
        Attribute("axes", "axis positions on which scale and zero_point vary", parse_axis_set, default=()),
    ),
    forms=(("input", "scale", "zero_point"), ("input", "scale", "offset")),
    outputs=("output",),
    family="dequantize",
    real_types=ALL_REAL_TYPES,
    quantized_types=ALL_QUANTIZED_TYPES,
    signature=dequantize_signature,
    problems=problems,
    modes_of=lambda attributes: (),
    steps=(
        "difference = input - zero_point, of integers, exact, then rounded to the output's type",
        "output = difference * scale, rounded to the output's type",
    ),
    letters={"formula": "F", "placement": "A", "signature": "STO"},
    roles={
        "difference": "NGD-F1",
        "product": "NGD-F2",
        "projection": "NGD-A1",
        "granularity": "NGD-A2",
        "shape": "NGD-S1",
        "input-type": "NGD-T1",
        "output-type": "NGD-T2",
        "scale-type": "NGD-T3",
        "older-form": "NGD-O1",
        "special": "NGD-U1",
        "zero-sign": "NGD-U2",
        "overflow": "NGD-U3",
    },
    files=tuple((quantized, real) for real in ALL_REAL_TYPES for quantized in ALL_QUANTIZED_TYPES),
    samples=samples.samples,
    contested=CONTESTED,
)
