"""QLinearAdd and QLinearMul that are wrong on purpose, each in one way, and right ones, in NumPy's extended floats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wrong_model import Array, WrongBackend

ADD, MUL = "com.microsoft.QLinearAdd", "com.microsoft.QLinearMul"
TYPES = (("float32", "int8"), ("float32", "uint8"))
Floats = tuple[Any, Any, Any]
Wide, Single = np.longdouble, np.float32


def exact(adds: bool, x: Array, y: Array, scales: Floats, zero: Any) -> Array:
    a, b, c = (Wide(scale) for scale in scales)
    number = x * a + y * b if adds else x * y * (a * b)
    return np.asarray(number / c + zero)


def stepwise(adds: bool, x: Array, y: Array, scales: Floats, zero: Any, kind: Any = Single) -> Array:
    """The document's steps."""
    (a, b, c), x, y = (kind(scale) for scale in scales), x.astype(kind), y.astype(kind)
    return np.asarray((x * a + y * b if adds else x * y * (a * b)) / c + kind(zero))


def by_ratio(adds: bool, x: Array, y: Array, scales: Floats, zero: Any) -> Array:
    a, b, c = scales
    x, y = x.astype(Single), y.astype(Single)
    return np.asarray((x * (a / c) + y * (b / c) if adds else x * y * (a * b / c)) + Single(zero))


def fused(adds: bool, x: Array, y: Array, scales: Floats, zero: Any) -> Array:
    """The reciprocal of C's scale; each sum takes a product before it is rounded."""
    a, b, c = (Wide(scale) for scale in scales)
    rounded = Single(y * b)
    number = Single(x * a + rounded.astype(Wide)) if adds else Single(x * a) * rounded
    return np.asarray(Single(number.astype(Wide) * Wide(Single(1 / c)) + zero))


def each_rounded(adds: bool, x: Array, y: Array, scales: Floats, zero: Any) -> Array:
    a, b, c = (Wide(scale) for scale in scales)
    return np.asarray(np.rint(x * a / c) + np.rint(y * b / c) + zero)


def saturated(info: Any, whole: Array) -> Array:
    return np.asarray(np.clip(whole, info.min, info.max))


def to_int32(info: Any, whole: Array) -> Array:
    """What x86's conversion gives beyond int32: its lowest number."""
    return np.where(np.abs(whole) < 2.0**31, whole, -(2.0**31))


def low_bits(info: Any, whole: Array) -> Array:
    return np.asarray(np.mod(np.clip(whole, -(2.0**40), 2.0**40) - info.min, 256) + info.min)


@dataclass(frozen=True)
class QLinear:
    """A node, all elements at once. Each part may be replaced; with `late` the zero point is added after rounding."""

    adds: bool
    points: Callable[[int, int, int], tuple[int, int, int]] = lambda a, b, c: (a, b, c)
    scales: Callable[[Any, Any, Any], Floats] = lambda a, b, c: (a, b, c)
    value: Callable[[bool, Array, Array, Floats, Any], Array] = exact
    whole: Callable[[Array], Array] = np.rint
    late: bool = False
    before: Callable[[Any, Array], Array] = lambda info, whole: whole
    clamp: Callable[[Any, Array], Array] = saturated

    def __call__(self, node: Any, *inputs: Array) -> tuple[Array, ...]:
        a, s_a, z_a, b, s_b, z_b, s_c, *rest = inputs
        info = np.iinfo(node.outputs[0].dtype)
        x_zero, y_zero, zero = self.points(int(z_a), int(z_b), int(rest[0]) if rest else 0)
        with np.errstate(all="ignore"):
            own = self.scales(Single(s_a), Single(s_b), Single(s_c))
            value = self.value(self.adds, a.astype(int) - x_zero, b.astype(int) - y_zero, own, 0 if self.late else zero)
            whole = self.before(info, self.whole(np.nan_to_num(value.astype(Wide)))) + (zero if self.late else 0)
            return (self.clamp(info, whole).astype(np.int64).astype(node.outputs[0].dtype),)


