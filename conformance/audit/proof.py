"""Whether semantics that no input of a search told apart are the same for every finite x, or where they are not.

Types of 16 bits are simply gone through. Otherwise each semantics has a stage, a number that never falls as x grows and
on which the code depends: where it is the same at both ends of an interval of bit patterns, nothing changes inside. So
intervals are halved until that holds of each or nothing is left inside, and the codes at every end are compared: that
stands for all of them. Only codes of many bits, or the low bits of large quotients, change at nearly every x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.audit.inference import Inference, splitting_places
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe, Semantics
from tiebreak.golden.problem import Array

MOST_LEFT = 200  # semantics
SETTINGS = 24  # of the inputs after the first
MOST = 8_000_000  # predictions: some seconds
EXHAUSTIVE = 4  # settings, if it is all
AT_ONCE = 1 << 18  # predictions


@dataclass
class Comparison:
    """Of semantics with each other, in one setting of the inputs after the first at a time.

    Of `most` predictions altogether, or any number if that is None.
    """

    arithmetic: Arithmetic
    most: int | None = MOST
    predictions: int = 0
    inputs: int = 0

    def compare(self, left: Sequence[Semantics], setting: Probe) -> tuple[bool, Probe | None]:
        """Whether they were shown to be the same for every finite x, and inputs on which they are not.

        Neither, if that takes too many predictions, or only some of them say nothing of an x.
        """
        for x, table, known in self.looked_at(left, setting):
            silent = table == ANYTHING
            where = splitting_places(np.where(silent.any(axis=0), ANYTHING, table))
            if where.size:
                return False, Probe(x, setting.others).only(where)
            if not known or (silent.any(axis=0) != silent.all(axis=0)).any():
                return False, None
        return True, None

    def looked_at(self, left: Sequence[Semantics], setting: Probe) -> Iterator[tuple[Array, Array, bool]]:
        """Inputs, what each semantics gives for them, and whether those that were looked at stand for all between."""
        if self.arithmetic.node.real.bits == 16:
            x = all_finite_inputs(self.arithmetic)
            self.count(x, left)
            yield x, np.stack(list(self.arithmetic.predict(Probe(x, setting.others), left))), True
        else:
            yield from self.halved(left, setting)

    def halved(self, left: Sequence[Semantics], setting: Probe) -> Iterator[tuple[Array, Array, bool]]:
        most = self.arithmetic.node.real.infinity_bits - 1
        ends = np.array([-most, -1, 0, 1, most])  # so that no interval has numbers of both signs
        x = from_ordinals(ends, self.arithmetic)
        stages, table = self.at(np.append(x, -x[2]), left, setting)
        yield np.append(x, -x[2]), table, never_falls(stages[:, :4], stages[:, 1:5])
        work = [(ends[:-1], ends[1:], stages[:, :4], stages[:, 1:5])]
        while work:
            low, high, below, above = work.pop()
            open_ = np.flatnonzero((below != above).any(axis=0) & (high - low > 1))
            now, later = np.split(open_, [AT_ONCE // len(left)])
            work += [(low[later], high[later], below[:, later], above[:, later])] if later.size else []
            if not now.size:
                continue
            low, high, below, above = low[now], high[now], below[:, now], above[:, now]
            middle = low + (high - low) // 2
            x = from_ordinals(middle, self.arithmetic)
            stages, table = self.at(x, left, setting)
            enough = self.most is None or self.predictions <= self.most
            yield x, table, enough and never_falls(below, stages) and never_falls(stages, above)
            halves = ((low, middle), (middle, high), (below, stages), (stages, above))
            work.append(tuple(np.concatenate(two, axis=-1) for two in halves))  # type: ignore[arg-type]

    def at(self, x: Array, left: Sequence[Semantics], setting: Probe) -> tuple[Array, Array]:
        """The stages and the codes of each semantics."""
        self.count(x, left)
        both = list(self.arithmetic.staged(Probe(x, setting.others), left))
        return np.stack([np.asarray(stage, np.float64) for _, stage in both]), np.stack([codes for codes, _ in both])

    def count(self, x: Array, left: Sequence[Semantics]) -> None:
        self.predictions += x.size * len(left)
        self.inputs += x.size


def separate_remaining(
    inference: Inference, *, most: int = MOST, exhaustive: Callable[[int, int], None] | None = None
) -> list[str]:
    """Ask the backend for what tells those apart that are left, until one is, or they are shown to be the same.

    Sentences on how that was shown; empty if not more than one is left. If `most` predictions show nothing and
    `exhaustive` is given, as many follow as it takes for a few settings; it is called with each one's number from 1.
    """
    arithmetic, settings, shown = inference.arithmetic, settings_of([probe for probe, _ in inference.answered]), 0
    if 1 < len(inference.alive) <= MOST_LEFT:
        shown = settings_shown_equal(inference, Comparison(arithmetic, most), settings)
        if exhaustive and not shown and len(inference.alive) > 1:
            shown = settings_shown_equal(inference, Comparison(arithmetic, None), settings[:EXHAUSTIVE], exhaustive)
    if len(inference.alive) < 2:
        return []
    told = [f"no input of {inference.inputs_tried} that were asked and {inference.searched} more tells them apart"]
    return [*told, proof_text(arithmetic, shown) if shown else "this was not shown for every input: --exhaustive may"]


def settings_shown_equal(
    inference: Inference,
    comparison: Comparison,
    settings: Sequence[Probe],
    begin: Callable[[int, int], None] = lambda number, of: None,
) -> int:
    """In how many settings those that are left in the end are the same."""
    shown = 0
    for number, setting in enumerate(settings, 1):
        begin(number, len(settings))
        shown += equal_in_setting(inference, comparison, setting)
        if len(inference.alive) < 2:
            break
    inference.searched += comparison.inputs
    return shown


def equal_in_setting(inference: Inference, comparison: Comparison, setting: Probe) -> bool:
    """Whether those that are left are, once what the comparison finds was asked."""
    while len(inference.alive) > 1:
        left = inference.alive
        same, witness = comparison.compare(left, setting)
        if witness is None:
            return same
        inference.try_probes([witness])
        if inference.alive == left:
            return False
    return False


def settings_of(probes: Sequence[Probe]) -> list[Probe]:
    """The first probes' inputs after the first."""
    distinct = {tuple(other.tobytes() for other in probe.others): probe for probe in reversed(probes)}
    return [Probe(probe.x[:0], probe.others) for probe in list(distinct.values())[::-1][:SETTINGS]]


def proof_text(arithmetic: Arithmetic, settings: int) -> str:
    many = f"{settings} settings" if settings > 1 else "one setting"
    shown = f"every finite {arithmetic.node.input_type} gives the same in {many} of the other inputs"
    halved = ", by halving intervals until nothing changes inside"
    return shown + ("" if arithmetic.node.real.bits == 16 else halved) + "; not all settings were compared"


def never_falls(below: Array, above: Array) -> bool:
    """Also false if one is NaN."""
    return bool((below <= above).all())


def all_finite_inputs(arithmetic: Arithmetic) -> Array:
    """Of a 16-bit type."""
    x = np.arange(1 << 16, dtype=np.uint16).view(arithmetic.node.inputs[0].dtype)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return np.asarray(x[np.isfinite(x.astype(np.float64))])


def from_ordinals(ordinals: Array, arithmetic: Arithmetic) -> Array:
    """Numbers of the input's type, counted from 0 in both directions."""
    bits = arithmetic.node.real.bits
    words = np.abs(ordinals).astype(np.uint64) | ((ordinals < 0).astype(np.uint64) << np.uint64(bits - 1))
    return words.astype(f"uint{bits}").view(arithmetic.node.inputs[0].dtype)
