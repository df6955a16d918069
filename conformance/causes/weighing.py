"""Weighs the candidate causes of a backend's elements: of all together, path by path, and node by node."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

import numpy as np

from tiebreak.conformance.causes import explanations
from tiebreak.conformance.causes.cover import greedy_cover
from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.predictions import FIRST_PAIR
from tiebreak.conformance.causes.refuting import plausible_candidates
from tiebreak.conformance.causes.whole import causes_of_whole_kind
from tiebreak.conformance.judging.rows import (
    Group,
    Kind,
)
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT, mistakes_of, without_forms
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import UNEXPLAINED

MOST_KNOWN_PAIRS = 4  # of a kind of node that are tried where they have not been
FEWEST = 6  # elements that a cause must have to be known from elsewhere, or to be named in one path only
Named = tuple[Group, bool, Cause]
Candidates = Mapping[tuple[Group, int], explanations.Explanation]  # by the number of an element's candidates
Chosen = dict[tuple[Group, int], Cause]


def weighed_causes(evidence: Evidence, places: Mapping[Kind, Array]) -> list[list[Cause]]:
    """The causes of each kind's elements; what has none is weighed again, path by path and node by node."""
    every = np.array(checked_causes(evidence) or [explanations.NO_CAUSE], object)[: len(evidence.deviating)]
    counts = Counter(cause.id for cause in every.tolist())
    known = {cause for cause, count in counts.items() if count >= FEWEST}
    for further in (causes_in_detail, causes_of_built_in):
        left = np.flatnonzero([cause == explanations.NO_CAUSE for cause in every.tolist()])
        for some, cause in further(evidence, left, known):
            every[some] = cause
    for take in (causes_of_known_pairs, causes_within_pairs, causes_of_whole_kind):
        for own in places.values():
            for some, cause in take(evidence, every, own):
                every[some] = cause
    return [every[own].tolist() for own in places.values()]


def checked_causes(evidence: Evidence) -> list[Cause]:
    """The cause of each element. One that a case without deviations contradicts makes way for another."""
    plausible, checked = plausible_candidates(evidence), set[Named]()
    while new := named_by(evidence, chosen := chosen_causes(evidence, plausible)) - checked:
        checked |= new
        refuted, doubted = (defaultdict[tuple[Group, bool], set[str]](set) for _ in range(2))
        for group, every, cause in new:
            if evidence.contradicted(group, every, cause, None):
                refuted[group, every].add(cause.id)
            elif has_sounder_rival(evidence, plausible, chosen, (group, every, cause)):
                doubted[group, every].add(cause.id)
        plausible = {
            (group, number): without_ids(found, refuted[group, found.pathological], doubted[group, found.pathological])
            for (group, number), found in plausible.items()
        }
    cases, numbers = evidence.deviating.case, evidence.candidates
    return [chosen[evidence.groups[case], n] for case, n in zip(cases.tolist(), numbers.tolist(), strict=True)]


def has_sounder_rival(evidence: Evidence, candidates: Candidates, chosen: Chosen, named: Named) -> bool:
    """Whether a pathological element contradicts a cause of others, and no element another that gives all of them."""
    group, every, cause = named
    if every or not is_contradicted(evidence, group, cause):
        return False
    own = [
        candidates[key].consistent
        for key, one in chosen.items()
        if (key[0], evidence.distinct[key[1]].pathological, one) == named
    ]
    rivals = [one for one in frozenset.intersection(*own) if (JOINT in one.id) <= (JOINT in cause.id) and not one.mode]
    return not all(is_contradicted(evidence, group, one) for one in rivals)


def is_contradicted(evidence: Evidence, group: Group, cause: Cause) -> bool:
    """Whether some conforming element of a group contradicts a cause, pathological ones included."""
    return bool(evidence.against[group, True][cause]) or evidence.contradicted(group, True, cause, None)


def causes_in_detail(evidence: Evidence, places: Array, known: Set[str]) -> Iterator[tuple[Array, Cause]]:
    """The one cause of all of some elements (places) that have the details of their path in common.

    Few elements may fit something by chance: they get a cause only if its id is `known` from elsewhere.
    """
    detailed = replace(evidence.only(places), in_detail=True)
    paths: dict[Group, list[int]] = defaultdict(list)
    for index, case in enumerate(detailed.deviating.case.tolist()):
        paths[detailed.groups[case]].append(index)
    every = checked_causes(detailed)
    for indices in paths.values():
        causes = {every[index] for index in indices}
        if len(causes) == 1 and (len(indices) >= FEWEST or every[indices[0]].id in known):
            yield places[indices], every[indices[0]]


