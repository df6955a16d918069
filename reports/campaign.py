"""A campaign's summary on the terminal and as a Markdown table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tiebreak.golden.untrusted_text import printable
from tiebreak.reports.console import terminal_text

HEADINGS = ("backend", "node", "inputs", "working precision", "other order", "unspecified", "mismatches", "status")
COUNTED = ("working-precision", "other-order", "unspecified", "deviates")
LONGEST = 200
MARKS = {ord(mark): f"&#{ord(mark)};" for mark in "&<>\\`*[]|~"}


def print_campaign(data: Mapping[str, Any], folder: str) -> None:
    console = Console()
    table = Table(title=f"{len(data['sweeps'])} sweeps", box=box.SIMPLE_HEAD)
    table.add_column("sweep", overflow="fold", min_width=34)
    for heading in ("inputs", "mismatches"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("status", overflow="fold", max_width=40)
    for row in data["sweeps"]:
        backend, node, inputs, *_, mismatches, status = sweep_cells(row)
        table.add_row(terminal_text(f"{backend}: {node}", LONGEST), inputs, mismatches, terminal_text(status, LONGEST))
    console.print(table)
    console.print(f"certificates, campaign.json and campaign.md: {terminal_text(folder, 300)}", soft_wrap=True)


def campaign_markdown(data: Mapping[str, Any]) -> str:
    """The summary as a Markdown page. Untrusted text is escaped."""
    rows = [(*map(markdown_cell, sweep_cells(row)), certificate_cell(row)) for row in data["sweeps"]]
    lines = [(*HEADINGS, "certificate"), tuple("---" for _ in range(len(HEADINGS) + 1)), *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"# Campaign\n\n{len(rows)} sweeps of `{plan_code(data['plan'])}`, Tiebreak {data['tiebreak']}.\n\n{table}\n"


def sweep_cells(row: Mapping[str, Any]) -> list[str]:
    """The cells of a sweep's row, in the order of HEADINGS."""
    backend = f"{row.get('name', row['backend'])} {row.get('version', '')}".strip()
    if row.get("name", row["backend"]) != row["backend"]:
        backend += f" ({row['backend']})"
    return [backend, node_text(row), *count_texts(row), status_text(row)]


def count_texts(row: Mapping[str, Any]) -> list[str]:
    if "counts" not in row:
        return [""] * (1 + len(COUNTED))
    counts = row["counts"]
    return [f"{count:,}" for count in (row["tried"], *(counts[g] for g in COUNTED))]


def node_text(row: Mapping[str, Any]) -> str:
    """Operator, types, attributes and inputs in one line."""
    opset = f" opset {row['opset']}" if row["opset"] else ""
    named = [f"{name}={value}" for name, value in {**row["attributes"], **row["inputs"]}.items()]
    scales = ["every scale"] if row["every_scale"] else []
    start = f"{row['operator']}{opset} {row['input_type']} to {row['output_type']}"
    return ", ".join([start, *named, *scales])


def status_text(row: Mapping[str, Any]) -> str:
    """The status with the number of faults and the message, if any."""
    faults = f"{row['faults']} blocks without results" if row.get("faults") else ""
    return ": ".join(part for part in (row["status"], faults, row.get("message", "")) if part)


def certificate_cell(row: Mapping[str, Any]) -> str:
    name = row["certificate"]
    return f"[{name}]({name})" if row["status"] in ("done", "kept") else ""


def markdown_cell(text: str) -> str:
    """Text for a cell of a Markdown table, escaped so that it shows as it is."""
    return printable(text, LONGEST).translate(MARKS)


def plan_code(text: str) -> str:
    return printable(text, LONGEST).replace("`", "?")
