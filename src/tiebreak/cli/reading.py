"""Commands that read: the specs, a run's records, and outputs brought back from elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tiebreak.cli.kinds import ID, NAME, OUTPUT, OUTPUT_FOLDER, PATH, WORDS, WholeNumber
from tiebreak.cli.options import DISCARD, JSON, STRICT, check_apart, run_folder
from tiebreak.golden.errors import InvalidInput

if TYPE_CHECKING:
    from tiebreak.reports.finding_files import Script
    from tiebreak.reports.first_screen import News
    from tiebreak.reports.records import Run
    from tiebreak.reports.rows import Example


@click.command(epilog="Example:  tiebreak report tiebreak-run -o report.html")
@click.argument("run_dir", type=PATH)
@run_folder("-o", "--output", type=OUTPUT, help="Default: RUN_DIR/report.html.")
@click.option("--baseline", type=PATH, metavar="RUN_DIR", help="HTML: what is new since that run comes first.")
@click.option(
    "--discrepancy", "asked", type=ID, multiple=True, metavar="ID", help="HTML: show this one, too; repeat for more."
)
@run_folder("--findings", type=OUTPUT, metavar="FILE", help="Instead: every root cause as a Markdown page.")
@run_folder("--markdown", type=OUTPUT, metavar="FILE", help="Instead: a summary, also for $GITHUB_STEP_SUMMARY.")
@run_folder("--junit", type=OUTPUT, metavar="FILE", help="Instead: JUnit XML.")
@click.option("--text", is_flag=True, help="Instead: print every table of the run.")
def report(
    run_dir: Path,
    output: Path | None,
    baseline: Path | None,
    asked: tuple[str, ...],
    findings: Path | None,
    markdown: Path | None,
    junit: Path | None,
    text: bool,
) -> None:
    """Print a run's last screen again and build its HTML report from the records, or what else was asked for."""
    from tiebreak.reports.html import write_report
    from tiebreak.reports.one_screen import print_summary
    from tiebreak.reports.records import read_run

    check_apart(output=output, findings=findings, markdown=markdown, junit=junit)
    run = read_run(run_dir)
    if text:
        from tiebreak.reports.summary import print_details

        print_details(run, str(run_dir))
    if not (findings or markdown or junit or text) or output:
        path = output or run_dir / "report.html"
        write_report(path, run, str(run_dir), since(baseline, run), examples_of(run, run_dir, asked))
        print_summary(run, str(run_dir))
        click.echo(f"{path}")
    write_other_reports(run, str(run_dir), findings, markdown, junit)


def examples_of(run: Run, folder: Path, asked: tuple[str, ...]) -> list[Example]:
    """What the page says of the discrepancies that were asked for."""
    if not asked:
        return []
    from tiebreak.conformance.running.asked import asked_examples

    return asked_examples(run, folder, asked)


def since(baseline: Path | None, run: Run) -> News | None:
    """What is new in a run since another one, if there is one to compare with."""
    from tiebreak.reports.first_screen import News

    if baseline is None:
        return None
    from tiebreak.conformance.gate.compare import checked_run, new_findings

    return News(str(baseline), new_findings(checked_run(baseline), run))


def write_other_reports(
    run: Run, folder: str, findings: Path | None, markdown: Path | None, junit: Path | None
) -> None:
    from tiebreak.reports.findings import findings as page
    from tiebreak.reports.junit import write_junit
    from tiebreak.reports.markdown import append_step_summary, markdown_summary
    from tiebreak.reports.records import write_text

    if findings:
        write_text(findings, page(run))
    if markdown:
        text = markdown_summary(run, folder)
        write_text(markdown, text)
        append_step_summary(text)
    if junit:
        write_junit(junit, run, folder)
    for path in (findings, markdown, junit):
        if path:
            click.echo(f"{path}")


@click.command(epilog="Example:  tiebreak operators ngraph.Quantize")
@click.argument("names", type=NAME, nargs=-1)
@JSON
@run_folder("--pages", type=OUTPUT_FOLDER, metavar="DIR", help="Write a Markdown page for each instead.")
@run_folder("--run", "run_dir", metavar="RUN_DIR", help="With what its backends did.")
def operators(names: tuple[str, ...], as_json: bool, pages: Path | None, run_dir: Path | None) -> None:
    """Operators with their attributes, types, sources and clauses; all of them, or those named."""
    if pages is not None and (names or as_json):
        raise InvalidInput("--pages writes a page for every operator: it takes no names and no --json")
    if pages is None and run_dir is not None:
        raise InvalidInput("--run goes with --pages")
    if pages is None:
        from tiebreak.reports.listing import list_operators

        return list_operators(names, as_json=as_json)
    from tiebreak.reports.pages import write_pages
    from tiebreak.reports.records import read_run

    written = write_pages(pages, read_run(run_dir) if run_dir else None)
    click.echo(f"{len(written)} pages in {pages}")


