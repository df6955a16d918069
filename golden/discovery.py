"""Registries by discovery: each module of a package declares its own entries, and no central list names them.

Works for Python modules and for compiled ones, in a checkout and in an installed wheel.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from typing import Any


def records(package: str, path: Iterable[str], name: str) -> dict[str, Any]:
    """What each module of a package has under `name`, by the module's own name; a module without one adds none."""
    modules = {module.name: import_module(f"{package}.{module.name}") for module in pkgutil.iter_modules(path)}
    return {stem: getattr(modules[stem], name) for stem in sorted(modules) if hasattr(modules[stem], name)}
