"""A run's records: first the judged outcomes, then their explanations, any of which may fail."""

from __future__ import annotations

import hashlib
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.adapters.outcome import NOT_JUDGED
from tiebreak.adapters.platform_facts import instruction_sets, machine
from tiebreak.adapters.settings import settings_of
from tiebreak.conformance.cases.relations import relation_rows
from tiebreak.conformance.causes.evidence import Element
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.causes.root_causes import root_cause_rows
from tiebreak.conformance.causes.settling import Settled
from tiebreak.conformance.judging.both_answers import Given, first_example, with_example
from tiebreak.conformance.judging.chained import chain_rows
from tiebreak.conformance.judging.rows import bits_and_decimal, element_operands
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.conformance.paths.dependence import STAGE, causes_by_path, path_rows
from tiebreak.conformance.running.explaining import (
    ByOutputs,
    Shared,
    all_deviating,
    causes_of_backend,
    explained_cases,
)
from tiebreak.conformance.running.failures import failures_of
from tiebreak.conformance.running.further import with_further
from tiebreak.conformance.running.illustrations import with_illustrations
from tiebreak.conformance.running.recorded_tables import CaseTexts, discrepancy_table, result_table
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.conformance.running.unwritten import with_unwritten
from tiebreak.conformance.running.watching import Unwatched, Watch, each_told
from tiebreak.golden.case_digests import case_digests, digest_of_digests
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.exit_codes import exit_code
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import FAILED, FOREIGN
from tiebreak.reports.libraries import library_of
from tiebreak.reports.records import RunRecords, as_run
from tiebreak.reports.rows import FailureRow, PathRow
from tiebreak.reports.text_columns import column_of

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]  # of run.json


def assemble(done: Sequence[BackendRecords], cases: Sequence[Case], facts: dict[str, Any]) -> RunRecords:
    """The records of the whole run, explained. `facts` are the keys of run.json that say how the run was started."""
    return explained_records(unexplained_records(done, cases, facts), done, cases)


def unexplained_records(done: Sequence[BackendRecords], cases: Sequence[Case], facts: dict[str, Any]) -> RunRecords:
    """The records of the whole run without explanations: every cause is "unexplained"."""
    texts = CaseTexts(done)
    results, discrepancies = result_table(done, texts), discrepancy_table(done, texts)
    info: dict[str, Any] = {
        "format": "tiebreak-run",
        "version": 1,
        "settings": settings_of(os.environ),  # a run's plan has them already
        **facts,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "instruction_sets": instruction_sets(),
        "vectors": vector_digests(cases),
        "backends": [records.facts | {"judged": records.judged} for records in done],
        "exit": exit_code_of_run(results, **judging_of(facts)),
        "observed": [],
        "explained": False,
    }
    return RunRecords(info, results, discrepancies, [case for case in cases if case.origin != "vector"])


def vector_digests(cases: Sequence[Case]) -> dict[str, Row]:
    """By operator how many golden vectors the run has, and a digest of them all."""
    own: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        if case.origin == "vector":
            own[case.node.operator].append(case)
    return {
        name: {"vectors": len(vectors), "sha256": digest_of_digests(case_digests(vectors))}
        for name, vectors in sorted(own.items())
    }


def explained_records(
    run: RunRecords,
    done: Sequence[BackendRecords],
    cases: Sequence[Case],
    errors: ExplanationErrors | None = None,
    further: Mapping[str, BackendRecords] = MappingProxyType({}),
    watch: Watch | None = None,
) -> RunRecords:
    """The records with explanations. One that raises is left out and listed under "explanation_errors" of run.json.

    `further` has, by backend, answers that are evidence for causes only.
    """
    errors, watch = errors or ExplanationErrors(), watch or Unwatched()
    found = errors.attempt("explaining", "", lambda: with_explanations(run, done, cases, errors, further, watch), run)
    rows = [row for own in (*(records.errors for records in done), errors) for row in own.rows()]
    return replace(found, info=found.info | {"explained": True, "explanation_errors": rows})


