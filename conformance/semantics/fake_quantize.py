"""FakeQuantize as black boxes compute it: the facets, and what each combination of them gives.

Let low and high be the input's limits, first and last the output's, and n the number of levels less one. The document
says round((x - low) / (high - low) * n) / n * (last - first) + first. It does not say how ties are rounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import cast

import numpy as np

from tiebreak.conformance.semantics import fake_quantize_probes
from tiebreak.conformance.semantics.fake_quantize_facets import (
    CLAMPED,
    FACETS,
    GIVEN,
    GIVEN_OUTPUT,
    KEPT,
    SELECTED,
    SPEC_POSITION,
    SPEC_RESULT,
    SPECIALS,
    FakeQuantizeCombination,
    FakeSubnormals,
    Position,
    Range,
    RoundedStep,
    SpecialOutput,
)
from tiebreak.conformance.semantics.model import (
    ANYTHING,
    OTHER,
    Candidates,
    Facet,
    Probe,
    Semantics,
    Value,
    codes,
    sign_and_others,
    valid_candidates,
)
from tiebreak.conformance.semantics.precisions import FLOAT64, OF_TYPE, Precision
from tiebreak.conformance.semantics.round_modes import FLOOR, MODES, RoundMode
from tiebreak.golden import kernel
from tiebreak.golden.elements import FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of

LEVELS = np.finfo(np.float64).min, np.finfo(np.float64).max


@dataclass
class FakeQuantizeArithmetic:
    """The arithmetic of a node with scalar limits, where the input's lower limit is below its upper one."""

    node: Node
    facets: tuple[Facet, ...] = FACETS
    specials: tuple[Facet, ...] = SPECIALS
    seen: dict[str, list[SpecialOutput]] = field(default_factory=dict)
    large: dict[tuple[bytes, ...], int] = field(default_factory=dict)  # codes of large inputs, by sign and limits

    @property
    def documented(self) -> FakeQuantizeCombination:
        precision, mode = OF_TYPE[self.node.input_type], MODES[self.node.modes[0]]
        return FakeQuantizeCombination(precision, GIVEN, SELECTED, SPEC_POSITION, mode, KEPT, GIVEN_OUTPUT, SPEC_RESULT)

    def completed(self, semantics: Semantics) -> Semantics:
        return semantics

    @cached_property
    def n(self) -> int:
        return int(self.node.attributes["levels"]) - 1

    @property
    def candidates(self) -> Candidates:
        return valid_combinations(self.tiny)

    def first_probes(self) -> Iterator[Probe]:
        return fake_quantize_probes.first_probes(self.node)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return fake_quantize_probes.further_probe(self.node, random)

    def special_probes(self) -> Iterator[Probe]:
        return fake_quantize_probes.special_probes(self.node)

    def special_of(self, probe: Probe) -> str:
        value = float(probe.x[0])
        if np.isfinite(value):
            return ""  # a finite input, to compare infinities with
        return "nan" if value != value else "positive_infinity" if value > 0 else "negative_infinity"

    def special_code(self, value: Value, probe: Probe) -> int:
        end = cast(SpecialOutput, value)
        if end.value is None:
            sign, *limits = sign_and_others(probe)
            return self.large.get((end.like or sign, *limits), ANYTHING)
        found = np.asarray(end.value(*probe.others[2:4]))
        return int(codes(found.astype(self.node.outputs[0].dtype))[0])

    def assume(self) -> None:
        """Nothing here depends on them."""

    def ignore_specials(self) -> None:
        """Nothing here depends on them."""

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        self.large = {sign_and_others(probe): code for probe, code in seen if not self.special_of(probe)}
        for facet in self.specials:
            own = [(probe, code) for probe, code in seen if self.special_of(probe) == facet.name]
            ends = (cast(SpecialOutput, value) for value in facet.values)
            fits = [end for end in ends if all(code == self.special_code(end, probe) for probe, code in own)]
            self.seen[facet.name] = [end for end in fits if end.value] or fits  # these say more
        return self.seen

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        """The facet for what all have in common: subnormal steps of a range, or x beyond the limits."""
        if all(self.step(probe) < 2.0**self.tiny for probe, _, _ in wrong):
            return "subnormals"
        beyond = all(not float(p.others[0]) < float(p.x[0]) <= float(p.others[1]) for p, _, _ in wrong)
        return "ends" if beyond else OTHER

    def step(self, probe: Probe) -> float:
        """The distance between levels, of the input or of the output: the smaller one."""
        low, high, first, last = (float(limit) for limit in probe.others)
        return min(abs(high - low), abs(last - first)) / self.n

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        return (given for given, _ in self.staged(probe, semantics))

    def stage_key(self, semantics: Semantics) -> Semantics:
        precision, range_, _, position, mode, subnormals, *_ = FakeQuantizeCombination._make(semantics)
        return semantics if precision.is_exact else (precision, range_, position, mode, subnormals)

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """The stage is the level: between the limits it rises with x, and beyond them nothing changes.

        Semantics that agree on all that comes before rounding share the argument of round, and those that agree on the
        mode as well share the levels.
        """
        prepared: dict[Semantics, SharedSteps] = {}
        for one in map(FakeQuantizeCombination._make, semantics):
            if one.precision.is_exact:
                yield self.exactly(probe, one.round_mode)
                continue
            key = one.precision, one.range, one.subnormals
            with np.errstate(all="ignore"):
                if key not in prepared:
                    prepared[key] = SharedSteps(one.precision, *self.operands(probe, *key), self.n)
                steps = prepared[key]
                level, stage = steps.levels(one.position, one.round_mode)
                stored = steps.results(level, one).astype(self.node.outputs[0].dtype)
                yield codes(one.subnormals.flushed(stored, self.tiny)), stage

    def operands(
        self, probe: Probe, precision: Precision, range_: Range, subnormals: FakeSubnormals
    ) -> tuple[RoundedStep, list[Array]]:
        """x and the four limits in the working precision, flushed and nudged as the facets say, and what steps do."""
        step, given = subnormals.step_in(precision), (probe.x, *probe.others)
        flushed = (subnormals.flushed(np.asarray(a), self.tiny) for a in given)
        x, low, high, first, last = (a.astype(precision.dtype) for a in flushed)
        return step, [x, *range_.limits(step, low, high, step(np.asarray(self.n))), first, last]

    @property
    def tiny(self) -> int:
        return self.node.real.emin

    def exactly(self, probe: Probe, mode: RoundMode) -> tuple[Array, Array]:
        """Codes and stages from the reference kernel; the stage is the result itself, which goes from first to last.

        The document is silent on outputs that fall. What the expression gives for them is that for both limits with
        the other sign, with the other sign.
        """
        first, last = probe.others[2:]
        falls = first > last
        ends = (np.where(falls, -end, end) for end in (first, last))
        rising = replace(probe, others=(*probe.others[:2], *ends))
        (problem,) = problems_of(rising.case(self.node, 0))
        found, _ = kernel.solve(problem, working=False, mode=mode.id)
        stored = found.astype(np.uint64).astype(f"uint{self.node.real.bits}").view(self.node.outputs[0].dtype)
        stored = np.where(falls, -stored, stored)
        return codes(stored), stored.astype(np.float64) * np.sign(last.astype(np.float64) - first.astype(np.float64))


