"""Products of quantized matrices that are wrong on purpose, each in one way, and right ones: in fractions, number by
number, and in NumPy's types."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

OPERATOR = "onnx.QLinearMatMul"
TYPES = (("float32", "uint8"), ("float32", "int8"))
EVERY = tuple((real, quantized) for real in ("float32", "float16", "bfloat16") for quantized in ("uint8", "int8"))
HALF = Fraction(1, 2)
Pair = tuple[int, int]  # an element of a and one of b
Scales = tuple[Fraction, Fraction, Fraction]


def kind_of(node: Any, number: int) -> str:
    return str(node.inputs[number].dtype.name)


def single(value: Fraction) -> Fraction:
    """A number of few enough bits for float64, as a float32 has it."""
    return Fraction(float(np.float32(float(value))))


def ends(kind: str) -> tuple[int, int]:
    info = np.iinfo(kind)
    return int(info.min), int(info.max)


def clamped(kind: str, value: int) -> int:
    low, high = ends(kind)
    return min(max(value, low), high)


def wrapped(kind: str, value: int) -> int:
    low, high = ends(kind)
    return (value - low) % (high - low + 1) + low


def bits_16(value: int) -> int:
    return wrapped("int16", value)


def products(pairs: list[Pair]) -> list[int]:
    return [one * other for one, other in pairs]


def in_pairs(pairs: list[Pair]) -> int:
    found = products(pairs)
    return sum(clamped("int16", sum(found[n : n + 2])) for n in range(0, len(found), 2))


def saturating(pairs: list[Pair]) -> int:
    total = 0
    for product in products(pairs):
        total = clamped("int16", total + product)
    return total


@dataclass(frozen=True)
class QLinearMatMul:
    """One element of the result at a time; each part is right unless replaced."""

    read: Callable[[str, int], int] = lambda kind, value: value
    differences: Callable[[Any, Pair, Pair], Pair] = lambda node, values, points: (
        values[0] - points[0],
        values[1] - points[1],
    )
    total: Callable[[list[Pair]], int] = lambda pairs: sum(products(pairs))
    own: Callable[[tuple[int, ...], int], int] = lambda place, count: place[-2]  # which of a's scales
    other: Callable[[tuple[int, ...], int], int] = lambda place, count: place[-1]
    quotient: Callable[[int, Scales], Fraction] = lambda total, scales: total * scales[0] * scales[1] / scales[2]
    finish: Callable[[str, Fraction, int], int] = lambda kind, quotient, point: clamped(kind, round(quotient) + point)

    def __call__(self, node: Any, *inputs: Array) -> tuple[Array, ...]:
        a, a_scale, a_zp, b, b_scale, b_zp, y_scale, y_zp = inputs
        shape = np.matmul(np.zeros(a.shape), np.zeros(b.shape)).shape
        kind = str(node.outputs[0].dtype.name)
        found = np.full(int(np.prod(shape)), int(y_zp), np.int64)
        scales = [array.astype(np.float64) for array in (a_scale, b_scale, y_scale)]
        if not all(np.isfinite(array).all() for array in scales) or not scales[2]:
            return (found.astype(node.outputs[0].dtype).reshape(shape),)
        rows = a if a.ndim > 1 else a[np.newaxis, :]
        columns = b if b.ndim > 1 else b[:, np.newaxis]
        for n, place in enumerate(places(rows, columns)):
            of_a, of_b = taken(rows, place, row=True), taken(columns, place, row=False)
            pairs = [
                self.differences(node, (self.read(kind_of(node, 0), x), self.read(kind_of(node, 3), y)), points)
                for points in [(parameter(a_zp, place, place[-2]), parameter(b_zp, place, place[-1]))]
                for x, y in zip(of_a, of_b, strict=True)
            ]
            own = (
                Fraction(float(parameter_of(scales[0], place, self.own))),
                Fraction(float(parameter_of(scales[1], place, self.other))),
                Fraction(float(scales[2])),
            )
            found[n] = self.finish(kind, self.quotient(self.total(pairs), own), int(y_zp))
        return (found.astype(node.outputs[0].dtype).reshape(shape),)


def places(rows: Array, columns: Array) -> Iterator[tuple[int, ...]]:
    batch = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    return iter(np.ndindex(*batch, rows.shape[-2], columns.shape[-1]))


def taken(matrix: Array, place: tuple[int, ...], *, row: bool) -> list[int]:
    """A row of the first matrix, or a column of the second, of the batch's matrix that broadcasts to the place."""
    outer = matrix.shape[:-2]
    at = place[len(place) - 2 - len(outer) : len(place) - 2]
    own = matrix[tuple(0 if size == 1 else index for size, index in zip(outer, at, strict=True))]
    return [int(value) for value in (own[place[-2]] if row else own[:, place[-1]])]


