"""Tiebreak: a conformance suite and differential verifier for tensor quantization operators.

Names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiebreak.version import __version__

if TYPE_CHECKING:
    from tiebreak.adapters.program import serve
    from tiebreak.adapters.protocol import Backend
    from tiebreak.cli.calling import run
    from tiebreak.conformance.cases.generators import cases, nodes
    from tiebreak.conformance.pytest_plugin.assertions import assert_conforms, verdicts
    from tiebreak.golden.errors import DamagedFile, InvalidInput, MachineryFailed, TiebreakError, Unsupported
    from tiebreak.golden.make_node import make_node
    from tiebreak.golden.nodes import Case, Expected, Node, TensorType
    from tiebreak.golden.operators import OPERATORS, get_operator
    from tiebreak.golden.operators.model import Operator
    from tiebreak.reports.tables import Tables, load

PUBLIC = {
    "Backend": "tiebreak.adapters.protocol",
    "Case": "tiebreak.golden.nodes",
    "DamagedFile": "tiebreak.golden.errors",
    "Expected": "tiebreak.golden.nodes",
    "InvalidInput": "tiebreak.golden.errors",
    "MachineryFailed": "tiebreak.golden.errors",
    "Node": "tiebreak.golden.nodes",
    "OPERATORS": "tiebreak.golden.operators",
    "Operator": "tiebreak.golden.operators.model",
    "Tables": "tiebreak.reports.tables",
    "TensorType": "tiebreak.golden.nodes",
    "TiebreakError": "tiebreak.golden.errors",
    "Unsupported": "tiebreak.golden.errors",
    "assert_conforms": "tiebreak.conformance.pytest_plugin.assertions",
    "cases": "tiebreak.conformance.cases.generators",
    "get_operator": "tiebreak.golden.operators",
    "load": "tiebreak.reports.tables",
    "make_node": "tiebreak.golden.make_node",
    "nodes": "tiebreak.conformance.cases.generators",
    "run": "tiebreak.cli.calling",
    "serve": "tiebreak.adapters.program",
    "verdicts": "tiebreak.conformance.pytest_plugin.assertions",
}

__all__ = [
    "OPERATORS",
    "Backend",
    "Case",
    "DamagedFile",
    "Expected",
    "InvalidInput",
    "MachineryFailed",
    "Node",
    "Operator",
    "Tables",
    "TensorType",
    "TiebreakError",
    "Unsupported",
    "__version__",
    "assert_conforms",
    "cases",
    "get_operator",
    "load",
    "make_node",
    "nodes",
    "run",
    "serve",
    "verdicts",
]


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'tiebreak' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(PUBLIC[name]), name)
