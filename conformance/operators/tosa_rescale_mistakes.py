"""Usual mistakes of `tosa.RESCALE` as small NumPy backends.

The pipeline has seven steps: how the input is read, which multiplier and shift an element takes, the difference, the
factors, the rounded quotient, the sum and the clamp. Numbers are int64, which hold every product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.variants.places import PLACES, Place, along, in_runs
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.tosa_rescale import DOUBLE, MOST_SHIFT, WIDE
from tiebreak.golden.problem import Array

Change = Callable[[Node, Array], Array]
Join = Callable[[Node, Array, Array], Array]
Scale = Callable[[Node, Array, Array, Array], Array]
ONE = np.int64(1)
NUDGE = ONE << 30


# The right steps


def as_it_is(node: Node, values: Array) -> Array:
    return values


def difference(node: Node, x: Array, point: Array) -> Array:
    return x - point


def nothing_else(node: Node, multiplier: Array, shift: Array) -> tuple[Array, Array]:
    return multiplier, shift


def half(shift: Array) -> Array:
    return np.asarray(ONE << (shift - 1))


def nudge(value: Array, shift: Array, above: int = 31) -> Array:
    """What rounding twice adds to the product."""
    return np.where(shift > above, np.where(value < 0, -NUDGE, NUDGE), 0)


def once(node: Node, value: Array, multiplier: Array, shift: Array) -> Array:
    return (value * multiplier + half(shift)) >> shift


def twice(node: Node, value: Array, multiplier: Array, shift: Array, above: int = 31) -> Array:
    return (value * multiplier + half(shift) + nudge(value, shift, above)) >> shift


def by_mode(node: Node, value: Array, multiplier: Array, shift: Array) -> Array:
    found = twice if node.value("rounding_mode") == DOUBLE else once
    return found(node, value, multiplier, shift)


def added(node: Node, rounded: Array, point: Array) -> Array:
    return rounded + point


def ends(node: Node) -> tuple[int, int]:
    kind = INTEGER_TYPES[node.output_type]
    return kind.lowest, kind.highest


def clamped(node: Node, total: Array) -> Array:
    return np.clip(total, *ends(node))


@dataclass(frozen=True)
class RescaleSteps:
    """Steps in order, the right ones unless given. `places` has those of multiplier and shift, None for the own."""

    read: Change = as_it_is
    places: tuple[Place | None, Place | None] = (None, None)
    points: Callable[[Node, Array, Array], tuple[Array, Array]] = nothing_else
    difference: Join = difference
    factors: Callable[[Node, Array, Array], tuple[Array, Array]] = nothing_else
    scale: Scale = by_mode
    add: Join = added
    clamp: Change = clamped

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        x, multiplier, shift, input_zp, output_zp = (array.astype(np.int64) for array in inputs)
        points = self.points(node, input_zp, output_zp)
        multiplier, shift = taken(self.places, x, multiplier, shift)
        value = self.difference(node, self.read(node, x), points[0])
        multiplier, shift = self.factors(node, multiplier, shift)
        rounded = self.scale(node, value, multiplier, np.clip(shift, 1, MOST_SHIFT))
        found = self.clamp(node, self.add(node, rounded, points[1]))
        return (found.astype(node.outputs[0].dtype).reshape(x.shape),)


def pipeline(**steps: Any) -> Mistake:
    return RescaleSteps(**steps)


def taken(places: tuple[Place | None, Place | None], x: Array, multiplier: Array, shift: Array) -> tuple[Array, Array]:
    """Multiplier and shift, or those of other channels for each element. ValueError where there is but one."""
    if places == (None, None):
        return multiplier, shift
    if multiplier.size < 2 or not x.size:
        raise ValueError("there is nothing to mistake")
    at = np.broadcast_to(np.arange(multiplier.size), x.shape)
    first, last = (
        own if place is None else own[place(at, own.size) % own.size]
        for place, own in zip(places, (multiplier, shift), strict=True)
    )
    return first, last


# The input and the zero points


def wrapped(values: Array, kind: str) -> Array:
    """Integers as a type holds their low bits."""
    own = INTEGER_TYPES[kind]
    return np.asarray(np.mod(values - own.lowest, 1 << own.bits) + own.lowest)


def other_sign(kind: str) -> str:
    """The type of the other signedness. NotImplementedError for int32 and int48, which have none here."""
    if kind in WIDE:
        raise NotImplementedError
    return kind.removeprefix("u") if kind.startswith("u") else f"u{kind}"


def check_sign(node: Node, kind: str, *, unsigned: bool) -> None:
    if kind.startswith("u") != unsigned:
        raise NotImplementedError


def read_otherwise(*, unsigned: bool) -> Change:
    def read(node: Node, x: Array) -> Array:
        check_sign(node, node.input_type, unsigned=unsigned)
        return wrapped(x, other_sign(node.input_type))

    return read


def point_read_otherwise(which: int, *, unsigned: bool) -> Callable[[Node, Array, Array], tuple[Array, Array]]:
    def read(node: Node, *points: Array) -> tuple[Array, Array]:
        kind = (node.input_type, node.output_type)[which]
        check_sign(node, kind, unsigned=unsigned)
        found = list(points)
        found[which] = wrapped(points[which], other_sign(kind))
        return found[0], found[1]

    return read


def exchanged(node: Node, first: Array, second: Array) -> tuple[Array, Array]:
    return second, first


def without(which: int) -> Callable[[Node, Array, Array], tuple[Array, Array]]:
    return lambda node, first, second: (0 * first, second) if which == 0 else (first, 0 * second)


def negated(which: int) -> Callable[[Node, Array, Array], tuple[Array, Array]]:
    return lambda node, first, second: (-first, second) if which == 0 else (first, -second)


def in_32_bits(change: Callable[[Array], Array]) -> Change:
    """An input of 48 bits as one of 32."""

    def read(node: Node, x: Array) -> Array:
        if node.input_type != "int48":
            raise NotImplementedError
        return change(x)

    return read


def saturated_to_32(x: Array) -> Array:
    own = INTEGER_TYPES["int32"]
    return np.clip(x, own.lowest, own.highest)


def difference_wraps(node: Node, x: Array, point: Array) -> Array:
    return wrapped(x - point, node.input_type)


def difference_saturates(node: Node, x: Array, point: Array) -> Array:
    kind = INTEGER_TYPES[node.input_type]
    return np.asarray(np.clip(x - point, kind.lowest, kind.highest))


INPUTS = (
    frequent("input-as-signed", "difference", read=read_otherwise(unsigned=True)),
    frequent("input-as-unsigned", "difference", read=read_otherwise(unsigned=False)),
    frequent("ignores:the input zero point", "difference", points=without(0)),
    frequent("ignores:the output zero point", "zero-point", points=without(1)),
    frequent("adds-input-zero-point", "difference", points=negated(0)),
    frequent("subtracts-output-zero-point", "zero-point", points=negated(1)),
    frequent("zero-points-exchanged", "zero-point", points=exchanged),
    step("input-zero-point-as:signed", "difference", points=point_read_otherwise(0, unsigned=True)),
    step("input-zero-point-as:unsigned", "difference", points=point_read_otherwise(0, unsigned=False)),
    step("output-zero-point-as:signed", "zero-point", points=point_read_otherwise(1, unsigned=True)),
    step("output-zero-point-as:unsigned", "zero-point", points=point_read_otherwise(1, unsigned=False)),
    frequent("input-in-32-bits:wrapped around", "difference", read=in_32_bits(partial(wrapped, kind="int32"))),
    frequent("input-in-32-bits:saturated", "difference", read=in_32_bits(saturated_to_32)),
    frequent("difference-wraps", "difference", difference=difference_wraps),
    frequent("difference-saturates", "difference", difference=difference_saturates),
)

# Which multiplier and shift an element takes

OTHER_CHANNELS: Mapping[str, Place] = {
    "the first channel": PLACES["one-for-all:first range"],
    "the last channel": PLACES["one-for-all:last range"],
    "the previous channel": PLACES["previous-range"],
    "the next channel": PLACES["next-range"],
    "the channels in reverse order": PLACES["ranges-reversed"],
    "the even channel of a pair": PLACES["ranges-in-pairs"],
    "four channels in turn": PLACES["ranges-of-first:four channels"],
    "the index along the first axis": partial(along, 0),
    "equal runs of the flat array": in_runs,
}
CHANNELS = (
    *(frequent(f"factors-of:{name}", "channels", places=(place, place)) for name, place in OTHER_CHANNELS.items()),
    *(step(f"multiplier-of:{name}", "channels", places=(place, None)) for name, place in OTHER_CHANNELS.items()),
    *(step(f"shift-of:{name}", "channels", places=(None, place)) for name, place in OTHER_CHANNELS.items()),
)

# The factors and the quotient


def moved(more: int) -> Callable[[Node, Array, Array], tuple[Array, Array]]:
    return lambda node, multiplier, shift: (multiplier, shift + more)


def of_bits(bits: int) -> Callable[[Node, Array, Array], tuple[Array, Array]]:
    """The multiplier rounded to so many bits, as a narrower one has them."""

    def found(node: Node, multiplier: Array, shift: Array) -> tuple[Array, Array]:
        fewer = 31 - bits
        return ((multiplier + (ONE << (fewer - 1))) >> fewer) << fewer, shift

    return found


def upper_half(node: Node, multiplier: Array, shift: Array) -> tuple[Array, Array]:
    if node.value("scale32"):
        raise NotImplementedError
    return multiplier << 16, shift


def other_mode(*, double: bool) -> Scale:
    def found(node: Node, value: Array, multiplier: Array, shift: Array) -> Array:
        if (node.value("rounding_mode") == DOUBLE) == double:
            raise NotImplementedError
        return (twice if double else once)(node, value, multiplier, shift)

    return found


def of_double(scale: Scale) -> Scale:
    """A wrong step that only nodes have that round twice."""

    def found(node: Node, value: Array, multiplier: Array, shift: Array) -> Array:
        if node.value("rounding_mode") != DOUBLE:
            raise NotImplementedError
        return scale(node, value, multiplier, shift)

    return found


def nudged_upward(node: Node, value: Array, multiplier: Array, shift: Array) -> Array:
    return (value * multiplier + half(shift) + np.where(shift > 31, NUDGE, 0)) >> shift


def product_wraps(node: Node, value: Array, multiplier: Array, shift: Array) -> Array:
    rounding = half(shift) + (nudge(value, shift) if node.value("rounding_mode") == DOUBLE else 0)
    return np.asarray((wrapped(value * multiplier, "int32") + rounding) >> shift)


def product_of_48_bits(node: Node, value: Array, multiplier: Array, shift: Array) -> Array:
    if node.input_type != "int48":
        raise NotImplementedError
    return (wrapped(value * multiplier, "int48") + half(shift)) >> shift


def shifted_twice(node: Node, value: Array, multiplier: Array, shift: Array) -> Array:
    """To a shift of 31, with ties upward, then by the rest, again upward."""
    rest = np.maximum(shift - 31, 0)
    first = (value * multiplier + NUDGE) >> 31
    both = (first + ((ONE << rest) >> 1)) >> rest
    return np.where(shift > 31, both, once(node, value, multiplier, shift))


def in_float(kind: Any) -> Scale:
    """The quotient by one factor in a floating-point type, ties to even."""

    def found(node: Node, value: Array, multiplier: Array, shift: Array) -> Array:
        factor = np.ldexp(multiplier.astype(np.float64), -shift.astype(np.int32)).astype(kind)
        return np.asarray(np.rint((value.astype(kind) * factor).astype(np.float64)), np.int64)

    return found


def rounding_constant_lost(node: Node, value: Array, multiplier: Array, shift: Array) -> Array:
    """The constant that rounds is computed in 32 bits, where it vanishes for the larger shifts."""
    constant = np.where(shift > 32, 0, wrapped(half(shift), "int32"))
    return (value * multiplier + constant) >> shift


QUOTIENTS = (
    frequent("rounding-mode:DOUBLE_ROUND", "single", scale=other_mode(double=True)),
    frequent("rounding-mode:SINGLE_ROUND", "double", scale=other_mode(double=False)),
    frequent("nudge-upward-always", "double", scale=of_double(nudged_upward)),
    frequent("nudge-from-shift:31", "double", scale=of_double(partial(twice, above=30))),
    frequent("nudge-from-shift:33", "double", scale=of_double(partial(twice, above=32))),
    frequent("nudge-from-shift:2", "double", scale=of_double(partial(twice, above=1))),
    frequent("shifts-twice", "double", scale=shifted_twice),
    frequent("product-wraps", "scale32", scale=product_wraps),
    frequent("product-of-48-bits", "scale16", scale=product_of_48_bits),
    frequent("rounding-constant-in-32-bits", "single", scale=rounding_constant_lost),
    frequent("scales-in:float32", "single", scale=in_float(np.float32)),
    frequent("scales-in:float64", "single", scale=in_float(np.float64)),
    frequent("shift-moved:one more", "scale32", factors=moved(1)),
    frequent("shift-moved:one less", "scale32", factors=moved(-1)),
    step("shift-moved:16 more", "scale16", factors=moved(16)),
    step("multiplier-in-upper-half", "scale16", factors=upper_half),
    step("factor-of-bits:15", "scale32", factors=of_bits(15)),
    step("factor-of-bits:24", "scale32", factors=of_bits(24)),
)

# The sum and the clamp


def clamp_first(node: Node, rounded: Array, point: Array) -> Array:
    return np.asarray(np.clip(rounded, *ends(node)) + point)


def sum_wraps(node: Node, rounded: Array, point: Array) -> Array:
    return wrapped(rounded + point, "int16")


def without_clamp(node: Node, total: Array) -> Array:
    return wrapped(total, node.output_type)


def without_end(which: int) -> Change:
    """The clamp at one end alone: 0 leaves the lower one off, 1 the upper."""

    def found(node: Node, total: Array) -> Array:
        low, high = ends(node)
        return wrapped(np.minimum(total, high) if which == 0 else np.maximum(total, low), node.output_type)

    return found


def as_the_other_sign(node: Node, total: Array) -> Array:
    """Clamped to the type of the other signedness, whose bits are read as the output's."""
    kind = INTEGER_TYPES[other_sign(node.output_type)]
    return wrapped(np.clip(total, kind.lowest, kind.highest), node.output_type)


