"""Testing `com.microsoft.QGemm`: sums with a bias beside ties of their scales, transposed matrices, both outputs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall, S
from tiebreak.conformance.operators.layers import gemms
from tiebreak.conformance.operators.layouts import Place
from tiebreak.conformance.operators.matrix_products import (
    HALF,
    NEAR,
    SCALES,
    filled,
    points,
    product_probe,
    scales,
    zero_points,
)
from tiebreak.conformance.operators.microsoft_qgemm_mistakes import MISTAKES, PAIRS
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.scaled_operands import as_rows_and_bias
from tiebreak.conformance.semantics.scaled_products import products_of_gemm, roles
from tiebreak.golden.elements import FLOAT_TYPES, encode
from tiebreak.golden.onnx_types import BYTES
from tiebreak.golden.operators.microsoft_qgemm import FORMS, ID, NUMBERS, given, matrices, with_bias
from tiebreak.golden.problem import Array
from tiebreak.golden.products import matrix_product
from tiebreak.golden.samples.microsoft_qgemm import OUTPUTS
from tiebreak.golden.samples.model import Tensor, bits, integers
from tiebreak.golden.samples.onnx_qlinear_matmul import DECIMALS

ALPHAS = (1.0, 1.0, 0.5, 0.1, -1.0, 3.0, 0.0)
WORD = 1 << 31
Shape = tuple[int, ...]


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    a, b = wanted.real or draw(st.sampled_from(BYTES)), draw(st.sampled_from(BYTES))
    y = wanted.quantized or draw(st.sampled_from(OUTPUTS))
    rows, inner, columns = draw(sizes())
    turned = draw(st.booleans()), draw(st.booleans())
    own = (columns,) if draw(st.integers(0, 2)) == 0 else ()
    biased, texts = draw(st.booleans()), draw(st.sampled_from(DECIMALS))
    near = [[encode(Fraction(text), FLOAT_TYPES["float32"])] for text in texts]
    drawn = [draw(scales("float32", specials=wanted.specials)) if draw(st.booleans()) else one for one in near]
    tensors = (
        draw(filled(a, turned_shape((rows, inner), turned[0]))),
        bits("float32", drawn[0][:1], ()),
        draw(points(a, ())),
        draw(filled(b, turned_shape((inner, columns), turned[1]))),
        bits("float32", repeat(drawn[1], math.prod(own)), own),
        draw(points(b, own)),
        *([draw(biases(rows, columns))] if biased else []),
        *([] if y == NUMBERS else [bits("float32", drawn[2][:1], ()), integers(y, [draw(zero_points(y))], ())]),
    )
    attributes = {"alpha": draw(st.sampled_from(ALPHAS)), "transA": turned[0], "transB": turned[1]}
    form = (0 if biased else 1) + 2 * (y == NUMBERS)
    return {"real": a, "quantized": y, "operands": (b,), "form": form, "attributes": attributes}, tensors


def sizes() -> st.SearchStrategy[Shape]:
    """Rows, the inner axis and columns; sometimes longer than a vector, sometimes of one product each."""
    small, inner = st.integers(0, 5), st.one_of(st.just(1), st.integers(1, 5), st.integers(6, 70))
    return st.tuples(small, inner, st.one_of(small, st.integers(6, 40)))


def turned_shape(shape: Shape, turns: bool) -> Shape:
    return shape[::-1] if turns else shape


def biases(rows: int, columns: int) -> st.SearchStrategy[Tensor]:
    """C of a shape that broadcasts: small values, and any of 32 bits."""
    shapes = st.sampled_from(((), (1,), (columns,), (1, columns), (rows, 1), (rows, columns)))
    values = st.one_of(st.integers(-5000, 5000), st.integers(-5000, 5000), st.integers(-WORD, WORD - 1))
    drawn = st.tuples(shapes, st.lists(values, min_size=1, max_size=7))
    return drawn.map(lambda p: integers("int32", repeat(p[1], math.prod(p[0])), p[0]))


def probe(label: str, kind: Place, types: tuple[str, str, str], *rest: Any, **options: Any) -> PathProbe:
    """See product_probe; there is no C."""
    node = {"real": types[0], "quantized": types[2], "operands": types[1:2], "form": 1}
    return product_probe(label, kind, node, *rest, **{**options, "flat": True})


def of_numbers(found: PathProbe) -> PathProbe:
    """The same with an output of numbers, which has no parameters of its own."""
    node = {**found.node, "quantized": NUMBERS, "form": 3}
    return replace(found, label=f"{found.label}-numbers", node=node, parameters=found.parameters[:-2])


NEAR_COLUMN = probe("near-rational", "column", ("uint8", "int8", "uint8"), (128, 0), NEAR, 100, 128,
                    (129, 127, 131, 125, 255, 0, 128), 4)  # fmt: skip
PATH_PROBES = (
    NEAR_COLUMN,
    of_numbers(replace(NEAR_COLUMN, scanned=0)),
    probe("halves", "column", ("int8", "int8", "int8"), (0, 0), HALF, 1, 3, (1, -1, 3, -3, 127, -128, 0)),
    probe("near-rational", "row", ("uint8", "int8", "uint8"), (28, 0), NEAR, 128, 7, (1, -1, 3, -3, 127, -128, 0)),
    probe("near-rational", "inner", ("uint8", "int8", "uint8"), (128, 0), NEAR, 1, 128,
          (228, 28, 129, 127, 255, 0, 128)),
    *(
        probe(name, "column", ("uint8", "int8", "uint8"), (128, 0), found, 100, 128,
              (129, 127, 131, 125, 255, 0, 128), constants_only=True)
        for name, *found in SCALES
    ),
)  # fmt: skip


def forbidden(
    clause: str, what: str, a: Shape = (2, 3), b: Shape = (3, 4), *, bias: Shape = (4,),
    changed: dict[str, Shape] | None = None, **more: Any,
) -> ForbiddenCall:  # fmt: skip
    """A call with the shapes of A, B and C, and those of other inputs by name."""
    shapes = {**dict.fromkeys(FORMS[0], S), "A": a, "B": b, "C": bias, **(changed or {})}
    node = {"real": "uint8", "quantized": "uint8", "operands": ("int8",)}
    values = {2: 0.0, 5: 0.0, 8: 0.0}
    return ForbiddenCall(f"MQG-{clause}", what, tuple(shapes.values()), node, values=values, **more)


FORBIDDEN = (
    forbidden("P1", "another number of rows than columns", (2, 3), (4, 5)),
    forbidden("P1", "a vector for A", (3,)),
    forbidden("P2", "a batch of B", b=(1, 3, 4)),
    forbidden("P2", "B as if it were not transposed", attributes={"transB": True}),
    forbidden("P3", "scales of three columns for four", changed={"b_scale": (3,), "b_zero_point": (3,)}),
    forbidden("P4", "a C that does not broadcast", bias=(3,)),
    forbidden("P4", "a C of more axes than the product", bias=(1, 2, 4)),
    forbidden("S1", "scales of two rows of A", changed={"a_scale": (2,)}),
    forbidden("S1", "a y_scale of four columns", changed={"y_scale": (4,)}),
    forbidden("T1", "an int32 output", output="int32"),
)


def inputs(shown: CaseWithStates) -> dict[str, Array]:
    return given(shown.case.node, shown.case.inputs)


def overflows(shown: CaseWithStates) -> bool:
    own = inputs(shown)
    a, b = matrices(shown.case.node, own["A"], own["B"])
    return bool(
        with_bias(matrix_product(ID, a, own["a_zero_point"], b, own["b_zero_point"]), own.get("C")).overflows.any()
    )


SITUATIONS: dict[str, Situation] = {
    "a bias C": lambda shown: "C" in inputs(shown),
    "a quantized output": lambda shown: shown.case.node.output_type != NUMBERS,
    "an output of numbers": lambda shown: shown.case.node.output_type == NUMBERS,
    "parameters of columns of B": lambda shown: inputs(shown)["b_scale"].ndim > 0,
    "a sum with C beyond 32 bits": overflows,
    "a zero scale of Y": lambda shown: not np.all(inputs(shown).get("y_scale", 1)),
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("its input is an exact sum of products, and three factors multiply it before one divides"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    layers=gemms,
    path_probes=PATH_PROBES,
    axis=Axis(laid_out=True),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        products_of_gemm,
        never_elementwise,
        role_of=roles(difference="sum", scale="product", quotient="quotient", rounding="even"),
        of_integers=True,
        as_called=as_rows_and_bias,
    ),
    swept_factor="B",
    swept_axes=2,
)
