"""What QLinearConv and ConvInteger share: attributes, shapes, and which input each weight meets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from tiebreak.golden.arithmetic.term import Term, greatest, least, total
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.operators.model import Attribute, parse_choice, parse_integer
from tiebreak.golden.problem import Array, codes_of

BYTES = ("uint8", "int8")
NOTSET, VALID, UPPER, LOWER = "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"
FEWEST_AXES = 3  # of x: batch, channels, and one axis of the image


def parse_sizes(least: int) -> Any:
    """A parser of a list of integers, each of which is at least `least`."""

    def parse(value: Any) -> tuple[int, ...]:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ValueError(f"{value!r} is not a list of integers")
        sizes = list(value)
        if any(isinstance(s, bool) or not isinstance(s, Integral) or int(s) < least for s in sizes):
            raise ValueError(f"{value!r} is not a list of integers from {least} on")
        return tuple(int(size) for size in sizes)

    return parse


def parse_group(value: Any) -> int:
    group = parse_integer(value)
    if group < 1:
        raise ValueError(f"{group} is not at least 1")
    return group


ATTRIBUTES = (
    Attribute("auto_pad", "NOTSET, VALID, SAME_UPPER or SAME_LOWER", parse_choice((NOTSET, VALID, UPPER, LOWER)),
              default=NOTSET),
    Attribute("dilations", "the distance of neighbouring weights along each axis", parse_sizes(1), default=()),
    Attribute("group", "into how many groups channels are divided", parse_group, default=1),
    Attribute("kernel_shape", "the kernel's sizes; left off they are w's", parse_sizes(1), default=()),
    Attribute("pads", "pixels before each axis, then pixels after each", parse_sizes(0), default=()),
    Attribute("strides", "the distance of neighbouring windows along each axis", parse_sizes(1), default=()),
)  # fmt: skip


class Attributed(Protocol):
    """A node with the attributes of a convolution."""

    @property
    def operator(self) -> str: ...

    def value(self, attribute: str, /) -> Any:
        """An attribute's value, default included."""
        ...


@dataclass(frozen=True)
class Geometry:
    """Where the windows of a convolution lie. Tuples have a number for each axis of the image.

    `before` and `after` are pixels that are added; `output` are the sizes of the output's image.
    """

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    group: int
    output: tuple[int, ...]


def spans_of(kernel: Sequence[int], dilations: Sequence[int]) -> tuple[int, ...]:
    """The pixels from a window's first to its last, both included."""
    return tuple((size - 1) * distance + 1 for size, distance in zip(kernel, dilations, strict=True))


