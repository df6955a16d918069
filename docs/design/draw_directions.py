"""Draws the three first screens that were compared: `python docs/design/draw_directions.py RUN_DIR`.

Each is a wireframe with the figures of a run: list.png, matrix.png and story.png beside this file. Needs Playwright
from PyPI and a Chromium.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

from playwright.sync_api import sync_playwright

from tiebreak.reports.first_screen import headlines, library_rows, what_ran
from tiebreak.reports.records import Run, read_run
from tiebreak.reports.severity import percent
from tiebreak.reports.story import story
from tiebreak.reports.summary import shown_counts
from tiebreak.reports.verdict_matrix import compact, folded_rows, mark_of

HERE = Path(__file__).parent
SCREEN = {"width": 960, "height": 600}
STYLE = """
body { font: 13px/1.4 system-ui, sans-serif; margin: 0; padding: 12px 16px; color: #333; width: 928px; height: 576px; }
h1 { font-size: 17px; margin: 0 0 6px; } h2 { font-size: 13px; margin: 8px 0 4px; }
.box { border: 1px solid #bbb; padding: 4px 8px; margin: 3px 0; } .soft { color: #888; }
table { border-collapse: collapse; font-size: 11px; } th { background: #f2f2f2; } th:first-child { text-align: left; }
td, th { border: 1px solid #ccc; padding: 2px 5px; text-align: center; font-weight: 400; }
.two { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; } .wide td { padding: 9px 11px; }
.two td, .two th { font-size: 9px; padding: 1px 3px; white-space: nowrap; } ol { padding-left: 18px; }
"""


def main(run_dir: Path) -> None:
    """Draw the three."""
    run = read_run(run_dir)
    pages = {"list": list_first(run), "matrix": matrix_first(run), "story": story_first(run)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SCREEN)
        for name, parts in pages.items():
            page.set_content(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{''.join(parts)}")
            page.screenshot(path=HERE / f"{name}.png")
        browser.close()


def list_first(run: Run) -> Iterator[str]:
    """A report as test frameworks write it: counts, then every failure, one below the other."""
    verdicts = run.results["verdict"].value_counts()
    yield "<h1>Run</h1>"
    yield f"<div class=box>{', '.join(f'{count:,} {escape(str(name))}' for name, count in verdicts.items())}</div>"
    for chapter in story(run):
        for one in chapter.findings[:40]:
            who, what, how_much = map(escape, (one.who, one.what, one.how_much))
            yield f"<div class=box>▸ {who} · {what} <span class=soft>{how_much}</span></div>"


def matrix_first(run: Run) -> Iterator[str]:
    """A report as dashboards of conformance have it: the table is the page, everything else is behind a cell."""
    yield "<h1>Backend × operator</h1><div class=box>search: backend:verdict …</div>"
    yield from matrix(run, "wide")


def story_first(run: Run) -> Iterator[str]:
    """Libraries, five sentences and the matrix on one screen; the findings follow in the order of the story."""
    chapters = story(run)
    libraries = library_rows(run, chapters)
    yield f"<h1>Report</h1><div class=soft>{escape(what_ran(run, libraries))}</div>"
    yield "<div class=two><div><h2>Libraries</h2><table>"
    for row in libraries:
        shares = (percent(part, row.judged) for part in (row.exact, row.as_written, row.deviates))
        cells = "".join(f"<td>{cell}</td>" for cell in (*shares, row.itself, row.failed))
        yield f"<tr><th>{escape(row.library)}</th>{cells}</tr>"
    yield "</table><h2>What matters most</h2><ol>"
    for one in headlines(run, chapters):
        yield f"<li>{escape(one.text)}</li>"
    yield "</ol></div><div><h2>Backend × operator</h2>"
    yield from matrix(run, "")
    yield f"</div></div><div class=box>{' · '.join(escape(chapter.title) for chapter in chapters)}</div>"


def matrix(run: Run, look: str) -> Iterator[str]:
    counts = shown_counts(run.results)
    operators = sorted({operator for _, operator in counts})
    heads = "".join(f"<th>{escape(one.partition('.')[2][:8])}</th>" for one in operators)
    yield f"<table class='{look}'><tr><th></th>{heads}</tr>"
    for label, backend in folded_rows(run.info, counts).items():
        marks = (mark_of(counts.get((backend, one), {})) for one in operators)
        cells = "".join(f"<td>{mark} {compact(number) if number else ''}</td>" for mark, number, _ in marks)
        yield f"<tr><th>{escape(label)}</th>{cells}</tr>"
    yield "</table>"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
