"""Testing `ngraph.Dequantize`: any types and axes, and its usual mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.judging.misplaced import ALL_MISPLACED, in_place
from tiebreak.conformance.operators.dequantize_mistakes import MISPLACED_PAIRS, PAIRS, RIGHT, SHARED
from tiebreak.conformance.operators.dequantize_numbers import Arithmetic
from tiebreak.conformance.operators.drawn_tensors import integer_tensor, repeat, tensor_shapes
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    Cause,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.ngraph_forbidden import forbidden_axes
from tiebreak.conformance.operators.path_probe import PathProbe, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.affine_dequantize import affine_dequantize, role_of_dequantizer
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, INTEGER_TYPES, FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.model import ALL_QUANTIZED_TYPES, ALL_REAL_TYPES
from tiebreak.golden.problem import Array, along
from tiebreak.golden.samples.model import Tensor, bits


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    real = wanted.real or draw(st.sampled_from(ALL_REAL_TYPES))
    quantized = wanted.quantized or draw(st.sampled_from(ALL_QUANTIZED_TYPES))
    shape = draw(tensor_shapes(wanted.rank))
    axes = sorted(draw(st.sets(st.integers(0, len(shape) - 1)))) if shape else []
    node = {"real": real, "quantized": quantized, "attributes": {"axes": axes}, "form": draw(st.integers(0, 1))}
    projected = tuple(shape[axis] for axis in axes)
    tensors = (
        integer_tensor(draw, quantized, shape),
        bits(real, repeat(draw(scale_bit_lists(FLOAT_TYPES[real], wanted.specials)), math.prod(projected)), projected),
        integer_tensor(draw, quantized, projected),
    )
    return node, tensors


def scale_bit_lists(real: FloatType, specials: bool) -> st.SearchStrategy[list[int]]:
    """Bits of scales: of moderate size, or arbitrary."""
    top = 1 << (real.precision - 1)
    moderate = st.tuples(st.integers(-8, 8), st.integers(0, top - 1)).map(lambda p: (p[0] + real.bias) * top + p[1])
    anything = st.integers(0, (1 << real.bits) - 1)
    if not specials:
        anything = anything.filter(lambda b: b & ~(1 << (real.bits - 1)) < real.infinity_bits)
    return st.lists(st.one_of(moderate, anything), min_size=1, max_size=5)


# The arithmetic of usual mistakes. Each takes the node and its inputs; operands are spread over the input's shape.


def spread_operands(node: Node, x: Array, scale: Array, zero_point: Array) -> tuple[Array, Array, Array]:
    """x and zero_point as int64 and scale in its own type, all of x's shape."""
    axes = tuple(node.attributes.get("axes", ()))
    spread = (np.broadcast_to(along(p, axes, x.shape), x.shape) for p in (scale, zero_point))
    factor, zero = spread
    return x.astype(np.int64), factor, zero.astype(np.int64)


def mistake(arithmetic: Callable[..., Array]) -> Callable[..., tuple[Array, ...]]:
    def run(node: Node, *inputs: Array) -> tuple[Array, ...]:
        return (np.asarray(arithmetic(node, *spread_operands(node, *inputs))).astype(node.outputs[0].dtype),)

    return run


Misplaced = Callable[[Array, int], Array]


def first_for_all(index: Array, count: int) -> Array:
    return np.zeros_like(index)


