"""`tiebreak sweep`: runs every possible input."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli.kinds import NAME, WORDS, WholeNumber
from tiebreak.cli.options import (
    JSON,
    JUDGE_FOREIGN,
    attributes_option,
    input_option,
    json_or_text,
    limit_options,
    node_types,
    run_folder,
    typed_parameters,
)
from tiebreak.cli.scheduling import SCHEDULING, cluster_if, scheduling
from tiebreak.golden.errors import InvalidInput, MachineryFailed, Unsupported
from tiebreak.golden.exit_codes import EXIT_DISCREPANCIES, EXIT_FAILED, EXIT_NOTHING_RAN
from tiebreak.golden.messages import gist
from tiebreak.golden.places import check_output_folder

if TYPE_CHECKING:
    from tiebreak.conformance.cases.plan import Selection
    from tiebreak.conformance.sweep.session import SweepLimits
    from tiebreak.golden.space import Space

BESIDE_CHECK = ("backend", "check", "time_limit", "memory_limit", "as_json")
BESIDE_PLAN = (
    *("plan", "output", "resume", "discard", "time_limit", "memory_limit", "judge_foreign", "as_json"),
    *SCHEDULING,
)
SCALES_FILE = Path("tiebreak-every-scale.json")
EXAMPLE = (
    "Example:  tiebreak sweep onnxruntime --operator onnx.QuantizeLinear --type uint8 --input y_scale=0.1 "
    "--input y_zero_point=128"
)


@click.command(epilog=EXAMPLE)
@click.argument("backend", type=WORDS, required=False)
@click.option("--operator", type=NAME, help="The operator's id.")
@attributes_option
@input_option("The value of an input other than the first. A 16-bit scale left off takes every positive finite value.")
@node_types
@click.option(
    "--modes",
    type=click.Choice(["own", "all"]),
    default="own",
    help="Also count the mismatches with each rounding mode.",
)
@limit_options(300.0, 1, "a block of 4,194,304 inputs")
@click.option(
    "--every-scale", is_flag=True, help="Every float32 scale, with the inputs next to every threshold; see docs."
)
@click.option(
    "--significands",
    type=WholeNumber(1, 1 << 23),
    metavar="N",
    help="With --every-scale: so many significands of each exponent, evenly apart. Default: all 8,388,608.",
)
@click.option("--resume", is_flag=True, help="Go on with the sweep that was to leave this certificate.")
@click.option("--discard", is_flag=True, help="Start again where a sweep was interrupted.")
@run_folder("--check", metavar="FILE", help="Sweep again what this certificate is about, and compare.")
@run_folder("--plan", metavar="FILE", help="Do the sweeps of this TOML file, each with a certificate; see docs.")
@run_folder(
    "-o",
    "--output",
    metavar="FILE",
    help="The certificate, or with --plan the folder for all. Default: tiebreak-sweep.json, tiebreak-every-scale.json, "
    "tiebreak-sweeps.",
)
@JUDGE_FOREIGN
@scheduling
@JSON
@click.pass_context
def sweep(
    context: click.Context,
    /,
    backend: str | None,
    operator: str | None,
    attributes: dict[str, str],
    inputs: dict[str, str],
    output_type: str | None,
    input_type: str | None,
    opset: int | None,
    modes: str,
    time_limit: float,
    memory_limit: int,
    every_scale: bool,
    significands: int | None,
    resume: bool,
    discard: bool,
    check: Path | None,
    plan: Path | None,
    output: Path | None,
    judge_foreign: bool,
    scheduler: str | None,
    scheduler_workers: int | None,
    as_json: bool,
) -> None:
    """Run every input that there is through a backend, and leave a certificate.

    These are all 4,294,967,296 float32 bit patterns, or for 16-bit types every input with every scale. With
    --every-scale they are the inputs next to every threshold of every float32 scale.
    """
    from tiebreak.conformance.cases.plan import Selection
    from tiebreak.conformance.sweep.job import exit_code_of_sweep, space_of
    from tiebreak.conformance.sweep.session import SweepLimits
    from tiebreak.reports.sweep import json_sweep, print_sweep

    how = SweepLimits(time_limit, memory_limit, modes == "all")
    if check is not None:
        refuse_other_parameters(
            context, BESIDE_CHECK, "--check sweeps what the certificate is about: it takes no other choice"
        )
        sys.exit(run_check(check, how, backend or "", as_json=as_json))
    asked = SweepOptions(how, resume, discard, judge_foreign, scheduler, scheduler_workers)
    if plan is not None:
        refuse_other_parameters(
            context, BESIDE_PLAN, "--plan says what is swept: it takes no backend, --operator, --modes …"
        )
        sys.exit(run_plan(plan, output or Path("tiebreak-sweeps"), asked, as_json=as_json))
    if backend is None or operator is None:
        raise InvalidInput(
            "name a backend and an --operator, as in: "
            "tiebreak sweep onnxruntime --operator onnx.QuantizeLinear --input y_scale=0.1"
        )
    values = {name: json_or_text(text) for name, text in attributes.items()}
    kinds = input_type or "", output_type or ""
    selection = Selection((operator,), values, *kinds, opset or 0, inputs)
    if every_scale:
        if modes == "all":
            raise InvalidInput("--every-scale knows only the document's rounding mode: leave --modes off")
        sys.exit(run_scales(backend, selection, significands, output or SCALES_FILE, asked, as_json=as_json))
    if significands is not None:
        raise InvalidInput("--significands goes with --every-scale")
    space = space_of(selection)
    certificate = output or Path("tiebreak-sweep.json")
    try:
        data = run_sweep(backend, space, certificate, asked)
    except Unsupported as reason:
        sys.exit(not_taken(backend, reason))
    if as_json:
        click.echo(json.dumps(json_sweep(data, str(certificate))))
    else:
        print_sweep(data, str(certificate))
    code = exit_code_of_sweep(data, judge_foreign=judge_foreign)
    if code == EXIT_NOTHING_RAN:
        click.echo("tiebreak: nothing was judged: the document leaves all of these inputs open", err=True)
    sys.exit(code)


def not_taken(backend: str, reason: Unsupported) -> int:
    click.echo(f"tiebreak: {backend} does not take the node: {gist(str(reason))[:500]}", err=True)
    return EXIT_NOTHING_RAN


@dataclass(frozen=True)
class SweepOptions:
    """Options that apply to every sweep."""

    how: SweepLimits
    resume: bool
    discard: bool
    judge_foreign: bool
    scheduler: str | None
    workers: int | None


def run_sweep(backend: str, space: Space, certificate: Path, asked: SweepOptions) -> dict[str, Any]:
    """Run one sweep, here or on a Dask cluster; returns the certificate's content."""
    from tiebreak.conformance.sweep.job import check_place, sweep_job

    check_place(certificate)  # before any cluster is reached
    check_begun([certificate], asked)
    with resumable(), cluster_if(asked.scheduler, asked.workers) as cluster, progress_bar(backend) as progress:
        options: dict[str, Any] = {"resume": asked.resume, "progress": progress}
        if cluster is None:
            return sweep_job(backend, space, certificate, asked.how, **options)
        from tiebreak.conformance.dask.sweeps import sweep_on

        return sweep_on(cluster, backend, space, certificate, asked.how, **options)


