"""`tiebreak run` from choice to exit code: plan, run, write the run folder, print the matrix."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal

from tiebreak.adapters.isolation import MEMORY_LIMIT
from tiebreak.adapters.registry import check_spec, usual
from tiebreak.adapters.settings import settings_of
from tiebreak.conformance.cases.plan import Planning, Selection, chosen_operators
from tiebreak.conformance.cases.recipes import made_by
from tiebreak.conformance.causes.explanation_errors import ExplanationErrors
from tiebreak.conformance.dask.scheduler import Cluster
from tiebreak.conformance.gate.releases import release_changes
from tiebreak.conformance.judging.both_answers import number_contradictions
from tiebreak.conformance.running.asking import NOTHING, Asking, asking
from tiebreak.conformance.running.assembling import explained_records, unexplained_records
from tiebreak.conformance.running.backends import run_all, running_backends
from tiebreak.conformance.running.beside import beside
from tiebreak.conformance.running.freed_memory import give_back_freed_memory
from tiebreak.conformance.running.interrupts import stopped_by_signals
from tiebreak.conformance.running.journal import (
    FOLDER,
    JournalFailed,
    begin_run,
    check_discardable,
    digest_of_cases,
    end_run,
    has_outcomes,
    note_later_cases,
    other_cases,
    read_unfinished,
    run_lock,
    selection_row,
)
from tiebreak.conformance.running.outcomes import Runner
from tiebreak.conformance.running.recording import BackendRecords
from tiebreak.conformance.running.shown_cases import domains_of_findings
from tiebreak.conformance.running.stages import Stages, timed
from tiebreak.conformance.running.watching import Unwatched, Watch
from tiebreak.golden.errors import DamagedFile, InvalidInput, MachineryFailed, TiebreakError
from tiebreak.golden.exit_codes import EXIT_NOTHING_RAN
from tiebreak.golden.nodes import Case
from tiebreak.golden.places import check_replaceable, holds_run
from tiebreak.reports.html import write_report
from tiebreak.reports.one_screen import print_summary
from tiebreak.reports.outputs_file import write_outputs
from tiebreak.reports.progress import progress_of_run
from tiebreak.reports.records import (
    OUTPUTS,
    NotWritten,
    Run,
    as_run,
    write_explanations,
    write_info,
    write_run,
)
from tiebreak.reports.summary import (
    explanation_failures,
    json_summary,
    own_failures,
    print_details,
    print_stages,
    why_nothing_ran,
)


class NoBackends(TiebreakError):  # noqa: N818 - says what happened
    """No backend is installed and none was named."""

    exit_code = EXIT_NOTHING_RAN


@dataclass(frozen=True)
class RunLimits:
    """`time_limit` is in seconds for a case, `memory_limit` in MiB for a worker. `in_process` runs have no limits."""

    time_limit: float = 10.0
    memory_limit: int = MEMORY_LIMIT
    in_process: bool = False


ASKING = "forbidden calls and other processes, meanwhile"
# "judged": as tables, and a gate judges the run next; "nothing" is silent on standard error, too
PrintAs = Literal["tables", "judged", "everything", "json", "nothing"]


@stopped_by_signals()
def main_job(
    specs: Sequence[str],
    selection: Selection,
    folder: Path,
    how: RunLimits,
    *,
    show: PrintAs = "tables",
    command: str = "",
    cluster: Cluster | None = None,
    discard: bool = False,
    judge_foreign: bool = False,
    strict: bool = False,
) -> int:
    """Run the selected cases on the backends, write the run folder and return the exit code.

    The backends run on this machine, or on a Dask `cluster`. `command` is recorded as what started the run (default:
    the words of this process). `judge_foreign` makes deviations from documents that a backend does not claim count for
    the exit code, `strict` what another order of a document's steps gives. Raises TiebreakError for bad input, a
    backend that can't be started, a folder where another run is going on, or, without `discard`, one with an unfinished
    run.
    """
    command = command or shlex.join(["tiebreak", *sys.argv[1:]])
    # A worker on another machine has files of its own, so only that worker can check a spec.
    checked = [spec if cluster else check_spec(spec) for spec in dict.fromkeys(specs)]
    if how.in_process and len(checked) != 1:
        raise InvalidInput("--in-process takes exactly one -b: libraries share settings within a process")
    with made_run_folder(folder), run_lock(folder):
        if not discard:
            check_discardable(folder)
        with watched(show) as watch:
            facts = {"command": command, "judge_foreign": judge_foreign, "strict": strict}
            facts |= {**asdict(how), "folder": str(folder)}
            return run_in_folder(checked, selection, folder, how, facts, show=show, cluster=cluster, watch=watch)


@contextmanager
def made_run_folder(folder: Path) -> Iterator[None]:
    """Create the run folder if it is missing, and remove it again if it stays empty.

    InvalidInput if it has other files than a run's, or can't be written to.
    """
    fresh = not folder.exists()
    check_replaceable(folder, "run", holds_run)
    try:
        yield
    finally:
        if fresh and not any(folder.iterdir()):
            folder.rmdir()


def run_in_folder(
    checked: Sequence[str],
    selection: Selection,
    folder: Path,
    how: RunLimits,
    asked: Mapping[str, Any],
    *,
    show: PrintAs,
    cluster: Cluster | None,
    watch: Watch,
) -> int:
    """Start the backends, plan, run and report, in a folder whose lock we hold. `asked` are facts for run.json."""
    stages = Stages()
    try:
        chosen_operators(selection)  # report a wrong selection before any library loads
        facts = {"level": selection.level, "seed": selection.seed, "selection": selection_row(selection)}
        facts |= {"made_by": made_by(), "settings": settings_of(os.environ), **asked}
        wanted = checked or usual()
        away = on_cluster(cluster, wanted, how)
        started = running_backends(wanted, **asdict(how), only_installed=not checked, elsewhere=away, watch=watch)
        with stages.around("start the backends", started) as backends:
            if not backends:
                raise NoBackends("no backend is installed; try: pip install 'tiebreak[backends]'")
            with Planning(selection, claimed_operators(selection, backends)) as planning:
                with stages.stage("plan"):
                    digest = digest_of_cases(planning.stored)
                begin_run(folder, selection, [backend.spec for backend in backends], facts, digest)
                tried = tried_operators(selection)
                return run_and_report(backends, planning, folder, facts, tried, stages, show=show, watch=watch)
    except (TiebreakError, OSError, KeyboardInterrupt):
        if not has_outcomes(folder):  # leave no journal behind if no case ran
            end_run(folder)
        raise


def on_cluster(cluster: Cluster | None, specs: Sequence[str], how: RunLimits) -> list[Runner]:
    """The backends on a Dask cluster's workers, the first named with the highest priority; none without a cluster."""
    if cluster is None:
        return []
    from tiebreak.conformance.dask.backend import ClusterBackend

    limits = how.time_limit, how.memory_limit
    return [ClusterBackend(cluster, spec, *limits, priority=-number) for number, spec in enumerate(specs)]


