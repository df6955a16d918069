"""`gguf.Quantize`: blocks of 32 numbers to a float16 scale each and integers of 8 or 4 bits, GGUF's Q8_0 and Q4_0.

GGUF's text names the types and leaves their arithmetic to ggml, whose functions `quantize_row_…_ref` say of themselves
that they are there for the deterministic creation of model files. So their source text is the document. What C leaves
undefined in it is open here.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    AWAY,
    Term,
    equal,
    finite,
    held,
    is_finite,
    magnitude,
    require,
    rounded,
    step,
    to_integer,
    to_real,
    truncated,
    where,
    whole,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, FloatType, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.gguf_quantize_contested import CONTESTED, GGML, Q4_0, Q8_0
from tiebreak.golden.operators.model import Clause, Operator, Types
from tiebreak.golden.problem import Array, Elementwise, codes_of
from tiebreak.golden.samples import gguf_quantize as samples

ID = "gguf.Quantize"
BLOCK = 32
DIVISORS = {"int8": 127, "uint4": -8}  # by the type of the elements: of Q8_0 and of Q4_0
SCALE_TYPE = "float16"
AMAX = "amax of its block"

CLAUSES = (
    Clause(
        "GGQ-F1",
        "In Q8_0 a block's scale d is its greatest magnitude divided by 127, in float32.",
        f"{Q8_0}: d",
        situation="an output of int8",
    ),
    Clause(
        "GGQ-F2",
        "In Q4_0 d is the number of greatest magnitude, with its sign, divided by -8.",
        f"{Q4_0}: d",
        situation="a uint4 output",
    ),
    Clause("GGQ-F3", "A number is multiplied by 1 / d; both are rounded to float32.", f"{Q8_0}, {Q4_0}: id, x0"),
    Clause(
        "GGQ-F4",
        "Where d is zero, zero takes the place of 1 / d.",
        f"{Q8_0}, {Q4_0}: id",
        situation="a zero step",
    ),
    Clause("GGQ-F5", "In Q4_0 8.5 is added to the product, in float32.", f"{Q4_0}: xi0", situation="a uint4 output"),
    Clause("GGQ-F6", "d is put out in float16. The elements are those of the unrounded d.", f"{Q8_0}, {Q4_0}: y[i].d"),
    Clause(
        "GGQ-R1",
        "In Q8_0 the product is rounded to nearest, ties away from zero.",
        f"{Q8_0}: roundf",
        situation="an output of int8",
    ),
    Clause(
        "GGQ-R2",
        "In Q4_0 the sum is cut off to an integer.",
        f"{Q4_0}: the cast to int8_t",
        situation="a uint4 output",
    ),
    Clause(
        "GGQ-R3",
        "d is rounded to nearest, ties to even, subnormal numbers too; beyond 65504 it becomes an infinity.",
        f"{GGML}, ggml-impl.h: GGML_FP32_TO_FP16, which converts as the processor's instruction for float16 does",
    ),
    Clause(
        "GGQ-C1",
        "In Q4_0 16, which the negative of the number of greatest magnitude gives, becomes 15.",
        f"{Q4_0}: MIN",
        situation="an element of 16",
    ),
    Clause("GGQ-A1", "A block is 32 neighbours along the last axis.", f"{GGML}, ggml-common.h: QK8_0, QK4_0"),
    Clause(
        "GGQ-A2",
        "Of several numbers of greatest magnitude Q4_0 takes the first.",
        f"{Q4_0}: amax < fabsf(v)",
        situation="a greatest magnitude of both signs",
    ),
    Clause(
        "GGQ-T1",
        "The input is float32; elements are int8 in Q8_0 and integers from 0 to 15 in Q4_0, scales float16.",
        f"{GGML}, ggml-common.h: block_q8_0, block_q4_0",
    ),
    Clause("GGQ-S1", "A row has whole blocks.", f"{Q8_0}, {Q4_0}: assert(k % qk == 0)"),
    Clause(
        "GGQ-U1",
        "What a block with NaN or an infinity gives: C does not define its conversion to an integer.",
        f"{Q8_0}, {Q4_0}: silent",
        unspecified=True,
        situation="a NaN or infinite operand",
    ),
    Clause(
        "GGQ-U3",
        "What the elements are where 1 / d is beyond float32: then the products are infinite or NaN.",
        f"{Q8_0}, {Q4_0}: id",
        unspecified=True,
        situation="a step without a reciprocal",
    ),
    Clause(
        "GGQ-U4",
        "The sign of a scale that is zero: Q4_0 divides zero by -8, and real arithmetic has one zero.",
        f"{Q8_0}, {Q4_0}: silent",
        unspecified=True,
        situation="a zero result",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real,), (types.quantized, SCALE_TYPE)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """For the elements each input with its block's number of greatest magnitude, for the scales that number alone."""
    (x,) = inputs
    if not x.ndim:
        raise InvalidInput(f"{ID}: a scalar has no axis along which a block could lie")
    if x.shape[-1] % BLOCK:
        raise InvalidInput(f"{ID}: a row of {x.shape[-1]} numbers has a part of a block of {BLOCK}")
    single, to = FLOAT_TYPES["float32"], node.output_type
    constants = {"divisor": DIVISORS[to], "largest": abs(DIVISORS[to])}
    make = partial(Elementwise, working=single, mode="", constants=constants)
    own = codes_of(greatest(x))
    return (
        make(ID, "elements", x.shape, ELEMENT_TYPES[to], kinds=(single, single),
             operands=(codes_of(x).reshape(-1), spread(own)), named=("x", AMAX)),
        make(f"{ID}:scales", "scales", own.shape, FLOAT_TYPES[SCALE_TYPE], kinds=(single,),
             operands=(own.reshape(-1),), named=(AMAX,)),
    )  # fmt: skip


