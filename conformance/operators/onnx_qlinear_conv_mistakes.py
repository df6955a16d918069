"""Usual mistakes of `onnx.QLinearConv` as small NumPy backends: those of the sum, and those of what follows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import dequantized_results as dq
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.onnx_convolution_steps import (
    OTHER_CHANNELS,
    STEPS,
    Convolved,
    SumSteps,
    nothing_to_mistake,
    wrapped,
)
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics.causes import JOINT
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
    of_inputs: bool = False  # whether w's scales and zero points belong to its input channels
    bias: Callable[[Array, Array], Array] = lambda total, bias: total + bias
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
        if len(inputs) > 8:
            total = self.bias(total, inputs[8].astype(np.int64)[channel])
        owner = depths(windows.shape, w_scale.size) if self.along_depth else channel
        scales = self.scales(x_scale, self.scale_for(w_scale, owner), y_scale)
        kind = node.output_type
        if self.of_integers:
            factor, point = scales[0] * scales[1], y_point.astype(np.float32)
            found = self.clamp(kind, numbers_alone(self.of_integers(kind, total, factor, y_scale, point)))
            return (found.astype(np.int64).astype(y_point.dtype).reshape(windows.shape),)
        quotient = self.quotient(total, *scales)
        found = self.clamp(kind, self.add(kind, self.round(quotient).astype(np.float64), y_point.astype(np.float64)))
        return (found.astype(np.int64).astype(y_point.dtype).reshape(windows.shape),)

    def of_reals(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        """Each difference times its scale, and every sum, in float32; in extended floats where no step is `whole`."""
        x, x_scale, x_point, w, w_scale, w_point, y_scale, y_point = inputs[:8]
        real: Any = np.float32 if self.whole else np.longdouble
        convolved, windows, channel = self.sums.windows(node, x, w, x_point, w_point)
        scale, of_x = self.scale_for(w_scale, channel).astype(real), x_scale.astype(real)
        numbers, weights = convolved.differences[0].astype(real) * of_x, convolved.differences[1].astype(real) * scale
        if self.of_inputs:
            weights = weights_along_inputs(convolved, w.shape[1], w_scale.astype(real), w_point)
        total: Array = (numbers * weights).sum(axis=0, dtype=real)
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
    return np.asarray((convolved.w - points[channels]) * w_scale[channels])


def pipeline(**steps: Any) -> Mistake:
    """A backend with these steps; those of the sum are told by their names."""
    of_sum = {name: value for name, value in steps.items() if name in OF_SUM}
    rest = {name: value for name, value in steps.items() if name not in OF_SUM}
    return ConvolutionSteps(sums=SumSteps(**of_sum), **rest)


# The quotient


def factor_first(factor: Any, total: Any = None) -> Quotient:
    """The ratio of the scales as one factor in a type. The sum, and its product with it, are in `total` if given."""
    wide = total or factor

    def found(sums: Array, *scales: Array) -> Array:
        x, w, y = (scale.astype(factor) for scale in scales)
        return np.asarray(sums.astype(wide) * (x * w / y).astype(wide))

    return found


def ratio_of_last_first(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums.astype(np.float32) * (x * (w / y)))


def ratio_of_first_first(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums.astype(np.float32) * (x / y * w))


def by_reciprocal(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums.astype(np.float32) * (x * w) * (np.float32(1) / y))


def factor_by_reciprocal(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums.astype(np.float32) * (x * w * (np.float32(1) / y)))


def scaled_in_turn(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums.astype(np.float32) * x * w / y)


def dequantized_in_float64(sums: Array, x: Array, w: Array, y: Array) -> Array:
    """Only the number that the sum stands for is rounded to float32."""
    number = (sums * (x.astype(np.float64) * w)).astype(np.float32)
    return np.asarray(number / y)


def in_float64(sums: Array, x: Array, w: Array, y: Array) -> Array:
    return np.asarray(sums * (x.astype(np.float64) * w) / y.astype(np.float64))


def multiplier_of(bits: int, x: Array, w: Array, y: Array) -> tuple[Array, Array]:
    """The ratio as a whole number of some bits and the shift behind it, as gemmlowp takes it from a double."""
    fraction, exponent = np.frexp(x.astype(np.float64) * w / y)
    whole = np.floor(fraction * (1 << bits) + 0.5).astype(np.int64)
    return whole, bits - exponent.astype(np.int64)


def shifted_once(bits: int = 31) -> Quotient:
    """The sum times the whole number, shifted once, with half of what is shifted out added."""

    def found(sums: Array, *scales: Array) -> Array:
        multiplier, shift = multiplier_of(bits, *scales)
        check_shift(sums, shift)
        return np.asarray((sums * multiplier + (np.int64(1) << (shift - 1))) >> shift)

    return found


def shifted_twice(sums: Array, *scales: Array) -> Array:
    """gemmlowp's way: the doubled high half, rounded, and a shift that rounds ties away from zero."""
    multiplier, shift = multiplier_of(31, *scales)
    check_shift(sums, shift)
    product = sums * multiplier
    nudge = np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    high = np.where(product + nudge >= 0, (product + nudge) >> 31, -((-(product + nudge)) >> 31))
    rest = np.maximum(shift - 31, 0)
    half = (np.int64(1) << rest) >> 1
    return np.asarray(np.where(high >= 0, (high + half) >> rest, -((half - high) >> rest)))