def run_scales(
    backend: str,
    selection: Selection,
    significands: int | None,
    certificate: Path,
    asked: SweepOptions,
    *,
    as_json: bool,
) -> int:
    """Sweep every scale, here or on a Dask cluster; returns the exit code."""
    from tiebreak.conformance.sweep.job import check_place
    from tiebreak.conformance.sweep.scale_job import every_scale_job, exit_code_of_scales
    from tiebreak.conformance.sweep.scale_plan import scale_case
    from tiebreak.reports.scale_sweep import json_scales, print_scales

    check_place(certificate)  # before any cluster is reached
    scale_case(selection, along_axis=True)
    check_begun([certificate], asked)
    options: dict[str, Any] = {"resume": asked.resume}
    try:
        with resumable(), cluster_if(asked.scheduler, asked.workers) as cluster, progress_bar(backend) as progress:
            if cluster is not None:
                from tiebreak.conformance.dask.sweeps import scales_on

                options["runner"] = scales_on(cluster)
            options["progress"] = progress
            data = every_scale_job(backend, selection, significands, certificate, asked.how, **options)
    except Unsupported as reason:
        return not_taken(backend, reason)
    if as_json:
        click.echo(json.dumps(json_scales(data, str(certificate))))
    else:
        print_scales(data, str(certificate))
    return exit_code_of_scales(data, judge_foreign=asked.judge_foreign)