@stopped_by_signals()
def resume_job(folder: Path, *, show: PrintAs = "tables", cluster: Cluster | None = None) -> int:
    """Finish a run that was killed or interrupted, with its own settings. InvalidInput if the folder has none."""
    read_unfinished(folder)  # raises before anything is created in the folder
    with run_lock(folder):
        return resume_in_folder(folder, show=show, cluster=cluster)


def resume_in_folder(folder: Path, *, show: PrintAs, cluster: Cluster | None) -> int:
    """Finish the run in a folder whose lock we hold."""
    selection, chosen, facts, digest = read_unfinished(folder)
    stages, how = Stages(), RunLimits(**{field.name: facts[field.name] for field in fields(RunLimits)})
    elsewhere = on_cluster(cluster, chosen, how)
    with (
        watched(show) as watch,
        stages.around(
            "start the backends", running_backends(chosen, **asdict(how), elsewhere=elsewhere, watch=watch)
        ) as backends,
        Planning(selection, claimed_operators(selection, backends)) as planning,
    ):
        with stages.stage("plan"):
            if digest_of_cases(planning.stored) != digest:
                raise InvalidInput(other_cases(folder))
        tried = tried_operators(selection)
        return run_and_report(backends, planning, folder, facts, tried, stages, show=show, watch=watch)


def claimed_operators(selection: Selection, backends: Sequence[Runner]) -> set[str] | None:
    """The operators that some backend claims; None, which means all, if there is no need to leave cases out."""
    if selection.inputs or selection.case_ids:
        return None
    claims = [backend.operators for backend in backends]
    return None if any(claim is None for claim in claims) else {name for claim in claims for name in claim or ()}


def tried_operators(selection: Selection) -> list[str]:
    """The operators whose forbidden calls are tried: none if single cases, attributes or own vectors were chosen."""
    single = selection.inputs or selection.case_ids or selection.vectors is not None
    return [] if single or selection.attributes else chosen_operators(selection)


