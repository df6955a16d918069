"""The golden vectors from a binary index, which is much quicker to read than their JSON.

A wheel has the index of each JSON file beside it. Elsewhere it is made when first needed and kept in the user's cache.
An index says from which JSON, by content, and by which source files it was made. One that is damaged or says something
else is not used: the JSON is read instead.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from tiebreak.golden.case_cache import SUFFIX, CaseCache, read_entry
from tiebreak.golden.case_file import pack
from tiebreak.golden.nodes import Case
from tiebreak.golden.source_digest import source_digest
from tiebreak.golden.vectorfile import VECTORS, read_cases, vector_paths

GOLDEN = Path(__file__).resolve().parent
FORMAT = 1


def indexed_cases(path: Path) -> list[Case]:
    """What read_cases(path, trusted=True) gives; the arrays are read-only.

    Raises DamagedFile or InvalidInput, which name the file, if there is no index and the JSON can't be read.
    """
    try:
        key = index_key(path)
    except OSError:
        return read_cases(path, trusted=True)  # which says what is wrong
    found = read_entry(path.with_suffix(SUFFIX), key)
    return found if found is not None else cached_cases(path, key)


NODES_EACH = 6  # nodes of one pair of types that a backend must refuse before the pair counts as refused


def plainest_cases(path: Path, most: int) -> list[Case]:
    """At most `most` vectors of an installed file, one per node; fewest attributes, then smallest opset, first."""
    found: dict[str, Case] = {}
    for case in indexed_cases(path):
        if case.size:
            found.setdefault(case.node.key, case)
    return sorted(found.values(), key=lambda case: (len(case.node.attributes), case.node.opset))[:most]


def cached_cases(path: Path, key: dict[str, str | int]) -> list[Case]:
    """The cases of the index in the user's cache, which is made anew if need be."""
    kept = CaseCache()
    found = kept.get(key)
    if found is None:
        found = read_cases(path, trusted=True)
        if index_key(path) == key:  # else the JSON changed meanwhile
            kept.put(key, found)
    return found


def index_key(path: Path) -> dict[str, str | int]:
    """What an index is made from. The JSON is small enough to take the digest of its content every time."""
    return {
        "of": path.stem,
        "format": FORMAT,
        "json": hashlib.sha256(path.read_bytes()).hexdigest(),
        "sources": readers_digest(),
    }


@cache
def readers_digest() -> str:
    """The digest of everything that may decide what read_cases makes of a JSON file."""
    return source_digest((GOLDEN,), (".py",))  # without compiled files: a wheel's index is made before they are


def write_indices(folder: Path = VECTORS) -> int:
    """Write the index of each JSON file beside it, as setup.py does for a wheel; how many there are."""
    paths = vector_paths(folder)
    for path in paths:
        path.with_suffix(SUFFIX).write_bytes(pack(read_cases(path, trusted=True), index_key(path)))
    return len(paths)
