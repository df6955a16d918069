"""Every page of the site but the runs' reports, each with its JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jinja2 import Environment

from tiebreak.golden.operator_names import source_of
from tiebreak.golden.untrusted_text import plural
from tiebreak.reports.history_page import scale_of_pictures
from tiebreak.reports.site import documents
from tiebreak.reports.site.addresses import CauseKey, cause_page, library_page
from tiebreak.reports.site.badges import Badge, badge_files, badge_of
from tiebreak.reports.site.cause_history import CauseHistory, cause_histories
from tiebreak.reports.site.cause_page import cause_facts
from tiebreak.reports.site.changes import STATUSES, LibraryChange, changes_of, present_names
from tiebreak.reports.site.collection import SiteFacts
from tiebreak.reports.site.feed import feed_of
from tiebreak.reports.site.library_page import library_facts, library_trends
from tiebreak.reports.site.newest import ReleaseRow, newest_cells, release_rows
from tiebreak.reports.site.run_facts import RunFacts
from tiebreak.reports.site.search_index import search_entries

SIGNS_OF = dict(zip(STATUSES, "+~−→", strict=True))
MOST = {"most_changes": 8, "most_runs": 12, "most_rows": 200, "most_in_library": 120}
MOST_RELEASES, MOST_CELLS = 3, 1000  # of the matrix of the first page
File = tuple[str, str]  # its place in the site and its text


@dataclass(frozen=True)
class Pages:
    """Makes the files of the site from the facts; `address` is where the site will be, or empty."""

    facts: SiteFacts
    environment: Environment
    address: str

    def files(self) -> Iterator[File]:
        yield from self.index()
        yield from self.lists()
        for one in self.histories:
            yield from self.cause(one)
        for library in dict.fromkeys(row.library for row in self.rows):
            yield from self.library(library)
        yield from badge_files(self.environment, self.badges)
        yield "feed.xml", self.feed()

    @cached_property
    def histories(self) -> list[CauseHistory]:
        return cause_histories(self.facts, self.present)

    @cached_property
    def all_changes(self) -> list[LibraryChange]:
        return changes_of(self.facts)

    @cached_property
    def changes(self) -> list[LibraryChange]:
        """The news."""
        return [one for one in self.all_changes if one.is_news]

    @cached_property
    def present(self) -> dict[CauseKey, CauseKey]:
        return present_names(self.all_changes)

    @cached_property
    def rows(self) -> list[ReleaseRow]:
        return release_rows(self.facts.runs)

    @cached_property
    def badges(self) -> list[Badge]:
        """The badges of each backend's operators, by name."""
        return [badge_of(cell) for _, cell in sorted(newest_cells(self.facts.runs).items())]

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What every page knows."""
        runs = self.facts.runs
        days = dict.fromkeys((runs[-1].created[:10], runs[0].created[:10]))
        words = {one.key: one.sighting.text for one in self.histories}
        known = {"runs": runs, "skipped": self.facts.skipped, "words": words, "signs_of": SIGNS_OF}
        return known | {"runs_text": f"{plural(len(runs), 'run')}, {' to '.join(days)}", **MOST, **scale_of_pictures()}

    def page(self, name: str, template: str, facts: Mapping[str, Any], document: Any) -> Iterator[File]:
        """A page and the JSON beside it."""
        where = {"page": name, "root": "../" * name.count("/")}
        yield name, self.environment.get_template(f"{template}.html.j2").render(**self.shared, **where, **facts)
        yield f"{name.removesuffix('.html')}.json", json_text_of(document)

    def index(self) -> Iterator[File]:
        releases = releases_that_fit(self.rows)
        shown = [row for row in self.rows if row.age < releases]
        there = Counter("foreign" if one.sighting.foreign else "own" for one in self.histories if one.there)
        facts = {
            "rows": shown,
            "older_left": len(shown) < len(self.rows),
            "most_releases": releases,
            "there": there,
            "changes": self.changes,
        }
        facts |= {"libraries": {row.library for row in shown}, **columns(shown)}
        document = {
            "runs": len(self.facts.runs),
            "newest": self.facts.runs[0].created,
            "rows": [documents.row_json(row) for row in shown],
            "changes": [documents.change_json(one) for one in self.changes[: MOST["most_changes"]]],
            "skipped": self.facts.skipped,
        }
        yield from self.page("index.html", "site_index", facts, document)

    def lists(self) -> Iterator[File]:
        """The pages of all causes, runs and badges, the comparison and the search."""
        causes = [documents.history_json(one) for one in self.histories]
        runs = [documents.run_json(run) for run in self.facts.runs]
        entries = search_entries(self.histories, self.rows, self.facts.runs)
        yield from self.page("causes.html", "site_causes", {"histories": self.histories}, {"causes": causes})
        before = earlier_runs(self.facts.runs)
        facts: dict[str, Any] = {"before": before}
        yield from self.page("runs.html", "site_runs", facts, {"runs": runs, "skipped": self.facts.skipped})
        renamed = {cause_page(old): cause_page(new) for old, new in self.present.items()}
        chosen = before.get(self.facts.runs[0].name, self.facts.runs[-1].name), self.facts.runs[0].name
        facts = {"renamed": renamed, "chosen": chosen}
        yield from self.page("compare.html", "site_compare", facts, {"runs": runs})
        yield from self.page("search.html", "site_search", {}, {"entries": entries})
        yield "search-index.js", f"window.tiebreakIndex = {json.dumps(entries, separators=(',', ':'))};\n"
        badges = [documents.badge_json(one) for one in self.badges]
        yield from self.page("badges.html", "site_badges", {"all_badges": self.badges}, {"badges": badges})

    def cause(self, one: CauseHistory) -> Iterator[File]:
        level = next(run.level for run in self.facts.runs if run.name == one.sighting.run)
        facts = cause_facts(one, level)
        more = {name: facts[name] for name in ("rule", "issue", "repro", "replay")}
        yield from self.page(cause_page(one.key), "site_cause", facts, documents.cause_json(one, more))

    def library(self, library: str) -> Iterator[File]:
        rows = [row for row in self.rows if row.library == library]
        own = [one for one in self.histories if one.key.library == library]
        changes = [one for one in self.changes if one.library == library]
        badges = [one for one in self.badges if one.cell.library == library]
        facts = library_facts(rows, self.trends.get(library), badges) | columns(rows) | {"own": own}
        document = {
            "library": library,
            "rows": [documents.row_json(row) for row in rows],
            "causes": [documents.history_json(one) for one in own],
            "changes": [documents.change_json(one) for one in changes],
        }
        yield from self.page(library_page(library), "site_library", {**facts, "changes": changes}, document)

    @cached_property
    def trends(self) -> Mapping[str, Any]:
        return library_trends(self.facts.runs)

    def feed(self) -> str:
        def content(one: LibraryChange) -> str:
            return self.environment.get_template("site_entry.html.j2").render(**self.shared, one=one, root=self.address)

        feed = feed_of(self.changes, self.facts.runs[0].created, self.address, content)
        return self.environment.get_template("site_feed.xml.j2").render(feed=feed)


def releases_that_fit(rows: Sequence[ReleaseRow]) -> int:
    """How many releases of each library the first page shows: as many as make no more than MOST_CELLS, at least one."""
    operators = len({operator for row in rows for operator in row.cells})
    sizes = {most: operators * sum(row.age < most for row in rows) for most in range(MOST_RELEASES, 0, -1)}
    return next((most for most, cells in sizes.items() if cells <= MOST_CELLS), 1)


def earlier_runs(runs: Sequence[RunFacts]) -> dict[str, str]:
    """For each run the last one before it that asked a backend of it for the same operator."""
    last: dict[tuple[str, str], int] = {}
    found = {}
    for number, run in enumerate(reversed(runs)):
        asked = {(cell.backend, cell.operator) for cell in run.cells}
        places = [last[key] for key in asked if key in last]
        if places:
            found[run.name] = runs[len(runs) - 1 - max(places)].name
        last |= dict.fromkeys(asked, number)
    return found


def columns(rows: list[ReleaseRow]) -> dict[str, Any]:
    """The operators of a matrix, and how many of them each document has."""
    operators = sorted({operator for row in rows for operator in row.cells})
    return {"operators": operators, "sources": list(Counter(map(source_of, operators)).items())}


def json_text_of(document: Any) -> str:
    return json.dumps(document, indent=1) + "\n"
