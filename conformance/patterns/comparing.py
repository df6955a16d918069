"""Compares what the ways of a runtime gave with each other and with both truths, element by element."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from tiebreak.adapters.patterns.isolated import WayAnswer
from tiebreak.conformance.patterns.pattern_setting import PatternSetting
from tiebreak.conformance.patterns.records import WitnessRow
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns.exact import exact
from tiebreak.golden.patterns.graph import REAL, Pattern
from tiebreak.golden.patterns.stepwise import Undecided, stepwise
from tiebreak.golden.problem import Array

NEGATIVE_ZERO = np.uint32(1 << 31)
NOTHING = -1  # instead of a count: there was nothing to compare with


@dataclass(frozen=True)
class PatternTruths:
    """Both truths of one setting, [rows, width]; None where one does not decide the pattern."""

    rows: Mapping[str, Array]
    exact: Array | None
    stepwise: Array | None

    @classmethod
    def of(cls, pattern: Pattern, setting: PatternSetting, rows: Mapping[str, Array]) -> PatternTruths:
        real, steps = None, None
        with suppress(InvalidInput):
            real = exact(pattern, setting.pairs, rows)
        with suppress(Undecided):
            steps = stepwise(pattern, setting.pairs, rows)
        return cls(rows, real, steps)


def count(one: Array | None, other: Array | None) -> int:
    """How many elements differ. All, if the shapes do."""
    if one is None or other is None:
        return NOTHING
    return int(np.count_nonzero(one != other)) if one.shape == other.shape else max(one.size, other.size)


def count_unlike_exact(output: Array | None, truths: PatternTruths, pattern: Pattern) -> int:
    """How many elements differ from the exact truth, which knows one zero."""
    return count(None if output is None else with_one_zero(output, pattern), truths.exact)


def with_one_zero(output: Array, pattern: Pattern) -> Array:
    """An output's codes, or float32 bits in which no zero is negative."""
    return np.where(output == NEGATIVE_ZERO, np.uint32(0), output) if pattern.output == REAL else output


def codes(answer: WayAnswer, pattern: Pattern) -> Array | None:
    """An answer's output as the truths are given."""
    if answer.output is None:
        return None
    return answer.output if pattern.output == REAL else answer.output.astype(np.int64)


def simplest(pattern: Pattern, setting: PatternSetting, rows: Mapping[str, Array], different: Array) -> tuple[int, int]:
    """The row and the place of a differing element whose operands lie nearest to their zero points."""
    distances = np.zeros(different.shape[0])
    zeros = zero_points(pattern, setting)
    for operand in pattern.inputs:
        distances += np.abs(rows[operand.name].astype(np.float64) - zeros.get(operand.name, 0)).sum(axis=1)
    chosen = np.nonzero(different.any(axis=1))[0]
    row = int(chosen[np.argmin(distances[chosen])])
    return row, int(np.argmax(different[row]))


def zero_points(pattern: Pattern, setting: PatternSetting) -> dict[str, int]:
    return {name: setting.pairs[step.pair].zero_point for step in pattern.steps if step.pair for name in step.inputs}


def one_row(pattern: Pattern, rows: Mapping[str, Array], row: int, place: int, width: int) -> dict[str, Array]:
    """Only this row, and of constants with a column for each place only this column."""
    found = {operand.name: rows[operand.name][row : row + 1] for operand in pattern.inputs}
    for operand in pattern.operands:
        if operand.constant:
            array = rows[operand.name]
            found[operand.name] = array[..., place : place + 1] if array.shape[-1] == width else array
    return found


def witness(
    pattern: Pattern, alone: Mapping[str, Array], place: int, values: Mapping[str, int], *, is_alone: bool
) -> WitnessRow:
    """`values` are elements by what gave them."""
    shown = {name: as_text(value, pattern.output) for name, value in values.items()}
    operands = {name: [repr(value.item()) for value in array.ravel()] for name, array in alone.items()}
    return {
        "operands": operands,
        "place": place,
        "got": shown["got"],
        "unfused": shown.get("unfused", ""),
        "exact": shown.get("exact", ""),
        "stepwise": shown.get("stepwise", ""),
        "alone": is_alone,
    }


def as_text(value: int, kind: str) -> str:
    """A code, or the float32 of these bits in decimals."""
    return str(np.uint32(value).view(np.float32)) if kind == REAL else str(value)
