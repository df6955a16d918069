"""The rows of a pattern run: what one way of one runtime gave for one setting."""

from __future__ import annotations

from typing import TypedDict


class WitnessRow(TypedDict):
    """One output element. Codes are integers, real numbers text; `alone` says whether it differs without other rows."""

    operands: dict[str, list[str]]
    place: int
    got: str
    unfused: str
    exact: str
    stepwise: str
    alone: bool


class WayRow(TypedDict):
    """`differ` counts output elements unlike those of the unfused graph, of the exact truth, and step by step.

    -1 means that there was nothing to compare with. `exhaustive` says that no combination of codes was left out.
    """

    backend: str
    version: str
    pattern: str
    text: str
    type: str
    reason: str
    pairs: dict[str, list[str]]
    way: str
    settings: str
    graph: list[str]
    status: str
    message: str
    exhaustive: bool
    outputs: int
    differ_unfused: int
    differ_exact: int
    differ_stepwise: int
    stepwise_exact: int
    witness: WitnessRow | None
