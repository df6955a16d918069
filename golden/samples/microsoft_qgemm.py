"""Golden vectors of com.microsoft.QGemm: sums whose multiples lie on ties or beside them, biases, transposed inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.samples.model import Sample, Tensor, integers, reals
from tiebreak.golden.samples.onnx_qlinear_matmul import (
    COLUMNS,
    DECIMALS,
    EVERY,
    INEXACT_TIES,
    PAIRED,
    POINTS,
    ROWS,
    TIES_BEYOND_24_BITS,
    Matrix,
    Scale,
    Scales,
    extremes,
    matrix,
    pattern,
    sums_to,
)
from tiebreak.golden.vector_inputs.by_witness import witnesses_of

ID = "com.microsoft.QGemm"
BYTES = ("uint8", "int8")
NUMBERS = "float32"
OUTPUTS = (*BYTES, NUMBERS)
FILES = tuple((a, y) for a in BYTES for y in OUTPUTS)
ALWAYS = ("sum", "product", "rows", "matmul", "types", "scalars", "same-shape")
QUANTIZED = ("quotient", "zero-point", "even")
FEW_ROWS = (-7, -6, -3, -2, -1, 1, 2, 5, 9)
FEW_COLUMNS = (-5, -3, -1, 1, 2, 3, 7)
USUAL: Scales = (Fraction(37, 4801), Fraction(291, 70001), Fraction(501, 32003))
TWICE = Fraction(10467319, 1 << 24), Fraction(6409855, 1 << 23)
WORD_END = (1 << 31) - 1
Types = tuple[str, str, str]  # of A, B and Y


def samples(a: str, y: str) -> Iterator[Sample]:
    for b in BYTES:
        for theme in (near_rational, ties, zero_points, saturating, pairs):
            yield from theme((a, b, y))
        if a == y:
            yield every_pair((a, b, y))
    types = (a, "int8", y)
    for theme in (factors, biases, transposed, placed, special):
        yield from theme(types)
    yield from separating(a, y)
    yield made("long-ties", (a, a, y), *sums_to((a, a), TIES_BEYOND_24_BITS), (1, POINTS.get(y, 0)),
               ("LongSum", "Tie"))  # fmt: skip
    if y == NUMBERS:
        yield rounded_twice(types)
    if (a, y) == ("uint8", NUMBERS):
        yield from long_sums((a, "uint8", y))


def made(
    theme: str, types: Types, a: Matrix, b: Matrix, last: tuple[Scale, int], flags: Sequence[str],
    roles: Sequence[str] = (), *, bias: Tensor | None = None, attributes: Mapping[str, Any] | None = None,
) -> Sample:  # fmt: skip
    kind, other, y = types
    counts = y == NUMBERS
    form = {(False, True): 0, (False, False): 1, (True, True): 2, (True, False): 3}[counts, bias is not None]
    node: dict[str, Any] = {"real": kind, "quantized": y, "operands": [other], "form": form}
    node |= {"attributes": dict(attributes)} if attributes else {}
    of_y = () if counts else (reals("float32", [last[0]], ()), integers(y, [last[1]], ()))
    tensors = (*a.tensors(kind, "float32"), *b.tensors(other, "float32"), *([bias] if bias else ()), *of_y)
    own = ("number",) if counts else QUANTIZED
    more = ("bias", "bias-shape", "beta") if bias else ()
    return Sample(f"{theme}-{kind}-{other}", node, tensors, tuple(flags), (*ALWAYS, *own, *more, *roles))


def outer(
    theme: str, types: Types, scales: Scales, flags: Sequence[str], roles: Sequence[str] = (), *,
    rows: Sequence[int] = ROWS, columns: Sequence[int] = COLUMNS, odd: int = 0, bias: Tensor | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Sample:  # fmt: skip
    """Every product of two of these differences: one column times one row."""
    a = matrix(types[0], rows, POINTS[types[0]], scales[0], column=True)
    b = matrix(types[1], columns, POINTS[types[1]], scales[1], column=False)
    last = scales[2], POINTS.get(types[2], 0) + odd
    return made(theme, types, a, b, last, flags, roles, bias=bias, attributes=attributes)


def every_pair(types: Types) -> Sample:
    """All 65,536 pairs of operands, at scales that put many results beside ties."""
    flags = ("EveryPair", "NearRational", "Saturates")
    return outer("every-pair", types, PAIRED, flags, ("saturate",), rows=EVERY, columns=EVERY)


def near_rational(types: Types) -> Iterator[Sample]:
    for number, texts in enumerate(DECIMALS):
        scales = (Fraction(texts[0]), Fraction(texts[1]), Fraction(texts[2]))
        yield outer(f"near-rational-{number}", types, scales, ("NearRational", "ScaleNotPowerOfTwo"))
    yield outer("near-rational-odd", types, PAIRED, ("NearRational", "ZeroPointParity"), odd=1)


def ties(types: Types) -> Iterator[Sample]:
    """Scales that are powers of two: every step is exact."""
    for name, scales, odd in (
        ("half", (Fraction(1, 2), Fraction(1), Fraction(1)), 0),
        ("eighth", (Fraction(1, 4), Fraction(2), Fraction(4)), 0),
        ("odd-zero-point", (Fraction(1, 2), Fraction(1), Fraction(1)), 1),
        *((name, scales, 0) for name, scales in INEXACT_TIES),
    ):
        flags = ("Tie", "ZeroPointParity") if odd else ("Tie",)
        yield outer(f"ties-{name}", types, scales, flags, rows=FEW_ROWS, columns=FEW_COLUMNS, odd=odd)


def zero_points(types: Types) -> Iterator[Sample]:
    """Zero points at the ends of their types, so that differences have 9 bits."""
    kinds = [INTEGER_TYPES[types[0]], INTEGER_TYPES[types[1]], INTEGER_TYPES.get(types[2], INTEGER_TYPES["int8"])]
    for name, of_a, of_b, of_y in (
        ("low", kinds[0].lowest, kinds[1].lowest, kinds[2].lowest),
        ("high", kinds[0].highest, kinds[1].highest, kinds[2].highest),
        ("low-high", kinds[0].lowest, kinds[1].highest, kinds[2].highest - 5),
        ("high-low", kinds[0].highest, kinds[1].lowest, kinds[2].lowest + 100),
        ("odd", kinds[0].lowest + 77, kinds[1].highest - 101, kinds[2].lowest + 131),
    ):
        ends = [kinds[0].lowest, kinds[0].highest, kinds[0].lowest + 1, kinds[0].highest - 1]
        a = Matrix([*ends, *pattern(types[0], 8, 5)], (4, 3), [Fraction(3, 128)], [of_a])
        b = Matrix(pattern(types[1], 12, 3), (3, 4), [Fraction(5, 64)], [of_b])
        roles = () if types[2] == NUMBERS else ("saturate",)
        yield made(f"zero-points-{name}", types, a, b, (Fraction(13), of_y), ("ZeroPointEdge", "Saturates"), roles)


def saturating(types: Types) -> Iterator[Sample]:
    """Results around both ends of the range, and far beyond: of 8, 16, 32 and 64 bits."""
    for name, scale in (("near", 1), ("far", 300), ("beyond-32", 1 << 28), ("beyond-64", 1 << 60)):
        flags = ("Saturates", "RangeEdge", *(("Overflow",) if scale > 300 else ()))
        roles = () if types[2] == NUMBERS else ("saturate",)
        rows = (-127, -64, -16, -2, -1, 0, 1, 8, 32, 127)
        scales = (Fraction(scale), Fraction(1), Fraction(1))
        yield outer(f"saturating-{name}", types, scales, flags, roles, rows=rows, columns=(-100, -3, -1, 1, 4, 100))


def pairs(types: Types) -> Iterator[Sample]:
    """Sums of 2 to 8 products at the ends: two of them have more than 16 bits, with both signs."""
    for inner in (2, 4, 8):
        a, b = extremes(types[0], inner, first=True), extremes(types[1], inner, first=False)
        last = Fraction(inner * 600), POINTS.get(types[2], 0)
        yield made(f"pairs-{inner}", types, a, b, last, ("PairOfProducts",))


def factors(types: Types) -> Iterator[Sample]:
    """alpha: powers of two, decimals, negative, zero, and one that makes a near tie of a tie."""
    scales = (Fraction("0.02"), Fraction("0.03"), Fraction("0.04"))
    for number, alpha in enumerate((0.5, 0.1, -1.0, 3.0, 0.0, 1.5)):
        flags = ("Factor", "ScaleNotPowerOfTwo", *(("NearRational",) if alpha else ()))
        yield outer(f"factor-{number}", types, scales, flags, attributes={"alpha": alpha})
    halves = (Fraction(1, 2), Fraction(1), Fraction(1))
    yield outer("factor-tie", types, halves, ("Factor", "Tie"), rows=FEW_ROWS, columns=FEW_COLUMNS,
                attributes={"alpha": 0.5})  # fmt: skip


def biases(types: Types) -> Iterator[Sample]:
    """C of each shape that broadcasts, and of all sizes up to the ends of 32 bits."""
    a, b = two(types)
    for shape in ((), (1,), (4,), (1, 4), (3, 1), (3, 4), (1, 1)):
        label = "x".join(map(str, shape)) or "scalar"
        values = [(-1) ** n * (371 + 1009 * n) for n in range(math.prod(shape))]
        yield made(f"bias-{label}", types, a, b, last_of(types, 19), ("Bias",), bias=integers("int32", values, shape))
    square = Matrix(pattern(types[0], 20, 1), (4, 5), a.scales, a.points)
    for shape in ((4,), (1, 4), (4, 1)):  # which fit the other way round, too
        label, values = "x".join(map(str, shape)), [371, -1380, 2389, -3398]
        yield made(f"bias-square-{label}", types, square, b, last_of(types, 19), ("Bias",),
                   bias=integers("int32", values, shape))  # fmt: skip
    large = [WORD_END, -WORD_END - 1, (1 << 24) + 1, -(1 << 25) - 3]
    yield made("bias-large", types, *two(types, Fraction(1)), (Fraction(1 << 24), POINTS.get(types[2], 0)),
               ("Bias", "LongSum"), ("overflow",), bias=integers("int32", large, (4,)))  # fmt: skip
    scales = (Fraction("0.02"), Fraction("0.03"), Fraction("0.04"))
    yield outer("bias-near-rational", types, scales, ("Bias", "NearRational"), bias=integers("int32", [100], ()))
    yield outer("bias-factor", types, scales, ("Bias", "Factor", "NearRational"), bias=integers("int32", [-300], ()),
                attributes={"alpha": 0.5})  # fmt: skip


def two(types: Types, scale: Scale = USUAL[0]) -> tuple[Matrix, Matrix]:
    """Matrices of three rows, five products and four columns."""
    a = Matrix(pattern(types[0], 15, 1), (3, 5), [scale], [POINTS[types[0]]])
    return a, Matrix(pattern(types[1], 20, 8), (5, 4), [scale], [POINTS[types[1]]])


def last_of(types: Types, inner: int) -> tuple[Scale, int]:
    return Fraction(USUAL[2]) * inner, POINTS.get(types[2], 0)


def transposed(types: Types) -> Iterator[Sample]:
    """Matrices stored the other way round: of other shapes, square ones, and with a scale for each column."""
    for name, of_a, of_b, columns in (
        ("a", (5, 3), (5, 4), ()),
        ("b", (3, 5), (4, 5), ()),
        ("both", (5, 3), (4, 5), ()),
        ("a-square", (3, 3), (3, 3), ()),
        ("b-square", (3, 3), (3, 3), ()),
        ("b-columns", (3, 5), (4, 5), (4,)),
        ("b-square-columns", (3, 3), (3, 3), (3,)),
    ):
        attributes = {"transA": True} if name[0] == "a" else {"transB": True}
        attributes = {"transA": True, "transB": True} if name == "both" else attributes
        a = Matrix(pattern(types[0], math.prod(of_a), 2), of_a, [USUAL[0]], [POINTS[types[0]]])
        flags = ("Transposed", *(("PerColumn",) if columns else ()))
        roles = ("columns",) if columns else ()
        b = of_columns(types[1], of_b, columns)
        yield made(f"transposed-{name}", types, a, b, last_of(types, 5), flags, roles, attributes=attributes)


def of_columns(kind: str, shape: tuple[int, ...], columns: tuple[int, ...]) -> Matrix:
    count, point = math.prod(columns), POINTS[kind]
    scales = [Fraction(3 + 5 * n, 1009) for n in range(count)]
    points = [point + (9 * n - 14) % 101 for n in range(count)]
    return Matrix(pattern(kind, math.prod(shape), 9), shape, scales, points, columns)


def placed(types: Types) -> Iterator[Sample]:
    """A scale for each column; matrices of one element, longer than vectors, and without elements."""
    for name, of_a, of_b, columns, flags in (
        ("columns", (4, 3), (3, 4), (4,), ("PerColumn",)),
        ("columns-square", (3, 3), (3, 3), (3,), ("PerColumn",)),
        ("one-column", (4, 3), (3, 1), (1,), ("PerColumn",)),
        ("lane-columns", (2, 4), (4, 67), (67,), ("Lane", "PerColumn")),
        ("lanes", (3, 67), (67, 33), (), ("Lane",)),
        ("one-element", (1, 1), (1, 1), (), ("Shape",)),
        ("no-products", (2, 0), (0, 3), (), ("NoProducts",)),
        ("no-rows", (0, 3), (3, 2), (), ("Empty",)),
    ):
        a = Matrix(pattern(types[0], math.prod(of_a), 4), of_a, [USUAL[0]], [POINTS[types[0]] + 7])
        b, roles = of_columns(types[1], of_b, columns), ("columns",) if columns else ()
        yield made(f"placed-{name}", types, a, b, last_of(types, 5), flags, roles)
    if types[2] == NUMBERS:
        a, b = (Matrix([], shape, [USUAL[0]], [0]) for shape in ((2, 0), (0, 3)))
        bias = integers("int32", [500, -700, 9000], (3,))
        yield made("placed-no-products-bias", types, a, b, last_of(types, 1), ("NoProducts", "Bias"), bias=bias)


def special(types: Types) -> Iterator[Sample]:
    """Negative scales, those so far apart that a product is no normal number, and those that are left open."""
    one, tiny = Fraction(1), Fraction(1, 1 << 100)
    found: list[tuple[str, Scales, str, str]] = [
        ("negative-a", (Fraction(-1, 2), one, one), "NegativeScale", ""),
        ("tiny-ratio", (tiny, Fraction(3), 2 * tiny), "HugeScale", ""),
        ("tiny-product", (tiny, Fraction(5, 4) * tiny, 1 / tiny), "Subnormal", ""),
        ("nan-a", (math.nan, one, one), "NaN", "special"),
        ("infinite-b", (one, math.inf, one), "Infinity", "special"),
        ("zero-a", (Fraction(0), one, one), "ZeroScale", ""),
    ]
    if types[2] != NUMBERS:
        found += [
            ("zero-y", (one, one, Fraction(0)), "ZeroScale", "zero-y"),
            ("nan-y", (one, one, math.nan), "NaN", "special"),
        ]
        found += [("negative-y", (Fraction(1, 2), Fraction(3), Fraction(-1)), "NegativeScale", "")]
    for name, scales, flag, role in found:
        roles = (role,) if role else ()
        yield outer(f"special-{name}", types, scales, (flag,), roles, rows=FEW_ROWS, columns=FEW_COLUMNS)


def rounded_twice(types: Types) -> Sample:
    """1 times a factor and two scales: 53 bits round the product onto the middle of two float32."""
    of_both = zip(types, TWICE, strict=False)
    a, b = (Matrix([POINTS[kind] + 1], (1, 1), [scale], [POINTS[kind]]) for kind, scale in of_both)
    return made("rounded-twice", types, a, b, (1, 0), ("RoundedTwice", "Factor"), attributes={"alpha": 185.0})


def long_sums(types: Types) -> Iterator[Sample]:
    """Sums at the end of int32, one product before it and one beyond: 255 * 255 times 33,025 and 33,026."""
    for name, count, roles in (("last", 33025, ()), ("beyond", 33026, ("overflow",))):
        a, b = (Matrix([255] * count, shape, [Fraction("0.1")], [0]) for shape in ((1, count), (count, 1)))
        yield made(f"long-{name}", types, a, b, (Fraction(1 << 17), 3), ("LongSum",), roles)


def separating(a: str, y: str) -> Iterator[Sample]:
    """Columns of inputs times one number and with a bias of 0, on which two of the plainest arithmetics differ."""
    for number, codes, x in witnesses_of(ID, f"{a}-{y}"):
        kinds = ("float32", a, "int8", "float32", "int8", "int32", "float32", y)
        others = [Tensor(kind, (), [code]) for kind, code in zip(kinds, codes, strict=True)]
        others[2], others[5] = Tensor("int8", (1, 1), others[2].codes), Tensor("int32", (1,), others[5].codes)
        node = {"real": a, "quantized": y, "operands": ["int8"], "form": 0}
        roles = (*ALWAYS, *QUANTIZED, "bias", "bias-shape", "saturate")
        yield Sample(f"separating-{number}", node, (Tensor(a, (len(x), 1), x), *others), ("Separating",), roles)
