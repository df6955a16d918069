"""`tiebreak vectors`: build, check and export the golden vectors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from tiebreak.cli.kinds import NAME, OUTPUT_FOLDER, PATH
from tiebreak.cli.options import JSON, selection_keywords, selection_options
from tiebreak.golden.exit_codes import EXIT_CONFORMS, EXIT_USAGE

OF_SUITES = ("tflite", "wpt", "optester", "openvino", "stablehlo", "iree", "tosa")
LAYOUT_NAMES = ("json", "npz", "onnx", "onnx-node", "c", *OF_SUITES)
SUITE_NAMES = ("exact", "onnx", "onnx-node", *OF_SUITES)
OF_OPERATORS = click.option(
    "--operator", "operators", type=NAME, multiple=True, help="Only this operator's files; repeat for more."
)


@click.group()
def vectors() -> None:
    """Build, check and export the golden vectors."""


@vectors.command(epilog="Example:  tiebreak vectors export lab-cases --format npz --operator onnx.QuantizeLinear")
@click.argument("folder", type=OUTPUT_FOLDER)
@click.option("--format", "layout", type=click.Choice(LAYOUT_NAMES), required=True, help="The layout.")
@selection_options
@click.option("--level", type=click.Choice(["quick", "full", "deep"]), help="Add generated cases. Default: none.")
def export(folder: Path, layout: str, level: str | None, **chosen: Any) -> None:
    """Write cases, with what they must give, into a new FOLDER for a device elsewhere; see `tiebreak verify`."""
    from tiebreak.conformance.cases.plan import Selection, plan
    from tiebreak.conformance.offline.export import LEFT_OUT, export_cases

    selection = Selection(**selection_keywords(chosen), level=level or "")
    found = export_cases(plan(selection), folder, layout, selection)
    left_out = len(found.unsupported)
    why = f"; {left_out} have no form in this layout: {folder / LEFT_OUT} says why" if left_out else ""
    click.echo(f"{len(found.kept)} cases in {folder}{why}")


@vectors.command(epilog="Example:  tiebreak vectors minimal --operator onnx.QuantizeLinear --suite onnx -o for-onnx")
@click.option(
    "--suite", type=click.Choice(SUITE_NAMES), default="exact", show_default=True, help="Whose tests they are."
)
@click.option("-o", "--output", "folder", type=OUTPUT_FOLDER, help="A new folder for the cases, in the suite's form.")
@JSON
@selection_options
def minimal(suite: str, folder: Path | None, as_json: bool, **chosen: Any) -> None:
    """Choose the fewest vectors of an operator that stop every wrong arithmetic; see docs/suites.md."""
    from tiebreak.cli.sweeping import progress_bar
    from tiebreak.conformance.cases.plan import Selection, plan
    from tiebreak.conformance.power.minimal import fewest_cases
    from tiebreak.conformance.power.said import described, lines, write

    if len(chosen["operators"]) != 1:
        raise click.UsageError("name one operator: --operator onnx.QuantizeLinear")
    with progress_bar("cases", "cases") as told:
        found = fewest_cases(plan(Selection(**selection_keywords(chosen), level="")), suite, told=told)
    if folder:
        write(found, folder)
    click.echo(json.dumps(described(found)) if as_json else "\n".join(lines(found)))


@vectors.command(epilog="Example:  tiebreak vectors build golden/vectors")
@click.argument("folder", type=OUTPUT_FOLDER, required=False)
@OF_OPERATORS
def build(folder: Path | None, operators: tuple[str, ...]) -> None:
    """Write every golden vector file into FOLDER (default: where they are installed), the same bytes every time."""
    from tiebreak.golden import builder
    from tiebreak.golden.vectorfile import VECTORS

    paths = list(builder.build_vectors(folder or VECTORS, operators))
    click.echo(f"{len(paths)} vector files in {folder or VECTORS}")


@vectors.command(epilog="Example:  tiebreak vectors check golden/vectors")
@click.argument("folder", type=PATH, required=False)
@OF_OPERATORS
def check(folder: Path | None, operators: tuple[str, ...]) -> None:
    """Prove that the files in FOLDER (default: those installed) are what the builder makes and fit their schema."""
    from tiebreak.golden import builder
    from tiebreak.golden.vectorfile import VECTORS

    checked = builder.check_vectors(folder or VECTORS, operators)
    wrong = [(name, problem) for name, problem in checked if problem]
    for name, problem in wrong:
        click.echo(f"tiebreak: {folder or VECTORS}/{name}: {problem}", err=True)
    if not wrong:
        click.echo("every vector file is what the builder makes")
    sys.exit(EXIT_USAGE if wrong else EXIT_CONFORMS)
