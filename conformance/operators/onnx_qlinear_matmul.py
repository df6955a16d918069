"""Testing `onnx.QLinearMatMul`: sums near ties of their scales, short decimal scales, and every pair of operands."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.layers import scaled_products
from tiebreak.conformance.operators.layouts import Place
from tiebreak.conformance.operators.matrix_products import (
    HALF,
    NEAR,
    SCALES,
    drawn_matrices,
    product_probe,
    scales,
    zero_points,
)
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.onnx_qlinear_matmul_mistakes import MISTAKES, PAIRS
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.scaled_operands import as_rows
from tiebreak.conformance.semantics.scaled_products import roles, zero_point_after
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, decode, encode, neighbour
from tiebreak.golden.onnx_types import REALS
from tiebreak.golden.operators.onnx_qlinear_matmul import ID
from tiebreak.golden.products import matrix_product
from tiebreak.golden.samples.model import Tensor, bits, integers
from tiebreak.golden.samples.onnx_qlinear_matmul import DECIMALS, OPERANDS

BYTE = range(256)
HALVES = 400  # the quotient that a scale aims at has at most so many


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    real = wanted.real or draw(st.sampled_from((*REALS, "float32", "float32")))
    quantized, operands = wanted.quantized or draw(st.sampled_from(("uint8", "int8"))), draw(st.sampled_from(OPERANDS))
    node = {"real": real, "quantized": quantized, "operands": operands}
    if wanted.rank in (None, 2) and draw(st.integers(0, 39)) == 0:
        return node, every_pair(draw, real, quantized, operands)
    matrices = drawn_matrices(draw, operands, wanted.rank, vary=True)
    counts = [math.prod(point.shape) for point in (matrices.a_zero_point, matrices.b_zero_point)]
    own = [draw(scales(real, specials=wanted.specials)) for _ in range(2)]
    first, second = (repeat(codes, count) for codes, count in zip(own, counts, strict=True))
    last = draw(last_scale(real, matrices.sums(), first, second, specials=wanted.specials))
    point = draw(zero_points(quantized))
    return node, (
        matrices.a,
        bits(real, first, matrices.a_zero_point.shape),
        matrices.a_zero_point,
        matrices.b,
        bits(real, second, matrices.b_zero_point.shape),
        matrices.b_zero_point,
        bits(real, [last], ()),
        integers(quantized, [point], ()),
    )


def every_pair(draw: st.DrawFn, real: str, quantized: str, operands: tuple[str, str]) -> tuple[Tensor, ...]:
    """All 65,536 pairs of operands: a column of every value times a row of every value, with short decimal scales."""
    texts = draw(st.sampled_from(DECIMALS))
    first, second, third = (encode(Fraction(text), FLOAT_TYPES[real]) for text in texts)
    columns = [[value + INTEGER_TYPES[kind].lowest for value in BYTE] for kind in operands]
    points = [draw(zero_points(kind)) for kind in (*operands, quantized)]
    return (
        integers(operands[0], columns[0], (256, 1)),
        bits(real, [first], ()),
        integers(operands[0], points[:1], ()),
        integers(operands[1], columns[1], (1, 256)),
        bits(real, [second], ()),
        integers(operands[1], points[1:2], ()),
        bits(real, [third], ()),
        integers(quantized, points[2:], ()),
    )


def last_scale(
    real: str, sums: list[int], first: list[int], second: list[int], *, specials: bool
) -> st.SearchStrategy[int]:
    """Bits of y_scale: those with which the greatest sum lies next to a tie, or one as the others are."""
    kind = FLOAT_TYPES[real]
    scales_of_both = [decode(codes[0], kind) if codes else Fraction(1) for codes in (first, second)]
    furthest = max(sums, key=abs, default=0)
    usual = scales(real, specials=specials).map(lambda codes: codes[0])
    if not all(isinstance(scale, Fraction) for scale in scales_of_both) or not furthest:
        return usual
    x = abs(furthest * Fraction(scales_of_both[0]) * Fraction(scales_of_both[1]))
    aimed = st.tuples(st.integers(0, HALVES), st.integers(-1, 1)).map(
        lambda p: neighbour(encode(x / (p[0] + Fraction(1, 2)), kind), kind, p[1])
    )
    valid = aimed.filter(lambda code: 0 < code < kind.infinity_bits)
    fits = x and encode(x / HALVES, kind) > 0 and encode(2 * x, kind) < kind.infinity_bits
    return st.one_of(valid, valid, usual) if fits else usual


def probe(label: str, kind: Place, types: tuple[str, str, str], *rest: Any, **options: Any) -> PathProbe:
    """See product_probe."""
    node = {"real": "float32", "quantized": types[2], "operands": types[:2]}
    return product_probe(label, kind, node, *rest, **options)


# Values whose products are ties, lie beside them, or are the ends of the range; at last one that no kernel gets wrong.
PATH_PROBES = (
    probe("near-rational", "column", ("uint8", "int8", "uint8"), (128, 0), NEAR, 100, 128,
          (129, 127, 131, 125, 255, 0, 128), 4),
    probe("halves", "column", ("int8", "int8", "int8"), (0, 0), HALF, 1, 3, (1, -1, 3, -3, 127, -128, 0)),
    probe("near-rational", "row", ("uint8", "int8", "uint8"), (28, 0), NEAR, 128, 7, (1, -1, 3, -3, 127, -128, 0)),
    probe("long", "row", ("uint8", "uint8", "int8"), (255, 3), HALF, 0, -5, (3, 4, 2, 6, 255, 0, 3)),
    probe("near-rational", "inner", ("uint8", "int8", "uint8"), (128, 0), NEAR, 1, 128,
          (228, 28, 129, 127, 255, 0, 128)),
    *(
        probe(name, "column", ("uint8", "int8", "uint8"), (128, 0), scales, 100, 128, (129, 127, 131, 125, 255, 0, 128),
              constants_only=True)
        for name, *scales in SCALES
    ),
)  # fmt: skip


def forbidden(
    clause: str, what: str, a: tuple[int, ...] = (2, 3), b: tuple[int, ...] = (3, 4), *, own: tuple[int, ...] = (),
    of_b: tuple[int, ...] = (), points: tuple[int, ...] | None = None, of_y: tuple[int, ...] = (), **node: Any,
) -> ForbiddenCall:  # fmt: skip
    output, opset = node.pop("output", ""), node.pop("opset", 0)
    shapes = (a, own, own if points is None else points, b, of_b, of_b, of_y, of_y)
    valid = {"real": "float32", "quantized": "uint8", "operands": ("uint8", "int8"), **node}
    values = {2: 0.0, 5: 0.0, 7: 0.0}
    return ForbiddenCall(clause, what, shapes, valid, output=output, opset=opset, values=values)


FORBIDDEN = (
    forbidden("OQM-T1", "an int32 output", output="int32"),
    forbidden("OQM-T2", "scales of float16 at operator set 10", real="float16", opset=10),
    forbidden("OQM-P2", "another number of rows than columns", (2, 3), (4, 5)),
    forbidden("OQM-P2", "a scalar for a matrix", (), (3, 4)),
    forbidden("OQM-P6", "batches that do not broadcast", (2, 2, 3), (3, 3, 4)),
    forbidden("OQM-P4", "scales of three rows for two", own=(3,)),
    forbidden("OQM-P5", "scales of three columns for four", of_b=(3,)),
    forbidden("OQM-S1", "a zero point of two rows beside one scale", points=(2,)),
    forbidden("OQM-S1", "a y_scale of four columns", of_y=(4,)),
    forbidden("OQM-V1", "operator set 9", opset=9),
)


def inputs(shown: CaseWithStates) -> dict[str, np.ndarray[Any, Any]]:
    return {tensor.name: array for tensor, array in zip(shown.case.node.inputs, shown.case.inputs, strict=True)}


def overflows(shown: CaseWithStates) -> bool:
    own = inputs(shown)
    return bool(matrix_product(ID, own["a"], own["a_zero_point"], own["b"], own["b_zero_point"]).overflows.any())


SITUATIONS: dict[str, Situation] = {
    "a scalar scale of a or b": lambda shown: () in (inputs(shown)["a_scale"].shape, inputs(shown)["b_scale"].shape),
    "parameters of rows": lambda shown: inputs(shown)["a_scale"].size > 1,
    "parameters of columns": lambda shown: inputs(shown)["b_scale"].size > 1,
    "a batch of matrices": lambda shown: max(inputs(shown)["a"].ndim, inputs(shown)["b"].ndim) > 2,
    "a vector for a matrix": lambda shown: min(inputs(shown)["a"].ndim, inputs(shown)["b"].ndim) == 1,
    "a sum beyond 32 bits": overflows,
    "a y_scale of zero": lambda shown: not inputs(shown)["y_scale"].astype(np.float64).all(),
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("its input is an exact sum of products, and two scales multiply it before one divides"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    layers=scaled_products,
    path_probes=PATH_PROBES,
    axis=Axis(laid_out=True),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        zero_point_after,
        never_elementwise,
        role_of=roles(difference="sum", scale="product", quotient="quotient", rounding="even"),
        of_integers=True,
        as_called=as_rows,
    ),
    swept_factor="b",
    swept_axes=2,
)
