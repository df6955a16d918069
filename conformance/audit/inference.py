"""Rules combinations out by the backend's answers; asks next for the inputs on which those that are left differ."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tiebreak.conformance.audit.stored import stored_probes
from tiebreak.conformance.semantics.model import ANYTHING, OTHER, Arithmetic, Probe, Semantics, Unknown, Value
from tiebreak.conformance.semantics.round_modes import RoundMode
from tiebreak.conformance.semantics.term_arithmetic import TermArithmetic
from tiebreak.golden.problem import Array

# Gives the backend's codes (int64, one-dimensional) for each probe; None where it has no answer.
Ask = Callable[[Sequence[Probe]], Sequence[Array | None]]

MOST_AT_ONCE = 200  # semantics whose predictions are compared with each other in a search
PICKED = 48  # elements of a probe of the search that are asked: those that split the semantics best
SEARCHES = 80  # probes of the search
FRUITLESS = 40  # probes in a row that split nothing, after which the search ends
PATIENCE = 8.0  # seconds that a search may take
NOT_ANSWERED = Unknown("not-answered", "no such call had a result")  # of a special facet
LAST = ("round_mode", "precision")  # facets tried last: they would explain almost any error of one
FEW = 8  # answers on which all semantics are compared at first, to find the closest


@dataclass(frozen=True)
class Refutation:
    """What rules a semantics out: a probe of one element, the code that it predicts, and the backend's code."""

    probe: Probe
    expected: int
    got: int


@dataclass
class Inference:
    """What is known so far of one node on one backend.

    `alive` are the semantics that fit all answers so far; `refuted` are the others, each with its witness. `specials`
    has, for each special facet, the values that fit.
    """

    arithmetic: Arithmetic
    ask: Ask
    alive: list[Semantics] = field(default_factory=list)
    refuted: dict[Semantics, Refutation] = field(default_factory=dict)
    answered: list[tuple[Probe, Array]] = field(default_factory=list)
    specials: dict[str, Sequence[Value]] = field(default_factory=dict)
    special_answers: list[tuple[Probe, int]] = field(default_factory=list)
    inputs_tried: int = 0
    searched: int = 0  # elements on which predictions were compared without asking the backend

    def run(self) -> None:
        """Asks until one semantics is left, or none, or only some that agree on every input of the search."""
        self.look_at_specials()
        self.alive = list(self.arithmetic.candidates.all)
        for probe in (*stored_probes(self.arithmetic.node), *self.arithmetic.first_probes()):
            self.try_probes([probe])
        self.alive = [one for one in self.alive if self.says_something(one)]
        if len(self.alive) > 1:
            self.search()

    def says_something(self, semantics: Semantics) -> bool:
        """Whether it predicts any answer; otherwise it fits only because it predicts nothing."""
        predictions = (next(iter(self.arithmetic.predict(probe, [semantics]))) for probe, _ in self.answered)
        return any((predicted != ANYTHING).any() for predicted in predictions)

    def look_at_specials(self) -> None:
        probes = list(self.arithmetic.special_probes())
        answers = zip(probes, self.ask(probes), strict=True)
        self.inputs_tried += len(probes)
        self.special_answers = [(probe, int(codes[0])) for probe, codes in answers if codes is not None]
        self.specials = dict(self.arithmetic.learn_specials(self.special_answers))
        asked = {self.arithmetic.special_of(probe) for probe, _ in self.special_answers}
        self.specials |= {name: [NOT_ANSWERED] for name in self.specials if name not in asked}

    def try_probes(self, probes: Sequence[Probe]) -> None:
        """Asks, and rules out the semantics that predict anything else."""
        self.take(probes, self.ask(probes))

    def take(self, probes: Sequence[Probe], answers: Sequence[Array | None]) -> None:
        """Rules out the semantics that predict anything else than these answers."""
        for probe, codes in zip(probes, answers, strict=True):
            if codes is not None:
                self.answered.append((probe, codes))
                self.inputs_tried += codes.size
                self.rule_out(probe, codes)

    def rule_out(self, probe: Probe, codes: Array) -> None:
        left, told = [], dict[bytes, Refutation | None]()  # many semantics predict the same
        for semantics, predicted in zip(self.alive, self.arithmetic.predict(probe, self.alive), strict=True):
            key = predicted.tobytes()
            if key not in told:
                told[key] = refutation(probe, predicted, codes)
            if found := told[key]:
                self.refuted[semantics] = found
            else:
                left.append(semantics)
        self.alive = left

    def search(self) -> None:
        """Asks, of many random inputs, those that split the semantics best, until none does."""
        random, fruitless, begun = np.random.default_rng(11), 0, time.monotonic()
        for _ in range(SEARCHES):
            if len(self.alive) < 2 or fruitless >= FRUITLESS or time.monotonic() - begun > PATIENCE:
                return
            probe = self.arithmetic.further_probe(random)
            where = splitting_places(np.stack(list(self.arithmetic.predict(probe, self.alive[:MOST_AT_ONCE]))))
            self.searched += probe.x.size
            fruitless = 0 if where.size else fruitless + 1
            if where.size:
                self.try_probes([probe.only(where)])

    def closest(self) -> tuple[Semantics, int]:
        """The semantics that is wrong on the fewest elements, and their number.

        All semantics are compared on a few answers, and the best of those on all answers.
        """
        candidates = self.arithmetic.candidates
        everything = candidates.all
        counts = self.differences(everything, self.answered[:FEW])
        best = sorted(everything, key=lambda semantics: counts[semantics])[:MOST_AT_ONCE]
        best.sort(key=candidates.places.__getitem__)  # neighbours share facets, so that predictions are cheap
        counts = self.differences(best, self.answered)
        return min(counts.items(), key=lambda item: item[1])

    def differences(
        self, semantics: Sequence[Semantics], answered: Sequence[tuple[Probe, Array]]
    ) -> dict[Semantics, int]:
        """The number of elements that each semantics predicts wrongly."""
        counts = dict.fromkeys(semantics, 0)
        for probe, codes in joined(answered) if isinstance(self.arithmetic, TermArithmetic) else answered:
            for one, predicted in zip(semantics, self.arithmetic.predict(probe, semantics), strict=True):
                counts[one] += int(np.count_nonzero(differs(predicted, codes)))
        return counts

    def broken_facet(self, best: Semantics) -> str:
        """The facet that all elements are about on which `best` is wrong (Arithmetic.region).

        If they have nothing in common: a facet such that for each element one of its values gives the answer.
        """
        found, names = self.arithmetic.region(self.wrong_elements(best)), self.arithmetic.candidates.names
        if found != OTHER:
            return found
        for name in sorted(names, key=lambda name: LAST.index(name) if name in LAST else -1):
            if self.switches(best, names.index(name)):
                return name
        return OTHER

    def switches(self, best: Semantics, place: int) -> bool:
        """Whether one value or another of the facet at `place` gives every answer, the other facets being `best`."""
        values = self.arithmetic.facets[place].values
        variants = [(*best[:place], value, *best[place + 1 :]) for value in values]
        variants = [one for one in variants if one in self.arithmetic.candidates.places]
        if rounds_to_nearest(best[place]):
            variants = [one for one in variants if rounds_to_nearest(one[place])]
        return all(
            any_predicts(self.arithmetic.predict(probe, variants), codes).all() for probe, codes in self.answered
        )

    def wrong_elements(self, semantics: Semantics) -> list[tuple[Probe, int, int]]:
        """The elements that a semantics predicts wrongly: a probe of one element, the prediction, the answer."""
        found = []
        for probe, codes in self.answered:
            (predicted,) = self.arithmetic.predict(probe, [semantics])
            places = np.flatnonzero(differs(predicted, codes))
            found += [(probe.only(places[[i]]), int(predicted[p]), int(codes[p])) for i, p in enumerate(places)]
        return found


