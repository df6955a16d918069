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
from tiebreak.conformance.causes.predictions import FIRST_PAIR, causes_of_pairs
from tiebreak.conformance.judging.rows import Group
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT, without_forms
from tiebreak.golden.problem import Array

FEWEST = 30  # elements of a kind; one of some thousand pairs fits fewer by chance
MOST_SINGLE, MOST_PAIRS = 4, 12  # that are tried for a kind
MOST_LOST = 10  # a cause may not hold on paths with fewer than one of so many operands: another kernel may run there


def causes_of_whole_kind(evidence: Evidence, every: Array, own: Array) -> Iterator[tuple[Array, Cause]]:
    """The cause that gives all elements of a kind and contradicts nothing, for those with another cause or none.

    A path with few of the operands may have a kernel of its own: the cause is not named there if it does not hold.
    Where two mistakes are at work, a name of its own that explains few there is by chance: it is none.

    It is asked where the kind has elements without a cause, or several causes. A single mistake comes before two, then
    what is named already, then the earlier one in the table. One of both mistakes stays where it is named: there it is
    enough. `own` are the places of the elements in `every`.
    """
    named = Counter(every[own].tolist())
    if len(own) < FEWEST or (len(named) == 1 and NO_CAUSE not in named):
        return
    ids, table, counts = matching_table(evidence, own)
    singles = single_causes(evidence, own, ids, table, counts)
    for candidates in (singles, likely_pairs(evidence, own, ids, table, counts)):
        if fitting := fitting_causes(evidence, own, candidates):
            best = min(fitting, key=lambda one: (-parts_named(one, named), one.rank))
            yield from named_by(evidence, every, own, best, fitting[best])
            return


def named_by(
    evidence: Evidence, every: Array, own: Array, best: Cause, paths: Set[Group]
) -> Iterator[tuple[Array, Cause]]:
    """The cause of a whole kind for what has another one or none on these paths, and none for what is by chance."""
    parts, causes = {without_forms(best.id), *parts_of(best.id)}, every[own].tolist()
    named = Counter(causes)
    other = np.array([without_forms(cause.id) not in parts for cause in causes], bool)
    there = np.array([evidence.group_of(place) in paths for place in own.tolist()], bool)
    yield own[other & there], best
    if JOINT in best.id:
        rare = np.array([named[cause] < FEWEST for cause in causes], bool)
        yield own[other & rare & ~there], NO_CAUSE


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
    """The single mistakes that match nearly all elements, the most likely first."""
    most = {one for one, row in zip(ids, table, strict=True) if len(own) > MOST_LOST * counts[~row].sum()}
    found: dict[str, Cause] = {}
    for number in np.unique(evidence.candidates[own]).tolist():
        for cause in evidence.distinct[number].matching:
            is_one = cause.id in most and cause.rank < FIRST_PAIR and not cause.by_position
            if is_one and (cause.id not in found or cause.rank < found[cause.id].rank):
                found[cause.id] = cause
    return in_all_forms(sorted(found.values(), key=lambda one: (one.rank, one.id)), MOST_SINGLE)


def likely_pairs(evidence: Evidence, own: Array, ids: Sequence[str], table: Array, counts: Array) -> list[Cause]:
    """The pairs that explain the most elements, by themselves or by one mistake, less those that contradict either."""
    plain = dict[str, Array]()
    for one, row in zip(ids, table, strict=True):
        plain[without_forms(one)] = plain.get(without_forms(one), False) | row
    nothing = np.zeros(table.shape[1], bool)
    case = evidence.cases[int(evidence.deviating.case[own[0]])]
    against, covered = against_by_id(evidence, own), dict[Cause, int]()
    for id_, cause in causes_of_pairs(case).items():
        first, second = (plain.get(part) for part in parts_of(id_))
        if first is None or second is None:
            continue
        explained = int(counts[first | second | plain.get(without_forms(id_), nothing)].sum())
        covered[cause] = explained - sum(against[part] for part in parts_of(id_))
    return in_all_forms(sorted(covered, key=lambda one: -covered[one]), MOST_PAIRS)


def in_all_forms(causes: Sequence[Cause], most: int) -> list[Cause]:
    """The first causes, so many but for the forms of their formulas."""
    first = set(list(dict.fromkeys(without_forms(cause.id) for cause in causes))[:most])
    return [cause for cause in causes if without_forms(cause.id) in first]


def against_by_id(evidence: Evidence, own: Array) -> Counter[str]:
    """How many conforming elements contradict each cause in its best form, in the cases of some elements' groups."""
    found = Counter[str]()
    for group in {evidence.groups[case] for case in np.unique(evidence.deviating.case[own]).tolist()}:
        least: dict[str, int] = {}
        for cause, count in evidence.against.get((group, True), {}).items():
            id_ = without_forms(cause.id)
            least[id_] = min(count, least.get(id_, count))
        found.update(least)
    return found


def parts_of(id_: str) -> tuple[str, str]:
    """Two mistakes that an id names at once, whatever their forms."""
    first, _, second = without_forms(id_).partition(JOINT)
    return first, second


def parts_named(cause: Cause, named: Mapping[Cause, int]) -> int:
    parts = {without_forms(cause.id), *parts_of(cause.id)}
    return sum(count for one, count in named.items() if without_forms(one.id) in parts)


def fitting_causes(evidence: Evidence, own: Array, candidates: Sequence[Cause]) -> dict[Cause, set[Group]]:
    """Those of some causes that hold on the paths with nearly all of a kind's operands that deviate, with these paths.

    On such a path a cause gives all elements that deviate, and contradicts none. Operands count once for each path:
    a hundred arrays of the same few numbers show no more than one.
    """
    cases, elements = indices_by_case(evidence, own), operands_by_group(evidence, own)
    every = elements.total()
    groups: dict[Group, list[int]] = {}
    for case in cases:
        groups.setdefault(evidence.groups[case], []).append(case)
    found = {cause: set[Group]() for cause in candidates}
    lost = Counter[Cause]()
    for group, within in sorted(groups.items(), key=lambda one: -elements[one[0]]):
        for cause in [one for one in found if every > MOST_LOST * lost[one]]:
            if gives_all(evidence, within, cases, cause) and not evidence.contradicted(group, True, cause, None):
                found[cause].add(group)
            else:
                lost[cause] += elements[group]
    return {cause: fits for cause, fits in found.items() if every > MOST_LOST * lost[cause]}


def operands_by_group(evidence: Evidence, own: Array) -> Counter[Group]:
    """How many different operands of some elements each group has."""
    found = zip(evidence.deviating.case[own].tolist(), evidence.deviating.operands[own].tolist(), strict=True)
    return Counter(group for group, _ in {(evidence.groups[case], operands) for case, operands in found})


def indices_by_case(evidence: Evidence, own: Array) -> dict[int, list[int]]:
    """The positions of a kind's deviating elements, by case."""
    found: dict[int, list[int]] = {}
    for case, index in zip(evidence.deviating.case[own].tolist(), evidence.positions[own].tolist(), strict=True):
        found.setdefault(case, []).append(index)
    return found


def gives_all(evidence: Evidence, within: Sequence[int], cases: Mapping[int, Sequence[int]], cause: Cause) -> bool:
    given = ((case, evidence.given_by(case, cause)) for case in within)
    return all(mask is not None and bool(mask[cases[case]].all()) for case, mask in given)
