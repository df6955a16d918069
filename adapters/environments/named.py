"""What a spec says of a release, and the environments that are installed, from their records.

`NAME@VERSION` is the backend NAME in the environment with that release of its library. An environment is a folder with
a virtual environment and a record, environment.json, of every distribution in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tiebreak.golden.errors import MachineryFailed

FORMAT = 1
RECORD = "environment.json"
RELEASE = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,60}")
LARGEST_RECORD = 1 << 20
NAMED = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}@[0-9][0-9A-Za-z.+!-]{0,60}")  # folders that are environments


@dataclass(frozen=True)
class Distribution:
    """One package in an environment; `sha256` is that of the file that it was installed from."""

    name: str
    version: str
    sha256: str
    size: int | None = None  # of that file, in bytes


@dataclass(frozen=True)
class Environment:
    """An installed environment. `library` is the extra of Tiebreak that names the library, `python` a version."""

    library: str
    version: str
    python: str
    made_with: str
    distributions: tuple[Distribution, ...]
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.library}@{self.version}"

    @property
    def interpreter(self) -> Path:
        return interpreter_in(self.folder)

    @property
    def site_packages(self) -> Path:
        return site_packages_in(self.folder, self.python)

    def summary(self) -> str:
        """The interpreter and the distributions, in one line."""
        packages = (f"{one.name} {one.version}" for one in self.distributions)
        return ", ".join([f"Python {self.python}", *packages])


def interpreter_in(folder: Path) -> Path:
    return folder / "bin" / "python"


def site_packages_in(folder: Path, python: str) -> Path:
    """The folder of packages of an environment with this version of Python."""
    minor = ".".join(python.split(".")[:2])
    return folder / "lib" / f"python{minor}" / "site-packages"


def split_release(spec: str) -> tuple[str, str]:
    """The backend that a spec names and the release; the release is empty for Tiebreak's own environment."""
    name, at, version = spec.partition("@")
    return (name, version) if at and ":" not in spec and "/" not in spec else (spec, "")


def environments_folder() -> Path:
    """The folder of all environments, in the user's data folder; it need not be there."""
    from platformdirs import user_data_path  # a worker never needs it

    return user_data_path("tiebreak", appauthor=False) / "environments"


def folder_of(library: str, version: str) -> Path:
    return environments_folder() / f"{library}@{version}"


def environment(library: str, version: str) -> Environment:
    """The environment with a release of a library. MachineryFailed, with what to type, if it is missing or damaged."""
    folder = folder_of(library, version)
    if not folder.is_dir():
        raise MachineryFailed(not_installed(library, version))
    return read_environment(folder)


def not_installed(library: str, version: str) -> str:
    others = ", ".join(folder.name for folder in environment_folders() if folder.name.startswith(f"{library}@"))
    there = f"; installed: {others}" if others else ""
    return f"{library} {version} is not installed{there}: {install_line(library, version)}"


def install_line(library: str, version: str) -> str:
    """What to type to install a release."""
    return f"tiebreak backends install {library}=={version}"


def environment_folders() -> Iterator[Path]:
    """The folders of installed environments, in order; one that is being made has another name."""
    try:
        entries = sorted(environments_folder().iterdir())
    except OSError:
        return
    yield from (entry for entry in entries if NAMED.fullmatch(entry.name) and entry.is_dir())


def newest_environment(library: str) -> str:
    """The newest release of a library that is installed in an environment; empty if there is none."""
    from packaging.version import Version  # a worker never needs it

    found = [folder.name.partition("@")[2] for folder in environment_folders() if folder.name.startswith(f"{library}@")]
    return max(found, key=Version, default="")


def read_environment(folder: Path) -> Environment:
    """The environment in a folder. MachineryFailed if its record or its interpreter is damaged."""
    try:
        with (folder / RECORD).open("rb") as stream:
            found = parsed(json.loads(stream.read(LARGEST_RECORD)), folder)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(folder, f"{RECORD}: {type(error).__name__} {error}") from None
    if found.name != folder.name:
        raise damaged(folder, f"{RECORD} is about {found.name}")
    if not found.interpreter.exists():
        raise damaged(folder, f"no interpreter {found.interpreter}")
    return found


def damaged(folder: Path, why: str) -> MachineryFailed:
    name, _, version = folder.name.partition("@")
    again = f"tiebreak backends uninstall {folder.name}, then {install_line(name, version)}"
    return MachineryFailed(f"environment {folder.name} is damaged ({why[:300]}): {again}")


def parsed(record: dict[str, Any], folder: Path) -> Environment:
    """The environment of a record. ValueError, KeyError or TypeError if it is not one."""
    if record["format"] != FORMAT:
        raise ValueError(f"format {record['format']!r}, not {FORMAT}")
    texts = {key: str(record[key]) for key in ("library", "version", "python", "made_with")}
    if not re.fullmatch(r"\d+\.\d+\.\d+\S{0,20}", texts["python"]):
        raise ValueError(f"python {texts['python'][:40]!r}")
    distributions = tuple(
        Distribution(str(one["name"]), str(one["version"]), str(one["sha256"]), one.get("size"))
        for one in record["distributions"]
    )
    return Environment(**texts, distributions=distributions, folder=folder)


def record_of(environment: Environment) -> str:
    """The text of an environment's record."""
    found = {"format": FORMAT, **asdict(environment)}
    del found["folder"]
    return json.dumps(found, indent=1) + "\n"
