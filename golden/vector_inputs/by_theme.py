"""The themes of the golden vectors: each makes inputs that reveal one kind of mistake.

A theme is a function from a setting (types and mode) to samples: inputs as bits, without results. Quotients are chosen
as exact rationals, and one rounding turns them into input bits. So each theme serves every type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from tiebreak.golden.elements import FloatType, IntegerType, decode, encode, neighbour
from tiebreak.golden.samples.model import Sample, Tensor, small_scales_of

HALF = Fraction(1, 2)
FEW_BIT_SCALES = (Fraction(3), Fraction(5, 8), Fraction(11, 16))
ROUNDED_SCALES = (Fraction(1, 10), Fraction(1, 3), Fraction(7, 1000), Fraction(123, 10))


@dataclass(frozen=True)
class Setting:
    """The types and rounding mode that a vector is for."""

    real: FloatType
    quantized: IntegerType
    mode: str

    @property
    def zero_points(self) -> tuple[int, int]:
        """An even and an odd zero point that leave room on both sides."""
        middle = 0 if self.quantized.signed else 1 << (self.quantized.bits - 1)
        return middle, middle - 1 if middle else 1

    @property
    def unit_scale(self) -> Fraction:
        """1, or the power of two that brings the whole output range into the input type's range."""
        return Fraction(1, 1 << max(0, self.quantized.bits + 2 - self.real.emax))

    def bits(self, value: Fraction) -> int:
        return encode(value, self.real)

    def holds(self, value: Fraction) -> bool:
        return decode(self.bits(value), self.real) == value

    def sample(
        self,
        theme: str,
        x: Sequence[int],
        scale: Sequence[int],
        zero_point: Sequence[int] | None,
        flags: tuple[str, ...] = (),
        roles: tuple[str, ...] = (),
        shape: tuple[int, ...] | None = None,
        axes: tuple[int, ...] = (),
        attributes: dict[str, Any] | None = None,
        form: int = 0,
    ) -> Sample:
        """A sample from the codes of its inputs. Scale and zero point (None leaves it off) vary along `axes`.

        Without a shape the sample is 1-D, and its elements are independent of each other.
        """
        whole = (len(x),) if shape is None else shape
        projected = tuple(whole[axis] for axis in axes)
        tensors = [Tensor(self.real.name, whole, x), Tensor(self.real.name, projected, scale)]
        tensors += [] if zero_point is None else [Tensor(self.quantized.name, projected, zero_point)]
        node = {"real": self.real.name, "quantized": self.quantized.name, "attributes": attributes or {}, "form": form}
        node |= {"zero_point": False} if zero_point is None else {}
        return Sample(theme, node, tuple(tensors), flags, roles, self.mode, independent=shape is None)


Theme = Callable[[Setting], Iterator[Sample]]


class OperandCodes(NamedTuple):
    """Codes of inputs, and of the one scale and zero point for which they were made."""

    x: list[int]
    scale: list[int]
    zero_point: list[int]


def operands_of_quotients(s: Setting, quotients: Iterable[Fraction], scale: Fraction, zero_point: int) -> OperandCodes:
    """Inputs with the given quotients: each quotient times the rounded `scale`, rounded once."""
    scale_bits = s.bits(scale)
    exact_scale = Fraction(decode(scale_bits, s.real))
    x = [bits for q in quotients if (bits := s.bits(q * exact_scale)) & ~sign_of(s.real) < s.real.infinity_bits]
    return OperandCodes(x, [scale_bits], [zero_point])


def quotient_sample(
    theme: str, s: Setting, quotients: Iterable[Fraction], scale: Fraction, zero_point: int, *flags: str, **more: Any
) -> Sample:
    """A 1-D sample of the inputs that have the given quotients."""
    return s.sample(theme, *operands_of_quotients(s, quotients, scale, zero_point), flags, **more)


def sign_of(real: FloatType) -> int:
    return 1 << (real.bits - 1)


def with_neighbours(x: Sequence[int], real: FloatType, steps: Sequence[int]) -> list[int]:
    return [neighbour(bits, real, step) for bits in x for step in steps]


