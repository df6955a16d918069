"""What QLinearConv and ConvInteger share: attributes, shapes, and which input each weight meets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
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


@dataclass(frozen=True)
class Geometry:
    """Where the windows of a convolution lie: tuples have a number for each axis of the image, `image` its sizes."""

    image: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    group: int

    @property
    def output(self) -> tuple[int, ...]:
        """The sizes of the output's image."""
        rows = zip(self.image, self.before, self.after, self.spans, self.strides, strict=True)
        return tuple((size + low + high - span) // stride + 1 for size, low, high, span, stride in rows)

    @property
    def spans(self) -> tuple[int, ...]:
        """The pixels from a window's first to its last, both included."""
        return spans_of(self.kernel, self.dilations)


def spans_of(kernel: Sequence[int], dilations: Sequence[int]) -> tuple[int, ...]:
    return tuple((size - 1) * distance + 1 for size, distance in zip(kernel, dilations, strict=True))


def geometry_of(node: Node, x: tuple[int, ...], w: tuple[int, ...]) -> Geometry:
    """The windows for an x and a w of these shapes. InvalidInput if they do not fit each other or the attributes."""
    check_shapes(node, x, w)
    axes = len(x) - 2
    strides, dilations = (listed(node, name, axes, 1) for name in ("strides", "dilations"))
    before, after = padding_of(node, x[2:], w[2:], strides, dilations)
    found = Geometry(x[2:], w[2:], strides, dilations, before, after, node.value("group"))
    if min(found.output) < 1:
        raise InvalidInput(f"{node.operator}: a kernel of {list(w[2:])} is larger than the padded image")
    return found


def check_shapes(node: Node, x: tuple[int, ...], w: tuple[int, ...]) -> None:
    """InvalidInput unless x and w have shapes of one convolution."""
    group, named = node.value("group"), node.value("kernel_shape")
    if len(x) < FEWEST_AXES or len(w) != len(x) or 0 in (*x, *w):
        raise InvalidInput(f"{node.operator}: x {list(x)} and w {list(w)} need one rank, from {FEWEST_AXES} on")
    if x[1] != w[1] * group or w[0] % group:
        raise InvalidInput(f"{node.operator}: x {list(x)} and w {list(w)} do not divide into {group} groups")
    if named and tuple(named) != w[2:]:
        raise InvalidInput(f"{node.operator}: kernel_shape is {list(named)}, w has {list(w[2:])}")


def listed(node: Node, name: str, count: int, default: int) -> tuple[int, ...]:
    """An attribute that has a number for each axis. InvalidInput for another count."""
    given = node.value(name) or (default,) * count
    if len(given) != count:
        raise InvalidInput(f"{node.operator}: {name} {list(given)} needs {count} numbers")
    return tuple(given)


def padding_of(
    node: Node, image: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
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


def output_shape(node: Node, x: tuple[int, ...], w: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of y. InvalidInput as in geometry_of."""
    return (x[0], w[0], *geometry_of(node, x, w).output)


@dataclass(frozen=True)
class Windows:
    """What each output element sums up: for each term a row of x and one of w (int64), for each element a column."""

    shape: tuple[int, ...]
    x: tuple[Array, ...]
    w: tuple[Array, ...]

    def of_channels(self, parameter: Array) -> Array:
        """The codes of a parameter of one value, or of one for each output channel, for each element: flat."""
        wide = codes_of(parameter).reshape(-1, *(1,) * (len(self.shape) - 2))
        return np.ascontiguousarray(np.broadcast_to(wide, self.shape)).reshape(-1)


def windows_of(node: Node, x: Array, w: Array, x_zero_point: int) -> Windows:
    """The windows of all output elements; what pads add is x's zero point."""
    found = geometry_of(node, x.shape, w.shape)
    shape = (x.shape[0], w.shape[0], *found.output)
    pixels = patches(np.asarray(codes_of(x)), found, x_zero_point)
    of_groups = pixels.reshape(len(pixels), x.shape[0], found.group, -1, *found.output)
    of_outputs = np.repeat(of_groups, w.shape[0] // found.group, axis=2)
    terms = np.moveaxis(of_outputs, 3, 0).reshape(-1, math.prod(shape))
    weights = np.moveaxis(codes_of(w).reshape(*w.shape[:2], -1), 0, -1).reshape(-1, 1, w.shape[0], *(1,) * (w.ndim - 2))
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


def check_of_channels(node: Node, name: str, array: Array, channels: int) -> None:
    """InvalidInput unless a parameter of w is a scalar or has a value for each output channel."""
    if array.shape not in ((), (channels,)):
        raise InvalidInput(f"{node.operator}: {name} has shape {list(array.shape)}, [] or [{channels}] is wanted")


def check_scalar(node: Node, name: str, array: Array) -> None:
    if array.shape:
        raise InvalidInput(f"{node.operator}: {name} has shape {list(array.shape)}, it is a scalar")


def names_of_terms(name: str, count: int) -> tuple[str, ...]:
    """The operands' names of a window: that of the input where it has one element."""
    return (name,) if count == 1 else tuple(f"{name}[{n}]" for n in range(count))
