"""A call that a document excludes, as data; running/forbidden.py tries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

INT8 = {"quantized": "int8"}
S, V2, V3, M22, M24 = (), (2,), (3,), (2, 2), (2, 4)  # shapes: a scalar, vectors, matrices


@dataclass(frozen=True)
class ForbiddenCall:
    """A call that a clause excludes: a valid node, the changes that make it invalid, and the shapes of its inputs.

    `node` are make_node's keywords. `attributes`, `opset`, `kinds` (element types of inputs by position) and `output`
    (the outputs' element type) replace those of the valid node. Inputs are filled with 1, or with the number that
    `values` has for their position.
    """

    clause: str
    what: str
    shapes: tuple[tuple[int, ...], ...]
    node: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    opset: int = 0
    kinds: Mapping[int, str] = field(default_factory=dict)
    output: str = ""
    values: Mapping[int, float] = field(default_factory=dict)
