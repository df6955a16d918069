"""How a vector file is laid out: JSON in which a vector is a line, and so are inputs that several vectors share.

A group of one vector is one line. A group of several has a line for each input and each vector. So a change of one
vector is a diff of one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tiebreak.golden.vector_digests import sealed

SPREAD = ("inputs", "vectors")  # of a group of several vectors, what has an item a line


def dump(document: Mapping[str, Any]) -> str:
    """The text of a vector file of version 2: the document with its digests."""
    return "{\n " + ",\n ".join(member(key, value) for key, value in sealed(document).items()) + "\n}\n"


def member(key: str, value: Any) -> str:
    text = listed(map(group_text, value), 1) if key == "groups" else indented(value)
    return f"{line(key)}: {text}"


def group_text(group: Mapping[str, Any]) -> str:
    if len(group["vectors"]) == 1:
        return line(group)
    members = (f"{line(k)}: {listed(map(line, v), 3) if k in SPREAD else line(v)}" for k, v in group.items())
    return "{\n   " + ",\n   ".join(members) + "\n  }"


def listed(items: Iterable[str], depth: int) -> str:
    """A JSON list with an item a line, the bracket that ends it `depth` spaces from the left."""
    margin = "\n" + " " * depth
    return f"[{margin} " + f",{margin} ".join(items) + f"{margin}]"


def indented(value: Any) -> str:
    """A value of the file's head: an item a line."""
    return json.dumps(value, indent=1, ensure_ascii=False).replace("\n", "\n ")  # no text of JSON has a bare newline


def line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
