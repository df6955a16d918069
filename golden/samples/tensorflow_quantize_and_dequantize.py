"""Golden vectors of tensorflow.QuantizeAndDequantizeV4."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, FloatType, decode
from tiebreak.golden.samples.beside_midpoints import factors, odd_significands
from tiebreak.golden.samples.model import Sample, Tensor, bits, real_code, reals, scalar, with_neighbouring_codes
from tiebreak.golden.samples.rounded_twice import DOUBLE, range_ends

# Ranges: name, input_min, input_max, flags and roles.
RANGES = (
    ("document-min", Fraction(-10), Fraction(5), ("OneSide",), ("side",)),
    ("document-max", Fraction(-10), Fraction(10), ("OneSide",), ("side",)),
    ("unit", Fraction(-1), Fraction(1), ("ScaleNotPowerOfTwo",), ("scale",)),
    ("thirds", Fraction(-1, 3), Fraction(2, 3), ("ScaleNotPowerOfTwo",), ("scale",)),
    ("above-zero", Fraction(2), Fraction(7, 2), ("ZeroOutside",), ("side",)),
    ("small-min", Fraction(-1, 100), Fraction(9, 7), ("OneSide",), ("side",)),
    ("small-max", Fraction(-9, 7), Fraction(1, 100), ("OneSide",), ("side",)),
)
SIGNED_ONLY = (("below-zero", Fraction(-7, 2), Fraction(-2), ("ZeroOutside",), ("side",)),)
SHAPES: tuple[tuple[tuple[int, ...], int], ...] = (
    ((4,), 0), ((2, 3), 0), ((2, 3), 1), ((3, 3), 0), ((3, 3), 1), ((2, 3, 4), 0), ((2, 3, 4), 1), ((2, 3, 4), 2),
    ((2, 2, 2, 2), 1), ((2, 3, 2, 3), 1), ((2, 3, 2, 3), 3), ((1, 1), 1),
)  # fmt: skip
PLAIN_SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (2, 0, 3), (5,), (2, 3), (2, 3, 2), (2, 2, 3, 2), (67,))


def samples(real: str, output_type: str) -> Iterator[Sample]:
    kind = FLOAT_TYPES[real]
    for signed, round_mode, narrow in itertools.product((True, False), ("HALF_TO_EVEN", "HALF_UP"), (False, True)):
        every = (*RANGES, *(SIGNED_ONLY if signed else ()))
        for limits in every if signed and round_mode == "HALF_TO_EVEN" else RANGES[1:4]:
            yield given(kind, limits, setting(signed, 8, round_mode, narrow))
    yield from one_sided(kind)
    yield from widths(kind)
    yield from tie_grids(kind)
    yield from measured(kind)
    for shape, axis in SHAPES:
        yield from per_slice(kind, shape, axis)
    for shape in PLAIN_SHAPES:
        yield from plain_shapes(kind, shape)
    yield from extremes(kind)
    yield from huge_steps(kind)
    yield from rounded_once(kind)


def one_sided(kind: FloatType) -> Iterator[Sample]:
    """Ranges without 0: unsigned with a positive input_min, and signed with ends of nearly the same size."""
    unsigned = setting(False, 8, "HALF_TO_EVEN", False)
    node = {"real": kind.name, "attributes": unsigned | {"range_given": True}}
    x = reals(kind.name, [Fraction(k, 20) for k in (-5, 0, 1, 5, 7, 8, 9, 20, 24)])
    tensors = (x, scalar(kind.name, Fraction(2, 5)), scalar(kind.name, 1))
    roles = ("unsigned", "unsigned-minimum", "clamp", "range-given")
    yield Sample("positive-minimum-unsigned", node, tensors, ("ZeroOutside",), roles)
    for name, low, high in (
        ("far-below-zero", Fraction(-10), Fraction(-199, 20)),
        ("far-above-zero", Fraction(199, 20), Fraction(10)),
    ):
        yield given(kind, (name, low, high, ("ZeroOutside",), ("side",)), setting(True, 8, "HALF_TO_EVEN", False))


def huge_steps(kind: FloatType) -> Iterator[Sample]:
    """Ranges whose scale_factor is subnormal, or the least normal number."""
    top = Fraction(2) ** kind.emax
    for name, high in (("half-top", top / 2), ("top", top), ("above-top", top * 5 / 4)):
        for narrow in (True, False):
            limits = (f"step-{name}", -high, high, ("HugeScale",), ("overflow",))
            yield given(kind, limits, setting(True, 2, "HALF_TO_EVEN", narrow))


def rounded_once(kind: FloatType) -> Iterator[Sample]:
    """Levels whose outputs float32, or float64, rounds onto a midpoint of the type."""
    for number, (width, end, codes) in enumerate(ends_rounded_twice(kind)):
        attributes = setting(True, width, "HALF_TO_EVEN", True) | {"range_given": True}
        tensors = (bits(kind.name, codes), scalar(kind.name, -end), scalar(kind.name, end))
        node = {"real": kind.name, "attributes": attributes}
        yield Sample(f"rounded-once-{number}", node, tensors, ("RoundedTwice",), ("quotient", "width"))


def ends_rounded_twice(kind: FloatType) -> Iterator[tuple[int, Fraction, list[int]]]:
    """Numbers of bits, symmetric ranges' ends and inputs. In bfloat16, 16 bits are so many that no input serves."""
    if kind.name == "float16":
        found = range_ends(kind, [(1 << 15) - 1], 8, same=True)
        yield from ((16, end, codes) for _, end, codes in itertools.islice(found, 6))
    if kind.name == "bfloat16":
        for width, (level, end) in itertools.product((32, 56), ((3, 131), (5, 85), (7, 59), (127, 3))):
            yield on_level(kind, width, level, end)
    if kind.name == "float32":
        pairs = factors(odd_significands(kind), kind, DOUBLE, bits=32, divisor=(1 << 31) - 1)
        levels = ((level // (level & -level), end) for end, level in pairs)
        held = ((level, end) for level, end in levels if not level >> (kind.precision - 1))
        yield from (on_level(kind, 32, level, end) for level, end in itertools.islice(held, 6))


def on_level(kind: FloatType, width: int, level: int, end: int) -> tuple[int, Fraction, list[int]]:
    """The number of bits, the end as a fraction of 1, and the input that is nearest to the level."""
    scaled_end = Fraction(end, 1 << kind.precision)
    return width, scaled_end, [real_code(level * scaled_end / ((1 << (width - 1)) - 1), kind.name)]


def setting(signed: bool, width: int, round_mode: str, narrow: bool) -> dict[str, Any]:
    return {"signed_input": signed, "num_bits": width, "round_mode": round_mode, "narrow_range": narrow}


def integers_of(attributes: dict[str, Any]) -> tuple[int, int]:
    width, signed = attributes["num_bits"], attributes["signed_input"]
    highest = (1 << (width - signed)) - 1
    return (-highest - (not attributes["narrow_range"]) if signed else 0), highest


def roles_of(attributes: dict[str, Any]) -> tuple[str, ...]:
    roles: tuple[str, ...] = ("signed",) if attributes["signed_input"] else ("unsigned", "unsigned-minimum")
    roles += ("half-up",) if attributes["round_mode"] == "HALF_UP" else ("half-to-even",)
    return roles + (("narrow",) if attributes["narrow_range"] else ())


def name_of(attributes: dict[str, Any]) -> str:
    start = "signed" if attributes["signed_input"] else "unsigned"
    mode = "up" if attributes["round_mode"] == "HALF_UP" else "even"
    return f"{start}-{attributes['num_bits']}-{mode}{'-narrow' * attributes['narrow_range']}"


def given(kind: FloatType, limits: Any, attributes: dict[str, Any]) -> Sample:
    name, low, high, flags, roles = limits
    x = inputs_at_boundaries(kind, low, high, attributes)
    flags = (*flags, "NearTie", *(("NarrowRange",) if attributes["narrow_range"] else ()))
    roles = (
        *roles,
        *roles_of(attributes),
        "range-given",
        "clamp",
        "product",
        "quotient",
        "scale",
        "no-axis",
        "version",
    )
    node = {"real": kind.name, "attributes": attributes | {"range_given": True}}
    tensors = (x, scalar(kind.name, low), scalar(kind.name, high))
    return Sample(f"{name}-{name_of(attributes)}", node, tensors, flags, roles)


def inputs_at_boundaries(kind: FloatType, low: Fraction, high: Fraction, attributes: dict[str, Any]) -> Tensor:
    """Values at and beside the ties, on the grid, at the given and the updated ends, and beyond them."""
    low, high = (rounded(kind, end) for end in (low, high))
    lowest, highest = integers_of(attributes)
    factors = [Fraction(highest) / high] if high > 0 else []
    factors += [lowest / low] if low < 0 and lowest else []
    factor = min(factors)
    if highest - lowest <= 16:
        picked = list(range(lowest - 1, highest + 1))
    else:
        inner = (lowest // 2, lowest // 3, -3, -2, -1, 0, 1, 2, 3, highest // 3, highest // 2, highest // 2 + 1)
        picked = sorted({k for k in (lowest - 1, lowest, *inner, highest - 1, highest) if lowest - 1 <= k <= highest})
    ties = [real_code((k + Fraction(1, 2)) / factor, kind.name) for k in picked]
    points = [real_code(k / factor, kind.name) for k in picked]
    ends = [real_code(v, kind.name) for v in (low, high, 2 * low, 2 * high, lowest / factor, highest / factor)]
    zeros = [0, 1 << (kind.bits - 1)]
    return bits(
        kind.name,
        list(
            dict.fromkeys(
                [*with_neighbouring_codes(kind.name, ties), *points, *with_neighbouring_codes(kind.name, ends), *zeros]
            )
        ),
    )


def rounded(kind: FloatType, value: Fraction) -> Fraction:
    return Fraction(decode(real_code(value, kind.name), kind))


def widths(kind: FloatType) -> Iterator[Sample]:
    """Other numbers of bits, up to more than the type's significand has."""
    limits = ("widths", Fraction(-13, 10), Fraction(29, 10), ("ScaleNotPowerOfTwo",), ("width",))
    for width in (1, 2, 3, 4, 7, 9, 11, 12, 16, 24, 32, 40):
        for signed in (True, False):
            if width > 1 or not signed:
                yield given(kind, limits, setting(signed, width, "HALF_TO_EVEN", signed and width % 2 == 1))
    one = (
        reals(kind.name, [Fraction(-1), Fraction(1), Fraction(1, 2), 0.0]),
        scalar(kind.name, -2),
        scalar(kind.name, 1),
    )
    node = {"real": kind.name, "attributes": {"num_bits": 1, "range_given": True}}
    yield Sample("one-signed-bit", node, one, ("NoRange",), ("width",))


def tie_grids(kind: FloatType) -> Iterator[Sample]:
    """A factor that is a power of two, so that values are exactly between two integers."""
    for signed, mode, width in itertools.product((True, False), ("HALF_TO_EVEN", "HALF_UP"), (3, 4, 6)):
        attributes = setting(signed, width, mode, False)
        lowest, highest = integers_of(attributes)
        for shift in (0, 3):
            unit = Fraction(1, 1 << shift)
            values = [(k + Fraction(1, 2)) * unit for k in range(lowest - 2, highest + 2)]
            tensors = (reals(kind.name, values), scalar(kind.name, lowest * unit), scalar(kind.name, highest * unit))
            node = {"real": kind.name, "attributes": attributes | {"range_given": True}}
            yield Sample(
                f"ties-{shift}-{name_of(attributes)}", node, tensors, ("Tie",), (*roles_of(attributes), "product")
            )


def measured(kind: FloatType) -> Iterator[Sample]:
    """Ranges measured from the input, where input_min and input_max must be ignored."""
    for limits in (*RANGES, *SIGNED_ONLY):
        name, low, high, flags, roles = limits
        for attributes in (setting(True, 8, "HALF_TO_EVEN", False), setting(True, 4, "HALF_UP", True)):
            inside = [low + (high - low) * Fraction(i, 23) for i in range(24)]
            tensors = (reals(kind.name, inside), scalar(kind.name, -100), scalar(kind.name, Fraction(1, 8)))
            node = {"real": kind.name, "attributes": attributes}
            every = (*roles, "measured", *roles_of(attributes))
            yield Sample(f"measured-{name}-{name_of(attributes)}", node, tensors, ("Measured", *flags), every)
    unsigned = setting(False, 8, "HALF_TO_EVEN", False)
    values = reals(kind.name, [Fraction(i, 7) for i in range(-9, 12)])
    node = {"real": kind.name, "attributes": unsigned}
    tensors = (values, scalar(kind.name, 0), scalar(kind.name, 0))
    yield Sample("measured-unsigned", node, tensors, ("Measured",), ("measured", "unsigned-minimum", "clamp"))
    tensors = (reals(kind.name, [Fraction(-7, 2)]), scalar(kind.name, 0), scalar(kind.name, 0))
    yield Sample("measured-defaults", {"real": kind.name}, tensors, ("Measured",), ("measured", "half-to-even", "type"))


def per_slice(kind: FloatType, shape: tuple[int, ...], axis: int) -> Iterator[Sample]:
    """A range for each slice, given or measured; every slice is of another size."""
    depth, inner = shape[axis], math.prod(shape[axis + 1 :])
    values = [
        (1 + (i // inner) % depth * Fraction(3, 4)) * (Fraction((11 * i + 5) % 32, 16) - 1)
        for i in range(math.prod(shape))
    ]
    sizes = [1 + j * Fraction(3, 4) for j in range(depth)]
    ends = (reals(kind.name, [-s for s in sizes]), reals(kind.name, [s * Fraction(7, 8) for s in sizes]))
    for range_given in (True, False):
        node = {"real": kind.name, "attributes": {"axis": axis, "range_given": range_given}}
        name = f"axis-{axis}-{'x'.join(map(str, shape))}{'' if range_given else '-measured'}"
        roles = ("axis", "shape", "range-shape", "range-given" if range_given else "measured")
        flags = ("PerAxis", *(() if range_given else ("Measured",)))
        yield Sample(name, node, (reals(kind.name, values, shape), *ends), flags, roles)


def plain_shapes(kind: FloatType, shape: tuple[int, ...]) -> Iterator[Sample]:
    values = [Fraction((7 * i + 3) % 101, 50) - 1 for i in range(math.prod(shape))]
    flags = ("Scalar",) if not shape else ("Empty",) if 0 in shape else ("Lane",) if shape == (67,) else ("Shape",)
    tensors = (reals(kind.name, values, shape), scalar(kind.name, Fraction(-4, 5)), scalar(kind.name, Fraction(9, 10)))
    for range_given in (True, False):
        node = {"real": kind.name, "attributes": {"range_given": range_given}}
        name = f"shape-{'x'.join(map(str, shape)) or 'scalar'}{'' if range_given else '-measured'}"
        yield Sample(name, node, tensors, flags, ("shape", "no-axis"))


def extremes(kind: FloatType) -> Iterator[Sample]:
    """Ranges that are empty, reversed, tiny, huge, NaN or infinite; and such inputs."""
    largest = Fraction(decode(kind.largest_bits, kind))
    smallest = Fraction(1, 1 << (kind.precision - 1 - kind.emin))
    plain: list[Fraction | float] = [Fraction(v, 2) for v in range(-4, 5)]
    odd: list[Fraction | float] = [math.inf, -math.inf, math.nan, -0.0, 0.0, Fraction(1, 3)]
    tiny: list[Fraction | float] = [v * smallest for v in (-40, -3, -1, 1, 2, 7, 30)]
    huge: list[Fraction | float] = [v * largest / 8 for v in (-8, -3, -1, 1, 3, 8)]
    cases: Sequence[tuple[str, list[Fraction | float], Fraction | float, Fraction | float, str, str]] = (
        ("zero-range", plain, Fraction(0), Fraction(0), "NoRange", "no-range"),
        ("reversed", plain, Fraction(1), Fraction(-1), "NoRange", "reversed"),
        ("special-inputs", odd, Fraction(-1), Fraction(1), "NaN", "special"),
        ("nan-min", plain, math.nan, Fraction(1), "NaN", "special"),
        ("infinite-max", plain, Fraction(-1), math.inf, "Infinity", "special"),
        ("negative-zeros", [-0.0, Fraction(-1, 1000), 0.0], Fraction(-1), Fraction(1), "NegativeZero", "zero-sign"),
        ("subnormal-range", tiny, -40 * smallest, 30 * smallest, "Subnormal", "overflow"),
        ("largest-range", huge, -largest, largest, "Overflow", "overflow"),
    )
    for name, values, low, high, flag, role in cases:
        tensors = (reals(kind.name, values), scalar(kind.name, low), scalar(kind.name, high))
        for range_given in (True, False):
            node = {"real": kind.name, "attributes": {"range_given": range_given}}
            yield Sample(f"{name}{'' if range_given else '-measured'}", node, tensors, (flag,), (role,))
    node = {"real": kind.name, "attributes": {"signed_input": False, "range_given": True}}
    tensors = (reals(kind.name, plain), scalar(kind.name, -4), scalar(kind.name, -2))
    yield Sample("unsigned-below-zero", node, tensors, ("NoRange",), ("no-range", "unsigned-minimum"))
    zeros = (reals(kind.name, [0.0, -0.0]), scalar(kind.name, 0), scalar(kind.name, 0))
    yield Sample("all-zero", {"real": kind.name}, zeros, ("NoRange", "Measured"), ("no-range",))
