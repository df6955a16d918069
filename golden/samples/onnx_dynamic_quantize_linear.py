"""Golden vectors of onnx.DynamicQuantizeLinear. One element decides about all: the ends of the range are in x."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import FLOAT_TYPES, decode, encode, neighbour
from tiebreak.golden.samples.model import Sample, Tensor, bits, reals, scalar
from tiebreak.golden.vector_inputs.by_witness import witness_kind, witnesses_of

ID = "onnx.DynamicQuantizeLinear"
F32 = FLOAT_TYPES["float32"]
NODE: dict[str, Any] = {"real": "float32", "quantized": "uint8"}
STEPS, HALF = 255, Fraction(1, 2)
LEAST, LARGEST = Fraction(1, 1 << 149), Fraction(decode(F32.largest_bits, F32))
ALWAYS = ("scale", "range", "zero-point", "round-first", "as-put-out", "even", "types", "version")
WHOLE = (0, 1, 2, 100, 127, 128, 254, 255)  # zero points of ranges whose scale is 1
EVERY_TIE = (0, 127)
HALVES = (0, 1, 2, 3, 62, 127, 128, 252, 253, 254)
# Ends as calibration finds them: no power of two, one-sided, lopsided, narrow and wide.
RANGES = (
    ("0-1", "0", "1"),
    ("1-1", "-1", "1"),
    ("0-6", "0", "6"),
    ("tenths", "-0.1", "0.3"),
    ("tens", "-10", "9"),
    ("lopsided", "-1", "0.001"),
    ("negative", "-2.7", "0"),
    ("narrow", "-0.000017", "0.00003"),
    ("wide", "-1234.5", "98765.4"),
    ("sigmoid", "-0.27846455", "12.3"),
    ("scale-one-ulp-off", "0", "255.00002"),
)
SEARCHED = 24  # ranges among which those are chosen whose exact and stepwise results differ
SHAPES: tuple[tuple[int, ...], ...] = ((2, 3), (1, 4, 1), (3, 1, 5), (2, 2, 3, 2), (1, 1), (6, 11))
LANES = (2, 3, 5, 8, 15, 16, 17, 31, 33, 64, 67, 131)


def samples(real: str, quantized: str) -> Iterator[Sample]:
    yield from whole_scales()
    yield from halves()
    yield from decimal_ranges()
    yield from sensitive_ranges()
    yield from one_sided()
    yield from open_ranges()
    yield from small_ranges()
    yield from huge_ranges()
    yield from ends_at_each_place()
    yield from shapes()
    yield from separating()


def sample(theme: str, x: Tensor, flags: Sequence[str], roles: Sequence[str] = ()) -> Sample:
    return Sample(theme, NODE, (x,), tuple(flags), (*ALWAYS, *roles))


def single(value: Fraction) -> Fraction:
    """The float32 nearest to a value."""
    return Fraction(decode(encode(value, F32), F32))


def inside(low: Fraction, high: Fraction, codes: Iterable[int]) -> Tensor:
    """A vector that begins with both ends of its range and has only numbers of it."""
    ends = [encode(low, F32), encode(high, F32)]
    values = ((code, decode(code, F32)) for code in codes)
    kept = [code for code, value in values if single(low) <= value <= single(high)]
    return bits("float32", list(dict.fromkeys([*ends, *kept])))


def near_ties(low: Fraction, high: Fraction, every: int = 1) -> list[int]:
    """Inputs on and beside ties and integers of the range's own scale, every so many."""
    scale = single((single(high) - single(low)) / STEPS)
    first = math.floor(single(low) / scale)
    found = []
    for k in range(first - 1, first + STEPS + 2, every):
        at = encode((k + HALF) * scale, F32)
        found += [neighbour(at, F32, step) for step in (-1, 0, 1)] + [encode(k * scale, F32)]
    return found


