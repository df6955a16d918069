"""Few operands fit many mistakes: a cause that explains no more is no finding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from math import inf

import numpy as np

from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.explanations import NO_CAUSE
from tiebreak.conformance.causes.predictions import FIRST_PAIR
from tiebreak.conformance.causes.weighing import by_case
from tiebreak.conformance.judging.rows import Group
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import AT, JOINT, mistakes_of, without_forms
from tiebreak.golden.problem import Array

FEWEST = 3  # different operands, in all kinds of nodes of a backend
FEW_OPERANDS, SMALL_SHARE = 30, 0.03  # what has fewer, and less of each kind, is the rest of what explains a kind
WHOLE = 0.8  # of a kind's operands: what explains that much explains the kind
DOUBTFUL = 10  # times as many operands of a kind without a cause: nothing is known of what is at work there
DOUBTFUL_FEW = 1  # the same for what has FEW_OPERANDS
FEW = 20  # cases of a run; it was asked for these, so the likeliest mistake is worth its name


@dataclass
class Named:
    """The elements (places) with a cause's id, its largest share of a kind, and what speaks for chance everywhere."""

    own: list[int] = field(default_factory=list)
    share: float = 0.0
    is_rest: bool = True
    rounds: bool = False  # whether it is another rounding
    beside: set[str] = field(default_factory=set)  # the mistakes that explain its kinds
    least_nameless: float = inf  # operands of a kind without a cause for each one of its own, where they are fewest


def without_rare(
    evidence: Evidence, places: Sequence[Array], named: Sequence[Sequence[Cause]]
) -> list[Sequence[Cause]]:
    """The causes of each kind's elements (indices), without those of few operands that may be chance.

    Such a cause is a small part of kinds that another one explains; a rounding, if that is one already. Or far more has
    no cause in each of its kinds, and some of that in nodes of the same sort. Or it has one or two operands, which
    another mistake explains as well.
    """
    if len(evidence.cases) <= FEW:
        return list(named)
    found: dict[str, Named] = defaultdict(Named)
    for own, causes in zip(places, named, strict=True):
        note_kind(evidence, own, causes, found)
    rare = {id_ for id_, one in found.items() if id_ != NO_CAUSE.id and is_rare(evidence, id_, one)}
    if not rare:
        return list(named)
    kept = found.keys() - rare - {NO_CAUSE.id}
    return [with_known(evidence, own, causes, rare, kept) for own, causes in zip(places, named, strict=True)]


def with_known(evidence: Evidence, own: Array, causes: Sequence[Cause], rare: Set[str], kept: Set[str]) -> list[Cause]:
    """The causes of one kind's elements without `rare` ones.

    A case whose parameters are built in has an arithmetic of its own. A rare cause gives way to one that is `kept`
    elsewhere, if that one gives all elements of the case without another cause and contradicts nothing on its path.
    """
    lost = [index for index, cause in enumerate(causes) if cause.id in rare]
    instead = dict.fromkeys(lost, NO_CAUSE)
    for case, some in by_case(evidence.deviating.case[own[lost]]):
        if evidence.is_built_in(case):
            known = known_cause(evidence, case, own[lost][some], kept)
            instead |= {lost[index]: known for index in some.tolist()}
    return [instead.get(index, cause) for index, cause in enumerate(causes)]


def known_cause(evidence: Evidence, case: int, own: Array, kept: Set[str]) -> Cause:
    """The first one of the causes `kept` that gives some elements (places) of a case and that nothing contradicts."""
    found = [evidence.distinct[number] for number in evidence.candidates[own].tolist()]
    common = frozenset.intersection(*(one.consistent for one in found))
    group, sorts = evidence.groups[case], {one.pathological for one in found}
    fits = [
        cause
        for cause in common
        if cause.id in kept
        and not cause.by_position
        and not any(evidence.against[group, sort].get(cause, 0) for sort in sorts)
        and not any(evidence.contradicted(group, sort, cause, None) for sort in sorts)
    ]
    return min(fits, key=lambda cause: (JOINT in cause.id, cause.rank, cause.id), default=NO_CAUSE)


