"""`tiebreak tables`: a run's records as files for other tools."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tiebreak.cli.kinds import OUTPUT_FOLDER, PATH
from tiebreak.cli.options import JSON, run_folder

FORMATS = ("csv", "jsonl", "parquet")  # as in reports.tables, which --help must not import


@click.command(epilog="Example:  tiebreak tables tiebreak-run -o tables --format csv")
@click.argument("run_dir", type=PATH)
@run_folder("-o", "--output", type=OUTPUT_FOLDER, required=True, metavar="DIR", help="The folder to write to.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="csv", show_default=True, help="The files' format."
)
@JSON
def tables(run_dir: Path, output: Path, form: str, as_json: bool) -> None:
    """Write a run's tables as files: results, discrepancies, clusters, backends, paths and more.

    \b
    csv      cells that a spreadsheet would run as a formula begin with '
    jsonl    one JSON object a line; NaN is null, infinities are text
    parquet  with the columns' own types
    """
    from tiebreak.reports.tables import load, write_tables

    loaded = load(run_dir)
    paths = write_tables(loaded, output, form)
    rows = [len(frame) for _, frame in loaded]
    if as_json:
        found = {path.stem: {"file": str(path), "rows": count} for path, count in zip(paths, rows, strict=True)}
        return click.echo(json.dumps({"run": str(run_dir), "format": form, "tables": found}))
    for path, count in zip(paths, rows, strict=True):
        click.echo(f"{path}  {count:,} rows")
