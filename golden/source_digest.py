"""A digest of Tiebreak's own source files, so that what they made is made again after a change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

SUFFIXES = (".py", ".so", ".pyd")  # compiled kernels count too: states of results come from them


@cache
def source_digest(folders: tuple[Path, ...], suffixes: tuple[str, ...] = SUFFIXES) -> str:
    """SHA-256 of the names and contents of all source files below the folders. A file that can't be read counts so."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in source_files(folder, suffixes):
            digest.update(f"{folder.name}/{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(content_digest(path).encode())
    return digest.hexdigest()


def source_files(folder: Path, suffixes: tuple[str, ...]) -> Iterable[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in suffixes)


def content_digest(path: Path) -> str:
    """SHA-256 of a file's content; empty if it can't be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
