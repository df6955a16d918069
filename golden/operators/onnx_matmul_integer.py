"""`onnx.MatMulInteger` of operator set 10: the product of two matrices of bytes, each with a zero point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tiebreak.golden.arithmetic.term import Term, equal, require, whole
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import BYTES
from tiebreak.golden.operators.model import Answer, Clause, Contest, Operator, Types
from tiebreak.golden.problem import Array, Elementwise
from tiebreak.golden.products import matrix_product, points_of_both, product_shape
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples import onnx_matmul_integer as samples

ID = "onnx.MatMulInteger"
DOCUMENT = "ONNX operator schema, MatMulInteger-10"
OPERANDS, POINTS = ("A", "B"), ("a_zero_point", "b_zero_point")
FORMS = ((*OPERANDS, *POINTS), *((*OPERANDS, point) for point in POINTS))

CLAUSES = (
    Clause(
        "OMI-F1",
        "An element is the sum of (A - a_zero_point) * (B - b_zero_point) along the inner axis: no product overflows, "
        "nor does a sum that 32 bits hold.",
        f"{DOCUMENT}: last sentence; its inputs",
    ),
    Clause("OMI-P1", "Rows, columns and their inner axis are those of numpy.matmul.", f"{DOCUMENT}: first sentence"),
    Clause("OMI-P2", "A scalar zero point is for the whole tensor.", f"{DOCUMENT}: per-tensor quantization",
           situation="a scalar zero point of A or B"),
    Clause(
        "OMI-P3",
        "A zero point of A with several values has one for each row: [M], or [D1, D2, M, 1].",
        f"{DOCUMENT}, a_zero_point",
        situation="zero points of rows",
    ),
    Clause(
        "OMI-P4",
        "A zero point of B with several values has one for each column: [N], or [D1, D2, 1, N].",
        f"{DOCUMENT}, b_zero_point",
        situation="zero points of columns",
    ),
    Clause(
        "OMI-P5",
        "Tensors with more axes are batches of matrices, which broadcast as numpy.matmul's do.",
        f"{DOCUMENT}: first sentence; numpy.matmul",
        situation="a batch of integer matrices",
    ),
    Clause(
        "OMI-P6",
        "A vector is a row as A, a column as B; the result lacks its axis.",
        f"{DOCUMENT}: first sentence; numpy.matmul",
        situation="a vector for an integer matrix",
    ),
    Clause("OMI-P7", "A zero point that is left off is 0; each is optional by itself.", f"{DOCUMENT}, its inputs",
           situation="an optional input left off"),
    Clause("OMI-T1", "A and B are int8 or uint8, each by itself, a zero point has its tensor's type, and Y is int32.",
           f"{DOCUMENT}, type constraints"),
    Clause("OMI-V1", "The operator came with operator set 10.", f"{DOCUMENT}, since version 10"),
    Clause(
        "OMI-U1",
        "What a sum gives that leaves 32 bits in some order of summation: there it may overflow.",
        f"{DOCUMENT}: last sentence",
        unspecified=True,
        situation="an undefined result",
    ),
)  # fmt: skip
CONTESTED = (
    Contest(
        "onnx-matmul-integer-axis-of-a-list",
        "Has a list of zero points of A one for each row, or one for each column, as NumPy broadcasts it?",
        ("OMI-P3",),
        {"real": "uint8", "quantized": "int32", "operands": ("uint8",)},
        ([[1, 2], [3, 4]], [[1, 0], [0, 1]], [1, 2], 0),
        (
            Answer(f"{DOCUMENT}, a_zero_point", "per row: [zp_1, ..., zp_M]", (0.0, 1.0, 1.0, 2.0), judged=True),
            Answer("ONNX reference evaluator 1.23.2, as observed", "A - a_zero_point in NumPy", (0.0, 0.0, 2.0, 2.0)),
            Answer(
                "tinygrad 0.14.0, as observed", "A - a_zero_point, broadcast along the columns", (0.0, 0.0, 2.0, 2.0)
            ),
            Answer("IREE 3.13.0, as observed", "the first K values along the columns", (0.0, 0.0, 2.0, 2.0)),
        ),
    ),
)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    kinds = (types.real, *types.operands)
    points = (kinds, kinds[:1], kinds[1:])[types.form] if types.optional else ()
    return (*kinds, *points), (types.quantized,)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    of_a, of_b = points_of_both(node, inputs, POINTS)
    product = matrix_product(ID, inputs[0], of_a, inputs[1], of_b)
    word, single = INTEGER_TYPES["int32"], FLOAT_TYPES["float32"]
    operands, named = (product.sums, product.overflows), ("sum",)
    return (Elementwise(ID, "Y", product.shape, word, single, EVEN, (word, word), operands, named=named),)


def sum_of_products(p: Elementwise, exact_sum: Term, overflows: Term) -> Term:
    return require(equal(overflows, 0), whole(exact_sum).by("OMI-F1"), "OMI-U1")


TERMS = {ID: sum_of_products}


OPERATOR = Operator(
    id=ID,
    prefix="OMI",
    formula="Y = sum((A - a_zero_point) * (B - b_zero_point))",
    sources=(DOCUMENT,),
    clauses=CLAUSES,
    attributes=(),
    forms=FORMS,
    outputs=("Y",),
    family="cast",
    real_types=BYTES[::-1],
    quantized_types=("int32",),
    operand_types=(BYTES,),
    signature=signature,
    problems=problems,
    shape_of=lambda node, inputs: product_shape(ID, inputs[0].shape, inputs[1].shape),
    modes_of=lambda attributes: (),
    steps=("the sum of integers is exact: nothing is rounded",),
    optional_inputs=2,
    opsets=(10,),
    first_opset=lambda types, attributes: 10,
    letters={"formula": "F", "placement": "P", "signature": "TV"},
    roles={
        "sum": "OMI-F1",
        "matmul": "OMI-P1",
        "one": "OMI-P2",
        "rows": "OMI-P3",
        "columns": "OMI-P4",
        "batch": "OMI-P5",
        "vectors": "OMI-P6",
        "left-off": "OMI-P7",
        "types": "OMI-T1",
        "version": "OMI-V1",
        "overflow": "OMI-U1",
    },
    files=samples.FILES,
    samples=samples.samples,
    contested=CONTESTED,
)