def tie_floors(s: Setting, zero_point: int) -> list[int]:
    """Every k such that k and k+1, plus the zero point, are in range; for wide types only a selection."""
    lowest, highest = s.quantized.lowest - zero_point, s.quantized.highest - zero_point - 1
    if s.quantized.bits <= 8:
        return list(range(lowest, highest + 1))
    powers = [sign * ((1 << n) + d) for n in range(3, 32) for sign in (1, -1) for d in (-1, 0)]
    ends = [end + d for end in (lowest, highest) for d in range(-3, 4)]
    return sorted({k for k in [*range(-8, 8), *powers, *ends] if lowest <= k <= highest})


def ties(s: Setting) -> Iterator[Sample]:
    """Every tie in range, scale 1, with an even and an odd zero point; and the neighbours of each."""
    first = (0,) if not s.quantized.signed else ()
    for zero_point in (*first, *s.zero_points):
        odd = ("ZeroPointParity",) if zero_point % 2 else ()
        halves = [k + HALF for k in tie_floors(s, zero_point) if s.holds(k + HALF)]
        on = operands_of_quotients(s, halves, Fraction(1), zero_point)
        yield s.sample(f"ties-zp{zero_point}", *on, ("Tie", *odd), ("round-first",))
        if zero_point == s.zero_points[0]:
            near = with_neighbours(on.x, s.real, (-1, 1))
            yield s.sample(f"near-ties-zp{zero_point}", near, on.scale, on.zero_point, ("NearTie",), ("quotient",))


def small_floors(s: Setting, zero_point: int) -> list[int]:
    return [k for k in tie_floors(s, zero_point) if -20 <= k < 20]


def scaled_ties(s: Setting) -> Iterator[Sample]:
    """Ties and their neighbours, with scales of few bits that are no powers of two, so that ties are exact."""
    zero_point = s.zero_points[0]
    for scale in FEW_BIT_SCALES:
        halves = [k + HALF for k in small_floors(s, zero_point) if s.holds((k + HALF) * scale)]
        on = operands_of_quotients(s, halves, scale, zero_point)
        x = with_neighbours(on.x, s.real, (-1, 0, 1))
        flags = ("Tie", "NearTie", "ScaleNotPowerOfTwo")
        yield s.sample(f"scaled-ties-{scale_name(scale)}", x, on.scale, on.zero_point, flags, ("quotient",))


def scale_name(scale: Fraction) -> str:
    return f"{scale.numerator}_{scale.denominator}" if scale.denominator > 1 else str(scale.numerator)


def rounded_pool(s: Setting, scale: Fraction) -> OperandCodes:
    """Inputs around every small tie and integer, for a scale that the type can't hold exactly."""
    zero_point = s.zero_points[0]
    around = [k + d for k in tie_floors(s, zero_point) for d in (HALF, Fraction(1)) if abs(k) < 1 << 12]
    on = operands_of_quotients(s, around, scale, zero_point)
    return on._replace(x=sorted(set(with_neighbours(on.x, s.real, (-1, 0, 1)))))


def rounded_scales(s: Setting) -> Iterator[Sample]:
    """Neighbours of ties and integers with scales such as 0.1, whose quotients are inexact."""
    for scale in ROUNDED_SCALES:
        pool = rounded_pool(s, scale)
        flags, roles = ("NearTie", "ScaleNotPowerOfTwo"), ("quotient",)
        yield s.sample(
            f"rounded-scale-{scale_name(scale)}", spaced(pool.x, 96), pool.scale, pool.zero_point, flags, roles
        )


