"""The aims for the figures, beside what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from case_costs import CALLS, WIRE
from figures import figure, quotient
from kernel_tables import PLACES, Rows
from planning import AGAIN, JSON
from setting import COLUMNS, OUTPUTS, ROWS

from tiebreak.golden.rounding import ROUND_MODES, short_mode

Line = tuple[str, str, str, str]
MOST_OF_BACKEND = 1.15
MOST_OF_OWN_MODE = 2
MOST_MEGABYTES = 300
LEAST_OF_TWO = 1.9
MOST_OF_ORDINARY = {"ties": 1.5, "subnormal inputs": 2, "subnormal inputs and scale": 2}
MOST_OF_ROWS = 2
LEAST_INT32 = 0.45  # 10^9 elements in a second: 5 times what the slowest mode did when it called fma
MOST_SECONDS_OF_AUDIT = 2
MOST_OF_NUMPY = 0.2
MOST_OF_HOOK = 20  # seconds
MOST_PLANNING = 1.0  # seconds
MOST_MICROSECONDS = 50
MOST_OF_JSON = 0.1
MANY = 10**6  # discrepancies
MOST_TO_HOLD_MANY = 400  # megabytes
MOST_TO_REPORT_MANY = 3  # seconds
MOST_TO_OPEN_MANY = 1  # seconds
MOST_OF_FULL_RUN = 1500  # megabytes


def aims(results: dict[str, Any]) -> Iterator[Line]:
    rows = Rows(results.get("kernel", {}).get("rows", []))
    yield from beside_peers(rows)
    yield slowest_mode(rows)
    yield from other_data(rows)
    yield columns(rows)
    yield int32(rows)
    yield from sweep({row["way"]: row for row in results.get("sweep", {}).get("rows", [])})
    yield swept_cast({row["way"]: row for row in results.get("cast-sweep", {}).get("rows", [])})
    yield from workers({(row["way"], row["backend"]): row for row in results.get("workers", {}).get("rows", [])})
    yield from audit({row["way"]: row["cpu_seconds"] for row in results.get("audit", {}).get("rows", [])})
    yield hook(results.get("hook", {}).get("rows", []))
    yield from planning({row["way"]: row for row in results.get("planning", {}).get("rows", [])})
    yield wire({row["what"]: row["seconds"] / row["cases"] for row in results.get("cases", {}).get("rows", [])})
    yield full_run(results.get("full-run", {}).get("rows", []))
    yield from report({row["discrepancies"]: row for row in results.get("report", {}).get("rows", [])})


def line(what: str, aim: str, value: float | None, holds: Callable[[float], bool], more: str = "") -> Line:
    if value is None:
        return what, aim, "not measured", "–"
    return what, aim, f"{figure(value)}{more}", "yes" if holds(value) else "**no**"


def beside_peers(rows: Rows) -> Iterator[Line]:
    """Rates over those of ONNX Runtime and PyTorch, in cache with and without the cost of a call."""
    for peer in ("onnxruntime", "torch"):
        for name, how in (("gelems", "as called"), ("net_gelems", "less the calls")):
            for output in ("uint8", "int8"):
                own, other = (rows.row("modes", who, PLACES[0], output).get(name) for who in ("tiebreak", peer))
                what = f"ties to even to {output}, in cache, one thread, over {peer}, {how}"
                yield line(what, "≥ 1", quotient(own, other), at_least_one)
    for output in ("uint8", "int8", "int16"):
        own, other = (rows.rate("modes", who, PLACES[1], output, threads=2) for who in ("tiebreak", "onnxruntime"))
        what = f"ties to even to {output}, out of cache, two threads, over onnxruntime"
        yield line(what, "≥ 1", quotient(own, other), at_least_one)


def at_least_one(ratio: float) -> bool:
    return ratio >= 1


def slowest_mode(rows: Rows) -> Line:
    """Of the types that ONNX Runtime has; it has ties to even only."""
    found: list[tuple[float, str]] = []
    for output, mode in product(OUTPUTS, ROUND_MODES):
        own = rows.rate("modes", "tiebreak", PLACES[0], output, mode=mode)
        ratio = quotient(own, rows.rate("modes", "onnxruntime", PLACES[0], output))
        if ratio is not None:
            found.append((ratio, f" ({short_mode(mode)}, {output})"))
    ratio, where = least(found)
    what = "slowest mode over onnxruntime's ties to even, in cache, one thread"
    return line(what, "≥ 1", ratio, at_least_one, where)


def other_data(rows: Rows) -> Iterator[Line]:
    """How much longer than ordinary data in the same mode: ties, and subnormal numbers."""
    for data, most in MOST_OF_ORDINARY.items():
        found: list[tuple[float, str]] = []
        for output, mode in product(OUTPUTS, ROUND_MODES):
            both = (rows.rate("data", "tiebreak", PLACES[0], output, data=d, mode=mode) for d in ("ordinary", data))
            found.append((quotient(*both) or 0, f" ({short_mode(mode)}, {output})"))
        ratio, where = max(found)
        what = f"time for {data} over ordinary data, slowest mode"
        yield line(what, f"≤ {most}", ratio or None, lambda ratio, most=most: ratio <= most, where)  # type: ignore[misc]


def columns(rows: Rows) -> Line:
    """A scale for each column over a scale for each row, exact form."""
    found: list[tuple[float, str]] = []
    for output, place in product(OUTPUTS, PLACES):
        both = (rows.rate("forms", "tiebreak", place, output, layout=layout) for layout in (ROWS, COLUMNS))
        found.append((quotient(*both) or 0, f" ({output}, {place})"))
    ratio, where = max(found)
    what = "time with a scale for each column over one for each row"
    return line(what, f"≤ {MOST_OF_ROWS}", ratio or None, lambda ratio: ratio <= MOST_OF_ROWS, where)


def int32(rows: Rows) -> Line:
    found: list[tuple[float, str]] = []
    for path, mode in product(rows.paths, ROUND_MODES):
        rate = rows.rate("paths", "tiebreak", PLACES[0], "int32", path=path, mode=mode)
        if rate is not None and path != "avx512":
            found.append((rate, f" ({short_mode(mode)}, {path})"))
    rate, where = least(found)
    what = "int32 without AVX-512, slowest mode, in cache, 10^9 elements in a second"
    return line(what, f"≥ {LEAST_INT32}", rate, lambda rate: rate >= LEAST_INT32, where)


def least(found: Sequence[tuple[float, str]]) -> tuple[float | None, str]:
    return min(found) if found else (None, "")


def sweep(ways: dict[str, dict[str, Any]]) -> Iterator[Line]:
    own, alone = ways.get("sweep", {}), ways.get("backend alone", {})
    ratio = quotient(own.get("seconds"), alone.get("seconds"))
    yield line("a sweep's time over the backend's alone", f"≤ {MOST_OF_BACKEND}", ratio, lambda r: r <= MOST_OF_BACKEND)
    ratio = quotient(ways.get("sweep --modes all", {}).get("seconds"), own.get("seconds"))
    what = "a sweep's time with all modes over that with its own"
    yield line(what, f"≤ {MOST_OF_OWN_MODE}", ratio, lambda ratio: ratio <= MOST_OF_OWN_MODE)
    more = None if not own else (own["peak_bytes"] - alone["peak_bytes"]) / 1e6
    what = "a sweep's peak memory above the backend's alone, MB"
    yield line(what, f"≤ {MOST_MEGABYTES}", more, lambda megabytes: megabytes <= MOST_MEGABYTES)


def swept_cast(ways: dict[str, dict[str, Any]]) -> Line:
    ratio = quotient(*(ways.get(way, {}).get("seconds") for way in ("sweep", "backend alone")))
    what = "a sweep's time over the backend's alone, onnx.Cast, float32 to float8_e4m3fn"
    return line(what, f"≤ {MOST_OF_BACKEND}", ratio, lambda ratio: ratio <= MOST_OF_BACKEND)


def workers(rows: dict[tuple[str, str], dict[str, Any]]) -> Iterator[Line]:
    """One worker's time over that of two, beside what two processes of the backend alone reach."""
    for way, backend in (("sweep", "quick"), ("sweep", "slow"), ("run", "slow")):
        ratio, alone = (faster(rows.get(key, {})) for key in ((way, backend), ("backend alone", backend)))
        beside = f" (the backend alone: {figure(alone)})"
        what = f"a {way}'s speed on two workers over one, a core each, {backend} backend"
        yield line(what, f"≥ {LEAST_OF_TWO}", ratio, lambda ratio: ratio >= LEAST_OF_TWO, beside)


