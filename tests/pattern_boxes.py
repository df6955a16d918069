"""Runtimes of our own that run patterns: right ones, wrong ones, and ones that fail."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tiebreak import Unsupported
from tiebreak.adapters.patterns.model import SHIPPED, UNFUSED, Opened, RuntimeWay
from tiebreak.golden.patterns.graph import Pattern, ScalePair
from tiebreak.golden.patterns.stepwise import stepwise


class Right:
    """Computes step by step in float32 in each of its ways."""

    name, version = "right", "1"
    ways: ClassVar = (
        RuntimeWay(UNFUSED, "no rewrite"),
        RuntimeWay(SHIPPED, "rewrites"),
        RuntimeWay("careful", "careful=1"),
    )

    def open(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Any], way: str) -> Opened:
        fixed = {operand.name: rows[operand.name] for operand in pattern.operands if operand.constant}

        def run(given: Mapping[str, Any]) -> Any:
            return self.output(pattern, pairs, {**fixed, **given}, way)

        return Opened(tuple(step.operation for step in pattern.steps), run)

    def output(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Any], way: str) -> Any:
        return stepwise(pattern, pairs, rows)


class MergesScales(Right):
    """As shipped it adds codes that it has multiplied by float32 ratios of scales, as many kernels do."""

    name = "merges-scales"
    ways: ClassVar = (*Right.ways, RuntimeWay("hasty", "careful=0"))

    def output(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Any], way: str) -> Any:
        operations = [step.operation for step in pattern.steps]
        if way not in (SHIPPED, "hasty") or operations != ["DQ", "DQ", "Add", "Q"]:
            return stepwise(pattern, pairs, rows)
        a, b, y = (pairs[step.pair] for step in pattern.steps if step.pair)
        total = np.float32(y.zero_point)
        for name, pair in zip(("a", "b"), (a, b), strict=True):
            ratio = np.float32(pair.scale / y.scale)
            total = total + (rows[name].astype(np.float32) - np.float32(pair.zero_point)) * ratio
        return np.clip(np.rint(total), *y.ends).astype(np.int64)


class Crashes(Right):
    """Ends its process as shipped."""

    name = "crashes"

    def output(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Any], way: str) -> Any:
        if way == SHIPPED:
            print("out of registers", flush=True)
            os.abort()
        return stepwise(pattern, pairs, rows)


class Hangs(Right):
    name = "hangs"

    def output(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Any], way: str) -> Any:
        if way == SHIPPED:
            if "HANGING" in os.environ:
                Path(os.environ["HANGING"]).touch()
            time.sleep(600)
        return stepwise(pattern, pairs, rows)


class HangsLater(Right):
    """As shipped it answers two whole batches, then no more."""

    name, answered = "hangs-later", 0

    def output(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Any], way: str) -> Any:
        self.answered += way == SHIPPED and len(rows["x"]) > 1  # one row is a witness asked again
        if self.answered > 2:
            Path(os.environ["HANGING"]).touch()
            time.sleep(600)
        return stepwise(pattern, pairs, rows)


class Refuses(Right):
    name = "refuses"

    def output(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Any], way: str) -> Any:
        raise Unsupported("no such <graph> here")


class NeedsNeighbours(Right):
    """As shipped the last of every eight rows is one higher: a tail of a vector loop."""

    name = "needs-neighbours"

    def output(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Any], way: str) -> Any:
        found = stepwise(pattern, pairs, rows)
        if way == SHIPPED and len(found) > 8:
            found[7::8] = np.minimum(found[7::8] + 1, 255)
        return found


class UnfusedNeedsNeighbours(NeedsNeighbours):
    """The same tail in the unfused graph alone, so that both agree on a row by itself."""

    name = "unfused-needs-neighbours"

    def output(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Any], way: str) -> Any:
        return super().output(pattern, pairs, rows, SHIPPED if way == UNFUSED else UNFUSED)


class LosesARow(Right):
    """As shipped its output lacks the last row."""

    name = "loses-a-row"

    def output(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Any], way: str) -> Any:
        found = stepwise(pattern, pairs, rows)
        return found[:-1] if way == SHIPPED else found


class Missing:
    def __init__(self) -> None:
        raise ModuleNotFoundError("No module named 'nothing'", name="nothing")
