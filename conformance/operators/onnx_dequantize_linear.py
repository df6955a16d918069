"""Testing `onnx.DequantizeLinear`: any types, per tensor, axis or block, and its usual mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import onnx_linear as linear
from tiebreak.conformance.operators.dequantize_mistakes import MISPLACED_PAIRS, PAIRS, SHARED
from tiebreak.conformance.operators.dequantize_numbers import Arithmetic, limits_of
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    CaseConstraints,
    Cause,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import PathProbe, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.affine_dequantize import affine_dequantize, role_of_dequantizer
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, SMALL_FLOAT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import REALS
from tiebreak.golden.operators.onnx_dequantize_linear import INPUTS, VERSIONS
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor, bits


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    shape, scale_shape, given = draw(linear.scale_layouts(wanted.rank))
    real = wanted.real or draw(st.sampled_from(REALS))
    quantized = wanted.quantized or draw(st.sampled_from(INPUTS))
    scale_type = draw(st.sampled_from((real, real, *REALS, "float8_e8m0fnu")))
    if scale_type != real or draw(st.integers(0, 4)) == 0:
        given["output_dtype"] = real
    opsets = linear.usable_opsets(VERSIONS, (real, scale_type, quantized), given, scale_shape)
    zero_point = draw(st.booleans())
    node: dict[str, Any] = {"real": real, "quantized": quantized, "scale": scale_type, "attributes": given}
    node |= {"opset": draw(linear.opset_choice(opsets)), "zero_point": zero_point}
    scale = linear.parameter(draw, scale_type, linear.scale_codes(scale_type, specials=wanted.specials), scale_shape)
    zero = linear.parameter(draw, quantized, zero_codes(quantized, wanted.specials), scale_shape)
    codes = draw(st.lists(linear.any_code(quantized, specials=wanted.specials), min_size=1, max_size=12))
    x = bits(quantized, [codes[i % len(codes)] for i in range(math.prod(shape))], shape)
    return node, (x, scale, zero) if zero_point else (x, scale)


def zero_codes(quantized: str, specials: bool) -> st.SearchStrategy[int]:
    """Codes of zero points: any; for int32 and float types mostly 0."""
    every = linear.any_code(quantized, specials=specials)
    return every if quantized != "int32" and quantized in INTEGER_TYPES else st.one_of(st.just(0), st.just(0), every)


# The arithmetic of usual mistakes. Integers are passed as int64, small floats as float64, scales in their own type.


def mistake(
    arithmetic: Arithmetic, how: str = "", how_zero: str = "", read: Callable[[Node, Array], Array] | None = None
) -> Any:
    def run(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
        zero = rest[0].reshape(scale.shape) if rest else np.zeros(scale.shape, x.dtype)
        scales = linear.spread_over_input(node, scale, x.shape, how)
        zeros = linear.spread_over_input(node, zero, x.shape, how_zero)
        values, zero_values = (read(node, a) if read else as_wide_numbers(a) for a in (x, zeros))
        found = np.asarray(arithmetic(node, values, scales, zero_values))
        return (np.asarray(found.astype(node.outputs[0].dtype)),)

    return run


def as_wide_numbers(array: Array) -> Array:
    return array.astype(np.int64 if array.dtype.name in INTEGER_TYPES else np.float64)


def right(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    dtype = node.outputs[0].dtype
    return np.asarray((x - zero).astype(dtype) * scale.astype(dtype))


def in_float32(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return np.asarray((x - zero).astype(np.float32) * scale.astype(np.float32))


def in_float32_saturated(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    wide, largest = in_float32(node, x, scale, zero), float(limits_of(node.outputs[0].dtype).max)
    return np.where(np.isfinite(wide), np.clip(wide, -largest, largest), wide)


def bytes_of_scale_type(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    """The result is made in the scale's type; its bytes are taken as the output's. What they don't reach is right."""
    dtype = node.outputs[0].dtype
    if scale.dtype.itemsize == dtype.itemsize:
        raise NotImplementedError
    (result,), (found,) = mistake(right)(node, x, scale, *rest), made_in_scale_type(node, x, scale, *rest)
    held = np.ascontiguousarray(result).reshape(-1).view(np.uint8).copy()
    own = np.ascontiguousarray(found).reshape(-1).view(np.uint8)[: held.size]
    held[: own.size] = own
    return (held.view(dtype).reshape(x.shape),)


