"""A run's records: first the judged outcomes, then their explanations, any of which may fail."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from tiebreak.adapters.outcome import NOT_JUDGED
from tiebreak.adapters.platform_facts import instruction_sets, machine
from tiebreak.conformance.cases.relations import relation_rows
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.root_causes import root_cause_rows
from tiebreak.conformance.causes.settling import Element
from tiebreak.conformance.judging.rows import bits_and_decimal, element_operands
from tiebreak.conformance.judging.truths import TruthCache
from tiebreak.conformance.paths.dependence import STAGE, causes_by_path, path_rows
from tiebreak.conformance.running.explaining import rows_with_causes
from tiebreak.conformance.running.failures import failure_rows
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.exit_codes import exit_code
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import FAILED
from tiebreak.reports.records import RunRecords
from tiebreak.reports.rows import DiscrepancyRow, FailureRow, PathRow

Row = dict[str, Any]  # of run.json


def assemble(done: Sequence[BackendRecords], cases: Sequence[Case], facts: dict[str, Any]) -> RunRecords:
    """The records of the whole run, explained. `facts` are the keys of run.json that say how the run was started."""
    return explained_records(unexplained_records(done, cases, facts), done, cases)


def unexplained_records(done: Sequence[BackendRecords], cases: Sequence[Case], facts: dict[str, Any]) -> RunRecords:
    """The records of the whole run without explanations: every cause is "unexplained"."""
    results = [row for records in done for row in records.results]
    discrepancies: list[DiscrepancyRow] = [
        {**row, "id": f"D{number:06d}"}
        for number, row in enumerate((row for records in done for row in records.discrepancies), start=1)
    ]
    info: dict[str, Any] = {
        "format": "tiebreak-run",
        "version": 1,
        **facts,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "instruction_sets": instruction_sets(),
        "backends": [records.facts | {"judged": records.judged} for records in done],
        "exit": exit_code_of_run([row["verdict"] for row in results], {row["fault"] for row in results}),
        "observed": [],
        "explained": False,
    }
    return RunRecords(info, results, discrepancies, [case for case in cases if case.origin != "vector"])


def explained_records(
    run: RunRecords, done: Sequence[BackendRecords], cases: Sequence[Case], errors: ExplanationErrors | None = None
) -> RunRecords:
    """The records with explanations. One that raises is left out and listed under "explanation_errors" of run.json."""
    errors = errors or ExplanationErrors()
    found = errors.attempt("explaining", "", lambda: with_explanations(run, done, cases, errors), run)
    rows = [row for own in (*(records.errors for records in done), errors) for row in own.rows()]
    return replace(found, info=found.info | {"explained": True, "explanation_errors": rows})


def with_explanations(
    run: RunRecords, done: Sequence[BackendRecords], cases: Sequence[Case], errors: ExplanationErrors
) -> RunRecords:
    """The records with the causes of each backend, and the explanatory tables of run.json."""
    cache, paths = TruthCache(), [paths_of(records, cases) for records in done]
    pairs = zip(done, paths, strict=True)
    named = [row for records, rows in pairs for row in discrepancies_with_causes(records, cases, rows, cache)]
    discrepancies: list[DiscrepancyRow] = [
        {**row, "id": own["id"]} for own, row in zip(run.discrepancies, named, strict=True)
    ]
    versions = {records.name: str(records.facts["version"]) for records in done}
    info = run.info | {
        "typed": errors.attempt("typed cases", "", lambda: typed_rows(cases, done), list[Row]()),
        "observed": errors.attempt("observations", "", lambda: observed_rows(done), list[Row]()),
        "paths": [row for rows in paths for row in rows],
        "relations": [row for records in done for row in relations_of(records)],
        "pairs": list(all_pairs(done, cases, errors)),
        "clusters": root_cause_rows(discrepancies, run.results, versions, errors),
        "failures": errors.attempt("failures", "", lambda: failure_rows(run.results, versions), list[FailureRow]()),
    }
    return replace(run, info=info, discrepancies=discrepancies)


def paths_of(records: BackendRecords, cases: Sequence[Case]) -> list[PathRow]:
    constant = frozenset(records.facts.get("always_constant", ()))
    rows = partial(path_rows, records.name, records.outputs, cases, always_constant=constant, errors=records.errors)
    return records.errors.attempt(STAGE, records.name, rows, list[PathRow]())


def discrepancies_with_causes(
    records: BackendRecords, cases: Sequence[Case], paths: Sequence[PathRow], cache: TruthCache
) -> list[DiscrepancyRow]:
    """The backend's discrepancy rows with their causes; unchanged if naming causes fails."""
    errors = records.errors
    by_path = errors.attempt(
        STAGE, records.name, lambda: causes_by_path(paths, cases, records.discrepancies), dict[Element, str]()
    )
    named = errors.attempt(
        "causes", records.name, lambda: rows_with_causes(records, cases, by_path, cache), list[DiscrepancyRow]()
    )
    return named if len(named) == len(records.discrepancies) else records.discrepancies


