"""Golden vectors of onnx.QuantizeLinear beyond the plain quantize nodes, which have themes.

A file's second type with the suffix -further belongs to a pair of types that has a plain file too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tiebreak.golden.elements import (
    FLOAT_TYPES,
    INTEGER_TYPES,
    SMALL_FLOAT_TYPES,
    decode,
    encode,
    neighbour,
)
from tiebreak.golden.onnx_types import (
    CLASSIC_OUTPUTS,
    CLASSIC_REALS,
    FLOAT4,
    FLOAT6,
    FLOAT8,
    INT2,
    LARGEST_FOR_INFINITY,
    ONE_ZERO,
    OPSETS,
    SINCE,
)
from tiebreak.golden.samples.model import Sample, Tensor, bits, reals, scalar
from tiebreak.golden.samples.onnx_shapes import (
    AXES,
    BLOCKS,
    LARGE_BLOCKS,
    RANK_1,
    SOME,
    TENSORS,
    ScaleLayout,
)
from tiebreak.golden.vector_inputs.by_theme import scale_name

HALF = Fraction(1, 2)
NEW_OUTPUTS = (*INT2, *FLOAT8, *FLOAT4, *FLOAT6)
INT32_OUTPUTS = ("int8", "uint8", "int16", "uint4", "float8_e4m3fn")
NARROW = {
    "float16": ("float8_e4m3fnuz", "uint2", *FLOAT6),
    "bfloat16": ("float8_e5m2fnuz", "int2", *FLOAT6),
}  # outputs without a file, for brevity
NARROW_PLAIN = {"float16": ("uint4", "int16"), "bfloat16": ("int4", "uint16")}
FULL = ("int2", "float8_e4m3fn", "float4_e2m1fn")
SUFFIX = "-further"
FILES = (
    *(
        (real, output + SUFFIX)
        for real in CLASSIC_REALS
        for output in CLASSIC_OUTPUTS
        if output not in NARROW_PLAIN.get(real, ())
    ),
    *((real, output) for real in CLASSIC_REALS for output in NEW_OUTPUTS if output not in NARROW.get(real, ())),
    *(("int32", output) for output in INT32_OUTPUTS),
)


@dataclass(frozen=True)
class Pair:
    """Types of x and y."""

    real: str
    quantized: str

    @property
    def exact(self) -> bool:
        """Whether y is an integer."""
        return self.quantized in INTEGER_TYPES

    @property
    def middle(self) -> int:
        kind = INTEGER_TYPES.get(self.quantized)
        return 0 if kind is None or kind.signed else 1 << (kind.bits - 1)

    @property
    def span(self) -> int:
        """How far the range reaches from its middle; 6 for a float type."""
        kind = INTEGER_TYPES.get(self.quantized)
        return 6 if kind is None else kind.highest - self.middle

    def node(self, **more: Any) -> dict[str, Any]:
        return {"real": self.real, "quantized": self.quantized, **more}

    def x(self, values: Sequence[Fraction | float | int], shape: tuple[int, ...] | None = None) -> Tensor:
        if self.real == "int32":
            return bits("int32", [round(Fraction(value)) for value in values], shape)
        return reals(self.real, values, shape)

    def beside(self, values: Sequence[Fraction]) -> list[Fraction]:
        """Both neighbours of each value but 0 in a real type; none in int32."""
        if self.real == "int32":
            return []
        kind = FLOAT_TYPES[self.real]
        codes = [neighbour(encode(value, kind), kind, step) for value in values if value for step in (-1, 1)]
        return [Fraction(decode(code, kind)) for code in codes]

    def zero(self, value: int | Fraction, *, shape: tuple[int, ...] = ()) -> Tensor:
        count = math.prod(shape)
        return bits(self.quantized, [int(value)] * count, shape) if self.exact else self.floats([value] * count, shape)

    def floats(self, values: Sequence[int | Fraction], shape: tuple[int, ...]) -> Tensor:
        return reals(self.quantized, [Fraction(value) for value in values], shape)

    @property
    def scale(self) -> str:
        return "float32" if self.real == "int32" else self.real


def samples(real: str, output: str) -> Iterator[Sample]:
    pair = Pair(real, output.removesuffix(SUFFIX))
    if not pair.exact:
        yield from small_floats(pair)
    elif not output.endswith(SUFFIX):
        yield from whole(pair)
    for laid in layouts_of(pair, output.endswith(SUFFIX)):
        yield quantize_layout(pair, laid)
    yield from far_layouts(pair, output.endswith(SUFFIX))
    yield from named_output(pair)
    yield from precisions(pair)
    yield from other_scales(pair)
    yield from versions(pair)


def layouts_of(pair: Pair, has_plain_file: bool) -> tuple[ScaleLayout, ...]:
    if has_plain_file:
        return (*BLOCKS, *RANK_1) if pair.quantized in ("int8", "uint4") else SOME[2:]
    full = pair.real == "float32" and pair.quantized in FULL
    return (*AXES, *TENSORS, *BLOCKS, *RANK_1) if full else (*SOME, TENSORS[0])


def near_ties(pair: Pair, scale: Fraction, most: int) -> list[Fraction]:
    """Multiples of half a scale within the output's range of a zero point in the middle, and their neighbours in x."""
    reach = min(most, pair.span)
    quotients = [Fraction(n, 2) for n in range(-2 * reach - 3, 2 * reach + 4)]
    if pair.real == "int32":
        return sorted({Fraction(round(q * scale) + step) for q in quotients for step in (-1, 0, 1)})
    kind = FLOAT_TYPES[pair.real]
    codes = {neighbour(encode(q * scale, kind), kind, step) for q in quotients for step in (-1, 0, 1)}
    return sorted({Fraction(decode(code, kind)) for code in codes})


