"""`tiebreak run`: the main job."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tiebreak.cli.kinds import OUTPUT_FOLDER, WORDS
from tiebreak.cli.options import JSON, limits, once, parse_pairs, run_folder, selected, selecting, typed
from tiebreak.cli.scheduling import SCHEDULING, cluster_if, scheduling
from tiebreak.golden.errors import InvalidInput


@click.command(epilog="Example:  tiebreak run -b onnxruntime -b path/to/mine.py:backend --level quick -o first-run")
@click.option(
    "-b",
    "--backend",
    "backends",
    type=WORDS,
    multiple=True,
    metavar="BACKEND",
    help="A backend's name, module:attribute, path/to/file.py:attribute or exec:COMMAND; repeat for more. "
    "Default: all that are installed.",
)
@selecting
@click.option(
    "--input",
    "inputs",
    type=WORDS,
    multiple=True,
    callback=parse_pairs,
    metavar="NAME=VALUE",
    help="Instead of stored and generated cases run this one: a number, a,b,c, nested JSON lists, "
    "or bits as 0x…; give every input.",
)
@click.option(
    "--level",
    type=click.Choice(["quick", "full", "deep"]),
    multiple=True,
    callback=once,
    default=["full"],
    show_default="full",
    help="How many generated cases are added to the golden vectors.",
)
@run_folder("--from", "earlier_run", metavar="RUN_DIR", help="Also know the generated cases of this run.")
@run_folder("--vectors", help="A vector file or folder of your own instead.")
@limits(10.0, 0.1, "one case")
@click.option("--in-process", is_flag=True, help="Run the one backend in this process, without limits: for a debugger.")
@run_folder("--resume", metavar="RUN_DIR", help="Go on with a run that was interrupted or killed, as it was begun.")
@click.option("--discard", is_flag=True, help="Begin anew where an unfinished run is, whose outcomes are lost.")
@run_folder(
    "-o",
    "--output",
    type=OUTPUT_FOLDER,
    metavar="RUN_DIR",
    help="Folder for the records and report.html. Default: tiebreak-run, or tiebreak-case with --input or --case.",
)
@scheduling
@JSON
@click.pass_context
def run(
    context: click.Context,
    /,
    backends: tuple[str, ...],
    inputs: dict[str, str],
    level: str,
    earlier_run: Path | None,
    vectors: Path | None,
    time_limit: float,
    memory_limit: int,
    in_process: bool,
    resume: Path | None,
    discard: bool,
    output: Path | None,
    scheduler: str | None,
    scheduler_workers: int | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Run vectors and generated cases on backends, judge every element, and write a report."""
    from tiebreak.conformance.cases.plan import Selection
    from tiebreak.conformance.main_job import RunLimits, main_job, resume_job

    if resume is not None:
        refuse_others(context)
        with cluster_if(scheduler, scheduler_workers) as cluster:
            sys.exit(resume_job(resume, as_json=as_json, cluster=cluster))
    if in_process and scheduler:
        raise InvalidInput("--in-process runs the backend here: it takes no --scheduler")
    if inputs:
        refuse_beside(context, "inputs", ("case_ids", "earlier_run", "vectors", "level", "seed"))
    sources: dict[str, Any] = {"inputs": inputs, "vectors": vectors, "earlier_run": earlier_run, "level": level}
    folder = output or Path("tiebreak-case" if inputs or chosen["case_ids"] else "tiebreak-run")
    how = RunLimits(time_limit=time_limit, memory_limit=memory_limit, in_process=in_process)
    with cluster_if(scheduler, scheduler_workers) as cluster:
        selection = Selection(**sources, **selected(chosen))
        sys.exit(main_job(backends, selection, folder, how, as_json=as_json, cluster=cluster, discard=discard))


def refuse_beside(context: click.Context, chosen: str, others: Sequence[str]) -> None:
    """InvalidInput for options that make no sense beside a chosen one, by the names that a person types."""
    flags = {param.name: max(param.opts, key=len) for param in context.command.params}
    found = [flags[name] for name in others if name in typed(context)]
    if found:
        raise InvalidInput(f"{flags[chosen]} gives the one case to run: it takes no {', '.join(found)}")


def refuse_others(context: click.Context) -> None:
    """A resumed run is what it was: InvalidInput for any other choice beside --resume."""
    flags = {param.name: max(param.opts, key=len) for param in context.command.params}
    others = sorted(flags[name] for name in typed(context) - {"resume", "as_json", *SCHEDULING})
    if others:
        raise InvalidInput(f"--resume goes on as the run was begun: it takes no {', '.join(others)}")
