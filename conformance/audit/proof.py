"""Shows that the semantics that are left are equal for every finite x, or finds an x where they are not.

For types of at most 16 bits every x is compared. For wider types each semantics has a stage: a number that never falls
as x grows and that determines the code. If it is the same at both ends of an interval of bit patterns, nothing changes
inside. So intervals are halved until that holds, or until nothing is left inside, and the codes at all ends are
compared: they stand for every x. This takes too long only where nearly every x has another code: for codes of many
bits, and for the low bits of large quotients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.audit.halving import halved
from tiebreak.conformance.audit.inference import Inference, splitting_places
from tiebreak.conformance.semantics import _steps
from tiebreak.conformance.semantics.model import ANYTHING, Arithmetic, Probe, Semantics
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.problem import Array, array_of, code_range

MOST_LEFT = 200  # semantics; more are not compared
SETTINGS = 24  # of the inputs after the first, that are compared
MOST = 8_000_000  # predictions: some seconds
EXHAUSTIVE = 4  # settings that are compared without a limit on predictions
AT_ONCE = 1 << 18  # predictions at a time
FEW_BITS = 16  # of an input's type, all of whose numbers are compared


@dataclass
class Comparison:
    """Compares semantics with each other, in one setting of the inputs after the first at a time.

    It makes at most about `most` predictions altogether, or any number if that is None.
    """

    arithmetic: Arithmetic
    most: int | None = MOST
    predictions: int = 0
    inputs: int = 0

    def compare(self, left: Sequence[Semantics], setting: Probe) -> tuple[bool, Probe | None]:
        """Whether the semantics were shown to be equal for every finite x; or else a probe on which they differ.

        False and None, if that takes too many predictions, or if only some of them predict nothing for an x.
        """
        for x, agree, known in self.looked_at(left, setting):
            where = np.zeros(0, int) if agree else self.differing(Probe(x, setting.others), left)
            if where.size:
                return False, Probe(x, setting.others).only(where)
            if not (known and agree):
                return False, None
        return True, None

    def differing(self, probe: Probe, left: Sequence[Semantics]) -> Array:
        """Indices of the elements that split the semantics best, where all of them predict something."""
        table = np.stack(list(self.arithmetic.predict(probe, left)))
        return splitting_places(np.where((table == ANYTHING).any(axis=0), ANYTHING, table))

    def looked_at(self, left: Sequence[Semantics], setting: Probe) -> Iterator[tuple[Array, bool, bool]]:
        """Inputs, whether all semantics give the same for each, and whether they stand for all those between them.

        The inputs are overwritten with the next step.
        """
        if input_bits(self.arithmetic) <= FEW_BITS:
            x = all_finite_inputs(self.arithmetic)
            self.count(x, left)
            first, *others = self.arithmetic.predict(Probe(x, setting.others), left)
            yield x, all(_steps.same(first, other) for other in others), True
        else:
            yield from self.halved(left, setting)

    def halved(self, left: Sequence[Semantics], setting: Probe) -> Iterator[tuple[Array, bool, bool]]:
        for number, (x, agree, in_order) in enumerate(halved(self.arithmetic, left, setting, AT_ONCE // len(left))):
            self.count(x, left)
            enough = not number or self.most is None or self.predictions <= self.most
            yield x, agree, enough and in_order

    def count(self, x: Array, left: Sequence[Semantics]) -> None:
        self.predictions += x.size * len(left)
        self.inputs += x.size


def separate_remaining(
    inference: Inference, *, most: int = MOST, exhaustive: Callable[[int, int], None] | None = None
) -> list[str]:
    """Asks the backend for inputs that separate the semantics left, until one is left or they are shown to be equal.

    Returns sentences on how that was shown; none if at most one semantics is left. If `most` predictions do not show
    it and `exhaustive` is given, EXHAUSTIVE settings are compared without a limit. Before each, `exhaustive` is called
    with its number from 1 and the number of settings.
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
    """The number of settings in which the semantics that are left in the end are equal."""
    shown = 0
    for number, setting in enumerate(settings, 1):
        begin(number, len(settings))
        shown += equal_in_setting(inference, comparison, setting)
        if len(inference.alive) < 2:
            break
    inference.searched += comparison.inputs
    return shown


def equal_in_setting(inference: Inference, comparison: Comparison, setting: Probe) -> bool:
    """Whether the semantics left are equal in a setting, after asking for every input on which they were not."""
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
    """The distinct inputs after the first of the first probes, each as a probe without elements."""
    distinct = {tuple(other.tobytes() for other in probe.others): probe for probe in reversed(probes)}
    return [Probe(probe.x[:0], one_of_each(probe)) for probe in list(distinct.values())[::-1][:SETTINGS]]


def one_of_each(probe: Probe) -> tuple[Array, ...]:
    """The other inputs; of those that have a number for each element, the first one's."""
    return tuple(other if other.size == 1 else other.reshape(-1)[:1] for other in probe.others)


def proof_text(arithmetic: Arithmetic, settings: int) -> str:
    many = f"{settings} settings" if settings > 1 else "one setting"
    shown = f"every finite {arithmetic.node.input_type} gives the same in {many} of the other inputs"
    halved = "" if input_bits(arithmetic) <= FEW_BITS else ", by halving intervals until nothing changes inside"
    if len(arithmetic.node.inputs) == 1:
        return f"every finite {arithmetic.node.input_type} gives the same{halved}"
    return f"{shown}{halved}; not all settings were compared"


def input_bits(arithmetic: Arithmetic) -> int:
    return ELEMENT_TYPES[arithmetic.node.input_type].bits


def all_finite_inputs(arithmetic: Arithmetic) -> Array:
    """All finite numbers of a type of at most 16 bits."""
    kind = arithmetic.node.input_type
    low, high = code_range(ELEMENT_TYPES[kind])
    x = array_of(kind, (high - low + 1,), np.arange(low, high + 1))
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return np.asarray(x[np.isfinite(x.astype(np.float64))])
