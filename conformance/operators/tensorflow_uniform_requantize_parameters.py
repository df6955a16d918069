"""The parameters of `tensorflow.UniformRequantize`: ends of both sides, and what each element takes."""

from __future__ import annotations

from tiebreak.conformance.judging.misplaced import Misplace
from tiebreak.conformance.operators.tensorflow_uniform import IN_PLACE, taken
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Places = tuple[Misplace, Misplace]
Ends = tuple[int, int]


def ends_of(node: Node) -> Ends:
    return int(node.value("output_quantization_min_val")), int(node.value("output_quantization_max_val"))


def input_ends_of(node: Node) -> Ends:
    return int(node.value("input_quantization_min_val")), int(node.value("input_quantization_max_val"))


def spread(
    node: Node, x: Array, parameters: tuple[Array, ...], places: Places = IN_PLACE
) -> tuple[Array, Array, Array, Array]:
    """Scale and zero point of either side for each element, of x's shape."""
    axes = [int(node.value(f"{side}_quantization_axis")) for side in ("input", "output")]
    s_in, z_in, s_out, z_out = parameters
    first, last = taken(x, axes[0], s_in, z_in, places), taken(x, axes[1], s_out, z_out, places)
    return first[0], first[1], last[0], last[1]
