"""One cause for all deviating elements of a kind of node: a single mistake, or two at once.

Pairs are tried in a case only if one of their mistakes explains much of it. Single mistakes that each explain a part of
a kind may hide that two at once explain all of it: those are tried here in every case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np

from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.explanations import NO_CAUSE
from tiebreak.conformance.causes.predictions import causes_of_pairs
from tiebreak.conformance.judging.rows import Group
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.problem import Array

FEWEST = 30  # elements of a kind; one of some thousand pairs fits fewer by chance
MOST_SINGLE, MOST_PAIRS = 4, 12  # that are tried for a kind


def causes_of_whole_kind(evidence: Evidence, every: Array, own: Array) -> Iterator[tuple[Array, Cause]]:
    """The cause that gives all elements of a kind and contradicts nothing, for those with another cause or none.

    It is asked where the kind has elements without a cause, or several causes. A single mistake comes before two. One
    of both mistakes stays where it is named: there it is enough. `own` are the places of the elements in `every`.
    """
    named = Counter(every[own].tolist())
    if len(own) < FEWEST or (len(named) == 1 and NO_CAUSE not in named):
        return
    if not all(evidence.has_one_output(place) for place in own.tolist()):
        return
    ids, table, counts = matching_table(evidence, own)
    singles = single_causes(evidence, own, ids, table, counts)
    for candidates in (singles, likely_pairs(evidence, own, ids, table, counts)):
        if fitting := fitting_causes(evidence, own, candidates):
            best = min(fitting, key=lambda one: (-parts_named(one, named), fitting.index(one)))
            parts = {best.id, *parts_of(best.id)}
            yield own[[cause.id not in parts for cause in every[own].tolist()]], best
            return


def matching_table(evidence: Evidence, own: Array) -> tuple[list[str], Array, Array]:
    """The ids of the causes that match some elements, a mask of them for each explanation, and its elements."""
    numbers, counts = np.unique(evidence.candidates[own], return_counts=True)
    matching = [
        {cause.id for cause in evidence.distinct[number].matching if not cause.by_position}
        for number in numbers.tolist()
    ]
    ids = sorted(set[str]().union(*matching))
    places = {one: place for place, one in enumerate(ids)}
    table = np.zeros((len(ids), len(matching)), bool)
    for column, found in enumerate(matching):
        table[[places[one] for one in found], column] = True
    return ids, table, counts


def single_causes(evidence: Evidence, own: Array, ids: Sequence[str], table: Array, counts: Array) -> list[Cause]:
    """The single mistakes that match all elements."""
    whole = {one for one, row in zip(ids, table, strict=True) if row.all()}
    found: dict[str, Cause] = {}
    for cause in sorted(evidence.distinct[int(evidence.candidates[own[0]])].matching, key=lambda one: one.rank):
        if cause.id in whole and not cause.by_position and cause.id not in found:
            found[cause.id] = cause
    return list(found.values())[:MOST_SINGLE]


def likely_pairs(evidence: Evidence, own: Array, ids: Sequence[str], table: Array, counts: Array) -> list[Cause]:
    """The pairs that explain the most elements, each together with what one of its mistakes explains."""
    places = {one: place for place, one in enumerate(ids)}
    nothing = np.zeros(table.shape[1], bool)
    case = evidence.cases[int(evidence.deviating.case[own[0]])]
    covered = dict[Cause, int]()
    for id_, cause in causes_of_pairs(case).items():
        first, second = (places.get(part) for part in parts_of(id_))
        if first is None or second is None:
            continue
        pair = table[places[id_]] if id_ in places else nothing
        covered[cause] = int(counts[table[first] | table[second] | pair].sum())
    return sorted(covered, key=lambda one: -covered[one])[:MOST_PAIRS]


def parts_of(id_: str) -> tuple[str, str]:
    first, _, second = id_.partition(JOINT)
    return first, second


def parts_named(cause: Cause, named: Mapping[Cause, int]) -> int:
    parts = {cause.id, *parts_of(cause.id)}
    return sum(count for one, count in named.items() if one.id in parts)


def fitting_causes(evidence: Evidence, own: Array, candidates: Sequence[Cause]) -> list[Cause]:
    """Those of some causes that give all elements of a kind and that nothing contradicts."""
    kind = evidence.kinds[int(evidence.deviating.case[own[0]])]
    groups: dict[Group, set[int]] = {
        group: set() for group, of in zip(evidence.groups, evidence.kinds, strict=True) if of == kind
    }
    wrong: dict[int, list[int]] = {}
    for case, index in zip(evidence.deviating.case[own].tolist(), evidence.deviating.index[own].tolist(), strict=True):
        wrong.setdefault(case, []).append(index)
        groups[evidence.groups[case]].add(case)
    left = list(candidates)
    for group, cases in groups.items():
        left = [one for one in left if gives_all(evidence, cases, wrong, one)]
        left = [one for one in left if not evidence.contradicted(group, True, one)]
    return left


def gives_all(evidence: Evidence, cases: Set[int], wrong: Mapping[int, Sequence[int]], cause: Cause) -> bool:
    given = ((case, evidence.given_by(case, cause)) for case in sorted(cases))
    return all(mask is not None and bool(mask[wrong[case]].all()) for case, mask in given)