def made_in_scale_type(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    typed = replace(node, outputs=(replace(node.outputs[0], dtype=scale.dtype),))
    found: tuple[Array, ...] = mistake(right)(typed, x, scale, *rest)
    return found


def in_float64(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    """As NumPy multiplies int32 and float32."""
    return np.asarray((x - zero).astype(np.float64) * scale.astype(np.float64))


def in_scale_type(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return np.asarray((x - zero).astype(scale.dtype) * scale)


def converted_first(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    dtype = node.outputs[0].dtype
    return np.asarray((x.astype(dtype) - zero.astype(dtype)) * scale.astype(dtype))


def truncated_first(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    """Operands lose the bits that the output's type has no room for, before the difference is taken."""
    integer_range(node)
    precision = FLOAT_TYPES[node.output_type].precision
    high, low = (truncate_to(a.astype(np.float64), precision) for a in (x, zero))
    return converted_first(node, high, scale, low)


def truncate_to(values: Array, precision: int) -> Array:
    significand, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.trunc(np.ldexp(significand, precision)), exponent - precision))


def separate_products(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    dtype = node.outputs[0].dtype
    factor = scale.astype(dtype)
    return np.asarray(x.astype(dtype) * factor - zero.astype(dtype) * factor)


def integer_range(node: Node) -> tuple[int, int, int]:
    kind = INTEGER_TYPES.get(node.input_type)
    if kind is None:
        raise NotImplementedError
    return kind.lowest, kind.highest, kind.bits


def wrapped(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    lowest, _, size = integer_range(node)
    return right(node, np.mod(x - zero - lowest, 1 << size) + lowest, scale, np.zeros_like(zero))


def saturated(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    lowest, highest, _ = integer_range(node)
    return right(node, np.clip(x - zero, lowest, highest), scale, np.zeros_like(zero))


def subnormals_flushed(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    dtype = node.outputs[0].dtype
    tiny = 2.0 ** FLOAT_TYPES[dtype.name].emin
    factor = scale.astype(dtype)
    small = np.where(np.abs(factor.astype(np.float64)) < tiny, 0, 1).astype(dtype)
    product = np.asarray((x - zero).astype(dtype) * (factor * small))
    return np.where(np.abs(product.astype(np.float64)) < tiny, product * np.zeros_like(product), product)


def read_as_sibling(node: Node, array: Array) -> Array:
    """Values of a float 8 type, with the bits read as those of its sibling type."""
    pairs = {"float8_e4m3fnuz": "float8_e4m3fn", "float8_e5m2fnuz": "float8_e5m2"}
    other = (pairs | {b: a for a, b in pairs.items()}).get(node.input_type)
    if other is None:
        raise NotImplementedError
    return np.asarray(
        np.ascontiguousarray(array).view(getattr(ml_dtypes, other)).reshape(array.shape).astype(np.float64)
    )


def input_as_sibling(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    found: tuple[Array, ...] = mistake(right)(node, read_as_sibling(node, x), scale, *rest)
    return found


def zero_points_as_int64(node: Node, x: Array, scale: Array, *rest: Array) -> tuple[Array, ...]:
    """Zero points held as int32 and read as int64, so that two make one; behind the last there are zeros."""
    integer_range(node)
    if not rest or rest[0].size < 2:
        raise NotImplementedError
    words = np.append(rest[0].astype("<i4"), np.zeros(rest[0].size, "<i4"))
    read: Array = words.view("<i8")[: rest[0].size].reshape(rest[0].shape)
    found: tuple[Array, ...] = mistake(right)(node, x, scale, read)
    return found


def read_as_integers(node: Node, array: Array) -> Array:
    if node.input_type not in SMALL_FLOAT_TYPES:
        raise NotImplementedError
    return np.ascontiguousarray(array).view(np.uint8).reshape(array.shape).astype(np.int64)


def nan_as_zero(node: Node, x: Array, scale: Array, zero: Array) -> Array:
    return right(node, np.where(np.isnan(x), 0, x), scale, zero)


MISTAKES = (
    *((cause, mistake(right, scale, zero)) for cause, scale, zero in linear.PARAMETER_MISTAKES),
    (Cause("multiplies-and-rounds-again:float32", "output-dtype"), mistake(in_float32)),
    (Cause("multiplies-and-rounds-again:x_scale's type", "output-dtype"), mistake(in_scale_type)),
    (Cause("multiplies-and-rounds-again:float64", "output-dtype"), mistake(in_float64)),
    (Cause("converts-before-subtracting", "difference"), mistake(converted_first)),
    (Cause("truncates-before-subtracting", "difference"), mistake(truncated_first)),
    (Cause("difference-wraps", "difference"), mistake(wrapped)),
    (Cause("difference-saturates", "difference"), mistake(saturated)),
    (Cause("distributes-scale", "product"), mistake(separate_products)),
    (Cause("ignores-zero-point", "difference"), mistake(lambda n, x, s, z: right(n, x, s, 0 * z))),
    (Cause("adds-zero-point", "difference"), mistake(lambda n, x, s, z: right(n, x, s, -z))),
    (Cause("divides-by-scale", "product"), mistake(lambda n, x, s, z: (x - z) / s.astype(np.float64))),
    (Cause("sibling-float8", "small-float"), mistake(right, read=read_as_sibling)),
    (Cause("float-bits-as-integers", "small-float"), mistake(right, read=read_as_integers)),
    (Cause("input-as-sibling", "small-float"), input_as_sibling),
    (Cause("zero-points-as-int64", "projection"), zero_points_as_int64),
    (Cause("bytes-of-scale-type", "output-dtype"), bytes_of_scale_type),
    (Cause("nan-to-zero", "special-input"), mistake(nan_as_zero)),
    *((cause, mistake(arithmetic)) for cause, arithmetic in SHARED),
    (Cause("flushes", "product"), mistake(subnormals_flushed)),
)
TENTH = Fraction(1, 10)
HALF = {"real": "float16", "quantized": "int8"}
# Values whose products depend on the order of the steps, both ends of the range, others, and last one that gives 0.
PATH_PROBES = (
    PathProbe("uint8-float32", {"quantized": "uint8"}, (TENTH, 131), (92, 94, 0, 255, 1, 200, 131), 2),
    PathProbe("int8-float16", HALF, (TENTH, -77), (-122, -113, -128, 127, 0, 70, -77)),
    *(
        PathProbe(
            f"{found.name}-uint8",
            {"quantized": "uint8"},
            (found.scale, 131),
            (130, 132, 131, 130, 132, 130, 131),
            constants_only=True,
        )
        for found in scale_classes()
    ),
)

TESTED = OperatorUnderTest(
    id="onnx.DequantizeLinear",
    plain_nodes=Absent("it does not quantize"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=(
        *((cause, mistake(arithmetic)) for cause, arithmetic in PAIRS),
        (
            Cause(f"multiplies-and-rounds-again:float32{JOINT}overflow-saturates", "product"),
            mistake(in_float32_saturated),
        ),
        *(
            (Cause(f"{cause.id}{JOINT}{second}", cause.role), mistake(arithmetic, scale, zero))
            for cause, scale, zero in linear.PARAMETER_MISTAKES
            for second, arithmetic in MISPLACED_PAIRS
        ),
    ),
    path_probes=PATH_PROBES,
    axis=linear.AXIS,
    forbidden_calls=linear.forbidden_linear_calls("OND"),
    situations={"a float input": lambda s: s.case.node.input_type in SMALL_FLOAT_TYPES},
    semantics=AuditedSemantics(
        affine_dequantize,
        never_elementwise,
        role_of=role_of_dequantizer,
        of_integers=True,
    ),
)