def faster(row: dict[str, Any]) -> float | None:
    return quotient(row.get("seconds_one"), row.get("seconds_two"))


def audit(seconds: dict[str, float]) -> Iterator[Line]:
    """Processor times, which other programs change less than they change the time that passes."""
    cold, most = seconds.get("cold audit"), MOST_SECONDS_OF_AUDIT
    what = "a cold audit of a Python backend, imports and worker included, processor time in s"
    yield line(what, f"≤ {most}", cold, lambda value: value <= most)
    ratio = quotient(seconds.get("compare every input"), seconds.get("the same with NumPy"))
    what = "an audit's time to compare every input over the same with NumPy"
    yield line(what, f"≤ {MOST_OF_NUMPY}", ratio, lambda value: value <= MOST_OF_NUMPY)


def hook(rows: Sequence[dict[str, Any]]) -> Line:
    slowest = max((row["seconds"] for row in rows), default=None)
    what = "a pre-push hook: the gate of one backend and one operator, level quick, the slowest backend, in s"
    return line(what, f"≤ {MOST_OF_HOOK}", slowest, lambda found: found <= MOST_OF_HOOK)


def planning(ways: dict[str, dict[str, Any]]) -> Iterator[Line]:
    seconds = ways.get(AGAIN, {}).get("cpu_seconds")
    what = "planning a later run of all operators, imports included, processor time in s"
    yield line(what, f"≤ {MOST_PLANNING:g}", seconds, lambda found: found <= MOST_PLANNING)
    ratio = quotient(seconds, ways.get(JSON, {}).get("cpu_seconds"))
    yield line("the same over reading JSON and drawing cases", f"≤ {MOST_OF_JSON}", ratio, lambda r: r <= MOST_OF_JSON)


