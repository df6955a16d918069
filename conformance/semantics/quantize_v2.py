"""TensorFlow's QuantizeV2 as black boxes compute it: the facets, and what each combination of them gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import cast

import numpy as np

from tiebreak.conformance.semantics import _steps
from tiebreak.conformance.semantics.model import (
    ANYTHING,
    OTHER,
    Candidates,
    Facet,
    Probe,
    Semantics,
    Value,
    sign_and_others,
    valid_candidates,
)
from tiebreak.conformance.semantics.precisions import FLOAT32
from tiebreak.conformance.semantics.quantize_probes import neighbours
from tiebreak.conformance.semantics.quantize_v2_facets import (
    DOCUMENTED_OFFSET,
    FACETS,
    FORMULAS,
    IN_ORDER,
    MAGNITUDE,
    RANGE_CLAMPED,
    SCALED,
    QuantizeV2Combination,
    RangeFormula,
    SpecialCode,
    Unrounded,
    UnscaledInRange,
    special_facets,
)
from tiebreak.conformance.semantics.round_modes import MODES, NEVER_NEGATIVE, RoundMode
from tiebreak.golden import kernel
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import UNDEFINED, Array
from tiebreak.golden.problems import problems_of

RANGES = ((-1.0, 1.0), (0.0, 255.0), (-12.8, 12.7), (-1.1, 2.3), (0.0, 0.7), (-3.3, 0.0), (-100.0, 77.7), (-0.5, 7.9))
ANY, FURTHER = 40, 384  # elements of a probe that are drawn at random; elements of a probe of the search


@dataclass
class QuantizeV2Arithmetic:
    """The arithmetic of a node with one range for all elements."""

    node: Node
    facets: tuple[Facet, ...] = FACETS
    seen: dict[str, list[SpecialCode]] = field(default_factory=dict)
    large: dict[tuple[bytes, ...], int] = field(default_factory=dict)  # codes of large inputs, by sign and range

    @cached_property
    def quantized(self) -> IntegerType:
        return self.node.quantized

    @property
    def documented(self) -> QuantizeV2Combination:
        mode = MODES[self.node.round_mode or "ROUND_NEAREST_TOWARD_INFINITY"]
        named = str(self.node.attributes.get("mode", get_operator(self.node.operator).attribute("mode").default))
        (formula,) = (one for one in FORMULAS if one.id == named)
        return QuantizeV2Combination(FLOAT32, formula, IN_ORDER, RANGE_CLAMPED, DOCUMENTED_OFFSET, mode)

    @property
    def specials(self) -> tuple[Facet, ...]:
        return special_facets(self.quantized)

    @property
    def candidates(self) -> Candidates:
        return valid_combinations(self.documented.formula, self.quantized.lowest)

    def completed(self, semantics: Semantics) -> Semantics:
        return semantics

    def first_probes(self) -> Iterator[Probe]:
        random = np.random.default_rng(7)
        steps = float(self.quantized.highest - self.quantized.lowest)
        lowest, highest = float(self.quantized.lowest), float(self.quantized.highest)
        exact = [(0.0, steps), (lowest, highest), (0.0, steps / 8)]  # quotients with ties
        exact += [(lowest * step, highest * step) for step in (3.0, 7.0, 49.0)]  # the factors are not exact
        exact += [(-highest * step, highest * step) for step in (3.0, 7.0)]
        exact += [(0.0, 33.0), (0.0, 35.0)]  # x * R / (max - min) has a tie where x / step has none
        for low, high in (*RANGES, *exact):
            for _ in range(2):
                yield self.probe(low, high, random)

    def further_probe(self, random: np.random.Generator) -> Probe:
        low, high = -np.abs(random.normal()), np.abs(random.normal()) + 0.02
        scale = 2.0 ** random.integers(-2, 7)
        if random.random() < 0.4:  # exact steps
            low, high = sorted((0.0, float(self.quantized.highest - self.quantized.lowest)))
            below = float(random.integers(0, int(high)))
            low, high = low - below, high - below
        return self.probe(float(low * scale), float(high * scale), random, FURTHER)

    def special_probes(self) -> Iterator[Probe]:
        """NaN, the infinities, and the largest numbers to compare them with."""
        largest = float(np.finfo(np.float32).max)
        for value in (np.nan, np.inf, -np.inf, largest, -largest):
            for low, high in RANGES[3:6]:
                yield with_range(np.array([value], np.float32), low, high)

    def probe(self, low: float, high: float, random: np.random.Generator, most: int = 0) -> Probe:
        """Numbers around ties and whole results of each formula, around and beyond the range's ends, and at random."""
        low, high = float(np.float32(low)), float(np.float32(high))
        steps = self.quantized.highest - self.quantized.lowest
        step = (high - low) / steps
        halves = np.concatenate([np.arange(12) / 2, steps - np.arange(12) / 2, random.integers(0, 2 * steps, ANY) / 2])
        first = round(low / step)
        sides = [abs(low / self.quantized.lowest) if self.quantized.lowest else 0.0, high / self.quantized.highest]
        targets = np.concatenate([low + halves * step, (halves + first) * step, (halves + first - 1) * max(sides)])
        near = neighbours(targets.astype(np.float32), (-2, -1, 0, 1, 2))
        ends = neighbours(np.array([low, high, 0.0], np.float32), (-2, -1, 0, 1, 2))
        far = np.array([-3e38, -1e4, 1e4, 3e38, low - step, high + step, low * 1.5, high * 1.5], np.float32)
        any_ = random.uniform(low - step, high + step, ANY).astype(np.float32)
        x = np.concatenate([near, ends, far, any_])
        if most and x.size > most:
            x = x[random.choice(x.size, most, replace=False)]
        return with_range(x[np.isfinite(x)], low, high)

    def special_of(self, probe: Probe) -> str:
        value = float(probe.x[0])
        if np.isfinite(value):
            return ""
        return "nan" if value != value else "positive_infinity" if value > 0 else "negative_infinity"

    def special_code(self, value: Value, probe: Probe) -> int:
        end = cast(SpecialCode, value)
        return end.value(self.quantized) if end.value else self.large.get(sign_and_others(probe), ANYTHING)

    def assume(self) -> None:
        """Nothing here depends on them."""

    def ignore_specials(self) -> None:
        """Nothing here depends on them."""

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        self.large = {sign_and_others(probe): code for probe, code in seen if not self.special_of(probe)}
        for facet in self.specials:
            own = [(probe, code) for probe, code in seen if self.special_of(probe) == facet.name]
            ends = (cast(SpecialCode, value) for value in facet.values)
            fits = [end for end in ends if all(code == self.special_code(end, probe) for probe, code in own)]
            self.seen[facet.name] = [end for end in fits if end.value] or fits  # a named value says more
        return self.seen

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        beyond = all(not float(p.others[0]) <= float(p.x[0]) <= float(p.others[1]) for p, _, _ in wrong)
        return "ends" if beyond else OTHER

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        return (codes for codes, _ in self.staged(probe, semantics))

    def stage_key(self, semantics: Semantics) -> Semantics:
        return semantics

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """The stage is the clamped result, which never falls as x grows, whatever the formula."""
        arguments: dict[Semantics, Unrounded] = {}
        for one in map(QuantizeV2Combination._make, semantics):
            if one.precision.is_exact:
                codes = self.exactly(probe, one.round_mode)
                yield codes, np.where(codes == ANYTHING, np.nan, codes)
                continue
            with np.errstate(all="ignore"):
                whole = self.stepwise(probe, one, arguments)
            yield _steps.clamped(whole, self.quantized.lowest, self.quantized.highest)

    def exactly(self, probe: Probe, mode: RoundMode) -> Array:
        """Codes from the reference kernel; ANYTHING where the document leaves the result open."""
        low, high = probe.others
        if low.size == high.size == 1:
            return self.exactly_in_range(probe.x, low.item(), high.item(), mode)
        low, high = (np.broadcast_to(end, probe.x.shape) for end in probe.others)
        found = np.full(probe.x.size, ANYTHING)
        for ends in {(float(a), float(b)) for a, b in zip(low, high, strict=True)}:
            where = np.flatnonzero((low == ends[0]) & (high == ends[1]))
            found[where] = self.exactly_in_range(probe.x[where], *ends, mode)
        return found

    def exactly_in_range(self, x: Array, low: float, high: float, mode: RoundMode) -> Array:
        problem = problems_of(with_range(x, low, high).case(self.node, 0))[0]
        codes, states = kernel.solve(problem, working=False, mode=mode.id)
        return np.where(states == UNDEFINED, ANYTHING, codes)

    def stepwise(self, probe: Probe, semantics: QuantizeV2Combination, arguments: dict[Semantics, Unrounded]) -> Array:
        """Rounded results (float64), not clamped to the type's range yet; `arguments` keeps what modes share."""
        precision, mode = semantics.precision, semantics.round_mode
        if semantics[:5] not in arguments:
            arguments[semantics[:5]] = self.argument(probe, semantics)
        argument, taken, added = arguments[semantics[:5]]
        whole = mode.round(argument, precision)
        if taken is not None:
            whole = whole - mode.round(taken, precision)
        return whole + added if added else whole

    def argument(self, probe: Probe, semantics: QuantizeV2Combination) -> Unrounded:
        precision, formula, scaling, ends, offset, _ = semantics
        x, low, high = (np.asarray(a).astype(precision.dtype) for a in (probe.x, *probe.others))
        unscaled = UnscaledInRange(x, low, high, precision.dtype, self.quantized, self.lowest)
        return formula.argument(unscaled, scaling, ends, offset)

    @property
    def lowest(self) -> int:
        """The lowest value that is used; with narrow_range not the type's."""
        return self.quantized.lowest + bool(self.node.attributes.get("narrow_range", False))


