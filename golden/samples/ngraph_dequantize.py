"""Golden vectors of ngraph.Dequantize."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType, decode, encode
from tiebreak.golden.samples import rounded_twice as found_products
from tiebreak.golden.samples.model import Sample, bits, integers, reals, scalar

SCALES = (Fraction(1, 10), Fraction(1, 3), Fraction(7, 1000), Fraction(123, 10), Fraction(-1, 7))
SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((3, 3, 3), (0,)),
    ((3, 3, 3), (1,)),
    ((3, 3, 3), (2,)),
    ((3, 3, 3), (0, 1)),
    ((3, 3, 3), (0, 2)),
    ((3, 3, 3), (1, 2)),
    ((3, 3, 3), (0, 1, 2)),
    ((2, 3, 4), (1,)),
    ((2, 2, 2, 2), (1, 3)),
    ((3, 1), (0,)),
    ((2, 3, 67), (1,)),
    ((2, 70), (1,)),
    ((1031,), ()),
    ((130,), (0,)),
    ((2, 1, 2, 3, 2), (1, 3)),
    ((2, 2, 1, 2, 2, 3), (0, 5)),
    ((7,), (0,)),
    ((), ()),
    ((0,), ()),
    ((2, 0, 3), (1,)),
)


def samples(quantized: str, real: str) -> Iterator[Sample]:
    yield from inexact_products(quantized, real)
    yield from specials(quantized, real)
    yield from twice(quantized, real)
    yield from scale_classes(quantized, real)
    for shape, axes in SHAPES:
        yield per_axis(quantized, real, shape, axes)


def integers_of_all_sizes(kind: IntegerType) -> list[int]:
    """Integers of every size: all of them up to 8 bits, else the ends, powers of two and their neighbours."""
    if kind.bits <= 8:
        return list(range(kind.lowest, kind.highest + 1))
    powers = {sign * ((1 << n) + d) for n in range(0, 33) for sign in (1, -1) for d in (-3, -1, 0, 1, 3)}
    ends = {kind.lowest + d for d in range(4)} | {kind.highest - d for d in range(4)}
    thirds = {kind.highest // 3 + d for d in range(3)} | {kind.lowest // 3 - d for d in range(3)}
    return sorted(v for v in powers | ends | thirds if kind.lowest <= v <= kind.highest)


def zero_points(kind: IntegerType) -> tuple[int, ...]:
    middle = (kind.lowest + kind.highest + 1) // 2
    return tuple(dict.fromkeys((middle, middle + 1, kind.lowest, kind.highest)))


def inexact_products(quantized: str, real: str) -> Iterator[Sample]:
    """Every telling integer against scales whose products are inexact, and zero points at both ends of the range."""
    kind = INTEGER_TYPES[quantized]
    x = integers(quantized, integers_of_all_sizes(kind))
    node = {"real": real, "quantized": quantized}
    for zero_point in zero_points(kind):
        tensors = (x, scalar(real, Fraction(1)), scalar(quantized, zero_point))
        flags = ("WideSum",) if kind.bits > 8 else ("RangeEdge",)
        yield Sample(f"scale-1-zp{zero_point}", node, tensors, flags, ("difference", "input-type", "output-type"))
    for scale in SCALES:
        tensors = (x, scalar(real, scale), scalar(quantized, zero_points(kind)[1]))
        flags = ("ScaleNotPowerOfTwo", *(("NegativeScale",) if scale < 0 else ()))
        yield Sample(f"scale-{float(scale):.4g}", node, tensors, flags, ("product", "scale-type"))
    older = (x, scalar(real, Fraction(3, 8)), scalar(quantized, zero_points(kind)[1]))
    yield Sample("offset", node | {"form": 1}, older, ("OlderForm",), ("older-form", "difference"))


def specials(quantized: str, real: str) -> Iterator[Sample]:
    """Subnormal, huge, infinite and NaN scales, and results that are zero, subnormal or beyond the type."""
    kind, float_type = INTEGER_TYPES[quantized], FLOAT_TYPES[real]
    zero = zero_points(kind)[0]
    x = integers(quantized, [v for v in (zero, zero + 1, zero - 1, kind.lowest, kind.highest) if v in span(kind)])
    node = {"real": real, "quantized": quantized}
    normal = 1 << (float_type.precision - 1)
    for name, code, flags, role in (
        ("subnormal-scale", 3, ("Subnormal",), "product"),
        ("smallest-normal-scale", normal, ("Subnormal",), "product"),
        ("largest-scale", float_type.largest_bits, ("Overflow",), "product"),
        ("infinite-scale", float_type.infinity_bits, ("Infinity",), "special"),
        ("nan-scale", float_type.infinity_bits + 1, ("NaN",), "special"),
        ("zero-scale", 0, ("ZeroScale",), "zero-sign"),
        ("negative-scale", 1 << (float_type.bits - 1) | normal << 3, ("NegativeScale",), "zero-sign"),
    ):
        tensors = (x, bits(real, [code], ()), scalar(quantized, zero))
        yield Sample(f"special-{name}", node, tensors, flags, (role,))
    if kind.bits == 32 and real in ("float16", "bfloat16"):
        yield rounded_twice(quantized, real)
    if kind.bits >= 16:
        ends = integers(quantized, [kind.lowest, kind.lowest + 1, kind.highest - 1, kind.highest])
        small = scalar(real, Fraction(1, 1 << 12))
        for zero_point in (kind.lowest, kind.highest):
            tensors = (ends, small, scalar(quantized, zero_point))
            yield Sample(f"wide-difference-zp{zero_point}", node, tensors, ("WideSum",), ("difference", "overflow"))


def rounded_twice(quantized: str, real: str) -> Sample:
    """Products next to a midpoint of the output's type, so near that float32 rounds them onto it."""
    kind, narrow = INTEGER_TYPES[quantized], FLOAT_TYPES[real]
    scale = scalar(real, Fraction(1, 3 << 15))
    factor = Fraction(decode(scale.codes[0], narrow))
    found = []
    for k in range(8):
        lower = encode((Fraction(kind.highest) - (k + 1) * Fraction(kind.highest, 40)) * factor, narrow)
        middle = (Fraction(decode(lower, narrow)) + Fraction(decode(lower + 1, narrow))) / 2
        found += [math.floor(middle / factor), math.ceil(middle / factor)]
    tensors = (integers(quantized, found), scale, scalar(quantized, 0))
    node, flags = {"real": real, "quantized": quantized}, ("NearTie", "RoundedTwice")
    return Sample("rounded-twice", node, tensors, flags, ("product",))


