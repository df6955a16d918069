"""Golden vectors of tosa.RESCALE: multipliers and shifts whose quotients are ties, lie beside them, or carry."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.samples.model import Sample, integers
from tiebreak.golden.vector_inputs.by_witness import witness_kind, witnesses_of

SIGNED, UNSIGNED = ("int8", "int16", "int32"), ("uint8", "uint16")
NARROW = SIGNED[:2]
FILES = (
    *((source, target) for source in SIGNED for target in SIGNED),
    *((source, target) for source in UNSIGNED for target in NARROW),
    *((source, target) for source in NARROW for target in UNSIGNED),
    *(("int48", target) for target in SIGNED),
)
ID = "tosa.RESCALE"
SEPARATED = (("int8", "int8"), ("int32", "int8"), ("uint8", "int8"), ("int8", "uint8"))  # that have witnesses
Pairs = Sequence[tuple[int, int]]  # of multiplier and shift


@dataclass(frozen=True)
class Way:
    """How a node scales: the rounding mode, and whether the multiplier has 32 bits."""

    mode: str
    scale32: bool = True

    @property
    def name(self) -> str:
        return f"{self.mode.partition('_')[0].lower()}-{32 if self.scale32 else 16}"

    @property
    def one(self) -> int:
        """The logarithm of the multiplier that stands for 1 where the shift is the same."""
        return 30 if self.scale32 else 14


WAYS = (
    Way("SINGLE_ROUND"),
    Way("DOUBLE_ROUND"),
    Way("INEXACT_ROUND"),
    Way("SINGLE_ROUND", scale32=False),
    Way("INEXACT_ROUND", scale32=False),
)
ROLES = {"SINGLE_ROUND": ("single",), "DOUBLE_ROUND": ("single", "double"), "INEXACT_ROUND": ("inexact",)}
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (2, 3), (1, 4, 1), (2, 2, 3, 2), (1, 1, 2, 1, 3))
LANES = (8, 15, 33, 67)
EQUAL_AXES = ((3, 3), (2, 3, 3), (3, 2, 3))  # where channels along another axis fit, too


def ways_of(source: str) -> tuple[Way, ...]:
    """The ways of an input type: 48 bits are for multipliers of 16 alone."""
    return tuple(way for way in WAYS if source != "int48" or not way.scale32)


def samples(source: str, target: str) -> Iterator[Sample]:
    for way in ways_of(source):
        for theme in (ties, beside_ties, usual, edges, zero_points, saturating, carries, channels, unpredictable):
            yield from theme(source, target, way)
        if source == "int48":
            yield from wide_sums(target, way)
    yield from shapes(source, target)
    yield from separating(source, target)


def sample(
    theme: str,
    types: tuple[str, str],
    way: Way,
    values: Sequence[int],
    pairs: Pairs,
    flags: Sequence[str],
    roles: Sequence[str] = (),
    *,
    points: tuple[int, int] = (0, 0),
    shape: tuple[int, ...] | None = None,
    channels: bool = False,
) -> Sample:
    source, target = types
    attributes: dict[str, Any] = {"scale32": way.scale32, "rounding_mode": way.mode, "per_channel": channels}
    tensors = (
        integers(source, values, shape),
        integers("int32" if way.scale32 else "int16", [multiplier for multiplier, _ in pairs]),
        integers("int8", [shift for _, shift in pairs]),
        integers(source, points[:1]),
        integers(target, points[1:]),
    )
    always = ("difference", "scale32" if way.scale32 else "scale16", *ROLES[way.mode], "zero-point", "types", "shape")
    always = (*always, "48-of-16") if source == "int48" else always
    negative = ("negative",) if types[1] in UNSIGNED else ()
    about = (*always, "channels" if channels else "one", *roles, *negative)
    if way.scale32 and way.mode == "DOUBLE_ROUND":
        about = (*about, "double-of-32")
    node = {"real": source, "quantized": target, "attributes": attributes}
    return Sample(f"{way.name}-{theme}", node, tensors, tuple(flags), about)


def each(
    theme: str, types: tuple[str, str], way: Way, values: Sequence[int], pairs: Pairs, flags: Sequence[str],
    roles: Sequence[str] = (), points: tuple[int, int] = (0, 0),
) -> Iterator[Sample]:  # fmt: skip
    """A sample for each multiplier and shift, with the values that it allows."""
    for multiplier, shift in pairs:
        kept = [value for value in values if allowed(way, value - points[0], multiplier, shift)]
        if kept:
            name = f"{theme}-{multiplier}-{shift}"
            yield sample(name, types, way, kept, [(multiplier, shift)], flags, roles, points=points)


def allowed(way: Way, value: int, multiplier: int, shift: int) -> bool:
    """Whether a difference has a result of 32 bits, with room for a zero point, and fits the shift."""
    if way.scale32 and not -(1 << (shift - 1)) <= value < 1 << (shift - 1):
        return False
    return abs(value * multiplier) >> shift < (1 << 31) - (1 << 17)


def ends_of(kind: str) -> list[int]:
    """The ends of a type with their neighbours, and those of its halves."""
    own = INTEGER_TYPES[kind]
    middle = (own.lowest + own.highest) // 2
    found = {own.lowest, own.lowest + 1, middle, middle + 1, middle + 2, own.highest - 1, own.highest}
    return sorted(found)


def around_zero(kind: str, most: int = 9) -> list[int]:
    return [value for value in range(-most, most + 1) if value >= INTEGER_TYPES[kind].lowest]


def spread_out(kind: str, count: int = 24) -> list[int]:
    """Numbers of all magnitudes of a type and of both signs, without a pattern in their low bits."""
    own = INTEGER_TYPES[kind]
    bits = own.bits - own.signed
    numbers = [(1 << (bits * n // count)) * (37 + n * 29 % 23) // 37 for n in range(1, count + 1)]
    signed = [number * (-1 if own.signed and place % 2 else 1) for place, number in enumerate(numbers)]
    return [number for number in signed if own.lowest <= number <= own.highest]


def ties(source: str, target: str, way: Way) -> Iterator[Sample]:
    """Halves, quarters and three quarters: by a power of two as the multiplier, and by an odd one of few bits."""
    pairs = [(1 << way.one, way.one + 1), (1 << way.one, way.one + 2), (3 << (way.one - 1), way.one + 1), (1, 2)]
    values = [*around_zero(source, 14), *ends_of(source)]
    yield from each("ties", (source, target), way, values, pairs, ("Tie",))


def beside_ties(source: str, target: str, way: Way) -> Iterator[Sample]:
    """A multiplier one more and one less than a tie's."""
    pairs = [((1 << way.one) + step, way.one + 1) for step in (-1, 1)]
    yield from each("beside-ties", (source, target), way, around_zero(source, 14), pairs, ("NearTie",))


