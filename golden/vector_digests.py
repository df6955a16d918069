"""Digests of a vector file, which reveal damage when the file is read.

Each vector has its own digest, `check`, over everything in its case, so that changing one vector changes no other line.
The file's `sha256` covers the rest: the head, and the ids of the vectors in order. In version 1 it covered everything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document of version 2 with new digests; earlier ones are replaced."""
    groups = [sealed_group(document["operator"], group) for group in document["groups"]]
    return {**document, "groups": groups, "sha256": digest(document)}


def sealed_group(operator: str, group: Mapping[str, Any]) -> dict[str, Any]:
    checked = zip(group["vectors"], vector_checks(operator, group), strict=True)
    return {**group, "vectors": [{**vector, "check": check} for vector, check in checked]}


def damage(document: Mapping[str, Any]) -> str:
    """What does not match its digest, in words; empty if everything does."""
    if document["sha256"] != digest(document):
        return "its content does not match its sha256"
    return "" if document["version"] == 1 else next(damaged_vectors(document), "")


def damaged_vectors(document: Mapping[str, Any]) -> Iterator[str]:
    for group in document["groups"]:
        for vector, check in zip(group["vectors"], vector_checks(document["operator"], group), strict=True):
            if vector["check"] != check:
                yield f"the vector {vector['id']} does not match its check"


def digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical document, with its vectors' ids instead of the groups. Version 1: of everything."""
    content = {key: value for key, value in document.items() if key != "sha256"}
    if document["version"] != 1:
        content["groups"] = [[vector["id"] for vector in group["vectors"]] for group in document["groups"]]
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def vector_checks(operator: str, group: Mapping[str, Any]) -> Iterator[str]:
    """The `check` of each vector of a group: 16 digits of the SHA-256 of operator, group and vector."""
    shared = hashlib.sha256(canonical([operator, {**group, "vectors": []}]).encode())
    for vector in group["vectors"]:
        own = shared.copy()
        own.update(canonical({key: value for key, value in vector.items() if key != "check"}).encode())
        yield own.hexdigest()[:16]
