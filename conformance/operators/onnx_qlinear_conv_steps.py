"""The steps of `onnx.QLinearConv`, the right ones unless others are given: sum, quotient, rounding, clamp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.operators import dequantized_results as dq
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.onnx_convolution_steps import Convolved, SumSteps, nothing_to_mistake
from tiebreak.conformance.variants import conversions
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Quotient = Callable[[Array, Array, Array, Array], Array]  # of the sum and the scales of x, w and y
OF_SUM = ("geometry", "weights", "pixels", "points", "meet", "sum")


def stepwise(total: Array, x_scale: Array, w_scale: Array, y_scale: Array) -> Array:
    return np.asarray(total.astype(np.float32) * (x_scale * w_scale) / y_scale)


def ends(kind: str) -> tuple[int, int]:
    return INTEGER_TYPES[kind].lowest, INTEGER_TYPES[kind].highest


@dataclass(frozen=True)
class ConvolutionSteps:
    """Steps in order, the right ones unless given. `scale_of` gives the channel whose scale an element takes."""

    sums: SumSteps = field(default_factory=SumSteps)
    whole: dq.Finish | None = None  # in place of the sum, the quotient and rounding; x, w and the bias are dequantized
    of_integers: dq.FinishOfSum | None = None  # in place of the quotient and rounding
    real_sum: Callable[[Array, Array], Array] = dq.summed  # of the dequantized pixels and weights of each element
    of_inputs: bool = False  # whether w's scales and zero points belong to its input channels
    input_scale: dq.Change = conversions.as_is  # what becomes of w's scales then
    bias: Callable[[Array, Array], Array] = lambda total, bias: total + bias
    real_bias: Callable[[Array, Array, Array, Array, Array], Array] | None = None  # the quotient of a bias and a sum
    scale_of: Callable[[Array, int], Array] | None = None
    along_depth: bool = False  # whether an element takes w's scale by its place along the first axis of an image
    scales: Callable[[Array, Array, Array], tuple[Array, Array, Array]] = lambda x, w, y: (x, w, y)
    quotient: Quotient = stepwise
    round: Callable[[Array], Array] = np.rint
    add: Callable[[str, Array, Array], Array] = lambda kind, rounded, point: rounded + point
    clamp: Callable[[str, Array], Array] = lambda kind, total: np.clip(total, *ends(kind))

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point = inputs[:8]
        if self.whole or self.of_inputs:
            return self.of_reals(node, *inputs)
        total, windows, channel = self.sums.sums(node, x, w, x_point, w_point)
        divide = self.quotient
        if len(inputs) > 8:
            bias = inputs[8].astype(np.int64)[channel]
            if self.real_bias:
                divide = partial(self.real_bias, bias)
            else:
                total = self.bias(total, bias)
        elif self.real_bias:
            raise nothing_to_mistake()
        owner = depths(windows.shape, w_scale.size) if self.along_depth else channel
        scales = self.scales(x_scale, self.scale_for(w_scale, owner), y_scale)
        kind = node.output_type
        if self.of_integers:
            factor, point = scales[0] * scales[1], y_point.astype(np.float32)
            found = self.clamp(kind, numbers_alone(self.of_integers(kind, total, factor, y_scale, point)))
            return (found.astype(np.int64).astype(y_point.dtype).reshape(windows.shape),)
        quotient = divide(total, *scales)
        found = self.clamp(kind, self.add(kind, self.round(quotient).astype(np.float64), y_point.astype(np.float64)))
        return (found.astype(np.int64).astype(y_point.dtype).reshape(windows.shape),)

    def of_reals(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        """Each difference times its scale, and every sum, in float32; in extended floats where no step is `whole`.

        `real_sum` may round on its way.
        """
        x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point = inputs[:8]
        real: Any = np.float32 if self.whole else np.longdouble
        convolved, windows, channel = self.sums.windows(node, x, w, x_point, w_point)
        scale, of_x = self.scale_for(w_scale, channel).astype(real), x_scale.astype(real)
        numbers, weights = convolved.differences[0].astype(real) * of_x, convolved.differences[1].astype(real) * scale
        if self.of_inputs:
            weights = weights_along_inputs(convolved, w.shape[1], self.input_scale(w_scale).astype(real), w_point)
        total = self.real_sum(numbers, weights)
        if len(inputs) > 8:
            total = total + inputs[8].astype(real)[channel] * (of_x * scale)
        finish, kind = self.whole or exactly, node.output_type
        found = self.clamp(kind, numbers_alone(finish(kind, total, y_scale, y_point.astype(np.float32))))
        return (found.astype(np.int64).astype(y_point.dtype).reshape(windows.shape),)

    def scale_for(self, w_scale: Array, channel: Array) -> Array:
        if self.scale_of is not None and w_scale.size < 2:
            raise nothing_to_mistake()
        at = channel if self.scale_of is None else self.scale_of(channel, w_scale.size) % w_scale.size
        return np.asarray(w_scale.reshape(-1)[at] if w_scale.size > 1 else w_scale.reshape(()))


def exactly(kind: str, total: Array, scale: Array, point: Array) -> Array:
    return np.asarray(np.rint(total / scale) + point)


def numbers_alone(values: Array) -> Array:
    if np.isnan(values).any():
        raise ValueError("no integer")
    return values


def depths(shape: tuple[int, ...], count: int) -> Array:
    """The place of each element along the first axis of an image with three, which has as many as there are scales."""
    if len(shape) != 5 or count < 2 or shape[2] != count:
        raise nothing_to_mistake()
    return np.asarray(np.indices(shape)[2].reshape(-1))


def weights_along_inputs(convolved: Convolved, count: int, w_scale: Array, w_point: Array) -> Array:
    """The weights as numbers; scales and zero points are those of the channel of its group that a term is of."""
    if w_scale.size != count or count < 2:
        raise nothing_to_mistake()
    channels = np.arange(len(convolved.w))[:, np.newaxis] // convolved.places
    points = np.broadcast_to(w_point.astype(np.int64), w_scale.shape)
    return np.asarray((convolved.w - points[channels]).astype(w_scale.dtype) * w_scale[channels])


def pipeline(**steps: Any) -> Mistake:
    """A backend with these steps; those of the sum are told by their names."""
    of_sum = {name: value for name, value in steps.items() if name in OF_SUM}
    rest = {name: value for name, value in steps.items() if name not in OF_SUM}
    return ConvolutionSteps(sums=SumSteps(**of_sum), **rest)
