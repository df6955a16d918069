"""Tables of mistakes from an operator's mutants: one wrong step, and two at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.semantics.causes import JOINT, sentence_of
from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.term_arithmetic import TermChange
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import Change
from tiebreak.conformance.variants.mutant import Mutant, WrongOutput, changed
from tiebreak.conformance.variants.rewrites import of_operand, of_result
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

Table = tuple[tuple[Cause, Mistake], ...]


@dataclass(frozen=True)
class Wrong:
    """A wrong step: its cause's id and role. `mode`: the only one of the operator's that has the step.

    Two of the same `place` are never wrong at once; one that takes several places has them as words.
    """

    id: str
    role: str
    mutant: Mutant
    in_pairs: bool = False
    mode: str = ""
    place: str = ""

    def fits(self, other: Wrong) -> bool:
        apart = not set(self.place.split()) & set(other.place.split())
        return apart and (self.mode == other.mode or not self.mode or not other.mode)

    @property
    def is_mode(self) -> bool:
        """Whether it is another rounding mode, which all operators are compared with anyway."""
        return self.id.startswith("rounds:") and JOINT not in self.id


def often(id: str, role: str, variant: Mutant) -> Wrong:
    """A wrong step that is tried with another one, too."""
    return Wrong(id, role, variant, in_pairs=True)


def of_place(place: str, *steps: Wrong, mode: str = "") -> tuple[Wrong, ...]:
    return tuple(replace(one, place=place, mode=mode) for one in steps)


def as_read(reading: WrongOutput, steps: Iterable[Wrong]) -> list[Wrong]:
    """The steps, each once, of a backend that follows one of a document's readings otherwise."""
    return [replace(one, mutant=replace(one.mutant, reading=reading)) for one in dict.fromkeys(steps)]


def of_inputs(operand: str, role: str) -> tuple[Wrong, ...]:
    """What may happen to a real input."""
    return converted(to.INPUTS, role, partial(of_operand, operand), often=2)


def of_results(role: str) -> tuple[Wrong, ...]:
    """What may happen to a real result."""
    return converted(to.RESULTS, role, of_result, often=3)


def converted(
    by: Mapping[str, to.Change], role: str, of: Callable[[to.Conversion], Change], often: int
) -> tuple[Wrong, ...]:
    """Conversions of a number, of which the first ones are tried with another mistake, too."""
    return of_role(role, {id_: changed(of(to.Conversion(id_, change))) for id_, change in by.items()}, often)


def of_role(role: str, mutants: Mapping[str, Mutant], often: int = 0) -> tuple[Wrong, ...]:
    """Wrong steps by their ids, of which the first ones are tried with another mistake, too."""
    return tuple(Wrong(id_, role, mutant, n < often) for n, (id_, mutant) in enumerate(mutants.items()))


def facet_of(name: str, plain: TermChange, causes: Mapping[str, str], steps: Sequence[Wrong]) -> Facet:
    """A facet of the document's way and those wrong steps that are its other values, by their ids: causes' ids."""
    mutants = {one.id: one.mutant for one in steps}
    others = (TermChange(id_, sentence_of(cause), mutants[cause], cause) for id_, cause in causes.items())
    return Facet(name, (plain, *others))


def likelier(ids: Sequence[str], steps: Sequence[Wrong]) -> tuple[Wrong, ...]:
    """The steps with these ids first, in that order."""
    places = {id_: place for place, id_ in enumerate(ids)}
    return tuple(sorted(steps, key=lambda one: places.get(one.id, len(ids))))


def mistakes_of(steps: Sequence[Wrong]) -> Table:
    """A backend for each id; what several modes have by one id is one."""
    by_id: dict[str, list[Wrong]] = {}
    for one in steps:
        if not one.is_mode:
            by_id.setdefault(one.id, []).append(one)
    return tuple((Cause(id_, own[0].role), backend_of([one.mutant for one in own])) for id_, own in by_id.items())


def backend_of(mutants: Sequence[Mutant]) -> Mistake:
    """The first of these that has something to change."""
    if len(mutants) == 1:
        return mutants[0]

    def run(node: Node, *inputs: Array) -> tuple[Array, ...]:
        for mutant in mutants:
            with suppress(ValueError):
                return mutant(node, *inputs)
        raise ValueError("there is nothing to mistake")

    return run


def pairs_of(steps: Sequence[Wrong], *, later_first: bool = False) -> Table:
    """Two frequent wrong steps at once, where no single one is known by both names.

    `later_first`: the later step is changed first, so that the other one is changed in what it is made of then, too.
    """
    known = {one.id for one in steps}
    every = []
    for one, other in frequent_pairs(steps):
        both = other.mutant + one.mutant if later_first else one.mutant + other.mutant
        every.append(Wrong(f"{one.id}{JOINT}{other.id}", one.role, both))
    return mistakes_of([pair for pair in every if pair.id not in known])


def frequent_pairs(steps: Sequence[Wrong]) -> Iterator[tuple[Wrong, Wrong]]:
    chosen = [one for one in steps if one.in_pairs]
    return (pair for pair in combinations(chosen, 2) if pair[0].fits(pair[1]))
