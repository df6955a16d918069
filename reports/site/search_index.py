"""The index of the search: a line for each cause, library, operator and run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tiebreak.golden.untrusted_text import one_line
from tiebreak.reports.libraries import release
from tiebreak.reports.report_data import example_of
from tiebreak.reports.site.addresses import cause_page, file_name, library_page, run_page
from tiebreak.reports.site.cause_history import CauseHistory
from tiebreak.reports.site.newest import ReleaseRow
from tiebreak.reports.site.run_facts import RunFacts

LONGEST = 240  # characters of a text
Entry = tuple[str, str, str, str]  # kind, title, detail, address


def search_entries(
    histories: Iterable[CauseHistory], rows: Iterable[ReleaseRow], runs: Iterable[RunFacts]
) -> list[Entry]:
    entries = (*cause_entries(histories), *library_entries(rows), *run_entries(runs))
    return [(kind, one_line(title, LONGEST), one_line(detail, LONGEST), to) for kind, title, detail, to in entries]


def cause_entries(histories: Iterable[CauseHistory]) -> Iterator[Entry]:
    for one in histories:
        row, state = one.sighting.row, "" if one.there else "not seen any more; "
        types = ", ".join(row["types"][:4])
        detail = f"{state}{release(one.last.release)}; {row['clause']}; {types}; {example_of(row)}"
        yield "cause", f"{one.key.library}, {one.key.operator}: {one.sighting.text}", detail, cause_page(one.key)


def library_entries(rows: Iterable[ReleaseRow]) -> Iterator[Entry]:
    """Each library once, and each operator of it."""
    names: dict[str, dict[str, None]] = {}
    configurations: dict[str, dict[str, None]] = {}
    for row in rows:
        names.setdefault(row.library, {}).update(dict.fromkeys(row.cells))
        configurations.setdefault(row.library, {}).update(dict.fromkeys(row.backends))
    for library, operators in names.items():
        yield "library", library, ", ".join(configurations[library]), library_page(library)
        for operator in sorted(operators):
            yield "operator", f"{operator} on {library}", "", f"{library_page(library)}#{file_name(operator)}"


def run_entries(runs: Iterable[RunFacts]) -> Iterator[Entry]:
    for run in runs:
        libraries = ", ".join(dict.fromkeys(f"{cell.library} {release(cell.release)}" for cell in run.cells))
        yield "run", run.name, f"{run.created[:10]}, {run.level}; {libraries}", run_page(run.name)
