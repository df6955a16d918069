"""Compares two runs: root causes that are new, gone, changed or unchanged, and cases with another verdict.

Only elements of cases that both runs had are compared: what was not run again is neither gone nor new.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from tiebreak.adapters.settings import differing_settings
from tiebreak.conformance.gate.changed_results import CASE, changed_results, not_run, other_vectors
from tiebreak.conformance.gate.counterparts import counterparts, other_names, under_names
from tiebreak.conformance.semantics.former_causes import ids_so_far
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.exit_codes import exit_code
from tiebreak.golden.verdicts import FAILED, FOREIGN, RAN
from tiebreak.reports.libraries import library_of
from tiebreak.reports.records import JUDGED, Run, read_run
from tiebreak.reports.root_cause import UNWRITTEN, root_of
from tiebreak.reports.rows import rows_by_key
from tiebreak.reports.text_columns import with_plain_text

ELEMENT = [*CASE, "output", "index", "got_bits"]
CAUSE = ["backend", "operator", "root"]
STATUSES = ("new", "changed", "gone", "renamed", "unchanged", "not run", "not run before")
KINDS = (
    "newly failing",
    "newly deviating",
    "newly unsupported",
    "newly right",
    "newly unspecified",
    "newly running",
    "otherwise",
)
COUNTED = ("planned", "ran", "judged", "deviating", "judged_calibrated", "deviating_calibrated")  # cases, then elements

Key = tuple[str, str, str]  # backend, operator, root cause


@dataclass(frozen=True)
class Side:
    """One run, prepared for the comparison.

    `versions`, `libraries` and `specs` are by backend, `root_causes` as run.json has them. `elements` are the
    discrepancies, each with its `root` cause. `cases` has one row for each backend and case. Bits that nobody wrote
    are others in each run: such elements have none here, and their cases one digest.
    """

    versions: dict[str, str]
    libraries: dict[str, str]
    specs: dict[str, str]
    root_causes: dict[Key, dict[str, Any]]
    elements: pd.DataFrame
    cases: pd.DataFrame


def checked_run(folder: Path) -> Run:
    """Read a run folder and check its backends and root causes; DamagedFile names the damaged file."""
    run = read_run(folder)
    if not run.info.get("explained", True):
        raise InvalidInput(f"{folder}: the run was ended before causes were looked for: tiebreak run --resume {folder}")
    try:
        versions_of(run)
        root_causes_of(run)
    except DamagedFile as error:
        raise DamagedFile(f"{folder}/{error}") from None
    return run


def side_of(run: Run) -> Side:
    """Prepare a run for comparison. DamagedFile if run.json has no valid backends or root causes."""
    results, found = with_plain_text(run.results), with_plain_text(run.discrepancies)
    roots = {cause: root_of(cause) for cause in found["cause"].unique()}
    chance = found["cause_id"] == UNWRITTEN
    elements = found.assign(
        root=found["cause"].map(roots).astype("string"), got_bits=found["got_bits"].mask(chance, "")
    )
    cases = results.drop_duplicates(CASE)
    cases = cases.assign(digest=cases["digest"].mask(is_among(cases, found[chance], CASE) & (cases["digest"] != 0), 1))
    specs = {str(backend["name"]): str(backend.get("spec", "")) for backend in run.info["backends"]}
    libraries = {str(backend["name"]): library_of(backend) for backend in run.info["backends"]}
    return Side(versions_of(run), libraries, specs, root_causes_of(run), elements, cases)


def versions_of(run: Run) -> dict[str, str]:
    try:
        return {str(backend["name"]): str(backend["version"]) for backend in run.info["backends"]}
    except (KeyError, TypeError):
        raise DamagedFile("run.json: damaged run file: no list of backends") from None


def root_causes_of(run: Run) -> dict[Key, dict[str, Any]]:
    """The root causes of run.json: the keys in use, with their types checked. DamagedFile otherwise."""
    try:
        rows = [root_cause_of(row) for row in run.info.get("clusters", [])]
    except (KeyError, TypeError, ValueError):
        raise DamagedFile("run.json: damaged run file: its clusters are not a run's") from None
    return {(row["backend"], row["operator"], row["cause"]): row for row in rows}


def root_cause_of(row: dict[str, Any]) -> dict[str, Any]:
    texts = {name: str(row[name]) for name in ("id", "backend", "operator", "cause", "clause", "sentence")}
    witness = row["witness"]
    operands = [[str(name), str(bits), str(value)] for name, bits, value in witness["operands"]]
    shown = {name: str(witness[name]) for name in ("id", "case", "expected", "got")}
    return texts | {"witness": shown | {"operands": operands}}


def compare(
    run_a: Run, run_b: Run, *, judge_foreign: bool = False, any_change: bool = False, must_run: bool = False
) -> dict[str, Any]:
    """The document that `tiebreak compare --json` prints, without the folders.

    A backend of the first run has the name of its counterpart in the second. For the exit code, deviations from a
    document that the backend does not claim count only with `judge_foreign` or `any_change`. Results with other bits
    count with `any_change`, cases that ran before and do not now with `must_run`.
    """
    names = counterparts(run_a, run_b)
    b = side_of(run_b)
    a = with_sentences_of(b, side_of(under_names(run_a, names)))
    found: dict[str, Any] = {
        "backends": backends_of(a, b),
        "counterparts": other_names(names),
        "operators": denominators(a, b),
        "causes": compared_causes(a, b),
        "verdicts": verdict_changes(a, b),
        "changed": changed_results(a.cases, b.cases),
        "not_run": not_run(a.cases, b.cases),
        "any_change": any_change,
        "must_run": must_run,
        "settings": differing_settings(run_a.info.get("settings"), run_b.info.get("settings")),
        "vectors": other_vectors(run_a.info, run_b.info),
    }
    found["counts"] = {status: sum(row["status"] == status for row in found["causes"]) for status in STATUSES}
    return found | {"exit": exit_code_of_comparison(found, judge_foreign=judge_foreign or any_change)}


def new_findings(baseline: Run, run: Run) -> frozenset[str]:
    """The ids of a run's root causes and kinds of failures that the baseline does not have."""
    rows = compare(baseline, run)["causes"]
    baseline = under_names(baseline, counterparts(baseline, run))
    causes = {str(row["clusters"][1]["id"]) for row in rows if row["status"] == "new" and row["clusters"][1]}
    known = {kind_of_failure(row) for row in baseline.info.get("failures", [])}
    failures = {str(row["id"]) for row in run.info.get("failures", []) if kind_of_failure(row) not in known}
    return frozenset(causes | failures)


