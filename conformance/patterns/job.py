"""`tiebreak pattern run`: every pattern, setting, runtime and way; records first, then what explains them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tiebreak.adapters.patterns.isolated import IsolatedRuntime, WayAnswer
from tiebreak.adapters.patterns.model import UNFUSED, RuntimeWay
from tiebreak.conformance.patterns.comparing import (
    NOTHING,
    PatternTruths,
    codes,
    count,
    count_unlike_exact,
    one_row,
    simplest,
    with_one_zero,
    witness,
)
from tiebreak.conformance.patterns.operands import is_exhaustive, rows_of
from tiebreak.conformance.patterns.parameters import settings
from tiebreak.conformance.patterns.pattern_setting import PatternSetting
from tiebreak.conformance.patterns.records import WayRow, WitnessRow
from tiebreak.golden import exit_codes
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.patterns.graph import Pattern
from tiebreak.golden.problem import Array

SETTINGS = {"quick": 6, "full": 24, "deep": 1000}  # of scales and zero points for a pattern, by level
Tell = Callable[[str], None]
Keep = Callable[[str, Any], None]  # what an entry is, and the entry


@dataclass
class PatternRun:
    """Rows as they come, each given to `keep`, too; the runtimes, which stay open until `close`; those that did not
    start, with the reason.
    """

    patterns: Sequence[Pattern]
    level: str
    time_limit: float
    memory_limit: int
    tell: Tell
    keep: Keep = lambda kind, entry: None
    rows: list[WayRow] = field(default_factory=list)
    runtimes: dict[str, IsolatedRuntime] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def run(self, backends: Sequence[str]) -> list[WayRow]:
        self.start(backends)
        self.ask()
        return self.rows

    def ask(self) -> None:
        for number, pattern in enumerate(self.patterns, 1):
            self.tell(f"{number} of {len(self.patterns)} patterns: {pattern.name}")
            for setting in settings(pattern, SETTINGS[self.level]):
                truths = PatternTruths.of(pattern, setting, rows_of(pattern, setting.pairs))
                for runtime in self.runtimes.values():
                    self.add(asked(runtime, pattern, setting, truths))

    def add(self, rows: Iterator[WayRow]) -> None:
        for row in rows:
            self.rows.append(row)
            self.keep("row", row)

    def start(self, backends: Sequence[str]) -> None:
        for name in backends:
            runtime = IsolatedRuntime(name, self.time_limit, self.memory_limit)
            try:
                runtime.start()
            except MachineryFailed as error:
                self.missing[name] = str(error)
                self.tell(str(error))
            else:
                self.runtimes[name] = runtime

    def close(self) -> None:
        for runtime in self.runtimes.values():
            runtime.close()


def asked(
    runtime: IsolatedRuntime, pattern: Pattern, setting: PatternSetting, truths: PatternTruths
) -> Iterator[WayRow]:
    """A row for each way, the unfused one first."""
    unfused: Array | None = None
    for way in runtime.ways:
        answer = runtime.ask(pattern, setting.pairs, truths.rows, way.name)
        output = codes(answer, pattern)
        if way.name == UNFUSED:
            unfused = output
        row = row_of(runtime, pattern, setting, way, answer, output)
        row["differ_unfused"] = count(output, unfused)
        row["differ_exact"] = count_unlike_exact(output, truths, pattern)
        row["differ_stepwise"] = count(output, truths.stepwise)
        row["stepwise_exact"] = count_unlike_exact(truths.stepwise, truths, pattern)
        with suppress(MachineryFailed):
            row["witness"] = witnessed(runtime, pattern, setting, way, truths, output, unfused)
        yield row


def row_of(
    runtime: IsolatedRuntime,
    pattern: Pattern,
    setting: PatternSetting,
    way: RuntimeWay,
    answer: WayAnswer,
    output: Array | None,
) -> WayRow:
    return {
        "backend": runtime.name,
        "version": runtime.version,
        "pattern": pattern.name,
        "text": pattern.text,
        "type": ", ".join(dict.fromkeys(pattern.pairs.values())),
        "reason": setting.reason,
        "pairs": {name: [str(pair.scale), str(pair.zero_point)] for name, pair in setting.pairs.items()},
        "way": way.name,
        "settings": way.settings,
        "graph": list(answer.graph),
        "status": answer.status,
        "message": answer.message,
        "exhaustive": is_exhaustive(pattern),
        "outputs": 0 if output is None else int(output.size),
        "differ_unfused": NOTHING,
        "differ_exact": NOTHING,
        "differ_stepwise": NOTHING,
        "stepwise_exact": NOTHING,
        "witness": None,
    }


def witnessed(
    runtime: IsolatedRuntime,
    pattern: Pattern,
    setting: PatternSetting,
    way: RuntimeWay,
    truths: PatternTruths,
    output: Array | None,
    unfused: Array | None,
) -> WitnessRow | None:
    """An element that differs from the unfused graph's, or else from the exact truth, asked again by itself."""
    is_fused = way.name != UNFUSED and count(output, unfused) > 0
    other = unfused if is_fused else truths.exact
    if output is None or other is None or output.shape != other.shape:
        return None
    different = (output if is_fused else with_one_zero(output, pattern)) != other
    if not different.any():
        return None
    row, place = simplest(pattern, setting, truths.rows, different)
    alone = one_row(pattern, truths.rows, row, place, output.shape[1])
    values = {"got": output, "unfused": unfused, "exact": truths.exact, "stepwise": truths.stepwise}
    shown = {name: int(array[row, place]) for name, array in values.items() if array is not None}
    ways = (way.name, UNFUSED) if is_fused else (way.name,)
    again = [codes(runtime.ask(pattern, setting.pairs, alone, name), pattern) for name in ways]
    same = again[0] is not None and shown["got"] in again[0].ravel()
    if is_fused:  # both answers must stay, or there is nothing to see
        same = same and count(*again) > 0
    return witness(pattern, alone, place, shown, is_alone=same)


def exit_code(rows: Sequence[WayRow], missing: Mapping[str, str]) -> int:
    """A discrepancy is a way that differs from the unfused graph; a runtime that did not start is a failure."""
    statuses = {row["status"] for row in rows}
    return exit_codes.exit_code(
        discrepancies=any(row["differ_unfused"] > 0 for row in rows),
        failures=bool(missing) or bool(statuses - {"ok", "unsupported"}),
        ran="ok" in statuses,
    )
