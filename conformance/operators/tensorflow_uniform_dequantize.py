"""Testing `tensorflow.UniformDequantize`: integers and zero points of all sizes, any scale and axis."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.dequantize_along_axis import mistakes_along, pairs_along
from tiebreak.conformance.operators.dequantize_mistakes import RIGHT, SHARED
from tiebreak.conformance.operators.dequantize_numbers import Arithmetic
from tiebreak.conformance.operators.drawn_tensors import integer_tensor, tensor_shapes
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
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tensorflow_uniform import (
    axis_of,
    drawn_parameters,
    forbidden_calls,
    range_values,
    scale_codes,
)
from tiebreak.conformance.semantics.affine_dequantize import affine_dequantize, role_of_dequantizer
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.places import flush_subnormals
from tiebreak.conformance.semantics.uniform_quantize import whole_range
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tensorflow_uniform_dequantize import ID, TYPES
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor
from tiebreak.golden.samples.tensorflow_uniform import range_of

SINGLE = FLOAT_TYPES["float32"]
AXIS = "quantization_axis"


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    quantized = wanted.quantized or draw(st.sampled_from(TYPES))
    shape = draw(tensor_shapes(wanted.rank))
    axis = axis_of(draw, len(shape))
    attributes = range_of(*draw(range_values(quantized))) | ({} if axis < 0 else {"quantization_axis": axis})
    codes = scale_codes(wanted.specials, negative=draw(st.integers(0, 5)) == 0)
    own = drawn_parameters(draw, quantized, 1 if axis < 0 else shape[axis], axis < 0, codes)
    return {"quantized": quantized, "attributes": attributes}, (integer_tensor(draw, quantized, shape), *own)


def in_int32(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    """The difference wraps around in int32, whatever the input's type."""
    return np.asarray((x - zero).astype(np.int32).astype(np.float32) * scale)


def clipped(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    """The input between both ends first."""
    least, greatest = (int(node.value(f"quantization_{end}_val")) for end in ("min", "max"))
    return RIGHT(node, np.clip(x, least, greatest), scale, zero)


def flushed(values: Array) -> Array:
    return flush_subnormals(values.astype(np.float32), SINGLE.emin)


def flushed_in_int32(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return flushed((x - zero).astype(np.int32).astype(np.float32) * flushed(scale))


def in_own_type(change: Callable[[Array, int, int], Array]) -> Arithmetic:
    """The difference brought into the input's type."""

    def run(node: Node, x: Array, scale: Array, zero: Array) -> Array:
        kind = np.iinfo(node.inputs[0].dtype)
        return np.asarray(change(x - zero, int(kind.min), int(kind.max)).astype(np.float32) * scale)

    return run


def converted(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return np.asarray((x.astype(np.float32) - zero.astype(np.float32)) * scale)


def separate(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return np.asarray(x.astype(np.float32) * scale - zero.astype(np.float32) * scale)


MISTAKES: tuple[tuple[Cause, Arithmetic], ...] = (
    (Cause("difference-wraps-in:int32", "difference"), in_int32),
    (Cause(f"flushes-scales{JOINT}difference-wraps-in:int32", "difference"), flushed_in_int32),
    (Cause("converts-before-subtracting", "difference"), converted),
    (Cause("difference-wraps", "difference"), in_own_type(lambda d, low, high: np.mod(d - low, high - low + 1) + low)),
    (Cause("difference-saturates", "difference"), in_own_type(lambda d, low, high: np.clip(d, low, high))),
    (Cause("distributes-scale", "product"), separate),
    (Cause("clips-input", "range"), clipped),
    (Cause("ignores-zero-point", "difference"), lambda node, x, s, z: x.astype(np.float32) * s),
    (Cause("adds-zero-point", "difference"), lambda node, x, s, z: (x + z).astype(np.float32) * s),
    (Cause("divides-by-scale", "product"), lambda node, x, s, z: (x - z).astype(np.float32) / s),
    *SHARED,
)
INT8 = {"quantized": "int8", "attributes": range_of(-128, 127)}
INT32 = {"quantized": "int32", "attributes": range_of(-(1 << 31), (1 << 31) - 1)}
NEAR_99 = (-98, -100, -99, -98, -100, -98, -99)
PATH_PROBES = (
    PathProbe("int8", INT8, (Fraction(1, 10), -99), (-127, -122, -128, 127, 0, 70, -99), 2),
    PathProbe("int32", INT32, (Fraction(1, 10), -99), (-(1 << 30), 16777217, 33554435, 1 << 30, 0, 70, -99)),
    *(
        PathProbe(f"{found.name}-int8", INT8, (found.scale, -99), NEAR_99, constants_only=True)
        for found in scale_classes()
    ),
)


TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it does not quantize"),
    draw=draw,
    mistakes=tuple(mistakes_along(AXIS, MISTAKES)),
    pairs=tuple(pairs_along(AXIS)),
    path_probes=PATH_PROBES,
    axis=Axis(AXIS),
    forbidden_calls=forbidden_calls("TUD", INT8),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        affine_dequantize,
        never_elementwise,
        defaults_of=whole_range,
        role_of=role_of_dequantizer,
        of_integers=True,
    ),
)