class SharedSteps:
    """What semantics share whose operands are the same: x and the four limits in the working precision."""

    def __init__(self, precision: Precision, step: RoundedStep, operands: Sequence[Array], n: int) -> None:
        self.x, self.low, self.high, self.first, self.last = operands
        self.precision, self.step, self.n = precision, step, step(np.asarray(n))
        self.below, self.above = self.x <= self.low, self.x > self.high
        self.inside = step(np.where(self.x < self.low, self.low, np.where(self.above, self.high, self.x)))
        self.whole_range = not (self.below.any() or self.above.any())
        self.positions: dict[Position, Array] = {}
        self.known: dict[tuple[Position, RoundMode], tuple[Array, Array]] = {}
        self.found: dict[Semantics, Array] = {}

    def levels(self, position: Position, mode: RoundMode) -> tuple[Array, Array]:
        """The level of each element in the working precision, and its stage."""
        if (position, mode) not in self.known:
            if position not in self.positions:
                where = position.of(self.step, self.inside, self.low, self.high, self.n)
                self.positions[position] = where.astype(np.float64)
            level = self.step(mode.round(self.positions[position], self.precision))
            self.known[position, mode] = level, self.stage(level)
        return self.known[position, mode]

    def stage(self, level: Array) -> Array:
        inner = np.clip(level.astype(np.float64), *LEVELS)  # an infinite level is still between the limits
        return inner if self.whole_range else np.where(self.below, -np.inf, np.where(self.above, np.inf, inner))

    def results(self, level: Array, semantics: FakeQuantizeCombination) -> Array:
        """What the levels of a position and a mode stand for, in the working precision."""
        limits, result = semantics.output_limits, semantics.result
        key = (semantics.position, semantics.round_mode, limits, result)
        if key not in self.found:
            rebuilt = limits.rebuilt(self.step, self.first, self.last)
            self.found[key] = result.of(self.step, level, *rebuilt, self.n)
        found = self.found[key]
        if semantics.ends.selects and not self.whole_range:
            found = np.where(self.below, self.first, np.where(self.above, self.last, found))
        return self.step(found)


@lru_cache(maxsize=8)
def valid_combinations(tiny: int) -> Candidates:
    """Those for inputs of which `tiny` is the smallest exponent of a normal number."""
    return valid_candidates(FACETS, partial(is_valid, tiny))


def is_valid(tiny: int, semantics: Semantics) -> bool:
    one = FakeQuantizeCombination._make(semantics)
    if one.subnormals.flushes and (one.precision.is_exact or one.range is not GIVEN):
        return False
    if one.subnormals.flushes and least_exponent(one.precision.type) > tiny:
        return False  # no value of this precision is subnormal in the input's type
    if one.subnormals.steps and one.precision.type.emin != tiny:
        return False  # a wider precision has steps that are subnormal in the input's type only
    if one.output_limits.steps and not (
        (one.range, one.ends, one.subnormals) == (GIVEN, CLAMPED, KEPT)
        and one.position.in_advance
        and one.result.in_advance
    ):
        return False  # compilers that rebuild the limits compute all factors in advance
    if one.precision.is_exact:
        documented = (one.range, one.ends, one.position, one.result) == (GIVEN, SELECTED, SPEC_POSITION, SPEC_RESULT)
        return documented and one.round_mode is not FLOOR
    return not (one.precision is FLOAT64 and (one.position.fused or one.result.fused))


def least_exponent(real: FloatType) -> int:
    """The exponent of the smallest positive number of a type."""
    return real.emin + 1 - real.precision
