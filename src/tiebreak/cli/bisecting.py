"""`tiebreak bisect`: the first release at which a case's answer changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from tiebreak.cli.kinds import NAME, OUTPUT_FOLDER, WORDS
from tiebreak.cli.options import JSON, input_option, run_folder, selection_keywords, selection_options

EXAMPLE = (
    "Example:  tiebreak bisect onnxruntime --operator onnx.QuantizeLinear --input-type float16 --type int8 "
    "--input x=3.5 --input y_scale=1 --input y_zero_point=1 --good 1.20.1 --bad 1.31.1"
)


@click.command(epilog=EXAMPLE)
@click.argument("backend", type=NAME)
@selection_options
@input_option("The value of one input of a case of your own, instead of --case; give every input.")
@click.option("--good", type=NAME, required=True, metavar="VERSION", help="A release with one answer.")
@click.option("--bad", type=NAME, required=True, metavar="VERSION", help="A release with another answer.")
@click.option("--python", type=WORDS, metavar="3.X", help="The interpreter: a version or a path. Default: this one.")
@run_folder("--from", "earlier_run", metavar="RUN_DIR", help="The run that --case is of, if it was generated there.")
@run_folder(
    "-o",
    "--output",
    "folder",
    type=OUTPUT_FOLDER,
    default="tiebreak-bisect",
    metavar="DIR",
    help="Folder for bisect.json and a script for either side. Default: tiebreak-bisect.",
)
@JSON
def bisect(
    backend: str,
    inputs: dict[str, str],
    good: str,
    bad: str,
    python: str | None,
    earlier_run: Path | None,
    folder: Path,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Find the first release of a backend's library at which the answer to one case changes.

    Each release that is asked is installed in an environment of its own; those on either side of the change stay.
    """
    from tiebreak.conformance.bisecting import bisect_job
    from tiebreak.conformance.cases.plan import Selection
    from tiebreak.reports.bisection import print_bisection

    selection = Selection(**selection_keywords(chosen), inputs=inputs, earlier_run=earlier_run, level="")

    def tell(line: str) -> None:
        click.echo(line, err=True)

    found = bisect_job(backend, selection, good, bad, folder, tell, python=python or "")
    if as_json:
        click.echo(json.dumps(found))
    else:
        print_bisection(found)
