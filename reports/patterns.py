"""A pattern run on the terminal and as one HTML page without scripts: pattern × runtime, causes, witnesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tiebreak.reports.console import terminal_label, terminal_text
from tiebreak.reports.libraries import release
from tiebreak.reports.page import environment_of
from tiebreak.reports.records import write_aside

Cell = Mapping[str, Any]
COLUMNS = {
    "fused ≠ unfused": "fused_unfused",
    "fused ≠ exact": "fused_exact",
    "unfused ≠ exact": "unfused_exact",
}
LONGEST = 400


def print_patterns(found: Mapping[str, Any], folder: Path) -> None:
    """Print the table, the clearest witnesses, and where the rest is."""
    console = Console()
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("pattern", "backend", "outputs", *COLUMNS):
        table.add_column(heading, justify="left" if heading in ("pattern", "backend") else "right")
    for cell in found["cells"]:
        numbers = [f"{cell['outputs']:,}", *(shown(cell[name]) for name in COLUMNS.values())]
        table.add_row(terminal_label(cell["pattern"], 20), terminal_label(cell["backend"], 20), *numbers)
    console.print(table)
    for line in sentences(found):
        console.print(terminal_label(line, LONGEST), highlight=False, soft_wrap=True)
    console.print(f"report: {terminal_text(str(folder / 'report.html'))}", highlight=False, soft_wrap=True)


def shown(count: int) -> str:
    """A count; a dash where there was nothing to compare with."""
    return "–" if count < 0 else f"{count:,}"


def sentences(found: Mapping[str, Any]) -> Iterator[str]:
    """What could not be started, and for each runtime the pattern with the largest share of differences."""
    yield from found["missing"].values()
    worst: dict[str, Cell] = {}
    for cell in found["cells"]:
        best = worst.get(cell["backend"])
        if cell["fused_unfused"] > 0 and (best is None or share(cell) > share(best)):
            worst[cell["backend"]] = cell
    yield from (sentence(cell) for cell in worst.values())


def share(cell: Cell) -> float:
    row = cell["worst"]
    return float(row["differ_unfused"] / row["outputs"])


def sentence(cell: Cell) -> str:
    """The worst setting of a cell in one sentence."""
    row = cell["worst"]
    graph = " > ".join(row["graph"])
    return (
        f"{cell['backend']} {cell['version']}: {cell['text']} runs {graph} as shipped, {row['differ_unfused']:,} of "
        f"{row['outputs']:,} outputs differ from those of the unfused graph at {pairs_text(row)}{undone(cell)}"
    )


def undone(cell: Cell) -> str:
    return f"; undone by {', '.join(cell['restores'])}" if cell["restores"] else ""


def pairs_text(row: Mapping[str, Any]) -> str:
    """Scales and zero points, such as `s1 = 0.02 @ 0`."""
    return ", ".join(f"{name} = {scale} @ {zero_point}" for name, (scale, zero_point) in row["pairs"].items())


def write_page(found: Mapping[str, Any], path: Path) -> None:
    """Write the page aside and rename it into place."""
    text = page(found)
    write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def page(found: Mapping[str, Any]) -> str:
    """The page's HTML. Jinja escapes what a runtime says."""
    environment = environment_of()
    environment.filters["count"] = shown
    environment.filters["pairs"] = pairs_text
    environment.filters["release"] = release
    explained = {(one["backend"], one["pattern"]): one for one in found["explanations"]}
    backends = list(dict.fromkeys((cell["backend"], cell["version"]) for cell in found["cells"]))
    return environment.get_template("patterns.html.j2").render(
        found=found,
        columns=COLUMNS,
        backends=backends,
        grid=grid(found["cells"], [name for name, _ in backends]),
        differing=sorted((one for one in found["cells"] if one["worst"]), key=share, reverse=True),
        explained=explained,
        ways={name: ways_of(found["rows"], name) for name, _ in backends},
    )


def grid(found: Sequence[Cell], backends: Sequence[str]) -> list[tuple[str, str, list[Cell | None]]]:
    """A row for each pattern: its name, text, and cell for each runtime."""
    by_key = {(cell["pattern"], cell["backend"]): cell for cell in found}
    patterns = {cell["pattern"]: cell["text"] for cell in found}
    return [(name, text, [by_key.get((name, backend)) for backend in backends]) for name, text in patterns.items()]


def ways_of(rows: Sequence[Mapping[str, Any]], backend: str) -> dict[str, str]:
    """The settings of each way of a runtime."""
    return {row["way"]: row["settings"] for row in rows if row["backend"] == backend}
