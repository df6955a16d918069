"""MatMulNBits that is wrong on purpose, each in one way, and right: number by number, and in whole matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from arithmetic_of_tensorflow import narrowed

from wrong_model import Array, WrongBackend

OPERATOR = "com.microsoft.MatMulNBits"
TYPES = tuple((real, real) for real in ("float32", "float16", "bfloat16"))
SINGLE = TYPES[:1]
Step = Callable[[float], float]


@dataclass(frozen=True)
class NBits:
    """One element at a time, each step rounded to A's type; each part is right unless replaced."""

    place: Callable[[int, int], int] = lambda place, held: place  # of a number in its byte
    code: Callable[[int, int], float] = lambda code, bits: code
    default: Callable[[int], int] = lambda bits: 1 << (bits - 1)
    point: Callable[[float], float] = lambda point: point
    point_place: Callable[[int, int], int] = lambda place, held: place
    block: Callable[[int, int], int] = lambda k, size: k // size
    weight: Callable[[Step, float, float, float], float] = lambda s, q, z, d: s(s(q - z) * d)
    number: Callable[[float], float] = lambda a: a
    column: Callable[[int], int] = lambda n: n
    last: Callable[[int], int] = lambda inner: inner  # how many numbers of a row count
    bias: Callable[[float], float] = lambda bias: bias
    bias_place: Callable[[int], int] = lambda n: n  # of a column's bias

    def __call__(self, node: Any, a: Array, b: Array, scales: Array, *more: Array) -> tuple[Array, ...]:
        points, bias = parted(node, more)
        inner, columns = node.attributes["K"], node.attributes["N"]
        rows, kind = a.reshape(-1, inner), a.dtype.type
        weights = [[self.read(node, kind, b, scales, points, n, k) for k in range(inner)] for n in range(columns)]
        found = [[self.total(kind, row, weights[n]) for n in range(columns)] for row in rows.astype(np.float64)]
        product = np.array(found, np.float64).reshape(*a.shape[:-1], columns).astype(a.dtype)
        if bias is None:
            return (product,)
        added = np.array([self.bias(float(bias[self.bias_place(n) % columns])) for n in range(columns)])
        with np.errstate(all="ignore"):
            return ((product + added.astype(a.dtype)).astype(a.dtype),)

    def read(self, node: Any, kind: Any, b: Array, scales: Array, points: Any, n: int, k: int) -> float:
        bits, size = node.attributes.get("bits", 4), node.attributes["block_size"]
        n, block = self.column(n), self.block(k, size)
        at = min(max(block, 0), scales.shape[1] - 1)
        code = self.code(taken(b[n].reshape(-1), k, bits, self.place), bits)
        point = float(self.default(bits))
        if points:
            (given,) = points
            packed = given.dtype == np.uint8
            point = taken(given[n], at, bits, self.point_place) if packed else float(given[n, at])

        def s(value: float) -> float:
            return float(np.asarray(value).astype(kind))

        with np.errstate(all="ignore"):
            return self.weight(s, code, self.point(point), float(scales[n, at]))

    def total(self, kind: Any, row: Array, weights: list[float]) -> float:
        """The sum of products in a row that has one, rounded; of others the sum in float64."""
        with np.errstate(all="ignore"):
            used = self.last(len(weights))
            return float(np.sum([self.number(float(x)) * w for x, w in zip(row[:used], weights, strict=False)]))


def parted(node: Any, more: tuple[Array, ...]) -> tuple[tuple[Array, ...], Array | None]:
    """The zero points, if there are any, and the bias."""
    if node.inputs[-1].name == "bias":
        return more[:-1], more[-1]
    return more, None


