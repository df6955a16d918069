"""The operands of a case, spread over its elements: as its node says, and as usual mistakes would do it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.conformance.judging.misplaced import ALL_MISPLACED, misplaced
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.kernel import spread
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Quantization


@dataclass(frozen=True)
class QuantizationOperands:
    """The operands of a quantization, flat: x, scale and zero point of every element, in the inputs' own types."""

    x: Array
    scale: Array
    zero_point: Array
    lowest: int
    highest: int
    mode: str
    divide: Callable[[Array, Array], Array] | None = None  # a mistake in place of the quotient
    saturate: Callable[[QuantizationOperands, Array], Array | None] | None = None  # a mistake in place of the clamp

    def quotient(self, dtype: object = None) -> Array:
        """x / scale in a type, or in x's own, as float64."""
        if self.divide and dtype is None:
            return self.divide(self.x, self.scale)
        kind = np.dtype(dtype or self.x.dtype)  # type: ignore[call-overload]
        return np.asarray((self.x.astype(kind) / self.scale.astype(kind)), np.float64)

    def clamp(self, values: Array) -> Array:
        if self.saturate:
            other = replace(self, saturate=None)
            own = self.saturate(other, values)
            return other.clamp(values) if own is None else own
        return np.asarray(np.clip(np.nan_to_num(values), self.lowest, self.highest), np.int64)

    def finish(self, q: Array) -> Array:
        """The steps after the quotient: round by the node's mode, add the zero point, clamp."""
        return self.clamp(round_array(q, self.mode) + self.zero_point)

    def wrap(self, values: Array) -> Array:
        """Integers (as float64) wrapped to the output's width in two's complement."""
        size = self.highest - self.lowest + 1
        finite = np.clip(np.nan_to_num(values), -(2.0**62), 2.0**62).astype(np.int64)
        return np.asarray(np.mod(finite - self.lowest, size) + self.lowest)


def operands_along(case: Case, problem: Quantization, axes: tuple[int, ...]) -> QuantizationOperands:
    """The case's own operands, with its scales and zero points along `axes`."""
    return operands_with(case, problem, axes, case.inputs[1], problem.zero_point)


def operands_with(
    case: Case, problem: Quantization, axes: tuple[int, ...], scale: Array, zero_point: Array
) -> QuantizationOperands:
    x, kind = case.inputs[0], problem.quantized
    flat_scale, flat_zero = (broadcast_scalar(spread(p, axes, x.shape), x.size) for p in (scale, zero_point))
    return QuantizationOperands(x.reshape(-1), flat_scale, flat_zero, kind.lowest, kind.highest, problem.mode)


def broadcast_scalar(parameter: Array, size: int) -> Array:
    return np.broadcast_to(parameter, (size,)) if parameter.size == 1 else parameter


def at_index(case: Case, problem: Quantization, scales: Array, zero_points: Array) -> QuantizationOperands:
    """The case's operands with the parameters at these flat indices, one for each element."""
    zero_point = np.broadcast_to(problem.zero_point, case.inputs[1].shape).reshape(-1)
    scale, kind = case.inputs[1].reshape(-1)[scales.reshape(-1)], problem.quantized
    x, zero = case.inputs[0].reshape(-1), zero_point[zero_points.reshape(-1)]
    return QuantizationOperands(x, scale, zero, kind.lowest, kind.highest, problem.mode)


MOST_AXES = 4  # of a node for which PARAMETER_KEYS has all wrong axes


def key_of_axes(axes: tuple[int, ...]) -> str:
    return f"wrong-axis:{' and '.join(map(str, axes))}"


def key_of_order(order: tuple[int, ...]) -> str:
    is_transposed = order == tuple(reversed(range(len(order))))
    return "axes-swapped" if is_transposed else f"axes-swapped:{' and '.join(map(str, order))}"


PARAMETER_KEYS = (  # of wrong_parameters
    *(key_of_axes(axes) for n in range(1, MOST_AXES) for axes in itertools.combinations(range(MOST_AXES), n)),
    *dict.fromkeys(key_of_order(order) for n in (2, 3) for order in list(itertools.permutations(range(n)))[1:]),
    *(key for key, *_ in ALL_MISPLACED),
    *(f"one-for-all:{which}" for which in ("scale", "zero point", "scale and zero point")),
)


OF_PARAMETERS = frozenset(key.partition(":")[0] for key in PARAMETER_KEYS)


def is_of_parameters(id_: str) -> bool:
    """Whether wrong_parameters may have this cause, also for nodes with more axes."""
    return id_.partition(":")[0] in OF_PARAMETERS


def wrong_parameters(case: Case, problem: Quantization) -> Iterator[tuple[str, QuantizationOperands]]:
    """Operands as usual mistakes read them, with the cause's id: other axes or order, or the first value for all."""
    shape, axes = case.inputs[0].shape, problem.axes
    if not axes or not case.size:
        return
    for other in itertools.combinations(range(len(shape)), len(axes)):
        known = other in ((0,), (len(shape) - 1,))  # ALL_MISPLACED has these, whatever the size
        if other != axes and tuple(shape[axis] for axis in other) == problem.scale.shape and not known:
            yield key_of_axes(other), operands_along(case, problem, other)
    for order in itertools.permutations(range(len(axes))):
        sizes = tuple(problem.scale.shape[axis] for axis in order)
        if order != tuple(range(len(axes))) and sizes == problem.scale.shape:
            parameters = (p.transpose(order) for p in (case.inputs[1], problem.zero_point))
            yield key_of_order(order), operands_with(case, problem, axes, *parameters)
    first = (0,) * len(axes)
    scale = np.broadcast_to(case.inputs[1][first], problem.scale.shape)
    zero_point = np.broadcast_to(problem.zero_point[first], problem.scale.shape)
    yield "one-for-all:scale", operands_with(case, problem, axes, scale, problem.zero_point)
    yield "one-for-all:zero point", operands_with(case, problem, axes, case.inputs[1], zero_point)
    yield "one-for-all:scale and zero point", operands_with(case, problem, axes, scale, zero_point)
    numbers = np.arange(problem.scale.size).reshape(problem.scale.shape)
    index = np.broadcast_to(spread(numbers, axes, shape), case.size).reshape(shape)
    for key, *places in misplaced(index, problem.scale.size):
        yield key, at_index(case, problem, *places)
