"""What records and report cost as discrepancies grow: real ones, repeated, each number in a process of its own."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from fresh import Failed, in_fresh_process
from rich.console import Console

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.backends import run_cases
from tiebreak.conformance.running.recorded_tables import discrepancy_ids
from tiebreak.reports.html import write_report
from tiebreak.reports.records import Run, as_run, read_run, write_run
from tiebreak.reports.summary import print_details

BACKEND = f"{Path(__file__).with_name('wrong.py')}:TiesUpward"
SELECTION = Selection(("onnx.QuantizeLinear",), level="quick")
COUNTS = (10**3, 10**4, 10**5, 10**6)


def measure(counts: Sequence[int], selection: Selection) -> dict[str, Any]:
    """A row for each number of discrepancies: seconds and bytes of records and report, and peak bytes of memory."""
    with tempfile.TemporaryDirectory() as name:
        found = begin(Path(name), selection)
        try:
            return found | {"rows": [row_of(name, count) for count in counts]}
        except Failed as error:
            return found | {"rows": [], "note": str(error)}


def begin(folder: Path, selection: Selection) -> dict[str, Any]:
    """A real run into the folder, and what is to be said of it."""
    facts = {"command": "tiebreak run", "level": selection.level, "seed": 0, "folder": "run"}
    records = run_cases([BACKEND], plan(selection), time_limit=60, facts=facts)
    write_run(folder, as_run(records), records.generated)
    return {"cases": len(records.results), "real_discrepancies": len(records.discrepancies)}


def row_of(folder: str, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as grown_folder:
        writing, write_peak = in_fresh_process(written, folder, grown_folder, count, watch=True)
        reporting, report_peak = in_fresh_process(reported, grown_folder, watch=True)
        reporting["usable_seconds"] = usable(Path(grown_folder) / "report.html")
    peaks = {"write_peak_bytes": write_peak, "report_peak_bytes": report_peak}
    return {"discrepancies": count, **writing, **reporting, **peaks}


def written(folder: str, grown_folder: str, count: int) -> dict[str, Any]:
    """The run with so many discrepancies, made and written."""
    run, place = grown(read_run(Path(folder)), count), Path(grown_folder)
    started = time.perf_counter()
    write_run(place, run, [])
    seconds = time.perf_counter() - started
    return {"write_seconds": seconds, "records_bytes": (place / "discrepancies.parquet").stat().st_size}


def reported(folder: str) -> dict[str, Any]:
    """What `tiebreak report` does, first for the HTML report and then for the text."""
    place, started = Path(folder), time.perf_counter()
    run = read_run(place)
    read = time.perf_counter()
    write_report(place / "report.html", run, "run")
    made = time.perf_counter()
    with (place / "report.txt").open("w", encoding="utf-8") as file:
        print_details(run, "run", console=Console(file=file, width=160))
    seconds = {"read": read - started, "report": made - read, "text": time.perf_counter() - made}
    times = {f"{stage}_seconds": found for stage, found in seconds.items()}
    return times | {"report_bytes": (place / "report.html").stat().st_size}


def usable(page: Path) -> float | None:
    """Seconds until Chromium shows the page and its filters answer, the least of three; None without a Chromium.

    The page is asked for as a file; the browser runs already.
    """
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        found = min(opened(browser.new_page(), page) for _ in range(3))
        browser.close()
    return found


def opened(tab: Any, page: Path) -> float:
    started = time.perf_counter()
    tab.goto(page.as_uri())
    tab.fill("input[name=text]", "nothing has this in it")
    tab.wait_for_selector("#own .narrowed:not(:empty)", state="attached")
    seconds = time.perf_counter() - started
    tab.close()
    return seconds


def grown(run: Run, count: int) -> Run:
    """The run with its discrepancies over and over, each with an id of its own; verdicts and counts stay."""
    rows = run.discrepancies.iloc[np.arange(count) % len(run.discrepancies)].reset_index(drop=True)
    return replace(run, discrepancies=rows.assign(id=discrepancy_ids(count)))
