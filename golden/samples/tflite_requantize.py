"""Golden vectors of tflite.Requantize: each ratio of two scales with all integers of 8 bits, or telling ones.

Scales are float32, so that a ratio of decimals is seldom what it looks like.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType, decode, encode
from tiebreak.golden.samples.model import Sample, Tensor, bits
from tiebreak.golden.vector_inputs.by_witness import witness_kind, witnesses_of

HALF, SINGLE = Fraction(1, 2), FLOAT_TYPES["float32"]
ID = "tflite.Requantize"
SEPARATED = (("int8", "int8"), ("uint8", "uint8"), ("int16", "int16"))  # that have witnesses
Ratio = tuple[str, Fraction, Fraction]


def of(text: str) -> Fraction:
    """The float32 nearest to a decimal."""
    value = decode(encode(Fraction(text), SINGLE), SINGLE)
    assert isinstance(value, Fraction)
    return value


RATIOS: tuple[Ratio, ...] = (
    ("one", Fraction(1), Fraction(1)),
    ("half", of("0.02"), of("0.04")),
    ("quarter", Fraction(1, 4), Fraction(1)),
    ("eighth", of("0.3"), of("2.4")),
    ("two", Fraction(1), HALF),
    ("three-halves", of("0.03"), of("0.02")),
    ("third", of("0.1"), of("0.3")),
    ("two-thirds", of("0.2"), of("0.3")),
    ("seven-ninths", of("0.7"), of("0.9")),
    ("thirtieth", of("0.05"), of("1.7")),
    ("below-half", of("0.4999999"), Fraction(1)),
    ("above-half", of("0.5000001"), Fraction(1)),
    ("below-one", 1 - Fraction(1, 1 << 24), Fraction(1)),
    ("of-8-bits", Fraction(85, 256), Fraction(1)),
    ("between-8-bits", Fraction(171, 512), Fraction(1)),
    ("hundred-and-fifty", Fraction(3), of("0.02")),
    ("thousandth", Fraction(1), Fraction(1000)),
)
# Ratios at which the multiplier is flushed, or its shift limited.
FAR: tuple[Ratio, ...] = (
    ("least-shift", Fraction(1, 1 << 32), Fraction(1)),
    ("flushed", Fraction(1, 1 << 33), Fraction(1)),
    ("largest-shift", Fraction(3 << 28), Fraction(1)),
    ("limited-shift", Fraction(1 << 30), Fraction(1)),
    ("smallest-by-largest", Fraction(1, 1 << 149), Fraction(1 << 127)),
    ("largest-by-smallest", Fraction(1 << 127), Fraction(1, 1 << 149)),
)
AT_ENDS = ("half", "third", "thirtieth", "three-halves")  # ratios with several zero points
BESIDE_QUANTIZE = (*AT_ENDS, "one", "two-thirds", "seven-ninths", "below-half", "hundred-and-fifty")
ROUNDINGS = {
    "nearest": ("nearest", "ties"),
    "single": ("multiplier", "single"),
    "double": ("multiplier", "double", "second"),
}
THROUGH = ("MUL", "ADD", "FULLY_CONNECTED")
BESIDE = ("int8", "uint8", "int16")
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (7,), (2, 3), (3, 1, 2), (2, 0), (1, 2, 3, 2))
ALWAYS = ("same", "types", "shape", "per-tensor", "bits")


def samples(source: str, target: str) -> Iterator[Sample]:
    kind, to = INTEGER_TYPES[source], INTEGER_TYPES[target]
    for rounding in ROUNDINGS:
        for ratio in RATIOS:
            zero_points = middle(kind), middle(to)
            yield at_ratio(kind, to, rounding, ratio, zero_points, "")
        for ratio in (one for one in RATIOS if one[0] in AT_ENDS and rounding != "single"):
            for end, zero_points in ends(kind, to):
                yield at_ratio(kind, to, rounding, ratio, zero_points, f"-{end}")
        for ratio in FAR:
            yield far(kind, to, rounding, ratio)
    yield from scales(kind, to)
    yield from shapes(kind, to)
    yield from separating(kind, to)
    if source == target and source in BESIDE:
        yield from beside(kind)


def middle(kind: IntegerType) -> int:
    """The zero point in the middle of a type, but of wide ones 0."""
    return (kind.lowest + kind.highest + 1) // 2 if kind.bits == 8 else 0


def ends(kind: IntegerType, to: IntegerType) -> Iterator[tuple[str, tuple[int, int]]]:
    """Zero points at the ends, and odd ones; those of wide types are of a size that sums keep in int32."""
    low, high = bounds(kind)
    to_low, to_high = bounds(to)
    yield "ends", (low, to_high)
    yield "opposite", (high, to_low)
    yield "odd", (low // 2 + 3, to_low // 2 + 5)


def bounds(kind: IntegerType) -> tuple[int, int]:
    return (kind.lowest, kind.highest) if kind.bits < 32 else (-1000, 1000)


def integers_of(kind: IntegerType, to: IntegerType, ratio: Ratio, zero_point: int) -> list[int]:
    """All integers of 8 bits where both types are one; telling ones of 8 bits to another type, and of wider types."""
    if kind.bits > 8:
        return wide(kind)
    every = list(range(kind.lowest, kind.highest + 1))
    return every if kind is to else telling(every, ratio, zero_point)


def telling(every: Sequence[int], ratio: Ratio, zero_point: int) -> list[int]:
    """The ends, the zero point and its neighbours, ties (evenly a dozen of them), and every seventh integer."""
    factor = ratio[1] / ratio[2]
    ties = [value for value in every if ((value - zero_point) * factor).denominator == 2]
    near = {value for value in every if abs(value - zero_point) <= 2}
    return sorted({every[0], every[-1], *every[::7], *near, *ties[:: len(ties) // 12 + 1]})


def wide(kind: IntegerType) -> list[int]:
    """Small integers, powers of two and their neighbours, others in between and the ends."""
    powers = {sign * ((1 << n) + d) for n in range(5, kind.bits) for sign in (1, -1) for d in (-1, 0, 1)}
    spread = {kind.lowest + (kind.highest - kind.lowest) * n // 41 for n in range(42)}
    found = set(range(-24, 25)) | powers | spread
    return sorted(value for value in found if kind.lowest <= value <= kind.highest)


def tensors(
    kind: IntegerType, to: IntegerType, x: Tensor, ratio: Ratio, zero_points: tuple[int, int]
) -> tuple[Tensor, ...]:
    _, s_in, s_out = ratio
    scale = [Tensor("float32", (), [encode(value, SINGLE)]) for value in (s_in, s_out)]
    zero = [Tensor(one.name, (), [value]) for one, value in zip((kind, to), zero_points, strict=True)]
    return x, scale[0], zero[0], scale[1], zero[1]


def node_of(kind: IntegerType, to: IntegerType, **attributes: str) -> dict[str, Any]:
    return {"real": kind.name, "quantized": to.name, **({"attributes": attributes} if attributes else {})}


def sample(
    theme: str, kind: IntegerType, to: IntegerType, rounding: str, given: tuple[Tensor, ...], flags: Sequence[str],
    roles: Sequence[str] = (), *, independent: bool = True,
) -> Sample:  # fmt: skip
    attributes = {} if rounding == "nearest" else {"rounding": rounding}
    own = (*ALWAYS, *ROUNDINGS[rounding], *roles)
    return Sample(f"{rounding}-{theme}", node_of(kind, to, **attributes), given, tuple(flags), own,
                  independent=independent)  # fmt: skip


def at_ratio(
    kind: IntegerType, to: IntegerType, rounding: str, ratio: Ratio, zero_points: tuple[int, int], suffix: str
) -> Sample:
    x = integers_of(kind, to, ratio, zero_points[0])
    flags = flags_of(x, ratio, zero_points, to)
    roles = ("saturate",) if "Saturates" in flags else ()
    given = tensors(kind, to, bits(kind.name, x), ratio, zero_points)
    return sample(f"{ratio[0]}{suffix}", kind, to, rounding, given, flags, roles)


def flags_of(x: Sequence[int], ratio: Ratio, zero_points: tuple[int, int], to: IntegerType) -> tuple[str, ...]:
    """What the inputs show, from their real results."""
    _, s_in, s_out = ratio
    factor, (z_in, z_out) = s_in / s_out, zero_points
    real = [(value - z_in) * factor for value in x]
    inside = [value for value in real if to.lowest <= math.floor(value + HALF) + z_out <= to.highest]
    found = {
        "Tie": any(value.denominator == 2 for value in inside),
        "Saturates": len(inside) < len(real),
        "ScaleNotPowerOfTwo": factor.numerator & (factor.numerator - 1)
        or factor.denominator & (factor.denominator - 1),
        "RoundedInTwoSteps": any(math.floor(value + HALF) != in_two_steps(value, factor) for value in inside),
        "FewFactorBits": any(
            math.floor(value + HALF) != math.floor((number - z_in) * round(256 * factor) * Fraction(1, 256) + HALF)
            for value, number in zip(real, x, strict=True)
            if to.lowest <= value + z_out <= to.highest
        ),
        "ZeroPointParity": z_in != z_out and any(value.denominator == 2 for value in inside),
    }
    return tuple(flag for flag, holds in found.items() if holds) or ("RangeEdge",)


def in_two_steps(value: Fraction, factor: Fraction) -> int:
    """Rounded first to a step of which 2^n make one, as a factor below 1/2 has it; both times ties upward."""
    n = 0
    while factor * (1 << n) < HALF:
        n += 1
    return math.floor(Fraction(math.floor(value * (1 << n) + HALF), 1 << n) + HALF)


def far(kind: IntegerType, to: IntegerType, rounding: str, ratio: Ratio) -> Sample:
    x = list(range(kind.lowest, kind.highest + 1, 5)) if kind.bits == 8 else wide(kind)[::3]
    given = tensors(kind, to, bits(kind.name, [*x, 0, 1]), ratio, (0, 1))
    roles = {
        "nearest": ("saturate",),
        "single": ("flushed", "largest-shift", "overflow"),
        "double": ("flushed", "overflow"),
    }
    flags = ("Overflow",) if ratio[1] > ratio[2] else ("Tiny",)
    return sample(f"far-{ratio[0]}", kind, to, rounding, given, flags, roles[rounding])


def scales(kind: IntegerType, to: IntegerType) -> Iterator[Sample]:
    """Scales that are no positive numbers, on either side."""
    x = bits(kind.name, [0, 1, kind.highest])
    one = encode(Fraction(1), SINGLE)
    assert SINGLE.nan_bits is not None
    strange = {"zero": 0, "negative": one | 1 << 31, "nan": SINGLE.nan_bits, "infinity": SINGLE.infinity_bits}
    flags = {"zero": "ZeroScale", "negative": "NegativeScale", "nan": "NaN", "infinity": "Infinity"}
    for name, code in strange.items():
        for side, pair in (("input", (code, one)), ("output", (one, code))):
            scale = [Tensor("float32", (), [value]) for value in pair]
            zero = [Tensor(own.name, (), [1]) for own in (kind, to)]
            given = (x, scale[0], zero[0], scale[1], zero[1])
            yield sample(f"{name}-{side}-scale", kind, to, "nearest", given, (flags[name],), ("scale",))


def separating(kind: IntegerType, to: IntegerType) -> Iterator[Sample]:
    """Inputs on which two of the plainest arithmetics differ, by scales and zero points."""
    for attributes in separated(kind.name, to.name):
        for number, (s_in, z_in, s_out, z_out), x in witnesses_of(ID, witness_kind(kind.name, to.name, attributes)):
            scale = [Tensor("float32", (), [code]) for code in (s_in, s_out)]
            zero = [Tensor(one.name, (), [code]) for one, code in ((kind, z_in), (to, z_out))]
            given = (bits(kind.name, x), scale[0], zero[0], scale[1], zero[1])
            rounding = attributes.get("rounding", "nearest")
            yield sample(f"separating-{number}", kind, to, rounding, given, ("Separating",), ("saturate",))


def separated(source: str, target: str) -> Iterator[dict[str, str]]:
    """The attributes of the nodes between two types that have witnesses."""
    if (source, target) in SEPARATED:
        yield from ({}, {"rounding": "single"}, {"rounding": "double"})


def shapes(kind: IntegerType, to: IntegerType) -> Iterator[Sample]:
    """Several ranks, and a vector longer than any loop's step."""
    ratio = next(one for one in RATIOS if one[0] == "third")
    for shape in (*SHAPES, (300,)):
        count = math.prod(shape)
        x = bits(kind.name, [n * 7 % 101 + 3 for n in range(count)], shape)
        flag = "Empty" if 0 in shape else "Scalar" if not shape else "Lane" if shape == (300,) else "Shape"
        label = "x".join(map(str, shape)) or "scalar"
        given = tensors(kind, to, x, ratio, (3, 5))
        for rounding in ("nearest", "double"):
            yield sample(f"shape-{label}", kind, to, rounding, given, (flag,), independent=False)


def beside(kind: IntegerType) -> Iterator[Sample]:
    """The same through MUL, ADD and FULLY_CONNECTED."""
    for through in THROUGH:
        for ratio in (one for one in RATIOS if one[0] in BESIDE_QUANTIZE):
            zero_points = middle(kind), middle(kind)
            x = integers_of(kind, kind, ratio, zero_points[0])
            flags, roles = (
                flags_of(x, ratio, zero_points, kind),
                (*ALWAYS, "nearest", "ties", "through", "types-beside"),
            )
            given = tensors(kind, kind, bits(kind.name, x), ratio, zero_points)
            node = node_of(kind, kind, through=through)
            name = f"{through.lower().replace('_', '-')}-{ratio[0]}"
            yield Sample(name, node, given, flags, roles, independent=True)
