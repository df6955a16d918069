"""Where a command may write: only to plain files, existing or new, and never over the records of a run."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tiebreak.golden.errors import InvalidInput

RECORDS = ("run.json", "results.parquet", "discrepancies.parquet", "cases.parquet", "outputs.parquet")
UNFINISHED = "unfinished"  # the subfolder of a run folder with an unfinished run's state
FIRST = 200  # bytes of run.json, which begins with its format
SHOWN = 60  # characters of a file's name that the name of its unfinished file repeats


def check_output(path: Path) -> None:
    """Raise InvalidInput unless a file can be written at the path: no run's record, folder or device."""
    check_outside_runs(path)
    if path.is_dir() or path.name in ("", ".."):
        raise InvalidInput(f"{path}: can't write: it is a folder; name a file")
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{path}: can't write: it is no plain file, and would be replaced by one; name another")
    if not path.parent.is_dir():
        raise InvalidInput(f"{path}: can't write: there is no folder {path.parent}")


def check_output_folder(folder: Path) -> None:
    """Raise InvalidInput if the path can't be an output folder: it is a file, or part of an unfinished run."""
    check_outside_runs(folder)
    there = next(place for place in (folder, *folder.absolute().parents) if os.path.lexists(place))
    if not there.is_dir():
        raise InvalidInput(f"output folder {folder}: can't write there: {there} is no folder")


def check_writable(folder: Path) -> None:
    """Make an output folder. Raises InvalidInput, before any work is done, if it can't be made or written to."""
    check_output_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidInput(f"output folder {folder}: can't write there: {error.strerror or error}") from None


def check_replaceable(folder: Path, what: str, is_earlier: Callable[[Path], bool]) -> None:
    """Make an output folder. What it has must be an earlier output of the same kind, which `what` names.

    Raises InvalidInput, before any work is done, if it has other files, or can't be made or written to.
    """
    check_earlier(folder, what, is_earlier)
    check_writable(folder)


def check_empty(folder: Path) -> None:
    """Make an output folder. Raises InvalidInput if it is not empty, or can't be made or written to."""
    check_earlier(folder, "", lambda _: False)
    check_writable(folder)


def check_earlier(folder: Path, what: str, is_earlier: Callable[[Path], bool]) -> None:
    """Raise InvalidInput if the folder has files and is no earlier output of the kind that `what` names."""
    check_output_folder(folder)
    try:
        first = min((path.name for path in folder.iterdir()), default="") if folder.exists() else ""
        if first and not is_earlier(folder):
            earlier = f" and no earlier {what}" if what else ""
            found = f"not empty: it has {first!a:.80}{earlier}"
            raise InvalidInput(f"output folder {folder}: {found}; name a new or empty folder")
    except OSError as error:
        raise InvalidInput(f"output folder {folder}: can't read: {error.strerror or error}") from None


def check_outside_runs(path: Path) -> None:
    """Raise InvalidInput for a path that would overwrite a run's records, through links too."""
    for place in spellings(path):
        for folder in filter(is_run_folder, place.parents):
            if place.is_relative_to(folder / UNFINISHED) or is_record(place, folder):
                raise InvalidInput(f"{path}: a record of the run in {folder}, which stays as it is; name another place")


def spellings(path: Path) -> Iterator[Path]:
    """The path in its real folder, and the path to which it links."""
    yield Path(os.path.realpath(path.parent)) / path.name
    yield Path(os.path.realpath(path))


def is_run_folder(folder: Path) -> bool:
    return any(os.path.lexists(folder / name) for name in (RECORDS[0], f"{UNFINISHED}/plan.json", f"{UNFINISHED}/lock"))


def holds_run(folder: Path) -> bool:
    """Whether the folder has a run of Tiebreak's, finished or not: another program may write a run.json, too."""
    info = folder / RECORDS[0]
    if not os.path.lexists(info):
        return is_run_folder(folder)
    with info.open("rb") if info.is_file() else io.BytesIO() as file:
        return b'"tiebreak-run"' in file.read(FIRST)


def is_record(place: Path, folder: Path) -> bool:
    """Whether the path is one of the folder's records, also on file systems that ignore case."""
    if place.parent != folder:
        return False
    return place.name in RECORDS or (place.exists() and any(is_same_file(place, folder / name) for name in RECORDS))


def is_same_file(one: Path, other: Path) -> bool:
    return other.exists() and one.samefile(other)


def unfinished_path(path: Path) -> Path:
    """The path at which a file is written before it is renamed to `path`. Absolute, since pandas expands ~."""
    return path.absolute().with_name(f".{path.name[:SHOWN]}.part")


def write_text_aside(path: Path, text: str) -> None:
    """As write_bytes_aside, a text in UTF-8 whose lines end as they are."""
    write_bytes_aside(path, text.encode())


def write_bytes_aside(path: Path, content: bytes) -> None:
    """Write a file beside `path` and rename it, so that no half-written file is ever seen."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_output(path)
        aside = unfinished_path(path)
        aside.write_bytes(content)
        aside.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path}: can't write: {error.strerror or error}") from None
