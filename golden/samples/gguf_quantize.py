"""Golden vectors of gguf.Quantize. A row holds whole blocks, whose first number is mostly the greatest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from tiebreak.golden.elements import FLOAT_TYPES, decode, encode, neighbour
from tiebreak.golden.samples.model import Sample, Tensor, bits, reals
from tiebreak.golden.vector_inputs.by_witness import witness_kind, witnesses_of

ID = "gguf.Quantize"
BLOCK = 32
REAL = "float32"
SINGLE, HALF = FLOAT_TYPES[REAL], FLOAT_TYPES["float16"]
SIGN = 1 << (SINGLE.bits - 1)
DIVISORS = {"int8": 127, "uint4": -8}
ALWAYS = ("elements", "put-out", "scale-nearest", "block", "types")
OF_TYPE = {"int8": ("scale-8", "nearest"), "uint4": ("scale-4", "sum", "cut-off")}
STEPS = tuple(Fraction(8 + part, 8) for part in range(8))  # scales whose multiples are float32
TOPS = (
    Fraction(1, 3),
    Fraction(7),
    Fraction(1, 10),
    Fraction(1000, 7),
    Fraction(5, 1 << 12),
    Fraction(11),
    Fraction(97),
)
SHAPES: tuple[tuple[int, ...], ...] = ((32,), (1, 64), (3, 1, 32), (2, 2, 1, 96), (0, 32), (2, 0))


def samples(real: str, to: str) -> Iterator[Sample]:
    for theme in (ties, quotients, scale_ties, far_scales, least_steps, places, zeros, specials, shapes, separating):
        yield from theme(to)
    if to == "uint4":
        yield from sums()
        yield from both_signs()


def sample(theme: str, to: str, x: Tensor, flags: Sequence[str], roles: Sequence[str] = ()) -> Sample:
    node = {"real": REAL, "quantized": to}
    return Sample(theme, node, (x,), tuple(flags), (*ALWAYS, *OF_TYPE[to], *roles))


def blocks(rows: Sequence[Sequence[int]]) -> Tensor:
    """A tensor of blocks, each from the codes given, the first of them repeated; at least one."""
    codes = [code for row in rows for code in [*row, *[row[0]] * (BLOCK - len(row))]]
    return bits(REAL, codes, (len(rows), BLOCK))


def single(value: Fraction) -> Fraction:
    """A number rounded to float32."""
    return Fraction(decode(encode(value, SINGLE), SINGLE))


def halves(to: str) -> list[Fraction]:
    """The quotients halfway between two elements, from the lowest to the highest."""
    ends = (-127, 127) if to == "int8" else (-8, 8)
    return [Fraction(2 * n + 1, 2) for n in range(*ends)]


def rows_of(to: str, top: Fraction, values: Sequence[Fraction], steps: Sequence[int]) -> list[list[int]]:
    """Blocks that begin with `top`, and then the numbers with their neighbours of these steps."""
    codes = [near(value, step) for value in values for step in steps if value]
    codes = [code for code in codes if code & ~SIGN <= encode(abs(top), SINGLE)]
    return [[encode(top, SINGLE), *codes[at : at + BLOCK - 1]] for at in range(0, len(codes), BLOCK - 1)]


def near(value: Fraction, steps: int) -> int:
    """The code so many steps away from a number's, by magnitude."""
    return neighbour(encode(abs(value), SINGLE), SINGLE, steps) | (SIGN if value < 0 else 0)


def ties(to: str) -> Iterator[Sample]:
    """For scales whose multiples are float32: the numbers halfway between two elements, and their neighbours."""
    for name, steps, flag in (("ties", (0,), "Tie"), ("beside-ties", (-1, 1), "NearTie")):
        rows = []
        for place, scale in enumerate(STEPS):
            step = scale * Fraction(2) ** (3 * place - 9) * (-1 if to == "uint4" and place % 2 else 1)
            rows += rows_of(to, step * DIVISORS[to], [half * step for half in chosen(to, place)], steps)
        yield sample(name, to, blocks(rows), (flag, "Blocked", "Reciprocal"), ("saturate",) * (to == "uint4"))


def chosen(to: str, place: int) -> list[Fraction]:
    """All ties of 4 bits; of 8 bits those between small integers and some others, others at each place."""
    found = halves(to)
    return found if to == "uint4" else [h for n, h in enumerate(found) if abs(h) < 8 or n % 8 == place]


