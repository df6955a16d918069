"""Which backends of a run are configurations of one library, and which of those gave equal bits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from packaging.version import InvalidVersion, Version

LONGEST_RELEASE = 12  # characters


def library_of(backend: Mapping[str, Any]) -> str:
    """The library of a row of run.json's `backends`; older runs tell it by the name alone, up to its first hyphen."""
    name = str(backend["name"])
    if backend.get("spec", name) == name:  # of the user's own code the name may have an @
        name = plain_name(name)
    return str(backend["library"] or name) if "library" in backend else name.partition("-")[0]


def plain_name(backend: str) -> str:
    """A backend's name without the release of its environment."""
    return backend.partition("@")[0] or backend


def libraries_of(info: Mapping[str, Any]) -> dict[str, str]:
    """Each backend's library and version, which its configurations share."""
    return {str(one["name"]): f"{library_of(one)} {one['version']}" for one in info["backends"]}


def equal_configurations(info: Mapping[str, Any], counts: Mapping[str, object]) -> list[list[str]]:
    """The backends in groups: configurations of one library that ran the same cases and gave the same bits.

    `counts` are each backend's verdicts by operator. Every backend is in one group, the first in the order of the run.
    """
    libraries = libraries_of(info)
    differing = {(row["a"], row["b"]) for row in info.get("pairs", []) if row["differ"]}
    compared = {(row["a"], row["b"]) for row in info.get("pairs", [])}

    def equal(a: str, b: str) -> bool:
        same = libraries[a] == libraries[b] and counts.get(a) == counts.get(b)
        return same and (a, b) in compared and (a, b) not in differing

    groups: list[list[str]] = []
    for name in libraries:
        group = next((one for one in groups if all(equal(other, name) for other in one)), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return groups


def folded_name(names: Sequence[str]) -> str:
    """a, a-b and a-c as "a, -b, -c"."""
    first, *others = sorted(names, key=len)
    stem = first.partition("-")[0]
    return ", ".join([first, *(name.removeprefix(stem) or name for name in others)])


def release(version: str) -> str:
    """A version without what follows the numbers, such as a build's name."""
    return re.split(r"[-+]", version)[0][:LONGEST_RELEASE]


def release_order(version: str) -> tuple[bool, Version, str]:
    """What releases are sorted by: PEP 440's order; what is no version of it, with or without a build, comes first."""
    for text in (version, release(version)):
        with suppress(InvalidVersion):
            return True, Version(text), version
    return False, Version("0"), version
