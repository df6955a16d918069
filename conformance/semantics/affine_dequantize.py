"""Dequantizers of integers as black boxes compute them: the order of the steps, and what becomes of subnormals.

    (x - zero_point) * scale

Scales are positive and finite. Zeros have no sign here: some compilers lose it, and no document names it. These are
predictions to compare with a backend, never truths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.factor_bits import in_32_bits
from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import ANYTHING, Candidates, Facet, Probe, Semantics, codes, valid_candidates
from tiebreak.conformance.semantics.places import flush_subnormals, fused_multiply_add
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


@dataclass(frozen=True)
class Dequantized:
    """What is multiplied: integers as int64, and the scale in the output's type. `step` flushes what a step gives."""

    x: Array
    zero_point: Array
    scale: Array
    step: Callable[[Array], Array]

    def number(self, whole: Array) -> Array:
        """An integer in the output's type."""
        return whole.astype(self.scale.dtype)


@dataclass(frozen=True, eq=False)
class OrderOfSteps:
    """`of` gives the result. `of_words`: it shows in int32 alone, where not every integer is a float32."""

    id: str
    sentence: str
    of: Callable[[Dequantized], Array]
    cause: str = ""
    of_words: bool = False


def difference_first(d: Dequantized) -> Array:
    return d.step(d.number(d.x - d.zero_point) * d.scale)


def in_words(d: Dequantized) -> Array:
    return d.step(d.number(in_32_bits(d.x - d.zero_point)) * d.scale)


def through_float(d: Dequantized) -> Array:
    """x as a real and back, where what int32 does not hold becomes its lowest; then the difference keeps 32 bits."""
    real = d.number(d.x).astype(np.float64)
    back = np.where(real >= 2.0**31, -(2.0**31), real).astype(np.int64)
    return d.step(d.number(in_32_bits(back - d.zero_point)) * d.scale)


def converted_first(d: Dequantized) -> Array:
    return d.step((d.number(d.x) - d.number(d.zero_point)) * d.scale)


def rounded_once(d: Dequantized) -> Array:
    """A difference of 33 bits times a scale of 24 may need more bits than float64 has: an extended float has 64."""
    product = (d.x - d.zero_point).astype(np.longdouble) * d.scale.astype(np.longdouble)
    return d.step(product.astype(d.scale.dtype))


def distributed(d: Dequantized) -> Array:
    first, second = (d.step(d.number(whole) * d.scale) for whole in (d.x, d.zero_point))
    return d.step(first - second)


def distributed_fused(d: Dequantized) -> Array:
    bias = d.step(d.number(d.zero_point) * d.scale)
    x, scale = np.broadcast_arrays(d.number(d.x), d.scale)
    return d.step(fused_multiply_add(x, scale, -bias.astype(np.float64), d.scale.dtype).astype(d.scale.dtype))


def by_reciprocal(d: Dequantized) -> Array:
    return d.step(d.number(d.x - d.zero_point) / d.step(d.scale.dtype.type(1) / d.scale))


ORDERS = (
    AS_WRITTEN := OrderOfSteps(
        "difference-first", "the exact difference, rounded to the output's type, times the scale", difference_first
    ),
    OrderOfSteps(
        "difference-in-int32",
        "the difference keeps 32 bits",
        in_words,
        "difference-wraps-in:int32",
        of_words=True,
    ),
    OrderOfSteps(
        "through-float32",
        "x is rounded to float32 and back to int32, whose lowest value stands for what it can't hold; the difference "
        "keeps 32 bits",
        through_float,
        f"x-in:float32{JOINT}difference-wraps-in:int32",
        of_words=True,
    ),
    OrderOfSteps(
        "converted-first",
        "x and zero_point are rounded to the output's type before they are subtracted",
        converted_first,
        "converts-before-subtracting",
        of_words=True,
    ),
    OrderOfSteps(
        "rounded-once",
        "the exact difference times the scale, rounded once",
        rounded_once,
        "difference-not-rounded",
        of_words=True,
    ),
    OrderOfSteps(
        "distributed", "x * scale less zero_point * scale, each step rounded", distributed, "distributes-scale"
    ),
    OrderOfSteps(
        "distributed-fused",
        "x * scale less the rounded zero_point * scale, in one rounding (fma)",
        distributed_fused,
        "distributes-scale-fused",
    ),
    OrderOfSteps("reciprocal", "the difference over the rounded 1 / scale", by_reciprocal, "divides-by-reciprocal"),
)


@dataclass(frozen=True, eq=False)
class SubnormalNumbers:
    """Whether a subnormal scale, and a subnormal result of a step, become 0."""

    id: str
    sentence: str
    of_scale: bool = False
    of_steps: bool = False
    cause: str = ""


SUBNORMALS = (
    KEPT := SubnormalNumbers("kept", "subnormal numbers are kept"),
    SubnormalNumbers("results-flushed", "subnormal results of steps become 0", of_steps=True, cause="flushes-outputs"),
    SubnormalNumbers(
        "scales-flushed", "a subnormal scale becomes 0", of_scale=True, of_steps=True, cause="flushes-scales"
    ),
)


class DequantizeCombination(NamedTuple):
    """One value of each facet."""

    position: OrderOfSteps
    subnormals: SubnormalNumbers