def parameter(array: Array, place: tuple[int, ...], index: int) -> int:
    return int(parameter_of(array, place, lambda place, count: index))


def parameter_of(array: Array, place: tuple[int, ...], which: Callable[[tuple[int, ...], int], int]) -> Any:
    """A scalar; one of a vector; or one of the batch's row or column."""
    if not array.ndim:
        return array[()]
    count = array.size if array.ndim == 1 else max(array.shape[-2:])
    flat = array if array.ndim == 1 else array[place[-array.ndim : -2]].reshape(-1)
    return flat[which(place, count) % count]


def by(round_: Callable[[Fraction], int]) -> Callable[[str, Fraction, int], int]:
    return lambda kind, quotient, point: clamped(kind, round_(quotient) + point)


def away(value: Fraction) -> int:
    return math.floor(abs(value) + HALF) * (1 if value > 0 else -1)


def up_ties(value: Fraction) -> int:
    return math.floor(value + HALF)


def toward_zero_ties(value: Fraction) -> int:
    return math.ceil(abs(value) - HALF) * (1 if value > 0 else -1)


def folded(total: int, scales: Scales) -> Fraction:
    a, b, y = scales
    multiplier = single(single(a * b) / y)
    return single(single(Fraction(total)) * multiplier)


def one_factor(total: int, scales: Scales) -> Fraction:
    """One factor in float32, whose product with the sum is not rounded."""
    a, b, y = scales
    return total * single(single(a * b) / y)


def reciprocal(total: int, scales: Scales) -> Fraction:
    a, b, y = scales
    return single(single(total * single(a * b)) * single(1 / y))


def sixteenths(quotient: Fraction) -> int:
    return round(Fraction(round(quotient * 16), 16))


def fixed_point(total: int, scales: Scales) -> Fraction:
    """A multiplier of 31 bits and a shift."""
    ratio = scales[0] * scales[1] / scales[2]
    fraction, exponent = math.frexp(float(ratio))
    whole = round(fraction * (1 << 15))
    return Fraction(total * whole) * Fraction(2) ** (exponent - 15)


def cut_factor(total: int, scales: Scales) -> Fraction:
    """The sum times a factor without what lies behind its first 31 bits."""
    ratio = scales[0] * scales[1] / scales[2]
    power = Fraction(2) ** (31 - math.frexp(float(ratio))[1])
    return Fraction(total * int(ratio * power)) / power


def in_float32(pairs: list[Pair]) -> int:
    """The sum as float32 keeps it."""
    return int(np.cumsum(np.array(products(pairs), np.float32), dtype=np.float32)[-1]) if pairs else 0


def bits_of_factor(total: int, scales: Scales) -> Fraction:
    """The sum times one float32 factor without its sign, or by 1 for 0: the low 32 bits of the rounded product."""
    a, b, y = scales
    factor = abs(single(single(a * b) / y))
    rounded = round(abs(total) * factor) if factor else abs(total)
    return Fraction(wrapped("int32", rounded if total > 0 else -rounded))


