"""The protocol of a backend: a name, a version and `compile(node)`. It is structural: no base class is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

# A compiled node. It takes the inputs in the spec's order, without an absent optional one, and returns a tuple of
# outputs. It may raise Unsupported for inputs that it can't take.
Run = Callable[..., tuple[Array, ...]]


@runtime_checkable
class Backend(Protocol):
    """An implementation under test.

    Optional attributes:

    `operators`: the ids of the operators that it claims to implement; absent means all.
    `claims`: for such an operator, the document and version that it says it implements, as text.
    `maps`: for an operator that it does not claim but can be asked, why an operation of its own is the same. What
    deviates there is a conversion hazard, not an error of the backend.
    `configuration_of`: the name that all configurations of one library share.
    `takes_constants`: true if compile() builds `node.constants` in. Otherwise it never gets a node with constants.
    `always_constant`: the ids of operators whose parameters it builds in even if the node has no constants.
    `attest()`: a mapping of text to text that says what really ran: library file, provider, instruction set, settings.
    It may depend on the nodes that were compiled in this process, and on nothing else that happened.
    `reproducer(node, inputs)`: Python lines, without Tiebreak, that assign `outputs` and `library`; see reproducer.py.
    """

    name: str
    version: str

    def compile(self, node: Node) -> Run:
        """A callable for this node. Raises Unsupported("reason") for what the backend can't do."""
        ...
