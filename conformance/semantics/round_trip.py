"""QuantizeAndDequantizeV2, V3 and V4 as black boxes compute them: what each combination of the facets gives.

    output = round(clamp(input) * factor) / factor

These are predictions to compare with a backend, never truths. The exact one comes from the reference kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from tiebreak.conformance.semantics import round_trip_probes
from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import ANYTHING, Candidates, Facet, Probe, Semantics, codes, valid_candidates
from tiebreak.conformance.semantics.precisions import FLOAT64, OF_TYPE
from tiebreak.conformance.semantics.round_modes import FLOOR, MODES, RoundMode
from tiebreak.conformance.semantics.round_trip_facets import (
    AS_SAID,
    HALF_FUSED,
    KEPT,
    OF_INTEGERS,
    OVER,
    SMALLER,
    TIMES,
    TIMES_INTEGER,
    UPDATED,
    RangeAndIntegers,
    RoundedStep,
    RoundTripCombination,
    SideFactor,
    facets_of,
)
from tiebreak.golden import kernel
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import EVEN

UPWARD = "ROUND_NEAREST_UPWARD"
USUAL_MODES = (EVEN, UPWARD, "ROUND_NEAREST_TOWARD_INFINITY", FLOOR.id)
MOST_UNLIKE = 3  # facets besides the precision in which a combination is unlike the document's
BITS = 8  # of a node that has their number as an input


@dataclass
class RoundTripArithmetic(FiniteOnly):
    """The arithmetic of a node with one given range that has a side with integers."""

    node: Node

    @property
    def signed(self) -> bool:
        return bool(self.node.value("signed_input"))

    @property
    def facets(self) -> tuple[Facet, ...]:
        return self.candidates.facets

    @property
    def documented(self) -> RoundTripCombination:
        precision, mode = OF_TYPE[self.node.input_type], MODES[self.node.modes[0]]
        return RoundTripCombination(precision, SMALLER, AS_SAID, UPDATED, TIMES, OVER, mode, KEPT)

    @property
    def candidates(self) -> Candidates:
        narrow = bool(self.node.value("narrow_range"))
        return combinations_of(self.signed, narrow, self.node.modes[0], self.node.real.name, self.bits)

    def first_probes(self) -> Iterator[Probe]:
        return round_trip_probes.first_probes(self.node, self.integers)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return round_trip_probes.further_probe(self.node, self.integers, random)

    @property
    def bits(self) -> int:
        return BITS if len(self.node.inputs) > 3 else int(self.node.value("num_bits"))

    @property
    def integers(self) -> tuple[int, int]:
        """The ends of the representable integers."""
        highest = (1 << (self.bits - self.signed)) - 1
        return (-highest - (not self.node.value("narrow_range")) if self.signed else 0), highest

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """The stage is the rounded number, which never falls as x grows; of exact steps the result."""
        prepared: dict[Semantics, Trip] = {}
        for one in map(RoundTripCombination._make, semantics):
            if one.precision.is_exact:
                yield self.exactly(probe, one.round_mode)
                continue
            with np.errstate(all="ignore"):
                key = (*one[:3], one.subnormals)
                if key not in prepared:
                    prepared[key] = self.trip(probe, one)
                if np.isnan(prepared[key].by.factor):
                    yield np.full(probe.x.shape, ANYTHING), np.full(probe.x.shape, np.nan)
                    continue
                stage, result = prepared[key].there_and_back(one)
                stored = result.astype(self.node.outputs[0].dtype)
                yield codes(one.subnormals.flushed(stored, self.node.real.emin)), stage

    def trip(self, probe: Probe, one: RoundTripCombination) -> Trip:
        step, emin = one.subnormals.step_in(one.precision), self.node.real.emin
        operands = (one.subnormals.flushed(np.asarray(a), emin) for a in (probe.x, *probe.others[:2]))
        x, low, high = (a.astype(one.precision.dtype) for a in operands)
        lowest, highest = self.integers
        if one.lowest is not AS_SAID:
            lowest = -highest - (lowest == -highest)
        ends = (step(np.asarray(float(end))) for end in (lowest, highest))
        ranged = RangeAndIntegers(low if self.signed else np.zeros_like(low), high, *ends)
        return Trip(step, x, ranged, one.side.of(step, ranged), both=one.side.both)

    def exactly(self, probe: Probe, mode: RoundMode) -> tuple[Array, Array]:
        (problem,) = problems_of(probe.case(self.node, 0))
        found, _ = kernel.solve(problem, working=False, mode=mode.id)
        stored = found.astype(np.uint64).astype(f"uint{self.node.real.bits}").view(self.node.outputs[0].dtype)
        return codes(stored), stored.astype(np.float64)


class Trip:
    """What combinations share that agree on the factor: rounded numbers are made once."""

    def __init__(self, step: RoundedStep, x: Array, ranged: RangeAndIntegers, by: SideFactor, *, both: bool) -> None:
        self.step, self.x, self.ranged, self.by, self.both = step, x, ranged, by, both
        self.known: dict[Semantics, Array] = {}

    def there_and_back(self, one: RoundTripCombination) -> tuple[Array, Array]:
        key = (one.clamp, one.forth, one.round_mode, one.back if one.clamp is UPDATED else one.clamp)
        if key not in self.known:
            self.known[key] = self.rounded(one)
        whole = self.known[key]
        return whole.astype(np.float64), one.back.of(self.step, whole, self.by)

    def rounded(self, one: RoundTripCombination) -> Array:
        ends = one.clamp.ends(self.ranged, self.by, lambda whole: one.back.of(self.step, whole, self.by))
        if self.both and one.clamp is UPDATED:
            lowest, highest = (one.back.of(self.step, whole, self.by) for whole in self.ranged[2:])
            ends = lowest, highest
        x = self.x if ends is None else np.minimum(np.maximum(self.x, ends[0]), ends[1])
        place = one.forth.of(self.step, x, self.by).astype(np.float64)
        found = self.step(one.round_mode.round(place, one.precision))
        return np.clip(found, self.ranged.lowest, self.ranged.highest) if one.clamp.whole else found


@lru_cache(maxsize=32)
def combinations_of(signed: bool, narrow: bool, mode: str, real: str, bits: int) -> Candidates:
    return valid_candidates(facets_of(signed=signed), partial(is_valid, narrow, mode, real, bits))


def is_valid(narrow: bool, mode: str, real: str, bits: int, semantics: Semantics) -> bool:
    """Whether a combination makes sense, no simpler one coincides with it, and little of it is unlike the document."""
    one, own = RoundTripCombination._make(semantics), FLOAT_TYPES[real]
    plain = (SMALLER, AS_SAID, UPDATED, TIMES, OVER)
    if one.precision.is_exact:
        return one[1:6] == plain and one.round_mode is not FLOOR and one.subnormals is KEPT
    working = one.precision.type
    if one.subnormals.flushes and working.emin + 1 - working.precision > own.emin:
        return False  # no value of this precision is subnormal in the input's type
    if one.subnormals.steps and working.emin != own.emin:
        return False  # a wider precision has steps that are subnormal in the input's type only
    if one.forth is HALF_FUSED and (one.round_mode.id != UPWARD or one.precision is FLOAT64):
        return False  # no fused step is modelled in float64
    if one.side.both and narrow == (one.lowest is AS_SAID):
        return False  # with as many integers on both sides, the smaller factor is that of the greater side
    if one.side.both and narrow and one.clamp not in (UPDATED, OF_INTEGERS):
        return False  # nothing shows the lowest integer
    if one.subnormals.steps and not (one.forth.makes_step or one.back.makes_step):
        return False  # no other step is subnormal
    if one.clamp.whole and (one.round_mode.is_nearest or one.round_mode is FLOOR) and working.precision > bits + 2:
        return False  # what is clamped to an end rounds to its integer
    if working.precision > 2 * own.precision + 1 and (one.back is not OVER or one.forth is TIMES_INTEGER):
        return False  # the result does not show how it came back, and such a number rounds as the exact one
    unlike = sum(value is not usual for value, usual in zip(one[1:6], plain, strict=True))
    unlike += (one.round_mode.id != mode) + (one.subnormals is not KEPT)
    directed = one.round_mode.id not in (mode, *USUAL_MODES)
    return unlike + directed <= MOST_UNLIKE


def round_trip(node: Node) -> RoundTripArithmetic:
    """The arithmetics that a node may have. InvalidInput for a measured range, an axis, or too few or many bits."""
    if not node.value("range_given"):
        raise InvalidInput(f"{node.operator}: semantics are known with range_given")
    if node.value("axis") != -1:
        raise InvalidInput(f"{node.operator}: semantics are known of one range, without axis")
    if len(node.inputs) == 3 and not 2 <= int(node.value("num_bits")) <= 16:
        raise InvalidInput(f"{node.operator}: semantics are known of 2 to 16 bits")
    return RoundTripArithmetic(node)


def role_of_round_trip(node: Node, facet: str) -> str:
    return {
        "precision": "quotient",
        "side": "side",
        "lowest": "narrow",
        "clamp": "clamp",
        "forth": "product",
        "back": "quotient",
        "round_mode": "mode",
        "subnormals": "quotient",
    }[facet]
