"""Golden vectors of tensorflow.FakeQuantWithMinMaxVars; the per-channel form takes ranges and values from here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, decode
from tiebreak.golden.samples.beside_midpoints import one_each
from tiebreak.golden.samples.model import Sample, Tensor, bits, real_code, reals, scalar, with_neighbouring_codes
from tiebreak.golden.samples.rounded_twice import DOUBLE

REAL = "float32"
SMALLEST = Fraction(1, 1 << 149)
LARGEST = Fraction(decode(FLOAT_TYPES[REAL].largest_bits, FLOAT_TYPES[REAL]))

# Name, min, max, flags, roles. The bounds are rounded to float32.
Range = tuple[str, Fraction, Fraction, tuple[str, ...], tuple[str, ...]]


def as_range(name: str, low: str, high: str, flags: Sequence[str], roles: Sequence[str]) -> Range:
    return name, Fraction(low), Fraction(high), tuple(flags), tuple(roles)


ZERO_INSIDE = ("scale", "nudge-min", "nudge-max")
RANGES = (
    as_range("document", "-0.5", "0.8", ["Nudged"], ZERO_INSIDE),
    as_range("unit", "0", "1", ["ScaleNotPowerOfTwo"], ZERO_INSIDE),
    as_range("minus-unit", "-1", "0", ["ScaleNotPowerOfTwo"], ZERO_INSIDE),
    as_range("symmetric", "-1", "1", ["Nudged"], ZERO_INSIDE),
    as_range("relu6", "0", "6", ["ScaleNotPowerOfTwo"], ZERO_INSIDE),
    as_range("nudged-down", "-0.1", "63.65", ["Nudged"], ZERO_INSIDE),
    as_range("nudged-up", "-0.4", "7.1", ["Nudged"], ZERO_INSIDE),
    as_range("nudged-to-top", "-63.65", "0.1", ["Nudged"], ZERO_INSIDE),
    as_range("wide", "-0.001", "30000", ["Nudged"], ZERO_INSIDE),
    as_range("above-zero", "2", "6", ["ZeroOutside"], ("positive-range",)),
    as_range("just-above-zero", "0.1", "0.7", ["ZeroOutside"], ("positive-range",)),
    as_range("far-above-zero", "1000", "1001.1", ["ZeroOutside"], ("positive-range",)),
    as_range("below-zero", "-6", "-2", ["ZeroOutside"], ("negative-range",)),
    as_range("just-below-zero", "-0.7", "-0.1", ["ZeroOutside"], ("negative-range",)),
)
EXAMPLE_FLAGS = ("Nudged", "Shape")


def documented_example() -> tuple[Tensor, Fraction, Fraction]:
    """Inputs, min and max of the document's one example."""
    values = ("1.2", "-0.3", "0.7", "2.1", "0.5", "-1.0")
    return reals(REAL, map(Fraction, values), (2, 3)), Fraction("-0.5"), Fraction("0.8")


def samples(input_type: str, output_type: str) -> Iterator[Sample]:
    x, low, high = documented_example()
    about = ("order", "clamp", "dequantize", "scale", "nudge-min", "nudge-max")
    yield Sample("documented-example", node(8, False), (x, scalar(REAL, low), scalar(REAL, high)), EXAMPLE_FLAGS, about)
    for name, low, high, flags, roles in RANGES:
        for narrow in (False, True):
            yield sample(f"{name}{'-narrow' * narrow}", low, high, 8, narrow, flags, roles)
            yield sample(f"{name}-4bit{'-narrow' * narrow}", low, high, 4, narrow, flags, roles)
    yield from widths()
    yield from ties()
    yield from extremes()
    yield from rounded_once()
    yield from every_shape()


