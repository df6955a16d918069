"""Which clause each deviating element breaks, told by the steps of its operator's term and by its cause."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tiebreak.conformance.causes.broken import KINDS, broken_clauses, clause_of_cause, clause_of_role
from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.parting import Parting, partings
from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.families import parts
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.operators import get_operator
from tiebreak.golden.operators.model import ARITHMETIC
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import UNEXPLAINED

UNKNOWN = (Parting(()),)


@dataclass(frozen=True)
class Options:
    """The clauses that an element may break: `said` is its cause's, `told` are those of steps that give its result.

    `against` are those of them that speak against what is said, and `last` is the one if none is known.
    """

    said: str
    told: tuple[str, ...]
    against: tuple[str, ...]
    last: str


def clauses_of(evidence: Evidence, causes: Sequence[Cause], errors: ExplanationErrors) -> Array:
    """The clause that each deviating element breaks in its own node.

    A cause that is one mistake breaks the clause that it is about, unless a change of another step gives all of its
    elements, and none of that step does. Any other element goes by itself.
    """
    options = options_of(evidence, causes, errors)
    cases = evidence.deviating.case.tolist()
    groups = [(evidence.cases[case].node.operator, cause) for case, cause in zip(cases, causes, strict=True)]
    counts: dict[Hashable, Counter[str]] = defaultdict(Counter)
    for group, one in zip(groups, options, strict=True):
        counts[group].update(one.against)
    sizes = Counter(groups)
    by_all = {group: [clause for clause, times in counts[group].items() if times == size] for group, size in sizes.items()}
    pairs = zip(options, groups, strict=True)
    return np.array([clause_in(one, by_all[group], group[1]) for one, group in pairs], object)


def clause_in(one: Options, by_all: Sequence[str], cause: Cause) -> str:
    if cause.id != UNEXPLAINED and JOINT not in cause.id:
        if one.said and (one.said in by_all or not by_all):
            return one.said
        if by_all:
            return by_all[0]
    return one.told[0] if one.told else one.said or one.last


def options_of(evidence: Evidence, causes: Sequence[Cause], errors: ExplanationErrors) -> list[Options]:
    """A mode is what its cause says, so that no step need be looked for."""
    found = evidence.deviating
    modes = [bool(cause.mode and clause_of_role(evidence.cases[case].node, cause.role)) for case, cause in zip(found.case.tolist(), causes)]
    places = np.flatnonzero(~np.array(modes, bool))
    none = [UNKNOWN] * len(places)
    told = errors.attempt("where results part", evidence.about, partial(partings_of, evidence, places), none)
    every = dict(zip(places.tolist(), told, strict=True))
    columns = zip(found.case.tolist(), causes, found.parted.tolist(), strict=True)
    keys = [(*key, every.get(place, UNKNOWN)) for place, key in enumerate(columns)]
    known = {key: options_in(evidence, *key) for key in {*keys}}
    return [known[key] for key in keys]


def options_in(evidence: Evidence, case: int, cause: Cause, parted: int, told: Sequence[Parting]) -> Options:
    """The options of an element in the case with this number."""
    node, exercised = evidence.cases[case].node, evidence.exercised_in(case)
    *steps, last = [(one.kind, broken_clauses(node, one, parted, exercised)) for one in told]
    steps.sort(key=lambda one: one[0] != KINDS.get(parted, one[0]))
    said = clause_of_cause(node, cause, parted, exercised)
    spec = get_operator(node.operator)
    weak = ("rounding",) if said else ()
    told_by, against = (
        tuple(dict.fromkeys(clause for kind, own in steps for clause in own if kind not in left_out))
        for left_out in ((), weak)
    )
    if said and spec.kind(spec.clause(said)) not in ARITHMETIC:
        against = ()
    if said in told_by and said not in against:
        against = (said, *against)
    return Options(said, told_by, against, last[1][0])


def partings_of(evidence: Evidence, places: Array) -> list[tuple[Parting, ...]]:
    """The partings of the deviating elements at these places."""
    cases, told = evidence.deviating.case[places], dict[int, tuple[Parting, ...]]()
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for case in np.unique(cases).tolist():
        node = evidence.cases[case].node
        alike[node.operator, *node.modes].append(case)
    for (_, *modes), numbers in alike.items():
        own = places[np.isin(cases, numbers)]
        told.update(zip(own.tolist(), partings_in(evidence, own, numbers, modes), strict=True))
    return [told[place] for place in places.tolist()]


def partings_in(
    evidence: Evidence, places: Array, numbers: Sequence[int], modes: Sequence[str]
) -> list[tuple[Parting, ...]]:
    """The same of cases with these numbers, whose nodes allow these modes."""
    chunk = Chunk(tuple(evidence.cases[number] for number in numbers))
    at = chunk.starts[np.searchsorted(numbers, evidence.deviating.case[places])] + evidence.positions[places]
    wanted, bits = np.zeros(chunk.size, bool), np.zeros(chunk.size, np.uint64)
    wanted[at], bits[at] = True, evidence.deviating.got_bits[places]
    found: dict[int, tuple[Parting, ...]] = {}
    for _, elements, problem in parts(chunk.families, wanted):
        posed = replace(problem, mode=modes[0]) if modes else problem
        found.update(zip(elements.tolist(), partings(posed, bits[elements]), strict=True))
    return [found[place] for place in at.tolist()]
