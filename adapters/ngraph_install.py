"""Installs and removes nGraph 0.26.0: the two libraries that its interpreter needs, taken from its Python wheel.

The wheel is for CPython 3.7, but the libraries do not depend on Python. pip downloads the wheel from the index that the
user has configured. The libraries are kept in the user's cache directory.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tiebreak.adapters.environments.reasons import reason
from tiebreak.golden.errors import MachineryFailed

VERSION = "0.26.0"
WHEEL = f"ngraph_core-{VERSION}-cp37-cp37m-manylinux1_x86_64.whl"
SHA256 = "94cbeed3b25f9eb3838d6981cfda322e70417eb7bfe748ac848b72af02a48e5e"
TARGET = "--only-binary=:all: --python-version 3.7 --implementation cp --platform manylinux1_x86_64"
DOWNLOAD = f"pip download --no-deps {TARGET} ngraph-core=={VERSION}"
LIBRARIES = ("libngraph.so", "libinterpreter_backend.so")  # the second needs the first, and both only the system's
INSIDE = f"ngraph_core-{VERSION}.data/data/"


def cache_folder() -> Path:
    """The folder for the libraries, whether or not they are installed."""
    from platformdirs import user_cache_path

    return user_cache_path("tiebreak", appauthor=False) / f"ngraph-{VERSION}"


def installed_folder() -> Path | None:
    """The folder with the libraries and nGraph's licences; None if it is not installed."""
    folder = cache_folder()
    return folder if all((folder / name).is_file() for name in LIBRARIES) else None


def install() -> Path:
    """Download the libraries unless they are installed (93 MB, of which 18 MB are kept); return their folder.

    Raises MachineryFailed with a one-line reason on other platforms, if pip fails, or if the wheel's hash is wrong.
    """
    check_platform()
    if folder := installed_folder():
        return folder
    with tempfile.TemporaryDirectory() as scratch:
        wheel = download(Path(scratch))
        check_hash(wheel)
        try:
            return unpack(wheel, cache_folder())
        except OSError as error:
            raise MachineryFailed(f"nGraph {VERSION} could not be unpacked: {error}") from error


def uninstall() -> bool:
    """Remove what install() left; False if nothing was installed."""
    folder = cache_folder()
    if not folder.exists():
        return False
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise MachineryFailed(f"nGraph {VERSION} could not be removed: {error}") from error
    return True


def check_platform() -> None:
    """Raise MachineryFailed unless this platform can load the libraries."""
    here = f"{platform.system()} {platform.machine()} {platform.libc_ver()[0]}".strip()
    if here != "Linux x86_64 glibc":
        raise MachineryFailed(f"nGraph {VERSION} exists for x86-64 Linux with glibc only; this is {here}")


def download(folder: Path) -> Path:
    """Download the wheel into the folder with pip; return its path."""
    options = ["--dest", str(folder), "--quiet", "--no-input", "--disable-pip-version-check", "--retries", "2"]
    command = [sys.executable, "-m", *DOWNLOAD.split(), *options]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    if done.returncode or not (folder / WHEEL).is_file():
        raise MachineryFailed(f"nGraph {VERSION} could not be downloaded: {reason(done.stderr)}")
    return folder / WHEEL


def check_hash(wheel: Path) -> None:
    """Raise MachineryFailed unless the wheel has the pinned hash."""
    found = sha256(wheel)
    if found != SHA256:
        raise MachineryFailed(f"{wheel.name} has SHA-256 {found}, not {SHA256}: nothing was installed")


def sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def unpack(wheel: Path, folder: Path) -> Path:
    """Extract the needed files into the folder, which appears whole or not at all; return it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        extract(wheel, aside)
        aside.chmod(0o755)
        put(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return folder


def extract(wheel: Path, folder: Path) -> None:
    """Extract the wheel's libraries and licences, all directly into the folder."""
    wanted = {f"{INSIDE}lib/{name}" for name in LIBRARIES} | {f"{INSIDE}LICENSE"}
    with zipfile.ZipFile(wheel) as archive:
        licences = {name for name in archive.namelist() if name.startswith(f"{INSIDE}licenses/")}
        for name in sorted(wanted | licences):
            (folder / Path(name).name).write_bytes(archive.read(name))


def put(aside: Path, folder: Path) -> None:
    """Rename `aside` to `folder`. Replaces a damaged folder, but not a whole one from another process."""
    try:
        aside.rename(folder)
    except OSError:  # there is one
        if installed_folder() is None:
            shutil.rmtree(folder)
            aside.rename(folder)
