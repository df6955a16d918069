"""Testing `onnx.ConvInteger`: convolutions of all shapes, and pixels in long rows."""

from __future__ import annotations

from typing import Any

from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.layers import integer_convolutions
from tiebreak.conformance.operators.layouts import ImageLayout
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.onnx_conv_integer_mistakes import MISTAKES, PAIRS
from tiebreak.conformance.operators.onnx_convolution_drawn import (
    bytes_of,
    convolution,
    forbidden_shapes,
    several,
)
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.byte_products import ByteProducts, as_pixels, role_of_byte_products
from tiebreak.golden.operators.onnx_conv_integer import ID
from tiebreak.golden.operators.onnx_convolution import BYTES
from tiebreak.golden.samples.model import Tensor

NODE = {"real": "uint8", "quantized": "int32"}
OF_W = NODE | {"form": 2}  # with a zero point of w alone
ONES = {2: 0.0, 3: 0.0}  # zero points of 0, everything else of 1
KERNEL = 1  # the number of the input w


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    x, w = wanted.real or draw(st.sampled_from(BYTES)), draw(st.sampled_from(BYTES))
    drawn, points = convolution(draw, wanted.rank), draw(st.booleans())
    form = draw(st.sampled_from((0, 0, 0, 1, 2)))
    node: dict[str, Any] = {"real": x, "quantized": "int32", "scale": w, "attributes": dict(drawn.attributes)}
    node |= {"zero_point": points, "form": form}
    tensors = (bytes_of(draw, x, drawn.x), bytes_of(draw, w, drawn.w))
    if not points:
        return node, tensors
    channels = drawn.w[:1] if draw(st.booleans()) else ()
    both = bytes_of(draw, x, ()), bytes_of(draw, w, channels)
    return node, (*tensors, *(both, both[:1], both[1:])[form])


def probe(label: str, x: str, w: str, parameters: tuple[int, int, int], values: tuple[int, ...], scanned: int = 0,
          *, constants_only: bool = False) -> PathProbe:  # fmt: skip
    """`parameters` are the weight and both zero points."""
    node = {"real": x, "quantized": "int32", "scale": w}
    return PathProbe(label, node, parameters, values, scanned, constants_only, ImageLayout(KERNEL))


# Weights and zero points of every kind, with which each parameter is a constant by itself.
CONSTANTS = (("zero", (127, 0, 0)), ("middle", (1, 128, 0)), ("end", (-128, 255, -128)), ("odd", (-1, 77, 101)))
PATH_PROBES = (
    probe("uint8-uint8", "uint8", "uint8", (255, 128, 127), (255, 0, 254, 1, 127, 129, 128), 4),
    probe("uint8-int8", "uint8", "int8", (-128, 3, 0), (255, 0, 254, 2, 128, 4, 3)),
    probe("int8-int8", "int8", "int8", (127, -128, -128), (127, -128, -127, 0, 1, -1, 5)),
    probe("int8-uint8", "int8", "uint8", (255, 127, 0), (127, -128, -127, 0, 1, -1, 5)),
    *(
        probe(f"{name}-points", "uint8", "int8", parameters, (255, 0, 254, 2, 128, 4, 7), constants_only=True)
        for name, parameters in CONSTANTS
    ),
)
FORBIDDEN = (
    *forbidden_shapes("OCI", NODE, 4, 1, ONES),
    ForbiddenCall("OCI-T1", "a uint8 output", ((1, 1, 3), (1, 1, 1), (), ()), NODE, output="uint8", values=ONES),
    ForbiddenCall("OCI-S2", "a zero point of x with three values", ((1, 1, 3), (1, 1, 1), (3,), ()), NODE, values=ONES),
    ForbiddenCall("OCI-G7", "three zero points for one channel", ((1, 1, 3), (1, 1, 1), (), (3,)), NODE, values=ONES),
    ForbiddenCall("OCI-G7", "three zero points for one channel, none of x", ((1, 1, 3), (1, 1, 1), (3,)), OF_W),
    ForbiddenCall("OCI-V1", "operator set 9", ((1, 1, 3), (1, 1, 1), (), ()), NODE, opset=9, values=ONES),
)
TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it has no scale: its result is a sum of products"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    layers=integer_convolutions,
    path_probes=PATH_PROBES,
    axis=Axis(laid_out=True),
    forbidden_calls=FORBIDDEN,
    situations={"a zero point for each channel": several("w_zero_point")},
    semantics=AuditedSemantics(ByteProducts, never_elementwise, role_of=role_of_byte_products, as_called=as_pixels),
    swept_factor="w",
    swept_axes=3,
)
