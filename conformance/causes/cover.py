"""One cause for each explanation of a backend's elements, by greedy set cover."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence

from tiebreak.conformance.causes.explanations import NO_CAUSE, Explanation
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT, keys_of

FEWEST_BY_POSITION = 30  # elements; fewer may fit some pattern of positions by chance
FEWEST_OF_PAIRS = 3  # elements; one of some hundred pairs of mistakes fits fewer by chance


def greedy_cover(
    groups: Sequence[Mapping[Explanation, int]], kinds: Sequence[Hashable] = ()
) -> list[dict[Explanation, Cause]]:
    """One cause for each explanation; a group counts its elements by explanation. `kinds` says which are of one kind.

    In each group, the cause that explains the most elements is named first, then the next. A backend may have two
    faults. So a cause that contradicts elements of a case is still named there if it is named elsewhere without a
    contradiction. A cause that depends on positions is named only where no other fits.

    Of causes that explain as much of a group, the one that explains more of the kind is named. After that a single
    mistake comes before two at once, then what explains more in all groups, then the earlier one in the table. Of pairs
    with one place in it comes the one whose mistakes explain more of the kind alone.
    """
    plain = [{e: frozenset(c for c in e.consistent if not c.by_position) for e in group} for group in groups]
    pairs = list(zip(groups, plain, strict=True))
    by_group = [counted_ids(group, own) for group, own in pairs]  # by id: tables rank a cause differently
    by_kind: dict[Hashable, Counter[str]] = defaultdict(Counter)
    kinds = kinds or range(len(groups))
    for kind, counts in zip(kinds, by_group, strict=True):
        by_kind[kind].update(counts)
    prior = sum(by_group, Counter[str]())
    accepted = frozenset(
        cause
        for kind, (group, own) in zip(kinds, pairs, strict=True)
        for cause in cover_sets(weighed_sets(group, own), by_kind[kind], prior).values()
    )
    settled = []
    for kind, (group, own) in zip(kinds, pairs, strict=True):
        tiers = {e: own[e] or e.matching & accepted or e.consistent for e in group}
        chosen = cover_sets(weighed_sets(group, tiers), by_kind[kind], prior)
        settled.append({e: chosen[causes] for e, causes in tiers.items()})
    seen: Counter[Cause] = Counter()
    for group, causes_of in zip(groups, settled, strict=True):
        for explanation, count in group.items():
            seen[causes_of[explanation]] += count
    rare = {cause for cause, count in seen.items() if count < fewest_of(cause)}
    none = NO_CAUSE
    return [{e: none if cause in rare else cause for e, cause in one.items()} for one in settled]


def counted_ids(group: Mapping[Explanation, int], sets: Mapping[Explanation, frozenset[Cause]]) -> Counter[str]:
    """How many elements of a group each cause explains, by its id."""
    found: Counter[str] = Counter()
    for explanation, count in group.items():
        for cause in sets[explanation]:
            found[cause.id] += count
    return found


def fewest_of(cause: Cause) -> int:
    """How many elements a cause must explain to be named."""
    return FEWEST_BY_POSITION if cause.by_position else FEWEST_OF_PAIRS if JOINT in cause.id else 1


def weighed_sets(
    group: Mapping[Explanation, int], sets: Mapping[Explanation, frozenset[Cause]]
) -> Counter[frozenset[Cause]]:
    """How many elements of a group have each set of causes."""
    found: Counter[frozenset[Cause]] = Counter()
    for explanation, count in group.items():
        found[sets[explanation]] += count
    return found


def cover_sets(
    sets: Mapping[frozenset[Cause], int], of_kind: Counter[str], prior: Counter[str]
) -> dict[frozenset[Cause], Cause]:
    """A cause for each set, by greedy set cover: the most frequent first, then the one that greedy_cover says.

    Causes are weighed by their ids: tables rank one cause differently. `of_kind` and `prior` count elements by id.
    """
    left = dict(sets)
    chosen = {frozenset[Cause](): NO_CAUSE}
    left.pop(frozenset(), None)
    while left:
        weight, ranks = Counter[str](), dict[str, int]()
        for causes, count in left.items():
            for name, rank in {cause.id: cause.rank for cause in causes}.items():
                weight[name] += count
                ranks[name] = min(rank, ranks.get(name, rank))
        alone = {one: sum(of_kind[key] for key in keys_of(one)) for one in weight}
        best = min(
            weight,
            key=lambda one: (-weight[one], -of_kind[one], JOINT in one, -prior[one], ranks[one], -alone[one], one),
        )
        named = {causes: [cause for cause in causes if cause.id == best] for causes in left}
        chosen |= {causes: own[0] for causes, own in named.items() if own}
        left = {causes: count for causes, count in left.items() if not named[causes]}
    return chosen
