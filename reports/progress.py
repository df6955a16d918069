"""A run while it goes on, on standard error: a row for each backend on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tiebreak.golden.untrusted_text import one_line, plural
from tiebreak.golden.verdicts import FAILED, HAZARD
from tiebreak.reports.console import terminal_label

QUIET = 10.0  # seconds without any plain line
EVERY = 9.0  # seconds between plain lines after that: less than 10, also where the machine is busy
PER_SECOND = 4  # refreshes of the table
MUCH = 32  # parts of a task, of which one takes a tenth of a second or more
MOMENT = 1.0  # seconds in which a command need not say what it does
APART = 1.0  # seconds between two notes of how far a backend is
NOTES = 15
LONGEST = 700  # characters of a plain line
COLUMNS = ("cases", "per s", "left", "deviate", "hazards", "failed")


@dataclass
class Pace:
    """How many cases of a backend have run and are planned, and how many had run at some moments before."""

    done: int = 0
    planned: int = 0
    notes: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=NOTES))

    def note(self, done: int, planned: int, now: float) -> None:
        self.done, self.planned = done, planned
        if not self.notes or now - self.notes[-1][0] >= APART:
            self.notes.append((now, done))

    def rate(self, now: float) -> float:
        """Cases per second, lately."""
        begun, before = self.notes[0] if self.notes else (now, 0)
        return (self.done - before) / (now - begun) if now > begun else 0.0

    def left(self, now: float) -> float | None:
        """Seconds for the rest of the cases that are planned so far; None if there is no telling."""
        rate = self.rate(now)
        return (self.planned - self.done) / rate if rate else None

    @property
    def percent(self) -> int:
        return 100 * self.done // max(self.planned, 1)


class RunSoFar:
    """What is known of a run: which backends still start, how many cases have run, and the verdicts so far."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.begun = time.monotonic()
        self.waiting: dict[str, bool] = {}  # by spec: whether it has been started
        self.paces: dict[str, Pace] = {}  # by name
        self.found: dict[str, Counter[str]] = {}  # by name: the verdicts
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
            self.paces.setdefault(name, Pace()).note(done, planned, time.monotonic())

    def judged(self, name: str, operator: str, verdicts: Sequence[str]) -> None:
        with self.lock:
            self.found.setdefault(name, Counter()).update(verdicts)

    def stage(self, what: str) -> None:
        with self.lock:
            self.what = what

    def found_now(self) -> dict[str, Counter[str]]:
        """A copy, which no thread changes."""
        with self.lock:
            return {name: Counter(found) for name, found in self.found.items()}

    def rows(self) -> list[tuple[str, ...]]:
        """A row for each backend: its name and COLUMNS, or whether it still starts."""
        found, now = self.found_now(), time.monotonic()
        with self.lock:
            if not self.paces:
                return [(spec, "ready" if ready else "starts") for spec, ready in self.waiting.items()]
            return [
                (name, *pace_cells(pace, now), *verdict_cells(found.get(name, Counter())))
                for name, pace in self.paces.items()
            ]

    def told(self) -> str:
        """All of it in one line."""
        with self.lock:
            done, planned = (sum(getattr(pace, what) for pace in self.paces.values()) for what in ("done", "planned"))
            late = [spec for spec, ready in self.waiting.items() if not ready]
        verdicts = sum(self.found_now().values(), Counter())
        failed = sum(verdicts[verdict] for verdict in FAILED)
        parts = [f"{time.monotonic() - self.begun:.0f} s", f"{done:,} of {plural(planned, 'case')} run"]
        parts += [f"{verdicts['deviates']:,} deviate", f"{failed:,} failed"][: 2 if failed else 1]
        parts += [f"still starting: {', '.join(late)}"] if late else []
        return "; ".join([*parts, *([self.what] if self.what else [])])

    def shares(self) -> str:
        """How far the backends are that have not run all cases, the furthest behind first."""
        with self.lock:
            behind = sorted((pace.percent, name) for name, pace in self.paces.items() if pace.done < pace.planned)
        return ", ".join(f"{name} {percent} %" for percent, name in behind)


