"""`tiebreak run` from choice to exit code: plan, run with a progress bar, write the run folder, print the matrix."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.registry import check_spec, registered
from tiebreak.conformance.plan import Selection, plan
from tiebreak.conformance.run import run_cases
from tiebreak.golden.errors import EXIT_NOTHING_RAN, TiebreakError
from tiebreak.reports.html import write_report
from tiebreak.reports.records import RunRecords, as_run, check_writable, write_run
from tiebreak.reports.summary import json_summary, print_summary, why_nothing_ran


def main_job(specs: Sequence[str], selection: Selection, folder: Path, *, time_limit: float, as_json: bool) -> int:
    """Do it and give the exit code. Raises TiebreakError for bad input or a backend that can't be had."""
    checked = [check_spec(spec) for spec in dict.fromkeys(specs)]
    fresh = not folder.exists()
    check_writable(folder)
    try:
        return run_and_report(checked, selection, folder, time_limit=time_limit, as_json=as_json)
    except BaseException:
        if fresh and not any(folder.iterdir()):
            folder.rmdir()
        raise


def run_and_report(
    checked: Sequence[str], selection: Selection, folder: Path, *, time_limit: float, as_json: bool
) -> int:
    cases = plan(selection)
    chosen = checked or installed()
    if not chosen:
        print("tiebreak: no backend is installed; try: pip install 'tiebreak[backends]'", file=sys.stderr)
        return EXIT_NOTHING_RAN
    facts = {
        "command": shlex.join(["tiebreak", *sys.argv[1:]]),
        "level": selection.level,
        "seed": selection.seed,
        "time_limit": time_limit,
        "folder": str(folder),
    }
    with shown_progress() as progress:
        records = run_cases(chosen, cases, time_limit=time_limit, facts=facts, progress=progress)
    finish(folder, records, as_json=as_json)
    return int(records.info["exit"])


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


def plain(text: str, longest: int = 60) -> str:
    """A backend's text without anything that rich or a terminal would interpret."""
    return escape("".join(c if c.isprintable() else "?" for c in text)[:longest])


def told(backend: IsolatedBackend) -> str:
    return "any" if backend.operators is None else ", ".join(sorted(backend.operators))


def installed() -> list[str]:
    """The registered backends that load."""
    return [name for name, problem in probe_all() if not problem]


def probe_all() -> list[tuple[str, str]]:
    """(name, why it does not load or "") of every registered backend, each asked in a process of its own."""
    with ThreadPoolExecutor(4) as pool:
        return list(zip(registered(), pool.map(lambda name: probe(name)[1], registered()), strict=True))


def probe(name: str) -> tuple[IsolatedBackend, str]:
    """The backend with its name, version and operators filled in, stopped again; and why it does not load."""
    backend = IsolatedBackend(name)
    try:
        backend.start()
        return backend, ""
    except TiebreakError as error:
        return backend, str(error)
    finally:
        backend.close()


def list_backends(*, as_json: bool) -> None:
    """Print every registered backend: installed or not, version, operators, and what to type if it is not."""
    with ThreadPoolExecutor(4) as pool:
        probed = list(pool.map(probe, registered()))
    rows = [
        {
            "backend": backend.spec,
            "installed": not problem,
            "version": backend.version,
            "operators": sorted(backend.operators or ()),
            "message": problem,
        }
        for backend, problem in probed
    ]
    if as_json:
        print(json.dumps({"backends": rows}))
        return
    table = Table()
    for name in ("backend", "version", "operators, or why it is not installed"):
        table.add_column(name, overflow="fold")
    for backend, problem in probed:
        table.add_row(*map(plain, (backend.spec, backend.version)), plain(problem or told(backend), 1000))
    Console().print(table)