def with_parameters(
    scale_at: Misplaced, zero_at: Misplaced, arithmetic: Arithmetic = RIGHT
) -> Callable[..., tuple[Array, ...]]:
    """Each element's scale and zero point taken from another place."""

    def run(node: Node, x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
        axes, numbers = tuple(node.attributes.get("axes", ())), np.arange(scale.size).reshape(scale.shape)
        index = np.broadcast_to(along(numbers, axes, x.shape), x.shape)
        places = (place(index, scale.size) for place in (scale_at, zero_at))
        factor, zero = (p.reshape(-1)[at] for p, at in zip((scale, zero_point), places, strict=True))
        found = arithmetic(node, x.astype(np.int64), factor, zero.astype(np.int64))
        return (found.astype(node.outputs[0].dtype),)

    return run


def in_float32(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return np.asarray((x - zero).astype(np.float32) * scale.astype(np.float32))


def input_in_float32(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    """x rounded to float32, as NumPy does; the rest in float64."""
    return np.asarray((x.astype(np.float32).astype(np.float64) - zero) * scale.astype(np.float64))


def separate_products(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    kind = scale.dtype
    return np.asarray(x.astype(kind) * scale - zero.astype(kind) * scale)


def converted_first(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return np.asarray((x.astype(scale.dtype) - zero.astype(scale.dtype)) * scale)


def wrapped(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    kind = INTEGER_TYPES[node.inputs[0].dtype.name]
    difference = np.mod(x - zero - kind.lowest, 1 << kind.bits) + kind.lowest
    return np.asarray(difference.astype(scale.dtype) * scale)


def saturated(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    kind = INTEGER_TYPES[node.inputs[0].dtype.name]
    return np.asarray(np.clip(x - zero, kind.lowest, kind.highest).astype(scale.dtype) * scale)


def subnormals_flushed(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    kind = ELEMENT_TYPES[scale.dtype.name]
    assert isinstance(kind, FloatType)
    tiny = 2.0**kind.emin
    small = np.where(np.abs(scale.astype(np.float64)) < tiny, 0, 1).astype(scale.dtype)
    product = np.asarray((x - zero).astype(scale.dtype) * (scale * small))
    return np.where(np.abs(product.astype(np.float64)) < tiny, np.zeros_like(product), product)


MISTAKES = (
    (Cause("multiplies-in:float32", "product"), in_float32),
    (Cause("converts-before-subtracting", "difference"), converted_first),
    (Cause("x-in:float32, the rest in float64", "difference"), input_in_float32),
    (Cause("difference-wraps", "difference"), wrapped),
    (Cause("difference-saturates", "difference"), saturated),
    (Cause("distributes-scale", "product"), separate_products),
    (Cause("ignores-zero-point", "difference"), lambda node, x, s, z: x.astype(s.dtype) * s),
    (Cause("adds-zero-point", "difference"), lambda node, x, s, z: (x + z).astype(s.dtype) * s),
    (Cause("divides-by-scale", "product"), lambda node, x, s, z: (x - z).astype(s.dtype) / s),
    *SHARED,
    (Cause("flushes", "product"), subnormals_flushed),
)
PARAMETER_MISTAKES: tuple[tuple[str, Misplaced, Misplaced], ...] = (
    ("one-for-all:scale and zero point", first_for_all, first_for_all),
    ("one-for-all:scale", first_for_all, in_place),
    ("one-for-all:zero point", in_place, first_for_all),
    *ALL_MISPLACED,
)
# Values whose products depend on the order of the steps, both ends of the range, others, and last one that gives 0.
VALUES = (-127, -122, -128, 127, 0, 70, -99)

NEAR_99 = (-98, -100, -99, -98, -100, -98, -99)  # a difference of 1 from the zero point, whose products are finite

TESTED = OperatorUnderTest(
    id="ngraph.Dequantize",
    plain_nodes=Absent("it does not quantize"),
    draw=draw,
    mistakes=(
        *(
            (Cause(key, "projection"), with_parameters(scale_at, zero_at))
            for key, scale_at, zero_at in PARAMETER_MISTAKES
        ),
        *((cause, mistake(arithmetic)) for cause, arithmetic in MISTAKES),
    ),
    pairs=(
        *((cause, mistake(arithmetic)) for cause, arithmetic in PAIRS),
        *(
            (Cause(f"{key}{JOINT}{second}", "projection"), with_parameters(scale_at, zero_at, arithmetic))
            for key, scale_at, zero_at in PARAMETER_MISTAKES
            for second, arithmetic in MISPLACED_PAIRS
        ),
    ),
    path_probes=(
        PathProbe("int8-float32", {"quantized": "int8"}, (Fraction(1, 10), -99), VALUES, 2),
        *(
            PathProbe(f"{found.name}-int8", {"quantized": "int8"}, (found.scale, -99), NEAR_99, constants_only=True)
            for found in scale_classes()
        ),
    ),
    axis=Axis("axes"),
    forbidden_calls=forbidden_axes("NGD"),
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        affine_dequantize,
        never_elementwise,
        role_of=role_of_dequantizer,
        of_integers=True,
    ),
)
