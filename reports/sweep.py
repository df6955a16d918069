"""A sweep's outcome on the terminal and as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tiebreak.golden.verdicts import FOREIGN, OWN
from tiebreak.reports.console import terminal_text

MOST_SHOWN = 10


def overhead(data: Mapping[str, Any]) -> float:
    """The sweep's time divided by the time of the backend's own calls."""
    return float(data["seconds"] / data["backend_seconds"]) if data["backend_seconds"] else 0.0


def json_sweep(data: Mapping[str, Any], certificate: str) -> dict[str, Any]:
    """The object that `tiebreak sweep --json` prints."""
    return {
        "backend": data["backend"]["name"],
        "operator": data["operator"],
        "document": data["backend"].get("document", OWN),
        "inputs": data["inputs"],
        "mismatches": data["counts"]["deviates"],
        "seconds": data["seconds"],
        "backend_seconds": data["backend_seconds"],
        "overhead": round(overhead(data), 3),
        "first": data["intervals"]["kept"][:MOST_SHOWN],
        "intervals": data["intervals"]["count"],
        "counts": data["counts"],
        "modes": data["modes"],
        "faults": data["faults"],
        "certificate": certificate,
    }


def print_sweep(data: Mapping[str, Any], certificate: str) -> None:
    console, backend = Console(), data["backend"]
    table = Table(
        title=f"{terminal_text(backend['name'])} {terminal_text(backend['version'])}: {data['operator']}",
        box=box.SIMPLE_HEAD,
    )
    for heading in ("inputs", *(grade.replace("-", " ") for grade in data["counts"])):
        table.add_column(heading, justify="right")
    table.add_row(f"{data['inputs']:,}", *(f"{count:,}" for count in data["counts"].values()))
    console.print(table)
    if data["modes"]:
        console.print(mode_table(data))
    if data["intervals"]["kept"]:
        console.print(interval_table(data))
    if data["counts"]["deviates"] and backend.get("document") == FOREIGN:
        console.print("conversion hazards: the backend does not claim this document")
    for block, fault in data["faults"].items():
        console.print(f"block {block}: {terminal_text(fault, 200)}")
    times = f"{data['seconds']:.1f} s, the backend's own {data['backend_seconds']:.1f} s"
    console.print(f"{times}; certificate: {terminal_text(certificate, 300)}", soft_wrap=True)


def mode_table(data: Mapping[str, Any]) -> Table:
    table = Table(title="inputs that differ from each rounding mode", box=box.SIMPLE_HEAD)
    table.add_column("mode")
    table.add_column("inputs", justify="right")
    for mode, count in sorted(data["modes"].items(), key=lambda pair: pair[1]):
        table.add_row(mode, f"{count:,}")
    return table


def interval_table(data: Mapping[str, Any]) -> Table:
    """The first intervals; there may be many more."""
    count, kept = data["intervals"]["count"], data["intervals"]["kept"]
    table = Table(title=f"mismatches: {count:,} intervals, the first {min(MOST_SHOWN, len(kept))}", box=box.SIMPLE_HEAD)
    scales = ["scale"] if "scale" in kept[0] else []
    for heading in (*scales, "from", "to", "inputs", "expected", "got", "cause"):
        table.add_column(heading, overflow="fold")
    for row in kept[:MOST_SHOWN]:
        ends = ("\n".join((row[end]["bits"], row[end]["input"])) for end in ("first", "last"))
        codes = (
            "\n".join(dict.fromkeys(terminal_text(row[end][side]) for end in ("first", "last")))
            for side in ("expected", "got")
        )
        scale = ["\n".join(row["scale"])] if scales else []
        table.add_row(*scale, *ends, f"{row['inputs']:,}", *codes, terminal_text(row["cause"], 200))
    return table


def print_check(data: Mapping[str, Any]) -> None:
    console, changed = Console(), data["changed_blocks"]
    same = (
        "all results are what they were"
        if not changed
        else f"results changed in {len(changed)} of {data['blocks']} blocks"
    )
    console.print(f"{terminal_text(data['backend'])}, {data['operator']}, {data['inputs']:,} inputs: {same}")
    for grade, now in data["counts"]["now"].items():
        then = data["counts"]["then"][grade]
        if then != now:
            console.print(f"{grade}: {then:,} then, {now:,} now")
    for name, (then, now) in data["changed"].items():
        console.print(
            f"{terminal_text(name, 120)}: {terminal_text(then, 80)} then, {terminal_text(now, 80)} now", soft_wrap=True
        )
