"""`com.microsoft.QGemm`: a product of two quantized matrices and a bias, as numbers or quantized again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import (
    Term,
    equal,
    finite,
    lifted,
    require,
    rounded,
    step,
    to_integer,
    to_real,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import BYTES
from tiebreak.golden.operators.microsoft_qgemm_contested import CONTESTED, DOCUMENT, QUANTIZE
from tiebreak.golden.operators.model import Attribute, Clause, Operator, Types, parse_boolean
from tiebreak.golden.problem import Array, Elementwise, bits_of
from tiebreak.golden.products import WORD, MatrixProduct, matrix_product, of_columns
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import microsoft_qgemm as samples

ID = "com.microsoft.QGemm"
OPERANDS = ("A", "a_scale", "a_zero_point", "B", "b_scale", "b_zero_point")
LAST = ("y_scale", "y_zero_point")
# Which optional inputs are there: C and those of a quantized output, these alone, C alone, or none.
FORMS: tuple[tuple[str, ...], ...] = ((*OPERANDS, "C", *LAST), (*OPERANDS, *LAST), (*OPERANDS, "C"), OPERANDS)
NUMBERS = "float32"  # the output's type if it is not quantized
SCALARS = ("a_scale", "a_zero_point", *LAST)

CLAUSES = (
    Clause("MQG-F1", "An element's sum is that of (A - a_zero_point) * (B - b_zero_point) along the inner axis, exact.",
           f"{DOCUMENT}: A and B, their scales and zero points; C has the scale of their product"),
    Clause("MQG-F2", "C is added to the sum: its zero point is 0, its scale that of the product.", f"{DOCUMENT}, C",
           situation="a bias C"),
    Clause("MQG-F3", "The sum stands for itself times alpha * a_scale * b_scale.", f"{DOCUMENT}, alpha and C's scale"),
    Clause("MQG-F4", "With y_scale that number is divided by it.",
           f"{DOCUMENT}, y_scale; {QUANTIZE}: the quantization formula",
           situation="a quantized output", derived=True),
    Clause("MQG-F5", "y_zero_point is added to the rounded quotient.",
           f"{DOCUMENT}, y_zero_point; {QUANTIZE}: the quantization formula",
           situation="a quantized output", derived=True),
    Clause("MQG-F6", "Without y_scale and y_zero_point the output is that number in float32.", f"{DOCUMENT}, y_scale",
           situation="an output of numbers"),
    Clause("MQG-R1", "The quotient is rounded to nearest, ties to even.",
           f"{QUANTIZE}: it's rounding to nearest ties to even", situation="a quantized output", derived=True),
    Clause("MQG-C1", "Y saturates to the range of its type.",
           f"{QUANTIZE}: y = saturate ((x / y_scale) + y_zero_point)", situation="a result out of range", derived=True),
    Clause("MQG-P1", "A has the shape [M, K], or [K, M] if transA is set.", f"{DOCUMENT}, A"),
    Clause("MQG-P2", "B has the shape [K, N], or [N, K] if transB is set.", f"{DOCUMENT}, B"),
    Clause("MQG-P3", "b_scale and b_zero_point are scalars, or have a value for each column of the product.",
           f"{DOCUMENT}, b_scale: per-tensor or per-column", situation="parameters of columns of B"),
    Clause("MQG-P4", "C broadcasts to [M, N].", f"{DOCUMENT}, C: unidirectional broadcastable",
           situation="a bias C"),
    Clause("MQG-T1", "A, B and Y are int8 or uint8, each by itself, Y float32 without y_scale; a zero point has its "
           "tensor's type, C is int32.", f"{DOCUMENT}, type constraints"),
    Clause("MQG-S1", "a_scale, y_scale and their zero points are scalars.", f"{DOCUMENT}: per-tensor quantization"),
    Clause("MQG-S2", "b_scale and b_zero_point each are a scalar or one value for each column, whatever the other is.",
           f"{DOCUMENT}, b_scale and b_zero_point"),
    Clause("MQG-U1", "What a sum gives that is beyond 32 bits, with C or in some order of summation.",
           f"{DOCUMENT}: silent", unspecified=True, situation="a sum with C beyond 32 bits"),
    Clause("MQG-U2", "What a y_scale of zero gives.", f"{DOCUMENT}: silent", unspecified=True,
           situation="a zero scale of Y"),
    Clause("MQG-U4", "What a beta gives, by which the text divides alpha in the scale of C: no attribute gives one, "
           "and without one nothing is divided.", f"{DOCUMENT}, C: scale = alpha / beta * a_scale * b_scale",
           unspecified=True, situation="a bias C"),
    Clause("MQG-U3", "What a scale gives that is NaN or infinite.", f"{DOCUMENT}: silent", unspecified=True,
           situation="a NaN or infinite operand"),
)  # fmt: skip


def parse_alpha(value: Any) -> float:
    """A finite number as float32 has it."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{value!r} is no number")
    with np.errstate(over="ignore"):
        found = float(np.float32(float(value)))
    if not math.isfinite(found):
        raise ValueError(f"{value!r} is no finite float32")
    return found


