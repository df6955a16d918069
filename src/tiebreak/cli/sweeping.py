"""`tiebreak sweep`: every input there is."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tiebreak.cli.options import JSON, json_or_text, parse_pairs, run_folder
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.errors import (
    EXIT_DISCREPANCIES,
    EXIT_FAILED,
    EXIT_NOTHING_RAN,
    InvalidInput,
    MachineryFailed,
    Unsupported,
)

KIND = click.Choice([*ELEMENT_TYPES])
EXAMPLE = (
    "Example:  tiebreak sweep onnxruntime --operator onnx.QuantizeLinear --type uint8 --input y_scale=0.1 "
    "--input y_zero_point=128"
)


@click.command(epilog=EXAMPLE)
@click.argument("backend", required=False)
@click.option("--operator", help="The operator's id.")
@click.option(
    "--attr", "attributes", multiple=True, callback=parse_pairs, metavar="NAME=VALUE", help="An attribute's value."
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    callback=parse_pairs,
    metavar="NAME=VALUE",
    help="The value of an input other than the first. A 16-bit scale left off takes every positive finite value.",
)
@click.option("--type", "output_type", type=KIND, metavar="TYPE", help="The output's element type.")
@click.option("--input-type", type=KIND, metavar="TYPE", help="The first input's element type. Default: float32.")
@click.option("--opset", type=int, default=0, metavar="N", help="Of an ONNX node, the version of the operator set.")
@click.option(
    "--modes",
    type=click.Choice(["own", "all"]),
    default="own",
    help="Also count the mismatches with each rounding mode.",
)
@click.option(
    "--timeout",
    "time_limit",
    type=click.FloatRange(1, 86400),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for a block of 4,194,304 inputs.",
)
@click.option(
    "--memory",
    "memory_limit",
    type=click.IntRange(64, 1 << 24),
    default=4096,
    show_default=True,
    metavar="MIB",
    help="Memory limit for the backend's process.",
)
@click.option("--resume", is_flag=True, help="Go on with the sweep that was to leave this certificate.")
@run_folder("--check", metavar="FILE", help="Sweep again what this certificate is about, and compare.")
@run_folder(
    "-o", "--output", default=Path("tiebreak-sweep.json"), show_default=True, metavar="FILE", help="The certificate."
)
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
    opset: int,
    modes: str,
    time_limit: float,
    memory_limit: int,
    resume: bool,
    check: Path | None,
    output: Path,
    as_json: bool,
) -> None:
    """Run every input that there is through a backend, and leave a certificate.

    These are all 4,294,967,296 float32 bit patterns, or for 16-bit types every input with every scale.
    """
    from tiebreak.conformance.plan import Selection
    from tiebreak.conformance.sweep.job import How, exit_code, space_of, sweep_job
    from tiebreak.reports.sweep import json_sweep, print_sweep

    how = How(time_limit, memory_limit, modes == "all")
    if check is not None:
        refuse_beside_check(context)
        sys.exit(run_check(check, how, as_json=as_json))
    if backend is None or operator is None:
        raise InvalidInput(
            "name a backend and an --operator, as in: tiebreak sweep onnxruntime --operator onnx.QuantizeLinear"
        )
    typed = {name: json_or_text(text) for name, text in attributes.items()}
    kinds = input_type or "", output_type or ""
    space = space_of(Selection((operator,), typed, *kinds, opset, inputs))
    try:
        with shown_progress(backend) as progress:
            data = sweep_job(backend, space, output, how, resume=resume, progress=progress)
    except Unsupported as reason:
        click.echo(f"tiebreak: {backend} does not take the node: {' '.join(str(reason).split())[:500]}", err=True)
        sys.exit(EXIT_NOTHING_RAN)
    except KeyboardInterrupt:
        raise MachineryFailed("interrupted; to go on, type the same with --resume") from None
    if as_json:
        click.echo(json.dumps(json_sweep(data, str(output))))
    else:
        print_sweep(data, str(output))
    sys.exit(exit_code(data))


def run_check(certificate: Path, how: Any, *, as_json: bool) -> int:
    from tiebreak.conformance.sweep.job import check_job
    from tiebreak.reports.sweep import print_check

    with shown_progress(str(certificate)) as progress:
        data = check_job(certificate, how, progress)
    if as_json:
        click.echo(json.dumps(data))
    else:
        print_check(data)
    if data["faults"]:
        return EXIT_FAILED
    return EXIT_DISCREPANCIES if data["changed_blocks"] else 0


def refuse_beside_check(context: click.Context) -> None:
    given = {
        name for name in context.params if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    }
    others = given - {"check", "time_limit", "memory_limit", "as_json"}
    if others:
        raise InvalidInput("--check sweeps what the certificate is about: it takes no other choice")


@contextmanager
def shown_progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with rate and time left on standard error; nothing where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from tiebreak.reports.console import plain

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, of: None
        return
    rate = TextColumn("{task.fields[rate]}")
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), rate, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(plain(label), total=None, rate="")

        def progress(done: int, of: int) -> None:
            speed = bar.tasks[0].speed or 0.0
            bar.update(task, completed=done, total=of, rate=f"{speed / 1e6:,.0f} M inputs/s" if speed else "")

        yield progress
