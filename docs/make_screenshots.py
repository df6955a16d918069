"""Makes the pictures of the pages' states in docs/: `python docs/make_screenshots.py RUN_DIR EARLIER_RUN_DIR`.

The report is that of RUN_DIR, and its root cause the first that has a picture. The pages of what changed have both.
Needs Playwright from PyPI and a Chromium.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tiebreak.reports.html import write_report
from tiebreak.reports.records import Run, read_run

HERE = Path(__file__).parent
SCREEN = {"width": 1440, "height": 900}
NARROW = {"width": 360, "height": 760}


def main(run_dir: Path, earlier: Path) -> None:
    """Build the pages of the runs, and take a picture of each state."""
    run = read_run(run_dir)
    cause = next(str(row["id"]) for row in run.info["clusters"] if row.get("picture"))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        path = Path(name) / "report.html"
        write_report(path, nameless(run, run_dir), run_dir.name)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        first_screens(browser, path)
        one_cause(browser, path, cause)
        filtered(browser, path)
        changes(browser, Path(name), earlier, run_dir)
        browser.close()


def nameless(run: Run, run_dir: Path) -> Run:
    """The run without the place where its folder lies."""
    return replace(run, info=run.info | {"command": run.info["command"].replace(str(run_dir), run_dir.name)})


def first_screens(browser: Any, path: Path) -> None:
    """What is seen first: light, dark, and on a narrow screen."""
    for name, size, scheme in (
        ("report", SCREEN, "light"), ("report-dark", SCREEN, "dark"), ("report-narrow", NARROW, "light")
    ):  # fmt: skip
        page = browser.new_page(viewport=size, color_scheme=scheme)
        page.goto(path.as_uri())
        page.screenshot(path=HERE / f"{name}.png")
        page.close()


def one_cause(browser: Any, path: Path, cause: str) -> None:
    """A card that is open, and everything about its first discrepancy."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(f"{path.as_uri()}#{cause}")
    page.wait_for_timeout(300)
    card = page.locator(f"#{cause}")
    card.screenshot(path=HERE / "report-cause.png")
    card.locator(".sample a").first.click()
    page.wait_for_timeout(300)
    card.locator(".sample").first.screenshot(path=HERE / "report-discrepancy.png")
    page.close()


def filtered(browser: Any, path: Path) -> None:
    """A question across backends: the findings and the matrix that are left."""
    page = browser.new_page(viewport=SCREEN)
    page.goto(f"{path.as_uri()}#text=onnxruntime%3Adeviates%20onnx-reference%3Aexact&at=own")
    page.wait_for_timeout(300)
    page.screenshot(path=HERE / "report-filters.png")
    page.close()


def changes(browser: Any, folder: Path, earlier: Path, later: Path) -> None:
    """The pages of two runs: what changed, and the trend."""
    for name, run_dir in (("before", earlier), ("after", later)):
        shutil.copytree(run_dir, folder / "runs" / name)
    tiebreak = [sys.executable, "-m", "tiebreak"]
    subprocess.run(
        [*tiebreak, "compare", "runs/before", "runs/after", "--html", "compare.html"], cwd=folder, check=False
    )
    subprocess.run([*tiebreak, "history", "runs", "--html", "history.html"], cwd=folder, check=True)
    for name in ("compare", "history"):
        page = browser.new_page(viewport=SCREEN)
        page.goto((folder / f"{name}.html").as_uri())
        page.screenshot(path=HERE / f"{name}.png")
        page.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
