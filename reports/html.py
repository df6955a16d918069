"""The HTML report: one self-contained file.

Its only script is Tiebreak's, allowed by hash, and reads its data from attributes of the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, UndefinedError
from markupsafe import Markup

from tiebreak.golden.errors import DamagedFile
from tiebreak.golden.operator_names import source_of
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.rounding import ROUND_MODES, short_mode
from tiebreak.golden.verdicts import FOREIGN, RAN, VERDICTS
from tiebreak.reports.cards import Card, cards_of
from tiebreak.reports.first_screen import News, headlines, library_rows, what_ran
from tiebreak.reports.libraries import release
from tiebreak.reports.page import MENU, BoundedRows, Menu, environment_of, json_text, mode_text, page_fits, visible
from tiebreak.reports.page_grid import grid_cell, grid_rows
from tiebreak.reports.page_tables import report_tables
from tiebreak.reports.records import Run, write_aside
from tiebreak.reports.report_data import (
    LONGEST_COMMAND,
    MOST_OF_ONE,
    SAMPLES,
    Names,
    case_counts,
    names_of,
    numbers_text,
)
from tiebreak.reports.rows import Example
from tiebreak.reports.story import Chapter, story
from tiebreak.reports.summary import shown_counts

if TYPE_CHECKING:
    import pandas as pd

MOST = {
    "libraries": 24,
    "headlines": 24,
    "grid": 40,
    "matrix": 200,
    "modes": 400,
    "verdicts": 400,
    "forbidden": 300,
    "paths": 120,
    "pairs": 400,
    "releases": 400,
    "relations": 200,
    "observed": 700,
    "reasons": 120,
    "plots": 24,
    "backends": 60,
}
DIMS = {  # which filters the rows of a chapter know of, by letter
    "itself": "b o t",
    "own": "b o m t f c v u w y",
    "failures": "b o v",
    "calls": "b o c v",
    "hazards": "b o m t f c v u w y",
    "silent": "b o v",
}


@dataclass(frozen=True)
class Size:
    """How much a page has: a share of the rows of its tables, and so many samples of each cause.

    `data`, `pictures` and `bodies` say how many findings of a chapter, the most severe ones, have samples, have a
    picture and open to something. None loses its line.
    """

    tables: float
    samples: int
    data: int
    pictures: int
    bodies: int


# Tried in turn until the page is small enough.
SIZES = (
    Size(1, MOST_OF_ONE, 300, 300, 1000), Size(1, 30, 300, 300, 1000), Size(1, SAMPLES, 300, 300, 1000),
    Size(1, 4, 300, 300, 1000), Size(1, 3, 300, 300, 1000),
    Size(1, 2, 300, 300, 1000), Size(0.7, 2, 250, 200, 800), Size(0.5, 1, 200, 120, 600), Size(0.3, 1, 150, 60, 400),
    Size(0.15, 1, 100, 30, 200), Size(0.05, 1, 50, 10, 100), Size(0.02, 1, 20, 5, 40), Size(0.02, 1, 5, 0, 10),
)  # fmt: skip


def write_report(path: Path, run: Run, folder: str, news: News | None = None, asked: Sequence[Example] = ()) -> None:
    """Write the report aside and rename it into place."""
    text = render(run, folder, news, asked)
    write_aside(path, lambda aside: aside.write_text(text, encoding="utf-8"))


def render(
    run: Run, folder: str, news: News | None = None, asked: Sequence[Example] = (), home: str = "", menu: Menu = MENU
) -> str:
    """The page, always less than 2 MB: rows and samples are left out until it fits. What is `asked` for stays.

    `home` is where a site is that the page belongs to, as "../../", and `menu` the site's; then the records do not lie
    beside it.
    Raises DamagedFile if the records are incomplete.
    """
    try:
        facts, environment = facts_of(run, folder, news, asked, home) | {"menu": menu}, report_environment()
        return next(page for size in SIZES if page_fits(page := page_of(environment, facts, size)) or size == SIZES[-1])
    except (LookupError, TypeError, AttributeError, ValueError, UndefinedError) as error:
        raise DamagedFile(f"{folder}: damaged run: {type(error).__name__} in its records: {error}") from error


def facts_of(run: Run, folder: str, news: News | None, asked: Sequence[Example], home: str) -> dict[str, Any]:
    """The template's values, with more rows than may fit."""
    names = names_of(run)
    counts, typed = case_counts(run, names)
    chapters = story(run)
    cards = cards_of(run, chapters, names, asked)
    return {
        "info": run.info,
        "folder": folder,
        "names": names,
        "verdicts": VERDICTS,
        "modes": [short_mode(mode) for mode in ROUND_MODES],
        "cube": numbers_text(counts),
        "cube_dims": "b o m t v" if typed else "b o m v",
        "for_script": json_text({**for_script(run, folder, names), "records": not home}),
        "home": home,
        "example_query": example_query(names),
        "story": [chapter_row(number, chapter, cards) for number, chapter in enumerate(chapters, start=1)],
        "tables": {name: BoundedRows(list(rows)) for name, rows in report_tables(run, names).items()},
        "discrepancies": len(run.discrepancies),
        "own_deviations": deviations(run.results),
        **first_screen(run, chapters, names, news),
        "news": news,
    }