def kind_of_failure(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("backend", "operator", "verdict", "fault"))


def with_sentences_of(other: Side, side: Side) -> Side:
    """The side with the other's sentences for the causes that both have by their ids, or by what the ids once were."""
    pairs = other.elements[["cause_id", "root"]].drop_duplicates("cause_id")
    told = [(id_, root) for id_, root in zip(pairs["cause_id"], pairs["root"], strict=True) if id_]
    known = {former: root for id_, root in reversed(told) for former in ids_so_far(id_)} | dict(told)
    columns = side.elements["cause_id"], side.elements["root"]
    found = [known.get(id_, text) for id_, text in zip(*columns, strict=True)]
    root = pd.Series(found, side.elements.index, dtype="string")
    renamed = dict(zip(side.elements["root"], found, strict=True))
    named = {(b, o, renamed.get(text, text)): row for (b, o, text), row in side.root_causes.items()}
    return replace(side, elements=side.elements.assign(root=root), root_causes=named)


def exit_code_of_comparison(found: dict[str, Any], *, judge_foreign: bool) -> int:
    """The exit code for the changes from one run to the other."""
    counted = [row for row in found["causes"] if judge_foreign or row["document"] != FOREIGN]
    return exit_code(
        discrepancies=any(row["status"] == "new" or row["appeared"] for row in counted)
        or (found["any_change"] and bool(found["changed"]))
        or (found["must_run"] and bool(found["not_run"])),
        failures=any(row["kind"] == "newly failing" for row in found["verdicts"]),
        ran=any(row["ran_in_both"] for row in found["operators"]),
    )


