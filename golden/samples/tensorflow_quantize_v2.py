"""Golden vectors of tensorflow.QuantizeV2."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType, decode, encode, neighbour
from tiebreak.golden.samples.model import Sample, Tensor, bits, reals, scalar
from tiebreak.golden.vector_inputs.by_witness import witnesses_of

F32 = FLOAT_TYPES["float32"]
HALF = Fraction(1, 2)
SETTINGS = (
    ("MIN_COMBINED", "HALF_AWAY_FROM_ZERO"),
    ("MIN_FIRST", "HALF_AWAY_FROM_ZERO"),
    ("SCALED", "HALF_AWAY_FROM_ZERO"),
    ("SCALED", "HALF_TO_EVEN"),
)
MODE_ROLES = {
    "MIN_COMBINED": ("combined", "range-of-T", "offset", "clip"),
    "MIN_FIRST": ("range-scale", "round-both", "add-lowest", "clamp"),
    "SCALED": ("scale-factor", "adjusted-range", "scaled", "clip"),
}
TIE_ROLES = {"HALF_AWAY_FROM_ZERO": "half-away", "HALF_TO_EVEN": "half-even"}
# Ranges that hold zero: off the binary grid, of one side, lopsided, wide and narrow.
RANGES: tuple[tuple[str, Fraction, Fraction], ...] = (
    ("0-6", Fraction(0), Fraction(6)),
    ("tenths", Fraction(-1, 10), Fraction(3, 10)),
    ("tens", Fraction(-10), Fraction(9)),
    ("wide", Fraction(-(10**30)), Fraction(7 * 10**29)),
)
# Ranges whose steps are large, and whose products or widths overflow.
HUGE_RANGES: tuple[tuple[str, Fraction, Fraction], ...] = (
    ("above", Fraction(0), Fraction(2) ** 127),
    ("around", -(Fraction(2) ** 126), Fraction(2) ** 127),
    ("symmetric", -(Fraction(2) ** 120), Fraction(2) ** 120),
)
# min_range * range_scale is a tie, which shows whether it is rounded separately from the input's product.
HALVES = (("halves", Fraction(-5, 2)), ("odd-halves", Fraction(-7, 2)))
SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((3, 5), 0),
    ((3, 5), 1),
    ((2, 3, 4), 1),
    ((2, 3, 4), 2),
    ((2, 2, 3, 2), 2),
    ((3, 3), 0),
    ((3, 3), 1),
    ((4,), 0),
    ((1, 4), 0),
    ((2, 67), 0),
    ((0, 2), 0),
    ((2, 0), 0),
)


def samples(real: str, quantized: str) -> Iterator[Sample]:
    kind = INTEGER_TYPES[quantized]
    for mode, rounding in SETTINGS:
        name = f"{mode.lower()}-{rounding.lower().removeprefix('half_')}"
        yield from ties(kind, mode, rounding, name)
        away = rounding == "HALF_AWAY_FROM_ZERO"
        if away:
            yield from special(kind, mode, rounding, name)
        for shape, axis in SHAPES if away and not is_open(kind, mode) else SHAPES[:3]:
            yield per_axis(kind, mode, rounding, name, shape, axis)
    yield from defaults(kind)
    yield from scaled_only(kind)
    yield from below_zero(kind)
    yield from narrow(kind)
    yield beyond(kind)
    yield from each_step(kind)
    yield from separating(quantized)


def exact(value: Fraction) -> Fraction:
    """The float32 nearest to a value, as a fraction."""
    return Fraction(decode(encode(value, F32), F32))


def is_open(kind: IntegerType, mode: str) -> bool:
    """Whether the document leaves open what the mode gives for the type."""
    return mode == "MIN_COMBINED" and kind.signed and kind.bits > 8


def steps_of(kind: IntegerType) -> int:
    return (1 << kind.bits) - 1


def input_at(kind: IntegerType, mode: str, low: Fraction, high: Fraction, q: Fraction) -> Fraction:
    """The input that lies at the integer scale's point q; MIN_COMBINED and MIN_FIRST count from the lowest value."""
    low, high = exact(low), exact(high)
    if mode == "SCALED":
        return q / factor(kind, low, high)
    start = low if mode == "MIN_COMBINED" else Fraction(0)
    return start + q * (high - low) / steps_of(kind)


