"""Products of integer matrices that are wrong on purpose, each in one way, and right ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from wrong_onnx_qlinear_matmul import (
    Pair,
    bits_16,
    in_float32,
    in_pairs,
    kind_of,
    parameter,
    places,
    products,
    saturating,
    taken,
    wrapped,
)

from wrong_model import Array, WrongBackend

OPERATOR = "onnx.MatMulInteger"
TYPES = (("uint8", "int32"), ("int8", "int32"))
ZERO = np.zeros((), np.int8)


def by_name(node: Any, points: tuple[Array, ...], absent: Array = ZERO) -> tuple[Array, Array]:
    """The zero points of a and of b."""
    given = dict(zip((tensor.name for tensor in node.inputs[2:]), points, strict=True))
    return given.get("a_zero_point", absent), given.get("b_zero_point", absent)


def by_place(node: Any, points: tuple[Array, ...]) -> tuple[Array, Array]:
    """The first zero point as a's, whosever it is."""
    first, second = (*points, ZERO, ZERO)[:2]
    return first, second


def alone(node: Any, points: tuple[Array, ...]) -> tuple[Array, Array]:
    """No zero points unless both are there."""
    return by_name(node, points) if len(points) == 2 else (ZERO, ZERO)


@dataclass(frozen=True)
class MatMulInteger:
    """One element of the result at a time; each part is right unless replaced."""

    read: Callable[[int], int] = lambda value: value
    differences: Callable[[Any, Pair, Pair], Pair] = lambda node, v, p: (v[0] - p[0], v[1] - p[1])
    total: Callable[[list[Pair]], int] = lambda pairs: sum(products(pairs))
    row: Callable[[tuple[int, ...]], int] = lambda place: place[-2]  # which of a's zero points
    column: Callable[[tuple[int, ...]], int] = lambda place: place[-1]

    named: Callable[[Any, tuple[Array, ...]], tuple[Array, Array]] = lambda node, points: by_name(node, points)

    def __call__(self, node: Any, a: Array, b: Array, *both: Array) -> tuple[Array, ...]:
        a_zp, b_zp = self.named(node, both)
        rows = a if a.ndim > 1 else a[np.newaxis, :]
        columns = b if b.ndim > 1 else b[:, np.newaxis]
        found = []
        for place in places(rows, columns):
            points = parameter(a_zp, place, self.row(place)), parameter(b_zp, place, self.column(place))
            values = zip(taken(rows, place, row=True), taken(columns, place, row=False), strict=True)
            found.append(self.total([self.differences(node, (self.read(x), self.read(y)), points) for x, y in values]))
        shape = np.matmul(np.zeros(a.shape), np.zeros(b.shape)).shape
        return (np.array([wrapped("int32", value) for value in found], np.int64).astype(np.int32).reshape(shape),)


def differences_wrap(node: Any, values: Pair, points: Pair) -> Pair:
    one, other = (wrapped(kind_of(node, n), values[n] - points[n]) for n in (0, 1))
    return one, other


RIGHT_PARTS = MatMulInteger()


def signed_alone(node: Any, a: Array, b: Array, *points: Array) -> tuple[Array, ...]:
    """Two unsigned matrices without zero points taken for signed ones."""
    if points or {a.dtype, b.dtype} != {np.dtype(np.uint8)}:
        return RIGHT_PARTS(node, a, b, *points)
    return (np.asarray(np.matmul(a.view(np.int8), b.view(np.int8), dtype=np.int32)),)


def point_of_column(node: Any, a: Array, b: Array, *points: Array) -> tuple[Array, ...]:
    """Number k of a's zero points for column k of a matrix, as far as there are any."""
    a_zp, b_zp = by_name(node, points)
    if a_zp.ndim != 1:
        return RIGHT_PARTS(node, a, b, *points)
    numbers = dict(enumerate(a_zp.tolist()))
    left = [[x - numbers.get(k, 0) for k, x in enumerate(row)] for row in a.tolist()]
    return (np.array(left, np.int32).reshape(a.shape) @ (b.astype(np.int32) - b_zp.astype(np.int32)),)


