"""`tiebreak backends list` and `verify`: the environments that are installed, and whether they are as installed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from tiebreak.adapters.environments.made import megabytes, problems_of, size_on_disk
from tiebreak.adapters.environments.named import (
    Environment,
    environment_folders,
    environments_folder,
    read_environment,
)
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.exit_codes import EXIT_CONFORMS, EXIT_FAILED
from tiebreak.golden.untrusted_text import printable
from tiebreak.reports.console import terminal_label

MOST_SHOWN = 10  # problems of an environment


def found() -> list[tuple[str, Environment | MachineryFailed]]:
    """The installed environments by name; for a damaged one, what is wrong with it."""
    every: list[tuple[str, Environment | MachineryFailed]] = []
    for folder in environment_folders():
        try:
            every.append((folder.name, read_environment(folder)))
        except MachineryFailed as error:
            every.append((folder.name, error))
    return every


def list_environments(*, as_json: bool) -> None:
    """Print the environments."""
    every = found()
    if as_json:
        print(json.dumps({"folder": str(environments_folder()), "environments": [as_row(*one) for one in every]}))
        return
    if not every:
        print("no environments; make one: tiebreak backends install onnxruntime==1.20.1")
        return
    table = Table()
    for name in ("environment", "Python", "size", "packages, or what is wrong"):
        table.add_column(name, overflow="fold")
    for name, one in every:
        if isinstance(one, MachineryFailed):
            table.add_row(terminal_label(name), "", "", terminal_label(str(one), 600))
        else:
            packages = ", ".join(f"{package.name} {package.version}" for package in one.distributions)
            size = megabytes(size_on_disk(one))
            table.add_row(terminal_label(name), terminal_label(one.python), size, terminal_label(packages, 1000))
    Console().print(table)
    print(f"in {environments_folder()}")


def as_row(name: str, one: Environment | MachineryFailed) -> dict[str, object]:
    if isinstance(one, MachineryFailed):
        return {"environment": name, "damaged": str(one)}
    packages = [vars(package) for package in one.distributions]
    size = size_on_disk(one)
    return {"environment": name, "python": one.python, "made_with": one.made_with, "bytes": size, "packages": packages}


def verify_environments(names: Sequence[str]) -> int:
    """Print what differs from what was installed; exit code 3 if anything does."""
    every = dict(found())
    if unknown := [name for name in names if name not in every]:
        raise InvalidInput(f"no environment {printable(unknown[0], 80)!r}; installed: {', '.join(every) or 'none'}")
    code = EXIT_CONFORMS
    for name in names or every:
        one = every[name]
        problems = [str(one)] if isinstance(one, MachineryFailed) else list(problems_of(one))
        print(f"{name}: {'; '.join(problems[:MOST_SHOWN]) or 'as installed'}", end="")
        print(f" and {len(problems) - MOST_SHOWN} more" if len(problems) > MOST_SHOWN else "")
        code = EXIT_FAILED if problems else code
    return code
