"""The tables of the HTML report behind its findings: by rounding mode, by verdict, what did not run, and plots."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from tiebreak.golden.rounding import ROUND_MODES, short_mode
from tiebreak.golden.verdicts import FAILED, FOREIGN, RAN
from tiebreak.reports.records import COUNTS, JUDGED, Run
from tiebreak.reports.report_data import Members, Names, judged_exponents, places_by, plots_of
from tiebreak.reports.rows import rows_by_key, rows_of, values_by_key
from tiebreak.reports.severity import percent
from tiebreak.reports.summary import mode_matrix, verdict_counts


def report_tables(run: Run, names: Names) -> dict[str, Iterable[Any]]:
    """The rows of the report's tables by name."""
    info = run.info
    order = {"accepted": 0, "crash": 1, "timeout": 2}
    return {
        "matrix": overview(run, names),
        "modes": matrix_rows(run),
        "verdicts": verdict_rows(run),
        "forbidden": sorted(info.get("forbidden", []), key=lambda row: order.get(row["answer"], 3)),
        "paths": info.get("paths", []),
        "pairs": info.get("pairs", []),
        "releases": info.get("releases", []),
        "relations": info.get("relations", []),
        "observed": info.get("observed", []),
        "reasons": idle_reasons(run),
        "plots": plots(run),
        "backends": info["backends"],
    }


def overview(run: Run, names: Names) -> list[dict[str, Any]]:
    """A row for each operator and rounding mode; a cell for each backend, None where no case was planned."""
    keys = ["operator", "round_mode", "backend"]
    elements = run.results.groupby(keys, observed=True)[list(COUNTS)].sum()
    cases = run.results.groupby([*keys, "verdict"], observed=True).size()
    found: dict[Any, dict[str, int]] = {}
    for (*key, verdict), count in values_by_key(cases):
        found.setdefault(tuple(key), {})[str(verdict)] = int(count)
    others = run.results[run.results["document"] == FOREIGN].groupby(["operator", "backend"], observed=True).size()
    foreign = {key for key, _ in values_by_key(others)}
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for (operator, mode, backend), sums in zip(elements.index, rows_of(elements), strict=True):
        cell = overview_cell(sums, found[(operator, mode, backend)], foreign=(operator, backend) in foreign)
        cells.setdefault((operator, mode), {})[backend] = cell
    return [
        {"operator": operator, "mode": mode, "cells": [(name, row.get(name)) for name in names.backend]}
        for (operator, mode), row in cells.items()
    ]


def overview_cell(elements: dict[Any, int], cases: dict[str, int], *, foreign: bool = False) -> dict[str, Any]:
    """One backend's results for one operator and mode: CSS class, text with counts, and notes.

    Deviations from a `foreign` document are conversion hazards.
    """
    planned = sum(cases.values())
    failed, idle = sum(cases.get(verdict, 0) for verdict in FAILED), cases.get("unsupported", 0)
    differ = elements["deviates"]
    judged = sum(elements[name] for name in JUDGED)
    notes = [f"! {failed:,} of {planned:,} cases failed"] if failed else []
    notes += [f"∅ {idle:,} of {planned:,} cases unsupported"] if idle else []
    if judged:
        look = ("hazard" if foreign else "fail") if differ else "broke" if failed else "pass"
        sign = {"fail": "✗", "hazard": "⇄", "broke": "!", "pass": "✓"}[look]
        return {"look": look, "text": f"{sign} {differ:,} of {judged:,}", "notes": notes}
    look = "broke" if failed else "idle" if idle and not elements["unspecified"] else "open"
    text = {"broke": "! failed to run", "idle": "∅ unsupported", "open": "? unspecified"}[look]
    if elements["unspecified"]:
        notes.insert(0, f"? {elements['unspecified']:,} elements unspecified")
    return {"look": look, "text": text, "notes": notes or [f"no element in {planned:,} cases"]}


def verdict_rows(run: Run) -> list[dict[str, Any]]:
    """For each backend and operator: cases by verdict, planned and run, and judged and deviating elements."""
    elements = run.results.groupby(["backend", "operator"], observed=True)[["elements", *COUNTS]].sum()
    totals = {key: {name: int(value) for name, value in row.items()} for key, row in rows_by_key(elements).items()}
    rows = []
    for (backend, operator), verdicts in verdict_counts(run.results).items():
        sums = totals[backend, operator]
        judged = sum(sums[name] for name in JUDGED)
        ran = sum(verdicts.get(verdict, 0) for verdict in RAN)
        planned = sum(verdicts.values())
        share = percent(sums["deviates"], judged)
        key = {"backend": backend, "operator": operator, "verdicts": verdicts, "planned": planned, "ran": ran}
        rows.append(key | {"judged": judged, "deviating": sums["deviates"], "share": share})
    return rows


def matrix_rows(run: Run) -> list[dict[str, Any]]:
    """A row for each backend, operator and requested mode, with a cell for each of the nine modes."""
    rows = []
    for row in rows_of(mode_matrix(run.results)):
        if not any(row[f"compared_{short_mode(mode)}"] for mode in ROUND_MODES):
            continue  # nothing is rounded to an integer
        cells = []
        for mode in ROUND_MODES:
            differ, compared = int(row[f"differs_{short_mode(mode)}"]), int(row[f"compared_{short_mode(mode)}"])
            level = 0 if not differ else 1 + min(4, int(5 * differ / compared))
            requested = mode == row["round_mode"]
            cell = {"share": percent(differ, compared), "differ": differ, "compared": compared, "level": level}
            cells.append(cell | {"requested": requested})
        rows.append({name: row[name] for name in ("backend", "operator", "round_mode")} | {"cells": cells})
    return rows


def plots(run: Run) -> list[tuple[str, list[Markup]]]:
    """Each deviating backend with its plots, the one with most deviating elements first."""
    by_backend = places_by(run.discrepancies, ["backend"])
    groups = sorted(sorted(by_backend.items()), key=lambda item: -len(item[1]))
    judged: dict[str, Counter[int]] = defaultdict(Counter)
    for (backend, _), counts in judged_exponents(run).items():
        judged[backend].update(counts)
    pictures = [(str(name), plots_of(Members(run.discrepancies, places), judged[str(name)])) for name, places in groups]
    return [(name, [Markup(one) for one in found if one]) for name, found in pictures if any(found)]


def idle_reasons(run: Run) -> list[dict[str, Any]]:
    """Why cases did not run, by backend, operator, verdict, fault and message; failures first."""
    idle = run.results[~run.results["verdict"].isin(RAN)]
    keys = ["backend", "operator", "verdict", "fault", "message"]
    groups = idle.groupby(keys, sort=False, observed=True)["case"].agg(["size", "first"])
    counted = groups.sort_values("size", ascending=False, kind="stable")
    rows = [
        dict(zip(keys, key, strict=True)) | {"cases": int(size), "first": first}
        for key, (size, first) in zip(counted.index, counted.to_numpy(), strict=True)
    ]
    return sorted(rows, key=lambda row: row["verdict"] == "unsupported")
