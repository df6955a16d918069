"""From candidate causes to one cause for each deviating element, weighed over all that a backend did."""

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
    """A backend's rows, the candidates of each deviating element, and what speaks against each cause."""

    results: Sequence[ResultRow]
    discrepancies: Sequence[DiscrepancyRow]
    candidates: Sequence[explanations.Explanation]
    against: Mapping[Kind, Counter[Cause]]
    against_modes: Mapping[Kind, Counter[str]]
    about: str = ""  # the backend


Rows = Mapping[Kind, Sequence[DiscrepancyRow]]
# Gives the rows of each kind of node, for the causes that were settled, others or the same.
Rename = Callable[[Rows, Sequence[Sequence[Cause]]], Sequence[Sequence[Cause]]]
NO_CAUSE = Cause(UNEXPLAINED, "mode")


def with_causes(
    evidence: Evidence,
    by_path: Mapping[Element, str] = MappingProxyType({}),
    rename: Rename = lambda rows, named: named,
    errors: ExplanationErrors | None = None,
) -> list[DiscrepancyRow]:
    """The discrepancy rows with cause and clause, settled kind of node by kind of node.

    `by_path` are the causes of elements whose operands have another answer elsewhere, by case id, output and index.
    What raises leaves its rows unexplained, or with the cause that they had before, and is noted in `errors`.
    """
    errors = errors or ExplanationErrors()
    places: dict[Kind, list[int]] = defaultdict(list)
    for i, row in enumerate(evidence.discrepancies):
        places[kind_of_row(row)].append(i)
    chosen = settled_causes(evidence, places, errors)
    rows = {kind: [evidence.discrepancies[i] for i in group] for kind, group in places.items()}
    renamed = errors.attempt("the audit's engine", evidence.about, lambda: rename(rows, chosen), chosen)
    settled: dict[int, Cause] = {}
    for group, found in zip(places.values(), renamed, strict=True):
        settled |= dict(zip(group, found, strict=True))
    named = [named_as(row, settled[i], errors) for i, row in enumerate(evidence.discrepancies)]
    return errors.attempt("causes by path", evidence.about, lambda: with_path_causes(named, by_path), named)


def settled_causes(
    evidence: Evidence, places: Mapping[Kind, Sequence[int]], errors: ExplanationErrors
) -> list[list[Cause]]:
    """The causes of each kind's rows, weighed over all kinds; each kind for itself if that raises."""
    together = errors.attempt("weighing causes", evidence.about, lambda: weighed(evidence, places), [])
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
        found += errors.attempt("weighing causes", about, partial(weighed, part, own), none)
    return found


def weighed(evidence: Evidence, places: Mapping[Kind, Sequence[int]]) -> list[list[Cause]]:
    candidates = plausible(evidence)
    return explanations.settle([[candidates[i] for i in group] for group in places.values()])


def named_as(row: DiscrepancyRow, cause: Cause, errors: ExplanationErrors) -> DiscrepancyRow:
    """The row with the columns of a cause."""
    try:
        return {**row, "cause": text_of(row, cause), "clause": clause_of(row, cause)}
    except Exception as error:
        errors.note("clauses of causes", row["operator"], error)
        return row


def with_path_causes(rows: Sequence[DiscrepancyRow], by_path: Mapping[Element, str]) -> list[DiscrepancyRow]:
    """Those causes instead, each with the clause that was found for most of its elements."""
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


def plausible(evidence: Evidence) -> list[explanations.Explanation]:
    """The candidates without the causes that too much speaks against, within one kind of node.

    Against a cause speak conforming elements that it predicts otherwise: for "rounds by another mode" those of every
    case, for the others those of the cases that deviate somewhere. A true cause has none, whatever else is wrong; a
    tenth of what it explains is left for kernels that take different paths, and another mode may hold for all nodes of
    one granularity. A wrong real result that a cause gives bit by bit is no chance hit, so there nothing is refuted: a
    kernel may well have several paths.
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
    return [explanations.without(c, refuted[group[0]] - kept[group] | idle[group]) for group, c in pairs]


def granularity_of(row: ResultRow) -> str:
    """The clauses on granularity that a case shows; empty where its operator has none."""
    shown = row["clauses"].split()
    clauses = get_operator(row["operator"]).clauses
    return " ".join(clause.id for clause in clauses if clause.situation in GRANULARITIES and clause.id in shown)


def modes_of_groups(evidence: Evidence, groups: Sequence[Group]) -> Mapping[Group, frozenset[Cause]]:
    """The causes "rounds by another mode" that hold for the nodes of one granularity, whatever the others give."""
    explains: dict[Group, Counter[Cause]] = defaultdict(Counter)
    missed: dict[str, Counter[str]] = defaultdict(Counter)  # by case: deviating elements that a mode does not give
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
    """The causes by position that explain nothing which their mode, used everywhere, does not explain as well.

    They gain the elements of cases that their mode alone contradicts, and lose those of cases where it alone holds.
    """
    sizes = {row["case"]: int(row["elements"]) for row in evidence.results}
    found: dict[Group, set[Cause]] = defaultdict(set)
    alike: Counter[tuple[Group, int, frozenset[Cause]]] = Counter()  # elements, by size and what holds in their case
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


def text_of(row: DiscrepancyRow, cause: Cause) -> str:
    """The cause's text; for a real result that is nearly right and that nothing explains, that it is nearly right."""
    nearly = row["result_type"] not in INTEGER_TYPES and abs(row["distance"]) <= NEARLY
    if cause.text == UNEXPLAINED and nearly:
        return f"within {NEARLY} ulp: steps in another order or precision"
    return cause.text


def clause_of(row: DiscrepancyRow, cause: Cause) -> str:
    """The clause that a cause breaks; the formula's first where it is not known."""
    spec = get_operator(row["operator"])
    broken = spec.mode_clause(row["round_mode"]) if cause.role == "mode" else spec.roles.get(cause.role, "")
    return broken or spec.clauses[0].id
