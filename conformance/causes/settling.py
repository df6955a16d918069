"""Settles one of the candidate causes for each deviating element, in view of all results of a backend."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from types import MappingProxyType

import numpy as np

from tiebreak.conformance.causes import explanations
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.placed import Unexplained, placed_causes
from tiebreak.conformance.judging.deviating import DeviatingElements
from tiebreak.conformance.judging.rows import (
    Group,
    Kind,
    detailed_group_of,
    group_of,
    is_varying,
    kind_of_node,
    layout_of,
)
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import ENVIRONMENT, JOINT, without_environment
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import UNEXPLAINED
from tiebreak.reports.root_cause import BY_PATH, root_of

MOST_KNOWN_PAIRS = 4  # of a kind of node that are tried where they have not been
FEWEST = 6  # elements that a cause must have to be known from elsewhere, or to be named in one path only
Element = tuple[str, str, int]  # a case's id, an output's name, an index in it
Contradicted = Callable[[Group, bool, Cause], bool]  # bool: among all elements of the group, or all but pathological
# Which elements of a case, by its number, a cause gives; None if it contradicts one that conforms.
GivenBy = Callable[[int, Cause], Array | None]
Named = tuple[Group, bool, Cause]
Pairs = Counter[tuple[int, int]]  # deviating elements by their case's number and their candidates' number


@dataclass(frozen=True)
class Evidence:
    """A backend's cases, its deviating elements, the candidate causes of each, and the evidence against each cause.

    `sizes` are the numbers of elements of the cases. `candidates` has for each deviating element a number: its place in
    `distinct`. `against` counts the conforming elements that contradict a cause, by group: among all (True) or among
    those that are not pathological. `third` counts the deviating elements to which a cause gives a third result.
    `places` has the bits of the places of vector loops in which they are. `against_modes` counts the conforming
    elements that contradict a rounding mode, in all cases. `contradicted` says whether a conforming element of a case
    that `against` leaves out, since nothing deviates there, contradicts a cause. `needs` has by pair of mistakes those
    that change an element. `given_by` tries a cause in a case.
    """

    cases: Sequence[Case]
    sizes: Sequence[int]
    deviating: DeviatingElements
    candidates: Array
    distinct: Sequence[explanations.Explanation]
    against: Mapping[tuple[Group, bool], Counter[Cause]]
    third: Mapping[tuple[Group, bool], Counter[Cause]]
    places: Mapping[tuple[Group, bool], Mapping[Cause, int]]
    against_modes: Mapping[Group, Counter[str]]
    needs: Mapping[Group, Mapping[Cause, Set[str]]] = field(default_factory=dict)
    contradicted: Contradicted = lambda group, every, cause: False
    given_by: GivenBy = lambda case, cause: None
    about: str = ""  # the backend
    always_constant: frozenset[str] = frozenset()  # the operators whose parameters it always builds in
    in_detail: bool = False  # whether the groups are detailed, and each is a layout of its own

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kind of node of each case."""
        return [kind_of_node(case.node) for case in self.cases]

    @cached_property
    def groups(self) -> list[Group]:
        """The kind of node and the path of each case."""
        return [(detailed_group_of if self.in_detail else group_of)(case) for case in self.cases]

    @cached_property
    def layouts(self) -> list[Group]:
        """The kind of node of each case, and how its parameters are laid out."""
        if self.in_detail:
            return self.groups
        return [(kind, layout_of(case)) for kind, case in zip(self.kinds, self.cases, strict=True)]

    @cached_property
    def pairs(self) -> Pairs:
        return Counter(zip(self.deviating.case.tolist(), self.candidates.tolist(), strict=True))

    def only(self, places: Array) -> Evidence:
        """The evidence with some of the deviating elements."""
        columns = {column.name: getattr(self.deviating, column.name)[places] for column in fields(self.deviating)}
        return replace(self, deviating=DeviatingElements(**columns), candidates=self.candidates[places])

    def is_built_in(self, case: int) -> bool:
        """Whether all parameters of a case are constants when the backend compiles its node."""
        node = self.cases[case].node
        return node.operator in self.always_constant or len(node.baked) == len(node.inputs) - 1

    def group_of(self, place: int) -> Group:
        return self.groups[int(self.deviating.case[place])]

    def has_one_output(self, place: int) -> bool:
        case = int(self.deviating.case[place])
        return self.sizes[case] == self.cases[case].size

    def unexplained(self, place: int) -> Unexplained:
        size, index = self.sizes[int(self.deviating.case[place])], int(self.deviating.index[place])
        return Unexplained(index, size, self.distinct[int(self.candidates[place])].matching)

    def element(self, place: int) -> Element:
        found = self.deviating
        return self.cases[int(found.case[place])].id, found.output[place], int(found.index[place])


