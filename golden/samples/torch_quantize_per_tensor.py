"""Golden vectors of torch.quantize_per_tensor; the per-channel form takes scales and values from here.

round has no tie rule, so a tie is open; what is beside a tie is not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType, decode, neighbour
from tiebreak.golden.samples.model import Sample, Tensor, bits, integers, real_code, reals, scalar, small_scales_of

REAL = "float32"
SINGLE = FLOAT_TYPES[REAL]
HALF = Fraction(1, 2)
# Scales: name, decimal, flags.
SCALES = (
    ("one", "1", ("Tie", "NearTie")),
    ("quarter", "0.25", ("Tie", "NearTie")),
    ("tenth", "0.1", ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal")),
    ("seventh", "0.14285714", ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal")),
    ("step", "0.640625", ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal")),
    ("three", "3", ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal")),
    ("fine", "0.00392157", ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal")),
    ("coarse", "1000.3", ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal")),
)
SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (2, 0, 3), (7,), (2, 3), (3, 2, 2), (2, 3, 2, 3), (67,))
BASIC = ("quotient", "zero-point", "nearest", "real-type", "output-type")


def in_float32(value: Fraction | str) -> Fraction:
    found = decode(real_code(Fraction(value), REAL), SINGLE)
    assert isinstance(found, Fraction)
    return found


def zero_points(kind: IntegerType) -> tuple[int, ...]:
    """Both ends, one or two in the middle, even and odd."""
    middle = (100, 129) if kind.lowest == 0 else (0, -3)
    return (*middle, kind.lowest, kind.highest)


def telling(kind: IntegerType, scale: Fraction, zero_point: int) -> list[int]:
    """Bits of inputs whose sums are ties, beside ties, integers, or around the ends of the type."""
    near = [*range(-9, 10), 22, 37, 56, 63, 90, 101]
    edges = [end - zero_point + step for end in (kind.lowest, kind.highest) for step in (-2, -1, 0, 1)]
    codes: list[int] = []
    for level in dict.fromkeys((*near, *edges)):
        tie = real_code((level + HALF) * scale, REAL)
        codes += [tie, neighbour(tie, SINGLE, 1), neighbour(tie, SINGLE, -1), real_code(level * scale, REAL)]
        codes.append(real_code((level + HALF + Fraction(1, 5)) * scale, REAL))
    return list(dict.fromkeys(codes))


def samples(real: str, quantized: str) -> Iterator[Sample]:
    kind = INTEGER_TYPES[quantized]
    for name, decimal, flags in SCALES:
        for zero_point in zero_points(kind):
            scale = in_float32(decimal)
            yield at(kind, f"{name}-{zero_point}", telling(kind, scale, zero_point), scale, zero_point, flags)
    yield from far(kind)
    yield from extremes(kind)
    yield from odd(kind)
    yield from documented(kind)
    yield from shapes(kind)


def at(
    kind: IntegerType, name: str, codes: list[int], scale: Fraction, zero_point: int, flags: tuple[str, ...]
) -> Sample:
    tensors = (bits(REAL, codes), scalar(REAL, scale), scalar(kind.name, zero_point))
    every = (*flags, "ZeroPointParity", "RangeEdge", "Saturates", "ClampOrder")
    return Sample(
        name, node(kind), tensors, every, (*BASIC, "per-tensor", "zero-point-type", "clamp", "ties"), independent=True
    )


def node(kind: IntegerType) -> dict[str, str]:
    return {"real": REAL, "quantized": kind.name}


def far(kind: IntegerType) -> Iterator[Sample]:
    """Quotients beyond int32 and int64, and sums of more bits than float32 has."""
    values = [sign * Fraction(2) ** power for power in (24, 31, 32, 33, 63, 64, 100, 127) for sign in (1, -1)]
    for zero_point in zero_points(kind)[:2]:
        tensors = (reals(REAL, values), scalar(REAL, 1), scalar(kind.name, zero_point))
        yield Sample(f"far-{zero_point}", node(kind), tensors, ("Overflow", "Saturates"), ("clamp",), independent=True)
    if kind.name == "int32":
        for zero_point in (16777217, -1000000007, 1 << 30):
            values = [Fraction(n, 4) for n in (1, 2, 3, 5, 7, 4 * 16777213, -4 * 16777215, 4 * 999)]
            tensors = (reals(REAL, values), scalar(REAL, 1), scalar(kind.name, zero_point))
            yield Sample(f"wide-{zero_point}", node(kind), tensors, ("WideSum",), ("zero-point",), independent=True)


EXTREMES = (
    ("scale-subnormal", Fraction(3, 1 << 149), "Subnormal"),
    ("scale-least-normal", Fraction(1, 1 << 126), "Subnormal"),
    ("scale-large", Fraction(2) ** 126, "HugeScale"),
    ("scale-largest-power", Fraction(2) ** 127, "HugeScale"),
    ("scale-negative", -in_float32("0.640625"), "NegativeScale"),
    ("scale-negative-one", Fraction(-1), "NegativeScale"),
    *((name, scale, "SmallScale") for name, scale in small_scales_of(SINGLE)),
)


def extremes(kind: IntegerType) -> Iterator[Sample]:
    """Subnormal, least normal, small, huge and negative scales."""
    for name, scale, flag in EXTREMES:
        values = [Fraction(n, 8) * scale for n in (0, 8, -8, 11, -11, 5, -5, 13, 15, -15)]
        tensors = (reals(REAL, values), scalar(REAL, scale), scalar(kind.name, zero_points(kind)[0]))
        yield Sample(name, node(kind), tensors, (flag,), ("quotient",), independent=True)


def odd(kind: IntegerType) -> Iterator[Sample]:
    """NaN, infinities and a scale of zero; negative zero."""
    plain = reals(REAL, [Fraction(n, 2) for n in range(-3, 5)])
    special = reals(REAL, [math.nan, math.inf, -math.inf, 1.0])
    zero_point = scalar(kind.name, 3)
    yield Sample("nan", node(kind), (special, scalar(REAL, 1), zero_point), ("NaN", "Infinity"), ("nan", "infinity"),
                 independent=True)  # fmt: skip
    for name, scale, flag, role in (
        ("nan", math.nan, "NaN", "nan"),
        ("infinite", math.inf, "Infinity", "infinity"),
        ("zero", 0.0, "ZeroScale", "zero-scale"),
    ):
        yield Sample(f"scale-{name}", node(kind), (plain, scalar(REAL, scale), zero_point), (flag,), (role,))
    zeros = reals(REAL, [-0.0, 0.0, -Fraction(1, 1 << 149), Fraction(1, 1 << 149)])
    yield Sample("zeros", node(kind), (zeros, scalar(REAL, 1), zero_point), ("NegativeZero", "Tiny"), ("zero-point",))


def documented(kind: IntegerType) -> Iterator[Sample]:
    """The docstring's example."""
    tensors = (reals(REAL, [-1, 0, 1, 2]), scalar(REAL, in_float32("0.1")), scalar(kind.name, 10))
    yield Sample("documented-example", node(kind), tensors, ("ScaleNotPowerOfTwo",), ("quotient", "zero-point"))


def shapes(kind: IntegerType) -> Iterator[Sample]:
    for shape in SHAPES:
        tensors = (scattered(shape), scalar(REAL, in_float32("0.1")), scalar(kind.name, 5))
        name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}"
        yield Sample(name, node(kind), tensors, flags_of(shape), ("shape",))


def flags_of(shape: tuple[int, ...]) -> tuple[str, ...]:
    return ("Scalar",) if not shape else ("Empty",) if 0 in shape else ("Lane",) if shape == (67,) else ("Shape",)


def scattered(shape: tuple[int, ...]) -> Tensor:
    """Values without ties, in scattered order."""
    return reals(
        REAL, [Fraction((37 * n + 11) % 127, 10) - 6 + Fraction(1, 50) for n in range(math.prod(shape))], shape
    )


def zero_points_of(kind: IntegerType, count: int) -> Tensor:
    """A zero point for each channel, none like its neighbour."""
    middle = 100 if kind.lowest == 0 else 0
    return integers(kind.name, [middle + (7 * n) % 11 for n in range(count)])
