"""A full run on every installed backend: what its main process, which plans, judges and reports, takes of memory."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fresh import Failed, in_fresh_process

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.main_job import RunLimits, main_job
from tiebreak.reports.records import read_run

EVERY: tuple[str, ...] = ()  # installed backend
UNIT = 1024  # bytes; what Linux counts the peak in


def measure(specs: Sequence[str], choice: dict[str, Any]) -> dict[str, Any]:
    """One row; `choice` are arguments of Selection."""
    found: dict[str, Any] = {"level": choice.get("level", "full")}
    try:
        return found | {"rows": [in_fresh_process(ran, specs, choice)[0]]}
    except Failed as error:
        return found | {"rows": [], "note": str(error)}


def ran(specs: Sequence[str], choice: dict[str, Any]) -> dict[str, Any]:
    """The seconds and the peak bytes of this process, without its workers, and how large the run was."""
    with tempfile.TemporaryDirectory() as name:
        folder, started = Path(name) / "run", time.perf_counter()
        main_job(specs, Selection(**choice), folder, RunLimits(), show="nothing")
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT
        run = read_run(folder)
    sizes = {"backends": len(run.info["backends"]), "cases": len(run.results), "discrepancies": len(run.discrepancies)}
    return {**sizes, "seconds": seconds, "main_peak_bytes": peak}
