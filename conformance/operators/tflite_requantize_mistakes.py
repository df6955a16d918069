"""Usual mistakes of `tflite.Requantize` as small NumPy backends.

The pipeline has four steps: the difference of the input and its zero point, the two scales, the whole number that their
ratio makes of it, and the output. Numbers are float64, whole ones of the kernels int64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.variants import conversions
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tflite_requantize import ADD, DOUBLE, REAL, SINGLE
from tiebreak.golden.problem import Array

WORD = INTEGER_TYPES["int32"]
BITS = 31
LANES = 16  # of a vector of bytes
Change = Callable[[Array], Array]
Whole = Callable[[Node, Array, Array, Array], Array]


# The right steps


def difference(x: Array, zero_point: Array) -> Array:
    return np.asarray(x.astype(np.float64) - zero_point.astype(np.float64))


def both(scale: Array, other: Array) -> tuple[Array, Array]:
    return scale, other


def by_rounding(node: Node, d: Array, scale: Array, other: Array) -> Array:
    """The whole number by the node's own rounding; ties to even where it has nearest."""
    return WAYS[node.value("rounding")](node, d, scale, other)


def real(node: Node, d: Array, scale: Array, other: Array, whole: Change = np.rint) -> Array:
    """The real result rounded. An extended float holds the product, and a quotient beside a tie is none."""
    quotient = d.astype(np.longdouble) * scale / other
    return np.asarray(whole(quotient)).astype(np.float64)


def saturated(node: Node, whole: Array, zero_point: Array) -> Array:
    kind = INTEGER_TYPES[node.output_type]
    return np.asarray(np.clip(whole + zero_point, kind.lowest, kind.highest))


# Multipliers and shifts


def multiplier_of(ratio: Array, bits: int = BITS) -> tuple[Array, Array]:
    """The ratio as a whole number of so many bits, and the shift beside them."""
    part, shift = np.frexp(ratio)
    found = np.floor(np.ldexp(part, bits) + 0.5)
    carried = found == 2.0**bits
    found, shift = np.where(carried, found / 2, found), shift + carried
    kept = shift >= -BITS
    return np.where(kept, found, 0).astype(np.int64), np.where(kept, shift, 0).astype(np.int64)


def words(values: Array) -> Array:
    """Whole numbers as int32 holds them: they wrap around."""
    return values.astype(np.int64).astype(np.int32).astype(np.int64)


def powers(shift: Array) -> Array:
    """1 << shift, as a processor shifts an int32."""
    return words(np.int64(1) << (shift & BITS))


def lane_powers(shift: Array) -> Array:
    """1 << shift, as the lanes of a vector are shifted: what is shifted out is gone."""
    return np.where(shift > BITS, 0, powers(shift))


def up(values: Array, shift: Any) -> Array:
    """Values shifted right, ties upward."""
    return np.asarray((values + (np.int64(1) << shift >> 1)) >> shift)


def away(values: Array, shift: Any) -> Array:
    return np.asarray(np.sign(values) * up(np.abs(values), shift))


def to_even(values: Array, shift: Any) -> Array:
    found = up(values, shift)
    return np.asarray(found - ((found << shift) - values == np.int64(1) << shift >> 1) * (found & 1) * (shift > 0))


def once(
    node: Node, d: Array, scale: Array, other: Array, bits: int = BITS, reduced: bool = False, wide: bool = False
) -> Array:
    """A product with a multiplier of so many bits, shifted once; `reduced` cuts them from one of 31 bits.

    The difference is an int32, which wraps around, unless `wide`.
    """
    multiplier, shift = multiplier_of(scale / other, BITS if reduced else bits)
    if reduced:
        multiplier = np.minimum(up(multiplier, BITS - bits), (1 << bits) - 1)
    multiplier = np.where(shift > BITS - 1, (1 << bits) - 1, multiplier)
    right = bits - np.minimum(shift, min(BITS, bits) - 1)
    factor = d.astype(np.int64) if wide else words(d)
    return up(factor * multiplier, np.clip(right, 0, 62)).astype(np.float64)


def twice(
    node: Node, d: Array, scale: Array, other: Array, second: Callable[[Array, Any], Array] = away, left: int = 0
) -> Array:
    """The doubled high half of the product, then a shift; first `left`, by which the ratio is less."""
    multiplier, shift = multiplier_of(scale / other / 2.0**left)
    power = (lane_powers if second is up else powers)(np.maximum(shift, 0))
    shifted = words(words(d) * power << left)
    return second(up(shifted * multiplier, BITS), np.clip(-shift, 0, BITS)).astype(np.float64)


