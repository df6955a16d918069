"""Finds backends: installed ones by entry point, a user's own as module:attribute or path/to/file.py:attribute."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from tiebreak.adapters.protocol import Backend
from tiebreak.golden.errors import InvalidInput

GROUP = "tiebreak.backends"


def registered() -> dict[str, EntryPoint]:
    """Entry points of the group, by name, without loading any."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def check_spec(spec: str) -> str:
    """The spec, if it names something that can be looked for; else InvalidInput with the known names."""
    if spec in registered():
        return spec
    place, colon, attribute = spec.rpartition(":")
    if spec.endswith(".py") and Path(spec).is_file():
        raise InvalidInput(f"backend {spec!r}: name the attribute in it too, as {spec}:attribute")
    if not colon or not place or not attribute:
        known = ", ".join(registered())
        raise InvalidInput(
            f"unknown backend {spec!r}; known: {known}; or your own as module:attribute or path/to/file.py:attribute"
        )
    if place.endswith(".py") and not Path(place).is_file():
        raise InvalidInput(f"backend {spec!r}: no file {place}")
    return spec


def load(spec: str) -> Backend:
    """The backend object that a spec names; a class or function is called without arguments.

    Raises InvalidInput for a missing module, attribute or method; whatever the user's code raises goes through.
    """
    point = registered().get(spec)
    found = point.load() if point else load_attribute(*spec.rsplit(":", 1))
    is_instance = hasattr(found, "compile") and not isinstance(found, type)
    backend = found if is_instance or not callable(found) else found()
    missing = [name for name in ("name", "version", "compile") if not hasattr(backend, name)]
    if missing:
        raise InvalidInput(f"backend {spec!r} has no {', '.join(missing)}; it needs name, version and compile(node)")
    return backend  # type: ignore[no-any-return]


def load_attribute(place: str, attribute: str) -> Any:
    module = load_file(Path(place)) if place.endswith(".py") else load_module(place)
    if not hasattr(module, attribute):
        public = ", ".join(name for name in vars(module) if not name.startswith("_"))
        raise InvalidInput(f"backend {place}:{attribute}: no {attribute!r} there; it has: {public[:300]}")
    return getattr(module, attribute)


def load_module(name: str) -> Any:
    sys.path.insert(0, str(Path.cwd()))
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        raise InvalidInput(f"no module {name!r} to load a backend from")
    return importlib.import_module(name)


def load_file(path: Path) -> Any:
    """The module in a file, whose folder is importable to it as for a script."""
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidInput(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
