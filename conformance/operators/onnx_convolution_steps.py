"""Wrong steps that QLinearConv and ConvInteger share: which pixels and weights meet, and how their products are summed.

Numbers are int64, which hold every sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, step
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.onnx_convolution import LOWER, UPPER, Geometry, Windows, gathered, geometry_of
from tiebreak.golden.problem import Array

WORD = (-(1 << 15), (1 << 15) - 1)  # the ends of 16 bits


@dataclass(frozen=True)
class Convolved:
    """The types of x and w, and for each term of a sum (first axis) and each element the pixel, the weight, the points.

    `padding` says where a pixel was added (bool). `channel` is each element's output channel. `points` are w's zero
    points as given.
    """

    kinds: tuple[str, str]
    x: Array
    w: Array
    x_point: Array
    w_point: Array
    padding: Array
    channel: Array
    places: int  # in the kernel
    points: Array

    @property
    def differences(self) -> tuple[Array, Array]:
        return self.x - self.x_point, self.w - self.w_point


Points = Callable[[Array, Array], tuple[Array, Array]]
Sum = Callable[[Convolved], Array]


@dataclass(frozen=True)
class SumSteps:
    """The steps up to the sum, the right ones unless given."""

    geometry: Callable[[Node, Geometry], Geometry] = lambda node, found: found
    weights: Callable[[Node, Array], Array] = lambda node, w: w
    pixels: Callable[[Node, Array], Array] = lambda node, x: x
    points: Points = lambda x, w: (x, w)
    meet: Callable[[Convolved], Convolved] = lambda found: found
    sum: Sum = lambda found: np.asarray(np.prod(found.differences, axis=0).sum(axis=0))

    def sums(self, node: Node, x: Array, w: Array, x_point: Array, w_point: Array) -> tuple[Array, Windows, Array]:
        """The sums with the windows that they are of, and each element's channel."""
        convolved, windows, channel = self.windows(node, x, w, x_point, w_point)
        return self.sum(convolved), windows, channel

    def windows(
        self, node: Node, x: Array, w: Array, x_point: Array, w_point: Array
    ) -> tuple[Convolved, Windows, Array]:
        """What is to be summed, the windows, and each element's channel."""
        found = self.geometry(node, geometry_of(node, x.shape, w.shape))
        codes = self.pixels(node, x.astype(np.int64)), self.weights(node, w.astype(np.int64))
        windows = gathered(found, *codes, int(x_point.reshape(-1)[0]))
        inside = gathered(found, np.ones(x.shape, np.int64), codes[1], 0)
        own = self.points(x_point.astype(np.int64), w_point.astype(np.int64))
        channel = windows.of_channels(np.arange(w.shape[0]))
        convolved = Convolved(
            (x.dtype.name, w.dtype.name), np.array(windows.x), np.array(windows.w), windows.of_channels(own[0]),
            windows.of_channels(own[1]), np.array(inside.x) == 0, channel, int(np.prod(w.shape[2:])), own[1],
        )  # fmt: skip
        return self.meet(convolved), windows, channel


def nothing_to_mistake() -> ValueError:
    return ValueError("there is nothing to mistake")


# Which pixels and weights meet


def without_strides(node: Node, right: Geometry) -> Geometry:
    """Strides of 1, in an output of the same shape."""
    return replace(right, strides=of_ones(right.strides))


def without_dilations(node: Node, right: Geometry) -> Geometry:
    """Dilations of 1, in an output of the same shape."""
    return replace(right, dilations=of_ones(right.dilations))


def of_ones(numbers: tuple[int, ...]) -> tuple[int, ...]:
    if set(numbers) == {1}:
        raise nothing_to_mistake()
    return (1,) * len(numbers)


def reversed_strides(node: Node, right: Geometry) -> Geometry:
    return replace(right, strides=right.strides[::-1])


def reversed_dilations(node: Node, right: Geometry) -> Geometry:
    return replace(right, dilations=right.dilations[::-1])


def ends_exchanged(node: Node, right: Geometry) -> Geometry:
    if node.value("auto_pad") in (UPPER, LOWER):
        raise nothing_to_mistake()
    return replace(right, before=right.after, after=right.before)


def other_same(node: Node, right: Geometry) -> Geometry:
    """SAME_UPPER as SAME_LOWER, and the other way round."""
    if node.value("auto_pad") not in (UPPER, LOWER):
        raise nothing_to_mistake()
    return replace(right, before=right.after, after=right.before)


def pairs_begin_end(node: Node, right: Geometry) -> Geometry:
    """Pads read as a beginning and an end for each axis in turn."""
    mixed = (*right.before, *right.after)
    return replace(right, before=mixed[::2], after=mixed[1::2])


def flipped(node: Node, w: Array) -> Array:
    return np.flip(w, axis=tuple(range(2, w.ndim)))


def transposed(node: Node, w: Array) -> Array:
    return np.ascontiguousarray(w.transpose(0, 1, *range(w.ndim - 1, 1, -1))).reshape(w.shape)


