"""Why an element deviates: compares the predictions of common mistakes with the backend's outputs.

Every hypothesis predicts a whole case. If it contradicts an element on which the backend conforms, it is named only
where nothing better explains a deviating element.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from tiebreak.conformance.causes.places import Span, contradicted_places, may_be_placed, span_of
from tiebreak.conformance.judging.judge import Judgement
from tiebreak.conformance.judging.truths import Truth
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import DEVIATES, UNEXPLAINED, UNSPECIFIED

MOST_LIKELY_OF_PAIRS = 4  # single mistakes with which pairs are tried in a case that none explains
NO_CAUSE = Cause(UNEXPLAINED, "mode")
NOTHING: Mapping[bool, Counter[Cause]] = {False: Counter(), True: Counter()}


@dataclass(frozen=True)
class Explanation:
    """The causes that predict one deviating element.

    `matching`: all of them. `consistent`: those that also predict every conforming element of the case. Of an element
    that is not `pathological` only the others like it count: an environment that flushes subnormals changes no others.
    """

    consistent: frozenset[Cause] = frozenset()
    matching: frozenset[Cause] = frozenset()
    pathological: bool = False


@dataclass(frozen=True)
class CaseExplanations:
    """What known mistakes say of one case's outputs.

    `distinct` are the explanations that occur, `numbers` each deviating element's place in it, in order. The others are
    by cause: under True for all elements, under False for those that are not pathological. `against` says how many
    conforming elements contradict it, `third` to how many deviating ones it would give a third result. `places` has the
    bits of the places in which it is contradicted. `needs` has by pair of mistakes those without which an element that
    it gives would be another.
    """

    distinct: tuple[Explanation, ...]
    numbers: Array
    against: Mapping[bool, Counter[Cause]]
    third: Mapping[bool, Counter[Cause]]
    places: Mapping[bool, Mapping[Cause, int]]
    needs: Mapping[Cause, Set[str]] = field(default_factory=dict)


def no_explanations(elements: int) -> CaseExplanations:
    return CaseExplanations((Explanation(),), np.zeros(elements, np.int64), NOTHING, NOTHING, {})


PairsAmong = Callable[[frozenset[str]], Sequence[tuple[Cause, Array]]]


def no_pairs(among: frozenset[str]) -> Sequence[tuple[Cause, Array]]:
    return ()


def explanations(
    case: Case,
    judgement: Judgement,
    truth: Truth,
    predicted: Sequence[tuple[Cause, Array]],
    strange: Array,
    pairs: PairsAmong = no_pairs,
) -> CaseExplanations:
    """Explain the deviating elements of a case by the `predictions` of the known mistakes.

    `strange` masks the pathological elements. `pairs` gives the predictions of two mistakes at once. It is asked only
    where no single one explains all elements, for pairs with one of those that explain the most.
    """
    wrong = judgement.grades == DEVIATES
    right = ~wrong & (judgement.grades != UNSPECIFIED)
    causes: dict[Cause, int] = {}
    matching, consistent = list[Array](), list[Array]()
    against, third = ({False: dict[Cause, int](), True: dict[Cause, int]()} for _ in range(2))
    spans: dict[bool, list[tuple[Cause, Span]]] = {False: [], True: []}
    judged = right | wrong
    given, needs = dict[str, Array](), defaultdict[Cause, set[str]](set)
    single = len(predicted)
    further = further_pairs(causes, consistent, matching, against[True], pairs)
    for order, (cause, codes) in enumerate(chain(predicted, further)):
        match = codes == judgement.values
        if cause.by_position and not (case.size >= 2 * cause.width and match[judged].all()):
            continue
        if order >= single:
            needs[cause] |= needed_of_pair(cause.id, match & judged, given)
        given[cause.id] = given.get(cause.id, False) | match
        number = causes.setdefault(cause, len(causes))
        if number == len(matching):
            matching.append(np.zeros(np.count_nonzero(wrong), bool))
            consistent.append(matching[number].copy())
        matching[number] |= match[wrong]
        other = wrong & ~match & (codes != truth.exact) & (codes != truth.working)
        for every, inside in ((False, ~strange), (True, np.ones_like(strange))):
            contradicted = right & ~match & inside
            for counts, mask in ((against[every], contradicted), (third[every], other & inside)):
                count = int(np.count_nonzero(mask))
                counts[cause] = min(count, counts.get(cause, count))
            if against[every][cause] and may_be_placed(cause):
                spans[every].append((cause, span_of(contradicted)))
            if not contradicted.any():
                consistent[number] |= (match & (strange == every))[wrong]
    if not causes:
        return no_explanations(int(np.count_nonzero(wrong)))
    table = np.concatenate([consistent, matching, [strange[wrong]]])
    first, numbers = distinct_columns(table)
    distinct = [explanation_of(list(causes), table[:, column]) for column in first]
    counted = [{every: Counter(found) for every, found in one.items()} for one in (against, third)]
    places = {every: contradicted_places(found, case.size, against[every]) for every, found in spans.items()}
    return CaseExplanations(tuple(distinct), numbers, counted[0], counted[1], places, needs)


def needed_of_pair(id_: str, match: Array, given: Mapping[str, Array]) -> set[str]:
    """Which of two mistakes change an element that both together give (a mask), by what single ones give.

    One of which nothing is known alone counts as needed.
    """
    first, *others = id_.split(JOINT)
    second = JOINT.join(others)
    needed = {one for one, other in ((first, second), (second, first)) if (match & ~given.get(other, False)).any()}
    return needed | {one for one in (first, second) if one not in given and match.any()}


def further_pairs(
    causes: Mapping[Cause, int],
    consistent: Sequence[Array],
    matching: Sequence[Array],
    against: Mapping[Cause, int],
    pairs: PairsAmong,
) -> Iterator[tuple[Cause, Array]]:
    """The predictions of pairs with a single mistake that explains much, where none explains all elements."""
    if not any(found.all() for found in consistent):
        yield from pairs(likely_of_pairs(causes, matching, against))


def likely_of_pairs(
    causes: Mapping[Cause, int], matching: Sequence[Array], against: Mapping[Cause, int]
) -> frozenset[str]:
    """The ids of the causes that explain the most elements, less those that contradict them."""
    counts = Counter[str]()
    for cause, number in causes.items():
        count = int(np.count_nonzero(matching[number]))
        if count and not cause.by_position:
            counts[cause.id] = max(count - against[cause], counts[cause.id])
    return frozenset(name for name, _ in counts.most_common(MOST_LIKELY_OF_PAIRS))


def distinct_columns(table: Array) -> tuple[Array, Array]:
    """The places of the distinct columns of a table of booleans, and which of them each column is."""
    bits = np.ascontiguousarray(np.packbits(table, axis=0).T)
    _, first, numbers = np.unique(bits.view(f"V{bits.shape[1]}").reshape(-1), return_index=True, return_inverse=True)
    return first, numbers.reshape(-1)


def explanation_of(causes: Sequence[Cause], holds: Array) -> Explanation:
    """The explanation for which `holds` says which causes are consistent, which match, and if it is pathological."""
    *parts, strange = np.split(holds, [len(causes), 2 * len(causes)])
    consistent, matching = (frozenset(causes[i] for i in np.flatnonzero(part).tolist()) for part in parts)
    return Explanation(consistent, matching, bool(strange[0]))


def without_causes(explanation: Explanation, refuted: frozenset[Cause]) -> Explanation:
    kept = explanation.consistent - refuted, explanation.matching - refuted
    return replace(explanation, consistent=kept[0], matching=kept[1])