def usual(source: str, target: str, way: Way) -> Iterator[Sample]:
    """Scales as models have them, whose quotients fill the output's type."""
    wide, narrow = (INTEGER_TYPES[kind].bits for kind in (source, target))
    shift = way.one + max(wide - narrow, 0)
    factors = ((1.7, 1), (1.0717735, 0), (1.3333, 2), (1.9999999, 7))
    pairs = [(math.floor(factor * (1 << way.one)), shift + more) for factor, more in factors]
    values = [*spread_out(source), *around_zero(source, 3), *ends_of(source)]
    yield from each("usual", (source, target), way, values, pairs, ("ScaleNotPowerOfTwo", "Saturates"), ("saturate",))


def edges(source: str, target: str, way: Way) -> Iterator[Sample]:
    """The ends of multiplier and shift, and the shifts at which implementations change their way."""
    most = (1 << (way.one + 1)) - 1
    pairs = [(most, shift) for shift in (2, 30, 31, 32, 33, 48, 62)]
    pairs += [(1 << way.one, 31), (1 << way.one, 32), (0, 2), (0, 62), (1, 62), (most - 1, 31)]
    values = [*around_zero(source, 2), *spread_out(source, 12), *ends_of(source)]
    yield from each("edges", (source, target), way, values, pairs, ("MultiplierEdge",), ("saturate",))


