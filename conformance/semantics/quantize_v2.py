"""TensorFlow's QuantizeV2 as black boxes compute it: the facets, and what each combination of them gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from tiebreak.conformance.semantics import _steps
from tiebreak.conformance.semantics.model import (
    ANYTHING,
    OTHER,
    Candidates,
    Facet,
    Probe,
    Semantics,
    sign_and_others,
    valid_candidates,
)
from tiebreak.conformance.semantics.places import AWAY, FLOOR, NEVER_NEGATIVE, TRUNCATE, WORDS, as_type, rounded
from tiebreak.conformance.semantics.quantize_probes import neighbours
from tiebreak.golden import kernel
from tiebreak.golden.elements import IntegerType, numpy_dtype
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import UNDEFINED, Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import ROUND_MODES

DOCUMENTED, MAGNITUDE = "as documented", "SCALED by magnitude"
RECIPROCAL, INVERSE = "reciprocal of step", "one over the factor"
FACETS = (
    Facet(
        "precision",
        {
            "exact": "nothing is rounded but the result",
            "float64": "every step is rounded to float64",
            "float32": "every step is rounded to float32",
        },
    ),
    Facet(
        "formula",
        {
            "MIN_COMBINED": "(x - min) * R / (max - min), R being the highest value less the lowest",
            "MIN_FIRST": "round(x * s) - round(min * s) + lowest",
            "SCALED": "round(x * s), s the smaller of the type's ends over the range's, of each side that has both",
            MAGNITUDE: "round(x * s), s the type's highest value over the greater magnitude of the range's ends",
        },
    ),
    Facet(
        "scaling",
        {
            DOCUMENTED: "in the document's order",
            "factor": "times R / (max - min), computed first; of MIN_FIRST without its range_adjust",
            "step": "divided by (max - min) / R, of SCALED by the side's end / the type's",
            RECIPROCAL: "times 1 / the step, which is rounded",
            INVERSE: "of SCALED divided by 1 / the factor, which is rounded",
        },
    ),
    Facet(
        "ends",
        {
            "range clamped": "x is clamped to the range first",
            "result clamped": "only the result is clamped, to the type",
        },
    ),
    Facet(
        "offset",
        {
            DOCUMENTED: "MIN_COMBINED takes 128 of an int8 before rounding; MIN_FIRST rounds min apart",
            "on the other side": "MIN_COMBINED takes it after rounding; MIN_FIRST takes min from x first",
        },
    ),
    Facet("round_mode", {mode: WORDS[mode] for mode in (*ROUND_MODES, FLOOR, TRUNCATE, AWAY)}),
)
LARGE = "as large numbers"
ENDS = {
    "lowest": "the type's lowest value",
    "highest": "the type's highest value",
    "zero": "0",
    LARGE: "what the largest finite number of that sign gives",
}
SPECIALS = ("nan", "positive_infinity", "negative_infinity")
RANGES = ((-1.0, 1.0), (0.0, 255.0), (-12.8, 12.7), (-1.1, 2.3), (0.0, 0.7), (-3.3, 0.0), (-100.0, 77.7), (-0.5, 7.9))
ANY, FURTHER = 40, 384  # elements of a probe that are drawn at random; elements of a probe of the search


class Unrounded(NamedTuple):
    """What is rounded, in the working precision; another number whose rounded value is taken off; what is added."""

    value: Array
    taken: Array | None = None
    added: int = 0


@dataclass
class QuantizeV2Arithmetic:
    """The arithmetic of a node with one range for all elements."""

    node: Node
    facets: tuple[Facet, ...] = FACETS
    seen: dict[str, list[str]] = field(default_factory=dict)
    large: dict[tuple[bytes, ...], int] = field(default_factory=dict)  # codes of large inputs, by sign and range

    @cached_property
    def quantized(self) -> IntegerType:
        return self.node.quantized

    @property
    def documented(self) -> Semantics:
        mode = self.node.round_mode or "ROUND_NEAREST_TOWARD_INFINITY"
        default = get_operator(self.node.operator).attribute("mode").default
        return "float32", str(self.node.attributes.get("mode", default)), DOCUMENTED, "range clamped", DOCUMENTED, mode

    @property
    def specials(self) -> tuple[Facet, ...]:
        """Where the type's range begins with 0, "zero" and "lowest" coincide: only "lowest" is kept."""
        values = {v: text for v, text in ENDS.items() if self.quantized.lowest or v != "zero"}
        return tuple(Facet(name, values) for name in SPECIALS)

    @property
    def candidates(self) -> Candidates:
        return valid_combinations(self.documented[1:5], self.quantized.lowest)

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

    def special_code(self, value: str, probe: Probe) -> int:
        if value == LARGE:
            return self.large.get(sign_and_others(probe), ANYTHING)
        return {"lowest": self.quantized.lowest, "highest": self.quantized.highest, "zero": 0}[value]

    def assume(self) -> None:
        """Nothing here depends on them."""

    def ignore_specials(self) -> None:
        """Nothing here depends on them."""

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> dict[str, list[str]]:
        self.large = {sign_and_others(probe): code for probe, code in seen if not self.special_of(probe)}
        for facet in self.specials:
            own = [(probe, code) for probe, code in seen if self.special_of(probe) == facet.name]
            fits = [v for v in facet.values if all(code == self.special_code(v, probe) for probe, code in own)]
            self.seen[facet.name] = [v for v in fits if v != LARGE] or fits  # a named value says more
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
        for one in semantics:
            if one[0] == "exact":
                codes = self.exactly(probe, one[5])
                yield codes, np.where(codes == ANYTHING, np.nan, codes)
                continue
            with np.errstate(all="ignore"):
                whole = self.stepwise(probe, one, arguments)
            yield _steps.clamped(whole, self.quantized.lowest, self.quantized.highest)

    def exactly(self, probe: Probe, mode: str) -> Array:
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

    def exactly_in_range(self, x: Array, low: float, high: float, mode: str) -> Array:
        problem = problems_of(with_range(x, low, high).case(self.node, 0))[0]
        codes, states = kernel.solve(problem, working=False, mode=mode)
        return np.where(states == UNDEFINED, ANYTHING, codes)

    def stepwise(self, probe: Probe, semantics: Semantics, arguments: dict[Semantics, Unrounded]) -> Array:
        """Rounded results (float64), not clamped to the type's range yet; `arguments` keeps what modes share."""
        precision, mode = semantics[0], semantics[5]
        if semantics[:5] not in arguments:
            arguments[semantics[:5]] = self.argument(probe, semantics)
        argument, taken, added = arguments[semantics[:5]]
        whole = rounded(argument, mode, precision)
        if taken is not None:
            whole = whole - rounded(taken, mode, precision)
        return whole + added if added else whole

    def argument(self, probe: Probe, semantics: Semantics) -> Unrounded:
        precision, formula, scaling, ends, offset, _ = semantics
        dtype = numpy_dtype(precision)
        x, low, high = (np.asarray(a).astype(dtype) for a in (probe.x, *probe.others))
        if ends == "range clamped" and not formula.startswith("SCALED"):
            x = as_type(np.where(x < low, low, np.where(x > high, high, x)), dtype)
        if formula.startswith("SCALED"):
            return Unrounded(self.scaled(x, low, high, semantics, dtype))
        if formula == "MIN_COMBINED":
            return self.combined(self.counted(x, low, high, scaling, dtype), offset, dtype)
        return self.first(x, low, high, scaling, offset, dtype)

    def counted(self, x: Array, low: Array, high: Array, scaling: str, dtype: np.dtype[Any]) -> Array:
        """The number of steps from the lower end of the range, not rounded to an integer yet."""
        steps = np.asarray(self.quantized.highest - self.quantized.lowest).astype(dtype)
        offset, width = as_type(x - low, dtype), as_type(high - low, dtype)
        if scaling == DOCUMENTED:
            return np.asarray(as_type(as_type(offset * steps, dtype) / width, dtype))
        if scaling == "factor":
            return np.asarray(as_type(offset * as_type(steps / width, dtype), dtype))
        return by_step(offset, as_type(width / steps, dtype), scaling, dtype)

    def combined(self, counted: Array, offset: str, dtype: np.dtype[Any]) -> Unrounded:
        if not self.quantized.lowest:
            return Unrounded(counted)
        middle = np.asarray(-self.quantized.lowest).astype(dtype)
        if offset == DOCUMENTED:
            return Unrounded(as_type(counted - middle, dtype))
        return Unrounded(counted, added=self.quantized.lowest)

    def first(self, x: Array, low: Array, high: Array, scaling: str, offset: str, dtype: np.dtype[Any]) -> Unrounded:
        count = 2.0**self.quantized.bits
        width = as_type(high - low, dtype)
        adjust = np.asarray(count / (count - 1)).astype(dtype)
        factor = as_type(np.asarray(count).astype(dtype) / as_type(width * adjust, dtype), dtype)
        steps = np.asarray(count - 1).astype(dtype)
        if scaling == "factor":
            factor = as_type(steps / width, dtype)
        step = as_type(width / steps, dtype)

        def times(value: Array) -> Array:
            if scaling in ("step", RECIPROCAL):
                return by_step(value, step, scaling, dtype)
            return np.asarray(as_type(value * factor, dtype))

        if offset == DOCUMENTED:
            return Unrounded(times(x), times(low), self.quantized.lowest)
        return Unrounded(times(as_type(x - low, dtype)), added=self.quantized.lowest)

    def scaled(self, x: Array, low: Array, high: Array, semantics: Semantics, dtype: np.dtype[Any]) -> Array:
        _, formula, scaling, ends, *_ = semantics
        least, greatest = (np.asarray(end).astype(dtype) for end in (self.lowest, self.quantized.highest))
        sides = [np.where(end * side > 0, end / side, np.inf) for end, side in ((least, low), (greatest, high))]
        factor = np.minimum(*sides).astype(dtype)
        if formula == MAGNITUDE:
            factor = (greatest / np.maximum(np.abs(low), np.abs(high))).astype(dtype)
        factor = np.where(np.isinf(factor), dtype.type(np.nan), factor)  # neither side counts
        steps = [np.where(end * side > 0, side / end, -np.inf) for end, side in ((least, low), (greatest, high))]
        step = np.maximum(*steps).astype(dtype)
        if formula == MAGNITUDE:
            step = (np.maximum(np.abs(low), np.abs(high)) / greatest).astype(dtype)
        step = np.where(np.isinf(step), dtype.type(np.nan), step)
        stepped = scaling in ("step", RECIPROCAL)
        if ends == "range clamped":
            bottom, top = ((end * step if stepped else end / factor).astype(dtype) for end in (least, greatest))
            x = as_type(np.where(x < bottom, bottom, np.where(x > top, top, x)), dtype)
        if stepped:
            return by_step(x, step, scaling, dtype)
        if scaling == INVERSE:
            return by_step(x, (np.asarray(1).astype(dtype) / factor).astype(dtype), "step", dtype)
        return np.asarray(as_type(x * factor, dtype))

    @property
    def lowest(self) -> int:
        """The lowest value that is used; with narrow_range not the type's."""
        return self.quantized.lowest + bool(self.node.attributes.get("narrow_range", False))