def both(name: str, flag: str, **parts: Any) -> tuple[WrongBackend, ...]:
    return tuple(box(operator, name, flag, **parts) for operator in (ADD, MUL))


def box(operator: str, name: str, flag: str, **parts: Any) -> WrongBackend:
    label = f"{operator.rpartition('.')[2]}: {name}"
    return WrongBackend(label, operator, replace(QLinear(operator == ADD), **parts), flag, TYPES)


WRONG = [
    *both("truncates", "ScaleNotPowerOfTwo", whole=np.trunc),
    *both("truncates and wraps", "Saturates", whole=np.trunc, clamp=low_bits),
    *both("truncates before the zero point", "ScaleNotPowerOfTwo", whole=np.trunc, late=True),
    *both("floors", "ScaleNotPowerOfTwo", whole=np.floor),
    *both("ceils", "ScaleNotPowerOfTwo", whole=np.ceil),
    box(MUL, "fused, by the reciprocal", "Overflow", value=fused),
    *both("fused, by the reciprocal, truncates and wraps", "RoundedRatio", value=fused, whole=np.trunc, clamp=low_bits),
    *both("casts to int32", "Overflow", before=to_int32),
    *both("in float16", "ScaleNotPowerOfTwo", value=lambda *of: stepwise(*of, kind=np.float16)),
    *both("no zero point of A", "ZeroPointEdge", points=lambda a, b, c: (0, b, c)),
    *both("no zero point of B", "ZeroPointEdge", points=lambda a, b, c: (a, 0, c)),
    *both("no zero point of C", "ZeroPointEdge", points=lambda a, b, c: (a, b, 0)),
    *both("zero points exchanged", "ZeroPointEdge", points=lambda a, b, c: (b, a, c)),
    *both("zero point of C subtracted", "ZeroPointEdge", points=lambda a, b, c: (a, b, -c)),
    *both("no scale of A", "ScaleNotPowerOfTwo", scales=lambda a, b, c: (Single(1), b, c)),
    *both("no scale of B", "ScaleNotPowerOfTwo", scales=lambda a, b, c: (a, Single(1), c)),
    *both("no scale of C", "ScaleNotPowerOfTwo", scales=lambda a, b, c: (a, b, Single(1))),
    *both("scale of A for both", "ScaleNotPowerOfTwo", scales=lambda a, b, c: (a, a, c)),
    *both("scale of B for both", "ScaleNotPowerOfTwo", scales=lambda a, b, c: (b, b, c)),
    *both("times the scale of C", "ScaleNotPowerOfTwo", scales=lambda a, b, c: (a, b, 1 / c)),
    *both("wraps", "Saturates", clamp=low_bits),
    *both("narrow range", "Saturates", clamp=lambda info, whole: np.clip(whole, info.min + 1, info.max)),
    *both("clamps before the zero point", "ClampOrder", late=True, before=saturated),
    box(ADD, "scales exchanged", "ScaleNotPowerOfTwo", scales=lambda a, b, c: (b, a, c)),
    box(ADD, "each operand rounded", "NearTie", value=each_rounded),
]
# Another order of the document's steps: no deviation.
OTHER_ORDERS = [
    *both("ratio rounded first", "RoundedRatio", value=by_ratio),
    box(ADD, "fused, by the reciprocal", "RoundedRatio", value=fused),
]
RIGHT = [
    *both("right, exact", ""),
    *both("right, in float32", "", value=stepwise),
    *both("right, in float64", "", value=lambda *of: stepwise(*of, kind=np.float64)),
    *both("right, ties away", "", whole=lambda v: np.copysign(np.floor(np.abs(v) + Wide(0.5)), v)),
    *both("right, the quotient rounded before the zero point is added", "", late=True),
    *both("right, the float32 quotient rounded before the zero point is added", "", late=True, value=stepwise),
]
