"""Backends as a user would write them, for the worker to load: sound, wrong, and misbehaving in every way."""

from __future__ import annotations

import ctypes
import os
import subprocess
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


def abort_always(*_: Any) -> Any:
    os.abort()


def abort_at_int8(node: Any, *inputs: Any) -> Any:
    if node.outputs[0].dtype == np.int8:
        os.abort()
    return quantize(node, *inputs)


def hang(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        time.sleep(3600)
    return quantize(node, x, *rest)


def leave(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        os._exit(3)
    return quantize(node, x, *rest)


def segfault(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        ctypes.string_at(0)
    return quantize(node, x, *rest)


HELD: list[Any] = []


def hog(node: Any, x: Any, *rest: Any) -> Any:
    while x.size == 7:
        HELD.append(np.ones(1 << 22))  # 32 MiB each, touched
    return quantize(node, x, *rest)


def leak(node: Any, x: Any, *rest: Any) -> Any:
    HELD.append(np.ones(1 << 21))  # 16 MiB each, touched
    return quantize(node, x, *rest)


def too_large(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        np.empty(1 << 60, np.uint8)
    return quantize(node, x, *rest)


def flicker(node: Any, x: Any, *rest: Any) -> Any:
    (y,) = quantize(node, x, *rest)
    if x.size == 7:
        HELD.append(None)
        y[3] = len(HELD)
    return (y,)


def close_pipe(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        os.closerange(3, 256)
        time.sleep(3600)
    return quantize(node, x, *rest)


def revenge(node: Any, x: Any, *rest: Any) -> Any:
    if HELD and x.size == 6:
        os.abort()
    if x.size == 7:
        HELD.append(None)
    return quantize(node, x, *rest)


def fork(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        if os.fork() == 0:
            time.sleep(3600)
        os.abort()
    return quantize(node, x, *rest)


def fork_and_return(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        os.fork()
    return quantize(node, x, *rest)


def surrogate(node: Any, *inputs: Any) -> Any:
    raise RuntimeError("bad \ud800 text")


class Compiling(Sample):
    """Compiles in a way of its own."""

    def compile(self, node: Any) -> Any:
        return self.run(node)


def compile_badly(node: Any) -> Any:
    if node.outputs[0].dtype == np.int8:
        os.abort()
    return lambda *inputs: quantize(node, *inputs)


compiles_nothing = Compiling("compiles nothing", lambda node: None)
compiles_badly = Compiling("compiles badly", compile_badly)


def children(node: Any, x: Any, *rest: Any) -> Any:
    if x.size == 7:
        subprocess.Popen(["sleep", f"3600.{os.getppid()}"], start_new_session=True)  # a killed group leaves it
        subprocess.run(["sleep", f"3600.{os.getppid()}"], check=True)
    return quantize(node, x, *rest)


def noted(node: Any, x: Any, *rest: Any) -> Any:
    """Adds a line to a file for each call and takes its time, so that a run of it can be interrupted."""
    with open(os.environ["TIEBREAK_TEST_NOTES"], "a", encoding="utf-8") as file:
        file.write(f"{node.key} {x.tobytes().hex()} {[array.tobytes().hex() for array in rest]}\n")
    time.sleep(0.004)
    return abort(node, x, *rest)


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
always_aborts = Sample("always aborts", abort_always)
aborts_at_int8 = Sample("aborts at int8", abort_at_int8)
stops = Sample("stops", lambda node, *inputs: abort(node, *inputs) if inputs[0].size == 7 else wrong.run(node, *inputs))
segfaults = Sample("segfaults", segfault)
hogs = Sample("hogs", hog)
leaks = Sample("leaks", leak)
allocates_too_much = Sample("allocates too much", too_large)
flickers = Sample("flickers", flicker)
closes_pipe = Sample("closes its pipe", close_pipe)
avenges = Sample("avenges", revenge)
starts_children = Sample("starts children", children)
forks_and_returns = Sample("forks and returns", fork_and_return)
surrogates = Sample("surrogates \ud800", surrogate)
forks = Sample("forks", fork)
notes = Sample("notes", noted)
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


class Shown(Sample):
    """Writes reproducers."""

    def reproducer(self, node: Any, inputs: Any) -> str:
        return (
            'outputs = (np.clip(np.copysign(np.floor(np.abs(x / y_scale) + 0.5), x), 0, 255).astype("uint8"),)\n'
            f'library = "{self.name} 1.0"'
        )


shown = Shown("shown", lambda node, *inputs: quantize(node, *inputs, rint=half_away))


def factory() -> Sample:
    return Sample("made", quantize)


def fails() -> Sample:
    raise OSError("no device")
