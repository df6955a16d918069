"""Themes that put rare values at every place where code takes another path: ends, slices, blocks, parities.

Each was a real defect of a runtime that no vector reached: quotients far beyond int32 in a packed output's odd last
element, scales whose reciprocal is subnormal, and both in layouts of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FloatType, decode, encode
from tiebreak.golden.samples.model import Sample
from tiebreak.golden.vector_inputs.by_theme import HALF, Setting, operands_of_quotients, sign_of, with_neighbours

LENGTHS = (1, 2, 3, 5, 67)  # the last element is the only one, the second of a packed pair, or one left over
ORDINARY = (HALF, Fraction(3, 2), Fraction(-5, 2), Fraction(1), Fraction(-3, 4))


def far_quotients(real: FloatType) -> tuple[list[Fraction], Fraction]:
    """Quotients of 2^31 and more, those that a conversion to 32 or 64 bits wraps among them, and a scale for them.

    float16 reaches them by a subnormal scale alone.
    """
    narrow = real.emax < 64
    powers = (31, 32, 33, 39) if narrow else (31, 32, 33, 62, 63, 64, 100)
    odd = [] if narrow else [Fraction(2**32 + 2**26), Fraction(3 * 2**40)]
    scale = Fraction(1, 1 << 24) if narrow else Fraction(1)
    return [sign * value for value in (*(Fraction(2) ** n for n in powers), *odd) for sign in (1, -1)], scale


def edge_zero_points(s: Setting) -> tuple[int, ...]:
    """An even, an odd, the lowest and the highest zero point."""
    return tuple(dict.fromkeys((*s.zero_points, s.quantized.lowest, s.quantized.highest)))


def far_places(s: Setting) -> Iterator[Sample]:
    """A far quotient as the last element of arrays of several lengths, for each parity of the zero point."""
    far, scale = far_quotients(s.real)
    for zero_point in edge_zero_points(s):
        for number, length in enumerate(LENGTHS):
            for turn in range(2):
                quotients = [ORDINARY[i % len(ORDINARY)] for i in range(length - 1)]
                last = far[(2 * number + turn) % len(far)]
                x = operands_of_quotients(s, [*quotients, last], scale, zero_point)
                name = f"far-last-zp{zero_point}-of-{length}-{'minus' if turn else 'plus'}"
                yield s.sample(name, *x, ("Overflow", "Saturates"), ("range", "add"), (length,))


def far_in_slices(s: Setting, shape: tuple[int, ...], axis: int, attributes: dict[str, Any]) -> Sample:
    """Far and ordinary quotients in turn, in slices with zero points of both parities and at both ends."""
    (far, scale), coordinates = far_quotients(s.real), shape[axis]
    turns = [value for pair in zip(far, ORDINARY * len(far), strict=False) for value in pair]
    scales = [scale * (1 + Fraction(j % 3, 2)) for j in range(coordinates)]
    zero_points = edge_zero_points(s)
    owner = slices_of(shape, axis)
    x = [s.bits(turns[(i + 3) % len(turns)] * held(s, scales[j])) for i, j in enumerate(owner)]
    name = f"far-axis{axis}-{'x'.join(map(str, shape))}"
    points = [zero_points[j % len(zero_points)] for j in range(coordinates)]
    parameters = ([s.bits(value) for value in scales], points)
    return s.sample(name, x, *parameters, ("Overflow", "PerAxis"), ("range", "projection"), shape, (axis,), attributes)


def slices_of(shape: Sequence[int], axis: int) -> list[int]:
    """The index along the axis of each element, in row-major order."""
    behind = math.prod(shape[axis + 1 :])
    return [i // behind % shape[axis] for i in range(math.prod(shape))]


def held(s: Setting, value: Fraction) -> Fraction:
    """The value as the input's type has it."""
    found = decode(encode(value, s.real), s.real)
    assert isinstance(found, Fraction)
    return found


def huge_scales(real: FloatType) -> dict[str, Fraction]:
    """The largest scales: the reciprocal of the first is the least normal number, those of the others are subnormal."""
    top = Fraction(2) ** real.emax
    return {"below-top": top / 2, "top": top, "above-top": top * Fraction(11, 8), "largest": largest(real)}


def largest(real: FloatType) -> Fraction:
    value = decode(real.largest_bits, real)
    assert isinstance(value, Fraction)
    return value


def large_scales(s: Setting) -> Iterator[Sample]:
    """Ties, fractions and their neighbours by the largest scales: a reciprocal flushed to zero or rounded shows."""
    for name, scale in huge_scales(s.real).items():
        limit = largest(s.real) / scale
        quotients = [Fraction(n, 8) for n in range(-31, 32) if abs(n) <= 8 * limit]
        on = operands_of_quotients(s, quotients, scale, s.zero_points[1])
        near = [code for code in with_neighbours(on.x, s.real, (-1, 0, 1)) if code & ~sign_of(s.real) <= top_of(s)]
        x = sorted(set(near))
        yield s.sample(f"scale-{name}", x, on.scale, on.zero_point, ("HugeScale", "Tie", "NearTie"), ("quotient",))


def top_of(s: Setting) -> int:
    return s.real.largest_bits


def scale_classes(s: Setting, shape: tuple[int, ...], axis: int, attributes: dict[str, Any]) -> Sample:
    """Slices by scales of every class: subnormal, least normal, small, ordinary, large and the largest."""
    real = s.real
    least, normal = Fraction(2) ** (real.emin - real.precision + 1), Fraction(2) ** real.emin
    top = Fraction(2) ** real.emax
    classes = (3 * least, normal / 2, normal, Fraction(2) ** (real.emin // 2), Fraction(1, 10), top / 2, top)
    scales = [classes[j % len(classes)] for j in range(shape[axis])]
    turns = [Fraction(n, 4) for n in (2, 6, -2, -6, 4, 3, -5)]
    x = [s.bits(turns[i % len(turns)] * held(s, scales[j])) for i, j in enumerate(slices_of(shape, axis))]
    points = [s.zero_points[j % 2] for j in range(shape[axis])]
    name = f"scale-classes-axis{axis}-{'x'.join(map(str, shape))}"
    flags, roles = ("HugeScale", "Subnormal", "PerAxis"), ("quotient", "projection")
    return s.sample(name, x, [s.bits(value) for value in scales], points, flags, roles, shape, (axis,), attributes)