def points_in_memory(node: Any, a: Array, b: Array, *points: Array) -> tuple[Array, ...]:
    """Zero points of rows or columns of batches read in steps of the whole tensor; behind them is 0."""
    given = by_name(node, points)
    left, right = (matrix.astype(np.int32) for matrix in (a, b))
    for matrix, own in zip((left, right), given, strict=True):
        if own.ndim > 2:
            matrix.reshape(-1)[: own.size] -= own.reshape(-1)
        else:
            matrix -= (own.reshape(-1, 1) if own.ndim and matrix is left else own).astype(np.int32)
    return (np.asarray(np.matmul(left, right)),)


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = TYPES, **parts: Any) -> WrongBackend:
    return WrongBackend(f"matmul-integer: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


WRONG = [
    wrong("pairs saturate in 16 bits", "PairOfProducts", total=in_pairs),
    wrong("sum saturates in 16 bits", "PairOfProducts", total=saturating),
    wrong("sum wraps in 16 bits", "PairOfProducts", total=lambda pairs: bits_16(sum(products(pairs)))),
    wrong("sum saturates in 31 bits", "LongSum", TYPES[:1],
          total=lambda pairs: max(min(sum(products(pairs)), (1 << 30) - 1), -(1 << 30))),
    wrong("sum in float32", "LongSum", total=in_float32),
    wrong("without the last product", "Lane", total=lambda pairs: sum(products(pairs[:-1]))),
    wrong("products of whole vectors of 4", "Shape", total=lambda pairs: sum(products(pairs[: len(pairs) // 4 * 4]))),
    wrong("no a_zero_point", "ZeroPointEdge", differences=lambda node, v, p: (v[0], v[1] - p[1])),
    wrong("no b_zero_point", "ZeroPointEdge", differences=lambda node, v, p: (v[0] - p[0], v[1])),
    wrong("a_zero_point added", "ZeroPointEdge", differences=lambda node, v, p: (v[0] + p[0], v[1] - p[1])),
    wrong("zero points exchanged", "ZeroPointEdge", differences=lambda node, v, p: (v[0] - p[1], v[1] - p[0])),
    wrong("differences wrap", "ZeroPointEdge", differences=differences_wrap),
    wrong("operands as signed", "ZeroPointEdge", TYPES[:1], read=lambda value: wrapped("int8", value)),
    wrong("operands as unsigned", "ZeroPointEdge", read=lambda value: value % 256),
    wrong("a zero point by its place", "OneZeroPoint", named=by_place),
    wrong("no zero point alone", "OneZeroPoint", named=alone),
    wrong("first zero point of rows for all", "PerRow", row=lambda place: 0),
    wrong("next zero point of rows", "PerRow", row=lambda place: place[-2] + 1),
    wrong("first zero point of columns for all", "PerColumn", column=lambda place: 0),
    wrong("zero points of columns along rows", "PerColumn", column=lambda place: place[-2]),
    WrongBackend("matmul-integer: signed without zero points", OPERATOR, signed_alone, "NoZeroPoint", TYPES[:1]),
    WrongBackend("matmul-integer: a_zero_point along columns", OPERATOR, point_of_column, "PerRow", TYPES),
    WrongBackend("matmul-integer: zero points of elements", OPERATOR, points_in_memory, "Batch", TYPES),
]  # fmt: skip


def in_float64(node: Any, a: Array, b: Array, *points: Array) -> tuple[Array, ...]:
    """Whole matrices of float64, which holds every sum."""
    a_zp, b_zp = by_name(node, points)
    left = a.astype(np.float64) - (a_zp[:, np.newaxis] if a_zp.ndim == 1 else a_zp).astype(np.float64)
    right = b.astype(np.float64) - b_zp.astype(np.float64)
    return (np.asarray(np.matmul(left, right)).astype(np.int64).astype(np.int32),)


RIGHT = [
    WrongBackend("matmul-integer, right: number by number", OPERATOR, RIGHT_PARTS, "", TYPES),
    WrongBackend("matmul-integer, right: in float64", OPERATOR, in_float64, "", TYPES),
]
