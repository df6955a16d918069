"""Golden vectors of stablehlo.uniform_dequantize: differences at all ends, products that the expressed type rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.samples import rounded_twice as found_products
from tiebreak.golden.samples.model import Sample, Tensor, bits
from tiebreak.golden.samples.ngraph_dequantize import every_class, integers_of_all_sizes
from tiebreak.golden.samples.stablehlo import SHAPES, dimension, middle, nearest, quantized_with, storage
from tiebreak.golden.samples.tensorflow_uniform import ends_of, flag_of_shape

FILES = (
    *((kind, "float32") for kind in ("int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32")),
    ("int8", "float16"),
    ("int32", "bfloat16"),
)
ALWAYS = ("difference", "product", "output-type", "scales", "points", "left-off", "shape")
SCALES = ("0.1", "0.3333333", "0.007", "12.3")


def samples(quantized: str, real: str) -> Iterator[Sample]:
    every = bits(quantized, integers_of_all_sizes(INTEGER_TYPES[quantized]))
    for point in points_of(quantized):
        flags = ("WideSum", "RangeEdge")
        yield sample(f"scale-1-zp{point}", quantized, real, every, Fraction(1), point, flags)
        yield sample(f"scale-tenth-zp{point}", quantized, real, every, Fraction(1, 10), point,
                     ("ScaleNotPowerOfTwo", *flags))  # fmt: skip
    for text in SCALES[1:]:
        yield sample(f"scale-{text}", quantized, real, every, Fraction(text), points_of(quantized)[1],
                     ("ScaleNotPowerOfTwo",))  # fmt: skip
    low, high = ends_of(quantized)
    narrow = bits(quantized, (low + 1, low + 2, middle(quantized), high - 1))
    yield sample("narrow", quantized, real, narrow, Fraction(1, 10), middle(quantized), ("NarrowRange",),
                 ("range", "ends"), **storage(low + 1, high - 1))  # fmt: skip
    for n, scale in enumerate(every_class(FLOAT_TYPES[real])):
        x = bits(quantized, [max(low, middle(quantized) + k) for k in (-2, -1, 0, 1, 2, 3)])
        yield sample(f"scale-class-{n}", quantized, real, x, scale, middle(quantized), ("HugeScale", "Subnormal"))
    for shape, axis in SHAPES:
        yield of_shape(quantized, real, shape, axis)
    if INTEGER_TYPES[quantized].bits == 32:
        yield rounded_once(quantized, real)


def rounded_once(quantized: str, real: str) -> Sample:
    """Products that a wider type rounds onto a midpoint of the expressed one."""
    kind, expressed = INTEGER_TYPES[quantized], FLOAT_TYPES[real]
    found = found_products.products(expressed, 32, 9)
    unit = found_products.scale_unit(expressed, 32)
    x = bits(quantized, [difference + kind.lowest for difference, _ in found])
    scales = [significand * unit for _, significand in found]
    own = quantized_with(real, quantized, scales, [kind.lowest] * len(found), 0)
    node = {"real": real, "quantized": quantized, "attributes": dimension(0)}
    return Sample("rounded-once", node, (x, *own), ("RoundedTwice", "PerAxis"), (*ALWAYS, "projection", "axis"))


def points_of(quantized: str) -> tuple[int, ...]:
    low, high = ends_of(quantized)
    return tuple(dict.fromkeys((middle(quantized), middle(quantized) + 3, low, high)))


def sample(
    theme: str, quantized: str, real: str, x: Tensor, scale: Fraction, point: int, flags: Sequence[str],
    roles: Sequence[str] = (), **attributes: Any,
) -> Sample:  # fmt: skip
    node = {"real": real, "quantized": quantized, "attributes": attributes}
    tensors = (x, *quantized_with(real, quantized, [nearest(scale, real)], [point]))
    return Sample(theme, node, tensors, tuple(flags), (*ALWAYS, "per-tensor", "zero-sign", *roles), independent=True)


def of_shape(quantized: str, real: str, shape: tuple[int, ...], axis: int) -> Sample:
    """Scales and zero points that all differ along the dimension."""
    low, high = ends_of(quantized)
    count = 1 if axis < 0 else shape[axis]
    points = [min(middle(quantized) + j % 7, high) for j in range(count)]
    own = quantized_with(real, quantized, [1 + Fraction(j % 9, 8) for j in range(count)], points, axis)
    x = bits(quantized, [low + (7 * i) % min(32, high - low + 1) for i in range(math.prod(shape))], shape)
    roles = ("per-tensor",) if axis < 0 else ("projection", "axis")
    name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}-{'none' if axis < 0 else axis}"
    node = {"real": real, "quantized": quantized, "attributes": dimension(axis)}
    return Sample(name, node, (x, *own), (flag_of_shape(shape, axis),), (*ALWAYS, *roles))
