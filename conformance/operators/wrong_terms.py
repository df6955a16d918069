"""Tables of mistakes from an operator's variants: one wrong step, and two at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.variants.variant import Variant

Table = tuple[tuple[Cause, Mistake], ...]


@dataclass(frozen=True)
class Wrong:
    """A wrong step: its cause's id and role. `mode`: the only one of the operator's that has the step."""

    id: str
    role: str
    variant: Variant
    in_pairs: bool = False
    mode: str = ""

    def fits(self, other: Wrong) -> bool:
        """Whether both may be wrong at once: steps of the same role stand for each other."""
        return self.role != other.role and (self.mode == other.mode or not self.mode or not other.mode)


def often(id: str, role: str, variant: Variant) -> Wrong:
    """A wrong step that is tried with another one, too."""
    return Wrong(id, role, variant, in_pairs=True)


def in_mode(mode: str, *steps: Wrong) -> tuple[Wrong, ...]:
    return tuple(replace(one, mode=mode) for one in steps)


def mistakes_of(steps: Sequence[Wrong]) -> Table:
    return tuple((Cause(one.id, one.role), one.variant) for one in steps)


def pairs_of(steps: Sequence[Wrong]) -> Table:
    """Two frequent wrong steps at once, where no single one is known by both names."""
    known = {one.id for one in steps}
    every = ((f"{one.id}{JOINT}{other.id}", one, other) for one, other in frequent_pairs(steps))
    return tuple((Cause(id_, one.role), one.variant + other.variant) for id_, one, other in every if id_ not in known)


def frequent_pairs(steps: Sequence[Wrong]) -> Iterator[tuple[Wrong, Wrong]]:
    chosen = [one for one in steps if one.in_pairs]
    return (pair for pair in combinations(chosen, 2) if pair[0].fits(pair[1]))