@lru_cache(maxsize=2)
def combinations_of(words: bool) -> Candidates:
    """Those of int32, or of narrower integers."""
    orders = tuple(one for one in ORDERS if words or not one.of_words)
    return valid_candidates((Facet("position", orders), Facet("subnormals", SUBNORMALS)), lambda semantics: True)


@dataclass
class DequantizeArithmetic(FiniteOnly):
    """The arithmetic of a node with one scale and one zero point."""

    node: Node

    @cached_property
    def kind(self) -> IntegerType:
        return INTEGER_TYPES[self.node.input_type]

    @property
    def facets(self) -> tuple[Facet, ...]:
        return self.candidates.facets

    @property
    def documented(self) -> DequantizeCombination:
        return DequantizeCombination(AS_WRITTEN, KEPT)

    @property
    def candidates(self) -> Candidates:
        return combinations_of(self.kind.bits == 32)

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """No stage is known: a scale that is distributed need not be monotone."""
        unknown = np.full(probe.x.shape, np.nan)
        zero = probe.x.astype(np.int64) == probe.others[1].astype(np.int64)
        for one in map(DequantizeCombination._make, semantics):
            with np.errstate(all="ignore"):
                found = codes(np.asarray(self.result(probe, one)))
            yield np.where(zero, ANYTHING, found), unknown

    def result(self, probe: Probe, one: DequantizeCombination) -> Array:
        scale, zero_point = probe.others
        emin = FLOAT_TYPES[self.node.output_type].emin

        def step(values: Array) -> Array:
            return flush_subnormals(values, emin) if one.subnormals.of_steps else values

        own = flush_subnormals(scale, emin) if one.subnormals.of_scale else scale
        return one.position.of(Dequantized(probe.x.astype(np.int64), zero_point.astype(np.int64), own, step))

    def first_probes(self) -> Iterator[Probe]:
        random = np.random.default_rng(7)
        emin = FLOAT_TYPES[self.node.output_type].emin
        tiny = [2.0 ** (emin + power) * random.uniform(1, 2) for power in TINY]
        for scale in (*SCALES, *tiny):
            for zero_point in self.zero_points(random):
                yield self.probe(scale, zero_point, random)

    def further_probe(self, random: np.random.Generator) -> Probe:
        power = random.integers(-12, 3) if random.integers(4) else FLOAT_TYPES[self.node.output_type].emin - 3
        scale = 2.0 ** float(power) * random.uniform(1, 2)
        return self.probe(scale, int(random.choice(self.zero_points(random))), random)

    def zero_points(self, random: np.random.Generator) -> list[int]:
        """0, both ends, a small one and any."""
        low, high = self.kind.lowest, self.kind.highest
        return [0, low, high, min(3, high), int(random.integers(low, high, endpoint=True))]

    def probe(self, scale: float, zero_point: int, random: np.random.Generator) -> Probe:
        """All codes of a narrow type; of a wide one those beside the zero point, both ends, and any of each size."""
        low, high = self.kind.lowest, self.kind.highest
        if self.kind.bits <= 8:
            x = np.arange(low, high + 1)
        else:
            powers = np.exp2(random.uniform(0, self.kind.bits, MANY)).astype(np.int64) * random.choice([-1, 1], MANY)
            beside = zero_point + np.concatenate([np.arange(-9, 10), powers])
            x = np.clip(np.concatenate([beside, powers, [low, low + 1, high - 1, high]]), low, high)
        first, *others = (one.dtype for one in self.node.inputs)
        values = (np.asarray(value).astype(kind) for value, kind in zip((scale, zero_point), others, strict=True))
        return Probe(np.unique(x).astype(first), tuple(values))


MANY = 200
SCALES = (0.1, 0.02, 1 / 3, 0.7, 3.7, 0.0235, 0.00392156862, 1.9999999, 0.5)
TINY = (-5, -3, -1, 0)  # powers beside the least exponent of a normal number


def affine_dequantize(node: Node) -> DequantizeArithmetic:
    """The arithmetics that a node may have.

    InvalidInput for floats of 8 bits and float64, for a node without a zero point, for parameters along an axis, and
    for integers of more than 8 bits that become 16-bit reals.
    """
    if node.input_type not in INTEGER_TYPES or node.output_type not in REALS:
        raise InvalidInput(f"{node.operator}: semantics are known of integers that become {', '.join(REALS)}")
    if len(node.inputs) < 3 or node.inputs[1].element != node.output_type:
        raise InvalidInput(f"{node.operator}: semantics are known of a zero point, and a scale of the output's type")
    if INTEGER_TYPES[node.input_type].bits > 8 and node.output_type != "float32":
        raise InvalidInput(f"{node.operator}: semantics are known of {node.input_type} that becomes float32")
    if any(node.attributes.get(name, -1) not in (-1, ()) for name in AXES):
        raise InvalidInput(f"{node.operator}: semantics are known of one scale, without an axis")
    return DequantizeArithmetic(node)


REALS = ("float32", "float16", "bfloat16")
AXES = ("axes", "quantization_axis", "quantization_dimension")


def role_of_dequantizer(node: Node, facet: str) -> str:
    """The role of the clause that a facet is about."""
    return "product"