def with_explanations(
    run: RunRecords,
    done: Sequence[BackendRecords],
    cases: Sequence[Case],
    errors: ExplanationErrors,
    further: Mapping[str, BackendRecords],
    watch: Watch,
) -> RunRecords:
    """The records with the causes of each backend, and the explanatory tables of run.json."""
    every = [*done, *further.values()]
    known = errors.attempt("known mistakes", "", lambda: explained_cases(every, watch), dict[tuple[str, bytes], Any]())
    paths = [paths_of(records, cases) for records in done]
    evidence = [with_further(records, further.get(records.name)) for records in done]
    named = causes_by_backend(evidence, paths, known, watch)
    discrepancies = with_causes(run.discrepancies, done, named)
    versions = {records.name: str(records.facts["version"]) for records in done}
    unwritten = {(records.name, case) for records in done for case in records.unwritten}
    info = run.info | {
        "typed": errors.attempt("typed cases", "", lambda: typed_rows(cases, done), list[Row]()),
        "observed": errors.attempt("observations", "", lambda: observed_rows(done), list[Row]()),
        "paths": [row for rows in paths for row in rows],
        "relations": [row for records in done for row in relations_of(records)],
        "pairs": list(all_pairs(done, cases, errors)),
        "clusters": root_cause_rows(discrepancies, run.results, versions, errors),
        "failures": errors.attempt(
            "failures", "", lambda: failures_of(run.results, versions, unwritten), list[FailureRow]()
        ),
    }
    explained = replace(run, info=info, discrepancies=discrepancies)
    errors.attempt("illustrations", "", lambda: with_illustrations(as_run(explained), cases, errors, watch), None)
    return explained


def paths_of(records: BackendRecords, cases: Sequence[Case]) -> list[PathRow]:
    constant = frozenset(records.facts.get("always_constant", ()))
    rows = partial(path_rows, records.name, records.outputs, cases, always_constant=constant, errors=records.errors)
    return records.errors.attempt(STAGE, records.name, rows, list[PathRow]())


def causes_by_backend(
    done: Sequence[BackendRecords], paths: Sequence[Sequence[PathRow]], known: ByOutputs, watch: Watch
) -> list[Settled | None]:
    """The causes and clauses of each backend's deviating elements, found once for backends with equal outputs."""
    kept: dict[bytes, Settled | None] = {}
    found, shared = [], Shared()
    pairs = each_told(zip(done, paths, strict=True), watch, lambda pair: f"looking for causes of {pair[0].name}")
    for records, rows in pairs:
        key, errors = outputs_digest(records), records.errors.found.total()
        named = kept[key] if key in kept else named_deviations(records, rows, known, shared)
        if records.errors.found.total() == errors:  # an error is noted for each backend that has it
            kept[key] = named
        found.append(with_unwritten(records, all_deviating(records), named) if records.unwritten else named)
    return found


def outputs_digest(records: BackendRecords) -> bytes:
    """Equal for backends that ran the same cases with equal outputs and that make the same parameters constants."""
    digest = hashlib.sha256(repr((sorted(records.facts.get("always_constant", ())), len(records.cases))).encode())
    for case in records.cases:
        outputs = records.outputs.get(case.id)
        digest.update(f"{case.id}\0{outputs is None}\0".encode() + (b"" if outputs is None else outputs.tobytes()))
    return digest.digest()


def named_deviations(
    records: BackendRecords, paths: Sequence[PathRow], known: ByOutputs, shared: Shared
) -> Settled | None:
    """The causes and clauses of the backend's deviating elements; None if naming them fails."""
    errors, deviating = records.errors, all_deviating(records)
    by_path = errors.attempt(
        STAGE, records.name, lambda: causes_by_path(paths, records.cases, deviating), dict[Element, str]()
    )
    return errors.attempt(
        "causes", records.name, lambda: causes_of_backend(records, deviating, by_path, known, shared), None
    )


