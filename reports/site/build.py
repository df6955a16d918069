"""Builds the site: each run's report while its tables are in memory, then every other page from the facts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.reports.history_page import history_page
from tiebreak.reports.html import render
from tiebreak.reports.page import MENU, RELEASES, Menu
from tiebreak.reports.records import Run
from tiebreak.reports.run_folders import run_folders
from tiebreak.reports.site.addresses import file_name
from tiebreak.reports.site.collection import collect
from tiebreak.reports.site.documents import cells_script
from tiebreak.reports.site.environment import assets, site_environment
from tiebreak.reports.site.folder import check_site_folder, replaced
from tiebreak.reports.site.pages import Pages, json_text_of
from tiebreak.reports.site.run_facts import RunFacts
from tiebreak.reports.summary import json_summary


@dataclass(frozen=True)
class Built:
    """What was built: how many runs and causes, and the folders that are no whole run with the reasons."""

    runs: int
    causes: int
    skipped: tuple[tuple[str, str], ...]


def build_site(runs: Path, folder: Path, address: str = "", history: Mapping[str, Any] | None = None) -> Built:
    """Build the site of the runs in a folder; `address` is where it will be, with a slash at its end.

    With a `history` by release, as conformance.gate.history_at returns it, the site has a page of its trends.

    InvalidInput if there is no whole run, or the folder is not a site's.
    """
    run_folders(runs)  # a mistake is told before anything is written
    check_site_folder(folder, runs)
    menu = MENU if history is None else (*MENU, RELEASES)
    with replaced(folder) as part:
        facts = collect(runs, lambda facts, run: write_report(part, facts, run, menu))
        if not facts.runs:
            name, problem = facts.skipped[0]
            raise InvalidInput(f"{runs}: no whole run in it: {problem}")
        environment = site_environment()
        environment.globals["menu"] = menu
        for name, text in [*assets(environment).items(), *Pages(facts, environment, address).files()]:
            write(part / name, text)
        if history is not None:
            write(part / RELEASES[1], history_page(history, menu))
            write(part / RELEASES[1].replace(".html", ".json"), json_text_of(history))
    return Built(len(facts.runs), len(facts.newest), facts.skipped)


def write_report(part: Path, facts: RunFacts, run: Run, menu: Menu) -> None:
    """The report of a run, its JSON, and what the comparison reads of it."""
    name = file_name(facts.name)
    place = part / "runs" / name
    page = render(run, facts.name, home="../../", menu=menu)
    summary = {"created": facts.created, **json_summary(run, facts.name)}
    script = json.dumps(cells_script(facts), separators=(",", ":"))
    write(place / "report.html", page)
    write(place / "report.json", json_text_of(summary))
    write(place / "cells.js", f'(window.tiebreakRuns ??= {{}})["{name}"] = {script};\n')


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
