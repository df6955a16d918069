"""The pages of `compare` and `history` in a real browser without a screen, on real and on hostile runs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import ZOOMS, opened
from click.testing import CliRunner
from recorded_versions import recorded

from tiebreak.cli import main
from tiebreak.conformance.gate.compare import compare
from tiebreak.conformance.gate.history import history
from tiebreak.reports.comparison_page import comparison_page
from tiebreak.reports.history_page import history_page, number_of
from tiebreak.reports.records import Run, read_run, write_run
from tiebreak.reports.trend import LEAST, TOP, ZERO, cause_changes, height, marks, trends, y_of

OPERATOR = "onnx.QuantizeLinear"
TIES = "wrong tie rule: NEAREST_TOWARD_INFINITY"
DATES = {"sound": "2026-01-01", "away": "2026-02-01", "aborts": "2026-03-01", "both": "2026-04-01"}
ENOUGH = (("light", 360), ("dark", 360), ("light", 768), ("dark", 1440))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def dated(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs a month apart, the hostile one last, and a folder that is no whole run."""
    folder = tmp_path_factory.mktemp("dated")
    for name, date in (DATES | {"hostile": "2026-05-01"}).items():
        run = read_run(runs / name)
        target = folder / (name if name != "hostile" else "<b onclick=alert(1)>")
        target.mkdir()
        info = run.info | {"created": f"{date}T00:00:00+00:00"}
        write_run(target, Run(info, run.results, run.discrepancies), [])
    (folder / "broken <i>").mkdir()
    (folder / "broken <i>" / "run.json").write_text("{", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def pages(runs: Path, dated: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The two pages as the commands write them, and the comparison of a hostile backend."""
    folder = tmp_path_factory.mktemp("pages")
    words = {"compare": [runs / "sound", runs / "away"], "history": [dated]}
    for name, paths in words.items():
        result = CliRunner().invoke(main, [name, *map(str, paths), "--html", str(folder / f"{name}.html")])
        assert result.exit_code == (1 if name == "compare" else 0), result.output
    evil = read_run(runs / "hostile")
    none = Run(evil.info | {"clusters": []}, evil.results, evil.discrepancies[:0])
    found = {"folders": ["<b>", "b"], "created": ["<i>", ""]} | compare(none, evil)
    (folder / "hostile.html").write_text(comparison_page(found), encoding="utf-8")
    return {path.stem: path for path in folder.iterdir()}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["compare", "history", "hostile"])
@pytest.mark.parametrize(("scheme", "width"), ENOUGH)
def test_nothing_scrolls_sideways_and_the_scheme_is_followed(
    chromium: Any, pages: dict[str, Path], name: str, scheme: str, width: int
) -> None:
    with opened(chromium, pages[name], viewport={"width": width, "height": 800}, color_scheme=scheme) as page:
        for unfolded in (False, True):
            page.evaluate("all => { for (const one of document.querySelectorAll('details')) one.open = all }", unfolded)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(13, 17, 23)" if scheme == "dark" else "rgb(255, 255, 255)")


@pytest.mark.few(2)
@pytest.mark.parametrize("options", ZOOMS)
@pytest.mark.parametrize("name", ["compare", "history"])
def test_axe_finds_nothing(chromium: Any, pages: dict[str, Path], name: str, options: dict[str, Any]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with opened(chromium, pages[name], **options) as page:
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("name", ["compare", "history", "hostile"])
def test_hostile_text_is_inert_and_no_script_is_allowed(chromium: Any, pages: dict[str, Path], name: str) -> None:
    text = pages[name].read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'; ") and "script-src" not in policy
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", text)
    with opened(chromium, pages[name]) as page:
        assert page.evaluate("document.scripts.length + document.images.length") == 0
        assert page.locator("[onclick], [onerror], [onload]").count() == 0
        assert page.locator("body b, body i:not(td i, dd i)").count() == 0
    assert "alert(" in text or name == "compare"


@pytest.mark.parametrize("name", ["compare", "history"])
def test_print_shows_what_is_folded_and_fits(chromium: Any, pages: dict[str, Path], name: str) -> None:
    with opened(chromium, pages[name], viewport={"width": 720, "height": 1000}, color_scheme="dark") as page:
        assert not page.locator(".card .body").first.is_visible()
        page.emulate_media(media="print")
        assert page.locator(".card .body").first.is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 720
        assert not page.locator("nav").is_visible()


def test_the_first_screen_of_a_comparison_tells_what_came(chromium: Any, pages: dict[str, Path]) -> None:
    with opened(chromium, pages["compare"], viewport={"width": 1440, "height": 900}) as page:
        assert "1 new, 0 changed, 0 gone" in page.inner_text(".headline")
        row = page.inner_text(".libraries tbody tr").split("\t")
        assert row[0].split() == ["dev", "1.0", "→", "2.0"] and row[1:5] == ["1", "0", "0", "0"]
        assert row[5].startswith("0 % → ")
        assert page.inner_text(".grid td.fail") == "+1"
        assert "dev quantizes" in page.inner_text(".headlines") and "where ONNX says" in page.inner_text(".headlines")
        below = "s => document.querySelector(s).getBoundingClientRect().bottom"
        assert page.evaluate(below, "#first") <= 900


@pytest.mark.parametrize("link", [".grid td a", ".headlines a"])
def test_a_link_opens_the_card_of_its_cause(chromium: Any, pages: dict[str, Path], link: str) -> None:
    with opened(chromium, pages["compare"]) as page:
        assert page.locator(".card[open]").count() == 0
        page.click(link)
        page.wait_for_selector(".card[open] dl", state="visible")
        assert TIES in page.inner_text("#new .card[open] summary")
        assert "tiebreak repro C001 --run" in page.inner_text("#new .command")


@pytest.mark.parametrize(("name", "to"), [("compare", "changes"), ("history", "trends")])
def test_the_keyboard_skips_to_the_content_and_opens_what_is_folded(
    chromium: Any, pages: dict[str, Path], name: str, to: str
) -> None:
    with opened(chromium, pages[name]) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == to
        page.keyboard.press("Tab")
        while not page.evaluate("document.activeElement.matches('summary')"):
            page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press("Enter")
        assert page.locator("details[open]").count() == 1


def test_a_trend_has_a_dot_for_each_run_and_the_numbers_as_text(
    chromium: Any, pages: dict[str, Path], dated: Path
) -> None:
    rows = [row for row in history(dated)["rows"] if row["backend"] == "dev"]
    with opened(chromium, pages["history"]) as page:
        figure = page.locator("figure", has=page.locator("figcaption", has_text="QuantizeLinear")).filter(
            has=page.locator(".who", has_text=re.compile("dev:"))
        )
        assert figure.locator("circle").count() == len(rows) == 4
        assert "share of calibrated elements that deviate" in figure.locator("svg.trend").get_attribute("aria-label")
        heights = [float(dot.get_attribute("cy")) for dot in figure.locator("circle").all()]
        assert heights[0] == heights[2] == ZERO and heights[1] == heights[3] < ZERO
        figure.locator("summary").click()
        cells = figure.locator("tbody td:last-child").all_inner_texts()
        judged = [(row["deviating_calibrated"], row["judged_calibrated"]) for row in rows]
        assert [re.findall(r"\((\S+) of (\S+)\)", cell)[0] for cell in cells] == [
            (f"{part:,}", f"{whole:,}") for part, whole in judged
        ]


def test_the_history_tells_what_came_and_went_by_release(chromium: Any, pages: dict[str, Path]) -> None:
    with opened(chromium, pages["history"]) as page:
        rows = [row.split("\t") for row in page.inner_text(".libraries tbody").splitlines()]
        own = [row for row in rows if row[0].strip() in ("dev 3.0", "2.0", "1.0")]
        assert [row[0].strip() for row in own] == ["dev 3.0", "2.0", "1.0"]
        assert own[1][2:5] == ["1", "0", "0"] and own[2][2:5] == ["–"] * 3
        own_colour = "getComputedStyle(document.querySelector('.libraries td.new')).backgroundColor"
        assert page.evaluate(own_colour) == "rgba(0, 0, 0, 0)", "the colour of its link would hide the number"
        page.click(".libraries td.new a")
        page.wait_for_selector(".release-card[open] li", state="visible")
        assert TIES in page.inner_text(".release-card[open]")
        assert "broken <i>" in page.inner_text("#runs")


def test_what_a_release_brought_counts_only_what_ran_in_both() -> None:
    shared = {"ran": 5, "judged": 100}
    before = {("a", "op"): shared | {"causes": {"x": 3, "y": 4}}, ("a", "other"): shared | {"causes": {"z": 1}}}
    after = {("a", "op"): shared | {"causes": {"y": 5, "w": 1}}, ("a", "other"): {"ran": 0, "judged": 0, "causes": {}}}
    found = cause_changes(before, after)
    assert found == {"new": [("op", "w", 0, 1)], "changed": [("op", "y", 4, 5)], "gone": [("op", "x", 3, 0)]}
    after["a", "op"] = shared | {"judged": 50, "causes": {"x": 3, "y": 5}}
    assert cause_changes(before, after) == {"new": [], "changed": [], "gone": []}


def test_the_scale_is_by_tens_with_zero_below() -> None:
    assert [y_of(height(counts)) for counts in (None, (0, 9), (9, 9))] == [ZERO, ZERO, TOP]
    least = y_of(height((1, 10**-LEAST)))
    assert least == y_of(height((1, 10**9))) < ZERO and TOP < y_of(height((1, 100))) < least
    assert [number_of(text) for text in ("0 %", "0.0165 %", "33.2 %", "99.9 %", "100 %", "< 0.01 %", "–")] == [
        "0", "0.017", "33", "99.9", "100", "<0.01", "–",
    ]  # fmt: skip


def test_release_marks_have_names_where_there_is_room() -> None:
    assert [name for _, name in marks(["1.0", "1.0", "1.1", "1.1"])] == ["1.0", "1.1"]
    named = [name for _, name in marks([f"1.{number}.0" for number in range(60)])]
    assert len(named) == 60 and named[0] == "1.0.0" and 3 < sum(map(bool, named)) < 12


def test_configurations_with_equal_shares_share_a_line_and_unknown_runs_leave_a_gap(dated: Path) -> None:
    rows = [row for row in history(dated)["rows"] if row["backend"] == "dev"]
    twins = [row | {"backend": "dev-two"} for row in rows]
    older = [row | {"judged_calibrated": None} if row["run"] == "away" else row for row in rows]
    (both,), (gap,) = trends([*rows, *twins], 9), trends(older, 9)
    assert [line.who for line in both.panels[0].lines] == ["dev, -two"]
    assert gap.panels[0].lines[0].path.count("M") == 2 and len(gap.panels[0].lines[0].dots) == 3
    assert [release.version for release in both.releases] == ["1.0", "2.0", "3.0"]


def test_a_folder_without_a_whole_run_and_a_comparison_of_nothing_are_pages(runs: Path) -> None:
    page = history_page({"folder": "f", "rows": [], "damaged": [{"run": "<b>", "problem": "<i>"}]})
    assert "No run is whole." in page and "<b>" not in page and "&lt;b&gt;" in page
    away, hostile = read_run(runs / "away"), read_run(runs / "hostile")
    found = {"folders": ["a", "b"], "created": ["", ""]} | compare(away, hostile)
    text = comparison_page(found)
    assert "No case ran in both runs." in text and "only in the first run, not compared" in text


def test_an_older_run_without_domains_and_ids_is_counted(runs: Path, tmp_path: Path) -> None:
    run = read_run(runs / "away")
    later = [name for name in run.results if name.endswith(("_calibrated", "_edge")) or name in ("document", "domain")]
    results = run.results.drop(columns=later)
    discrepancies = run.discrepancies.drop(columns=["cause_id", "document", "domain"])
    (tmp_path / "old").mkdir()
    write_run(tmp_path / "old", replace(run, results=results, discrepancies=discrepancies), [])
    (row,) = history(tmp_path)["rows"]
    assert row["judged_calibrated"] is None and row["deviating"] > 0 and row["causes"] == {TIES: row["deviating"]}
    assert "Nothing calibrated deviated" in history_page(history(tmp_path))


def test_a_hundred_runs_of_forty_backends_make_a_page_below_two_megabytes(dated: Path) -> None:
    (row, *_) = [row for row in history(dated)["rows"] if row["run"] == "away"]
    rows = [
        row | {"run": f"run-{run}", "backend": f"dev-{backend}", "library": f"dev-{backend % 20}"}
        | {"operator": f"onnx.{operator}", "deviating_calibrated": run % 7 + backend, "version": f"1.{run // 9}"}
        | {"created": f"2026-01-01T{run // 60:02}:{run % 60:02}:00+00:00"}
        for run in range(100) for backend in range(40) for operator in ("A", "B", "C", "D", "E", "F")
    ]  # fmt: skip
    page = history_page({"folder": "f", "rows": rows, "damaged": []})
    assert len(page.encode()) < 2_000_000 and page.count('<figure class="panel') == 120
    left_out = {int(count) for count in re.findall(r"without (\d+) earlier ones", page)}
    assert left_out <= {40, 70, 85, 92} and len(left_out) == 1


def test_a_cause_is_called_as_the_latest_run_calls_it(runs: Path, tmp_path: Path) -> None:
    run = read_run(runs / "away")
    for name, words in (("2026-01-01", "old words"), ("2026-02-01", "new words")):
        (tmp_path / name).mkdir()
        told = run.discrepancies.assign(cause=words).astype({"cause": "string"})
        write_run(tmp_path / name, Run(run.info | {"created": f"{name}T00:00:00"}, run.results, told), [])
    assert [list(row["causes"]) for row in history(tmp_path)["rows"]] == [["new words"], ["new words"]]
