"""Testing `stablehlo.uniform_dequantize`: integers of every storage type, zero points at all ends, any dimension."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.dequantize_along_axis import mistakes_along, pairs_along
from tiebreak.conformance.operators.dequantize_arithmetics import distributed, divided_by_scale, steps
from tiebreak.conformance.operators.dequantize_mistakes import RIGHT, SHARED, WRAPPED
from tiebreak.conformance.operators.dequantize_numbers import Arithmetic
from tiebreak.conformance.operators.drawn_tensors import tensor_shapes
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    Cause,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import PathProbe, scale_classes
from tiebreak.conformance.operators.stablehlo import (
    drawn_parameters,
    forbidden_types,
    integers_between,
    type_ends,
    written,
)
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tensorflow_uniform import axis_of
from tiebreak.conformance.semantics.affine_dequantize import affine_dequantize, role_of_dequantizer
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.stablehlo import EXPRESSED, STORAGE
from tiebreak.golden.operators.stablehlo_uniform_dequantize import ID
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor

AXIS = "quantization_dimension"


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    quantized, real = (
        wanted.quantized or draw(st.sampled_from(STORAGE)),
        wanted.real or draw(st.sampled_from(EXPRESSED)),
    )
    shape = draw(tensor_shapes(wanted.rank))
    axis, ends = axis_of(draw, len(shape)), draw(type_ends(quantized))
    x = integers_between(draw, quantized, ends, math.prod(shape), shape)
    own = drawn_parameters(draw, real, quantized, ends, 1 if axis < 0 else shape[axis], axis < 0)
    return {"real": real, "quantized": quantized, "attributes": written(ends, quantized, axis)}, (x, *own)


def difference_in_int32(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    """The difference wraps around in int32, whatever the storage type."""
    return RIGHT(node, (x - zero).astype(np.int32).astype(np.int64), scale, np.zeros_like(zero))


MISTAKES: tuple[tuple[Cause, Arithmetic], ...] = (
    (Cause("difference-wraps-in:int32", "difference"), difference_in_int32),
    (Cause("ignores-zero-point", "difference"), steps(zero=lambda node, zero: np.zeros_like(zero))),
    (Cause("adds-zero-point", "difference"), steps(zero=lambda node, zero: -zero)),
    *((Cause(key, "difference"), steps(difference=change)) for key, change in WRAPPED),
    (Cause("distributes-scale", "product"), distributed(fused=False)),
    (Cause("divides-by-scale", "product"), divided_by_scale),
    *SHARED,
)
INT8 = {"real": "float32", "quantized": "int8"}
NEAR_99 = (-98, -100, -99, -98, -100, -98, -99)
PATH_PROBES = (
    PathProbe("int8", INT8, (Fraction(1, 10), -99), (-127, -122, -128, 127, 0, 70, -99), 2),
    PathProbe("int32", {"real": "float32", "quantized": "int32"}, (Fraction(1, 10), -99),
              (-(1 << 30), 16777217, 33554435, 1 << 30, 0, 70, -99)),
    *(
        PathProbe(f"{found.name}-int8", INT8, (found.scale, -99), NEAR_99, constants_only=True)
        for found in scale_classes()[:-1]
    ),
)  # fmt: skip

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it does not quantize"),
    draw=draw,
    mistakes=tuple(mistakes_along(AXIS, MISTAKES)),
    pairs=tuple(pairs_along(AXIS)),
    path_probes=PATH_PROBES,
    axis=Axis(AXIS),
    forbidden_calls=forbidden_types("SUD", INT8),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        affine_dequantize,
        never_elementwise,
        role_of=role_of_dequantizer,
        of_integers=True,
    ),
)