def geometry_of(node: Attributed, x: tuple[int, ...], w: tuple[int, ...]) -> Geometry:
    """The windows for an x and a w of these shapes. InvalidInput if they do not fit each other or the attributes."""
    check_shapes(node, x, w)
    strides, dilations = (listed(node, name, len(x) - 2, 1) for name in ("strides", "dilations"))
    before, after = padding_of(node, x[2:], w[2:], strides, dilations)
    rows = zip(x[2:], before, after, spans_of(w[2:], dilations), strides, strict=True)
    output = tuple((size + low + high - span) // stride + 1 for size, low, high, span, stride in rows)
    if min(output) < 1:
        raise InvalidInput(f"{node.operator}: a kernel of {list(w[2:])} is larger than the padded image")
    return Geometry(w[2:], strides, dilations, before, after, node.value("group"), output)


def check_shapes(node: Attributed, x: tuple[int, ...], w: tuple[int, ...]) -> None:
    """InvalidInput unless x and w have shapes of one convolution."""
    group, named = node.value("group"), node.value("kernel_shape")
    if len(x) < FEWEST_AXES or len(w) != len(x) or 0 in (*x, *w):
        raise InvalidInput(f"{node.operator}: x {list(x)} and w {list(w)} need one rank, from {FEWEST_AXES} on")
    if x[1] != w[1] * group or w[0] % group:
        raise InvalidInput(f"{node.operator}: x {list(x)} and w {list(w)} do not divide into {group} groups")
    if named and tuple(named) != w[2:]:
        raise InvalidInput(f"{node.operator}: kernel_shape is {list(named)}, w has {list(w[2:])}")


def listed(node: Attributed, name: str, count: int, default: int) -> tuple[int, ...]:
    """An attribute that has a number for each axis. InvalidInput for another count."""
    given = node.value(name) or (default,) * count
    if len(given) != count:
        raise InvalidInput(f"{node.operator}: {name} {list(given)} needs {count} numbers")
    return tuple(given)


def padding_of(
    node: Attributed, image: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The pixels added before and after each axis. InvalidInput for pads beside auto_pad."""
    way, axes = node.value("auto_pad"), len(image)
    if way != NOTSET and node.value("pads"):
        raise InvalidInput(f"{node.operator}: pads can't be used with auto_pad {way}")
    if way not in (UPPER, LOWER):
        pads = listed(node, "pads", 2 * axes, 0)
        return pads[:axes], pads[axes:]
    rows = zip(image, spans_of(kernel, dilations), strides, strict=True)
    totals = [max((-(-size // stride) - 1) * stride + span - size, 0) for size, span, stride in rows]
    less, more = tuple(total // 2 for total in totals), tuple(total - total // 2 for total in totals)
    return (less, more) if way == UPPER else (more, less)


def output_shape(node: Attributed, x: tuple[int, ...], w: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of y. InvalidInput as in geometry_of."""
    return (x[0], w[0], *geometry_of(node, x, w).output)


@dataclass(frozen=True)
class Windows:
    """What each output element sums up: for each term a row of x and one of w (int64), for each element a column."""

    shape: tuple[int, ...]
    x: tuple[Array, ...]
    w: tuple[Array, ...]

    def of_channels(self, codes: Array) -> Array:
        """The codes of a parameter of one value, or of one for each output channel, for each element: flat."""
        wide = codes.reshape(-1, *(1,) * (len(self.shape) - 2))
        return np.ascontiguousarray(np.broadcast_to(wide, self.shape)).reshape(-1)


def windows_of(node: Attributed, x: Array, w: Array, x_zero_point: int) -> Windows:
    """The windows of all output elements; what pads add is x's zero point."""
    return gathered(geometry_of(node, x.shape, w.shape), codes_of(x), codes_of(w), x_zero_point)


def gathered(found: Geometry, x: Array, w: Array, filler: int) -> Windows:
    """The windows of a geometry on the codes of x and w; pads add a filler."""
    shape, places = (x.shape[0], w.shape[0], *found.output), math.prod(found.kernel)
    of_groups = patches(x, found, filler).reshape(places, x.shape[0], found.group, -1, *found.output)
    of_outputs = np.repeat(of_groups, w.shape[0] // found.group, axis=2)
    terms = np.moveaxis(of_outputs, 3, 0).reshape(-1, math.prod(shape))
    weights = np.moveaxis(w.reshape(*w.shape[:2], -1), 0, -1).reshape(-1, 1, w.shape[0], *(1,) * (w.ndim - 2))
    spread = np.broadcast_to(weights, (len(weights), *shape)).reshape(len(weights), -1)
    return Windows(shape, tuple(np.ascontiguousarray(terms)), tuple(np.ascontiguousarray(spread)))


def patches(x: Array, found: Geometry, filler: int) -> Array:
    """For each place in the kernel the pixels that it meets: of shape [places, batch, channels, *output]."""
    around = [(0, 0), (0, 0), *zip(found.before, found.after, strict=True)]
    padded = np.pad(x, around, constant_values=filler)
    return np.stack([padded[slices(place, found)] for place in product(*map(range, found.kernel))])


def slices(place: Sequence[int], found: Geometry) -> tuple[slice, ...]:
    """The pixels that one weight of the kernel meets."""
    rows = zip(place, found.dilations, found.strides, found.output, strict=True)
    return (
        slice(None),
        slice(None),
        *(slice(at * gap, at * gap + (size - 1) * stride + 1, stride) for at, gap, stride, size in rows),
    )


def check_of_channels(node: Attributed, name: str, array: Array, channels: int) -> None:
    """InvalidInput unless a parameter of w is a scalar or has a value for each output channel."""
    if array.shape not in ((), (channels,)):
        raise InvalidInput(f"{node.operator}: {name} has shape {list(array.shape)}, [] or [{channels}] is wanted")


def check_scalar(node: Attributed, name: str, array: Array) -> None:
    if array.shape:
        raise InvalidInput(f"{node.operator}: {name} has shape {list(array.shape)}, it is a scalar")


def names_of_terms(name: str, count: int) -> tuple[str, ...]:
    """The operands' names of a window: that of the input where it has one element."""
    return (name,) if count == 1 else tuple(f"{name}[{n}]" for n in range(count))


def products_of(x: Sequence[Term], w: Sequence[Term], x_zero_point: Term, w_zero_point: Term) -> list[Term]:
    """The products of the numbers under a kernel and of its own."""
    return [(one - x_zero_point) * (other - w_zero_point) for one, other in zip(x, w, strict=True)]


def stays_within(kind: IntegerType, terms: Sequence[Term]) -> Term:
    """Whether a sum never leaves a type's range, in whichever order the terms are added."""
    above, below = (total([end(term, 0) for term in terms]) for end in (greatest, least))
    return (above <= kind.highest) & (below >= kind.lowest)
