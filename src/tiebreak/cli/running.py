"""`tiebreak run`: the main job."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli.kinds import OUTPUT_FOLDER
from tiebreak.cli.options import (
    DISCARD,
    JSON,
    JUDGE_FOREIGN,
    STRICT,
    backends_option,
    input_option,
    level_option,
    limit_options,
    run_folder,
    selection_keywords,
    selection_options,
    typed_parameters,
    usual_level,
)
from tiebreak.cli.scheduling import SCHEDULING, cluster_if, scheduling
from tiebreak.golden.errors import InvalidInput

if TYPE_CHECKING:
    from tiebreak.conformance.cases.plan import Selection
    from tiebreak.conformance.main_job import PrintAs, RunLimits

SOURCES = ("inputs", "vectors", "earlier_run", "level")
SELECTING = ("operators", "attributes", "output_type", "input_type", "opset", "case_ids", "seed")


@click.command(epilog="Example:  tiebreak run -b onnxruntime -b path/to/mine.py:backend --level quick -o first-run")
@backends_option("Default: all that are installed.")
@selection_options
@input_option(
    "Run this one case instead of stored and generated ones: a number, a,b,c, nested JSON lists, "
    "or bits as 0x…; give every input."
)
@level_option()
@run_folder("--from", "earlier_run", metavar="RUN_DIR", help="Also find the generated cases of this run.")
@run_folder("--vectors", help="A vector file or folder of your own instead.")
@limit_options(10.0, 0.1, "one case")
@click.option("--in-process", is_flag=True, help="Run the one backend in this process, without limits: for a debugger.")
@run_folder("--resume", metavar="RUN_DIR", help="Continue a run that was interrupted or killed, with its own options.")
@DISCARD
@run_folder(
    "-o",
    "--output",
    type=OUTPUT_FOLDER,
    metavar="RUN_DIR",
    help="Folder for the records and report.html; what a run left there is replaced. Default: tiebreak-run, where a "
    "finished run stays, or with --input or --case tiebreak-case, where it is replaced.",
)
@JUDGE_FOREIGN
@STRICT
@scheduling
@click.option(
    "-v", "--verbose", is_flag=True, help="Print all of the tables, as `tiebreak report --text` does, and the stages."
)
@JSON
@click.pass_context
def run(context: click.Context, /, as_json: bool, **chosen: Any) -> None:
    """Run vectors and generated cases on backends, judge every element, and write a report."""
    sys.exit(start_run(context, "json" if as_json else "tables"))


def start_run(context: click.Context, show: PrintAs, command: str = "") -> int:
    """Start or resume the run that the options ask for; returns its exit code. Records keep `command`."""
    from tiebreak.conformance.main_job import main_job, resume_job
    from tiebreak.conformance.running.journal import check_unnamed

    chosen = context.params
    if chosen["verbose"] and show == "tables":
        show = "everything"
    if chosen["resume"] is not None:
        refuse_others(context)
    elif chosen["in_process"] and chosen["scheduler"]:
        raise InvalidInput("--in-process runs the backend here: it takes no --scheduler")
    elif chosen["inputs"]:
        refuse_beside(context, "inputs", ("case_ids", "earlier_run", "vectors", "level", "seed"))
    with cluster_if(chosen["scheduler"], chosen["scheduler_workers"]) as cluster:
        if chosen["resume"] is not None:
            return resume_job(chosen["resume"], show=show, cluster=cluster)
        if not (chosen["output"] or chosen["discard"] or is_single(chosen)):
            check_unnamed(folder_of(chosen), "to run elsewhere add -o RUN_DIR")
        others: dict[str, Any] = {"show": show, "command": command, "cluster": cluster}
        others |= {name: chosen[name] for name in ("discard", "judge_foreign", "strict")}
        return main_job(chosen["backends"], selection_of(chosen), folder_of(chosen), limits_of(chosen), **others)


def selection_of(chosen: dict[str, Any]) -> Selection:
    from tiebreak.conformance.cases.plan import Selection

    selecting = {name: chosen[name] for name in SELECTING}
    sources = {name: chosen[name] for name in SOURCES} | {"level": chosen["level"] or usual_level(chosen["backends"])}
    return Selection(**sources, **selection_keywords(selecting))


def limits_of(chosen: dict[str, Any]) -> RunLimits:
    from tiebreak.conformance.main_job import RunLimits

    return RunLimits(**{name: chosen[name] for name in ("time_limit", "memory_limit", "in_process")})


def folder_of(chosen: dict[str, Any]) -> Path:
    return chosen["output"] or Path("tiebreak-case" if is_single(chosen) else "tiebreak-run")


def is_single(chosen: dict[str, Any]) -> bool:
    """Whether single cases run, which take a second and replace those of the last time."""
    return bool(chosen["inputs"] or chosen["case_ids"])


def refuse_beside(context: click.Context, chosen: str, others: Sequence[str]) -> None:
    """Raise InvalidInput for options that make no sense beside a chosen one."""
    flags = {param.name: max(param.opts, key=len) for param in context.command.params}
    found = [flags[name] for name in others if name in typed_parameters(context)]
    if found:
        raise InvalidInput(f"{flags[chosen]} gives the one case to run: it takes no {', '.join(found)}")


def refuse_others(context: click.Context) -> None:
    """Raise InvalidInput for any choice beside --resume: a resumed run keeps its own options."""
    flags = {param.name: max(param.opts, key=len) for param in context.command.params}
    others = sorted(flags[name] for name in typed_parameters(context) - {"resume", "as_json", "verbose", *SCHEDULING})
    if others:
        raise InvalidInput(f"--resume goes on as the run was begun: it takes no {', '.join(others)}")
