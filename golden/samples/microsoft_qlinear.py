"""Golden vectors of QLinearAdd and QLinearMul: pairs of integers at scales whose ratios are ties, or nearly.

Scales are float32. A ratio of decimals such as 0.03 / 0.04 is then seldom what it looks like: the value of a pair lies
beside a tie, where rounding the ratio first decides otherwise. Random scales have no such pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.samples.model import Sample, Tensor, bits, scalar
from tiebreak.golden.vector_inputs.by_witness import witnesses_of

Scales = tuple[float, float, float]  # of A, B and C
Points = tuple[int, int, int]
Shape = tuple[int, ...]
ALWAYS = ("quotient", "zero-point", "together", "nearest", "types", "scales-type", "shape", "per-tensor")
LANES = (15, 33, 67)
SHAPES: tuple[tuple[Shape, Shape], ...] = (
    ((), ()),
    ((1,), (1,)),
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 1, 3), (4, 1)),
    ((1, 4, 1, 2), (3, 1, 5, 1)),
    ((2, 0), (1,)),
    ((7, 1), (1, 9)),
)


@dataclass(frozen=True)
class Design:
    """What an operator's own file chooses: scales by name, and the name of the clause about its first step."""

    first: str
    halves: Scales  # every odd result of the pairs is a tie
    near: tuple[tuple[str, Scales], ...]  # nearly rational ratios
    usual: tuple[tuple[str, Scales], ...]
    large: Scales  # beyond the range for most pairs
    overflowing: tuple[Scales, ...]  # float32 steps give infinities, or NaN


def samples(design: Design, kind: str) -> Iterator[Sample]:
    own = INTEGER_TYPES[kind]
    yield pairs(design, own, "ties", design.halves, centre(own), ("Tie",), ("ties",))
    yield from ties_and_zero_points(design, own)
    for name, scales in design.near:
        yield pairs(design, own, f"near-{name}", scales, centre(own), ("NearTie", "RoundedRatio"), ("ties",))
        yield pairs(design, own, f"near-{name}-moved", scales, moved(own), ("NearTie", "RoundedRatio"), ("ties",))
        yield from beside_scalars(design, own, f"near-{name}", scales)
    yield every_pair(design, own)
    for name, scales in design.usual:
        yield pairs(design, own, f"usual-{name}", scales, moved(own), ("ScaleNotPowerOfTwo",))
    yield from beyond(design, own)
    yield from laid_out(design, own)
    yield from open_scales(design, own)
    yield from negative_scales(design, own)


def centre(own: IntegerType) -> Points:
    """Zero points that stand for 0 in the middle of the range."""
    middle = (own.lowest + own.highest + 1) // 2
    return middle, middle, middle


def moved(own: IntegerType) -> Points:
    """Three zero points unlike each other: the sign, the parity and the place of each show."""
    middle = centre(own)[0]
    return middle - 7, middle + 12, middle + 5


def sample(
    design: Design, own: IntegerType, theme: str, scales: Scales, points: Points, a: Tensor, b: Tensor,
    flags: Sequence[str], roles: Sequence[str] = (), *, optional: bool = True,
) -> Sample:  # fmt: skip
    name = own.name
    parameters = [
        (scalar("float32", scale), bits(name, [point], ())) for scale, point in zip(scales, points, strict=True)
    ]
    tensors: tuple[Tensor, ...] = (a, *parameters[0], b, *parameters[1], *parameters[2])
    node: dict[str, Any] = {"quantized": name}
    if not optional:
        node["zero_point"], tensors = False, tensors[:-1]
    return Sample(theme, node, tensors, tuple(flags), (design.first, *ALWAYS, *roles))


