"""Golden vectors of com.microsoft.MatMulNBits: rows with one number show each weight; a few sums are exact."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.golden.elements import FLOAT_TYPES, decode
from tiebreak.golden.packed_weights import packed
from tiebreak.golden.samples.model import Sample, Tensor, integers, reals

Number = Fraction | float | int
ALWAYS = ("weight", "product", "block", "b-shape", "scales-shape", "inner", "shape", "bits", "block-size", "types",
          "inputs")  # fmt: skip
SCALES = (Fraction(1, 10), Fraction(-1, 3), Fraction(7, 5), Fraction(3, 127), Fraction(41, 64), Fraction(-9, 7))
REAL_POINTS = (Fraction(33, 4), Fraction(77, 10), Fraction(0), Fraction(-7, 2), Fraction(1, 3), Fraction(3))
# A weight, its zero point, its scale and a number: float64 or float32 rounds their product onto a midpoint of the type.
ROUNDED_ONCE: dict[str, tuple[tuple[int, Fraction, Fraction, Fraction], ...]] = {
    "float32": tuple(
        (weight, Fraction(0), Fraction(scale, 1 << 24), Fraction(number, 1 << 23))
        for weight, scale, number in (
            (245, 15004653, 14190385),
            (223, 15937537, 12643103),
            (167, 14008173, 16188909),
            (255, 11979439, 14176749),
        )
    ),
    "float16": (
        (13, Fraction(1339, 1 << 14), Fraction(1056, 1 << 11), Fraction(1056, 1 << 10)),
        (10, Fraction(1397, 1 << 9), Fraction(2021, 1 << 11), Fraction(1936, 1 << 10)),
        (5, Fraction(1328, 1 << 9), Fraction(1287, 1 << 11), Fraction(1896, 1 << 10)),
    ),
    "bfloat16": (
        (11, Fraction(177, 1 << 7), Fraction(207, 1 << 8), Fraction(161, 1 << 7)),
        (7, Fraction(1, 1 << 60), Fraction(37), Fraction(1)),
    ),
}
BITS, SIZES, KINDS = (2, 4, 8), (16, 32), ("none", "uint8", "real")
OF_POINTS = {"none": ("left-off",), "uint8": ("packed-points", "point-types"), "real": ("real-points", "point-types")}
POINT_FLAGS = {"none": ("NoZeroPoint",), "uint8": ("PackedZeroPoints",), "real": ("FloatZeroPoint",)}


@dataclass(frozen=True)
class Form:
    """The sizes of a product, the bits of a weight, the size of a block, and the zero points' kind."""

    inner: int
    columns: int
    bits: int = 4
    size: int = 16
    points: str = "uint8"

    @property
    def blocks(self) -> int:
        return -(-self.inner // self.size)

    def attributes(self, **more: int) -> dict[str, Any]:
        return {"K": self.inner, "N": self.columns, "bits": self.bits, "block_size": self.size, **more}


def samples(real: str, output_type: str) -> Iterator[Sample]:
    yield from every_weight(real)
    yield from packed_ends(real)
    yield from levels(real)
    yield from any_numbers(real)
    yield from sums(real)
    yield from biases(real)
    yield from shapes(real)
    yield from extremes(real)
    yield from rounded_once(real)


def rounded_once(real: str) -> Iterator[Sample]:
    for place, (weight, point, scale, number) in enumerate(ROUNDED_ONCE[real]):
        form = Form(1, 1, 8, points="real" if point else "uint8")
        b = integers("uint8", [weight, *[0] * 15], (1, 1, 16))
        tensors = reals(real, [number], (1, 1)), b, reals(real, [scale], (1, 1))
        kind = real if point else "uint8"
        points = reals(real, [point], (1, 1)) if point else integers(kind, [0], (1, 1))
        node = {"real": real, "operands": [kind], "attributes": form.attributes()}
        roles = (*ALWAYS, *OF_POINTS[form.points], "beyond")
        yield Sample(f"rounded-once-{place}", node, (*tensors, points), ("RoundedTwice",), roles)


def sample(
    theme: str, real: str, form: Form, a: Tensor, flags: Sequence[str], roles: Sequence[str] = (), *,
    scales: Sequence[Number] = SCALES, level: int = 0, points: Sequence[Number] = REAL_POINTS,
    bias: Sequence[Number] = (), held: Tensor | None = None,
) -> Sample:  # fmt: skip
    """`scales` and `points` are taken in turn, block by block; so are integers of every value for B, and biases.

    `held` are packed zero points instead.
    """
    count = form.columns * form.blocks
    tensors = [a, weights(form), reals(real, in_turn(scales, count), (form.columns, form.blocks))]
    tensors += [held] if held else zero_points(real, form, points)
    operand = real if form.points == "real" else "uint8"
    node: dict[str, Any] = {"real": real, "operands": [operand], "zero_point": form.points != "none"}
    if bias:
        tensors.append(reals(real, in_turn(bias, form.columns), (form.columns,)))
        node |= {"zero_point": True, "form": 2 if form.points == "none" else 1}
        flags, roles = (*flags, "ColumnBias"), (*roles, "bias", "bias-column", "bias-shape")
    node["attributes"] = form.attributes(**({"accuracy_level": level} if level else {}))
    roles = (*ALWAYS, *OF_POINTS[form.points], *roles, *(("packed",) if form.bits < 8 else ()))
    part = form.inner % form.size
    roles += ("beyond",) if part else ()
    flags = (*flags, "Blocked", *POINT_FLAGS[form.points], *(("PartBlock",) if part else ()))
    return Sample(theme, node, tuple(tensors), flags, roles)


def in_turn(values: Sequence[Number], count: int) -> list[Number]:
    return [values[n % len(values)] for n in range(count)]


def weights(form: Form) -> Tensor:
    """Every integer in turn, in another order for each row; those beyond K are the highest."""
    span, padded = 1 << form.bits, form.blocks * form.size
    codes = np.array([[(5 * k + 3 * n + k // 7) % span for k in range(padded)] for n in range(form.columns)])
    codes[:, form.inner :] = span - 1
    held = packed(codes, form.bits).reshape(-1).tolist()
    return integers("uint8", held, (form.columns, form.blocks, form.size * form.bits // 8))


def zero_points(real: str, form: Form, values: Sequence[Number]) -> list[Tensor]:
    shape = form.columns, form.blocks
    if form.points == "none":
        return []
    if form.points == "real":
        return [reals(real, in_turn(values, shape[0] * shape[1]), shape)]
    span = 1 << form.bits
    codes = np.array([[(span // 2 + 5 * n + 3 * b + 1) % span for b in range(shape[1])] for n in range(shape[0])])
    held = packed(codes, form.bits)
    return [integers("uint8", held.reshape(-1).tolist(), held.shape)]


def lone(real: str, values: Sequence[Number], inner: int) -> Tensor:
    """Rows of zeros, but for one number each: the first in the first column, the second in the second, and so on."""
    rows = [[value if n % inner == k else 0 for k in range(inner)] for n, value in enumerate(values)]
    return reals(real, [value for row in rows for value in row], (len(rows), inner))


def powers(count: int) -> list[Number]:
    return [(-1) ** n * Fraction(2) ** (n % 5 - 2) for n in range(count)]


def every_weight(real: str) -> Iterator[Sample]:
    """Each weight alone, times a power of two."""
    for bits in BITS:
        for size in SIZES:
            for points in KINDS:
                form = Form(size + 5, 3, bits, size, points)
                a = lone(real, powers(form.inner), form.inner)
                yield sample(f"weights-{bits}-{size}-{points}", real, form, a, ("ScaleNotPowerOfTwo", "NegativeScale"))


def packed_ends(real: str) -> Iterator[Sample]:
    """Packed zero points of 0, the highest, and both beside each other in a byte: a number in each block shows them."""
    for bits in BITS:
        form, span = Form(16 * 4 + 5, 4, bits), 1 << bits
        rows = [[2 if k == at else 0 for k in range(form.inner)] for at in (0, 17, 34, 51, 68)]
        a = reals(real, [value for row in rows for value in row], (len(rows), form.inner))
        ends = [0, span - 1, 0, 0, 1, span - 1, span - 1]
        codes = np.array([[ends[(5 * n + b) % 7] for b in range(form.blocks)] for n in range(form.columns)])
        held = packed(codes, bits)
        yield sample(f"packed-ends-{bits}", real, form, a, ("ZeroPointEdge",),
                     held=integers("uint8", held.reshape(-1).tolist(), held.shape))  # fmt: skip


def levels(real: str) -> Iterator[Sample]:
    """The other accuracy levels: A of powers of two, of numbers that its type alone holds, and of zeros alone."""
    finest = 1 + Fraction(1, 1 << FLOAT_TYPES[real].precision - 1)
    for level, roles in ((1, ()), (2, ("halves",)), (3, ("halves",)), (4, ("integers",))):
        for name, values in (("powers", powers(21)), ("fine", [finest] * 21), ("zeros", [0] * 21)):
            form = Form(21, 2)
            flags = ("LowAccuracy",) if level > 1 else ("ScaleNotPowerOfTwo",)
            roles_ = ("level", *roles, *(("sign",) if name == "zeros" else ()))
            yield sample(f"level-{level}-{name}", real, form, lone(real, values, 21), flags, roles_, level=level)


def any_numbers(real: str) -> Iterator[Sample]:
    """Numbers that are no powers of two, so that the product is rounded, too."""
    values = [Fraction(n, 7) for n in (-13, -5, -1, 1, 2, 3, 10, 23)] * 3
    for points in KINDS:
        form = Form(20, 3, points=points)
        yield sample(f"numbers-{points}", real, form, lone(real, values, 20), ("ScaleNotPowerOfTwo",))


def sums(real: str) -> Iterator[Sample]:
    """Several products: of small integers with scales that are powers of two, and of others, whose order shows."""
    small = [[(3 * m + 5 * k) % 4 - 1 for k in range(17)] for m in range(4)]
    a = reals(real, [value for row in small for value in row], (4, 17))
    even = (Fraction(1, 4), Fraction(-2), Fraction(1))
    for bits in (2, 4):
        form = Form(17, 3, bits)
        yield sample(f"sums-{bits}", real, form, a, ("SeveralProducts",), ("order",), scales=even)
    yield sample("sums-left-off", real, Form(17, 3, points="none"), a, ("SeveralProducts",), ("order",), scales=even)
    yield sample("sums-open", real, Form(17, 3), a, ("SeveralProducts",), ("order",))


def biases(real: str) -> Iterator[Sample]:
    """Numbers added to products that the type holds, and to sums of products; biases alone, where rows are zeros."""
    numbers = (Fraction(1, 3), Fraction(-7, 5), Fraction(22, 7), Fraction(-1, 127))
    for points in KINDS:
        for bits in BITS:
            form = Form(21, 4, bits, points=points)
            flags = ("ScaleNotPowerOfTwo", "NegativeScale")
            yield sample(f"bias-{bits}-{points}", real, form, lone(real, powers(21), 21), flags, bias=numbers)
    fine = lone(real, [Fraction(n, 7) for n in (-13, 1, 10)] * 7, 21)
    yield sample("bias-open", real, Form(21, 4), fine, ("ScaleNotPowerOfTwo",), ("order",), bias=(*numbers[:3], 0))
    small = reals(real, [(3 * n) % 4 - 1 for n in range(51)], (3, 17))
    even = (Fraction(1, 4), Fraction(-2), Fraction(1))
    for name, bias in (("exact", (Fraction(3, 4), -5, 0, 2)), ("shows", numbers)):
        yield sample(f"bias-sums-{name}", real, Form(17, 4), small, ("SeveralProducts",), ("order",), scales=even,
                     bias=bias)  # fmt: skip
    odd: list[Number] = [math.nan, math.inf, -math.inf, -0.0]
    zeros, powers_ = lone(real, [0, 0, 0], 16), lone(real, powers(16), 16)
    yield sample("bias-alone", real, Form(16, 4), zeros, (), ("sign",), bias=(*numbers[:3], 0))
    yield sample("bias-special", real, Form(16, 4), powers_, ("NaN", "Infinity"), ("special", "sign"), bias=odd)
    yield sample("bias-columns", real, Form(16, 67), powers_, ("Lane",), bias=[Fraction(n, 8) for n in range(-33, 34)])
    yield from levelled_biases(real, numbers)


def levelled_biases(real: str, numbers: Sequence[Number]) -> Iterator[Sample]:
    """A level lets A become another, not the bias."""
    for level, roles in ((1, ()), (2, ("halves",)), (3, ("halves",)), (4, ("integers",))):
        for name, values in (("powers", powers(16)), ("zeros", [0, 0])):
            a, flags = lone(real, values, 16), ("LowAccuracy",) if level > 1 else ()
            yield sample(f"bias-level-{level}-{name}", real, Form(16, 4), a, flags, ("level", *roles), level=level,
                         bias=numbers)  # fmt: skip


def shapes(real: str) -> Iterator[Sample]:
    """A with more axes or no rows; a single weight; rows and columns of the lengths of vectors."""
    for shape in ((1, 3, 16), (2, 1, 2, 16), (0, 16), (2, 0, 16)):
        count = math.prod(shape[:-1])
        a = lone(real, powers(count), 16)
        flag = "Empty" if 0 in shape else "Shape"
        yield sample(f"shape-{'x'.join(map(str, shape))}", real, Form(16, 2), Tensor(a.type, shape, a.codes), (flag,))
    yield sample("one-weight", real, Form(1, 1), reals(real, [1, -2, Fraction(1, 3)], (3, 1)), ("Shape",))
    yield sample("lane-columns", real, Form(3, 67), lone(real, powers(3), 3), ("Lane",))
    yield sample("lane-rows", real, Form(3, 2, 8), lone(real, powers(67), 3), ("Lane",))
    yield sample("lane-inner", real, Form(131, 2, 4, 32), lone(real, powers(131), 131), ("Lane",))


def extremes(real: str) -> Iterator[Sample]:
    """NaN and infinities, scales at the ends of the type, zeros of both signs."""
    kind = FLOAT_TYPES[real]
    largest, least = Fraction(decode(kind.largest_bits, kind)), Fraction(2) ** (kind.emin - kind.precision + 1)
    odd: list[Number] = [math.nan, math.inf, -math.inf, 1, 0, -0.0]
    yield sample("special-numbers", real, Form(18, 2), lone(real, odd, 18), ("NaN", "Infinity"), ("special", "sign"))
    for name, scales, flags in (
        ("special-scales", (math.nan, math.inf, 1, -math.inf), ("NaN", "Infinity")),
        ("zero-scales", (0.0, -0.0, 1), ("ZeroScale",)),
        ("least-scales", (least, -3 * least, Fraction(2) ** kind.emin), ("Subnormal",)),
        ("largest-scales", (largest, -largest / 2, 1), ("HugeScale",)),
    ):
        a = lone(real, powers(18), 18)
        yield sample(name, real, Form(18, 3), a, flags, ("special", "sign"), scales=scales)
    single = reals(real, [Fraction(1, 4), 1, -4, 0], (4, 1))
    for name, scale in (("largest", largest), ("least", least)):
        flags = ("HugeScale", "Overflow") if name == "largest" else ("Subnormal",)
        yield sample(f"{name}-scale", real, Form(1, 2), single, flags, ("special", "sign"), scales=(scale,))