def causes_of_built_in(evidence: Evidence, places: Array, known: Set[str]) -> Iterator[tuple[Array, Cause]]:
    """The cause of each case whose parameters are built in, for those of some elements (places) that are its own.

    A compiler sees these parameters, so each set of them may have an arithmetic of its own. A case gets a cause that
    reproduces all of its elements and that is `known` from elsewhere.
    """
    for case, some in by_case(evidence.deviating.case[places]):
        if not evidence.is_built_in(case):
            continue
        found = [evidence.distinct[number].consistent for number in evidence.candidates[places[some]].tolist()]
        fits = [cause for cause in frozenset.intersection(*found) if cause.id in known and not cause.by_position]
        if fits:
            yield places[some], min(fits, key=lambda cause: (JOINT in cause.id, cause.rank, cause.id))


def causes_of_known_pairs(evidence: Evidence, every: Array, own: Array) -> Iterator[tuple[Array, Cause]]:
    """Two mistakes at once that a kind's other cases show, for the elements that they give of those without a cause.

    They have not been tried in every case. One that contradicts something in a case gets nothing there. They also take
    the elements of one of both, where they have more than this one alone: a case may not tell them apart. `own` are the
    places of the kind's elements in `every`.
    """
    named = Counter(every[own].tolist())
    for pair in known_pairs(named):
        singles = mistakes_of(pair.id)
        parts = {cause for cause in named if without_forms(cause.id) in singles and named[cause] < named[pair]}
        yield from elements_of_pair(evidence, places_of({explanations.NO_CAUSE, *parts}, every, own), pair)


def causes_within_pairs(evidence: Evidence, every: Array, own: Array) -> Iterator[tuple[Array, Cause]]:
    """Two mistakes at once that a kind's other cases show, for all elements of a rarer cause if they give each of them.

    The rarer cause then says nothing that is not said already.
    """
    named = Counter(every[own].tolist())
    for pair in known_pairs(named):
        for rare in [cause for cause in named if cause != explanations.NO_CAUSE and named[cause] < named[pair]]:
            places = places_of({rare}, every, own)
            given = list(elements_of_pair(evidence, places, pair, whole=True))
            if sum(some.size for some, _ in given) == places.size:
                yield from given


def places_of(causes: Set[Cause], every: Array, own: Array) -> Array:
    """Those of some places (indices) that have one of the causes."""
    return np.asarray(own[[cause in causes for cause in every[own].tolist()]])


def known_pairs(named: Counter[Cause]) -> list[Cause]:
    """The most frequent of those pairs that have enough elements to be known."""
    known = [cause for cause, count in named.most_common() if JOINT in cause.id and count >= FEWEST]
    return known[:MOST_KNOWN_PAIRS]


def elements_of_pair(
    evidence: Evidence, places: Array, pair: Cause, *, whole: bool = False
) -> Iterator[tuple[Array, Cause]]:
    """Those of some elements of a kind that a pair gives, by case.

    If `whole`, not beyond the first case of which it does not give all of them.
    """
    cases = by_case(evidence.deviating.case[places])
    for case, within in sorted(cases, key=lambda found: evidence.groups[found[0]]):
        some = places[within]
        given = evidence.given_by(case, pair)
        given_here = some[:0] if given is None else some[given[evidence.positions[some]]]
        if given_here.size:
            yield given_here, pair
        if whole and given_here.size < some.size:
            return


def by_case(cases: Array) -> list[tuple[int, Array]]:
    """Each case of a column of case numbers, with the places at which it is."""
    order = np.argsort(cases, kind="stable")
    numbers, starts = np.unique(cases[order], return_index=True)
    return list(zip(numbers.tolist(), np.split(order, starts[1:]), strict=False))  # of no cases, one empty part


def named_by(evidence: Evidence, chosen: Chosen) -> set[Named]:
    """The causes that are named, by group, but for modes, which all cases have been compared with."""
    return {
        (group, evidence.distinct[number].pathological, cause)
        for (group, number), cause in chosen.items()
        if cause.id != UNEXPLAINED and not cause.mode
    }


def without_ids(found: explanations.Explanation, ids: Set[str], doubted: Set[str]) -> explanations.Explanation:
    """Without refuted causes, and doubted ones. Two mistakes at once do not take a refuted one's place: some fit."""
    gone = {cause for cause in found.matching if cause.id in ids}
    pairs = {cause for cause in found.matching if gone and cause.rank >= FIRST_PAIR}
    less = {cause for cause in found.matching if cause.id in doubted}
    return explanations.without_causes(found, frozenset(gone | pairs | less))


def chosen_causes(evidence: Evidence, plausible: Candidates) -> Chosen:
    """The cause of each candidate, weighed for each layout of the parameters: it may choose another kernel."""
    weights: dict[Group, Counter[explanations.Explanation]] = defaultdict(Counter)
    layouts = dict[Group, Group]()
    for (case, number), count in evidence.pairs.items():
        weights[evidence.layouts[case]][plausible[evidence.groups[case], number]] += count
        layouts[evidence.groups[case]] = evidence.layouts[case]
    settled = greedy_cover(list(weights.values()), [kind for kind, _ in weights])
    chosen = dict(zip(weights, settled, strict=True))
    return {key: chosen[layouts[key[0]]][found] for key, found in plausible.items()}
