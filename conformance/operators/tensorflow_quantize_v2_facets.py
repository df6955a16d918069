"""What an audit of `tensorflow.QuantizeV2` asks: the facets of its term, their combinations, and inputs to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from tiebreak.conformance.operators.tensorflow_quantize_v2_variants import (
    clip,
    new_factor,
    offset_after,
    once,
    ratio,
    scaled_product,
    without_adjust,
)
from tiebreak.conformance.operators.wrong_ranges import larger
from tiebreak.conformance.semantics.integer_specials import IntegerSpecials
from tiebreak.conformance.semantics.model import OTHER, Facet, Probe, Semantics
from tiebreak.conformance.semantics.precisions import EXACT, FLOAT32, FLOAT64
from tiebreak.conformance.semantics.quantize_probes import neighbours
from tiebreak.conformance.semantics.round_modes import EVERY, NEVER_NEGATIVE
from tiebreak.conformance.semantics.term_arithmetic import AS_WRITTEN, TermArithmetic, TermChange
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, at, matched, of_operation
from tiebreak.conformance.variants.mutant import Mutant, changed, written
from tiebreak.golden.arithmetic.term import Term, step, to_integer
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, Elementwise

FORMULAS = {
    "MIN_COMBINED": "(x - min) * R / (max - min), R being the highest value less the lowest",
    "MIN_FIRST": "round(x * s) - round(min * s) + lowest",
    "SCALED": "round(x * s), s the smaller of the type's ends over the range's, of each side that has both",
}
BY_MAGNITUDE = TermChange(
    "scaled-by-magnitude",
    "round(x * s), s the type's highest value over the greater magnitude of the range's ends",
    new_factor(lambda lowest, highest, low, high: step(step(highest) / larger(low, high))),
    "one-scale-for-both-sides",
)
Scaling = Callable[[Term, Term], Term]  # of a number and its factor


def over_step(x: Term, factor: Term) -> Term:
    return step(x / by.inverse(factor))


def times_reciprocal(x: Term, factor: Term) -> Term:
    return step(x * step(1 / by.inverse(factor)))


def scaling(mode: str, change: Scaling) -> Mutant:
    """Another way to scale by the factor R / (max - min), or by that of SCALED."""
    if mode == "MIN_COMBINED":
        return ratio(lambda x, n, d: change(x, step(n / d)))
    if mode == "MIN_FIRST":
        return changed(at("TFQ-M1", by.of_scaled(lambda x, factor: change(x, without_adjust(factor)))))
    return scaled_product(change)


def ends_by_step(end: Term) -> Term | None:
    parts = matched(end, "divide")
    return step(parts[0] * by.inverse(parts[1])) if parts else None


def scalings(mode: str) -> Iterator[TermChange]:
    yield TermChange("as-documented", "in the document's order")
    if mode != "SCALED":
        words = "times R / (max - min), computed first; of MIN_FIRST without its range_adjust"
        yield TermChange("factor", words, scaling(mode, lambda x, factor: step(x * factor)), "factor-first")
    ends = changed(at("TFQ-S3", ends_by_step)) if mode == "SCALED" else AS_WRITTEN
    words = "divided by (max - min) / R, of SCALED by the side's end / the type's"
    yield TermChange("step", words, ends + scaling(mode, over_step), "step-first")
    words = "times 1 / the step, which is rounded"
    yield TermChange("reciprocal-of-step", words, ends + scaling(mode, times_reciprocal), "scaling:reciprocal of step")
    if mode == "SCALED":
        words = "of SCALED divided by 1 / the factor, which is rounded"
        yield TermChange("one-over-factor", words, scaling(mode, by.divided_by_inverse), "scaling:one over the factor")


def to_type(p: Elementwise) -> Change:
    """A result between the type's ends, whether the lowest one is in use or not."""
    return of_operation("to-ends", lambda number: to_integer(number, p.constants["T"]))


ENDS = (
    TermChange("range-clamped", "x is clamped to the range first"),
    TermChange(
        "result-clamped",
        "only the result is clamped, to the type",
        clip(lambda x, low, high: x) + written(to_type),
        "only-result-clamped",
    ),
)
AS_DOCUMENTED = TermChange(
    "as-documented", "MIN_COMBINED takes 128 of an int8 before rounding; MIN_FIRST rounds min apart"
)
OTHER_OFFSETS = {"MIN_COMBINED": changed(offset_after), "MIN_FIRST": once()}


