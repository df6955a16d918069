"""Golden vectors of torch.fake_quantize_per_tensor_affine; the per-channel form takes grids and values from here."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, neighbour
from tiebreak.golden.samples.beside_midpoints import one_each
from tiebreak.golden.samples.model import Sample, Tensor, bits, real_code, reals, scalar
from tiebreak.golden.samples.rounded_twice import DOUBLE
from tiebreak.golden.samples.torch_quantize_per_tensor import EXTREMES, SCALES, SHAPES, flags_of, in_float32, scattered

REAL = "float32"
SINGLE = FLOAT_TYPES[REAL]
HALF = Fraction(1, 2)
MOST = (1 << 31) - 1
# Domains: quant_min, quant_max and zero points of each.
DOMAINS: tuple[tuple[int, int, tuple[int, ...]], ...] = (
    (0, 255, (0, 101, 128, 255)),
    (-128, 127, (0, -3, -128)),
    (-127, 127, (0,)),
    (0, 15, (7,)),
    (0, 1, (1,)),
    (-32768, 32767, (-5, 0)),
    (-(1 << 31), (1 << 31) - 1, (3, 1000003)),
)
FLAGS = ("ZeroPointParity", "RangeEdge", "Saturates", "ClampOrder")
ROLES = ("quotient", "nearest", "add", "clamp", "subtract", "product", "type", "levels", "zero-point-type")


def node(low: int, high: int, **more: Any) -> dict[str, Any]:
    return {"real": REAL, "attributes": {"quant_min": low, "quant_max": high, **more}}


def telling(low: int, high: int, scale: Fraction, zero_point: int) -> list[int]:
    """Bits of inputs that are ties, beside ties, levels, at the ends of the domain and beyond."""
    near = range(-6, 8)
    edges = [end - zero_point + step for end in (low, high) for step in (-2, -1, 0, 1)]
    codes: list[int] = []
    for level in dict.fromkeys((*near, *edges, 37, 90)):
        tie = real_code((level + HALF) * scale, REAL)
        codes += [tie, neighbour(tie, SINGLE, 1), neighbour(tie, SINGLE, -1), real_code(level * scale, REAL)]
    return list(dict.fromkeys(codes))


def samples(real: str, output_type: str) -> Iterator[Sample]:
    for name, decimal, flags in SCALES:
        for low, high, points in DOMAINS:
            for zero_point in points:
                yield at(f"{name}-{low}-{high}-{zero_point}", (low, high), in_float32(decimal), zero_point, flags)
    yield from far()
    yield from extremes()
    yield from odd()
    yield from documented()
    yield from rounded_once()
    yield from shapes()


def at(name: str, ends: tuple[int, int], scale: Fraction, zero_point: int, flags: tuple[str, ...]) -> Sample:
    tensors = (
        bits(REAL, telling(*ends, scale, zero_point)),
        scalar(REAL, scale),
        scalar("int32", zero_point),
    )
    return Sample(name, node(*ends), tensors, (*flags, *FLAGS), ROLES)


def far() -> Iterator[Sample]:
    """Quotients beyond int32 and int64."""
    values = [sign * Fraction(2) ** power for power in (24, 31, 32, 33, 63, 64, 100, 127) for sign in (1, -1)]
    for low, high, points in (*DOMAINS[:2], DOMAINS[-1]):
        tensors = (reals(REAL, values), scalar(REAL, 1), scalar("int32", points[0]))
        yield Sample(f"far-{low}", node(low, high), tensors, ("Overflow", "Saturates"), ("clamp",))
    values = [Fraction(n) for n in (16777217, 33554435, -50331651, 1 << 30)]
    for scale in (in_float32("0.3"), Fraction(3)):
        tensors = (reals(REAL, [scale * v for v in values]), scalar(REAL, scale), scalar("int32", 1000003))
        yield Sample(f"wide-{float(scale):.1f}", node(*DOMAINS[-1][:2]), tensors, ("WideSum",), ("product",))


def extremes() -> Iterator[Sample]:
    """Subnormal, least normal, small, huge and negative scales."""
    for name, scale, flag in EXTREMES:
        values = [Fraction(n, 8) * scale for n in (0, 8, -8, 11, -11, 4, -4, 12, 15, -15)]
        tensors = (reals(REAL, values), scalar(REAL, scale), scalar("int32", 3))
        yield Sample(name, node(0, 255), tensors, (flag,), ("quotient", "product"))


def odd() -> Iterator[Sample]:
    """NaN, infinities, a scale of zero, zeros, and domains that are none."""
    plain = reals(REAL, [Fraction(n, 2) for n in range(-3, 5)])
    special, point = reals(REAL, [math.nan, math.inf, -math.inf]), scalar("int32", 3)
    yield Sample("nan", node(0, 255), (special, scalar(REAL, 1), point), ("NaN", "Infinity"), ("nan", "infinity"))
    for name, scale, flag, role in (
        ("nan", math.nan, "NaN", "nan"),
        ("infinite", math.inf, "Infinity", "infinity"),
        ("zero", 0.0, "ZeroScale", "zero-scale"),
    ):
        yield Sample(f"scale-{name}", node(0, 255), (plain, scalar(REAL, scale), point), (flag,), (role,))
    zeros = reals(REAL, [-0.0, 0.0, -Fraction(1, 1 << 149), Fraction(1, 1 << 149), Fraction(-1, 4)])
    yield Sample("zeros", node(0, 255), (zeros, scalar(REAL, 1), point), ("NegativeZero",), ("zero-sign",))


def documented() -> Iterator[Sample]:
    """The docstring's example."""
    x = reals(REAL, [Fraction(text) for text in ("0.0552", "0.9730", "0.3973", "-1.0780")])
    tensors = (x, scalar(REAL, in_float32("0.1")), scalar("int32", 0))
    yield Sample("documented-example", node(0, 255), tensors, ("ScaleNotPowerOfTwo",), ("quotient", "product"))


def rounded_once() -> Iterator[Sample]:
    for high, scale in wide_products():
        tensors = (reals(REAL, [Fraction(2) ** 40]), scalar(REAL, scale), scalar("int32", 0))
        flags = ("RoundedTwice", "Saturates")
        yield Sample(f"rounded-once-{high}", node(0, high), tensors, flags, ("clamp", "product"))


def wide_products() -> list[tuple[int, Fraction]]:
    """Differences of 31 bits, each with a scale: float64 rounds their product onto a midpoint of float32.

    Only a bound gives such a difference: an input is a float32, too far from a midpoint for that level to be its own.
    """
    found = one_each(range(MOST, 0, -2), SINGLE, DOUBLE, bits=SINGLE.precision)
    return [(difference, Fraction(significand, 1 << 31)) for difference, significand in islice(found, 6)]


def shapes() -> Iterator[Sample]:
    for shape in SHAPES:
        tensors: tuple[Tensor, ...] = (scattered(shape), scalar(REAL, in_float32("0.1")), scalar("int32", 5))
        name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}"
        yield Sample(name, node(-128, 127), tensors, flags_of(shape), ("shape", "per-tensor"))
