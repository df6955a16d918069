"""Golden vectors of paddle.QuantizeLinear: inputs on and beside ties of X * range / Scale, of both kinds of ties."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, neighbour
from tiebreak.golden.samples.model import Sample, Tensor, bits, real_code, reals
from tiebreak.golden.samples.torch_quantize_per_tensor import SHAPES, flags_of, in_float32, scattered

REAL = "float32"
SINGLE = FLOAT_TYPES[REAL]
HALF = Fraction(1, 2)
# Scales, as steps: the greatest magnitude is range times that. Name, decimal, flags.
STEPS = (
    ("one", "1", ("Tie", "NearTie")),
    ("quarter", "0.25", ("Tie", "NearTie")),
    ("tenth", "0.1", ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal")),
    ("step", "0.640625", ("Tie", "NearTie", "ScaleNotPowerOfTwo", "Reciprocal")),
    ("three", "3", ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal")),
    ("coarse", "1000.3", ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal")),
)
WIDTHS = (8, 4, 2, 16)
ROLES = ("range", "product", "quotient", "type", "output-type", "bit-length", "round-type")
BY_TYPE = {0: "even", 1: "away"}
TENSOR = -1


def node(axis: int = TENSOR, bit_length: int = 8, round_type: int = 0, **ends: int) -> dict[str, Any]:
    """The ends are those of bit_length unless given."""
    low, high = ends_of(bit_length)
    said = {"bit_length": bit_length, "qmin": low, "qmax": high, "round_type": round_type, **ends}
    return {"real": REAL, "attributes": {"quant_axis": axis, **said}}


def ends_of(bit_length: int) -> tuple[int, int]:
    half = 1 << (bit_length - 1)
    return -half, half - 1


def one(value: Fraction | float | int) -> Tensor:
    return reals(REAL, [value])


def zeros(count: int = 1) -> Tensor:
    return reals(REAL, [0] * count)


def telling(scale: Fraction, bit_length: int) -> list[int]:
    """Bits of inputs whose results are ties, beside ties, integers or the ends of the range."""
    low, high = ends_of(bit_length)
    near = [level for level in (*range(-9, 10), 22, 37, 63, 90, 101, -50, -77, -120) if low <= level <= high]
    edges = [end + step for end in (low, high, -high) for step in (-1, 0, 1)]
    codes: list[int] = []
    for level in dict.fromkeys((*near, *edges)):
        tie = real_code((level + HALF) * scale / high, REAL)
        codes += [tie, neighbour(tie, SINGLE, 1), neighbour(tie, SINGLE, -1), real_code(level * scale / high, REAL)]
        codes.append(real_code((level + HALF + Fraction(1, 5)) * scale / high, REAL))
    return list(dict.fromkeys(codes))


def samples(real: str, output_type: str) -> Iterator[Sample]:
    for name, decimal, flags in STEPS:
        for bit_length in WIDTHS:
            for round_type in BY_TYPE:
                yield at(name, decimal, bit_length, round_type, flags)
    yield from of_scales()
    yield from of_attributes()
    yield from extremes()
    yield from below_ties()
    yield from odd()
    yield from along_axes()
    yield from shapes()


def at(name: str, decimal: str, bit_length: int, round_type: int, flags: tuple[str, ...]) -> Sample:
    scale = in_float32(ends_of(bit_length)[1] * Fraction(decimal))
    tensors = (bits(REAL, telling(scale, bit_length)), one(scale), zeros())
    every = (*flags, "RangeEdge", "Saturates", "OtherRange")
    roles = (*ROLES, BY_TYPE[round_type], "per-tensor", "clamp")
    chosen = node(bit_length=bit_length, round_type=round_type)
    return Sample(f"{name}-{bit_length}-bits-{BY_TYPE[round_type]}", chosen, tensors, every, roles, independent=True)


def of_scales() -> Iterator[Sample]:
    """Greatest magnitudes that are short decimals: the step is none, so that the order of the steps shows."""
    for decimal in ("1", "6", "0.3", "12.7", "2.5", "88.4"):
        for bit_length in (8, 4):
            scale = in_float32(decimal)
            tensors = (bits(REAL, telling(scale, bit_length)), one(scale), zeros())
            flags = ("NearTie", "Reciprocal", "ScaleNotPowerOfTwo", "StepFirst")
            name = f"scale-{decimal}-{bit_length}-bits"
            yield Sample(name, node(bit_length=bit_length), tensors, flags, (*ROLES, "even"), independent=True)


def of_attributes() -> Iterator[Sample]:
    """bit_length without qmin and qmax, whose defaults stay; ends of their own; a range of no integers but 0."""
    x = bits(REAL, telling(Fraction(3), 4))
    for bit_length in (4, 3, 6):
        chosen = node(bit_length=bit_length, qmin=-128, qmax=127)
        yield Sample(f"default-ends-{bit_length}-bits", chosen, (x, one(3), zeros()), ("OtherRange",), ROLES,
                     independent=True)  # fmt: skip
    for low, high in ((-127, 127), (-20, 30), (5, 9), (-1000, 1000)):
        tensors = (bits(REAL, telling(Fraction(127), 8)), one(127), zeros())
        chosen = node(qmin=low, qmax=high)
        flags = ("RangeEdge", "OtherRange")
        yield Sample(f"ends-{low}-{high}", chosen, tensors, flags, ("range", "clamp"), independent=True)
    values = reals(REAL, [Fraction(n, 4) for n in range(-9, 10)])
    yield Sample("no-range", node(bit_length=1), (values, one(1), zeros()), ("OtherRange",), ("range", "zero-sign"))


EXTREMES = (
    ("subnormal", Fraction(3 * 127, 1 << 149), "Subnormal"),
    ("least-normal", Fraction(127, 1 << 126), "Subnormal"),
    ("tiny", Fraction(1, 1 << 100), "HugeReciprocal"),
    ("large", Fraction(2) ** 126, "HugeScale"),
    ("largest", Fraction(2) ** 127, "HugeScale"),
)


def extremes() -> Iterator[Sample]:
    """Scales whose reciprocal, or whose product with range, is beyond float32 or subnormal."""
    for name, scale, flag in EXTREMES:
        values = [Fraction(n, 127 * 8) * scale for n in (0, 8, -8, 11, -11, 5, -5, 13, -15, 399, -603, 1011)]
        flags = (flag, "Overflow") if flag == "HugeScale" else (flag,)
        yield Sample(f"scale-{name}", node(), (reals(REAL, values), one(scale), zeros()), flags, ("quotient",),
                     independent=True)  # fmt: skip
    far = [sign * Fraction(2) ** power for power in (8, 24, 31, 32, 63, 64, 120, 127) for sign in (1, -1)]
    yield Sample("far", node(), (reals(REAL, far), one(127), zeros()), ("Overflow", "Saturates"), ("clamp",))


# X / 2^23 and scales: X * 127 / Scale is 1 / (2 * Scale) below a tie, too near for float64, which gives the tie. The
# integer above it is halfway between two float32.
BELOW_TIES = ((16767927, 16607359), (16774715, 16559231), (16743782, 16524415))


def below_ties() -> Iterator[Sample]:
    """Quotients of 31 bits that float64 rounds to a tie."""
    for significand, scale in BELOW_TIES:
        x = [Fraction(sign * significand << 23) for sign in (1, -1)]
        chosen = node(qmin=-(1 << 31), qmax=(1 << 31) - 1)
        yield Sample(f"below-tie-{scale}", chosen, (reals(REAL, x), one(scale), zeros()), ("RoundedTwice",), ROLES)


def odd() -> Iterator[Sample]:
    """NaN, infinities, scales that are not positive, zero points that are not 0, and negative zero."""
    plain = reals(REAL, [Fraction(n, 2) for n in range(-3, 5)])
    special = reals(REAL, [math.nan, math.inf, -math.inf, 1.0])
    yield Sample("nan", node(), (special, one(127), zeros()), ("NaN", "Infinity"), ("nan", "infinity"),
                 independent=True)  # fmt: skip
    for name, scale, flag, role in (
        ("nan", math.nan, "NaN", "nan"),
        ("infinite", math.inf, "Infinity", "infinity"),
        ("zero", 0.0, "ZeroScale", "not-positive"),
        ("negative", -127.0, "NegativeScale", "not-positive"),
    ):
        yield Sample(f"scale-{name}", node(), (plain, one(scale), zeros()), (flag,), (role,))
    for name, point in (("three", 3.0), ("negative", -1.0), ("half", 0.5), ("nan", math.nan)):
        role = "nan" if math.isnan(point) else "zero-point"
        yield Sample(f"zero-point-{name}", node(), (plain, one(127), one(point)), ("FloatZeroPoint",), (role,))
    tiny = reals(REAL, [-0.0, 0.0, -Fraction(1, 1 << 149), Fraction(1, 1 << 149), Fraction(-1, 4)])
    yield Sample("zeros", node(), (tiny, one(127), one(-0.0)), ("NegativeZero", "Tiny"), ("zero-sign",))


def along_axes() -> Iterator[Sample]:
    """A scale for each index of an axis, none like its neighbour; quant_axis 0 is the default."""
    for shape, axis in (((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 5), 0), ((2, 3, 5), 1), ((1, 7, 3, 2), 1),
                        ((4, 1), 0), ((2, 0, 3), 0), ((3, 67), 0), ((3, 67), 1)):  # fmt: skip
        for round_type in BY_TYPE:
            depth = shape[axis]
            scales = reals(REAL, [Fraction(64, 10) + Fraction(11 * (n % 5) + 3 * n, 7) for n in range(depth)])
            flags = ("PerAxis", *(("Empty",) if 0 in shape else ("Lane",) if 67 in shape else ()))
            name = f"axis-{axis}-{'x'.join(map(str, shape))}-{BY_TYPE[round_type]}"
            tensors = (scattered(shape), scales, zeros(depth))
            yield Sample(name, node(axis, round_type=round_type), tensors, flags, ("axis", "axes", "channels", "shape"))


def shapes() -> Iterator[Sample]:
    for shape in SHAPES:
        tensors = (scattered(shape), one(in_float32("12.7")), zeros())
        name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}"
        yield Sample(name, node(), tensors, flags_of(shape), ("shape", "per-tensor"))
