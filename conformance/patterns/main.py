"""What `tiebreak pattern run` does: ask, record, explain, and record the explanations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from tiebreak.adapters.patterns.isolated import IsolatedRuntime
from tiebreak.conformance.patterns.explaining import explain
from tiebreak.conformance.patterns.folder import PatternRecords, records, write
from tiebreak.conformance.patterns.job import PatternRun, exit_code
from tiebreak.conformance.patterns.summary import cells
from tiebreak.golden.patterns.graph import Pattern

Tell = Callable[[str], None]


def pattern_job(
    patterns: Sequence[Pattern],
    backends: Sequence[str],
    level: str,
    time_limit: float,
    memory_limit: int,
    folder: Path,
    tell: Tell,
) -> PatternRecords:
    """The records, which also lie in the folder. Limits are in seconds for an answer and MiB for a runtime.

    The runtimes are started once more to explain what differs.
    """
    run = PatternRun(patterns, level, time_limit, memory_limit, tell)
    rows = run.run(backends)
    found = records(rows, cells(rows), level, run.missing, exit_code(rows, run.missing))
    write(found, folder)
    differing = [cell for cell in found["cells"] if cell["worst"] is not None]
    if differing:
        tell(f"explaining {len(differing)} differences")
        with ExitStack() as stack:
            names = dict.fromkeys(cell["backend"] for cell in differing)
            runtimes = {name: stack.enter_context(IsolatedRuntime(name, time_limit, memory_limit)) for name in names}
            by_name = {pattern.name: pattern for pattern in patterns}
            found["explanations"] = explain(differing, by_name, runtimes, folder)
        write(found, folder)
    return found