def pace_cells(pace: Pace, now: float) -> tuple[str, str, str]:
    """Cases run and planned, cases per second, and the time left."""
    cases, left = f"{pace.done:,}/{pace.planned:,}", pace.left(now)
    if pace.done >= pace.planned:
        return cases, "", "done"
    return cases, f"{pace.rate(now):.0f}", "" if left is None else clock(left)


def verdict_cells(found: Counter[str]) -> tuple[str, str, str]:
    """How many cases deviate, are hazards, and failed; nothing for none."""
    failed = sum(found[verdict] for verdict in FAILED)
    deviates, hazards, failures = (str(count or "") for count in (found["deviates"], found[HAZARD], failed))
    return deviates, hazards, failures


def clock(seconds: float) -> str:
    """0:07, 12:34 or 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class LiveTable(RunSoFar):
    """A row for each backend on a terminal. They are gone when the run is over: the summary tells more."""

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
        table, rows = Table(box=box.SIMPLE_HEAD, padding=0, show_edge=False), self.rows()
        widths = [max(map(len, column)) for column in zip_longest(COLUMNS, *(row[1:] for row in rows), fillvalue="")]
        room = max(10, self.console.width - sum(widths) - len(widths))
        table.add_column("backend", no_wrap=True, overflow="ellipsis", max_width=room)
        for name in COLUMNS:
            table.add_column(name, justify="right", no_wrap=True)
        for name, *cells in rows:
            table.add_row(terminal_label(name, 200), *cells)
        return Group(Text(one_line(self.told(), LONGEST), no_wrap=True, overflow="ellipsis"), table)

    def finished(self, name: str) -> None: ...

    def close(self) -> None:
        self.live.stop()


class DoneLines:
    """A line when each of a few things is done, once it takes longer than a moment; on a terminal at once.

    The first line says how many there are, and comes before any is done.
    """

    def __init__(self, count: int, what: str) -> None:
        self.count, self.what, self.finished = count, what, 0
        moment = 0.0 if Console(stderr=True).is_terminal else MOMENT
        self.quiet_until = time.monotonic() + moment
        self.first = threading.Timer(moment, self.begin)
        self.first.daemon = True

    def __enter__(self) -> DoneLines:
        self.first.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.first.cancel()

    def begin(self) -> None:
        if self.finished < self.count:
            print_line(f"{self.finished} of {self.count} {self.what}")

    def done(self, name: str) -> None:
        self.finished += 1
        if time.monotonic() >= self.quiet_until:
            print_line(f"{self.finished} of {self.count} {self.what}: {name}")


class CountLines:
    """A line of how much is done after a moment, and then one every 9 s, for what no terminal shows."""

    def __init__(self, label: str, counted: str) -> None:
        self.label, self.counted = label, counted
        self.quiet_until = time.monotonic() + MOMENT

    def __call__(self, done: int, of: int) -> None:
        if (now := time.monotonic()) >= self.quiet_until:
            self.quiet_until = now + EVERY
            print_line(f"{self.label}: {done:,} of {of:,} {self.counted}")


class PlainLines(RunSoFar):
    """A line when a backend has started and when it is done, and one every 9 s: no log is silent for long.

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
        found = self.found_now().get(name, Counter())
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
            print_line("; ".join(filter(None, (self.told(), self.shares()))))

    def close(self) -> None:
        self.over.set()


def with_whole(progress: Callable[[int, int], None], label: str, counted: str) -> Callable[[int, int], None]:
    """The progress, which also says before anything is done how much there is, where that is MUCH."""

    def told(done: int, of: int) -> None:
        if not done and of >= MUCH:
            print_line(f"{label}: {of:,} {counted} to try")
        progress(done, of)

    return told


def print_line(line: str) -> None:
    """Print a line on standard error; a closed one is no reason to stop."""
    with suppress(OSError, ValueError):
        print(f"tiebreak: {one_line(line, LONGEST)}", file=sys.stderr, flush=True)


def progress_of_run(console: Console | None = None) -> LiveTable | PlainLines:
    """What fits standard error."""
    console = console or Console(stderr=True)
    return LiveTable(console) if console.is_terminal else PlainLines()
