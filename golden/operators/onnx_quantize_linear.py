"""`onnx.QuantizeLinear` for per-tensor and per-axis scales and integer outputs (opset 21's text)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators.model import Attribute, Clause, Operator, Types, parse_integer, quantize_signature
from tiebreak.golden.problem import Array, Quantization, bits_of
from tiebreak.golden.themes import Setting, Sketch, spread_over

if TYPE_CHECKING:
    from tiebreak.golden.nodes import Node

DOCUMENT = "ONNX operator schema, QuantizeLinear-21"
DEFAULT_AXIS = 1
EVEN = "ROUND_NEAREST_TOWARD_EVEN"

CLAUSES = (
    Clause("ONQ-F1", "The argument of round is x divided by y_scale.", f"{DOCUMENT}, formula"),
    Clause("ONQ-F2", "The quotient alone is rounded; y_zero_point is added to the result.", f"{DOCUMENT}, formula"),
    Clause("ONQ-R1", "The quotient is rounded to nearest, ties to even.", f"{DOCUMENT}, description"),
    Clause(
        "ONQ-C1", "A result outside the output type's range becomes the nearer end of it.", f"{DOCUMENT}, saturation"
    ),
    Clause("ONQ-G1", "Per tensor: y_scale is a scalar.", f"{DOCUMENT}, granularities"),
    Clause("ONQ-G2", "Per axis: y_scale[i] belongs to slice i of x along axis.", f"{DOCUMENT}, granularities"),
    Clause("ONQ-G3", "y_zero_point has the shape of y_scale.", f"{DOCUMENT}, granularities"),
    Clause("ONQ-A1", "axis counts from the back if negative, from -r to r-1; absent it is 1.", f"{DOCUMENT}, axis"),
    Clause("ONQ-T1", "x is float16, bfloat16 or float32 and y_scale of the same type.", f"{DOCUMENT}, types"),
    Clause("ONQ-T2", "y has the type of y_zero_point.", f"{DOCUMENT}, y_zero_point"),
    Clause("ONQ-T3", "Without y_zero_point, y is uint8 and the zero point 0.", f"{DOCUMENT}, y_zero_point"),
    Clause("ONQ-S1", "y has the shape of x.", f"{DOCUMENT}, outputs"),
    Clause("ONQ-U1", "What a NaN x, scale or quotient becomes in an integer type.", f"{DOCUMENT}: silent", True),
    Clause("ONQ-U2", "What an infinite x or scale becomes in an integer type.", f"{DOCUMENT}: silent", True),
    Clause("ONQ-U3", "What division by a zero scale gives.", f"{DOCUMENT}: silent", True),
)


def scale_axes(attributes: Mapping[str, Any], shape: tuple[int, ...], scale_shape: tuple[int, ...]) -> tuple[int, ...]:
    if scale_shape == ():
        return ()
    if len(scale_shape) != 1:
        raise InvalidInput(f"onnx.QuantizeLinear: y_scale has shape {list(scale_shape)}; it needs [] or one axis")
    axis, rank = attributes.get("axis", DEFAULT_AXIS), len(shape)
    if not -rank <= axis < rank:
        raise InvalidInput(f"onnx.QuantizeLinear: axis {axis} outside [{-rank}, {rank - 1}] of an x of rank {rank}")
    axis %= rank
    if scale_shape != (shape[axis],):
        raise InvalidInput(
            f"onnx.QuantizeLinear: y_scale has shape {list(scale_shape)}; x of shape {list(shape)} with axis {axis} "
            f"needs [] or [{shape[axis]}]"
        )
    return (axis,)


def signature(types: Types, attributes: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not types.optional and types.quantized != "uint8":
        raise InvalidInput(f"onnx.QuantizeLinear: y_zero_point can't be left off for {types.quantized}")
    return quantize_signature(types, attributes)


def pose(node: Node, inputs: tuple[Array, ...]) -> tuple[Quantization, ...]:
    x, scale, *rest = inputs
    axes = scale_axes(node.attributes, x.shape, scale.shape)
    zero_point = rest[0].astype(np.int64) if rest else np.zeros(scale.shape, np.int64)
    if zero_point.shape != scale.shape:
        shapes = f"{list(zero_point.shape)}, y_scale {list(scale.shape)}"
        raise InvalidInput(f"onnx.QuantizeLinear: y_zero_point has shape {shapes}")
    return (Quantization(node.real, node.quantized, EVEN, axes, bits_of(x), bits_of(scale), zero_point, "y"),)


SHAPES: tuple[tuple[tuple[int, ...], int | None], ...] = (
    ((3, 3, 3), 0),
    ((3, 3, 3), 1),
    ((3, 3, 3), 2),
    ((3, 3, 3), -1),
    ((3, 3, 3), -3),
    ((3, 3, 3), None),
    ((2, 3, 4), 0),
    ((2, 3, 4), None),
    ((2, 3, 4), -1),
    ((3, 3), 0),
    ((3, 3), None),
    ((4, 1, 2, 3), 3),
    ((2, 2, 2, 2), 0),
    ((2, 2, 2, 2), None),
    ((2, 2, 2, 2), 2),
    ((2, 2, 2, 2), -1),
    ((2, 2, 2, 2, 2), -2),
    ((3, 2, 1), 0),
    ((3, 2, 1), 1),
    ((2, 3, 2, 2), None),
    ((1, 2, 1, 3, 2), -2),
    ((2, 3, 67), None),
    ((5, 67), -1),
    ((3, 1), 1),
    ((2, 0, 3), 0),
    ((0, 3), 1),
)


def axes_theme(s: Setting) -> Iterator[Sketch]:
    """Per-axis scales on every axis, counted from the front and the back, and by default; and per-tensor ranks."""
    for shape, axis in SHAPES:
        name = f"axis-{'x'.join(map(str, shape))}-{'default' if axis is None else axis}"
        attributes = {} if axis is None else {"axis": axis}
        position = (1 if axis is None else axis) % len(shape)
        yield spread_over(name, s, shape, (position,), attributes, "axis", "granularity", "shape")
    for shape in ((), (0,), (2, 3, 4), (2, 0, 3)):
        name = f"tensor-{'x'.join(map(str, shape)) or 'scalar'}"
        yield spread_over(name, s, shape, (), {}, "per-tensor", "shape", "real-type", "output-type")


def no_zero_point_theme(s: Setting) -> Iterator[Sketch]:
    if s.quantized.name == "uint8":
        x = [s.bits(Fraction(n, 2)) for n in range(0, 60)]
        one = [s.bits(Fraction(1))]
        yield Sketch("no-zero-point", x, one, None, ("NoZeroPoint", "Tie"), ("no-zero-point",))


OPERATOR = Operator(
    id="onnx.QuantizeLinear",
    prefix="ONQ",
    formula="y = saturate(round_half_to_even(x / y_scale) + y_zero_point)",
    sources=(DOCUMENT,),
    clauses=CLAUSES,
    attributes=(Attribute("axis", "the axis of a 1-D y_scale, default 1", parse_integer, default=DEFAULT_AXIS),),
    forms=(("x", "y_scale", "y_zero_point"),),
    outputs=("y",),
    family="quantize",
    real_types=("float16", "bfloat16", "float32"),
    quantized_types=("int4", "uint4", "int8", "uint8", "int16", "uint16"),
    signature=signature,
    pose=pose,
    modes_of=lambda attributes: (EVEN,),
    steps=(
        "quotient = x / y_scale, rounded to y_scale's type",
        "rounded = round half to even(quotient), an integer, exact",
        "y = saturate(rounded + y_zero_point), an integer sum, exact",
    ),
    saturates=True,
    optional_inputs=1,
    mode_clause=lambda mode: "ONQ-R1",
    roles={
        "quotient": "ONQ-F1",
        "round-first": "ONQ-F2",
        "add": "ONQ-F2",
        "projection": "ONQ-G2",
        "granularity": "ONQ-G3",
        "per-tensor": "ONQ-G1",
        "axis": "ONQ-A1",
        "shape": "ONQ-S1",
        "real-type": "ONQ-T1",
        "output-type": "ONQ-T2",
        "zero-point-type": "ONQ-T2",
        "no-zero-point": "ONQ-T3",
        "range": "ONQ-C1",
        "nan": "ONQ-U1",
        "infinity": "ONQ-U2",
        "zero-scale": "ONQ-U3",
    },
    scale_axes=scale_axes,
    modes=(EVEN,),
    themes=(axes_theme, no_zero_point_theme),
)
