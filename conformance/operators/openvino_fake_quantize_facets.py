"""What an audit of `openvino.FakeQuantize` asks: the facets of its term, their combinations, and inputs to try.

Let low and high be the input's limits, first and last the output's, and n the number of levels less one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tiebreak.conformance.operators.openvino_fake_quantize_variants import (
    ALONE,
    FLUSHED,
    FLUSHED_STEPS,
    all_in,
    ends_of_steps,
    limits,
)
from tiebreak.conformance.semantics import fake_quantize_probes
from tiebreak.conformance.semantics.model import OTHER, Facet, Probe, Semantics, Value, codes
from tiebreak.conformance.semantics.precisions import FLOAT64, PRECISIONS, Precision
from tiebreak.conformance.semantics.round_modes import MODES, NEVER_NEGATIVE, RoundMode
from tiebreak.conformance.semantics.special_results import AS_LARGE, SpecialResult, SpecialResults
from tiebreak.conformance.semantics.term_arithmetic import TermArithmetic, TermChange
from tiebreak.conformance.variants.mutant import Mutant
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, Elementwise, array_of, codes_of


def known(id: str, cause: str, sentence: str) -> TermChange:
    """A mistake of the table."""
    return TermChange(id, sentence, ALONE[cause].mutant, cause)


def rebuilt(steps: int) -> Mutant:
    return limits(lambda k: (k.low, k.high, *ends_of_steps(k, steps)))


GIVEN = TermChange("as-given", "the limits are taken as they are")
NUDGED = "the input's limits are shifted so that 0 is a level, as TensorFlow's FakeQuant does"
EVENLY = "the same, but 0's place amid two levels goes to the even one, not up"
RANGES = (
    GIVEN,
    known("nudged", "nudges-range", NUDGED),
    known("nudged-to-even", "range:nudged, ties to even", EVENLY),
)
SELECTED = TermChange("selected", "x up to low gives first, x above high last, without arithmetic")
CLAMPED = known("clamped", "clamped-goes-through", "x is clamped to the limits and goes through the arithmetic")
SAME_FUSED = "the same, the product and the sum rounded once (fma)"
POSITIONS = (
    SPEC_POSITION := TermChange("divide-multiply", "(x - low) / (high - low) * n"),
    known("multiply-divide", "position:multiply, divide", "(x - low) * n / (high - low)"),
    known("step", "position:step", "(x - low) / ((high - low) / n)"),
    known("factor", "position:factor", "(x - low) * (n / (high - low))"),
    known("reciprocal-of-step", "position:reciprocal of step", "(x - low) * (1 / ((high - low) / n))"),
    FACTOR_AND_SHIFT := known(
        "factor-and-shift", "position:factor and shift", "x * f - low * f, with f = n / (high - low)"
    ),
    FUSED_POSITION := known("fused", "position:fused", SAME_FUSED),
)
KEPT = TermChange("kept", "subnormal numbers are numbers")
SUBNORMALS = (
    KEPT,
    TermChange("flushed", "subnormal inputs and results count as 0", FLUSHED, "flushes"),
    STEPS_FLUSHED := TermChange(
        "steps-flushed",
        "subnormal inputs and results of every step count as 0",
        FLUSHED_STEPS,
        "flushes-every-step",
    ),
)
GIVEN_OUTPUT = TermChange("as-given", "first and last are taken as they are")
OUTPUT_LIMITS = (
    GIVEN_OUTPUT,
    TermChange(
        "of-8-bits",
        "first and last become -z * s and (255 - z) * s, each step rounded, with "
        "s = (last - first) / 255 and z = -255 * first / (last - first)",
        rebuilt(255),
        "rebuilds-limits:8 bits",
    ),
    TermChange("of-4-bits", "the same with 15 for 255", rebuilt(15), "rebuilds-limits:4 bits"),
)
RESULTS = (
    SPEC_RESULT := TermChange("divide-multiply", "level / n * (last - first) + first"),
    known("multiply-divide", "result:multiply, divide", "level * (last - first) / n + first"),
    STEP_RESULT := known("step", "result:step", "level * ((last - first) / n) + first"),
    FUSED_RESULT := known("fused", "result:fused", SAME_FUSED),
)
IN_ADVANCE = (FACTOR_AND_SHIFT, FUSED_POSITION), (STEP_RESULT, FUSED_RESULT)  # compilers compute all factors so
FACETS = (
    Facet("precision", PRECISIONS),
    Facet("range", RANGES),
    Facet("ends", (SELECTED, CLAMPED)),
    Facet("position", POSITIONS),
    Facet("round_mode", NEVER_NEGATIVE),
    Facet("subnormals", SUBNORMALS),
    Facet("output_limits", OUTPUT_LIMITS),
    Facet("result", RESULTS),
)


ENDS = (
    SpecialResult("output-low", "output_low", lambda first, last: first),
    SpecialResult("output-high", "output_high", lambda first, last: last),
    SpecialResult("nan", "NaN", lambda first, last: np.nan),
    SpecialResult("zero", "0", lambda first, last: 0.0),
    AS_LARGE,
)
AS_LOWEST = SpecialResult("as-lowest-number", "what the most negative finite number gives", like=b"-")
SPECIALS = (
    Facet("nan", (*ENDS, AS_LOWEST)),
    Facet("positive_infinity", ENDS),
    Facet("negative_infinity", ENDS),
)


@dataclass
class FakeQuantizeArithmetic(SpecialResults, TermArithmetic):
    """The arithmetic of a node with scalar limits, where the input's lower limit is below its upper one."""

    order = ("result", "position", "round_mode", "ends", "output_limits", "range", "precision", "subnormals")

    @property
    def specials(self) -> tuple[Facet, ...]:
        return SPECIALS

    @property
    def tiny(self) -> int:
        return self.node.real.emin

    @property
    def documented(self) -> Semantics:
        """The document leaves ties open."""
        mode = MODES[self.node.modes[0]]
        return tuple(mode if isinstance(one, RoundMode) else one for one in self.written)

    def first_probes(self) -> Iterator[Probe]:
        return fake_quantize_probes.first_probes(self.node)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return fake_quantize_probes.further_probe(self.node, random)

    def special_probes(self) -> Iterator[Probe]:
        return fake_quantize_probes.special_probes(self.node)

    def mutant_of(self, value: Value) -> Mutant:
        return all_in(value.id) if isinstance(value, Precision) else super().mutant_of(value)

    def is_valid(self, semantics: Semantics) -> bool:
        precision, range_, ends, position, _, subnormals, output, result = semantics
        assert isinstance(precision, Precision)
        kind = precision.type
        if subnormals is not KEPT and (range_ is not GIVEN or kind.emin + 1 - kind.precision > self.tiny):
            return False  # in the latter case no value of this precision is subnormal in the input's type
        if subnormals is STEPS_FLUSHED and kind.emin != self.tiny:
            return False  # a wider precision has steps that are subnormal in the input's type only
        in_advance = position in IN_ADVANCE[0] and result in IN_ADVANCE[1]
        if output is not GIVEN_OUTPUT and not ((range_, ends, subnormals) == (GIVEN, CLAMPED, KEPT) and in_advance):
            return False
        if precision is FLOAT64 and (position is FUSED_POSITION or result is FUSED_RESULT):
            return False
        return super().is_valid(semantics)

    def ends(self, others: Sequence[Any]) -> Sequence[Any]:
        return others[2:4]

    def exactly(self, asked: Elementwise, semantics: Semantics) -> tuple[Array, Array]:
        """The document is silent on outputs that fall. What the expression gives is that for both with other signs."""
        *others, first, last = asked.operands
        falls = self.numbers(first) > self.numbers(last)
        rising = (codes_of(self.turned(end, falls)) for end in (first, last))
        found, stage = super().exactly(replace(asked, operands=(*others, *rising)), semantics)
        return codes(self.turned(found, falls)), stage

    def numbers(self, codes: Array) -> Array:
        return array_of(self.node.input_type, codes.shape, codes)

    def turned(self, codes: Array, falls: Array) -> Array:
        return np.where(falls, -self.numbers(codes), self.numbers(codes))

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        """The facet for what all have in common: subnormal steps of a range, or x beyond the limits."""
        if all(self.step(probe) < 2.0**self.tiny for probe, _, _ in wrong):
            return "subnormals"
        beyond = all(not float(p.others[0]) < float(p.x[0]) <= float(p.others[1]) for p, _, _ in wrong)
        return "ends" if beyond else OTHER

    def step(self, probe: Probe) -> float:
        """The distance between levels, of the input or of the output: the smaller one."""
        low, high, first, last = (float(limit) for limit in probe.others)
        return min(abs(high - low), abs(last - first)) / (int(self.node.attributes["levels"]) - 1)


def fake_quantize(node: Node) -> FakeQuantizeArithmetic:
    return FakeQuantizeArithmetic(node, FACETS)