def quotients(to: str) -> Iterator[Sample]:
    """Scales that are no short numbers: the float32 next to each halfway quotient, and its neighbours."""
    rows = []
    for place, top in enumerate(TOPS):
        greatest = single(top if place % 2 else -top)
        step = greatest / DIVISORS[to]
        rows += rows_of(to, greatest, [half * step for half in chosen(to, place)], (-1, 0, 1))
    yield sample("quotients", to, blocks(rows), ("NearTie", "Reciprocal", "ScaleNotPowerOfTwo", "Blocked"))


def rest_of(code: int) -> list[int]:
    """A block whose greatest number has this code, and numbers in many ratios to it."""
    value = Fraction(decode(code, SINGLE))
    parts = (Fraction(1, 2), Fraction(-1, 3), Fraction(3, 7), Fraction(-5, 64), Fraction(9, 10), Fraction(-1, 12))
    return [code, *(encode(value * part, SINGLE) for part in parts)]


def scale_ties(to: str) -> Iterator[Sample]:
    """Greatest magnitudes whose scale is a float16, lies halfway between two, or beside that; subnormal ones too."""
    codes = [1, 2, 3, 511, 1023, 1024, 1025, 1536, 4097, 9001, 15360, 15361, 15999, 20480, 31742]
    low_high = [(Fraction(decode(code, HALF)), Fraction(decode(code + 1, HALF))) for code in codes]
    for name, scales in (
        ("values", [low for low, _ in low_high]), ("midpoints", [(low + high) / 2 for low, high in low_high]),
    ):  # fmt: skip
        near_codes = [near(scale * DIVISORS[to], step) for scale in scales for step in (-2, -1, 0, 1, 2)]
        rows = [rest_of(code ^ (SIGN if n % 3 == 0 else 0)) for n, code in enumerate(near_codes)]
        yield sample(f"scale-{name}", to, blocks(rows), ("ScaleMidpoint", "LeastScale", "Blocked"))


def far_scales(to: str) -> Iterator[Sample]:
    """Scales beyond float16: infinite, or zero although the numbers are not."""
    largest = Fraction(decode(HALF.largest_bits, HALF))
    edge = largest + Fraction(2) ** (HALF.emax - HALF.precision)  # where infinity begins
    beyond = [near(edge * DIVISORS[to], step) for step in (-1, 0, 1)] + [SINGLE.largest_bits, SINGLE.largest_bits - 1]
    beyond += [encode(Fraction(2) ** power, SINGLE) for power in (24, 60, 127)]
    yield sample("infinite-scales", to, blocks([rest_of(code) for code in beyond]), ("InfiniteScale", "Blocked"))
    least = Fraction(decode(1, HALF))
    small = [near(least / 2 * DIVISORS[to], step) for step in (-1, 0, 1)]
    small += [encode(Fraction(2) ** power, SINGLE) for power in (-30, -60, -110, -118)]
    yield sample("zero-scales", to, blocks([rest_of(code) for code in small]), ("LeastScale", "Blocked"), ("sign",))