ATTRIBUTES = (
    Attribute("alpha", "a factor of the product of A and B", parse_alpha, default=1.0),
    Attribute("transA", "whether A is transposed", parse_boolean, default=False),
    Attribute("transB", "whether B is transposed", parse_boolean, default=False),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names, (b,) = FORMS[types.form], types.operands
    if types.quantized == NUMBERS:
        names = tuple(name for name in names if name not in LAST)
    elif LAST[0] not in names:
        raise InvalidInput(f"{ID}: an output of {types.quantized} needs y_scale and y_zero_point")
    if types.quantized == NUMBERS and types.form == 1:
        raise InvalidInput(f"{ID}: y_scale quantizes the output; it is not {NUMBERS}")
    kinds = {"A": types.real, "a_zero_point": types.real, "B": b, "b_zero_point": b, "C": "int32",
             "y_zero_point": types.quantized}  # fmt: skip
    return tuple(kinds.get(name, NUMBERS) for name in names), (types.quantized,)


def given(node: Node, inputs: tuple[Array, ...]) -> dict[str, Array]:
    return {tensor.name: array for tensor, array in zip(node.inputs, inputs, strict=False)}


def matrices(node: Node, a: Array, b: Array) -> tuple[Array, Array]:
    """A of shape [M, K] and B of shape [K, N]. InvalidInput for what is no matrix."""
    for name, array in (("A", a), ("B", b)):
        if array.ndim != 2:
            raise InvalidInput(f"{ID}: {name} of shape {list(array.shape)} is no matrix")
    return a.T if node.value("transA") else a, b.T if node.value("transB") else b


def shape_of(node: Node, inputs: tuple[Array, ...]) -> tuple[int, ...]:
    own = given(node, inputs)
    a, b = matrices(node, own["A"], own["B"])
    return (a.shape[0], b.shape[1])


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    own = given(node, inputs)
    check_parameters(own)
    a, b = matrices(node, own["A"], own["B"])
    product = matrix_product(ID, a, own["a_zero_point"], b, own["b_zero_point"])
    whole = with_bias(product, own.get("C"))
    operands = {
        "sum": whole.sums,
        "a_scale": product.spread(bits_of(own["a_scale"])),
        "b_scale": product.spread(of_columns(ID, "b_scale", bits_of(own["b_scale"]), b.shape)),
    }
    real, result = FLOAT_TYPES[NUMBERS], ELEMENT_TYPES[node.output_type]
    kinds: list[Any] = [WORD, real, real]
    if "y_scale" in own:
        operands |= {"y_scale": product.spread(bits_of(own["y_scale"]))}
        operands |= {"y_zero_point": product.spread(own["y_zero_point"].astype(np.int64))}
        kinds += [real, result]
    return (
        Elementwise(
            ID, "Y", product.shape, result, real, EVEN, (*kinds, WORD), (*operands.values(), whole.overflows),
            constants={"alpha": node.value("alpha")}, named=tuple(operands),
        ),
    )  # fmt: skip


def with_bias(product: MatrixProduct, bias: Array | None) -> MatrixProduct:
    """The product with C in its sums, if there is one."""
    if bias is None:
        return product
    try:
        return product.plus(np.broadcast_to(bias.astype(np.int64), product.shape).reshape(-1))
    except ValueError:
        shapes = f"{list(bias.shape)} does not broadcast to {list(product.shape)}"
        raise InvalidInput(f"{ID}: C of shape {shapes}") from None


def check_parameters(own: Mapping[str, Array]) -> None:
    """InvalidInput unless parameters that are for a whole tensor are scalars."""
    for name in SCALARS:
        if name in own and own[name].shape:
            raise InvalidInput(f"{ID}: {name} is a scalar, not of shape {list(own[name].shape)}")


def gemm(p: Elementwise, sum_with_c: Term, a_scale: Term, b_scale: Term, *rest: Term) -> Term:
    """`rest` are y_scale and y_zero_point of a quantized output, and whether the sum overflows."""
    *of_y, overflows = rest
    number = finite(sum_with_c).by("MQG-F1", "MQG-F2")
    of_a, of_b = finite(a_scale, "MQG-U3"), finite(b_scale, "MQG-U3")
    scale = step(step(lifted(Fraction(p.constants["alpha"])).named("alpha") * of_a) * of_b)
    x = require(equal(overflows, 0), step(number * scale).by("MQG-F3"), "MQG-U1")
    if isinstance(p.result, FloatType):
        return to_real(x, p.result).by("MQG-F6")
    y_scale, y_zero_point = (one.named(name) for one, name in zip(of_y, ("y_scale", "y_zero_point"), strict=True))
    quotient = step(x / finite(y_scale, "MQG-U2", "MQG-U3")).by("MQG-F4")
    return to_integer((rounded(quotient, p.mode).by("MQG-R1") + y_zero_point).by("MQG-F5"), p.result).by("MQG-C1")


TERMS = {ID: gemm}


OPERATOR = Operator(
    id=ID,
    prefix="MQG",
    formula="Y = saturate(round_half_to_even((sum((A - a_zero_point) * (B - b_zero_point)) + C) * alpha * a_scale * "
    "b_scale / y_scale) + y_zero_point), or without y_scale the number before it is divided",
    sources=(DOCUMENT, QUANTIZE),
    clauses=CLAUSES,
    attributes=ATTRIBUTES,
    forms=FORMS,
    outputs=("Y",),
    family="cast",
    real_types=BYTES,
    quantized_types=(*BYTES, NUMBERS),
    operand_types=(BYTES,),
    signature=signature,
    problems=problems,
    shape_of=shape_of,
    modes_of=lambda attributes: (EVEN,),
    mode_clause=lambda mode: "MQG-R1",
    steps=(
        "scale = alpha * a_scale, rounded to float32, times b_scale, rounded to float32",
        "x = sum * scale, rounded to float32; the sum with C is an exact integer",
        "quotient = x / y_scale, rounded to float32",
        "Y = saturate(round(quotient) + y_zero_point), of integers, exact; without y_scale it is x",
    ),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "placement": "P", "signature": "TS"},
    roles={
        "sum": "MQG-F1",
        "bias": "MQG-F2",
        "product": "MQG-F3",
        "quotient": "MQG-F4",
        "zero-point": "MQG-F5",
        "number": "MQG-F6",
        "even": "MQG-R1",
        "saturate": "MQG-C1",
        "rows": "MQG-P1",
        "matmul": "MQG-P2",
        "columns": "MQG-P3",
        "bias-shape": "MQG-P4",
        "types": "MQG-T1",
        "scalars": "MQG-S1",
        "same-shape": "MQG-S2",
        "overflow": "MQG-U1",
        "beta": "MQG-U4",
        "zero-y": "MQG-U2",
        "special": "MQG-U3",
    },
    saturates=True,
    files=samples.FILES,
    samples=samples.samples,
    not_offered=("b_zero_point left off: its text calls it optional, the schema does not.",),
    contested=CONTESTED,
)
