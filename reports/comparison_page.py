"""What changed between two runs as one self-contained HTML file without scripts. Jinja escapes every backend's text.

`found` is the mapping that conformance.gate.compare returns, with the two `folders` and when they were `created`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from tiebreak.golden.operator_names import source_of
from tiebreak.golden.verdicts import FOREIGN
from tiebreak.reports.comparison import MEANINGS, changed_line, changed_lines, difference_lines, ran_in_both, repro_line
from tiebreak.reports.first_screen import document_of, does
from tiebreak.reports.libraries import folded_name, release
from tiebreak.reports.page import BoundedRows, environment_of
from tiebreak.reports.records import write_aside
from tiebreak.reports.severity import percent

CHANGES = ("new", "changed", "gone")
SIGNS = {"new": "+", "changed": "~", "gone": "−"}
MOST = {"cards": 300, "others": 300, "verdicts": 100, "operators": 400, "libraries": 24, "grid": 40, "headlines": 5}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class ChangedCause:
    """A root cause that changed alike in configurations of one library; `row` is that with most elements."""

    library: str
    rows: tuple[Row, ...]
    anchor: str

    @property
    def row(self) -> Row:
        return max(self.rows, key=lambda row: max(row["elements"]))

    @property
    def status(self) -> str:
        return str(self.row["status"])

    @property
    def backends(self) -> tuple[str, ...]:
        return tuple(str(row["backend"]) for row in self.rows)

    @property
    def foreign(self) -> bool:
        return bool(self.row["document"] == FOREIGN)

    @property
    def worse(self) -> bool:
        """Whether elements deviate that did not."""
        return self.status == "new" or any(row["appeared"] for row in self.rows)

    @property
    def witness(self) -> Row | None:
        """The root cause in run.json, in the second run if it is there."""
        old, new = self.row["clusters"]
        found: Row | None = new or old
        return found


def write_page(path: Path, found: Mapping[str, Any]) -> None:
    """Write the page aside and rename it into place."""
    text = comparison_page(found)
    write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def comparison_page(found: Mapping[str, Any]) -> str:
    """The page's HTML."""
    causes = changed_causes(found)
    groups = {status: [one for one in causes if one.status == status] for status in MEANINGS}
    operators = sorted({str(row["operator"]) for row in found["operators"]})
    shown = {
        "libraries": library_rows(found, causes),
        "headlines": headlines(causes),
        "grid": grid_rows(found, causes, operators),
        "verdicts": found["verdicts"],
        "operators": found["operators"],
    }
    environment = page_environment()
    return environment.get_template("compare.html.j2").render(
        found=found,
        differences=[changed_line(found["changed"], ran_in_both(found)), *difference_lines(found)],
        changed=changed_lines(found["changed"]),
        meanings=MEANINGS,
        signs=SIGNS,
        groups={status: cut(some, "cards" if status in CHANGES else "others") for status, some in groups.items()},
        counts={status: len(some) for status, some in groups.items()},
        names=operators,
        sources=list(Counter(map(source_of, operators)).items()),
        repro=repro_line,
        **{name: cut(rows, name) for name, rows in shown.items()},
    )


def cut(rows: Iterable[Any], name: str) -> BoundedRows:
    return BoundedRows(list(rows)).cut(MOST[name])


def page_environment() -> Environment:
    """The report's environment, with the style of the pages that hold runs against each other."""
    environment = environment_of()
    source = environment.loader.get_source(environment, "changes.css")[0] if environment.loader else ""
    environment.globals |= {"changes_style": Markup(source)}
    environment.filters["release"] = release
    environment.filters["groupby_library"] = by_library
    return environment


def by_library(causes: Sequence[ChangedCause]) -> list[tuple[str, list[ChangedCause]]]:
    """The causes of each library, which are together already."""
    return [(library, list(own)) for library, own in groupby(causes, key=lambda one: one.library)]


def changed_causes(found: Mapping[str, Any]) -> list[ChangedCause]:
    """Root causes by what became of them; those of one library together, conversion hazards after its own."""
    libraries = {str(row["backend"]): str(row["library"]) for row in found["backends"]}
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in found["causes"]:
        key = row["status"], libraries[row["backend"]], *row["versions"], row["operator"], row["cause"], row["document"]
        groups[tuple(map(str, (*key, bool(row["appeared"]))))].append(row)
    causes = [ChangedCause(label(key), tuple(rows), f"change-{n}") for n, (key, rows) in enumerate(groups.items(), 1)]
    order = {one.library: number for number, one in reversed(list(enumerate(causes)))}
    return sorted(causes, key=lambda one: (order[one.library], one.foreign))


def label(key: Sequence[str]) -> str:
    """A library with its releases, of a key that begins with what became of a cause."""
    _, library, one, other, *_ = key
    return f"{library} {' → '.join(dict.fromkeys((release(one), release(other))))}"