def for_script(run: Run, folder: str, names: Names) -> dict[str, Any]:
    """What the page's script needs to know of the run."""
    specs = {str(backend["name"]): str(backend["spec"]) for backend in run.info["backends"]}
    return {
        "folder": folder,
        "level": run.info["level"],
        "backends": names.backend,
        "specs": [specs.get(name, name) for name in names.backend],
        "operators": list(OPERATORS),
        "modes": [mode_text(mode) for mode in ROUND_MODES],
        "longest": LONGEST_COMMAND,
    }


def example_query(names: Names) -> str:
    """What one could type into the field for text."""
    first = next(iter(names.backend), "backend")
    return " ".join([f"{visible(first)[:20]}:deviates", *(f"{visible(one)[:20]}:exact" for one in names.backend[1:2])])


def first_screen(run: Run, chapters: Sequence[Chapter], names: Names, news: News | None) -> dict[str, Any]:
    """What is seen at once: what ran, the libraries, the findings that matter most, the matrix."""
    libraries, counts = library_rows(run, chapters), shown_counts(run.results)
    operators = sorted({operator for _, operator in counts})
    grid = [
        {
            "label": label,
            "backend": backend,
            "first": names.at("backend", backend),
            "b": " ".join(str(names.at("backend", one)) for one in same),
            "cells": [grid_cell(counts.get((backend, one), {})) for one in operators],
        }
        for label, backend, same in grid_rows(run, counts)
    ]
    shown: dict[str, Sequence[Any]] = {
        "libraries": libraries,
        "headlines": headlines(run, chapters, news),
        "grid": grid,
    }
    bounded = {name: BoundedRows(rows).cut(MOST[name]) for name, rows in shown.items()}
    sources = Counter(map(source_of, operators))
    return bounded | {"ran": what_ran(run, libraries), "operators": operators, "sources": list(sources.items())}


def deviations(results: pd.DataFrame) -> dict[str, int]:
    """How many of the cases that ran differ from a document that their backend claims, and in how many operators."""
    own = results[(results["verdict"] == "deviates") & (results["document"] != FOREIGN)]
    asked = results[results["verdict"].isin(RAN) & (results["document"] != FOREIGN)]
    return {
        "cases": len(own),
        "ran": len(asked),
        "operators": own["operator"].nunique(),
        "asked": asked["operator"].nunique(),
    }


def chapter_row(number: int, chapter: Chapter, cards: Sequence[Card]) -> dict[str, Any]:
    """A chapter for the template."""
    own = [card for card in cards if card.chapter == chapter.id]
    shared = {"number": number, "id": chapter.id, "title": chapter.title, "text": chapter.text}
    return {**shared, "count": len(own or chapter.findings), "cards": own, "dims": DIMS[chapter.id]}


def page_of(environment: Environment, facts: dict[str, Any], size: Size) -> str:
    """The page of a size."""
    most = {name: max(1, int(count * size.tables)) for name, count in MOST.items()}
    smaller: dict[str, Any] = {"cube": facts["cube"] if size.tables > 0.2 else "[]"}
    chapters = [chapter | {"cards": list(drawn_cards(chapter["cards"], size))} for chapter in facts["story"]]
    smaller |= {"story": chapters, "chapters": {one["id"]: one for one in chapters}}
    smaller["tables"] = {name: table.cut(most[name]) for name, table in facts["tables"].items()}
    return environment.get_template("report.html.j2").render(facts | smaller)


def drawn_cards(cards: Sequence[Card], size: Size) -> Iterator[tuple[Card, Mapping[str, Any] | None, Markup]]:
    """Each card with its facts and its data as far as the size allows them."""
    for number, card in enumerate(cards):
        data = card.data(size.samples if number < size.data else 0, number < size.pictures)
        yield card, card.facts if number < size.bodies else None, json_text(data) if data else Markup("")


def by_library(cards: Sequence[tuple[Card, Any, Any]]) -> list[tuple[str, list[tuple[Card, Any, Any]]]]:
    """The cards of each library, which are together already."""
    return [(short_library(name), list(own)) for name, own in groupby(cards, key=lambda card: card[0].library)]


def short_library(name: str) -> str:
    """A library and its release, without what follows the release's numbers."""
    library, _, version = name.rpartition(" ")
    return f"{library} {release(version)}"


def report_environment() -> Environment:
    environment = environment_of()
    environment.filters["groupby_library"] = by_library
    return environment
