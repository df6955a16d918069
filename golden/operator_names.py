"""The two parts of an operator's id: `com.microsoft.QLinearAdd` is QLinearAdd of com.microsoft."""

from __future__ import annotations


def source_of(operator: str) -> str:
    """Whose document it is; empty if the id has no dot."""
    return operator.rpartition(".")[0]


def short_name(operator: str) -> str:
    """The operator's own name; the whole id if it has no dot."""
    return operator.rpartition(".")[2]