def spaced(items: Sequence[int], most: int) -> list[int]:
    """At most `most` of the items, evenly spaced."""
    step = -(-len(items) // most) or 1
    return list(items[::step])


def add_half(s: Setting) -> Iterator[Sample]:
    """0.49999997 and its like, and the largest half-integers that the type holds."""
    zero_point = s.zero_points[0]
    p = s.real.precision
    bases = [HALF, Fraction(3, 2), Fraction(1), Fraction(2) ** (p - 1) - HALF, Fraction(2) ** (p - 2) + HALF]
    bits = [s.bits(sign * base) for base in bases for sign in (1, -1)]
    x = sorted({neighbour(b, s.real, step) for b in bits for step in (-2, -1, 0, 1, 2)})
    yield s.sample("add-half", x, [s.bits(Fraction(1))], [zero_point], ("AddHalf", "NearTie"), ("quotient",))


def large_odd(s: Setting) -> Iterator[Sample]:
    """Odd integers from 2^(p-1) on, where the type holds no halves any more, and even ones beyond 2^p."""
    zero_point = s.zero_points[0]
    base = 1 << (s.real.precision - 1)
    values = (
        [base + d for d in (-3, -1, 0, 1, 3, 5)] + [2 * base + d for d in (-3, -1, 0, 2, 4)] + [base + base // 2 + 1]
    )
    quotients = [Fraction(sign * value) for value in values for sign in (1, -1)]
    yield quotient_sample(
        "large-odd", s, quotients, Fraction(1), zero_point, "LargeOdd", "AddHalf", roles=("quotient",)
    )
    three = [q for q in quotients if s.holds(3 * q)]
    if three:
        yield quotient_sample("large-odd-3", s, three, Fraction(3), zero_point, "LargeOdd", roles=("quotient",))


def range_edges(s: Setting) -> Iterator[Sample]:
    """Both ends of the range from both sides, with a neutral, an odd and the two extreme zero points."""
    lowest, highest = s.quantized.lowest, s.quantized.highest
    deltas = [Fraction(d, 4) for d in (-8, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 8, 80, 4000)]
    scales = dict.fromkeys((*s.zero_points, lowest, highest), s.unit_scale)
    scales |= {s.zero_points[0] + 2: s.unit_scale / 10}
    for zero_point, scale in scales.items():
        targets = [end - zero_point + d for end in (lowest, highest) for d in deltas]
        on = operands_of_quotients(s, targets, scale, zero_point)
        x = sorted(set(with_neighbours(on.x, s.real, (-1, 0, 1))))
        yield s.sample(f"range-edges-zp{zero_point}", x, on.scale, on.zero_point, ("RangeEdge",), ("range", "add"))


def clamp_order(s: Setting) -> Iterator[Sample]:
    """Quotients beyond the output range that the zero point brings back into it."""
    lowest, highest = s.quantized.lowest, s.quantized.highest
    span = highest - lowest
    inward = [*(d * HALF for d in range(2, 7)), Fraction(span, 64), Fraction(span, 32)]
    for zero_point in (lowest + span // 9, highest - span // 9):
        targets = [highest - zero_point - d for d in inward] + [lowest - zero_point + d for d in inward]
        outside = [q for q in targets if not lowest <= q <= highest]
        name = f"clamp-order-zp{zero_point}"
        yield quotient_sample(name, s, outside, s.unit_scale, zero_point, "ClampOrder", roles=("add",))


def zero_point_parity(s: Setting) -> Iterator[Sample]:
    """Ties and fractions of both signs with odd zero points of both signs: rounding the sum is not the same."""
    middle = s.zero_points[0]
    for zero_point in (middle + 1, middle + 3, middle - 3):
        floors = small_floors(s, zero_point)
        quotients = [k + d for k in floors for d in (Fraction(1, 4), HALF, Fraction(3, 4)) if s.holds(k + d)]
        flags, roles = ("ZeroPointParity", "Tie"), ("round-first", "add")
        on = operands_of_quotients(s, quotients, Fraction(1), zero_point)
        # Next to 1/2 the sum with the zero point rounds onto a tie.
        beside = [neighbour(s.bits(sign * HALF), s.real, step) for sign in (1, -1) for step in (-1, 1)]
        yield s.sample(f"zero-point-parity-zp{zero_point}", [*on.x, *beside], on.scale, on.zero_point, flags, roles)


def wide_sums(s: Setting) -> Iterator[Sample]:
    """Sums that are odd integers beyond what the input's type, or float32, holds."""
    for precision in sorted({s.real.precision, 24}):
        base = 1 << precision
        for zero_point in (base + 1, -base - 3, 1, 3, -5, base // 2 + 1):
            quotients = [Fraction(q) for q in (base, -base, base + 4, base // 2 + 1, HALF, -HALF, 2 * base, 3, -1)]
            if not s.quantized.lowest <= zero_point <= s.quantized.highest or s.quantized.bits <= 8:
                continue
            name = f"wide-sums-{precision}-zp{zero_point}"
            yield quotient_sample(name, s, quotients, Fraction(1), zero_point, "WideSum", roles=("add",))


def wide_quotients(s: Setting) -> Iterator[Sample]:
    """Integers and halves of more than 24 bits, and those at the ends of a 32-bit range."""
    ends = [s.quantized.highest, s.quantized.lowest]
    values = [sign * ((1 << n) + 1 + d) for n in range(24, 32) for sign in (1, -1) for d in (0, HALF, Fraction(1, 4))]
    values += [end + sign * d * HALF for end, sign in zip(ends, (-1, 1), strict=True) for d in range(0, 8)]
    inside = [Fraction(v) for v in values if s.quantized.lowest <= v <= s.quantized.highest and s.holds(Fraction(v))]
    if s.quantized.bits == 32 and inside:
        yield quotient_sample("wide-quotients", s, inside, Fraction(1), 0, "WideSum", roles=("quotient",))


def negative_scales(s: Setting) -> Iterator[Sample]:
    zero_point = s.zero_points[1]
    for scale in (Fraction(-1), Fraction(-3), Fraction(-1, 10)):
        quotients = [k + d for k in small_floors(s, zero_point) for d in (HALF, Fraction(1, 4))]
        name = f"negative-scale-{scale_name(-scale)}"
        yield quotient_sample(name, s, quotients, scale, zero_point, "NegativeScale", "Tie", roles=("quotient",))


def tiny(s: Setting) -> Iterator[Sample]:
    """Quotients so small that adding anything loses them; directed modes must still see their sign."""
    smallest, normal = 1, 1 << (s.real.precision - 1)
    some = [smallest, normal, s.bits(Fraction(2) ** (s.real.emin // 2)), s.bits(Fraction(1, 1024))]
    x = [bits | sign for bits in some for sign in (0, sign_of(s.real))]
    for zero_point in s.zero_points:
        for scale in (Fraction(1), Fraction(2) ** (s.real.emax - 1)):
            flags, roles = ("Tiny", "Subnormal", "ZeroPointParity"), ("quotient", "round-first")
            name = f"tiny-zp{zero_point}-{'one' if scale == 1 else 'huge'}"
            yield s.sample(name, x, [s.bits(scale)], [zero_point], flags, roles)


def subnormals(s: Setting) -> Iterator[Sample]:
    """Subnormal inputs, scales and quotients: flushing any of them to zero changes the result."""
    zero_point, sign = s.zero_points[0], sign_of(s.real)
    room = min(20, 2 * (s.quantized.highest - zero_point) - 1)
    small = [k | g for k in range(1, room) for g in (0, sign)]
    for units in (1, 2, 3):
        name = f"subnormal-scale-{units}"
        yield s.sample(name, small, [units], [zero_point], ("Subnormal", "Tie"), ("quotient",))
    normal = 1 << (s.real.precision - 1)
    x = [bits | g for bits in (normal // 2, normal // 2 + 1, normal - 1, normal // 4) for g in (0, sign)]
    yield s.sample("subnormal-input", x, [normal], [zero_point], ("Subnormal", "Tie"), ("quotient",))
    x = [bits | g for bits in (normal, normal + 1, 2 * normal, 3 * normal) for g in (0, sign)]
    scale = s.bits(Fraction(2) ** (s.real.precision // 2))
    yield s.sample("subnormal-quotient", x, [scale], [zero_point], ("Subnormal", "Tiny"), ("quotient",))


def small_scales(s: Setting) -> Iterator[Sample]:
    """Scales and inputs of every size down to the least: a least scale, or a number added to it, changes quotients."""
    zero_point = s.zero_points[0]
    quotients = [Fraction(n, 4) for n in (1, 2, 3, 5, 6, 9, 10, 11, 13, 14)]
    quotients = [sign * q for q in quotients for sign in (1, -1)]
    for name, scale in small_scales_of(s.real):
        flags = ("SmallScale", "Tie", "ScaleNotPowerOfTwo")
        yield quotient_sample(name, s, quotients, scale, zero_point, *flags, roles=("quotient",))


def overflow(s: Setting) -> Iterator[Sample]:
    """Quotients beyond 32- and 64-bit integers and beyond the type's own range."""
    powers = [
        sign * (Fraction(2) ** n + d) for n in (15, 16, 31, 32, 62, 63, 64, 100) for d in (0, 1) for sign in (1, -1)
    ]
    sign, zero_point = sign_of(s.real), s.zero_points[1]
    yield quotient_sample("overflow-integers", s, powers, Fraction(1), zero_point, "Overflow", roles=("range",))
    largest = [s.real.largest_bits, s.real.largest_bits | sign]
    for name, scale in (("smallest", 1), ("small", s.bits(Fraction(1, 100))), ("one", s.bits(Fraction(1)))):
        yield s.sample(f"overflow-{name}", largest, [scale], [zero_point], ("Overflow",), ("range",))


def specials(s: Setting) -> Iterator[Sample]:
    """NaN, infinities, zero scales and negative zero, next to ordinary values."""
    one, infinity, sign = s.bits(Fraction(1)), s.real.infinity_bits, sign_of(s.real)
    nan, zero_point = infinity | 1 << (s.real.precision - 2), s.zero_points[1]
    ordinary = [one, one | sign, s.bits(Fraction(5, 2))]
    for name, flag, role, x, scale in (
        ("nan", "NaN", "nan", [nan, *ordinary, nan | sign, infinity | 1], one),
        ("infinity", "Infinity", "infinity", [infinity, *ordinary, infinity | sign], one),
        ("nan-scale", "NaN", "nan", ordinary, nan),
        ("infinite-scale", "Infinity", "infinity", ordinary, infinity),
        ("zero-scale", "ZeroScale", "zero-scale", [0, *ordinary], 0),
        ("negative-zero", "NegativeZero", "quotient", [sign, 0, *ordinary], one),
    ):
        # A given shape keeps the sample whole: ordinary values beside a NaN must not be touched by it.
        yield s.sample(f"special-{name}", x, [scale], [zero_point], (flag,), (role,), (len(x),))


def lanes(s: Setting) -> Iterator[Sample]:
    """511 elements: a cycle of seven ties, so that each tie visits every lane of every power-of-two width."""
    cycle = [s.bits(Fraction(n, 2)) for n in (-5, -3, -1, 1, 3, 5, 7)]
    x = [cycle[i % 7] for i in range(511)]
    yield s.sample("lanes", x, [s.bits(Fraction(1))], [s.zero_points[0]], ("Lane", "Tie"), ("shape",))
    near = [neighbour(bits, s.real, -1 if i % 2 else 1) for i, bits in enumerate(x[:263])]
    yield s.sample("lanes-near", near, [s.bits(Fraction(1))], [s.zero_points[1]], ("Lane", "NearTie"), ("shape",))


def scalars(s: Setting) -> Iterator[Sample]:
    """Inputs of rank 0, one per case."""
    for number, numerator in enumerate((10, -10, 14, -7)):
        x, one = s.bits(Fraction(numerator, 4)), s.bits(Fraction(1))
        yield s.sample(f"scalar-{number}", [x], [one], [s.zero_points[1]], ("Scalar", "Tie"), ("shape",), ())


THEMES: tuple[Theme, ...] = (
    scalars,
    ties,
    scaled_ties,
    rounded_scales,
    add_half,
    large_odd,
    range_edges,
    clamp_order,
    zero_point_parity,
    wide_sums,
    wide_quotients,
    negative_scales,
    tiny,
    subnormals,
    small_scales,
    overflow,
    specials,
    lanes,
)


def spread_over(
    theme: str, s: Setting, shape: tuple[int, ...], axes: tuple[int, ...], attributes: dict[str, Any], *roles: str
) -> Sample:
    """A sample of any shape whose scales and zero points all differ along `axes`, with results inside 4 bits."""
    count, coordinates = math.prod(shape), math.prod(tuple(shape[axis] for axis in axes))
    x = [s.bits(Fraction((7 * i) % 25 - 12, 2)) for i in range(count)]
    scale = [s.bits(1 + Fraction(j % 9, 2)) for j in range(coordinates)]
    zero_point = [s.zero_points[0] + (-1, 1, 0)[j % 3] for j in range(coordinates)]
    kinds: tuple[str, ...] = ("Scalar",) if shape == () else ("Empty",) if not count else ()
    kinds += ("MultiAxis",) if len(axes) > 1 else ("PerAxis",) if axes else ()
    return s.sample(theme, x, scale, zero_point, kinds, ("projection", *roles), shape, axes, attributes)