SCALES = (Fraction(1), Fraction(3), Fraction(1, 10), Fraction(1, 3), Fraction(-5, 8))
INT32_SCALES = (Fraction(1), Fraction(2), Fraction(48), Fraction(1, 10), Fraction(-6), Fraction(10**6))


def whole(pair: Pair) -> Iterator[Sample]:
    """Ties, range ends and special values, for pairs of types without a plain file."""
    role = "int32" if pair.real == "int32" else "two-bits"
    flag = ("TwoBits",) if pair.quantized.endswith("int2") else ()
    for scale in INT32_SCALES if pair.real == "int32" else SCALES:
        for zero in (pair.middle, pair.middle + 1):
            held = Fraction(decode(encode(scale, FLOAT_TYPES[pair.scale]), FLOAT_TYPES[pair.scale]))
            tensors = (pair.x(near_ties(pair, held, 20)), scalar(pair.scale, scale), pair.zero(zero))
            flags = ("Tie", "NearTie", "Saturates", *flag, *(("ZeroPointParity",) if zero % 2 else ()))
            name = f"ties-scale-{scale_name(scale)}-zp{zero}"
            yield Sample(name, pair.node(), tensors, flags, (role, "quotient", "round-first", "range"))
    yield from far(pair, role)
    lane = [Fraction(n, 2) for n in (-5, -3, -1, 1, 3, 5, 7)]
    x = pair.x([lane[i % 7] * (2 if pair.real == "int32" else 1) for i in range(131)])
    two = scalar(pair.scale, Fraction(2 if pair.real == "int32" else 1))
    yield Sample("lanes", pair.node(), (x, two, pair.zero(pair.middle)), ("Lane", "Tie", *flag), ("shape", role))


