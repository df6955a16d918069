"""The command that builds a site of results."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import click

from tiebreak.cli.kinds import OUTPUT_FOLDER, PATH, WORDS
from tiebreak.cli.options import run_folder
from tiebreak.golden.errors import InvalidInput


@click.command(epilog="Example:  tiebreak site runs -o site")
@click.argument("runs_dir", type=PATH)
@run_folder(
    "-o", "--output", type=OUTPUT_FOLDER, required=True, metavar="DIR", help="A new folder, or an earlier site's."
)
@click.option(
    "--address", type=WORDS, default=None, metavar="URL", help="Where the site will be, for the links of its feed."
)
@click.option(
    "--history", type=PATH, default=None, metavar="FILE", help="Of `tiebreak history add`: a page of releases."
)
def site(runs_dir: Path, output: Path, address: str | None, history: Path | None) -> None:
    """Build a static site of the run folders in RUNS_DIR: no server, no network.

    It has the matrix of backends, documents and releases, a page for each cause with its history, each run's report,
    any two runs side by side, a search, badges and an Atom feed. The old site stays until the new one is whole.
    """
    from tiebreak.conformance.gate.history_view import history_at
    from tiebreak.golden.untrusted_text import plural
    from tiebreak.reports.site.build import build_site

    releases = None if history is None else history_at(history, by_release=True, backends=(), operators=())
    built = build_site(runs_dir, output, checked_address(address), releases)
    for name, problem in built.skipped:
        click.echo(f"tiebreak: not counted: {ascii(name)[1:-1]}: {problem}", err=True)
    click.echo(f"{output / 'index.html'}: {plural(built.runs, 'run')}, {plural(built.causes, 'cause')}")


def checked_address(address: str | None) -> str:
    """The address with a slash at its end; empty if there is none. InvalidInput unless it is of http or https."""
    if address is None:
        return ""
    try:
        parts = urlsplit(address)
    except ValueError:
        parts = urlsplit("")
    plain = address.isascii() and address.isprintable() and not set(address) & set(" \"'<>#?")
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise InvalidInput(f"--address {address!a:.100}: allowed is an address such as https://example.org/results/")
    return address.rstrip("/") + "/"