def least_steps(to: str) -> Iterator[Sample]:
    """Magnitudes so small that d is subnormal or zero, or its reciprocal beyond float32."""
    tiny = [Fraction(2) ** power for power in (-149, -148, -147, -146, -145, -143, -142, -140, -130)]
    tiny += [Fraction(3, 1 << 149), Fraction(5, 1 << 149), Fraction(63, 1 << 149), Fraction(64, 1 << 149)]
    edge = [Fraction(abs(DIVISORS[to]), 1 << 128), Fraction(abs(DIVISORS[to]), 1 << 127)]
    codes = [encode(value, SINGLE) for value in tiny] + [near(value, step) for value in edge for step in (-1, 0, 1)]
    rows = [[code, max(code // 2, 1), SIGN | max(code // 3, 1), 0] for code in codes]
    roles = ("no-step", "no-reciprocal", "sign")
    yield sample("least-steps", to, blocks(rows), ("Subnormal", "HugeReciprocal", "Blocked"), roles)


def places(to: str) -> Iterator[Sample]:
    """The greatest magnitude at each place of a block, of both signs; the next blocks have other scales."""
    rows = []
    for place in range(BLOCK):
        numbers = [Fraction(place * 37 % 23 + n * 29 % 31 - 25, 4) for n in range(BLOCK)]
        numbers[place] = (-1) ** place * 8 * Fraction(2) ** (place % 5 + 1)
        rows.append([encode(number, SINGLE) for number in numbers])
    yield sample("places", to, blocks(rows), ("Measured", "Blocked", "Lane"))


def zeros(to: str) -> Iterator[Sample]:
    """Blocks of zeros beside others, and zeros of both signs among numbers."""
    one, tiny = encode(Fraction(8), SINGLE), encode(Fraction(-8, 1 << 40), SINGLE)
    rows = [[one, 0, SIGN, tiny], [0], [SIGN], [0, SIGN], [encode(Fraction(-24), SINGLE), 0]]
    yield sample("zeros", to, blocks(rows), ("ZeroBlock", "NegativeZero", "Blocked"), ("no-step", "sign"))


def specials(to: str) -> Iterator[Sample]:
    """NaN and infinities at both ends of a block, beside blocks that have none."""
    numbers: list[Fraction | float] = [Fraction(n * 7 % 19 - 9, 8) for n in range(BLOCK - 1)]
    plain: list[Fraction | float] = [*numbers, Fraction(5, 4)]
    for name, special, flag in (
        ("nan", math.nan, "NaN"), ("infinity", math.inf, "Infinity"), ("minus-infinity", -math.inf, "Infinity"),
    ):  # fmt: skip
        x = reals(REAL, [*numbers, special, *plain, special, *numbers], (3, BLOCK))
        yield sample(name, to, x, (flag, "Blocked"), ("special",))


def shapes(to: str) -> Iterator[Sample]:
    """Rows of several blocks, and of none."""
    for shape in SHAPES:
        yield sample(
            f"shape-{label(shape)}", to, waves(shape), ("Empty" if 0 in shape else "Shape",), ("whole-blocks",)
        )


def label(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def waves(shape: tuple[int, ...]) -> Tensor:
    """Numbers whose magnitude grows along the array, so that neighbouring blocks have different scales."""
    numbers = [Fraction((n * 29 % 83 - 31) << (n // BLOCK % 7), 13) for n in range(math.prod(shape))]
    return reals(REAL, numbers, shape)


def both_signs() -> Iterator[Sample]:
    """Blocks of 4 bits that have their greatest magnitude with both signs, in either order."""
    rows = []
    for place in range(0, BLOCK - 1, 3):
        for sign in (1, -1):
            numbers = [Fraction(place * 31 % 13 + n * 17 % 29 - 20, 5) for n in range(BLOCK)]
            numbers[place], numbers[place + 1 + place % 2] = Fraction(8 * sign), Fraction(-8 * sign)
            rows.append([encode(number, SINGLE) for number in numbers])
    yield sample("both-signs", "uint4", blocks(rows), ("FirstOfEquals", "Saturates", "Blocked"), ("first", "saturate"))


def separating(to: str) -> Iterator[Sample]:
    """Blocks on which two of the plainest arithmetics of scales differ, or of elements given their scale."""
    for output in ("scales", "elements"):
        for number, _, codes in witnesses_of(ID, f"{witness_kind(REAL, to, {})}-{output}"):
            x = bits(REAL, codes, (len(codes) // BLOCK, BLOCK))
            yield sample(f"separating-{output}-{number}", to, x, ("Separating", "Blocked"))


def sums() -> Iterator[Sample]:
    """Products that make another sum with 8.5 if they are not rounded before.

    A fused multiply-add conforms: where it differs it gives what the formula gives in real arithmetic.
    """
    rows = [[encode(top, SINGLE), *found] for top, found in fused_differ() if found]
    yield sample("sums", "uint4", blocks(rows), ("NearTie", "PrecisionSensitive", "Blocked"))


@lru_cache(maxsize=1)
def fused_differ() -> list[tuple[Fraction, list[int]]]:
    """Greatest numbers, each with codes of numbers whose fused sum is cut off to another integer."""
    tops = [single(top * sign) for top in (*TOPS, *(Fraction(n, 5) for n in range(3, 60, 4))) for sign in (1, -1)]
    return [(top, differing(top)[: BLOCK - 1]) for top in tops]


def differing(top: Fraction) -> list[int]:
    step = top / -8
    factor, found = single(1 / step), []
    for half in halves("uint4"):
        for steps in range(-9, 10):
            code = near(half * step, steps)
            product = Fraction(decode(code, SINGLE)) * factor
            once, twice = single(product + Fraction(17, 2)), single(single(product) + Fraction(17, 2))
            if math.floor(once) != math.floor(twice) and code & ~SIGN <= encode(abs(top), SINGLE):
                found.append(code)
    return found