def far(pair: Pair, role: str) -> Iterator[Sample]:
    """Quotients beyond every integer type, NaN, infinities and zero scales."""
    zero = pair.zero(pair.middle + 1)
    if pair.real == "int32":
        ends = bits("int32", [-(2**31), -(2**31) + 1, -(2**24) - 1, 2**24 + 1, 2**31 - 64, 2**31 - 1])
        for name, divisor in (("one", Fraction(1)), ("tiny", Fraction(1, 1 << 100)), ("large", Fraction(2**28 + 2**5))):
            tensors = (ends, scalar(pair.scale, divisor), zero)
            yield Sample(f"far-{name}", pair.node(), tensors, ("Overflow", "Saturates", "WideInteger"), (role, "range"))
        return
    x: list[Fraction | float] = [Fraction(s * 2**n) for n in (0, 10, 15) for s in (1, -1)]
    samples: tuple[tuple[str, list[Fraction | float], Fraction | float, tuple[str, ...], str], ...] = (
        ("far", [*x, Fraction(60000), Fraction(-60000)], Fraction(1, 1000), ("Overflow", "Saturates"), "range"),
        ("nan", [math.nan, *x], Fraction(1), ("NaN",), "nan"),
        ("infinity", [math.inf, -math.inf, *x], Fraction(1), ("Infinity",), "infinity"),
        ("zero-scale", x, Fraction(0), ("ZeroScale",), "zero-scale"),
        ("nan-scale", x, math.nan, ("NaN",), "nan"),
        ("infinite-scale", x, math.inf, ("Infinity",), "infinity"),
    )
    for name, values, scale, flags, own in samples:
        tensors = (pair.x(values), scalar(pair.scale, scale), zero)
        yield Sample(f"special-{name}", pair.node(), tensors, flags, (own, role))


def quantize_layout(pair: Pair, laid: ScaleLayout) -> Sample:
    """Scales that all differ, quotients that are ties, integers and fractions; zero points that differ too."""
    scale_values = [1 + Fraction(j % 7, 2) for j in range(laid.scales)]
    reach = 2 * pair.span + 3
    step = 2 if pair.real == "int32" else 1
    x = [
        Fraction((7 * i) % (2 * min(reach, 24) + 1) - min(reach, 24), 2) * (1 + i % 3) * step for i in range(laid.count)
    ]
    zeros = [pair.middle + ((-1, 1, 0)[j % 3] if pair.exact else 0) for j in range(laid.scales)]
    zero = bits(pair.quantized, zeros, laid.scale) if pair.exact else pair.floats(zeros, laid.scale)
    tensors = (pair.x(x, laid.shape), reals(pair.scale, scale_values, laid.scale), zero)
    flags = (*laid.flags, *(() if pair.exact else ("SmallFloat",)))
    return Sample(laid.name, pair.node(attributes=laid.attributes), tensors, flags, laid.roles)


def far_layouts(pair: Pair, has_plain_file: bool) -> Iterator[Sample]:
    """Quotients of 2^31 and more in blocks, large ones too, and, without a plain file, at the ends and per axis."""
    for laid in (BLOCKS[1], BLOCKS[2], *(LARGE_BLOCKS if pair.quantized in ("int8", "uint4", *FULL) else ())):
        yield far_layout(pair, laid)
    if not has_plain_file:
        yield far_layout(pair, AXES[2])
        yield from far_last(pair)


def far_values(pair: Pair) -> tuple[list[Fraction], Fraction]:
    """Inputs whose quotients by the scale have magnitudes from 2^31 on, ordinary ones between them; and the scale."""
    powers, scale = {
        "float16": ((7, 8, 9, 15), Fraction(1, 1 << 24)),
        "int32": ((1, 2, 3, 20, 30), Fraction(1, 1 << 30)),
    }.get(pair.real, ((31, 32, 33, 63, 64, 100), Fraction(1)))
    far = [sign * Fraction(2) ** n for n in powers for sign in (1, -1)]
    near = [q * scale for q in (HALF, Fraction(3, 2), Fraction(-5, 2))] if pair.real != "int32" else [Fraction(0)]
    return [value for i, one in enumerate(far) for value in (one, near[i % len(near)])], scale


