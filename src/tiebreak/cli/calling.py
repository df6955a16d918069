"""`tiebreak.run`: the command `tiebreak run` for Python programs.

The keywords become the command's words, so that both are checked in the same way and make the same records.
"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tiebreak.cli import running
from tiebreak.golden.errors import InvalidInput

if TYPE_CHECKING:
    from tiebreak.reports.tables import Tables


def run(
    *,
    backends: str | Sequence[str] = (),
    operators: str | Sequence[str] = (),
    attributes: Mapping[str, Any] | None = None,
    type: str | None = None,
    input_type: str | None = None,
    opset: int | None = None,
    cases: str | Sequence[str] = (),
    seed: int | None = None,
    inputs: Mapping[str, Any] | None = None,
    level: str | None = None,
    judge_foreign: bool = False,
    strict: bool = False,
    earlier_run: str | Path | None = None,
    vectors: str | Path | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    in_process: bool = False,
    resume: str | Path | None = None,
    discard: bool = False,
    output: str | Path | None = None,
    scheduler: str | None = None,
    scheduler_workers: int | None = None,
    show: bool = False,
    verbose: bool = False,
) -> Tables:
    """Run vectors and generated cases on backends and judge every element, as `tiebreak run` does.

    Each keyword is an option of the command; one that is left out has the command's default. `backends`, `operators`
    and `cases` take one text or several; `earlier_run` is `--from`.
    A backend is named as on the command line: `onnxruntime`, `module:attribute`, `path/to/file.py:attribute` or
    `exec:COMMAND`; it runs in a process of its own.
    `inputs` maps the name of each input to one typed value: a number, a nested list or array of numbers, or text as on
    the command line, such as "0.5,0x3effffff". `timeout` is in seconds for one case, `memory` in MiB.
    The records and report.html stay in the folder `output`; without it they are in a temporary folder, which is removed
    unless the run was broken off. With `judge_foreign` a deviation from a document that the backend does not claim
    counts as its own; with `strict` results of another order of a document's steps count as deviations. With `show` the
    run prints what the command prints, with `verbose` all of it.

    Returns the run's tables; `exit_code` is what the command would end with: 0, 1, 3 or 4.
    InvalidInput says what is wrong with a keyword; MachineryFailed that a backend could not be started or the run was
    broken off, and how to go on.
    """
    given: dict[str, Any] = {"-b": backends, "--operator": operators, "--attr": attributes, "--type": type}
    given |= {"--input-type": input_type, "--opset": opset, "--case": cases, "--seed": seed, "--input": inputs}
    given |= {"--level": level, "--from": earlier_run, "--vectors": vectors, "--timeout": timeout, "--memory": memory}
    given |= {
        "--judge-foreign": judge_foreign,
        "--strict": strict,
        "--in-process": in_process,
        "--resume": resume,
        "--discard": discard,
        "-o": output,
    }
    given |= {"--scheduler": scheduler, "--scheduler-workers": scheduler_workers, "--verbose": verbose}
    with folder_for(resume if output is None else output) as folder:
        words = [word for option, value in given.items() for word in option_words(option, value)]
        return run_command(words if resume or output else [*words, "-o", str(folder)], folder, show=show)


def run_command(words: Sequence[str], folder: Path, *, show: bool) -> Tables:
    """Run the command with these words; the tables of the run that it leaves in the folder."""
    from tiebreak.reports.tables import load

    try:
        context = running.run.make_context("tiebreak run", list(words))
    except click.UsageError as error:
        raise InvalidInput(error.format_message()) from None
    with context:
        command = shlex.join(["tiebreak", "run", *words])
        running.start_run(context, "tables" if show else "nothing", command)
    return load(folder)


@contextmanager
def folder_for(named: str | Path | None) -> Iterator[Path]:
    """The named folder, or a temporary one, which is kept only if it holds an unfinished run."""
    from tiebreak.conformance.running.journal import has_outcomes

    if named is not None:
        yield Path(named)
        return
    folder = Path(tempfile.mkdtemp(prefix="tiebreak-run-"))
    try:
        yield folder
    finally:
        if not has_outcomes(folder):
            shutil.rmtree(folder, ignore_errors=True)


def option_words(option: str, value: Any) -> Iterable[str]:
    """An option as words: none if it is None or False, else once for each value or each item of a mapping."""
    if value is None or value is False:
        return
    if value is True:
        yield option
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from (option, f"{name}={value_words(item)}")
    else:
        for item in (value,) if isinstance(value, str | Path) or not isinstance(value, Iterable) else value:
            yield from (option, str(item))


def value_words(value: Any) -> str:
    """A value as it would be typed: text unchanged, numbers in decimal, lists, tuples and arrays in brackets."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(value_words, value))}]"
    return str(value)
