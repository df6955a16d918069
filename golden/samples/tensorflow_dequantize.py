"""Golden vectors of tensorflow.Dequantize."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType
from tiebreak.golden.samples.beside_midpoints import means, odd_significands, one_each
from tiebreak.golden.samples.model import Sample, integers, reals, scalar
from tiebreak.golden.samples.rounded_twice import DOUBLE, SINGLE
from tiebreak.golden.samples.tensorflow_quantize_v2 import SHAPES, neighbour_value, plain_range, range_tensors

MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
ROLES = {
    "MIN_COMBINED": ("combined", "range-of-T", "offset"),
    "MIN_FIRST": ("range-scale", "min-first", "double-steps"),
    "SCALED": ("scaled", "signed-factor", "unsigned-factor"),
}
RANGES: tuple[tuple[str, Fraction, Fraction], ...] = (
    ("unit", Fraction(0), Fraction(1)),
    ("0-6", Fraction(0), Fraction(6)),
    ("tenths", Fraction(-1, 10), Fraction(3, 10)),
    ("thirds", Fraction(-1, 3), Fraction(2, 3)),
    ("tens", Fraction(-10), Fraction(9)),
    ("above", Fraction(100), Fraction(101)),
    ("below", Fraction(-7, 5), Fraction(-1, 7)),
    ("lopsided", Fraction(-1, 1000), Fraction(10**6)),
    ("wide", Fraction(-(10**30)), Fraction(7 * 10**29)),
)


def samples(quantized: str, real: str) -> Iterator[Sample]:
    kind = INTEGER_TYPES[quantized]
    for mode in MODES if real == "float32" else MODES[:1]:
        yield from every_integer(kind, real, mode)
        yield from specials(kind, real, mode)
        for shape, axis in SHAPES:
            yield per_axis(kind, real, mode, shape, axis)
        yield from shape_samples(kind, real, mode)
        yield from rounded_once(kind, real, mode)
    yield from defaults(kind, real)
    if real == "float32":
        yield from narrow(kind)
        yield from one_sided(kind)


def integers_of_all_sizes(kind: IntegerType) -> list[int]:
    """Integers of every size: the ends, zero, powers of two and their neighbours, and some in between."""
    powers = {sign * ((1 << n) + d) for n in range(33) for sign in (1, -1) for d in (-1, 0, 1)}
    ends = {end + d for end in (kind.lowest, kind.highest, 0) for d in range(-4, 5)}
    width = kind.highest - kind.lowest
    even = {kind.lowest + width * i // 29 for i in range(30)}
    return sorted(v for v in powers | ends | even if kind.lowest <= v <= kind.highest)


def node_of(kind: IntegerType, real: str, mode: str, **attributes: Any) -> dict[str, Any]:
    dtype = {"dtype": real} if real != "float32" else {}
    return {"real": real, "quantized": kind.name, "attributes": {"mode": mode} | dtype | attributes}


def every_integer(kind: IntegerType, real: str, mode: str) -> Iterator[Sample]:
    """Every telling integer on ranges on and off the binary grid."""
    x = integers(kind.name, integers_of_all_sizes(kind))
    undecided = mode == "MIN_COMBINED" and kind.signed and kind.bits > 8
    roles = ("signed-offset",) if undecided else (*ROLES[mode], "no-axis", "input-type", "output-type", "range-type")
    same = (Fraction(kind.lowest), Fraction(kind.highest))
    for label, low, high in (("identity", *same), *RANGES):
        flags: tuple[str, ...] = ("RangeEdge", *(() if label == "identity" else ("ScaleNotPowerOfTwo",)))
        flags += ("ZeroOutside",) if low > 0 or high < 0 else ()
        extra = ("bfloat16-mode",) if real == "bfloat16" else ()
        tensors = (x, *range_tensors(low, high))
        yield Sample(f"{mode.lower()}-{label}", node_of(kind, real, mode), tensors, flags, (*roles, *extra))


def specials(kind: IntegerType, real: str, mode: str) -> Iterator[Sample]:
    """Ranges without width, inverted, NaN, infinite, huge and subnormal; results that are zero."""
    node = node_of(kind, real, mode)
    x = integers(kind.name, integers_of_all_sizes(kind)[::9])
    largest, tiny = 3.4028234663852886e38, 2.0**-126
    for label, low, high, flags, role in (
        ("nan-range", math.nan, 1.0, (), "special"),
        ("infinite-range", -1.0, math.inf, (), "special"),
        ("inverted", 2.0, -2.0, (), "inverted"),
        ("no-width", 3.0, 3.0, ("NoWidth",), ROLES[mode][0]),
        ("no-width-zero", 0.0, 0.0, ("NoWidth",), "zero-sign"),
        ("overflowing-range", -largest, largest, ("Overflow",), "overflow"),
        ("huge-range", -largest / 2, largest / 512, ("Overflow",), "overflow"),
        ("huge-above", 0.0, largest, ("Overflow",), "overflow"),
        ("subnormal", -tiny / 4, tiny / 2, ("Subnormal",), ROLES[mode][0]),
        ("small-normal", -tiny * 128, tiny * 127, ("Subnormal",), ROLES[mode][0]),
        ("zero-end", -0.0, 5.0, (), "zero-sign"),
        ("zero-inside", -1.0, 1.0, (), "zero-sign"),
    ):
        yield Sample(f"{mode.lower()}-{label}", node, (x, *plain_range(low, high)), flags, (role,))


def per_axis(kind: IntegerType, real: str, mode: str, shape: tuple[int, ...], axis: int) -> Sample:
    """Ranges that all differ along the axis."""
    size, count = shape[axis], math.prod(shape)
    low = [Fraction(-(3 + j % 7), 4) for j in range(size)]
    high = [Fraction(5 + (3 * j) % 11, 3) for j in range(size)]
    step = (kind.highest - kind.lowest) // 16
    x = integers(kind.name, [kind.lowest + 5 + step * ((7 * i) % 16) for i in range(count)], shape)
    tensors = (x, reals("float32", low, (size,)), reals("float32", high, (size,)))
    flags = ("PerAxis", *(() if count else ("Empty",)))
    label = f"{mode.lower()}-axis{axis}-{'x'.join(map(str, shape))}"
    return Sample(label, node_of(kind, real, mode, axis=axis), tensors, flags, ("axis", "shape"))


def shape_samples(kind: IntegerType, real: str, mode: str) -> Iterator[Sample]:
    node, ends = node_of(kind, real, mode), range_tensors(Fraction(-2), Fraction(5))
    tensors = (scalar(kind.name, kind.highest // 3), *ends)
    yield Sample(f"{mode.lower()}-rank-0", node, tensors, ("Scalar",), ("shape",))
    x = integers(kind.name, [kind.lowest + i for i in range(12)], (2, 3, 2))
    yield Sample(f"{mode.lower()}-rank-3", node, (x, *ends), (), ("shape",))
    yield Sample(f"{mode.lower()}-empty", node, (integers(kind.name, [], (2, 0)), *ends), ("Empty",), ("shape",))
    x = integers(kind.name, [kind.lowest + (i * 29) % 256 for i in range(131)])
    yield Sample(f"{mode.lower()}-lanes", node, (x, *ends), ("Lane",), ("shape", ROLES[mode][0]))


def rounded_once(kind: IntegerType, real: str, mode: str) -> Iterator[Sample]:
    """Results that float64, or float32 where the output is bfloat16, rounds onto a midpoint of the output's type."""
    roles = (ROLES[mode][0], "output-type")
    for steps, low, high in levels_rounded_twice(kind, real, mode):
        tensors = (integers(kind.name, [kind.lowest * (mode != "SCALED") + steps]), *range_tensors(low, high))
        name = f"{mode.lower()}-rounded-once-{steps}"
        yield Sample(name, node_of(kind, real, mode), tensors, ("RoundedTwice",), roles)