def twice(quantized: str, real: str) -> Iterator[Sample]:
    """Products that float64 and float32, or float64 alone, round onto a midpoint of the output's type."""
    kind, float_type = INTEGER_TYPES[quantized], FLOAT_TYPES[real]
    found = found_products.products(float_type, kind.bits, 9) if kind.bits >= 16 else []
    if found:
        count, unit = len(found), found_products.scale_unit(float_type, kind.bits)
        x = integers(quantized, [difference + kind.lowest for difference, _ in found])
        scale = reals(real, [significand * unit for _, significand in found])
        node = {"real": real, "quantized": quantized, "attributes": {"axes": [0]}}
        tensors = (x, scale, integers(quantized, [kind.lowest] * count))
        yield Sample("rounded-once", node, tensors, ("RoundedTwice", "PerAxis"), ("product", "projection"))


def scale_classes(quantized: str, real: str) -> Iterator[Sample]:
    """Rows by scales of every class, from subnormal to the largest, each with a zero point next to its inputs."""
    kind, classes = INTEGER_TYPES[quantized], every_class(FLOAT_TYPES[real])
    rows = len(classes)
    points = [(kind.lowest + 1, kind.highest - 1)[j % 2] for j in range(rows)]
    x = integers(quantized, [point + d for point in points for d in (-1, 0, 1)], (rows, 3))
    node = {"real": real, "quantized": quantized, "attributes": {"axes": [0]}}
    tensors = (x, reals(real, classes), integers(quantized, points))
    yield Sample("scale-classes", node, tensors, ("HugeScale", "Subnormal", "PerAxis"), ("product", "projection"))


def every_class(kind: FloatType) -> list[Fraction]:
    """A scale of each class: subnormal, least normal, small, ordinary, large, and those with subnormal reciprocals."""
    least, normal = Fraction(2) ** (kind.emin - kind.precision + 1), Fraction(2) ** kind.emin
    top = Fraction(2) ** kind.emax
    return [3 * least, normal / 2, normal, Fraction(2) ** (kind.emin // 2), Fraction(1, 10), top / 2, top, top * 3 / 2]


def span(kind: IntegerType) -> range:
    return range(kind.lowest, kind.highest + 1)


def per_axis(quantized: str, real: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> Sample:
    """Scales and zero points that all differ along the axes."""
    kind = INTEGER_TYPES[quantized]
    projected = tuple(shape[axis] for axis in axes)
    count, coordinates = math.prod(shape), math.prod(projected)
    low = max(kind.lowest, -8)
    x = integers(quantized, [low + (7 * i) % 16 for i in range(count)], shape)
    scale = reals(real, [1 + Fraction(j % 9, 8) for j in range(coordinates)], projected)
    zero_point = integers(quantized, [low + 6 + j % 3 for j in range(coordinates)], projected)
    kinds: tuple[str, ...] = ("Scalar",) if shape == () else ("Empty",) if not count else ()
    kinds += ("MultiAxis",) if len(axes) > 1 else ("PerAxis",) if axes else ()
    name = f"axes-{'x'.join(map(str, shape)) or 'scalar'}-{'_'.join(map(str, axes)) or 'none'}"
    node = {"real": real, "quantized": quantized, "attributes": {"axes": list(axes)}}
    return Sample(name, node, (x, scale, zero_point), kinds, ("projection", "granularity", "shape"))
