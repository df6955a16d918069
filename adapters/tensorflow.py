"""TensorFlow's QuantizeV2 in SCALED mode, for the ngraph.Quantize cases to which it is equal by its own document.

QuantizeV2 SCALED gives round(min(max_range, max(min_range, x)) * scale_factor), where scale_factor is the largest
factor that keeps [min_range, max_range] inside the output type. With min_range = lowest * s and max_range =
highest * s it is 1 / s; for s a power of two the product is x / s exactly. There is no zero point.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tiebreak.adapters.platform_facts import instruction_sets
from tiebreak.adapters.protocol import Run
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.nodes import Array, Node

ROUND_MODES = {
    "ROUND_NEAREST_TOWARD_EVEN": "HALF_TO_EVEN",
    "ROUND_NEAREST_TOWARD_INFINITY": "HALF_AWAY_FROM_ZERO",
}
TYPES = ("int8", "uint8", "int16", "uint16")


class TensorFlow:
    """`onednn` None leaves oneDNN as TensorFlow ships it; False turns it off, which needs a process of its own."""

    operators = frozenset({"ngraph.Quantize"})

    def __init__(self, name: str = "tensorflow", *, onednn: bool | None = None) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        if onednn is not None:
            os.environ["TF_ENABLE_ONEDNN_OPTS"] = str(int(onednn))
        import tensorflow

        self.name, self.library = name, tensorflow
        self.version = str(tensorflow.__version__)
        self.devices: set[str] = set()

    def compile(self, node: Node) -> Run:
        quantized = node.outputs[0].dtype.name
        refuse(node, quantized)
        axes = node.attributes.get("axes", ())

        def run(x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
            low, high = ranges(scale, zero_point, quantized)
            return (self.quantize(x, low, high, node.round_mode, quantized, axes[0] if axes else -1),)

        return run

    def quantize(self, x: Array, low: Array, high: Array, mode: str, quantized: str, axis: int) -> Array:
        errors = self.library.errors
        try:
            result = self.library.raw_ops.QuantizeV2(
                input=x,
                min_range=low,
                max_range=high,
                T=getattr(self.library, f"q{quantized}"),
                mode="SCALED",
                round_mode=ROUND_MODES[mode],
                narrow_range=False,
                axis=axis,
                ensure_minimum_range=0.0,
            )
        except (errors.InvalidArgumentError, errors.UnimplementedError, errors.NotFoundError) as error:
            raise Unsupported(error.message) from None
        self.devices.add(str(result.output.device))
        plain: Array = self.library.bitcast(result.output, getattr(self.library, quantized)).numpy()
        return plain

    def attest(self) -> dict[str, str]:
        return {
            "library": str(self.library.__file__),
            "tensorflow": self.version,
            "operator": "QuantizeV2, SCALED, eager",
            "oneDNN": onednn_state(),
            "TF_ENABLE_ONEDNN_OPTS": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "as shipped"),
            "instruction sets": instruction_sets(),
            "ran": ", ".join(sorted(self.devices)) or "nothing",
        }


def without_onednn() -> TensorFlow:
    return TensorFlow("tensorflow-no-onednn", onednn=False)


def refuse(node: Node, quantized: str) -> None:
    """Unsupported for nodes that QuantizeV2 SCALED is not equal to."""
    if node.round_mode not in ROUND_MODES:
        raise Unsupported(f"QuantizeV2 has no {node.round_mode}; it has {', '.join(ROUND_MODES.values())}")
    if node.inputs[0].dtype != np.float32:
        raise Unsupported(f"QuantizeV2 takes float32, not {node.inputs[0].dtype.name}")
    if quantized not in TYPES:
        raise Unsupported(f"QuantizeV2 SCALED is not exactly ngraph.Quantize for {quantized}")
    if len(node.attributes.get("axes", ())) > 1:
        raise Unsupported("QuantizeV2 has one axis at most")


def ranges(scale: Array, zero_point: Array, quantized: str) -> tuple[Array, Array]:
    """min_range and max_range for which scale_factor is 1 / scale; Unsupported where it cannot be exactly so."""
    if np.any(zero_point):
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


def onednn_state() -> str:
    """Whether oneDNN kernels are on, as TensorFlow's own switch says."""
    try:
        from tensorflow.python.util import _pywrap_util_port
    except ImportError:
        return "unknown"
    state: Any = _pywrap_util_port.IsMklEnabled()
    return "on" if state else "off"
