"""`tiebreak run` from choice to exit code: plan, run with a progress bar, write the run folder, print the matrix."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tiebreak.adapters.isolation import MEMORY_LIMIT
from tiebreak.adapters.registry import check_spec, registered
from tiebreak.conformance.cases.plan import Selection, chosen_operators, plan
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.dask.scheduler import Cluster
from tiebreak.conformance.running.assembling import explained, recorded
from tiebreak.conformance.running.backends import run_all, started
from tiebreak.conformance.running.forbidden import forbidden_rows
from tiebreak.conformance.running.interrupts import stopped_by_signals
from tiebreak.conformance.running.journal import (
    FOLDER,
    JournalFailed,
    begin_run,
    check_discardable,
    digest_of,
    end_run,
    has_outcomes,
    held,
    read_plan,
)
from tiebreak.conformance.running.outcomes import Runner
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.golden.errors import DamagedFile, InvalidInput, MachineryFailed, TiebreakError
from tiebreak.golden.exit_codes import EXIT_NOTHING_RAN
from tiebreak.golden.nodes import Case
from tiebreak.golden.places import check_writable
from tiebreak.reports.console import terminal_label
from tiebreak.reports.html import write_report
from tiebreak.reports.records import (
    NotWritten,
    Run,
    as_run,
    explained_tables,
    write_explanations,
    write_info,
    write_run,
)
from tiebreak.reports.summary import explanation_failures, json_summary, print_summary, why_nothing_ran


class NoBackends(TiebreakError):  # noqa: N818 - says what happened
    """No backend is installed and none was named."""

    exit_code = EXIT_NOTHING_RAN


@dataclass(frozen=True)
class RunLimits:
    """`time_limit` in seconds for one case, `memory_limit` in MiB for a worker; in our own process without either."""

    time_limit: float = 10.0
    memory_limit: int = MEMORY_LIMIT
    in_process: bool = False


Shown = Literal["tables", "json", "nothing"]  # what of a run is printed; "nothing" is silent on standard error, too


@stopped_by_signals()
def main_job(
    specs: Sequence[str],
    selection: Selection,
    folder: Path,
    how: RunLimits,
    *,
    show: Shown = "tables",
    command: str = "",
    cluster: Cluster | None = None,
    discard: bool = False,
) -> int:
    """Do it, on a cluster if there is one, and give the exit code.

    `command` is what the records say started the run; by default the words of this process.
    Raises TiebreakError for bad input, a backend that can't be started, or a folder where another run is going on or,
    without `discard`, was broken off.
    """
    command = command or shlex.join(["tiebreak", *sys.argv[1:]])
    checked = [spec if cluster else check_spec(spec) for spec in dict.fromkeys(specs)]  # a worker's files are its own
    if how.in_process and len(checked) != 1:
        raise InvalidInput("--in-process takes exactly one -b: libraries share settings within a process")
    with made(folder), held(folder):
        if not discard:
            check_discardable(folder)
        return begin(checked, selection, folder, how, show=show, command=command, cluster=cluster)


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """A run folder, made if need be; if nothing came into it, it goes again. InvalidInput if it can't be written to."""
    fresh = not folder.exists()
    check_writable(folder)
    try:
        yield
    finally:
        if fresh and not any(folder.iterdir()):
            folder.rmdir()


def begin(
    checked: Sequence[str],
    selection: Selection,
    folder: Path,
    how: RunLimits,
    *,
    show: Shown,
    command: str,
    cluster: Cluster | None,
) -> int:
    """Run in a folder that is held."""
    try:
        chosen_operators(selection)  # what is wrong there need not wait for a library to load
        facts = {
            "command": command,
            "level": selection.level,
            "seed": selection.seed,
            **asdict(how),
            "folder": str(folder),
        }
        wanted = checked or list(registered())
        away = on_cluster(cluster, wanted, how)
        with started(wanted, **asdict(how), only_installed=not checked, elsewhere=away) as backends:
            if not backends:
                raise NoBackends("no backend is installed; try: pip install 'tiebreak[backends]'")
            cases = plan(selection)
            begin_run(folder, selection, [backend.spec for backend in backends], facts, digest_of(cases))
            tried = tried_operators(selection)
            return run_and_report(backends, cases, folder, facts, tried, show=show)
    except (TiebreakError, OSError, KeyboardInterrupt):
        if not has_outcomes(folder):  # leave nothing behind if nothing was found out
            end_run(folder)
        raise


def on_cluster(cluster: Cluster | None, specs: Sequence[str], how: RunLimits) -> list[Runner]:
    """The backends on a cluster's workers, the first named served first; none without a cluster."""
    if cluster is None:
        return []
    from tiebreak.conformance.dask.backend import ClusterBackend

    limits = how.time_limit, how.memory_limit
    return [ClusterBackend(cluster, spec, *limits, priority=-number) for number, spec in enumerate(specs)]


