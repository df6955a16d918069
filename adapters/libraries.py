"""The shared libraries that a process has loaded, with checksums: they tell what a certificate is about."""

from __future__ import annotations

import hashlib
import sysconfig
from functools import lru_cache
from pathlib import Path

# Tiebreak's own packages and those that every worker loads.
OURS = ("numpy", "numpy.libs", "ml_dtypes", "psutil", "tiebreak")
OWN = tuple(f"{Path(__file__).resolve().parents[1] / part}/" for part in ("golden", "conformance"))  # of a checkout


def libraries_of(process: int) -> dict[str, str]:
    """SHA-256 digests by file of the shared libraries that the process has mapped, except those of OURS.

    Files in Python's package folders are named relative to them, all others by their whole path. System libraries are
    left out. Empty where the system has no /proc.
    """
    try:
        lines = Path(f"/proc/{process}/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    mapped = {line.split(maxsplit=5)[5] for line in lines if line.count("/") and len(line.split(maxsplit=5)) == 6}
    packages = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    found = {}
    for path in sorted(mapped):
        name = next((path[len(root) + 1 :] for root in packages if path.startswith(f"{root}/")), path)
        if ".so" not in Path(path).name or name.split("/")[0] in OURS or path.startswith(OWN) or is_systems(path):
            continue
        digest = file_digest(path)
        if digest:
            found[name] = digest
    return found


def is_systems(path: str) -> bool:
    """Whether the file belongs to the system or to Python itself, and so not to a backend."""
    own = sysconfig.get_path("stdlib")
    in_packages = any(path.startswith(f"{sysconfig.get_path(kind)}/") for kind in ("purelib", "platlib"))
    return not in_packages and path.startswith((f"{own}/", "/lib", "/usr/lib", str(sysconfig.get_config_var("LIBDIR"))))


@lru_cache(maxsize=512)
def file_digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