def wire(seconds: dict[str, float]) -> Line:
    """What two calls of a case take through a worker, less the calls."""
    beyond = 1e6 * (seconds[WIRE] - seconds[CALLS]) if seconds else None
    what = "passing a case to a worker that returns at once, and back, in µs"
    return line(what, f"≤ {MOST_MICROSECONDS}", beyond, lambda found: found <= MOST_MICROSECONDS)


def full_run(rows: Sequence[dict[str, Any]]) -> Line:
    most = quotient(rows[0]["main_peak_bytes"], 1e6) if rows else None
    what = "peak memory of a full run's main process, every backend, MB"
    return line(what, f"≤ {MOST_OF_FULL_RUN}", most, lambda megabytes: megabytes <= MOST_OF_FULL_RUN)


def report(rows: dict[int, dict[str, Any]]) -> Iterator[Line]:
    """What a million discrepancies cost; loading Tiebreak and pandas is counted, too."""
    row = rows.get(MANY, {})
    for what, name in (("to write", "write_peak_bytes"), ("to read and report", "report_peak_bytes")):
        aim = f"≤ {MOST_TO_HOLD_MANY}"
        most = quotient(row.get(name), 1e6)
        yield line(f"peak memory {what} a million discrepancies, MB", aim, most, lambda mb: mb <= MOST_TO_HOLD_MANY)
    seconds = row.get("report_seconds")
    what = "the HTML report of a million discrepancies, s"
    yield line(what, f"≤ {MOST_TO_REPORT_MANY}", seconds, lambda found: found <= MOST_TO_REPORT_MANY)
    what, seconds = "that page in Chromium, filters answering, s", row.get("usable_seconds")
    yield line(what, f"≤ {MOST_TO_OPEN_MANY}", seconds, lambda found: found <= MOST_TO_OPEN_MANY)