def run_and_report(
    backends: Sequence[Runner],
    planning: Planning,
    folder: Path,
    facts: dict[str, Any],
    tried: Sequence[str],
    stages: Stages,
    *,
    show: PrintAs,
    watch: Watch,
) -> int:
    cases = list(planning.stored)

    def later() -> list[Case]:
        with stages.stage("wait for generated cases"):
            made = planning.rest()
        note_later_cases(folder, made)
        cases.extend(made)
        return made

    try:
        with stages.stage("run and judge"):
            done = run_all(backends, planning.stored, folder / FOLDER, watch, later=later, stages=stages)
        give_back_freed_memory()
        ask = asking(backends, done, tried)
        code = write_and_explain(done, cases, folder, facts, ask, show=show, stages=stages, watch=watch)
    except (KeyboardInterrupt, JournalFailed, NotWritten) as error:
        if not has_outcomes(folder):  # there is nothing to resume
            raise
        what = "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)
        raise MachineryFailed(f"{what}; to go on: tiebreak run --resume {shlex.quote(str(folder))}") from None
    try:
        end_run(folder)
    except KeyboardInterrupt:  # everything is written and printed: too late to stop
        end_run(folder)
    return code


def write_and_explain(
    done: Sequence[BackendRecords],
    cases: Sequence[Case],
    folder: Path,
    facts: dict[str, Any],
    ask: Asking = NOTHING,
    *,
    show: PrintAs,
    stages: Stages | None = None,
    watch: Watch | None = None,
) -> int:
    """Write the records, then their explanations, then the report; return the exit code.

    The backends are asked more in their processes while causes are looked for here.
    """
    stages, watch, errors = stages or Stages(), watch or Unwatched(), ExplanationErrors()
    watch.stage("looking for causes")
    with stages.stage("write the records"):
        records = unexplained_records(done, cases, facts)
        write_outputs(folder / OUTPUTS, {one.name: one.outputs.held for one in done})
        write_run(folder, as_run(records), records.generated)  # the search for causes may fail: the records come first
    give_back_freed_memory()
    with stages.stage("further cases"):
        further = ask.further(errors)
    others = ExplanationErrors()
    with beside(partial(timed, stages, ASKING, partial(ask.more, others)), ask.abandon) as more:
        with stages.stage("look for causes"):
            explained = as_run(explained_records(records, done, cases, errors, further, watch))
            explained.info["releases"] = errors.attempt("releases", "", partial(release_changes, explained), [])
        explained.info.update(more())
        number_contradictions(explained.info)
        domains = partial(domains_of_findings, explained.info, cases)
        explained.info["domains"] = others.attempt("domains of findings", "", domains, dict[str, str]())
        explained.info["explanation_errors"] += others.rows()
    watch.stage("writing the report")
    write_and_print(folder, explained, show=show, stages=stages, watch=watch)
    return int(records.info["exit"])


def write_and_print(folder: Path, run: Run, *, show: PrintAs, stages: Stages, watch: Watch) -> None:
    """Write the explanations and the report, then print the summary. A drawing that fails is noted."""
    errors = ExplanationErrors()
    with stages.stage("write the explanations"):
        write_explanations(folder, run)
    with stages.stage("write the report"):
        attempt_drawing(errors, "report.html", partial(write_report, folder / "report.html", run, str(folder)))
    run.info["explanation_errors"] += errors.rows()
    run.info["stages"] = stages.rows()
    write_info(folder, run.info)
    watch.close()
    if show == "nothing":
        return
    if show == "json":
        print(json.dumps(json_summary(run, str(folder))))
    elif show == "everything":
        attempt_drawing(errors, "the summary", partial(print_details, run, str(folder)))
        attempt_drawing(errors, "the stages", partial(print_stages, run))
    else:
        attempt_drawing(errors, "the summary", partial(print_summary, run, str(folder), judged=show == "judged"))
    if run.info["exit"] == EXIT_NOTHING_RAN:
        print(f"tiebreak: {why_nothing_ran(run)}", file=sys.stderr)
    for line in own_failures(run.info) + explanation_failures(run.info["explanation_errors"] + errors.rows()):
        print(f"tiebreak: {line}", file=sys.stderr)


def attempt_drawing(errors: ExplanationErrors, what: str, make: Callable[[], None]) -> None:
    """Draw something from the records and note a fault of the drawing. A full disk or closed pipe still raises."""
    try:
        make()
    except Exception as error:
        if isinstance(error, TiebreakError | OSError) and not isinstance(error, DamagedFile):
            raise
        errors.note("drawing", what, error)


@contextmanager
def watched(show: PrintAs) -> Iterator[Watch]:
    """What shows the run while it goes on, on standard error; nothing if the run is to be silent."""
    watch: Watch = Unwatched() if show == "nothing" else progress_of_run()
    try:
        yield watch
    finally:
        watch.close()
