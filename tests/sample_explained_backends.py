"""Wrong backends whose results every stage that looks for causes has to do with."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak import Unsupported
from tiebreak.golden.nodes import Case

ZERO = np.uint8(0)


def telling(case: Case) -> bool:
    """Path probes of one short array: enough to find that answers depend on the place."""
    return case.id.startswith("path/") and case.inputs[0].shape in ((17,), (3,))


class WrongRange:
    """tensorflow.QuantizeV2, one range or one for each index of an axis, that truncates and is one off."""

    name = "wrong range"
    version = "1"
    operators = {"tensorflow.QuantizeV2"}  # noqa: RUF012 - as in the documents

    def compile(self, node: Any) -> Any:
        kind, axis = np.iinfo(node.outputs[0].dtype), int(node.attributes.get("axis", -1))
        if node.attributes.get("mode", "MIN_COMBINED") != "MIN_COMBINED":
            raise Unsupported("MIN_COMBINED only")

        def run(x: Any, low: Any, high: Any) -> Any:
            first, last = (laid_along(end, axis, x.ndim) for end in (low, high))
            with np.errstate(all="ignore"):
                steps = np.trunc((np.clip(x, first, last) - first) * np.float32(255) / (last - first))
                return np.clip(np.nan_to_num(steps) + kind.min + 1, kind.min, kind.max).astype(kind.dtype), low, high

        return run


def laid_along(parameter: Any, axis: int, rank: int) -> Any:
    """A parameter with one value for each index of an axis, shaped to broadcast."""
    return parameter if parameter.ndim == 0 else parameter.reshape([-1 if at == axis else 1 for at in range(rank)])


class WrongTies:
    """onnx.QuantizeLinear per tensor that rounds half away from zero."""

    name = "wrong ties"
    version = "1"
    operators = {"onnx.QuantizeLinear"}  # noqa: RUF012 - as in the documents

    def compile(self, node: Any) -> Any:
        kind = np.iinfo(node.outputs[0].dtype)

        def run(x: Any, scale: Any, zero_point: Any = ZERO) -> Any:
            if scale.size != 1:
                raise Unsupported("per tensor only")
            with np.errstate(all="ignore"):
                q = x / scale.reshape(())
                rounded = np.copysign(np.floor(np.abs(q) + np.float32(0.5)), q) + np.float32(zero_point.reshape(()))
                return (np.clip(np.nan_to_num(rounded), kind.min, kind.max).astype(kind.dtype),)

        return run


class WrongTail:
    """FakeQuantize and QuantizeLinear that are right but for the elements after the last whole vector of 8."""

    name = "wrong tail"
    version = "1"
    operators = {"onnx.QuantizeLinear", "openvino.FakeQuantize"}  # noqa: RUF012 - as in the documents

    def compile(self, node: Any) -> Any:
        if node.operator == "openvino.FakeQuantize":
            return lambda *inputs: (fake(int(node.attributes["levels"]), *inputs),)
        kind = np.iinfo(node.outputs[0].dtype)

        def run(x: Any, scale: Any, zero_point: Any = ZERO) -> Any:
            if scale.size != 1:
                raise Unsupported("per tensor only")
            with np.errstate(all="ignore"):
                rounded = np.rint(x / scale.reshape(())).reshape(-1)
                rounded[rounded.size - rounded.size % 8 :] += 1
                rounded = np.nan_to_num(rounded + np.float32(zero_point.reshape(())))
                return (np.clip(rounded, kind.min, kind.max).astype(kind.dtype).reshape(x.shape),)

        return run


def fake(levels: int, x: Any, low: Any, high: Any, first: Any, last: Any) -> Any:
    """The document's formula with a rounded reciprocal in the place of its division."""
    with np.errstate(all="ignore"):
        place = np.rint((x - low) * (np.float32(1) / (high - low)) * np.float32(levels - 1))
        inside = place / np.float32(levels - 1) * (last - first) + first
        return np.where(x <= np.minimum(low, high), first, np.where(x > np.maximum(low, high), last, inside)).astype(
            x.dtype
        )
