"""Golden vectors of torch.quantize_per_channel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType, neighbour
from tiebreak.golden.samples import torch_quantize_per_tensor as per_tensor
from tiebreak.golden.samples.model import Sample, Tensor, bits, integers, real_code, reals

REAL = per_tensor.REAL
SINGLE = FLOAT_TYPES[REAL]
HALF = Fraction(1, 2)
SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((3,), 0), ((1,), 0), ((2, 3), 0), ((2, 3), 1), ((3, 3), 0), ((3, 3), 1), ((2, 3, 4), 0), ((2, 3, 4), 1),
    ((2, 3, 4), 2), ((2, 3, 2, 3), 1), ((2, 3, 2, 3), 3), ((3, 67), 0), ((67, 3), 1), ((0, 3), 0), ((2, 0, 3), 2),
)  # fmt: skip
ODD_FLAGS = ("NaN", "Infinity", "ZeroScale", "NegativeScale", "Subnormal", "HugeScale", "PerAxis")
BASIC = (*per_tensor.BASIC, "axis", "channels")
FLOAT = "float32"
FRACTIONS = (Fraction(0), Fraction(5, 4), Fraction(-1, 2), Fraction(16777215, 1 << 24), Fraction(2001, 16))
FLOAT_ROLES = ("inverse", "zero-point", "float-zero-point", "nearest", "real-type", "output-type", "axis", "channels")


def samples(real: str, quantized: str) -> Iterator[Sample]:
    kind = INTEGER_TYPES[quantized]
    for zero_point in per_tensor.zero_points(kind):
        yield every_scale(kind, zero_point)
    yield from per_shape(kind)
    yield from odd(kind)
    yield documented(kind)
    yield from (fractional(kind, fraction) for fraction in FRACTIONS)
    yield from special_points(kind)
    yield from far_apart(kind)


def node(kind: IntegerType, axis: int, points: str = "") -> dict[str, object]:
    """`points` is the type of zero points that are floats."""
    attributes = {"axis": axis, **({"zero_point_type": points} if points else {})}
    return {"real": REAL, "quantized": kind.name, "attributes": attributes}


def every_scale(kind: IntegerType, zero_point: int) -> Sample:
    """A channel for each scale, with inputs made for it."""
    scales = [per_tensor.in_float32(decimal) for _, decimal, _ in per_tensor.SCALES]
    columns = [per_tensor.telling(kind, scale, zero_point) for scale in scales]
    width = min(map(len, columns))
    x = bits(REAL, [code for column in columns for code in column[-width:]], (len(scales), width))
    tensors = (x, reals(REAL, scales), integers(kind.name, [zero_point] * len(scales)))
    flags = ("NearTie", "Tie", "ScaleNotPowerOfTwo", "Reciprocal", "ZeroPointParity", "RangeEdge", "Saturates",
             "ClampOrder", "PerAxis")  # fmt: skip
    roles = (*BASIC, "zero-point-type", "clamp", "ties")
    return Sample(f"scales-{zero_point}", node(kind, 0), tensors, flags, roles)


def per_shape(kind: IntegerType) -> Iterator[Sample]:
    """Scales and zero points that differ from channel to channel."""
    for shape, axis in SHAPES:
        depth = shape[axis]
        scales = reals(REAL, [Fraction(1, 10) + Fraction(3 * n, 7) for n in range(depth)])
        tensors = (per_tensor.scattered(shape), scales, per_tensor.zero_points_of(kind, depth))
        name = f"axis-{axis}-{'x'.join(map(str, shape))}"
        flags = ("PerAxis", *(("Empty",) if 0 in shape else ("Lane",) if 67 in shape else ()))
        yield Sample(name, node(kind, axis), tensors, flags, ("axis", "channels", "shape"))


def odd(kind: IntegerType) -> Iterator[Sample]:
    """A channel of each odd scale, and odd inputs."""
    yield Sample("odd", node(kind, 0), odd_channels(kind.name), ODD_FLAGS, ("nan", "infinity", "zero-scale"))


def odd_channels(zero_points: str) -> tuple[Tensor, ...]:
    """Inputs of each odd kind in channels of each odd scale, with zero points of a type."""
    scales: list[Fraction | float | int] = [
        1.0,
        math.nan,
        math.inf,
        0.0,
        -1.0,
        Fraction(3, 1 << 149),
        Fraction(2) ** 127,
    ]
    values: list[Fraction | float | int] = [
        math.nan,
        math.inf,
        -math.inf,
        1.0,
        -2.0,
        -0.0,
        Fraction(2) ** 126,
        Fraction(-5, 1 << 149),
    ]
    x = reals(REAL, values * len(scales), (len(scales), len(values)))
    return x, reals(REAL, scales), integers(zero_points, [3] * len(scales))


def documented(kind: IntegerType) -> Sample:
    """The docstring's example."""
    x = reals(REAL, [-1, 0, 1, 2], (2, 2))
    scales = reals(REAL, [per_tensor.in_float32("0.1"), per_tensor.in_float32("0.01")])
    tensors = (x, scales, integers(kind.name, [10, 0]))
    return Sample("documented-example", node(kind, 0), tensors, ("PerAxis", "Shape"), ("axis", "quotient"))