def whole_scales() -> Iterator[Sample]:
    """Scale 1, so that ties are inputs, for zero points of both parities."""
    below_half = [encode(HALF, F32) - 1, encode(-HALF, F32) - 1, 0x80000000, 1]
    for point in WHOLE:
        low, high = Fraction(-point), Fraction(STEPS - point)
        flags = ("Tie", "NearTie", "AddHalf", "RangeEdge", *(("ClampOrder",) if point else ()))
        odd = ("ZeroPointParity",) if point % 2 else ()
        x = inside(low, high, below_half + near_ties(low, high, 1 if point in EVERY_TIE else 7))
        yield sample(f"scale-1-zero-point-{point}", x, (*flags, *odd), ("saturate",))


def halves() -> Iterator[Sample]:
    """The zero point is a tie; where it is rounded up, what rounds up at the other end saturates."""
    for k in HALVES:
        low, high = -(k + HALF), STEPS - (k + HALF)
        flags = ("Tie", *(("Saturates", "RangeEdge") if k % 2 else ()))
        yield sample(f"zero-point-tie-{k}", inside(low, high, near_ties(low, high, 17)), flags, ("saturate",))
    for k in HALVES[:4]:
        for name, step in (("below", 1), ("above", -1)):
            low, high = Fraction(decode(neighbour(encode(-(k + HALF), F32), F32, step), F32)), STEPS - (k + HALF)
            x = inside(low, high, near_ties(low, high, 17))
            yield sample(f"zero-point-{name}-tie-{k}", x, ("NearTie",), ("saturate",))


def decimal_ranges() -> Iterator[Sample]:
    flags = ("NearTie", "ScaleNotPowerOfTwo", "Reciprocal", "RangeEdge")
    for number, (name, *ends) in enumerate(RANGES):
        low, high = map(Fraction, ends)
        x = inside(low, high, near_ties(low, high, 3 if number else 1))
        yield sample(f"range-{name}", x, (*flags, *(("ClampOrder",) if low < 0 else ())), ("saturate",))


def sensitive_ranges() -> Iterator[Sample]:
    """Ranges whose scale, zero point or some quotient is another number in real arithmetic than step by step."""
    for number in range(SEARCHED):
        low, high = Fraction(-(number * 37 % 91), 64), Fraction(3 + number * 53 % 113, 7)
        bottom, top = single(low), single(high)
        exact, stepwise = single((top - bottom) / STEPS), single(single(top - bottom) / STEPS)
        x = inside(low, high, near_ties(low, high, 5))
        if exact != stepwise:
            yield sample(f"two-scales-{number}", x, ("PrecisionSensitive", "ScaleNotPowerOfTwo"))
        elif quotients_to_ties(x, exact):
            yield sample(f"rounded-to-ties-{number}", x, ("PrecisionSensitive", "NearTie"))


def quotients_to_ties(x: Tensor, scale: Fraction) -> bool:
    """Whether a quotient that is no tie is rounded to one."""
    quotients = [Fraction(decode(code, F32)) / scale for code in x.codes]
    return any(single(q) != q and (2 * single(q)).denominator == 1 and single(q).denominator == 2 for q in quotients)


def one_sided() -> Iterator[Sample]:
    """Inputs of one sign: the range reaches to zero all the same."""
    values = [Fraction(n, 9) for n in range(10, 40)]
    for name, sign in (("above", 1), ("below", -1)):
        x = reals("float32", [sign * value for value in values])
        yield sample(f"wholly-{name}-zero", x, ("ZeroOutside", "ScaleNotPowerOfTwo"), ("saturate-zero-point",))
        yield sample(f"one-{name}-zero", reals("float32", [sign * values[0]]), ("ZeroOutside",))
        yield sample(f"scalar-{name}-zero", scalar("float32", sign * values[3]), ("Scalar", "ZeroOutside"), ("shape",))
    x = reals("float32", [-0.0, Fraction(1), Fraction(-0), Fraction(1, 2)])
    yield sample("negative-zero", x, ("NegativeZero",))


