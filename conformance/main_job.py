"""`tiebreak run` from choice to exit code: plan, run with a progress bar, write the run folder, print the matrix."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tiebreak.adapters.isolation import MEMORY_LIMIT
from tiebreak.adapters.registry import check_spec, registered
from tiebreak.conformance.cluster import Cluster
from tiebreak.conformance.forbidden import forbidden_rows
from tiebreak.conformance.interrupts import stopped_by_signals
from tiebreak.conformance.journal import FOLDER, JournalFailed, begin_run, digest_of, end_run, read_plan
from tiebreak.conformance.outcomes import Runner
from tiebreak.conformance.plan import Selection, chosen_operators, plan
from tiebreak.conformance.run import assemble, run_all, started
from tiebreak.golden.errors import EXIT_NOTHING_RAN, InvalidInput, MachineryFailed, TiebreakError
from tiebreak.golden.nodes import Case
from tiebreak.reports.console import plain
from tiebreak.reports.html import write_report
from tiebreak.reports.records import NotWritten, RunRecords, as_run, check_writable, write_run
from tiebreak.reports.summary import json_summary, print_summary, why_nothing_ran


@dataclass(frozen=True)
class How:
    """`time_limit` in seconds for one case, `memory_limit` in MiB for a worker; in our own process without either."""

    time_limit: float = 10.0
    memory_limit: int = MEMORY_LIMIT
    in_process: bool = False


@stopped_by_signals()
def main_job(
    specs: Sequence[str],
    selection: Selection,
    folder: Path,
    how: How,
    *,
    as_json: bool,
    cluster: Cluster | None = None,
) -> int:
    """Do it, on a cluster if there is one, and give the exit code.

    Raises TiebreakError for bad input or a backend that can't be had.
    """
    checked = [spec if cluster else check_spec(spec) for spec in dict.fromkeys(specs)]  # a worker's files are its own
    if how.in_process and len(checked) != 1:
        raise InvalidInput("--in-process takes exactly one -b: libraries share settings within a process")
    fresh = not folder.exists()
    check_writable(folder)
    if (folder / FOLDER).exists():
        print(f"tiebreak: the unfinished run in {folder} is discarded", file=sys.stderr)
    try:
        chosen_operators(selection)  # what is wrong there need not wait for a library to load
        facts = {
            "command": shlex.join(["tiebreak", *sys.argv[1:]]),
            "level": selection.level,
            "seed": selection.seed,
            **asdict(how),
            "folder": str(folder),
        }
        wanted = checked or list(registered())
        away = on_cluster(cluster, wanted, how)
        with started(wanted, **asdict(how), only_installed=not checked, elsewhere=away) as backends:
            if not backends:
                print("tiebreak: no backend is installed; try: pip install 'tiebreak[backends]'", file=sys.stderr)
                clean_up(folder, fresh)
                return EXIT_NOTHING_RAN
            cases = plan(selection)
            begin_run(folder, selection, [backend.spec for backend in backends], facts, digest_of(cases))
            tried = tried_operators(selection)
            return run_and_report(backends, cases, folder, facts, tried, as_json=as_json)
    except (TiebreakError, OSError, KeyboardInterrupt):
        clean_up(folder, fresh)
        raise


def on_cluster(cluster: Cluster | None, specs: Sequence[str], how: How) -> list[Runner]:
    """The backends on a cluster's workers, the first named served first; none without a cluster."""
    if cluster is None:
        return []
    from tiebreak.conformance.cluster_backend import ClusterBackend

    limits = how.time_limit, how.memory_limit
    return [ClusterBackend(cluster, spec, *limits, priority=-number) for number, spec in enumerate(specs)]


@stopped_by_signals()
def resume_job(folder: Path, *, as_json: bool, cluster: Cluster | None = None) -> int:
    """Go on with a run that was killed or interrupted, as it was begun. InvalidInput if there is none there."""
    selection, chosen, facts, digest = read_plan(folder)
    cases = plan(selection)
    if digest_of(cases) != digest:
        raise InvalidInput(f"--resume {folder}: the cases are not those with which it was begun: start a new run")
    how = How(**{field.name: facts[field.name] for field in fields(How)})
    with started(chosen, **asdict(how), elsewhere=on_cluster(cluster, chosen, how)) as backends:
        return run_and_report(backends, cases, folder, facts, tried_operators(selection), as_json=as_json)


def tried_operators(selection: Selection) -> list[str]:
    """Those of which forbidden calls are tried, too: none if single cases or somebody's vectors were asked for."""
    single = selection.inputs or selection.case_ids or selection.vectors is not None
    return [] if single or selection.attributes else chosen_operators(selection)


def run_and_report(
    backends: Sequence[Runner],
    cases: Sequence[Case],
    folder: Path,
    facts: dict[str, Any],
    tried: Sequence[str],
    *,
    as_json: bool,
) -> int:
    try:
        with shown_progress() as progress:
            done = run_all(backends, cases, folder / FOLDER, progress)
        records = assemble(done, cases, facts | {"forbidden": forbidden_rows(backends, tried)})
        finish(folder, records, as_json=as_json)
    except (KeyboardInterrupt, JournalFailed, NotWritten) as error:
        if not any((folder / FOLDER).glob("*.frames")):  # there is nothing to go on with
            raise
        what = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
        raise MachineryFailed(f"{what}; to go on: tiebreak run --resume {shlex.quote(str(folder))}") from None
    try:
        end_run(folder)
    except KeyboardInterrupt:  # all is written and said: too late to stop
        end_run(folder)
    return int(records.info["exit"])


def clean_up(folder: Path, fresh: bool) -> None:
    """Leave nothing behind if nothing was found out."""
    if not any((folder / FOLDER).glob("*.frames")):
        end_run(folder)
    if fresh and not any(folder.iterdir()):
        folder.rmdir()


def finish(folder: Path, records: RunRecords, *, as_json: bool) -> None:
    run = as_run(records)
    write_run(folder, run, records.generated)
    write_report(folder / "report.html", run, str(folder))
    if as_json:
        print(json.dumps(json_summary(run, str(folder))))
    else:
        print_summary(run, str(folder))
    if run.info["exit"] == EXIT_NOTHING_RAN:
        print(f"tiebreak: {why_nothing_ran(run)}", file=sys.stderr)


@contextmanager
def shown_progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each backend on standard error, which standard output never sees; nothing where that is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda name, done, planned: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True) as bar:

        def progress(name: str, done: int, planned: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(plain(name), total=planned)
            bar.update(tasks[name], completed=done)

        yield progress
