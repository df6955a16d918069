"""`tiebreak history`: many runs as trends, the file that keeps them, and the releases that it lacks."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tiebreak.cli.grouping import WithDefault
from tiebreak.cli.kinds import NAME, OUTPUT, PATH, WORDS
from tiebreak.cli.options import JSON, run_folder

DB = run_folder("--db", "file", type=OUTPUT, required=True, metavar="FILE", help="The history: one DuckDB file.")


@click.group(cls=WithDefault, epilog="Example:  tiebreak history runs --html history.html")
def history() -> None:
    """How backends went from run to run, or from release to release: name what to `show`, a folder or a file."""


@history.command(epilog="Example:  tiebreak history history.duckdb --by release --html history.html")
@click.argument("place", type=PATH, metavar="FOLDER_OR_FILE")
@click.option(
    "--by",
    type=click.Choice(["run", "release"]),
    default="run",
    show_default=True,
    help="release: each release of a library once, by its last run, in the order of releases.",
)
@click.option(
    "-b", "--backend", "backends", type=WORDS, multiple=True, metavar="BACKEND", help="Only this; repeat for more."
)
@click.option("--operator", "operators", type=NAME, multiple=True, help="Only this operator's id; repeat for more.")
@run_folder("--html", type=OUTPUT, metavar="FILE", help="Write a page, too.")
@JSON
def show(
    place: Path, by: str, backends: tuple[str, ...], operators: tuple[str, ...], html: Path | None, as_json: bool
) -> None:
    """How each backend's operators went, over the run folders in a folder, or over a file that `add` made."""
    from tiebreak.conformance.gate.history_view import history_at
    from tiebreak.reports.comparison import print_history
    from tiebreak.reports.history_page import write_history

    found = history_at(place, by_release=by == "release", backends=backends, operators=operators)
    if html is not None:
        write_history(html, found)
    if as_json:
        click.echo(json.dumps(found))
    else:
        print_history(found)


@history.command(epilog="Example:  tiebreak history add runs/* --db history.duckdb")
@click.argument("runs", type=PATH, nargs=-1, required=True, metavar="RUN_DIR...")
@DB
def add(runs: tuple[Path, ...], file: Path) -> None:
    """Add runs to a history; their folders are not needed any more. A run that is there stays as it is."""
    from tiebreak.conformance.gate.history_file import add_runs

    for run, was_new in add_runs(file, runs):
        click.echo(f"{run}: {'added' if was_new else 'was there'}")


@history.command(epilog="Example:  tiebreak history missing --db history.duckdb -b onnxruntime -b openvino")
@DB
@click.option(
    "-b",
    "--backend",
    "backends",
    type=NAME,
    multiple=True,
    metavar="BACKEND",
    help="Only this; repeat for more. Default: every library that can be installed.",
)
@click.option(
    "--releases",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    metavar="N",
    help="So many releases of each library, from the newest on.",
)
@click.option("--python", type=WORDS, metavar="3.X", help="The interpreter: a version or a path. Default: this one.")
@JSON
def missing(file: Path, backends: tuple[str, ...], releases: int, python: str | None, as_json: bool) -> None:
    """The newest releases that the history lacks: NAME@VERSION, a line each, for `install` and `run -b`."""
    from tiebreak.conformance.gate.newest import missing_releases

    found = missing_releases(file, backends, python or "", releases)
    if as_json:
        click.echo(json.dumps(found))
        return
    for row in found["missing"]:
        click.echo(f"{row['backend']}@{row['release']}")
    for row in found["unknown"]:
        click.echo(f"tiebreak: {row['backend']}: no release of its library installs here", err=True)
