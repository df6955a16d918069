"""The command line. Commands import what they need when they run, so that --help is quick."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from tiebreak import __version__
from tiebreak.golden.elements import ELEMENT_TYPES
from tiebreak.golden.errors import EXIT_CONFORMS, EXIT_FAILED, EXIT_USAGE, TiebreakError

EXIT_CODES = """\b
Exit codes, the same in every command:
  0  conforms, or only known discrepancies
  1  new discrepancies
  2  wrong usage or bad input
  3  a backend or the machinery failed
  4  nothing ran"""


class OneLineErrors(click.Group):
    """Turns errors for the person who typed into one line on standard error and their exit code."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            fail(error.format_message(), EXIT_USAGE)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            fail(error.format_message(), EXIT_USAGE)
        except TiebreakError as error:
            fail(str(error), error.exit_code)
        except KeyboardInterrupt:
            fail("interrupted; nothing was written", EXIT_FAILED)


def fail(message: str, code: int) -> NoReturn:
    click.echo(f"tiebreak: {' '.join(message.split())}", err=True)
    sys.exit(code)


@click.group(cls=OneLineErrors, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tiebreak")
def main() -> None:
    """Conformance suite and differential verifier for tensor quantization operators.

    \b
    Start with:  tiebreak run -o RUN_DIR
    """


def parse_pairs(ctx: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE options as a mapping."""
    pairs = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", ctx, option)
        if name in pairs:
            raise click.BadParameter(f"{name} is given twice", ctx, option)
        pairs[name] = text
    return pairs


def json_or_text(text: str) -> Any:
    """An attribute's value as typed: JSON where it is JSON (1, [0, 2]), else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


@main.command(epilog="Example:  tiebreak run -b onnxruntime -b path/to/mine.py:backend --level quick -o first-run")
@click.option(
    "-b",
    "--backend",
    "backends",
    multiple=True,
    metavar="BACKEND",
    help="A backend's name, module:attribute or path/to/file.py:attribute; repeat for more. "
    "Default: all that are installed.",
)
@click.option("--operator", "operators", multiple=True, help="An operator's id; repeat for more. Default: all.")
@click.option(
    "--attr",
    "attributes",
    multiple=True,
    callback=parse_pairs,
    metavar="NAME=VALUE",
    help="Only nodes with this attribute value, such as round_mode=ROUND_UP or axes=[0,2].",
)
@click.option(
    "--type", "output_type", type=click.Choice([*ELEMENT_TYPES]), metavar="TYPE", help="Only this output element type."
)
@click.option(
    "--input-type", "input_type", type=click.Choice([*ELEMENT_TYPES]), metavar="TYPE", help="Only this input type."
)
@click.option("--opset", type=int, default=0, metavar="N", help="Only ONNX nodes of this operator-set version.")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    callback=parse_pairs,
    metavar="NAME=VALUE",
    help="Instead of stored and generated cases run this one: a number, a,b,c, nested JSON lists, "
    "or bits as 0x…; give every input.",
)
@click.option(
    "--level",
    type=click.Choice(["quick", "full", "deep"]),
    default="full",
    show_default=True,
    help="How many generated cases are added to the golden vectors.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the generated cases.")
@click.option("--case", "case_ids", multiple=True, metavar="ID", help="Only this case; repeat for more.")
@click.option(
    "--from",
    "earlier_run",
    type=click.Path(path_type=Path),
    metavar="RUN_DIR",
    help="Also know the generated cases of this run.",
)
@click.option("--vectors", type=click.Path(path_type=Path), help="A vector file or folder of your own instead.")
@click.option(
    "--timeout",
    "time_limit",
    type=click.FloatRange(0.1, 86400),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time limit for one case.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="RUN_DIR",
    help="Folder for the records and report.html. Default: tiebreak-run, or tiebreak-case with --input or --case.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def run(
    backends: tuple[str, ...],
    operators: tuple[str, ...],
    attributes: dict[str, str],
    output_type: str | None,
    input_type: str | None,
    opset: int,
    inputs: dict[str, str],
    level: str,
    seed: int,
    case_ids: tuple[str, ...],
    earlier_run: Path | None,
    vectors: Path | None,
    time_limit: float,
    output: Path | None,
    as_json: bool,
) -> None:
    """Run vectors and generated cases on backends, judge every element, and write a report."""
    from tiebreak.conformance.main_job import main_job
    from tiebreak.conformance.plan import Selection

    selection = Selection(
        operators=operators,
        attributes={name: json_or_text(text) for name, text in attributes.items()},
        input_type=input_type or "",
        output_type=output_type or "",
        opset=opset,
        inputs=inputs,
        case_ids=case_ids,
        vectors=vectors,
        earlier_run=earlier_run,
        level=level,
        seed=seed,
    )
    folder = output or Path("tiebreak-case" if inputs or case_ids else "tiebreak-run")
    sys.exit(main_job(backends, selection, folder, time_limit=time_limit, as_json=as_json))


@main.command(epilog="Example:  tiebreak report tiebreak-run -o report.html")
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), default=None, help="Default: RUN_DIR/report.html.")
def report(run_dir: Path, output: Path | None) -> None:
    """Build the HTML report again from a run's records."""
    from tiebreak.reports.html import write_report
    from tiebreak.reports.records import read_run

    path = output or run_dir / "report.html"
    write_report(path, read_run(run_dir), str(run_dir))
    click.echo(f"{path}")


