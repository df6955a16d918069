"""FakeQuantize and FakeQuantWithMinMaxVars as torch.fake_quantize_*, where the documents make them equal.

torch computes (min(quant_max, max(quant_min, nearby_int(x / scale) + zero_point)) - zero_point) * scale. Let
low = (quant_min - zero_point) * scale and high = (quant_max - zero_point) * scale, with 0 on the grid. Then this is
OpenVINO's formula with equal input and output limits, and TensorFlow's with nothing to adjust. A step that is no
float32 is rounded to the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.adapters.torch_calls import Argument, Call, Plan, number_argument, tensor_argument
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, decode, encode
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

NUM_BITS = range(2, 17)
FLOAT32, INT32 = FLOAT_TYPES["float32"], INTEGER_TYPES["int32"]


def openvino(library: Any, node: Node) -> Plan:
    if "auto_broadcast" in node.attributes:
        raise Unsupported("fake_quantize has no auto_broadcast: its scales are one, or one for each index of an axis")
    steps = int(node.attributes["levels"]) - 1

    def call(x: Array, *limits: Array) -> Call:
        low, high = limits_of(*limits)
        axis = limits_axis(x.shape, low.shape)
        shape = () if axis is None else (-1,)
        return fake_quantize_call(library, node, x, (low.reshape(shape), high.reshape(shape)), (0, steps), axis)

    return fake_quantize_plan(library, node, call, (0, steps))


def tensorflow(library: Any, node: Node) -> Plan:
    """The range is a scalar, or by the operator's name one for each index of the last axis."""
    levels, per_channel = levels_of(node), node.operator.endswith("PerChannel")

    def call(x: Array, low: Array, high: Array) -> Call:
        check_range(low, high)
        return fake_quantize_call(library, node, x, (low, high), levels, x.ndim - 1 if per_channel else None)

    return fake_quantize_plan(library, node, call, levels)


def levels_of(node: Node) -> tuple[int, int]:
    """quant_min and quant_max. Unsupported for widths of which TensorFlow's document does not say what they mean."""
    bits = node.value("num_bits")
    if bits not in NUM_BITS:
        raise Unsupported(f"fake_quantize has no num_bits, whose meaning is known for 2 to 16, not for {bits}")
    return int(node.value("narrow_range")), (1 << bits) - 1


def check_range(low: Array, high: Array) -> None:
    if low.shape != high.shape:
        raise Unsupported(f"fake_quantize has scales of one shape, not of {list(low.shape)} and {list(high.shape)}")
    if np.any(low > 0) or np.any(high < 0):
        raise Unsupported("a range without 0 is moved, which fake_quantize does not do")


def limits_of(input_low: Array, input_high: Array, output_low: Array, output_high: Array) -> tuple[Array, Array]:
    """The limits of input and output alike. Unsupported if they differ, or have more than one shape."""
    shapes = {limit.shape for limit in (input_low, input_high, output_low, output_high)}
    if len(shapes) > 1:
        raise Unsupported(f"fake_quantize has scales of one shape, not of {' and '.join(map(str, sorted(shapes)))}")
    if not (same_values(input_low, output_low) and same_values(input_high, output_high)):
        raise Unsupported("fake_quantize gives its output the limits of its input")
    return input_low, input_high


def fake_quantize_plan(library: Any, node: Node, call: Callable[..., Call], levels: tuple[int, int]) -> Plan:
    """A plan whose probe has one element and scale 1."""
    x = tensor_argument(library, node.inputs[0].name, np.zeros(1, node.inputs[0].dtype))
    given = parameters(library, node, [(1.0, 0)], ())
    probe = Call("fake_quantize_per_tensor_affine", (x, *given, *map(number_argument, levels)))
    form = "numbers" if as_numbers(node) else "tensors"
    return Plan(call, probe, f"fake_quantize_per_tensor_affine and _per_channel_affine, parameters as {form}")


def same_values(first: Array, second: Array) -> bool:
    return bool(np.all(first.astype(np.float64) == second.astype(np.float64)))


