"""Writes a pattern as text again, whole or without some of its operations."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tiebreak.golden.patterns.graph import Pattern, PatternStep
from tiebreak.golden.patterns.operations import OPERATIONS
from tiebreak.golden.patterns.text import CONSTANT


def text_of(pattern: Pattern, without: Collection[str] = ()) -> str:
    """The pattern's text with every pair named. Each value in `without` is replaced by its step's first input."""
    made = {step.output: step for step in pattern.steps}
    constants = {operand.name for operand in pattern.operands if operand.constant}

    def written(value: str) -> str:
        if value not in made:
            return f"{CONSTANT}({value})" if value in constants else value
        step = made[value]
        if value in without:
            return written(step.inputs[0])
        words = [*map(written, step.inputs), *details(step)]
        if step.pair:
            words += [step.pair, f"type={pattern.pairs[step.pair]!r}"]
        return f"{step.operation}({', '.join(words)})"

    return written(pattern.result)


def details(step: PatternStep) -> Iterator[str]:
    """The numbers and attributes of a step."""
    known = OPERATIONS.get(step.operation)
    if known is not None:
        yield from (repr(step.attributes[name]) for name in known.numbers)
        yield from (f"{name}={step.attributes[name]!r}" for name in known.choices)
