"""The HTML report: one self-contained file. Jinja escapes every text from a backend.

Its only script is Tiebreak's, allowed by hash, and reads its data from attributes of the document.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, UndefinedError
from markupsafe import Markup

from tiebreak.golden.errors import DamagedFile
from tiebreak.golden.messages import gist
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.rounding import ROUND_MODES, short_mode
from tiebreak.golden.verdicts import FAILED, FOREIGN, HAZARD, RAN, VERDICTS
from tiebreak.reports.cards import Card, cards_of
from tiebreak.reports.first_screen import News, headlines, library_rows, what_ran
from tiebreak.reports.libraries import release
from tiebreak.reports.records import Run, write_aside
from tiebreak.reports.report_data import (
    LONGEST_COMMAND,
    SAMPLES,
    Members,
    Names,
    case_counts,
    judged_exponents,
    names_of,
    numbers_text,
    places_by,
    plots_of,
)
from tiebreak.reports.rows import rows_by_key, rows_of, values_by_key
from tiebreak.reports.severity import percent
from tiebreak.reports.story import Chapter, operator_names, story
from tiebreak.reports.summary import mode_matrix, shown_counts, verdict_counts
from tiebreak.reports.verdict_matrix import Cells, compact, folded_groups, folded_label, mark_of

SCRIPTS = ("pictures.js", "cards.js", "report.js")
LARGEST = 1_950_000  # bytes; rows that do not fit are in the Parquet files only
LONGEST_TEXT = 700
MOST = {
    "libraries": 24,
    "headlines": 5,
    "grid": 40,
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
LOOKS = {"✗": "fail", "!": "broke", "⇄": "hazard", "≈": "pass", "✓": "pass", "?": "open", "∅": "idle"}  # CSS classes
MOST_WORDS = 4000  # characters of a runtime's own message
DIMS = {  # which filters the rows of a chapter know of, by letter
    "itself": "b o t",
    "own": "b o m t f c v u w y",
    "failures": "b o v",
    "calls": "b o c v",
    "hazards": "b o m t f c v u w y",
    "silent": "b o v",
}


@dataclass(frozen=True)
class Size:
    """How much a page has: a share of the rows of its tables, and so many samples of each cause.

    `data`, `pictures` and `bodies` say how many findings of a chapter, the most severe ones, have samples, have a
    picture and open to something. None loses its line.
    """

    tables: float
    samples: int
    data: int
    pictures: int
    bodies: int


# Tried in turn until the page is small enough.
SIZES = (
    Size(1, SAMPLES, 300, 300, 1000), Size(1, 4, 300, 300, 1000), Size(1, 3, 300, 300, 1000),
    Size(1, 2, 300, 300, 1000), Size(0.7, 2, 250, 200, 800), Size(0.5, 1, 200, 120, 600), Size(0.3, 1, 150, 60, 400),
    Size(0.15, 1, 100, 30, 200), Size(0.05, 1, 50, 10, 100), Size(0.02, 1, 20, 5, 40), Size(0.02, 1, 5, 0, 10),
)  # fmt: skip
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff]"
)


def write_report(path: Path, run: Run, folder: str, news: News | None = None) -> None:
    """Write the report aside and rename it into place."""
    text = render(run, folder, news)
    write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def render(run: Run, folder: str, news: News | None = None) -> str:
    """The page, always less than 2 MB: rows and samples are left out until it fits.

    Raises DamagedFile if the records are incomplete.
    """
    try:
        facts, environment = facts_of(run, folder, news), environment_of()
        return next(page for size in SIZES if page_fits(page := page_of(environment, facts, size)) or size == SIZES[-1])
    except (LookupError, TypeError, AttributeError, ValueError, UndefinedError) as error:
        raise DamagedFile(f"{folder}: damaged run: {type(error).__name__} in its records: {error}") from error


def page_fits(page: str) -> bool:
    return len(page.encode()) <= LARGEST


def facts_of(run: Run, folder: str, news: News | None = None) -> dict[str, Any]:
    """The template's values, with more rows than may fit."""
    names = names_of(run)
    counts, typed = case_counts(run, names)
    chapters = story(run)
    cards = cards_of(run, chapters, names)
    return {
        "info": run.info,
        "folder": folder,
        "names": names,
        "verdicts": VERDICTS,
        "modes": [short_mode(mode) for mode in ROUND_MODES],
        "cube": numbers_text(counts),
        "cube_dims": "b o m t v" if typed else "b o m v",
        "for_script": json_text(for_script(run, folder, names)),
        "example_query": example_query(names),
        "story": [chapter_row(number, chapter, cards) for number, chapter in enumerate(chapters, start=1)],
        "tables": {name: BoundedRows(list(rows)) for name, rows in report_tables(run, names).items()},
        "discrepancies": len(run.discrepancies),
        "own_discrepancies": int((run.discrepancies["document"] != FOREIGN).sum()),
        **first_screen(run, chapters, names, news),
        "news": news,
    }


def for_script(run: Run, folder: str, names: Names) -> dict[str, Any]:
    """What the page's script needs to know of the run."""
    specs = {str(backend["name"]): str(backend["spec"]) for backend in run.info["backends"]}
    return {
        "folder": folder,
        "level": run.info["level"],
        "backends": names.backend,
        "specs": [specs.get(name, name) for name in names.backend],
        "operators": list(OPERATORS),
        "modes": [mode_text(mode) for mode in ROUND_MODES],
        "longest": LONGEST_COMMAND,
    }


def example_query(names: Names) -> str:
    """What one could type into the field for text."""
    first = next(iter(names.backend), "backend")
    return " ".join([f"{visible(first)[:20]}:deviates", *(f"{visible(one)[:20]}:exact" for one in names.backend[1:2])])