def taken(bytes_: Array, place: int, bits: int, order: Callable[[int, int], int]) -> int:
    held = 8 // bits
    return int(bytes_[place // held]) >> bits * order(place % held, held) & ((1 << bits) - 1)


def in_bfloat16(value: float) -> float:
    import ml_dtypes

    return float(np.asarray(value).astype(ml_dtypes.bfloat16))


def product_in_float16(difference: float, scale: float) -> float:
    return float(np.float16(difference) * np.float16(scale))


def signed(code: int, bits: int) -> int:
    return code - (1 << bits) if code >> (bits - 1) else code


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = TYPES, **parts: Any) -> WrongBackend:
    return WrongBackend(f"matmul-nbits: {name}", OPERATOR, replace(NBits(), **parts), flag, types)


WRONG = [
    wrong("the upper bits first", "Blocked", place=lambda place, held: held - 1 - place),
    wrong("the upper zero point first", "PackedZeroPoints", point_place=lambda place, held: held - 1 - place),
    wrong("signed weights", "NoZeroPoint", code=signed),
    wrong("no zero point by default", "NoZeroPoint", default=lambda bits: 0),
    wrong("8 as the default zero point", "NoZeroPoint", default=lambda bits: 8),
    wrong("no zero point", "PackedZeroPoints", point=lambda point: 0),
    wrong("a zero point of 0 as 15", "ZeroPointEdge", point=lambda point: point or 15),
    wrong("the zero point moved", "FloatZeroPoint", point=lambda point: point + 1),
    wrong("an integer zero point", "FloatZeroPoint", point=lambda point: float(round(point))),
    wrong("the zero point after the scale", "Blocked", weight=lambda s, q, z, d: s(s(q * d) - z)),
    wrong("scale distributed", "PrecisionSensitive", SINGLE, weight=lambda s, q, z, d: s(s(q * d) - s(z * d))),
    wrong("divides by the reciprocal", "ScaleNotPowerOfTwo", SINGLE, weight=lambda s, q, z, d: s((q - z) / s(1 / d))
          if d else 0.0),
    wrong("the product in float16", "ScaleNotPowerOfTwo", SINGLE,
          weight=lambda s, q, z, d: product_in_float16(q - z, d)),
    wrong("the magnitude of the scale", "NegativeScale", weight=lambda s, q, z, d: s(s(q - z) * abs(d))),
    wrong("the first block's scale", "Blocked", block=lambda k, size: 0),
    wrong("the previous block's scale", "Blocked", block=lambda k, size: k // size - 1),
    wrong("blocks one longer", "Blocked", block=lambda k, size: k // (size + 1)),
    wrong("the first column for all", "Lane", column=lambda n: 0),
    wrong("without the last weight", "Lane", last=lambda inner: inner - 1),
    wrong("whole vectors of four", "Lane", last=lambda inner: inner // 4 * 4),
    wrong("A in bfloat16", "ScaleNotPowerOfTwo", (("float32", "float32"), ("float16", "float16")), number=in_bfloat16),
    wrong("A without sign", "Lane", number=abs),
    wrong("no bias", "ColumnBias", bias=lambda bias: 0.0),
    wrong("the bias subtracted", "ColumnBias", bias=lambda bias: -bias),
    wrong("half of the bias", "ColumnBias", bias=lambda bias: bias / 2),
    wrong("a bias in bfloat16", "ColumnBias", (("float32", "float32"), ("float16", "float16")), bias=in_bfloat16),
    wrong("the first bias for all", "ColumnBias", bias_place=lambda n: 0),
    wrong("the next column's bias", "ColumnBias", bias_place=lambda n: n + 1),
]  # fmt: skip


def by_fractions(node: Any, a: Array, b: Array, scales: Array, *more: Array) -> tuple[Array, ...]:
    """Each row's products and bias in fractions, rounded once; NaN where something is no number."""
    points, bias = parted(node, more)
    inner, columns, bits = node.attributes["K"], node.attributes["N"], node.attributes.get("bits", 4)
    found = np.full((math.prod(a.shape[:-1]), columns), np.nan, a.dtype)
    for (m, n), _ in np.ndenumerate(found):
        row = [float(x) for x in a.reshape(-1, inner)[m]]
        parts = [part_of(node, b, scales, points, n, k, bits) for k in range(inner)]
        added = 0.0 if bias is None else float(bias[n])
        if all(map(math.isfinite, (added, *row, *(each for part in parts for each in part[1:])))):
            total = sum(
                (Fraction(x) * (q - Fraction(z)) * Fraction(d) for x, (q, z, d) in zip(row, parts, strict=True)),
                Fraction(added),
            )
            found[m, n] = narrowed(total, a.dtype.type)
    return (found.reshape(*a.shape[:-1], columns),)


def part_of(node: Any, b: Array, scales: Array, points: Any, n: int, k: int, bits: int) -> tuple[int, float, float]:
    block = k // node.attributes["block_size"]
    code = taken(b[n].reshape(-1), k, bits, lambda place, held: place)
    point = float(1 << (bits - 1))
    if points:
        packed = points[0].dtype == np.uint8
        point = taken(points[0][n], block, bits, lambda p, held: p) if packed else float(points[0][n, block])
    return code, point, float(scales[n, block])


def fused_from_the_bias(node: Any, a: Array, b: Array, scales: Array, *more: Array) -> tuple[Array, ...]:
    """Each weight rounded to A's type; then a * weight is added to the bias, the last product first, rounded once."""
    points, bias = parted(node, more)
    inner, columns, kind = node.attributes["K"], node.attributes["N"], a.dtype.type
    found = np.zeros((math.prod(a.shape[:-1]), columns), a.dtype)
    for n in range(columns):
        weights = [NBits().read(node, kind, b, scales, points, n, k) for k in range(inner)]
        for m, row in enumerate(a.reshape(-1, inner).astype(np.float64)):
            found[m, n] = added_up(0.0 if bias is None else float(bias[n]), row, weights, kind)
    return (found.reshape(*a.shape[:-1], columns),)


def added_up(total: float, row: Array, weights: list[float], kind: Any) -> float:
    for x, weight in zip(row[::-1].tolist(), weights[::-1], strict=True):
        if not all(map(math.isfinite, (total, x, weight))):
            total += x * weight
            continue
        exact = Fraction(total) + Fraction(x) * Fraction(weight)
        with np.errstate(over="ignore"):
            total = float(np.asarray(narrowed(exact, kind)).astype(kind))
    return total


RIGHT = [
    WrongBackend("matmul-nbits, right: fused, from the bias on", OPERATOR, fused_from_the_bias, "", TYPES),
    WrongBackend("matmul-nbits, right: number by number", OPERATOR, NBits(), "", TYPES),
    WrongBackend("matmul-nbits, right: in fractions", OPERATOR, by_fractions, "", TYPES),
]
