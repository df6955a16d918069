"""The HTML report: one self-contained file. Jinja escapes every text from a backend.

Its only script is Tiebreak's, allowed by hash, and reads its data from attributes of the document.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, UndefinedError
from markupsafe import Markup

from tiebreak.golden.errors import DamagedFile
from tiebreak.golden.messages import gist
from tiebreak.golden.rounding import ROUND_MODES, short_mode
from tiebreak.golden.verdicts import FAILED, FOREIGN, RAN, VERDICTS
from tiebreak.reports.first_screen import headlines, library_rows, what_ran
from tiebreak.reports.records import Run, write_aside
from tiebreak.reports.report_data import (
    Members,
    Names,
    case_counts,
    cause_rows,
    judged_exponents,
    names_of,
    numbers_text,
    places_by,
    plots_of,
)
from tiebreak.reports.rows import rows_by_key, rows_of, values_by_key
from tiebreak.reports.severity import percent
from tiebreak.reports.story import Chapter, story
from tiebreak.reports.summary import mode_matrix, shown_counts, verdict_counts
from tiebreak.reports.verdict_matrix import compact, folded_rows, mark_of

LARGEST = 1_950_000  # bytes; rows that do not fit are in the Parquet files only
LONGEST_TEXT = 700
MOST = {
    "libraries": 24,
    "headlines": 5,
    "grid": 40,
    "causes": 300,
    "findings": 150,  # of a chapter
    "matrix": 200,
    "modes": 400,
    "verdicts": 400,
    "forbidden": 300,
    "paths": 120,
    "pairs": 400,
    "relations": 200,
    "observed": 700,
    "reasons": 120,
    "plots": 24,
    "backends": 60,
}
SAMPLES = 6
LOOKS = {"✗": "fail", "!": "broke", "⇄": "hazard", "≈": "pass", "✓": "pass", "?": "open", "∅": "idle"}  # CSS classes
# (share of MOST, samples of each cause), tried in turn until the page is small enough.
SIZES = ((1.0, 6), (1.0, 4), (1.0, 3), (1.0, 2), (0.7, 2), (0.5, 1), (0.3, 1), (0.15, 1), (0.05, 1), (0.02, 1))
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff]"
)


def write_report(path: Path, run: Run, folder: str) -> None:
    """Write the report aside and rename it into place."""
    text = render(run, folder)
    write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def render(run: Run, folder: str) -> str:
    """The page, always less than 2 MB: rows and samples are left out until it fits.

    Raises DamagedFile if the records are incomplete.
    """
    try:
        facts, environment = facts_of(run, folder), environment_of()
        return next(
            page for size in SIZES if page_fits(page := page_of(environment, facts, *size)) or size == SIZES[-1]
        )
    except (LookupError, TypeError, AttributeError, ValueError, UndefinedError) as error:
        raise DamagedFile(f"{folder}: damaged run: {type(error).__name__} in its records: {error}") from error


def page_fits(page: str) -> bool:
    return len(page.encode()) <= LARGEST


def facts_of(run: Run, folder: str) -> dict[str, Any]:
    """The template's values, with more rows than may fit."""
    names = names_of(run)
    causes, left_out = cause_rows(run, folder, names, most=MOST["causes"], samples=SAMPLES)
    counts, typed = case_counts(run, names)
    chapters = story(run)
    return {
        "info": run.info,
        "folder": folder,
        "names": names,
        "verdicts": VERDICTS,
        "modes": [short_mode(mode) for mode in ROUND_MODES],
        "cube": numbers_text(counts),
        "cube_dims": "b o m t v" if typed else "b o m v",
        "causes": BoundedRows(causes, left_out),
        "story": [chapter_row(chapter, names) for chapter in chapters],
        "tables": {name: BoundedRows(list(rows)) for name, rows in report_tables(run, names).items()},
        "discrepancies": len(run.discrepancies),
        "own_discrepancies": int((run.discrepancies["document"] != FOREIGN).sum()),
        **first_screen(run, chapters),
    }


