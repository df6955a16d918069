"""`onnx.QLinearMatMul` of operator sets 10 and 21: a product of quantized matrices, requantized.

Types of 8-bit floats, which operator set 21 adds, are left out: no text says how a result becomes one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tiebreak.golden.arithmetic.term import Term, equal, finite, require, rounded, step, to_integer
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import BYTES, REALS
from tiebreak.golden.operators.model import Clause, Operator, Types
from tiebreak.golden.operators.onnx_qlinear_matmul_contested import CONTESTED, DOCUMENT, LATER
from tiebreak.golden.problem import Array, Elementwise, bits_of
from tiebreak.golden.products import MatrixProduct, matrix_product, of_columns, of_rows, product_shape
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import onnx_qlinear_matmul as samples

ID = "onnx.QLinearMatMul"
INPUTS = ("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
OPERANDS = ("sum", "a_scale", "b_scale", "y_scale", "y_zero_point")  # whether a sum overflows is no input

CLAUSES = (
    Clause(
        "OQM-F1",
        "The sum of products times a_scale and b_scale is x, the product of the matrices of real numbers.",
        f"{DOCUMENT}: two quantized tensors and their scales",
    ),
    Clause("OQM-F2", "x is divided by y_scale.", f"{DOCUMENT}: the quantization formula"),
    Clause("OQM-F3", "y_zero_point is added to the rounded quotient.", f"{DOCUMENT}: the quantization formula"),
    Clause("OQM-R1", "x / y_scale is rounded to nearest, ties to even.", f"{DOCUMENT}: the sentence after the formula"),
    Clause(
        "OQM-C1",
        "The sum with the zero point saturates to the range of y's type.",
        f"{DOCUMENT}: the quantization formula",
        situation="a result out of range",
    ),
    Clause(
        "OQM-P1",
        "An element's sum is that of (a - a_zero_point) * (b - b_zero_point) along the inner axis, exact: no product "
        "overflows, nor does a sum that 32 bits hold.",
        f"{DOCUMENT}: last sentence",
    ),
    Clause("OQM-P2", "Rows, columns and their inner axis are those of numpy.matmul.", f"{DOCUMENT}: first sentence"),
    Clause(
        "OQM-P3",
        "A scalar scale and zero point are for the whole tensor.",
        f"{DOCUMENT}: per-tensor quantization",
        situation="a scalar scale of a or b",
    ),
    Clause(
        "OQM-P4",
        "A scale and zero point of a with several values have one for each row: [M], or [D1, D2, M, 1].",
        f"{DOCUMENT}: per-row quantization of a",
        situation="parameters of rows",
    ),
    Clause(
        "OQM-P5",
        "A scale and zero point of b with several values have one for each column: [N], or [D1, D2, 1, N]. The text "
        "names a matrix [M, K] and its K columns.",
        f"{DOCUMENT}: per-column quantization of b",
        situation="parameters of columns",
    ),
    Clause(
        "OQM-P6",
        "Tensors with more axes are batches of matrices, which broadcast as numpy.matmul's do.",
        f"{DOCUMENT}: first sentence; numpy.matmul",
        situation="a batch of matrices",
    ),
    Clause(
        "OQM-P7",
        "A vector is a row as a, a column as b; the result lacks its axis.",
        f"{DOCUMENT}: first sentence; numpy.matmul",
        situation="a vector for a matrix",
    ),
    Clause("OQM-T1", "a, b and y are int8 or uint8, each by itself; a zero point has its tensor's type.",
           f"{DOCUMENT}, type constraints"),
    Clause(
        "OQM-T2",
        "The three scales have one type: float32, since operator set 21 also float16 or bfloat16.",
        f"{DOCUMENT} and {LATER}, type constraints",
    ),
    Clause("OQM-S1", "A scale and its zero point have the same shape.", f"{DOCUMENT}: scale and zero point"),
    Clause("OQM-V1", "The operator came with operator set 10.", f"{DOCUMENT}, since version 10"),
    Clause(
        "OQM-U1",
        "What a sum gives that leaves 32 bits in some order of summation: there it may overflow.",
        f"{DOCUMENT}: last sentence",
        unspecified=True,
        situation="a sum beyond 32 bits",
    ),
    Clause("OQM-U2", "What a y_scale of zero gives.", f"{DOCUMENT}: silent", unspecified=True,
           situation="a y_scale of zero"),
    Clause("OQM-U3", "What a scale gives that is NaN or infinite.", f"{DOCUMENT}: silent", unspecified=True,
           situation="a NaN or infinite operand"),
)  # fmt: skip


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if types.opset < 21 and types.real != "float32":
        raise InvalidInput(f"{ID}: opset {types.opset} has scales of float32 alone, not {types.real}")
    (a, b), real, y = types.operands, types.real, types.quantized
    return (a, real, a, b, real, b, real, y), (y,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point = inputs
    check_parameters(a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point)
    product = matrix_product(ID, a, a_zero_point, b, b_zero_point)
    real, result = FLOAT_TYPES[y_scale.dtype.name], ELEMENT_TYPES[node.output_type]
    scales = spread_scales(product, a, a_scale, b, b_scale)
    last = product.spread(bits_of(y_scale)), product.spread(y_zero_point.astype(np.int64))
    word, kinds = INTEGER_TYPES["int32"], (real, real, real, result)
    operands = (product.sums, *scales, *last, product.overflows)
    return (Elementwise(ID, "y", product.shape, result, real, EVEN, (word, *kinds, word), operands, named=OPERANDS),)


def spread_scales(product: MatrixProduct, a: Array, a_scale: Array, b: Array, b_scale: Array) -> tuple[Array, Array]:
    """The bits of both scales for each element of the result."""
    rows = of_rows(ID, "a_scale", bits_of(a_scale), a.shape)
    return product.spread(rows), product.spread(of_columns(ID, "b_scale", bits_of(b_scale), b.shape))


def check_parameters(*parameters: Array) -> None:
    """InvalidInput unless scale and zero point of each tensor have the same shape, those of y []."""
    for name, scale, point in zip("aby", parameters[::2], parameters[1::2], strict=True):
        if scale.shape != point.shape:
            shapes = f"of shape {list(point.shape)}, {name}_scale of {list(scale.shape)}"
            raise InvalidInput(f"{ID}: {name}_zero_point {shapes}")
    if parameters[-1].shape:
        raise InvalidInput(f"{ID}: y_scale of shape {list(parameters[-1].shape)}; it needs []")


def requantized_sum(
    p: Elementwise, exact_sum: Term, a_scale: Term, b_scale: Term, y_scale: Term, point: Term, overflows: Term
) -> Term:
    of_a, of_b, of_y = (finite(scale, "OQM-U3") for scale in (a_scale, b_scale, y_scale))
    x = step(step(exact_sum, FLOAT_TYPES["float32"]) * step(of_a * of_b)).by("OQM-F1")
    quotient = step(x / of_y).by("OQM-F2", "OQM-U2")
    assert isinstance(p.result, IntegerType)
    found = to_integer((rounded(quotient, p.mode).by("OQM-R1") + point).by("OQM-F3"), p.result).by("OQM-C1")
    return require(equal(overflows, 0), found, "OQM-U1")


TERMS = {ID: requantized_sum}


OPERATOR = Operator(
    id=ID,
    prefix="OQM",
    formula="y = saturate(round(sum((a - a_zero_point) * (b - b_zero_point)) * a_scale * b_scale / y_scale) + "
    "y_zero_point)",
    sources=(DOCUMENT, LATER),
    clauses=CLAUSES,
    attributes=(),
    forms=(INPUTS,),
    outputs=("y",),
    family="quantize",
    real_types=REALS,
    quantized_types=("uint8", "int8"),
    operand_types=(BYTES[::-1], BYTES),
    signature=signature,
    problems=problems,
    shape_of=lambda node, inputs: product_shape(ID, inputs[0].shape, inputs[3].shape),
    modes_of=lambda attributes: (EVEN,),
    mode_clause=lambda mode: "OQM-R1",
    steps=(
        "scale = a_scale * b_scale, rounded to the scales' type",
        "x = float32(sum) * scale, rounded to the scales' type; the sum itself is an exact integer",
        "quotient = x / y_scale, rounded to the scales' type",
        "y = saturate(round(quotient) + y_zero_point), of integers, exact",
    ),
    not_offered=(
        "Float 8 matrices, which operator set 21 allows: its formula saturates to integers, and the text does not say "
        "what of Cast's rules holds.",
    ),
    opsets=(10, 21),
    first_opset=lambda types, attributes: 21,
    letters={"formula": "F", "rounding": "R", "saturation": "C", "placement": "P", "signature": "TSV"},
    roles={
        "sum": "OQM-P1",
        "product": "OQM-F1",
        "quotient": "OQM-F2",
        "zero-point": "OQM-F3",
        "even": "OQM-R1",
        "saturate": "OQM-C1",
        "matmul": "OQM-P2",
        "one": "OQM-P3",
        "rows": "OQM-P4",
        "columns": "OQM-P5",
        "batch": "OQM-P6",
        "vectors": "OQM-P7",
        "types": "OQM-T1",
        "scale-types": "OQM-T2",
        "same-shape": "OQM-S1",
        "version": "OQM-V1",
        "overflow": "OQM-U1",
        "zero-y": "OQM-U2",
        "special": "OQM-U3",
    },
    saturates=True,
    files=samples.FILES,
    samples=samples.samples,
    contested=CONTESTED,
)
