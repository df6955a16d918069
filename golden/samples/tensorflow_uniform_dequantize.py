"""Golden vectors of tensorflow.UniformDequantize: differences of up to 33 bits, products that float32 rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.samples import rounded_twice as found_products
from tiebreak.golden.samples.model import Sample, Tensor, bits
from tiebreak.golden.samples.ngraph_dequantize import every_class, integers_of_all_sizes
from tiebreak.golden.samples.tensorflow_uniform import SHAPES, SINGLE, ends_of, flag_of_shape, of, parameters, range_of

ALWAYS = ("difference", "product", "input-type", "output-type", "shape")
SCALES = (of("0.1"), of("0.3333333"), of("0.007"), of("12.3"), -of("0.142857"))


def samples(quantized: str, real: str) -> Iterator[Sample]:
    kind = INTEGER_TYPES[quantized]
    every = bits(quantized, integers_of_all_sizes(kind))
    for point in points_of(quantized):
        flags = ("WideSum",) if kind.bits > 8 or not kind.lowest <= point <= kind.highest else ("RangeEdge",)
        yield sample(f"scale-1-zp{point}", quantized, every, Fraction(1), point, flags)
        yield sample(f"scale-tenth-zp{point}", quantized, every, SCALES[0], point, ("ScaleNotPowerOfTwo", *flags))
    for scale in SCALES[1:]:
        flags = ("ScaleNotPowerOfTwo", *(("NegativeScale",) if scale < 0 else ()))
        yield sample(f"scale-{float(scale):.4g}", quantized, every, scale, points_of(quantized)[1], flags)
    yield from ranges(quantized)
    yield from scale_classes(quantized)
    yield from specials(quantized)
    yield from rounded_once(quantized)
    for shape, axis in SHAPES:
        yield of_shape(quantized, shape, axis)


def points_of(quantized: str) -> tuple[int, ...]:
    low, high = ends_of(quantized)
    beyond = (low - 1000, high + 1001, -(1 << 31), (1 << 31) - 1)
    found = (0, low // 2 + 5, low, high, *(beyond if quantized != "int32" else (1, -1)))
    return tuple(dict.fromkeys(found))


def sample(
    theme: str, quantized: str, x: Tensor, scale: Fraction | float, point: int, flags: Sequence[str],
    roles: Sequence[str] = (), ends: tuple[int, int] | None = None,
) -> Sample:  # fmt: skip
    node: dict[str, Any] = {"quantized": quantized, "attributes": range_of(*(ends or ends_of(quantized)))}
    tensors = (x, *parameters([scale], [point]))
    return Sample(theme, node, tensors, tuple(flags), (*ALWAYS, "per-tensor", *roles), independent=True)


def ranges(quantized: str) -> Iterator[Sample]:
    """Ends that the formula does not use: integers outside them are numbers like others."""
    low, high = ends_of(quantized)
    values = (low, low + 1, 0, 1, 5, 100, high - 1, high)
    for least, greatest in ((low + 1, high), (max(low, -4), 9), (high, low)):
        x = bits(quantized, values)
        yield sample(f"range-{least}-{greatest}", quantized, x, of("0.1"), 3, ("NarrowRange",), ("range",),
                     (least, greatest))  # fmt: skip


def scale_classes(quantized: str) -> Iterator[Sample]:
    """Scales from subnormal to the largest, each with small differences."""
    for n, scale in enumerate(every_class(SINGLE)):
        for sign in (1, -1):
            x = bits(quantized, (99, 100, 101, 102, 103, 97))
            flags = ("HugeScale", "Subnormal", *(("NegativeScale",) if sign < 0 else ()))
            yield sample(f"scale-class-{n}{'' if sign > 0 else '-negative'}", quantized, x, sign * scale, 100, flags,
                         ("overflow",))  # fmt: skip


def specials(quantized: str) -> Iterator[Sample]:
    x = bits(quantized, (3, 4, 5, 6))
    for name, scale, flag in (
        ("nan", math.nan, "NaN"),
        ("infinity", math.inf, "Infinity"),
        ("minus-infinity", -math.inf, "Infinity"),
        ("zero", 0.0, "ZeroScale"),
        ("minus-zero", -0.0, "ZeroScale"),
    ):
        yield sample(f"scale-{name}", quantized, x, scale, 4, (flag,), ("special", "zero-sign"))


def rounded_once(quantized: str) -> Iterator[Sample]:
    """Products that float64 rounds onto a midpoint of float32. A zero point makes differences of 8 bits as wide."""
    kind = INTEGER_TYPES[quantized]
    width = 32 if kind.bits == 32 else 31
    found = found_products.products(SINGLE, width, 9)
    unit = found_products.scale_unit(SINGLE, width)
    if kind.bits == 32:
        pairs = [(difference + kind.lowest, kind.lowest) for difference, _ in found]
    else:
        pairs = [(n, n - difference) for n, (difference, _) in enumerate(found)]
    x = bits(quantized, [value for value, _ in pairs])
    own = parameters([significand * unit for _, significand in found], [point for _, point in pairs], 0)
    node = {"quantized": quantized, "attributes": range_of(*ends_of(quantized)) | {"quantization_axis": 0}}
    yield Sample("rounded-once", node, (x, *own), ("RoundedTwice", "PerAxis"), (*ALWAYS, "projection"))


def of_shape(quantized: str, shape: tuple[int, ...], axis: int) -> Sample:
    """Scales and zero points that all differ along the axis."""
    count = 1 if axis < 0 else shape[axis]
    own = parameters([1 + Fraction(j % 9, 8) for j in range(count)], [6 + j % 7 for j in range(count)], axis)
    x = bits(quantized, [(7 * i) % 32 for i in range(math.prod(shape))], shape)
    attributes = range_of(*ends_of(quantized)) | ({} if axis < 0 else {"quantization_axis": axis})
    roles = ("per-tensor",) if axis < 0 else ("projection", "axis")
    name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}-{'none' if axis < 0 else axis}"
    node = {"quantized": quantized, "attributes": attributes}
    return Sample(name, node, (x, *own), (flag_of_shape(shape, axis),), (*ALWAYS, *roles))
