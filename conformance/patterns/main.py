"""What `tiebreak pattern run` does: ask, record, explain, and record the explanations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tiebreak.conformance.patterns.explaining import PatternExplanation, explain
from tiebreak.conformance.patterns.folder import PatternRecords, records, write
from tiebreak.conformance.patterns.job import PatternRun, Tell, exit_code
from tiebreak.conformance.patterns.kept import KeptLines, clear
from tiebreak.conformance.patterns.summary import Cell, cells
from tiebreak.conformance.running.interrupts import stopped_by_signals
from tiebreak.golden.exit_codes import EXIT_FAILED
from tiebreak.golden.patterns.graph import Pattern


@stopped_by_signals()
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

    What an earlier pattern run left there goes. After an interrupt the records are those of what was asked.
    """
    kept = KeptLines(folder)
    run = PatternRun(patterns, level, time_limit, memory_limit, tell, kept.add)
    with closing(run):
        run.start(backends)
        clear(folder)
        explanations: list[PatternExplanation] = []
        try:
            run.ask()
            write(records_of(run, []), folder)
            add_explanations(run, kept, explanations, folder)
            found = records_of(run, explanations)
        except KeyboardInterrupt:
            found = records_of(run, explanations, finished=False)
        write(found, folder)
        kept.drop()
    return found


def records_of(run: PatternRun, explanations: Sequence[PatternExplanation], *, finished: bool = True) -> PatternRecords:
    code = exit_code(run.rows, run.missing) if finished else EXIT_FAILED
    return records(run.rows, cells(run.rows), explanations, run.level, run.missing, code, finished=finished)


def add_explanations(run: PatternRun, kept: KeptLines, found: list[PatternExplanation], folder: Path) -> None:
    """Each explanation as it comes."""
    differing: list[Cell] = [cell for cell in cells(run.rows) if cell["worst"] is not None]
    if differing:
        run.tell(f"explaining {len(differing)} differences")
    by_name = {pattern.name: pattern for pattern in run.patterns}
    for one in explain(differing, by_name, run.runtimes, folder):
        found.append(one)
        kept.add("explanation", one)