def check_shift(sums: Array, shift: Array) -> None:
    """NotImplementedError for what 64 bits do not hold."""
    if np.any(shift < 31) or np.any(shift > 62) or np.any(np.abs(sums) >= 1 << 31):
        raise NotImplementedError


QUOTIENTS = (
    frequent("factor-of-scales-in:float32", "scale", quotient=factor_first(np.float32)),
    frequent("factor-of-scales-in:float32, the rest in float64", "scale",
             quotient=factor_first(np.float32, np.float64)),
    frequent("factor-of-scales-in:float64", "scale", quotient=factor_first(np.float64)),
    frequent("factor-of-scales-in:bfloat16", "scale", quotient=factor_first(ml_dtypes.bfloat16, np.float32)),
    frequent("factor-of-scales-in:float16", "scale", quotient=factor_first(np.float16, np.float32)),
    frequent("factor-of-scales:x * (w / y)", "scale", quotient=ratio_of_last_first),
    frequent("factor-of-scales:x / y * w", "scale", quotient=ratio_of_first_first),
    frequent("factor-of-scales:x * w * (1 / y)", "scale", quotient=factor_by_reciprocal),
    frequent("scales-left-to-right", "scale", quotient=scaled_in_turn),
    frequent("requantizes-in:float64", "scale", quotient=in_float64),
    frequent("requantizes-in:float64, the number in float32", "scale", quotient=dequantized_in_float64),
    frequent("reciprocal-of-scale", "scale", quotient=by_reciprocal),
    frequent("multiplier-of-bits:31", "scale", quotient=shifted_once(), round=lambda values: values),
    frequent("multiplier-of-bits:15", "scale", quotient=shifted_once(15), round=lambda values: values),
    frequent("multiplier-of-31-bits-doubled", "scale", quotient=shifted_twice, round=lambda values: values),
)  # fmt: skip

# Real numbers


def exactly(kind: str, total: Array, scale: Array, point: Array) -> Array:
    return np.asarray(np.rint(total / scale) + point)


WHOLE = tuple(
    WrongStep(f"convolves-dequantized:{text}", "scale", {"whole": finish}, in_pairs=text == dq.USUAL)
    for text, finish in dq.FINISHES
)
OF_INTEGERS = (frequent(f"convolves-integers:{dq.IN_RANGE_OF_SUM}", "scale", of_integers=dq.fake_quantizes_sum),)

# Scales and biases


SCALES = (
    *(frequent(f"scale-of:{name}", "channels", scale_of=place) for name, place in OTHER_CHANNELS.items()),
    frequent("along-other-axis:w_scale and w_zero_point", "channels", of_inputs=True),
    frequent("ignores:the scale of x", "scale", scales=lambda x, w, y: (np.ones_like(x), w, y)),
    frequent("ignores:the scale of w", "scale", scales=lambda x, w, y: (x, np.ones_like(w), y)),
    frequent("ignores:the scale of y", "scale", scales=lambda x, w, y: (x, w, np.ones_like(y))),
    frequent("multiplies-by-scale", "scale", scales=lambda x, w, y: (x, w, np.float32(1) / y)),
)


