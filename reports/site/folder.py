"""The site's folder: made whole beside the old one, then put in its place. Nobody else's file is ever removed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.files import checked_json
from tiebreak.golden.places import check_output_folder

MARKER = "tiebreak-site.json"
LARGEST_MARKER = 1 << 26  # bytes
SCHEMA = {
    "type": "object",
    "required": ["format", "version", "files"],
    "properties": {
        "format": {"const": "tiebreak-site"},
        "version": {"const": 1},
        "files": {"type": "array", "items": {"type": "string"}},
        "unfinished": {"const": True},
    },
}


def check_site_folder(folder: Path, runs: Path) -> None:
    """Raise InvalidInput unless a site can be put there: there is nothing, or a site with no other files in it.

    The folder may lie among the runs, but not hold them.
    """
    check_output_folder(folder)
    real = Path(os.path.realpath(folder))
    if Path(os.path.realpath(runs)).is_relative_to(real):
        raise InvalidInput(f"{folder}: the runs are in it, and it would be replaced; name another folder")
    if Path.cwd().is_relative_to(real):
        raise InvalidInput(f"{folder}: the current folder would be replaced; go to another one, then type it again")
    try:
        for place in (real, beside(real, "part"), beside(real, "old")):
            check_replaceable(place)
    except OSError as error:
        raise InvalidInput(f"{folder}: can't read: {error.strerror or error}") from None


def check_replaceable(folder: Path) -> None:
    """Raise InvalidInput if the folder has a file that no site's marker names; an unfinished site is all its own."""
    if not os.path.lexists(folder):
        return
    marker = marker_of(folder)
    others = sorted(files_of(folder) - {MARKER, *marker.get("files", ())})
    if folder.is_symlink() or not folder.is_dir() or (others and not is_unfinished(folder, marker)):
        found = others[0] if others else folder.name
        raise InvalidInput(f"{folder}: no site of results: it has {found!a:.200}; move that, or name another folder")
    if not marker and files_of(folder):
        raise InvalidInput(f"{folder}: no site of results: its {MARKER} is damaged; name another folder")


def is_unfinished(folder: Path, marker: dict[str, Any]) -> bool:
    """Whether a build that was killed left the folder."""
    return folder.name.endswith(".part") and bool(marker.get("unfinished"))


def files_of(folder: Path) -> set[str]:
    """Every file in a folder, by its place; links and devices too."""
    return {
        str((Path(root) / name).relative_to(folder))
        for root, folders, names in os.walk(folder, onerror=fail)
        for name in [*names, *(one for one in folders if (Path(root) / one).is_symlink())]
    }


def fail(error: OSError) -> NoReturn:
    raise error


def marker_of(folder: Path) -> dict[str, Any]:
    """The folder's marker; empty if there is none, or a damaged one."""
    if not os.path.lexists(folder / MARKER):
        return {}
    try:
        return checked_json(folder / MARKER, SCHEMA, LARGEST_MARKER, "a site's marker")
    except InvalidInput:
        return {}


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """A new folder to write the site to, which replaces the old one at the end; after an error the old one stays."""
    real = Path(os.path.realpath(folder))
    part, old = beside(real, "part"), beside(real, "old")
    try:
        remove(part)
        part.mkdir(parents=True)
        write_marker(part, {"files": [], "unfinished": True})
        yield part
        write_marker(part, {"files": sorted(files_of(part) - {MARKER})})
        exchange(part, real, old)
    except OSError as error:
        raise InvalidInput(f"{folder}: can't write there: {error.strerror or error}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def exchange(part: Path, real: Path, old: Path) -> None:
    """Put the new folder in the place of the old one, which comes back if that fails."""
    remove(old)
    check_replaceable(real)
    there = real.exists()
    if there:
        real.rename(old)
    try:
        part.rename(real)
    except OSError:
        if there:
            old.rename(real)
        raise
    remove(old)


def beside(folder: Path, what: str) -> Path:
    return folder.with_name(f".{folder.name}.{what}")


def remove(folder: Path) -> None:
    """Remove a folder that was found to be a site's."""
    check_replaceable(folder)
    if folder.exists():
        shutil.rmtree(folder)


def write_marker(folder: Path, more: dict[str, Any]) -> None:
    marker = {"format": "tiebreak-site", "version": 1, **more}
    (folder / MARKER).write_text(json.dumps(marker, indent=1) + "\n", encoding="utf-8")
