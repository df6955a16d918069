"""Few operands fit many mistakes: a cause that explains no more is no finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.explanations import NO_CAUSE
from tiebreak.conformance.causes.predictions import FIRST_PAIR
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import AT
from tiebreak.golden.problem import Array

FEWEST = 3  # different operands, in all kinds of nodes of a backend
FEW = 20  # cases of a run; it was asked for these, so the likeliest mistake is worth its name


def without_rare(
    evidence: Evidence, places: Sequence[Array], named: Sequence[Sequence[Cause]]
) -> list[Sequence[Cause]]:
    """The causes of each kind's elements (indices), without those that have few operands which other mistakes fit."""
    if len(evidence.cases) <= FEW:
        return list(named)
    elements: dict[str, list[int]] = defaultdict(list)
    for own, causes in zip(places, named, strict=True):
        for place, cause in zip(own.tolist(), causes, strict=True):
            elements[cause.id].append(place)
    rare = {id_ for id_, own in elements.items() if is_rare(evidence, own) and has_rivals(evidence, own, id_)}
    return [[NO_CAUSE if cause.id in rare else cause for cause in causes] for causes in named] if rare else list(named)


def is_rare(evidence: Evidence, own: Sequence[int]) -> bool:
    return len(set(evidence.deviating.operands[own].tolist())) < FEWEST


def has_rivals(evidence: Evidence, own: Sequence[int], id_: str) -> bool:
    """Whether another single mistake matches all of some elements (places)."""
    numbers = {int(number) for number in evidence.candidates[own]}
    matching = ({cause.id for cause in evidence.distinct[n].matching if cause.rank < FIRST_PAIR} for n in numbers)
    return bool(set.intersection(*matching) - {id_.partition(AT)[0]})
