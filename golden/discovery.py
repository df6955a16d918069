"""Registries by discovery: each module of a package declares its own entries, so that no central list is needed.

Works for Python modules and for compiled ones, in a checkout and in an installed wheel.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from tiebreak.golden.errors import MachineryFailed


class Registry(dict[str, Any]):
    """A table's entries by id. MachineryFailed, which says where it belongs, for one that no module declares."""

    def __init__(self, entries: Mapping[str, Any], table: str, package: str) -> None:
        super().__init__(entries)
        self.table, self.package = table, package

    def __missing__(self, key: str) -> Any:
        raise MachineryFailed(
            f"no {self.table}[{key!r}] in {self.package}; CONTRIBUTING.md lists an operator's files, "
            "and a new kernel is there after `pip install -e .`"
        )


def entries_by_module(package: str, path: Iterable[str], name: str) -> dict[str, Any]:
    """The attribute `name` of each module of a package that has one, by module name."""
    modules = {module.name: import_module(f"{package}.{module.name}") for module in pkgutil.iter_modules(path)}
    return {stem: getattr(modules[stem], name) for stem in sorted(modules) if hasattr(modules[stem], name)}


def declared_entries(package: str, path: Iterable[str], table: str) -> dict[str, Any]:
    """The entries of all dictionaries named `table` in a package's modules, as a Registry.

    Raises MachineryFailed if two modules declare the same key: one of them may be what an older build left behind.
    """
    found: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for module, entries in entries_by_module(package, path, table).items():
        for key in entries:
            if key in origin:
                raise MachineryFailed(f"{package}: both {origin[key]} and {module} declare {table}[{key!r}]")
            origin[key] = module
        found |= entries
    return Registry(found, table, package)
