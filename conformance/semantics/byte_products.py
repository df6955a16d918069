"""Sums of products of bytes as black boxes compute them: the facets, and inputs that separate values.

    Y = sum((a - a_zero_point) * (b - b_zero_point))

onnx.MatMulInteger does it with rows and columns, onnx.ConvInteger with the channels of one pixel. All 259 terms of a
sum are the same, so that no order of additions matters: 258 of them never leave 24 bits if bytes are read as they are.
These are predictions to compare with a backend, never truths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import ANYTHING, Candidates, Facet, Probe, Semantics, valid_candidates
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import onnx_conv_integer
from tiebreak.golden.problem import Array

TERMS = 259  # 258 * 255 * 255 < 2^24 < 259 * 255 * 255
LOW, HIGH = -(1 << 15), (1 << 15) - 1  # of 16 bits


class Bytes(NamedTuple):
    """Operands and their zero points, int64; whether each operand has a sign."""

    a: Array
    b: Array
    a_zero_point: Array
    b_zero_point: Array
    signed: tuple[bool, bool]

    @property
    def product(self) -> Array:
        return np.asarray((self.a - self.a_zero_point) * (self.b - self.b_zero_point))


@dataclass(frozen=True, eq=False)
class ByteReading:
    """Which operands are read with the other sign."""

    id: str
    sentence: str
    others: tuple[bool, bool] = (False, False)
    cause: str = ""

    def of(self, found: Bytes) -> Bytes:
        a, b = (
            read_otherwise(values, signed) if other else values
            for values, signed, other in zip(found[:2], found.signed, self.others, strict=True)
        )
        return found._replace(a=a, b=b)


def read_otherwise(values: Array, signed: bool) -> Array:
    lowest = 0 if signed else -128
    return np.asarray(np.mod(values - lowest, 256) + lowest)


@dataclass(frozen=True, eq=False)
class BytePoints:
    """Which zero points are subtracted."""

    id: str
    sentence: str
    kept: tuple[int, int] = (1, 1)
    cause: str = ""

    def of(self, found: Bytes) -> Bytes:
        first, second = self.kept
        return found._replace(a_zero_point=found.a_zero_point * first, b_zero_point=found.b_zero_point * second)


@dataclass(frozen=True, eq=False)
class ByteSum:
    """How the terms of a sum are added: its value, int64, or ANYTHING where that depends on their order."""

    id: str
    sentence: str
    of: Callable[[Bytes], Array]
    cause: str = ""


def exact(found: Bytes) -> Array:
    return TERMS * found.product


def saturated_pairs(found: Bytes) -> Array:
    """Operands become an unsigned and a signed byte, as an instruction takes them; zero points come after."""
    raised, lowered = 128 * found.signed[0], 128 * (not found.signed[1])
    raw = (found.a + raised) * (found.b - lowered)
    pairs, rest = divmod(TERMS, 2)
    kept = pairs * np.clip(2 * raw, LOW, HIGH) + rest * np.clip(raw, LOW, HIGH)
    return np.asarray(exact(found) + kept - TERMS * raw)


def saturated(found: Bytes) -> Array:
    return np.clip(exact(found), LOW, HIGH)


def wrapped(found: Bytes) -> Array:
    return np.asarray(np.mod(exact(found) - LOW, 1 << 16) + LOW)


def in_float32(found: Bytes) -> Array:
    known = np.abs((TERMS - 1) * found.product) <= 1 << 24
    return np.where(known, exact(found).astype(np.float32).astype(np.int64), ANYTHING)


OWN_TYPES = ByteReading("own-types", "each operand is read as its own type")
READINGS = (
    OWN_TYPES,
    ByteReading(
        "first-as-other-sign",
        "the first operand is read with the other sign, its zero point is not",
        (True, False),
        "other-sign-of:the first operand",
    ),
    ByteReading(
        "second-as-other-sign",
        "the second operand is read with the other sign, its zero point is not",
        (False, True),
        "other-sign-of:the second operand",
    ),
    ByteReading(
        "both-as-other-sign",
        "both operands are read with the other sign, their zero points are not",
        (True, True),
        "other-sign-of:both operands",
    ),
)
BOTH_POINTS = BytePoints("both", "both zero points are subtracted")
POINTS = (
    BOTH_POINTS,
    BytePoints("second-alone", "the first zero point is ignored", (0, 1), "ignores:the first zero point"),
    BytePoints("first-alone", "the second zero point is ignored", (1, 0), "ignores:the second zero point"),
    BytePoints("none", "both zero points are ignored", (0, 0), "ignores:both zero points"),
)
EXACT_SUM = ByteSum("exact", "the sum is exact in 32 bits", exact)
PAIRS = ByteSum(
    "pairs-in-16-bits", "two neighbouring products are added in 16 bits, which saturate", saturated_pairs,
    "pairs-saturate-in-16-bits",
)  # fmt: skip
SUMS = (
    EXACT_SUM,
    PAIRS,
    ByteSum("16-bits-saturate", "the sum saturates in 16 bits", saturated, "sum-in-16-bits:saturates"),
    ByteSum("16-bits-wrap", "the sum wraps around in 16 bits", wrapped, "sum-in-16-bits:wraps around"),
    IN_FLOAT32 := ByteSum("float32", "each sum is rounded to float32", in_float32, "sum-of-products-in:float32"),
)


class ByteCombination(NamedTuple):
    """One value of each facet."""

    reading: ByteReading
    zero_point: BytePoints
    sum: ByteSum


FACETS = (Facet("reading", READINGS), Facet("zero_point", POINTS), Facet("sum", SUMS))
DOCUMENTED = ByteCombination(OWN_TYPES, BOTH_POINTS, EXACT_SUM)


def is_valid(semantics: Semantics) -> bool:
    """An instruction that adds pairs says how it reads operands. Without a zero point float32 holds most sums."""
    one = ByteCombination._make(semantics)
    if one.sum is IN_FLOAT32:
        return one.zero_point is BOTH_POINTS
    return one.sum is not PAIRS or one.reading is OWN_TYPES


CANDIDATES = valid_candidates(FACETS, is_valid)


@dataclass
class ByteProducts(FiniteOnly):
    """The arithmetic of a node. A probe's x is the first operand; b and both zero points are scalars."""

    node: Node

    @property
    def facets(self) -> tuple[Facet, ...]:
        return FACETS

    @property
    def documented(self) -> ByteCombination:
        return DOCUMENTED

    @property
    def candidates(self) -> Candidates:
        return CANDIDATES

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """No stage is known: every number of the first operand is compared."""
        signed = tuple(INTEGER_TYPES[one.element].signed for one in self.node.inputs[:2])
        a, b, first, second = (array.astype(np.int64) for array in (probe.x, *probe.others))
        found = Bytes(a, b, first, second, (signed[0], signed[1]))
        unknown = np.full(probe.x.shape, np.nan)
        for one in map(ByteCombination._make, semantics):
            yield one.sum.of(one.zero_point.of(one.reading.of(found))), unknown

    def first_probes(self) -> Iterator[Probe]:
        return iter(first_of(*(one.element for one in self.node.inputs[:2])))

    def further_probe(self, random: np.random.Generator) -> Probe:
        kinds = [INTEGER_TYPES[one.element] for one in self.node.inputs[:2]]
        return probe_of(kinds, [int(random.integers(kind.lowest, kind.highest + 1)) for kind in (kinds[1], *kinds)])