def factor(kind: IntegerType, low: Fraction, high: Fraction, narrowed: bool = False) -> Fraction:
    bounds = ((kind.lowest + narrowed, low), (kind.highest, high))
    return min((bound / end for bound, end in bounds if bound * end > 0), default=Fraction(1))


def span(kind: IntegerType, mode: str, low: Fraction, high: Fraction) -> tuple[int, int]:
    """The least and the greatest q of `input_at`."""
    if mode == "MIN_COMBINED":
        return 0, steps_of(kind)
    if mode == "MIN_FIRST":
        ends = (math.floor(end * steps_of(kind) / (high - low)) for end in (low, high))
        first, last = ends
        return first, last
    return kind.lowest, kind.highest


def points(first: int, last: int, dense: bool) -> list[int]:
    """Integers between two: both ends, zero, and some in between; if dense, powers of two with their neighbours."""
    reach, count = (3, 23) if dense else (1, 13)
    near = {end + d for end in (first, last, 0) for d in range(-reach, reach + 1)}
    powers = {sign * ((1 << n) + d) for n in range(33) for sign in (1, -1) for d in (-1, 0)} if dense else set()
    even = {first + (last - first) * i // count for i in range(count + 1)}
    return sorted(k for k in near | powers | even if first - 3 <= k <= last + 3)


def aimed(kind: IntegerType, mode: str, low: Fraction, high: Fraction, dense: bool = False) -> list[int]:
    """Bits of inputs on and beside every chosen tie, and at integers."""
    first, last = span(kind, mode, exact(low), exact(high))
    codes: dict[int, None] = {}
    for k in points(first, last, dense):
        at = encode(input_at(kind, mode, low, high, k + HALF), F32)
        codes |= dict.fromkeys(neighbour(at, F32, step) for step in (-1, 0, 1))
        codes[encode(input_at(kind, mode, low, high, Fraction(k)), F32)] = None
    ends = [encode(exact(end), F32) for end in (low, high)]
    codes |= dict.fromkeys(neighbour(end, F32, step) for end in ends for step in (-1, 0, 1))
    return list(codes)


def node_of(kind: IntegerType, mode: str, rounding: str, **attributes: Any) -> dict[str, Any]:
    given = {"mode": mode, "round_mode": rounding, "ensure_minimum_range": 0.0} | attributes
    return {"quantized": kind.name, "attributes": given}


def range_tensors(low: Fraction | float, high: Fraction | float) -> tuple[Tensor, Tensor]:
    return scalar("float32", low), scalar("float32", high)


def binary_range(kind: IntegerType, mode: str) -> tuple[Fraction, Fraction]:
    """A range with a step of 1, so that all ties are inputs; a float32 only up to 24 bits."""
    return Fraction(kind.lowest), Fraction(kind.highest)


def ties(kind: IntegerType, mode: str, rounding: str, name: str) -> Iterator[Sample]:
    """Ties on a binary grid, then beside them on ranges off it."""
    roles: tuple[str, ...] = (
        *MODE_ROLES[mode],
        TIE_ROLES[rounding],
        "no-axis",
        "output-type",
        "real-type",
        "range-outputs",
    )
    if is_open(kind, mode):
        roles = ("signed-offset", "range-outputs")
    node = node_of(kind, mode, rounding)
    low, high = binary_range(kind, mode)
    flags = ("Tie", "NearTie", "RangeEdge", "Saturates", "AddHalf")
    below_half = [encode(HALF, F32) - 1, encode(-HALF, F32) - 1, 0x80000000, 1, 0x80000001]
    x = bits("float32", list(dict.fromkeys(aimed(kind, mode, low, high, dense=True) + below_half)))
    yield Sample(f"{name}-ties", node, (x, *range_tensors(low, high)), flags, roles)
    if is_open(kind, mode):
        return
    lane = [k % 61 - 30 + HALF for k in range(131)]
    x = reals("float32", lane if kind.signed else [abs(v) for v in lane])
    yield Sample(f"{name}-lanes", node, (x, *range_tensors(low, high)), ("Lane", "Tie"), roles)
    for label, low, high in (*RANGES, *((label, end, end + steps_of(kind)) for label, end in HALVES)):
        x = bits("float32", aimed(kind, mode, low, high))
        flags = ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal", "RangeEdge", "Saturates")
        yield Sample(f"{name}-range-{label}", node, (x, *range_tensors(low, high)), flags, roles)
    if rounding == "HALF_AWAY_FROM_ZERO":
        for label, low, high in HUGE_RANGES:
            codes = [code for code in aimed(kind, mode, low, high) if code & 0x7FFFFFFF < F32.infinity_bits]
            tensors = (bits("float32", codes), *range_tensors(low, high))
            yield Sample(f"{name}-huge-{label}", node, tensors, ("Overflow", "RangeEdge"), (*roles, "overflow"))
    far = [Fraction(sign * n) for n in (300, 70_000, 3 * 10**9, 10**19, 10**38) for sign in (1, -1)]
    tensors = (reals("float32", far), *range_tensors(Fraction(-10), Fraction(9)))
    yield Sample(f"{name}-far", node, tensors, ("Saturates", "Overflow"), (*roles, "clip"))


def special(kind: IntegerType, mode: str, rounding: str, name: str) -> Iterator[Sample]:
    """Inputs that the document leaves open, each beside specified ones."""
    node = node_of(kind, mode, rounding)
    x = reals("float32", [Fraction(0), Fraction(1), Fraction(-1), Fraction(5, 2), math.inf, -math.inf, math.nan, -0.0])
    yield Sample(f"{name}-nonfinite-input", node, (x, *range_tensors(Fraction(-2), Fraction(3))), (), ("special",))
    finite = reals("float32", [Fraction(0), Fraction(1), Fraction(-1), Fraction(5, 2)])
    largest = float(decode(F32.largest_bits, F32))
    for label, low, high, flags, role in (
        ("nan-range", math.nan, 1.0, (), "special"),
        ("infinite-range", -1.0, math.inf, (), "special"),
        ("inverted", 2.0, -2.0, (), "inverted"),
        ("no-width", 0.0, 0.0, ("NoWidth",), "no-width"),
        ("zero-outside", 1.0, 3.0, ("ZeroOutside",), "zero-outside"),
        ("zero-outside-below", -3.0, -1.0, ("ZeroOutside",), "zero-outside"),
        ("overflowing-range", -largest, largest, ("Overflow",), "overflow"),
        ("huge-range", -largest / 4, largest / 4, ("Overflow",), "overflow"),
    ):
        yield Sample(f"{name}-{label}", node, (finite, *plain_range(low, high)), flags, (role, "range-outputs"))
    yield from small_ranges(kind, mode, rounding, name)
    lengths = [Fraction(3, 1000), Fraction(1, 100), Fraction(-1, 500)]
    for label, least, width in (("too-small", 0.01, 0.004), ("at-least", 0.25, 0.25), ("wide-enough", 2.0, 4.0)):
        attributes = node_of(kind, mode, rounding, ensure_minimum_range=least)
        x = reals("float32", [length * int(width * 100) for length in lengths])
        role = "too-small" if label == "too-small" else "least-range"
        tensors = (x, *plain_range(-width / 4, width * 3 / 4))
        yield Sample(f"{name}-{label}", attributes, tensors, ("EnsuredRange",), (role,))


def plain_range(low: float, high: float) -> tuple[Tensor, Tensor]:
    return reals("float32", [fraction_or_float(low)], ()), reals("float32", [fraction_or_float(high)], ())


def fraction_or_float(value: float) -> Fraction | float:
    return Fraction(value) if math.isfinite(value) and value else value


def small_ranges(kind: IntegerType, mode: str, rounding: str, name: str) -> Iterator[Sample]:
    """Ranges of subnormal and of small normal ends; zero at one end, of either sign."""
    node, tiny = node_of(kind, mode, rounding), Fraction(2) ** -126
    for label, low, high in (
        ("subnormal", -tiny / 4, tiny / 2),
        ("small-normal", -tiny * 128, tiny * 127),
        ("small", -tiny * (1 << 20), tiny * (1 << 21)),
    ):
        x = reals("float32", [low + (high - low) * Fraction(i, 16) for i in range(-1, 18)])
        yield Sample(f"{name}-{label}", node, (x, *range_tensors(low, high)), ("Subnormal",), MODE_ROLES[mode])
    x = reals("float32", [Fraction(0), Fraction(1), Fraction(2), -0.0])
    tensors = (x, *plain_range(-0.0, 3.0))
    yield Sample(f"{name}-zero-end", node, tensors, ("NegativeZero",), ("zero-sign", "range-outputs"))


def per_axis(kind: IntegerType, mode: str, rounding: str, name: str, shape: tuple[int, ...], axis: int) -> Sample:
    """Ranges that all differ along the axis."""
    size, count = shape[axis], math.prod(shape)
    low = [Fraction(-(3 + j % 7), 4) for j in range(size)]
    high = [Fraction(5 + (3 * j) % 11, 3) for j in range(size)]
    x = reals("float32", [Fraction((37 * i) % 113 - 40, 27) for i in range(count)], shape)
    tensors = (x, reals("float32", low, (size,)), reals("float32", high, (size,)))
    flags = ("PerAxis", *(() if count else ("Empty",)))
    label = f"{name}-axis{axis}-{'x'.join(map(str, shape))}"
    roles = ("axis", "axis-shape", "shape", "range-shape")
    return Sample(label, node_of(kind, mode, rounding, axis=axis), tensors, flags, roles)


def defaults(kind: IntegerType) -> Iterator[Sample]:
    """No attribute given, then each given alone; ranks 0 and 3."""
    low, high = Fraction(-4), Fraction(11)
    x = bits("float32", aimed(kind, "MIN_COMBINED", low, high))
    tensors = (x, *range_tensors(low, high))
    node = {"quantized": kind.name, "attributes": {}}
    roles = ["combined", "half-away", "no-axis", "least-range"]
    yield Sample("defaults", node, tensors, ("Saturates", "NearTie"), tuple(roles))
    x = bits("float32", aimed(kind, "SCALED", low, high))
    node = {"quantized": kind.name, "attributes": {"mode": "SCALED"}}
    tensors = (x, *range_tensors(low, high))
    roles = ["scaled", "half-away", "even-only-scaled"]
    yield Sample("defaults-scaled", node, tensors, ("Saturates", "NearTie"), tuple(roles))
    for mode, rounding in SETTINGS:
        label = f"{mode.lower()}-{rounding.lower().removeprefix('half_')}"
        tensors = (scalar("float32", Fraction(5, 2)), *range_tensors(Fraction(0), Fraction(4)))
        yield Sample(f"{label}-rank-0", node_of(kind, mode, rounding), tensors, ("Scalar",), ("shape", "no-axis"))
        x = reals("float32", [Fraction(i, 3) for i in range(12)], (2, 3, 2))
        tensors = (x, *range_tensors(Fraction(0), Fraction(4)))
        yield Sample(f"{label}-rank-3", node_of(kind, mode, rounding), tensors, (), ("shape", "no-axis"))
        tensors = (reals("float32", [], (0,)), *range_tensors(Fraction(-1), Fraction(4)))
        yield Sample(f"{label}-empty", node_of(kind, mode, rounding), tensors, ("Empty",), ("shape", "range-outputs"))


def scaled_only(kind: IntegerType) -> Iterator[Sample]:
    """Ranges that show which side decides the factor: the nearer, either alone, none, nearly equal, or without zero."""
    for rounding in TIE_ROLES:
        node = node_of(kind, "SCALED", rounding)
        chosen = scaled_ranges(kind)
        for label, low, high in chosen if rounding == "HALF_AWAY_FROM_ZERO" else chosen[::2]:
            x = bits("float32", aimed(kind, "SCALED", low, high)[::3])
            roles = ("scale-factor", "idle-side", "adjusted-range", "range-outputs", TIE_ROLES[rounding])
            flags = ("AdjustedRange", "OneSide", "NearTie", *(("ZeroOutside",) if low > 0 or high < 0 else ()))
            tensors = (x, *range_tensors(low, high))
            yield Sample(f"scaled-{rounding.lower()}-{label}", node, tensors, flags, roles)


def below_zero(kind: IntegerType) -> Iterator[Sample]:
    """Ranges on one side of zero, whose nearer end would decide if signs were ignored."""
    if not kind.signed:
        return
    # only -10 decides; the ratio of the ends is nearer to 1 than that of T's highest to its lowest value
    near = {8: Fraction(-995, 100), 16: Fraction(-99999, 10000), 32: Fraction(-10)}[kind.bits]
    for rounding in TIE_ROLES:
        node = node_of(kind, "SCALED", rounding)
        for label, low, high in (("below", Fraction(-10), near), ("above", -near, Fraction(10))):
            x = bits("float32", aimed(kind, "SCALED", Fraction(-10), near)[::2] + one_sided(kind, low, high))
            roles = ("scale-factor", "idle-side", "adjusted-range", "range-outputs", TIE_ROLES[rounding])
            flags = ("AdjustedRange", "OneSide", "ZeroOutside", "RangeEdge", "Saturates")
            name = f"scaled-{rounding.lower()}-wholly-{label}-zero"
            yield Sample(name, node, (x, *range_tensors(low, high)), flags, roles)


def one_sided(kind: IntegerType, low: Fraction, high: Fraction) -> list[int]:
    """Bits of the ends of a range, of the adjusted one, and of a few inputs far inside and outside."""
    used = (bound / factor(kind, exact(low), exact(high)) for bound in (kind.lowest, kind.highest))
    values = (low, high, -low, -high, *used, Fraction(0), low / 3, high / 7, 2 * low, 2 * high)
    return list(dict.fromkeys(encode(exact(value), F32) for value in values))


def beyond(kind: IntegerType) -> Sample:
    """MIN_FIRST on a range whose upper end falls short of the highest value in float32: inputs there and beyond."""
    low, high = exact(Fraction("-35.36893081665039")), exact(Fraction("17.44512176513672"))
    inputs = (2 * high, neighbour_value(high, 1), high, neighbour_value(high, -1), Fraction(0), low, 2 * low)
    x = reals("float32", [*inputs, Fraction(10) ** 30, -(Fraction(10) ** 30)])
    node = node_of(kind, "MIN_FIRST", "HALF_AWAY_FROM_ZERO")
    return Sample("min_first-beyond", node, (x, *range_tensors(low, high)), ("RangeEdge",), ("clip", "clamp"))


def each_step(kind: IntegerType) -> Iterator[Sample]:
    """Ranges on which a step that is left unrounded shows: MIN_FIRST's width, SCALED's min_T, which is no float32."""
    away, rest = "HALF_AWAY_FROM_ZERO", ("NearTie", "ScaleNotPowerOfTwo")
    for label, mode, low, high, role in (
        ("width-0.7", "MIN_FIRST", Fraction(-1, 10), Fraction(6, 10), "range-scale"),
        ("width-0.3", "MIN_FIRST", Fraction(-1, 10), Fraction(2, 10), "range-scale"),
        ("max-side-5.9", "SCALED", Fraction(-5), Fraction(59, 10), "adjusted-range"),
        ("min-side-87.1", "SCALED", Fraction(-871, 10), Fraction(80), "scale-factor"),
    ):
        x = bits("float32", aimed(kind, mode, low, high)[::2] + [encode(2 * end, F32) for end in (low, high)])
        node = node_of(kind, mode, away, narrow_range=True)
        yield Sample(f"{mode.lower()}-step-{label}", node, (x, *range_tensors(low, high)), rest, (role,))


def scaled_ranges(kind: IntegerType) -> Sequence[tuple[str, Fraction, Fraction]]:
    low, high = Fraction(kind.lowest or -kind.highest), Fraction(kind.highest)
    return (
        ("document", Fraction(-10), Fraction(9)),
        ("max-side", Fraction(-9), Fraction(10)),
        ("only-above", Fraction(0), Fraction(7)),
        ("only-below", Fraction(-7), Fraction(0)),
        ("above-zero", Fraction(1), Fraction(10)),
        ("below-zero", Fraction(-10), Fraction(-1)),
        ("one-point", Fraction(5), Fraction(5)),
        ("nearly-even", low / 3, neighbour_value(high / 3, 1)),
        ("nearly-even-below", neighbour_value(low / 3, -1), high / 3),
        ("symmetric", -high / 8, high / 8),
    )


def neighbour_value(value: Fraction, steps: int) -> Fraction:
    return Fraction(decode(neighbour(encode(value, F32), F32, steps), F32))


def narrow(kind: IntegerType) -> Iterator[Sample]:
    """narrow_range in SCALED mode, and in modes that ignore it."""
    high = Fraction(kind.highest)
    for mode, rounding in SETTINGS:
        node = node_of(kind, mode, rounding, narrow_range=True)
        role = "narrow" if mode == "SCALED" else "narrow-elsewhere"
        label = f"{mode.lower()}-{rounding.lower().removeprefix('half_')}-narrow"
        ranges = (
            ("below", Fraction(-10), Fraction(9)),
            ("even", -high, high),
            ("above", Fraction(-9), Fraction(10)),
            ("thirds", Fraction(-4, 3), Fraction(1)),
        )
        for name, low, top in ranges if mode == "SCALED" else ranges[:1]:
            x = bits("float32", aimed(kind, mode, low, top)[::2])
            tensors = (x, *range_tensors(low, top))
            yield Sample(f"{label}-{name}", node, tensors, ("NarrowRange", "RangeEdge", "NearTie"), (role,))
    node = node_of(kind, "SCALED", "HALF_AWAY_FROM_ZERO", narrow_range=True)
    x = reals("float32", [Fraction(n) for n in (-10, -11, 0, 9, 10, 11, -(10**9))])
    tensors = (x, *range_tensors(Fraction(-10), Fraction(10)))
    yield Sample("scaled-narrow-lowest", node, tensors, ("NarrowRange", "RangeEdge", "Saturates"), ("narrow", "clip"))
    x = reals("float32", [Fraction(0), Fraction(1), Fraction(2), Fraction(-3)])
    tensors = (x, *range_tensors(Fraction(1), Fraction(2)))
    yield Sample("scaled-narrow-above-zero", node, tensors, ("NarrowRange", "ZeroOutside"), ("zero-outside",))


def witness_attributes(quantized: str) -> dict[str, dict[str, Any]]:
    """The attributes of the nodes that have witnesses, by the witnesses' names."""
    return {
        f"{quantized}-{mode}-{rounding}": {"mode": mode, "round_mode": rounding}
        for mode, rounding in SETTINGS
        if not is_open(INTEGER_TYPES[quantized], mode)
    }


def separating(quantized: str) -> Iterator[Sample]:
    """Inputs on which two of the plainest semantics differ, by range."""
    for kind, attributes in witness_attributes(quantized).items():
        roles = (*MODE_ROLES[attributes["mode"]], TIE_ROLES[attributes["round_mode"]])
        for number, ends, x in witnesses_of("tensorflow.QuantizeV2", kind):
            tensors = (bits("float32", x), *(bits("float32", [end], ()) for end in ends))
            node = {"quantized": quantized, "attributes": attributes}
            yield Sample(f"separating-{kind.lower()}-{number}", node, tensors, ("Separating",), roles)
