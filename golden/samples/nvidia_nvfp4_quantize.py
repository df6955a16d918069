"""Golden vectors of nvidia.NVFP4Quantize. A row holds whole blocks, whose first number is mostly the greatest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, SMALL_FLOAT_TYPES, FloatType, decode, encode, neighbour
from tiebreak.golden.samples.model import Sample, Tensor, bits, reals, scalar
from tiebreak.golden.vector_inputs.by_witness import witness_kind, witnesses_of

ID = "nvidia.NVFP4Quantize"
BLOCK = 16
TO = "float4_e2m1fn"
ALWAYS = ("scales", "put-out", "elements", "scale-nearest", "nearest", "types", "block")
ONE_LEVEL, TWO_LEVELS = ("one-global",), ("global", "global-elements", "order")
LENGTHS = (1, 2, 15, 17, 31, 50)
SHAPES: tuple[tuple[int, ...], ...] = ((32,), (2, 16), (1, 64), (3, 1, 32), (2, 2, 1, 48), (0, 32), (2, 0))
E4M3, E2M1 = SMALL_FLOAT_TYPES["float8_e4m3fn"], SMALL_FLOAT_TYPES[TO]
LEAST, LARGEST, TOP = Fraction(1, 512), Fraction(448), Fraction(6)
WHOLE = TOP * LARGEST
ORDINARY: tuple[Fraction | int, ...] = (2688, 6, Fraction(5, 2), Fraction(3, 100), 1000)
SCALES = tuple(Fraction(8 + part, 8) for part in range(8))  # the significands that a scale has
Number = Fraction | int | float


def values_of(kind: FloatType) -> list[Fraction]:
    """The magnitudes of a small type."""
    return [Fraction(decode(code, kind)) for code in range(kind.largest_bits + 1)]


ELEMENTS = values_of(E2M1)
HALVES = [(low + high) / 2 for low, high in pairwise(ELEMENTS)]


def samples(real: str, to: str) -> Iterator[Sample]:
    for theme in (ties, scale_ties, least_scales, largest_scales, places, zeros, specials, shapes, separating):
        yield from theme(real)
    for theme in (global_ties, global_scales, global_ends):
        yield from theme(real)


def sample(
    theme: str, real: str, x: Tensor, flags: Sequence[str], roles: Sequence[str] = (), whole: Number | None = None
) -> Sample:
    levels = {"zero_point": False} if whole is None else {}
    node: dict[str, Any] = {"real": real, "quantized": TO, **levels}
    given = (x,) if whole is None else (x, scalar("float32", whole))
    further = ONE_LEVEL if whole is None else TWO_LEVELS
    return Sample(theme, node, given, tuple(flags), (*ALWAYS, *further, *roles))


def blocks(real: str, rows: Sequence[Sequence[int]]) -> Tensor:
    """A tensor of blocks, an even number, each from the codes given, the first of them repeated.

    MLX on the CPU takes no odd number of blocks.
    """
    rows = [*rows, *rows[: len(rows) % 2]]
    codes = [code for row in rows for code in [*row, *[row[0]] * (BLOCK - len(row))]]
    return bits(real, codes, (len(rows), BLOCK))


def around(kind: FloatType, values: Sequence[Fraction], steps: Sequence[int]) -> list[int]:
    """The codes of numbers with their neighbours, of both signs by turns."""
    sign = 1 << (kind.bits - 1)
    codes = dict.fromkeys(neighbour(encode(value, kind), kind, step) for value in values for step in steps if value)
    return [code | (sign if place % 3 == 0 else 0) for place, code in enumerate(codes)]


def rows_of(kind: FloatType, top: Fraction, values: Sequence[Fraction], steps: Sequence[int]) -> list[list[int]]:
    codes = around(kind, values, steps)
    return [[encode(top, kind), *codes[at : at + BLOCK - 1]] for at in range(0, len(codes), BLOCK - 1)]


def ties(real: str) -> Iterator[Sample]:
    """For every significand of a scale: elements' values, the numbers halfway between them, and their neighbours."""
    kind = FLOAT_TYPES[real]
    for name, values, steps, flag in (
        ("values", ELEMENTS, (0,), "Midpoint"), ("midpoints", HALVES, (0,), "Midpoint"),
        ("beside-midpoints", HALVES, (-1, 1), "BesideMidpoint"),
    ):  # fmt: skip
        rows = [
            row
            for place, scale in enumerate(SCALES)
            for row in rows_of(kind, TOP * scale * 2**place, [v * scale * 2**place for v in values], steps)
        ]
        yield sample(name, real, blocks(real, rows), (flag, "Blocked"), ("sign",))


