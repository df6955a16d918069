"""Which clause each deviating element breaks, told by the steps of its operator's term and by its cause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

from tiebreak.conformance.causes.broken import KINDS, broken_clauses, clause_of_cause
from tiebreak.conformance.causes.evidence import Evidence
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.parting import Parting
from tiebreak.conformance.judging.chunk import Chunk
from tiebreak.conformance.judging.deviating import AT_ROUNDING
from tiebreak.conformance.judging.families import joined, parts
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.operators import get_operator
from tiebreak.golden.operators.model import ARITHMETIC, Kind
from tiebreak.golden.oracle import TERMS, formula_of, term_of
from tiebreak.golden.problem import Array, Problem, Quantization

UNKNOWN = (Parting(),)
FEWEST, MOST = 6, 16  # elements of one mistake that can tell its step, and that are looked at


@dataclass(frozen=True)
class StepClauses:
    """What an element's partings tell: clauses with the kind of the change, the likeliest first.

    `last` is the clause if there are none, `parted` the step at which both results by themselves part (deviating.py).
    """

    clauses: tuple[tuple[Kind | None, str], ...]
    last: str
    parted: int

    def alone(self, said: str, cause: Cause) -> str:
        """The clause of an element that no single mistake explains; `said` is what its cause is about, if anything."""
        told = [clause for _, clause in sorted(self.clauses, key=lambda one: bool(cause.mode) and one[0] != "rounding")]
        if said and ((said in told and self.parted not in KINDS) or (not told and self.parted != AT_ROUNDING)):
            return said
        return told[0] if told else self.last


def clauses_of(evidence: Evidence, causes: Sequence[Cause], errors: ExplanationErrors) -> Array:
    """The clause that each deviating element breaks in its own node.

    One mistake breaks the clause that its cause is about, unless a change of another step gives all of its elements and
    none of that step does. Of any other element its own result tells the step.
    """
    found = evidence.deviating
    keys = list(zip(found.case.tolist(), causes, found.parted.tolist(), strict=True))
    known = {key: said_in(evidence, *key) for key in dict.fromkeys(keys)}
    said = [known[key] for key in keys]
    clauses = np.array(said, object)
    alone = [place for place, cause in enumerate(causes) if not said[place] or JOINT in cause.id]
    mistakes = places_of_mistakes(evidence, causes, said)
    some = {key: spread(far(evidence, places), MOST) for key, places in mistakes.items()}
    told = told_at(evidence, [*alone, *chain(*some.values())], errors)
    clauses[alone] = [told[place].alone(said[place], causes[place]) for place in alone]
    for key, places in mistakes.items():
        if other := against(key[1], [told[place] for place in some[key]]):
            clauses[[place for place in places if other in evidence.exercised_in(int(found.case[place]))]] = other
    return clauses


def said_in(evidence: Evidence, case: int, cause: Cause, parted: int) -> str:
    """The clause that a cause is about in the case with this number."""
    return clause_of_cause(evidence.cases[case].node, cause, parted, evidence.exercised_in(case))


def places_of_mistakes(
    evidence: Evidence, causes: Sequence[Cause], said: Sequence[str]
) -> dict[tuple[Cause, str], list[int]]:
    """The elements of each cause that is one mistake in a formula, by the clause that it is about; no rounding mode."""
    places: dict[tuple[Cause, str], list[int]] = defaultdict(list)
    for place, cause in enumerate(causes):
        if said[place] and JOINT not in cause.id and not cause.mode:
            places[cause, said[place]].append(place)
    return {key: own for key, own in places.items() if may_tell(evidence, own, key[1])}


def may_tell(evidence: Evidence, places: Sequence[int], clause: str) -> bool:
    """Whether these elements, whose cause is about a clause, can tell another: many, and not all with one result."""
    found, own = evidence.deviating, far(evidence, places)
    spec = get_operator(evidence.cases[int(found.case[places[0]])].node.operator)
    arithmetic = spec.kind(spec.clause(clause)) in ARITHMETIC
    return arithmetic and len(own) >= FEWEST and len(np.unique(found.got_bits[own])) > 1


def far(evidence: Evidence, places: Sequence[int]) -> list[int]:
    """Those places of deviating elements whose results are no neighbours of the exact argument.

    Of neighbours both results tell already that they part at the rounding.
    """
    every = np.asarray(places, np.int64)
    return [*every[evidence.deviating.parted[every] != AT_ROUNDING].tolist()]


def spread(places: Sequence[int], count: int) -> Sequence[int]:
    return places[:: -(-len(places) // count)]


def against(said: str, told: Sequence[StepClauses]) -> str:
    """The clause that all elements tell if not all tell what is said; empty if there is none.

    That another rounding to a neighbour gives a result speaks against nothing: so does any small error.
    """
    if all(said in [clause for _, clause in one.clauses] for one in told):
        return ""
    every = [dict.fromkeys(clause for kind, clause in one.clauses if kind != "rounding") for one in told]
    return next((clause for clause in every[0] if all(clause in one for one in every)), "")


def told_at(evidence: Evidence, places: Sequence[int], errors: ExplanationErrors) -> dict[int, StepClauses]:
    """What the partings of the deviating elements at these places tell."""
    found, traced = evidence.deviating, np.array(far(evidence, places), np.int64)
    none = [UNKNOWN] * len(traced)
    steps = errors.attempt("where results part", evidence.about, partial(partings_of, evidence, traced), none)
    known = dict(zip(traced.tolist(), steps, strict=True))
    told, made = dict[int, StepClauses](), dict[tuple[int, int, int], StepClauses]()
    for place, case, parted in zip(places, found.case[places].tolist(), found.parted[places].tolist(), strict=True):
        steps = known.get(place, UNKNOWN)
        key = case, parted, id(steps)  # they are long, and most are the very same
        if key not in made:
            made[key] = told_in(evidence, case, parted, steps)
        told[place] = made[key]
    return told


def told_in(evidence: Evidence, case: int, parted: int, steps: Sequence[Parting]) -> StepClauses:
    """The same in the case with this number."""
    node, exercised = evidence.cases[case].node, evidence.exercised_in(case)
    known: list[tuple[Kind | None, Sequence[str]]] = []
    for one in steps:
        known.append((one.kind, broken_clauses(node, one, parted, exercised)))
    _, last = known.pop()
    known.sort(key=lambda one: one[0] != KINDS.get(parted, one[0]))
    every: dict[tuple[Kind | None, str], None] = {}
    for kind, clauses in known:
        for clause in clauses:
            every[kind, clause] = None
    return StepClauses(tuple(every), last[0], parted)


def partings_of(evidence: Evidence, places: Array) -> list[tuple[Parting, ...]]:
    """Where the results of the deviating elements at these places may part."""
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
    alike: dict[Hashable, list[tuple[Array, Problem]]] = defaultdict(list)
    for _, elements, problem in parts(chunk.families, wanted):
        posed = replace(problem, mode=modes[0]) if modes else problem
        alike[form_of(posed)].append((elements, posed))
    found: dict[int, tuple[Parting, ...]] = {}
    for form, own in alike.items():
        elements, problem = np.concatenate([each for each, _ in own]), joined([one for _, one in own])
        formula = TERMS[chunk.operator] if isinstance(problem, Quantization) else formula_of(problem)
        asked = (chunk.operator, form), problem, term_of(problem, formula)
        found.update(zip(elements.tolist(), evidence.partings.of(*asked, bits[elements]), strict=True))
    return [found[place] for place in at.tolist()]


def form_of(problem: Problem) -> Hashable:
    """What problems of an operator have in common that are asked by one term."""
    common = problem.output, problem.mode, problem.kinds, problem.result, problem.working
    if isinstance(problem, Quantization):
        return common
    constants = tuple(sorted((name, repr(value)) for name, value in problem.constants.items()))
    return *common, problem.formula, problem.signed_zeros, constants
