"""What `tiebreak pattern run` does: ask, record, explain, and record the explanations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

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
    """The records, which also lie in the folder. Limits are in seconds for an answer and MiB for a runtime."""
    run = PatternRun(patterns, level, time_limit, memory_limit, tell)
    with closing(run):
        rows = run.run(backends)
        found = records(rows, cells(rows), level, run.missing, exit_code(rows, run.missing))
        write(found, folder)
        differing = [cell for cell in found["cells"] if cell["worst"] is not None]
        if differing:
            tell(f"explaining {len(differing)} differences")
            by_name = {pattern.name: pattern for pattern in patterns}
            found["explanations"] = explain(differing, by_name, run.runtimes, folder)
            write(found, folder)
    return found