def first_screen(run: Run, chapters: Sequence[Chapter]) -> dict[str, Any]:
    """What is seen at once: what ran, the libraries, the findings that matter most, the matrix."""
    libraries, counts = library_rows(run, chapters), shown_counts(run.results)
    operators = sorted({operator for _, operator in counts})
    grid = [
        {"label": label, "backend": backend, "cells": [grid_cell(counts.get((backend, one), {})) for one in operators]}
        for label, (backend, _) in folded_rows(run.info, counts).items()
    ]
    shown = {"libraries": libraries, "headlines": headlines(run, chapters), "grid": grid}
    bounded = {name: BoundedRows(rows).cut(MOST[name]) for name, rows in shown.items()}
    sources = Counter(one.partition(".")[0] for one in operators)
    return bounded | {"ran": what_ran(run, libraries), "operators": operators, "sources": list(sources.items())}


def grid_cell(found: Mapping[str, int]) -> dict[str, Any]:
    """The cell of the matrix for all cases of a backend's operator: its mark, how many cases have it, and its look."""
    mark, number, _ = mark_of(found)
    planned, failed = sum(found.values()), sum(found.get(verdict, 0) for verdict in FAILED)
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in found.items())
    text = f"{mark} {compact(number)}{'!' if failed and mark != '!' else ''}" if number else mark
    return {"text": text, "look": LOOKS.get(mark, "absent"), "title": f"{told} of {planned:,} cases" if told else ""}


def chapter_row(chapter: Chapter, names: Names) -> dict[str, Any]:
    """A chapter for the template; its findings are a bounded table, each with its places in the filters."""
    rows = [
        {
            **{name: getattr(one, name) for name in ("who", "what", "how_much")},
            "ids": ", ".join(one.ids),
            "operators": ", ".join(one.operators),
            "b": " ".join(str(names.at("backend", name)) for name in one.backends),
            "o": " ".join(str(names.at("operator", name)) for name in one.operators),
        }
        for one in chapter.findings
    ]
    found = BoundedRows(rows).cut(MOST["findings"])
    return {"id": chapter.id, "title": chapter.title, "text": chapter.text, "count": len(rows), "findings": found}


def page_of(environment: Environment, facts: dict[str, Any], share: float, samples: int) -> str:
    """The page with this share of the most rows of each table, and at most `samples` samples of each cause."""
    most = {name: max(1, int(count * share)) for name, count in MOST.items()}
    causes = facts["causes"].cut(most["causes"])
    few = [row | {"samples": row["samples"][:samples]} for row in causes.rows]
    smaller: dict[str, Any] = {"causes": BoundedRows(few, causes.left_out)}
    smaller["cube"] = facts["cube"] if share > 0.2 else "[]"
    chapters = [one | {"findings": one["findings"].cut(most["findings"])} for one in facts["story"]]
    smaller |= {"story": chapters, "chapters": {one["id"]: one for one in chapters}}
    smaller["tables"] = {name: table.cut(most[name]) for name, table in facts["tables"].items()}
    return environment.get_template("report.html.j2").render(facts | smaller)


def environment_of() -> Environment:
    """The Jinja environment: texts are made visible, bounded and escaped; style and script are built in."""
    loader = PackageLoader("tiebreak.reports", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
    )
    style, script = (loader.get_source(environment, name)[0] for name in ("report.css", "report.js"))
    environment.globals |= {"mode_text": mode_text, "visible": visible, "style": Markup(style)}
    environment.globals |= {"script": Markup(script), "script_hash": hash_of(script)}
    environment.filters["gist"] = gist
    environment.filters["percent"] = percent
    environment.filters["breakable"] = breakable
    environment.filters["n"] = lambda count: f"{int(count):,}"
    return environment


