"""`onnx.DynamicQuantizeLinear` of operator set 11: scale and zero point from the input's own range, then uint8."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    Term,
    clamp,
    finite,
    held,
    require,
    rounded,
    step,
    to_integer,
    to_real,
    whole,
)
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import Clause, Operator, Types
from tiebreak.golden.operators.onnx_dynamic_quantize_linear_contested import BODY, CONTESTED, DOCUMENT
from tiebreak.golden.problem import Array, Elementwise, Problem, Quantization, codes_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import onnx_dynamic_quantize_linear as samples

ID = "onnx.DynamicQuantizeLinear"
SCALE, ZERO_POINT = "y_scale", "y_zero_point"

CLAUSES = (
    Clause(
        "ODQ-F1",
        "y_scale is the width of the range divided by qmax - qmin: (maximum(0, max(x)) - minimum(0, min(x))) / 255.",
        f"{DOCUMENT}, first formula",
    ),
    Clause(
        "ODQ-F2",
        "The range reaches from min(x) to max(x) and is extended to include 0.",
        f"{DOCUMENT}, first formula: data range is adjusted to include 0",
    ),
    Clause(
        "ODQ-F3",
        "The zero point is qmin - min(x) / y_scale, which is -min(x) / y_scale for uint8, saturated, then rounded.",
        f"{DOCUMENT}, second formula",
    ),
    Clause(
        "ODQ-F4",
        "y is x / y_scale rounded, plus the zero point: the quotient is rounded before the sum.",
        f"{DOCUMENT}, third formula",
    ),
    Clause(
        "ODQ-F5",
        "The formulas of the zero point and of y use y_scale and y_zero_point as they are put out: a float32, a uint8.",
        f"{BODY}: Scale and Zeropoint",
    ),
    Clause(
        "ODQ-R1",
        "Both are rounded to nearest, ties to even.",
        f"{DOCUMENT}, second and third formula",
    ),
    Clause("ODQ-C1", "y saturates to [0, 255].", f"{DOCUMENT}, third formula", situation="a result out of range"),
    Clause("ODQ-C2", "The zero point saturates to [0, 255].", f"{DOCUMENT}, second formula"),
    Clause(
        "ODQ-T1",
        "x and y_scale are float32, y and y_zero_point uint8.",
        f"{DOCUMENT}, type constraints",
    ),
    Clause("ODQ-S1", "y has x's shape; y_scale and y_zero_point are scalars.", f"{DOCUMENT}, outputs"),
    Clause("ODQ-V1", "The operator came with operator set 11.", f"{DOCUMENT}, since version 11"),
    Clause(
        "ODQ-U1",
        "What y and y_zero_point are for a range of width 0, of zeros alone: the zero point would be 0 / 0. Without "
        "elements y_scale is open, too: there is no maximum.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an input of zeros or without elements",
    ),
    Clause(
        "ODQ-U2",
        "What NaN or an infinity in x gives, anywhere in the output: maximum and minimum are silent about NaN.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="a NaN or infinite operand",
    ),
    Clause(
        "ODQ-U3",
        "What a range so narrow gives that y_scale rounds to 0: zero point and y would be divided by 0.",
        f"{DOCUMENT}: silent",
        unspecified=True,
        situation="an undefined result",
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (types.real,), (types.quantized, types.real, types.quantized)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    """For y an element of x and both ends of the range; for the scale and the zero point the ends alone."""
    (x,) = inputs
    real, quantized, codes = FLOAT_TYPES["float32"], INTEGER_TYPES["uint8"], codes_of(x).reshape(-1)
    ends = range_of(x)
    constants = {"lowest": quantized.lowest, "highest": quantized.highest, "empty": not x.size}

    def problem(formula: str, output: str, shape: tuple[int, ...], result: Any, *operands: Array) -> Elementwise:
        names, kinds = ("x", "min", "max")[-len(operands) :], (real,) * len(operands)
        return Elementwise(formula, output, shape, result, real, EVEN, kinds, operands, constants, named=names)

    return (
        problem(ID, "y", x.shape, quantized, codes, *(np.full(codes.shape, end[0], end.dtype) for end in ends)),
        problem(f"{ID}:{SCALE}", SCALE, (), real, *ends),
        problem(f"{ID}:{ZERO_POINT}", ZERO_POINT, (), quantized, *ends),
    )


def chain(node: Node, inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> dict[int, Problem]:
    """y given the scale and the zero point that a backend gave, and the zero point given its scale.

    Both are rounded quotients: of x, and of -min(x), whose rounded quotient saturates to what the saturated one rounds
    to. InvalidInput where the scale is no positive number.
    """
    (x,), (_, scale, point) = inputs, outputs
    if not np.isfinite(scale) or scale <= 0:
        raise InvalidInput(f"{ID}: y_scale {scale} divides nothing")
    real, quantized = FLOAT_TYPES["float32"], INTEGER_TYPES["uint8"]
    least = np.asarray(-np.min(x, initial=np.float32(0)), np.float32)
    quantization = partial(Quantization, real, quantized, EVEN, ())
    return {
        0: quantization(codes_of(x), codes_of(scale), codes_of(point), "y"),
        2: quantization(codes_of(least), codes_of(scale), np.zeros((), np.int64), ZERO_POINT),
    }


def open_where(problem: Problem) -> dict[str, Array]:
    """ODQ-U1 and ODQ-U3: the last two operands are both ends of the range."""
    assert isinstance(problem, Elementwise)
    low, high = (codes.astype(np.uint32).view(np.float32) for codes in problem.operands[-2:])
    with np.errstate(all="ignore"):
        width = high - low
        return {"range of width 0": width == 0, "scale rounds to 0": (width > 0) & (width / np.float32(255) == 0)}


def range_of(x: Array) -> tuple[Array, Array]:
    """The codes of both ends of the range, each of one element; NaN if x has one."""
    ends = np.min(x, initial=np.float32(0)), np.max(x, initial=np.float32(0))
    low, high = (codes_of(np.asarray(end, np.float32).reshape(1)) for end in ends)
    return low, high


UINT8 = INTEGER_TYPES["uint8"]


def y(p: Elementwise, x: Term, low: Term, high: Term) -> Term:
    quotient = step(finite(x, "ODQ-U2") / scale_put_out(p, low, high)).by("ODQ-F4", "ODQ-F5", "ODQ-U1", "ODQ-U3")
    rounded_quotient = rounded(quotient, p.mode).by("ODQ-R1")
    return to_integer(rounded_quotient + zero_point_of(p, low, high), UINT8).by("ODQ-C1")


def y_scale(p: Elementwise, low: Term, high: Term) -> Term:
    return to_real(scale_put_out(p, low, high), p.working)


def y_zero_point(p: Elementwise, low: Term, high: Term) -> Term:
    return whole(zero_point_of(p, low, high))


def scale_put_out(p: Elementwise, low: Term, high: Term) -> Term:
    """y_scale as it is put out: a float32, even in real arithmetic. `low` and `high` include 0."""
    width = step(finite(high, "ODQ-U2") - finite(low, "ODQ-U2")).by("ODQ-F1")
    return require(
        not p.constants["empty"], held(width / 255, p.working).by("ODQ-F2", "ODQ-F5").named("y_scale"), "ODQ-U1"
    )


def zero_point_of(p: Elementwise, low: Term, high: Term) -> Term:
    intermediate = 0 - step(finite(low) / scale_put_out(p, low, high)).by("ODQ-F3", "ODQ-U1", "ODQ-U3")
    clamped = clamp(intermediate, UINT8.lowest, UINT8.highest).by("ODQ-C2").named("clamped -min / y_scale")
    return rounded(clamped, p.mode).by("ODQ-R1").named("y_zero_point")


TERMS = {ID: y, f"{ID}:y_scale": y_scale, f"{ID}:y_zero_point": y_zero_point}


OPERATOR = Operator(
    id=ID,
    prefix="ODQ",
    formula="y_scale = (maximum(0, max(x)) - minimum(0, min(x))) / 255; "
    "y_zero_point = round(saturate(-min(x) / y_scale)); y = saturate(round(x / y_scale) + y_zero_point)",
    sources=(DOCUMENT,),
    clauses=CLAUSES,
    attributes=(),
    forms=(("x",),),
    outputs=("y", SCALE, ZERO_POINT),
    family="quantize",
    real_types=("float32",),
    quantized_types=("uint8",),
    signature=signature,
    problems=problems,
    modes_of=lambda attributes: (EVEN,),
    mode_clause=lambda mode: "ODQ-R1",
    steps=(
        "width = max - min, rounded to float32, where min and max include 0",
        "y_scale = width / 255, rounded to float32",
        "quotient = min / y_scale, rounded to float32; y_zero_point = round(saturate(0 - quotient))",
        "quotient = x / y_scale, rounded to float32; y = saturate(round(quotient) + y_zero_point), of integers, exact",
    ),
    opsets=(11,),
    first_opset=lambda types, attributes: 11,
    letters={"formula": "F", "rounding": "R", "saturation": "C", "signature": "TSV"},
    roles={
        "scale": "ODQ-F1",
        "range": "ODQ-F2",
        "zero-point": "ODQ-F3",
        "round-first": "ODQ-F4",
        "as-put-out": "ODQ-F5",
        "even": "ODQ-R1",
        "saturate": "ODQ-C1",
        "saturate-zero-point": "ODQ-C2",
        "types": "ODQ-T1",
        "shape": "ODQ-S1",
        "version": "ODQ-V1",
        "no-width": "ODQ-U1",
        "special": "ODQ-U2",
        "no-scale": "ODQ-U3",
    },
    saturates=True,
    measures=lambda attributes: True,
    files=(("float32", "uint8"),),
    samples=samples.samples,
    contested=CONTESTED,
    chain=chain,
    open_where=open_where,
    chain_binds=lambda inputs: bool(np.isfinite(inputs[0]).all()),  # ODQ-U2: else y and zero point are open
)
