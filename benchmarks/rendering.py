"""results.json as the Markdown that the docs show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from aims import aims
from figures import NONE, escaped, figure, megabytes, quotient, table
from kernel_tables import kernel_tables

Part = dict[str, Any]


def render(results: dict[str, Any]) -> str:
    """All parts that there are."""
    pieces = ["## What is to be reached\n", table(["what", "aim", "measured", "reached"], aims(results))]
    for name, (title, tables) in PARTS.items():
        if name in results:
            pieces += [f"## {title}\n", described(results[name]), *tables(results[name])]
            if "note" in results[name]:
                pieces.append(f"Not measured: {escaped(results[name]['note'])}.\n")
    return "\n".join(pieces)


def described(part: Part) -> str:
    """Where and when, and with what."""
    libraries = ", ".join(f"{name} {version}" for name, version in part["libraries"].items())
    quick = " **A quick look, which tells only that the command works.**" if part["quick"] else ""
    facts = (
        f"{part['created'][:10]}, {part['machine']}, {part['processor']}, {part['cores']} cores, {part['kernel_path']}"
    )
    return f"{escaped(facts)}; {escaped(libraries)}.{quick}\n"


def of_kernel(part: Part) -> Iterator[str]:
    yield from kernel_tables(part["rows"])


def of_sweep(part: Part) -> Iterator[str]:
    if not part["rows"]:
        return
    rows = {row["way"]: row for row in part["rows"]}
    alone, inputs = rows["backend alone"]["seconds"], part["inputs"] * part["blocks_measured"] / part["blocks"]
    yield f"{part['backend']}, {inputs:,.0f} inputs of {part['inputs']:,}.\n"
    yield table(
        [
            "",
            "seconds",
            "10^6 inputs in a second",
            "over the backend alone",
            "over its own calls in it",
            "with start and certificate, s",
            "peak memory, MB",
        ],
        [
            [
                way,
                figure(row["seconds"]),
                f"{inputs / row['seconds'] / 1e6:,.0f}",
                figure(quotient(row["seconds"], alone)),
                figure(quotient(row["seconds"], row.get("backend_seconds"))),
                figure(row.get("whole_seconds")),
                megabytes(row.get("peak_bytes")),
            ]
            for way, row in rows.items()
        ],
    )


def of_workers(part: Part) -> Iterator[str]:
    if not part["rows"]:
        return
    head = ["", "backend", "one, s", "two, s", "times as fast", "processor time of one, s", "of two, s"]
    columns = ("seconds_one", "seconds_two", "cpu_seconds_one", "cpu_seconds_two")
    lines = []
    for row in part["rows"]:
        one, two, *used = (figure(row[name]) for name in columns)
        faster = figure(quotient(row["seconds_one"], row["seconds_two"]))
        lines.append([row["way"], row["backend"], one, two, faster, *used])
    yield table(head, lines)


def of_planning(part: Part) -> Iterator[str]:
    if not part["rows"]:
        return
    yield f"All operators, level {part['level']}, {part['cases']:,} cases.\n"
    first = part["rows"][0]
    yield table(
        ["", "seconds", "of the first way", "processor time, s", "of the first way"],
        [
            [
                row["way"],
                *(text for unit in ("seconds", "cpu_seconds") for text in (figure(row[unit]), share(row, first, unit))),
            ]
            for row in part["rows"]
        ],
    )


def share(row: Part, whole: Part, unit: str) -> str:
    return f"{100 * row[unit] / whole[unit]:.1f} %"


def of_run(part: Part) -> Iterator[str]:
    if not part["rows"]:
        return
    yield f"{' and '.join(part['backends'])}, level {part['level']}, {part['cases']:,} cases.\n"
    lines = [[row["stage"], figure(row["seconds"]), f"{100 * row['share']:.1f} %"] for row in part["rows"]]
    yield table(["stage", "seconds", "share"], [*lines, ["all", figure(part["seconds"]), NONE]])


def of_cases(part: Part) -> Iterator[str]:
    if not part["rows"]:
        return
    lines = [
        [
            row["what"],
            f"{row['cases']:,}",
            *(figure(1e6 * row[unit] / row["cases"]) for unit in ("seconds", "cpu_seconds")),
            figure(1e5 * row["cpu_seconds"] / row["cases"]),
        ]
        for row in part["rows"]
    ]
    columns = ["", "cases", "µs a case", "processor time, µs a case", "the same, s for 100,000 cases"]
    yield table(columns, lines)


def of_full_run(part: Part) -> Iterator[str]:
    head = ["backends", "cases on backends", "discrepancies", "seconds", "peak memory of the main process, MB"]
    yield table(
        head,
        [
            [
                *(f"{row[name]:,}" for name in ("backends", "cases", "discrepancies")),
                figure(row["seconds"]),
                megabytes(row["main_peak_bytes"]),
            ]
            for row in part["rows"]
        ],
    )


def of_audit(part: Part) -> Iterator[str]:
    if not part["rows"]:
        return
    yield f"Two semantics of float32 to int32 are compared on {part['inputs']:,} inputs.\n"
    columns = ("seconds", "cpu_seconds")
    lines = [[row["way"], *(figure(row[name]) for name in columns)] for row in part["rows"]]
    yield table(["", "seconds", "processor time, s"], lines)


def of_hook(part: Part) -> Iterator[str]:
    yield "`tiebreak gate --discard -b BACKEND --operator onnx.QuantizeLinear --baseline RUN_DIR`, a new process.\n"
    columns = ("seconds", "cpu_seconds")
    lines = [[row["backend"], *(figure(row[name]) for name in columns)] for row in part["rows"]]
    yield table(["backend", "seconds", "processor time, s"], lines)


def of_report(part: Part) -> Iterator[str]:
    yield table(
        [
            "discrepancies",
            "write the records, s",
            "read them, s",
            "write the report, s",
            "print the text, s",
            "records, MB",
            "report, kB",
            "usable in a browser, s",
            "peak memory writing, MB",
            "peak memory reading and reporting, MB",
        ],
        [
            [
                f"{row['discrepancies']:,}",
                *(figure(row[f"{stage}_seconds"]) for stage in ("write", "read", "report", "text")),
                figure(row["records_bytes"] / 1e6),
                figure(row["report_bytes"] / 1e3),
                figure(row["usable_seconds"]) if row.get("usable_seconds") else "–",
                megabytes(row["write_peak_bytes"]),
                megabytes(row["report_peak_bytes"]),
            ]
            for row in part["rows"]
        ],
    )


PARTS: dict[str, tuple[str, Callable[[Part], Iterator[str]]]] = {
    "kernel": ("The kernel", of_kernel),
    "sweep": ("A sweep", of_sweep),
    "cast-sweep": ("A sweep judged by steps: onnx.Cast to float8_e4m3fn", of_sweep),
    "workers": ("Two workers on two cores", of_workers),
    "planning": ("Planning a run", of_planning),
    "run": ("A run, by stage", of_run),
    "cases": ("A case", of_cases),
    "full-run": ("A full run", of_full_run),
    "audit": ("An audit", of_audit),
    "hook": ("A pre-push hook", of_hook),
    "report": ("Records and report", of_report),
}