def far_layout(pair: Pair, laid: ScaleLayout) -> Sample:
    values, scale = far_values(pair)
    zeros = far_zero_points(pair)
    x = pair.x([values[(5 * i + i // 7) % len(values)] for i in range(laid.count)], laid.shape)
    scales = reals(pair.scale, [scale * (1 + j % 2) for j in range(laid.scales)], laid.scale)
    points = [zeros[j % len(zeros)] for j in range(laid.scales)]
    zero = bits(pair.quantized, points, laid.scale) if pair.exact else pair.floats(points, laid.scale)
    node, flags = pair.node(attributes=laid.attributes), ("Overflow", "Saturates", *laid.flags)
    roles = (*laid.roles, "range") if pair.exact else laid.roles
    return Sample(f"far-{laid.name}", node, (x, scales, zero), flags, roles)


def far_zero_points(pair: Pair) -> tuple[int, ...]:
    """Zero points of both parities and at both ends of the range; 0 for a float type."""
    kind = INTEGER_TYPES.get(pair.quantized)
    return (0,) if kind is None else tuple({pair.middle: 0, pair.middle + 1: 0, kind.lowest: 0, kind.highest: 0})


def far_last(pair: Pair) -> Iterator[Sample]:
    """A far quotient as the last element of arrays that do not fill their last byte, for each zero point."""
    values, scale = far_values(pair)
    far, ordinary = values[::2], values[1::2]
    for zero_point in far_zero_points(pair):
        for number, length in enumerate((1, 2, 3, 5, 7)):
            for turn in range(2):
                last = far[(2 * number + turn) % len(far)]
                x = pair.x([*(ordinary[i % len(ordinary)] for i in range(length - 1)), last])
                name = f"far-last-zp{zero_point}-of-{length}-{'minus' if turn else 'plus'}"
                tensors = (x, scalar(pair.scale, scale), pair.zero(zero_point))
                roles = ("range", "add") if pair.exact else ("quotient",)
                yield Sample(name, pair.node(), tensors, ("Overflow", "Saturates"), roles)


def named_output(pair: Pair) -> Iterator[Sample]:
    """output_dtype, with and without a zero point; and a zero point of shape [1] beside a scalar scale."""
    node = pair.node(attributes={"output_dtype": pair.quantized})
    halves = [Fraction(n, 2) for n in range(-9, 10)]
    x = pair.x(halves)
    one, zero = scalar(pair.scale, Fraction(1)), pair.zero(pair.middle)
    yield Sample("output-dtype", node, (x, one, zero), ("Tie",), ("output-dtype", "output-type"))
    yield Sample("output-dtype-no-zp", node | {"zero_point": False}, (x, one), ("NoZeroPoint",), ("output-dtype",))
    if beside := pair.beside(halves):
        tensors, flags = (pair.x(beside), one), ("NoZeroPoint", "NearTie")
        yield Sample("output-dtype-no-zp-beside", node | {"zero_point": False}, tensors, flags, ("output-dtype",))
    flat = pair.zero(pair.middle, shape=(1,))
    yield Sample("zero-point-shape-1", pair.node(), (x, one, flat), ("Tie",), ("granularity",))


def precisions(pair: Pair) -> Iterator[Sample]:
    """Inputs around ties and midpoints: the quotient lands on them in one precision and not in another."""
    scale = Fraction(7) if pair.real == "int32" else Fraction(1, 10)
    held = Fraction(decode(encode(scale, FLOAT_TYPES[pair.scale]), FLOAT_TYPES[pair.scale]))
    values = near_ties(pair, held, 40) if pair.exact else around_midpoints(pair, held, 5)
    values = values[:: max(1, len(values) // 48)]
    zero = pair.zero(pair.middle)
    for precision in CLASSIC_REALS:
        node = pair.node(attributes={"precision": precision})
        tensors = (pair.x(values), scalar(pair.scale, scale), zero)
        yield Sample(f"precision-{precision}", node, tensors, ("NearTie", "MixedTypes"), ("precision", "quotient"))
    if pair.real == "float32":
        huge = pair.x([Fraction(70000), Fraction(-70000), Fraction(10**9), Fraction(1), Fraction(1, 10**9)])
        node = pair.node(attributes={"precision": "float16"})
        tensors = (huge, scalar(pair.scale, Fraction(2)), zero)
        yield Sample("precision-overflow", node, tensors, ("Overflow", "MixedTypes"), ("precision",))


def other_scales(pair: Pair) -> Iterator[Sample]:
    """Scales of another type than x: a real one, a power of two of 8 bits, an integer."""
    zero = pair.zero(pair.middle)
    scale = Fraction(7) if pair.real == "int32" else Fraction(3, 10)
    for name in CLASSIC_REALS:
        if name != pair.scale:
            held = Fraction(decode(encode(scale, FLOAT_TYPES[name]), FLOAT_TYPES[name]))
            values = near_ties(pair, held, 24) if pair.exact else around_midpoints(pair, held, 7)
            values = values[:: max(1, len(values) // 48)]
            node = pair.node(scale=name)
            tensors = (pair.x(values), scalar(name, scale), zero)
            flags = ("NearTie", "MixedTypes")
            yield Sample(f"scale-of-{name}", node, tensors, flags, ("scale-precision", "real-type"))
    x = pair.x([Fraction(n, 2) * (2 if pair.real == "int32" else 1) for n in range(-17, 18)])
    for code in (126, 129, 0, 255):
        node = pair.node(scale="float8_e8m0fnu", attributes={"precision": "float32"})
        tensors = (x, bits("float8_e8m0fnu", [code], ()), zero)
        role = "special-scale" if code == 255 and not pair.exact else "power-scale"
        yield Sample(f"scale-power-{code}", node, tensors, ("MixedTypes",), (role,))
    for name, attributes, role in (
        ("scale-power-plain", {}, "division-type"),
        ("scale-int32-plain", {}, "division-type"),
        ("scale-int32-precision", {"precision": "float32"}, "precision"),
    ):
        kind = "float8_e8m0fnu" if "power" in name else "int32"
        tensors = (x, bits(kind, [128 if "power" in name else 3], ()), zero)
        yield Sample(name, pair.node(scale=kind, attributes=attributes), tensors, ("MixedTypes",), (role,))


def versions(pair: Pair) -> Iterator[Sample]:
    """The same node by every version of the operator that has it."""
    first = max(SINCE[pair.quantized], 10 if pair.real in ("float32", "int32") else 19)
    x = pair.x([Fraction(n, 2) for n in range(-7, 8)])
    for opset in OPSETS:
        if opset < first or (pair.real != "float32" and opset > 19) or (pair.real == "int32" and opset in (19, 21)):
            continue  # there an int32 x has an int32 scale
        tensors = (x, scalar(pair.scale, Fraction(1)), pair.zero(pair.middle))
        yield Sample(f"opset-{opset}", pair.node(opset=opset), tensors, ("OtherVersion", "Tie"), ("version",))
        if opset == 13:
            laid = AXES[2]
            made = quantize_layout(pair, laid)
            node = made.node | {"opset": opset}
            yield Sample(f"opset-{opset}-axis", node, made.tensors, ("OtherVersion", "PerAxis"), ("version", "axis"))


def around_midpoints(pair: Pair, scale: Fraction, step: int, *, negative: int = 5) -> list[Fraction]:
    """Every `step`-th value and midpoint of a small float type times a scale, and their neighbours in x."""
    kind = SMALL_FLOAT_TYPES[pair.quantized]
    values = [Fraction(decode(code, kind)) for code in range(kind.largest_bits + 1)]
    targets = sorted({*values, *((a + b) / 2 for a, b in pairwise(values))})
    last = values[-1] + (values[-1] - values[-2]) / 2  # from here on it is beyond the type
    chosen = [*targets[::step], *(-target for target in targets[:: step * negative]), last, -last, values[-1] * 2]
    if pair.real == "int32":
        return sorted({Fraction(round(target * scale) + d) for target in chosen for d in (-1, 0, 1)})
    real = FLOAT_TYPES[pair.real]
    codes = {neighbour(encode(target * scale, real), real, d) for target in chosen for d in (-1, 0, 1)}
    return sorted(Fraction(v) for v in {decode(code, real) for code in codes} if not isinstance(v, float))


def small_floats(pair: Pair) -> Iterator[Sample]:
    """Every midpoint of the type, what is beyond it with and without saturation, NaN, infinities and zeros."""
    kind = SMALL_FLOAT_TYPES[pair.quantized]
    zero, eight, role = pair.zero(0), kind.bits == 8, f"float{kind.bits}"
    for scale, step in ((Fraction(1), 1), (Fraction(3), 7), (Fraction(1, 10), 11)):
        held = Fraction(decode(encode(scale, FLOAT_TYPES[pair.scale]), FLOAT_TYPES[pair.scale]))
        tensors = (pair.x(around_midpoints(pair, held, step)), scalar(pair.scale, scale), zero)
        flags = ("SmallFloat", "Tie", "NearTie")
        yield Sample(f"midpoints-{scale_name(scale)}", pair.node(), tensors, flags, (role, "quotient"))
    largest = Fraction(decode(kind.largest_bits, kind))
    factors = [Fraction(n, 64) for n in (63, 64, 65, 66, 67, 68, 69, 70, 72, 96, 128, 640)]
    beyond = [s * largest * f for f in factors for s in (1, -1)]
    beyond = [v for v in beyond if abs(v) < 65000]
    specials: list[Fraction | float] = [*beyond]
    if pair.real != "int32":
        specials += [math.inf, -math.inf, 0.0, -0.0, Fraction(1, 1 << 20), Fraction(-1, 1 << 20)]
        specials += [math.nan] if eight else []
    for saturate in (True, False):
        node = pair.node(attributes={"saturate": saturate})
        roles = ("saturate", "float8-infinity", "float8-nan") if saturate else ("no-saturate", "float8-infinity")
        flags = ("SmallFloat", "Saturates", *(() if saturate else ("Unsaturated",)))
        tensors = (pair.x(specials), scalar(pair.scale, Fraction(1)), zero)
        yield Sample(f"beyond-{'' if saturate else 'un'}saturated", node, tensors, flags, roles if eight else (role,))
    if pair.quantized in ONE_ZERO:
        given = (pair.x([math.inf, 1, -math.inf]), scalar(pair.scale, Fraction(-2)), zero)
        own = ("SmallFloat", "Infinity", "NegativeScale", "OtherVersion")
        for opset in (LARGEST_FOR_INFINITY - 1, LARGEST_FOR_INFINITY):
            node = pair.node(opset=opset)
            yield Sample(f"infinities-opset-{opset}", node, given, own, ("float8-infinity",))
    yield from odd_floats(pair)


def odd_floats(pair: Pair) -> Iterator[Sample]:
    """Zero points other than 0, scales that are no numbers, and NaN in a type without it."""
    x = [Fraction(n, 2) for n in range(-6, 7)]
    one, zero = scalar(pair.scale, Fraction(1)), pair.zero(0)
    yield Sample("zero-point-1", pair.node(), (pair.x(x), one, pair.zero(1)), ("SmallFloat",), ("float-zero-point",))
    yield Sample("zeros", pair.node(), (pair.x([0, 0, 1]), one, zero), ("SmallFloat",), ("zero-sign",))
    if pair.real != "int32":
        small = [Fraction(sign, 1 << power) for power in (20, 30) for sign in (1, -1)]
        yield Sample("small-zeros", pair.node(), (pair.x(small), one, zero), ("SmallFloat", "Tiny"), ("small-zero",))
    for name, scale, flag, role in (
        ("zero", Fraction(0), "ZeroScale", "zero-scale"),
        ("nan", math.nan, "NaN", "special-scale"),
        ("infinite", math.inf, "Infinity", "special-scale"),
        ("negative", Fraction(-2), "NegativeScale", "quotient"),
        ("subnormal", Fraction(1, 1 << 140), "Subnormal", "quotient"),
    ):
        tensors = (pair.x(x), scalar(pair.scale, scale), zero)
        yield Sample(f"scale-{name}", pair.node(), tensors, ("SmallFloat", flag), (role,))
    if SMALL_FLOAT_TYPES[pair.quantized].nan_bits is None and pair.real != "int32":
        tensors = (pair.x([math.nan, 1]), one, zero)
        yield Sample("nan", pair.node(), tensors, ("SmallFloat", "NaN"), ("float4-nan",))