# Takes the elements of each kind of node with their settled causes, and returns the causes, some of them replaced.
Refine = Callable[[Mapping[Kind, Sequence[Element]], Sequence[Sequence[Cause]]], Sequence[Sequence[Cause]]]
Settled = tuple[Array, Array, Array]  # of each deviating element the cause's id, its text, and the clause


def settle_causes(
    evidence: Evidence,
    by_path: Mapping[Element, str] = MappingProxyType({}),
    refine: Refine = lambda elements, named: named,
    errors: ExplanationErrors | None = None,
) -> Settled:
    """The causes and clauses of the deviating elements, settled for each kind of node.

    `by_path` has the causes of elements whose operands have another answer elsewhere. `refine` may replace causes.
    A step that raises is noted in `errors`; its elements stay unexplained, or keep the cause that they had before.
    """
    errors = errors or ExplanationErrors()
    places = places_by_kind(evidence)
    chosen = causes_by_kind(evidence, places, errors)
    elements = {kind: [evidence.element(place) for place in own.tolist()] for kind, own in places.items()}
    refined = errors.attempt("the audit's engine", evidence.about, lambda: refine(elements, chosen), chosen)
    place = partial(with_placed_causes, evidence, list(places.values()), refined)
    refined = errors.attempt("causes in vector loops", evidence.about, place, refined)
    pairs = zip(refined, places.values(), strict=True)
    refined = [without_doubtful(causes, paths_of(evidence, own)) for causes, own in pairs]
    ids, texts = (np.full(len(evidence.deviating), UNEXPLAINED, object) for _ in range(2))
    clauses = np.array([first_clause(evidence.kinds[case]) for case in evidence.deviating.case.tolist()], object)
    for (kind, own), causes in zip(places.items(), refined, strict=True):
        write = partial(write_causes, kind, own, causes, (ids, texts, clauses))
        errors.attempt("clauses of causes", kind[0], write, None)
    found = ids, texts, clauses
    return errors.attempt("causes by path", evidence.about, lambda: with_path_causes(evidence, found, by_path), found)


def paths_of(evidence: Evidence, places: Array) -> list[str]:
    """The path of each element; built-in parameters make a path of their own."""
    return [
        f"{evidence.groups[case][1]} {case if evidence.is_built_in(case) else ''}"
        for case in evidence.deviating.case[places].tolist()
    ]


def without_doubtful(causes: Sequence[Cause], paths: Sequence[str]) -> list[Cause]:
    """The causes of one kind's elements without those that explain fewer of them than stay unexplained.

    Where most is unexplained, something is at work that no table knows, and a part of it may look like anything. Nor
    can a node round by two modes: if several explain something on one path, none of them is the cause.
    """
    counts, modes = Counter(zip(paths, causes, strict=True)), defaultdict[str, set[str]](set)
    for path, cause in counts:
        if cause.mode and not cause.by_position:
            modes[path].add(cause.mode)
    doubtful = {
        (path, cause)
        for (path, cause), count in counts.items()
        if count < counts[path, explanations.NO_CAUSE] or (cause.mode and len(modes[path]) > 1)
    }
    return [explanations.NO_CAUSE if one in doubtful else one[1] for one in zip(paths, causes, strict=True)]


def with_placed_causes(
    evidence: Evidence, places: Sequence[Array], named: Sequence[Sequence[Cause]]
) -> list[list[Cause]]:
    """The causes of each kind's elements (indices), where one has none that of a place in a vector loop."""
    found = [list(causes) for causes in named]
    without: dict[tuple[Group, bool], list[tuple[list[Cause], int, int]]] = defaultdict(list)
    for own, causes in zip(places, found, strict=True):
        for number, (place, cause) in enumerate(zip(own.tolist(), causes, strict=True)):
            if cause == explanations.NO_CAUSE and evidence.has_one_output(place):
                strange = evidence.distinct[int(evidence.candidates[place])].pathological
                without[evidence.group_of(place), strange].append((causes, number, place))
    varying = {kind for kind, path in evidence.groups if is_varying(path)}
    for key, elements in without.items():
        unexplained = [evidence.unexplained(place) for _, _, place in elements]
        (kind, path), _ = key
        prefix = "per-tensor-" if kind in varying and not is_varying(path) else ""
        none: Mapping[Cause, int] = {}
        against, third = evidence.against.get(key, none), evidence.third.get(key, none)
        placed = placed_causes(unexplained, against, third, evidence.places.get(key, none), prefix)
        for (causes, number, _), better in zip(elements, placed, strict=True):
            causes[number] = better or causes[number]
    return found


