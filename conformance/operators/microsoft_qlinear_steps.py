"""The steps of QLinearAdd and QLinearMul, the right ones unless others are given.

There are five: the zero points, the scales, the value with the output's zero point, its rounding, and the output. A
value is what the operators differ in: microsoft_qlinear_sums.py and microsoft_qlinear_products.py have theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tiebreak.conformance.semantics.places import fused_multiply_add
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

FAR = 2.0**62


@dataclass(frozen=True)
class ScaledPair:
    """Operands and zero points as int64, scales as float32; A and B of any shapes, the others scalars."""

    a: Array
    b: Array
    scales: tuple[Array, Array, Array]
    points: tuple[Array, Array, Array]

    @property
    def differences(self) -> tuple[Array, Array]:
        return self.a - self.points[0], self.b - self.points[1]


Three = tuple[Array, Array, Array]
Change = Callable[[Array], Array]
Value = Callable[[ScaledPair], Array]


def f32(values: Any) -> Array:
    """A value as float32, held in float64: sums and products of two such values round once when rounded again."""
    return np.asarray(np.asarray(values, np.float64).astype(np.float32).astype(np.float64))


def wide(values: Array) -> Array:
    return values.astype(np.longdouble)


def fma(x: Array, factor: Array, addend: Array) -> Array:
    """x * factor + addend of values that float32 holds, rounded once."""
    first, second, third = np.broadcast_arrays(x, factor, addend)
    added = np.ascontiguousarray(third, np.float64)
    return fused_multiply_add(first, second, added, np.dtype(np.float32)).astype(np.float64)


def saturated(node: Node, whole: Array) -> Array:
    kind = INTEGER_TYPES[node.output_type]
    return np.asarray(np.clip(whole, kind.lowest, kind.highest))


@dataclass(frozen=True)
class QLinearSteps:
    """Steps in order, the right ones unless given. With `zero_last` the zero point is added to the rounded quotient.

    `nan` takes the place of a value that is NaN, where a ratio of scales is infinite.
    """

    value: Value
    points: Callable[[Three], Three] = lambda points: points
    scales: Callable[[Three], Three] = lambda scales: scales
    difference: Callable[[Node, Array, Array], Array] | None = None
    whole: Change = np.rint
    zero_last: bool = False
    nan: float = 0.0
    out: Callable[[Node, Array], Array] = saturated

    def __call__(self, node: Node, *inputs: Array) -> tuple[Array, ...]:
        a, s_a, z_a, b, s_b, z_b, s_c, *rest = inputs
        z_a, z_b, z_c = (np.asarray(zero, np.int64) for zero in (z_a, z_b, *(rest or [np.zeros(())])))
        x, y, (z_a, z_b, z_c) = a.astype(np.int64), b.astype(np.int64), self.points((z_a, z_b, z_c))
        if self.difference is not None:
            x, y = self.difference(node, x, z_a), self.difference(node, y, z_b)
            z_a, z_b = 0 * z_a, 0 * z_b
        scales = self.scales((finite(s_a), finite(s_b), no_zero(finite(s_c))))
        last = z_c if self.zero_last else 0 * z_c
        with np.errstate(all="ignore"):
            value = self.value(ScaledPair(x, y, scales, (z_a, z_b, z_c - last)))
            whole = np.clip(self.whole(np.nan_to_num(value, nan=self.nan, posinf=FAR, neginf=-FAR)), -FAR, FAR)
            return (self.out(node, whole.astype(np.int64) + last).astype(node.outputs[0].dtype),)


def finite(scale: Array) -> Array:
    """The scale as float64, or 1 where results are open."""
    found = np.asarray(scale, np.float64)
    return np.where(np.isfinite(found), found, 1.0)


def no_zero(scale: Array) -> Array:
    """The output's scale, or 1 where it is 0: results are open."""
    return np.where(scale == 0, 1.0, scale)