def visible(value: Any) -> Any:
    """A text, cut, with control and direction characters as \\u escapes; markup and numbers stay as they are."""
    if isinstance(value, (Markup, int, float, StrictUndefined)):
        return value
    text = UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", str(value)[: LONGEST_TEXT + 1])
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def breakable(name: str) -> Markup:
    """A name that may break before its capital letters."""
    return Markup("<wbr>").join(re.split(r"(?<=[a-z0-9.])(?=[A-Z])", str(visible(name))))


def hash_of(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def mode_text(mode: str) -> str:
    return short_mode(mode).replace("_", " ").lower() or "no mode"


@dataclass(frozen=True)
class BoundedRows:
    """The rows of a table that are shown, and how many are left out."""

    rows: Sequence[Any]
    left_out: int = 0

    def cut(self, most: int) -> BoundedRows:
        return BoundedRows(self.rows[:most], self.left_out + max(0, len(self.rows) - most))


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
        "relations": info.get("relations", []),
        "observed": info.get("observed", []),
        "reasons": idle_reasons(run),
        "plots": plots(run),
        "backends": info["backends"],
    }


def overview(run: Run, names: Names) -> list[dict[str, Any]]:
    """A row for each operator and rounding mode; a cell for each backend, None where no case was planned."""
    keys = ["operator", "round_mode", "backend"]
    counts = ["exact", "working_precision", "unspecified", "deviates"]
    elements = run.results.groupby(keys, observed=True)[counts].sum()
    cases = run.results.groupby([*keys, "verdict"], observed=True).size()
    found: dict[Any, dict[str, int]] = {}
    for (*key, verdict), count in values_by_key(cases):
        found.setdefault(tuple(key), {})[str(verdict)] = int(count)
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for (operator, mode, backend), sums in zip(elements.index, rows_of(elements), strict=True):
        cells.setdefault((operator, mode), {})[backend] = overview_cell(sums, found[(operator, mode, backend)])
    return [
        {"operator": operator, "mode": mode, "cells": [(name, row.get(name)) for name in names.backend]}
        for (operator, mode), row in cells.items()
    ]


def overview_cell(elements: dict[Any, int], cases: dict[str, int]) -> dict[str, Any]:
    """One backend's results for one operator and mode: CSS class, text with counts, and notes."""
    planned = sum(cases.values())
    failed, idle = sum(cases.get(verdict, 0) for verdict in FAILED), cases.get("unsupported", 0)
    differ = elements["deviates"]
    judged = elements["exact"] + elements["working_precision"] + differ
    notes = [f"! {failed:,} of {planned:,} cases failed"] if failed else []
    notes += [f"∅ {idle:,} of {planned:,} cases unsupported"] if idle else []
    if judged:
        look = "fail" if differ else "broke" if failed else "pass"
        sign = {"fail": "✗", "broke": "!", "pass": "✓"}[look]
        return {"look": look, "text": f"{sign} {differ:,} of {judged:,}", "notes": notes}
    look = "broke" if failed else "idle" if idle and not elements["unspecified"] else "open"
    text = {"broke": "! failed to run", "idle": "∅ unsupported", "open": "? unspecified"}[look]
    if elements["unspecified"]:
        notes.insert(0, f"? {elements['unspecified']:,} elements unspecified")
    return {"look": look, "text": text, "notes": notes or [f"no element in {planned:,} cases"]}


def verdict_rows(run: Run) -> list[dict[str, Any]]:
    """For each backend and operator: cases by verdict, planned and run, and judged and deviating elements."""
    elements = run.results.groupby(["backend", "operator"], observed=True)[
        ["elements", "exact", "working_precision", "unspecified", "deviates"]
    ].sum()
    totals = {key: {name: int(value) for name, value in row.items()} for key, row in rows_by_key(elements).items()}
    rows = []
    for (backend, operator), verdicts in verdict_counts(run.results).items():
        sums = totals[backend, operator]
        judged = sums["exact"] + sums["working_precision"] + sums["deviates"]
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
