"""The Jinja environment of the site's pages: the report's, with addresses and what its templates call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from tiebreak.reports.cards import packed
from tiebreak.reports.comparison_page import page_environment
from tiebreak.reports.page import visible
from tiebreak.reports.page_grid import grid_cell
from tiebreak.reports.report_data import example_of
from tiebreak.reports.severity import severity, share_text
from tiebreak.reports.site.addresses import cause_page, file_name, library_page, run_page
from tiebreak.reports.site.cause_history import CauseHistory
from tiebreak.reports.site.run_facts import RunFacts
from tiebreak.version import __version__

STYLES = ("report.css", "changes.css", "site.css")
SCRIPTS = ("pictures.js", "site.js", "compare.js", "search.js")


def site_environment() -> Environment:
    environment = page_environment()
    environment.filters |= {"cause_page": cause_page, "library_page": library_page, "run_page": run_page}
    environment.filters |= {"file_name": file_name, "grid_cell": grid_cell, "severity": severity, "share": share_text}
    environment.filters |= {"example": example_of, "packed": packed, "markup": Markup, "libraries": libraries_text}
    environment.filters |= {"groupby_key": by_library_of_key, "escaped": lambda text: escape(str(text))}
    environment.globals |= {"tiebreak": __version__}
    return environment


def libraries_text(run: RunFacts) -> str:
    """The libraries of a run with their releases."""
    pairs = dict.fromkeys(f"{cell.library} {cell.release}" for cell in run.cells)
    return str(visible(", ".join(pairs)))


def by_library_of_key(histories: Iterable[CauseHistory]) -> list[tuple[str, list[CauseHistory]]]:
    """The causes of each library, which are together already."""
    return [(name, list(own)) for name, own in groupby(histories, key=lambda one: one.key.library)]


def assets(environment: Environment) -> Mapping[str, str]:
    """The styles and scripts that the pages share, by their names in the site."""
    sources: dict[str, str] = {"site.css": "".join(source_of_template(environment, name) for name in STYLES)}
    return sources | {name: source_of_template(environment, name) for name in SCRIPTS}


def source_of_template(environment: Environment, name: str) -> str:
    loader: Any = environment.loader
    source: str = loader.get_source(environment, name)[0]
    return source