def rest_of(code: int, kind: FloatType) -> list[int]:
    """A block whose greatest number has this code, and numbers in many ratios to it."""
    value = Fraction(decode(code, kind))
    parts = (Fraction(1, 2), Fraction(-1, 3), Fraction(3, 7), Fraction(-5, 64), Fraction(9, 10), Fraction(1, 12))
    return [code, *(encode(value * part, kind) for part in parts)]


def scale_ties(real: str) -> Iterator[Sample]:
    """Greatest magnitudes whose 6th part is an E4M3, lies halfway between two, or beside that."""
    kind, values = FLOAT_TYPES[real], values_of(E4M3)
    halves = [(low + high) / 2 for low, high in pairwise(values)]
    for name, numbers, steps in (("values", values, (0,)), ("midpoints", halves, (-1, 0, 1))):
        for part in range(2):
            codes = around(kind, [TOP * number for number in numbers[16 + part :: 2]], steps)
            rows = [rest_of(code, kind) for code in codes]
            yield sample(f"scale-{name}-{part}", real, blocks(real, rows), ("ScaleMidpoint", "Blocked"))


def least_scales(real: str) -> Iterator[Sample]:
    """Scales that are subnormal or zero, and subnormal numbers."""
    kind = FLOAT_TYPES[real]
    numbers = [TOP * LEAST * Fraction(n, 4) for n in (*range(1, 9), 10, 11, 14, 18, 22, 27, 29, 30, 31, 32, 33)]
    rows = [rest_of(code, kind) for code in around(kind, numbers, (-1, 0, 1))]
    yield sample("least-scales", real, blocks(real, rows), ("LeastScale", "Blocked"), ("no-scale",))
    tiny = [Fraction(2) ** power for power in (-149, -133, -127, -126, -60, -20)]
    rows = [rest_of(encode(max(number, Fraction(decode(1, kind))), kind), kind) for number in tiny]
    yield sample("no-scales", real, blocks(real, rows), ("Subnormal", "Blocked"), ("no-scale",))