def fractional(kind: IntegerType, zero_point: Fraction) -> Sample:
    """A channel for each scale, whose sums with a zero point that is a float are ties, or beside them, or whole."""
    scales = [per_tensor.in_float32(decimal) for _, decimal, _ in per_tensor.SCALES]
    codes = [code for scale in scales for code in beside_ties(kind, scale, zero_point)]
    x = bits(REAL, codes, (len(scales), len(codes) // len(scales)))
    tensors = (x, reals(REAL, scales), reals(FLOAT, [zero_point] * len(scales)))
    flags = (
        "FloatZeroPoint",
        "NearTie",
        "Tie",
        "ScaleNotPowerOfTwo",
        "Reciprocal",
        "RangeEdge",
        "Saturates",
        "PerAxis",
    )
    name = f"{FLOAT}-{zero_point.numerator}-{zero_point.denominator}"
    return Sample(name, node(kind, 0, FLOAT), tensors, flags, (*FLOAT_ROLES, "clamp", "ties"))


def beside_ties(kind: IntegerType, scale: Fraction, zero_point: Fraction) -> list[int]:
    found = []
    for level in (*range(-4, 5), 37, 90, kind.lowest, kind.highest - 1, kind.highest):
        tie = real_code((level + HALF - zero_point) * scale, REAL)
        found += [tie, neighbour(tie, SINGLE, 1), neighbour(tie, SINGLE, -1)]
        found.append(real_code((level + Fraction(1, 5) - zero_point) * scale, REAL))
    return found


def special_points(kind: IntegerType) -> Iterator[Sample]:
    """Zero points that are no numbers, and odd scales beside one that is a float."""
    x = reals(REAL, [0.0, 1.0, -2.5] * 3, (3, 3))
    tensors = (x, reals(REAL, [1, 1, 1]), reals(FLOAT, [math.nan, math.inf, -math.inf]))
    flags = ("FloatZeroPoint", "NaN", "Infinity", "PerAxis")
    yield Sample(f"{FLOAT}-special", node(kind, 0, FLOAT), tensors, flags, ("nan", "infinity"))
    x, scales, _ = odd_channels(kind.name)
    points = reals(FLOAT, [Fraction(13, 4)] * len(scales.codes))
    every, roles = ("FloatZeroPoint", *ODD_FLAGS), ("nan", "infinity", "zero-scale")
    yield Sample(f"{FLOAT}-odd", node(kind, 0, FLOAT), (x, scales, points), every, roles)


def far_apart(kind: IntegerType) -> Iterator[Sample]:
    """Quotients and zero points beyond the type, whose sums are not; and quotients beyond int32 and int64."""
    powers = [Fraction(2) ** power for power in (20, 24, 41, 60, 100)]
    x = [sign * power + step for power in powers for sign in (1, -1) for step in (0, Fraction(1, 2), 3)]
    tensors = (
        reals(REAL, x, (len(powers), 6)),
        reals(REAL, [1] * len(powers)),
        reals(FLOAT, [-power for power in powers]),
    )
    flags = ("FloatZeroPoint", "WideSum", "Overflow", "Saturates", "PerAxis")
    yield Sample(f"{FLOAT}-far", node(kind, 0, FLOAT), tensors, flags, ("float-zero-point", "zero-point", "clamp"))
