"""Golden vectors of openvino.FakeQuantize."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from tiebreak.golden.elements import FLOAT_TYPES, FloatType, decode, encode, neighbour
from tiebreak.golden.samples.beside_midpoints import changes, means, odd_significands
from tiebreak.golden.samples.model import Sample, Tensor, bits, reals, scalar
from tiebreak.golden.samples.rounded_twice import DOUBLE, range_ends
from tiebreak.golden.vector_inputs.by_witness import witnesses_of

Value = Fraction | float | int
Limits = tuple[Value, Value, Value, Value]  # input_low, input_high, output_low, output_high
HALF = Fraction(1, 2)

# Levels with a range whose step is a power of two, so that ties are exact in every type.
EVEN_STEPS: tuple[tuple[int, Limits], ...] = (
    (2, (0, 1, -1, 1)),
    (3, (-1, 1, 0, 2)),
    (5, (-2, 2, 0, 1)),
    (9, (0, 8, 0, 8)),
    (9, (-4, 4, -1, 3)),
    (17, (0, 4, -8, 8)),
    (65, (-8, 8, 0, 16)),
)
# Anything else: no step, range or level count is a power of two.
ODD_STEPS: tuple[tuple[int, Limits], ...] = (
    (2, (Fraction(-13, 10), Fraction(27, 10), Fraction(-9, 10), Fraction(31, 10))),
    (3, (Fraction(1, 10), Fraction(7, 10), Fraction(-1, 3), Fraction(5, 7))),
    (4, (0, 23, 2, 16)),
    (5, (3, 17, 2, 16)),
    (15, (Fraction(-7, 10), Fraction(7, 10), Fraction(-7, 10), Fraction(7, 10))),
    (16, (Fraction(-8, 10), Fraction(7, 10), Fraction(-8, 10), Fraction(7, 10))),
    (17, (Fraction(7, 10), Fraction(65, 10), Fraction(77, 100), Fraction(17, 10))),
    (24, (0, 23, 0, 23)),
    (100, (Fraction(-1, 3), Fraction(2, 3), Fraction(-12, 7), Fraction(9, 7))),
    (255, (Fraction(-127, 100), Fraction(127, 100), Fraction(-127, 100), Fraction(127, 100))),
    (255, (-1, 1, -1, 1)),
    (256, (0, 255, 0, 255)),
    (256, (Fraction(-128, 100), Fraction(127, 100), Fraction(-128, 100), Fraction(127, 100))),
    (256, (0, 6, 0, 6)),
    (256, (-1, 1, 0, 4)),
    (256, (Fraction(7, 10), Fraction(7, 2), Fraction(-5, 4), Fraction(-13, 5))),
    (1000, (Fraction(-3, 7), Fraction(5, 3), Fraction(-3, 7), Fraction(5, 3))),
)
MANY = (
    2048,
    2049,
    4096,
    65535,
    65536,
    65537,
    (1 << 20) + 1,
    (1 << 24) + 2,
    (1 << 31) - 1,
    (1 << 40) + 5,
    (1 << 62) + 3,
)

SEPARATED = (16, 256)  # levels, for which witnesses are kept

# Shape of X, then of each limit.
BROADCASTS: tuple[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], ...] = (
    ((2, 3, 4), ((), (), (), ())),
    ((2, 1, 2, 3, 2), ((3, 1), (), (2, 1, 1, 1, 1), (2,))),
    ((2, 1, 2, 1, 2, 3), ((3,), (2, 1, 1, 1), (), (2, 1, 1, 1, 1, 1))),
    ((2, 3, 4), ((1,), (1, 1), (1, 1, 1), ())),
    ((2, 3, 4), ((4,), (4,), (4,), (4,))),
    ((2, 3, 4), ((3, 1), (3, 1), (3, 1), (3, 1))),
    ((2, 3, 4), ((2, 1, 1), (2, 1, 1), (2, 1, 1), (2, 1, 1))),
    ((2, 3, 4), ((1, 3, 1), (1, 3, 1), (1, 1, 1), (1, 1, 1))),
    ((2, 3, 4), ((1, 1, 1), (1,), (1, 3, 1), (3, 1))),
    ((2, 3, 4), ((2, 1, 4), (2, 1, 4), (3, 4), (3, 4))),
    ((2, 3, 4), ((2, 3, 4), (2, 3, 4), (2, 3, 4), (2, 3, 4))),
    ((2, 3, 4), ((4,), (3, 1), (2, 1, 1), (2, 3, 4))),
    ((2, 3, 4), ((2, 3, 4), (2, 1, 1), (3, 1), (4,))),
    ((3, 3, 3), ((3,), (3,), (3,), (3,))),
    ((3, 3, 3), ((3, 1), (3, 1), (3, 1), (3, 1))),
    ((3, 3, 3), ((3, 1, 1), (3, 1, 1), (3, 1, 1), (3, 1, 1))),
    ((3, 3, 3), ((3, 3), (3, 1, 3), (3, 3, 1), (3,))),
    ((2, 2, 2, 2), ((2, 1, 1), (2, 1, 1), (1, 2, 1, 1), (2, 1, 1))),
    ((1, 3, 2, 5), ((1, 3, 1, 1), (1, 3, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1))),
    ((1, 3, 2, 5), ((1, 3, 1, 1), (1, 3, 1, 1), (1, 3, 1, 1), (1, 3, 1, 1))),
    ((2, 3, 2, 3), ((2, 1, 2, 1), (1, 3, 1, 3), (3, 1, 1), (3,))),
    ((3, 1), ((3, 1), (), (1, 1), (1,))),
    ((5, 67), ((5, 1), (5, 1), (5, 1), (5, 1))),
    ((3, 67), ((67,), (), (67,), ())),
    ((7,), ((7,), (7,), (7,), (7,))),
    ((7,), ((), (7,), (1,), (7,))),
    ((), ((), (), (), ())),
    ((0,), ((), (1,), (0,), ())),
    ((2, 0, 3), ((3,), (0, 1), (2, 1, 1), (2, 0, 3))),
)


def samples(real: str, _output: str) -> Iterator[Sample]:
    yield from ties(real)
    yield from staircases(real)
    yield from edges(real)
    yield from equal_limits(real)
    yield from reversals(real)
    yield from by_channel(real)
    yield from sizes(real)
    yield from huge_steps(real)
    yield from rounded_once(real)
    yield from many_levels(real)
    yield from near_zero(real)
    yield from unspecified(real)
    yield from broadcasts(real)
    yield from lanes(real)
    yield from separating(real)


def sample(
    theme: str, real: str, levels: int, limits: Sequence[Value], x: Tensor, flags: Sequence[str], roles: Sequence[str]
) -> Sample:
    """A sample with scalar limits."""
    tensors = (x, *(scalar(real, limit) for limit in limits))
    return Sample(theme, {"real": real, "attributes": {"levels": levels}}, tensors, tuple(flags), tuple(roles))


def values_of(real: str, limits: Sequence[Value]) -> list[Fraction]:
    """The limits as the type holds them."""
    kind = FLOAT_TYPES[real]
    held = [decode(encode(Fraction(limit), kind), kind) for limit in limits]
    return [value for value in held if isinstance(value, Fraction)]


def points(real: str, levels: int, limits: Sequence[Value], at: Sequence[Fraction], steps: Sequence[int]) -> list[int]:
    """Bits of the x for which the argument of round is nearest to each of `at`, and their neighbours at `steps`."""
    kind = FLOAT_TYPES[real]
    low, high, *_ = values_of(real, limits)
    centres = [encode(low + (high - low) * q / (levels - 1), kind) for q in at]
    return list(dict.fromkeys(neighbour(code, kind, step) for code in centres for step in steps))


def some(levels: int, most: int) -> list[int]:
    """At most `most` levels, evenly spread, with both ends."""
    if levels <= most:
        return list(range(levels))
    return sorted({round(Fraction(i * (levels - 1), most - 1)) for i in range(most)})


def name_of(limits: Sequence[Value]) -> str:
    return "_".join(f"{float(limit):.3g}" for limit in limits)


def ties(real: str) -> Iterator[Sample]:
    """Exact ties, alone; and their neighbours, which every nearest rule rounds alike."""
    for levels, limits in EVEN_STEPS:
        halves = [k + HALF for k in range(levels - 1)]
        name, roles = f"L{levels}-{name_of(limits)}", ("nearest", "position", "quotient")
        x = bits(real, points(real, levels, limits, halves, (0,)))
        yield sample(f"tie-{name}", real, levels, limits, x, ("Tie",), ("mode", "nearest"))
        x = bits(real, points(real, levels, limits, halves, (-2, -1, 1, 2)))
        yield sample(f"beside-a-tie-{name}", real, levels, limits, x, ("NearTie",), roles)
        x = bits(real, points(real, levels, limits, [Fraction(k) for k in range(levels)], (0,)))
        yield sample(f"level-{name}", real, levels, limits, x, (), ("fraction", "product", "sum", "levels"))


def staircases(real: str) -> Iterator[Sample]:
    """Both sides of every step, and the levels themselves, where steps and ranges are not powers of two."""
    for levels, limits in ODD_STEPS:
        kept = some(levels, 25)
        name, flags = f"L{levels}-{name_of(limits)}", ("NearTie", "ScaleAndShift")
        steps = points(real, levels, limits, [k + HALF for k in kept[:-1]], (-1, 0, 1))
        yield sample(
            f"steps-{name}", real, levels, limits, bits(real, steps), flags, ("quotient", "position", "nearest")
        )
        at = [*map(Fraction, kept), *(Fraction(37 * i % 101, 101) * (levels - 1) for i in range(15))]
        grid = points(real, levels, limits, at, (0,))
        roles = ("fraction", "product", "sum", "levels", "input-type", "output-type")
        yield sample(f"grid-{name}", real, levels, limits, bits(real, grid), ("ScaleAndShift", "OutputStep"), roles)


def edges(real: str) -> Iterator[Sample]:
    """The limits and what lies beside and far beyond them; infinities too."""
    kind = FLOAT_TYPES[real]
    far = [kind.largest_bits, kind.infinity_bits]
    negative = [code | 1 << (kind.bits - 1) for code in far]
    for levels, limits in (*EVEN_STEPS[:4], *ODD_STEPS[:3], ODD_STEPS[11]):
        low, high = (encode(Fraction(limit), kind) for limit in limits[:2])
        near = [neighbour(code, kind, step) for code in (low, high) for step in (-2, -1, 0, 1, 2)]
        x = bits(real, list(dict.fromkeys([*near, *far, *negative, 0, 1 << (kind.bits - 1)])))
        flags, roles = ("InputEdge", "InfiniteInput"), ("below", "above", "infinity")
        yield sample(f"edges-L{levels}-{name_of(limits)}", real, levels, limits, x, flags, roles)


def equal_limits(real: str) -> Iterator[Sample]:
    """input_low = input_high, with two levels and with more."""
    kind = FLOAT_TYPES[real]
    for levels in (2, 5, 256):
        for limit in (Fraction(1), Fraction(0), Fraction(-3, 10)):
            at = encode(limit, kind)
            codes = [neighbour(at, kind, step) for step in (-2, -1, 0, 1, 2)]
            codes += [
                0,
                1 << (kind.bits - 1),
                kind.infinity_bits,
                encode(Fraction(-5), kind),
                encode(Fraction(5), kind),
            ]
            limits = (limit, limit, Fraction(-5, 3), Fraction(7, 3))
            flags, roles = ("EqualLimits", "InputEdge"), ("equal-limits", "below", "above")
            tensor = bits(real, list(dict.fromkeys(codes)))
            yield sample(f"equal-L{levels}-at-{float(limit):.3g}", real, levels, limits, tensor, flags, roles)
    x = bits(real, [1 << (kind.bits - 1), 0, 1, 1 << (kind.bits - 1) | 1])
    yield sample("equal-at-negative-zero", real, 2, (-0.0, 0, -1, 1), x, ("EqualLimits",), ("equal-limits",))


def reversals(real: str) -> Iterator[Sample]:
    """input_low > input_high, output_low > output_high, output_low = output_high, and both."""
    for levels, limits, flag, role in (
        (2, (2, 1, -1, 3), "ReversedInput", "reversed"),
        (5, (2, 1, 0, 4), "ReversedInput", "reversed"),
        (17, (4, -4, -1, 1), "ReversedInput", "reversed"),
        (256, (Fraction(13, 10), Fraction(-7, 10), Fraction(1, 10), Fraction(9, 10)), "ReversedInput", "reversed"),
        (5, (0, 2, 4, 0), "ReversedOutput", "falling"),
        (9, (-1, 1, 1, -3), "ReversedOutput", "falling"),
        (256, (Fraction(-7, 10), Fraction(13, 10), Fraction(9, 10), Fraction(-1, 10)), "ReversedOutput", "falling"),
        (16, (Fraction(-7, 10), Fraction(13, 10), Fraction(1, 3), Fraction(1, 3)), "ReversedOutput", "flat"),
        (7, (Fraction(3, 2), Fraction(-1, 2), -2, 5), "ReversedInput", "reversed"),
        (255, (1, Fraction(1, 10), Fraction(-1, 3), Fraction(2, 3)), "ReversedInput", "reversed"),
    ):
        at = [k + d for k in some(levels, 20) for d in (Fraction(0), Fraction(1, 4), Fraction(5, 8))]
        beyond = [Fraction(-2), Fraction(-1, 8), *at, levels - 1 + Fraction(1, 8), Fraction(levels + 2)]
        x = bits(real, points(real, levels, limits, beyond, (0,)))
        name = f"{'input' if role == 'reversed' else 'output'}-L{levels}-{name_of(limits)}"
        yield sample(f"reversed-{name}", real, levels, limits, x, (flag,), (role, "below", "above"))


def by_channel(real: str) -> Iterator[Sample]:
    """Equal, reversed and usual limits of each channel in tensors of rank 2 and 4, where runtimes take other paths."""
    low, high = (Fraction(1), Fraction(5, 4), Fraction(-1, 2)), (Fraction(2), Fraction(13, 4), Fraction(3, 2))
    first, last = (Fraction(0), Fraction(-1), Fraction(2)), (Fraction(4), Fraction(5), Fraction(-2))
    kinds = (("equal", low, low, "EqualLimits", "equal-limits"), ("reversed", high, low, "ReversedInput", "reversed"))
    for name, lows, highs, flag, role in (*kinds, ("usual", low, high, "PerAxis", "projection")):
        for levels in (2, 256):
            for shape in ((4, 3), (1, 3, 2, 2)):
                own = (3,) if len(shape) == 2 else (3, *(1 for _ in shape[2:]))
                limits = [reals(real, values, own) for values in (lows, highs, first, last)]
                x = reals(real, [Fraction(11 * i % 29, 8) - Fraction(5, 8) for i in range(math.prod(shape))], shape)
                node = {"real": real, "attributes": {"levels": levels}}
                theme = f"channels-{name}-L{levels}-rank{len(shape)}"
                yield Sample(theme, node, (x, *limits), (flag, "PerAxis"), (role, "below", "above", "projection"))


def sizes(real: str) -> Iterator[Sample]:
    """Subnormal and huge ranges; the widest ranges overflow in working precision."""
    kind = FLOAT_TYPES[real]
    least, largest = Fraction(2) ** (kind.emin - kind.precision + 1), decode(kind.largest_bits, kind)
    assert isinstance(largest, Fraction)
    tiny = Fraction(2) ** kind.emin
    for name, levels, limits, flags, role in (
        ("subnormal-input", 5, (0, 40 * least, -1, 3), ("Subnormal",), "quotient"),
        ("subnormal-step", 9, (0, tiny, -1, 3), ("Subnormal",), "quotient"),
        ("subnormal-output", 5, (-1, 1, 0, 40 * least), ("Subnormal",), "product"),
        ("small-output", 5, (-1, 1, -tiny, tiny), ("Subnormal",), "product"),
        ("below-half-the-least", 9, (0, 1, -least, least), ("Subnormal",), "sum"),
        ("small-both", 16, (-3 * tiny, 3 * tiny, -3 * tiny, 3 * tiny), ("Subnormal",), "quotient"),
        ("huge", 5, (-largest / 4, largest / 4, -largest / 4, largest / 4), ("Overflow",), "product"),
        ("huge-positive", 16, (largest / 2, largest, largest / 2, largest), ("Overflow",), "product"),
        ("widest-input", 5, (-largest, largest, -1, 1), ("Overflow",), "overflow"),
        ("widest-output", 5, (-1, 1, -largest, largest), ("Overflow",), "overflow"),
    ):
        at = [Fraction(k, 4) + Fraction(1, 16) for k in range(-4, 4 * (levels - 1) + 4)]
        x = bits(real, [code for code in points(real, levels, limits, at, (0,)) if finite(code, kind)])
        yield sample(f"size-{name}", real, levels, limits, x, flags, (role, "overflow"))


def huge_steps(real: str) -> Iterator[Sample]:
    """Steps whose reciprocals are the least normal number or subnormal: of the input range, the output range, both."""
    kind = FLOAT_TYPES[real]
    top = Fraction(2) ** kind.emax
    for name, levels, ends in (("2", 2, (0, top)), ("3", 3, (-top / 2, top / 2)), ("4", 4, (0, top * 3 / 2))):
        for which, limits in (("input", (*ends, -1, 2)), ("output", (-1, 2, *ends)), ("both", (*ends, *ends))):
            at = [Fraction(k, 8) for k in range(-1, 8 * (levels - 1) + 2)]
            x = bits(real, [code for code in points(real, levels, limits, at, (-1, 0, 1)) if finite(code, kind)])
            roles = ("quotient", "product", "overflow")
            yield sample(f"step-{name}-{which}", real, levels, limits, x, ("HugeScale", "Tie", "NearTie"), roles)


def rounded_once(real: str) -> Iterator[Sample]:
    """Levels whose outputs float32, or float64, rounds onto a midpoint of the type."""
    roles = ("product", "sum", "levels")
    for name, intervals, limits, codes in (*double_steps(real), *single_steps(real)):
        x = bits(real, codes)
        yield sample(f"rounded-once-{name}", real, intervals + 1, limits, x, ("RoundedTwice",), roles)


def single_steps(real: str) -> Iterator[tuple[str, int, Limits, list[int]]]:
    if real not in ("float16", "bfloat16"):
        return
    kind, counts = FLOAT_TYPES[real], (16383,) if real == "float16" else range(100003, 101003, 8)
    found = range_ends(kind, counts, 8, same=False)
    for number, (intervals, end, codes) in enumerate(itertools.islice(found, 6)):
        yield str(number), intervals, (0, 1, 0, end), codes


def double_steps(real: str) -> Iterator[tuple[str, int, Limits, list[int]]]:
    """Usual level counts for float32, and for narrower types so many that no division by levels - 1 is exact."""
    kind = FLOAT_TYPES[real]
    if real in ("float16", "bfloat16"):
        many, x = (1 << 54) + 1, Fraction(5, 8)
        for first, last in itertools.islice(ends_of_many(kind, Fraction(round(x * many), many)), 6):
            yield f"many-{first}-{last}", many, (0, 1, first, last), [encode(x, kind)]
    if real == "float32":
        for intervals in (255, 65535):
            for level, low, high in itertools.islice(means(intervals, range(intervals // 2 + 1, intervals), kind), 4):
                yield f"L{intervals + 1}-{level}", intervals, (0, intervals, low, high), [encode(Fraction(level), kind)]


def ends_of_many(kind: FloatType, part: Fraction) -> Iterator[tuple[int, int]]:
    """Ends of the output range, with the `part` of the way from one to the other beside a midpoint."""
    for high in odd_significands(kind):
        found = (low for low in range(-1, -32, -2) if changes(low + part * (high - low), kind, DOUBLE))
        yield from ((low, high) for low in itertools.islice(found, 1))


def finite(code: int, kind: FloatType) -> bool:
    return code & ~(1 << (kind.bits - 1)) < kind.infinity_bits


def many_levels(real: str) -> Iterator[Sample]:
    """Level counts around and beyond the type's precision."""
    for levels in MANY:
        for limits in ((0, 1, 0, 1), (Fraction(-3, 10), Fraction(11, 10), Fraction(-2, 3), Fraction(7, 3))):
            at = [Fraction(k) + d for k in some(levels, 7) for d in (Fraction(0), Fraction(2, 5), Fraction(3, 5))]
            x = bits(real, points(real, levels, limits, at, (-1, 0, 1)))
            flags, roles = ("ManyLevels",), ("levels", "wide-levels", "position")
            yield sample(f"many-{levels}-{name_of(limits)}", real, levels, limits, x, flags, roles)


