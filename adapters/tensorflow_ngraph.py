"""QuantizeV2 in SCALED mode, for the ngraph.Quantize cases that its document makes equal.

QuantizeV2 SCALED gives round(min(max_range, max(min_range, x)) * scale_factor), where scale_factor is the largest
factor that keeps [min_range, max_range] inside the output type. With min_range = lowest * s and max_range =
highest * s it is 1 / s; for s a power of two the product is x / s exactly. There is no zero point. An
ensure_minimum_range of 0 leaves the range as it is; QuantizeV2's own default would widen it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tiebreak.adapters.inexpressible import check_axes_from_front, check_output_type
from tiebreak.adapters.protocol import Run
from tiebreak.adapters.tensorflow_raw import RawOperators
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import EVEN

ROUND_MODES = {
    EVEN: "HALF_TO_EVEN",
    "ROUND_NEAREST_TOWARD_INFINITY": "HALF_AWAY_FROM_ZERO",
}
TYPES = ("int8", "uint8", "int16", "uint16")


def compile_quantize(backend: RawOperators, node: Node) -> Run:
    quantized, library = node.outputs[0].dtype.name, backend.library
    refuse_unequal(node, quantized)
    axes = node.attributes.get("axes", ())
    axis = {"axis": axes[0]} if axes else {}
    constants = ranges_that_are_constants(node)

    def run(x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
        low, high = ranges_of_scale(scale, zero_point, quantized)
        result = backend.call(
            "QuantizeV2",
            constants,
            input=x,
            min_range=low,
            max_range=high,
            T=getattr(library, f"q{quantized}"),
            mode="SCALED",
            round_mode=ROUND_MODES[node.round_mode],
            ensure_minimum_range=0.0,
            **axis,
        )
        return (library.bitcast(result.output, getattr(library, quantized)).numpy(),)

    return run


def ranges_that_are_constants(node: Node) -> tuple[str, ...]:
    """The scale alone makes the range: the zero point is always 0."""
    return ("min_range", "max_range") if node.inputs[1].name in node.constants else ()


def refuse_unequal(node: Node, quantized: str) -> None:
    """Raise Unsupported for nodes that QuantizeV2 SCALED does not equal."""
    if node.round_mode not in ROUND_MODES:
        raise Unsupported(f"QuantizeV2 has no {node.round_mode}; it has {', '.join(ROUND_MODES.values())}")
    if node.inputs[0].dtype != np.float32:
        raise Unsupported(f"QuantizeV2 takes float32, not {node.inputs[0].dtype.name}")
    if quantized not in TYPES:
        raise Unsupported(f"QuantizeV2 SCALED is not exactly ngraph.Quantize for {quantized}")
    check_output_type(node, "QuantizeV2")
    check_axes_from_front(node, "QuantizeV2")


def ranges_of_scale(scale: Array, zero_point: Array, quantized: str) -> tuple[Array, Array]:
    """min_range and max_range that make scale_factor exactly 1 / scale. Unsupported if there are none."""
    if np.any(zero_point) or zero_point.shape != scale.shape:
        raise Unsupported("QuantizeV2 SCALED has no zero point")
    mantissa = np.frexp(scale)[0]
    if not np.all(mantissa == 0.5):
        raise Unsupported("QuantizeV2 SCALED multiplies by 1 / scale, which is division only for powers of two")
    kind = INTEGER_TYPES[quantized]
    with np.errstate(over="ignore"):
        low, high = np.float32(kind.lowest) * scale, np.float32(kind.highest) * scale
        usable = np.isfinite(high) & np.isfinite(low) & np.isfinite(np.float32(1) / scale)
    if not np.all(usable & (high / scale == kind.highest) & (np.abs(scale) >= np.finfo(np.float32).tiny)):
        raise Unsupported("the range that means this scale is beyond float32")
    return np.asarray(low, np.float32), np.asarray(high, np.float32)


COMPILERS: dict[str, Callable[[RawOperators, Node], Run]] = {"ngraph.Quantize": compile_quantize}
MAPS = {"ngraph.Quantize": "QuantizeV2 in SCALED mode: the same for scales that are powers of two and no zero point"}
