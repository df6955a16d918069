"""Golden vectors of onnx.DequantizeLinear."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, SMALL_FLOAT_TYPES, FloatType
from tiebreak.golden.onnx_types import BYTES, CLASSIC_REALS, FLOAT4, FLOAT6, FLOAT8, INT2, OPSETS, SINCE, WORDS
from tiebreak.golden.samples import rounded_twice
from tiebreak.golden.samples.beside_midpoints import factors, odd_significands
from tiebreak.golden.samples.model import Sample, Tensor, bits, reals, scalar, small_scales_of
from tiebreak.golden.samples.ngraph_dequantize import every_class, integers_of_all_sizes, zero_points
from tiebreak.golden.samples.onnx_shapes import AXES, BLOCKS, LARGE_BLOCKS, RANK_1, SOME, TENSORS, ScaleLayout
from tiebreak.golden.vector_inputs.by_theme import scale_name

INPUTS = (*BYTES, "int32", *WORDS, *INT2, *FLOAT8, *FLOAT4, *FLOAT6)
LEFT_OFF = {  # types without a file, for brevity
    "float16": ("uint2", "float8_e4m3fnuz", "float8_e5m2fnuz", "int16", *FLOAT6),
    "bfloat16": ("int2", "float8_e4m3fnuz", "float8_e5m2fnuz", "uint16", *FLOAT6),
}
FILES = tuple(
    (quantized, real) for real in CLASSIC_REALS for quantized in INPUTS if quantized not in LEFT_OFF.get(real, ())
)
FULL = (("int8", "float32"), ("float8_e4m3fn", "float32"), ("uint4", "float16"), ("int32", "bfloat16"))
SCALES = (Fraction(1, 10), Fraction(-1, 7), Fraction(1))


def samples(quantized: str, real: str) -> Iterator[Sample]:
    yield from every_code(quantized, real)
    yield from zero_point_values(quantized, real)
    yield from special_scales(quantized, real)
    for laid in (*AXES, *TENSORS, *BLOCKS, *RANK_1) if (quantized, real) in FULL else (*SOME, TENSORS[0]):
        yield dequantize_layout(quantized, real, laid)
    for laid in LARGE_BLOCKS if quantized in ("int8", "uint4", "float8_e4m3fn") else ():
        yield dequantize_layout(quantized, real, laid)
    yield from twice(quantized, real)
    yield from twice_by_wider_scale(quantized, real)
    yield from scale_classes(quantized, real)
    yield from other_types(quantized, real)
    yield from versions(quantized, real)


def node_of(quantized: str, real: str, **more: Any) -> dict[str, Any]:
    return {"real": real, "quantized": quantized, **more}


def every(quantized: str) -> Tensor:
    """Every code of up to 8 bits, else telling ones."""
    if quantized in INTEGER_TYPES:
        return bits(quantized, integers_of_all_sizes(INTEGER_TYPES[quantized]))
    return bits(quantized, range(1 << SMALL_FLOAT_TYPES[quantized].bits))


def some(quantized: str) -> Tensor:
    """Every fifth code, and those at the end."""
    codes = every(quantized).codes
    return bits(quantized, codes if len(codes) <= 40 else [*codes[::5], *codes[-4:]])


def few(quantized: str, count: int, shape: tuple[int, ...] | None = None) -> Tensor:
    """Small values of both signs, where there are such."""
    if quantized in INTEGER_TYPES:
        kind = INTEGER_TYPES[quantized]
        low = max(kind.lowest, -8)
        size = min(kind.highest, low + 15) - low + 1
        return bits(quantized, [low + (7 * i) % size for i in range(count)], shape)
    return reals(quantized, [Fraction((7 * i) % 13 - 6, 2) for i in range(count)], shape)


def zero(quantized: str, value: int = 0, shape: tuple[int, ...] = ()) -> Tensor:
    if quantized in INTEGER_TYPES:
        return bits(quantized, [value] * math.prod(shape), shape)
    return reals(quantized, [Fraction(value)] * math.prod(shape), shape)


def own_role(quantized: str) -> tuple[str, ...]:
    """The role that an input type has of its own, if it has."""
    if quantized not in INTEGER_TYPES:
        return ("small-float",)
    few_bits = INTEGER_TYPES[quantized].bits <= 4
    return ("few-bits",) if few_bits else ("int32",) if quantized == "int32" else ()


def own_flags(quantized: str) -> tuple[str, ...]:
    if quantized not in INTEGER_TYPES:
        return ("SmallFloat",)
    return ("TwoBits",) if quantized.endswith("int2") else ("WideInteger",) if quantized == "int32" else ()


def every_code(quantized: str, real: str) -> Iterator[Sample]:
    """Every code against scales whose products are inexact, without a zero point."""
    node = node_of(quantized, real, zero_point=False)
    special = ("special-input",) if quantized in SMALL_FLOAT_TYPES else ()
    for scale in SCALES if real == "float32" else SCALES[:2]:
        flags = ("NoZeroPoint", *own_flags(quantized), *(("ScaleNotPowerOfTwo",) if scale != 1 else ()))
        flags += ("NegativeScale",) if scale < 0 else ()
        roles = ("product", "no-zero-point", "output-type", *own_role(quantized), *special)
        yield Sample(f"scale-{scale_name(scale)}", node, (every(quantized), scalar(real, scale)), flags, roles)


def zero_point_values(quantized: str, real: str) -> Iterator[Sample]:
    """Zero points at both ends of the range; of float types small ones and NaN."""
    node, third, x = node_of(quantized, real), scalar(real, Fraction(1, 3)), every(quantized)
    if quantized not in INTEGER_TYPES:
        for name, point in (("half", Fraction(1, 2)), ("minus-three", Fraction(-3)), ("zero", Fraction(0))):
            tensors = (few(quantized, 13), third, reals(quantized, [point], ()))
            yield Sample(f"zp-{name}", node, tensors, ("SmallFloat",), ("difference", "small-float"))
        nan = SMALL_FLOAT_TYPES[quantized].nan_bits
        if nan is not None:
            tensors = (few(quantized, 13), third, bits(quantized, [nan], ()))
            yield Sample("zp-nan", node, tensors, ("SmallFloat", "NaN"), ("special-zero-point",))
        return
    kind = INTEGER_TYPES[quantized]
    values = (0, 3, -1) if quantized == "int32" else zero_points(kind)
    flags = ("WideSum",) if kind.bits > 8 else ("RangeEdge",)
    for value in values:
        roles = ("int32-zero-point",) if quantized == "int32" and value else ("difference", "input-type")
        for scale in (Fraction(1), Fraction(1, 3)) if value in values[:1] and real == "float32" else (Fraction(1, 3),):
            tensors = (x, scalar(real, scale), zero(quantized, value))
            name = f"zp{value}-scale-{scale_name(scale)}"
            yield Sample(name, node, tensors, (*flags, *own_flags(quantized)), roles)
    tensors = (some(quantized), third, zero(quantized, 0 if quantized == "int32" else values[1], (1,)))
    yield Sample("zero-point-shape-1", node, tensors, flags, ("granularity",))


def special_scales(quantized: str, real: str) -> Iterator[Sample]:
    kind, x = FLOAT_TYPES[real], few(quantized, 16)
    if quantized in SMALL_FLOAT_TYPES and SMALL_FLOAT_TYPES[quantized].nan_bits is not None:
        x = bits(quantized, [*x.codes, *range(120, 130), *range(250, 256)])
    sign, normal = 1 << (kind.bits - 1), 1 << (kind.precision - 1)
    for name, code, flag, role in (
        ("subnormal", 3, "Subnormal", "product"),
        ("smallest-normal", normal, "Subnormal", "product"),
        ("largest", kind.largest_bits, "Overflow", "product"),
        ("infinite", kind.infinity_bits, "Infinity", "special-scale"),
        ("nan", kind.infinity_bits + 1, "NaN", "special-scale"),
        ("zero", 0, "ZeroScale", "zero-sign"),
        ("negative", sign | normal << 3, "NegativeScale", "zero-sign"),
    ):
        tensors = (x, bits(real, [code], ()), zero(quantized))
        yield Sample(f"special-{name}-scale", node_of(quantized, real), tensors, (flag,), (role,))
    for name, scale in small_scales_of(kind):
        tensors = (few(quantized, 16), scalar(real, scale), zero(quantized))
        yield Sample(name, node_of(quantized, real), tensors, ("SmallScale",), ("product",))
    if quantized in ("int16", "uint16", "int32"):
        wide = INTEGER_TYPES[quantized]
        ends = bits(quantized, [wide.lowest, wide.lowest + 1, wide.highest - 1, wide.highest])
        for value in (0,) if quantized == "int32" else (wide.lowest, wide.highest):
            tensors = (ends, scalar(real, Fraction(1, 1 << 12)), zero(quantized, value))
            roles = ("difference", "overflow")
            yield Sample(f"wide-difference-zp{value}", node_of(quantized, real), tensors, ("WideSum",), roles)


def dequantize_layout(quantized: str, real: str, laid: ScaleLayout, **more: Any) -> Sample:
    """Scales and zero points that all differ."""
    scale = reals(real, [1 + Fraction(j % 9, 8) for j in range(laid.scales)], laid.scale)
    if quantized in INTEGER_TYPES:
        low = 0 if quantized == "int32" else max(INTEGER_TYPES[quantized].lowest, -8)
        turns = 1 if quantized == "int32" else 3
        zeros = bits(quantized, [low + j % turns for j in range(laid.scales)], laid.scale)
    else:
        zeros = zero(quantized, 0, laid.scale)  # others are in zero_point_values: runtimes refuse them
    node = node_of(quantized, real, attributes=laid.attributes, **more)
    tensors = (few(quantized, laid.count, laid.shape), scale, zeros)
    return Sample(laid.name, node, tensors, (*laid.flags, *own_flags(quantized)), laid.roles)


def twice(quantized: str, real: str) -> Iterator[Sample]:
    """Products that float64 and float32, or float64 alone, round onto a midpoint of the output's type."""
    if quantized not in ("int16", "uint16", "int32"):
        return
    kind, float_type = INTEGER_TYPES[quantized], FLOAT_TYPES[real]
    lowest = 0 if quantized == "int32" else kind.lowest
    pairs = rounded_twice.products(float_type, kind.bits, 24)
    found = [(difference, significand) for difference, significand in pairs if difference + lowest <= kind.highest]
    if found:
        count, unit = len(found), rounded_twice.scale_unit(float_type, kind.bits)
        x = bits(quantized, [lowest + one for one in with_neighbours(found)], (count, 2))
        scale = reals(real, [significand * unit for _, significand in found])
        tensors = (x, scale, zero(quantized, lowest, (count,)))
        node = node_of(quantized, real, attributes={"axis": 0})
        yield Sample("rounded-once", node, tensors, ("RoundedTwice", "PerAxis"), ("product", "projection"))