def joined(answered: Sequence[tuple[Probe, Array]]) -> Iterator[tuple[Probe, Array]]:
    """Some at a time as one probe, each of whose elements has its own operands: fewer and longer arrays."""
    for start in range(0, len(answered), FEW):
        probes, found = zip(*answered[start : start + FEW], strict=True)
        x = np.concatenate([probe.x for probe in probes])
        operands = ([np.broadcast_to(other, probe.x.shape) for other in probe.others] for probe in probes)
        yield Probe(x, tuple(map(np.concatenate, zip(*operands, strict=True)))), np.concatenate(found)


def values_left(names: Sequence[str], semantics: Sequence[Semantics]) -> dict[str, list[str]]:
    """The ids of the values that some semantics have, by facet; empty if there are none."""
    columns = zip(names, zip(*semantics, strict=True), strict=False)
    return {name: list(dict.fromkeys(value.id for value in values)) for name, values in columns}


def alone_or_all(found: Mapping[str, list[str]]) -> dict[str, str | list[str]]:
    """One value as itself, several as a list."""
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def rounds_to_nearest(value: Value) -> bool:
    return isinstance(value, RoundMode) and value.is_nearest


def differs(predicted: Array, codes: Array) -> Array:
    """Where a prediction is wrong (a mask): not where nothing is predicted, or nothing was asked."""
    return np.asarray((predicted != codes) & (predicted != ANYTHING) & (codes != ANYTHING))


def refutation(probe: Probe, predicted: Array, codes: Array) -> Refutation | None:
    """The plainest element on which the prediction is wrong; None if there is none."""
    differ = differs(predicted, codes)
    if not differ.any():
        return None
    where = plainest_place(probe, differ)
    return Refutation(probe.only(where), int(predicted[where[0]]), int(codes[where[0]]))


def any_predicts(predictions: Iterable[Array], codes: Array) -> Array:
    """Where one of the predictions is the answer, or ANYTHING (a mask)."""
    found = np.zeros(codes.shape, bool)
    for predicted in predictions:
        found |= (predicted == codes) | (predicted == ANYTHING)
    return found


def plainest_place(probe: Probe, differ: Array) -> Array:
    """The index (an array of one) of the differing element whose x has the fewest digits: the easiest to follow."""
    places = np.flatnonzero(differ)
    bits = probe.x[places].view(f"uint{8 * probe.x.dtype.itemsize}").astype(np.uint64)
    lowest = bits & (~bits + np.uint64(1))
    return places[[int(np.argmax(np.where(bits == 0, np.uint64(2**63), lowest)))]]


def splitting_places(table: Array) -> Array:
    """Indices of at most PICKED elements on which the semantics (rows) disagree, the best split first."""
    first = np.sort(table, axis=0)
    groups = 1 + np.count_nonzero(first[1:] != first[:-1], axis=0)
    places = np.flatnonzero(groups > 1)
    if not places.size:
        return places
    largest = np.array([largest_group(table[:, place]) for place in places[: 4 * PICKED]])
    return places[: 4 * PICKED][np.argsort(largest, kind="stable")][:PICKED]


def largest_group(column: Array) -> int:
    return int(np.unique(column, return_counts=True)[1].max())