def of_sum(node: Node, d: Array, scale: Array, other: Array) -> Array:
    """As ADD does it, which has room for both its operands."""
    if node.value("through") != ADD:
        raise NotImplementedError
    return twice(node, d, scale, other, left=14 if node.input_type == "int16" else 19)


def by_vectors(node: Node, d: Array, scale: Array, other: Array) -> Array:
    """As `twice`, in vectors with ties upward; what is left of the array has them away from zero."""
    in_body = np.arange(d.size).reshape(d.shape) < d.size // LANES * LANES
    return np.where(in_body, twice(node, d, scale, other, up), twice(node, d, scale, other))


def twice_saturating(node: Node, d: Array, scale: Array, other: Array) -> Array:
    """As `twice`, but the difference and what is shifted to the left stay at the ends of int32, as gemmlowp has it."""
    multiplier, shift = multiplier_of(scale / other)
    shifted = held(held(d) << np.clip(shift, 0, BITS))
    return away(up(shifted * multiplier, BITS), np.clip(-shift, 0, BITS)).astype(np.float64)


def held(values: Array) -> Array:
    """Whole numbers as int32 holds them that saturates."""
    return np.asarray(np.clip(values, WORD.lowest, WORD.highest)).astype(np.int64)


def of_fraction_bits(bits: int, node: Node, d: Array, scale: Array, other: Array, wide: bool = False) -> Array:
    """A product with a ratio in float32 that has so many fractional bits, ties to even, shifted once.

    The difference is an int32, which wraps around, unless `wide`.
    """
    ratio = (scale.astype(np.float32) / other.astype(np.float32)).astype(np.float64)
    factor = np.rint(np.clip(ratio, -(2.0**20), 2.0**20) * 2.0**bits).astype(np.int64)
    return up((d.astype(np.int64) if wide else words(d)) * factor, bits).astype(np.float64)


def positive(*scales: Array) -> tuple[Array, Array]:
    """The two scales, or 1 where results are open."""
    scale, other = (np.where(np.isfinite(given) & (given > 0), given, 1.0) for given in scales)
    return scale, other


WAYS: dict[str, Whole] = {REAL: real, SINGLE: once, DOUBLE: twice}


