"""Operators whose outputs come in stages: one table for each output, given the outputs before it.

An operator that measures its own scale does not take one. So a table's probes are put to a backend as calls that make
it measure what the probe says; what it gave itself is an operand of the next table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tiebreak.conformance.semantics.finite_only import FiniteOnly
from tiebreak.conformance.semantics.model import Arithmetic, Candidates, Facet, Probe, Semantics, codes
from tiebreak.golden.nodes import Node, TensorType
from tiebreak.golden.problem import Array

Inputs = tuple[Array, ...]
Outputs = tuple[Array, ...]
Run = Callable[[Sequence[Inputs]], Sequence[Outputs | None]]  # calls of a backend; None for one without a result
Ask = Callable[[Sequence[Probe]], list[Array | None]]


@dataclass(frozen=True)
class Stage:
    """One output of a node: its table, and how a backend is asked for the table's probes.

    The table's own node says the operands' names. `calls` gives the inputs that make a backend show a probe's elements.
    `given`: the earlier outputs that are operands. `whole`: any number may stand for x, so that semantics can be
    compared for all of them. `elementwise`: each element has its own result.
    """

    output: str
    arithmetic: Arithmetic
    ask: Ask
    calls: Callable[[Probe], list[Inputs]]
    given: tuple[str, ...] = ()
    whole: bool = False
    elementwise: bool = False


Stages = Callable[[Node, Run], Iterator[Stage]]


def stand_in(node: Node, inputs: Sequence[tuple[str, Any]], output: tuple[str, Any], **attributes: Any) -> Node:
    """A node that is not run: the names and types of a table's operands and of its result, and what its table asks."""
    tensors = tuple(TensorType(name, np.dtype(kind)) for name, kind in inputs)
    return Node(node.operator, attributes, tensors, (TensorType(output[0], np.dtype(output[1])),))


@dataclass(frozen=True)
class MeasuredSetting:
    """What a backend made of some numbers: the outputs that it gave, and inputs that make it give them again.

    `others` are the table's operands after x. `anchors` stand in each call; x lies between `low` and `high`.
    """

    others: tuple[Array, ...]
    anchors: Array
    low: float
    high: float

    def keeps(self, x: Array) -> Array:
        return np.asarray((x >= self.low) & (x <= self.high))

    @property
    def key(self) -> bytes:
        return key_of(self.others)


def key_of(others: Sequence[Array]) -> bytes:
    return b"|".join(np.asarray(other).tobytes() for other in others)


@dataclass
class AtSettings(FiniteOnly):
    """An elementwise arithmetic at the settings that a backend gave itself.

    `names` are the facets that such calls ask about; the others are the document's, and nothing is said of them.
    `numbers` gives numbers for a setting, about so many. `only` has a facet's values (ids) if no call could tell the
    others from these.
    """

    inner: Arithmetic
    settings: Sequence[MeasuredSetting]
    names: tuple[str, ...]
    numbers: Callable[[MeasuredSetting, np.random.Generator, int], Array]
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kept: dict[str, Candidates] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.inner.ignore_specials()

    @property
    def node(self) -> Node:
        return self.inner.node

    @cached_property
    def places(self) -> list[int]:
        return [place for place, facet in enumerate(self.inner.facets) if facet.name in self.names]

    @property
    def facets(self) -> tuple[Facet, ...]:
        return tuple(self.with_only(self.inner.facets[place]) for place in self.places)

    def with_only(self, facet: Facet) -> Facet:
        ids = self.only.get(facet.name)
        return Facet(facet.name, tuple(value for value in facet.values if value.id in ids)) if ids else facet

    @property
    def documented(self) -> Semantics:
        return self.of(self.inner.documented)

    def of(self, semantics: Semantics) -> Semantics:
        return tuple(semantics[place] for place in self.places)

    def whole(self, semantics: Semantics) -> Semantics:
        """With the document's values of the other facets."""
        found = list(self.inner.documented)
        for place, value in zip(self.places, semantics, strict=True):
            found[place] = value
        return tuple(found)

    @property
    def candidates(self) -> Candidates:
        if "" not in self.kept:
            every = (one for one in self.inner.candidates.all if self.whole(self.of(one)) == tuple(one))
            known = [{*facet.values} for facet in self.facets]
            found = (one for one in map(self.of, every) if all(v in own for v, own in zip(one, known, strict=True)))
            self.kept[""] = Candidates(self.facets, tuple(found))
        return self.kept[""]

    def completed(self, semantics: Semantics) -> Semantics:
        return self.of(self.inner.completed(self.whole(semantics)))

    def first_probes(self) -> Iterator[Probe]:
        random = np.random.default_rng(7)
        for setting in self.settings:
            yield self.probe(setting, random, 0)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return self.probe(self.settings[int(random.integers(len(self.settings)))], random, FURTHER)

    def probe(self, setting: MeasuredSetting, random: np.random.Generator, most: int) -> Probe:
        x = self.numbers(setting, random, most)
        return Probe(np.ascontiguousarray(x[setting.keeps(x)]), setting.others)

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        return self.inner.staged(probe, [self.whole(one) for one in semantics])


FURTHER = 384  # elements of a probe of the search


Call = Callable[[MeasuredSetting, Array], Inputs]  # lays x out beside a setting's anchors


def calls_at(settings: Sequence[MeasuredSetting], call: Call) -> Callable[[Probe], list[Inputs]]:
    """The one call for a probe at the setting that its other operands are."""
    known = {setting.key: setting for setting in settings}
    return lambda probe: [call(known[key_of(probe.others)], probe.x)]


def ask_at(
    settings: Sequence[MeasuredSetting],
    run: Run,
    call: Call,
    own: Callable[[MeasuredSetting, Outputs], tuple[Array, ...]],
    results: Callable[[Outputs, int], Array],
) -> Ask:
    """Asks for x at a setting: by a call that has the setting's anchors. No answer where its own outputs differ.

    `own` gives the operands that the outputs are, `results` the elements of x.
    """
    known = {setting.key: setting for setting in settings}

    def ask(probes: Sequence[Probe]) -> list[Array | None]:
        asked = [(probe, known.get(key_of(probe.others))) for probe in probes]
        calls = [call(setting, probe.x) for probe, setting in asked if setting is not None and probe.x.size]
        answers = iter(run(calls))
        return [
            answer(probe, setting, next(answers)) if setting is not None and probe.x.size else None
            for probe, setting in asked
        ]

    def answer(probe: Probe, setting: MeasuredSetting, outputs: Outputs | None) -> Array | None:
        if outputs is None or key_of(own(setting, outputs)) != setting.key:
            return None
        return codes(results(outputs, probe.x.size))

    return ask
