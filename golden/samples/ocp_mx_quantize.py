"""Golden vectors of ocp.MXQuantize. A row holds whole blocks, whose first number is mostly the greatest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tiebreak.golden.elements import ELEMENT_TYPES, FLOAT_TYPES, FloatType, decode, encode, neighbour
from tiebreak.golden.samples.model import Sample, Tensor, bits, reals
from tiebreak.golden.vector_inputs.by_witness import witness_kind, witnesses_of

ID = "ocp.MXQuantize"
BLOCK = 32
ALWAYS = ("elements", "scales", "nearest", "types", "block")
POWERS = (0, 1, 3, 9, -3, -9, -40, 100)  # of two: where the block's greatest magnitude lies, beside the largest element
LENGTHS = (1, 2, 31, 33, 63, 100)
SHAPES: tuple[tuple[int, ...], ...] = ((32,), (1, 64), (3, 1, 32), (2, 2, 1, 96), (0, 32), (2, 0))
LEAST = -127  # the exponent of the least scale


def samples(real: str, to: str) -> Iterator[Sample]:
    for mode in modes_of(to):
        for theme in (ties, carries, places, least_scales, zeros):
            yield from theme(real, to, mode)
    yield from specials(real, to)
    yield from shapes(real, to)
    yield from separating(real, to)


def modes_of(to: str) -> tuple[str, ...]:
    return ("floor",) if to == "int8" else ("floor", "ceil", "even", "rceil")


def sample(
    theme: str, real: str, to: str, mode: str, x: Tensor, flags: Sequence[str], roles: Sequence[str] = ()
) -> Sample:
    attributes = {} if mode == "floor" else {"scaling_mode": mode}
    node: dict[str, Any] = {"real": real, "quantized": to, **({"attributes": attributes} if attributes else {})}
    more = ("int8",) if to == "int8" else ()
    return Sample(f"{mode}-{theme}", node, (x,), tuple(flags), (*ALWAYS, mode, *more, *roles))


def blocks(real: str, rows: Sequence[Sequence[int]]) -> Tensor:
    """A tensor of blocks, each from the codes given, the first of them repeated."""
    codes = [code for row in rows for code in [*row, *[row[0]] * (BLOCK - len(row))]]
    return bits(real, codes, (len(rows), BLOCK))


def values_of(to: str) -> list[Fraction]:
    """The magnitudes that elements have."""
    kind = ELEMENT_TYPES[to]
    if not isinstance(kind, FloatType):
        return [Fraction(n, 64) for n in range(128)]
    return [Fraction(decode(code, kind)) for code in range(kind.largest_bits + 1)]


def largest_power(to: str) -> Fraction:
    kind = ELEMENT_TYPES[to]
    return Fraction(2) ** (kind.emax if isinstance(kind, FloatType) else 0)


def around(real: FloatType, values: Sequence[Fraction], steps: Sequence[int] = (-1, 0, 1)) -> list[int]:
    """The codes of numbers with their neighbours, of both signs by turns."""
    sign = 1 << (real.bits - 1)
    codes = dict.fromkeys(neighbour(encode(value, real), real, step) for value in values for step in steps if value)
    return [code | (sign if place % 3 == 0 else 0) for place, code in enumerate(codes)]


def ties(real: str, to: str, mode: str) -> Iterator[Sample]:
    """Blocks with scale 1: elements' values, the numbers halfway between them, and their neighbours."""
    kind, values, top = FLOAT_TYPES[real], values_of(to), largest_power(to)
    inside = [value for value in values if value <= top]
    halves = [(low + high) / 2 for low, high in pairwise(inside)]
    sign = 1 << (kind.bits - 1)
    for name, codes, flag in (
        ("values", [encode(value, kind) for value in inside if value], "Midpoint"),
        ("midpoints", [encode(half, kind) for half in halves], "Midpoint"),
        ("beside-midpoints", around(kind, halves, (-1, 1)), "BesideMidpoint"),
    ):
        signed = [code | bit for code in codes for bit in (0, sign)] if flag == "Midpoint" else codes
        rows = [[encode(top, kind), *signed[i : i + BLOCK - 1]] for i in range(0, len(signed), BLOCK - 1)]
        yield sample(name, real, to, mode, blocks(real, rows), (flag, "Blocked"), ("sign",))


def carries(real: str, to: str, mode: str) -> Iterator[Sample]:
    """The greatest magnitude where each mode goes to the next power of two, at several scales, and halves of it."""
    kind, last, top = FLOAT_TYPES[real], values_of(to)[-1], largest_power(to)
    rows = []
    for power in POWERS:
        at = [value * Fraction(2) ** power for value in (top, last, (last + 2 * top) / 2, 2 * top)]
        for code in around(kind, at):
            value = abs(Fraction(decode(code, kind)))
            rest = [value * part for part in (Fraction(1, 2), Fraction(-1, 3), Fraction(3, 7), Fraction(-5, 64))]
            rows.append([code, *(encode(one, kind) for one in rest), encode(-value, kind)])
    roles = ("saturate", *(("lowest",) if to == "int8" else ()))
    yield sample("carries", real, to, mode, blocks(real, rows), ("Carry", "Saturates", "Blocked"), roles)