def channels_in_turn(node: Node, x: Array) -> Array:
    """Channel c belongs to group c % group."""
    group = int(node.value("group"))
    order = np.arange(x.shape[1]).reshape(-1, group).T.reshape(-1)
    return x[:, order]


def zero_in_pads(found: Convolved) -> Convolved:
    return replace(found, x=np.where(found.padding, 0, found.x))


def end_in_pads(found: Convolved) -> Convolved:
    """The lowest number of x's type in pads."""
    return replace(found, x=np.where(found.padding, INTEGER_TYPES[found.kinds[0]].lowest, found.x))


PLACES = (
    frequent("pads-with:0 instead of the zero point", "padding", meet=zero_in_pads),
    frequent("pads-with:the lowest number", "padding", meet=end_in_pads),
    frequent("pads-exchanged", "padding", geometry=ends_exchanged),
    frequent("pads-in-pairs", "padding", geometry=pairs_begin_end),
    frequent("same-exchanged", "same", geometry=other_same),
    frequent("ignores:the dilations", "dilations", geometry=without_dilations),
    frequent("ignores:the strides", "strides", geometry=without_strides),
    step("axes-reversed:dilations", "dilations", geometry=reversed_dilations),
    step("axes-reversed:strides", "strides", geometry=reversed_strides),
    frequent("kernel-flipped", "sum", weights=flipped),
    frequent("kernel-transposed", "sum", weights=transposed),
    frequent("groups-in-turn", "groups", pixels=channels_in_turn),
)

# Zero points


def zero(values: Array) -> Array:
    return np.zeros_like(values)


def wrapped(values: Array, kind: str) -> Array:
    """Integers as a type holds their low bits."""
    own = INTEGER_TYPES[kind]
    return np.asarray(np.mod(values - own.lowest, 1 << own.bits) + own.lowest)


def exchanged(x: Array, w: Array) -> tuple[Array, Array]:
    if w.size > 1:
        raise nothing_to_mistake()
    return w.reshape(x.shape), x.reshape(w.shape)


def differences_by(change: Callable[[Array, str], Array]) -> Callable[[Convolved], Convolved]:
    """Differences that are changed before they meet, each in its own type."""

    def found(own: Convolved) -> Convolved:
        x, w = (change(values, kind) for values, kind in zip(own.differences, own.kinds, strict=True))
        return replace(own, x=x, w=w, x_point=zero(own.x_point), w_point=zero(own.w_point))

    return found


def saturated(values: Array, kind: str) -> Array:
    return np.clip(values, INTEGER_TYPES[kind].lowest, INTEGER_TYPES[kind].highest)


def read_otherwise(which: int) -> Callable[[Convolved], Convolved]:
    """The bits of x (0) or w (1) read as the type of the other signedness; the zero point is right."""

    def found(own: Convolved) -> Convolved:
        kind = own.kinds[which]
        other = kind.removeprefix("u") if kind.startswith("u") else f"u{kind}"
        return replace(own, x=wrapped(own.x, other)) if which == 0 else replace(own, w=wrapped(own.w, other))

    return found


POINTS = (
    frequent("ignores:the zero point of x", "difference", points=lambda x, w: (zero(x), w)),
    frequent("ignores:the zero point of w", "difference", points=lambda x, w: (x, zero(w))),
    frequent("ignores:both zero points of x and w", "difference", points=lambda x, w: (zero(x), zero(w))),
    frequent("adds-zero-point-of:x", "difference", points=lambda x, w: (-x, w)),
    frequent("adds-zero-point-of:w", "difference", points=lambda x, w: (x, -w)),
    frequent("zero-points-exchanged", "difference", points=exchanged),
    frequent("difference-wraps", "difference", meet=differences_by(wrapped)),
    frequent("difference-saturates", "difference", meet=differences_by(saturated)),
    frequent("other-sign-of:x", "types", meet=read_otherwise(0)),
    frequent("other-sign-of:w", "types", meet=read_otherwise(1)),
)


def of_channel(place: Callable[[Array, int], Array]) -> Callable[[Array, Array], tuple[Array, Array]]:
    """The zero point of w of another channel."""

    def found(x: Array, w: Array) -> tuple[Array, Array]:
        if w.size < 2:
            raise nothing_to_mistake()
        return x, w[place(np.arange(w.size), w.size) % w.size]

    return found


OTHER_CHANNELS: dict[str, Callable[[Array, int], Array]] = {
    "the first channel": lambda at, count: np.zeros_like(at),
    "the last channel": lambda at, count: np.full_like(at, count - 1),
    "the previous channel": lambda at, count: at - 1,
    "the next channel": lambda at, count: at + 1,
}


