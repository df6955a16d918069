"""The newest releases of runtimes that a history does not have yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tiebreak.adapters.environments import packages
from tiebreak.adapters.registry import library_of, registered, requirements_of
from tiebreak.conformance.gate.history_file import known_releases
from tiebreak.golden.errors import InvalidInput


def missing_releases(path: Path, backends: Sequence[str], python: str = "") -> dict[str, list[dict[str, Any]]]:
    """By `missing` the newest release of each backend's library that the history lacks; by `unknown` those without any.

    Without a name, every library is asked for by its own backend. InvalidInput for a backend that has no library to
    install, MachineryFailed without a network.
    """
    here = packages.version_of(Path(packages.base_interpreter(python)))
    known, newest = known_releases(path), dict[str, str]()
    found: dict[str, list[dict[str, Any]]] = {"missing": [], "unknown": []}
    for backend in backends or every_library():
        library = library_of(backend)
        if library not in newest:
            newest[library] = newest_release(library, here)
        row = {"backend": backend, "library": library, "release": newest[library]}
        if not newest[library]:
            found["unknown"].append(row)
        elif (backend, newest[library]) not in known:
            found["missing"].append(row)
    return found


def every_library() -> Iterator[str]:
    """A backend of each library that can be installed: the one with the library's name, or else the first."""
    found: dict[str, str] = {}
    for name in registered():
        with suppress(InvalidInput):  # it has no releases
            library = library_of(name)
            if requirements_of(library) and (name == library or library not in found):
                found[library] = name
    yield from found.values()


def newest_release(library: str, python: str) -> str:
    """The newest release of a library that installs here; empty if there is none."""
    wanted = requirements_of(library)
    found = packages.releases(wanted[0].name, python) if wanted else []
    return found[0] if found else ""
