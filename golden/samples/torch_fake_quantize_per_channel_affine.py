"""Golden vectors of torch.fake_quantize_per_channel_affine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from tiebreak.golden.samples import torch_fake_quantize_per_tensor_affine as per_tensor
from tiebreak.golden.samples.model import Sample, bits, integers, reals
from tiebreak.golden.samples.torch_quantize_per_channel import ODD_FLAGS, SHAPES, odd_channels
from tiebreak.golden.samples.torch_quantize_per_tensor import SCALES, in_float32, scattered

REAL = per_tensor.REAL
FLOATS = ("float32", "float16")
ROLES = (*per_tensor.ROLES, "axis", "channels")


def samples(real: str, output_type: str) -> Iterator[Sample]:
    for low, high, points in per_tensor.DOMAINS:
        for zero_point in points:
            yield every_scale(low, high, zero_point)
    yield from per_shape()
    for kind in FLOATS:
        yield from fractional(kind)
    yield odd()
    yield rounded_once()


def every_scale(low: int, high: int, zero_point: int) -> Sample:
    """A channel for each scale, with inputs made for it."""
    scales = [in_float32(decimal) for _, decimal, _ in SCALES]
    columns = [per_tensor.telling(low, high, scale, zero_point) for scale in scales]
    width = min(map(len, columns))
    x = bits(REAL, [code for column in columns for code in column[:width]], (len(scales), width))
    tensors = (x, reals(REAL, scales), integers("int32", [zero_point] * len(scales)))
    flags = ("NearTie", "Tie", "ScaleNotPowerOfTwo", "Reciprocal", *per_tensor.FLAGS, "PerAxis")
    return Sample(f"scales-{low}-{high}-{zero_point}", per_tensor.node(low, high, axis=0), tensors, flags, ROLES)


def per_shape() -> Iterator[Sample]:
    """Scales and zero points that differ from channel to channel."""
    for shape, axis in SHAPES:
        depth = shape[axis]
        scales = reals(REAL, [Fraction(1, 10) + Fraction(3 * n, 7) for n in range(depth)])
        points = integers("int32", [(7 * n) % 11 - 4 for n in range(depth)])
        flags = ("PerAxis", *(("Empty",) if 0 in shape else ("Lane",) if 67 in shape else ()))
        name = f"axis-{axis}-{'x'.join(map(str, shape))}"
        node = per_tensor.node(-20, 20, axis=axis)
        yield Sample(name, node, (scattered(shape), scales, points), flags, ("axis", "channels", "shape"))


def fractional(kind: str) -> Iterator[Sample]:
    """Zero points that are floats, whole and not: the level is no integer where they are not."""
    points: list[Fraction | float | int] = [Fraction(0), Fraction(5), Fraction(5, 4), -Fraction(3, 8), Fraction(1, 2)]
    node = per_tensor.node(0, 15, axis=0, zero_point_type=kind)
    for name, decimal in (("one", "1"), ("tenth", "0.1"), ("step", "0.640625")):
        scale = in_float32(decimal)
        row = [Fraction(n, 4) * scale for n in (-9, -6, -2, -1, 0, 1, 2, 3, 6, 9, 10, 28, 41, 58, 59, 60, 62, 70)]
        x = reals(REAL, row * len(points), (len(points), len(row)))
        tensors = (x, reals(REAL, [scale] * len(points)), reals(kind, points))
        roles = ("float-zero-point", "add", "subtract", "nearest", "clamp")
        yield Sample(f"{kind}-{name}", node, tensors, ("FloatZeroPoint", "PerAxis"), roles)
    yield special(kind)


def special(kind: str) -> Sample:
    """Zero points that are no numbers."""
    node = per_tensor.node(0, 15, axis=0, zero_point_type=kind)
    x = reals(REAL, [0.0, 1.0, 2.5] * 3, (3, 3))
    tensors = (x, reals(REAL, [1, 1, 1]), reals(kind, [math.nan, math.inf, -math.inf]))
    return Sample(f"{kind}-special", node, tensors, ("FloatZeroPoint", "NaN", "Infinity"), ("nan", "infinity"))


def odd() -> Sample:
    """A channel of each odd scale, and odd inputs."""
    roles = ("nan", "infinity", "zero-scale", "zero-sign")
    return Sample("odd", per_tensor.node(0, 255, axis=0), odd_channels("int32"), ODD_FLAGS, roles)


def rounded_once() -> Sample:
    """A scale and a zero point for each channel: what the bound leaves of them float64 rounds onto a midpoint."""
    pairs = per_tensor.wide_products()
    scales, points = [scale for _, scale in pairs], [per_tensor.MOST - difference for difference, _ in pairs]
    tensors = (reals(REAL, [Fraction(2) ** 40] * len(pairs)), reals(REAL, scales), integers("int32", points))
    flags, roles = ("RoundedTwice", "Saturates", "PerAxis"), ("clamp", "subtract", "product", "channels")
    return Sample("rounded-once", per_tensor.node(0, per_tensor.MOST, axis=0), tensors, flags, roles)