def backends_of(a: Side, b: Side) -> list[dict[str, Any]]:
    """Every backend with its library, and its version in each run; None if the run did not have it."""
    libraries = a.libraries | b.libraries
    return [
        {"backend": name, "library": library, "versions": [a.versions.get(name), b.versions.get(name)]}
        for name, library in libraries.items()
    ]


def in_both(a: Side, b: Side) -> set[str]:
    return set(a.versions) & set(b.versions)


def rows_of_both(rows: pd.DataFrame, a: Side, b: Side) -> pd.DataFrame:
    return rows[rows["backend"].isin(in_both(a, b))]


def denominators(a: Side, b: Side) -> list[dict[str, Any]]:
    """A pair of each of COUNTED by operator of the backends of both runs, and how many cases ran in both.

    `common` has the calibrated counts of those cases: runs of other cases have other shares.
    """
    sides = [rows_of_both(side.cases, a, b) for side in (a, b)]
    ran = [rows[rows["verdict"].isin(RAN)] for rows in sides]
    sums = [sums_of(rows) for rows in sides]
    common = [sums_of(ran[at][is_among(ran[at], ran[1 - at], CASE)]) for at in (0, 1)]
    none, rows = dict.fromkeys(COUNTED, 0), []
    for key in dict.fromkeys([*sums[0], *sums[1]]):
        pair, both = ([found.get(key, none) for found in one] for one in (sums, common))
        counts = {name: [one[name] for one in pair] for name in COUNTED}
        shared = {name: [one[name] for one in both] for name in COUNTED if name.endswith("_calibrated")}
        row = {"backend": key[0], "operator": key[1], "ran_in_both": both[0]["ran"]}
        rows.append(row | counts | {"common": shared})
    return rows


def sums_of(cases: pd.DataFrame) -> dict[tuple[str, str], dict[str, int]]:
    judged = cases[list(JUDGED)].sum(axis=1)
    counted = cases.assign(planned=1, ran=cases["verdict"].isin(RAN).astype(int), judged=judged)
    renamed = counted.rename(columns=lambda name: name.replace("deviates", "deviating"))
    rows = rows_by_key(renamed.groupby(["backend", "operator"], sort=False)[list(COUNTED)].sum())
    return {(str(b), str(o)): {str(name): int(n) for name, n in row.items()} for (b, o), row in rows.items()}


def compared_causes(a: Side, b: Side) -> list[dict[str, Any]]:
    """One row for each root cause of a backend that is in both runs; new and changed ones first."""
    old = rows_of_both(mark_compared(a, b, b.cases[b.cases["verdict"].isin(RAN)]), a, b)
    new = rows_of_both(mark_compared(b, a, a.cases), a, b)  # what a backend refused before and gets wrong now is new
    counts = [counts_by_cause(old), counts_by_cause(new)]
    rows = [compared_cause_row(key, counts, a, b) for key in dict.fromkeys([*counts[0], *counts[1]])]
    return sorted(rows, key=lambda row: (STATUSES.index(row["status"]), -max(row["elements"])))


def mark_compared(side: Side, other: Side, cases: pd.DataFrame) -> pd.DataFrame:
    """A side's discrepancies with two flags: `compared` if their case is in `cases`, and `alone`.

    `alone` marks compared elements that are no discrepancy with the same bits in the other run.
    """
    elements = side.elements
    compared = is_among(elements, cases, CASE)
    return elements.assign(compared=compared, alone=compared & ~is_among(elements, other.elements, ELEMENT))


