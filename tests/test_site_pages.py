"""The site's pages in a browser without a screen: wide and narrow, dark and light, by keyboard, with a hundred runs.

The default run has twelve runs on the site, the slow one a hundred: `pytest -m slow`, some minutes of one core.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import opened, until
from click.testing import CliRunner
from site_runs import called, many, real, renamed, wide, write_dated

from tiebreak.cli import main
from tiebreak.reports.html import render
from tiebreak.reports.site.addresses import CauseKey, cause_page

CAUSE = cause_page(CauseKey("mine", "onnx.QuantizeLinear", "floor-of-half-more"))
PAGES = ("index", "causes", "runs", "compare", "search", "badges", "libraries/mine", CAUSE.removesuffix(".html"))
LOOKS = [("light", 1440), ("dark", 360), ("dark", 1440), ("light", 360)]
MOST = {
    "index": 300_000,
    "causes": 300_000,
    "runs": 100_000,
    "compare": 60_000,
    "search": 10_000,
    "libraries/mine": 400_000,
}
BOX = ".scroll:has(> .grid)"


@pytest.fixture(scope="module", params=[12, pytest.param(100, marks=pytest.mark.slow)])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    result = CliRunner().invoke(main, ["site", str(many(folder / "runs", request.param)), "-o", str(folder / "site")])
    assert result.exit_code == 0, result.output
    return folder / "site"


def options(scheme: str, width: int) -> dict[str, Any]:
    return {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}


@pytest.mark.few(1)
@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_no_page_scrolls_sideways_and_axe_finds_nothing(chromium: Any, site: Path, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for name in PAGES:
        with opened(chromium, site / f"{name}.html", **options(scheme, width)) as page:
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert paper == ("rgb(13, 17, 23)" if scheme == "dark" else "rgb(255, 255, 255)")
            found = Axe().run(page, options={"preload": False})  # the policy lets nothing read the style again
            assert found.violations_count == 0, (name, found.generate_report())


def test_pages_are_light(site: Path) -> None:
    for name, most in MOST.items():
        assert (site / f"{name}.html").stat().st_size < most, name
    assert (site / "site.css").stat().st_size < 40_000
    assert sum(path.stat().st_size for path in site.glob("*.js")) < 60_000


@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_reaches_everything_and_its_place_is_seen(chromium: Any, site: Path, name: str) -> None:
    """Tab goes through all that can be used, in the order of the page, and what has the focus has an outline."""
    with opened(chromium, site / f"{name}.html", **options("light", 1440)) as page:
        page.evaluate("document.activeElement.blur()")
        wanted = page.evaluate(
            "[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')]"
            ".filter(one => one.checkVisibility({visibilityProperty: true, contentVisibilityAuto: false}))"
            ".filter(one => !one.closest('details:not([open])') || one.matches('summary')).length"
        )
        page.evaluate("window.reached = new Set(), 0")
        for _ in range(wanted + 5):  # round the end, if the page put the focus somewhere
            page.keyboard.press("Tab")
            plain = page.evaluate(
                "(() => { const one = document.activeElement; if (one === document.body) return '';"
                " window.reached.add(one); const look = getComputedStyle(one);"
                " return look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) >= 2 ? '' : one.outerHTML; })()"
            )
            assert plain == ""
        seen = page.evaluate("window.reached.size")
        assert wanted > 5 and seen >= wanted


def test_the_skip_link_leads_past_the_menu(chromium: Any, site: Path) -> None:
    with opened(chromium, site / "index.html") as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


def test_older_releases_are_shown_when_asked_for(chromium: Any, site: Path) -> None:
    with opened(chromium, site / "index.html") as page:
        rows = page.locator(".matrix-of-runs tbody tr")
        assert rows.count() > 2 and page.locator(".matrix-of-runs tbody tr:visible").count() == 2
        page.check("#older")
        assert page.locator(".matrix-of-runs tbody tr:visible").count() == rows.count()


def test_a_cell_leads_to_its_cause_and_that_to_the_report_of_the_run(chromium: Any, site: Path) -> None:
    with opened(chromium, site / "index.html") as page:
        page.click(".matrix-of-runs td.fail a")
        assert "libraries/" in page.url and page.url.endswith("#onnx.QuantizeLinear")
        page.click(".cause-line a")
        assert "floor(q + 0.5)" in page.inner_text("h1")
        assert page.locator("#plot svg").count() >= 1 and "tiebreak repro C001 --run run-" in page.inner_text("#repro")
        page.click("#history tbody a >> nth=0")
        page.wait_for_selector("#C001[open]")
        page.click("nav.site a >> nth=0")
        assert page.url.endswith("/index.html")


def test_two_runs_stand_side_by_side_from_a_folder(chromium: Any, site: Path) -> None:
    """Runs 2 and 6 of mine are of two releases: the second lost the cause; theirs only the runs between have."""
    with opened(chromium, site / "compare.html") as page:
        until(page, "document.getElementById('said').textContent !== ''")
        assert page.inner_text("#said").startswith("Root causes:")
        page.select_option("select[name=a]", "run-002")
        page.select_option("select[name=b]", "run-006")
        until(page, "document.getElementById('said').textContent.includes('0 new, 0 changed, 1 gone')")
        assert page.inner_text("#compared td.pass") == "−1" and "mine 1.0.0 → 1.1.0" in page.inner_text("#compared")
        assert page.locator(f"#compared a[href='{CAUSE}']").count() == 1
        page.click("#swap")
        until(page, "document.getElementById('said').textContent.includes('1 new, 0 changed, 0 gone')")
        assert page.evaluate("location.hash") == "#a=run-006&b=run-002"
        page.select_option("select[name=a]", "run-003")
        until(page, "document.getElementById('said').textContent.includes('No case ran in both')")
        page.go_back()
        until(page, "document.getElementById('said').textContent.includes('1 new')")


def test_a_cause_with_another_name_stands_side_by_side_as_renamed(chromium: Any, tmp_path: Path) -> None:
    """Either way round; the page of each name leads to the other."""
    base = renamed(real(), "mine", "1.0")
    for day, run in enumerate((base, called(base, "other-id", "another sentence"))):
        write_dated(run, tmp_path / "runs" / f"run-{day}", day)
    assert CliRunner().invoke(main, ["site", str(tmp_path / "runs"), "-o", str(tmp_path / "site")]).exit_code == 0
    with opened(chromium, tmp_path / "site" / "compare.html") as page:
        for _ in range(2):
            until(page, "document.getElementById('said').textContent.includes('0 new, 0 changed, 0 gone, 1 renamed')")
            assert page.locator("#compared ul a").count() == 2 and page.inner_text("#compared td.same") == "→1"
            page.click("#swap")
        page.click("#compared ul a >> nth=0")
        page.click(".headline a, main > p.soft:not(.crumbs) a")
        assert "/causes/" in page.url


def test_the_search_finds_by_all_words_from_any_page(chromium: Any, site: Path) -> None:
    with opened(chromium, site / "libraries" / "mine.html") as page:
        page.fill("#site-q", "floor mine")
        page.keyboard.press("Enter")
        page.wait_for_selector("#found li")
        assert page.inner_text("#said") == "1 found" and page.get_attribute("#found a", "href") == CAUSE
        page.fill("#site-q", "run-003")
        until(page, "document.querySelector('#found a').textContent === 'run-003'")
        page.fill("#site-q", "nothing <b> such")
        until(page, "document.getElementById('said').textContent === '0 found'")


def test_the_pages_work_without_a_script(chromium: Any, site: Path) -> None:
    with opened(chromium, site / "compare.html", java_script_enabled=False) as page:
        assert "tiebreak compare RUN_A RUN_B" in page.inner_text("noscript")
        page.goto((site / "index.html").as_uri())
        assert page.locator(".matrix-of-runs td.fail").count() >= 1


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 360)])
def test_the_largest_matrix_of_a_report_stays_in_its_box(
    chromium: Any, tmp_path: Path, scheme: str, width: int
) -> None:
    """17 backends, 25 operators: all of it is in view or can be scrolled to, with the backend's name in sight."""
    (tmp_path / "report.html").write_text(render(wide(real()), "run"), encoding="utf-8")
    with opened(chromium, tmp_path / "report.html", **options(scheme, width)) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".grid tbody tr").count() == 17
        assert page.locator(".grid thead tr").last.locator("th").count() == 25
        box = page.locator(BOX).first.bounding_box()
        assert box["x"] + box["width"] <= width
        scrolls = page.evaluate("s => (box => box.scrollWidth - box.clientWidth)(document.querySelector(s))", BOX)
        assert (scrolls > 0) == (width == 360), "all 25 columns are in view at 1440 px"
        page.evaluate("s => { document.querySelector(s).scrollLeft = 9999; }", BOX)
        first = page.locator(".grid tbody th").first.bounding_box()
        assert abs(first["x"] - box["x"]) < 2, "the first column stays"
        broken = page.evaluate(
            "[...document.querySelectorAll('.grid thead th')]"
            ".filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent)"
        )
        assert broken == []
