"""Golden vectors of onnx.MatMulInteger: products at the ends of both types, and sums at the ends of 16 and 32 bits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.samples.model import Sample, Tensor, integers
from tiebreak.golden.samples.onnx_qlinear_matmul import extremes, pattern, sums_to

FILES = (("uint8", "int32"), ("int8", "int32"))
OTHERS = ("int8", "uint8")
ALWAYS = ("sum", "matmul", "types", "version")
POINTS = {"uint8": (0, 255, 128, 77), "int8": (-128, 127, 0, 5)}


def samples(source: str, target: str) -> Iterator[Sample]:
    for other in OTHERS:
        yield from zero_points(source, other)
        yield from pairs(source, other)
        yield from usual(source, other)
        yield from one_point(source, other)
        yield every_pair(source, other)
    yield from placed(source)
    yield odd_sums(source)
    if source == "uint8":
        yield from long_sums()


def made(
    theme: str, kinds: tuple[str, str], a: Tensor, b: Tensor, points: Sequence[Tensor], flags: Sequence[str],
    roles: Sequence[str] = ("one",), form: int = 0,
) -> Sample:  # fmt: skip
    node = {"real": kinds[0], "quantized": "int32", "operands": [kinds[1]], "zero_point": bool(points), "form": form}
    return Sample(f"{theme}-{kinds[0]}-{kinds[1]}", node, (a, b, *points), tuple(flags), (*ALWAYS, *roles))


def scalars(kinds: tuple[str, str], of_a: int, of_b: int) -> tuple[Tensor, Tensor]:
    return integers(kinds[0], [of_a], ()), integers(kinds[1], [of_b], ())


def zero_points(source: str, other: str) -> Iterator[Sample]:
    """Every pair of zero points at the ends, in the middle and elsewhere, beside values at the ends."""
    ends = [
        [kind.lowest, kind.highest, 1, 0, kind.highest - 1] for kind in map(INTEGER_TYPES.__getitem__, (source, other))
    ]
    a, b = (
        integers(source, ends[0] + pattern(source, 7, 3), (4, 3)),
        integers(other, ends[1] + pattern(other, 7, 5), (3, 4)),
    )
    for first, of_a in enumerate(POINTS[source]):
        for second, of_b in enumerate(POINTS[other]):
            flags = ("ZeroPointEdge",) if max(of_a, of_b) > 5 or min(of_a, of_b) < 0 else ("Shape",)
            yield made(
                f"zero-points-{first}-{second}", (source, other), a, b, scalars((source, other), of_a, of_b), flags
            )


def pairs(source: str, other: str) -> Iterator[Sample]:
    for inner in (2, 4, 8):
        rows, columns = (extremes(kind, inner, first=first) for kind, first in ((source, True), (other, False)))
        a, b = integers(source, rows.values, rows.shape), integers(other, columns.values, columns.shape)
        own = scalars((source, other), rows.points[0], columns.points[0])
        yield made(f"pairs-{inner}", (source, other), a, b, own, ("PairOfProducts",))
        yield made(
            f"pairs-{inner}-without", (source, other), a, b, (), ("PairOfProducts", "NoZeroPoint"), ("left-off",)
        )


def every_pair(source: str, other: str) -> Sample:
    """All 65,536 pairs of operands: a column of every value times a row of every value."""
    a, b = (list(range(own.lowest, own.highest + 1)) for own in map(INTEGER_TYPES.__getitem__, (source, other)))
    own = scalars((source, other), POINTS[source][-1], POINTS[other][0])
    return made("every-pair", (source, other), integers(source, a, (256, 1)), integers(other, b, (1, 256)), own,
                ("EveryPair",))  # fmt: skip


def usual(source: str, other: str) -> Iterator[Sample]:
    for number, (rows, inner, columns) in enumerate(
        ((3, 5, 4), (2, 17, 3), (5, 8, 9), (1, 33, 2), (33, 3, 1), (2, 3, 67))
    ):
        a = integers(source, pattern(source, rows * inner, number + 1), (rows, inner))
        b = integers(other, pattern(other, inner * columns, number + 8), (inner, columns))
        flags = ("Shape", *(("Lane",) if max(rows, inner, columns) > 32 else ()))
        yield made(f"usual-{number}", (source, other), a, b, scalars((source, other), 3, 100), flags)
        yield made(f"usual-{number}-without", (source, other), a, b, (), (*flags, "NoZeroPoint"), ("left-off",))


def one_point(source: str, other: str) -> Iterator[Sample]:
    """The zero point of one matrix alone: a scalar, or a value for each row or column."""
    a, b = integers(source, pattern(source, 12, 2), (4, 3)), integers(other, pattern(other, 15, 9), (3, 5))
    flags, kinds = ("OneZeroPoint", "ZeroPointEdge"), (source, other)
    for number, kind in enumerate(kinds):
        for point in POINTS[kind]:
            yield made(f"one-point-{number}-{point}", kinds, a, b, [integers(kind, [point], ())], flags,
                       ("one", "left-off"), form=number + 1)  # fmt: skip
    for number, (kind, count) in enumerate(zip(kinds, (4, 5), strict=True)):
        flag, role = (("PerRow", "rows"), ("PerColumn", "columns"))[number]
        yield made(f"one-list-{number}", kinds, a, b, [integers(kind, pattern(kind, count, 4), (count,))],
                   ("OneZeroPoint", flag), (role, "left-off"), form=number + 1)  # fmt: skip


def placed(source: str) -> Iterator[Sample]:
    """Zero points of rows and columns; vectors, batches that broadcast, and matrices without elements."""
    kinds = (source, "int8")
    for name, a, own_a, b, own_b, flags, roles in (
        ("rows", (4, 3), (4,), (3, 4), (), ("PerRow",), ("rows", "one")),
        ("columns", (4, 3), (), (3, 4), (4,), ("PerColumn",), ("columns", "one")),
        ("rows-and-columns", (3, 3), (3,), (3, 3), (3,), ("PerRow", "PerColumn"), ("rows", "columns")),
        ("batch-rows", (2, 3, 4), (2, 3, 1), (2, 4, 3), (), ("PerRow", "Batch"), ("rows", "one", "batch")),
        ("batch-columns", (2, 3, 4), (), (2, 4, 3), (2, 1, 3), ("PerColumn", "Batch"), ("columns", "one", "batch")),
        ("batch-both", (2, 2, 3, 4), (2, 2, 3, 1), (2, 2, 4, 3), (2, 2, 1, 3), ("PerRow", "PerColumn", "Batch"),
         ("rows", "columns", "batch")),
        ("broadcast-b", (3, 2, 4), (), (4, 5), (), ("Batch",), ("one", "batch")),
        ("broadcast-a", (2, 4), (), (3, 4, 2), (), ("Batch",), ("one", "batch")),
        ("broadcast-both", (2, 1, 3, 4), (), (1, 3, 4, 2), (), ("Batch",), ("one", "batch")),
        ("vectors", (7,), (), (7,), (), ("Shape",), ("one", "vectors")),
        ("vector-matrix", (4,), (), (4, 3), (), ("Shape",), ("one", "vectors")),
        ("matrix-vector", (3, 4), (), (4,), (), ("Shape",), ("one", "vectors")),
        ("vector-columns", (4,), (), (4, 3), (3,), ("Shape", "PerColumn"), ("columns", "one", "vectors")),
        ("one-element", (1, 1), (), (1, 1), (), ("Shape",), ("one",)),
        ("no-products", (2, 0), (), (0, 3), (), ("NoProducts",), ("one",)),
        ("no-rows", (0, 3), (), (3, 2), (), ("Empty",), ("one",)),
        ("lanes", (3, 67), (), (67, 33), (), ("Lane",), ("one",)),
        ("lane-rows", (67, 4), (67,), (4, 2), (), ("Lane", "PerRow"), ("rows", "one")),
        ("lane-columns", (2, 4), (), (4, 67), (67,), ("Lane", "PerColumn"), ("columns", "one")),
    ):  # fmt: skip
        tensors = [
            integers(kind, pattern(kind, math.prod(shape), seed), shape)
            for kind, shape, seed in zip((*kinds, *kinds), (a, b, own_a, own_b), (1, 2, 4, 6), strict=True)
        ]
        yield made(f"placed-{name}", kinds, tensors[0], tensors[1], tensors[2:], flags, roles)


def odd_sums(source: str) -> Sample:
    """Odd sums beyond 2^24, which float32 does not hold."""
    a, b = sums_to((source, source), [(1 << 24) + 1, (1 << 24) + 3, (5 << 22) + 5])
    tensors = integers(source, a.values, a.shape), integers(source, b.values, b.shape)
    return made("long-odd", (source, source), *tensors, scalars((source, source), 0, 0), ("LongSum",))


def long_sums() -> Iterator[Sample]:
    """Sums at the end of int32, and one product beyond: 255 * 255 times 33,025 and 33,026."""
    for name, count, roles in (("last", 33025, ("left-off",)), ("beyond", 33026, ("left-off", "overflow"))):
        a, b = (integers("uint8", [255] * count, shape) for shape in ((1, count), (count, 1)))
        yield made(f"long-{name}", ("uint8", "uint8"), a, b, (), ("LongSum", "NoZeroPoint"), roles)
