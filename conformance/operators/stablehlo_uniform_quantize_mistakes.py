"""Usual mistakes of `stablehlo.uniform_quantize` as small NumPy backends.

The pipeline has seven steps: which parameters an element takes, the number that the operand is, its quotient, the sum
with the zero point, its rounding, the ends, and the conversion to the storage type. Steps are float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.judging.misplaced import Misplace
from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.tensorflow_uniform import IN_PLACE, PLACES, taken
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.places import flush_subnormals
from tiebreak.conformance.semantics.subnormals import with_factors
from tiebreak.conformance.variants import conversions
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.stablehlo import ends_of
from tiebreak.golden.operators.stablehlo_uniform_quantize import ID, OWN
from tiebreak.golden.problem import Array

Places = tuple[Misplace, Misplace]
Change = Callable[[Array], Array]
Ends = tuple[int, int]
FAR = 2.0**62
WORD = INTEGER_TYPES["int32"]


# The right steps


def quotient(number: Array, scale: Array) -> Array:
    return np.asarray(number / scale)


def total(value: Array, zero: Array) -> Array:
    return np.asarray(value + zero.astype(value.dtype))


def difference(x: Array, zero: Array) -> Array:
    return np.asarray(x.astype(np.int64) - zero.astype(np.int64))


def clamped(value: Array, ends: Ends) -> Array:
    """Between the ends as float32 has them: one that it lacks is a number beside it."""
    return np.asarray(np.clip(value.astype(np.float64), *np.asarray(ends, np.float32).tolist()))


def converted(node: Node, whole: Array) -> Array:
    """The number in the storage type; what that lacks is an end."""
    kind = INTEGER_TYPES[node.output_type]
    return np.asarray(np.clip(np.nan_to_num(whole), kind.lowest, kind.highest))


@dataclass(frozen=True)
class UniformQuantizer:
    """Steps in order, the right ones unless given. With `last` the zero point is added to the rounded quotient."""

    places: Places = IN_PLACE
    x: Change = conversions.as_is
    read: Change = conversions.as_is
    difference: Callable[[Array, Array], Array] = difference
    number: Callable[[Array, Array], Array] = lambda value, scale: np.asarray(value.astype(scale.dtype) * scale)
    scale: Change = conversions.as_is
    zero: Change = conversions.as_is
    divide: Callable[[Array, Array], Array] = quotient
    add: Callable[[Array, Array], Array] = total
    whole: Change = np.rint
    last: bool = False
    clamp: Callable[[Array, Ends], Array] = clamped
    out: Callable[[Node, Array], Array] = converted

    def __call__(self, node: Node, x: Array, scales: Array, points: Array, *own: Array) -> tuple[Array, ...]:
        if self.places is not IN_PLACE and max(scales.size, *(array.size for array in own), 0) < 2:
            raise NotImplementedError
        scale, zero = taken(x, int(node.value("quantization_dimension")), scales, points, self.places)
        with np.errstate(all="ignore"):
            number = self.quantized(node, x, *own) if own else self.x(x)
            value = self.divide(number, self.scale(scale))
            found = self.sum(value, self.zero(zero.astype(np.int64)))
            ends = ends_of(ID, node.output_type, node.attributes)
            whole = self.out(node, self.clamp(np.clip(found, -FAR, FAR), ends))
        return (np.nan_to_num(np.asarray(whole)).astype(np.int64).astype(node.outputs[0].dtype).reshape(x.shape),)

    def quantized(self, node: Node, x: Array, scales: Array, points: Array) -> Array:
        scale, zero = taken(x, int(node.value(f"{OWN}quantization_dimension")), scales, points, self.places)
        return self.number(self.difference(self.read(x), zero), scale)

    def sum(self, value: Array, zero: Array) -> Array:
        """The rounded sum, not yet clamped, as float64: rounding and clamping may be exchanged."""
        if self.last:
            return np.asarray(self.whole(value).astype(np.float64) + zero)
        return np.asarray(self.whole(self.add(value, zero))).astype(np.float64)


def pipeline(**steps: Any) -> Mistake:
    return UniformQuantizer(**steps)


# The operand, the quotient and the sum


def as_signed(x: Array) -> Array:
    """An unsigned operand's bits read as signed."""
    if not x.dtype.name.startswith("uint"):
        raise NotImplementedError
    return np.asarray(x.astype(np.int64) - np.where(x > np.iinfo(x.dtype).max // 2, 1 << 8 * x.itemsize, 0))


def difference_in_word(x: Array, zero: Array) -> Array:
    return np.asarray(difference(x, zero).astype(np.int32).astype(np.int64))


def flushed(values: Array) -> Array:
    """With 0 for subnormal numbers."""
    return flush_subnormals(values, FLOAT_TYPES[values.dtype.name].emin)


def flushed_but_factors(scale: Array) -> Array:
    """The same of scales, but a subnormal one that all elements share is divided by where its reciprocal is exact."""
    shared = scale.size > 0 and bool((scale == scale.reshape(-1)[0]).all())
    return with_factors(scale, flushed(scale), FLOAT_TYPES[scale.dtype.name].emin) if shared else flushed(scale)


def by_reciprocal(number: Array, scale: Array) -> Array:
    return np.asarray(number * (scale.dtype.type(1) / scale))


def in_wider(number: Array, scale: Array) -> Array:
    """Not rounded to the expressed type."""
    return np.asarray(number.astype(np.longdouble) / scale)


def multiplied(number: Array, scale: Array) -> Array:
    return np.asarray(number * scale)


def half_more(value: Array) -> Array:
    return np.asarray(np.floor(value + value.dtype.type(0.5)))


def half_away(value: Array) -> Array:
    return np.asarray(np.copysign(np.floor(np.abs(value) + value.dtype.type(0.5)), value))


def toward_zero(value: Array) -> Array:
    return np.asarray(np.copysign(np.ceil(np.abs(value) - value.dtype.type(0.5)), value))


# The ends and the conversion


def as_signed_type(node: Node, whole: Array) -> Array:
    """An unsigned type is converted to as a signed one of its bits, which saturates."""
    kind = INTEGER_TYPES[node.output_type]
    if kind.signed:
        raise NotImplementedError
    return np.asarray(np.clip(np.nan_to_num(whole), -(kind.highest + 1) // 2, kind.highest // 2))


def as_word(node: Node, whole: Array) -> Array:
    """A cast to int32, which gives the lowest number for what it lacks, and the low bits of that."""
    found = np.nan_to_num(whole, nan=FAR)
    return np.asarray(np.where((found < WORD.lowest) | (found > WORD.highest), WORD.lowest, found))


def unclamped(value: Array, ends: Ends) -> Array:
    return value


def in_type(node: Node, whole: Array) -> Array:
    return np.asarray(whole)


def narrower(value: Array, ends: Ends) -> Array:
    return np.asarray(np.clip(value, ends[0] + 1, ends[1]))


STEPS: tuple[WrongStep, ...] = (
    step("flushes-inputs", "quotient", x=flushed),
    step("flushes-inputs-and-scales", "quotient", x=flushed, scale=flushed),
    step("flushes-inputs-and-scales-but-factors", "quotient", x=flushed, scale=flushed_but_factors),
    frequent("zero-point-last", "zero-point", last=True),
    frequent("highest-of-signed", "range", out=as_signed_type),
    frequent("casts-to-int32-and-wraps", "range", out=as_word),
    frequent("reciprocal-of-scale", "quotient", divide=by_reciprocal),
    step("divides-exactly", "quotient", divide=in_wider),
    step("multiplies-by-scale", "quotient", divide=multiplied),
    frequent("sum-rounded:half away from zero", "round", whole=half_away),
    frequent("sum-rounded:half up", "round", whole=half_more),
    step("sum-rounded:half toward zero", "round", whole=toward_zero),
    frequent("sum-rounded:toward zero", "round", whole=np.trunc),
    step("sum-rounded:down", "round", whole=np.floor),
    step("sum-rounded:up", "round", whole=np.ceil),
    frequent("ignores-zero-point", "zero-point", zero=np.zeros_like),
    frequent("subtracts-zero-point", "zero-point", zero=lambda zero: -zero),
    frequent("wraps", "range", clamp=unclamped, out=in_type),
    step("ignores:storage_min and storage_max", "narrow", clamp=unclamped),
    step("narrow-range", "narrow", clamp=narrower),
    step("x-in:bfloat16", "quotient", x=conversions.in_bfloat16),
    step("x-in:float16", "quotient", x=conversions.in_float16),
    step("scale-in:bfloat16", "quotient", scale=conversions.in_bfloat16),
    step("scale-in:float16", "quotient", scale=conversions.in_float16),
    step("scale-to-power-of-two-below", "quotient", scale=conversions.to_power_of_two_below),
    frequent("input-as-signed", "operand", read=as_signed),
    frequent("difference-wraps-in:int32", "operand", difference=difference_in_word),
    step("difference-wraps", "operand", difference=lambda x, zero: (x - zero.astype(x.dtype)).astype(np.int64)),
)


def total_by_ratio(fused: bool, node: Node, x: Array, scales: Array, points: Array, *own: Array) -> Array:
    """One factor and one sum in float32, computed beforehand from both types, not yet rounded."""
    if not own:
        raise NotImplementedError
    scale, zero = taken(x, int(node.value("quantization_dimension")), scales, points, IN_PLACE)
    s_in, z_in = taken(x, int(node.value(f"{OWN}quantization_dimension")), own[0], own[1], IN_PLACE)
    with np.errstate(all="ignore"):
        ratio = s_in / scale
        shift = zero.astype(np.float32) - z_in.astype(np.float32) * ratio
        value = x.astype(np.float32)
        return ws.fused(value, ratio, shift) if fused else np.asarray(value * ratio + shift)


def within_ends(node: Node, total: Array) -> Array:
    """The number rounded to even between the node's ends, as float64; NaN stays."""
    return np.clip(np.rint(total.astype(np.float64)), *ends_of(ID, node.output_type, node.attributes))


def by_ratio_and_shift(fused: bool, node: Node, x: Array, scales: Array, points: Array, *own: Array) -> Any:
    whole = within_ends(node, total_by_ratio(fused, node, x, scales, points, *own))
    with np.errstate(all="ignore"):
        return (whole.astype(np.int64).astype(node.outputs[0].dtype),)


def of_signed_operand(fused: bool, node: Node, x: Array, *parameters: Array) -> Any:
    """The same of an unsigned operand's bits read as signed. Its zero point is as it is."""
    return by_ratio_and_shift(fused, node, as_signed(x), *parameters)


OF_PLACES = tuple((Cause(key, "projection"), pipeline(places=(first, last))) for key, first, last in PLACES)
OWN_CAUSES: tuple[tuple[Cause, Mistake], ...] = (
    (Cause("ratio-and-shift-in-float32", "operand"), partial(by_ratio_and_shift, False)),
    (Cause("ratio-and-shift-in-float32:fused", "operand"), partial(by_ratio_and_shift, True)),
    (Cause(f"input-as-signed{JOINT}ratio-and-shift-in-float32", "operand"), partial(of_signed_operand, False)),
    (Cause(f"input-as-signed{JOINT}ratio-and-shift-in-float32:fused", "operand"), partial(of_signed_operand, True)),
)
MISTAKES: tuple[tuple[Cause, Mistake], ...] = (*OF_PLACES, *OWN_CAUSES, *single_steps(pipeline, STEPS))
PAIRS: tuple[tuple[Cause, Mistake], ...] = pairs_of_steps(pipeline, STEPS)
