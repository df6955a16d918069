"""A folder of runs as one self-contained HTML file without scripts: trends by operator, changes by release.

`found` is the mapping that conformance.gate.history returns. Jinja escapes every text from a backend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tiebreak.golden.operator_names import source_of
from tiebreak.reports.comparison_page import page_environment
from tiebreak.reports.libraries import folded_name
from tiebreak.reports.page import BoundedRows, Menu, page_fits
from tiebreak.reports.records import write_aside
from tiebreak.reports.trend import (
    GRID,
    HEIGHT,
    LEFT,
    WIDTH,
    ZERO,
    LibraryTrend,
    Panel,
    height,
    trends,
    y_of,
)

SIGNS = {"new": "+", "changed": "~", "gone": "−"}
MOST_RUNS = (60, 30, 15, 8)  # of a library, tried in turn until the page is small enough
MOST = {"libraries": 24, "releases": 3, "grid": 40, "moved": 5, "causes": 60, "runs": 200, "damaged": 50}


def write_history(path: Path, found: Mapping[str, Any]) -> None:
    """Write the page aside and rename it into place."""
    text = history_page(found)
    write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def history_page(found: Mapping[str, Any], menu: Menu = ()) -> str:
    """The page's HTML, with as many runs of each library as fit; `menu` is that of the site that it belongs to."""
    pages = (page_of(found, most, menu) for most in MOST_RUNS)
    page = ""
    for page in pages:
        if page_fits(page):
            break
    return page


def page_of(found: Mapping[str, Any], most_runs: int, menu: Menu) -> str:
    """The page with this many runs of each library at most."""
    libraries = BoundedRows(trends(found["rows"], most_runs)).cut(MOST["libraries"])
    operators = sorted({panel.operator for one in libraries.rows for panel in one.panels})
    template = page_environment().get_template("history.html.j2")
    return template.render(
        found=found,
        menu=menu,
        libraries=libraries,
        signs=SIGNS,
        most=MOST,
        names=operators,
        sources=list(Counter(map(source_of, operators)).items()),
        grid=BoundedRows(list(grid_rows(libraries.rows, operators))).cut(MOST["grid"]),
        moved=moved(libraries.rows)[: MOST["moved"]],
        runs=sorted({(str(row["created"]), str(row["run"])) for row in found["rows"]}, reverse=True),
        damaged=BoundedRows(found["damaged"]).cut(MOST["damaged"]),
        **scale_of_pictures(),
    )


def scale_of_pictures() -> dict[str, Any]:
    """What the pictures of trends have in common: their size, and where which share is."""
    levels = [(round(y_of(height((int(share * 10_000), 10_000))), 1), text) for share, text in GRID]
    return {"size": (WIDTH, HEIGHT, LEFT, ZERO), "levels": levels}


def moved(libraries: Sequence[LibraryTrend]) -> list[tuple[LibraryTrend, Panel]]:
    """The operators whose share moved most since the release before."""
    pairs = [(one, panel) for one in libraries for panel in one.panels if panel.moved.arrow]
    return sorted(pairs, key=lambda pair: (pair[1].foreign, -abs(pair[1].moved.move)))


def grid_rows(libraries: Sequence[LibraryTrend], operators: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The matrix backend by operator: the last share, and whether it rose or fell."""
    for one in sorted(libraries, key=lambda library: library.library):
        backends = dict.fromkeys(name for panel in one.panels for line in panel.lines for name in line.backends)
        groups: dict[str, tuple[list[str], list[dict[str, str]]]] = {}
        for name in backends:
            cells = [grid_cell(one, name, operator) for operator in operators]
            groups.setdefault(repr(cells), ([], cells))[0].append(name)
        yield from ({"label": folded_name(names), "cells": cells} for names, cells in groups.values())


def grid_cell(library: LibraryTrend, backend: str, operator: str) -> dict[str, str]:
    found = [
        (panel, line)
        for panel in library.panels
        for line in panel.lines
        if panel.operator == operator and backend in line.backends
    ]
    if not found:
        return {"text": "", "look": "absent", "to": "", "title": ""}
    panel, line = found[0]
    look = "open" if line.last == "–" else "pass" if line.last == "0 %" else "hazard" if panel.foreign else "fail"
    title = f"{line.before} → {line.last} since {library.since}"
    return {"text": f"{number_of(line.last)} {line.arrow}".strip(), "look": look, "to": panel.anchor, "title": title}


def number_of(share: str) -> str:
    """A share in words as a short number of percents: "0.0165 %" as "0.017"."""
    number = share.removesuffix(" %")
    short = f"{float(number):.2g}" if number[:1].isdigit() else number.replace(" ", "")
    return "100" if number == "100" else short if "e" not in short else number