def relations_of(records: BackendRecords) -> list[Row]:
    rows = partial(relation_rows, records.name, records.outputs)
    return records.errors.attempt("relations", records.name, rows, list[Row]())


def all_pairs(done: Sequence[BackendRecords], cases: Sequence[Case], errors: ExplanationErrors) -> Iterator[Row]:
    for a, b in combinations(done, 2):
        yield from errors.attempt(
            "pairs of backends", f"{a.name}, {b.name}", partial(pair_rows, a, b, cases), list[Row]()
        )


def pair_rows(a: BackendRecords, b: BackendRecords, cases: Sequence[Case]) -> list[Row]:
    """A row for each operator: how many elements of the cases that both ran differ between the two backends."""
    rows: dict[str, Row] = {}
    for case in cases:
        if case.id in a.outputs and case.id in b.outputs:
            operator = case.node.operator
            start = {"a": a.name, "b": b.name, "operator": operator}
            row = rows.setdefault(operator, start | {"cases": 0, "elements": 0, "differ": 0})
            row["cases"] += 1
            row["elements"] += case.size
            row["differ"] += int(np.count_nonzero(a.outputs[case.id] != b.outputs[case.id]))
    return list(rows.values())


def typed_rows(cases: Sequence[Case], done: Sequence[BackendRecords]) -> list[Row]:
    return [row for case in cases if case.origin == "typed" for row in rows_of_typed_case(case, done)]


def rows_of_typed_case(case: Case, done: Sequence[BackendRecords]) -> list[Row]:
    """A row for each element of a typed case, as text: its input, the expected result, each backend's result."""
    truths = TruthCache().of(case)
    truth, tied, rows, at = truths.judged_by, truths.open_between_modes, [], 0
    for problem in truths.problems:
        for i in range(math.prod(problem.shape)):
            found = element_operands(problem, case.node, i)
            (bits, text), kind = bits_and_decimal(*found[0][1:]), problem.result
            either = dict.fromkeys(bits_and_decimal(int(codes[at]), kind)[1] for codes in (truth.exact, truth.working))
            got = {r.name: as_text(r.outputs.get(case.id), at, kind) for r in done}
            if tied[at]:
                either = dict.fromkeys(bits_and_decimal(code, kind)[1] for code in truths.allowed_codes(at))
            expected = " or ".join(either) if truth.specified[at] or tied[at] else "unspecified"
            name = "" if len(truths.problems) == 1 else problem.output
            rows.append({"output": name, "input": text, "bits": bits, "expected": expected, "got": got})
            at += 1
    return rows


def as_text(codes: Array | None, at: int, kind: FloatType | IntegerType) -> str:
    return "–" if codes is None else bits_and_decimal(int(codes[at]), kind)[1]


def observed_rows(done: Sequence[BackendRecords]) -> list[Row]:
    """What each backend returns where its spec is silent, with counts of elements, the most frequent first."""
    return [
        {"backend": records.name, "operator": operator, "situation": situation, "gives": gives, "elements": n}
        for records in done
        for (operator, situation, gives), n in records.observed.most_common()
    ]


def exit_code_of_run(verdicts: Collection[str], faults: Collection[str] = ()) -> int:
    """The exit code of a run. A case that Tiebreak could not judge counts as a failure, not as a discrepancy."""
    return exit_code(
        discrepancies="deviates" in verdicts and NOT_JUDGED not in faults,
        failures=NOT_JUDGED in faults or any(verdict in FAILED for verdict in verdicts),
        ran=any(verdict != "unsupported" for verdict in verdicts),
    )
