"""Backends that are sound but for one case, of 7 elements, in which each does something that no backend should."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import ctypes
import decimal
import gc
import io
import json
import locale
import mmap
import multiprocessing
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sample_backends import Sample, quantize

LIBM = ctypes.CDLL("libm.so.6")
UPWARD, TOWARD_ZERO = 0x800, 0xC00  # fenv.h of x86-64
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


# What it leaves changed in the process.


def leaving(change: Callable[[], Any], name: str) -> Sample:
    def bad(*_: Any) -> None:
        change()

    bad.__name__ = name
    return fault(bad)


def flush_subnormals() -> None:
    environment = (ctypes.c_uint32 * 8)()
    LIBM.fegetenv(environment)
    environment[7] |= 0x8040  # MXCSR: flush to zero, operands are zeros
    LIBM.fesetenv(environment)


def short_precision() -> None:
    environment = (ctypes.c_uint32 * 8)()
    LIBM.fegetenv(environment)
    environment[0] &= ~0x300  # x87: 24 bits
    LIBM.fldcw(environment) if hasattr(LIBM, "fldcw") else LIBM.fesetenv(environment)


rounds_upward = leaving(lambda: LIBM.fesetround(UPWARD), "rounds upward from now on")
rounds_toward_zero = leaving(lambda: LIBM.fesetround(TOWARD_ZERO), "rounds toward zero from now on")
flushes = leaving(flush_subnormals, "flushes subnormals from now on")
numpy_raises = leaving(lambda: np.seterr(all="raise"), "makes NumPy raise")
warnings_raise = leaving(lambda: warnings.simplefilter("error"), "makes warnings errors")
folder = leaving(lambda: os.chdir("/"), "changes the folder")


def folder_gone() -> None:
    path = tempfile.mkdtemp()
    os.chdir(path)
    os.rmdir(path)


removed_folder = leaving(folder_gone, "removes its folder")
environment = leaving(os.environ.clear, "empties the environment")
language = leaving(lambda: locale.setlocale(locale.LC_ALL, "C"), "sets the locale")
decimals = leaving(lambda: setattr(decimal.getcontext(), "prec", 2), "sets decimal's precision")
umask = leaving(lambda: os.umask(0o777), "sets the umask")
traced = leaving(lambda: sys.settrace(lambda *_: None), "sets a trace function")
profiled = leaving(lambda: sys.setprofile(lambda *_: None), "sets a profile function")
bad_tracer = leaving(lambda: sys.setprofile(lambda *_: 1 / 0), "sets a profile function that raises")
traces_memory = leaving(tracemalloc.start, "traces memory")
no_collection = leaving(gc.disable, "stops the garbage collector")
seeded = leaving(lambda: (random.seed(1), np.random.seed(1)), "seeds")
shallow = leaving(lambda: sys.setrecursionlimit(60), "lowers the recursion limit")
alarm = leaving(lambda: signal.setitimer(signal.ITIMER_REAL, 0.02), "leaves an alarm")
deaf = leaving(lambda: [signal.signal(n, signal.SIG_IGN) for n in (2, 15, 13)], "ignores signals")
blocked = leaving(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)), "blocks signals")
no_files = leaving(lambda: limit(resource.RLIMIT_NOFILE, 3), "allows no more files")
no_memory = leaving(lambda: limit(resource.RLIMIT_AS, 1 << 20), "allows no more memory")
no_time = leaving(lambda: limit(resource.RLIMIT_CPU, 0), "allows no more processor time")
no_size = leaving(lambda: limit(resource.RLIMIT_FSIZE, 0), "allows no file to grow")
no_cores = leaving(lambda: os.sched_setaffinity(0, {0}), "stays on one core")
nice = leaving(lambda: os.nice(19), "lowers its priority")
printing = leaving(lambda: np.set_printoptions(threshold=1), "sets print options")


def close(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.close(descriptor)


def limit(which: int, number: int) -> None:
    resource.setrlimit(which, (number, resource.getrlimit(which)[1]))


# Files and streams.


closes_all = leaving(lambda: os.closerange(0, 4096), "closes every file")
closes_error = leaving(lambda: close(2), "closes standard error")
closes_objects = leaving(lambda: [stream.close() for stream in (sys.stdout, sys.stderr, sys.stdin)], "closes streams")
replaces_streams = leaving(lambda: [setattr(sys, name, None) for name in ("stdout", "stderr", "stdin")], "no streams")
buffers = leaving(lambda: setattr(sys, "stdout", io.StringIO()), "replaces stdout")


@fault
def speaks_on_every_descriptor(*_: Any) -> None:
    for number in range(64):
        with contextlib.suppress(OSError):
            os.write(number, b"\x00\xff{}\n")


@fault
def forges_an_answer(*_: Any) -> None:
    header = {"case": 3, "status": "ok", "message": "", "seconds": 0, "fault": "", "refused": False, "tensors": []}
    line = json.dumps(header).encode() + b"\n"
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(number, line)


@fault
def overwrites_the_pipe(*_: Any) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3, 64):
        with contextlib.suppress(OSError):
            os.fstat(number)
            os.dup2(null, number) if number != null else None


@fault
def floods_every_stream(*_: Any) -> None:
    block = b"x" * (1 << 20)
    for _ in range(128):
        os.write(1, block)
        os.write(2, block)


@fault
def prints_without_end(*_: Any) -> None:
    while True:
        os.write(2, b"y" * (1 << 20))


@fault
def writes_over_shared_memory(*_: Any) -> None:
    for number in range(3, 64):
        with contextlib.suppress(OSError, ValueError):
            size = os.fstat(number).st_size
            if size >= 1 << 20:
                mmap.mmap(number, size)[:] = b"\xaa" * size


@fault
def shrinks_shared_memory(*_: Any) -> None:
    for number in range(3, 64):
        with contextlib.suppress(OSError, ValueError):
            if os.fstat(number).st_size >= 1 << 20:
                os.ftruncate(number, 0)


@fault
def fills_shared_memory(*_: Any) -> None:
    for number in range(3, 64):
        with contextlib.suppress(OSError, ValueError):
            if os.fstat(number).st_size >= 1 << 20:
                os.ftruncate(number, 1 << 45)


# Threads and children.


def spin() -> None:
    while True:
        pass


spins_in_threads = leaving(
    lambda: [threading.Thread(target=spin, daemon=True).start() for _ in range(4)], "leaves busy threads"
)
waits_in_threads = leaving(lambda: threading.Thread(target=time.sleep, args=(3600,)).start(), "leaves a waiting thread")


@fault
def holds_the_interpreter(*_: Any) -> None:
    ctypes.PyDLL(None).sleep(3600)


@fault
def holds_the_import_lock(*_: Any) -> None:
    def hold() -> None:
        import importlib._bootstrap as bootstrap

        with bootstrap._ModuleLockManager("tiebreak.adapters.arena"):
            time.sleep(3600)

    threading.Thread(target=hold, daemon=True).start()


@fault
def forks_a_daemon(*_: Any) -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(0)
    os.wait()


@fault
def forks_and_answers_twice(node: Any, *inputs: Any) -> Any:
    os.fork()
    return quantize(node, *inputs)


@fault
def forks_and_raises(*_: Any) -> None:
    if os.fork() == 0:
        raise RuntimeError("the child")


@fault
def leaves_a_pool(*_: Any) -> None:
    pool = multiprocessing.get_context("fork").Pool(2)
    KEPT.append(pool)
    pool.map(abs, range(9))


@fault
def grows_in_a_child(*_: Any) -> None:
    code = "x = bytearray(b'x') * (1 << 30); import time; time.sleep(3600)"
    subprocess.run([sys.executable, "-c", code], check=False)


@fault
def kills_its_parent(*_: Any) -> None:
    """Its group is its own: this ends nobody but itself."""
    os.killpg(0, signal.SIGKILL)


# The library under us.


def patching(place: Any, name: str, change: Any, called: str) -> Sample:
    return leaving(lambda: setattr(place, name, change), called)


no_json = patching(json, "dumps", lambda *_, **__: "{}", "patches json.dumps")
no_numpy = patching(np, "array", lambda *_, **__: np.zeros(7, np.uint8), "patches numpy.array")
no_copy = patching(np, "ascontiguousarray", lambda a: np.zeros_like(a), "patches numpy.ascontiguousarray")
no_buffer = patching(np, "frombuffer", lambda *a, **k: np.zeros(3, np.uint8), "patches numpy.frombuffer")
no_clock = patching(time, "monotonic", lambda: -1e300, "patches time.monotonic")
no_counter = patching(time, "perf_counter", lambda: float("nan"), "patches time.perf_counter")
no_identity = patching(os, "getpid", lambda: 1, "patches os.getpid")
no_parent = patching(os, "getppid", lambda: 1, "patches os.getppid")
no_isinstance = patching(builtins, "isinstance", lambda *_: False, "patches isinstance")
no_modules = leaving(sys.modules.clear, "empties sys.modules")
no_sockets = leaving(lambda: KEPT.extend(socket.socketpair() for _ in range(200)), "opens many files")


# compile() and the object itself.


class Compiling(Sample):
    """Compiles nodes to int8 in a way of its own."""

    def compile(self, node: Any) -> Any:
        if node.outputs[0].dtype == np.int8:
            self.run(node)
        return lambda *inputs: quantize(node, *inputs)


exits_in_compile = Compiling("exits in compile", lambda node: sys.exit(0))
rounds_in_compile = Compiling("rounds in compile", lambda node: LIBM.fesetround(UPWARD))
hangs_in_compile = Compiling("hangs in compile", lambda node: time.sleep(3600))
interrupts_in_compile = Compiling("interrupts in compile", lambda node: os.kill(os.getpid(), signal.SIGINT))


class Everything:
    """Has every attribute that is asked for."""

    name, version = "has everything", "1"

    def compile(self, node: Any) -> Any:
        return lambda *inputs: quantize(node, *inputs)

    def __getattr__(self, name: str) -> Any:
        return {"operators": None, "always_constant": ()}.get(name, lambda *_: {})


has_everything = Everything()


class Fickle:
    """Compiles to another thing each time."""

    name, version, times = "fickle", "1", 0

    def compile(self, node: Any) -> Any:
        self.times += 1
        if self.times > 1:
            return lambda *inputs: (np.zeros(0, np.uint8),)
        return lambda *inputs: quantize(node, *inputs)


fickle = Fickle()