@dataclass(frozen=True)
class Requantizer:
    """Steps in order, the right ones unless given. `z` changes the zero points first.

    `usable` puts 1 for scales with which the operator's results are open.
    """

    x: Callable[[Array], Array] = conversions.as_is
    z: Callable[[Array, Array], tuple[Array, Array]] = both
    difference: Callable[[Array, Array], Array] = difference
    scales: Callable[[Array, Array], tuple[Array, Array]] = both
    usable: Callable[[Array, Array], tuple[Array, Array]] = positive
    whole: Whole = by_rounding
    out: Callable[[Node, Array, Array], Array] = saturated

    def __call__(self, node: Node, x: Array, s_in: Array, z_in: Array, s_out: Array, z_out: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            first, last = self.z(z_in.astype(np.int64), z_out.astype(np.int64))
            scale, other = self.scales(s_in.astype(np.float64), s_out.astype(np.float64))
            whole = self.whole(node, self.difference(self.x(x), first), *self.usable(scale, other))
            found = self.out(node, np.clip(whole, -(2.0**62), 2.0**62), last)
            return (np.asarray(found).astype(np.int64).astype(node.outputs[0].dtype),)


def pipeline(**steps: Any) -> Mistake:
    return Requantizer(**steps)


# The whole number


def in_precision(change: Change, round_: Change = np.rint) -> Whole:
    """Difference, ratio and product each in a narrower type."""

    def found(node: Node, d: Array, scale: Array, other: Array) -> Array:
        return np.asarray(round_(change(change(d) * change(np.asarray(scale / other)))))

    return found


def through_numbers(node: Node, d: Array, scale: Array, other: Array, *, reciprocal: bool = False) -> Array:
    """The number that the input stands for, in float32, divided by the other scale."""
    number = conversions.in_float32(conversions.in_float32(d) * scale)
    if reciprocal:
        return np.rint(conversions.in_float32(number * conversions.in_float32(np.asarray(1 / other))))
    return np.rint(conversions.in_float32(np.asarray(number / other)))


def of_real(whole: Change) -> Whole:
    """Another rounding of the real result; nodes with nearest are compared with every one anyway."""

    def found(node: Node, d: Array, scale: Array, other: Array) -> Array:
        if node.value("rounding") == REAL:
            raise NotImplementedError
        return real(node, d, scale, other, whole)

    return found


def half_up(values: Array) -> Array:
    return np.asarray(np.floor(values + values.dtype.type(0.5)))


def half_away(values: Array) -> Array:
    return np.asarray(np.copysign(half_up(np.abs(values)), values))


def from_zero(values: Array) -> Array:
    return np.asarray(np.copysign(np.ceil(np.abs(values)), values))


WHOLE = (
    frequent("rounds-in-two-steps:away from zero", "nearest", whole=twice),
    frequent("rounds-in-two-steps:upward", "nearest", whole=partial(twice, second=up)),
    frequent(f"rounds-in-two-steps-by-vectors:{LANES}", "nearest", whole=by_vectors),
    frequent("rounds-in-two-steps:to even", "nearest", whole=partial(twice, second=to_even)),
    step("rounds-in-two-steps:away from zero, saturating in int32", "nearest", whole=twice_saturating),
    frequent("factor-of-fraction-bits:8", "nearest", whole=partial(of_fraction_bits, 8)),
    frequent("factor-of-fraction-bits:16", "nearest", whole=partial(of_fraction_bits, 16)),
    step("factor-of-fraction-bits-wide:8", "nearest", whole=partial(of_fraction_bits, 8, wide=True)),
    step("factor-of-fraction-bits-wide:16", "nearest", whole=partial(of_fraction_bits, 16, wide=True)),
    frequent("multiplier-of-bits:31", "nearest", whole=once),
    frequent("multiplier-of-bits:15", "nearest", whole=partial(once, bits=15, reduced=True)),
    step("multiplier-of-bits:21", "nearest", whole=partial(once, bits=21)),
    step("shifts-left-and-rounds-twice", "nearest", whole=of_sum),
    frequent("ratio-product-in:float32", "nearest", whole=in_precision(conversions.in_float32)),
    frequent("ratio-product-in:float32, ties away", "nearest", whole=in_precision(conversions.in_float32, half_away)),
    step("ratio-product-in:float32, ties up", "nearest", whole=in_precision(conversions.in_float32, half_up)),
    step("ratio-product-in:float16", "nearest", whole=in_precision(conversions.in_float16)),
    step("ratio-product-in:bfloat16", "nearest", whole=in_precision(conversions.in_bfloat16)),
    step("through-numbers-in-float32", "nearest", whole=through_numbers),
    step("through-numbers-in-float32:by the reciprocal", "nearest", whole=partial(through_numbers, reciprocal=True)),
    step("real-result-rounded:to nearest, ties to even", "nearest", whole=of_real(np.rint)),
    step("real-result-rounded:to nearest, ties away from zero", "nearest", whole=of_real(half_away)),
    step("real-result-rounded:toward zero", "nearest", whole=of_real(np.trunc)),
    step("real-result-rounded:down", "nearest", whole=of_real(np.floor)),
    step("real-result-rounded:up", "nearest", whole=of_real(np.ceil)),
    step("real-result-rounded:away from zero", "nearest", whole=of_real(from_zero)),
)

# The scales


def times(factor: float) -> Callable[[Array, Array], tuple[Array, Array]]:
    return lambda scale, other: (np.asarray(scale * factor), other)


def each(change: Change) -> Callable[[Array, Array], tuple[Array, Array]]:
    return lambda scale, other: (change(scale), change(other))


SCALES = (
    frequent("shift-off-by-one:more", "same", scales=times(2.0)),
    frequent("shift-off-by-one:less", "same", scales=times(0.5)),
    step("ratio-inverted", "same", scales=lambda scale, other: (other, scale)),
    step("ignores-scale", "same", scales=lambda scale, other: (np.ones_like(scale), np.ones_like(other))),
    step("ignores-scale:of the output", "same", scales=lambda scale, other: (scale, np.ones_like(other))),
    step("ignores-scale:of the input", "same", scales=lambda scale, other: (np.ones_like(scale), other)),
    step("scale-in:bfloat16", "same", scales=each(conversions.in_bfloat16)),
    step("scale-in:float16", "same", scales=each(conversions.in_float16)),
    step("scale-to-power-of-two-below", "same", scales=each(conversions.to_power_of_two_below)),
)


def by_saturating_rounding(node: Node, d: Array, scale: Array, other: Array) -> Array:
    """As `by_rounding`, but with twice_saturating for nodes that round twice."""
    return (twice_saturating if node.value("rounding") == DOUBLE else by_rounding)(node, d, scale, other)


# What is shifted further to the left may leave int32, where it was in it before.
SHIFTS = (step("shift-off-by-one:more, saturating in int32", "same", scales=times(2.0), whole=by_saturating_rounding),)

# The input and the zero points


def as_other_sign(signed: bool) -> Change:
    """The input's bits read with or without a sign."""

    def found(x: Array) -> Array:
        if (x.dtype.kind == "i") is signed:
            raise NotImplementedError
        return x.view(f"{'i' if signed else 'u'}{x.dtype.itemsize}")

    return found


def difference_in_type(node_type: str) -> Callable[[Array, Array], Array]:
    def found(x: Array, zero_point: Array) -> Array:
        whole = x.astype(np.int64) - zero_point
        if node_type == "wraps":
            return whole.astype(x.dtype).astype(np.float64)
        kind = np.iinfo(x.dtype)
        return np.clip(whole, kind.min, kind.max).astype(np.float64)

    return found


def none(zero_point: Array) -> Array:
    return np.zeros_like(zero_point)


INPUTS = (
    frequent("ignores-zero-point:of the input", "same", z=lambda first, last: (none(first), last)),
    frequent("ignores-zero-point:of the output", "same", z=lambda first, last: (first, none(last))),
    frequent("ignores-zero-point", "same", z=lambda first, last: (none(first), none(last))),
    frequent("zero-points-exchanged", "same", z=lambda first, last: (last, first)),
    frequent("adds-zero-point:of the input", "same", z=lambda first, last: (-first, last)),
    frequent("subtracts-zero-point:of the output", "same", z=lambda first, last: (first, -last)),
    step("difference-wraps", "same", difference=difference_in_type("wraps")),
    step("difference-saturates", "same", difference=difference_in_type("saturates")),
    step("difference-reversed", "same", difference=lambda x, zero_point: -difference(x, zero_point)),
    step("input-as-signed", "same", x=as_other_sign(True)),
    step("input-as-unsigned", "same", x=as_other_sign(False)),
)

# The output


def wrapped(node: Node, whole: Array, zero_point: Array) -> Array:
    return np.asarray(whole.astype(np.int64) + zero_point)


def clamped_first(node: Node, whole: Array, zero_point: Array) -> Array:
    return saturated(node, saturated(node, whole, none(zero_point)), zero_point)


def clamped_first_and_wrapped(node: Node, whole: Array, zero_point: Array) -> Array:
    return saturated(node, whole, none(zero_point)) + zero_point


def narrow(node: Node, whole: Array, zero_point: Array) -> Array:
    return np.maximum(saturated(node, whole, zero_point), INTEGER_TYPES[node.output_type].lowest + 1)


def to_zero_beyond(node: Node, whole: Array, zero_point: Array) -> Array:
    found = saturated(node, whole, zero_point)
    return np.where(found == whole + zero_point, found, 0)


def at_most_signed(node: Node, whole: Array, zero_point: Array) -> Array:
    kind = INTEGER_TYPES[node.output_type]
    if kind.signed:
        raise NotImplementedError
    return np.minimum(saturated(node, whole, zero_point), kind.highest // 2)


OUTPUTS = (
    frequent("wraps", "saturate", out=wrapped),
    frequent("clamps-before-zero-point", "saturate", out=clamped_first),
    step("clamps-before-zero-point-and-wraps", "saturate", out=clamped_first_and_wrapped),
    step("narrow-range", "saturate", out=narrow),
    step("beyond-to-zero", "saturate", out=to_zero_beyond),
    step("highest-of-signed", "saturate", out=at_most_signed),
)
STEPS: tuple[WrongStep, ...] = (*WHOLE, *OUTPUTS, *INPUTS, *SCALES, *SHIFTS)
MISTAKES = single_steps(pipeline, STEPS)
PAIRS = pairs_of_steps(pipeline, STEPS)
