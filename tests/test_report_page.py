"""The report's cards in a real browser: what they open to, their addresses, keys, sorting and accessibility."""

# ruff: noqa: F811 - fixtures of another file

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from browser import ZOOMS, Watched, opened, shown, until
from test_html_report import SAMPLES, page_file, run  # noqa: F401

from tiebreak.reports.records import Run, read_run


def tiebreak(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tiebreak", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


def open_first(page: Any) -> str:
    """Open the first card of a cause; its id."""
    page.click("#own .card > summary")
    return str(page.evaluate("document.querySelector('#own .card').id"))


@pytest.mark.slow
def test_a_card_has_its_picture_and_the_pointer_and_the_keys_read_it(watched: Watched, page_file: Path) -> None:
    page = watched.page
    page.goto(page_file.as_uri())
    open_first(page)
    picture = page.locator("#own .picture").first
    assert picture.get_attribute("aria-label").startswith("Results over x. Document: ")
    line = page.locator("#own figcaption").first
    before = line.inner_text()
    assert re.fullmatch(r"x \S+ \(0x[0-9a-f]{8}\): document \d+, as written \d+, this backend \d+", before)
    picture.focus()
    page.keyboard.press("ArrowRight")
    after = line.inner_text()
    assert after != before and int(after.split("(")[1][:10], 0) == int(before.split("(")[1][:10], 0) + 1
    page.mouse.move(0, 0)
    box = picture.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + box["height"] / 2)
    assert line.inner_text() not in (before, after)


def test_a_picture_has_a_place_for_nan_and_infinities(watched: Watched, page_file: Path) -> None:
    points = [["448.0", "0x7e", "448.0", "448.0", ""], ["480.0", "0x7f", "nan", "448.0", "448.0"]]
    points += [["500.0", "0x80", "nan", "nan", "-inf"], ["600.0", "0x81", "nan", "nan", ""]]
    for apart in (0, 1):
        picture = {"kind": "steps", "operand": "x", "apart": apart, "x": "480.0", "points": points}
        watched.page.goto(page_file.as_uri())
        drawn = watched.page.evaluate("one => pictures.draw(one).outerHTML", picture)
        assert "NaN" not in drawn and drawn.count('class="got"') == 2
        assert all(f">{label}</text>" in drawn for label in ("nan", "-inf", "448"))


def test_an_id_can_be_searched_and_a_choice_taken_back(watched: Watched, page_file: Path) -> None:
    page = watched.page
    page.goto(page_file.as_uri())
    page.fill("input[name=text]", "D000001")
    until(page, "document.getElementById('status').textContent.startsWith('1 finding')")
    assert shown(page, "#own .card") == 1
    page.fill("input[name=text]", "type:uint99")
    until(page, "document.getElementById('status').textContent.includes('no type here is uint99')")
    page.click("#clear")
    page.click(".choices summary")
    page.select_option("select[name=backend]", "wrong")
    until(page, "location.hash === '#backend=wrong'")
    page.go_back()
    until(page, "!location.hash.includes('backend')")
    assert page.input_value("select[name=backend]") == ""


def test_a_discrepancy_opens_to_every_answer(watched: Watched, page_file: Path, run: Run) -> None:
    page = watched.page
    page.goto(page_file.as_uri())
    open_first(page)
    page.click("#own .sample a")
    name = page.inner_text("#own .sample a")
    row = run.discrepancies.set_index("id").loc[name]
    text = page.inner_text("#own .sample .details")
    assert page.locator("#own .sample .modes > span").count() == 9
    assert f"{int(row['got'])} (deviates)" in text and f"{int(row['expected'])} (exact)" in text
    assert f"tiebreak repro {name} --run run" in text and row["case"] in text
    assert page.evaluate("location.hash") == f"#{name}"
    other = watched.open()
    other.goto(f"{page_file.as_uri()}#{name}")
    assert other.inner_text("#own .sample .details") == text
    until(other, f"document.activeElement.textContent === '{name}'")
    assert other.evaluate("location.hash") == f"#{name}", "opening the card around it changes no address"


@pytest.mark.slow
def test_the_commands_of_a_discrepancy_do_what_they_say(watched: Watched, tmp_path: Path) -> None:
    folder = tmp_path / "it's a run"
    words = ["--operator", "onnx.QuantizeLinear", "--input-type", "float32", "--type", "int8", "--level", "brief"]
    assert tiebreak("run", "-b", f"{SAMPLES}:wrong", *words, "-o", folder.name, cwd=tmp_path).returncode == 1
    page = watched.page
    page.goto((folder / "report.html").as_uri())
    open_first(page)
    page.click("#own .sample a")
    repro, replay = (shlex.split(page.text_content(f"#own .sample code.{kind}")) for kind in ("repro", "replay"))
    assert repro[:2] == ["tiebreak", "repro"] and repro[-1] == folder.name
    assert replay[0] == "tiebreak" and tiebreak(*replay[1:], cwd=tmp_path).returncode == 1
    assert (tmp_path / "replay" / "run.json").exists()