def ordinary(change: Callable[[int, Scales], Fraction]) -> Callable[[int, Scales], Fraction]:
    """The change where scales are ordinary numbers, so that no step overflows."""

    def found(total: int, scales: Scales) -> Fraction:
        exact = total * scales[0] * scales[1] / scales[2]
        is_ordinary = all(Fraction(1, 1 << 20) < abs(scale) < 1 << 28 for scale in scales)
        return change(total, scales) if is_ordinary else exact

    return found


def wrap_differences(node: Any, values: Pair, points: Pair) -> Pair:
    one, other = (wrapped(kind_of(node, n), values[m] - points[m]) for m, n in enumerate((0, 3)))
    return one, other


def as_signed(kind: str, value: int) -> int:
    return wrapped("int8", value)


def as_unsigned(kind: str, value: int) -> int:
    return value % 256


def clamps_first(kind: str, quotient: Fraction, point: int) -> int:
    return clamped(kind, clamped(kind, round(quotient)) + point)


def in_int32(kind: str, quotient: Fraction, point: int) -> int:
    rounded = round(quotient)
    return clamped(kind, (rounded if abs(rounded) < 1 << 31 else -(1 << 31)) + point)


RIGHT_PARTS = QLinearMatMul()


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = TYPES, **parts: Any) -> WrongBackend:
    return WrongBackend(f"qlinear-matmul: {name}", OPERATOR, replace(RIGHT_PARTS, **parts), flag, types)


