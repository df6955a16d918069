"""onnx.Cast of floats and integers as black boxes compute it: a node's table of facets, what combinations give.

A number is read, perhaps rounded to another type first, and then rounded to the output's type. All steps are made in
float64, which holds the numbers of every type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, cast

import numpy as np

from tiebreak.conformance.semantics import cast_probes
from tiebreak.conformance.semantics.cast_between_integers import (
    BetweenSteps,
    between_candidates,
    between_facets,
    documented_between,
)
from tiebreak.conformance.semantics.cast_grid import (
    GridSteps,
    documented_grid,
    grid_candidates,
    grid_facets,
)
from tiebreak.conformance.semantics.cast_inputs import LEAST_NORMAL, CastReading, ElementType, InputSubnormals, Passage
from tiebreak.conformance.semantics.cast_integers import (
    IntegerSteps,
    documented_integer,
    integer_candidates,
    integer_facets,
)
from tiebreak.conformance.semantics.cast_powers import (
    PowerSteps,
    documented_power,
    power_candidates,
    power_facets,
)
from tiebreak.conformance.semantics.cast_specials import CastSpecial, special_facets
from tiebreak.conformance.semantics.cast_whole_numbers import documented_whole, whole_candidates, whole_facets
from tiebreak.conformance.semantics.model import ANYTHING, OTHER, Candidates, Facet, Probe, Semantics, Value, ids_of
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Entry = tuple[CastReading, Passage, InputSubnormals]  # the facets that every table begins with


class LastStep(Protocol):
    """The last step of numbers (float64, none NaN or infinite)."""

    def codes(self, semantics: Semantics) -> tuple[Array, Array]:
        """Codes (int64) and stages (float64)."""
        ...


@dataclass(frozen=True)
class CastTable:
    """What casts to one sort of type have; `steps` prepares the last step for numbers that passed the others."""

    facets: tuple[Facet, ...]
    documented: Semantics
    candidates: Callable[[], Candidates]
    steps: Callable[[Array, Passage], LastStep]


def table_of(node: Node, source: ElementType) -> CastTable:
    target = ELEMENT_TYPES[node.output_type]
    saturates = bool(node.value("saturate"))
    if isinstance(target, IntegerType):
        return integer_table(source, target) if isinstance(source, FloatType) else between_table(source, target)
    if target.specials == "e8m0":
        return power_table(source, str(node.value("round_mode")), saturates)
    if isinstance(source, IntegerType):
        return whole_table(source, target, saturates)
    return CastTable(
        grid_facets(source, target),
        documented_grid(source, target, saturates),
        lambda: grid_candidates(source, target),
        lambda x, passage: GridSteps(x, target),
    )


def power_table(source: ElementType, asked: str, saturates: bool) -> CastTable:
    return CastTable(
        power_facets(source, asked, saturates),
        documented_power(source, asked, saturates),
        lambda: power_candidates(source, asked, saturates),
        lambda x, passage: PowerSteps(x),
    )


def integer_table(source: FloatType, target: IntegerType) -> CastTable:
    return CastTable(
        integer_facets(source, target),
        documented_integer(source, target),
        lambda: integer_candidates(source, target),
        lambda x, passage: IntegerSteps(x, source, target, passage.precision_from(source)),
    )


def between_table(source: IntegerType, target: IntegerType) -> CastTable:
    return CastTable(
        between_facets(source, target),
        documented_between(source, target),
        lambda: between_candidates(source, target),
        lambda x, passage: BetweenSteps(x, source, target),
    )


def whole_table(source: IntegerType, target: FloatType, saturates: bool) -> CastTable:
    return CastTable(
        whole_facets(source, target),
        documented_whole(source, target, saturates),
        lambda: whole_candidates(source, target),
        lambda x, passage: GridSteps(x, target),
    )


@dataclass
class CastArithmetic:
    """The arithmetic of a cast from a floating-point type, or from an integer. Its probes have one input."""

    node: Node
    infinite: dict[bool, int] = field(default_factory=dict)  # the codes of infinities, by whether they are negative
    large: dict[bool, int] = field(default_factory=dict)  # those of the largest numbers
    nan: dict[bool, int] = field(default_factory=dict)  # those of NaNs

    @cached_property
    def source(self) -> ElementType:
        return ELEMENT_TYPES[self.node.input_type]

    @cached_property
    def table(self) -> CastTable:
        return table_of(self.node, self.source)

    @property
    def facets(self) -> tuple[Facet, ...]:
        return self.table.facets

    @property
    def documented(self) -> Semantics:
        return self.table.documented

    @property
    def specials(self) -> tuple[Facet, ...]:
        return special_facets(self.source, ELEMENT_TYPES[self.node.output_type])

    @property
    def candidates(self) -> Candidates:
        return self.table.candidates()

    def completed(self, semantics: Semantics) -> Semantics:
        return semantics

    def first_probes(self) -> Iterator[Probe]:
        return cast_probes.first_probes(self.node)

    def further_probe(self, random: np.random.Generator) -> Probe:
        return cast_probes.further_probe(self.node, random)

    def special_probes(self) -> Iterator[Probe]:
        return cast_probes.special_probes(self.node)

    def special_of(self, probe: Probe) -> str:
        value = float(probe.x[0])
        if np.isfinite(value):
            return ""
        return "nan" if value != value else "positive_infinity" if value > 0 else "negative_infinity"

    def special_code(self, value: Value, probe: Probe) -> int:
        special, negative = cast(CastSpecial, value), is_negative(probe)
        code = special.code(ELEMENT_TYPES[self.node.output_type], negative)
        return self.large.get(negative, ANYTHING) if special.as_large or code is None else code

    def assume(self) -> None:
        """A number that becomes infinite on the way gives what the document's way with large numbers gives."""
        saturates = "saturate" in ids_of(self.documented)
        order = ("largest",) if saturates else ("infinity", "nan", "largest")
        for probe in self.special_probes():
            facet = next((one for one in self.specials if one.name == self.special_of(probe)), None)
            if facet is not None and facet.name != "nan":
                end = next(facet.by_id[one] for one in order if one in facet.by_id)
                self.infinite[is_negative(probe)] = self.special_code(end, probe)

    def ignore_specials(self) -> None:
        self.infinite = {}

    def learn_specials(self, seen: Sequence[tuple[Probe, int]]) -> Mapping[str, Sequence[Value]]:
        """A number that becomes infinite on the way gives what an infinity gives."""
        self.large = {is_negative(probe): code for probe, code in seen if not self.special_of(probe)}
        self.nan = {is_negative(probe): code for probe, code in seen if self.special_of(probe) == "nan"}
        self.infinite = {is_negative(probe): code for probe, code in seen if "infinity" in self.special_of(probe)}
        return {facet.name: self.fitting(facet, seen) for facet in self.specials}

    def fitting(self, facet: Facet, seen: Sequence[tuple[Probe, int]]) -> Sequence[Value]:
        own = [(probe, code) for probe, code in seen if self.special_of(probe) == facet.name]
        ends = (cast(CastSpecial, value) for value in facet.values)
        fits = [end for end in ends if all(code == self.special_code(end, probe) for probe, code in own)]
        return [end for end in fits if not end.as_large] or fits  # a named value says more

    def region(self, wrong: Sequence[tuple[Probe, int, int]]) -> str:
        return OTHER

    def predict(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[Array]:
        return (codes for codes, _ in self.staged(probe, semantics))

    def stage_key(self, semantics: Semantics) -> Semantics:
        return semantics

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        """Semantics share all steps in which they agree."""
        entered: dict[Semantics, Entered] = {}
        with np.errstate(all="ignore"):
            for one in semantics:
                if one[:3] not in entered:
                    entered[one[:3]] = self.entered(probe.x, cast(Entry, one[:3]))
                yield entered[one[:3]].codes(one, self.infinite)

    def entered(self, x: Array, entry: Entry) -> Entered:
        reading, passage, subnormals = entry
        if isinstance(self.source, IntegerType):
            numbers = passage.passed(x.astype(np.float64))
        else:
            numbers = passage.passed(subnormals.of(reading.numbers(x, self.source), self.source))
        known = np.isfinite(numbers)
        unordered = np.abs(numbers) <= 2 * LEAST_NORMAL if passage.carries_twice else None
        return Entered(numbers, known, self.table.steps(np.where(known, numbers, 0.0), passage), unordered)


def is_negative(probe: Probe) -> bool:
    return bool(np.signbit(probe.x.astype(np.float64))[0])


@dataclass(frozen=True)
class Entered:
    """Numbers before the last step, which of them are finite, the last step, and where a larger x may give less."""

    numbers: Array
    known: Array
    steps: LastStep
    unordered: Array | None = None

    def codes(self, one: Semantics, infinite: Mapping[bool, int]) -> tuple[Array, Array]:
        codes, stages = self.steps.codes(one)
        if self.unordered is not None:
            stages = np.where(self.unordered, np.nan, stages)
        if self.known.all():
            return codes, stages
        beyond = np.where(self.numbers < 0, infinite.get(True, ANYTHING), infinite.get(False, ANYTHING))
        codes = np.where(self.known, codes, np.where(np.isnan(self.numbers), ANYTHING, beyond))
        return codes, np.where(self.known, stages, self.numbers)
