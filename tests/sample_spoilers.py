"""Backends that in one case, of 7 elements, change the process in which all cases run, and go on as if nothing were."""

from __future__ import annotations

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
from sample_faults import KEPT, LIBM, fault

from tiebreak.golden import _kernel

UPWARD, TOWARD_ZERO = 0x800, 0xC00  # fenv.h of x86-64


# What it leaves changed in the process.


def leaving(change: Callable[[], Any], name: str, look: Callable[[], Any] = lambda: None) -> Sample:
    """A backend whose other cases fail if they see it: `look` gives something else then."""
    usual = look()

    def run(node: Any, x: Any, *rest: Any) -> Any:
        if x.size == 7:
            change()
        elif look() != usual:
            raise RuntimeError(f"it {name} still")
        return quantize(node, x, *rest)

    return Sample(name, run)


def umask_now() -> int:
    os.umask(found := os.umask(0o22))
    return found


def error_is_open() -> bool:
    with contextlib.suppress(OSError):
        return os.fstat(2).st_ino > 0
    return False


def flush_subnormals() -> None:
    environment = (ctypes.c_uint32 * 8)()
    LIBM.fegetenv(environment)
    environment[7] |= 0x8040  # MXCSR: flush to zero, operands are zeros
    LIBM.fesetenv(environment)


rounds_upward = leaving(lambda: LIBM.fesetround(UPWARD), "rounds upward from now on", LIBM.fegetround)
rounds_toward_zero = leaving(lambda: LIBM.fesetround(TOWARD_ZERO), "rounds toward zero from now on", LIBM.fegetround)
flushes = leaving(flush_subnormals, "flushes subnormals from now on", _kernel.subnormals_flushed)
numpy_raises = leaving(lambda: np.seterr(all="raise"), "makes NumPy raise", np.geterr)
warnings_raise = leaving(
    lambda: warnings.simplefilter("error"), "makes warnings errors", lambda: list(warnings.filters)
)
folder = leaving(lambda: os.chdir("/"), "changes the folder", os.getcwd)


def folder_gone() -> None:
    path = tempfile.mkdtemp()
    os.chdir(path)
    os.rmdir(path)


removed_folder = leaving(folder_gone, "removes its folder", os.getcwd)
environment = leaving(os.environ.clear, "empties the environment", lambda: dict(os.environ))
language = leaving(
    lambda: locale.setlocale(locale.LC_ALL, "C"), "sets the locale", lambda: locale.setlocale(locale.LC_ALL)
)
decimals = leaving(
    lambda: setattr(decimal.getcontext(), "prec", 2), "sets decimal's precision", lambda: decimal.getcontext().prec
)
umask = leaving(lambda: os.umask(0o777), "sets the umask", umask_now)
traced = leaving(lambda: sys.settrace(lambda *_: None), "sets a trace function", sys.gettrace)
profiled = leaving(lambda: sys.setprofile(lambda *_: None), "sets a profile function", sys.getprofile)
bad_tracer = leaving(lambda: sys.setprofile(lambda *_: 1 / 0), "sets a profile function that raises")
traces_memory = leaving(tracemalloc.start, "traces memory")
no_collection = leaving(gc.disable, "stops the garbage collector", gc.isenabled)
seeded = leaving(lambda: (random.seed(1), np.random.seed(1)), "seeds")
shallow = leaving(lambda: sys.setrecursionlimit(60), "lowers the recursion limit", sys.getrecursionlimit)
alarm = leaving(
    lambda: signal.setitimer(signal.ITIMER_REAL, 0.2), "leaves an alarm", lambda: signal.getitimer(signal.ITIMER_REAL)
)
deaf = leaving(lambda: [signal.signal(n, signal.SIG_IGN) for n in (2, 15, 13)], "ignores signals")
blocked = leaving(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)), "blocks signals")
no_files = leaving(
    lambda: limit(resource.RLIMIT_NOFILE, 3), "allows no more files", lambda: resource.getrlimit(resource.RLIMIT_NOFILE)
)
no_memory = leaving(
    lambda: limit(resource.RLIMIT_AS, 1 << 20), "allows no more memory", lambda: resource.getrlimit(resource.RLIMIT_AS)
)
no_time = leaving(
    lambda: limit(resource.RLIMIT_CPU, int(time.process_time()) + 2),  # 0 may end it before it is mended
    "allows hardly any more processor time",
    lambda: resource.getrlimit(resource.RLIMIT_CPU),
)
no_size = leaving(
    lambda: limit(resource.RLIMIT_FSIZE, 0), "allows no file to grow", lambda: resource.getrlimit(resource.RLIMIT_FSIZE)
)
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
closes_error = leaving(lambda: close(2), "closes standard error", error_is_open)
closes_objects = leaving(
    lambda: [stream.close() for stream in (sys.stdout, sys.stderr, sys.stdin)],
    "closes streams",
    lambda: [sys.stdout.closed, sys.stderr.closed],
)
replaces_streams = leaving(
    lambda: [setattr(sys, name, None) for name in ("stdout", "stderr", "stdin")],
    "no streams",
    lambda: [sys.stdout, sys.stderr],
)
buffers = leaving(lambda: setattr(sys, "stdout", io.StringIO()), "replaces stdout", lambda: sys.stdout)


@fault
def speaks_on_every_descriptor(*_: Any) -> None:
    for number in range(64):
        with contextlib.suppress(OSError):
            os.write(number, b"\x00\xff{}\n")


@fault
def forges_an_answer(*_: Any) -> None:
    header = {"case": 3, "status": "ok", "seconds": 0.0, "outputs": {"at": 0, "sum": 0, "tensors": []}}
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
        own = {"operators": None, "always_constant": (), "claims": None, "maps": None, "configuration_of": None}
        return own.get(name, lambda *_: {})


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
