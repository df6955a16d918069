"""What a runtime is that runs patterns, and the ways in which it can run one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tiebreak.golden.patterns.graph import Pattern, ScalePair
from tiebreak.golden.problem import Array

UNFUSED, SHIPPED = "unfused", "as shipped"
ScriptMaker = Callable[[Pattern, Mapping[str, ScalePair], Mapping[str, Array]], str]  # Python lines for the rows


@dataclass(frozen=True)
class RuntimeWay:
    """A name, and the settings behind it in the runtime's own words."""

    name: str
    settings: str


@dataclass(frozen=True)
class Opened:
    """The operators of the graph that runs, in order, and what runs it on the operands that are no constants."""

    graph: tuple[str, ...]
    run: Callable[[Mapping[str, Array]], Array]


class PatternRuntime(Protocol):
    """`ways` begin with UNFUSED, what the others are compared with, and SHIPPED."""

    name: str
    version: str
    ways: tuple[RuntimeWay, ...]

    def open(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array], way: str) -> Opened:
        """The pattern with these parameters and constants. Unsupported with the runtime's own message.

        `run` takes the operands' rows by name and gives [rows, width]: codes, or a float32's bits as uint32.
        """
        ...