@stopped_by_signals()
def resume_job(folder: Path, *, show: Shown = "tables", cluster: Cluster | None = None) -> int:
    """Go on with a run that was killed or interrupted, as it was begun. InvalidInput if there is none there."""
    read_plan(folder)  # where there is none, nothing must be made
    with held(folder):
        return go_on(folder, show=show, cluster=cluster)


def go_on(folder: Path, *, show: Shown, cluster: Cluster | None) -> int:
    """Go on in a folder that is held."""
    selection, chosen, facts, digest = read_plan(folder)
    cases = plan(selection)
    if digest_of(cases) != digest:
        raise InvalidInput(f"--resume {folder}: the cases are not those with which it was begun: start a new run")
    how = RunLimits(**{field.name: facts[field.name] for field in fields(RunLimits)})
    with started(chosen, **asdict(how), elsewhere=on_cluster(cluster, chosen, how)) as backends:
        return run_and_report(backends, cases, folder, facts, tried_operators(selection), show=show)


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
    show: Shown,
) -> int:
    try:
        with shown_progress(show) as progress:
            done = run_all(backends, cases, folder / FOLDER, progress)
        code = write_and_explain(done, cases, folder, facts, partial(forbidden_calls, backends, tried), show=show)
    except (KeyboardInterrupt, JournalFailed, NotWritten) as error:
        if not has_outcomes(folder):  # there is nothing to go on with
            raise
        what = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
        raise MachineryFailed(f"{what}; to go on: tiebreak run --resume {shlex.quote(str(folder))}") from None
    try:
        end_run(folder)
    except KeyboardInterrupt:  # all is written and said: too late to stop
        end_run(folder)
    return code


Try = Callable[[ExplanationErrors], list[dict[str, Any]]]


def write_and_explain(
    done: Sequence[BackendRecords],
    cases: Sequence[Case],
    folder: Path,
    facts: dict[str, Any],
    tried: Try = lambda errors: [],
    *,
    show: Shown,
) -> int:
    """Write the records, then what explains them, then the report; the exit code. `tried` gives the forbidden calls."""
    records, errors = recorded(done, cases, facts), ExplanationErrors()
    run = as_run(records)
    write_run(folder, run, records.generated)  # before anything that could fail looks for causes
    records.info["forbidden"] = tried(errors)
    finish(folder, explained_tables(run, explained(records, done, cases, errors)), show=show)
    return int(run.info["exit"])


def forbidden_calls(
    backends: Sequence[Runner], operators: Sequence[str], errors: ExplanationErrors
) -> list[dict[str, Any]]:
    """What each backend makes of the calls that documents forbid; nothing of one that can't be asked."""
    found = []
    for backend in backends:
        tried = partial(forbidden_rows, [backend], operators)
        found += errors.attempt("forbidden calls", backend.name, tried, [])
    return found


def finish(folder: Path, run: Run, *, show: Shown) -> None:
    """Write what explains the records, then the report; say what there is. Drawing may fail, too."""
    errors = ExplanationErrors()
    write_explanations(folder, run)
    draw(errors, "report.html", partial(write_report, folder / "report.html", run, str(folder)))
    if errors.found:
        run.info["explanation_errors"] += errors.rows()
        write_info(folder, run.info)
    if show == "nothing":
        return
    if show == "json":
        print(json.dumps(json_summary(run, str(folder))))
    else:
        draw(errors, "the summary", partial(print_summary, run, str(folder)))
    if run.info["exit"] == EXIT_NOTHING_RAN:
        print(f"tiebreak: {why_nothing_ran(run)}", file=sys.stderr)
    for line in explanation_failures(run.info["explanation_errors"] + errors.rows()):
        print(f"tiebreak: {line}", file=sys.stderr)


def draw(errors: ExplanationErrors, what: str, make: Callable[[], None]) -> None:
    """Make a picture of the records. A fault of the drawing is noted; a full disk or a closed pipe is none of it."""
    try:
        make()
    except Exception as error:
        if isinstance(error, TiebreakError | OSError) and not isinstance(error, DamagedFile):
            raise
        errors.note("drawing", what, error)


@contextmanager
def shown_progress(show: Shown) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each backend on standard error, which standard output never sees; nothing where that is no terminal."""
    console = Console(stderr=True)
    if show == "nothing" or not console.is_terminal:
        yield lambda name, done, planned: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True) as bar:

        def progress(name: str, done: int, planned: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(terminal_label(name), total=planned)
            bar.update(tasks[name], completed=done)

        yield progress
