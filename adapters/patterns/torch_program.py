"""Lines of PyTorch: each calls one of torch's functions and names what it gives. They are run, or written as source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any


@dataclass(frozen=True)
class TorchValue:
    """What an operand or an earlier line gives."""

    name: str


@dataclass(frozen=True)
class TorchKind:
    """One of torch's types, by name."""

    name: str


@dataclass(frozen=True)
class TorchLine:
    """`output = torch.<function>(*arguments)`. Arguments are values, kinds, numbers, None and tuples of them."""

    output: str
    function: str
    arguments: tuple[Any, ...]

    def run(self, library: Any, known: Mapping[str, Any]) -> Any:
        given = (evaluated(library, known, argument) for argument in self.arguments)
        return attrgetter(self.function)(library)(*given)

    @property
    def source(self) -> str:
        return f"{self.output} = torch.{self.function}({', '.join(map(written, self.arguments))})"

    @property
    def reads(self) -> set[str]:
        return {name for argument in self.arguments for name in names_in(argument)}


def evaluated(library: Any, known: Mapping[str, Any], argument: Any) -> Any:
    if isinstance(argument, TorchValue):
        return known[argument.name]
    if isinstance(argument, tuple):
        return [evaluated(library, known, one) for one in argument]
    return getattr(library, argument.name) if isinstance(argument, TorchKind) else argument


def written(argument: Any) -> str:
    if isinstance(argument, tuple):
        return f"[{', '.join(map(written, argument))}]"
    if isinstance(argument, TorchKind):
        return f"torch.{argument.name}"
    return argument.name if isinstance(argument, TorchValue) else repr(argument).replace("'", '"')


def names_in(argument: Any) -> set[str]:
    if isinstance(argument, tuple):
        return {name for one in argument for name in names_in(one)}
    return {argument.name} if isinstance(argument, TorchValue) else set()


def needed(lines: Sequence[TorchLine]) -> tuple[TorchLine, ...]:
    """Those that the last one needs."""
    wanted, found = {lines[-1].output}, list[TorchLine]()
    for line in reversed(lines):
        if line.output in wanted:
            wanted |= line.reads
            found.append(line)
    return tuple(reversed(found))


def run_lines(library: Any, lines: Sequence[TorchLine], given: Mapping[str, Any]) -> Any:
    """What the last line gives; `given` are the operands by name."""
    known = dict(given)
    for line in lines:
        known[line.output] = line.run(library, known)
    return known[lines[-1].output]
