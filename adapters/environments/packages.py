"""pip and uv: which releases there are, what one needs, how large that is, and its installation.

pip decides what is installed, so that there is one way with hashes and with the user's own index; uv installs it if it
is there, since it is much quicker. Only wheels are taken: nothing that is downloaded runs while it is installed. One
package has none (WITHOUT_WHEELS).
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from tiebreak.adapters.environments.named import Distribution, interpreter_in
from tiebreak.adapters.environments.reasons import reason
from tiebreak.golden.errors import MachineryFailed

QUIET = ("--no-input", "--disable-pip-version-check", "--retries", "2")
OLDEST_FOR_PIP = (3, 10)  # interpreters for which a current pip installs from outside
INDEX = "https://pypi.org/simple"
SECONDS = 20  # to ask the index for sizes
LARGEST_PAGE = 64 << 20
WITHOUT_WHEELS = ("antlr4-python3-runtime",)  # which ExecuTorch needs through hydra-core
WHEELS = ("--only-binary=:all:", *(f"--no-binary={name}" for name in WITHOUT_WHEELS))


def uv() -> str | None:
    """The uv on the path or in Tiebreak's own environment."""
    return shutil.which("uv") or shutil.which("uv", path=sysconfig.get_path("scripts"))


def pip() -> list[str]:
    """The command that runs pip. MachineryFailed if there is none."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    if (found := uv()) is not None:
        return [found, "tool", "run", "pip"]
    raise MachineryFailed(f"this Python has neither pip nor uv; try {sys.executable} -m ensurepip")


def pip_for(interpreter: Path) -> list[str]:
    """The command that runs pip for another interpreter: for an old one the pip that came with it."""
    if tuple(map(int, version_of(interpreter).split(".")[:2])) >= OLDEST_FOR_PIP:
        return [*pip(), "--python", str(interpreter)]
    own = [str(interpreter), "-m"]
    if subprocess.run([*own, "pip", "--version"], capture_output=True, check=False).returncode:
        output_of([*own, "ensurepip", "--default-pip"], f"pip of {interpreter}")
    return [*own, "pip"]


def remove_own_pip(interpreter: Path) -> None:
    """Remove the pip that came with an old interpreter, if it was used."""
    own = [str(interpreter), "-m", "pip"]
    if not subprocess.run([*own, "--version"], capture_output=True, check=False).returncode:
        output_of([*own, "uninstall", "--yes", "--quiet", "pip", "setuptools"], "pip")


def output_of(command: Sequence[str], what: str) -> str:
    """What a command prints. MachineryFailed, with the reason in one line, if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    except OSError as error:
        raise MachineryFailed(f"{what}: {error}") from None
    if done.returncode:
        raise MachineryFailed(f"{what}: {reason(done.stderr)}")
    return done.stdout


def releases(distribution: str, python: str) -> list[str]:
    """The releases that have a wheel for this version of Python on this machine, the newest first."""
    wheels = ["--only-binary=:all:", "--python-version", python]
    command = [*pip(), "index", "versions", distribution, *wheels, *QUIET]
    return asked_releases(command, distribution) or asked_releases([*command, "--pre"], distribution)


def asked_releases(command: Sequence[str], distribution: str) -> list[str]:
    """The releases that pip tells of. Some projects publish none but those with a suffix such as .dev."""
    try:
        told = output_of(command, distribution)
    except MachineryFailed as error:
        if "no network" in str(error):
            raise
        return []
    found = re.search(r"^Available versions: (.*)$", told, re.MULTILINE)
    return [version.strip() for version in found.group(1).split(",")] if found else []


def make_interpreter(folder: Path, python: str) -> None:
    """Make a virtual environment without packages. `python` is 3.x, a path, or empty for the one that runs."""
    if (found := uv()) is not None:
        base = python or f"{sys.version_info[0]}.{sys.version_info[1]}"
        none = f"no Python {base} is here, and uv fetched none; --python takes a path too"
        output_of([found, "venv", "--no-project", "--quiet", "--python", base, str(folder)], none)
    else:
        base = base_interpreter(python)
        output_of([base, "-m", "venv", "--without-pip", str(folder)], f"a virtual environment of {base}")


def base_interpreter(python: str) -> str:
    """The interpreter with this version or at this path. MachineryFailed if there is none that runs."""
    if not python or python == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return sys.executable
    found = shutil.which(python if os.sep in python else f"python{python}")
    if found is None or subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
        raise MachineryFailed(f"no Python {python} runs here; uv can fetch one (pip install uv), or name a path")
    return found


def version_of(interpreter: Path) -> str:
    return output_of([str(interpreter), "-c", "import platform; print(platform.python_version())"], "Python").strip()


def needed(interpreter: Path, wanted: Iterable[str]) -> list[Distribution]:
    """Everything that some requirements need, with hashes and sizes; nothing is installed."""
    options = ["--dry-run", "--ignore-installed", *WHEELS, "--quiet", "--report", "-", *QUIET]
    told = output_of([*pip_for(interpreter), "install", *options, *wanted], "it can't be installed")
    try:
        return [described(one) for one in json.loads(told)["install"]]
    except (ValueError, KeyError, TypeError) as error:
        raise MachineryFailed(f"pip's report is not as its documentation says: {error!r}") from None


def described(item: dict[str, Any]) -> Distribution:
    """One entry of pip's report."""
    name, version = str(item["metadata"]["name"]), str(item["metadata"]["version"])
    file = item["download_info"]
    digest = str(file["archive_info"]["hashes"]["sha256"])
    return Distribution(canonicalize_name(name), version, digest, size_of(file["url"], name))


def size_of(url: str, name: str) -> int | None:
    """The size of a wheel in bytes, if its file or its index tells."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        try:
            return Path(unquote(parts.path)).stat().st_size
        except OSError:
            return None
    return sizes(canonicalize_name(name)).get(Path(unquote(parts.path)).name)


@lru_cache
def sizes(name: str) -> dict[str, int]:
    """The sizes of a project's files, by name, as the index tells; empty if it does not."""
    index = os.environ.get("PIP_INDEX_URL", INDEX).rstrip("/")
    asked = urllib.request.Request(f"{index}/{name}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    try:
        with urllib.request.urlopen(asked, timeout=SECONDS) as page:
            files = json.loads(page.read(LARGEST_PAGE))["files"]
        return {str(one["filename"]): int(one["size"]) for one in files if isinstance(one.get("size"), int)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def install_all(folder: Path, distributions: Sequence[Distribution]) -> str:
    """Install exactly these distributions in an environment; the name of what did it, with its version."""
    lines = [f"{one.name}=={one.version} --hash=sha256:{one.sha256}\n" for one in distributions]
    pinned = folder / "pinned.txt"
    pinned.write_text("".join(lines))
    exactly = ["--no-deps", "--require-hashes", *WHEELS, "--quiet", "-r", str(pinned)]
    if (found := uv()) is not None:
        tool = [found]
        output_of(
            [found, "pip", "install", "--python", str(interpreter_in(folder)), *exactly, *find_links()],
            "it can't be installed",
        )
    else:
        tool = pip_for(interpreter_in(folder))
        output_of([*tool, "install", *exactly, *QUIET], "it can't be installed")
    return " ".join(output_of([*tool, "--version"], tool[0]).split()[:2])


def find_links() -> list[str]:
    """The folders of wheels that pip's settings name, which uv does not read."""
    told = output_of([*pip(), "config", "list"], "pip's settings")
    found = re.findall(r"find-links='([^']+)'", told)
    return [option for one in dict.fromkeys(found) for option in ("--find-links", one)]
