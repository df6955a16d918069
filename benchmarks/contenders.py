"""The contenders as functions that repeat their work: the kernel, NumPy as people write it, a plain copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from setting import COLUMNS, ONE, ROWS, Array, Setting, memory
from timing import Repeat

from tiebreak.adapters.numpy_naive import NumpyNaive
from tiebreak.golden import _kernel, kernel
from tiebreak.golden.make_node import make_node
from tiebreak.golden.rounding import EVEN

FLOAT32 = kernel.KINDS["float32"]


class Missing(Exception):  # noqa: N818 - says what it is
    """A contender that does not take part in a setting, and why."""


class Contender(NamedTuple):
    """`repeat` does the work a number of times; `result` returns the integers of the last time."""

    repeat: Repeat
    result: Callable[[], Array]


def tiebreak(setting: Setting) -> Contender:
    """The kernel's loops, writing into existing memory. Two threads take half of the elements each."""
    kernel.refuse_flushing()
    scale, count = setting.scale.astype(np.float64), setting.scale.size
    zero_point = np.full(count, setting.zero_point, np.int64)
    ends, working = (setting.lowest, setting.highest), setting.form == "working"
    parameters = _kernel.Parameters(scale, zero_point, False, kernel.MODES.index(setting.mode), working, *ends)
    starts = np.arange(count) if setting.layout == ROWS else np.zeros(setting.shape[0] if count > 1 else 1, np.int64)
    path = _kernel.PATHS.index(setting.path) if setting.path else -1
    x, out = setting.x.reshape(-1).view(np.uint32), setting.out.reshape(-1)

    def part(piece: slice) -> Repeat:
        source, target = x[piece], out[piece]

        def repeat(times: int) -> None:
            for _ in range(times):
                _kernel.round_quotients(source, FLOAT32, parameters, target, starts, setting.layout == COLUMNS, path)

        return repeat

    return Contender(together([part(piece) for piece in pieces(setting)]), lambda: out)


def copy(setting: Setting) -> Contender:
    """A copy of float32 elements; both reading and writing count."""
    x, out = setting.x.reshape(-1), memory("float32", setting.elements)

    def part(piece: slice) -> Repeat:
        source, target = x[piece], out[piece]

        def repeat(times: int) -> None:
            for _ in range(times):
                np.copyto(target, source)

        return repeat

    return Contender(together([part(piece) for piece in pieces(setting)]), lambda: out)


def numpy_naive(setting: Setting) -> Contender:
    if setting.threads > 1:
        raise Missing("one thread only")
    if setting.layout != ONE:
        raise Missing("not measured")
    if setting.output == "int32":  # which ONNX does not have
        node = make_node("ngraph.Quantize", real="float32", quantized="int32", attributes={"round_mode": EVEN})
    else:
        node = make_node("onnx.QuantizeLinear", real="float32", quantized=setting.output)
    run, x, scale, zero_point = NumpyNaive().compile(node), setting.x, setting.scale[0], setting.zero_points[0]
    results: list[Any] = [None]

    def repeat(times: int) -> None:
        for _ in range(times):
            results[0] = run(x, scale, zero_point)[0]

    return Contender(repeat, lambda: np.asarray(results[0]))


def pieces(setting: Setting) -> list[slice]:
    """Equal shares of the elements, one for each thread."""
    share = setting.elements // setting.threads
    return [slice(i * share, (i + 1) * share) for i in range(setting.threads)]


def together(repeats: Sequence[Repeat]) -> Repeat:
    """All of them at once, each in a thread of its own; they wait for one another at the end of the sample only."""
    if len(repeats) == 1:
        return repeats[0]
    pool = threads(len(repeats))
    return lambda times: list(pool.map(lambda repeat: repeat(times), repeats))


@lru_cache
def threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count)
