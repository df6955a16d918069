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
FEW_OPERANDS, SMALL_SHARE = 40, 0.2  # what has fewer, and less of each kind, may be the rest of another mistake
FEW = 20  # cases of a run; it was asked for these, so the likeliest mistake is worth its name


def without_rare(
    evidence: Evidence, places: Sequence[Array], named: Sequence[Sequence[Cause]]
) -> list[Sequence[Cause]]:
    """The causes of each kind's elements (indices), without those of few operands.

    Those go that are a small part of what deviates in each kind, or that another mistake fits as well.
    """
    if len(evidence.cases) <= FEW:
        return list(named)
    elements: dict[str, list[int]] = defaultdict(list)
    shares: dict[str, float] = defaultdict(float)
    for own, causes in zip(places, named, strict=True):
        of_kind: dict[str, list[int]] = defaultdict(list)
        for place, cause in zip(own.tolist(), causes, strict=True):
            of_kind[cause.id].append(place)
        every = operands(evidence, own.tolist())
        for id_, some in of_kind.items():
            elements[id_] += some
            shares[id_] = max(shares[id_], operands(evidence, some) / every)
    rare = {
        id_
        for id_, own in elements.items()
        if is_rest(count := operands(evidence, own), shares[id_])
        or (count < FEWEST and has_rivals(evidence, own, id_))
    }
    return [[NO_CAUSE if cause.id in rare else cause for cause in causes] for causes in named] if rare else list(named)


def operands(evidence: Evidence, own: Sequence[int]) -> int:
    """How many different operands some elements (places) have."""
    return len(set(evidence.deviating.operands[own].tolist()))


def is_rest(count: int, share: float) -> bool:
    return count < FEW_OPERANDS and share < SMALL_SHARE


def has_rivals(evidence: Evidence, own: Sequence[int], id_: str) -> bool:
    """Whether another single mistake matches all of some elements (places)."""
    numbers = {int(number) for number in evidence.candidates[own]}
    matching = ({cause.id for cause in evidence.distinct[n].matching if cause.rank < FIRST_PAIR} for n in numbers)
    return bool(set.intersection(*matching) - {id_.partition(AT)[0]})
