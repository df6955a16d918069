"""The HTML report in a real browser without a screen: filters, links, copying, and that nothing leaves the page."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from browser import VIEW, Watched, opened, shown, until

from tiebreak.conformance.cases.plan import Selection, plan
from tiebreak.conformance.running.backends import run_cases
from tiebreak.golden.errors import DamagedFile
from tiebreak.reports.html import render
from tiebreak.reports.page import visible
from tiebreak.reports.page_tables import overview_cell
from tiebreak.reports.plots import distance_plot, exponent_plot, signed_bar
from tiebreak.reports.records import Run, as_run
from tiebreak.reports.root_cause import root_of

SAMPLES = Path(__file__).parent / "sample_backends.py"
FACTS = {"command": "tiebreak run", "level": "quick", "seed": 0, "time_limit": 30, "folder": "run"}
FORBIDDEN = {"backend": "wrong", "operator": "onnx.QuantizeLinear", "clause": "ONQ-R1", "got": "1 2", "message": ""}
HOSTILE = """
import numpy as np


class Backend:
    name = "<script>alert(1)</script>\\"' onload=x \\u202egnp.exe \\x07</select></style>" + "W" * 3000
    version = "</script><img src=x onerror=alert(2)>"
    operators = {"onnx.QuantizeLinear"}

    def compile(self, node):
        if node.attributes:
            raise ValueError("<b>no</b> \\u202e \\x1b[31m ]]> --> </template><script>alert(3)</script>" + "M" * 90000)
        return self.run

    def run(self, x, scale, zero_point=0):
        with np.errstate(all="ignore"):
            q = np.floor(np.nan_to_num(x / scale) + np.float32(0.5)) + zero_point
        return (np.clip(q, 0, 255).astype("uint8"),)

    def attest(self):
        return {"<i>key</i>": "</dl><script>alert(4)</script>"}
