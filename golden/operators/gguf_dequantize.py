"""`gguf.Dequantize`: GGUF's blocks of Q8_0 and Q4_0 back to float32."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import Term, finite, step, to_real
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Answer, Clause, Contest, Operator, Types
from tiebreak.golden.problem import Array, Elementwise, codes_of, kind_of
from tiebreak.golden.samples import gguf_dequantize as samples

GGML = "ggml in llama.cpp at 01243c5"
Q8_0 = f"{GGML}, ggml-quants.c, dequantize_row_q8_0"
Q4_0 = f"{GGML}, ggml-quants.c, dequantize_row_q4_0"
ID = "gguf.Dequantize"
BLOCK = 32
OFFSETS = {"int8": 0, "uint4": 8}  # by the type of the elements: of Q8_0 and of Q4_0
SCALE = "its block's scale"

CLAUSES = (
    Clause("GGD-F1", "A number is its integer times the scale of its block, in float32.", f"{Q8_0}, {Q4_0}: y"),
    Clause(
        "GGD-F2",
        "In Q4_0 8 is subtracted from the element first.",
        f"{Q4_0}: x0, x1",
        situation="a uint4 input",
    ),
    Clause("GGD-A1", "A block is 32 neighbours along the last axis.", f"{GGML}, ggml-common.h: QK8_0, QK4_0"),
    Clause(
        "GGD-T1",
        "Elements are int8 in Q8_0 and integers from 0 to 15 in Q4_0, scales float16; the output is float32.",
        f"{GGML}, ggml-common.h: block_q8_0, block_q4_0",
    ),
    Clause(
        "GGD-S1",
        "There is one scale for each block.",
        f"{GGML}, ggml-common.h: block_q8_0, block_q4_0",
    ),
    Clause("GGD-S2", "A row has whole blocks.", f"{Q8_0}, {Q4_0}: assert(k % qk == 0)"),
    Clause(
        "GGD-U1",
        "What a block gives whose scale is NaN or infinite: ggml_validate_row_data calls it invalid.",
        f"{Q8_0}, {Q4_0}: silent",
        unspecified=True,
        situation="a NaN or infinite operand",
    ),
    Clause(
        "GGD-U3",
        "The sign of a zero result: real arithmetic has one zero.",
        f"{Q8_0}, {Q4_0}: silent",
        unspecified=True,
        situation="a zero result",
    ),
)

CONTESTED = (
    Contest(
        "gguf-infinite-scale",
        "Is a block whose scale is infinite a block?",
        ("GGD-U1",),
        {"real": "float32", "quantized": "int8"},
        ([1, -1, *[2] * 30], [float("inf")]),
        (
            Answer(f"{GGML}, ggml-quants.c, ggml_validate_row_data", "no: its data are invalid", "an error"),
            Answer(Q8_0, "it asks nothing, and multiplies", "an infinity of the element's sign"),
            Answer(
                "gguf 0.19.0, ggml 0.13.1 of pywhispercpp 1.5.1 and tinygrad 0.14.0, as observed",
                "they multiply",
                "an infinity of the element's sign",
            ),
        ),
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.quantized, "float16"), (types.real,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """Each element with its block's scale."""
    elements, scales = inputs
    if not elements.ndim:
        raise InvalidInput(f"{ID}: a scalar has no axis along which a block could lie")
    *outer, length = elements.shape
    if length % BLOCK:
        raise InvalidInput(f"{ID}: a row of {length} elements has a part of a block of {BLOCK}")
    if scales.shape != (*outer, length // BLOCK):
        raise InvalidInput(f"{ID}: scales of shape {list(scales.shape)} are not one for each block of 32")
    spread = np.repeat(scales, BLOCK, axis=-1)
    kinds, operands = (kind_of(elements), kind_of(scales)), (codes_of(elements).reshape(-1), codes_of(spread))
    single, constants = FLOAT_TYPES["float32"], {"offset": OFFSETS[node.input_type]}
    flat = operands[0], np.ascontiguousarray(operands[1]).reshape(-1)
    return (
        Elementwise(ID, "y", elements.shape, single, single, "", kinds, flat, constants, named=("elements", SCALE)),
    )


def dequantize(p: Elementwise, element: Term, scale: Term) -> Term:
    difference = (element - p.constants["offset"]).by("GGD-F2")
    return to_real(step(difference * finite(scale, "GGD-U1")), p.working).by("GGD-F1", "GGD-U3")


TERMS = {ID: dequantize}


OPERATOR = Operator(
    id=ID,
    prefix="GGD",
    formula="Q8_0: y = elements * scales; Q4_0: y = (elements - 8) * scales",
    sources=(Q8_0, Q4_0),
    clauses=CLAUSES,
    contested=CONTESTED,
    attributes=(),
    forms=(("elements", "scales"),),
    outputs=("y",),
    family="dequantize",
    real_types=("float32",),
    quantized_types=tuple(OFFSETS),
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (),
    steps=("elements - 8 of uint4, exact", "that times the scale, a float32 without rounding"),
    letters={"formula": "F", "placement": "A", "signature": "TS"},
    roles={
        "product": "GGD-F1",
        "difference": "GGD-F2",
        "block": "GGD-A1",
        "types": "GGD-T1",
        "one-scale": "GGD-S1",
        "whole-blocks": "GGD-S2",
        "special": "GGD-U1",
        "sign": "GGD-U3",
    },
    files=tuple((quantized, "float32") for quantized in OFFSETS),
    samples=samples.samples,
)
