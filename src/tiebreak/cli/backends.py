"""`tiebreak backends`, `tiebreak doctor` and `tiebreak new-backend`: what there is to test, and how to add to it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tiebreak.cli.kinds import NAME, OUTPUT_FOLDER, WORDS, Words
from tiebreak.cli.options import JSON, run_folder
from tiebreak.golden.errors import InvalidInput

NEW_NAME = Words(wanted="name your backend, as in: tiebreak new-backend my-npu")


@click.group(invoke_without_command=True, epilog="Example:  tiebreak backends -b onnxruntime --json")
@click.option(
    "-b", "--backend", "names", type=WORDS, multiple=True, metavar="BACKEND", help="Only this one; repeat for more."
)
@click.option("--ask", "every", is_flag=True, help="Ask all that are installed what they accept: some minutes.")
@JSON
@click.pass_context
def backends(context: click.Context, names: tuple[str, ...], every: bool, as_json: bool) -> None:
    """What is installed, with its version; of those named also the operators and types that they accept when asked."""
    if context.invoked_subcommand is None:
        from tiebreak.conformance.inventory import list_backends

        list_backends(names, every=every and not names, as_json=as_json)


@backends.command(epilog="Example:  tiebreak backends install onnxruntime==1.20.1 --python 3.11")
@click.argument("what", type=NAME, metavar="NAME[@VERSION]")
@click.option("--python", type=WORDS, metavar="3.X", help="The interpreter: a version or a path. Default: this one.")
def install(what: str, python: str | None) -> None:
    """Install a release of a backend's library in an environment of its own; NAME@VERSION names it everywhere.

    NAME==VERSION is the same. The newest release if none is named. nGraph has one only, and `-b ngraph` is enough.
    """
    from tiebreak.adapters.environments.made import install as make

    name, sign, version = with_at(what).partition("@")
    if not name or (sign and not version):
        raise InvalidInput(f"{what}: NAME@VERSION is wanted, such as onnxruntime@1.20.1, or NAME for the newest")
    make(name, version, python or "", click.echo)


@backends.command(epilog="Example:  tiebreak backends uninstall onnxruntime@1.20.1")
@click.argument("name", type=NAME, metavar="NAME@VERSION")
def uninstall(name: str) -> None:
    """Remove what `tiebreak backends install` installed."""
    from tiebreak.adapters.environments.made import uninstall as remove

    name = with_at(name)
    click.echo(f"{name}: {'removed' if remove(name) else 'was not installed'}")


@backends.command(name="list", epilog="Example:  tiebreak backends list --json")
@JSON
def list_environments(as_json: bool) -> None:
    """The installed environments: release, interpreter, size and what each holds."""
    from tiebreak.conformance.inventory_of_environments import list_environments as show

    show(as_json=as_json)


@backends.command(epilog="Example:  tiebreak backends verify")
@click.argument("names", type=NAME, nargs=-1, metavar="[NAME@VERSION]...")
def verify(names: tuple[str, ...]) -> None:
    """Compare environments, or all, with what was installed: versions, missing packages, changed files."""
    from tiebreak.conformance.inventory_of_environments import verify_environments

    sys.exit(verify_environments([with_at(name) for name in names]))


def with_at(name: str) -> str:
    """NAME==VERSION, as pip writes it, as NAME@VERSION."""
    return name.replace("==", "@", 1)


@click.command(epilog="Example:  tiebreak doctor")
@JSON
def doctor(as_json: bool) -> None:
    """What is missing or set in a way that changes results, and what to type."""
    from tiebreak.conformance.inventory import diagnose

    sys.exit(diagnose(as_json=as_json))


@click.command(name="new-backend", epilog="Example:  tiebreak new-backend my-npu --way c")
@click.argument("name", type=NEW_NAME)
@click.option(
    "--way",
    type=click.Choice(["python", "program", "c", "offline"]),
    default="python",
    show_default=True,
    help="A Python object, a program in Python or in C, or a device that no Python reaches.",
)
@run_folder("-o", "--output", "folder", type=OUTPUT_FOLDER, default=".", help="Folder. Default: the current one.")
def new_backend(name: str, way: str, folder: Path) -> None:
    """Write a commented starting file for a backend of your own; never overwrites one."""
    from tiebreak.new_backend import commands
    from tiebreak.new_backend import new_backend as write

    for path in write(name, way, folder):
        click.echo(f"{path}")
    click.echo("\nNext:\n  " + "\n  ".join(commands(name, way, folder)))
