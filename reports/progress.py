"""A run while it goes on, on standard error: a matrix that fills on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from tiebreak.golden.untrusted_text import one_line, plural
from tiebreak.golden.verdicts import FAILED
from tiebreak.reports.verdict_matrix import MARKS, Rows, matrix_table

QUIET = 10.0  # seconds without any plain line
EVERY = 15.0  # seconds between plain lines after that
PER_SECOND = 4  # refreshes of the matrix


class RunSoFar:
    """What is known of a run: which backends still start, how many cases have run, and the verdicts so far."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.begun = time.monotonic()
        self.waiting: dict[str, bool] = {}  # by spec: whether it has been started
        self.counts: dict[str, tuple[int, int]] = {}  # by name: cases run and planned
        self.cells: dict[tuple[str, str], Counter[str]] = {}
        self.what = ""

    def starting(self, specs: Sequence[str]) -> None:
        with self.lock:
            self.waiting = dict.fromkeys(specs, False)

    def started(self, spec: str, *, there: bool) -> None:
        with self.lock:
            self.waiting[spec] = True
            if not there:
                del self.waiting[spec]

    def ran(self, name: str, done: int, planned: int) -> None:
        with self.lock:
            self.counts[name] = done, planned

    def judged(self, name: str, operator: str, verdicts: Sequence[str]) -> None:
        with self.lock:
            self.cells.setdefault((name, operator), Counter()).update(verdicts)

    def stage(self, what: str) -> None:
        with self.lock:
            self.what = what

    def cells_now(self) -> dict[tuple[str, str], Counter[str]]:
        """A copy, which no thread changes."""
        with self.lock:
            return {key: Counter(found) for key, found in self.cells.items()}

    def rows(self) -> Rows:
        """A row for each backend: how far it is, or whether it still starts."""
        with self.lock:
            if self.counts:
                return {
                    name: (name, f"{100 * done // max(planned, 1)} %") for name, (done, planned) in self.counts.items()
                }
            return {spec: (spec, "ready" if ready else "starts") for spec, ready in self.waiting.items()}

    def told(self) -> str:
        """All of it in one line."""
        cells, (done, planned) = self.cells_now(), self.cases()
        deviating = sum(found["deviates"] for found in cells.values())
        failed = sum(found[verdict] for found in cells.values() for verdict in FAILED)
        late = [spec for spec, ready in self.waiting.items() if not ready]
        parts = [f"{time.monotonic() - self.begun:.0f} s", f"{done:,} of {plural(planned, 'case')} run"]
        parts += [f"{deviating:,} deviate", f"{failed:,} failed"][: 2 if failed else 1]
        parts += [f"still starting: {', '.join(late)}"] if late else []
        return one_line("; ".join([*parts, *([self.what] if self.what else [])]), 400)

    def cases(self) -> tuple[int, int]:
        """How many cases have run and how many are planned so far, on all backends together."""
        with self.lock:
            return sum(done for done, _ in self.counts.values()), sum(planned for _, planned in self.counts.values())


class LiveMatrix(RunSoFar):
    """The matrix on a terminal. It is gone when the run is over: the summary has the same one."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console
        self.live = Live(
            console=console,
            transient=True,
            refresh_per_second=PER_SECOND,
            get_renderable=self.table,
            redirect_stdout=False,  # --json prints there
            redirect_stderr=False,
        )
        self.live.start()

    def table(self) -> Group:
        cells = self.cells_now()
        operators = sorted({operator for _, operator in cells})
        table = matrix_table(self.rows(), cells, operators, self.console.width, "done")
        table.title = MARKS if operators else None
        return Group(Text(self.told()), table)

    def finished(self, name: str) -> None: ...

    def close(self) -> None:
        self.live.stop()


class PlainLines(RunSoFar):
    """A line when a backend has started and when it is done, and one every 15 s: no log is silent for long.

    They come from the tenth second on, all at once those of the time before. A short run says nothing but its result.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held: list[str] | None = []  # None as soon as lines are printed at once
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.tell_now_and_then, daemon=True)
        self.thread.start()

    def started(self, spec: str, *, there: bool) -> None:
        super().started(spec, there=there)
        if there:
            self.tell(f"{spec} has started")

    def finished(self, name: str) -> None:
        found = Counter[str]()
        for (backend, _), verdicts in self.cells_now().items():
            found.update(verdicts if backend == name else {})
        counted = ", ".join(f"{count:,} {verdict}" for verdict, count in found.items())
        self.tell(f"{name} is done: {counted or 'no cases'}")

    def tell(self, line: str) -> None:
        with self.lock:
            if self.held is not None:
                self.held.append(line)
                return
        print_line(line)

    def tell_now_and_then(self) -> None:
        if self.over.wait(QUIET):
            return
        with self.lock:
            held, self.held = self.held or [], None
        for line in held:
            print_line(line)
        while not self.over.wait(EVERY):
            print_line(self.told())

    def close(self) -> None:
        self.over.set()


def print_line(line: str) -> None:
    """Print a line on standard error; a closed one is no reason to stop."""
    with suppress(OSError, ValueError):
        print(f"tiebreak: {one_line(line, 400)}", file=sys.stderr, flush=True)


def progress_of_run(console: Console | None = None) -> LiveMatrix | PlainLines:
    """What fits standard error."""
    console = console or Console(stderr=True)
    return LiveMatrix(console) if console.is_terminal else PlainLines()
