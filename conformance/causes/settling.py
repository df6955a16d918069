"""Settles one of the candidate causes for each deviating element, in view of all results of a backend."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from tiebreak.conformance.causes import explanations
from tiebreak.conformance.causes.clauses import clauses_of
from tiebreak.conformance.causes.evidence import Element, Evidence
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.placing import with_placed_causes
from tiebreak.conformance.causes.rare import without_rare
from tiebreak.conformance.causes.weighing import weighed_causes
from tiebreak.conformance.judging.rows import Kind
from tiebreak.conformance.operators.model import Cause
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import UNEXPLAINED
from tiebreak.reports.root_cause import BY_PATH, root_of

# Takes the elements of each kind of node with their settled causes, and returns the causes, some of them replaced.
Refine = Callable[[Mapping[Kind, Sequence[Element]], Sequence[Sequence[Cause]]], Sequence[Sequence[Cause]]]
AS_MANY = 0.5  # of the elements of a cause with one result: so many without a cause that have it speak against it
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
    random = evidence.deviating.random
    refined = [
        without_constant(evidence, own, without_doubtful(causes, paths_of(evidence, own), random[own].tolist()))
        for causes, own in pairs
    ]
    several = partial(without_rare, evidence, list(places.values()), refined)
    refined = errors.attempt("causes of few operands", evidence.about, several, refined)
    settled = np.full(len(evidence.deviating), explanations.NO_CAUSE, object)
    for own, causes in zip(places.values(), refined, strict=True):
        settled[own] = causes
    ids, texts = (np.array([getattr(one, name) for one in settled], object) for name in ("id", "text"))
    found = ids, texts, clauses_of(evidence, settled.tolist(), errors)
    return errors.attempt("causes by path", evidence.about, lambda: with_path_causes(evidence, found, by_path), found)


def paths_of(evidence: Evidence, places: Array) -> list[str]:
    """The path of each element; built-in parameters make a path of their own."""
    return [
        f"{evidence.groups[case][1]} {case if evidence.is_built_in(case) else ''}"
        for case in evidence.deviating.case[places].tolist()
    ]


def without_doubtful(causes: Sequence[Cause], paths: Sequence[str], random: Sequence[bool]) -> list[Cause]:
    """The causes of one kind's elements without those that explain fewer of them than stay unexplained.

    Where most is unexplained, something is at work that no table knows, and a part of it may look like anything. Nor
    can a node round by two modes: if several explain something on one path, none of them is the cause. Elements with
    answers `random` are no arithmetic's, and do not count among the unexplained.
    """
    counts, modes = Counter(zip(paths, causes, strict=True)), defaultdict[str, set[str]](set)
    nameless = [one == explanations.NO_CAUSE for one in causes]
    counts -= Counter((p, explanations.NO_CAUSE) for p, *both in zip(paths, nameless, random, strict=True) if all(both))
    for path, cause in counts:
        if cause.mode and not cause.by_position:
            modes[path].add(cause.mode)
    doubtful = {
        (path, cause)
        for (path, cause), count in counts.items()
        if count < counts[path, explanations.NO_CAUSE] or (cause.mode and len(modes[path]) > 1)
    }
    return [explanations.NO_CAUSE if one in doubtful else one[1] for one in zip(paths, causes, strict=True)]


def without_constant(evidence: Evidence, own: Array, causes: Sequence[Cause]) -> list[Cause]:
    """The causes of one kind's elements (places) without those of one result that their cases have without them, too.

    One result shows no arithmetic. Where half as many elements of the same cases have it and no cause, something else
    gives it to all of them.
    """
    cases, results = (column[own].tolist() for column in (evidence.deviating.case, evidence.deviating.got_bits))
    elements = Counter(zip(causes, cases, results, strict=True))
    given = defaultdict[Cause, Counter[tuple[int, int]]](Counter)
    for (cause, case, result), count in elements.items():
        given[cause][case, result] = count
    nameless = given.pop(explanations.NO_CAUSE, Counter[tuple[int, int]]())
    constant = {
        cause
        for cause, counts in given.items()
        if len({result for _, result in counts}) == 1
        and sum(nameless[key] for key in counts) >= AS_MANY * counts.total()
    }
    return [explanations.NO_CAUSE if cause in constant else cause for cause in causes]


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
        if text and ids[place] == UNEXPLAINED:
            ids[place], texts[place] = id_by_path(text), text
            clauses[place] = counts[operator, text].most_common(1)[0][0]
    return ids, texts, clauses


def id_by_path(text: str) -> str:
    """The id of a path-dependent cause: its text without the answers, which differ between elements."""
    return f"path-dependent:{root_of(text).removeprefix(BY_PATH)}"