def greatest(x: Array) -> Array:
    """The first number of greatest magnitude in each block along the last axis, with its sign; NaN if there is one."""
    *outer, length = x.shape
    blocks = length // BLOCK
    whole = x.reshape(*outer, blocks, BLOCK)
    if not whole.size:
        return np.zeros((*outer, blocks), x.dtype)
    place = np.abs(whole).argmax(axis=-1, keepdims=True)  # the first; of NaN the first NaN
    return np.asarray(np.take_along_axis(whole, place, axis=-1)[..., 0])


def spread(blocks: Array) -> Array:
    """What each block has, for each of its elements: flat."""
    return np.ascontiguousarray(np.repeat(blocks, BLOCK, axis=-1)).reshape(-1)


FLOAT32 = FLOAT_TYPES["float32"]


def elements(p: Elementwise, x: Term, amax: Term) -> Term:
    product = step(finite(x, "GGQ-U1") * inverse(scale_before_rounding(p, finite(amax, "GGQ-U1")))).by("GGQ-F3")
    if p.constants["divisor"] > 0:
        return whole(rounded(product, AWAY)).by("GGQ-R1")
    assert isinstance(p.result, IntegerType)
    return to_integer(truncated(step(product + Fraction(17, 2)).by("GGQ-F5")).by("GGQ-R2"), p.result).by("GGQ-C1")


def scales(p: Elementwise, amax: Term) -> Term:
    assert isinstance(p.result, FloatType)
    single = step(scale_before_rounding(p, finite(amax, "GGQ-U1"))).by("GGQ-F6")
    return to_real(single, p.result).by("GGQ-R3", "GGQ-U4")


def scale_before_rounding(p: Elementwise, greatest: Term) -> Term:
    divisor: int = p.constants["divisor"]
    return (magnitude(greatest) / divisor).by("GGQ-F1") if divisor > 0 else (greatest / divisor).by("GGQ-F2")


def inverse(scale: Term) -> Term:
    """What stands for 1 / d. Undefined where that is beyond float32, even in real arithmetic."""
    single = held(scale, FLOAT32)
    found = step(1 / step(scale)).by("GGQ-F3")
    return where(equal(single, 0), 0, require(is_finite(held(1 / single, FLOAT32)), found, "GGQ-U3")).by("GGQ-F4")


TERMS = {ID: elements, f"{ID}:scales": scales}


OPERATOR = Operator(
    id=ID,
    prefix="GGQ",
    formula="Q8_0: d = max|x| / 127, elements = round(x * (1 / d)); Q4_0: d = the x of max|x| / -8, "
    "elements = min(trunc(x * (1 / d) + 8.5), 15); scales = float16(d)",
    sources=(Q8_0, Q4_0),
    clauses=CLAUSES,
    attributes=(),
    forms=(("x",),),
    outputs=("elements", "scales"),
    family="quantize",
    real_types=("float32",),
    quantized_types=tuple(DIVISORS),
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (),
    steps=(
        "d = amax / 127 of int8 and amax / -8 of uint4, rounded to float32",
        "1 / d, then x times that, each rounded to float32",
        "of uint4 the product + 8.5, rounded to float32",
        "scale = d as float16",
    ),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "placement": "A", "signature": "TS"},
    roles={
        "scale-8": "GGQ-F1",
        "scale-4": "GGQ-F2",
        "elements": "GGQ-F3",
        "no-step": "GGQ-F4",
        "sum": "GGQ-F5",
        "put-out": "GGQ-F6",
        "nearest": "GGQ-R1",
        "cut-off": "GGQ-R2",
        "scale-nearest": "GGQ-R3",
        "saturate": "GGQ-C1",
        "block": "GGQ-A1",
        "first": "GGQ-A2",
        "types": "GGQ-T1",
        "whole-blocks": "GGQ-S1",
        "special": "GGQ-U1",
        "no-reciprocal": "GGQ-U3",
        "sign": "GGQ-U4",
    },
    saturates=True,
    measures=lambda attributes: True,
    files=tuple(("float32", to) for to in DIVISORS),
    samples=samples.samples,
    contested=CONTESTED,
)
