"""Golden vectors of onnx.QLinearConv: every pair of one input and one weight, ratios beside ties, shapes of windows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, decode, encode
from tiebreak.golden.samples.model import Sample, Tensor, integers, reals, scalar
from tiebreak.golden.samples.onnx_convolution import BYTES, LAYOUTS, Window, every_code, mixed
from tiebreak.golden.vector_inputs.by_witness import witnesses_of

ID = "onnx.QLinearConv"
F32 = FLOAT_TYPES["float32"]
Scales = tuple[Fraction, Sequence[Fraction], Fraction]  # of x, of w (one, or one for each channel), of y
ALWAYS = ("difference", "sum", "scale", "zero-point", "even", "types", "shape", "scalars", "same-shape", "version")
HALF = Fraction(1, 2)
# Scales as models have them, whose ratio is nearly one of small numbers: 3/200, 1/2, 1/400, 7/10, 1/30, 1/6.
RATIOS = (
    ("3-200", ("0.02", "0.03", "0.04")),
    ("1-2", ("0.1", "0.1", "0.02")),
    ("1-400", ("0.05", "0.02", "0.4")),
    ("7-10", ("0.7", "0.1", "0.1")),
    ("1-30", ("0.1", "0.02", "0.06")),
    ("1-6", ("0.05", "0.1", "0.03")),
)
PAIRED = RATIOS[0][1]
LANES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65)
DEEP = 300  # terms whose sum float32 doesn't hold


@dataclass(frozen=True)
class ConvTypes:
    """The element types of x, w and y."""

    x: str
    w: str
    y: str


def samples(x: str, y: str) -> Iterator[Sample]:
    """Samples of both types of w."""
    for w in BYTES:
        types = ConvTypes(x, w, y)
        yield from ties(types)
        yield from beside_ties(types)
        yield from saturating(types)
        yield from zero_points(types)
        yield from channels(types)
        yield from layouts(types)
        yield from depthwise(types)
        yield from sums(types)
        yield from biased(types)
        yield from strange_scales(types)
        yield every_pair(types)
    yield from separating(x, y)


def sample(
    theme: str, types: ConvTypes, x: tuple[Sequence[int], Sequence[int]], w: tuple[Sequence[int], Sequence[int]],
    scales: Scales, flags: Sequence[str], roles: Sequence[str] = (), *, points: tuple[int, Sequence[int], int],
    bias: Sequence[int] | None = None, attributes: dict[str, Any] | None = None,
) -> Sample:  # fmt: skip
    """x and w are codes with their shape; scale and zero point of w are scalars if they have one value."""
    node = {"real": types.x, "quantized": types.y, "scale": types.w, "attributes": attributes or {}}
    x_scale, w_scales, y_scale = scales
    tensors = (
        integers(types.x, x[0], tuple(x[1])),
        scalar("float32", x_scale),
        scalar(types.x, points[0]),
        integers(types.w, w[0], tuple(w[1])),
        one_or_many("float32", w_scales),
        one_or_many(types.w, points[1]),
        scalar("float32", y_scale),
        scalar(types.y, points[2]),
    )
    given = tensors if bias is None else (*tensors, integers("int32", bias))
    name = f"{types.w}-weights/{theme}"
    return Sample(name, node | {"zero_point": bias is not None}, given, tuple(flags), (*ALWAYS, *roles))


def one_or_many(kind: str, values: Sequence[Any]) -> Tensor:
    if len(values) == 1:
        return scalar(kind, values[0])
    return reals(kind, values) if kind == "float32" else integers(kind, values)


def line(
    theme: str, types: ConvTypes, x: Sequence[int], w: Sequence[int], scales: Scales, flags: Sequence[str],
    roles: Sequence[str] = (), *, points: tuple[int, Sequence[int], int],
) -> Sample:  # fmt: skip
    """Every x with every w, by one weight for each output channel."""
    shapes = (1, 1, len(x)), (len(w), 1, 1)
    return sample(theme, types, (x, shapes[0]), (w, shapes[1]), scales, flags, roles, points=points)


def middle(kind: str) -> int:
    """A zero point in the middle of a type, but odd."""
    own = INTEGER_TYPES[kind]
    return (own.lowest + own.highest) // 2 | 1


def ends(kind: str) -> tuple[int, int]:
    return INTEGER_TYPES[kind].lowest, INTEGER_TYPES[kind].highest


def decimals(texts: Sequence[str]) -> Scales:
    first, second, third = (Fraction(text) for text in texts)
    return first, (second,), third


def single(value: Fraction) -> Fraction:
    """The float32 nearest to a value."""
    return Fraction(decode(encode(value, F32), F32))


def every_pair(types: ConvTypes) -> Sample:
    """All 65,536 pairs of an input and a weight: an image of all inputs, a channel for each weight."""
    x, w = every_code(types.x), every_code(types.w)
    points = middle(types.x), (middle(types.w),), middle(types.y)
    codes, flags = ((x, (1, 1, 16, 16)), (w, (len(w), 1, 1, 1))), ("EveryPair", "NearTie", "Saturates")
    return sample("every-pair", types, *codes, decimals(PAIRED), flags, ("saturate",), points=points)


def ties(types: ConvTypes) -> Iterator[Sample]:
    """Halves and quarters, by scales that are powers of two, and halves of thirds, which no binary factor holds.

    Each with an even and an odd zero point.
    """
    zero = middle(types.x)
    x, w = [zero + n for n in range(-9, 10)], [middle(types.w) + n for n in (-3, -1, 0, 1, 2, 5)]
    for name, ratio, last in (("halves", HALF, 1), ("quarters", HALF / 2, 1), ("sixths", HALF, 3)):
        for point in (middle(types.y), middle(types.y) - 1):
            scales = ratio, (Fraction(1),), Fraction(last)
            yield line(f"ties-{name}-{point}", types, x, w, scales, ("Tie", "ZeroPointParity"),
                       points=(zero, (middle(types.w),), point))  # fmt: skip


def depthwise(types: ConvTypes) -> Iterator[Sample]:
    """Ties where each channel has weights of its own, as many as vectors have lanes and fewer, by one scale or several.

    Kernels of such convolutions are other code.
    """
    for channels, size, attributes in ((5, 4, {}), (16, 5, {"pads": (1, 1, 1, 1)}), (8, 5, {"strides": (2, 2)})):
        for name, scales in (("", (HALF,)), ("-channels", [(2 * n % 7 + 1) * HALF / 2 for n in range(channels)])):
            x = [middle(types.x) + (n * n + 3 * n) % 11 - 5 for n in range(channels * size * size)]
            w = [middle(types.w) + (n * n + n // 9) % 5 - 2 for n in range(channels * 9)]
            points = middle(types.x), (middle(types.w),) * len(scales), middle(types.y)
            shapes = (x, (1, channels, size, size)), (w, (channels, 1, 3, 3))
            roles = ("groups", "saturate", *(("channels",) if name else ()))
            yield sample(f"depthwise-ties-{channels}{name}", types, *shapes, (Fraction(1), scales, Fraction(1)),
                         ("Groups", "Tie"), roles, points=points,
                         attributes={"group": channels, **attributes})  # fmt: skip


def beside_ties(types: ConvTypes) -> Iterator[Sample]:
    """Products whose quotient is nearly a tie: float32 takes some for a tie, or puts them on its other side."""
    for name, texts in RATIOS:
        scales = decimals(texts)
        x, w = near_ties(types, scales)
        yield line(f"ratio-{name}", types, x, w, scales, ("NearTie", "ScaleNotPowerOfTwo"),
                   points=(middle(types.x), (middle(types.w),), middle(types.y)))  # fmt: skip


def near_ties(types: ConvTypes, scales: Scales) -> tuple[list[int], list[int]]:
    """Inputs and weights with many products beside ties that the output's range holds."""
    ratio = single(scales[0]) * single(scales[1][0]) / single(scales[2])
    reach = [(code, code - middle(kind)) for kind in (types.x,) for code in every_code(kind)]
    w = [code for code in every_code(types.w) if abs(code - middle(types.w)) in (1, 2, 3, 5, 7, 10, 25, 50, 100)]
    found = [code for code, own in reach if any(is_near_tie(own * (v - middle(types.w)) * ratio) for v in w)]
    return found[:: max(len(found) // 40, 1)], w


def is_near_tie(quotient: Fraction) -> bool:
    return abs(quotient) < 127 and abs(abs(quotient) % 1 - HALF) < Fraction(1, 100_000)


def saturating(types: ConvTypes) -> Iterator[Sample]:
    """Results at both ends of the range, just outside and far beyond."""
    zero, (low, high) = middle(types.x), ends(types.y)
    x = [zero + n for n in (-128, -127, -126, -65, -64, -63, -1, 0, 1, 62, 63, 64, 65, 125, 126)]
    w = [middle(types.w) + n for n in (-100, -2, -1, 1, 2, 100)]
    x = [code for code in x if ends(types.x)[0] <= code <= ends(types.x)[1]]
    for name, ratio in (("1", Fraction(1)), ("large", Fraction(1 << 12)), ("3-4", Fraction(3, 4))):
        for point in (low, high, middle(types.y)):
            scales = ratio, (Fraction(1),), Fraction(1)
            yield line(f"saturating-{name}-{point}", types, x, w, scales, ("RangeEdge", "Saturates"), ("saturate",),
                       points=(zero, (middle(types.w),), point))  # fmt: skip


def zero_points(types: ConvTypes) -> Iterator[Sample]:
    """Zero points at the ends of their types, with inputs and weights at both ends."""
    x = [*ends(types.x), *(middle(types.x) + n for n in (-3, 0, 4, 50))]
    w = [*ends(types.w), *(middle(types.w) + n for n in (-2, 1, 33))]
    for own in product(ends(types.x), ends(types.w), ends(types.y)):
        scales = decimals(("0.02", "0.5", "3.1"))
        name = "-".join(map(str, own))
        yield line(f"zero-points-{name}", types, x, w, scales, ("ZeroPointEdge",), ("saturate",),
                   points=(own[0], own[1:2], own[2]))  # fmt: skip


def channels(types: ConvTypes) -> Iterator[Sample]:
    """A scale and a zero point of w for each output channel; also one zero point for all of them."""
    for count, same in product((2, 3, 5, 17), (True, False)):
        scales = Fraction("0.02"), [Fraction(3 + n * 5 % 11, 100) for n in range(count)], Fraction("0.04")
        points = [middle(types.w) + (0 if same else n * 3 % 7) for n in range(count)]
        x, w = mixed(types.x, 2 * 6), mixed(types.w, 2 * count)
        name = f"channels-{count}{'-one-zero-point' if same else ''}"
        yield sample(name, types, (x, (1, 2, 6)), (w, (count, 2, 1)), scales, ("PerAxis", "ScaleNotPowerOfTwo"),
                     ("channels", "saturate"), points=(middle(types.x), points, middle(types.y)))  # fmt: skip


def scales_for(terms: int, part: int = 60) -> Scales:
    """Scales with which sums of so many terms stay mostly within the output's range."""
    return Fraction("0.02"), (Fraction("0.03"),), Fraction(math.isqrt(terms) * part, 1000)


def layouts(types: ConvTypes) -> Iterator[Sample]:
    """Shapes, pads, strides, dilations and groups, by weights without a pattern."""
    for one in LAYOUTS:
        yield laid_out(types, one)


def laid_out(types: ConvTypes, one: Window) -> Sample:
    x, w = mixed(types.x, math.prod(one.x)), mixed(types.w, math.prod(one.w))
    points = middle(types.x) + 20, (middle(types.w),), middle(types.y)
    return sample(one.name, types, (x, one.x), (w, one.w), scales_for(math.prod(one.w[1:])), one.flags, one.roles,
                  points=points, attributes=dict(one.attributes))  # fmt: skip


def sums(types: ConvTypes) -> Iterator[Sample]:
    """Sums of so many terms, all at an end of their types: what 16 bits, or float32, don't hold."""
    x_end, w_end = (ends(kind)[1] for kind in (types.x, types.w))
    for terms in (*LANES, DEEP):
        x = [*([x_end] * terms), *([x_end - 1] * terms)]
        x = [code for pair in zip(x[:terms], x[terms:], strict=True) for code in pair]
        w = [w_end] * terms + [w_end - 1] * terms
        largest = x_end * w_end * terms
        scales = Fraction(1), (Fraction(1),), Fraction(largest, 100)
        yield sample(f"sum-of-{terms}", types, (x, (1, terms, 2)), (w, (2, terms, 1)), scales,
                     ("LongSum", "Lane"), points=(0, (0,), ends(types.y)[0]))  # fmt: skip
    yield exact_sum(types)


def exact_sum(types: ConvTypes) -> Sample:
    """Sums just above 2^24, of which float32 holds every second: what is left of them after a large bias is odd."""
    x_end, w_end = (ends(kind)[1] for kind in (types.x, types.w))
    terms = -(-(1 << 24) // (x_end * w_end))
    total = terms * x_end * w_end
    bias = [-total + n for n in range(-3, 4)]
    scales = Fraction(1), (Fraction(1),), Fraction(1)
    low = INTEGER_TYPES[types.y].lowest + 10
    return sample("sum-cancelled-by-bias", types, ([x_end] * terms, (1, terms, 1)),
                  ([w_end] * (terms * len(bias)), (len(bias), terms, 1)), scales, ("LongSum", "Bias", "Cancellation"),
                  ("bias",), points=(0, (0,), low), bias=bias)  # fmt: skip


def biased(types: ConvTypes) -> Iterator[Sample]:
    """Biases of every size: beside ties, near both ends of 32 bits, and beyond them."""
    x, zero, point = [middle(types.x) + n for n in (-3, -1, 0, 1, 2)], middle(types.x), middle(types.w)
    small = [-7, -3, -1, 0, 1, 2, 5]
    yield of_biases("bias", types, x, small, (HALF, Fraction(1)), (zero, point))
    least, most = -(1 << 31), (1 << 31) - 1
    large = [most - 3, most - 4, least + 3, least + 4, (1 << 24) + 1, -(1 << 24) - 1, 1 << 30]
    yield of_biases("bias-of-32-bits", types, x, large, (Fraction(1), Fraction(1 << 25)), (zero, point))
    yield of_biases("bias-beyond-32-bits", types, x, [most, least, most - 1], (Fraction(1), Fraction(1 << 25)),
                    (zero, point), ("beyond-32",), "Overflow")  # fmt: skip
    pixels, weights = ([zero + 2, zero - 2], (1, 2, 1)), ([point + 1] * 2, (1, 2, 1))
    yield sample("bias-beyond-32-bits-on-the-way", types, pixels, weights,
                 (Fraction(1), (Fraction(1),), Fraction(1 << 25)), ("Bias", "Overflow"), ("bias", "beyond-32"),
                 points=(zero, (point,), middle(types.y)), bias=[most])  # fmt: skip


def of_biases(
    theme: str, types: ConvTypes, x: Sequence[int], bias: Sequence[int], scales: tuple[Fraction, Fraction],
    points: tuple[int, int], roles: Sequence[str] = (), flag: str = "Bias",
) -> Sample:  # fmt: skip
    """One channel for each bias, with a weight of 1; the last one's scale is another."""
    weights = [points[1] + 1] * len(bias)
    w_scales = [Fraction(1)] * (len(bias) - 1) + [HALF]
    return sample(theme, types, (x, (1, 1, len(x))), (weights, (len(bias), 1, 1)), (scales[0], w_scales, scales[1]),
                  ("Bias", flag) if flag != "Bias" else ("Bias",), ("bias", "channels", "saturate", *roles),
                  points=(points[0], [points[1]] * len(bias), middle(types.y)), bias=bias)  # fmt: skip


def strange_scales(types: ConvTypes) -> Iterator[Sample]:
    """Scales that are tiny, huge, subnormal, infinite, NaN or zero."""
    x, w = [middle(types.x) + n for n in (-50, -1, 0, 1, 3)], [middle(types.w) + n for n in (-2, 1, 5)]
    points = middle(types.x), (middle(types.w),), middle(types.y)
    tiny, huge, one = Fraction(1, 1 << 140), Fraction(1 << 126), Fraction(1)
    plain: tuple[tuple[str, Scales], ...] = (
        ("subnormal-product", (Fraction(1, 1 << 75), (Fraction(3, 1 << 70),), Fraction(1, 1 << 144))),
        ("tiny-all", (tiny, (one,), tiny * 3)),
        ("huge-product", (huge, (Fraction(4),), huge)),
        ("huge-output", (one, (one,), huge)),
    )
    for name, scales in plain:
        yield line(f"scales-{name}", types, x, w, scales, ("Overflow",), ("saturate",), points=points)
    for name, place, value in (("nan", 0, math.nan), ("infinite", 1, math.inf), ("infinite-output", 2, math.inf)):
        yield strange(f"scales-{name}", types, (x, w), place, value, points, "special")
    yield strange("scales-zero-output", types, (x, w), 2, 0.0, points, "no-scale")


def strange(
    theme: str, types: ConvTypes, codes: tuple[list[int], list[int]], place: int, value: float,
    points: tuple[int, Sequence[int], int], role: str,
) -> Sample:  # fmt: skip
    scales: list[Any] = [Fraction(1), (Fraction(1),), Fraction(1)]
    scales[place] = (value,) if place == 1 else value
    flag = "ZeroScale" if not value else "NaN" if math.isnan(value) else "Infinity"
    return line(theme, types, *codes, (scales[0], scales[1], scales[2]), (flag,), (role,), points=points)


def separating(x: str, y: str) -> Iterator[Sample]:
    """Images of one row and one channel under one weight, on which two of the plainest arithmetics differ."""
    for number, codes, values in witnesses_of(ID, f"{x}-{y}"):
        kinds = ("float32", x, x, "float32", x, "float32", y, "int32")
        others = [Tensor(kind, (), [code]) for kind, code in zip(kinds, codes, strict=True)]
        others[2] = Tensor(x, (1, 1, 1, 1), others[2].codes)
        others[7] = Tensor("int32", (1,), others[7].codes)
        given = (Tensor(x, (1, 1, len(values), 1), values), *others)
        node = {"real": x, "quantized": y, "scale": x, "zero_point": True}
        yield Sample(f"{x}-weights/separating-{number}", node, given, ("Separating",), (*ALWAYS, "bias", "saturate"))