def near_zero(real: str) -> Iterator[Sample]:
    """Levels whose sum with output_low is nearly zero, which reveals the order of steps and fused ones."""
    for levels, output in (
        (3, (-1, 1)),
        (255, (-1, 1)),
        (255, (Fraction(-127, 100), Fraction(127, 100))),
        (256, (Fraction(-128, 100), Fraction(127, 100))),
        (7, (Fraction(-1, 3), Fraction(1, 6))),
        (10, (Fraction(-1, 10), Fraction(8, 10))),
    ):
        low, high = output
        zero = round(Fraction(-low * (levels - 1), high - low))
        at = [Fraction(k) + d for k in (zero - 1, zero, zero + 1) for d in (Fraction(0), Fraction(1, 3))]
        limits = (-1, 2, low, high)
        x = bits(real, points(real, levels, limits, at, (0,)))
        roles = ("sum", "zero-sign", "product")
        yield sample(f"near-zero-L{levels}-{name_of(output)}", real, levels, limits, x, ("Cancellation",), roles)
    for name, last in (("low", (-0.0, 4)), ("high", (-4, -0.0))):
        x = reals(real, [-3.0, -0.0, 0.0, 3.0])
        yield sample(f"negative-zero-{name}", real, 5, (-1, 1, *last), x, ("NegativeZero",), ("zero-sign",))


