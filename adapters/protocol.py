"""What a backend is: a name, a version and `compile(node)`. Structural, so nothing needs to be inherited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# A compiled node: inputs in the spec's order, an absent optional one left off; a tuple of outputs.
# May raise Unsupported for inputs that it cannot take.
Run = Callable[..., tuple[Array, ...]]


@runtime_checkable
class Backend(Protocol):
    """A real implementation under test.

    Optional attributes:

    `operators`: the ids that it claims to implement (absent: all).
    `takes_constants`: true if compile() builds `node.constants` in; without it no such node reaches it.
    `always_constant`: ids of operators whose parameters it builds in even where the node has no constants.
    `attest()`: a mapping of text to text that says what really ran (library file, provider, instruction set, settings);
    it depends on which nodes were compiled in this process, and on nothing else that happened.
    `reproducer(node, inputs)`: Python lines, without Tiebreak, that assign `outputs` and `library`; see reproducer.py.
    """

    name: str
    version: str

    def compile(self, node: Node) -> Run:
        """A callable for this node; raises Unsupported("reason") for what the backend cannot do."""
        ...
