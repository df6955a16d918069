"""The separation matrix on the terminal and as a Markdown page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table


def semantics_names(data: Mapping[str, Any]) -> list[str]:
    """Names the semantics by their differences from the document's, rounded at each step."""
    plain = data["semantics"][data["documented"]]  # the first one where its steps are exact
    own = (
        f"step by step in {plain['precision']}"
        if data["documented"]
        else "as of a float"
        if data["silence"]
        else "as documented"
    )
    found = []
    for one in data["semantics"]:
        differs = [f"{facet.replace('_', ' ')}: {value}" for facet, value in one.items() if value != plain[facet]]
        found.append("; ".join(differs) or own)
    return found


def inputs_text(inputs: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {one['value']}" for name, one in inputs.items())


def bits_text(inputs: Mapping[str, Any]) -> str:
    return " ".join(one["bits"] for one in inputs.values())


def counts_text(data: Mapping[str, Any]) -> str:
    equal = sum("equal" in pair for pair in data["pairs"])
    return (
        f"{len(data['semantics'])} semantics, {len(data['pairs'])} pairs: {len(data['pairs']) - equal} told apart, "
        f"{equal} not, {data['inputs_compared']:,} inputs compared"
    )


def print_matrix(data: Mapping[str, Any]) -> None:
    """Print each semantics against the document's own; --json has every pair."""
    console, called, plain = Console(), semantics_names(data), data["documented"]
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("", "semantics", "input", "gives", called[plain]):
        table.add_column(heading)
    for pair in data["pairs"]:
        if plain not in pair["semantics"]:
            continue
        other = sum(pair["semantics"]) - plain
        if "equal" in pair:
            table.add_row(str(other), called[other], pair["equal"], "", "")
        else:
            own = pair["semantics"].index(plain)
            table.add_row(
                str(other), called[other], inputs_text(pair["witness"]), pair["gives"][1 - own], pair["gives"][own]
            )
    console.print(f"{data['operator']} {data['input_type']} to {data['output_type']}: {counts_text(data)}")
    console.print(table)
    if data["silence"]:
        console.print(data["silence"], soft_wrap=True)


def matrix_markdown(data: Mapping[str, Any]) -> str:
    """The page: the semantics by number, then every pair with its input and what either gives."""
    counted = counts_text(data)
    lines = [
        f"# What tells semantics of {data['operator']} apart: {data['input_type']} to {data['output_type']}",
        "",
        f"Made by `tiebreak audit --matrix`. {counted[0].upper()}{counted[1:]}. Each semantics is named by "
        "what differs from the document's own, step by step; each pair has the plainest input on which its two differ, "
        "with its bits and what either gives, or how it was shown that there is none.",
        *(["", f"{data['silence']}."] if data["silence"] else []),
        "",
        "| number | semantics |",
        "| --- | --- |",
        *(f"| {number} | {name} |" for number, name in enumerate(semantics_names(data))),
        "",
        "| pair | input | bits | gives |",
        "| --- | --- | --- | --- |",
    ]
    for pair in data["pairs"]:
        numbers = ", ".join(map(str, pair["semantics"]))
        if "equal" in pair:
            lines.append(f"| {numbers} | equal on this domain: {pair['equal']} | | |")
        else:
            one, other = pair["gives"]
            lines.append(
                f"| {numbers} | {inputs_text(pair['witness'])} | {bits_text(pair['witness'])} | {one}, {other} |"
            )
    return "\n".join(lines) + "\n"