def unspecified(real: str) -> Iterator[Sample]:
    """NaN, and infinite limits, on which the document is silent."""
    x = reals(real, [math.nan, -math.nan])
    yield sample("nan-x", real, 5, (0, 4, 0, 4), x, ("NaN",), ("nan",))
    values = reals(real, [-1.0, 0.0, 1.5, 5.0])
    for position, name in enumerate(("input_low", "input_high", "output_low", "output_high")):
        for text, special, role in (("nan", math.nan, "nan"), ("inf", math.inf, "infinite-limit")):
            limits: list[Value] = [0, 4, 0, 4]
            limits[position] = special if name.endswith("high") else -special
            flags = ("NaN" if role == "nan" else "Infinity",)
            yield sample(f"{text}-{name}", real, 5, limits, values, flags, (role,))


def broadcasts(real: str) -> Iterator[Sample]:
    """Limits that differ along every axis on which they vary, each of its own shape."""
    for shape, shapes in BROADCASTS:
        yield broadcast(real, shape, shapes, "numpy")
    for shape in ((2, 3, 4), (3, 3), (5,), (), (0, 2)):
        yield broadcast(real, shape, (shape,) * 4, "none")


def broadcast(real: str, shape: tuple[int, ...], shapes: tuple[tuple[int, ...], ...], rule: str) -> Sample:
    name = "-".join("x".join(map(str, s)) or "scalar" for s in (shape, *shapes))
    tensors = [reals(real, [Fraction(7 * i % 23, 4) - Fraction(3, 16) for i in range(math.prod(shape))], shape)]
    grids = ((0, Fraction(1, 4)), (3, Fraction(1)), (-4, Fraction(1)), (6, Fraction(5, 8)))
    for (start, step), wanted in zip(grids, shapes, strict=True):
        tensors.append(reals(real, [start + step * (j % 7) for j in range(math.prod(wanted))], wanted))
    node = {"real": real, "attributes": {"levels": 6, "auto_broadcast": rule}}
    roles = ("none",) if rule == "none" else ("projection", "broadcast-values")
    return Sample(f"{rule}-{name}", node, tuple(tensors), broadcast_flags(shape, shapes), (*roles, "shape"))