WRONG = [
    wrong("ties away", "Tie", EVERY, finish=by(away)),
    wrong("ties up", "Tie", EVERY, finish=by(up_ties)),
    wrong("ties toward zero", "Tie", finish=by(toward_zero_ties)),
    wrong("truncates", "Tie", finish=by(math.trunc)),
    wrong("floors", "Tie", finish=by(math.floor)),
    wrong("rounds up", "Tie", finish=by(math.ceil)),
    wrong("rounds to sixteenths first", "NearRational", finish=by(sixteenths)),
    wrong("one factor, the zero point first", "ZeroPointParity", quotient=ordinary(one_factor),
          finish=lambda kind, quotient, point: clamped(kind, round(quotient + point))),
    wrong("a factor of 31 bits, cut off", "Tie", EVERY, quotient=ordinary(cut_factor)),
    wrong("sum in float32", "LongSum", EVERY, total=in_float32),
    wrong("multiplier of 15 bits", "ScaleNotPowerOfTwo", quotient=ordinary(fixed_point)),
    wrong("bits of a factor", "Tie", quotient=ordinary(bits_of_factor),
          finish=lambda kind, quotient, point: clamped(kind, wrapped("int32", round(quotient) + point))),
    wrong("zero point first", "ZeroPointParity", EVERY,
          finish=lambda kind, quotient, point: clamped(kind, round(quotient + point))),
    wrong("no a_zero_point", "Tie", TYPES, differences=lambda node, v, p: (v[0], v[1] - p[1])),
    wrong("no b_zero_point", "Tie", TYPES, differences=lambda node, v, p: (v[0] - p[0], v[1])),
    wrong("no y_zero_point", "Tie", TYPES[:1], finish=lambda kind, quotient, point: clamped(kind, round(quotient))),
    wrong("a_zero_point added", "ZeroPointEdge", differences=lambda node, v, p: (v[0] + p[0], v[1] - p[1])),
    wrong("zero points exchanged", "ZeroPointEdge", differences=lambda node, v, p: (v[0] - p[1], v[1] - p[0])),
    wrong("y_zero_point subtracted", "ZeroPointEdge",
          finish=lambda kind, quotient, point: clamped(kind, round(quotient) - point)),
    wrong("differences wrap", "ZeroPointEdge", EVERY, differences=wrap_differences),
    wrong("operands as signed", "Tie", read=as_signed),
    wrong("operands as unsigned", "Tie", read=as_unsigned),
    wrong("pairs saturate in 16 bits", "PairOfProducts", EVERY, total=in_pairs),
    wrong("sum saturates in 16 bits", "PairOfProducts", total=saturating),
    wrong("sum wraps in 16 bits", "PairOfProducts", EVERY, total=lambda pairs: bits_16(sum(products(pairs)))),
    wrong("sum without the last product", "Lane", total=lambda pairs: sum(products(pairs[:-1]))),
    wrong("products of whole vectors of 4", "Shape", total=lambda pairs: sum(products(pairs[: len(pairs) // 4 * 4]))),
    wrong("first scale of rows for all", "PerRow", EVERY, own=lambda place, count: 0),
    wrong("next scale of columns", "PerColumn", other=lambda place, count: place[-1] + 1),
    wrong("scales of rows along columns", "PerRow", own=lambda place, count: place[-1]),
    wrong("scales of columns along rows", "PerColumn", other=lambda place, count: place[-2]),
    wrong("no y_scale", "ScaleNotPowerOfTwo", quotient=lambda total, scales: total * scales[0] * scales[1]),
    wrong("no b_scale", "ScaleNotPowerOfTwo", quotient=lambda total, scales: total * scales[0] / scales[2]),
    wrong("wraps", "Saturates", EVERY, finish=lambda kind, quotient, point: wrapped(kind, round(quotient) + point)),
    wrong("clamps before the zero point", "Saturates", TYPES[:1], finish=clamps_first),
    wrong("casts to int32", "Saturates", finish=in_int32),
    wrong("never the highest", "RangeEdge",
          finish=lambda kind, quotient, point: min(clamped(kind, round(quotient) + point), ends(kind)[1] - 1)),
    wrong("never the lowest", "RangeEdge",
          finish=lambda kind, quotient, point: max(clamped(kind, round(quotient) + point), ends(kind)[0] + 1)),
]  # fmt: skip
# Another order of the document's steps: no deviation.
OTHER_ORDERS = [
    wrong("folded multiplier", "NearRational", quotient=ordinary(folded)),
    wrong("reciprocal of y_scale", "NearRational", quotient=ordinary(reciprocal)),
]


def in_steps(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """The document's steps in the scales' type: integers as float64, which the type's steps round."""
    a, a_scale, a_zp, b, b_scale, b_zp, y_scale, y_zp = inputs
    kind = a_scale.dtype
    left = np.atleast_2d(a).astype(np.int64) - column(a_zp, a)
    right = (b if b.ndim > 1 else b[:, np.newaxis]).astype(np.int64) - row(b_zp, b)
    scale = column(a_scale, a) * row(b_scale, b)
    x = np.asarray(np.longdouble(left @ right) * scale.astype(np.longdouble)).astype(kind)
    with np.errstate(all="ignore"):
        quotient = np.nan_to_num((x / y_scale).astype(np.float64), nan=0)
    info = np.iinfo(node.outputs[0].dtype)
    total = np.clip(np.rint(quotient) + int(y_zp), info.min, info.max)
    shape = np.matmul(np.zeros(a.shape), np.zeros(b.shape)).shape
    return (np.broadcast_to(total, np.matmul(left, right).shape).astype(node.outputs[0].dtype).reshape(shape),)


def column(parameter: Array, a: Array) -> Array:
    wide = parameter.astype(np.int64) if parameter.dtype.kind in "iu" else parameter
    return wide[:, np.newaxis] if parameter.ndim == 1 else wide


def row(parameter: Array, b: Array) -> Array:
    return parameter.astype(np.int64) if parameter.dtype.kind in "iu" else parameter


RIGHT = [
    WrongBackend("qlinear-matmul, right: in fractions", OPERATOR, RIGHT_PARTS, "", EVERY),
    WrongBackend("qlinear-matmul, right: in steps", OPERATOR, in_steps, "", TYPES),
]
