"""Draws convolutions for QLinearConv and ConvInteger: shapes that fit each other, with all attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.operators.onnx_convolution import FEWEST_AXES, LOWER, NOTSET, UPPER, VALID
from tiebreak.golden.samples.model import Tensor, integers

MOST_AXES = 5
SIZES = st.integers(1, 3)


@dataclass(frozen=True)
class Drawn:
    """The shapes of x and w, and a node's attributes."""

    x: tuple[int, ...]
    w: tuple[int, ...]
    attributes: Mapping[str, Any]


def convolutions(draw: st.DrawFn, rank: int | None) -> Drawn:
    """Of a rank of x, which is 3 at least; of 3 to 5 axes unless given."""
    axes = max(rank or draw(st.integers(FEWEST_AXES, MOST_AXES)), FEWEST_AXES) - 2
    kernel = tuple(draw(SIZES) for _ in range(axes))
    strides, dilations = (tuple(draw(st.integers(1, 3)) for _ in range(axes)) for _ in range(2))
    way = draw(st.sampled_from((NOTSET, NOTSET, VALID, UPPER, LOWER)))
    padded = way == NOTSET and draw(st.booleans())
    pads = tuple(draw(st.integers(0, 2)) for _ in range(2 * axes)) if padded else ()
    spans = [(size - 1) * gap + 1 for size, gap in zip(kernel, dilations, strict=True)]
    image = tuple(max(span - sum(pads[n::axes]), 1) + draw(st.integers(0, 3)) for n, span in enumerate(spans))
    group, inputs, outputs = draw(SIZES), draw(SIZES), draw(SIZES)
    given = {"strides": strides, "dilations": dilations, "pads": pads, "group": group, "auto_pad": way}
    named = {"kernel_shape": kernel} if draw(st.booleans()) else {}
    return Drawn((draw(st.integers(1, 2)), group * inputs, *image), (group * outputs, inputs, *kernel), given | named)


def bytes_of(draw: st.DrawFn, kind: str, shape: tuple[int, ...]) -> Tensor:
    """Integers of a type, its ends among the likely ones."""
    own = INTEGER_TYPES[kind]
    likely = st.sampled_from((own.lowest, own.highest, 0, 1, (own.lowest + own.highest) // 2))
    size = math.prod(shape)
    drawn = draw(st.lists(st.one_of(st.integers(own.lowest, own.highest), likely), min_size=1, max_size=17))
    return integers(kind, [drawn[n * 7 % len(drawn)] for n in range(size)], shape)


def points_of(draw: st.DrawFn, kind: str, shape: tuple[int, ...]) -> Tensor:
    return bytes_of(draw, kind, shape)
