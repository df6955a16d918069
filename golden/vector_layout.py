"""The layout of a vector file: JSON with one line for each vector, so that changing one vector changes one line.

A group of one vector is one line. A group of several vectors has a line for each shared input and each vector.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tiebreak.golden.vector_digests import sealed

ONE_ITEM_A_LINE = ("inputs", "vectors")  # members of a group of several vectors with an item per line


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
    """A JSON list with one item per line; its closing bracket is indented by `depth` spaces."""
    margin = "\n" + " " * depth
    return f"[{margin} " + f",{margin} ".join(items) + f"{margin}]"


def head_text(value: Any) -> str:
    """A value of the file's head, with one item per line."""
    return json.dumps(value, indent=1, ensure_ascii=False).replace("\n", "\n ")  # JSON strings contain no bare newline


def json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
