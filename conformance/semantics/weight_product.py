"""com.microsoft.MatMulNBits as black boxes compute it, one product at a time: what each combination gives.

    Y = A * ((code - zero_point) * scale)

A row has one number that is not zero, the first one, and Y has one column. Numbers and scales are ordinary, so that
nothing on the way is subnormal or overflows. These are predictions to compare with a backend, never truths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import ANYTHING, Candidates, Facet, Probe, Semantics, codes, valid_candidates
from tiebreak.conformance.semantics.weight_product_facets import (
    AS_IT_IS,
    AS_WRITTEN,
    EXACTLY,
    IN_SINGLE,
    INT8,
    KEPT_WEIGHT,
    NEAREST,
    PRECISIONS,
    SCALE_LAST,
    SCALES_FIRST,
    SINGLE,
    TWO_PRODUCTS,
    Parts,
    WeightProductCombination,
    facets_of,
)
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.microsoft_matmul_nbits import ID
from tiebreak.golden.packed_weights import packed
from tiebreak.golden.problem import Array

LEAST, GREATEST = 2.0**-4, 2.0**4  # of magnitudes of A that are asked: every step stays normal in float16
Weight = tuple[int, int, float]  # code, zero point, scale


@dataclass
class WeightProductArithmetic(FiniteOnly):
    """The arithmetic of a node with one column."""

    node: Node

    @property
    def facets(self) -> tuple[Facet, ...]:
        return self.candidates.facets

    @property
    def documented(self) -> WeightProductCombination:
        first, *_ = PRECISIONS[self.node.input_type]
        return WeightProductCombination(first, AS_IT_IS, AS_WRITTEN, KEPT_WEIGHT, NEAREST)

    @property
    def candidates(self) -> Candidates:
        return combinations_of(self.node.input_type)

    @property
    def bits(self) -> int:
        return int(self.node.value("bits"))

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """Steps in another order need not be monotone, so no stage is known."""
        size = np.abs(probe.x.astype(np.float64))
        asked = (size >= LEAST) & (size <= GREATEST)
        unknown = np.full(probe.x.shape, np.nan)
        for one in map(WeightProductCombination._make, semantics):
            with np.errstate(all="ignore"):
                yield np.where(asked, codes(self.product(probe, one)), ANYTHING), unknown

    def product(self, probe: Probe, one: WeightProductCombination) -> Array:
        dtype, number = one.precision.dtype, one.operand.of(probe.x)
        operands = (*number, *(probe.others[place] for place in (0, 2, 1)))
        parts = Parts(*(operand.astype(dtype) for operand in operands))
        total = one.position.of(parts, lambda weight: one.weight.of(weight).astype(dtype))
        return one.result.of(total).astype(self.node.outputs[0].dtype)

    def first_probes(self) -> Iterator[Probe]:
        return iter(first_of(self.node.input_type, self.bits))

    def made_probes(self) -> Iterator[Probe]:
        random = np.random.default_rng(7)
        for _ in range(FIRST):
            yield self.telling(random)
        if self.node.input_type == "float16":
            yield from self.rarely_apart(random)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return self.drawn(random)

    def telling(self, random: np.random.Generator) -> Probe:
        """A probe of those drawn numbers that tell most combinations apart, and of some others."""
        probe = self.drawn(random)
        table = np.stack([found for found, _ in self.staged(probe, self.candidates.all)])
        _, first, patterns = np.unique(table, axis=1, return_index=True, return_inverse=True)
        rare = first[np.argsort(np.bincount(patterns.reshape(-1)))][:SEEN]
        return probe.only(np.unique(np.concatenate([rare, random.integers(0, probe.x.size, SEEN // 2)])))

    def rarely_apart(self, random: np.random.Generator) -> Iterator[Probe]:
        """Weights at which combinations differ that mostly give one float16: few in a million numbers and scales."""
        every = (1 + np.arange(1024) / 1024).astype(np.float16)
        changed = every[dequantized_number(every) != every.astype(np.float32)]
        for code in RARE_CODES:
            for numbers, count in ((every, 96), (changed, 1024)):
                scales = random.permutation(every)[:count]
                x, scale = np.repeat(numbers, count), np.tile(scales, numbers.size)
                others = byte(code), scale, byte(0)
                first, *close = (self.product(Probe(x, others), one) for one in CLOSE)
                for found in close:
                    for place in np.flatnonzero(found != first)[:FEW]:
                        near = np.concatenate([x[place] * np.array([1, 2, -1], np.float16), every[::64]])
                        yield Probe(near, (others[0], scale[place].reshape(()), others[2]))

    def drawn(self, random: np.random.Generator) -> Probe:
        kind = self.node.inputs[0].dtype
        code, point = random.integers(0, 1 << self.bits, 2)
        scale = np.asarray(random.choice([random.uniform(0.1, 2), random.integers(1, 64) / 32])).astype(kind)
        near = np.concatenate([random.uniform(0.5, 4, POOL), random.integers(1, 256, POOL) / 64])
        signs = random.choice([-1.0, 1.0], near.size)
        x = np.unique((near * signs).astype(kind))
        kept = np.abs(x.astype(np.float64)) >= LEAST
        return Probe(np.ascontiguousarray(x[kept]), (byte(code), scale, byte(point)))


FIRST, SEEN, POOL = 60, 40, 500  # first probes, elements of them, and numbers of each sort that are drawn
RARE_CODES, FEW = (1, 3, 9, 11, 13, 15), 2  # weights of 4 bits, and elements at which two combinations differ
IN_SINGLES = WeightProductCombination(IN_SINGLE, AS_IT_IS, AS_WRITTEN, KEPT_WEIGHT, NEAREST)
CLOSE = (IN_SINGLES, IN_SINGLES._replace(precision=EXACTLY), IN_SINGLES._replace(operand=INT8))


def byte(value: int) -> Array:
    return np.asarray(value).astype(np.uint8)


def dequantized_number(numbers: Array) -> Array:
    code, scale = INT8.of(numbers)
    return np.asarray(code * scale)


@lru_cache(maxsize=8)
def first_of(kind: str, bits: int) -> tuple[Probe, ...]:
    """The first probes of all nodes with this type and these weights."""
    node = make_node(ID, real=kind, attributes={"K": 1, "N": 1, "block_size": 16, "bits": bits})
    return tuple(WeightProductArithmetic(node).made_probes())


@lru_cache(maxsize=4)
def combinations_of(kind: str) -> Candidates:
    return valid_candidates(facets_of(kind), lambda semantics: is_valid(kind, semantics))


def is_valid(kind: str, semantics: Semantics) -> bool:
    """Whether a combination makes sense and is no other one. Only steps in float32 lead to something narrower."""
    one = WeightProductCombination._make(semantics)
    plain = one.operand is AS_IT_IS and one.weight is KEPT_WEIGHT and one.result is NEAREST
    if one.precision is not IN_SINGLE:
        positions = (AS_WRITTEN,) if one.precision is EXACTLY else orders_without_scale(one)
        return plain and one.position in positions
    if one.operand.of_integers:
        return is_of_integers(kind, one)
    if one.position is AS_WRITTEN:
        return True
    ordered = one.weight is KEPT_WEIGHT and one.result is NEAREST and one.position is not SCALES_FIRST
    return kind == SINGLE and ordered  # products of 16-bit numbers are nearly exact in any order


def orders_without_scale(one: WeightProductCombination) -> tuple[object, ...]:
    return () if one.position is SCALES_FIRST else (one.position,)


def is_of_integers(kind: str, one: WeightProductCombination) -> bool:
    """127 times a bfloat16 number over 127, each rounded to float32, is that number."""
    orders = (AS_WRITTEN, SCALE_LAST, SCALES_FIRST, *((TWO_PRODUCTS,) if kind == SINGLE else ()))
    if kind == "bfloat16" and one.operand is INT8 and one.position is AS_WRITTEN:
        return False
    return one.position in orders and one.weight is KEPT_WEIGHT and one.result is NEAREST


def weight_product(node: Node) -> WeightProductArithmetic:
    """The arithmetics that a node may have. InvalidInput for several columns, and for weights of 2 bits."""
    if node.value("N") != 1:
        raise InvalidInput(f"{node.operator}: semantics are known of one column, with N 1")
    if node.value("bits") == 2:  # three differences round too rarely to tell all combinations apart
        raise InvalidInput(f"{node.operator}: semantics are known of weights of 4 and 8 bits")
    return WeightProductArithmetic(node)


def as_rows_of_one(node: Node, probe: Probe) -> Probe:
    """Each number first in a row of K, zeros behind it; the weight first in its column, codes of 0 behind it."""
    inner, size, bits = (int(node.value(name)) for name in ("K", "block_size", "bits"))
    blocks = -(-inner // size)
    a = np.zeros((probe.x.size, inner), probe.x.dtype)
    a[:, 0] = probe.x
    code, scale, point = (other.reshape(-1)[0] for other in probe.others)
    held = np.zeros((1, blocks * size), np.int64)
    held[0, 0] = code
    b = packed(held, bits).reshape(1, blocks, size * bits // 8)
    return Probe(a, (b, np.full((1, blocks), scale, scale.dtype), packed(np.full((1, blocks), point), bits)))


def role_of_weight_product(node: Node, facet: str) -> str:
    """The role of the clause that a facet is about."""
    level = {4: "integers", 2: "halves", 3: "halves"}.get(int(node.value("accuracy_level")), "level")
    return {"operand": level, "position": "weight", "weight": "weight"}.get(facet, "product")


def silence_of_level(node: Node) -> str:
    kinds = {2: "float16", 3: "bfloat16", 4: "int8"}
    kind = kinds.get(int(node.value("accuracy_level")))
    return f"the document lets A become {kind} with this accuracy_level, or leaves it as it is" if kind else ""
