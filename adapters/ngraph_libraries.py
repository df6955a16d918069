"""Where nGraph 0.26.0's libraries are: two files of its Python wheel, in an environment of their own."""

from __future__ import annotations

import hashlib
import sysconfig
from pathlib import Path

from tiebreak.adapters.environments.named import environment, folder_of
from tiebreak.adapters.registry import ONLY_RELEASE

VERSION = ONLY_RELEASE["ngraph"]
FOLDER = "ngraph_core"
TARGET = "--only-binary=:all: --python-version 3.7 --implementation cp --platform manylinux1_x86_64"
DOWNLOAD = f"pip download --no-deps {TARGET} ngraph-core=={VERSION}"
LIBRARIES = ("libngraph.so", "libinterpreter_backend.so")  # the second needs the first, and both only the system's


def installed_folder() -> Path | None:
    """The folder with the libraries, in the environment that runs or else in nGraph's; None if it is not installed."""
    packages = Path(sysconfig.get_path("purelib"))
    if not (packages / FOLDER).is_dir():
        if not folder_of("ngraph", VERSION).is_dir():
            return None
        packages = environment("ngraph", VERSION).site_packages
    folder = packages / FOLDER
    return folder if all((folder / name).is_file() for name in LIBRARIES) else None


def sha256(file: Path) -> str:
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            found.update(block)
    return found.hexdigest()
