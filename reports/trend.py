"""A folder of runs as trends: by library and operator the share that deviates, by release what came and went.

The rows are those of conformance.gate.history: a row for each run, backend and operator.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tiebreak.reports.libraries import folded_name, release, release_order
from tiebreak.reports.severity import percent

Row = Mapping[str, Any]
Rows = Mapping[tuple[str, str], Row]  # of one run, by backend and operator
ONE = ("library", "created", "run", "backend", "operator")  # what a run has once, but for its releases
LEAST = -5  # the decade of a share below which nothing is told apart from it: 0.001 %
WIDTH, HEIGHT, LEFT, TOP, FOOT = 264, 132, 40, 8, 22
ZERO = HEIGHT - FOOT  # where a share of 0 is
STEP = (ZERO - TOP - 12) / -LEAST  # a decade
LETTER = 6.5  # about as wide is a character of a label
GRID = ((1.0, "100 %"), (1e-2, "1 %"), (1e-4, "0.01 %"), (0.0, "0"))


@dataclass(frozen=True)
class Dot:
    """A run in a picture; `text` has the exact values."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Line:
    """Configurations of a library with the same shares: what SVG draws, and in words the last share and that before.

    `move` is by how many decades the share rose.
    """

    backends: tuple[str, ...]
    path: str
    dots: tuple[Dot, ...]
    before: str
    last: str
    move: float

    @property
    def who(self) -> str:
        return folded_name(self.backends)

    @property
    def arrow(self) -> str:
        return "" if self.before == self.last or not self.move else "▲" if self.move > 0 else "▼"


@dataclass(frozen=True)
class Panel:
    """The trend of a library's operator. `releases` are the places of the release marks; `table` has the numbers."""

    operator: str
    anchor: str
    foreign: bool
    lines: tuple[Line, ...]
    releases: tuple[tuple[float, str], ...]
    table: tuple[tuple[str, ...], ...]

    @property
    def moved(self) -> Line:
        """The line that moved most."""
        return max(self.lines, key=lambda line: abs(line.move))

    @property
    def quiet(self) -> bool:
        """Whether nothing deviated in any run."""
        return not any(dot.y < ZERO for line in self.lines for dot in line.dots)


@dataclass(frozen=True)
class Release:
    """A release of a library by its last run, and how its root causes differ from those of the release before."""

    anchor: str
    library: str
    version: str
    before: str
    created: str
    share: str
    foreign: bool
    causes: int
    failures: int
    changes: Mapping[str, Sequence[tuple[str, str, int, int]]]


@dataclass(frozen=True)
class LibraryTrend:
    """A library over its runs, oldest first; `left_out` counts earlier ones."""

    library: str
    runs: tuple[tuple[str, str, str], ...]  # created, run, version
    left_out: int
    since: str
    panels: tuple[Panel, ...]
    releases: tuple[Release, ...]


def trends(rows: Iterable[Row], most_runs: int) -> list[LibraryTrend]:
    """The libraries with their last runs, those first whose shares moved most."""
    by_library: dict[str, dict[tuple[str, str], dict[tuple[str, str], Row]]] = defaultdict(lambda: defaultdict(dict))
    for run, row in with_names_of_runs(list(rows)):
        by_library[row["library"]][row["created"], run][row["backend"], row["operator"]] = row
    found = [library_trend(n, name, own, most_runs) for n, (name, own) in enumerate(sorted(by_library.items()))]
    return sorted(found, key=lambda one: -max((abs(panel.moved.move) for panel in one.panels), default=0))