@pytest.mark.slow
def test_many_discrepancies_come_in_windows_and_an_address_opens_the_last(watched: Watched, tmp_path: Path) -> None:
    words = ["--operator", "onnx.QuantizeLinear", "--input-type", "float32", "--type", "int8", "--level", "brief"]
    assert tiebreak("run", "-b", f"{SAMPLES}:wrong", *words, "-o", "run", cwd=tmp_path).returncode == 1
    file = tmp_path / "run" / "report.html"
    page = watched.page
    page.goto(file.as_uri())
    open_first(page)
    samples = page.locator(".card[open] tbody.sample")
    shown = page.locator(".card[open] tbody.sample:not([hidden])")
    assert samples.count() > 50 and shown.count() == 50
    left = samples.count() - 50
    assert page.inner_text(".card[open] .more-samples") == f"{left} more"
    page.click(".card[open] .more-samples")
    assert shown.count() == min(samples.count(), 100)
    last = samples.last.get_attribute("id")
    other = watched.open()
    other.goto(f"{file.as_uri()}#{last}")
    assert other.locator(f"#{last} .modes > span").count() == 9


@pytest.mark.slow
def test_any_discrepancy_of_a_run_can_be_asked_for(watched: Watched, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    selection = ["--operator", "onnx.QuantizeLinear", "--input-type", "float32", "--type", "int8", "--level", "quick"]
    assert tiebreak("run", "-b", f"{SAMPLES}:wrong", *selection, "-o", folder.name, cwd=tmp_path).returncode == 1
    found = read_run(folder).discrepancies
    text = (folder / "report.html").read_text(encoding="utf-8")
    absent = [name for name in found["id"] if f'"id":"{name}"' not in text.replace("&#34;", '"')]
    assert absent, "the page has not all of them"
    done = tiebreak("report", folder.name, "--discrepancy", absent[-1], "-o", "asked.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = watched.page
    page.goto(f"{(tmp_path / 'asked.html').as_uri()}#{absent[-1]}")
    row = found.set_index("id").loc[absent[-1]]
    told = page.inner_text(f"#{absent[-1]} .details")
    assert page.locator(f"#{absent[-1]} .modes > span").count() == 9
    assert row["case"] in told and f"{int(row['got'])} (deviates)" in told
    for words in (["D999999999"], ["nothing"], absent[:1] * 51):
        asked = [word for one in words for word in ("--discrepancy", one)]
        bad = tiebreak("report", folder.name, *asked, "-o", "bad.html", cwd=tmp_path)
        assert bad.returncode == 2 and bad.stderr.count("\n") == 1 and not (tmp_path / "bad.html").exists()


def test_a_card_has_its_own_address_and_the_back_button_goes_back(watched: Watched, page_file: Path) -> None:
    page = watched.page
    page.goto(page_file.as_uri())
    page.click(".headlines a")
    first = page.evaluate("location.hash")
    assert re.fullmatch(r"#C\d{3}", first) and page.locator(f"{first}[open]").count() == 1
    page.evaluate("scrollTo(0, 0)")
    page.click("nav a[href='#verdicts']")
    assert page.evaluate("location.hash") == "#verdicts"
    page.go_back()
    until(page, f"location.hash === '{first}'")
    until(page, f"document.activeElement.closest('.card')?.id === '{first[1:]}'")


def test_every_cell_of_both_matrices_leads_to_rows_that_are_there(watched: Watched, page_file: Path) -> None:
    page = watched.page
    page.goto(page_file.as_uri())
    links = page.evaluate(
        "[...document.querySelectorAll('.grid td a, #matrix td a')].map(one => one.getAttribute('href'))"
    )
    assert len(links) >= 6
    for link in links:
        page.evaluate("link => { location.hash = link; }", link)
        section = link.rpartition("at=")[2]
        until(page, f"document.querySelectorAll('#{section} .f:not([hidden])').length > 0")


@pytest.mark.parametrize("section", ["own", "verdicts", "pairs"])
def test_a_link_to_a_section_ends_there_whatever_is_drawn_on_the_way(
    watched: Watched, page_file: Path, section: str
) -> None:
    """What is above is drawn only when it comes into view, higher than was thought: here by three screens."""
    page = watched.page
    page.set_viewport_size({"width": 1440, "height": 300})
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () => { const style = document.createElement('style');"
        "style.textContent = 'main > section { contain-intrinsic-size: auto 10px; padding-bottom: 900px; }';"
        "document.head.append(style); });"
    )
    page.goto(f"{page_file.as_uri()}#{section}")
    page.wait_for_timeout(1000)
    top = page.evaluate(f"document.getElementById('{section}').getBoundingClientRect().top")
    assert 0 <= top <= 200


@pytest.mark.parametrize("hash_", ["#C999", "#D999999", "#%E0%A4%A", "#backend=wrong&at=nowhere", "#<b>"])
def test_a_broken_link_says_so_and_shows_the_rest(watched: Watched, page_file: Path, hash_: str) -> None:
    page = watched.page
    page.goto(f"{page_file.as_uri()}{hash_}")
    assert "Nothing here is called " in page.inner_text("#status")
    assert shown(page, "#own .card") >= 1


@pytest.mark.slow
def test_filters_ask_what_other_backends_do(watched: Watched, page_file: Path) -> None:
    page = watched.page
    page.goto(page_file.as_uri())
    everything = shown(page, "#own .card")
    for text, wanted in (("wrong:deviates sound:exact", everything), ("wrong:deviates sound:deviates", 0)):
        page.fill("input[name=text]", text)
        until(page, f"location.hash.includes('{'exact' if wanted else 'deviates%20sound%3Adeviates'}')")
        assert shown(page, "#own .card") == wanted
        assert "verdicts of backends" in page.text_content("#verdicts .narrowed")
    page.fill("input[name=text]", "sound:perfect")
    until(page, "document.getElementById('status').textContent.includes('perfect is no verdict')")
    page.fill("input[name=text]", "document:own domain:calibrated")
    until(page, "location.hash.includes('domain')")
    assert 0 < shown(page, "#own .card") <= everything
    page.fill("input[name=text]", "document:foreign")
    until(page, "location.hash.endsWith('foreign')")
    assert shown(page, "#own .card") == 0


def test_the_matrix_shrinks_with_the_filters_and_counts_again(watched: Watched, page_file: Path, run: Run) -> None:
    page = watched.page
    page.goto(f"{page_file.as_uri()}#backend=wrong&type=uint8")
    rows = run.results[(run.results["backend"] == "wrong") & (run.results["output_type"] == "uint8")]
    deviate = int((rows["verdict"] == "deviates").sum())
    assert shown(page, ".grid tbody tr") == 1
    assert page.inner_text(".grid tbody tr:not([hidden]) td.fail") == f"✗ {deviate}"
    page.click("#clear")
    assert shown(page, ".grid tbody tr") == 3


def test_a_failure_is_a_card_with_its_message_and_its_script(watched: Watched, page_file: Path, run: Run) -> None:
    failure = run.info["failures"][-1]
    page = watched.page
    page.goto(f"{page_file.as_uri()}#{failure['id']}")
    text = page.text_content(f"#{failure['id']}")
    assert failure["message"] in text and failure["witness"]["case"] in text
    assert f"tiebreak repro {failure['id']} --run run" in text


def test_tables_sort_by_their_headings(watched: Watched, page_file: Path) -> None:
    page = watched.page
    page.goto(f"{page_file.as_uri()}#verdicts")
    head = page.locator("#verdicts th button", has_text="planned")
    head.click()
    cells = [int(text.replace(",", "")) for text in page.locator("#verdicts tbody td:nth-child(3)").all_inner_texts()]
    assert cells == sorted(cells, reverse=True)
    head.click()
    again = [int(text.replace(",", "")) for text in page.locator("#verdicts tbody td:nth-child(3)").all_inner_texts()]
    assert again == sorted(cells) and page.locator("#verdicts [aria-sort=ascending]").count() == 1


@pytest.mark.few(1)
@pytest.mark.parametrize("options", ZOOMS)
def test_nothing_scrolls_sideways_and_axe_finds_nothing(
    chromium: Any, page_file: Path, options: dict[str, Any]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with opened(chromium, page_file, **options) as page:
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        page.wait_for_timeout(200)
        page.click("#own .sample a")
        assert page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_the_first_screen_needs_no_scrolling(chromium: Any, page_file: Path) -> None:
    with opened(chromium, page_file, viewport={"width": 1440, "height": 900}) as page:
        for part in ("#first", ".libraries", ".headlines", ".grid"):
            assert page.evaluate("s => document.querySelector(s).getBoundingClientRect().bottom", part) <= 900
        page.evaluate(
            """() => {
              const row = document.querySelector(".libraries tbody tr");
              row.querySelector("th").innerHTML = "onnx-reference <span class='soft'>2026.4.1 × 12</span>";
              const texts = ["> 99.99 %", "0.0987 %", "0.0625 %", "0.0771 %", "12/12", "128", "1,135"];
              row.querySelectorAll(".n").forEach((cell, at) => { cell.textContent = texts[at]; });
            }"""
        )
        beyond = "[...document.querySelectorAll('.first .scroll')].map(one => one.scrollWidth - one.clientWidth)"
        assert set(page.evaluate(beyond)) == {0}, "the widest figures leave every column in view"


def test_print_draws_every_finding(watched: Watched, page_file: Path) -> None:
    page = watched.page
    page.goto(page_file.as_uri())
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#own .card .sample").count() >= page.locator("#own .card").count() >= 1
    assert not page.locator("#filters").is_visible()
