"""Makes docs/report.png and docs/report-cause.png from a run: `python docs/make_screenshots.py RUN_DIR [CAUSE]`.

RUN_DIR is a run folder; CAUSE a text in the first line of the cause to show, by default the first with a staircase. A
run without one leaves report-cause.png as it is.
Needs Playwright from PyPI and a Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tiebreak.reports.html import write_report
from tiebreak.reports.records import Run, read_run

HERE = Path(__file__).parent
TOP = {"width": 1280, "height": 880}


def main(run_dir: Path, cause: str = "") -> None:
    """Build the report of the run, and take pictures of its top with the matrix, and of one cause."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        path = Path(name) / "report.html"
        write_report(path, nameless(read_run(run_dir), run_dir), run_dir.name)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=TOP)
        page.goto(path.as_uri())
        if page.locator("#causes .staircase").count():
            one_cause(page, cause)
        top_with_matrix(page)
        browser.close()


def nameless(run: Run, run_dir: Path) -> Run:
    """The run without the place where its folder lies."""
    return replace(run, info=run.info | {"command": run.info["command"].replace(str(run_dir), run_dir.name)})


def one_cause(page: Any, cause: str) -> None:
    found = page.locator("#causes > details").filter(has=page.locator(".staircase"))
    if cause:
        found = page.locator("#causes > details").filter(has=page.locator("summary", has_text=cause))
    anchor = found.first.get_attribute("id")
    page.evaluate("id => { document.getElementById(id).open = true; }", anchor)
    found.first.screenshot(path=HERE / "report-cause.png")


def top_with_matrix(page: Any) -> None:
    """The headline, the causes, all folded, and the matrix; the filters are folded, too."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = false; })")
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=HERE / "report.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3])