def largest_scales(real: str) -> Iterator[Sample]:
    """Scales at 448 and beyond it, where the greatest numbers end at 6."""
    kind = FLOAT_TYPES[real]
    numbers = [TOP * scale for scale in (416, 432, 448, 464, 480, 512, 700)]
    rows = [rest_of(code, kind) for code in around(kind, [Fraction(number) for number in numbers], (-1, 0, 1))]
    roles = ("saturate-scale", "saturate")
    yield sample("largest-scales", real, blocks(real, rows), ("Saturates", "Blocked"), roles)
    huge = [[code, code >> 1, kind.largest_bits // 3] for code in (kind.largest_bits, kind.largest_bits - 1)]
    far = [rest_of(encode(Fraction(2) ** power, kind), kind) for power in (20, 30, 36, 37, 38, 39, 60, 127)]
    yield sample("far-beyond", real, blocks(real, [*huge, *far]), ("Overflow", "Saturates", "Blocked"), roles)


def places(real: str) -> Iterator[Sample]:
    """The greatest magnitude at each place of a block, of both signs; the next blocks have other scales."""
    kind = FLOAT_TYPES[real]
    rows = []
    for place in range(BLOCK):
        numbers = [Fraction(place * 37 % 23 + n * 29 % 31 - 25, 32) * TOP for n in range(BLOCK)]
        numbers[place] = (-1) ** place * TOP * Fraction(2) ** (place % 5 + 1) * SCALES[place % 8]
        rows.append([encode(number, kind) for number in numbers])
    yield sample("places", real, blocks(real, rows), ("Measured", "Blocked", "Lane"))
    yield sample("global-places", real, blocks(real, rows), ("Measured", "TwoLevels", "Lane"), (), 500)


def zeros(real: str) -> Iterator[Sample]:
    """Blocks of zeros beside others, and zeros of both signs among numbers."""
    kind = FLOAT_TYPES[real]
    minus, six, tiny = 1 << (kind.bits - 1), encode(TOP, kind), encode(-TOP / (1 << 40), kind)
    rows = [[six, 0, minus, tiny], [0], [minus], [encode(3 * TOP, kind), 0]]
    yield sample("zeros", real, blocks(real, rows), ("ZeroBlock", "Blocked"), ("sign", "no-scale"))
    yield sample("global-zeros", real, blocks(real, rows), ("ZeroBlock", "TwoLevels"), ("sign", "no-scale"), 20)


def specials(real: str) -> Iterator[Sample]:
    """NaN and infinities at the ends of a block, beside blocks that have none."""
    numbers: list[Fraction | float] = [Fraction(n * 7 % 19 - 9, 8) for n in range(BLOCK - 1)]
    plain: list[Fraction | float] = [*numbers, Fraction(5, 4)]
    for name, special, flag in (
        ("nan", math.nan, "NaN"), ("infinity", math.inf, "Infinity"), ("minus-infinity", -math.inf, "Infinity"),
    ):  # fmt: skip
        x = reals(real, [*numbers, special, *plain, special, *numbers, *plain], (4, BLOCK))
        yield sample(name, real, x, (flag, "Blocked"), ("special",))


def shapes(real: str) -> Iterator[Sample]:
    """Rows of several blocks, of parts of a block and of none."""
    for whole in (None, 2000):
        prefix = "" if whole is None else "global-"
        for shape in SHAPES:
            flag = "Empty" if 0 in shape else "Shape"
            yield sample(f"{prefix}shape-{label(shape)}", real, waves(real, shape), (flag,), (), whole)
    for length in LENGTHS:
        for shape in ((length,), (2, length)):
            yield sample(f"part-{label(shape)}", real, waves(real, shape), ("PartBlock", "Shape"), ("part",))


def separating(real: str) -> Iterator[Sample]:
    """Blocks on which two of the plainest arithmetics of scales differ, or of elements given their scale."""
    single, kind = FLOAT_TYPES["float32"], witness_kind(real, TO, {})
    for key in ("scales", "elements", "global_amax-scales", "global_amax-elements"):
        for number, others, codes in witnesses_of(ID, f"{kind}-{key}"):
            x = blocks(real, [codes[at : at + BLOCK] for at in range(0, len(codes), BLOCK)])
            whole = decode(others[0], single) if others else None
            theme = f"{'global-' if others else ''}separating-{key.rpartition('-')[2]}-{number}"
            yield sample(theme, real, x, ("Separating", "Blocked"), ("saturate", "sign"), whole)


def label(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def waves(real: str, shape: tuple[int, ...]) -> Tensor:
    """Numbers whose magnitude grows along the array, so that neighbouring blocks have different scales."""
    numbers = [Fraction((n * 29 % 83 - 31) << (n // BLOCK % 6), 13) for n in range(math.prod(shape))]
    return reals(real, numbers, shape)


def global_ties(real: str) -> Iterator[Sample]:
    """Numbers halfway between two elements or beside that, at scales that two levels make."""
    kind = FLOAT_TYPES[real]
    for number, whole in enumerate(ORDINARY):
        rows = []
        for place, scale in enumerate(SCALES):
            unit = scale * Fraction(2) ** (place - 2) * whole / WHOLE  # a scale in real numbers
            rows += rows_of(kind, TOP * unit, [half * unit for half in HALVES], (-1, 0, 1))
        flags = ("Midpoint", "BesideMidpoint", "TwoLevels")
        yield sample(f"global-midpoints-{number}", real, blocks(real, rows), flags, ("sign",), whole)


def global_scales(real: str) -> Iterator[Sample]:
    """Greatest magnitudes that a global_amax brings to an E4M3, halfway between two, beside that, and beyond 448."""
    kind, values = FLOAT_TYPES[real], values_of(E4M3)
    halves = [(low + high) / 2 for low, high in pairwise(values)]
    for number, whole in enumerate(ORDINARY):
        chosen = [*values[8 + number :: 5], *halves[1 + number :: 3], Fraction(470), Fraction(600)]
        codes = around(kind, [TOP * scale * whole / WHOLE for scale in chosen], (-1, 0, 1))
        rows = [rest_of(code, kind) for code in codes]
        flags = ("ScaleMidpoint", "Saturates", "TwoLevels")
        yield sample(f"global-scales-{number}", real, blocks(real, rows), flags, ("saturate-scale", "saturate"), whole)


def global_ends(real: str) -> Iterator[Sample]:
    """A global_amax near the ends of float32, and one that scales nothing."""
    single = FLOAT_TYPES["float32"]
    largest = Fraction(decode(single.largest_bits, single))
    ends = (largest, Fraction(2) ** 100, WHOLE / largest * 2, WHOLE / largest, Fraction(2) ** -126)
    wholes: list[tuple[str, Number]] = [(f"end-{number}", end) for number, end in enumerate(ends)]
    wholes += [("zero", 0), ("negative", -5), ("nan", math.nan), ("infinity", math.inf), ("minus-zero", -0.0)]
    for name, whole in wholes:
        numbers = [Fraction(n * 7 % 19 - 9, 8) for n in range(BLOCK)]
        finite = isinstance(whole, Fraction)
        size = Fraction(whole) / 9 if finite else Fraction(1)
        x = reals(real, [number * part for part in (size, size / 64) for number in numbers], (2, BLOCK))
        flag = "Overflow" if finite else "NaN" if name == "nan" else "Infinity" if name == "infinity" else "ZeroScale"
        yield sample(f"global-{name}", real, x, (flag, "TwoLevels"), ("no-global",), whole)