def places_by_kind(evidence: Evidence) -> dict[Kind, Array]:
    """The deviating elements of each kind of node, in the order in which the kinds first occur."""
    places: dict[Kind, list[int]] = defaultdict(list)
    for place, case in enumerate(evidence.deviating.case.tolist()):
        places[evidence.kinds[case]].append(place)
    return {kind: np.array(own) for kind, own in places.items()}


def causes_by_kind(evidence: Evidence, places: Mapping[Kind, Array], errors: ExplanationErrors) -> list[list[Cause]]:
    """The causes of each kind's elements, weighed over all kinds; if that raises, each kind by itself."""
    together = errors.attempt("weighing causes", evidence.about, lambda: weighed_causes(evidence, places), [])
    if len(together) == len(places):
        return together
    found = []
    for kind, own in places.items():
        none, alone = [[explanations.NO_CAUSE] * len(own)], {kind: np.arange(len(own))}
        about = f"{evidence.about}, {' '.join(kind)}"
        found += errors.attempt("weighing causes", about, partial(weighed_causes, evidence.only(own), alone), none)
    return found


def weighed_causes(evidence: Evidence, places: Mapping[Kind, Array]) -> list[list[Cause]]:
    """The causes of each kind's elements; what has none is weighed again, path by path and node by node."""
    every = np.array(checked_causes(evidence) or [explanations.NO_CAUSE], object)[: len(evidence.deviating)]
    counts = Counter(cause.id for cause in every.tolist())
    known = {cause for cause, count in counts.items() if count >= FEWEST}
    for further in (causes_in_detail, causes_of_built_in):
        left = np.flatnonzero([cause == explanations.NO_CAUSE for cause in every.tolist()])
        for some, cause in further(evidence, left, known):
            every[some] = cause
    for some, cause in causes_of_known_pairs(evidence, every):
        every[some] = cause
    return [every[own].tolist() for own in places.values()]


def checked_causes(evidence: Evidence) -> list[Cause]:
    """The cause of each element. One that a case without deviations contradicts makes way for another."""
    plausible, checked = plausible_candidates(evidence), set[Named]()
    while new := named_by(evidence, chosen := chosen_causes(evidence, plausible)) - checked:
        checked |= new
        refuted: dict[tuple[Group, bool], set[str]] = defaultdict(set)
        for group, every, cause in new:
            if evidence.contradicted(group, every, cause):
                refuted[group, every].add(cause.id)
        plausible = {
            (group, number): without_ids(found, refuted[group, found.pathological])
            for (group, number), found in plausible.items()
        }
    cases, numbers = evidence.deviating.case, evidence.candidates
    return [chosen[evidence.groups[case], n] for case, n in zip(cases.tolist(), numbers.tolist(), strict=True)]


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
    owners = evidence.deviating.case[places]
    for case in np.unique(owners).tolist():
        if not evidence.is_built_in(case):
            continue
        some = np.flatnonzero(owners == case)
        found = [evidence.distinct[number].consistent for number in evidence.candidates[places[some]].tolist()]
        fits = [cause for cause in frozenset.intersection(*found) if cause.id in known and not cause.by_position]
        if fits:
            yield places[some], min(fits, key=lambda cause: (JOINT in cause.id, cause.rank, cause.id))


def causes_of_known_pairs(evidence: Evidence, every: Array) -> Iterator[tuple[Array, Cause]]:
    """Two mistakes at once that a kind's other cases show, for the elements that they give of those without a cause.

    They have not been tried in every case. One that contradicts something in a case gets nothing there. They also take
    the elements of one of both, where they have more than this one alone: a case may not tell them apart.
    """
    counts: dict[Kind, Counter[Cause]] = defaultdict(Counter)
    for case, cause in zip(evidence.deviating.case.tolist(), every.tolist(), strict=True):
        counts[evidence.kinds[case]][cause] += 1
    for kind, named in counts.items():
        known = [(cause, n) for cause, n in named.most_common() if JOINT in cause.id and n >= FEWEST]
        for pair, count in known[:MOST_KNOWN_PAIRS]:
            parts = {cause for cause in named if cause.id in pair.id.split(JOINT) and named[cause] < count}
            yield from elements_of_pair(evidence, every, kind, pair, {explanations.NO_CAUSE, *parts})


