"""The ids of cases that nobody named."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array


def case_id(node: Node, inputs: Sequence[Array]) -> str:
    """An id that depends only on the node and the inputs' shapes and bits."""
    digest = hashlib.sha256(node.key.encode())
    for array in inputs:
        digest.update(repr(array.shape).encode() + array.tobytes())
    return f"generated/{node.operator}/{node.input_type}/{node.output_type}/{digest.hexdigest()[:16]}"
