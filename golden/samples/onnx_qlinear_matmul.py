"""Golden vectors of onnx.QLinearMatMul: sums whose real multiples are ties, lie beside them, or leave the range."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.samples.model import Sample, Tensor, integers, reals
from tiebreak.golden.vector_inputs.by_witness import witnesses_of

FILES = tuple((real, quantized) for real in ("float32", "float16", "bfloat16") for quantized in ("uint8", "int8"))
ID = "onnx.QLinearMatMul"
OPERANDS = (("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8"), ("int8", "uint8"))
Scale = Fraction | float
Scales = tuple[Scale, Scale, Scale]
POINTS = {"uint8": 128, "int8": 0}
ALWAYS = ("sum", "product", "quotient", "zero-point", "even", "matmul", "types", "scale-types", "same-shape", "version")
ROWS: tuple[int, ...] = (-100, -75, -50, -25, -20, -10, -5, -4, -2, -1, 1, 2, 3, 5, 10, 25, 50, 100)
COLUMNS: tuple[int, ...] = (-125, -50, -25, -15, -10, -5, -3, -1, 1, 2, 5, 10, 15, 25, 50, 75, 100)
# As calibrations are written down: the ratios are 3/200, 1/20, 1/8, 7/40, 9/50, 1/200, 3/250 and 77/1000.
DECIMALS = (
    ("0.02", "0.03", "0.04"),
    ("0.1", "0.1", "0.2"),
    ("0.05", "0.05", "0.02"),
    ("0.05", "0.07", "0.02"),
    ("0.3", "0.06", "0.1"),
    ("0.02", "0.05", "0.2"),
    ("0.01", "0.03", "0.025"),
    ("0.07", "0.11", "0.1"),
)

# Ratios that no binary factor holds, and yet some of their multiples are ties.
INEXACT_TIES: tuple[tuple[str, Scales], ...] = (
    ("sixth", (Fraction(1, 2), Fraction(1), Fraction(3))),
    ("fourteenth", (Fraction(1, 2), Fraction(1), Fraction(7))),
)
TIES_BEYOND_24_BITS = tuple(odd << 21 for odd in (9, 11, 13, 15))  # that two scales of 2^-11 make 4.5, 5.5 and so on
PAIRED: Scales = (Fraction("0.02"), Fraction("0.03"), Fraction("0.04"))
EVERY = range(-255, 256)  # differences from a zero point; those within the type are kept


@dataclass(frozen=True)
class Matrix:
    """An operand: values without the zero point, a shape, its scales and its zero points, of the same shape."""

    values: Sequence[int]
    shape: tuple[int, ...]
    scales: Sequence[Scale]
    points: Sequence[int]
    parameters: tuple[int, ...] = ()  # shape of scales and zero points

    def tensors(self, kind: str, real: str) -> tuple[Tensor, Tensor, Tensor]:
        return (
            integers(kind, self.values, self.shape),
            reals(real, self.scales, self.parameters),
            integers(kind, self.points, self.parameters),
        )


def samples(real: str, quantized: str) -> Iterator[Sample]:
    for theme in (near_rational, ties, usual, zero_points, saturating, pairs, strange_scales):
        for operands in OPERANDS:
            yield from theme(real, quantized, operands)
    yield from placed(real, quantized)
    yield from special(real, quantized)
    if real == "float32":
        yield from separating(quantized)
        yield from (every_pair(quantized, operands) for operands in OPERANDS if operands[0] == quantized)
    yield from exact_sums(real, quantized)
    if (real, quantized) == ("float32", "uint8"):
        yield from long_sums(real, quantized)


def made(
    theme: str,
    types: tuple[str, str],
    operands: tuple[str, str],
    a: Matrix,
    b: Matrix,
    y: tuple[Scale, int],
    flags: Sequence[str],
    roles: Sequence[str] = ("one",),
    *,
    opset: int = 0,
) -> Sample:
    real, quantized = types
    node = {"real": real, "quantized": quantized, "operands": list(operands), **({"opset": opset} if opset else {})}
    last = reals(real, [y[0]], ()), integers(quantized, [y[1]], ())
    tensors = (*a.tensors(operands[0], real), *b.tensors(operands[1], real), *last)
    name = f"{theme}-{operands[0]}-{operands[1]}"
    return Sample(name, node, tensors, tuple(flags), (*ALWAYS, *roles))


def outer(
    theme: str, types: tuple[str, str], operands: tuple[str, str], rows: Sequence[int], columns: Sequence[int],
    scales: Scales, flags: Sequence[str], *, points: Sequence[int] = (), roles: Sequence[str] = (),
    opset: int = 0,
) -> Sample:  # fmt: skip
    """Every product of two of these differences: one column times one row."""
    own = points or tuple(POINTS[kind] for kind in (*operands, types[1]))
    first = matrix(operands[0], rows, own[0], scales[0], column=True)
    second = matrix(operands[1], columns, own[1], scales[1], column=False)
    return made(theme, types, operands, first, second, (scales[2], own[2]), flags, ("one", *roles), opset=opset)


def matrix(kind: str, differences: Sequence[int], point: int, scale: Scale, *, column: bool) -> Matrix:
    """Those differences from the zero point that the type has."""
    own = INTEGER_TYPES[kind]
    values = [d + point for d in differences if own.lowest <= d + point <= own.highest]
    return Matrix(values, (len(values), 1) if column else (1, len(values)), [scale], [point])


def every_pair(quantized: str, operands: tuple[str, str]) -> Sample:
    """All 65,536 pairs of operands, at scales that put many results beside ties."""
    flags = ("EveryPair", "NearRational", "Saturates")
    return outer("every-pair", ("float32", quantized), operands, EVERY, EVERY, PAIRED, flags, roles=("saturate",))


def near_rational(real: str, quantized: str, operands: tuple[str, str]) -> Iterator[Sample]:
    for number, texts in enumerate(DECIMALS):
        first, second, third = (Fraction(text) for text in texts)
        yield outer(
            f"near-rational-{number}", (real, quantized), operands, ROWS, COLUMNS, (first, second, third),
            ("NearRational", "ScaleNotPowerOfTwo"),
        )  # fmt: skip
    yield outer(
        "near-rational-odd", (real, quantized), operands, ROWS, COLUMNS, PAIRED, ("NearRational", "ZeroPointParity"),
        points=(*(POINTS[kind] for kind in operands), POINTS[quantized] + 1),
    )  # fmt: skip


def ties(real: str, quantized: str, operands: tuple[str, str]) -> Iterator[Sample]:
    """Scales that are powers of two: every step is exact."""
    rows, columns = (-7, -6, -3, -2, -1, 1, 2, 5, 9), (-5, -3, -1, 1, 2, 3, 7)
    for name, scales in (
        ("half", (Fraction(1, 2), Fraction(1), Fraction(1))),
        ("quarter", (Fraction(1, 4), Fraction(1, 4), Fraction(1, 4))),
        ("eighth", (Fraction(1, 4), Fraction(2), Fraction(4))),
        *INEXACT_TIES,
    ):
        yield outer(f"ties-{name}", (real, quantized), operands, rows, columns, scales, ("Tie",))
    scales = (Fraction(1, 2), Fraction(1), Fraction(1))
    points = (*(POINTS[kind] for kind in operands), POINTS[quantized] + 1)
    yield outer("ties-odd-zero-point", (real, quantized), operands, rows, columns, scales, ("Tie", "ZeroPointParity"),
                points=points)  # fmt: skip
    if real == "float32":
        yield outer("ties-opset-10", (real, quantized), operands, rows, columns, scales, ("Tie", "OtherVersion"),
                    opset=10)  # fmt: skip


def usual(real: str, quantized: str, operands: tuple[str, str]) -> Iterator[Sample]:
    """Scales as calibration finds them, and matrices of several rows, columns and products."""
    scales = (Fraction(37, 4801), Fraction(291, 70001), Fraction(501, 32003))
    for number, (rows, inner, columns) in enumerate(
        ((3, 5, 4), (2, 17, 3), (5, 8, 9), (1, 33, 2), (33, 3, 1), (2, 3, 67))
    ):
        a, b = (
            pattern(kind, size, number + seed)
            for kind, size, seed in ((operands[0], rows * inner, 1), (operands[1], inner * columns, 8))
        )
        yield made(
            f"usual-{number}", (real, quantized), operands,
            Matrix(a, (rows, inner), scales[:1], [POINTS[operands[0]]]),
            Matrix(b, (inner, columns), scales[1:2], [POINTS[operands[1]]]),
            (scales[2] * Fraction(inner), POINTS[quantized]),
            ("ScaleNotPowerOfTwo", "Shape", *(("Lane",) if max(rows, inner, columns) > 32 else ())),
        )  # fmt: skip


def pattern(kind: str, count: int, seed: int) -> list[int]:
    """Values of the whole range without a period that a vector loop has."""
    own = INTEGER_TYPES[kind]
    return [own.lowest + (seed * 89 + n * n * 7 + n * 53) % (own.highest - own.lowest + 1) for n in range(count)]


def zero_points(real: str, quantized: str, operands: tuple[str, str]) -> Iterator[Sample]:
    """Zero points at the ends of their types, so that differences have 9 bits, and sums read otherwise show."""
    kinds = [INTEGER_TYPES[kind] for kind in (*operands, quantized)]
    scales = (Fraction(3, 128), Fraction(5, 64), Fraction(13))
    for name, of_a, of_b, of_y in (
        ("low", kinds[0].lowest, kinds[1].lowest, kinds[2].lowest),
        ("high", kinds[0].highest, kinds[1].highest, kinds[2].highest),
        ("low-high", kinds[0].lowest, kinds[1].highest, kinds[2].highest - 5),
        ("high-low", kinds[0].highest, kinds[1].lowest, kinds[2].lowest + 100),
        ("odd", kinds[0].lowest + 77, kinds[1].highest - 101, kinds[2].lowest + 131),
    ):
        a, b = pattern(operands[0], 12, 5), pattern(operands[1], 12, 3)
        ends = [kinds[0].lowest, kinds[0].highest, 1, 0]
        yield made(
            f"zero-points-{name}", (real, quantized), operands,
            Matrix([*ends, *a[:8]], (4, 3), scales[:1], [of_a]), Matrix(b, (3, 4), scales[1:2], [of_b]),
            (scales[2], of_y), ("ZeroPointEdge", "Saturates"), ("one", "saturate"),
        )  # fmt: skip


def saturating(real: str, quantized: str, operands: tuple[str, str]) -> Iterator[Sample]:
    """Results around both ends of the range, and far beyond: of 8, 16, 32 and 64 bits."""
    rows = (-127, -100, -64, -32, -16, -8, -2, -1, 0, 1, 2, 8, 16, 32, 63, 100, 127)
    columns = (-100, -3, -1, 1, 2, 4, 100)
    for name, scale in (("near", 1), ("far", 300), ("beyond-32", 1 << 28), ("beyond-64", 1 << 60)):
        kept = min(scale, 1 << 8) if real == "float16" else scale
        scales = (Fraction(kept), Fraction(1), Fraction(1))
        flags = ("Saturates", "RangeEdge", *(("Overflow",) if scale > 300 else ()))
        yield outer(
            f"saturating-{name}", (real, quantized), operands, rows, columns, scales, flags, roles=("saturate",)
        )


def pairs(real: str, quantized: str, operands: tuple[str, str]) -> Iterator[Sample]:
    """Sums of 2 to 8 products at the ends: two of them have more than 16 bits, with both signs."""
    for inner in (2, 4, 8):
        yield made(
            f"pairs-{inner}", (real, quantized), operands,
            extremes(operands[0], inner, first=True), extremes(operands[1], inner, first=False),
            (Fraction(inner * 600), POINTS[quantized]), ("PairOfProducts",),
        )  # fmt: skip


def extremes(kind: str, inner: int, *, first: bool) -> Matrix:
    """Rows (columns of the second operand) of the least and of the greatest values, and of both in turn."""
    own = INTEGER_TYPES[kind]
    point = own.lowest if kind == "uint8" else 0
    rows = (
        [own.highest] * inner,
        [own.lowest] * inner,
        [own.highest, own.lowest] * (inner // 2),
        [own.highest - 1] * inner,
    )
    if first:
        return Matrix([value for row in rows for value in row], (len(rows), inner), [Fraction(1)], [point])
    flat = [row[n] for n in range(inner) for row in rows]
    return Matrix(flat, (inner, len(rows)), [Fraction(1)], [point])


def strange_scales(real: str, quantized: str, operands: tuple[str, str]) -> Iterator[Sample]:
    """Negative scales, and scales so far apart that a product or a ratio of two of them is no normal number."""
    rows, columns = (-9, -4, -1, 1, 2, 3, 7), (-6, -1, 1, 3, 5)
    tiny = Fraction(1, 1 << (12 if real == "float16" else 100))
    for name, scales, flags in (
        ("negative-a", (Fraction(-1, 2), Fraction(1), Fraction(1)), ("NegativeScale", "Tie")),
        ("negative-y", (Fraction(1, 2), Fraction(3), Fraction(-1)), ("NegativeScale", "Tie")),
        ("tiny-ratio", (tiny, Fraction(3), 2 * tiny), ("HugeScale", "Tie")),
        ("tiny-product", (tiny, Fraction(5, 4) * tiny, 1 / tiny), ("Subnormal",)),
        ("huge-y", (1 / tiny, Fraction(3, 4), 1 / tiny), ("HugeScale",)),
    ):
        yield outer(f"scales-{name}", (real, quantized), operands, rows, columns, scales, flags)


def placed(real: str, quantized: str) -> Iterator[Sample]:
    """Parameters of rows and columns; vectors, batches that broadcast, and matrices without elements."""
    types, operands = (real, quantized), ("uint8", "int8")
    step, point = Fraction(1, 64), POINTS[quantized]

    def parameters(kind: str, count: int, seed: int) -> tuple[list[Fraction], list[int]]:
        own = POINTS[kind]
        return [step * (3 + seed + 5 * n) for n in range(count)], [own + (9 * n - 7 * seed) % 101 for n in range(count)]

    def operand(kind: str, shape: tuple[int, ...], own: tuple[int, ...], seed: int) -> Matrix:
        found = parameters(kind, math.prod(own), seed)
        return Matrix(pattern(kind, math.prod(shape), seed), shape, *found, own)

    for name, a, own_a, b, own_b, flags, roles in (
        ("rows", (4, 3), (4,), (3, 4), (), ("PerRow",), ("rows", "one")),
        ("columns", (4, 3), (), (3, 4), (4,), ("PerColumn",), ("columns", "one")),
        ("rows-and-columns", (3, 3), (3,), (3, 3), (3,), ("PerRow", "PerColumn"), ("rows", "columns")),
        ("rows-and-columns-2", (5, 3), (5,), (3, 4), (4,), ("PerRow", "PerColumn"), ("rows", "columns")),
        ("one-row", (1, 3), (1,), (3, 4), (4,), ("PerRow", "PerColumn"), ("rows", "columns")),
        ("batch-rows", (2, 3, 4), (2, 3, 1), (2, 4, 3), (), ("PerRow", "Batch"), ("rows", "one", "batch")),
        ("batch-columns", (2, 3, 4), (), (2, 4, 3), (2, 1, 3), ("PerColumn", "Batch"), ("columns", "one", "batch")),
        ("batch-both", (2, 2, 3, 4), (2, 2, 3, 1), (2, 2, 4, 3), (2, 2, 1, 3), ("PerRow", "PerColumn", "Batch"),
         ("rows", "columns", "batch")),
        ("batch", (2, 3, 4), (), (2, 4, 2), (), ("Batch",), ("one", "batch")),
        ("broadcast-b", (3, 2, 4), (), (4, 5), (), ("Batch",), ("one", "batch")),
        ("broadcast-a", (2, 4), (), (3, 4, 2), (), ("Batch",), ("one", "batch")),
        ("broadcast-both", (2, 1, 3, 4), (), (1, 3, 4, 2), (), ("Batch",), ("one", "batch")),
        ("vectors", (7,), (), (7,), (), ("Shape",), ("one", "vectors")),
        ("vector-matrix", (4,), (), (4, 3), (), ("Shape",), ("one", "vectors")),
        ("matrix-vector", (3, 4), (), (4,), (), ("Shape",), ("one", "vectors")),
        ("vector-columns", (4,), (), (4, 3), (3,), ("Shape", "PerColumn"), ("columns", "vectors")),
        ("vector-batch", (4,), (), (2, 4, 3), (), ("Shape", "Batch"), ("one", "vectors", "batch")),
        ("one-element", (1, 1), (), (1, 1), (), ("Shape",), ("one",)),
        ("no-products", (2, 0), (), (0, 3), (), ("NoProducts",), ("one",)),
        ("no-rows", (0, 3), (), (3, 2), (), ("Empty",), ("one",)),
        ("lanes", (3, 67), (), (67, 33), (), ("Lane",), ("one",)),
        ("lane-rows", (67, 4), (67,), (4, 2), (), ("Lane", "PerRow"), ("rows", "one")),
        ("lane-columns", (2, 4), (), (4, 67), (67,), ("Lane", "PerColumn"), ("columns", "one")),
    ):  # fmt: skip
        first, second = operand("uint8", a, own_a, 1), operand("int8", b, own_b, 2)
        yield made(f"placed-{name}", types, operands, first, second, (Fraction(9, 2), point), flags, roles)


def special(real: str, quantized: str) -> Iterator[Sample]:
    """Scales of which the document says nothing."""
    types, operands, one = (real, quantized), ("uint8", "int8"), Fraction(1)
    for name, scales, flags, role in (
        ("zero-y", (one, one, Fraction(0)), ("ZeroScale",), "zero-y"),
        ("nan-a", (math.nan, one, one), ("NaN",), "special"),
        ("nan-y", (one, one, math.nan), ("NaN",), "special"),
        ("infinite-b", (one, math.inf, one), ("Infinity",), "special"),
        ("infinite-y", (one, one, math.inf), ("Infinity",), "special"),
        ("zero-a", (Fraction(0), one, one), ("ZeroScale",), "one"),
    ):
        yield outer(f"special-{name}", types, operands, (-3, 0, 5), (-1, 0, 7), scales, flags, roles=(role,))


def long_sums(real: str, quantized: str) -> Iterator[Sample]:
    """Sums at the end of int32, one product before it and one beyond: 255 * 255 times 33,025 and 33,026.

    And the least sum that float32 does not hold, which it rounds to a tie. Three times that sum lies beyond the tie.
    """
    for name, count, roles in (("last", 33025, ("one",)), ("beyond", 33026, ("one", "overflow"))):
        a, b = (Matrix([255] * count, shape, [Fraction(1)], [0]) for shape in ((1, count), (count, 1)))
        last = (Fraction(1 << 24), 3)
        yield made(f"long-{name}", (real, quantized), ("uint8", "uint8"), a, b, last, ("LongSum",), roles)
    count, single = 258, (1 << 24) + 1  # the least integer that float32 does not hold
    left, right = [255] * count + [255, 2], [255] * count + [3, 1]
    assert sum(map(mul, left, right)) == single
    a, b = Matrix(left, (1, 260), [Fraction(3)], [0]), Matrix(right, (260, 1), [Fraction(1)], [0])
    flags = ("LongSum", "NearTie", "PrecisionSensitive")
    yield made("long-25-bits", (real, quantized), ("uint8", "uint8"), a, b, (Fraction(3 << 25), 3), flags)


def sums_to(kinds: tuple[str, str], totals: Sequence[int]) -> tuple[Matrix, Matrix]:
    """A row and as many columns, whose products have these sums: first many of the greatest ones, which are odd."""
    end, other = (INTEGER_TYPES[kind].highest for kind in kinds)
    inner = max(totals) // (end * other) + 5
    columns = []
    for total in totals:
        count, rest = divmod(total, end * other)
        more, rest = divmod(rest, end)
        ones = [max(min(rest - n * other, other), 0) for n in range(3)]
        columns.append([other] * count + [more] + [0] * (inner - count - 4) + ones)
    one, zero = [Fraction(1, 1 << 11)], [0]
    flat = [column[n] for n in range(inner) for column in columns]
    row = Matrix([end] * (inner - 3) + [1] * 3, (1, inner), one, zero)
    return row, Matrix(flat, (inner, len(totals)), one, zero)


def exact_sums(real: str, quantized: str) -> Iterator[Sample]:
    """Sums beyond 2^24 that float32 holds, and whose parts it does not: ties below odd and above even integers."""
    a, b = sums_to((quantized, quantized), TIES_BEYOND_24_BITS)
    yield made("long-ties", (real, quantized), (quantized, quantized), a, b, (Fraction(1), POINTS[quantized]),
               ("LongSum", "Tie"))  # fmt: skip


def separating(quantized: str) -> Iterator[Sample]:
    """Columns of inputs times one number, on which two of the plainest arithmetics differ."""
    first, second = OPERANDS[0]
    node = {"real": "float32", "quantized": quantized, "operands": [first, second]}
    for number, codes, x in witnesses_of(ID, f"{first}-{quantized}"):
        kinds = ("float32", first, second, "float32", second, "float32", quantized)
        others = [Tensor(kind, (), [code]) for kind, code in zip(kinds, codes, strict=True)]
        others[2] = Tensor(second, (1, 1), others[2].codes)
        given = (Tensor(first, (len(x), 1), x), *others)
        yield Sample(f"separating-{number}", node, given, ("Separating",), (*ALWAYS, "one", "even", "saturate"))