def wide_sums(target: str, way: Way) -> Iterator[Sample]:
    """Sums of 48 bits at both ends of their type, ties that a float64 has no bits for, and what 32 bits would wrap.

    A product of 47 bits and 15 may have 62; so may a half of 2^61, which is added.
    """
    types, end = ("int48", target), 1 << 47
    values = sorted(sign * (end - step) - (sign > 0) for sign in (1, -1) for step in range(4))
    pairs = [((1 << 15) - 1, 62), (1 << 14, 62), (21845, 48), ((1 << 15) - 1, 40), (1, 47), (1 << 14, 31 + 14)]
    yield from each("ends", types, way, values, pairs, ("WideInput",), ("saturate",))
    for multiplier in (129, 179, 213, 255, 30001, 32767):
        inverse = pow(multiplier, -1, end)  # which finds the inputs whose product lies 1 or 3 beside a tie
        near = [((end >> 1) + step) * inverse % end for step in (-3, -1, 1, 3)]
        values = [value - moved for value in near for moved in (0, end)]
        yield from each("long-ties", types, way, values, [(multiplier, 47)], ("WideInput", "NearTie"))
    values = [sign * (1 << bits) + step for bits in (31, 32, 33, 40, 46) for sign in (1, -1) for step in (-1, 0, 1)]
    pairs = [(1 << 14, 14 + more) for more in (2, 10, 17, 25, 39)]
    yield from each("beyond-32", types, way, values, pairs, ("WideInput", "Saturates"), ("saturate",))


def zero_points(source: str, target: str, way: Way) -> Iterator[Sample]:
    """Zero points at the ends of their types, odd ones, and ones with the other sign, where they are allowed."""
    values = [*around_zero(source, 5), *spread_out(source, 10), *ends_of(source)]
    pairs = [(1 << way.one, way.one), (1 << way.one, way.one + 1)]
    for own in dict.fromkeys((point, other) for point in points_of(source) for other in points_of(target)):
        if own != (0, 0):
            name = f"zero-points-{own[0]}-{own[1]}"
            flags = ("ZeroPointEdge", "ZeroPointParity")
            yield from each(name, (source, target), way, values, pairs, flags, ("zero-point-values",), own)


def points_of(kind: str) -> tuple[int, ...]:
    own = INTEGER_TYPES[kind]
    if own.bits == 8:
        return (0, own.lowest, own.highest, own.lowest + 77) if own.signed else (0, 128, own.highest, 77)
    return (0, 1 << 15) if kind == "uint16" else (0,)


def saturating(source: str, target: str, way: Way) -> Iterator[Sample]:
    """Results just inside and just outside the output's range, and far beyond it."""
    if target == "int32":
        return
    own, low = INTEGER_TYPES[target], INTEGER_TYPES[source].lowest
    high = INTEGER_TYPES[source].highest
    for name, gain in (("1", 0), ("2", 1), ("256", 8), ("4096", 12)):
        near = {(end >> gain) + step for end in (own.lowest, own.highest) for step in range(-2, 3)}
        values = sorted(value for value in near | {low, high} if low <= value <= high)
        pair = [(1 << way.one, way.one - gain)]
        yield from each(f"saturating-{name}", (source, target), way, values, pair, ("RangeEdge", "Saturates"),
                        ("saturate",))  # fmt: skip


def carries(source: str, target: str, way: Way) -> Iterator[Sample]:
    """Inputs that round otherwise if another 2^30 is added, with their neighbours."""
    if not way.scale32:
        return
    for shift in (32, 33, 34, 36, 40):
        for multiplier in (1 << 30, (1 << 31) - 1, 0x55555555, 0x6B8B4567):
            found = [value for value in candidates(source) if carried(value, multiplier, shift)][:10]
            near = {value + step for value in found for step in (-1, 0, 1)}
            own = INTEGER_TYPES[source]
            values = sorted(value for value in near if own.lowest <= value <= own.highest)
            if found:
                name = f"carries-{multiplier}-{shift}"
                yield from (sample(name, (source, target), way, values, [(multiplier, shift)], ("DoubleRound",)),)


def candidates(kind: str) -> Iterator[int]:
    """Small numbers of both signs, and some of all magnitudes."""
    own = INTEGER_TYPES[kind]
    for value in range(128):
        yield value
        if own.signed:
            yield -value
    for number in range(4000):
        value = number * number * 7919 % (1 << (own.bits - own.signed))
        if value <= 1 << 30:
            yield value
            if own.signed:
                yield -value


