"""TensorFlow's Dequantize as black boxes compute it: what each combination of the facets of its mode gives.

These are predictions to compare with a backend, never truths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Semantics, codes
from tiebreak.conformance.semantics.places import flush_subnormals
from tiebreak.conformance.semantics.range_combined import (
    DOCUMENTED_COMBINED,
    CombinedCombination,
    combined,
    combined_candidates,
)
from tiebreak.conformance.semantics.range_first import (
    DOCUMENTED_FIRST,
    FirstCombination,
    first,
    first_candidates,
    precision_of_scale,
)
from tiebreak.conformance.semantics.range_scaled import (
    ScaledCombination,
    documented_scaled,
    scaled,
    scaled_candidates,
)
from tiebreak.conformance.semantics.range_steps import EMIN, STEPS_FLUSHED, STEPS_KEPT, CodesInRange
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

CANDIDATES: dict[str, Callable[[IntegerType, bool], Candidates]] = {
    "MIN_COMBINED": combined_candidates,
    "MIN_FIRST": first_candidates,
    "SCALED": scaled_candidates,
}


@dataclass
class RangeDequantizeArithmetic(FiniteOnly):
    """The arithmetic of a node with one range for all elements."""

    node: Node

    @cached_property
    def kind(self) -> IntegerType:
        return INTEGER_TYPES[self.node.input_type]

    @cached_property
    def mode(self) -> str:
        return str(self.node.value("mode"))

    @cached_property
    def narrow(self) -> bool:
        return bool(self.node.value("narrow_range"))

    @property
    def facets(self) -> tuple[Facet, ...]:
        return self.candidates.facets

    @property
    def documented(self) -> Semantics:
        of_scaled = documented_scaled(self.kind)
        return {"MIN_COMBINED": DOCUMENTED_COMBINED, "MIN_FIRST": DOCUMENTED_FIRST}.get(self.mode, of_scaled)

    @property
    def candidates(self) -> Candidates:
        return CANDIDATES[self.mode](self.kind, self.narrow)

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """No stage is known: sums of rounded products need not be monotone."""
        unknown = np.full(probe.x.shape, np.nan)
        for one in semantics:
            with np.errstate(all="ignore"):
                yield codes(self.result(probe, one)), unknown

    def result(self, probe: Probe, semantics: Semantics) -> Array:
        """Float32, of x's shape."""
        subnormals = semantics[-1]
        given = self.operands(probe, subnormals is STEPS_FLUSHED)
        found = np.broadcast_to(self.values(given, semantics), probe.x.shape).astype(np.float32)
        return found if subnormals is STEPS_KEPT else flush_subnormals(found, EMIN)

    def operands(self, probe: Probe, flushes: bool) -> CodesInRange:
        low, high = (np.asarray(end, np.float32) for end in probe.others)
        single = np.dtype(np.float32)
        return CodesInRange(probe.x.astype(np.int64), low, high, self.kind, self.narrow, single, flushes)

    def values(self, o: CodesInRange, semantics: Semantics) -> Array:
        if self.mode == "MIN_COMBINED":
            of_combined = CombinedCombination(*semantics)  # type: ignore[arg-type]
            return combined(replace(o, dtype=of_combined.precision.dtype), of_combined)
        if self.mode == "MIN_FIRST":
            of_first = FirstCombination(*semantics)  # type: ignore[arg-type]
            return first(replace(o, dtype=precision_of_scale(of_first)), of_first)
        of_scaled = ScaledCombination(*semantics)  # type: ignore[arg-type]
        narrow = bool(of_scaled.narrow_range.of(o.narrow))
        return scaled(replace(o, dtype=of_scaled.precision.dtype, narrow=narrow), of_scaled)

    def first_probes(self) -> Iterator[Probe]:
        random = np.random.default_rng(7)
        steps = float(self.kind.highest - self.kind.lowest)
        exact = [(first - 0.5, first + steps + more - 0.5) for first in (-1, -2, 3) for more in (0, 1)]
        tiny = [(low * LEAST, high * LEAST) for low, high in TINY]
        tiny += [(low * LEAST, (high * steps) * LEAST) for low, high in TINY]
        tiny += [(low * -self.kind.lowest * LEAST, high * self.kind.highest * LEAST) for low, high in SUBNORMAL_FACTORS]
        for low, high in (*RANGES, *exact, *tiny):
            yield self.probe(low, high, random)

    def further_probe(self, random: np.random.Generator) -> Probe:
        low, high = sorted(random.normal(size=2) * 2.0 ** random.integers(-3, 7))
        least = LEAST * (1 if random.integers(2) else self.kind.highest)
        scale = 1.0 if random.integers(4) else float(least / max(abs(low), abs(high)))
        return self.probe(float(low) * scale, float(high) * scale, random)

    def probe(self, low: float, high: float, random: np.random.Generator) -> Probe:
        """All codes of a narrow type; of a wide one those beside both ends and zero, and any of each size."""
        lowest, highest = self.kind.lowest, self.kind.highest
        if self.kind.bits <= 8:
            x = np.arange(lowest, highest + 1)
        else:
            powers = np.exp2(random.uniform(0, self.kind.bits, MANY)).astype(np.int64) * random.choice([-1, 1], MANY)
            near = np.arange(NEAR)
            x = np.clip(np.concatenate([powers, near, -near, lowest + near, highest - near]), lowest, highest)
            x = np.concatenate([x, random.integers(lowest, highest, MANY, endpoint=True)])
        others = tuple(np.array(end, np.float32) for end in (low, high))
        return Probe(np.unique(x).astype(self.node.inputs[0].dtype), others)


