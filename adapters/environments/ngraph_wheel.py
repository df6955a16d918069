"""nGraph 0.26.0 in its environment: the two libraries that its interpreter needs, taken from its Python wheel.

The wheel is for CPython 3.7, but the libraries do not depend on Python. pip downloads the wheel from the index that the
user has configured, and checks its hash. What is kept lies in a folder of the environment's packages, with metadata as
if it were installed.
"""

from __future__ import annotations

import base64
import hashlib
import platform
import sys
import tempfile
import zipfile
from pathlib import Path

from tiebreak.adapters.environments.named import Distribution
from tiebreak.adapters.environments.packages import QUIET, output_of, sizes
from tiebreak.adapters.ngraph_libraries import DOWNLOAD, FOLDER, LIBRARIES, VERSION, sha256
from tiebreak.golden.errors import InvalidInput, MachineryFailed

NAME, ABOUT = "ngraph-core", f"ngraph_core-{VERSION}.dist-info"
WHEEL = f"ngraph_core-{VERSION}-cp37-cp37m-manylinux1_x86_64.whl"
SHA256 = "94cbeed3b25f9eb3838d6981cfda322e70417eb7bfe748ac848b72af02a48e5e"
INSIDE = f"ngraph_core-{VERSION}.data/data/"


def check_release(version: str) -> None:
    """Raise InvalidInput for any other release, MachineryFailed unless this platform can load the libraries."""
    if version not in ("", VERSION):
        raise InvalidInput(f"ngraph has no release {version} here, only {VERSION}")
    here = f"{platform.system()} {platform.machine()} {platform.libc_ver()[0]}".strip()
    if here != "Linux x86_64 glibc":
        raise MachineryFailed(f"nGraph {VERSION} exists for x86-64 Linux with glibc only; this is {here}")


def distribution() -> Distribution:
    """What is downloaded, of which a fifth is kept."""
    return Distribution(NAME, VERSION, SHA256, sizes(NAME).get(WHEEL))


def install_into(packages: Path) -> None:
    """Put the libraries and the licences into a folder of an environment's packages.

    Raises MachineryFailed with a one-line reason if pip fails or if the wheel's hash is wrong.
    """
    with tempfile.TemporaryDirectory() as scratch:
        wheel = download(Path(scratch))
        check_hash(wheel)
        with zipfile.ZipFile(wheel) as archive:
            extract(archive, packages)


def download(folder: Path) -> Path:
    """Download the wheel into the folder with pip; return its path."""
    command = [sys.executable, "-m", *DOWNLOAD.split(), "--dest", str(folder), "--quiet", *QUIET]
    output_of(command, f"nGraph {VERSION} could not be downloaded")
    if not (folder / WHEEL).is_file():
        raise MachineryFailed(f"nGraph {VERSION} could not be downloaded: pip left no {WHEEL}")
    return folder / WHEEL


def check_hash(wheel: Path) -> None:
    """Raise MachineryFailed unless the wheel has the pinned hash."""
    found = sha256(wheel)
    if found != SHA256:
        raise MachineryFailed(f"{wheel.name} has SHA-256 {found}, not {SHA256}: nothing was installed")


def extract(archive: zipfile.ZipFile, packages: Path) -> None:
    """Extract the wheel's libraries and licences, all directly into one folder, and its metadata into another."""
    wanted = {f"{INSIDE}lib/{name}" for name in LIBRARIES} | {f"{INSIDE}LICENSE"}
    licences = {name for name in archive.namelist() if name.startswith(f"{INSIDE}licenses/")}
    kept = {f"{FOLDER}/{Path(name).name}": archive.read(name) for name in sorted(wanted | licences)}
    kept[f"{ABOUT}/METADATA"] = archive.read(f"{ABOUT}/METADATA")
    for path, content in kept.items():
        (packages / path).parent.mkdir(exist_ok=True)
        (packages / path).write_bytes(content)
    lines = [f"{path},sha256={digest_of(content)},{len(content)}" for path, content in kept.items()]
    (packages / ABOUT / "RECORD").write_text("\n".join([*lines, f"{ABOUT}/RECORD,,", ""]))


def digest_of(content: bytes) -> str:
    """A hash as a RECORD of PEP 376 has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