def levels_rounded_twice(kind: IntegerType, real: str, mode: str) -> Iterator[tuple[int, Fraction, Fraction]]:
    """Steps from the lowest value on, in SCALED from 0, with ends of the range; where a document defines them."""
    wide = kind.highest - kind.lowest
    if mode == "SCALED":
        yield from scaled_levels(kind) if kind.name == "int32" else ()
    elif mode == "MIN_FIRST" or kind.name not in ("int16", "int32"):
        known = means(wide, range(wide // 2 + 1, wide), FLOAT_TYPES["float32"])
        yield from islice(known, 4) if real == "float32" else narrow_levels(wide)


def scaled_levels(kind: IntegerType) -> Iterator[tuple[int, Fraction, Fraction]]:
    """Only 32 bits are enough, and nearly all of them are needed."""
    single = FLOAT_TYPES["float32"]
    for end, twice in islice(one_each(odd_significands(single), single, DOUBLE, bits=32, divisor=kind.highest), 8):
        if not twice % 2:
            yield twice // 2, Fraction(-end, 1 << 25), Fraction(end, 1 << 24)


def narrow_levels(wide: int) -> Iterator[tuple[int, Fraction, Fraction]]:
    """By an end that float32 holds and bfloat16 does not, and by one so near 0 that float64 sums lose it."""
    real = FLOAT_TYPES["bfloat16"]
    found = one_each(range(wide // 3 | 1, wide, 2), real, SINGLE, bits=24, divisor=wide)
    yield from ((steps, Fraction(0), Fraction(end, 1 << 24)) for steps, end in islice(found, 8))
    for part, middle in ((3, 259), (5, 389), (17, 501)):
        yield wide // part, Fraction(2 - middle % 4, 1 << 70), Fraction(part * middle, 1 << 10)


def defaults(kind: IntegerType, real: str) -> Iterator[Sample]:
    dtype = {"dtype": real} if real != "float32" else {}
    node = {"real": real, "quantized": kind.name, "attributes": dtype}
    tensors = (integers(kind.name, integers_of_all_sizes(kind)), *range_tensors(Fraction(-3, 7), Fraction(11, 9)))
    yield Sample("defaults", node, tensors, ("ScaleNotPowerOfTwo",), ("combined", "output-type", "no-axis"))


def one_sided(kind: IntegerType) -> Iterator[Sample]:
    """SCALED on ranges wholly above or below zero: a side with the other sign must not enter the factor."""
    x = integers(kind.name, [*integers_of_all_sizes(kind)[::2], kind.lowest, kind.highest])
    # If only magnitudes were compared, the end nearer to zero would decide.
    near = {8: Fraction(-995, 100), 16: Fraction(-99999, 10000), 32: Fraction(-10)}[kind.bits]
    for label, low, high in (
        ("above", Fraction(200), Fraction(400)),
        ("just-above", -near, Fraction(10)),
        ("below", Fraction(-10), near),
    ):
        for narrowed in (True, False):
            node = node_of(kind, "float32", "SCALED", narrow_range=narrowed)
            flags = ("ZeroOutside", "OneSide", "RangeEdge", *(("NarrowRange",) if narrowed else ()))
            name = f"scaled-{'narrow' if narrowed else 'full'}-wholly-{label}-zero"
            roles = (*(("narrow",) if narrowed else ()), "signed-factor", "unsigned-factor")
            yield Sample(name, node, (x, *range_tensors(low, high)), flags, roles)


def narrow(kind: IntegerType) -> Iterator[Sample]:
    """narrow_range with either side larger, with nearly equal sides, and in modes that ignore it."""
    x = integers(kind.name, integers_of_all_sizes(kind))
    high = Fraction(kind.highest)
    for label, low, top in (
        ("even", -high, high),
        ("min-side", Fraction(-10), Fraction(9)),
        ("max-side", Fraction(-9), Fraction(10)),
        ("nearly-even", -high / 3, neighbour_value(high / 3, 1)),
        ("nearly-even-below", neighbour_value(-high / 3, -1), high / 3),
        ("nearly-wide", Fraction(kind.lowest or -1) / 3, high / 3),
    ):
        tensors = (x, *range_tensors(low, top))
        roles = ("narrow", "signed-factor", "unsigned-factor")
        for narrowed in (True, False):
            node = node_of(kind, "float32", "SCALED", narrow_range=narrowed)
            name = f"scaled-{'narrow' if narrowed else 'full'}-{label}"
            yield Sample(name, node, tensors, ("NarrowRange", "RangeEdge"), roles)
    for mode in MODES[:2]:
        node = node_of(kind, "float32", mode, narrow_range=True)
        tensors = (x, *range_tensors(Fraction(-10), Fraction(9)))
        yield Sample(f"{mode.lower()}-narrow", node, tensors, ("NarrowRange",), ("narrow",))