@lru_cache(maxsize=16)
def valid_combinations(documented: RangeFormula, lowest: int) -> Candidates:
    """Those for a documented formula and a type's lowest value."""
    return valid_candidates(FACETS, partial(is_valid, documented, lowest))


def is_valid(documented: RangeFormula, lowest: int, semantics: Semantics) -> bool:
    precision, formula, scaling, ends, offset, mode = QuantizeV2Combination._make(semantics)
    in_order = (formula, scaling, ends, offset) == (documented, IN_ORDER, RANGE_CLAMPED, DOCUMENTED_OFFSET)
    if precision.is_exact and (not in_order or mode.sum):
        return False
    if formula is not documented and not (documented is SCALED and formula is MAGNITUDE):
        return False  # another mode's formula fits small cases by chance
    if formula.scales:
        return offset.in_order and scaling.of_scaled
    if not scaling.of_others:
        return False
    if not formula.combines and not offset.in_order and not scaling.in_order:
        return False  # that is MIN_COMBINED
    if formula.combines and not offset.in_order and not lowest:
        return False
    counts = not offset.in_order or (formula.combines and not lowest)
    return not (counts and not precision.is_exact) or mode in NEVER_NEGATIVE


def with_range(x: Array, low: float, high: float) -> Probe:
    return Probe(np.ascontiguousarray(x), (np.array(low, np.float32), np.array(high, np.float32)))