def broadcast_flags(shape: tuple[int, ...], shapes: tuple[tuple[int, ...], ...]) -> tuple[str, ...]:
    varying = {tuple(size > 1 for size in (1,) * (len(shape) - len(s)) + s) for s in shapes}
    most = max(sum(axes) for axes in varying)
    found = {
        "Scalar": shape == (),
        "Empty": 0 in shape,
        "PerAxis": most == 1,
        "MultiAxis": most > 1,
        "MixedShapes": len(varying) > 1,
    }
    return tuple(flag for flag, holds in found.items() if holds)


def lanes(real: str) -> Iterator[Sample]:
    """Longer than any SIMD width, with values on every side of every limit in each lane and in the tail."""
    for count in (67, 131):
        x = reals(real, [Fraction(5 * i % 19, 2) - Fraction(19, 16) for i in range(count)])
        limits = (0, 7, Fraction(-3, 5), Fraction(9, 5))
        roles = ("nearest", "below", "above")
        yield sample(f"lanes-{count}", real, 6, limits, x, ("Lane",), roles)


def separating(real: str) -> Iterator[Sample]:
    """Inputs on which two of the plainest semantics differ, by limits."""
    roles = ("quotient", "position", "nearest", "fraction", "product", "sum")
    for levels in SEPARATED:
        for number, limits, x in witnesses_of("openvino.FakeQuantize", f"{real}-{levels}"):
            tensors = (bits(real, x), *(bits(real, [limit], ()) for limit in limits))
            node = {"real": real, "attributes": {"levels": levels}}
            yield Sample(f"separating-L{levels}-{number}", node, tensors, ("Separating",), roles)