def note_kind(evidence: Evidence, own: Array, causes: Sequence[Cause], found: dict[str, Named]) -> None:
    """Add to `found` what the causes of one kind's elements have there."""
    of_kind: dict[str, list[int]] = defaultdict(list)
    for place, cause in zip(own.tolist(), causes, strict=True):
        of_kind[cause.id].append(place)
    roundings = {cause.id for cause in causes if cause.role == "mode"}
    counts = {id_: operands(evidence, some) for id_, some in of_kind.items()}
    every, nameless, bare = operands(evidence, own.tolist()), counts.get(NO_CAUSE.id, 0), of_kind.get(NO_CAUSE.id, [])
    whole = {key for id_, count in counts.items() if count >= WHOLE * every for key in mistakes_of(id_)}
    for id_, some in of_kind.items():
        one = found[id_]
        one.own += some
        one.share = max(one.share, counts[id_] / every)
        one.beside |= whole - {NO_CAUSE.id}
        one.rounds |= id_ in roundings
        one.is_rest &= (
            bool(whole - {NO_CAUSE.id}) and without_forms(id_) not in whole
        )  # one of two mistakes may suffice
        beside = 0 if JOINT not in id_ and explains_sorts(evidence, some, bare) else nameless / counts[id_]
        one.least_nameless = min(one.least_nameless, beside)


def explains_sorts(evidence: Evidence, own: Sequence[int], nameless: Sequence[int]) -> bool:
    """Whether no element without a cause (places) is in a node of the sort of those with one: it has another fault."""
    return not sorts_of(evidence, own) & sorts_of(evidence, nameless)


def sorts_of(evidence: Evidence, places: Sequence[int]) -> set[tuple[Group, tuple[str, ...]]]:
    cases = evidence.deviating.case[np.array(places, np.int64)]
    return {sort_of(evidence, case) for case in np.unique(cases).tolist()}


def sort_of(evidence: Evidence, case: int) -> tuple[Group, tuple[str, ...]]:
    """What may choose another kernel for the node of a case, by its number: its parameters' layout, and all types."""
    return evidence.layouts[case], tuple(tensor.element for tensor in evidence.cases[case].node.inputs)


def operands(evidence: Evidence, own: Sequence[int]) -> int:
    """How many different operands some elements (places) have."""
    return len(set(evidence.deviating.operands[own].tolist()))


def is_rare(evidence: Evidence, id_: str, one: Named) -> bool:
    count = operands(evidence, one.own)
    is_rest = one.is_rest and count < FEW_OPERANDS and one.share < SMALL_SHARE
    if is_rest or count < FEWEST:
        rounds_twice = is_rest and one.rounds and has_rounding(evidence, one.beside)
        return JOINT in id_ or rounds_twice or has_rivals(evidence, one.own, id_)
    return one.least_nameless > (DOUBTFUL_FEW if count < FEW_OPERANDS else DOUBTFUL)


def has_rounding(evidence: Evidence, ids: Set[str]) -> bool:
    """Whether one of some mistakes, whatever their forms, is one of the rounding."""
    causes = (cause for one in evidence.distinct for cause in one.matching)
    return any(cause.role == "mode" and without_forms(cause.id) in ids for cause in causes)


def has_rivals(evidence: Evidence, own: Sequence[int], id_: str) -> bool:
    """Whether another single mistake, and not another form of it only, matches all of some elements (places).

    One that a conforming element of their path contradicts is none.
    """
    cases, numbers = evidence.deviating.case[own].tolist(), evidence.candidates[own].tolist()
    keys = {(evidence.groups[case], number) for case, number in zip(cases, numbers, strict=True)}
    matching = (single_mistakes(evidence, group, number) for group, number in keys)
    return bool(set.intersection(*matching) - {without_forms(id_.partition(AT)[0])})


def single_mistakes(evidence: Evidence, group: Group, number: int) -> set[str]:
    """The ids, without their forms, of the single mistakes that give a candidate and that its group does not refute."""
    found = evidence.distinct[number]
    against = evidence.against[group, found.pathological]
    singles = [cause for cause in found.matching if cause.rank < FIRST_PAIR and not against.get(cause, 0)]
    return {without_forms(cause.id) for cause in singles}
