"""`tiebreak pattern run`: every pattern, setting, runtime and way; records first, then what explains them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from tiebreak.adapters.patterns.isolated import IsolatedRuntime, WayAnswer
from tiebreak.adapters.patterns.model import UNFUSED, RuntimeWay
from tiebreak.conformance.patterns.comparing import NOTHING, PatternTruths, codes, count, one_row, simplest, witness
from tiebreak.conformance.patterns.operands import rows_of
from tiebreak.conformance.patterns.parameters import PatternSetting, settings
from tiebreak.conformance.patterns.records import WayRow, WitnessRow
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.exit_codes import EXIT_CONFORMS, EXIT_DISCREPANCIES, EXIT_FAILED, EXIT_NOTHING_RAN
from tiebreak.golden.patterns.graph import Pattern
from tiebreak.golden.problem import Array

SETTINGS = {"quick": 6, "full": 24, "deep": 1000}  # of scales and zero points for a pattern, by level
Tell = Callable[[str], None]


@dataclass
class PatternRun:
    """Rows as they come, and runtimes that could not be started, by name with the reason."""

    patterns: Sequence[Pattern]
    level: str
    time_limit: float
    memory_limit: int
    tell: Tell
    rows: list[WayRow] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)

    def run(self, backends: Sequence[str]) -> list[WayRow]:
        with ExitStack() as stack:
            runtimes = list(self.started(backends, stack))
            for number, pattern in enumerate(self.patterns, 1):
                self.tell(f"{number} of {len(self.patterns)} patterns: {pattern.name}")
                for setting in settings(pattern, SETTINGS[self.level]):
                    rows = rows_of(pattern, setting.pairs)
                    truths = PatternTruths.of(pattern, setting, rows)
                    for runtime in runtimes:
                        self.rows += asked(runtime, pattern, setting, truths)
        return self.rows

    def started(self, backends: Sequence[str], stack: ExitStack) -> Iterator[IsolatedRuntime]:
        for name in backends:
            runtime = IsolatedRuntime(name, self.time_limit, self.memory_limit)
            try:
                runtime.start()
            except MachineryFailed as error:
                self.missing[name] = str(error)
                self.tell(str(error))
                continue
            stack.callback(runtime.close)
            yield runtime


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
        row["differ_exact"], row["differ_stepwise"] = count(output, truths.exact), count(output, truths.stepwise)
        row["stepwise_exact"] = count(truths.stepwise, truths.exact)
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
    other = unfused if way.name != UNFUSED and count(output, unfused) > 0 else truths.exact
    if output is None or other is None or output.shape != other.shape or not count(output, other):
        return None
    row, place = simplest(pattern, setting, truths.rows, output != other)
    alone = one_row(pattern, truths.rows, row, place, output.shape[1])
    values = {"got": output, "unfused": unfused, "exact": truths.exact, "stepwise": truths.stepwise}
    shown = {name: int(array[row, place]) for name, array in values.items() if array is not None}
    ways = (way.name, UNFUSED) if other is unfused else (way.name,)
    again = [codes(runtime.ask(pattern, setting.pairs, alone, name), pattern) for name in ways]
    same = again[0] is not None and shown["got"] in again[0].ravel()
    if other is unfused:  # both answers must stay, or there is nothing to see
        same = same and count(*again) > 0
    return witness(pattern, alone, place, shown, is_alone=same)


def exit_code(rows: Sequence[WayRow], missing: dict[str, str]) -> int:
    """1 if a way differs from the unfused graph, 3 if one failed or a runtime did not start, 4 if nothing ran."""
    if not any(row["status"] == "ok" for row in rows):
        return EXIT_FAILED if missing or any(row["status"] != "unsupported" for row in rows) else EXIT_NOTHING_RAN
    if any(row["differ_unfused"] > 0 for row in rows):
        return EXIT_DISCREPANCIES
    failed = any(row["status"] not in ("ok", "unsupported") for row in rows)
    return EXIT_FAILED if failed or missing else EXIT_CONFORMS