def of_sign(change: Change, *, unsigned: bool) -> Change:
    def found(node: Node, total: Array) -> Array:
        check_sign(node, node.output_type, unsigned=unsigned)
        return change(node, total)

    return found


def highest_of_signed(node: Node, total: Array) -> Array:
    low, high = ends(node)
    return np.clip(total, low, high >> 1)


def narrowed(node: Node, total: Array) -> Array:
    low, high = ends(node)
    return np.clip(total, low + 1, high)


CLAMPS = (
    frequent("wraps", "saturate", clamp=without_clamp),
    frequent("wraps-above", "saturate", clamp=without_end(1)),
    frequent("wraps-below", "saturate", clamp=without_end(0)),
    frequent("saturates-as-unsigned", "saturate", clamp=of_sign(as_the_other_sign, unsigned=False)),
    frequent("saturates-as-signed", "saturate", clamp=of_sign(as_the_other_sign, unsigned=True)),
    frequent("highest-of-signed", "saturate", clamp=of_sign(highest_of_signed, unsigned=True)),
    frequent("narrow-range", "saturate", clamp=of_sign(narrowed, unsigned=False)),
    frequent("clamps-before-zero-point", "saturate", add=clamp_first),
    step("clamps-before-zero-point-and-wraps", "saturate", add=clamp_first, clamp=without_clamp),
    step("sum-wraps-in:int16", "zero-point", add=sum_wraps),
)
STEPS: tuple[WrongStep, ...] = (*QUOTIENTS, *INPUTS, *CLAMPS, *CHANNELS)
MISTAKES = single_steps(pipeline, STEPS)
PAIRS = pairs_of_steps(pipeline, (*QUOTIENTS, *CLAMPS, *INPUTS))
