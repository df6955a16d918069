"""The outcome of a sweep of every scale on the terminal and as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tiebreak.golden.verdicts import FOREIGN, OWN
from tiebreak.reports.console import terminal_text
from tiebreak.reports.sweep import overhead

MOST_NAMED = 12


def json_scales(data: Mapping[str, Any], certificate: str) -> dict[str, Any]:
    """The object that `tiebreak sweep --every-scale --json` prints."""
    kept = ("operator", "inputs", "seconds", "backend_seconds", "assumes", "total", "parts", "invariance", "faults")
    return {
        "backend": data["backend"]["name"],
        "document": data["backend"].get("document", OWN),
        **{name: data[name] for name in kept},
        "overhead": round(overhead(data), 3),
        "certificate": certificate,
    }


def print_scales(data: Mapping[str, Any], certificate: str) -> None:
    console, backend = Console(), data["backend"]
    title = f"{terminal_text(backend['name'])} {terminal_text(backend['version'])}: {data['operator']}"
    table = Table(title=f"{title}, every scale", box=box.SIMPLE_HEAD)
    for heading in ("", "scales", "same", "pairs that differ", "worst scale", "off by"):
        table.add_column(heading, justify="left" if not heading else "right", overflow="fold")
    for name, part in [*data["parts"].items(), ("in all", data["total"])]:
        table.add_row(name, *part_cells(part))
    console.print(table)
    console.print(invariance_line(data["invariance"]), soft_wrap=True)
    if data["total"]["wrong"] and backend.get("document") == FOREIGN:
        console.print("conversion hazards: the backend does not claim this document")
    for block, fault in data["faults"].items():
        console.print(f"block {block}: {terminal_text(fault, 200)}")
    for name, text in data["assumes"].items():
        console.print(f"{name}: {terminal_text(text, 300)}", soft_wrap=True)
    times = f"{data['seconds']:.1f} s, the backend's own {data['backend_seconds']:.1f} s"
    console.print(f"{times}; certificate: {terminal_text(certificate, 300)}", soft_wrap=True)


def part_cells(part: Mapping[str, Any]) -> list[str]:
    """Scales, those that never differ, pairs that differ, the worst scale, how far a threshold is off."""
    most = "≥ " if part["located"] < part["differing"] else ""
    worst = f"{part['worst']['value']}: {part['worst']['pairs']:,}" if part["worst"]["pairs"] else ""
    places = part["farthest"]["places"]
    cells = [f"{part['scales']:,}", f"{part['scales'] - part['differing']:,}", f"{most}{part['pairs']:,}", worst]
    return [*cells, f"{places:,} ulp" if places else ""]


def invariance_line(invariance: Mapping[str, Any]) -> str:
    other, compared = invariance["other"], invariance["compared"]
    if not other:
        return f"the same answers at {compared} exponents"
    named = ", ".join(f"2^{exponent}" for exponent in other[:MOST_NAMED])
    more = f" and {len(other) - MOST_NAMED} more" if len(other) > MOST_NAMED else ""
    return (
        f"other answers at {len(other)} of {compared} exponents: {named}{more}; what holds at 2^0 does not hold there"
    )
