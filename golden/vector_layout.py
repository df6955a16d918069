"""How a vector file is laid out: JSON in which a vector is a line, and so are inputs that several vectors share.

A group of one vector is one line. A group of several has a line for each input and each vector. So a change of one
vector is a diff of one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tiebreak.golden.vector_digests import sealed

ONE_ITEM_A_LINE = ("inputs", "vectors")  # of a group of several vectors, what has an item a line


def dump(document: Mapping[str, Any]) -> str:
    """The text of a vector file of version 2: the document with its digests."""
    return "{\n " + ",\n ".join(member(key, value) for key, value in sealed(document).items()) + "\n}\n"


def member(key: str, value: Any) -> str:
    text = list_text(map(group_text, value), 1) if key == "groups" else head_text(value)
    return f"{json_line(key)}: {text}"


def group_text(group: Mapping[str, Any]) -> str:
    if len(group["vectors"]) == 1:
        return json_line(group)
    members = (
        f"{json_line(k)}: {list_text(map(json_line, v), 3) if k in ONE_ITEM_A_LINE else json_line(v)}"
        for k, v in group.items()
    )
    return "{\n   " + ",\n   ".join(members) + "\n  }"


def list_text(items: Iterable[str], depth: int) -> str:
    """A JSON list with an item a line, the bracket that ends it `depth` spaces from the left."""
    margin = "\n" + " " * depth
    return f"[{margin} " + f",{margin} ".join(items) + f"{margin}]"


def head_text(value: Any) -> str:
    """A value of the file's head: an item a line."""
    return json.dumps(value, indent=1, ensure_ascii=False).replace("\n", "\n ")  # no text of JSON has a bare newline


def json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
