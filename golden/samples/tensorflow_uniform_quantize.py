"""Golden vectors of tensorflow.UniformQuantize: ties and their neighbours at scales of all sizes, ends of ranges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import decode, encode
from tiebreak.golden.samples.model import Sample, reals, small_scales_of, with_neighbouring_codes
from tiebreak.golden.samples.tensorflow_uniform import (
    HALF,
    SHAPES,
    SINGLE,
    ends_of,
    flag_of_shape,
    of,
    parameters,
    range_of,
)

SCALES = (Fraction(1), Fraction(1, 4), of("0.1"), of("0.02"), of("0.007"), of("3.7"), Fraction(41, 64), of("1e-6"))
ALWAYS = ("quotient", "add", "round", "range", "real-type", "output-type", "shape")
NUMBERS = (-300, -129, -128, -127, -3, -2, -1, 0, 1, 2, 3, 126, 127, 128, 254, 255, 256, 300)
Values = Sequence[Fraction | float]


def samples(real: str, quantized: str) -> Iterator[Sample]:
    yield from ties(quantized)
    yield from beside_ties(quantized)
    yield from zero_points(quantized)
    yield from narrow_ranges(quantized)
    yield from far(quantized)
    yield from scale_classes(quantized)
    yield from specials(quantized)
    yield from no_ranges(quantized)
    for shape, axis in SHAPES:
        yield of_shape(quantized, shape, axis)


def sample(
    theme: str, quantized: str, x: Values, scale: Fraction | float, point: int, flags: Sequence[str],
    roles: Sequence[str] = (), ends: tuple[int, int] | None = None, independent: bool = True,
) -> Sample:  # fmt: skip
    least, greatest = ends or ends_of(quantized)
    node: dict[str, Any] = {"quantized": quantized, "attributes": range_of(least, greatest)}
    tensors = (reals("float32", x), *parameters([scale], [point]))
    return Sample(theme, node, tensors, tuple(flags), (*ALWAYS, "per-tensor", *roles), independent=independent)


def usual_points(quantized: str) -> tuple[int, int]:
    return {"int8": (0, -5), "uint8": (128, 3), "int32": (0, 1001)}[quantized]


def ties(quantized: str) -> Iterator[Sample]:
    """Ties and integers, which scales that are powers of two make exact."""
    for scale in (Fraction(1), Fraction(1, 4), Fraction(2), Fraction(1, 1 << 20)):
        for point in usual_points(quantized):
            x = [(n + half) * scale for n in NUMBERS for half in (Fraction(0), HALF)]
            yield sample(f"ties-{float(scale):.3g}-zp{point}", quantized, x, scale, point, ("Tie", "Saturates"))


def beside_ties(quantized: str) -> Iterator[Sample]:
    """float32 numbers on or beside ties, where the reciprocal and the sum with a half round."""
    for scale in SCALES:
        near = [encode(abs(n + HALF) * scale, SINGLE) | (n < 0) << 31 for n in NUMBERS]
        x = [Fraction(decode(code, SINGLE)) for code in with_neighbouring_codes("float32", near, (-2, -1, 0, 1, 2))]
        flags = ("NearTie", "Reciprocal", *(() if scale.numerator == 1 else ("ScaleNotPowerOfTwo",)))
        yield sample(f"beside-{float(scale):.4g}", quantized, x, scale, usual_points(quantized)[1], flags)
    half: Values = [
        Fraction(0x1FFFFFF, 1 << 26),
        -Fraction(0x1FFFFFF, 1 << 26),
        Fraction(1, 3),
        Fraction(8388609),
        -8388607,
    ]
    yield sample("half-more", quantized, half, Fraction(1), 0, ("AddHalf", "LargeOdd"))


def zero_points(quantized: str) -> Iterator[Sample]:
    """Zero points at the ends of the output's type, beyond it, and at the ends of int32."""
    low, high = ends_of(quantized)
    beyond = () if quantized == "int32" else (low - 1, high + 1, 1000, -1000, 100001)
    for point in (low, high, low // 2 + 3, *beyond):
        quotients = [Fraction(2 * (k - point) + odd, 2) for k in (low, low + 1, 0, 7, high - 1, high) for odd in (0, 1)]
        x = [q * HALF for q in quotients if abs(q) < 1 << 24] + [HALF, -HALF, Fraction(3, 4), Fraction(-3, 4)]
        flags = ("ZeroPointParity", "ClampOrder", "RangeEdge")
        yield sample(f"zp{point}", quantized, x, HALF, point, flags, ("range",))
    for point in (-(1 << 31), (1 << 31) - 1):
        x = [Fraction(n) for n in (-(1 << 30), -100, -1, 0, 1, 100, 1 << 30, (1 << 31) - 128, -(1 << 31))]
        yield sample(f"zp{point}-wide", quantized, x, Fraction(1), point, ("WideSum", "ZeroPointEdge"))


def narrow_ranges(quantized: str) -> Iterator[Sample]:
    low, high = ends_of(quantized)
    middle = usual_points(quantized)[0]
    for least, greatest in ((low + 1, high), (low, high - 1), (middle - 4, middle + 9), (middle + 2, middle + 2)):
        inside = [Fraction(2 * n + odd, 2) for n in range(-12, 13) for odd in (0, 1)]
        x = [*inside, *(Fraction(n) for n in (-1000, -129, -128, -127, 126, 127, 128, 255, 256, 1000))]
        yield sample(f"range-{least}-{greatest}", quantized, x, Fraction(1), middle, ("NarrowRange", "Saturates"),
                     ("narrow",), (least, greatest))  # fmt: skip


def far(quantized: str) -> Iterator[Sample]:
    """Quotients beyond int16, int32, int64 and float32."""
    powers = [Fraction(2) ** n for n in (15, 16, 24, 30, 31, 32, 40, 62, 63, 64, 100, 127)]
    x = [sign * number * factor for number in powers for factor in (1, Fraction(3, 2)) for sign in (1, -1)]
    for name, scale in (("one", Fraction(1)), ("tenth", of("0.1")), ("tiny", of("1e-30"))):
        for point in usual_points(quantized):
            yield sample(f"far-{name}-zp{point}", quantized, x, scale, point, ("Overflow", "Saturates"))


def scale_classes(quantized: str) -> Iterator[Sample]:
    """Scales of every class, each with ties and integers, of both signs."""
    least = Fraction(1, 1 << 149)
    for name, scale, flags in (
        ("scale-subnormal", 3 * least, ("Subnormal",)),
        ("scale-least-with-reciprocal", Fraction(1, 1 << 127), ("Subnormal",)),
        ("scale-least-normal", Fraction(1, 1 << 126), ("Subnormal",)),
        ("scale-large", Fraction(1 << 126), ("HugeScale",)),
        ("scale-largest-power", Fraction(1 << 127), ("HugeScale",)),
        ("scale-negative", -Fraction(41, 64), ("NegativeScale",)),
        ("scale-negative-power", Fraction(-1, 8), ("NegativeScale",)),
        *((name, scale, ("SmallScale", "Tie")) for name, scale in small_scales_of(SINGLE)),
    ):
        multiples = (0, 1, -1, 2, -2, 3, -3) if scale > 1 else (0, 2, -2, 4, 6, -6, 10, -14, 40)
        x = [Fraction(n, 2) * scale for n in multiples if abs(n * scale) < 1 << 128]
        yield sample(name, quantized, x, scale, usual_points(quantized)[1], flags, ("reciprocal",))


def specials(quantized: str) -> Iterator[Sample]:
    nan, infinity = float("nan"), float("inf")
    x: Values = (nan, infinity, -infinity, -0.0, 0.0, Fraction(1), Fraction(-1), Fraction(1, 1 << 149))
    point = usual_points(quantized)[1]
    yield sample("inputs", quantized, x, Fraction(1), point, ("NaN", "Infinity", "NegativeZero", "Tiny"), ("special",))
    finite: Values = (Fraction(0), Fraction(1), Fraction(-1))
    for name, scale, flag in (
        ("zero", 0.0, "ZeroScale"),
        ("minus-zero", -0.0, "ZeroScale"),
        ("nan", nan, "NaN"),
        ("infinity", infinity, "Infinity"),
    ):
        yield sample(f"scale-{name}", quantized, finite, scale, point, (flag,), ("scale",))


def no_ranges(quantized: str) -> Iterator[Sample]:
    """Ends in the wrong order, and such that the type does not hold."""
    low, high = ends_of(quantized)
    beyond = () if quantized == "int32" else ((low - 1, high), (low, high + 1))
    for least, greatest in ((high, low), (5, 3), *beyond):
        x = [Fraction(n) for n in (-1000, 0, 1, 1000)]
        yield sample(f"no-range-{least}-{greatest}", quantized, x, Fraction(1), 0, ("NoRange",), ("no-range",),
                     (least, greatest))  # fmt: skip


def of_shape(quantized: str, shape: tuple[int, ...], axis: int) -> Sample:
    """Scales and zero points that all differ along the axis."""
    low, high = ends_of(quantized)
    count = 1 if axis < 0 else shape[axis]
    scales = [1 + Fraction(j % 9, 8) for j in range(count)]
    points = [usual_points(quantized)[1] + j % 7 for j in range(count)]
    x = reals("float32", [Fraction((7 * i) % 33 - 16, 2) for i in range(math.prod(shape))], shape)
    attributes = range_of(low, high) | ({} if axis < 0 else {"quantization_axis": axis})
    roles = ("per-tensor",) if axis < 0 else ("projection", "axis")
    name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}-{'none' if axis < 0 else axis}"
    node = {"quantized": quantized, "attributes": attributes}
    return Sample(name, node, (x, *parameters(scales, points, axis)), (flag_of_shape(shape, axis),), (*ALWAYS, *roles))
