"""Blocks of GGUF's Q8_0 and Q4_0 as black boxes bring them back: an element less its offset, times its block's scale.

In float32 every order of the steps is exact. So a table is about the offset, what becomes of the scale, and products
that are rounded to less than float32. These are predictions to compare with a backend, never truths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import ml_dtypes
import numpy as np

from tiebreak.conformance.semantics.dynamic_scale import StepRule
from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Semantics, codes, valid_candidates
from tiebreak.conformance.semantics.places import as_array, flush_subnormals
from tiebreak.conformance.semantics.precisions import BFLOAT16, FLOAT16, Precision
from tiebreak.conformance.semantics.stages import Inputs, Run, Stage, stand_in
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.gguf_dequantize import BLOCK, OFFSETS
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.gguf_dequantize import scale_beside

OUTPUT = "y"
HALF = np.dtype(np.float16)
LEAST_EXPONENT = FLOAT_TYPES["float16"].emin

EXACT_PRODUCT = Precision("float32", "no step is rounded: float32 holds each result", "")
PRODUCTS = (
    EXACT_PRODUCT,
    Precision("float16", "every step is rounded to float16", "product-in:float16"),
    Precision("bfloat16", "every step is rounded to bfloat16", "product-in:bfloat16"),
)
TYPES = {"float32": np.dtype(np.float32), "float16": FLOAT16.dtype, "bfloat16": BFLOAT16.dtype}


@dataclass(frozen=True, eq=False)
class ElementOffset:
    """What is subtracted from an element."""

    id: str
    sentence: str
    offset: float
    cause: str = ""


BYTE_OFFSETS = (ElementOffset("0", "nothing is subtracted", 0),)
NIBBLE_OFFSETS = (
    ElementOffset("8", "8 is subtracted", OFFSETS["uint4"]),
    ElementOffset("7.5", "7.5 is subtracted", 7.5, "subtracts-seven-and-a-half"),
    ElementOffset("0", "nothing is subtracted", 0, "ignores-zero-point"),
)


def flushed_half(scale: Array) -> Array:
    return flush_subnormals(scale, LEAST_EXPONENT)


def through_bfloat16(scale: Array) -> Array:
    return as_array(scale.astype(ml_dtypes.bfloat16))


SCALES = (
    SCALE_KEPT := StepRule("kept", "the scale is taken as it is", as_array),
    StepRule("scales-flushed", "a subnormal scale becomes 0", flushed_half, "flushes-scales"),
    StepRule("without-sign", "the magnitude of the scale is taken", np.abs, "scale-without-sign"),
    SCALE_ROUNDED := StepRule("bfloat16", "the scale is rounded to bfloat16", through_bfloat16, "scale-in:bfloat16"),
)


class GgufOperands(NamedTuple):
    """Elements, their offset and their scale in the type of the steps."""

    x: Array
    offset: Array
    scale: Array


POSITIONS = (
    DIFFERENCE_FIRST := StepRule(
        "difference-first", "(element - offset) * scale", lambda b: (b.x - b.offset) * b.scale
    ),
    StepRule(
        "distributed", "element * scale - offset * scale", lambda b: b.x * b.scale - b.offset * b.scale,
        "distributes-scale",
    ),
)  # fmt: skip


class BlockCombination(NamedTuple):
    """One value of each facet."""

    offset: ElementOffset
    scale: StepRule
    precision: Precision
    position: StepRule


@lru_cache(maxsize=4)
def block_candidates(kind: str) -> Candidates:
    facets = (
        Facet("offset", NIBBLE_OFFSETS if OFFSETS[kind] else BYTE_OFFSETS),
        Facet("scale", SCALES),
        Facet("precision", PRODUCTS),
        Facet("position", POSITIONS if OFFSETS[kind] else POSITIONS[:1]),
    )
    return valid_candidates(facets, is_block_valid)


def is_block_valid(semantics: Semantics) -> bool:
    """In float32, and without an offset, both orders give one result; float16 holds products of a bfloat16 scale."""
    one = BlockCombination._make(semantics)
    if one.precision is not EXACT_PRODUCT and one.scale is SCALE_ROUNDED:
        return False
    return one.position is DIFFERENCE_FIRST or (one.precision is not EXACT_PRODUCT and one.offset.offset != 0)


@dataclass
class BlockDequantizeArithmetic(FiniteOnly):
    """The arithmetic of a node, at one scale."""

    node: Node

    @property
    def facets(self) -> tuple[Facet, ...]:
        return self.candidates.facets

    @property
    def candidates(self) -> Candidates:
        return block_candidates(self.node.input_type)

    @property
    def documented(self) -> BlockCombination:
        (offset, *_), *_ = (facet.values for facet in self.facets)
        assert isinstance(offset, ElementOffset)
        return BlockCombination(offset, SCALE_KEPT, EXACT_PRODUCT, DIFFERENCE_FIRST)

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """No stage is known: a negative scale lets results fall."""
        unknown = np.full(probe.x.shape, np.nan)
        for one in map(BlockCombination._make, semantics):
            with np.errstate(all="ignore"):
                yield codes(self.result(probe, one)), unknown

    def result(self, probe: Probe, one: BlockCombination) -> Array:
        return number_of(probe.x, probe.others[0], one)

    def first_probes(self) -> Iterator[Probe]:
        for scale in SETTINGS:
            yield self.probe(scale)

    def further_probe(self, random: np.random.Generator) -> Probe:
        power = random.integers(-24, 6)
        return self.probe(float(random.choice([-1.0, 1.0]) * random.uniform(1, 2) * 2.0**power))

    def probe(self, scale: float) -> Probe:
        """All elements of the type."""
        kind = INTEGER_TYPES[self.node.input_type]
        x = np.arange(kind.lowest, kind.highest + 1).astype(self.node.inputs[0].dtype)
        return Probe(x, (np.array(scale, HALF),))


def number_of(x: Array, scale: Array, one: BlockCombination) -> Array:
    """The result (float32) of elements and their scale."""
    kind = TYPES[one.precision.id]
    operands = GgufOperands(
        x.astype(kind), np.asarray(one.offset.offset).astype(kind), as_array(one.scale.of(scale)).astype(kind)
    )
    return as_array(one.position.of(operands)).astype(np.float32)


TINY = 2.0**LEAST_EXPONENT  # the least normal float16
SETTINGS = (1.0, 0.1, -0.1, 0.0235, -3.7, 1.9990, 1 / 3, 100.7, -0.007, 0.71 * TINY, -0.3 * TINY, 1.37 * TINY, 255.9)


def gguf_dequantize_stages(node: Node, run: Run) -> Iterator[Stage]:
    """The one stage of a node: its elements, each in a block with others, whose scale is the probe's."""

    def calls(probe: Probe) -> list[Inputs]:
        return [every_second_block(probe.x, np.asarray(probe.others[0]).reshape(()))]

    def ask(probes: Sequence[Probe]) -> list[Array | None]:
        answers = run([calls(probe)[0] for probe in probes])
        sizes = [probe.x.size for probe in probes]
        return [
            None if one is None else codes(one[0].reshape(-1, 2, BLOCK)[:, 1])[:size]
            for one, size in zip(answers, sizes, strict=True)
        ]

    operands = tuple((one.name, one.dtype) for one in node.inputs)
    table = stand_in(node, operands, (OUTPUT, node.outputs[0].dtype))
    yield Stage(OUTPUT, BlockDequantizeArithmetic(table), ask, calls, elementwise=True)


def every_second_block(x: Array, scale: Array) -> Inputs:
    """One row: elements in every second block, with the scale; a block of 0 before each has another scale."""
    count = max(1, -(-x.size // BLOCK))
    elements = np.zeros((count, BLOCK), x.dtype)
    elements.reshape(-1)[: x.size] = x
    row = np.stack([np.zeros_like(elements), elements], axis=1).reshape(1, -1)
    beside = np.array(scale_beside(int(scale.view(np.uint16))), np.uint16).view(HALF)
    return row, np.tile(np.array([beside, scale], HALF), count).reshape(1, -1)