def library_rows(found: Mapping[str, Any], causes: Sequence[ChangedCause]) -> list[dict[str, Any]]:
    """For each library and pair of releases what became of its root causes; those with something new first."""
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in found["backends"]:
        one, other = row["versions"]
        groups[str(row["library"]), str(one or ""), str(other or "")].append(str(row["backend"]))
    rows = [
        {"library": library, "versions": versions, "backends": names}
        | {"counts": Counter(one.status for one in causes if set(one.backends) <= set(names))}
        | {"worse": any(one.worse for one in causes if set(one.backends) <= set(names))}
        | {"shares": calibrated_shares(found, names), "failing": newly_failing(found, names)}
        for (library, *versions), names in groups.items()
    ]
    return sorted(rows, key=lambda row: (not row["worse"], not row["failing"], "" in row["versions"], row["library"]))


def calibrated_shares(found: Mapping[str, Any], backends: Sequence[str]) -> list[str]:
    """The share of the calibrated elements that deviate, of each run: of the cases that ran in both."""
    rows = [row for row in found["operators"] if row["backend"] in backends]
    names = "deviating_calibrated", "judged_calibrated"
    deviating, judged = ([sum(row["common"][name][at] for row in rows) for at in (0, 1)] for name in names)
    return [percent(part, whole) for part, whole in zip(deviating, judged, strict=True)]


def newly_failing(found: Mapping[str, Any], backends: Sequence[str], operator: str = "") -> int:
    """How many cases of these backends fail now and did not."""
    return sum(
        row["cases"]
        for row in found["verdicts"]
        if row["kind"] == "newly failing" and row["backend"] in backends and operator in ("", row["operator"])
    )


def headlines(causes: Sequence[ChangedCause]) -> Iterator[tuple[ChangedCause, str]]:
    """What changed most, each in a sentence: what is worse before what is better, each library's first in turn."""
    seen: Counter[str] = Counter()
    turns = []
    for one in sorted((one for one in causes if one.status in CHANGES), key=importance):
        turns.append((seen[one.library], one))
        seen[one.library] += 1
    for _, one in sorted(turns, key=lambda turn: (not turn[1].worse, turn[1].foreign, turn[0])):
        yield one, example_of(one)


def importance(one: ChangedCause) -> tuple[bool, bool, int, int]:
    return not one.worse, one.foreign, CHANGES.index(one.status), -max(one.row["elements"])


def example_of(one: ChangedCause) -> str:
    """Who does what with one input; the operator alone in runs without a witness."""
    operator = str(one.row["operator"])
    if one.witness is None:
        return f"{folded_name(one.backends)}, {operator}"
    shown = one.witness["witness"]
    says = f", not {shown['expected']}" if one.foreign else f" where {document_of(operator)} says {shown['expected']}"
    what = does({"operator": operator}, shown["operands"])
    return f"{folded_name(one.backends)} {what} to {shown['got']}{says}"


def grid_rows(found: Mapping[str, Any], causes: Sequence[ChangedCause], operators: Sequence[str]) -> list[Row]:
    """The matrix backend by operator of what changed; configurations of a library with the same row share it."""
    ran = {(row["backend"], row["operator"]): row["ran_in_both"] for row in found["operators"]}
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    cells: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in found["backends"]:
        name = str(row["backend"])
        if None not in row["versions"]:
            own = [grid_cell(found, causes, name, one, ran.get((name, one), 0)) for one in operators]
            key = str(row["library"]), repr(own)
            groups[key].append(name)
            cells[key] = own
    return [{"label": folded_name(names), "cells": cells[key]} for key, names in groups.items()]


def grid_cell(
    found: Mapping[str, Any], causes: Sequence[ChangedCause], backend: str, operator: str, ran: int
) -> dict[str, str]:
    """How many root causes of a backend's operator came, changed and went: text, look, title, and where they are."""
    own = [
        one for one in causes if one.status in CHANGES and backend in one.backends and one.row["operator"] == operator
    ]
    failing = newly_failing(found, [backend], operator)
    counts = Counter(one.status for one in own)
    parts = [f"{SIGNS[status]}{counts[status]}" for status in CHANGES if counts[status]]
    parts += [f"!{failing:,}"] if failing else []
    titles = [f"{counts[status]} {status}" for status in CHANGES if counts[status]]
    titles += [f"{failing:,} cases newly failing"] if failing else []
    to = own[0].anchor if own else "verdicts" if failing else ""
    if not parts:
        return {"text": "=" if ran else "·", "look": "same" if ran else "absent", "title": "", "to": ""}
    worse = [one for one in own if one.worse]
    look = "fail" if any(not one.foreign for one in worse) else "broke" if failing else "hazard" if worse else "pass"
    return {"text": " ".join(parts), "look": look, "title": ", ".join(titles), "to": to}