def carried(value: int, multiplier: int, shift: int) -> bool:
    half = 1 << (shift - 1)
    more = (1 << 30) if value >= 0 else -(1 << 30)
    return (value * multiplier + half) >> shift != (value * multiplier + half + more) >> shift


def channels(source: str, target: str, way: Way) -> Iterator[Sample]:
    """A multiplier and a shift for each index of the last axis; in long rows, too."""
    if way.mode == "INEXACT_ROUND":
        return
    points, own = (points_of(source)[-1], points_of(target)[-1]), INTEGER_TYPES[source]
    for shape in ((5,), (2, 3), (3, 1), (2, 2, 7), *EQUAL_AXES, *((2, lane) for lane in LANES)):
        pairs = [channel(way, n) for n in range(shape[-1])]
        pool = [points[0] + value for value in (*range(-12, 13), *spread_out("int32", 30)) if abs(value) < 1 << 28]
        pool = [value for value in pool if own.lowest <= value <= own.highest]
        values = [pool[(n * 7 + n // shape[-1]) % len(pool)] for n in range(math.prod(shape))]
        label = "x".join(map(str, shape))
        flags = ("PerChannel", "Lane") if shape[-1] in LANES else ("PerChannel", "Shape")
        yield sample(f"channels-{label}", (source, target), way, values, pairs, flags, ("saturate",), points=points,
                     shape=shape, channels=True)  # fmt: skip


def channel(way: Way, n: int) -> tuple[int, int]:
    """A multiplier and a shift of one index, both unlike those of its neighbours."""
    return (1 << way.one) + n * 40503 % (1 << way.one), way.one + (n * 5 + 1) % 7


def unpredictable(source: str, target: str, way: Way) -> Iterator[Sample]:
    """What the document requires does not hold: of one element, or of all."""
    if way.mode == "INEXACT_ROUND":
        return
    small = around_zero(source, 4)
    strange: list[tuple[str, Sequence[int], tuple[int, int], str]] = [
        (f"shift-{shift}", small, (1 << way.one, shift), "strange-shift") for shift in (-1, 0, 1, 63, 127)
    ]
    strange += [("negative-multiplier", small, (-(1 << way.one), way.one), "negative-multiplier")]
    if way.scale32:
        strange += [("beyond-shift", [*small, 16], (1 << 28, 5), "beyond-shift")]
    if way.scale32 and target == "int8" and source == "int32":
        strange += [("sum-beyond-32", [(1 << 30) - 1, 5], ((1 << 31) - 1, 31), "sum-beyond-32")]
    if source in ("int32", "int48") and not way.scale32:
        strange += [("beyond-32", [1 << 30, 1, -1], (1 << 14, 10), "beyond-32")]
    for name, values, pair, role in strange:
        yield sample(f"open-{name}", (source, target), way, values, [pair], ("Unpredictable",), (role, "graph"))


def separating(source: str, target: str) -> Iterator[Sample]:
    """Inputs on which two of the plainest arithmetics differ, by multiplier, shift and zero points."""
    for attributes in separated(source, target):
        way = Way(attributes["rounding_mode"], attributes["scale32"])
        for number, (*pair, first, last), values in witnesses_of(ID, witness_kind(source, target, attributes)):
            name = f"separating-{number}"
            yield sample(name, (source, target), way, values, [(pair[0], pair[1])], ("Separating",), ("saturate",),
                         points=(first, last))  # fmt: skip


def separated(source: str, target: str) -> Iterator[dict[str, Any]]:
    """The attributes of the nodes between two types that have witnesses."""
    if (source, target) in SEPARATED:
        for way in WAYS[:2]:
            yield {"scale32": way.scale32, "rounding_mode": way.mode, "per_channel": False}


def shapes(source: str, target: str) -> Iterator[Sample]:
    way = ways_of(source)[0]
    for shape in SHAPES:
        size = math.prod(shape)
        pool = [value for value in spread_out(source, 40) if abs(value) < 1 << 28]
        values = [pool[n * 3 % len(pool)] for n in range(size)]
        label = "x".join(map(str, shape)) or "scalar"
        flag = "Shape" if shape else "Scalar"
        yield sample(
            f"shape-{label}", (source, target), way, values, [(3 << (way.one - 2), way.one)], (flag,), shape=shape
        )