def sample(
    name: str, low: Fraction, high: Fraction, width: int, narrow: bool, flags: Sequence[str], roles: Sequence[str]
) -> Sample:
    x = grid_inputs(low, high, width, narrow)
    flags = (*flags, "NearTie", *(("NarrowRange",) if narrow else ()))
    roles = (*roles, "levels", "clamp", "dequantize", *(("narrow", "narrow-scale") if narrow else ()), "order")
    return Sample(name, node(width, narrow), (x, scalar(REAL, low), scalar(REAL, high)), flags, roles)


def node(width: int, narrow: bool) -> dict[str, Any]:
    return {"real": REAL, "attributes": {"num_bits": width, "narrow_range": narrow}}


def grid_inputs(low: Fraction, high: Fraction, width: int, narrow: bool) -> Tensor:
    """Values at and beside the steps of the grid, its points and its ends, the range's ends, and beyond them."""
    low, high = in_float32(low), in_float32(high)
    steps = (1 << width) - 1 - narrow
    size = high - low
    start = Fraction(0) if low > 0 else -size if high < 0 else size / steps * round(low / size * steps)
    if steps <= 16:
        picked = list(range(steps + 1))
    else:
        middle = round(-start / size * steps)
        near_zero = range(middle - 3, middle + 4)
        picked = sorted({0, 1, 2, steps // 3, steps // 2, 2 * steps // 3, steps - 2, steps - 1, steps, *near_zero})
        picked = [k for k in picked if 0 <= k <= steps]
    ties = [real_code(start + (k + Fraction(1, 2)) * size / steps, REAL) for k in picked]
    points = [real_code(start + k * size / steps, REAL) for k in picked]
    ends = [real_code(v, REAL) for v in (low, high, start + size, low - size, high + size, low / 3, high / 3)]
    return bits(
        REAL,
        list(
            dict.fromkeys(
                [*with_neighbouring_codes(REAL, ties), *points, *with_neighbouring_codes(REAL, ends), 0, 1 << 31]
            )
        ),
    )


def in_float32(value: Fraction) -> Fraction:
    return Fraction(decode(real_code(value, REAL), FLOAT_TYPES[REAL]))


def widths() -> Iterator[Sample]:
    """Every number of bits, in a range whose scale is inexact, and in one whose scale is a power of two."""
    for width in range(2, 17):
        for narrow in (False, True):
            suffix = f"{width}{'-narrow' * narrow}"
            yield sample(f"bits-{suffix}", Fraction("-1.3"), Fraction("2.9"), width, narrow, ("Nudged",), ("num-bits",))
            steps = (1 << width) - 1 - narrow
            low = -Fraction(steps // 3, 4)
            yield sample(f"grid-{suffix}", low, low + Fraction(steps, 4), width, narrow, ("Tie",), ("num-bits", "tie"))
    x = grid_inputs(Fraction(-1), Fraction(2), 8, False)
    yield Sample(
        "defaults", {"real": REAL}, (x, scalar(REAL, -1), scalar(REAL, 2)), ("NearTie",), ("num-bits", "type", "levels")
    )


def ties() -> Iterator[Sample]:
    """min / scale is a tie, so that only elements that do not depend on the tie rule are specified."""
    for name, low, high, narrow in (
        ("half", "-0.125", "63.625", False),
        ("half-narrow", "-0.125", "63.375", True),
        ("half-middle", "-10", "10", False),
        ("half-large", "-31.625", "32.125", False),
    ):
        yield sample(f"tie-{name}", Fraction(low), Fraction(high), 8, narrow, ("Tie", "Nudged"), ("tie", "nudge-min"))


def extremes() -> Iterator[Sample]:
    """Ranges that are tiny, huge, empty, reversed, NaN or infinite, and such inputs."""
    tiny = (-1000 * SMALLEST, 4000 * SMALLEST)
    small = (-Fraction(1, 1 << 126), Fraction(3, 1 << 126))
    for name, (low, high), flags, role in (
        ("subnormal-range", tiny, ("Subnormal",), "scale"),
        ("smallest-normal-range", small, ("Subnormal",), "scale"),
        ("underflowing-scale", (-3 * SMALLEST, 5 * SMALLEST), ("Subnormal",), "overflow"),
        ("quarter-largest-range", (-LARGEST / 4, LARGEST / 4), ("Overflow",), "scale"),
        ("largest-range", (-LARGEST, LARGEST), ("Overflow",), "overflow"),
        ("largest-positive-range", (Fraction(0), LARGEST), ("Overflow",), "overflow"),
    ):
        yield sample(name, low, high, 8, False, flags, (role,))
    for name, top in (("power-step", Fraction(2) ** 126), ("largest-step", Fraction(2) ** 126 * 3 / 2)):
        yield sample(name, -top, top, 2, True, ("HugeScale",), ("scale",))
        yield sample(f"{name}-positive", Fraction(0), top * 2, 2, True, ("HugeScale",), ("scale",))
    plain = bits(REAL, [real_code(Fraction(v, 2), REAL) for v in range(-4, 5)])
    for name, first, last in (("zero-range", 0, 0), ("one-point", 1, 1), ("reversed", 1, -1), ("reversed-above", 3, 2)):
        limits = (scalar(REAL, first), scalar(REAL, last))
        yield Sample(name, node(8, False), (plain, *limits), ("NoRange",), ("degenerate",))
    odd = bits(REAL, [real_code(v, REAL) for v in (math.inf, -math.inf, math.nan, -0.0, 0.0, Fraction(1, 3))])
    yield Sample(
        "special-inputs",
        node(8, False),
        (odd, scalar(REAL, -1), scalar(REAL, 1)),
        ("Infinity", "NaN"),
        ("special", "zero-sign"),
    )
    for name, low_, high_ in (("nan-min", math.nan, 1.0), ("infinite-max", -1.0, math.inf)):
        yield Sample(name, node(8, False), (plain, scalar(REAL, low_), scalar(REAL, high_)), (), ("special",))


def rounded_once() -> Iterator[Sample]:
    """Steps of the grid that float64 rounds onto a midpoint."""
    for width, narrow in ((8, False), (8, True), (16, False)):
        for step, value, low, high in islice(steps_rounded_twice(width, narrow), 4):
            tensors = (reals(REAL, [value]), scalar(REAL, low), scalar(REAL, high))
            name = f"rounded-once-{width}{'-narrow' * narrow}-{step}"
            yield Sample(name, node(width, narrow), tensors, ("RoundedTwice",), ("dequantize", "scale"))


def steps_rounded_twice(width: int, narrow: bool) -> Iterator[tuple[int, Fraction, Fraction, Fraction]]:
    """Steps of the grid, each with its value, min and max; min is small and holds the lower half of max - min."""
    steps = (1 << width) - 1 - narrow
    known = range(steps // 3 | 1, steps, 2)
    for step, size in one_each(known, FLOAT_TYPES[REAL], DOUBLE, bits=48, divisor=steps):
        low, high = Fraction(-(size % (1 << 24)), 1 << 48), Fraction(size >> 24, 1 << 24)
        yield step, step * Fraction(size, steps << 48), low, high


def every_shape() -> Iterator[Sample]:
    for shape in ((), (0,), (2, 0, 3), (7,), (2, 3), (3, 2, 2), (2, 3, 2, 3), (67,)):
        x = scattered_values(shape, Fraction(-7, 10), Fraction(17, 10))
        flags = ("Scalar",) if not shape else ("Empty",) if 0 in shape else ("Lane",) if shape == (67,) else ("Shape",)
        limits = (scalar(REAL, Fraction("-0.6")), scalar(REAL, Fraction("1.5")))
        name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}"
        yield Sample(name, node(8, False), (x, *limits), flags, ("shape", "range"))


def scattered_values(shape: tuple[int, ...], low: Fraction, high: Fraction) -> Tensor:
    """Values between low and high, in scattered order."""
    count = math.prod(shape)
    values = [low + (high - low) * ((7 * i + 3) % 101) / 101 for i in range(count)]
    return bits(REAL, [real_code(value, REAL) for value in values], shape)
