"""The kernels' loops, one file an operator. They share nothing with the terms but the statement of the problem.

A comment such as `# ONQ-F1` names the clause of the operator's document that its line follows.
"""

from __future__ import annotations

from collections.abc import Callable

from tiebreak.golden.discovery import declared_entries
from tiebreak.golden.problem import Array, Elementwise

# By what Elementwise.formula says: (problem, working, mode) to (codes int64, states uint8), flat. A module of this
# package declares its own LOOPS.
LOOPS: dict[str, Callable[[Elementwise, bool, str], tuple[Array, Array]]] = declared_entries(
    __name__, __path__, "LOOPS"
)