def offsets(mode: str, kind: IntegerType) -> Iterator[TermChange]:
    yield AS_DOCUMENTED
    if mode == "MIN_FIRST" or (mode == "MIN_COMBINED" and kind.signed):
        words = "MIN_COMBINED takes it after rounding; MIN_FIRST takes min from x first"
        yield TermChange("on-other-side", words, OTHER_OFFSETS[mode], "offset-on-other-side")


@cache
def facets_of(mode: str, kind: IntegerType) -> tuple[Facet, ...]:
    formulas = (TermChange(mode, FORMULAS[mode]), *((BY_MAGNITUDE,) if mode == "SCALED" else ()))
    return (
        Facet("precision", (EXACT, FLOAT64, FLOAT32)),
        Facet("formula", formulas),
        Facet("scaling", tuple(scalings(mode))),
        Facet("ends", ENDS),
        Facet("offset", tuple(offsets(mode, kind))),
        Facet("round_mode", EVERY),
    )


RANGES = ((-1.0, 1.0), (0.0, 255.0), (-12.8, 12.7), (-1.1, 2.3), (0.0, 0.7), (-3.3, 0.0), (-100.0, 77.7), (-0.5, 7.9))
ANY, FURTHER = 40, 384  # elements of a probe that are drawn at random; elements of a probe of the search


@dataclass
class QuantizeV2Arithmetic(IntegerSpecials, TermArithmetic):
    """The arithmetic of a node with one range for all elements."""

    def is_valid(self, semantics: Semantics) -> bool:
        precision, _, scaling, _, offset, rounding = semantics
        mode, moved = self.node.value("mode"), offset is not AS_DOCUMENTED
        if mode == "MIN_FIRST" and moved and scaling.id != "as-documented":
            return False  # that is MIN_COMBINED
        counts = moved or (mode == "MIN_COMBINED" and not self.node.quantized.lowest)
        if counts and precision is not EXACT and rounding not in NEVER_NEGATIVE:
            return False
        return super().is_valid(semantics)

    def first_probes(self) -> Iterator[Probe]:
        random = np.random.default_rng(7)
        steps = float(self.node.quantized.highest - self.node.quantized.lowest)
        lowest, highest = float(self.node.quantized.lowest), float(self.node.quantized.highest)
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
            low, high = sorted((0.0, float(self.node.quantized.highest - self.node.quantized.lowest)))
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
        kind = self.node.quantized
        low, high = float(np.float32(low)), float(np.float32(high))
        steps = kind.highest - kind.lowest
        width = (high - low) / steps
        halves = np.concatenate([np.arange(12) / 2, steps - np.arange(12) / 2, random.integers(0, 2 * steps, ANY) / 2])
        first = round(low / width)
        sides = [abs(low / kind.lowest) if kind.lowest else 0.0, high / kind.highest]
        targets = np.concatenate([low + halves * width, (halves + first) * width, (halves + first - 1) * max(sides)])
        near = neighbours(targets.astype(np.float32), (-2, -1, 0, 1, 2))
        ends = neighbours(np.array([low, high, 0.0], np.float32), (-2, -1, 0, 1, 2))
        far = np.array([-3e38, -1e4, 1e4, 3e38, low - width, high + width, low * 1.5, high * 1.5], np.float32)
        any_ = random.uniform(low - width, high + width, ANY).astype(np.float32)
        x = np.concatenate([near, ends, far, any_])
        if most and x.size > most:
            x = x[random.choice(x.size, most, replace=False)]
        return with_range(x[np.isfinite(x)], low, high)

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        beyond = all(not float(p.others[0]) <= float(p.x[0]) <= float(p.others[1]) for p, _, _ in wrong)
        return "ends" if beyond else OTHER


def with_range(x: Array, low: float, high: float) -> Probe:
    return Probe(np.ascontiguousarray(x), (np.array(low, np.float32), np.array(high, np.float32)))


def quantize_v2(node: Node) -> QuantizeV2Arithmetic:
    return QuantizeV2Arithmetic(node, facets_of(str(node.value("mode")), node.quantized))