def places(real: str, to: str, mode: str) -> Iterator[Sample]:
    """The greatest magnitude at each place of a block, of both signs; the next blocks have other scales."""
    kind, top = FLOAT_TYPES[real], largest_power(to)
    rows = []
    for place in range(BLOCK):
        numbers = [Fraction(place * 37 % 23 + n * 29 % 31 - 25, 32) * top for n in range(BLOCK)]
        numbers[place] = (-1) ** place * top * Fraction(2) ** (place % 5 + 1)
        rows.append([encode(number, kind) for number in numbers])
    yield sample("places", real, to, mode, blocks(real, rows), ("Measured", "Blocked", "Lane"))


def least_scales(real: str, to: str, mode: str) -> Iterator[Sample]:
    """Greatest magnitudes at which the scale is about 2^-127, and those at the other end of the range."""
    kind, last, top = FLOAT_TYPES[real], values_of(to)[-1], largest_power(to)
    least = Fraction(2) ** LEAST
    small = [value * least * factor for value in (top, last) for factor in (Fraction(1, 4), Fraction(1, 2), 1, 2, 4)]
    small += [Fraction(2) ** power for power in (-149, -140, -133, -127, -126)]
    codes = [code for code in around(kind, small) if code & ~(1 << (kind.bits - 1))]
    rows = [[code, code - 1, encode(Fraction(decode(code, kind)) * Fraction(2, 3), kind)] for code in codes]
    roles = ("least-scale",) if mode == "rceil" else ("no-scale",)
    yield sample("least-scales", real, to, mode, blocks(real, rows), ("Subnormal", "Blocked"), roles)
    largest = kind.largest_bits
    huge = [[code, code >> 1, largest // 3] for code in (largest, largest - 1, encode(Fraction(2) ** 127, kind))]
    yield sample("largest-scales", real, to, mode, blocks(real, huge), ("Overflow", "Blocked"))


def zeros(real: str, to: str, mode: str) -> Iterator[Sample]:
    """Blocks of zeros beside others, and zeros of both signs among numbers."""
    kind, top = FLOAT_TYPES[real], largest_power(to)
    minus, one = 1 << (kind.bits - 1), encode(top, kind)
    tiny = encode(-top / (1 << 40), kind)
    rows = [[one, 0, minus, tiny], [0], [minus], [encode(3 * top, kind), 0]]
    roles = ("sign", *(("least-scale",) if mode == "rceil" else ("zeros",)))
    yield sample("zeros", real, to, mode, blocks(real, rows), ("ZeroBlock", "Blocked"), roles)


def specials(real: str, to: str) -> Iterator[Sample]:
    """NaN and infinities at the ends of a block, beside blocks that have none."""
    numbers: list[Fraction | float] = [Fraction(n * 7 % 19 - 9, 8) for n in range(BLOCK - 1)]
    plain: list[Fraction | float] = [*numbers, Fraction(5, 4)]
    for mode in modes_of(to):
        for name, special, flag in (
            ("nan", math.nan, "NaN"), ("infinity", math.inf, "Infinity"), ("minus-infinity", -math.inf, "Infinity"),
        ):  # fmt: skip
            x = reals(real, [*numbers, special, *plain, special, *numbers], (3, BLOCK))
            yield sample(name, real, to, mode, x, (flag, "Blocked"), ("special",))


def shapes(real: str, to: str) -> Iterator[Sample]:
    """Rows of several blocks, of parts of a block and of none."""
    for shape in SHAPES:
        flag = "Empty" if 0 in shape else "Shape"
        label = "x".join(map(str, shape))
        yield sample(f"shape-{label}", real, to, "floor", waves(real, shape), (flag,), ("block",))
    for length in LENGTHS:
        for shape in ((length,), (2, length)):
            label = "x".join(map(str, shape))
            yield sample(f"part-{label}", real, to, "floor", waves(real, shape), ("PartBlock", "Shape"), ("part",))


def separating(real: str, to: str) -> Iterator[Sample]:
    """Blocks on which two of the plainest arithmetics of scales differ, or of elements given their scale."""
    for mode in modes_of(to):
        for output in ("scales", "elements"):
            kind = f"{witness_kind(real, to, {'scaling_mode': mode})}-{output}"
            for number, _, codes in witnesses_of(ID, kind):
                x = bits(real, codes, (len(codes) // BLOCK, BLOCK))
                roles = ("saturate", "sign")
                yield sample(f"separating-{output}-{number}", real, to, mode, x, ("Separating", "Blocked"), roles)


def waves(real: str, shape: tuple[int, ...]) -> Tensor:
    """Numbers whose magnitude grows along the array, so that neighbouring blocks have different scales."""
    numbers = [Fraction((n * 29 % 83 - 31) << (n // BLOCK % 7), 13) for n in range(math.prod(shape))]
    return reals(real, numbers, shape)
