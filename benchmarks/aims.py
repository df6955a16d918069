"""The aims for the figures, beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from figures import figure, quotient
from kernel_tables import PLACES, Rows
from planning import AGAIN, JSON
from setting import OUTPUTS

from tiebreak.golden.rounding import EVEN, ROUND_MODES, short_mode

Line = tuple[str, str, str, str]
LEAST_OF_EVEN = 0.8
MOST_OF_BACKEND = 1.3
MOST_MEGABYTES = 300
MOST_SUBNORMAL = 10
MOST_SECONDS_OF_AUDIT = 2
MOST_OF_NUMPY = 0.2
MOST_PLANNING = 1.0  # seconds
MOST_OF_JSON = 0.1


def aims(results: dict[str, Any]) -> Iterator[Line]:
    rows = Rows(results.get("kernel", {}).get("rows", []))
    yield from beside_onnxruntime(rows)
    yield slowest_mode(rows)
    yield from subnormals(rows)
    yield from sweep({row["way"]: row for row in results.get("sweep", {}).get("rows", [])})
    yield from audit({row["way"]: row["cpu_seconds"] for row in results.get("audit", {}).get("rows", [])})
    yield from planning({row["way"]: row for row in results.get("planning", {}).get("rows", [])})


def line(what: str, aim: str, value: float | None, holds: Callable[[float], bool], more: str = "") -> Line:
    if value is None:
        return what, aim, "not measured", "–"
    return what, aim, f"{figure(value)}{more}", "yes" if holds(value) else "**no**"


def beside_onnxruntime(rows: Rows) -> Iterator[Line]:
    """Rates over ONNX Runtime's, with and without the cost of a call."""
    for name, how in (("gelems", "as called"), ("net_gelems", "less the calls")):
        for output in ("uint8", "int8"):
            own, peer = (rows.row("modes", who, PLACES[0], output).get(name) for who in ("tiebreak", "onnxruntime"))
            what = f"ties to even to {output}, in cache, one thread, over onnxruntime, {how}"
            yield line(what, "≥ 1", quotient(own, peer), lambda ratio: ratio >= 1)


def slowest_mode(rows: Rows) -> Line:
    found: list[tuple[float, str]] = []
    for output in OUTPUTS:
        even = rows.rate("modes", "tiebreak", PLACES[0], output)
        for mode in ROUND_MODES:
            ratio = quotient(rows.rate("modes", "tiebreak", PLACES[0], output, mode=mode), even)
            if mode != EVEN and ratio is not None:
                found.append((ratio, f" ({short_mode(mode)}, {output})"))
    ratio, where = least(found)
    what = "slowest other mode over ties to even, in cache, one thread"
    return line(what, f"≥ {LEAST_OF_EVEN}", ratio, lambda ratio: ratio >= LEAST_OF_EVEN, where)


def subnormals(rows: Rows) -> Iterator[Line]:
    for data in ("subnormal inputs", "subnormal inputs and scale"):
        found: list[tuple[float, str]] = []
        for output, mode in product(OUTPUTS, ROUND_MODES):
            both = (rows.rate("data", "tiebreak", PLACES[0], output, data=d, mode=mode) for d in ("ordinary", data))
            ratio = quotient(*both)
            if ratio is not None:
                found.append((-ratio, f" ({short_mode(mode)}, {output})"))
        ratio, where = least(found)
        value = None if ratio is None else -ratio
        yield line(f"time for {data} over ordinary data, slowest mode", f"< {MOST_SUBNORMAL}", value, under_ten, where)


def under_ten(ratio: float) -> bool:
    return ratio < MOST_SUBNORMAL


def least(found: Sequence[tuple[float, str]]) -> tuple[float | None, str]:
    return min(found) if found else (None, "")


def sweep(ways: dict[str, dict[str, Any]]) -> Iterator[Line]:
    own, alone = ways.get("sweep", {}), ways.get("backend alone", {})
    ratio = quotient(own.get("seconds"), alone.get("seconds"))
    yield line("a sweep's time over the backend's alone", f"≤ {MOST_OF_BACKEND}", ratio, lambda r: r <= MOST_OF_BACKEND)
    more = None if not own else (own["peak_bytes"] - alone["peak_bytes"]) / 1e6
    what = "a sweep's peak memory above the backend's alone, MB"
    yield line(what, f"≤ {MOST_MEGABYTES}", more, lambda megabytes: megabytes <= MOST_MEGABYTES)


def audit(seconds: dict[str, float]) -> Iterator[Line]:
    """Processor times, which other programs change less than they change the time that passes."""
    cold, most = seconds.get("cold audit"), MOST_SECONDS_OF_AUDIT
    what = "a cold audit of a Python backend, imports and worker included, processor time in s"
    yield line(what, f"≤ {most}", cold, lambda value: value <= most)
    ratio = quotient(seconds.get("compare every input"), seconds.get("the same with NumPy"))
    what = "an audit's time to compare every input over the same with NumPy"
    yield line(what, f"≤ {MOST_OF_NUMPY}", ratio, lambda value: value <= MOST_OF_NUMPY)


def planning(ways: dict[str, dict[str, Any]]) -> Iterator[Line]:
    seconds = ways.get(AGAIN, {}).get("cpu_seconds")
    what = "planning a later run of all operators, imports included, processor time in s"
    yield line(what, f"≤ {MOST_PLANNING:g}", seconds, lambda found: found <= MOST_PLANNING)
    ratio = quotient(seconds, ways.get(JSON, {}).get("cpu_seconds"))
    yield line("the same over reading JSON and drawing cases", f"≤ {MOST_OF_JSON}", ratio, lambda r: r <= MOST_OF_JSON)
