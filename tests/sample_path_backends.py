"""Backends as a user would write them, each wrong on one path only; and right ones, however they get there."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak import Unsupported

LARGE = 1 << 15


class Quantizer:
    """float32 to 8 bits; `round_quotient(x, scale, where)` is told what it is given: shape, granularity, constants."""

    version = "1.0"
    operators = {"onnx.QuantizeLinear"}  # noqa: RUF012 - as in the documents
    takes_constants = True

    def __init__(self, name: str, round_quotient: Any) -> None:
        self.name, self.round_quotient = name, round_quotient

    def compile(self, node: Any) -> Any:
        if node.inputs[0].dtype != np.float32 or node.outputs[0].dtype not in (np.int8, np.uint8):
            raise Unsupported("float32 to 8 bits only")
        if set(node.attributes) - {"axis"}:
            raise Unsupported("an axis is all it knows")
        return lambda *inputs: (self.quantize(node, *inputs),)

    def quantize(self, node: Any, x: Any, scale: Any, zero_point: Any) -> Any:
        where = {"constants": set(node.constants), "per_axis": scale.size > 1, "shape": x.shape}
        full_scale, full_zero = (spread(node, x, parameter) for parameter in (scale, zero_point))
        info = np.iinfo(node.outputs[0].dtype)
        with np.errstate(all="ignore"):
            rounded = self.round_quotient(x.reshape(-1), full_scale, where).astype(np.float64)
        result = np.clip(np.nan_to_num(rounded + full_zero), info.min, info.max)
        return result.astype(node.outputs[0].dtype).reshape(x.shape)


def spread(node: Any, x: Any, parameter: Any) -> Any:
    """One value of a parameter for each element."""
    shape = [1] * x.ndim
    if parameter.size > 1:
        shape[node.attributes.get("axis", 1)] = -1
    return np.ascontiguousarray(np.broadcast_to(parameter.reshape(shape), x.shape)).reshape(-1)


def divided(x: Any, scale: Any) -> Any:
    return np.rint(x / scale)


def multiplied(x: Any, scale: Any) -> Any:
    return np.rint(x * (np.float32(1) / scale))


def away(x: Any, scale: Any) -> Any:
    q = x / scale
    return np.copysign(np.floor(np.abs(q) + np.float32(0.5)), q)


def reciprocal_body(width: int) -> Any:
    """A vector loop that multiplies by the reciprocal, and a scalar one that divides what it leaves."""

    def round_quotient(x: Any, scale: Any, where: Any) -> Any:
        body = x.size - x.size % width
        return np.concatenate([multiplied(x[:body], scale[:body]), divided(x[body:], scale[body:])])

    return round_quotient


def tensor_body(x: Any, scale: Any, where: Any) -> Any:
    """A vector loop for one scale only."""
    return divided(x, scale) if where["per_axis"] else reciprocal_body(8)(x, scale, where)


def short_arrays_away(x: Any, scale: Any, where: Any) -> Any:
    return away(x, scale) if x.size < 4 else divided(x, scale)


def constant_scale(x: Any, scale: Any, where: Any) -> Any:
    return multiplied(x, scale) if "y_scale" in where["constants"] else divided(x, scale)


def one_constant(x: Any, scale: Any, where: Any) -> Any:
    return multiplied(x, scale) if len(where["constants"]) == 1 else divided(x, scale)


def per_axis_away(x: Any, scale: Any, where: Any) -> Any:
    return away(x, scale) if where["per_axis"] else divided(x, scale)


def large_away(x: Any, scale: Any, where: Any) -> Any:
    return away(x, scale) if x.size > LARGE else divided(x, scale)


def scalars_away(x: Any, scale: Any, where: Any) -> Any:
    return divided(x, scale) if where["shape"] else away(x, scale)


def nan_in_the_tail(x: Any, scale: Any, where: Any) -> Any:
    """Right wherever the document says something; NaN gives 0 in vectors of 4 and the highest value after them."""
    result = divided(x, scale)
    body = x.size - x.size % 4
    result[body:][np.isnan(x[body:])] = np.inf
    return result


body_8 = Quantizer("body of 8", reciprocal_body(8))
body_16 = Quantizer("body of 16", reciprocal_body(16))
body_32 = Quantizer("body of 32", reciprocal_body(32))
tensor_body_8 = Quantizer("body of 8 per tensor", tensor_body)
short_arrays = Quantizer("short arrays", short_arrays_away)
constant_scales = Quantizer("constant scales", constant_scale)
per_axis = Quantizer("per axis", per_axis_away)
large_arrays = Quantizer("large arrays", large_away)
scalars = Quantizer("scalars", scalars_away)
nan_tail = Quantizer("NaN in the tail", nan_in_the_tail)
right = Quantizer("right", lambda x, scale, where: divided(x, scale))
always_away = Quantizer("always away", lambda x, scale, where: away(x, scale))
always_multiplied = Quantizer("always multiplied", lambda x, scale, where: multiplied(x, scale))


class Untold(Quantizer):
    """Takes no constants."""

    takes_constants = False


untold = Untold("untold", constant_scale)
