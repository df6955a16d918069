"""The candidate causes that nothing refutes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from tiebreak.conformance.causes import explanations
from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.judging.rows import (
    Group,
)
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import ENVIRONMENT, JOINT, without_environment


def plausible_candidates(evidence: Evidence) -> dict[tuple[Group, int], explanations.Explanation]:
    """The candidates, by group and number, without the causes that are refuted for their kind of node.

    One conforming element that contradicts a cause refutes it: in every case for what rounds ties by another mode, in
    the cases that deviate somewhere for other causes. The remaining cases are asked once a cause is named. Deviating
    elements to which it would give a third result refute it, too, if they are more than a tenth of those that it
    explains: where two mistakes meet, neither gives the result alone. Another mode may hold on one path only. An
    arithmetic joined to a fact of the environment must show by itself where nothing is pathological, if it is known by
    itself and anything deviates there. Of two mistakes at once each must change some element that both give.
    """
    idle, explains = idle_positions(evidence), defaultdict[tuple[Group, bool], Counter[Cause]](Counter)
    for (case, number), count in evidence.pairs.items():
        found = evidence.distinct[number]
        for every in {found.pathological, True}:
            add(explains[evidence.groups[case], every], found.matching, count)
    keys = {(evidence.groups[case], number) for case, number in evidence.pairs}
    return {
        (group, number): explanations.without_causes(
            evidence.distinct[number], refuted_causes(evidence, explains, group, number) | idle[group]
        )
        for group, number in keys
    }


def refuted_causes(
    evidence: Evidence, explains: Mapping[tuple[Group, bool], Counter[Cause]], group: Group, number: int
) -> frozenset[Cause]:
    """The candidates of an explanation that something contradicts among the elements that count for it."""
    found = evidence.distinct[number]
    key, by_mode = (group, found.pathological), evidence.against_modes[group]
    plain, third, explained = evidence.against[key], evidence.third[key], explains[key]
    needs = evidence.needs.get(group, {})
    refuted = frozenset(
        cause
        for cause in found.matching
        if not cause.by_position
        and (plain[cause] or by_mode[cause.mode or cause.ties] or 10 * third[cause] > explained[cause])
    )
    refuted |= {cause for cause in found.matching if JOINT in cause.id and len(needs.get(cause, ())) == 1}
    joined = {one: without_environment(one.id) for one in found.matching - refuted if ENVIRONMENT in one.id}
    if not joined:
        return refuted
    shown = {cause.id for cause in explains[group, False] if not evidence.against[group, False][cause]}
    tried = {cause.id for cause in evidence.against[group, False]} if explains[group, False] else set[str]()
    return refuted | {cause for cause, arithmetic in joined.items() if arithmetic in tried - shown}


def add(counts: Counter[Cause], causes: Iterable[Cause], count: int) -> None:
    for cause in causes:
        counts[cause] += count


def idle_positions(evidence: Evidence) -> Mapping[Group, frozenset[Cause]]:
    """The causes by position that explain little more than their mode does when it is used at every position.

    Such a cause gains the elements of cases in which it holds but its mode alone does not. It loses those of cases in
    which its mode alone holds but it does not.
    """
    found: dict[Group, set[Cause]] = defaultdict(set)
    # Counts elements by their group, the size of their case, and the causes that hold in all of it.
    alike: Counter[tuple[Group, int, frozenset[Cause]]] = Counter()
    for (case, number), count in evidence.pairs.items():
        group, candidate = evidence.groups[case], evidence.distinct[number]
        found[group] |= {cause for cause in candidate.matching if cause.by_position}
        alike[group, evidence.sizes[case], candidate.consistent] += count
    gained: dict[Group, Counter[Cause]] = defaultdict(Counter)
    lost: dict[Group, Counter[Cause]] = defaultdict(Counter)
    for (group, size, consistent), count in alike.items():
        everywhere = {cause.mode for cause in consistent if cause.mode and not cause.by_position}
        for cause in found[group]:
            tried = size >= 2 * cause.width and size % cause.width > 0
            if cause in consistent:
                gained[group][cause] += count * (cause.mode not in everywhere)
            elif tried and cause.mode in everywhere:
                lost[group][cause] += count
    idle = {
        group: frozenset(c for c in own if not gained[group][c] or 10 * lost[group][c] > gained[group][c])
        for group, own in found.items()
    }
    return defaultdict(frozenset[Cause], idle)
