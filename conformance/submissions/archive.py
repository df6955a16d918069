"""The archive of a submission: a zip with known names and bounded sizes, the same bytes for the same members.

An archive comes from elsewhere. Nothing in it names a place: only known names are read, each into a new folder, and no
more bytes than allowed, whatever the archive says of itself.
"""

from __future__ import annotations

import hashlib
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.files import check_plain
from tiebreak.golden.places import RECORDS
from tiebreak.reports.records import write_aside

MANIFEST, ENVIRONMENT, CERTIFICATES = "manifest.json", "environment.json", "certificates"
NEEDED = (MANIFEST, ENVIRONMENT, *RECORDS)
CERTIFICATE = re.compile(rf"{CERTIFICATES}/[A-Za-z0-9][A-Za-z0-9._@+-]{{0,99}}\.json")
MOST_CERTIFICATES = 100
LARGEST_ARCHIVE = 1 << 30  # bytes
LARGEST = {".json": 256 << 20, ".parquet": 1 << 30}  # bytes of a member, unpacked
LARGEST_CERTIFICATE = 64 << 20
MOST_BYTES = 2 << 30  # of all members, unpacked
PIECE = 1 << 20
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip can tell
UNIX, PLAIN = 3, 0o644
DAMAGES = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError, EOFError)


def write_archive(path: Path, members: Mapping[str, Path]) -> None:
    """Write the files under these names, sorted, aside and then renamed. InvalidInput if one is too large."""
    for name, source in members.items():
        if source.stat().st_size > largest(name):
            raise InvalidInput(f"{source}: larger than the {largest(name) >> 20:,} MiB that a submission holds")

    def write(aside: Path) -> None:
        with zipfile.ZipFile(aside, "w") as archive:
            for name in sorted(members):
                with members[name].open("rb") as source, archive.open(entry(name), "w") as target:
                    copy(source, target)

    write_aside(path, write)


def entry(name: str) -> zipfile.ZipInfo:
    """A member's head: nothing in it depends on the time, the user or the system."""
    found = zipfile.ZipInfo(name, LONG_AGO)
    found.compress_type, found.create_system = zipfile.ZIP_DEFLATED, UNIX
    found.external_attr = (stat.S_IFREG | PLAIN) << 16
    return found


def unpack(path: Path, folder: Path) -> dict[str, str]:
    """Write the members into the folder, which is empty; the SHA-256 of each by name.

    DamagedFile for an archive with any other member, a link, a name twice, too many bytes or damage.
    """
    try:
        with opened(path) as archive:
            check_entries(path, archive.infolist())
            return {one.filename: extract(archive, one, folder / one.filename) for one in archive.infolist()}
    except DAMAGES as error:
        raise DamagedFile(f"{path}: no submission: a damaged zip ({' '.join(str(error).split())[:120]})") from None


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        check_plain(path)
        if path.stat().st_size > LARGEST_ARCHIVE:
            raise DamagedFile(f"{path}: no submission: larger than {LARGEST_ARCHIVE >> 20:,} MiB")
        with zipfile.ZipFile(path) as archive:
            yield archive
    except OSError as error:
        raise InvalidInput(f"{path}: can't read: {error.strerror or error}") from None


def check_entries(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    """Raise DamagedFile for the first member that no submission has. Only what the archive says of itself is read."""
    seen: set[str] = set()
    for one in entries:
        problem = problem_of(one, seen)
        if problem:
            raise DamagedFile(f"{path}: no submission: its member {one.filename!a:.100} {problem}")
        seen.add(one.filename)
    for name in NEEDED:
        if name not in seen:
            raise DamagedFile(f"{path}: no submission: it has no {name}")
    if len(seen) > len(NEEDED) + MOST_CERTIFICATES:
        raise DamagedFile(f"{path}: no submission: more than {MOST_CERTIFICATES} certificates")
    if sum(one.file_size for one in entries) > MOST_BYTES:
        raise DamagedFile(f"{path}: no submission: its members have more than {MOST_BYTES >> 20:,} MiB")


def problem_of(one: zipfile.ZipInfo, seen: set[str]) -> str:
    """Why a member is none of a submission; empty if it is one."""
    kind = stat.S_IFMT(one.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "is a link" if kind == stat.S_IFLNK else "is no plain file"
    if one.filename in seen:
        return "is there twice"
    if one.filename not in NEEDED and not CERTIFICATE.fullmatch(one.filename):
        return "is none that a submission has"
    if one.flag_bits & 1:
        return "is encrypted"
    if one.file_size > largest(one.filename):
        return f"has {one.file_size:,} bytes; at most {largest(one.filename):,} are allowed"
    return ""


def largest(name: str) -> int:
    return LARGEST_CERTIFICATE if name.startswith(CERTIFICATES) else LARGEST[Path(name).suffix]


def extract(archive: zipfile.ZipFile, one: zipfile.ZipInfo, target: Path) -> str:
    """Write one member and return its SHA-256. A zip's reader stops at the size that the archive tells."""
    target.parent.mkdir(exist_ok=True)
    with archive.open(one) as source, target.open("xb") as file:
        return copy(source, file)


def copy(source: IO[bytes], target: IO[bytes]) -> str:
    """Copy everything, a piece at a time; its SHA-256."""
    digest = hashlib.sha256()
    while piece := source.read(PIECE):
        digest.update(piece)
        target.write(piece)
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
