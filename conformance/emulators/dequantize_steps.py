"""The steps of (x - zero_point) * scale, as the values of an audit's facets say them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tiebreak.conformance.emulators.steps import (
    NAMES,
    Computed,
    cast,
    constant,
    double,
    flushed,
    fused,
    given,
    modulus,
    named,
    number_of,
    step,
    where,
)
from tiebreak.conformance.semantics.affine_dequantize import DequantizeArithmetic, DequantizeCombination
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.golden.elements import FLOAT_TYPES

WORD = 2.0**31


@dataclass
class Product:
    """What is multiplied: integers as float64, and the scale in the output's type; `step` flushes what a step gives."""

    x: Computed
    zero_point: Computed
    scale: Computed
    flushes: bool

    def step(self, name: str, value: Computed) -> Computed:
        return named(name, flushed(value, FLOAT_TYPES[self.scale.type].emin) if self.flushes else value)

    def number(self, whole: Computed) -> Computed:
        return number_of(whole, self.scale.type)


def dequantize_steps(arithmetic: DequantizeArithmetic, semantics: Semantics) -> Computed:
    """The result in the output's type; scales are positive and finite."""
    c, kinds = DequantizeCombination._make(semantics), [tensor.element for tensor in arithmetic.node.inputs]
    x, scale, zero_point = (given(name, kind) for name, kind in zip(NAMES, kinds, strict=True))
    if c.subnormals.of_scale:
        scale = named("flushed_scale", flushed(scale, FLOAT_TYPES[scale.type].emin))
    product = Product(named("v", double(x)), named("z", double(zero_point)), scale, c.subnormals.of_steps)
    return ORDERS[c.position.id](product)


def in_word(value: Computed) -> Computed:
    """The low 32 bits, with a sign."""
    return modulus(value + constant(WORD), 2 * WORD) - constant(WORD)


def difference_first(p: Product) -> Computed:
    return p.step("y", p.number(p.x - p.zero_point) * p.scale)


def in_words(p: Product) -> Computed:
    return p.step("y", p.number(in_word(p.x - p.zero_point)) * p.scale)


def through_float(p: Product) -> Computed:
    real = named("real", double(p.number(p.x)))
    back = where(real >= constant(WORD), constant(-WORD), real)
    return p.step("y", p.number(in_word(back - p.zero_point)) * p.scale)


def converted_first(p: Product) -> Computed:
    return p.step("y", (p.number(p.x) - p.number(p.zero_point)) * p.scale)


def rounded_once(p: Product) -> Computed:
    """The difference has up to 33 bits: the product of its high bits, and that of its low 16, are exact in float64."""
    difference = named("difference", p.x - p.zero_point)
    low = named("low", modulus(difference, 2.0**16))
    scale = named("s", double(p.scale))
    total = step("odd_sum", (difference - low) * scale, low * scale)
    return p.step("y", cast(p.scale.type, total))


def distributed(p: Product) -> Computed:
    first = p.step("scaled_x", p.number(p.x) * p.scale)
    return p.step("y", first - p.step("scaled_zero_point", p.number(p.zero_point) * p.scale))


def distributed_fused(p: Product) -> Computed:
    bias = p.step("bias", p.number(p.zero_point) * p.scale)
    return p.step("y", fused(p.number(p.x), p.scale, step("negative", bias), p.scale.type))


def by_reciprocal(p: Product) -> Computed:
    reciprocal = p.step("reciprocal", constant(1, p.scale.type) / p.scale)
    return p.step("y", p.number(p.x - p.zero_point) / reciprocal)


ORDERS: Mapping[str, Callable[[Product], Computed]] = {
    "difference-first": difference_first,
    "difference-in-int32": in_words,
    "through-float32": through_float,
    "converted-first": converted_first,
    "rounded-once": rounded_once,
    "distributed": distributed,
    "distributed-fused": distributed_fused,
    "reciprocal": by_reciprocal,
}
