"""The gate: discrepancies that are neither in the baseline nor waived, stale waivers, and the exit code."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from tiebreak.adapters.registry import registered
from tiebreak.adapters.settings import differing_settings
from tiebreak.conformance.gate.changed_results import CASE, changed_results, not_run, other_vectors
from tiebreak.conformance.gate.compare import CAUSE, ELEMENT, Side, is_among, side_of
from tiebreak.conformance.gate.counterparts import counterparts, other_names, under_names
from tiebreak.conformance.gate.waivers import Waiver
from tiebreak.conformance.running.journal import check_not_locked
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.exit_codes import exit_code
from tiebreak.golden.places import RECORDS
from tiebreak.golden.verdicts import FAILED, FOREIGN, RAN
from tiebreak.reports.records import DISCREPANCY_DTYPES, RESULT_DTYPES, Run, read_info, typed_frame
from tiebreak.reports.rows import rows_by_key, rows_of

RUN_FILES = (*RECORDS, "report.html")
NAMED = [*CAUSE, "cause_id", "clause"]  # the columns that a waiver names, besides the version
MOST_CAUSES = 6  # existing causes that the message for an unmatched waiver lists
USED, EXPIRED, STALE, NOT_RUN = "used", "expired", "stale", "not run"


def gate(
    run: Run,
    baseline: Run | None,
    waivers: Sequence[Waiver],
    today: date,
    *,
    judge_foreign: bool = False,
    any_change: bool = False,
    must_run: bool = False,
    strict: bool = False,
) -> dict[str, Any]:
    """The document that `tiebreak gate --json` prints, without the folders; `today` decides which waivers expired.

    A backend of the baseline has the name of its counterpart in the run. A new deviation from a document that the
    backend does not claim is a hazard, and new only with `judge_foreign`. With `any_change` it counts for the exit
    code, and so do results with other bits; with `must_run` so do cases that ran in the baseline and do not now.
    Another order of steps than the baseline's is told, and fails only if `strict`; no waiver is for it.
    DamagedFile if a table has values that no run writes.
    """
    baseline = baseline or no_run()
    names = counterparts(baseline, run)
    base = side_of(under_names(baseline, names))
    side = side_of(run)
    try:
        judged = elements_with_excuses(side, base, waivers, today)
        hazards = judged["new"] & (judged["document"] == FOREIGN) & (not judge_foreign)
        judged = judged.assign(new=judged["new"] & ~hazards, hazard=hazards)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise DamagedFile(f"discrepancies.parquet: damaged run file: {' '.join(str(error).split())[:200]}") from None
    specs = own_specs(run)
    failures = new_failures(side, base, specs)
    found: dict[str, Any] = {
        "new": causes_among(judged, judged["new"], side, base, specs),
        "hazards": causes_among(judged, judged["hazard"], side, base, specs),
        "other_orders": new_orders(side, base, judge_foreign=judge_foreign),
        "strict": strict,
        "failures": failures,
        "waivers": [waiver_row(waiver, judged, side, base, failures, today) for waiver in waivers],
        "changed": changed_results(base.cases, side.cases),
        "not_run": not_run(base.cases, side.cases),
        "any_change": any_change,
        "must_run": must_run,
        "counts": counts_of(judged, side, base),
        "counterparts": other_names(names),
        "settings": differing_settings(baseline.info.get("settings"), run.info.get("settings")),
        "vectors": other_vectors(baseline.info, run.info),
    }
    return found | {"exit": exit_code_of_gate(found)}


def no_run() -> Run:
    return Run({"backends": []}, typed_frame([], RESULT_DTYPES), typed_frame([], DISCREPANCY_DTYPES))


def exit_code_of_gate(found: Mapping[str, Any]) -> int:
    """The exit code of the gate; a waiver that no longer matches counts like a new discrepancy.

    Whether any result changed has no answer where no case ran both times.
    """
    return exit_code(
        discrepancies=has_news(found) or any(row["status"] == STALE for row in found["waivers"]),
        failures=bool(found["failures"]),
        ran=bool(found["counts"]["ran_in_both" if found["any_change"] else "ran"]),
    )


def has_news(found: Mapping[str, Any]) -> bool:
    """Whether something is new that the gate was asked to fail for, failures apart."""
    changed = found["any_change"] and (found["changed"] or found["hazards"])
    orders = found["strict"] and found["other_orders"]
    return bool(found["new"] or changed or orders or (found["must_run"] and found["not_run"]))


def elements_with_excuses(side: Side, base: Side, waivers: Sequence[Waiver], today: date) -> pd.DataFrame:
    """The run's discrepancies with columns that say what excuses each.

    `known`: the baseline has the same element with the same result, whatever its cause was. `waived`, `expired` and
    `beyond` are numbers of waivers that name the element (0: none): within the tolerance, within it but expired,
    outside it. `new`: nothing excuses the element; an expired waiver also cancels the baseline's excuse.
    """
    elements = side.elements.assign(
        known=is_among(side.elements, base.elements, ELEMENT), waived=0, expired=0, beyond=0
    )
    for waiver in waivers:
        named = named_by(waiver, elements, side)
        within = within_tolerance(waiver, elements, named)
        column = "waived" if today <= waiver.expires else "expired"
        elements.loc[within & (elements[column] == 0), column] = waiver.number
        if column == "waived":
            elements.loc[named & ~within, "beyond"] = waiver.number
    excused = (elements["known"] & (elements["expired"] == 0)) | (elements["waived"] > 0)
    return elements.assign(new=~excused)


def named_by(waiver: Waiver, elements: pd.DataFrame, side: Side) -> pd.Series[bool]:
    """Which elements a waiver names; decided once for each cause."""
    causes = elements[NAMED].drop_duplicates()
    named = [waiver.names(row, side.versions.get(row["backend"], "")) for row in rows_of(causes)]
    return is_among(elements, causes[pd.Series(named, index=causes.index, dtype=bool)], NAMED)


def within_tolerance(waiver: Waiver, elements: pd.DataFrame, named: pd.Series[bool]) -> pd.Series[bool]:
    if waiver.kind == "any" or not named.any():
        return named
    within = pd.Series([waiver.tolerates(row) for row in rows_of(elements[named])], elements[named].index, dtype=bool)
    return within.reindex(named.index, fill_value=False)


def own_specs(run: Run) -> dict[str, str]:
    """By backend, how a user's own one was named; empty for a registered one."""
    specs = {str(backend["name"]): str(backend.get("spec", "")) for backend in run.info["backends"]}
    return {name: "" if spec in registered() else spec for name, spec in specs.items()}


