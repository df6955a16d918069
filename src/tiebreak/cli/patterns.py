"""`tiebreak pattern`: graphs of a few operators, as a runtime ships them and unfused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from tiebreak.cli.kinds import NAME, OUTPUT, OUTPUT_FOLDER, WORDS, WholeNumber
from tiebreak.cli.options import DISCARD, JSON, limit_options, run_folder
from tiebreak.golden.errors import InvalidInput, MachineryFailed

OWN_FOLDER = Path("tiebreak-patterns")
EXAMPLE = "Example:  tiebreak pattern run add -b onnxruntime"
TYPE = click.option(
    "--type",
    "type_",
    type=NAME,
    default="uint8",
    show_default=True,
    help="The quantized type where the text names none.",
)


@click.group()
def pattern() -> None:
    """Run small graphs of operators, fused and unfused."""


@pattern.command(epilog=EXAMPLE)
@click.argument("patterns", nargs=-1, type=WORDS)
@click.option("-b", "--backend", "backends", multiple=True, type=NAME, help="A runtime; give it once for each.")
@TYPE
@click.option(
    "--level",
    type=click.Choice(["quick", "full", "deep"]),
    default="quick",
    show_default=True,
    help="How many scales and zero points: 6, 24 or all; and those beside decisions of rewrites.",
)
@limit_options(60.0, 1, "one answer")
@run_folder(
    "-o",
    "--output",
    "folder",
    type=OUTPUT_FOLDER,
    metavar="DIR",
    help="Folder for the records and the report; what a pattern run left there is replaced. "
    "Default: tiebreak-patterns, where a finished run stays.",
)
@DISCARD
@JSON
def run(
    patterns: tuple[str, ...],
    backends: tuple[str, ...],
    type_: str,
    level: str,
    time_limit: float,
    memory_limit: int,
    folder: Path | None,
    discard: bool,
    as_json: bool,
) -> None:
    """Run patterns, by name or as text, on every combination of codes; all patterns if none is named.

    Each runtime runs each graph as shipped, with single rewrites switched off, and unfused. The exit code is 1 if a
    rewrite changes a result.
    """
    from tiebreak.adapters.patterns.runtimes import RUNTIMES, check_runtime
    from tiebreak.conformance.patterns.kept import PAGE, holds_finished, is_ours
    from tiebreak.conformance.patterns.main import pattern_job
    from tiebreak.conformance.running.journal import check_unnamed
    from tiebreak.golden.patterns.catalogue import CATALOGUE
    from tiebreak.golden.patterns.text import pattern_of
    from tiebreak.golden.places import check_replaceable
    from tiebreak.reports.patterns import print_patterns, write_page

    chosen = [pattern_of(words, type_) for words in dict.fromkeys(patterns or CATALOGUE)]
    names = [check_runtime(name) for name in dict.fromkeys(backends or RUNTIMES)]
    if not (folder or discard):
        check_unnamed(OWN_FOLDER, "to run elsewhere add -o DIR", holds_finished)
    folder = folder or OWN_FOLDER
    check_replaceable(folder, "pattern run", is_ours)

    def tell(line: str) -> None:
        click.echo(f"tiebreak: {line}", err=True)

    found = pattern_job(chosen, names, level, time_limit, memory_limit, folder, tell)
    write_page(found, folder / PAGE)
    if not found["finished"]:
        raise MachineryFailed(f"interrupted; {folder} has the {len(found['rows']):,} answers that came until then")
    if as_json:
        click.echo(json.dumps({name: value for name, value in found.items() if name != "rows"}))
    else:
        print_patterns(found, folder)
    sys.exit(found["exit"])


@pattern.command("list", epilog="Example:  tiebreak pattern list")
@JSON
def list_patterns(as_json: bool) -> None:
    """List the patterns that have names."""
    from tiebreak.golden.patterns.catalogue import CATALOGUE

    if as_json:
        click.echo(json.dumps(CATALOGUE))
        return
    for name, text in CATALOGUE.items():
        click.echo(f"{name:20} {text}")


@pattern.command("export", epilog="Example:  tiebreak pattern export add -o add.onnx --scale s1=0.02 --scale s3=0.04")
@click.argument("words", metavar="PATTERN", type=WORDS)
@TYPE
@click.option("--scale", "scales", multiple=True, type=WORDS, metavar="NAME=SCALE[@ZERO_POINT]", help="Default: 0.1@0.")
@click.option("--rows", type=WholeNumber(1, 65536), default=1, show_default=True, help="The size of the batch.")
@run_folder("-o", "--output", "path", type=OUTPUT, default="pattern.onnx", metavar="FILE", help="The ONNX file.")
def export(words: str, type_: str, scales: tuple[str, ...], rows: int, path: Path) -> None:
    """Write a pattern as an ONNX model."""
    from tiebreak.conformance.patterns.exporting import export_pattern, pairs_from
    from tiebreak.golden.patterns.text import pattern_of

    chosen = pattern_of(words, type_)
    try:
        export_pattern(chosen, pairs_from(chosen, scales), rows, path)
    except ModuleNotFoundError as error:
        raise InvalidInput(f"{error.name} is not installed: pip install 'tiebreak[onnx]'") from None
    click.echo(f"{path}: {chosen.text}")
