"""QGemm that is wrong on purpose, each in one way, and right: in fractions, number by number, and in NumPy's types."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from wrong_onnx_qlinear_matmul import (
    away,
    bits_16,
    clamped,
    ends,
    in_float32,
    in_pairs,
    products,
    single,
    up_ties,
    wrapped,
)

from wrong_model import Array, WrongBackend

OPERATOR = "com.microsoft.QGemm"
BYTES = ("uint8", "int8")
TYPES = (("uint8", "uint8"), ("int8", "int8"))
NUMBERS = tuple((a, "float32") for a in BYTES)
EVERY = tuple((a, y) for a in BYTES for y in (*BYTES, "float32"))
Pair = tuple[int, int]
Scales = tuple[Fraction, Fraction, Fraction, Fraction]  # alpha, and those of A, B and Y


def to_float32(value: Fraction) -> np.float32:
    """Rounded once: float64 first, toward an odd last bit if it is inexact."""
    near = float(value)
    if math.isfinite(near) and Fraction(near) != value:
        bits = np.array(near).view(np.int64)
        toward_zero = abs(Fraction(near)) > abs(value)
        bits = bits - 1 if toward_zero else bits
        near = float(np.array(bits | 1).view(np.float64))
    with np.errstate(over="ignore"):
        return np.float32(near)


@dataclass(frozen=True)
class Gemm:
    """One element of the result at a time; each part is right unless replaced."""

    turned: Callable[[Any], tuple[bool, bool]] = lambda node: (node.value("transA"), node.value("transB"))
    points: Callable[[int, int], Pair] = lambda a, b: (a, b)
    total: Callable[[list[Pair]], int] = lambda pairs: sum(products(pairs))
    bias: Callable[[int, int], int] = lambda total, bias: total + bias
    column: Callable[[int, int], int] = lambda column, count: column
    alpha: Callable[[Fraction], Fraction] = lambda alpha: alpha
    number: Callable[[int, Scales], Fraction] = lambda total, scales: total * scales[0] * scales[1] * scales[2]
    quotient: Callable[[int, Scales], Fraction] | None = None
    finish: Callable[[str, Fraction, int], int] = lambda kind, quotient, point: clamped(kind, round(quotient) + point)

    def __call__(self, node: Any, *inputs: Array) -> tuple[Array, ...]:
        own = dict(zip((tensor.name for tensor in node.inputs), inputs, strict=True))
        a, b = (own[n].T if turns else own[n] for n, turns in zip("AB", self.turned(node), strict=True))
        if a.shape[1] != b.shape[0]:  # nothing to mistake here
            a, b = (own[n].T if node.value(f"trans{n}") else own[n] for n in "AB")
        right = own["A"].T if node.value("transA") else own["A"], own["B"].T if node.value("transB") else own["B"]
        shape = (right[0].shape[0], right[1].shape[1])
        found = np.zeros(shape, node.outputs[0].dtype)
        if (a.shape[0], b.shape[1]) != shape or not self.is_defined(own):
            return (found,)
        bias = np.broadcast_to(own.get("C", np.zeros((), np.int64)), shape)
        for place in np.ndindex(*shape):
            found[place] = self.element(node, own, a[place[0]], b[:, place[1]], int(bias[place]), place[1])
        return (found,)

    def is_defined(self, own: dict[str, Array]) -> bool:
        scales = [own[name] for name in ("a_scale", "b_scale", "y_scale") if name in own]
        return all(np.isfinite(scale).all() for scale in scales) and bool(np.all(own.get("y_scale", 1)))

    def element(self, node: Any, own: dict[str, Array], a: Array, b: Array, bias: int, column: int) -> Any:
        scales, b_points = own["b_scale"].reshape(-1), own["b_zero_point"].reshape(-1)
        at = self.column(column, scales.size) % scales.size
        points = self.points(int(own["a_zero_point"]), int(b_points[column % b_points.size]))
        pairs = [(int(x) - points[0], int(y) - points[1]) for x, y in zip(a, b, strict=True)]
        total = self.total(pairs)
        total = self.bias(total, bias) if "C" in own else total
        alpha = self.alpha(Fraction(node.value("alpha")))
        last = Fraction(float(own["y_scale"])) if "y_scale" in own else Fraction(1)
        every = alpha, Fraction(float(own["a_scale"])), Fraction(float(scales[at])), last
        if "y_scale" not in own:
            return to_float32(self.quotient(total, every) if self.quotient else self.number(total, every))
        quotient = self.quotient(total, every) if self.quotient else self.number(total, every) / last
        return self.finish(str(node.outputs[0].dtype.name), quotient, int(own["y_zero_point"]))


def by(round_: Callable[[Fraction], int]) -> Callable[[str, Fraction, int], int]:
    return lambda kind, quotient, point: clamped(kind, round_(quotient) + point)


def ordinary(change: Callable[[int, Scales], Fraction]) -> Callable[[int, Scales], Fraction]:
    """The change where scales are ordinary numbers, so that no step overflows."""

    def found(total: int, scales: Scales) -> Fraction:
        usual = all(Fraction(1, 1 << 20) < abs(scale) < 1 << 28 for scale in scales[1:])
        exact = total * scales[0] * scales[1] * scales[2] / scales[3]
        return change(total, scales) if usual else exact

    return found


def folded(total: int, scales: Scales) -> Fraction:
    alpha, a, b, y = scales
    return single(single(Fraction(total)) * single(single(single(alpha * a) * b) / y))


def cut_factor(total: int, scales: Scales) -> Fraction:
    """The sum times a factor without what lies behind its first 31 bits."""
    ratio = scales[0] * scales[1] * scales[2] / scales[3]
    power = Fraction(2) ** (31 - math.frexp(float(ratio))[1])
    return total * int(ratio * power) / power


def with_a_column(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """A C of one axis is a number for each row of a square Y."""
    own = [array.reshape(-1, 1) if tensor.name == "C" and array.ndim == 1 and turns(node, inputs) else array
           for tensor, array in zip(node.inputs, inputs, strict=True)]  # fmt: skip
    return Gemm()(node, *own)


def turns(node: Any, inputs: tuple[Array, ...]) -> bool:
    own = dict(zip((tensor.name for tensor in node.inputs), inputs, strict=True))
    rows = own["A"].shape[1 if node.value("transA") else 0]
    return bool(rows == own["B"].shape[0 if node.value("transB") else 1])


def reciprocal(total: int, scales: Scales) -> Fraction:
    alpha, a, b, y = scales
    return single(single(total * single(single(alpha * a) * b)) * single(1 / y))


def wrong(name: str, flag: str, types: tuple[tuple[str, str], ...] = TYPES, **parts: Any) -> WrongBackend:
    return WrongBackend(f"qgemm: {name}", OPERATOR, replace(Gemm(), **parts), flag, types)


WRONG = [
    wrong("ties away", "Tie", finish=by(away)),
    wrong("ties up", "Tie", finish=by(up_ties)),
    wrong("truncates", "Tie", finish=by(math.trunc)),
    wrong("floors", "Tie", finish=by(math.floor)),
    wrong("zero point first", "ZeroPointParity",
          finish=lambda kind, quotient, point: clamped(kind, round(quotient + point))),
    wrong("no a_zero_point", "ZeroPointEdge", EVERY, points=lambda a, b: (0, b)),
    wrong("no b_zero_point", "ZeroPointEdge", EVERY, points=lambda a, b: (a, 0)),
    wrong("zero points exchanged", "ZeroPointEdge", EVERY, points=lambda a, b: (b, a)),
    wrong("no y_zero_point", "ZeroPointEdge", finish=lambda kind, quotient, point: clamped(kind, round(quotient))),
    wrong("pairs saturate in 16 bits", "PairOfProducts", EVERY, total=in_pairs),
    wrong("sum wraps in 16 bits", "PairOfProducts", EVERY, total=lambda pairs: bits_16(sum(products(pairs)))),
    wrong("sum without the last product", "Lane", EVERY, total=lambda pairs: sum(products(pairs[:-1]))),
    wrong("no C", "Bias", EVERY, bias=lambda total, bias: total),
    wrong("C subtracted", "Bias", EVERY, bias=lambda total, bias: total - bias),
    WrongBackend("qgemm: C as a column", OPERATOR, with_a_column, "Bias", EVERY),
    wrong("a factor of 31 bits, cut off", "Tie", quotient=ordinary(cut_factor)),
    wrong("sum in float32", "LongSum", EVERY, total=in_float32),
    wrong("C in float32", "LongSum", NUMBERS, bias=lambda total, bias: total + int(np.float32(bias))),
    wrong("no alpha", "Factor", EVERY, alpha=lambda alpha: Fraction(1)),
    wrong("alpha's magnitude", "Factor", EVERY, alpha=abs),
    wrong("transA ignored", "Transposed", EVERY, turned=lambda node: (False, node.value("transB"))),
    wrong("transB ignored", "Transposed", EVERY, turned=lambda node: (node.value("transA"), False)),
    wrong("first scale of columns for all", "PerColumn", EVERY, column=lambda column, count: 0),
    wrong("next scale of columns", "PerColumn", EVERY, column=lambda column, count: column + 1),
    wrong("wraps", "Saturates", finish=lambda kind, quotient, point: wrapped(kind, round(quotient) + point)),
    wrong("never the highest", "RangeEdge",
          finish=lambda kind, quotient, point: min(clamped(kind, round(quotient) + point), ends(kind)[1] - 1)),
    wrong("a number in float16", "ScaleNotPowerOfTwo", NUMBERS,
          number=lambda total, s: Fraction(float(np.float16(float(total * s[0] * s[1] * s[2]))))),
]  # fmt: skip
# Another order of the document's steps: no deviation.
OTHER_ORDERS = [
    wrong("folded multiplier", "NearRational", quotient=ordinary(folded)),
    wrong("reciprocal of y_scale", "NearRational", quotient=ordinary(reciprocal)),
]


def in_steps(node: Any, *inputs: Array) -> tuple[Array, ...]:
    """The document's steps in float32; sums in int64, which an extended float holds."""
    own = dict(zip((tensor.name for tensor in node.inputs), inputs, strict=True))
    a, b = (own[n].astype(np.int64) for n in "AB")
    a, b = a.T if node.value("transA") else a, b.T if node.value("transB") else b
    total = (a - own["a_zero_point"].astype(np.int64)) @ (b - own["b_zero_point"].astype(np.int64)) + own.get("C", 0)
    scale = np.float32(node.value("alpha")) * own["a_scale"] * own["b_scale"]
    number = (total.astype(np.longdouble) * scale).astype(np.float32)
    if "y_scale" not in own:
        return (number,)
    info = np.iinfo(node.outputs[0].dtype)
    quotient = np.nan_to_num((number / own["y_scale"]).astype(np.float64), nan=0)
    return (np.clip(np.rint(quotient) + int(own["y_zero_point"]), info.min, info.max).astype(info.dtype),)


RIGHT = [
    WrongBackend("qgemm, right: in fractions", OPERATOR, Gemm(), "", EVERY),
    WrongBackend("qgemm, right: in steps", OPERATOR, in_steps, "", EVERY),
]
