"""The HTML report: one file without any reference outside itself; every text from a backend is escaped by Jinja."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType, decimal
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.operators.model import Contest, Operator
from tiebreak.golden.rounding import ROUND_MODES, short_mode
from tiebreak.reports.records import Run, write_aside
from tiebreak.reports.staircase import staircase
from tiebreak.reports.summary import VERDICTS, cause_groups, grade, mode_matrix, verdict_counts

SAMPLES = 6
MOST_GROUPS = 200
MOST_REASONS = 60
MOST_PATHS = 200


def write_report(path: Path, run: Run, folder: str) -> None:
    """Write the report aside and rename it into place."""
    text = render(run, folder)
    write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def render(run: Run, folder: str) -> str:
    loader = PackageLoader("tiebreak.reports", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style = Markup(loader.get_source(environment, "report.css")[0])
    groups = failure_groups(run, folder)
    return environment.get_template("report.html.j2").render(
        info=run.info,
        folder=folder,
        style=style,
        verdicts=VERDICTS,
        verdict_rows=verdict_rows(run),
        modes=[short_mode(mode) for mode in ROUND_MODES],
        matrix=matrix_rows(run),
        groups=groups[:MOST_GROUPS],
        groups_left_out=max(0, len(groups) - MOST_GROUPS),
        paths=run.info.get("paths", [])[:MOST_PATHS],
        paths_left_out=max(0, len(run.info.get("paths", [])) - MOST_PATHS),
        reasons=reasons(run),
        discrepancies=len(run.discrepancies),
        cases=int(run.results["case"].nunique()),
    )


def verdict_rows(run: Run) -> list[dict[str, Any]]:
    """For each backend and operator: cases by verdict and elements by grade, with what was planned and what ran."""
    elements = run.results.groupby(["backend", "operator"])[
        ["elements", "exact", "working_precision", "unspecified", "deviates"]
    ].sum()
    rows = []
    for (backend, operator), verdicts in verdict_counts(run.results).items():
        sums = {str(key): int(value) for key, value in elements.loc[(backend, operator)].items()}
        judged = sums["exact"] + sums["working_precision"] + sums["deviates"]
        ran = sum(verdicts.get(verdict, 0) for verdict in VERDICTS[:4])
        planned = sum(verdicts.values())
        share = percent(sums["deviates"], judged)
        key = {"backend": backend, "operator": operator, "verdicts": verdicts, "planned": planned, "ran": ran}
        rows.append(key | {"judged": judged, "deviating": sums["deviates"], "share": share})
    return rows


def percent(part: int, whole: int) -> str:
    """A share in percent that never rounds something to nothing or to all; empty of 0."""
    if not whole:
        return "–"
    if part in (0, whole):
        return "0 %" if not part else "100 %"
    value = 100 * part / whole
    return "< 0.01 %" if value < 0.01 else "> 99.99 %" if value > 99.99 else f"{value:.3g} %"


def matrix_rows(run: Run) -> list[dict[str, Any]]:
    """A row for each backend, operator and requested mode; a cell for each of the nine modes."""
    rows = []
    for row in mode_matrix(run.results).to_dict("records"):
        if not any(row[f"compared_{short_mode(mode)}"] for mode in ROUND_MODES):
            continue  # nothing is rounded to an integer
        cells = []
        for mode in ROUND_MODES:
            differ, compared = int(row[f"differs_{short_mode(mode)}"]), int(row[f"compared_{short_mode(mode)}"])
            level = 0 if not differ else 1 + min(4, int(5 * differ / compared))
            requested = mode == row["round_mode"]
            cell = {"share": percent(differ, compared), "differ": differ, "compared": compared, "level": level}
            cells.append(cell | {"requested": requested})
        key = {name: row[name] for name in ("backend", "operator")}
        rows.append(key | {"mode": short_mode(str(row["round_mode"])), "cells": cells})
    return rows


def failure_groups(run: Run, folder: str) -> list[dict[str, Any]]:
    """Discrepancies by backend, operator, cause and clause: count, grade, a picture and a few samples."""
    specs = {backend["name"]: backend["spec"] for backend in run.info["backends"]}
    by_group = dict(iter(run.discrepancies.groupby(["backend", "operator", "cause", "clause"], sort=False)))
    groups = []
    for row in cause_groups(run.discrepancies).to_dict("records"):
        members = by_group[(row["backend"], row["operator"], row["cause"], row["clause"])]
        samples = [sample(member, specs, run, folder) for member in telling(members).to_dict("records")]
        operator = OPERATORS.get(str(row["operator"]))
        clause = operator.clause(str(row["clause"])).text if operator else ""
        types = sorted({f"{a} → {b}" for a, b in zip(members["input_type"], members["output_type"], strict=True)})
        extra: dict[str, Any] = {"grade": grade(row["boundary_ulp"]), "clause_text": clause, "types": types}
        extra |= {"samples": samples, "contested": contests_of(operator, str(row["clause"]))}
        groups.append({str(key): value for key, value in row.items()} | extra | {"picture": picture(members)})
    return groups


def contests_of(operator: Operator | None, clause: str) -> list[Contest]:
    """The questions about a clause to which authorities give different answers."""
    return [contest for contest in operator.contested if clause in contest.clauses] if operator else []


def telling(members: pd.DataFrame) -> pd.DataFrame:
    """The few rows of a group to show: nearest to a boundary, of short cases first, from different cases."""
    ordered = members.sort_values(["boundary_ulp", "index"], kind="stable", na_position="last")
    return pd.concat([ordered.drop_duplicates("case"), ordered]).drop_duplicates("id").head(SAMPLES)


def picture(members: pd.DataFrame) -> Markup:
    first = telling(members).iloc[0].to_dict()
    return Markup(staircase(first))


def sample(row: dict[Any, Any], specs: dict[str, str], run: Run, folder: str) -> dict[str, Any]:
    """One row for people: operands, expected in both truths, what came, and the command that replays it."""
    kind = ELEMENT_TYPES[row["result_type"]]
    texts = {
        "operands": json.loads(row["operands"]),
        "expected": result_text(row["expected"], row["expected_bits"], kind),
        "working": result_text(row["expected_working"], row["working_bits"], kind),
        "got": result_text(row["got"], row["got_bits"], kind),
        "real": isinstance(kind, FloatType),
        "replay": replay(row, specs[row["backend"]], folder, offline=run.info["level"] == "offline"),
    }
    return {str(key): value for key, value in row.items()} | texts


def result_text(value: float, code: int, kind: FloatType | IntegerType) -> list[str]:
    """An integer; or a real's bits and decimal."""
    if isinstance(kind, IntegerType):
        return [str(int(value))]
    return [f"0x{int(code):0{max(2, kind.bits // 4)}x}", decimal(int(code), kind)]


def replay(row: dict[Any, Any], spec: str, folder: str, *, offline: bool) -> str:
    """A command line that runs this one case again; the case's id where the backend is elsewhere."""
    if offline:
        return f"case {row['case']}"
    words = ["tiebreak", "run", "-b", spec, "--case", row["case"]]
    if not row["case"].startswith(tuple(OPERATORS)):
        words += ["--from", folder]
    return shlex.join([*words, "-o", "replay"])


def reasons(run: Run) -> list[dict[str, Any]]:
    """Why cases did not run: verdict, kind of fault and message by backend, the most first."""
    idle = run.results[run.results["verdict"].isin(VERDICTS[4:])]
    groups = idle.groupby(["backend", "verdict", "fault", "message"], sort=False)["case"].agg(["size", "first"])
    counted = groups.sort_values("size", ascending=False, kind="stable")
    rows = [
        {"backend": backend, "verdict": verdict, "fault": fault, "message": message, "cases": int(size), "first": first}
        for (backend, verdict, fault, message), (size, first) in zip(counted.index, counted.to_numpy(), strict=True)
    ]
    return sorted(rows, key=lambda row: row["verdict"] == "unsupported")[:MOST_REASONS]