def points_of_inputs(own: Convolved) -> Convolved:
    """Each term takes the zero point of its input channel, where w has as many of these as zero points."""
    if own.points.size < 2 or len(own.w) != own.points.size * own.places:
        raise nothing_to_mistake()
    return replace(own, w_point=own.points[np.arange(len(own.w)) // own.places][:, np.newaxis])


CHANNEL_POINTS = (
    *(step(f"zero-point-of:{name}", "channels", points=of_channel(place)) for name, place in OTHER_CHANNELS.items()),
    step("along-other-axis:w_zero_point", "channels", meet=points_of_inputs),
)

# Sums


def raw_products(found: Convolved) -> tuple[Array, Array]:
    """Products of pixels as unsigned bytes and weights as signed ones, and what the zero points take from their sum."""
    x = found.x + (128 if found.kinds[0] == "int8" else 0)
    point = found.x_point + (128 if found.kinds[0] == "int8" else 0)
    w = found.w - (128 if found.kinds[1] == "uint8" else 0)
    w_point = found.w_point - (128 if found.kinds[1] == "uint8" else 0)
    return x * w, rest_of_points(x, point, w, w_point)


def rest_of_points(x: Array, x_point: Array, w: Array, w_point: Array) -> Array:
    """What the zero points make of a sum of products of pixels and weights as they are."""
    return np.asarray(-w_point * x.sum(axis=0) - x_point * w.sum(axis=0) + len(x) * x_point * w_point)


def saturated_pairs(order: Callable[[Convolved, Array], Array]) -> Sum:
    """Neighbouring products added in 16 bits that saturate, as VPMADDUBSW does; zero points come after."""

    def found(own: Convolved) -> Array:
        products, rest = raw_products(own)
        return in_saturated_pairs(order(own, products)) + rest

    return found


def in_saturated_pairs(products: Array) -> Array:
    even = np.vstack([products, np.zeros((len(products) % 2, *products.shape[1:]), np.int64)])
    return np.asarray(np.clip(even[::2] + even[1::2], *WORD).sum(axis=0))


def weights_first(own: Convolved) -> Array:
    """The same where the instruction takes the weights for its unsigned bytes, and pixels for the signed ones."""
    if own.kinds != ("int8", "uint8"):
        raise nothing_to_mistake()
    rest = rest_of_points(own.x, own.x_point, own.w, own.w_point)
    return np.asarray(in_saturated_pairs(own.x * own.w) + rest)


def as_they_lie(found: Convolved, products: Array) -> Array:
    return products


def channels_first(found: Convolved, products: Array) -> Array:
    """The channels of one pixel beside each other."""
    return np.swapaxes(products.reshape(-1, found.places, products.shape[-1]), 0, 1).reshape(products.shape)


def products_of(found: Convolved) -> Array:
    x, w = found.differences
    return np.asarray(x * w)


def wrapping(kind: str) -> Sum:
    return lambda found: wrapped(products_of(found).sum(axis=0), kind)


def saturating_in_16_bits(found: Convolved) -> Array:
    """Every step of the sum saturates."""
    total = np.zeros(found.x.shape[1], np.int64)
    for products in products_of(found):
        total = np.clip(total + products, *WORD)
    return total


def in_float(kind: Any) -> Sum:
    """Each step of the sum rounded to a floating-point type."""

    def found(own: Convolved) -> Array:
        total = np.zeros(own.x.shape[1], kind)
        for products in products_of(own):
            total = total + products.astype(kind)
        if not np.isfinite(total).all():
            raise nothing_to_mistake()
        return total.astype(np.int64)

    return found


def last_term_lost(found: Convolved) -> Array:
    if len(found.x) < 2:
        raise nothing_to_mistake()
    return np.asarray(products_of(found)[:-1].sum(axis=0))


def whole_vectors(width: int) -> Sum:
    """The terms after the last whole vector are lost."""

    def found(own: Convolved) -> Array:
        whole = len(own.x) // width * width
        if not whole or whole == len(own.x):
            raise nothing_to_mistake()
        return np.asarray(products_of(own)[:whole].sum(axis=0))

    return found


SUMS: tuple[WrongStep, ...] = (
    frequent("pairs-saturate-in-16-bits", "sum", sum=saturated_pairs(as_they_lie)),
    frequent("pairs-saturate-in-16-bits:pairs of channels", "sum", sum=saturated_pairs(channels_first)),
    frequent("pairs-saturate-in-16-bits:of unsigned weights and signed pixels", "sum", sum=weights_first),
    frequent("sum-of-products-wraps-in:int16", "sum", sum=wrapping("int16")),
    frequent("sum-of-products-saturates-in:int16", "sum", sum=saturating_in_16_bits),
    frequent("sum-of-products-in:float32", "sum", sum=in_float(np.float32)),
    frequent("sum-of-products-in:float16", "sum", sum=in_float(np.float16)),
    step("terms-lost:the last", "sum", sum=last_term_lost),
    *(step(f"terms-lost:the tail of a vector loop of {n}", "sum", sum=whole_vectors(n)) for n in (4, 8, 16, 32)),
)
STEPS: tuple[WrongStep, ...] = (*PLACES, *POINTS, *CHANNEL_POINTS, *SUMS)
