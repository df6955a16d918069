"""Why an element deviates: compares the predictions of common mistakes with the backend's outputs.

Every hypothesis predicts a whole case. If it contradicts an element on which the backend conforms, it is named only
where nothing better explains a deviating element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from tiebreak.conformance.causes.comparing import ComparedCase
from tiebreak.conformance.causes.places import contradicted_places, layout_of_input
from tiebreak.conformance.judging.judge import Judgement
from tiebreak.conformance.judging.truths import Truth
from tiebreak.conformance.operators.model import Cause
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import UNEXPLAINED

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
    found = ComparedCase(judgement, truth, strange, layout_of_input(case))
    found.add(predicted)
    if not found.explains_all:
        found.add_pairs(pairs(likely_of_pairs(found)))
    if not found.numbers:
        return no_explanations(int(np.count_nonzero(found.wrong)))
    table = np.concatenate([found.consistent, found.matching, [strange[found.wrong]]])
    first, numbers = distinct_columns(table)
    distinct = tuple(explanation_of(list(found.numbers), table[:, column]) for column in first)
    against, third = ({every: Counter(counts) for every, counts in one.items()} for one in (found.against, found.third))
    places = {every: contradicted_places(some, against[every]) for every, some in found.places.items()}
    return CaseExplanations(distinct, numbers, against, third, places, found.needs)


def likely_of_pairs(found: ComparedCase) -> frozenset[str]:
    """The ids of the causes that explain the most elements, less those that contradict them."""
    counts = Counter[str]()
    for cause, number in found.numbers.items():
        count = int(np.count_nonzero(found.matching[number]))
        if count and not cause.by_position:
            counts[cause.id] = max(count - found.against[True][cause], counts[cause.id])
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
