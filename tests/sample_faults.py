"""Backends that are sound but for one case, of 7 elements, in which each does something that no backend should."""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sample_backends import Sample, quantize

LIBM = ctypes.CDLL("libm.so.6")
KEPT: list[Any] = []


def fault(bad: Callable[..., Any]) -> Sample:
    """A backend that does this to 7 elements, and then answers, unless `bad` gives another answer."""

    def run(node: Any, x: Any, *rest: Any) -> Any:
        answer = bad(node, x, *rest) if x.size == 7 else None
        return quantize(node, x, *rest) if answer is None else answer

    return Sample(bad.__name__, run)


# How a process ends.


@fault
def exits_in_a_thread(*_: Any) -> None:
    threading.Thread(target=os._exit, args=(5,)).start()
    time.sleep(60)


@fault
def stops_itself(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def kills_itself(number: signal.Signals) -> Sample:
    def kill(*_: Any) -> None:
        os.kill(os.getpid(), number)

    kill.__name__ = f"kills itself by {number.name}"
    return fault(kill)


sigterm, sigint, sighup = (kills_itself(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
sigpipe, sigalrm, sigxcpu = (kills_itself(number) for number in (signal.SIGPIPE, signal.SIGALRM, signal.SIGXCPU))
sigkill, sigusr1, sigfpe = (kills_itself(number) for number in (signal.SIGKILL, signal.SIGUSR1, signal.SIGFPE))


@fault
def overflows_the_stack(*_: Any) -> None:
    callback = ctypes.CFUNCTYPE(None)
    sys.setrecursionlimit(1 << 30)

    def deeper() -> None:
        callback(deeper)()

    deeper()


class Explosive(np.ndarray):
    """An array that ends the process when it is let go."""

    def __del__(self) -> None:
        os.abort()


@fault
def outputs_that_kill_when_let_go(node: Any, *inputs: Any) -> Any:
    return (quantize(node, *inputs)[0].view(Explosive),)


@fault
def hangs_when_it_ends(*_: Any) -> None:
    atexit.register(time.sleep, 3600)


@fault
def traps_floating_point(*_: Any) -> None:
    LIBM.feenableexcept(0x3D)


# What run() raises.


def raising(error: Callable[[], BaseException], name: str) -> Sample:
    def bad(*_: Any) -> None:
        raise error()

    bad.__name__ = name
    return fault(bad)


class Unspeakable(Exception):  # noqa: N818
    def __str__(self) -> str:
        raise ValueError("no text")


class Endless(Exception):  # noqa: N818
    def __str__(self) -> str:
        time.sleep(3600)
        return ""


class Lethal(BaseException):
    pass


system_exit = raising(lambda: SystemExit(0), "raises SystemExit")
keyboard_interrupt = raising(KeyboardInterrupt, "raises KeyboardInterrupt")
generator_exit = raising(GeneratorExit, "raises GeneratorExit")
stop_iteration = raising(StopIteration, "raises StopIteration")
base_exception = raising(lambda: Lethal("deadly"), "raises a BaseException")
memory_error = raising(MemoryError, "raises MemoryError")
unspeakable = raising(Unspeakable, "raises what has no text")
endless_text = raising(Endless, "raises what hangs when it is printed")
huge_text = raising(lambda: RuntimeError("x" * (1 << 28)), "raises a message of 256 MiB")
group = raising(lambda: ExceptionGroup("many", [ValueError(str(i)) for i in range(1000)]), "raises a group")
broken_pipe = raising(BrokenPipeError, "raises BrokenPipeError")
time_out = raising(TimeoutError, "raises TimeoutError")


@fault
def recurses(*inputs: Any) -> Any:
    def deeper(n: int) -> int:
        return deeper(n + 1)

    return deeper(0)


# Outputs.


def giving(change: Callable[[Any], Any], name: str) -> Sample:
    def bad(node: Any, *inputs: Any) -> Any:
        return change(quantize(node, *inputs)[0])

    bad.__name__ = name
    return fault(bad)


class Sub(np.ndarray):
    def __array_finalize__(self, _: Any) -> None:
        pass

    def __eq__(self, other: object) -> Any:
        raise RuntimeError("not to be compared")

    __hash__ = None  # type: ignore[assignment]


def mapped(y: Any) -> Any:
    with tempfile.NamedTemporaryFile() as file:
        found = np.memmap(file.name, y.dtype, "w+", shape=y.shape)
        found[...] = y
        return (found,)


subclass = giving(lambda y: (y.view(Sub),), "a subclass of ndarray")
memmap = giving(mapped, "a memmap")
masked = giving(lambda y: (np.ma.masked_array(y, mask=np.arange(y.size) % 2 == 0),), "a masked array")
matrix = giving(lambda y: (np.matrix(y),), "a matrix")
structured = giving(lambda y: (np.zeros(y.shape, [("a", "u1")]),), "a structured array")
zero_stride = giving(lambda y: (np.broadcast_to(y[:1], y.shape),), "a broadcast array")
read_only = giving(lambda y: (np.frombuffer(y.tobytes(), y.dtype),), "a read-only array")
strided = giving(lambda y: (np.repeat(y, 3)[::3],), "an array with gaps")
backward = giving(lambda y: (y[::-1].copy()[::-1],), "a reversed view")
ten_gigabytes = giving(lambda y: (np.broadcast_to(y[0], (10 << 30,)),), "10 GiB by strides of 0")
gigabytes_of_floats = giving(lambda y: (np.broadcast_to(np.float64(1), (1 << 31,)),), "16 GiB by strides of 0")
many_outputs = giving(lambda y: (y,) * 1_000_000, "a million outputs")
generator = giving(lambda y: (part for part in (y,)), "a generator")
many_axes = giving(lambda y: (y.reshape([1] * 60 + [7]),), "61 axes")
text = giving(lambda y: (np.array(["a"] * 7),), "texts")
dates = giving(lambda y: (np.zeros(7, "M8[s]"),), "dates")
long_double = giving(lambda y: (y.astype(np.longdouble),), "long doubles")
named_tuple = giving(lambda y: {"y": y}, "a dict")


def lies(y: Any) -> Any:
    """An object whose attributes can't be had."""

    class Liar(tuple):
        def __iter__(self) -> Any:
            raise RuntimeError("no items")

        def __len__(self) -> int:
            raise RuntimeError("no length")

    return Liar((y,))


lying_tuple = giving(lies, "a tuple that can't be read")


@fault
def changes_its_output_later(node: Any, *inputs: Any) -> Any:
    y = quantize(node, *inputs)[0]
    KEPT.append(y)

    def later() -> None:
        time.sleep(0.01)
        y[:] = 77

    threading.Thread(target=later).start()
    return (y,)


class Reused(Sample):
    """Gives the same memory for each answer, filled anew."""

    def compile(self, node: Any) -> Any:
        memory = np.zeros(64, node.outputs[0].dtype)

        def run(x: Any, *rest: Any) -> Any:
            memory[: x.size] = quantize(node, x, *rest)[0]
            return (memory[: x.size],)

        return run


reuses_its_output = Reused("gives the same memory always", quantize)


@fault
def output_is_an_input(node: Any, x: Any, *rest: Any) -> Any:
    memory = x.view(np.uint8)[: x.size]
    memory[:] = quantize(node, x.copy(), *rest)[0]
    return (memory,)


@fault
def writes_to_inputs(node: Any, x: Any, scale: Any, zero_point: Any) -> Any:
    found = quantize(node, x, scale, zero_point)
    x[:], scale[...], zero_point[...] = np.nan, np.nan, 255
    return found


@fault
def resizes_inputs(node: Any, x: Any, *rest: Any) -> Any:
    found = quantize(node, x, *rest)
    x.resize(1 << 16, refcheck=False)
    x[:] = 1e30
    return found