def operands(own: IntegerType, zero: int, count: int = 24) -> list[int]:
    """Both ends, the neighbours of the zero point, and integers spread over the range."""
    near = [zero + step for step in range(-4, 5)]
    spread = [own.lowest + (255 * n + 7 * (n % 3)) // count for n in range(count)]
    found = {own.lowest, own.lowest + 1, own.highest - 1, own.highest, *near, *spread}
    return sorted(value for value in found if own.lowest <= value <= own.highest)


def pairs(
    design: Design, own: IntegerType, theme: str, scales: Scales, points: Points, flags: Sequence[str],
    roles: Sequence[str] = (),
) -> Sample:  # fmt: skip
    """Every pair of many integers, as a column and a row that broadcast."""
    rows, columns = operands(own, points[0]), operands(own, points[1])
    a, b = bits(own.name, rows, (len(rows), 1)), bits(own.name, columns, (1, len(columns)))
    return sample(design, own, theme, scales, points, a, b, flags, ("saturate", *roles))


def every_pair(design: Design, own: IntegerType) -> Sample:
    """All 65,536 pairs, at scales that put many results beside ties."""
    every, flags = range(own.lowest, own.highest + 1), ("EveryPair", "NearTie", "RoundedRatio")
    a, b = bits(own.name, every, (256, 1)), bits(own.name, every, (1, 256))
    scales = design.near[0][1]
    return sample(design, own, "every-pair", scales, centre(own), a, b, flags, ("saturate", "ties"))


def beside_scalars(design: Design, own: IntegerType, theme: str, scales: Scales) -> Iterator[Sample]:
    """Every integer beside a scalar, on either side: kernels of their own."""
    every = bits(own.name, range(own.lowest, own.highest + 1))
    for step in (37, 102):
        one, points = bits(own.name, [own.lowest + step], ()), moved(own)
        for side, (a, b) in (("first", (one, every)), ("second", (every, one))):
            label = f"{theme}-scalar-{side}-{step}"
            yield sample(design, own, label, scales, points, a, b, ("NearTie", "RoundedRatio"), ("ties", "saturate"))


def ties_and_zero_points(design: Design, own: IntegerType) -> Iterator[Sample]:
    """Ties beside odd and even zero points, and zero points at the ends of the type."""
    middle = centre(own)[0]
    for name, points in (
        ("odd", (middle, middle, middle + 1)),
        ("lowest", (own.lowest, own.lowest, own.lowest)),
        ("highest", (own.highest, own.highest, own.highest)),
        ("apart", (own.lowest, own.highest, middle - 3)),
        ("apart-again", (own.highest, own.lowest, own.highest - 1)),
    ):
        flags = ("Tie", "ZeroPointParity", "ZeroPointEdge")
        yield pairs(design, own, f"ties-zero-point-{name}", design.halves, points, flags, ("ties",))
    rows = operands(own, 0)
    a, b = bits(own.name, rows, (len(rows), 1)), bits(own.name, rows, (1, len(rows)))
    yield sample(design, own, "no-zero-point", design.usual[0][1], (1 + own.lowest, 3 + own.lowest, 0), a, b,
                 ("NoZeroPoint",), ("left-off", "saturate"), optional=False)  # fmt: skip


def beyond(design: Design, own: IntegerType) -> Iterator[Sample]:
    """Values at the ends of the range, just beyond and far beyond it."""
    yield pairs(design, own, "saturates", design.large, centre(own), ("Saturates", "RangeEdge"))
    yield pairs(design, own, "saturates-moved", design.large, moved(own), ("Saturates", "ClampOrder"))
    far = (design.large[0], design.large[1], design.large[2] * 2.0**-60)
    yield pairs(design, own, "saturates-far", far, moved(own), ("Saturates", "Overflow"))


def laid_out(design: Design, own: IntegerType) -> Iterator[Sample]:
    """Shapes that broadcast; arrays longer than vectors, beside an array, and beside a scalar on either side."""
    scales, points = design.near[0][1], moved(own)
    for left, right in SHAPES:
        label = f"{word(left)}-{word(right)}"
        flag = "Shape" if left or right else "Scalar"
        flags = ("Empty", "Shape") if 0 in (*left, *right) else (flag,)
        yield sample(
            design, own, f"shape-{label}", scales, points, filled(own, left, 11), filled(own, right, 29), flags
        )
    for length in LANES:
        for left, right in (((length,), (length,)), ((length,), ()), ((), (length,))):
            a, b = filled(own, left, 37), filled(own, right, 91)
            yield sample(design, own, f"lanes-{word(left)}-{word(right)}", scales, points, a, b, ("Lane",), ("ties",))


def word(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"


def filled(own: IntegerType, shape: Shape, step: int) -> Tensor:
    """Integers of the whole range, in no order."""
    return bits(own.name, [own.lowest + (step * n + 5 * step) % 256 for n in range(math.prod(shape))], shape)


def open_scales(design: Design, own: IntegerType) -> Iterator[Sample]:
    """Scales by which nothing can be divided, or that are no numbers; steps that overflow float32."""
    one = design.usual[0][1]
    odd = (
        ("zero", (one[0], one[1], 0.0), "ZeroScale"),
        ("nan-a", (math.nan, one[1], one[2]), "NaN"),
        ("nan-c", (one[0], one[1], math.nan), "NaN"),
        ("infinite-b", (one[0], math.inf, one[2]), "Infinity"),
        ("infinite-c", (one[0], one[1], math.inf), "Infinity"),
    )
    for name, scales, flag in odd:
        a, b = filled(own, (9,), 37), filled(own, (9,), 91)
        yield sample(design, own, f"open-{name}", scales, moved(own), a, b, (flag,), ("scale",))
    for number, scales in enumerate(design.overflowing):
        a, b = filled(own, (9,), 37), filled(own, (9,), 91)
        a = bits(own.name, [moved(own)[0], *a.codes[1:]], (9,))  # zero times what overflows is NaN
        yield sample(design, own, f"overflow-{number}", scales, moved(own), a, b, ("Overflow",), ("overflow",))


def negative_scales(design: Design, own: IntegerType) -> Iterator[Sample]:
    """The formula holds for negative scales, too."""
    one = design.usual[0][1]
    for name, signs in (("a", (-1, 1, 1)), ("b", (1, -1, 1)), ("c", (1, 1, -1))):
        scales = (signs[0] * one[0], signs[1] * one[1], signs[2] * one[2])
        yield pairs(design, own, f"negative-{name}", scales, moved(own), ("NegativeScale",))


def separating(operator: str, design: Design, kind: str) -> Iterator[Sample]:
    """Integers beside one number, on which two of the plainest arithmetics differ."""
    for number, codes, a in witnesses_of(operator, f"{kind}-{kind}"):
        kinds = ("float32", kind, kind, "float32", kind, "float32", kind)
        others = (Tensor(one, (), [code]) for one, code in zip(kinds, codes, strict=True))
        given = (Tensor(kind, (len(a),), a), *others)
        roles = (design.first, *ALWAYS, "saturate")
        yield Sample(f"separating-{number}", {"quantized": kind}, given, ("Separating",), roles)