@click.command(epilog="Example:  tiebreak coverage --run tiebreak-run")
@click.option(
    "--run",
    "runs",
    multiple=True,
    type=PATH,
    metavar="RUN_DIR",
    help="Name the backends that ran each clause in this run; repeat for more.",
)
@click.option("--cases", type=WholeNumber(1, 100_000), default=150, show_default=True, help="Generated cases each.")
@JSON
def coverage(runs: tuple[Path, ...], cases: int, as_json: bool) -> None:
    """Every clause of every operator with the vectors and generated cases that check it; 1 if one has none."""
    from tiebreak.conformance import coverage as table

    sys.exit(table.coverage(runs, count=cases, as_json=as_json))


@click.command(epilog="Example:  tiebreak verify lab-cases --backend-name my-npu -o lab-run")
@click.argument("folder", type=PATH)
@click.option("--backend-name", type=NAME, required=True, help="What the report calls the device.")
@click.option("--backend-version", type=NAME, help="Its version. Default: VERSION of NAME@VERSION, else unknown.")
@run_folder("-o", "--output", type=OUTPUT_FOLDER, metavar="RUN_DIR", help="Default: FOLDER/run, where a run stays.")
@DISCARD
@STRICT
@JSON
def verify(folder: Path, backend_name: str, backend_version: str | None, output: Path | None, **how: bool) -> None:
    """Judge the outputs brought back into FOLDER/outputs for cases written by `tiebreak vectors export`."""
    from tiebreak.adapters.environments.named import split_release
    from tiebreak.conformance.offline.verify import verify_job
    from tiebreak.conformance.running.journal import check_unnamed

    run_dir = output or folder / "run"
    if not (output or how["discard"]):
        check_unnamed(run_dir, "to judge elsewhere add -o RUN_DIR")
    version = backend_version or split_release(backend_name)[1] or "unknown"
    sys.exit(verify_job(folder, backend_name, version, run_dir, **how))


@click.command(epilog="Example:  tiebreak repro D000001 --run tiebreak-run > repro.py")
@click.argument("discrepancy", type=ID)
@run_folder(
    "--run", "run_dir", default="tiebreak-run", show_default=True, metavar="RUN_DIR", help="The run it is from."
)
@click.option(
    "-b",
    "--backend",
    "backends",
    multiple=True,
    type=WORDS,
    metavar="BACKEND",
    help="The backend, where it is one of your own; repeat for two that differ.",
)
def repro(discrepancy: str, run_dir: Path, backends: tuple[str, ...]) -> None:
    """Print a standalone script, in the backend's own API, that shows one discrepancy; it exits 1 while that is there.

    DISCREPANCY is an id from discrepancies.parquet, or a cluster's, such as C001, from the run's summary; for a crash,
    a hang or an error the failure's id, such as F001, or the case's. For a call that is answered although it is
    forbidden, or refused although it is valid, it is an id such as A001 or R001. Save that script to a file: it starts
    itself again.
    """
    from tiebreak.conformance.running.repro import reproducer

    click.echo(reproducer(run_dir, discrepancy, *backends), nl=False)


@click.command(epilog="Example:  tiebreak findings tiebreak-run -o reports")
@click.argument("run_dirs", nargs=-1, required=True, type=PATH, metavar="RUN_DIR...")
@click.option(
    "-b", "--backend", "backends", multiple=True, type=WORDS, metavar="BACKEND", help="Only this one; repeat for more."
)
@run_folder("-o", "--output", type=OUTPUT_FOLDER, required=True, metavar="DIR", help="A new or empty folder.")
def findings(run_dirs: tuple[Path, ...], backends: tuple[str, ...], output: Path) -> None:
    """Write findings as reports that one could file: a folder for each library, a Markdown file for each.

    Several runs, each of other operators or other backends, make one folder.

    Each report has the versions, the rule, expected and got with their bits, and a script in the library's own API. It
    says what share of the elements deviates so, and what would mend it. The scripts are cut down on the backends
    themselves, which must be installed.
    """
    from tiebreak.conformance.running.repro import scripts
    from tiebreak.golden.places import check_empty, write_text_aside
    from tiebreak.reports.finding_files import check_different, finding_files
    from tiebreak.reports.of_backends import runs_of_backends
    from tiebreak.reports.records import read_run

    runs = {run_dir: read_run(run_dir) for run_dir in run_dirs}
    kept = runs_of_backends(runs, backends) if backends else runs
    check_different(kept.values())
    check_empty(output)

    def with_scripts() -> Iterator[tuple[Run, Script]]:
        for run_dir, run in kept.items():
            with scripts(run, run_dir) as script:
                yield run, script

    files = finding_files(with_scripts())
    for name, text in sorted(files.items(), reverse=True):  # the front page last but for libraries: all texts are there
        (output / name).parent.mkdir(exist_ok=True)
        write_text_aside(output / name, text)
    click.echo(f"{len(files):,} files in {output}")
