"""Settles one of the candidate causes for each deviating element, in view of all results of a backend."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from tiebreak.conformance.causes import explanations
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.judging.rows import Kind, kind_of_row
from tiebreak.conformance.operators.model import Cause
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.operators import get_operator
from tiebreak.golden.verdicts import UNEXPLAINED
from tiebreak.reports.rows import DiscrepancyRow, ResultRow, differing_from

NEARLY = 4  # units in the last place
GRANULARITIES = ("scalar parameters", "parameters that vary", "one axis", "a block size")  # situations of clauses

Element = tuple[str, str, int]  # a case's id, an output's name, an index in it
Group = tuple[Kind, str]  # a kind of node, and the granularity


@dataclass(frozen=True)
class Evidence:
    """A backend's rows, the candidate causes of each deviating element, and the evidence against each cause.

    `candidates` has one Explanation for each of `discrepancies`. `against` counts, by kind of node, the conforming
    elements that a cause contradicts; `against_modes` those that a rounding mode contradicts, in all cases.
    """

    results: Sequence[ResultRow]
    discrepancies: Sequence[DiscrepancyRow]
    candidates: Sequence[explanations.Explanation]
    against: Mapping[Kind, Counter[Cause]]
    against_modes: Mapping[Kind, Counter[str]]
    about: str = ""  # the backend


Rows = Mapping[Kind, Sequence[DiscrepancyRow]]
# Takes the rows of each kind of node with their settled causes, and returns the causes, some of them replaced.
Refine = Callable[[Rows, Sequence[Sequence[Cause]]], Sequence[Sequence[Cause]]]
NO_CAUSE = Cause(UNEXPLAINED, "mode")


def settle_causes(
    evidence: Evidence,
    by_path: Mapping[Element, str] = MappingProxyType({}),
    refine: Refine = lambda rows, named: named,
    errors: ExplanationErrors | None = None,
) -> list[DiscrepancyRow]:
    """The discrepancy rows with their causes and clauses, settled for each kind of node.

    `by_path` has the causes of elements whose operands have another answer elsewhere. `refine` may replace causes.
    A step that raises is noted in `errors`; its rows stay unexplained, or keep the cause that they had before.
    """
    errors = errors or ExplanationErrors()
    places: dict[Kind, list[int]] = defaultdict(list)
    for i, row in enumerate(evidence.discrepancies):
        places[kind_of_row(row)].append(i)
    chosen = causes_by_kind(evidence, places, errors)
    rows = {kind: [evidence.discrepancies[i] for i in group] for kind, group in places.items()}
    refined = errors.attempt("the audit's engine", evidence.about, lambda: refine(rows, chosen), chosen)
    settled: dict[int, Cause] = {}
    for group, found in zip(places.values(), refined, strict=True):
        settled |= dict(zip(group, found, strict=True))
    named = [with_settled_cause(row, settled[i], errors) for i, row in enumerate(evidence.discrepancies)]
    return errors.attempt("causes by path", evidence.about, lambda: with_path_causes(named, by_path), named)


def causes_by_kind(
    evidence: Evidence, places: Mapping[Kind, Sequence[int]], errors: ExplanationErrors
) -> list[list[Cause]]:
    """The causes of each kind's rows, weighed over all kinds together; if that raises, each kind by itself."""
    together = errors.attempt("weighing causes", evidence.about, lambda: weighed_causes(evidence, places), [])
    if len(together) == len(places):
        return together
    found = []
    for kind, group in places.items():
        part = replace(
            evidence,
            discrepancies=[evidence.discrepancies[i] for i in group],
            candidates=[evidence.candidates[i] for i in group],
        )
        none, own = [[NO_CAUSE] * len(group)], {kind: range(len(group))}
        about = f"{evidence.about}, {' '.join(kind)}"
        found += errors.attempt("weighing causes", about, partial(weighed_causes, part, own), none)
    return found


def weighed_causes(evidence: Evidence, places: Mapping[Kind, Sequence[int]]) -> list[list[Cause]]:
    candidates = plausible_candidates(evidence)
    return explanations.greedy_cover([[candidates[i] for i in group] for group in places.values()])


def with_settled_cause(row: DiscrepancyRow, cause: Cause, errors: ExplanationErrors) -> DiscrepancyRow:
    """The row with a cause and its clause; the row as it was if that raises."""
    try:
        return {**row, "cause": text_of_cause(row, cause), "clause": clause_of(row, cause)}
    except Exception as error:
        errors.note("clauses of causes", row["operator"], error)
        return row


def with_path_causes(rows: Sequence[DiscrepancyRow], by_path: Mapping[Element, str]) -> list[DiscrepancyRow]:
    """The rows with the causes of `by_path`, each with the clause that most of its elements had."""
    if not by_path:
        return list(rows)
    texts = [by_path.get((row["case"], row["output"], row["index"]), "") for row in rows]
    clauses: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row, text in zip(rows, texts, strict=True):
        clauses[row["operator"], text][row["clause"]] += 1
    return [
        with_cause(row, text, clauses[row["operator"], text].most_common(1)[0][0]) if text else row
        for row, text in zip(rows, texts, strict=True)
    ]