LEAST = 2.0**-126
MANY, NEAR = 150, 12
RANGES = (
    *((0.0, 255.0), (-12.8, 12.7), (-1.1, 2.3), (0.0, 0.7), (-3.3, 0.0), (-100.0, 77.7), (-0.5, 7.9), (-1.0, 1.0)),
    *((0.3, 5.1), (-9.7, -1.3), (-1.3, 2.7), (-7.7, 0.3)),
    *((0.0, 257.0), (-100.5, 156.5), (-130.25, 130.75)),  # width * range_adjust / 2^16 is not the width / 65535
)
TINY = ((0.0, 0.7), (-0.6, 1.3), (0.3, 1.7), (-1.9, 3.1), (-40.0, 3.3), (0.0, 200.7))  # in the least normal number
SUBNORMAL_FACTORS = ((-0.6, 0.7), (-0.3, 0.9), (-0.9, 0.4), (0.0, 0.5))  # of SCALED, in the same


def range_dequantize(node: Node) -> RangeDequantizeArithmetic:
    """The arithmetics that a node may have.

    InvalidInput for a bfloat16 result, whose last rounding hides the steps before, and for ranges along an axis.
    """
    if node.output_type != "float32":
        raise InvalidInput(f"{node.operator}: semantics are known of a float32 result, not of {node.output_type}")
    if node.attributes.get("axis", -1) != -1:
        raise InvalidInput(f"{node.operator}: semantics are known of one range, without an axis")
    return RangeDequantizeArithmetic(node)


ROLES: dict[str, dict[str, str]] = {
    "MIN_COMBINED": {"": "combined", "offset": "offset", "range_of_type": "range-of-T"},
    "MIN_FIRST": {"": "min-first", "precision": "double-steps", "scaling": "range-scale"},
    "SCALED": {"": "scaled", "narrow_range": "narrow"},
}


def role_of_range_dequantizer(node: Node, facet: str) -> str:
    """The role of the clause that a facet of a node is about."""
    mode: Any = node.value("mode")
    if (mode, facet) == ("SCALED", "scaling"):
        return "signed-factor" if INTEGER_TYPES[node.input_type].signed else "unsigned-factor"
    return ROLES[mode].get(facet, ROLES[mode][""])


def silence_of_offset(node: Node) -> str:
    kind = INTEGER_TYPES[node.input_type]
    is_open = node.value("mode") == "MIN_COMBINED" and kind.signed and kind.bits > 8
    return f"the document does not say what MIN_COMBINED adds to {kind.name}" if is_open else ""
