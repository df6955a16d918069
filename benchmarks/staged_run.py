"""The main job as conformance.main_job does it, with a stopwatch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from timing import Stopwatch

from tiebreak.adapters.isolation import MEMORY_LIMIT
from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.assembling import assemble
from tiebreak.conformance.running.backends import run_all, running_backends
from tiebreak.conformance.running.journal import FOLDER, begin_run, digest_of_cases
from tiebreak.reports.html import write_report
from tiebreak.reports.records import as_run, write_run


def staged(watch: Stopwatch, specs: Sequence[str], choice: dict[str, Any], folder: Path) -> int:
    """How many cases were run into the folder."""
    selection = Selection(**choice)
    facts = {"command": "tiebreak run", "level": selection.level, "seed": 0, "folder": str(folder)}
    workers = running_backends(list(specs), time_limit=60, memory_limit=MEMORY_LIMIT, in_process=False)
    with watch.stage("start the workers"):
        backends = workers.__enter__()
    try:
        with watch.stage("plan"):
            cases = plan(selection)
            begin_run(folder, selection, [backend.spec for backend in backends], facts, digest_of_cases(cases))
        with watch.stage("run and judge"):
            done = run_all(backends, cases, folder / FOLDER)
        with watch.stage("assemble, causes"):
            run = as_run(records := assemble(done, cases, facts))
    finally:
        with watch.stage("end the workers"):
            workers.__exit__(None, None, None)
    with watch.stage("write the records"):
        write_run(folder, run, records.generated)
    with watch.stage("write the report"):
        write_report(folder / "report.html", run, str(folder))
    return len(cases)