def first_screen(run: Run, chapters: Sequence[Chapter], names: Names, news: News | None) -> dict[str, Any]:
    """What is seen at once: what ran, the libraries, the findings that matter most, the matrix."""
    libraries, counts = library_rows(run, chapters), shown_counts(run.results)
    operators = sorted({operator for _, operator in counts})
    grid = [
        {
            "label": label,
            "backend": backend,
            "first": names.at("backend", backend),
            "b": " ".join(str(names.at("backend", one)) for one in same),
            "cells": [grid_cell(counts.get((backend, one), {})) for one in operators],
        }
        for label, backend, same in grid_rows(run, counts)
    ]
    shown: dict[str, Sequence[Any]] = {
        "libraries": libraries,
        "headlines": headlines(run, chapters, news),
        "grid": grid,
    }
    bounded = {name: BoundedRows(rows).cut(MOST[name]) for name, rows in shown.items()}
    sources = Counter(one.partition(".")[0] for one in operators)
    return bounded | {"ran": what_ran(run, libraries), "operators": operators, "sources": list(sources.items())}


def grid_rows(run: Run, counts: Cells) -> Iterator[tuple[str, str, list[str]]]:
    """The label of each row of the matrix, the backend whose cells it has, and all backends that it stands for."""
    for group in folded_groups(run.info, counts):
        yield folded_label(group), group[0], group


def grid_cell(found: Mapping[str, int]) -> dict[str, Any]:
    """The cell of the matrix for all cases of a backend's operator: its mark, how many cases have it, and its look."""
    mark, number, _ = mark_of(found)
    planned, failed = sum(found.values()), sum(found.get(verdict, 0) for verdict in FAILED)
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in found.items())
    text = f"{mark} {compact(number)}{'!' if failed and mark != '!' else ''}" if number else mark
    title = f"{told} of {planned:,} cases" if told else ""
    return {"text": text, "look": LOOKS.get(mark, "absent"), "title": title, "foreign": HAZARD in found}


def chapter_row(number: int, chapter: Chapter, cards: Sequence[Card]) -> dict[str, Any]:
    """A chapter for the template."""
    own = [card for card in cards if card.chapter == chapter.id]
    shared = {"number": number, "id": chapter.id, "title": chapter.title, "text": chapter.text}
    return {**shared, "count": len(own or chapter.findings), "cards": own, "dims": DIMS[chapter.id]}


def page_of(environment: Environment, facts: dict[str, Any], size: Size) -> str:
    """The page of a size."""
    most = {name: max(1, int(count * size.tables)) for name, count in MOST.items()}
    smaller: dict[str, Any] = {"cube": facts["cube"] if size.tables > 0.2 else "[]"}
    chapters = [chapter | {"cards": list(drawn_cards(chapter["cards"], size))} for chapter in facts["story"]]
    smaller |= {"story": chapters, "chapters": {one["id"]: one for one in chapters}}
    smaller["tables"] = {name: table.cut(most[name]) for name, table in facts["tables"].items()}
    return environment.get_template("report.html.j2").render(facts | smaller)


def drawn_cards(cards: Sequence[Card], size: Size) -> Iterator[tuple[Card, Mapping[str, Any] | None, Markup]]:
    """Each card with its facts and its data as far as the size allows them."""
    for number, card in enumerate(cards):
        data = card.data(size.samples, number < size.pictures) if number < size.data else None
        yield card, card.facts if number < size.bodies else None, json_text(data) if data else Markup("")


def json_text(value: Any) -> Markup:
    """JSON for an attribute in single quotes; its texts are made visible and cut."""
    text = json.dumps(visible_texts(value), separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("&", "&amp;").replace("'", "&#39;").replace("<", "&lt;").replace(">", "&gt;"))


def visible_texts(value: Any) -> Any:
    """A JSON value whose texts are visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {str(key): visible_texts(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [visible_texts(one) for one in value]
    return value


def by_library(cards: Sequence[tuple[Card, Any, Any]]) -> list[tuple[str, list[tuple[Card, Any, Any]]]]:
    """The cards of each library, which are together already."""
    return [(short_library(name), list(own)) for name, own in groupby(cards, key=lambda card: card[0].library)]


def short_library(name: str) -> str:
    """A library and its release, without what follows the release's numbers."""
    library, _, version = name.rpartition(" ")
    return f"{library} {release(version)}"


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
    style = loader.get_source(environment, "report.css")[0]
    script = "\n".join(['"use strict";', *(loader.get_source(environment, name)[0] for name in SCRIPTS)])
    environment.globals |= {"mode_text": mode_text, "visible": visible, "style": Markup(style)}
    environment.globals |= {"script": Markup(script), "script_hash": hash_of(script)}
    environment.filters["gist"] = gist
    environment.filters["percent"] = percent
    environment.filters["breakable"] = breakable
    environment.filters["groupby_library"] = by_library
    environment.filters["json"] = json_text
    environment.filters["quoted"] = shlex.quote
    environment.filters["short"] = operator_names
    environment.filters["whole"] = lambda text: Markup("{}").format(unseen_shown(str(text)[:MOST_WORDS]))
    environment.filters["n"] = lambda count: f"{int(count):,}"
    return environment


def visible(value: Any) -> Any:
    """A text, cut, with control and direction characters as \\u escapes; markup and numbers stay as they are."""
    if isinstance(value, (Markup, int, float, StrictUndefined)):
        return value
    text = unseen_shown(str(value)[: LONGEST_TEXT + 1])
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def unseen_shown(text: str) -> str:
    """A text with control and direction characters as \\u escapes."""
    return UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


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
    judged = elements["exact"] + elements["working_precision"] + differ
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
