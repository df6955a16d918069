"""The Cython reference kernel on whole tensors. It shares nothing with the oracle but the statement of the problem."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tiebreak.golden import _kernel
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.kernels import LOOPS, tensors
from tiebreak.golden.problem import Array, Problem, Quantization

KINDS = {"float16": 0, "bfloat16": 1, "float32": 2, "float64": 3}
DOUBLE = 3
MODES = (
    "ROUND_NEAREST_TOWARD_INFINITY",
    "ROUND_NEAREST_TOWARD_ZERO",
    "ROUND_NEAREST_UPWARD",
    "ROUND_NEAREST_DOWNWARD",
    "ROUND_NEAREST_TOWARD_EVEN",
    "ROUND_TOWARD_INFINITY",
    "ROUND_TOWARD_ZERO",
    "ROUND_UP",
    "ROUND_DOWN",
)


def solve(problem: Problem, *, working: bool, mode: str | None = None) -> tuple[Array, Array]:
    """(codes int64, states uint8), flat; `mode` replaces the problem's own.

    Raises MachineryFailed if a library left flush-to-zero on in this thread, which would make results wrong.
    """
    if isinstance(problem, Quantization):
        values, states = quantize(problem, working=working, mode=mode)
        return values.reshape(-1), states.reshape(-1)
    refuse_flushing()
    return LOOPS[problem.formula](problem, working, mode or problem.mode)


def refuse_flushing() -> None:
    if _kernel.subnormals_flushed():
        raise MachineryFailed(
            "subnormal numbers are flushed to zero in this thread; the reference kernel can't be trusted"
        )


def quantize(problem: Quantization, *, working: bool, mode: str | None = None) -> tuple[Array, Array]:
    """(values int64, state uint8) of the input's shape; `mode` replaces the problem's own.

    Raises MachineryFailed if a library left flush-to-zero on in this thread, which would make results wrong.
    """
    refuse_flushing()
    x, shape = np.ascontiguousarray(problem.x).reshape(-1), problem.x.shape
    lowest, highest = problem.quantized.lowest, problem.quantized.highest
    count = max(problem.scale.size, problem.zero_point.size)
    rows = rows_of(problem.axes if count > 1 else (), shape)
    scale = tensors.doubles(np.broadcast_to(problem.scale.reshape(-1), count), problem.real)
    zero_point = np.ascontiguousarray(np.broadcast_to(problem.zero_point.reshape(-1), count), np.int64)
    kind, mode_number = KINDS[problem.real.name], MODES.index(mode or problem.mode)
    beyond = lowest - 1, highest + 1  # one beyond each end: settle sees which results left the range
    parameters = _kernel.Parameters(scale, zero_point, kind == DOUBLE, mode_number, working, *beyond)
    codes = np.empty(x.size, np.int64 if parameters.wide else np.int32)
    _kernel.round_quotients(x, kind, parameters, codes, rows.starts, rows.columns)
    values, state = np.empty(x.size, np.int64), np.empty(x.size, np.uint8)
    defined = (np.isfinite(scale) & (scale != 0)).astype(np.uint8)
    infinity = problem.real.infinity_bits
    _kernel.settle(codes, x, infinity, defined, rows.starts, rows.columns, lowest, highest, values, state)
    return values.reshape(shape), state.reshape(shape)


class Rows(NamedTuple):
    """A tensor as rows of equal length: where each row's parameters start, and whether each element has its own."""

    starts: Array
    columns: bool


def rows_of(axes: tuple[int, ...], shape: tuple[int, ...]) -> Rows:
    """The rows of a tensor of this shape, for parameters that vary on `axes`, flat in row-major order."""
    if 0 in shape:
        return Rows(np.zeros(0, np.int64), False)
    sizes = [size if axis in axes else 1 for axis, size in enumerate(shape)]
    numbers = np.arange(math.prod(sizes)).reshape(sizes)
    columns = math.prod(sizes) > 1 and sizes[-1] == shape[-1] and shape[-1] > 1
    inner = len(shape)  # the axes from this one on form a row
    while inner and (sizes[inner - 1] == shape[inner - 1] if columns else sizes[inner - 1] == 1):
        inner -= 1
    firsts = numbers.reshape(*sizes[:inner], math.prod(sizes[inner:]))[..., 0]
    return Rows(np.ascontiguousarray(np.broadcast_to(firsts, shape[:inner]).reshape(-1), np.int64), columns)


def spread(parameter: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """A parameter that varies on `axes`, flat: one element if it is a scalar, else one for each element of `shape`."""
    if parameter.size == 1:
        return parameter.reshape(-1)
    kept = [size if axis in axes else 1 for axis, size in enumerate(shape)]
    return np.ascontiguousarray(np.broadcast_to(parameter.reshape(kept), shape)).reshape(-1)