def open_ranges() -> Iterator[Sample]:
    """What the document is silent about."""
    for name, values in (("zeros", [Fraction(0)] * 5), ("minus-zeros", [-0.0, -0.0]), ("one-zero", [Fraction(0)])):
        yield Sample(name, NODE, (reals("float32", values),), ("NoWidth",), ("no-width",))
    yield Sample("empty", NODE, (reals("float32", [], (0,)),), ("Empty", "NoWidth"), ("no-width", "shape"))
    yield Sample("empty-matrix", NODE, (reals("float32", [], (2, 0)),), ("Empty", "NoWidth"), ("no-width", "shape"))
    numbers: list[Fraction | float] = [Fraction(-1), Fraction(1, 3), Fraction(2)]
    for name, special in (("nan", math.nan), ("infinity", math.inf), ("minus-infinity", -math.inf)):
        flag = "NaN" if name == "nan" else "Infinity"
        for place, mixed in (("first", [special, *numbers]), ("last", [*numbers, special])):
            yield Sample(f"{name}-{place}", NODE, (reals("float32", mixed),), (flag,), ("special",))


def small_ranges() -> Iterator[Sample]:
    """Widths of some of the least numbers, whose scale rounds to zero or to few bits; then subnormal scales."""
    for width in (1, 127, 128, 200, 382, 383, 1000, 65535):
        role = ("no-scale",) if width < 128 else ()
        x = reals("float32", [Fraction(0), width * LEAST, width // 2 * LEAST, (width + 1) // 3 * LEAST])
        yield Sample(f"width-{width}", NODE, (x,), ("Subnormal",), ("scale", *role))
    for name, power in (("subnormal-scale", -124), ("least-scale", -118), ("small-scale", -100)):
        low, high = -(Fraction(2) ** power), 3 * Fraction(2) ** (power - 2)
        flags = ("Subnormal", "NearTie", "ScaleNotPowerOfTwo")
        yield sample(name, inside(low, high, near_ties(low, high, 3)), flags)


def huge_ranges() -> Iterator[Sample]:
    """Widths that are finite, and those that overflow float32 although their 255th part does not."""
    for name, low, high in (
        ("largest", Fraction(0), LARGEST),
        ("half", -(Fraction(2) ** 126), Fraction(2) ** 126),
        ("beyond", -(Fraction(2) ** 127), Fraction(2) ** 127),
        ("all", -LARGEST, LARGEST),
        ("just-beyond", Fraction(-(10**31)), LARGEST),
    ):
        values = [low, high, high / 3, low / 7, Fraction(0), high / 1024, Fraction(1)]
        yield sample(f"huge-{name}", reals("float32", values), ("Overflow",), ("saturate",))


def ends_at_each_place() -> Iterator[Sample]:
    """Arrays of many lengths, where either end of the range is the last element, or the first, or in the middle."""
    for length in LANES:
        for name, place in (("last", length - 1), ("first", 0), ("middle", length // 2)):
            for sign in (1, -1):
                values = [Fraction(n * 37 % 61 - 30, 16) for n in range(length)]
                values[place] = Fraction(sign * 177, 32)
                label = f"{'max' if sign > 0 else 'min'}-{name}-of-{length}"
                yield sample(label, reals("float32", values), ("Measured", "Lane"), ("shape",))


def separating() -> Iterator[Sample]:
    """Inputs on which two of the plainest arithmetics of an output differ, given the outputs that it depends on."""
    for output in ("y_scale", "y_zero_point", "y"):
        for number, _, x in witnesses_of(ID, f"{witness_kind('float32', 'uint8', {})}-{output}"):
            yield sample(f"separating-{output}-{number}", bits("float32", x), ("Separating",), ("saturate",))


def shapes() -> Iterator[Sample]:
    """Arrays of several ranks: one range for all of them, its ends in different rows."""
    for shape in SHAPES:
        count = math.prod(shape)
        values = [Fraction(n * 29 % 83 - 31, 13) for n in range(count)]
        values[0], values[-1] = Fraction(-47, 9), Fraction(101, 9)
        label = "x".join(map(str, shape))
        yield sample(f"shape-{label}", reals("float32", values, shape), ("Shape", "Measured"), ("shape",))