def with_names_of_runs(rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    """The rows with the names of their runs; of a run with several releases of a backend, a name for each release."""
    releases: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for row in rows:
        releases[tuple(row[name] for name in ONE)].add(row["version"])
    several = {key[:3] for key, versions in releases.items() if len(versions) > 1}
    for row in rows:
        apart = tuple(row[name] for name in ONE[:3]) in several
        yield f"{row['run']} ({row['version']})" if apart else row["run"], row


def place_in_time(key: tuple[str, str], rows: Rows) -> tuple[Any, ...]:
    """What the runs of a library are sorted by: their release's place where they have one, else their date."""
    row = next(iter(rows.values()))
    return row.get("order", 0), key[0], release_order(version_of(rows)), key[1]


def library_trend(number: int, library: str, by_run: Mapping[tuple[str, str], Rows], most_runs: int) -> LibraryTrend:
    order = sorted(by_run, key=lambda key: place_in_time(key, by_run[key]))
    kept = order[-most_runs:]
    runs = [by_run[key] for key in kept]
    versions = [version_of(one) for one in runs]
    operators = sorted({operator for one in runs for _, operator in one})
    before = reference(versions)
    panels = [panel(f"trend-{number}-{at}", one, kept, runs, versions, before) for at, one in enumerate(operators)]
    return LibraryTrend(
        library,
        tuple((*key, version) for key, version in zip(kept, versions, strict=True)),
        len(order) - len(kept),
        release(versions[before]) if versions[before] != versions[-1] else kept[before][0][:10],
        tuple(sorted(panels, key=lambda one: -abs(one.moved.move))),
        tuple(releases_of(f"release-{number}", library, kept, runs, versions)),
    )


def version_of(rows: Rows) -> str:
    """The version of a library's configurations in one run."""
    return ", ".join(sorted({str(row["version"]) for row in rows.values()}))


def reference(versions: Sequence[str]) -> int:
    """The run that the last one is held against: the last of the release before, or the first of all."""
    others = [at for at, version in enumerate(versions) if version != versions[-1]]
    return others[-1] if others else 0


def panel(
    anchor: str, operator: str, keys: Sequence[tuple[str, str]], runs: Sequence[Rows], versions: Sequence[str], at: int
) -> Panel:
    backends = dict.fromkeys(backend for one in runs for backend, its in one if its == operator)
    groups: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for backend in backends:
        groups[tuple(counts_of(one.get((backend, operator))) for one in runs)].append(backend)
    lines = tuple(line_of(tuple(names), values, keys, versions, at) for values, names in groups.items())
    rows = [one[backend, operator] for one in runs for backend in backends if (backend, operator) in one]
    header = ("date", "run", "release", *(line.who for line in lines))
    table = [
        (key[0][:10], key[1], version, *(share_text(values[run]) for values in groups))
        for run, (key, version) in enumerate(zip(keys, versions, strict=True))
    ]
    foreign = all(row["is_foreign"] for row in rows)
    return Panel(operator, anchor, foreign, lines, tuple(marks(versions)), (header, *table))


def counts_of(row: Row | None) -> tuple[int, int] | None:
    """Calibrated elements that deviate and were judged; None where none were, or the run does not say."""
    if row is None or not row["judged_calibrated"]:
        return None
    return int(row["deviating_calibrated"]), int(row["judged_calibrated"])


def share_text(counts: tuple[int, int] | None) -> str:
    return f"{percent(*counts)} ({counts[0]:,} of {counts[1]:,})" if counts else "–"


def height(counts: tuple[int, int] | None) -> float:
    """How high a share is drawn, in decades above 0; nothing is as low as 0."""
    if counts is None or not counts[0]:
        return 0.0
    return 1 + max(0.0, math.log10(counts[0] / counts[1]) - LEAST)


def y_of(decades: float) -> float:
    """The first decade above 0 is short: it stands for everything that small."""
    return ZERO if not decades else ZERO - 12 - (decades - 1) * STEP


def x_of(run: float, runs: int) -> float:
    return LEFT + (run + 0.5) * (WIDTH - LEFT) / runs


def line_of(
    backends: tuple[str, ...],
    values: Sequence[tuple[int, int] | None],
    keys: Sequence[tuple[str, str]],
    versions: Sequence[str],
    at: int,
) -> Line:
    dots, path, pen = [], "", "M"
    for run, (counts, (created, name), version) in enumerate(zip(values, keys, versions, strict=True)):
        if counts is None:
            pen = "M"
            continue
        x, y = x_of(run, len(values)), y_of(height(counts))
        path, pen = f"{path}{pen}{x:.1f} {y:.1f}", "L"
        dots.append(Dot(round(x, 1), round(y, 1), f"{created[:10]} {version}, {name}: {share_text(counts)}"))
    before, last = (percent(*counts) if (counts := values[run]) else "–" for run in (at, -1))
    first, final = values[at], values[-1]
    alike = first is not None and final is not None and first[1] == final[1]  # else the runs judged other cases
    move = height(final) - height(first) if alike else 0.0
    return Line(backends, path, tuple(dots), before, last, move)


def marks(versions: Sequence[str]) -> Iterable[tuple[float, str]]:
    """Where each release begins, with its name; without it where there is no room."""
    free = 0.0
    for run, version in enumerate(versions):
        if run and version == versions[run - 1]:
            continue
        x = x_of(run - 0.5, len(versions)) if run else float(LEFT)
        name = release(version)
        named = x >= free and x + LETTER * len(name) <= WIDTH
        yield round(x, 1), name if named else ""
        free = x + LETTER * (len(name) + 1) if named else free


def releases_of(
    anchor: str, library: str, keys: Sequence[tuple[str, str]], runs: Sequence[Rows], versions: Sequence[str]
) -> Iterable[Release]:
    """The releases in the order of their first run, each as its last run shows it."""
    last = {version: run for run, version in enumerate(versions)}
    before = ""
    for number, version in enumerate(last):
        rows = runs[last[version]]
        changes = cause_changes(runs[last[before]], rows) if before else {}
        created, _ = keys[last[version]]
        yield Release(f"{anchor}-{number}", library, version, before, created, *figures_of(rows), changes)
        before = version


def figures_of(rows: Rows) -> tuple[str, bool, int, int]:
    """The share that deviates, whether another's document says so, and the numbers of root causes and failures."""
    judged = [row for row in rows.values() if row["judged_calibrated"]]
    own = [row for row in judged if not row["is_foreign"]]
    sums = (sum(int(row[name]) for row in own or judged) for name in ("deviating_calibrated", "judged_calibrated"))
    causes = {(operator, cause) for (_, operator), row in rows.items() for cause in row["causes"]}
    return percent(*sums), bool(judged) and not own, len(causes), sum(row["failures"] for row in rows.values())


def cause_changes(before: Rows, after: Rows) -> dict[str, list[tuple[str, str, int, int]]]:
    """Root causes that are new, changed and gone, each with its operator and both numbers of elements.

    Only what ran in both runs counts; a cause is changed only where the same cases, or as many elements, were judged.
    """
    shared = [key for key in after if after[key]["ran"] and key in before and before[key]["ran"]]
    old, new = (cause_counts(one, shared) for one in (before, after))
    alike = {key[1]: True for key in shared}
    for key in shared:
        alike[key[1]] &= judged_cases(before[key]) == judged_cases(after[key])
    found: dict[str, list[tuple[str, str, int, int]]] = {"new": [], "changed": [], "gone": []}
    for key in dict.fromkeys([*new, *old]):
        status = "new" if key not in old else "gone" if key not in new else "changed" if alike[key[0]] else ""
        if status and old[key] != new[key]:
            found[status].append((*key, old[key], new[key]))
    return found


def judged_cases(row: Row) -> object:
    """What is equal where the same cases were judged: a digest of them where there is one, else their elements."""
    return row.get("ran_cases", row["judged"])


def cause_counts(rows: Rows, keys: Iterable[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """The elements of each operator's root causes, over the configurations."""
    counts: Counter[tuple[str, str]] = Counter()
    for backend, operator in keys:
        for cause, elements in rows[backend, operator]["causes"].items():
            counts[operator, cause] += elements
    return counts