def causes_among(
    judged: pd.DataFrame, wanted: pd.Series[bool], side: Side, base: Side, specs: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The wanted elements by root cause, the most frequent first. `specs` are of `own_specs`."""
    new = judged[wanted]
    unseen = ~is_among(new, base.cases, CASE)
    totals = judged.groupby(CAUSE, sort=False).size().to_dict()
    rows = []
    for key, group in new.groupby(CAUSE, sort=False):
        backend, operator, cause = map(str, key)
        root_cause = side.root_causes.get((backend, operator, cause))
        whole = len(group) == totals[key]
        first = group.iloc[0]
        row: dict[str, Any] = {
            "backend": backend,
            "version": side.versions.get(backend, ""),
            "operator": operator,
            "cause": cause,
            "cause_id": str(group["cause_id"].iloc[0]),
        }
        row |= {"clause": str(group["clause"].mode().iloc[0]), "elements": len(group), "cases": group["case"].nunique()}
        row |= {"unseen": int(unseen[group.index].sum()), "of": int(totals[key]), "cluster": root_cause}
        row |= {name: sorted(set(group[name].tolist()) - {0}) for name in ("expired", "beyond")}
        row |= {"first": {name: number_text(first[name]) for name in ("id", "case", "operands", "expected", "got")}}
        row |= {"repro": root_cause["id"] if root_cause and whole else str(first["id"]), "spec": specs.get(backend, "")}
        rows.append(row)
    return sorted(rows, key=lambda row: -row["elements"])


def number_text(value: Any) -> str:
    """A value as text; a float that is a whole number without a fraction."""
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else str(value)


def new_orders(side: Side, base: Side, *, judge_foreign: bool) -> list[dict[str, Any]]:
    """By backend and operator, the cases with more results of another order than the baseline has there."""
    own = side.cases[(side.cases["other_order"] > 0) & (judge_foreign | (side.cases["document"] != FOREIGN))]
    pairs = own[[*CASE, "other_order"]].merge(base.cases[[*CASE, "other_order"]], on=CASE, how="left")
    more = pairs[pairs["other_order_x"] > pairs["other_order_y"].fillna(0)]
    grouped = more.groupby(["backend", "operator"], sort=False)
    counts = grouped.agg(cases=("case", "size"), elements=("other_order_x", "sum"), first=("case", "first"))
    return [
        {"backend": backend, "operator": operator, "cases": int(row["cases"]), "elements": int(row["elements"])}
        | {"first": str(row["first"])}
        for (backend, operator), row in rows_by_key(counts).items()
    ]


def new_failures(side: Side, base: Side, specs: Mapping[str, str]) -> list[dict[str, Any]]:
    """Crashes, timeouts and errors that the baseline does not have for the same case; waivers never excuse them."""
    columns = [*CASE, "verdict"]
    failed = side.cases[side.cases["verdict"].isin(FAILED)]
    new = failed[~is_among(failed, base.cases, columns)]
    grouped = new.groupby(["backend", "operator", "verdict", "fault"], sort=False)
    counts = grouped.agg(cases=("case", "size"), first=("case", "first"), message=("message", "first"))
    return [
        {"backend": backend, "operator": operator, "verdict": verdict, "fault": fault}
        | {"cases": int(row["cases"]), "first": str(row["first"]), "message": str(row["message"])}
        | {"spec": specs.get(str(backend), "")}
        for (backend, operator, verdict, fault), row in rows_by_key(counts).items()
    ]


def waiver_row(
    waiver: Waiver,
    judged: pd.DataFrame,
    side: Side,
    base: Side,
    failures: Sequence[Mapping[str, Any]],
    today: date,
) -> dict[str, Any]:
    """One waiver, the number of elements that it excuses, and its status with the reason."""
    named = named_by(waiver, judged, side)
    matched = int(within_tolerance(waiver, judged, named).sum())
    row = {"number": waiver.number, "waiver": str(waiver), "reason": waiver.reason, "link": waiver.link}
    row |= {"expires": waiver.expires.isoformat(), "elements": matched}
    if today > waiver.expires:
        return row | {"status": EXPIRED, "why": f"its last day was {waiver.expires}"}
    if matched:
        return row | {"status": USED, "why": ""}
    if named.any():
        return row | {"status": STALE, "why": "all that it names is beyond its tolerance"}
    why = why_not_decided(waiver, side, base, failures)
    return row | {"status": NOT_RUN if why else STALE, "why": why or why_stale(waiver, side, base)}


def why_stale(waiver: Waiver, side: Side, base: Side) -> str:
    """Why a waiver matches nothing: its discrepancies are gone, or it never named any (then existing causes follow)."""
    if named_by(waiver, base.elements, side).any():
        return "its discrepancies are gone: remove it"
    there = side.elements[side.elements["operator"] == waiver.operator]
    names = [name for name, version in side.versions.items() if waiver.is_for(name, version)]
    causes = there[there["backend"].isin(names)]["root"].value_counts().index.tolist()
    if not causes:
        return "it matches nothing: what it names has no discrepancies here; remove it"
    return (
        f"it matches nothing, neither here nor in the baseline; causes that are here: {'; '.join(causes[:MOST_CAUSES])}"
    )


def why_not_decided(waiver: Waiver, side: Side, base: Side, failures: Sequence[Mapping[str, Any]]) -> str:
    """Why this run can't show that the waived discrepancies are gone; empty if it can."""
    names = [name for name, version in side.versions.items() if waiver.is_for(name, version)]
    cases = side.cases[side.cases["backend"].isin(names) & (side.cases["operator"] == waiver.operator)]
    ran = cases[cases["verdict"].isin(RAN)]
    if ran.empty:
        return "no such backend at such a version ran the operator"
    if any(row["backend"] in names and row["operator"] == waiver.operator for row in failures):
        return "the backend failed in the operator's cases"
    before = base.elements[within_tolerance(waiver, base.elements, named_by(waiver, base.elements, side))]
    return "" if is_among(before, ran, CASE).all() else "the cases in which the baseline has it did not all run"


def counts_of(judged: pd.DataFrame, side: Side, base: Side) -> dict[str, int]:
    """Cases planned, that ran, and that ran both times; elements deviating: new, waived, known; elements gone."""
    ran = side.cases[side.cases["verdict"].isin(RAN)]
    excused = ~judged["new"] & ~judged["hazard"]
    waived = excused & (judged["waived"] > 0)
    again = base.elements[is_among(base.elements, ran, CASE)]
    return {
        "planned": len(side.cases),
        "ran": len(ran),
        "ran_in_both": int(is_among(ran, base.cases[base.cases["verdict"].isin(RAN)], CASE).sum()),
        "deviating": len(judged),
        "new": int(judged["new"].sum()),
        "hazards": int(judged["hazard"].sum()),
        "waived": int(waived.sum()),
        "known": int((excused & ~waived).sum()),
        "gone": int((~is_among(again, side.elements, ELEMENT)).sum()),
    }


def may_update(found: Mapping[str, Any], *, accept: bool) -> bool:
    """Whether the run may become the baseline: nothing is new, or the news is accepted; never if nothing ran."""
    return bool(found["counts"]["ran"]) and (accept or not (has_news(found) or found["failures"]))


def update_baseline(run: Path, baseline: Path) -> None:
    """Replace the baseline's files with the run's. A copy made beside it is renamed, so no partial baseline exists.

    Other files in the baseline's folder stay. InvalidInput if it is no run folder or can't be written.
    """
    if baseline.resolve() == run.resolve():
        raise InvalidInput(f"{baseline}: the run is the baseline already")
    check_not_locked(baseline)
    if baseline.exists() and (not baseline.is_dir() or any(baseline.iterdir())):
        read_info(baseline)  # raises unless the folder is a run's
    links = [name for name in RUN_FILES if (run / name).is_symlink()]
    if links:
        raise InvalidInput(f"{run / links[0]}: a link; a baseline is made of a run's own files")
    place = baseline.resolve()
    update_or_refuse(baseline, lambda: place.parent.mkdir(parents=True, exist_ok=True))
    update_or_refuse(baseline, lambda: replace_folder(run, place))


def update_or_refuse(baseline: Path, act: Callable[[], None]) -> None:
    try:
        act()
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)[:200]
        raise InvalidInput(f"{baseline}: can't update: {reason}") from None


def ignore_run_files(place: Path) -> Callable[[Any, list[str]], Sequence[str]]:
    """For shutil.copytree: ignore the old run's files at the top of the baseline's folder."""
    return lambda folder, names: RUN_FILES if Path(folder) == place else ()


def replace_folder(run: Path, place: Path) -> None:
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as aside:
        fresh, old = Path(aside) / "new", Path(aside) / "old"
        if place.exists():
            shutil.copytree(place, fresh, symlinks=True, ignore=ignore_run_files(place))
        fresh.mkdir(exist_ok=True)
        for name in RUN_FILES:
            if (run / name).is_file():
                shutil.copyfile(run / name, fresh / name)
        if place.exists():
            place.rename(old)
        try:
            fresh.rename(place)
        except OSError:
            if old.exists():
                old.rename(place)
            raise
