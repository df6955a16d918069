"""Usual mistakes of `nvidia.NVFP4Quantize` as small NumPy backends.

The pipeline has six steps: the greatest magnitude of each block, the factor of the tensor, the scale before it is
rounded, the scale, the scaled input, the element. What follows from a wrong step is computed as the documents say, each
step in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.ocp_mx_quantize_mistakes import (
    PLUS,
    Change,
    amax_in,
    as_it_is,
    flushed,
    greatest,
    of_all,
    of_values,
    plus_zero,
    shared,
    some,
    without_lowest_bit,
)
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics.type_grids import on_grid
from tiebreak.conformance.variants import conversions
from tiebreak.golden.elements import SMALL_FLOAT_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.nvidia_nvfp4_quantize import BLOCK, ELEMENT_TYPE, SCALE_TYPE
from tiebreak.golden.problem import Array

E4M3, E2M1 = SMALL_FLOAT_TYPES[SCALE_TYPE], SMALL_FLOAT_TYPES[ELEMENT_TYPE]
SIX, WHOLE, MOST, LEAST_NORMAL = np.float32(6), np.float32(2688), np.float32(448), np.float32(2.0**-6)
ONE, SIXTH = np.float32(1), np.float32(1) / np.float32(6)
VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
Whole = Callable[[Array], Array]


class MeasuredTensor(NamedTuple):
    """What the whole tensor has: global_amax or None, s_enc and s_dec, and the type of the inputs."""

    whole: Any
    encode: Any
    decode: Any
    kind: np.dtype[Any]


Quotient = Callable[[Array, MeasuredTensor], Array]  # of the greatest magnitudes
Scaled = Callable[[Array, Array, MeasuredTensor], Array]  # of blocks and their scales
Level = Callable[[Any, "np.dtype[Any]"], MeasuredTensor]  # of global_amax and the type of the inputs

# The right steps


def two_levels(whole: Any, kind: np.dtype[Any]) -> MeasuredTensor:
    encode = WHOLE / np.float32(whole) if whole is not None else ONE
    return MeasuredTensor(whole, encode, ONE / encode, kind)


def sixth(amax: Array, tensor: MeasuredTensor) -> Array:
    return np.asarray(amax / SIX * tensor.encode)


def to_e4m3(quotient: Array, whole: Whole = np.rint) -> Array:
    return np.minimum(on_grid(quotient.astype(np.float64), E4M3, whole), MOST).astype(np.float32)


def by_reciprocal(blocks: Array, scale: Array, tensor: MeasuredTensor) -> Array:
    return np.asarray(blocks * (ONE / (scale * tensor.decode)))


def nearest(values: Array, whole: Whole = np.rint) -> Array:
    """NaN, which is 0 * (1 / 0), becomes the largest, as PTX has it."""
    values = np.where(np.isnan(values), np.inf, values)
    return np.clip(on_grid(values.astype(np.float64), E2M1, whole), -6, 6)


@dataclass(frozen=True)
class TwoLevelPipeline:
    """Steps in order, the right ones unless given. `x` changes the input first; `amax` takes whole blocks."""

    x: Change = as_it_is
    amax: Change = greatest
    level: Level = two_levels
    first: Callable[[Array, MeasuredTensor], Array] | None = None  # what happens to blocks before they are measured
    quotient: Quotient = sixth
    scale: Change = to_e4m3
    divisor: Callable[[Array, Array], Array] = lambda scale, quotient: scale
    scaled: Scaled = by_reciprocal
    element: Change = nearest

    def __call__(self, node: Node, x: Array, whole: Array | None = None) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            tensor = self.level(None if whole is None else whole.reshape(-1)[0], x.dtype)
            blocks = blocked(np.nan_to_num(self.x(x.astype(np.float32))))
            blocks = blocks if self.first is None else self.first(blocks, tensor)
            quotient = self.quotient(self.amax(blocks), tensor)
            scale = self.scale(quotient)
            divisor = self.divisor(scale, quotient)[..., None]
            found = self.element(self.scaled(blocks, divisor, tensor))
            kept = found.reshape(*x.shape[:-1], blocks.shape[-2] * BLOCK)[..., : x.shape[-1]]
            return kept.astype(node.outputs[0].dtype), scale.astype(node.outputs[1].dtype)


def pipeline(**steps: Any) -> Mistake:
    return TwoLevelPipeline(**steps)


def blocked(x: Array) -> Array:
    """Blocks along a new last axis, the last of each row filled with zeros."""
    count = -(-x.shape[-1] // BLOCK)
    whole = np.zeros((*x.shape[:-1], count * BLOCK), np.float32)
    whole[..., : x.shape[-1]] = x
    return whole.reshape(*x.shape[:-1], count, BLOCK)


# What is measured

MEASURED = (
    step("amax-of:the values without their magnitudes", "block", amax=of_values),
    step("amax-of:all but the first", "block", amax=some(slice(1, None))),
    step("amax-of:all but the last", "block", amax=some(slice(None, -1))),
    *(step(f"amax-of:the first {count}", "block", amax=some(slice(count))) for count in (1, 4, 8)),
    step("one-scale-for:32 elements", "block", amax=shared(2)),
    step("one-scale-for:each row", "block", amax=shared(0)),
    step("one-scale-for:the tensor", "block", amax=of_all),
    step("amax-in:bfloat16", "block", amax=amax_in(conversions.in_bfloat16)),
    step("amax-in:float16", "block", amax=amax_in(conversions.in_float16)),
)
INPUTS = (
    step("flushes-inputs", "elements", x=flushed),
    step(f"flushes-inputs:{PLUS}", "elements", x=lambda x: plus_zero(flushed(x))),
    step("x-in:bfloat16", "elements", x=conversions.in_bfloat16),
    step("x-in:float16", "elements", x=conversions.in_float16),
)

# The tensor's factor and the scale before it is rounded


def given(whole: Any) -> Any:
    """ValueError where there is no global_amax to mistake."""
    if whole is None:
        raise ValueError("there is nothing to mistake")
    return np.float32(whole)


def one_level(whole: Any, kind: np.dtype[Any]) -> MeasuredTensor:
    given(whole)
    return two_levels(None, kind)


def without_six(whole: Any, kind: np.dtype[Any]) -> MeasuredTensor:
    encode = MOST / given(whole)
    return MeasuredTensor(whole, encode, ONE / encode, kind)


def scale_of_tensor(whole: Any, kind: np.dtype[Any]) -> MeasuredTensor:
    """As torchao has it: s_dec first, then its reciprocal."""
    decode = given(whole) / WHOLE
    return MeasuredTensor(whole, ONE / decode, decode, kind)


def over_tensor(amax: Array, tensor: MeasuredTensor) -> Array:
    return np.asarray(amax / SIX / tensor.decode)


def over_scale(blocks: Array, scale: Array, tensor: MeasuredTensor) -> Array:
    return np.asarray(blocks * (tensor.encode / scale))


def with_sixth(amax: Array, tensor: MeasuredTensor) -> Array:
    return np.asarray(amax * (tensor.encode * SIXTH))


def times_sixth(amax: Array, tensor: MeasuredTensor) -> Array:
    return np.asarray(amax * SIXTH * tensor.encode)


def tensor_first(blocks: Array, tensor: MeasuredTensor) -> Array:
    given(tensor.whole)
    return np.asarray(blocks * tensor.encode)


def sixth_alone(amax: Array, tensor: MeasuredTensor) -> Array:
    return np.asarray(amax / SIX)


def reciprocal_alone(blocks: Array, scale: Array, tensor: MeasuredTensor) -> Array:
    return np.asarray(blocks * (ONE / scale))


def sixth_in_x_type(amax: Array, tensor: MeasuredTensor) -> Array:
    return np.asarray(in_type(amax / SIX, tensor.kind) * tensor.encode)


def in_type(values: Array, kind: np.dtype[Any]) -> Array:
    return np.asarray(values.astype(kind).astype(np.float32))


LEVELS = (
    frequent("global-amax-ignored", "global", level=one_level),
    frequent("global-scale-without-six", "global", level=without_six),
    frequent("global-scale-divides", "global", level=scale_of_tensor, quotient=over_tensor, scaled=over_scale),
    frequent("global-scale-first", "global", first=tensor_first, quotient=sixth_alone, scaled=reciprocal_alone),
    frequent("scale-factor-with-sixth", "global", quotient=with_sixth),
    frequent("amax-times-sixth", "scales", quotient=times_sixth),
)

# The scale


def at_least(least: float) -> Change:
    return lambda quotient: np.maximum(to_e4m3(quotient), np.float32(least))


def by_whole(whole: Whole) -> Change:
    return lambda quotient: to_e4m3(quotient, whole)


def flushed_scales(quotient: Array) -> Array:
    found = to_e4m3(quotient)
    return np.where(found < LEAST_NORMAL, np.float32(0), found)


def beyond_is_nan(quotient: Array) -> Array:
    found = on_grid(quotient.astype(np.float64), E4M3)
    return np.where(found > MOST, np.nan, found).astype(np.float32)


def power_of_two(quotient: Array) -> Array:
    part, exponent = np.frexp(quotient)
    power = np.ldexp(1.0, exponent - (part == 0.5))
    return to_e4m3(np.where(quotient > 0, power, 0.0))


def one_for_zeros(quotient: Array) -> Array:
    return np.where(quotient == 0, ONE, to_e4m3(quotient))


SCALES = (
    frequent("scale-at-least:2^-6", "put-out", scale=at_least(2.0**-6)),
    frequent("scale-at-least:2^-9", "put-out", scale=at_least(2.0**-9)),
    frequent("scale-rounded:up", "scale-nearest", scale=by_whole(np.ceil)),
    frequent("scale-rounded:down", "scale-nearest", scale=by_whole(np.floor)),
    frequent("scale-ties:away from zero", "scale-nearest", scale=by_whole(ws.away)),
    frequent("scale-ties:toward zero", "scale-nearest", scale=by_whole(ws.toward_zero)),
    frequent("scale-to-power-of-two-above", "scale-nearest", scale=power_of_two),
    frequent("subnormal-scales-flushed", "put-out", scale=flushed_scales),
    frequent("beyond-scales:NaN", "saturate-scale", scale=beyond_is_nan),
    frequent("zero-block-scale-one", "put-out", scale=one_for_zeros),
)

AS_TORCHAO = (  # which does both: where one alone explains a case, the other contradicts it elsewhere
    step(
        "global-scale-divides:no scale below 2^-6", "global",
        level=scale_of_tensor, quotient=over_tensor, scaled=over_scale, scale=at_least(2.0**-6),
    ),
)  # fmt: skip

# The scaled input


def by_division(blocks: Array, scale: Array, tensor: MeasuredTensor) -> Array:
    return np.asarray(blocks / (scale * tensor.decode))


def in_x_type(blocks: Array, scale: Array, tensor: MeasuredTensor) -> Array:
    """The quotient in the input's own type, then times the tensor's factor."""
    return np.asarray(in_type(blocks / scale, tensor.kind) * tensor.encode)


SCALED = (
    frequent("divides-by-scale", "elements", scaled=by_division),
    frequent("divides-in-x-type", "elements", quotient=sixth_in_x_type, scaled=in_x_type),
    frequent("global-scale-over-scale", "global-elements", scaled=over_scale),
    frequent("divides-by-unrounded-scale", "elements", divisor=lambda scale, quotient: quotient),
)

# The element


def through(change: Change) -> Change:
    return lambda values: nearest(change(values))


def rounded(whole: Whole) -> Change:
    return lambda values: nearest(values, whole)


def by_distance(values: Array) -> Array:
    """The nearest of all 16 values by differences in float32, the first of those that are equally far."""
    every = np.concatenate([VALUES, -VALUES])
    return np.asarray(every[np.abs(values.astype(np.float32)[..., None] - every).argmin(axis=-1)])


def without_subnormals(values: Array) -> Array:
    found = nearest(values)
    return np.where(np.abs(found) < 1, np.copysign(0.0, found), found)


def without_signed_subnormals(values: Array) -> Array:
    return plus_zero(without_subnormals(values))


def end_at(most: float) -> Change:
    return lambda values: np.clip(nearest(values), -most, most)


def unsigned(values: Array) -> Array:
    return np.abs(nearest(values))


ELEMENTS = (
    frequent("element-ties:away from zero", "nearest", element=rounded(ws.away)),
    frequent("element-ties:toward zero", "nearest", element=rounded(ws.toward_zero)),
    frequent("element-ties:upward", "nearest", element=rounded(ws.upward)),
    frequent("element-by-distance", "nearest", element=by_distance),
    frequent("elements-cut-off", "nearest", element=rounded(np.trunc)),
    frequent("elements-rounded:down", "nearest", element=rounded(np.floor)),
    frequent("elements-rounded:away from zero", "nearest", element=rounded(ws.from_zero)),
    frequent("quotient-in:bfloat16", "nearest", element=through(conversions.in_bfloat16)),
    frequent("quotient-in:float16", "nearest", element=through(conversions.in_float16)),
    frequent("elements-flushed", "nearest", element=without_subnormals),
    step(f"elements-flushed:{PLUS}", "nearest", element=without_signed_subnormals),
    step("lowest-bit-lost", "nearest", element=rounded(without_lowest_bit)),
    frequent("elements-end-at-power", "saturate", element=end_at(4)),
    step("ends-at:half the highest value", "saturate", element=end_at(3)),
    frequent("elements-without-sign", "nearest", element=unsigned),
)
STEPS: tuple[WrongStep, ...] = (*ELEMENTS, *SCALES, *AS_TORCHAO, *LEVELS, *SCALED, *INPUTS, *MEASURED)
MISTAKES = single_steps(pipeline, STEPS)
PAIRS = pairs_of_steps(pipeline, (*SCALES, *LEVELS, *SCALED, *ELEMENTS))
