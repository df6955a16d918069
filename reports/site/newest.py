"""What each backend's release does, by many runs: the newest one that asked counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tiebreak.reports.libraries import folded_name, release, release_order
from tiebreak.reports.site.run_facts import RunFacts, SiteCell

Cells = Mapping[str, SiteCell]  # by operator


@dataclass(frozen=True)
class ReleaseRow:
    """A row of the matrix: configurations of a library's release that gave equal bits. `age` is 0 in the newest."""

    library: str
    version: str
    backends: tuple[str, ...]
    cells: Cells
    age: int

    @property
    def label(self) -> str:
        return folded_name(self.backends)

    @property
    def release(self) -> str:
        return release(self.version)


def release_rows(runs: Iterable[RunFacts]) -> list[ReleaseRow]:
    """The rows by library, in each the newest release first. `runs` are the newest first."""
    by_release: dict[tuple[str, str], dict[str, dict[str, SiteCell]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        for cell in run.cells:
            by_release[cell.library, cell.release][cell.backend].setdefault(cell.operator, cell)
    versions: dict[str, list[str]] = defaultdict(list)
    for library, version in by_release:
        versions[library].append(version)
    return [
        ReleaseRow(library, version, names, by_release[library, version][names[0]], age)
        for library in sorted(versions, key=str.lower)
        for age, version in enumerate(sorted(versions[library], key=release_order, reverse=True))
        for names in equal_backends(by_release[library, version])
    ]


def equal_backends(cells: Mapping[str, Cells]) -> Iterator[tuple[str, ...]]:
    """The backends in groups that gave equal bits in the runs that count."""
    groups: list[list[str]] = []
    for name in sorted(cells, key=lambda one: (len(one), one)):
        group = next((group for group in groups if are_equal(cells[group[0]], cells[name], group, name)), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return map(tuple, groups)


def are_equal(one: Cells, other: Cells, group: Sequence[str], name: str) -> bool:
    return one.keys() == other.keys() and all(
        cell.run == other[operator].run and cell.counts == other[operator].counts and {*group, name} <= {*cell.equal}
        for operator, cell in one.items()
    )


def newest_cells(runs: Iterable[RunFacts]) -> dict[tuple[str, str, str], SiteCell]:
    """By library, backend and operator the cell of the newest release, and of its runs the newest one."""
    found: dict[tuple[str, str, str], SiteCell] = {}
    for run in runs:
        for cell in run.cells:
            key = cell.library, cell.backend, cell.operator
            if key not in found or release_order(cell.release) > release_order(found[key].release):
                found[key] = cell
    return found