def wraps_to(kind: str) -> Callable[[Array, Array], Array]:
    return lambda total, bias: total + wrapped(bias, kind)


BIASES = (
    frequent("ignores:the bias", "bias", bias=lambda total, bias: total),
    frequent("bias-subtracted", "bias", bias=lambda total, bias: total - bias),
    frequent("bias-twice", "bias", bias=lambda total, bias: total + 2 * bias),
    frequent("bias-to:float32", "bias", bias=lambda total, bias: total + bias.astype(np.float32).astype(np.int64)),
    frequent("bias-to:int16", "bias", bias=wraps_to("int16")),
    frequent("bias-of:the first channel", "bias", bias=lambda total, bias: total + bias[:1]),
    frequent("sum-with-bias-in:float32", "bias",
             bias=lambda total, bias: (total.astype(np.float32) + bias.astype(np.float32)).astype(np.int64)),
)  # fmt: skip

# Rounding, the zero point and the clamp


def half_added_and_cut(values: Array) -> Array:
    return np.asarray(np.trunc(values + np.where(values < 0, -0.5, 0.5).astype(values.dtype)))


def in_factor_form(id_: str, **fields: Any) -> tuple[WrongStep, ...]:
    """A wrong rounding with the quotient in steps, and with the scales as one factor in float32."""
    both = {**fields, "quotient": factor_first(np.float32)}
    return frequent(id_, "even", **fields), step(f"{id_}, by one factor", "even", **both)


def before_rounding(kind: Any) -> dict[str, Any]:
    """Nothing is rounded until the zero point is added, in a type."""

    def add(_: str, quotient: Array, point: Array) -> Array:
        return np.asarray(np.rint(quotient.astype(kind) + point.astype(kind)), np.float64)

    return {"round": lambda values: values, "add": add}


def clamped_first(kind: str, rounded: Array, point: Array) -> Array:
    return np.asarray(np.clip(rounded, *ends(kind)) + point)


def low_bits(kind: str, total: Array) -> Array:
    return wrapped(np.clip(total, -(2.0**31), 2.0**31 - 1).astype(np.int64), kind)


def highest_of_signed(kind: str, total: Array) -> Array:
    if not kind.startswith("u"):
        raise NotImplementedError
    return np.clip(total, 0, 127)


def narrowed(kind: str, total: Array) -> Array:
    if kind.startswith("u"):
        raise NotImplementedError
    return np.clip(total, -127, 127)


OF_REFERENCE = {**before_rounding(np.float64), "quotient": factor_first(np.float32, np.float64)}
ROUNDING = (
    *in_factor_form("rounding-of-quotient:ties away from zero", round=ws.away),
    *in_factor_form("rounding-of-quotient:ties upward", round=ws.upward),
    *in_factor_form("rounding-of-quotient:toward zero", round=np.trunc),
    *in_factor_form("rounding-of-quotient:down", round=np.floor),
    *in_factor_form("rounding-of-quotient:up", round=np.ceil),
    *in_factor_form("rounding-of-quotient:half added, then toward zero", round=half_added_and_cut),
    *in_factor_form("zero-point-first-in:float32", **before_rounding(np.float32)),
    step("zero-point-first-in:float64, by one factor", "zero-point",
         **OF_REFERENCE),
    step(f"along-depth:w_scale{JOINT}zero-point-first-in:float64, by one factor", "channels",
         **OF_REFERENCE, along_depth=True),
    step("along-depth:w_scale", "channels", along_depth=True),
)  # fmt: skip
ENDS = (
    frequent("ignores:the zero point of y", "zero-point", add=lambda kind, rounded, point: rounded),
    frequent("subtracts-output-zero-point", "zero-point", add=lambda kind, rounded, point: rounded - point),
    frequent("clamps-before-zero-point", "saturate", add=clamped_first),
    frequent("wraps", "saturate", clamp=low_bits),
    frequent("highest-of-signed", "saturate", clamp=highest_of_signed),
    frequent("narrow-range", "saturate", clamp=narrowed),
)
OWN: tuple[WrongStep, ...] = (*QUOTIENTS, *WHOLE, *OF_INTEGERS, *SCALES, *BIASES, *ROUNDING, *ENDS)
MISTAKES = single_steps(pipeline, (*OWN, *STEPS))
PAIRS = pairs_of_steps(pipeline, (*OWN, *STEPS))