def with_causes(
    discrepancies: pd.DataFrame, done: Sequence[BackendRecords], named: Sequence[Settled | None]
) -> pd.DataFrame:
    """The discrepancies, backend after backend, with their causes and clauses; unchanged where there are none."""
    names = ("cause_id", "cause", "clause")
    columns = [discrepancies[name].to_numpy(object).copy() for name in names]
    begin = 0
    for records, found in zip(done, named, strict=True):
        end = begin + sum(map(len, records.deviating))
        if found is not None:
            for column, values in zip(columns, found, strict=True):
                column[begin:end] = values[: end - begin]  # further cases come last
        begin = end
    return discrepancies.assign(**{name: column_of(column) for name, column in zip(names, columns, strict=True)})


def relations_of(records: BackendRecords) -> list[Row]:
    rows = partial(relation_rows, records.name, records.outputs)
    chains = partial(chain_rows, records.name, records.cases, records.outputs)
    found = [records.errors.attempt("relations", records.name, make, list[Row]()) for make in (rows, chains)]
    return [row for part in found for row in part]


def all_pairs(done: Sequence[BackendRecords], cases: Sequence[Case], errors: ExplanationErrors) -> Iterator[Row]:
    for a, b in combinations(done, 2):
        yield from errors.attempt(
            "pairs of backends", f"{a.name}, {b.name}", partial(pair_rows, a, b, cases), list[Row]()
        )


def pair_rows(a: BackendRecords, b: BackendRecords, cases: Sequence[Case]) -> list[Row]:
    """A row for each operator: how many elements of the cases that both ran differ between the two backends."""
    common: dict[str, list[Case]] = {}
    for case in cases:
        if case.id in a.outputs and case.id in b.outputs:
            common.setdefault(case.node.operator, []).append(case)
    rows = []
    for operator, own in common.items():
        one, other = (np.concatenate([records.outputs[case.id] for case in own]) for records in (a, b))
        counts = {"cases": len(own), "elements": sum(case.size for case in own), "differ": int((one != other).sum())}
        row = {"a": a.name, "b": b.name, "operator": operator, **counts}
        asked = own if counts["differ"] and library_of(a.facts) == library_of(b.facts) else []
        both = [answers_of_both(a, b, case) for case in asked]
        rows.append(with_example(row, first_example(both)))
    return rows


def answers_of_both(a: BackendRecords, b: BackendRecords, case: Case) -> tuple[Given, Given]:
    return Given(a.name, case, a.outputs[case.id]), Given(b.name, case, b.outputs[case.id])


def typed_rows(cases: Sequence[Case], done: Sequence[BackendRecords]) -> list[Row]:
    return [row for case in cases if case.origin == "typed" for row in rows_of_typed_case(case, done)]


def rows_of_typed_case(case: Case, done: Sequence[BackendRecords]) -> list[Row]:
    """A row for each element of a typed case, as text: its input, the expected result, each backend's result."""
    truths = truths_of(case)
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
        for (operator, situation, gives), n in sorted(records.observed.items(), key=lambda item: (-item[1], item[0]))
    ]


def judging_of(facts: Mapping[str, Any]) -> dict[str, bool]:
    """What counts for the exit code of a run, as its run.json says; see exit_code_of_run."""
    return {name: bool(facts.get(name)) for name in ("judge_foreign", "strict")}


def exit_code_of_run(results: pd.DataFrame, *, judge_foreign: bool = False, strict: bool = False) -> int:
    """The exit code of a run. A case that Tiebreak could not judge counts as a failure, not as a discrepancy.

    A deviation from a document that the backend does not claim counts only with `judge_foreign`, another order of
    steps only if `strict`.
    """
    own = results if judge_foreign else results[results["document"] != FOREIGN]
    wrong = (own["verdict"] == "deviates") | (strict & (own["other_order"] > 0))
    unjudged = bool((results["fault"] == NOT_JUDGED).any())
    return exit_code(
        discrepancies=bool(wrong.any()) and not unjudged,
        failures=unjudged or bool(results["verdict"].isin(FAILED).any()),
        ran=bool((results["verdict"] != "unsupported").any()),
    )
