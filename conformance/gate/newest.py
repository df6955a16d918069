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


def missing_releases(
    path: Path, backends: Sequence[str], python: str = "", most: int = 1
) -> dict[str, list[dict[str, Any]]]:
    """By `missing` what the history lacks of each library's newest releases; by `unknown` libraries without any.

    `most` is how many releases of each library are wanted: the newest of all come first, then those before them.
    Without a name, every library is asked for by its own backend. InvalidInput for a backend that has no library to
    install, MachineryFailed without a network.
    """
    here = packages.version_of(Path(packages.base_interpreter(python)))
    known, released = known_releases(path), dict[str, list[str]]()
    named = [(backend, library_of(backend)) for backend in backends or every_library()]
    for _, library in named:
        if library not in released:
            released[library] = newest_releases(library, here, most)
    found: dict[str, list[dict[str, Any]]] = {"missing": [], "unknown": []}
    for age in range(most):
        for backend, library in named:
            release = next(iter(released[library][age:]), "")
            row = {"backend": backend, "library": library, "release": release}
            if release and (backend, release) not in known:
                found["missing"].append(row)
            elif not released[library] and age == 0:
                found["unknown"].append(row)
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


def newest_releases(library: str, python: str, most: int) -> list[str]:
    """The newest releases of a library that install here, the newest first."""
    wanted = requirements_of(library)
    return packages.releases(wanted[0].name, python)[:most] if wanted else []
