"""Testing `onnx.QLinearConv`: convolutions of all shapes, with scales whose ratio is nearly one of small numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.layers import scaled_convolutions
from tiebreak.conformance.operators.layouts import ImageLayout
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.onnx_convolution_drawn import (
    bytes_of,
    convolution,
    forbidden_shapes,
    several,
)
from tiebreak.conformance.operators.onnx_qlinear_conv_mistakes import MISTAKES, PAIRS
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.scaled_operands import as_pixels
from tiebreak.conformance.semantics.scaled_products import roles, zero_point_after
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.onnx_convolution import BYTES
from tiebreak.golden.operators.onnx_qlinear_conv import ID, INPUTS
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.samples.model import Tensor, bits, integers, real_code

NODE = {"real": "uint8", "quantized": "uint8"}
ZERO_POINTS = {2: 0.0, 5: 0.0, 7: 0.0}
KERNEL = 3  # the number of the input w
Numbers = tuple[Fraction | float, ...]


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    x, w = wanted.real or draw(st.sampled_from(BYTES)), draw(st.sampled_from(BYTES))
    y = wanted.quantized or draw(st.sampled_from(BYTES))
    drawn, biased = convolution(draw, wanted.rank), draw(st.booleans())
    channels = drawn.w[:1] if draw(st.booleans()) else ()
    tensors = (
        bytes_of(draw, x, drawn.x),
        scales(draw, (), wanted.specials),
        bytes_of(draw, x, ()),
        bytes_of(draw, w, drawn.w),
        scales(draw, channels, wanted.specials),
        bytes_of(draw, w, channels),
        scales(draw, (), wanted.specials),
        bytes_of(draw, y, ()),
    )
    node = {"real": x, "quantized": y, "scale": w, "attributes": dict(drawn.attributes), "zero_point": biased}
    return node, (*tensors, biases(draw, drawn.w[0])) if biased else tensors


def scales(draw: st.DrawFn, shape: tuple[int, ...], specials: bool) -> Tensor:
    """Decimals of two digits, powers of two and any of moderate size; with specials at times any bits."""
    decimals = st.integers(1, 99).map(lambda n: real_code(Fraction(n, 100), "float32"))
    powers = st.integers(-12, 6).map(lambda n: real_code(Fraction(2) ** n, "float32"))
    moderate = st.tuples(st.integers(-12, 4), st.integers(0, (1 << 23) - 1)).map(lambda p: (127 + p[0] << 23) + p[1])
    likely = st.one_of(decimals, decimals, powers, moderate)
    rare = specials and draw(st.integers(0, 15)) == 0
    count = shape[0] if shape else 1
    drawn = draw(st.lists(st.integers(0, (1 << 32) - 1) if rare else likely, min_size=count, max_size=count))
    return bits("float32", drawn, shape)


def biases(draw: st.DrawFn, count: int) -> Tensor:
    """Small ones, and any of 32 bits."""
    small, any_ = st.integers(-5000, 5000), st.integers(-(1 << 31), (1 << 31) - 1)
    return integers("int32", draw(st.lists(st.one_of(small, small, small, any_), min_size=count, max_size=count)))


def probe(
    label: str, types: tuple[str, str, str], scales_: Numbers, points: tuple[int, int, int], w: int,
    values: tuple[int, ...], scanned: int = 0, *, constants_only: bool = False,
) -> PathProbe:  # fmt: skip
    """`types`, `scales_` and `points` are those of x, w and y."""
    x, weights, y = types
    node = {"real": x, "quantized": y, "scale": weights, "zero_point": False}
    parameters = (scales_[0], points[0], w, scales_[1], points[1], scales_[2], points[2])
    return PathProbe(label, node, parameters, values, scanned, constants_only, ImageLayout(KERNEL))


DECIMALS = (Fraction(2, 100), Fraction(3, 100), Fraction(4, 100))
HALVES = (Fraction(1, 2), Fraction(1), Fraction(1))
# Weights, and scales of every size, with which each parameter is a constant by itself.
CONSTANTS = (
    ("half", 1, HALVES),
    ("decimal", -128, (Fraction(1, 50), Fraction(1, 20), Fraction(1, 5))),
    ("power-of-two", -1, (Fraction(1, 4), Fraction(1, 8), Fraction(2))),
    ("subnormal", 2, (Fraction(3, 1 << 149), Fraction(1, 2), Fraction(1, 1 << 146))),
    ("large", 127, (Fraction(2) ** 125, Fraction(3, 1 << 9), Fraction(2) ** 123)),
    ("negative", 1, (Fraction(-41, 64), Fraction(1, 32), Fraction(1, 2))),
)
PATH_PROBES = (
    probe("uint8-ratio", ("uint8", "uint8", "uint8"), DECIMALS, (27, 28, 100), 128, (128, 26, 227, 0, 255, 29, 27), 4),
    probe("uint8-int8-ties", ("uint8", "int8", "uint8"), HALVES, (128, 0, 101), 1, (127, 129, 255, 0, 131, 128, 130)),
    probe("int8-ties", ("int8", "int8", "int8"), HALVES, (-1, 0, 5), 3, (0, -2, 127, -128, 2, -1, 1)),
    probe("int8-ratio", ("int8", "int8", "int8"), DECIMALS, (27, 0, -100), 100, (28, 26, 127, -128, 29, 77, 27)),
    *(
        probe(f"{name}-scales", ("uint8", "int8", "uint8"), scales, (128, 0, 101), w,
              (127, 129, 255, 0, 131, 128, 130), constants_only=True)
        for name, w, scales in CONSTANTS
    ),
)  # fmt: skip
ONE_PIXEL_KERNEL = ((1, 1, 3), (), (), (1, 1, 1), (), (), (), ())


def forbidden(clause: str, what: str, place: int, shape: tuple[int, ...], **given: Any) -> ForbiddenCall:
    """A convolution of one weight of which one input has another shape."""
    shapes = (*ONE_PIXEL_KERNEL[:place], shape, *ONE_PIXEL_KERNEL[place + 1 :])
    node = NODE | {"zero_point": place == 8}
    return ForbiddenCall(f"OQC-{clause}", what, shapes, node, values=ZERO_POINTS, **given)


FORBIDDEN = (
    *forbidden_shapes("OQC", NODE | {"zero_point": False}, 8, 3, ZERO_POINTS),
    forbidden("S1", "a bias of three channels beside one", 8, (3,)),
    forbidden("S2", "a scale of x with three values", 1, (3,)),
    forbidden("S2", "a scale of y with three values", 6, (3,)),
    forbidden("G7", "three scales of w for one channel", 4, (3,)),
    forbidden("T1", "a zero point of y of another type", 7, (), output="int8"),
    forbidden("V1", "operator set 9", 7, (), opset=9),
)


def sum_beyond(shown: CaseWithStates) -> bool:
    """Whether a sum with its bias is beyond 32 bits."""
    (problem,) = OPERATORS[ID].problems(shown.case.node, shown.case.inputs)
    assert isinstance(problem, Elementwise)
    terms = problem.constants["terms"]
    x, w = (np.array(problem.operands[n * terms : (n + 1) * terms]) for n in range(2))
    bias, x_point, w_point = problem.operands[2 * terms : 2 * terms + 3]
    sums = ((x - x_point) * (w - w_point)).sum(axis=0) + bias
    return bool(np.any((sums < -(1 << 31)) | (sums >= 1 << 31)))


OWN: dict[str, Situation] = {
    "a bias": lambda shown: len(shown.case.inputs) == len(INPUTS),
    "a scale for each channel": several("w_scale"),
    "a zero y_scale": lambda shown: not shown.case.inputs[6].all(),
    "a convolution's sum beyond 32 bits": sum_beyond,
}
TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it sums products of integers, whose scales make one quotient"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    layers=scaled_convolutions,
    path_probes=PATH_PROBES,
    axis=Axis(laid_out=True),
    forbidden_calls=FORBIDDEN,
    situations=OWN,
    semantics=AuditedSemantics(
        zero_point_after,
        never_elementwise,
        role_of=roles(difference="difference", scale="scale", quotient="scale", rounding="even"),
        of_integers=True,
        as_called=as_pixels,
    ),
    swept_factor="w",
    swept_axes=3,
)