@cache
def first_of(first: str, second: str) -> tuple[Probe, ...]:
    """Every number of the first operand beside ends and small numbers of the second, and several zero points."""
    a, b = INTEGER_TYPES[first], INTEGER_TYPES[second]
    near = [point + 1 if point < b.highest else point - 1 for point in (b.lowest, b.highest, 0, 100)]
    settings = [(other, point, own) for own, one in zip((b.lowest, b.highest, 0, 100), near, strict=True)
                for other in (b.lowest, b.highest, one) for point in (a.lowest, a.highest, 3)]  # fmt: skip
    return tuple(probe_of([a, b], setting) for setting in settings)


def probe_of(kinds: Sequence[IntegerType], setting: Sequence[int]) -> Probe:
    """`setting` is b, a's zero point and b's."""
    a, b = kinds
    x = np.arange(a.lowest, a.highest + 1).astype(a.name)
    return Probe(x, tuple(np.array(value, kind.name) for value, kind in zip(setting, (b, a, b), strict=True)))


def as_rows(node: Node, probe: Probe) -> Probe:
    """Each first operand as a row of equal numbers beside a column of equal ones."""
    b, *points = probe.others
    return Probe(np.repeat(probe.x[:, np.newaxis], TERMS, axis=1), (np.full((TERMS, 1), b, b.dtype), *points))


def as_pixels(node: Node, probe: Probe) -> Probe:
    """Each first operand as an image of one pixel with as many equal channels."""
    rows = as_rows(node, probe)
    column, *points = rows.others
    return Probe(rows.x[:, :, np.newaxis, np.newaxis], (column.reshape(1, TERMS, 1, 1), *points))


def role_of_byte_products(node: Node, facet: str) -> str:
    """The role of the clause that a facet is about."""
    if facet == "reading":
        return "types"
    return "difference" if facet == "zero_point" and node.operator == onnx_conv_integer.ID else "sum"
