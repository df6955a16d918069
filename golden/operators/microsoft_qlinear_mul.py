"""`com.microsoft.QLinearMul`: the product of two quantized tensors, quantized."""

from __future__ import annotations

from tiebreak.golden.arithmetic.term import Term, finite, rounded, step, to_integer
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.microsoft_qlinear import (
    COMMON_ROLES,
    FORM,
    PAGE,
    SCHEMA,
    TYPES,
    common_clauses,
    problems_of,
    shape_of,
    signature,
)
from tiebreak.golden.operators.microsoft_qlinear_contested import contested
from tiebreak.golden.operators.model import Clause, Operator
from tiebreak.golden.problem import Array, Elementwise
from tiebreak.golden.rounding import NEAREST
from tiebreak.golden.samples import microsoft_qlinear_mul as samples

ID, PREFIX = "com.microsoft.QLinearMul", "MQM"
DOCUMENT = f"{PAGE}, QLinearMul"

WRITTEN = f"{DOCUMENT}: C = ((A - A_zero_point) * (B - B_zero_point)) * (A_scale * B_scale)/C_scale + C_zero_point"

CLAUSES = (
    Clause("MQM-F1", "The differences of A and B and their zero points are multiplied.", WRITTEN),
    Clause("MQM-F2", "The product is multiplied by the product of A_scale and B_scale.", WRITTEN),
    Clause("MQM-F3", "The result is divided by C_scale.", WRITTEN),
    Clause("MQM-F4", "C_zero_point is added to the quotient.", WRITTEN),
    *common_clauses(PREFIX, DOCUMENT, "qlmul.cpp"),
)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    return problems_of(ID)(node, inputs)


def multiply(
    p: Elementwise, a: Term, a_scale: Term, a_zero: Term, b: Term, b_scale: Term, b_zero: Term, c_scale: Term,
    c_zero: Term,
) -> Term:  # fmt: skip
    first, second, divisor = (finite(scale, "MQM-U2") for scale in (a_scale, b_scale, c_scale))
    product = step((a - a_zero) * (b - b_zero)).by("MQM-F1")
    quotient = step(step(product * step(first * second)).by("MQM-F2") / divisor).by("MQM-F3", "MQM-U2")
    rounded_sum = rounded(step(quotient + c_zero).by("MQM-F4", "MQM-U3"), p.mode).by("MQM-R1", "MQM-U1")
    assert isinstance(p.result, IntegerType)
    return to_integer(rounded_sum, p.result).by("MQM-C1")


TERMS = {ID: multiply}


OPERATOR = Operator(
    id=ID,
    prefix=PREFIX,
    formula="C = ((A - A_zero_point) * (B - B_zero_point)) * (A_scale * B_scale) / C_scale + C_zero_point",
    sources=(DOCUMENT, SCHEMA),
    clauses=CLAUSES,
    attributes=(),
    forms=(FORM,),
    outputs=("C",),
    family="quantize",
    real_types=("float32",),
    quantized_types=TYPES,
    signature=signature,
    problems=problems,
    shape_of=shape_of,
    modes_of=lambda attributes: NEAREST,
    mode_clause=lambda mode: "MQM-R1",
    steps=(
        "product = (A - A_zero_point) * (B - B_zero_point), exact; scale = A_scale * B_scale, rounded to float32",
        "number = product * scale, rounded to float32",
        "quotient = number / C_scale, rounded to float32",
        "C = round(quotient + C_zero_point), the argument rounded to float32; saturated",
    ),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "signature": "STZ"},
    roles={
        "differences": "MQM-F1",
        "together": "MQM-F2",
        "quotient": "MQM-F3",
        "zero-point": "MQM-F4",
        **{role: f"{PREFIX}-{letter}" for role, letter in COMMON_ROLES.items()},
    },
    not_offered=("A_zero_point or B_zero_point left off: C_zero_point alone can be.",),
    saturates=True,
    optional_inputs=1,
    files=tuple(("float32", kind) for kind in TYPES),
    samples=samples.samples,
    contested=contested(ID, PREFIX),
)
