"""Golden vectors of onnx.ConvInteger: every pair of an input and a weight, long sums, shapes of windows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.samples.model import Sample, integers, scalar
from tiebreak.golden.samples.onnx_convolution import BYTES, LAYOUTS, every_code, mixed

ALWAYS = ("difference", "sum", "types", "shape", "scalars", "version")
LANES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65)
DEEP = 300  # terms whose sum float32 doesn't hold
Codes = tuple[Sequence[int], Sequence[int]]  # codes with their shape


def samples(x: str, y: str) -> Iterator[Sample]:
    """Samples of both types of w."""
    for w in BYTES:
        yield from layouts(x, w)
        yield from zero_points(x, w)
        yield from channels(x, w)
        yield from one_point(x, w)
        yield from sums(x, w)
        yield every_pair(x, w)
    if x == "uint8":
        yield beyond_32(x)


def sample(
    theme: str, kinds: tuple[str, str], x: Codes, w: Codes, flags: Sequence[str], roles: Sequence[str] = (), *,
    points: tuple[int, Sequence[int]] | None, attributes: dict[str, Any] | None = None, form: int = 0,
) -> Sample:  # fmt: skip
    """A zero point of w is a scalar if it has one value; without points both are left off, in forms 1 and 2 one is."""
    node = {"real": kinds[0], "quantized": "int32", "scale": kinds[1], "attributes": attributes or {}}
    tensors = [integers(kind, codes, tuple(shape)) for kind, (codes, shape) in zip(kinds, (x, w), strict=True)]
    if points is not None:
        own = scalar(kinds[1], points[1][0]) if len(points[1]) == 1 else integers(kinds[1], points[1])
        both = [scalar(kinds[0], points[0]), own]
        tensors += (both, both[:1], both[1:])[form]
    given = node | {"zero_point": points is not None, "form": form}
    return Sample(f"{kinds[1]}-weights/{theme}", given, tuple(tensors), tuple(flags), (*ALWAYS, *roles))


def middle(kind: str) -> int:
    """A zero point in the middle of a type, but odd."""
    own = INTEGER_TYPES[kind]
    return (own.lowest + own.highest) // 2 | 1


def every_pair(x: str, w: str) -> Sample:
    """All 65,536 pairs of an input and a weight."""
    codes = (every_code(x), (1, 1, 16, 16)), (every_code(w), (256, 1, 1, 1))
    return sample("every-pair", (x, w), *codes, ("EveryPair",), points=(middle(x), (middle(w) - 20,)))


def layouts(x: str, w: str) -> Iterator[Sample]:
    """Shapes, pads, strides, dilations and groups, by integers without a pattern; with and without zero points."""
    for one, points in product(LAYOUTS, ((middle(x) + 20, (middle(w),)), None)):
        codes = (mixed(x, math.prod(one.x)), one.x), (mixed(w, math.prod(one.w)), one.w)
        name, flags = (one.name, one.flags) if points else (f"{one.name}-bare", (*one.flags, "NoZeroPoint"))
        roles = one.roles if points else (*one.roles, "no-zero-point")
        yield sample(name, (x, w), *codes, flags, roles, points=points, attributes=dict(one.attributes))


def zero_points(x: str, w: str) -> Iterator[Sample]:
    """Zero points at the ends of their types, with inputs and weights at both ends."""
    own_x, own_w = ((INTEGER_TYPES[kind].lowest, INTEGER_TYPES[kind].highest) for kind in (x, w))
    inputs, weights = [*own_x, middle(x), middle(x) - 9], [*own_w, middle(w), middle(w) + 5]
    for points in product(own_x, own_w):
        name = f"zero-points-{points[0]}-{points[1]}"
        yield sample(name, (x, w), (inputs, (1, 1, 4)), (weights, (4, 1, 1)), ("ZeroPointEdge",),
                     points=(points[0], points[1:]))  # fmt: skip


def one_point(x: str, w: str) -> Iterator[Sample]:
    """The zero point of one operand alone; padding stands for x's."""
    codes, own = (mixed(x, 2 * 7), (1, 2, 7)), (mixed(w, 3 * 2 * 3), (3, 2, 3))
    flags, left_off = ("OneZeroPoint", "Padding"), ("padding", "pads-alone", "no-zero-point")
    for form, kind in ((1, x), (2, w)):
        for point in (INTEGER_TYPES[kind].lowest, INTEGER_TYPES[kind].highest, middle(kind) - 20):
            yield sample(f"one-point-{form}-{point}", (x, w), codes, own, flags, left_off, points=(point, (point,)),
                         attributes={"pads": (1, 2)}, form=form)  # fmt: skip
    yield sample("one-list", (x, w), codes, own, ("OneZeroPoint", "PerAxis"), ("channels", "no-zero-point"),
                 points=(0, [middle(w), 1, 7]), form=2)  # fmt: skip


def channels(x: str, w: str) -> Iterator[Sample]:
    """A zero point of w for each output channel."""
    for count in (2, 3, 5, 17):
        points = [middle(w) + n * 3 % 7 for n in range(count)]
        codes = (mixed(x, 12), (1, 2, 6)), (mixed(w, 2 * count), (count, 2, 1))
        yield sample(f"channels-{count}", (x, w), *codes, ("PerAxis",), ("channels",), points=(middle(x), points))
    image = (mixed(x, 2 * 9), (1, 2, 3, 3)), (mixed(w, 3 * 2 * 4), (3, 2, 2, 2))
    yield sample("channels-2d", (x, w), *image, ("PerAxis",), ("channels",), points=(middle(x), [1, 0, 2]))


def sums(x: str, w: str) -> Iterator[Sample]:
    """Sums of so many terms, all at an end of their types: what 16 bits, or float32, don't hold."""
    ends = [INTEGER_TYPES[kind].highest for kind in (x, w)]
    for terms in (*LANES, DEEP, -(-(1 << 24) // (ends[0] * ends[1])) + 1):
        inputs = [ends[0] - n % 2 for n in range(2 * terms)]
        weights = [ends[1] - n // terms for n in range(2 * terms)]
        yield sample(f"sum-of-{terms}", (x, w), (inputs, (1, terms, 2)), (weights, (2, terms, 1)), ("LongSum", "Lane"),
                     points=(0, (0,)))  # fmt: skip


def beyond_32(kind: str) -> Sample:
    """The fewest equal products whose sum has more than 32 bits: 33,026 of uint8's greatest."""
    own = INTEGER_TYPES[kind]
    width = own.highest - own.lowest
    terms = ((1 << 31) - 1) // (width * width) + 1
    codes = [own.highest] * terms, (1, terms, 1)
    return sample("sum-beyond-32-bits", (kind, kind), codes, codes, ("Overflow",), ("beyond-32",),
                  points=(own.lowest, (own.lowest,)))  # fmt: skip