@lru_cache(maxsize=16)
def valid_combinations(documented: Semantics, lowest: int) -> Candidates:
    """Those for a documented formula, scaling, ends and offset, and a type's lowest value."""
    return valid_candidates(FACETS, partial(is_valid, documented, lowest))


def is_valid(documented: Semantics, lowest: int, semantics: Semantics) -> bool:
    precision, formula, scaling, _, offset, mode = semantics
    if precision == "exact" and (semantics[1:5] != documented or mode not in ROUND_MODES):
        return False
    if formula not in (documented[0], MAGNITUDE if documented[0] == "SCALED" else ""):
        return False  # another mode's formula fits small cases by chance
    if formula in ("SCALED", MAGNITUDE):
        return offset == DOCUMENTED and scaling != "factor"
    if scaling == INVERSE:
        return False
    if formula == "MIN_FIRST" and offset != DOCUMENTED and scaling != DOCUMENTED:
        return False  # that is MIN_COMBINED
    if formula == "MIN_COMBINED" and offset != DOCUMENTED and not lowest:
        return False
    counts = offset != DOCUMENTED or (formula == "MIN_COMBINED" and not lowest)
    return not (counts and precision != "exact") or mode in NEVER_NEGATIVE


def by_step(x: Array, step: Array, scaling: str, dtype: np.dtype[Any]) -> Array:
    """x divided by the step, or multiplied by its rounded reciprocal."""
    if scaling == RECIPROCAL:
        return np.asarray(as_type(x * as_type(np.asarray(1).astype(dtype) / step, dtype), dtype))
    return np.asarray(as_type(x / step, dtype))


def with_range(x: Array, low: float, high: float) -> Probe:
    return Probe(np.ascontiguousarray(x), (np.array(low, np.float32), np.array(high, np.float32)))