"""


@pytest.fixture(scope="module")
def run() -> Run:
    selection = Selection(operators=("onnx.QuantizeLinear",), input_type="float32", level="quick")
    cases = plan(selection)[::3]
    names = ["sound", "wrong", "raises"]
    records = run_cases([f"{SAMPLES}:{name}" for name in names], cases, time_limit=30, facts=dict(FACTS))
    return as_run(records)


@pytest.fixture(scope="module")
def page_file(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    forbidden = [FORBIDDEN | {"what": "a call", "answer": "accepted"}, FORBIDDEN | {"what": "b", "answer": "rejected"}]
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(replace(run, info=run.info | {"forbidden": forbidden}), "run"), encoding="utf-8")
    return path


@pytest.mark.slow
def test_filters_change_what_is_seen_and_a_link_repeats_it(watched: Watched, page_file: Path, run: Run) -> None:
    page = watched.page
    page.goto(page_file.as_uri())
    everything = shown(page, "#own .card"), shown(page, "#idle tbody tr")
    assert everything[0] == run.discrepancies.groupby(["backend", "operator", "cause"]).ngroups >= 1
    page.click(".choices summary")
    page.select_option("select[name=backend]", "raises")
    until(page, "document.getElementById('status').textContent.startsWith('1 finding ')")
    assert shown(page, "#own .card") == 0 and shown(page, "#failures .card") == 1
    assert 0 < shown(page, "#idle tbody tr") < everything[1]
    assert "None match the filters" in page.inner_text("#own .narrowed")
    assert shown(page, ".grid tbody tr") == 1
    page.select_option("select[name=backend]", "wrong")
    page.fill("input[name=text]", "wrong tie rule")
    until(page, "location.hash.includes('text=')")
    view = page.evaluate(VIEW)
    assert view
    assert page.evaluate("location.hash") == "#backend=wrong&text=wrong%20tie%20rule"
    other = watched.open()
    other.goto(page.evaluate("location.href"))
    assert other.input_value("select[name=backend]") == "wrong"
    assert other.evaluate(VIEW) == view
    other.click("#clear")
    assert (shown(other, "#own .card"), shown(other, "#idle tbody tr")) == everything


def test_a_filter_counts_elements_of_a_cause_with_its_denominator(watched: Watched, page_file: Path, run: Run) -> None:
    rows = run.discrepancies
    first = rows.groupby(["backend", "operator", "cause"]).size().idxmax()
    rows = rows[(rows["backend"] == first[0]) & (rows["operator"] == first[1]) & (rows["cause"] == first[2])]
    flag = rows["flags"].str.split().explode().value_counts().index[0]
    count = int(rows["flags"].str.split().apply(lambda flags: flag in flags).sum())
    page = watched.page
    page.goto(f"{page_file.as_uri()}#flag={flag}")
    assert page.inner_text("#own .match").startswith(f"{count:,} of {len(rows):,} match")
    page.goto(f"{page_file.as_uri()}#flag=Nonsense&verdict=deviates")
    until(page, "document.getElementById('status').textContent.includes('cases (whatever flag)')")
    assert shown(page, "#own .card") == 0
    assert page.input_value("select[name=flag]") == "Nonsense"


def test_a_cell_of_the_matrix_leads_to_its_failures(watched: Watched, page_file: Path) -> None:
    page = watched.page
    page.goto(page_file.as_uri())
    page.click("#matrix td.fail a")
    until(page, "document.getElementById('filters').elements.backend.value === 'wrong'")
    assert page.input_value("select[name=mode]") == "nearest toward even"
    assert shown(page, "#own .card[open]") == 1
    until(page, "document.activeElement.id === 'own'")


@pytest.mark.parametrize("blocked", [False, True])
def test_copying_gives_the_command(watched: Watched, page_file: Path, blocked: bool) -> None:
    page = watched.page
    if blocked:
        page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))")
    page.goto(page_file.as_uri())
    page.click("#own .card > summary")
    page.click("#own .sample a")
    wanted = page.inner_text("#own .sample code.repro")
    assert wanted.startswith("tiebreak repro D")
    page.click("#own .sample .copied .copy")
    until(page, "document.getElementById('said').textContent === 'Copied.'")
    assert page.evaluate("navigator.clipboard.readText()") == wanted


def test_keyboard_reaches_the_failures_and_opens_them(watched: Watched, page_file: Path) -> None:
    page = watched.page
    page.goto(page_file.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    until(page, "document.activeElement.id === 'findings'")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.matches('.card > summary')")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert shown(page, ".card[open]") == 1
    page.keyboard.press("Escape")
    assert shown(page, ".card[open]") == 0
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "text"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_never_scrolls_sideways(chromium: Any, page_file: Path, scheme: str) -> None:
    with opened(chromium, page_file, viewport={"width": 360, "height": 800}, color_scheme=scheme) as page:
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(13, 17, 23)" if scheme == "dark" else "rgb(255, 255, 255)")


def test_without_scripts_everything_is_there_and_print_opens_it(chromium: Any, page_file: Path) -> None:
    with opened(chromium, page_file, java_script_enabled=False) as page:
        assert page.locator("#own .card").count() >= 1
        assert not page.locator("#filters").is_visible()
        assert not page.locator(".copy").first.is_visible()
        assert not page.locator("#own .card dl").first.is_visible()
        page.emulate_media(media="print")
        assert page.locator("#own .card dl").first.is_visible()


def test_a_hostile_backend_from_run_to_page(watched: Watched, tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE, encoding="utf-8")
    words = [sys.executable, "-m", "tiebreak", "run", "-b", "hostile.py:Backend", "--operator", "onnx.QuantizeLinear"]
    words += ["--input-type", "float32", "--type", "uint8", "--level", "quick", "-o", "out"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    path = tmp_path / "out" / "report.html"
    text = path.read_text(encoding="utf-8")
    assert text.count("<script") == 1
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", text)
    assert len(text.encode()) < 2_000_000
    page = watched.page
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(path.as_uri())
    assert page.evaluate("document.scripts.length + document.images.length") == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert "\\u202egnp.exe \\u0007" in page.text_content("#own summary")
    page.click("#matrix td a")
    until(page, "location.hash.startsWith('#backend=%3Cscript')")
    assert shown(page, "#own .card") >= 1
    page.click("#own .sample a")
    assert page.evaluate("document.scripts.length + document.images.length") == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not page.locator("select[name=backend] option[data-unknown]").count()


def test_the_script_is_allowed_by_its_hash_alone_and_the_policy_forbids_the_rest(page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert re.fullmatch(r"sha256-[A-Za-z0-9+/]{43}=", re.search(r"script-src '([^']*)'", policy)[1])
    assert policy.startswith("default-src 'none'")
    assert {part.split()[0] for part in policy.split("; ")} == {
        "default-src", "style-src", "script-src", "img-src", "base-uri", "form-action",
    }  # fmt: skip


def test_not_run_looks_neither_like_pass_nor_like_nothing() -> None:
    none = {"exact": 0, "working_precision": 0, "other_order": 0, "unspecified": 0, "deviates": 0}
    looks = {
        "pass": overview_cell(none | {"exact": 9}, {"exact": 1}),
        "fail": overview_cell(none | {"exact": 9, "deviates": 3}, {"deviates": 1, "unsupported": 2}),
        "broke": overview_cell(none | {"exact": 9}, {"exact": 1, "crash": 1}),
        "idle": overview_cell(none, {"unsupported": 3}),
        "open": overview_cell(none | {"unspecified": 4}, {"unspecified": 1}),
    }
    assert all(found["look"] == look for look, found in looks.items())
    assert looks["fail"]["text"] == "✗ 3 of 12"
    assert looks["fail"]["notes"] == ["∅ 2 of 3 cases unsupported"]
    assert looks["broke"]["notes"] == ["! 1 of 2 cases failed"]
    assert not any("0 " in looks[look]["text"] for look in ("idle", "open"))
    assert overview_cell(none, {"timeout": 2})["text"] == "! failed to run"


def test_plots_count_what_they_show(run: Run) -> None:
    rows = run.discrepancies
    picture = exponent_plot(rows, {})
    finite = rows["input"][np.isfinite(rows["input"]) & (rows["input"] != 0)]
    assert f"<title>{len(finite):,} deviating" in picture
    assert "in the tallest bar" in picture and "%" not in picture
    assert f"inputs from 2^{int(np.floor(np.log2(finite.abs().min())))} to" in picture
    assert distance_plot(rows[rows["result_type"] == "uint8"]) == ""
    few = rows.head(5).assign(input=[1.0, 1.5, -4.0, 0.0, math.nan])
    shares = exponent_plot(few, {0: 8, 1: 100, 2: 2, 3: 50})
    assert "50 % in the tallest bar, 3 of 110 judged; 1 zero; 1 NaN" in shares
    assert "most at 2^2" in shares and shares.count("V") == 2
    real = rows.head(3).assign(result_type="float32", distance=[1, -4, 70000], expected=1.0, got=2.0)
    assert "3 real results by their distance in ulp" in distance_plot(real)
    assert "1 of 3 are 1 ulp away" in distance_plot(real)
    assert ">1 in the tallest bar</text>" in distance_plot(real)
    assert [signed_bar(d) for d in (1, 2, 3, 4, 5, -8, 1 << 40)] == [1, 2, 3, 3, 4, -4, 13]


def test_root_of_a_path_dependent_cause_leaves_out_the_answers() -> None:
    assert root_of("path-dependent: 93 per tensor; 94 per axis") == "path-dependent: per axis; per tensor"
    assert root_of("flushed: per tensor") == "flushed: per tensor"


def test_texts_are_made_visible_and_cut() -> None:
    assert visible("a\x1b[0m\u202eb\ud800\n") == "a\\u001b[0m\\u202eb\\ud800\n"
    assert len(visible("x" * 10**6)) == 700
    assert visible(3) == 3


def test_a_run_without_clusters_still_has_causes_and_a_damaged_one_is_named(run: Run) -> None:
    old = {key: value for key, value in run.info.items() if key not in ("clusters", "paths", "forbidden")}
    assert 'class="card f cause" id="cause-' in render(replace(run, info=old), "run")
    with pytest.raises(DamagedFile, match="damaged run: "):
        render(replace(run, info=old | {"pairs": [{}]}), "run")
    with pytest.raises(DamagedFile, match="damaged run: "):
        render(replace(run, info=old | {"clusters": [3]}), "run")


@pytest.mark.slow
def test_a_million_discrepancies_stay_under_two_megabytes(watched: Watched, run: Run, tmp_path: Path) -> None:
    rows = run.discrepancies.head(100)
    many = rows.loc[np.resize(rows.index, 1_000_000)].reset_index(drop=True)
    number = pd.Series(np.arange(len(many)))
    many["cause"] = ("cause-" + (number % 997).astype(str)).astype("string")
    many["id"] = ("D" + number.astype(str)).astype("string")
    page = render(replace(run, discrepancies=many, info=run.info | {"clusters": []}), "run")
    assert len(page.encode()) < 2_000_000
    assert re.search(r"✗ \d+ of \d+ cases, in 1 of 1 operators, differ from the document", page)
    assert len(re.findall(r'<details class="card f cause"', page)) == 997, "no cause is left out"
    assert not re.search(r"\bNaN\b", "".join(re.findall(r'data-k="([^"]*)"', page)))
    assert all(json.loads(one) for one in re.findall(r'data-k="([^"]*)"', page))
    (first,) = re.findall(r"</span> (cause-\d+)<", page)[:1]
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    watched.page.goto(f"{(tmp_path / 'report.html').as_uri()}#text={first}")
    assert 1 <= shown(watched.page, "#own .card") <= 50
    watched.page.goto((tmp_path / "report.html").as_uri())
    assert shown(watched.page, "#own .card") == 50
    assert watched.page.evaluate("performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart") > 0
    last = re.findall(r'<details class="card f cause" id="([^"]*)"', page)[-1]
    watched.page.goto(f"{(tmp_path / 'report.html').as_uri()}#{last}")
    assert watched.page.locator(f"#{last}").is_visible(), "its link opens a finding behind the window"
