"""Cases that were made once, kept in the user's cache folder: the index of the vectors, and generated cases.

An entry is a file of case_file.py whose head says what it was made from; its name is a digest of that. Whatever is
damaged or made from something else counts as missing. Entries are written aside and renamed, so two processes may
write the same one. A cache that can't be read or written costs time only.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tiebreak.golden.case_file import USABLE, pack, unpack
from tiebreak.golden.errors import DamagedFile
from tiebreak.golden.nodes import Case

SUFFIX = ".cases"
ASIDE = ".part"
MOST_BYTES = 256 << 20  # of all entries together
DAY = 86400.0  # seconds; an entry in use is marked as recent once a day
STALE = 3600.0  # seconds after which an unfinished file is what a killed process left

Key = Mapping[str, Any]


def cache_folder() -> Path | None:
    """Where entries are kept, whether or not the folder exists; None for a user without a home folder."""
    from platformdirs import user_cache_path

    folder = user_cache_path("tiebreak", appauthor=False)
    return folder / "cases" if folder.is_absolute() else None


def read_entry(path: Path, key: Key) -> list[Case] | None:
    """The cases of a file that was made from what `key` says; None if it is missing, damaged or something else."""
    try:
        return unpack(path.read_bytes(), key) if USABLE else None
    except (OSError, DamagedFile):
        return None


class CaseCache:
    """Entries in a folder, by default the user's. `key["of"]` begins an entry's name."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder()

    def path(self, key: Key) -> Path | None:
        digest = hashlib.sha256(json.dumps(dict(key), sort_keys=True).encode()).hexdigest()
        return self.folder / f"{key['of']}-{digest[:32]}{SUFFIX}" if self.folder else None

    def writable_folder(self) -> Path | None:
        """The folder, made if need be; None if nothing can be written there."""
        if self.folder is None or not USABLE:
            return None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                return self.folder
        except OSError:
            return None

    def has(self, key: Key) -> bool:
        """Whether there is an entry; it may still be damaged."""
        path = self.path(key)
        return USABLE and path is not None and path.is_file()

    def get(self, key: Key) -> list[Case] | None:
        """The cases made from what `key` says; None if they must be made."""
        path = self.path(key)
        found = read_entry(path, key) if path else None
        if path and found is not None:
            mark_as_recent(path)
        return found

    def put(self, key: Key, cases: Sequence[Case]) -> bool:
        """Keep the cases; False if that is impossible."""
        path = self.path(key)
        if path is None or not USABLE:
            return False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_renamed(path, pack(cases, key))
        except OSError:
            return False
        return True

    def tidy(self, most: int = MOST_BYTES) -> None:
        """Remove the entries used longest ago until the others take at most `most` bytes."""
        kept = 0
        for path, used, size in sorted(self.entries(), key=lambda entry: entry[1], reverse=True):
            unfinished = path.suffix == ASIDE
            kept += 0 if unfinished else size
            if (unfinished and used < time.time() - STALE) or (not unfinished and kept > most):
                with suppress(OSError):
                    path.unlink()

    def entries(self) -> Iterator[tuple[Path, float, int]]:
        """Every entry and unfinished file, with when it was last used and its bytes."""
        try:
            paths = list(self.folder.iterdir()) if self.folder else []
        except OSError:
            return
        for path in paths:
            if path.suffix in (SUFFIX, ASIDE):
                with suppress(OSError):  # another process may just have removed it
                    known = path.stat()
                    yield path, known.st_mtime, known.st_size


def mark_as_recent(path: Path) -> None:
    with suppress(OSError):
        if path.stat().st_mtime < time.time() - DAY:
            os.utime(path)


def write_renamed(path: Path, data: bytes) -> None:
    """Write a file under a name of its own and rename it. OSError if that is impossible."""
    descriptor, name = tempfile.mkstemp(ASIDE, f".{path.stem[:40]}-", path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:  # also Ctrl-C
        with suppress(OSError):
            os.unlink(name)
        raise
