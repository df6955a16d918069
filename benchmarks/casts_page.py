"""Writes docs/casts.md from what benchmarks/casts.py found.

    python benchmarks/casts_page.py FILE … > docs/casts.md

A later row for a node of a backend replaces an earlier one. Deviations are told once for all input types of a backend,
an output type and attributes.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from casts import Row, key_of, read, shown, witnesses

from tiebreak.golden.elements import ELEMENT_TYPES

HEAD = """# Every input of every cast

Made by `python benchmarks/casts_page.py` from what `python benchmarks/casts.py` found; not edited by hand.

A node of [onnx.Cast](operators/onnx.Cast.md) is a pair of types, one of which has 8 bits or fewer, with each value of
`saturate` and `round_mode` that matters there. Every bit pattern of its input is cast and judged: 256 of float 8,
65,536 of float16 and bfloat16, 4,294,967,296 of float32, int32 and uint32. float64 and 64-bit integers are too many.
"""


def read_all(paths: Iterable[str]) -> list[Row]:
    rows: dict[tuple[Any, ...], Row] = {}
    for path in paths:
        rows |= {key_of(row): row for row in read(Path(path))}
    return list(rows.values())


def versions(rows: Iterable[Row]) -> Iterator[str]:
    """A line for each backend and version, with its first and last day. Rows of earlier days have neither."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        groups[row["backend"], row.get("version", "")].append(row.get("day", ""))
    for (backend, version), days in groups.items():
        known = sorted(day for day in days if day)
        when = " to ".join(dict.fromkeys((known[0], known[-1]))) if known else "day not recorded"
        yield f"- {backend} {version or '(version not recorded)'}, {when}: {len(days)} nodes"


def is_whole(row: Row) -> bool:
    """Whether every input of the node's type has a result."""
    whole = 1 << ELEMENT_TYPES[row["source"]].bits
    return row["status"] == "swept" and not row["faults"] and sum(row["counts"].values()) == whole


def summary(rows: Iterable[Row]) -> Iterator[str]:
    """A line for each backend: nodes by what became of them, and inputs."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["backend"]].append(row)
    yield "| backend | nodes | refused | every input judged | of these without a deviation | inputs | deviate |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for backend, own in groups.items():
        whole = [row for row in own if is_whole(row)]
        refused = sum(row["status"] == "unsupported" for row in own)
        right = sum(not row["counts"]["deviates"] for row in whole)
        inputs, wrong = (sum(number) for number in zip(*map(inputs_of, own), strict=True))
        yield f"| {backend} | {len(own)} | {refused} | {len(whole)} | {right} | {inputs:,} | {wrong:,} |"


def inputs_of(row: Row) -> tuple[int, int]:
    """How many inputs were judged, and how many deviate."""
    counts = row.get("counts", {})
    return sum(counts.values()), counts.get("deviates", 0)


def left_out(rows: Iterable[Row]) -> Iterator[str]:
    """A line for each backend and input type of which nodes were taken, but not swept whole, or none was asked."""
    rows = list(rows)
    every = {row["source"] for row in rows}
    for backend in dict.fromkeys(row["backend"] for row in rows):
        if missing := every.difference(row["source"] for row in rows if row["backend"] == backend):
            yield f"- {backend}: {', '.join(sorted(missing))} not asked"
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["status"] != "unsupported" and not is_whole(row):
            groups[row["backend"], row["source"]].append(row)
    for (backend, source), own in groups.items():
        judged = sorted({f"{inputs_of(row)[0]:,}" for row in own})
        said = sorted({text[:100] for row in own for text in row.get("faults") or [row.get("message", "")] if text})
        yield "; ".join((f"- {backend}, {source}: {len(own)} nodes, {' or '.join(judged)} inputs of each", *said))


def deviations(rows: Iterable[Row]) -> Iterator[str]:
    """A line for each backend, output type and attributes: the input types with their deviating inputs, a witness."""
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if inputs_of(row)[1]:
            groups[row["backend"], row["target"], shown(row)].append(row)
    yield "| backend | to | node | inputs that deviate, by type | first of the last type |"
    yield "| --- | --- | --- | --- | --- |"
    for key, own in groups.items():
        own.sort(key=lambda row: (ELEMENT_TYPES[row["source"]].bits, row["source"]))
        types = ", ".join(f"{row['source']} {row['counts']['deviates']:,}" for row in own)
        yield "| " + " | ".join((*key, types, *witnesses(own[-1]))) + " |"


def page(rows: Sequence[Row]) -> str:
    parts = [HEAD, *summary(rows), "", "Asked:", "", *versions(rows)]
    if left := list(left_out(rows)):
        parts += ["", "Not swept whole:", "", *left]
    return "\n".join([*parts, "", "## What deviates", "", *deviations(rows)]) + "\n"


if __name__ == "__main__":
    print(page(read_all(sys.argv[1:])), end="")
