"""round(x / scale) + zero_point as black boxes compute it: what each combination of the facets gives.

These are predictions to compare with a backend, never truths. Exact quotients come from the reference kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import cast

import numpy as np

from tiebreak.conformance.semantics import quantize_probes
from tiebreak.conformance.semantics.model import ANYTHING, OTHER, Candidates, Facet, Probe, Semantics, Value
from tiebreak.conformance.semantics.places import Place
from tiebreak.conformance.semantics.precisions import OF_TYPE, Precision
from tiebreak.conformance.semantics.quantize_facets import (
    AFTER,
    BEFORE,
    FACETS,
    Combination,
    UpToRounding,
    least_normal,
)
from tiebreak.conformance.semantics.quantize_rules import holds_every_quotient, valid_combinations
from tiebreak.conformance.semantics.quantize_saturation import SATURATE, Saturation
from tiebreak.conformance.semantics.quantize_scaling import DIVIDE
from tiebreak.conformance.semantics.round_modes import MODES, RoundMode
from tiebreak.conformance.semantics.special_ends import HIGHEST, LOWEST, SPECIALS, SpecialEnd, special_facets
from tiebreak.conformance.semantics.subnormals import KEPT
from tiebreak.golden import kernel
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, Quantization, bits_of
from tiebreak.golden.rounding import EVEN

FAR = 2.0**50
WIDE = IntegerType("wide", 52, True)
REGIONS = {
    "subnormals": {"subnormal"},
    "saturation": {"beyond"},
    "round_mode": {"tie"},
    "precision": {"tie", "near a boundary"},
}


@dataclass
class QuantizeArithmetic:
    """The arithmetic of a node of the quantize family: real input, integer output, one scale and one zero point."""

    node: Node
    facets: tuple[Facet, ...] = FACETS
    seen: dict[str, list[SpecialEnd]] = field(default_factory=dict)  # the values that each special facet may have
    as_infinite: bool | None = None  # whether an infinite quotient of a finite input gives what an infinite input does
    formula: Combination | None = None  # the document's, if it is not round(x / scale) + zero_point step by step

    @property
    def documented(self) -> Combination:
        if self.formula is not None:
            return self.formula
        precision, mode = OF_TYPE[self.node.input_type], MODES[self.node.round_mode or EVEN]
        return Combination(precision, DIVIDE, KEPT, AFTER, mode, SATURATE)

    def completed(self, semantics: Semantics) -> Semantics:
        """Fused steps and ranges add the zero point before rounding; only rounding up shows a flushed quotient."""
        found = Combination._make(semantics)
        if found.scaling.adds_zero_point:
            found = found._replace(zero_point=BEFORE)
        return found._replace(round_mode=MODES["ROUND_UP"]) if found.subnormals.of_quotient else found

    @cached_property
    def quantized(self) -> IntegerType:
        return self.node.quantized

    @property
    def specials(self) -> tuple[Facet, ...]:
        return special_facets(self.quantized)

    @property
    def candidates(self) -> Candidates:
        return valid_combinations(self.node.real, self.quantized)

    def first_probes(self) -> Iterator[Probe]:
        return quantize_probes.first_probes(self.node)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return quantize_probes.further_probe(self.node, random)

    def special_probes(self) -> Iterator[Probe]:
        return quantize_probes.special_probes(self.node)

    def assume(self) -> None:
        self.seen = {"nan": [LOWEST], "positive_infinity": [HIGHEST], "negative_infinity": [LOWEST]}
        self.as_infinite = True

    def ignore_specials(self) -> None:
        self.seen = {name: [] for name in SPECIALS}

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        for facet in self.specials:
            own = [(probe, code) for probe, code in seen if self.special_of(probe) == facet.name]
            ends = (cast(SpecialEnd, value) for value in facet.values)
            fits = (end for end in ends if all(code == self.special_code(end, probe) for probe, code in own))
            self.seen[facet.name] = list(fits) if own else []
        finite = [(probe, code) for probe, code in seen if not self.special_of(probe)]
        self.as_infinite = all(code in self.codes_of_infinity(probe) for probe, code in finite) if finite else None
        return self.seen

    def codes_of_infinity(self, probe: Probe) -> list[int]:
        """The codes that an infinite input with the sign of the probe's element may give."""
        name = "positive_infinity" if float(probe.x[0]) > 0 else "negative_infinity"
        return [self.special_code(value, probe) for value in self.seen[name][:1]]

    def special_of(self, probe: Probe) -> str:
        value = float(probe.x[0])
        if np.isfinite(value):
            return ""  # a finite input whose quotient is infinite
        return "nan" if value != value else "positive_infinity" if value > 0 else "negative_infinity"

    def special_code(self, value: Value, probe: Probe) -> int:
        zero_point = int(probe.others[1].astype(np.int64))
        return cast(SpecialEnd, value).code(self.quantized.lowest, self.quantized.highest, zero_point)

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        return (codes for codes, _ in self.staged(probe, semantics))

    def stage_key(self, semantics: Semantics) -> Semantics:
        return semantics

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        last, all_finite = np.empty(0), True
        for one, (whole, left, saturation) in zip(semantics, self.wholes(probe, semantics), strict=True):
            codes, stage = saturation.finish(self.quantized, whole, left)
            if whole is not last:  # neighbours share it
                last, all_finite = whole, bool(np.isfinite(whole).all())
            if all_finite:
                yield codes, stage
                continue
            precision, scaling, *_ = Combination._make(one)
            if scaling.of_range:  # beyond its ends a finite number follows an infinite one
                stage = np.where(np.isfinite(whole), stage, np.nan)
            yield self.with_specials(codes, whole, probe, precision), stage

    def wholes(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array, Saturation]]:
        """For each semantics the rounded numbers, the integer that is still to be added, and how that saturates.

        Neighbours in `semantics` that agree on the facets before rounding share the argument of round; those that
        agree on the mode as well share the rounded numbers.
        """
        for first, alike in groupby(semantics, key=itemgetter(0, 1, 2, 3)):
            facets = UpToRounding._make(first)
            added, left = facets.before_and_after(probe.others[1].astype(np.int64), self.quantized)
            with np.errstate(all="ignore"):
                by_mode = self.by_mode(probe.x, probe.others[0], added, facets)
            for mode, of_one_mode in groupby(alike, key=itemgetter(4)):
                with np.errstate(all="ignore"):
                    whole = by_mode(mode)
                for *_, saturation in of_one_mode:
                    yield whole, left, cast(Saturation, saturation)

    def by_mode(self, x: Array, scale: Array, added: Array, facets: UpToRounding) -> Callable[[RoundMode], Array]:
        """What a mode makes of each element's argument of round, `added` being what is added before it."""
        if facets.precision.is_exact:
            emin = least_normal(facets.precision, x.dtype)
            return self.exactly_by_mode(*facets.subnormals.operands(x, scale, emin), added)
        value = facets.argument(x, scale, added, self.quantized)
        return lambda mode: mode.round(value, facets.precision)

    def exactly_by_mode(self, x: Array, scale: Array, added: Array) -> Callable[[RoundMode], Array]:
        """As by_mode, from the reference kernel: it rounds the quotient itself where nothing is added to it."""
        if added.any():
            place = self.placed_exactly(x, scale, added)
            return lambda mode: mode.round_place(place)
        value = x.astype(np.float64) / scale.astype(np.float64)
        far = ~(np.abs(value) < FAR)
        return lambda mode: np.where(far, value, self.quotients(x, scale, mode.id))

    def quotients(self, x: Array, scale: Array, mode: str) -> Array:
        """Exact quotients, rounded to a type of 52 bits by the reference kernel."""
        known = np.where(scale == 0, scale.dtype.type(1), scale)  # x / 0 is handled as far
        bits = bits_of(x), bits_of(np.broadcast_to(known, x.shape) if known.size > 1 else known.reshape(1))
        zero = np.zeros(bits[1].shape, np.int64)
        return kernel.quantize(Quantization(self.node.real, WIDE, mode, (0,), *bits, zero), working=False)[0]

    def placed_exactly(self, x: Array, scale: Array, added: Array) -> Place:
        """The exact argument of round, from what four modes of the reference kernel give in a type of 52 bits."""
        modes = ("ROUND_DOWN", "ROUND_NEAREST_DOWNWARD", "ROUND_NEAREST_UPWARD", "ROUND_UP")
        down, low, high, up = (self.quotients(x, scale, mode) for mode in modes)
        rest = np.where(up == down, 0, np.where(high == down, 1, np.where(low == down, 2, 3)))
        value = x.astype(np.float64) / scale.astype(np.float64)
        far = ~(np.abs(value) < FAR)
        below = np.where(far, value, down.astype(np.float64) + added)
        return Place(below, np.where(far, 0, rest), np.where(far, value, value + added))

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        """The facet for what all have in common: subnormal operands, results out of range, ties, or nearly ties."""
        regions = {self.region_of(probe) for probe, _, _ in wrong}
        if {expected for _, expected, _ in wrong} <= {self.quantized.lowest, self.quantized.highest}:
            return "saturation"
        for facet in ("subnormals", "saturation", "round_mode", "precision"):
            if regions <= REGIONS[facet]:
                return facet
        return "zero_point" if all(self.may_blame_zero_point(probe) for probe, _, _ in wrong) else OTHER

    def may_blame_zero_point(self, probe: Probe) -> bool:
        """Whether there is a zero point, and a result in range without it, too: a zero point may only bring x there."""
        scale, zero_point = probe.others[0], int(probe.others[1].astype(np.int64))
        below = self.placed_exactly(probe.x, scale, np.zeros((), np.int64)).below[0]
        return bool(zero_point and self.quantized.lowest <= below < self.quantized.highest)

    def region_of(self, probe: Probe) -> str:
        scale, zero_point = probe.others[0], int(probe.others[1].astype(np.int64))
        tiny = 2.0**self.node.real.emin
        if min(abs(float(scale)), abs(float(probe.x[0])) or tiny) < tiny:
            return "subnormal"
        place = self.placed_exactly(probe.x, scale, np.zeros((), np.int64))
        total = place.below[0] + zero_point
        if not self.quantized.lowest <= total < self.quantized.highest:
            return "beyond"
        if place.rest[0] == 2:
            return "tie"
        nearest = np.rint(2 * place.value[0]) / 2
        near = abs(place.value[0] - nearest) <= 4 * abs(nearest) * 2.0**-self.node.real.precision
        return "near a boundary" if near else "anywhere"

    def with_specials(self, codes: Array, whole: Array, probe: Probe, precision: Precision) -> Array:
        """The codes, replaced where a quotient is NaN or infinite by what such inputs gave; ANYTHING if unknown.

        If no infinite input was asked, an infinite quotient is treated as a large one. If a finite x has an infinite
        quotient, some backends look at the quotient and some at x; `as_infinite` says which. In float64 only a flushed
        scale gives such a quotient, and the answer to that is not known.
        """
        no_number = np.isnan(whole), np.isposinf(whole), np.isneginf(whole)
        for facet, which in zip(self.specials, no_number, strict=True):
            if facet.name not in self.seen and facet.name != "nan":
                continue
            named = self.seen.get(facet.name, ())
            known = np.asarray(self.special_code(named[0], probe) if named else ANYTHING)
            finite = which & np.isfinite(probe.x) & (facet.name != "nan")
            if self.as_infinite is None or precision.is_exact or holds_every_quotient(precision, self.node.real):
                known = np.where(finite & (codes != known), ANYTHING, known)
            elif not self.as_infinite:
                known = np.where(finite, codes, known)
            codes = np.where(which, known, codes)
        return codes
