"""The parts of a pattern that a rewrite looks at: operations between DQ and Q."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, Pattern, PatternStep

ENDS = (QUANTIZE, DEQUANTIZE)
Made = Mapping[str, PatternStep]


@dataclass(frozen=True)
class DecisionPlace:
    """Operations in the order in which they run, one after the other, and the names of the pairs around them.

    `inputs` are those of the first operation, empty for one that is no DQ. `output` is empty if no Q follows.
    `constants` says which inputs are part of the graph.
    """

    operations: tuple[PatternStep, ...]
    inputs: tuple[str, ...]
    output: str
    constants: tuple[bool, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(step.operation for step in self.operations)

    @property
    def pairs(self) -> tuple[str, ...]:
        """The names that are there, the inputs' first."""
        return tuple(name for name in (*self.inputs, self.output) if name)


def places_of(pattern: Pattern) -> Iterator[DecisionPlace]:
    """A place before each Q, and one before the pattern's output if it is neither of a Q nor of a DQ."""
    made = {step.output: step for step in pattern.steps}
    constants = {operand.name for operand in pattern.operands if operand.constant}
    for step in pattern.steps:
        if step.operation == QUANTIZE:
            yield place_before(step.inputs[0], step.pair, made, constants)
    if pattern.steps[-1].operation not in ENDS:
        yield place_before(pattern.result, "", made, constants)


def place_before(value: str, output: str, made: Made, constants: set[str]) -> DecisionPlace:
    operations: list[PatternStep] = []
    sources: tuple[str, ...] = (value,)
    while len(sources) == 1 and sources[0] in made and made[sources[0]].operation not in ENDS:
        operations.insert(0, made[sources[0]])
        sources = made[sources[0]].inputs
    read = [made.get(source) for source in sources]
    return DecisionPlace(
        tuple(operations),
        tuple(step.pair if step and step.operation == DEQUANTIZE else "" for step in read),
        output,
        tuple(step is not None and step.inputs[0] in constants for step in read),
    )