def with_cause(row: DiscrepancyRow, cause: str, clause: str) -> DiscrepancyRow:
    return {**row, "cause": cause, "clause": clause}


def plausible_candidates(evidence: Evidence) -> list[explanations.Explanation]:
    """The candidates without the causes that are refuted for their kind of node.

    What counts against a cause are the conforming elements that it contradicts: in every case for "rounds by another
    mode", in the cases that deviate somewhere for other causes. A true cause contradicts none of them.

    Up to a tenth of what a cause explains is tolerated, since kernels may take different paths; and another mode may
    hold for the nodes of one granularity only. For real results nothing is refuted: a cause that gives a wrong result
    bit by bit does not do so by chance.
    """
    explains: dict[Kind, Counter[Cause]] = defaultdict(Counter)
    for row, candidate in zip(evidence.discrepancies, evidence.candidates, strict=True):
        explains[kind_of_row(row)].update(candidate.matching)
    refuted: dict[Kind, frozenset[Cause]] = {}
    for kind, counts in explains.items():
        if kind[3] not in INTEGER_TYPES:
            refuted[kind] = frozenset()
            continue
        plain, by_mode = evidence.against[kind], evidence.against_modes[kind]
        weight = {cause: by_mode[cause.mode] if cause.mode else plain[cause] for cause in counts}
        refuted[kind] = frozenset(
            cause for cause, count in counts.items() if 10 * weight[cause] > count and not cause.by_position
        )
    facts = {row["case"]: row for row in evidence.results}
    groups = [(kind_of_row(row), granularity_of(facts[row["case"]])) for row in evidence.discrepancies]
    kept, idle = modes_of_groups(evidence, groups), idle_positions(evidence, groups)
    pairs = zip(groups, evidence.candidates, strict=True)
    return [explanations.without_causes(c, refuted[group[0]] - kept[group] | idle[group]) for group, c in pairs]


def granularity_of(row: ResultRow) -> str:
    """The ids of the clauses on granularity that a case exercises; empty if its operator has none."""
    shown = row["clauses"].split()
    clauses = get_operator(row["operator"]).clauses
    return " ".join(clause.id for clause in clauses if clause.situation in GRANULARITIES and clause.id in shown)


def modes_of_groups(evidence: Evidence, groups: Sequence[Group]) -> Mapping[Group, frozenset[Cause]]:
    """The causes "rounds by another mode" that hold for all nodes of one granularity, whatever other nodes give."""
    explains: dict[Group, Counter[Cause]] = defaultdict(Counter)
    missed: dict[str, Counter[str]] = defaultdict(Counter)  # by case: deviating elements that a mode does not explain
    modes = {cause.mode for candidate in evidence.candidates for cause in candidate.matching if cause.mode}
    for group, row, candidate in zip(groups, evidence.discrepancies, evidence.candidates, strict=True):
        given = {cause for cause in candidate.matching if cause.mode and not cause.by_position}
        explains[group].update(given)
        missed[row["case"]].update(modes - {cause.mode for cause in given})
    against: dict[Group, Counter[str]] = defaultdict(Counter)
    for result in evidence.results:
        group = kind_of_row(result), granularity_of(result)
        for mode in modes if group in explains else ():
            differs = differing_from(result, mode)
            against[group][mode] += max(differs - missed[result["case"]][mode], 0)
    found = {
        group: frozenset(
            cause
            for cause, count in counts.items()
            if count >= explanations.FEWEST_BY_POSITION and 10 * against[group][cause.mode] <= count
        )
        for group, counts in explains.items()
    }
    return defaultdict(frozenset[Cause], found)


def idle_positions(evidence: Evidence, groups: Sequence[Group]) -> Mapping[Group, frozenset[Cause]]:
    """The causes by position that explain little more than their mode does when it is used at every position.

    Such a cause gains the elements of cases in which it holds but its mode alone does not. It loses those of cases in
    which its mode alone holds but it does not.
    """
    sizes = {row["case"]: int(row["elements"]) for row in evidence.results}
    found: dict[Group, set[Cause]] = defaultdict(set)
    # Counts elements by their group, the size of their case, and the causes that hold in all of it.
    alike: Counter[tuple[Group, int, frozenset[Cause]]] = Counter()
    for group, row, candidate in zip(groups, evidence.discrepancies, evidence.candidates, strict=True):
        found[group] |= {cause for cause in candidate.matching if cause.by_position}
        alike[group, sizes[row["case"]], candidate.consistent] += 1
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


def text_of_cause(row: DiscrepancyRow, cause: Cause) -> str:
    """The cause's text; an unexplained real result within NEARLY ulp is described as nearly right."""
    nearly = row["result_type"] not in INTEGER_TYPES and abs(row["distance"]) <= NEARLY
    if cause.text == UNEXPLAINED and nearly:
        return f"within {NEARLY} ulp: steps in another order or precision"
    return cause.text


def clause_of(row: DiscrepancyRow, cause: Cause) -> str:
    """The clause that a cause breaks; the operator's first clause if that is not known."""
    spec = get_operator(row["operator"])
    broken = spec.mode_clause(row["round_mode"]) if cause.role == "mode" else spec.roles.get(cause.role, "")
    return broken or spec.clauses[0].id