def run_plan(plan: Path, folder: Path, asked: SweepOptions, *, as_json: bool) -> int:
    from tiebreak.conformance.campaign import campaign_job
    from tiebreak.conformance.sweep.plan_file import read_campaign_plan
    from tiebreak.reports.campaign import print_campaign

    check_output_folder(folder)
    sweeps = read_campaign_plan(plan)  # before any cluster is reached
    check_begun([folder / sweep.file for sweep in sweeps], asked)
    with resumable(), cluster_if(asked.scheduler, asked.workers) as cluster, progress_bar(str(plan)) as progress:
        options: dict[str, Any] = {"resume": asked.resume, "cluster": cluster, "progress": progress}
        options["judge_foreign"] = asked.judge_foreign
        data = campaign_job(plan, sweeps, folder, asked.how, **options)
    if as_json:
        click.echo(json.dumps({"folder": str(folder), **data}))
    else:
        print_campaign(data, str(folder))
    return int(data["exit"])


def check_begun(certificates: Sequence[Path], asked: SweepOptions) -> None:
    """Raise InvalidInput if an earlier, interrupted sweep would be lost without --resume or --discard."""
    from tiebreak.conformance.sweep.log import check_sweep_discardable

    if asked.resume and asked.discard:
        raise InvalidInput("--resume goes on with what --discard would throw away: take one of them")
    for certificate in certificates if not (asked.resume or asked.discard) else ():
        check_sweep_discardable(certificate)


@contextmanager
def resumable() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise MachineryFailed("interrupted; to go on, type the same with --resume") from None


def run_check(certificate: Path, how: Any, backend: str, *, as_json: bool) -> int:
    from tiebreak.conformance.sweep.job import check_job
    from tiebreak.conformance.sweep.scale_certificate import is_scale_certificate
    from tiebreak.conformance.sweep.scale_job import check_scales_job
    from tiebreak.reports.sweep import print_check

    check = check_scales_job if is_scale_certificate(certificate) else check_job
    with progress_bar(str(certificate)) as progress:
        data = check(certificate, how, backend, progress)
    if as_json:
        click.echo(json.dumps(data))
    else:
        print_check(data)
    if data["faults"]:
        return EXIT_FAILED
    return EXIT_DISCREPANCIES if data["changed_blocks"] else 0


def refuse_other_parameters(context: click.Context, taken: Collection[str], problem: str) -> None:
    """Raise InvalidInput with this text if any other parameter was typed."""
    if typed_parameters(context) - set(taken):
        raise InvalidInput(problem)


@contextmanager
def progress_bar(label: str, counted: str = "inputs") -> Iterator[Callable[[int, int], None]]:
    """A progress bar with time left on a terminal, with a rate if inputs are counted; lines elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from tiebreak.reports.console import terminal_label
    from tiebreak.reports.progress import CountLines

    console = Console(stderr=True)
    if not console.is_terminal:
        yield CountLines(label, counted)
        return
    told = TextColumn("{task.fields[rate]}")
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), told, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(terminal_label(label), total=None, rate="")

        def progress(done: int, of: int) -> None:
            speed = bar.tasks[0].speed or 0.0
            rate = f"{speed / 1e6:,.0f} M inputs/s" if speed and counted == "inputs" else ""
            bar.update(task, completed=done, total=of, rate=rate)

        yield progress
