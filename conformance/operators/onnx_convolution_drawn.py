"""Draws convolutions for QLinearConv and ConvInteger, and says what is forbidden of their shapes and attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.operators.onnx_convolution import FEWEST_AXES, LOWER, NOTSET, UPPER, VALID, geometry_of
from tiebreak.golden.samples.model import Tensor, integers

MOST_AXES = 5


@dataclass(frozen=True)
class Drawn:
    """The shapes of x and w, and a node's attributes."""

    x: tuple[int, ...]
    w: tuple[int, ...]
    attributes: Mapping[str, Any]


def convolution(draw: st.DrawFn, rank: int | None) -> Drawn:
    """A convolution whose x has a rank, which is 3 at least; of 3 to 5 axes unless given."""
    axes = max(rank or draw(st.integers(FEWEST_AXES, MOST_AXES)), FEWEST_AXES) - 2
    kernel, strides, dilations = (tuple(draw(st.integers(1, 3)) for _ in range(axes)) for _ in range(3))
    way = draw(st.sampled_from((NOTSET, NOTSET, VALID, UPPER, LOWER)))
    padded = way == NOTSET and draw(st.booleans())
    pads = tuple(draw(st.integers(0, 2)) for _ in range(2 * axes)) if padded else ()
    spans = [(size - 1) * gap + 1 for size, gap in zip(kernel, dilations, strict=True)]
    image = tuple(max(span - sum(pads[n::axes]), 1) + draw(st.integers(0, 3)) for n, span in enumerate(spans))
    batch, group, inputs, outputs = (draw(st.integers(1, 3)) for _ in range(4))
    attributes: dict[str, Any] = {"strides": strides, "dilations": dilations, "group": group, "auto_pad": way}
    attributes |= {"pads": pads} if padded else {}
    attributes |= {"kernel_shape": kernel} if draw(st.booleans()) else {}
    return Drawn((batch, group * inputs, *image), (group * outputs, inputs, *kernel), attributes)


def bytes_of(draw: st.DrawFn, kind: str, shape: tuple[int, ...]) -> Tensor:
    """Integers of a type, its ends among the likely ones."""
    own = INTEGER_TYPES[kind]
    likely = st.sampled_from((own.lowest, own.highest, max(own.lowest, 0), (own.lowest + own.highest) // 2))
    drawn = draw(st.lists(st.one_of(st.integers(own.lowest, own.highest), likely), min_size=1, max_size=17))
    return integers(kind, [drawn[n * 7 % len(drawn)] for n in range(math.prod(shape))], shape)


# x, w, attributes: what is wrong with them, and the ending of the clause's id
SHAPES: tuple[tuple[str, str, tuple[int, ...], tuple[int, ...], dict[str, Any]], ...] = (
    ("S1", "an image without an axis", (1, 1), (1, 1), {}),
    ("S1", "a kernel of another rank", (1, 1, 3), (1, 1, 1, 1), {}),
    ("S1", "a kernel of other channels", (1, 3, 3), (1, 2, 1), {}),
    ("S3", "a kernel_shape that is not w's", (1, 1, 5), (1, 1, 2), {"kernel_shape": (3,)}),
    ("S4", "pads beside auto_pad", (1, 1, 3), (1, 1, 2), {"auto_pad": UPPER, "pads": (1, 1)}),
    ("G4", "outputs that groups do not divide", (1, 2, 3), (3, 1, 1), {"group": 2}),
)


def forbidden_shapes(
    prefix: str, node: Mapping[str, Any], numbers: int, w: int, values: Mapping[int, float]
) -> tuple[ForbiddenCall, ...]:
    """The forbidden calls of an operator with so many inputs, of which w has this number; all others are scalars."""
    return tuple(
        ForbiddenCall(f"{prefix}-{clause}", what, shapes_of(numbers, w, x, kernel), node, attributes, values=values)
        for clause, what, x, kernel, attributes in SHAPES
    )


def shapes_of(numbers: int, w: int, x: tuple[int, ...], kernel: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(x if number == 0 else kernel if number == w else () for number in range(numbers))


def pads(shown: CaseWithStates) -> bool:
    names = [tensor.name for tensor in shown.case.node.inputs]
    x, w = (shown.case.inputs[names.index(name)].shape for name in ("x", "w"))
    found = geometry_of(shown.case.node, x, w)
    return any((*found.before, *found.after))


def lists_more_than_one(name: str) -> Situation:
    return lambda shown: any(number > 1 for number in shown.case.node.value(name))


def several(name: str) -> Situation:
    """An input of this name has several values."""

    def found(shown: CaseWithStates) -> bool:
        pairs = zip(shown.case.node.inputs, shown.case.inputs, strict=True)
        return any(tensor.name == name and np.size(array) > 1 for tensor, array in pairs)

    return found


SITUATIONS: dict[str, Situation] = {
    "padding": pads,
    "groups": lambda shown: shown.case.node.value("group") > 1,
    "a stride": lists_more_than_one("strides"),
    "a dilation": lists_more_than_one("dilations"),
    "a kernel_shape": lambda shown: bool(shown.case.node.value("kernel_shape")),
}
