"""The matrix backend x operator: one short cell for all cases of both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from tiebreak.golden.operator_names import short_name, source_of
from tiebreak.golden.verdicts import FAILED, HAZARD
from tiebreak.reports.console import terminal_label
from tiebreak.reports.libraries import equal_configurations, folded_name

Counts = Mapping[str, int]  # verdict to number of cases
Cells = Mapping[tuple[str, str], Counts]  # by backend and operator
Rows = Mapping[str, str]  # a row's label to the backend whose cells it has

MARKS = "✗ deviate ⇄ hazard ≈ as written ✓ exact ? unspecified ∅ unsupported ! failed"
LABEL = 26  # columns of the first column, if there is room for more than that
NARROWEST, WIDEST = 4, 8  # columns of a cell
READABLE = 5  # columns in which numbers and heads of a cell are seldom cut
TIGHT = 6  # columns that a cell needs for a space behind its mark


def compact(number: int) -> str:
    """A number of cases in at most four characters below ten millions."""
    if number < 10_000:
        return str(number)
    return f"{number // 1000}k" if number < 1_000_000 else f"{number // 1_000_000}M"


def mark_of(found: Counts) -> tuple[str, int, str]:
    """The worst that is true of the cases: its mark, the number of such cases, and a colour."""
    failed = sum(found.get(verdict, 0) for verdict in FAILED)
    conform = found.get("exact", 0) + found.get("working-precision", 0)
    if found.get("deviates"):
        return "✗", found["deviates"], "red"
    if failed:
        return "!", failed, "magenta"
    if found.get(HAZARD):
        return "⇄", found[HAZARD], "cyan"
    if conform:
        return ("≈", conform, "cyan") if found.get("working-precision") else ("✓", conform, "green")
    if found.get("unspecified"):
        return "?", found["unspecified"], "yellow"
    return ("∅", 0, "dim") if found.get("unsupported") else ("", 0, "dim")


def cell_text(found: Counts, width: int) -> str:
    """The cell as rich markup. What is wider than the column is in thousands, or without a smaller number."""
    text, (_, number, colour) = plain_cell(found), mark_of(found)
    if width < TIGHT:
        text = text.replace(" ", "")
    if len(text) > width:
        text = text.replace(str(number), f"{number // 1000}k" if number >= 1000 else "")
    return f"[{colour}]{text}[/]" if text else ""


def plain_cell(found: Counts) -> str:
    """The mark and the number of cases that it stands for; a failure beside deviations is a mark at the end."""
    mark, number, _ = mark_of(found)
    beside = "!" if mark and mark in "✗⇄" and any(found.get(verdict) for verdict in FAILED) else ""
    return f"{mark} {compact(number)}{beside}" if number else mark


def initials(operator: str) -> str:
    """FakeQuantWithMinMaxVars as FQV, QuantizeV2 as QV2, RESCALE as RSCL."""
    name = short_name(operator)
    if name.isupper():
        return re.sub("[AEIOU]", "", name)
    words = re.findall(r"[A-Z][a-z]*[0-9]*|[a-z]+", name)
    words = [word for word in words if word not in ("With", "And", "Per", "Min", "Max")]
    return "".join(word[0] + re.sub("[^0-9]", "", word) for word in words) or operator


def cell_width(width: int, label: int, columns: int) -> int:
    """How wide the cells can be beside labels as wide as they usually are."""
    return max(NARROWEST, min(WIDEST, (width - min(label, LABEL)) // max(columns, 1) - 1))


def most_columns(width: int, rows: Rows) -> int:
    """How many columns have room for what they say beside labels as wide as they usually are."""
    return max(1, (width - min(widest(rows), LABEL)) // (READABLE + 1))


def column_names(operators: Sequence[str], width: int, label: int) -> tuple[dict[str, str], int]:
    """A heading for each operator, its own name or its initials, and how wide the columns are."""
    names = {operator: short_name(operator) for operator in operators}
    if label + sum(max(len(name), WIDEST) + 1 for name in names.values()) < width:
        return names, max(map(len, names.values()), default=WIDEST)
    return {operator: initials(operator) for operator in operators}, cell_width(width, label, len(operators))


def matrix_table(rows: Rows, cells: Cells, operators: Sequence[str], width: int) -> Table:
    """The matrix for a terminal of this width."""
    names, wide = column_names(operators, width, widest(rows))
    table = Table(title=MARKS, box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    room = max(10, width - len(names) * (wide + 1) - 1)
    table.add_column("", no_wrap=True, overflow="ellipsis", max_width=room)
    for operator, name in names.items():
        source = source_of(operator)[:wide]
        table.add_column(f"{source}\n{name}", justify="right", overflow="fold", max_width=wide)
    for text, backend in rows.items():
        table.add_row(terminal_label(text, 200), *(cell(cells.get((backend, one), {}), wide) for one in names))
    return table


def cell(found: Counts, width: int) -> Text:
    """A cell in one line."""
    text = Text.from_markup(cell_text(found, width), overflow="ellipsis")
    text.no_wrap = True
    return text


def widest(rows: Rows) -> int:
    """The columns of the widest label; a name may have wide characters."""
    return max(map(cell_len, rows), default=0)


def names_explained(operators: Sequence[str], width: int, rows: Rows) -> str:
    """The legend of the initials, if columns have such."""
    names, _ = column_names(operators, width, widest(rows))
    short = {name: short_name(operator) for operator, name in names.items()}
    return ", ".join(f"{name} {full}" for name, full in short.items() if name != full)


def folded_rows(info: Mapping[str, Any], cells: Cells) -> Rows:
    """The rows of a finished run: configurations of one library that gave equal bits share one, which says so."""
    return {folded_label(group): group[0] for group in folded_groups(info, cells)}


def folded_groups(info: Mapping[str, Any], cells: Cells) -> list[list[str]]:
    """The backends that ran, those of one library that gave equal bits together."""
    ran = {backend for backend, _ in cells}
    by_backend = {name: {op: dict(found) for (b, op), found in cells.items() if b == name} for name in ran}
    groups = [[name for name in group if name in ran] for group in equal_configurations(info, by_backend)]
    return [group for group in groups if group]


def folded_label(group: Sequence[str]) -> str:
    return folded_name(group) + (" (equal bits)" if group[1:] else "")