def twice_by_wider_scale(quantized: str, real: str) -> Iterator[Sample]:
    """Products by a float32 scale that float32 rounds onto a midpoint of a narrower output's type, or float64 does."""
    if real == "float32":
        return
    lowest = 0 if quantized == "int32" or quantized not in INTEGER_TYPES else INTEGER_TYPES[quantized].lowest
    pairs = wider_products(quantized, FLOAT_TYPES[real])
    values = [Fraction(lowest + one) for one in with_neighbours(pairs)]
    scale = reals("float32", [Fraction(s, 1 << (d.bit_length() + 24)) for d, s in pairs])
    shape = (len(pairs), 2)
    x = bits(quantized, map(int, values), shape) if quantized in INTEGER_TYPES else reals(quantized, values, shape)
    node = node_of(quantized, real, scale="float32", attributes={"axis": 0, "output_dtype": real})
    flags, roles = ("RoundedTwice", "PerAxis", "MixedTypes"), ("product", "projection", "output-dtype")
    yield Sample("rounded-once-wider-scale", node, (x, scale, zero(quantized, lowest, shape[:1])), flags, roles)


def with_neighbours(pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Each difference and the one below, whose ordinary product refutes whoever rounds all of them one way."""
    return [one for difference, _ in pairs for one in (difference, difference - 1)]


def wider_products(quantized: str, real: FloatType) -> list[tuple[int, int]]:
    """Differences, each with a significand of a float32 scale."""
    held = INTEGER_TYPES[quantized].bits if quantized in INTEGER_TYPES else SMALL_FLOAT_TYPES[quantized].precision
    known = range(101, 117, 2) if held >= 8 else range(3, 1 << held, 2)
    each = -(-24 // len(known))
    pairs = [pair for first in known for pair in islice(factors((first,), real, rounded_twice.SINGLE, bits=24), each)]
    if quantized == "int32":
        found = factors(odd_significands(rounded_twice.SINGLE), real, rounded_twice.DOUBLE, bits=31)
        pairs += [(difference, significand) for significand, difference in islice(found, 2)]
    return pairs


def scale_classes(quantized: str, real: str) -> Iterator[Sample]:
    """Scales of every class per axis and in blocks, with zero points at the ends of the range."""
    classes = every_class(FLOAT_TYPES[real])
    kind, rows = INTEGER_TYPES.get(quantized), len(classes)
    ends = (0, 0) if kind is None or quantized == "int32" else (kind.lowest, kind.highest)
    points = [ends[j % 2] for j in range(rows)]
    for name, columns, attributes in (("axis", 3, {"axis": 0}), ("blocks", 5, {"axis": 1, "block_size": 3})):
        blocks = 1 if name == "axis" else 2
        shape, projected = (rows, columns), (rows,) if name == "axis" else (rows, blocks)
        offsets = [(-1 if point and point == ends[1] else 1) * (i % 3) for point in points for i in range(columns)]
        near = [point + d for point, d in zip(repeated(points, columns), offsets, strict=True)]
        x = bits(quantized, near, shape) if kind else few(quantized, rows * columns, shape)
        zeros = repeated(points, blocks)
        zero_points = bits(quantized, zeros, projected) if kind else zero(quantized, 0, projected)
        tensors = (x, reals(real, repeated(classes, blocks), projected), zero_points)
        flags = ("HugeScale", "Subnormal", "PerAxis" if name == "axis" else "Blocked")
        roles = ("product", "projection" if name == "axis" else "blocks")
        yield Sample(f"scale-classes-{name}", node_of(quantized, real, attributes=attributes), tensors, flags, roles)


def repeated(values: Sequence[Any], times: int) -> list[Any]:
    """Each value `times` times, one behind the other."""
    return [value for value in values for _ in range(times)]


def other_types(quantized: str, real: str) -> Iterator[Sample]:
    """output_dtype: the same as the scale's type, or another, powers of two among them."""
    attributes = {"output_dtype": real}
    x, none = some(quantized), zero(quantized)
    roles = ("output-dtype", "output-type")
    for name in CLASSIC_REALS:
        for scale in (Fraction(1, 10),) if name == real else (Fraction(1, 10), Fraction(4099, 4096)):
            tensors = (x, scalar(name, scale), none)
            node = node_of(quantized, real, scale=name, attributes=attributes)
            yield Sample(f"scale-of-{name}-{scale_name(scale)}", node, tensors, ("MixedTypes",), roles)
    if real == "float16":
        for value in (Fraction(1, 1 << 20), Fraction(1 << 17), Fraction(1, 1 << 30)):
            tensors = (few(quantized, 16), scalar("float32", value), none)
            node = node_of(quantized, real, scale="float32", attributes=attributes)
            flags = ("MixedTypes", "Overflow" if value > 1 else "Subnormal")
            yield Sample(f"scale-beyond-{scale_name(value)}", node, tensors, flags, roles)
    for code in (120, 131, 0, 254, 255):
        node = node_of(quantized, real, scale="float8_e8m0fnu", attributes=attributes)
        tensors = (few(quantized, 16), bits("float8_e8m0fnu", [code], ()), none)
        role = "special-scale" if code == 255 else "power-scale"
        yield Sample(f"scale-power-{code}", node, tensors, ("MixedTypes",), (role,))
    blocks = BLOCKS[1]
    made = dequantize_layout(quantized, real, blocks, scale="float8_e8m0fnu")
    powers = bits("float8_e8m0fnu", [125 + j % 5 for j in range(blocks.scales)], blocks.scale)
    node = made.node | {"attributes": blocks.attributes | attributes}
    tensors = (made.tensors[0], powers, made.tensors[2])
    yield Sample("blocks-of-powers", node, tensors, ("Blocked", "MixedTypes"), ("power-scale", "blocks"))


def versions(quantized: str, real: str) -> Iterator[Sample]:
    """The same node by every version of the operator that has it."""
    first = max(SINCE[quantized], 10 if real == "float32" else 19)
    for opset in OPSETS:
        if opset < first or (real != "float32" and opset > 19):
            continue
        tensors = (few(quantized, 16), scalar(real, Fraction(3, 10)), zero(quantized))
        flags = ("OtherVersion", *own_flags(quantized))
        yield Sample(f"opset-{opset}", node_of(quantized, real, opset=opset), tensors, flags, ("version",))
        if opset == 13:
            made = dequantize_layout(quantized, real, AXES[2], opset=opset)
            yield Sample(f"opset-{opset}-axis", made.node, made.tensors, (*made.flags, "OtherVersion"), ("version",))
