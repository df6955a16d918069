"""Golden vectors of stablehlo.uniform_quantize: ties of sums, ends of storage types, quantized operands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, decode, encode
from tiebreak.golden.samples.model import Sample, Tensor, bits, reals, small_scales_of, with_neighbouring_codes
from tiebreak.golden.samples.stablehlo import SHAPES, dimension, middle, nearest, quantized_with, storage
from tiebreak.golden.samples.tensorflow_uniform import ends_of, flag_of_shape
from tiebreak.golden.samples.tflite_requantize import RATIOS, integers_of, wide

OF_FLOATS = (
    *(("float32", kind) for kind in ("int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32")),
    ("float16", "int8"),
    ("bfloat16", "uint8"),
)
OF_INTEGERS = (("int8", "int8"), ("uint8", "int8"), ("int8", "int16"), ("int32", "int8"))
FILES = (*OF_FLOATS, *OF_INTEGERS)
HALF = Fraction(1, 2)
ALWAYS = ("quotient", "zero-point", "round", "range", "expressed", "types", "scales", "points", "left-off", "shape")
NUMBERS = (-300, -129, -128, -9, -8, -3, -2, -1, 0, 1, 2, 3, 7, 8, 126, 127, 128, 255, 300)
SCALES = ("0.1", "0.02", "3.7", "0.640625", "0.007")
Values = Sequence[Fraction | float]


def samples(real: str, quantized: str) -> Iterator[Sample]:
    if real in INTEGER_TYPES:
        yield from of_integers(real, quantized)
        return
    yield from ties(real, quantized)
    yield from beside_ties(real, quantized)
    yield from ends(real, quantized)
    yield from far(real, quantized)
    yield from scale_classes(real, quantized)
    yield special(real, quantized)
    for shape, axis in SHAPES:
        yield of_shape(real, quantized, shape, axis)


def points_of(quantized: str) -> tuple[int, ...]:
    """The middle, odd ones and both ends."""
    low, high = ends_of(quantized)
    return tuple(dict.fromkeys((middle(quantized), middle(quantized) + 3, low, high)))


def sample(
    theme: str, types: tuple[str, str], x: Values | Tensor, scale: Fraction, point: int, flags: Sequence[str],
    roles: Sequence[str] = (), **attributes: Any,
) -> Sample:  # fmt: skip
    real, quantized = types
    given = x if isinstance(x, Tensor) else reals(real, x)
    node = {"real": real, "quantized": quantized, "attributes": attributes}
    tensors = (given, *quantized_with(real, quantized, [scale], [point]))
    return Sample(theme, node, tensors, tuple(flags), (*ALWAYS, "per-tensor", *roles), independent=True)


def ties(real: str, quantized: str) -> Iterator[Sample]:
    """Halves and integers at scales that are powers of two, with zero points that are even, odd and at the ends."""
    for scale in (Fraction(1), Fraction(1, 4), Fraction(2)):
        for point in points_of(quantized):
            x = [(n + half) * scale for n in NUMBERS for half in (Fraction(0), HALF)]
            flags = ("Tie", "ZeroPointParity", "Saturates", "ClampOrder")
            yield sample(f"ties-{float(scale):.3g}-zp{point}", (real, quantized), x, scale, point, flags)


def beside_ties(real: str, quantized: str) -> Iterator[Sample]:
    """Numbers on or beside ties, where the quotient and the sum round."""
    kind = FLOAT_TYPES[real]
    for text in SCALES:
        scale = nearest(Fraction(text), real)
        near = [encode(abs(n + HALF) * scale, kind) | (n < 0) << (kind.bits - 1) for n in NUMBERS]
        x = [Fraction(decode(code, kind)) for code in with_neighbouring_codes(real, near, (-2, -1, 0, 1, 2))]
        flags = ("NearTie", "Reciprocal", "ScaleNotPowerOfTwo")
        yield sample(f"beside-{text}", (real, quantized), x, scale, points_of(quantized)[1], flags)


def ends(real: str, quantized: str) -> Iterator[Sample]:
    """Ends of a type that stores more, and results at them."""
    low, high = ends_of(quantized)
    point = middle(quantized)
    for least, greatest in ((low + 1, high), (low, high - 1), (point - 4, point + 6)):
        x = [Fraction(2 * n + odd, 2) for n in range(-10, 10) for odd in (0, 1)]
        x = [*x, *(Fraction(n) for n in (-1000, -129, -128, -127, 126, 127, 128, 255, 256, 1000))]
        yield sample(f"ends-{least}-{greatest}", (real, quantized), x, Fraction(1), point,
                     ("NarrowRange", "Saturates", "RangeEdge"), ("narrow", "ends"),
                     **storage(least, greatest))  # fmt: skip
    if (real, quantized) == ("float32", "int32"):  # float32 makes of both ends numbers of int32 further out
        x = [Fraction(n) for n in (0, 1, -1, 1 << 30, 3 << 30, -3 << 30, 2147483520, -2147483520)]
        yield sample("ends-that-round-outward", (real, quantized), x, Fraction(1), 0,
                     ("NarrowRange", "Saturates", "RangeEdge"), ("narrow", "ends"),
                     **storage(-2147483647, 2147483510))  # fmt: skip


def far(real: str, quantized: str) -> Iterator[Sample]:
    """Quotients beyond all storage types, and infinities."""
    top = 15 if real == "float16" else 126
    powers = [Fraction(2) ** n for n in (7, 8, 14, 15, 16, 24, 30, 31, 32, 40, 63, 64, 100, 126) if n <= top]
    x: list[Fraction | float] = [sign * number for number in powers for sign in (1, -1)]
    for text in ("1", "0.01"):
        for point in (middle(quantized), ends_of(quantized)[1]):
            yield sample(f"far-{text}-zp{point}", (real, quantized), [*x, math.inf, -math.inf],
                         nearest(Fraction(text), real), point, ("Overflow", "Saturates", "Infinity"),
                         ("beyond",))  # fmt: skip


def scale_classes(real: str, quantized: str) -> Iterator[Sample]:
    kind = FLOAT_TYPES[real]
    least = Fraction(2) ** (kind.emin - kind.precision + 1)
    largest = 15 if real == "float16" else 127
    for name, scale, flags in (
        ("scale-subnormal", 3 * least, ("Subnormal",)),
        ("scale-least-normal", Fraction(2) ** kind.emin, ("Subnormal",)),
        ("scale-large", Fraction(2) ** (largest - 1), ("HugeScale",)),
        ("scale-largest-power", Fraction(2) ** largest, ("HugeScale",)),
        *((name, scale, ("SmallScale", "Tie")) for name, scale in small_scales_of(kind)),
    ):
        multiples = (0, 1, -1, 2, -2, 3, -3) if scale > 1 else (0, 2, -2, 4, 6, -6, 10, -14, 40)
        x = [Fraction(n, 2) * scale for n in multiples if abs(Fraction(n, 2) * scale) < Fraction(2) ** (largest + 1)]
        yield sample(name, (real, quantized), x, scale, points_of(quantized)[1], flags)


def special(real: str, quantized: str) -> Sample:
    x: Values = (math.nan, -0.0, 0.0, Fraction(1), Fraction(-1))
    return sample("nan", (real, quantized), x, Fraction(1), middle(quantized), ("NaN", "NegativeZero"), ("special",))


def of_shape(real: str, quantized: str, shape: tuple[int, ...], axis: int) -> Sample:
    """Scales and zero points that all differ along the dimension."""
    low, high = ends_of(quantized)
    count = 1 if axis < 0 else shape[axis]
    scales = [1 + Fraction(j % 9, 8) for j in range(count)]
    points = [min(max(middle(quantized) + j % 7, low), high) for j in range(count)]
    x = reals(real, [Fraction((7 * i) % 33 - 16, 2) for i in range(math.prod(shape))], shape)
    attributes = dimension(axis)
    roles = ("per-tensor",) if axis < 0 else ("projection", "axis")
    name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}-{'none' if axis < 0 else axis}"
    node = {"real": real, "quantized": quantized, "attributes": attributes}
    own = quantized_with(real, quantized, scales, points, axis)
    return Sample(name, node, (x, *own), (flag_of_shape(shape, axis),), (*ALWAYS, *roles))


# Quantized operands


def of_integers(source: str, target: str) -> Iterator[Sample]:
    kind, to = INTEGER_TYPES[source], INTEGER_TYPES[target]
    for ratio in RATIOS:
        for first, last in ((middle(source), middle(target)), (kind.lowest, to.highest)):
            values = integers_of(kind, to, ratio, first) if kind.bits == 8 else wide(kind)
            flags = ("ScaleNotPowerOfTwo", "Saturates", "Tie", *(("WideInteger",) if kind.bits == 32 else ()))
            yield requantized(f"{ratio[0]}-zp{first}-zp{last}", source, target, bits(source, values),
                              ([ratio[1]], [first], -1), ([ratio[2]], [last], -1), flags)  # fmt: skip
    for shape, axis in SHAPES:
        x = bits(source, [max(kind.lowest, (7 * i) % 101 - 40) for i in range(math.prod(shape))], shape)
        sides = ((-1, -1),) if axis < 0 else ((axis, -1), (-1, axis), (axis, axis))
        for own, last in sides:
            side = "" if axis < 0 else "-both" if own == last else "-operand" if own >= 0 else "-result"
            name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}-{axis}{side}"
            yield requantized(name, source, target, x, spread(source, shape, own, 9), spread(target, shape, last, 7),
                              (flag_of_shape(shape, axis),))  # fmt: skip


Side = tuple[Sequence[Fraction], Sequence[int], int]


def spread(kind: str, shape: tuple[int, ...], axis: int, period: int) -> Side:
    count = 1 if axis < 0 else shape[axis]
    return [1 + Fraction(j % period, 8) for j in range(count)], [middle(kind) + j % period for j in range(count)], axis


def requantized(
    theme: str, source: str, target: str, x: Tensor, own: Side, result: Side, flags: Sequence[str]
) -> Sample:  # fmt: skip
    attributes = dimension(result[2]) | dimension(own[2], "operand_")
    node = {"real": source, "quantized": target, "attributes": attributes}
    tensors = (x, *quantized_with("float32", target, *result), *quantized_with("float32", source, *own))
    roles = (
        *ALWAYS,
        "operand",
        *(("per-tensor",) if result[2] < 0 else ("projection", "axis")),
        *(("operand-projection",) if own[2] >= 0 else ()),
    )
    return Sample(theme, node, tensors, tuple(flags), roles, independent=max(own[2], result[2]) < 0)