def elements_of_pair(
    evidence: Evidence, every: Array, kind: Kind, pair: Cause, instead_of: Set[Cause]
) -> Iterator[tuple[Array, Cause]]:
    """The elements of a kind that a pair gives, by case, among those that have some other causes or none."""
    cases, left = evidence.deviating.case, np.array([cause in instead_of for cause in every.tolist()], bool)
    own = [case for case in np.unique(cases[left]).tolist() if evidence.kinds[case] == kind]
    for case in sorted(own, key=lambda case: evidence.groups[case]):
        some = np.flatnonzero(left & (cases == case))
        if evidence.has_one_output(int(some[0])):
            given = evidence.given_by(case, pair)
            if given is not None:
                yield some[given[evidence.deviating.index[some]]], pair


def named_by(evidence: Evidence, chosen: Mapping[tuple[Group, int], Cause]) -> set[Named]:
    """The causes that are named, by group, but for modes, which all cases have been compared with."""
    return {
        (group, evidence.distinct[number].pathological, cause)
        for (group, number), cause in chosen.items()
        if cause.id != UNEXPLAINED and not cause.mode
    }


def without_ids(found: explanations.Explanation, ids: Set[str]) -> explanations.Explanation:
    """Without refuted causes. Two mistakes at once do not take the place of one: some pair fits any few."""
    gone = {cause for cause in found.matching if cause.id in ids}
    pairs = {cause for cause in found.matching if gone and cause.rank >= explanations.FIRST_PAIR}
    return explanations.without_causes(found, frozenset(gone | pairs))


def chosen_causes(
    evidence: Evidence, plausible: Mapping[tuple[Group, int], explanations.Explanation]
) -> dict[tuple[Group, int], Cause]:
    """The cause of each candidate, weighed for each layout of the parameters: it may choose another kernel."""
    weights: dict[Group, Counter[explanations.Explanation]] = defaultdict(Counter)
    layouts = dict[Group, Group]()
    for (case, number), count in evidence.pairs.items():
        weights[evidence.layouts[case]][plausible[evidence.groups[case], number]] += count
        layouts[evidence.groups[case]] = evidence.layouts[case]
    settled = explanations.greedy_cover(list(weights.values()), [kind for kind, _ in weights])
    chosen = dict(zip(weights, settled, strict=True))
    return {key: chosen[layouts[key[0]]][found] for key, found in plausible.items()}


def write_causes(kind: Kind, places: Array, causes: Sequence[Cause], columns: Settled) -> None:
    """Write the ids, texts and clauses of one kind's causes."""
    known = {cause: (cause.id, cause.text, clause_of(kind, cause)) for cause in dict.fromkeys(causes)}
    for column, values in zip(columns, zip(*(known[cause] for cause in causes), strict=True), strict=True):
        column[places] = values


def with_path_causes(evidence: Evidence, settled: Settled, by_path: Mapping[Element, str]) -> Settled:
    """The causes with those of `by_path`, each with the clause that most of its elements had."""
    if not by_path:
        return settled
    ids, texts, clauses = (column.copy() for column in settled)
    named = [by_path.get(evidence.element(place), "") for place in range(len(texts))]
    operators = [evidence.kinds[case][0] for case in evidence.deviating.case.tolist()]
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for key, clause in zip(zip(operators, named, strict=True), clauses, strict=True):
        counts[key][clause] += 1
    for place, (operator, text) in enumerate(zip(operators, named, strict=True)):
        if text:
            ids[place], texts[place] = id_by_path(text), text
            clauses[place] = counts[operator, text].most_common(1)[0][0]
    return ids, texts, clauses


def id_by_path(text: str) -> str:
    """The id of a path-dependent cause: its text without the answers, which differ between elements."""
    return f"path-dependent:{root_of(text).removeprefix(BY_PATH)}"


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


def clause_of(kind: Kind, cause: Cause) -> str:
    """The clause that a cause breaks; the operator's first clause if that is not known, or leaves its subject open."""
    spec = get_operator(kind[0])
    broken = spec.mode_clause(kind[1]) if cause.role == "mode" else spec.roles.get(cause.role, "")
    says_something = {clause.id for clause in spec.clauses if not clause.unspecified}
    return broken if broken in says_something else spec.clauses[0].id


def first_clause(kind: Kind) -> str:
    """The clause of a deviating element until its cause is known: on the rounding mode, or the operator's first."""
    return clause_of(kind, explanations.NO_CAUSE)
