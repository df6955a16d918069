"""Testing `onnx.MatMulInteger`: matrices of bytes at the ends of their types, and sums at the ends of int32."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.layers import integer_products
from tiebreak.conformance.operators.layouts import Place, ProductLayout
from tiebreak.conformance.operators.matrix_products import drawn_matrices
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.onnx_matmul_integer_mistakes import MISTAKES, PAIRS
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.byte_products import ByteProducts, as_rows, role_of_byte_products
from tiebreak.golden.onnx_types import BYTES
from tiebreak.golden.operators.onnx_matmul_integer import ID, POINTS
from tiebreak.golden.products import points_of_both
from tiebreak.golden.samples.model import Tensor


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    operands = wanted.real or draw(st.sampled_from(BYTES)), draw(st.sampled_from(BYTES))
    form, has_points = draw(st.sampled_from((0, 0, 0, 1, 2))), draw(st.integers(0, 4)) > 0
    matrices = drawn_matrices(draw, operands, wanted.rank, vary=has_points)
    node = {"real": operands[0], "quantized": "int32", "operands": operands[1:], "zero_point": has_points, "form": form}
    both = matrices.a_zero_point, matrices.b_zero_point
    points = (both, both[:1], both[1:])[form] if has_points else ()
    return node, (matrices.a, matrices.b, *points)


def probe(
    label: str, kind: Place, kinds: tuple[str, str], points: tuple[int, int], other: int, values: tuple[int, ...],
    scanned: int = 0, constants_only: bool = False,
) -> PathProbe:  # fmt: skip
    """`other` is the value of each element of the other matrix."""
    layout = ProductLayout(kind, 0, 1)
    node = {"real": kinds[0], "quantized": "int32", "operands": kinds[1:]}
    return PathProbe(f"{label}-{kind}", node, (other, *points), values, scanned, constants_only, layout)


# Zero points of every kind, with which each parameter is a constant by itself, and b's values.
CONSTANTS = (
    ("zeros", (0, 0), 127),
    ("middle", (128, -128), 1),
    ("ends", (255, -128), 127),
    ("odd", (77, 101), -128),
)
# Differences of 9 bits, products of both signs; at last one that no kernel gets wrong.
PATH_PROBES = (
    probe("unsigned-signed", "column", ("uint8", "int8"), (255, -128), 127, (0, 1, 255, 254, 128, 127, 255), 4),
    probe("unsigned-signed", "row", ("uint8", "int8"), (0, 0), 255, (-128, 127, 1, -1, 77, -77, 0)),
    probe("unsigned", "row", ("uint8", "uint8"), (0, 255), 255, (0, 255, 1, 128, 127, 77, 255)),
    probe("signed", "inner", ("int8", "int8"), (-128, 127), -128, (127, -128, 0, 1, -1, 77, -128)),
    probe("signed-unsigned", "inner", ("int8", "uint8"), (127, 0), 255, (-128, 127, 0, 1, -1, 77, 127)),
    *(
        probe(name, "column", ("uint8", "int8"), points, other, (0, 1, 255, 254, 128, 127, 255), constants_only=True)
        for name, points, other in CONSTANTS
    ),
)  # fmt: skip


ONE = {"real": "uint8", "quantized": "int32", "operands": ("int8",), "form": 2}


def forbidden(
    clause: str, what: str, a: tuple[int, ...] = (2, 3), b: tuple[int, ...] = (3, 4), *, of_a: tuple[int, ...] = (),
    of_b: tuple[int, ...] = (), output: str = "", opset: int = 0,
) -> ForbiddenCall:  # fmt: skip
    node = {"real": "uint8", "quantized": "int32", "operands": ("int8",)}
    return ForbiddenCall(clause, what, (a, b, of_a, of_b), node, output=output, opset=opset, values={2: 0.0, 3: 0.0})


FORBIDDEN = (
    forbidden("OMI-T1", "an int8 output", output="int8"),
    forbidden("OMI-P1", "another number of rows than columns", (2, 3), (4, 5)),
    forbidden("OMI-P1", "a scalar for a matrix", (), (3, 4)),
    forbidden("OMI-P5", "batches that do not broadcast", (2, 2, 3), (3, 3, 4)),
    forbidden("OMI-P3", "zero points of three rows for two", of_a=(3,)),
    forbidden("OMI-P4", "zero points of three columns for four", of_b=(3,)),
    forbidden("OMI-V1", "operator set 9", opset=9),
    ForbiddenCall("OMI-P4", "three zero points for four columns, none for rows", ((2, 3), (3, 4), (3,)), ONE),
)


def points(shown: CaseWithStates) -> tuple[np.ndarray[Any, Any], ...]:
    return points_of_both(shown.case.node, shown.case.inputs, POINTS)


SITUATIONS: dict[str, Situation] = {
    "a scalar zero point of A or B": lambda shown: any(array.ndim == 0 for array in shown.case.inputs[2:]),
    "zero points of rows": lambda shown: any(array.size > 1 for array in points(shown)[:1]),
    "zero points of columns": lambda shown: any(array.size > 1 for array in points(shown)[1:]),
    "a batch of integer matrices": lambda shown: max(array.ndim for array in shown.case.inputs[:2]) > 2,
    "a vector for an integer matrix": lambda shown: min(array.ndim for array in shown.case.inputs[:2]) == 1,
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it has no scale: its result is a sum of integers"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    layers=integer_products,
    path_probes=PATH_PROBES,
    axis=Axis(laid_out=True),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=AuditedSemantics(ByteProducts, never_elementwise, role_of=role_of_byte_products, as_called=as_rows),
    swept_factor="B",
    swept_axes=2,
)