@main.command(epilog="Example:  tiebreak backends --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def backends(as_json: bool) -> None:
    """The backends that come with Tiebreak or are registered by others, and whether they are installed."""
    from tiebreak.conformance.main_job import list_backends

    list_backends(as_json=as_json)


@main.command(epilog="Example:  tiebreak operators ngraph.Quantize")
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--pages", type=click.Path(path_type=Path), metavar="DIR", help="Write a Markdown page for each instead.")
@click.option(
    "--run", "run_dir", type=click.Path(path_type=Path), metavar="RUN_DIR", help="With what its backends did."
)
def operators(names: tuple[str, ...], as_json: bool, pages: Path | None, run_dir: Path | None) -> None:
    """Operators with their attributes, types, sources and clauses; all of them, or those named."""
    if pages is None:
        from tiebreak.reports.listing import list_operators

        return list_operators(names, as_json=as_json)
    from tiebreak.reports.pages import write_pages
    from tiebreak.reports.records import read_run

    written = write_pages(pages, read_run(run_dir) if run_dir else None)
    click.echo(f"{len(written)} pages in {pages}")


@main.command(epilog="Example:  tiebreak coverage --run tiebreak-run")
@click.option(
    "--run",
    "runs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="RUN_DIR",
    help="Name the backends that ran each clause in this run; repeat for more.",
)
@click.option("--cases", type=click.IntRange(1, 100_000), default=150, show_default=True, help="Generated cases each.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def coverage(runs: tuple[Path, ...], cases: int, as_json: bool) -> None:
    """Every clause of every operator with the vectors and generated cases that check it; 1 if one has none."""
    from tiebreak.conformance import coverage as table

    sys.exit(table.coverage(runs, count=cases, as_json=as_json))


@main.command(epilog="Example:  tiebreak verify lab-cases --backend-name my-npu -o lab-run")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--backend-name", required=True, help="What the report calls the device.")
@click.option("--backend-version", default="", help="Its version.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="RUN_DIR", help="Default: FOLDER/run.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def verify(folder: Path, backend_name: str, backend_version: str, output: Path | None, as_json: bool) -> None:
    """Judge the outputs brought back into FOLDER/outputs for cases written by `tiebreak vectors export`."""
    from tiebreak.conformance.verify import verify_job

    sys.exit(verify_job(folder, backend_name, backend_version, output or folder / "run", as_json=as_json))


@main.group()
def vectors() -> None:
    """Build, check and export the golden vectors."""


@vectors.command(epilog="Example:  tiebreak vectors export lab-cases --format npz --operator onnx.QuantizeLinear")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--format", "layout", type=click.Choice(["json", "npz", "onnx", "c"]), required=True, help="The layout.")
@click.option("--operator", "operators", multiple=True, help="An operator's id; repeat for more. Default: all.")
@click.option(
    "--attr", "attributes", multiple=True, callback=parse_pairs, metavar="NAME=VALUE", help="Only such nodes."
)
@click.option(
    "--type", "output_type", type=click.Choice([*ELEMENT_TYPES]), metavar="TYPE", help="Only this output type."
)
@click.option("--input-type", type=click.Choice([*ELEMENT_TYPES]), metavar="TYPE", help="Only this input type.")
@click.option("--opset", type=int, default=0, metavar="N", help="Only ONNX nodes of this operator-set version.")
@click.option("--case", "case_ids", multiple=True, metavar="ID", help="Only this case; repeat for more.")
@click.option("--level", type=click.Choice(["quick", "full", "deep"]), help="Add generated cases. Default: none.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the generated cases.")
def export(
    folder: Path,
    layout: str,
    operators: tuple[str, ...],
    attributes: dict[str, str],
    output_type: str | None,
    input_type: str | None,
    opset: int,
    case_ids: tuple[str, ...],
    level: str | None,
    seed: int,
) -> None:
    """Write cases, with what they must give, into a new FOLDER for a device elsewhere; see `tiebreak verify`."""
    from tiebreak.conformance.export import export as write
    from tiebreak.conformance.plan import Selection

    selection = Selection(
        operators=operators,
        attributes={name: json_or_text(text) for name, text in attributes.items()},
        input_type=input_type or "",
        output_type=output_type or "",
        opset=opset,
        case_ids=case_ids,
        level=level or "",
        seed=seed,
    )
    written, left_out = write(selection, folder, layout)
    click.echo(f"{written} cases in {folder}" + (f"; {left_out} have no form in this layout" if left_out else ""))


@vectors.command(epilog="Example:  tiebreak vectors build golden/vectors")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
def build(folder: Path | None) -> None:
    """Write every golden vector file into FOLDER (default: where they are installed), the same bytes every time."""
    from tiebreak.golden import builder
    from tiebreak.golden.vectorfile import VECTORS

    paths = list(builder.build(folder or VECTORS))
    click.echo(f"{len(paths)} vector files in {folder or VECTORS}")


@vectors.command(epilog="Example:  tiebreak vectors check golden/vectors")
@click.argument("folder", type=click.Path(path_type=Path), required=False)
def check(folder: Path | None) -> None:
    """Prove that the files in FOLDER (default: those installed) are what the builder makes and fit their schema."""
    from tiebreak.golden import builder
    from tiebreak.golden.vectorfile import VECTORS

    wrong = [(name, problem) for name, problem in builder.check(folder or VECTORS) if problem]
    for name, problem in wrong:
        click.echo(f"tiebreak: {folder or VECTORS}/{name}: {problem}", err=True)
    if not wrong:
        click.echo("every vector file is what the builder makes")
    sys.exit(EXIT_USAGE if wrong else EXIT_CONFORMS)