def is_among(rows: pd.DataFrame, others: pd.DataFrame, columns: list[str]) -> pd.Series[bool]:
    """Which rows have their values of these columns also in the other table."""
    merged = rows[columns].merge(others[columns].drop_duplicates(), on=columns, how="left", indicator=True)
    return pd.Series((merged["_merge"] == "both").to_numpy(), index=rows.index)


def counts_by_cause(elements: pd.DataFrame) -> dict[Key, dict[str, Any]]:
    grouped = elements.groupby(CAUSE, sort=False)
    counts = grouped.agg(
        elements=("id", "size"),
        cases=("case", "nunique"),
        compared=("compared", "sum"),
        alone=("alone", "sum"),
        clause=("clause", lambda found: found.mode().iloc[0]),
        document=("document", "first"),
        witness=("id", "first"),
    )
    return {(str(b), str(o), str(c)): row for (b, o, c), row in rows_by_key(counts).items()}


def compared_cause_row(key: Key, counts: list[dict[Key, dict[str, Any]]], a: Side, b: Side) -> dict[str, Any]:
    nothing: dict[str, Any] = {
        **dict.fromkeys(("elements", "cases", "compared", "alone"), 0),
        **dict.fromkeys(("clause", "document", "witness"), ""),
    }
    pair = [found.get(key, nothing) for found in counts]
    told = [side.root_causes.get(key) for side in (a, b)]
    row: dict[str, Any] = dict(zip(("backend", "operator", "cause"), key, strict=True))
    row |= {name: [int(one[name]) for one in pair] for name in ("elements", "cases", "compared")}
    row |= {"clause": [str(one["clause"]) for one in pair], "vanished": int(pair[0]["alone"])}
    row |= {"appeared": int(pair[1]["alone"]), "versions": [a.versions[key[0]], b.versions[key[0]]]}
    row |= {"document": str((pair[1] if pair[1]["elements"] else pair[0])["document"])}
    row |= {"specs": [side.specs.get(key[0], "") for side in (a, b)]}
    row |= {"clusters": told, "first": [str(one["witness"]) for one in pair]}
    return {"status": status_of(row)} | row


def status_of(row: dict[str, Any]) -> str:
    """One of STATUSES. "renamed": every element has the same result, but some now have another cause."""
    (before, after), compared = row["elements"], row["compared"]
    if not any(compared):
        return "not run" if before else "not run before"
    if row["appeared"] or row["vanished"]:
        return "changed" if before and after else "gone" if before else "new"
    same = compared[0] == compared[1] and row["clause"][0] == row["clause"][1]
    return "unchanged" if same else "renamed"


def verdict_changes(a: Side, b: Side) -> list[dict[str, Any]]:
    """Cases of both runs whose verdict changed: counts by backend, operator and both verdicts, with the first case."""
    columns = [*CASE, "verdict", "message"]
    merged = a.cases[columns].merge(b.cases[columns], on=CASE, suffixes=("_a", "_b"))
    other = merged[merged["verdict_a"] != merged["verdict_b"]]
    grouped = other.groupby(["backend", "operator", "verdict_a", "verdict_b"], sort=False)
    counts = grouped.agg(cases=("case", "size"), first=("case", "first"), message=("message_b", "first"))
    rows = [
        {"kind": verdict_change(one, two), "backend": backend, "operator": operator, "from": one, "to": two}
        | {"cases": int(row["cases"]), "first": str(row["first"]), "message": str(row["message"])}
        for (backend, operator, one, two), row in rows_by_key(counts).items()
    ]
    return sorted(rows, key=lambda row: (KINDS.index(row["kind"]), -row["cases"]))


def verdict_change(before: str, after: str) -> str:
    if after in FAILED:
        return "newly failing" if before not in FAILED else "otherwise"
    if after == "deviates":
        return "newly deviating"
    if after == "unsupported":
        return "newly unsupported"
    if before == "deviates" or before in FAILED:
        return "newly unspecified" if after == "unspecified" else "newly right"
    return "newly running" if before == "unsupported" else "otherwise"
