"""What a decision leaves: a verdict, what it rests on, and where the sides differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PROVED, REFUTED, UNKNOWN = "PROVED", "REFUTED", "UNKNOWN"


@dataclass(frozen=True)
class WrittenCounterexample:
    """Operands, scales and zero points with which the sides differ, as text that reads back exactly."""

    operands: Mapping[str, str]
    scales: Mapping[str, str]
    zero_points: Mapping[str, int]
    left: str
    right: str

    def __str__(self) -> str:
        given = {**self.operands, **self.scales}
        given |= {f"zero point of {name}": str(zero) for name, zero in self.zero_points.items()}
        return ", ".join(f"{name} = {value}" for name, value in given.items())


@dataclass(frozen=True)
class Reasoning:
    """One step: why left = right, from the numbered steps before it. `evidence` is what its rule tried."""

    rule: str
    left: str
    right: str
    premises: tuple[int, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ZeroPointWitness:
    """Operands and a scale with which the sides differ for each zero point of the claim from `first` to `last`.

    Codes are given as their distance from the zero point, with a sign.
    """

    first: int
    last: int
    operands: Mapping[str, str]
    scales: Mapping[str, str]


@dataclass
class Decision:
    """`holds` are the zero points for which the steps prove the claim; `differs` show a difference for each other one.

    Both are empty of a claim with several scales, or one that is refuted only in part.
    """

    verdict: str
    steps: list[Reasoning] = field(default_factory=list)
    counterexample: WrittenCounterexample | None = None
    holds: list[int] = field(default_factory=list)
    differs: list[ZeroPointWitness] = field(default_factory=list)
    missing: str = ""


class Undecidable(Exception):  # noqa: N818 - no error: what a method can't do, in words
    """A method does not apply, or would take too long."""


def spans_of(numbers: Sequence[int]) -> list[list[int]]:
    """The first and the last of numbers that follow each other, in ascending order."""
    known = set(numbers)
    ends = ([one for one in numbers if one + step not in known] for step in (-1, 1))
    return [list(one) for one in zip(*ends, strict=True)]
