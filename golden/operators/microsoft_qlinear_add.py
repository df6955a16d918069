"""`com.microsoft.QLinearAdd`: the sum of two quantized tensors, quantized."""

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
from tiebreak.golden.samples import microsoft_qlinear_add as samples

ID, PREFIX = "com.microsoft.QLinearAdd", "MQA"
DOCUMENT = f"{PAGE}, QLinearAdd"

WRITTEN = f"{DOCUMENT}: C = (A_scale * (A - A_zero_point) + B_scale * (B - B_zero_point))/C_scale + C_zero_point"

CLAUSES = (
    Clause(
        "MQA-F1", "An integer of A or B minus its zero point, times its scale, is the number it stands for.", WRITTEN
    ),
    Clause("MQA-F2", "Both numbers are added.", WRITTEN),
    Clause("MQA-F3", "The sum is divided by C_scale.", WRITTEN),
    Clause("MQA-F4", "C_zero_point is added to the quotient.", WRITTEN),
    *common_clauses(PREFIX, DOCUMENT, "qladd.cpp"),
)


def problems(node: Node, inputs: tuple[Array, ...]) -> tuple[Elementwise, ...]:
    return problems_of(ID)(node, inputs)


def add(
    p: Elementwise, a: Term, a_scale: Term, a_zero: Term, b: Term, b_scale: Term, b_zero: Term, c_scale: Term,
    c_zero: Term,
) -> Term:  # fmt: skip
    first, second, divisor = (finite(scale, "MQA-U2") for scale in (a_scale, b_scale, c_scale))
    summed = step(step(first * (a - a_zero)).by("MQA-F1") + step(second * (b - b_zero)).by("MQA-F1")).by("MQA-F2")
    quotient = step(summed / divisor).by("MQA-F3", "MQA-U2")
    rounded_sum = rounded(step(quotient + c_zero).by("MQA-F4", "MQA-U3"), p.mode).by("MQA-R1", "MQA-U1")
    assert isinstance(p.result, IntegerType)
    return to_integer(rounded_sum, p.result).by("MQA-C1")


TERMS = {ID: add}


OPERATOR = Operator(
    id=ID,
    prefix=PREFIX,
    formula="C = (A_scale * (A - A_zero_point) + B_scale * (B - B_zero_point)) / C_scale + C_zero_point",
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
    mode_clause=lambda mode: "MQA-R1",
    steps=(
        "a = A_scale * (A - A_zero_point) and b = B_scale * (B - B_zero_point), each rounded to float32",
        "sum = a + b, rounded to float32",
        "quotient = sum / C_scale, rounded to float32",
        "C = round(quotient + C_zero_point), the argument rounded to float32; saturated",
    ),
    letters={"formula": "F", "rounding": "R", "saturation": "C", "signature": "STZ"},
    roles={
        "numbers": "MQA-F1",
        "together": "MQA-F2",
        "quotient": "MQA-F3",
        "zero-point": "MQA-F4",
        **{role: f"{PREFIX}-{letter}" for role, letter in COMMON_ROLES.items()},
    },
    not_offered=("A_zero_point or B_zero_point left off: C_zero_point alone can be.",),
    saturates=True,
    optional_inputs=1,
    files=tuple(("float32", kind) for kind in TYPES),
    samples=samples.samples,
    contested=contested(ID, PREFIX),
)
