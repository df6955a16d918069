"""The smallest graph that still shows a difference, by dropping nodes one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from tiebreak.adapters.patterns.isolated import IsolatedRuntime
from tiebreak.adapters.patterns.model import SHIPPED, UNFUSED
from tiebreak.conformance.patterns.comparing import codes, count
from tiebreak.conformance.patterns.operands import rows_of
from tiebreak.conformance.patterns.pattern_setting import PatternSetting
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, Pattern
from tiebreak.golden.patterns.text import pattern_of
from tiebreak.golden.patterns.writing import text_of


class Smaller(NamedTuple):
    """A pattern with the pairs that it still has, and on how many output elements it differs."""

    pattern: Pattern
    setting: PatternSetting
    differ: int


def smallest(runtime: IsolatedRuntime, pattern: Pattern, setting: PatternSetting, differ: int) -> Smaller:
    """The pattern that is left when no node can be dropped without losing the difference."""
    found = Smaller(pattern, setting, differ)
    while (shorter := next(still_different(runtime, found), None)) is not None:
        found = shorter
    return found


def still_different(runtime: IsolatedRuntime, found: Smaller) -> Iterator[Smaller]:
    for pattern in shortened(found.pattern):
        setting = PatternSetting({name: found.setting.pairs[name] for name in pattern.pairs}, found.setting.reason)
        rows = rows_of(pattern, setting.pairs)
        outputs = (codes(runtime.ask(pattern, setting.pairs, rows, way), pattern) for way in (SHIPPED, UNFUSED))
        differ = count(*outputs)
        if differ > 0:
            yield Smaller(pattern, setting, differ)


def shortened(pattern: Pattern) -> Iterator[Pattern]:
    """The patterns without one node, or without a Q and the DQ that follows it."""
    made = {step.output: step for step in pattern.steps}
    for step in pattern.steps:
        before = made.get(step.inputs[0])
        if step.operation not in (QUANTIZE, DEQUANTIZE):
            dropped = {step.output}
        elif step.operation == DEQUANTIZE and before is not None:
            dropped = {step.output, before.output}
        else:
            continue
        with suppress(InvalidInput):  # what is left is no pattern
            yield pattern_of(text_of(pattern, dropped))