def as_numbers(node: Node) -> bool:
    return all(tensor.name in node.constants for tensor in node.inputs[1:])


def fake_quantize_call(
    library: Any, node: Node, x: Array, limits: tuple[Array, Array], levels: tuple[int, int], axis: int | None
) -> Call:
    """The call for limits of one shape, which scale and zero point get too; torch judges it."""
    ends_of_each = zip(*(limit.astype(np.float64).reshape(-1).tolist() for limit in limits), strict=True)
    given = [affine(first, last, levels) for first, last in ends_of_each]
    tensor, ends = tensor_argument(library, node.inputs[0].name, x), map(number_argument, levels)
    scale_and_zero = parameters(library, node, given, limits[0].shape)
    if axis is None:
        return Call("fake_quantize_per_tensor_affine", (tensor, *scale_and_zero, *ends))
    return Call("fake_quantize_per_channel_affine", (tensor, *scale_and_zero, number_argument(axis), *ends))


def limits_axis(shape: Sequence[int], limits: Sequence[int]) -> int | None:
    """The one axis of x on which the limits vary; None if there is one pair of limits."""
    if len(limits) > len(shape):
        raise Unsupported(f"fake_quantize has no limits of more axes than x has: {list(limits)} and {list(shape)}")
    varied = [index - len(limits) + len(shape) for index, size in enumerate(limits) if size != 1]
    if len(varied) > 1:
        raise Unsupported("fake_quantize has one axis of scales at most")
    return varied[0] if varied else None


def affine(low: float, high: float, levels: tuple[int, int]) -> tuple[float, int]:
    """The float32 next to the step of these limits, and the zero point. Unsupported if 0 is not on their grid.

    A model's ranges are rounded in the same way when they become scales, so a step that is no float32 is no reason to
    refuse it.
    """
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise Unsupported("fake_quantize has no limits that are equal, reversed or not finite")
    if levels[0] == levels[1]:
        raise Unsupported("fake_quantize has no scale for one level")
    scale = (Fraction(high) - Fraction(low)) / (levels[1] - levels[0])
    rounded = float(decode(encode(scale, FLOAT32), FLOAT32))
    if rounded == 0 or not np.isfinite(rounded):
        raise Unsupported("the scale that means these limits, (high - low) / (levels - 1), is beyond float32")
    zero_point = levels[0] - Fraction(low) / scale
    if zero_point.denominator != 1 or not INT32.lowest <= zero_point <= INT32.highest:
        raise Unsupported("no int32 is the zero point that means these limits: 0 is not on their grid")
    return rounded, int(zero_point)


def parameters(
    library: Any, node: Node, given: Sequence[tuple[float, int]], shape: tuple[int, ...]
) -> tuple[Argument, ...]:
    """Scale and zero point: float32 and int32 tensors, or Python numbers where the limits are scalar constants."""
    if shape == () and as_numbers(node):
        return tuple(map(number_argument, given[0]))
    columns = [scale for scale, _ in given], [zero_point for _, zero_point in given]
    values = [np.reshape(np.array(column, object), shape).tolist() for column in columns]
    return tuple(
        Argument(library.tensor(value, dtype=getattr(library, kind)), f"torch.tensor({value}, dtype=torch.{kind})")
        for value, kind in zip(values, ("float32", "int32"), strict=True)
    )


PLANNERS = {
    "openvino.FakeQuantize": openvino,
    "tensorflow.FakeQuantWithMinMaxVars": tensorflow,
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": tensorflow,
}
FORMULA = "(clamp(nearby_int(x / scale) + zero_point) - zero_point) * scale"
MAPS = {
    "openvino.FakeQuantize": f"fake_quantize_*: {FORMULA}, with equal limits of input and output",
    "tensorflow.FakeQuantWithMinMaxVars": f"fake_quantize_*: {FORMULA}, with 0 inside the range",
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": f"fake_quantize_*: {FORMULA}, with 0 inside the range",
}
