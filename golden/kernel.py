"""The Cython reference kernel on whole tensors. It shares nothing with the oracle but the statement of the problem."""

from __future__ import annotations

import numpy as np

from tiebreak.golden import _kernel
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.kernels import LOOPS
from tiebreak.golden.problem import Array, Problem, Quantization

KINDS = {"float16": 0, "bfloat16": 1, "float32": 2, "float64": 3}
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
    shape = problem.x.shape
    values, state = np.empty(problem.x.size, np.int64), np.empty(problem.x.size, np.uint8)
    _kernel.quantize(
        np.ascontiguousarray(problem.x).reshape(-1),
        spread(problem.scale, problem.axes, shape),
        spread(problem.zero_point, problem.axes, shape),
        KINDS[problem.real.name],
        MODES.index(mode or problem.mode),
        working,
        problem.quantized.lowest,
        problem.quantized.highest,
        values,
        state,
    )
    return values.reshape(shape), state.reshape(shape)


def spread(parameter: Array, axes: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """A parameter that varies on `axes`, flat: one element if it is a scalar, else one for each element of `shape`."""
    if parameter.size == 1:
        return parameter.reshape(-1)
    kept = [size if axis in axes else 1 for axis, size in enumerate(shape)]
    return np.ascontiguousarray(np.broadcast_to(parameter.reshape(kept), shape)).reshape(-1)
