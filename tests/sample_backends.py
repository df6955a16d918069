"""Backends as a user would write them, for the worker to load: sound, wrong, and misbehaving in every way."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np

from tiebreak import Unsupported


class Sample:
    version = "1.0"
    operators = {"onnx.QuantizeLinear"}  # noqa: RUF012 - as in the documents

    def __init__(self, name: str, run: Any) -> None:
        self.name, self.run = name, run

    def compile(self, node: Any) -> Any:
        return lambda *inputs: self.run(node, *inputs)


def quantize(node: Any, x: Any, scale: Any, zero_point: Any = None, *, rint: Any = np.rint) -> Any:
    if node.inputs[0].dtype != np.float32 or node.outputs[0].dtype not in (np.int8, np.uint8):
        raise Unsupported("float32 to 8 bits only")
    if set(node.attributes) - {"axis"} or scale.dtype != np.float32 or scale.ndim > 1:
        raise Unsupported("one float32 scale, or one for each index of an axis")
    zero_point = np.uint8(0) if zero_point is None else zero_point
    if np.ndim(scale):
        shape = [1] * x.ndim
        shape[node.attributes.get("axis", 1)] = -1
        scale, zero_point = scale.reshape(shape), zero_point.reshape(shape)
    info = np.iinfo(node.outputs[0].dtype)
    with np.errstate(all="ignore"):
        q = rint(np.asarray(x / scale, np.float64)) + zero_point
    return (np.clip(np.nan_to_num(q), info.min, info.max).astype(node.outputs[0].dtype),)


def half_away(q: Any) -> Any:
    return np.copysign(np.floor(np.abs(q) + 0.5), q)


def abort(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        print("about to abort", file=sys.stderr, flush=True)
        os.abort()
    return quantize(node, x, *rest)


def hang(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        time.sleep(3600)
    return quantize(node, x, *rest)


def leave(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        os._exit(3)
    return quantize(node, x, *rest)


def chatter(node: Any, *inputs: Any) -> Any:
    print("{'not': a frame}\n" * 3)
    os.write(1, b"\x00garbage\n")
    return quantize(node, *inputs)


def writes(node: Any, x: Any, *rest: Any) -> Any:
    x += 0
    return quantize(node, x, *rest)


def broken(node: Any, *inputs: Any) -> Any:
    raise RuntimeError("<b>no & never</b>\nsecond line")


sound = Sample("sound", quantize)
wrong = Sample("wrong", lambda node, *inputs: quantize(node, *inputs, rint=half_away))
aborts = Sample("aborts", abort)
hangs = Sample("hangs", hang)
leaves = Sample("leaves", leave)
chatters = Sample("chatters", chatter)
writer = Sample("writer", writes)
raises = Sample("raises", broken)
wrong_type = Sample("wrong type", lambda node, *inputs: (quantize(node, *inputs)[0].astype(np.int64),))
wrong_shape = Sample("wrong shape", lambda node, *inputs: (quantize(node, *inputs)[0].reshape(-1)[:-1],))
two_outputs = Sample("two outputs", lambda node, *inputs: quantize(node, *inputs) * 2)
no_tuple = Sample("no tuple", lambda node, *inputs: "nothing")
objects = Sample("objects", lambda node, *inputs: (np.array([object()]),))
hostile = Sample("<script>alert('name')</script>[red]", lambda node, *inputs: quantize(node, *inputs, rint=half_away))
hostile.version = "\x1b[31m<img src=x onerror=alert(1)>"
nameless = object()


def factory() -> Sample:
    return Sample("made", quantize)


def fails() -> Sample:
    raise OSError("no device")
