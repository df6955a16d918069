"""The tables of what benchmarks/kernel.py measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from figures import NONE, figure, quotient, table
from setting import LAYOUTS, OUTPUTS, SCALES

from tiebreak.golden.rounding import EVEN, ROUND_MODES, short_mode

Row = dict[str, Any]
PEERS = ("onnxruntime", "torch", "tensorflow", "numpy-naive", "copy")
PLACES = ("in cache", "out of cache")
DEFAULTS = {"mode": EVEN, "data": "ordinary", "form": "exact", "layout": LAYOUTS[0], "path": "", "threads": 1}


class Rows:
    """The measured rows, found by what they are of."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def row(self, about: str, who: str, place: str, output: str, **setting: Any) -> Row:
        """The one row; empty if it was not measured."""
        wanted = {"about": about, "who": who, "place": place, "output": output, **DEFAULTS, **setting}
        return next((row for row in self.rows if wanted.items() <= row.items()), {})

    def rate(self, about: str, who: str, place: str, output: str, **setting: Any) -> float | None:
        """10^9 elements in a second."""
        return self.row(about, who, place, output, **setting).get("gelems")

    @property
    def paths(self) -> list[str]:
        return list(dict.fromkeys(row["path"] for row in self.rows if row["path"]))


def kernel_tables(found: Sequence[Row]) -> Iterator[str]:
    rows = Rows(found)
    yield "### Ties to even beside its peers\n"
    yield "10^9 elements in a second; in brackets how many times the peer's rate the kernel's is.\n"
    yield peers(rows)
    yield "The same less what a call costs that has 64 elements, in cache on one thread.\n"
    yield without_calls(rows)
    yield "### All nine rounding modes\n"
    yield "10^9 elements in a second; in brackets the ratio to ties to even, then to onnxruntime's ties to even.\n"
    yield from modes(rows)
    yield "### Other data\n"
    yield "In cache, one thread: 10^9 elements in a second, and how many times as long as ordinary data that takes.\n"
    yield data(rows)
    yield "### One scale, many scales; the exact and the working form\n"
    yield "Ties to even, one thread: 10^9 elements in a second.\n"
    yield forms(rows)
    yield "### Instruction sets\n"
    yield "In cache, one thread: 10^9 elements in a second, ties to even and the slowest of the nine modes.\n"
    yield paths(rows)


def peers(rows: Rows) -> str:
    head = ["output", "place", "threads", "tiebreak", *PEERS[:-1], "float32 copied"]
    lines = []
    for output in OUTPUTS:
        for place in PLACES:
            for threads in (1, 2):
                own = rows.rate("modes", "tiebreak", place, output, threads=threads)
                others = [beside(own, rows.row("modes", peer, place, output, threads=threads)) for peer in PEERS]
                lines.append([output, place, str(threads), figure(own), *others])
    return table(head, lines)


def beside(own: float | None, row: Row, name: str = "gelems") -> str:
    """A peer's rate and the kernel's over it, or why there is none."""
    if name not in row:
        return why_not(row)
    return f"{figure(row[name])} ({figure(quotient(own, row[name]))})"


def why_not(row: Row) -> str:
    """The note without what a library said; results.json has all of it."""
    return str(row.get("note", NONE)).partition(":")[0]


def without_calls(rows: Rows) -> str:
    lines = []
    for output in OUTPUTS:
        own = rows.row("modes", "tiebreak", PLACES[0], output).get("net_gelems")
        others = [beside(own, rows.row("modes", peer, PLACES[0], output), "net_gelems") for peer in PEERS]
        lines.append([output, figure(own), *others])
    return table(["output", "tiebreak", *PEERS[:-1], "float32 copied"], lines)


def modes(rows: Rows) -> Iterator[str]:
    for place in PLACES:
        for threads in (1, 2):
            yield f"{place.capitalize()}, {threads} thread{'s' if threads > 1 else ''}:\n"
            lines = [[short_mode(m), *(mode(rows, place, o, m, threads) for o in OUTPUTS)] for m in ROUND_MODES]
            yield table(["mode", *OUTPUTS], lines)


def mode(rows: Rows, place: str, output: str, mode: str, threads: int) -> str:
    own = rows.rate("modes", "tiebreak", place, output, mode=mode, threads=threads)
    even = rows.rate("modes", "tiebreak", place, output, threads=threads)
    runtime = rows.rate("modes", "onnxruntime", place, output, threads=threads)
    return f"{figure(own)} ({figure(quotient(own, even))}; {figure(quotient(own, runtime))})"


def data(rows: Rows) -> str:
    lines = []
    for output in OUTPUTS:
        for kind in SCALES:
            cells = [slower(rows, "tiebreak", output, kind)]
            mode, rate = slowest(rows, "data", output, data=kind)
            ratio = quotient(rows.rate("data", "tiebreak", PLACES[0], output, mode=mode), rate)
            cells.append(f"{figure(rate)} ({figure(ratio)}) {short_mode(mode)}")
            cells.append(slower(rows, "onnxruntime", output, kind))
            lines.append([output, kind, *cells])
    return table(["output", "data", "ties to even", "slowest mode", "onnxruntime"], lines)


def slower(rows: Rows, who: str, output: str, kind: str) -> str:
    row, usual = (rows.row("data", who, PLACES[0], output, data=each) for each in (kind, "ordinary"))
    if "gelems" not in row:
        return why_not(row)
    return f"{figure(row['gelems'])} ({figure(quotient(usual.get('gelems'), row['gelems']))})"


def slowest(rows: Rows, about: str, output: str, **setting: Any) -> tuple[str, float | None]:
    """The mode with the lowest rate, and that."""
    rates = {mode: rows.rate(about, "tiebreak", PLACES[0], output, mode=mode, **setting) for mode in ROUND_MODES}
    measured = {mode: rate for mode, rate in rates.items() if rate is not None}
    mode = min(measured, key=lambda mode: measured[mode]) if measured else EVEN
    return mode, measured.get(mode)


def forms(rows: Rows) -> str:
    lines = []
    for output in OUTPUTS:
        for place in PLACES:
            for layout in LAYOUTS:
                own = [
                    rows.rate("forms", "tiebreak", place, output, layout=layout, form=f) for f in ("exact", "working")
                ]
                runtime = beside(own[0], rows.row("forms", "onnxruntime", place, output, layout=layout))
                lines.append([output, place, layout, *map(figure, own), runtime])
    return table(["output", "place", "layout", "exact", "working", "onnxruntime"], lines)


def paths(rows: Rows) -> str:
    lines = []
    for path in rows.paths:
        for output in OUTPUTS:
            mode, rate = slowest(rows, "paths", output, path=path)
            even = rows.rate("paths", "tiebreak", PLACES[0], output, path=path)
            lines.append([path, output, figure(even), f"{figure(rate)} {short_mode(mode)}"])
    return table(["instruction set", "output", "ties to even", "slowest mode"], lines)
