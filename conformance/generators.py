"""Hypothesis strategies for nodes and cases, under their public name; see cases/generators.py."""

from tiebreak.conformance.cases.generators import cases, nodes

__all__ = ["cases", "nodes"]
