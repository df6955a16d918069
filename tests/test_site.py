"""The site of results: its files, that it says what the runs say, and that nobody else's file is touched."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from site_runs import BACKENDS, called, real, renamed, sound, without, write_dated

from tiebreak.cli import main
from tiebreak.golden.operators import OPERATORS as KNOWN
from tiebreak.reports.records import Run
from tiebreak.reports.site.addresses import CauseKey, cause_page, file_name
from tiebreak.reports.site.badges import badge_of
from tiebreak.reports.site.collection import SiteFacts, collect
from tiebreak.reports.site.environment import site_environment
from tiebreak.reports.site.finding_counts import finding_counts, hazard_counts
from tiebreak.reports.site.folder import MARKER
from tiebreak.reports.site.pages import Pages
from tiebreak.reports.site.run_facts import SiteCell

OPERATOR = "onnx.QuantizeLinear"
HALF = CauseKey("mine", OPERATOR, "floor-of-half-more")
ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "<script>alert(1)</script>\"' onload=x \u202egnp.exe </select></style>" + "W" * 300


def built(runs: Path, folder: Path, *more: str) -> Result:
    return CliRunner().invoke(main, ["site", str(runs), "-o", str(folder), *more], catch_exceptions=False)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def document(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Release 1.0 deviates, 1.1 does not, 1.2 does again; beside them a run whose records disagree, and half a one."""
    folder, base = tmp_path_factory.mktemp("runs"), real()
    for day, (run, version) in enumerate([(base, "1.0"), (sound(base), "1.1"), (base, "1.2")]):
        write_dated(renamed(run, "mine", version), folder / f"of-{version}", day)
    edited = Run(base.info, base.results, base.discrepancies.iloc[1:])
    write_dated(edited, folder / "edited", 9)
    (folder / "half <i>").mkdir()
    (folder / "half <i>" / "run.json").write_text("{", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "site"
    result = built(runs, folder)
    assert result.exit_code == 0, result.output
    return folder


class Links(HTMLParser):
    """The addresses and the ids of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.to: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.to += [value for name in ("href", "src", "action") if (value := found.get(name))]
        self.ids |= {value for name in ("id",) if (value := found.get(name))}


def links_of(path: Path) -> Links:
    page = Links()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def test_every_page_has_its_json_and_every_link_leads_somewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 6 + 1 + 1 + 3
    found = {path: links_of(path) for path in pages}
    for path, page in found.items():
        json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        for to in page.to:
            where, _, anchor = to.partition("#")
            if where.startswith(("data:", "https:")) or (not where and "=" in anchor):
                continue
            target = (path.parent / where).resolve() if where else path
            assert target.is_file(), (path, to)
            if anchor and "=" not in anchor:
                assert anchor in found[target].ids, (path, to)


def test_the_cause_comes_goes_and_comes_again_at_one_address(site: Path) -> None:
    page = document(site, cause_page(HALF).replace(".html", ".json"))
    assert (page["library"], page["operator"], page["name"], page["there"]) == (*HALF, True)
    rows = [(row["release"], bool(row["elements"]), row["judged"]) for row in page["history"]]
    assert [row[:2] for row in rows] == [("1.2", True), ("1.1", False), ("1.0", True)]
    assert {row[2] for row in rows} == {rows[0][2]} and page["history"][0]["elements"] == page["root_cause"]["elements"]
    assert page["repro"].startswith("tiebreak repro C001 --run of-1.2")
    text = (site / cause_page(HALF)).read_text(encoding="utf-8")
    witness = page["root_cause"]["witness"]
    assert witness["expected"] in text and witness["got"] in text and "runs/of-1.0/report.html#C001" in text


def test_the_matrix_has_each_release_by_its_verdicts(site: Path) -> None:
    rows = document(site, "index.json")["rows"]
    assert [(row["version"], row["newest"]) for row in rows] == [("1.2", True), ("1.1", False), ("1.0", False)]
    counts = [row["cells"][OPERATOR]["counts"] for row in rows]
    assert counts[0] == counts[2] and counts[0]["deviates"] > 0 and "deviates" not in counts[1]
    text = (site / "index.html").read_text(encoding="utf-8")
    assert f"✗ {counts[0]['deviates']}" in text and "1 cause contradicts" in text
    assert document(site, "badges.json")["badges"][0]["message"] == "1 finding"


def test_what_changed_is_in_the_feed_with_dates_of_the_runs(site: Path) -> None:
    feed = ET.parse(site / "feed.xml").getroot()
    titles = [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")]
    assert titles == ["mine 1.1 → 1.2: 1 new", "mine 1.0 → 1.1: 1 gone", "mine 1.0: first run, 1 cause"]
    places = [feed, *feed.iter(f"{ATOM}entry")]
    ids = [place.findtext(f"{ATOM}id") or "" for place in places]
    assert len(set(ids)) == len(ids) == 4 and all(re.fullmatch(r"tag:tiebreak,2026:[\w./-]+", one) for one in ids)
    dates = [datetime.fromisoformat(place.findtext(f"{ATOM}updated") or "") for place in places]
    assert [date.day for date in dates] == [3, 3, 2, 1] and all(date.tzinfo for date in dates)
    assert all(place.findtext(f"{ATOM}title") for place in places) and feed.findtext(f"{ATOM}author/{ATOM}name")
    assert "floor(q + 0.5)" in (next(feed.iter(f"{ATOM}content")).text or "")


@pytest.mark.slow
def test_an_address_makes_the_feeds_links_absolute(runs: Path, tmp_path: Path) -> None:
    assert built(runs, tmp_path / "site", "--address", "https://example.org/results").exit_code == 0
    feed = ET.parse(tmp_path / "site" / "feed.xml").getroot()
    links = {link.get("href") for link in feed.iter(f"{ATOM}link")}
    assert links == {f"https://example.org/results/{one}" for one in ("feed.xml", "index.html", "libraries/mine.html")}
    assert (feed.findtext(f"{ATOM}id") or "").startswith("tag:example.org,2026:")


def test_runs_that_cannot_be_trusted_are_a_line_each(runs: Path, site: Path, tmp_path: Path) -> None:
    result = built(runs, tmp_path / "site")
    lines = result.stderr.splitlines()
    assert len(lines) == 2 and all(line.startswith("tiebreak: not counted: ") for line in lines)
    elements = len(real().discrepancies)
    said = f"{elements:,} deviating elements, discrepancies.parquet has {elements - 1:,}"
    assert "edited: " in lines[0] and said in lines[0]
    assert "half <i>: " in lines[1] and "not JSON" in lines[1]
    assert [name for name, _ in document(site, "runs.json")["skipped"]] == ["edited", "half <i>"]
    text = (site / "runs.html").read_text(encoding="utf-8")
    assert "half &lt;i&gt;" in text and "<i>" not in text


def test_building_twice_gives_the_same_bytes_and_leaves_nothing_beside(runs: Path, site: Path) -> None:
    before = files(site)
    assert built(runs, site).exit_code == 0
    assert files(site) == before
    assert [path.name for path in site.parent.iterdir()] == ["site"]
    assert {*document(site, MARKER)["files"], MARKER} == set(before)


def changes_between(tmp_path: Path, *runs: Run) -> Any:
    """What the last of runs of one library changed, as its page says."""
    for day, run in enumerate(runs):
        write_dated(renamed(run, "mine", f"1.{day}"), tmp_path / "runs" / f"of-{day}", day)
    assert built(tmp_path / "runs", tmp_path / "site").exit_code == 0
    return document(tmp_path / "site", "libraries/mine.json")


def test_a_cause_with_another_name_is_renamed_not_gone_and_new(tmp_path: Path) -> None:
    """Also where the newer run has fewer cases. Its library did not change, so that is no news."""
    base = real()
    exact = set(base.results["case"][base.results["verdict"] == "exact"].iloc[:2])
    other = called(without(base, exact), "other-id", "another sentence")
    found = changes_between(tmp_path, base, other)
    assert [one["before"] for one in found["changes"]] == [""], "the first run alone is news"
    causes = {one["name"]: one for one in found["causes"]}
    assert causes["other-id"]["there"] and not causes["floor-of-half-more"]["there"]
    assert causes["floor-of-half-more"]["now"]["name"] == "other-id" and causes["other-id"]["now"] is None
    pages = {name: (tmp_path / "site" / one["page"]).read_text(encoding="utf-8") for name, one in causes.items()}
    assert "Now called <a" in pages["floor-of-half-more"] and "Not in the newest" not in pages["floor-of-half-more"]
    assert "Earlier runs call it <a" in pages["other-id"]
    assert "Former names" in (tmp_path / "site" / "causes.html").read_text(encoding="utf-8")


def test_a_name_that_came_with_another_result_is_new(tmp_path: Path) -> None:
    base = real()
    other = called(base, "other-id", "another sentence")
    other.discrepancies.loc[0, "got_bits"] += 1
    causes = changes_between(tmp_path, base, other)["changes"][0]["causes"]
    assert [one["name"] for one in causes["gone"]] == ["floor-of-half-more"] and not causes["renamed"]
    assert [one["name"] for one in causes["new"]] == ["other-id"]


def test_a_new_name_for_a_part_of_a_cause_is_no_new_name_for_the_cause(tmp_path: Path) -> None:
    """The rest of it is gone: its page must not say that it is called otherwise now."""
    base = real()
    other = called(base, "other-id", "another sentence")
    other.discrepancies.loc[0, "got_bits"] += 1
    other.discrepancies.loc[0, ["cause_id", "cause"]] = "third-id", "a third sentence"
    (row,) = other.info["clusters"]
    both = [
        row | {"elements": row["elements"] - 1},
        row | {"elements": 1, "cause_id": "third-id", "cause": "a third sentence"},
    ]
    other = replace(other, info=other.info | {"clusters": both})
    found = changes_between(tmp_path, base, other)
    causes = found["changes"][0]["causes"]
    assert [one["name"] for one in causes["gone"]] == ["floor-of-half-more"]
    assert [one["name"] for one in causes["new"]] == ["third-id"]
    assert [(one["name"], one["was"]["name"]) for one in causes["renamed"]] == [("other-id", "floor-of-half-more")]
    assert all(one["now"] is None for one in found["causes"])
    pages = {one["name"]: (tmp_path / "site" / one["page"]).read_text(encoding="utf-8") for one in found["causes"]}
    assert "Now called" not in pages["floor-of-half-more"]
    assert "</a> has a part that is now called <a" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("verdict", "said"), [("", "The runs had other cases: "), ("unsupported", "the same cases, of which others ran: ")]
)
def test_other_cases_are_told_from_the_same_of_which_others_ran(tmp_path: Path, verdict: str, said: str) -> None:
    base = real()
    exact = set(base.results["case"][base.results["verdict"] == "exact"].iloc[:2])
    found = changes_between(tmp_path, base, without(sound(base), exact, verdict))["changes"][0]
    assert found["same_cases"] == bool(verdict) and found["judged"][0] > found["judged"][1] > 0
    assert [one["name"] for one in found["causes"]["gone"]] == ["floor-of-half-more"]
    text = (tmp_path / "site" / "libraries" / "mine.html").read_text(encoding="utf-8")
    assert said in text and text.count("The runs had") == 1


def test_an_older_release_that_is_run_again_is_not_the_newest(runs: Path, tmp_path: Path) -> None:
    base = real()
    write_dated(renamed(base, "mine", "1.9"), tmp_path / "runs" / "a", 1)
    write_dated(renamed(sound(base), "mine", "1.10"), tmp_path / "runs" / "b", 2)
    write_dated(renamed(base, "mine", "1.9"), tmp_path / "runs" / "c", 3)
    assert built(tmp_path / "runs", tmp_path / "site").exit_code == 0
    rows = document(tmp_path / "site", "index.json")["rows"]
    assert [(row["version"], row["newest"]) for row in rows] == [("1.10", True), ("1.9", False)]
    assert not document(tmp_path / "site", cause_page(HALF).replace(".html", ".json"))["there"]


def test_two_releases_of_one_run_stand_side_by_side(tmp_path: Path) -> None:
    old, new = renamed(real(), "mine@1.0", "1.0"), renamed(sound(real()), "mine@1.1", "1.1")
    info = old.info | {"backends": [*new.info["backends"], *old.info["backends"]]}
    write_dated(Run(info, pd.concat([old.results, new.results]), old.discrepancies), tmp_path / "runs" / "both", 0)
    assert built(tmp_path / "runs", tmp_path / "site").exit_code == 0
    found = document(tmp_path / "site", "libraries/mine.json")
    assert [row["version"] for row in found["rows"]] == ["1.1", "1.0"]
    assert [row["backends"] for row in found["rows"]] == [["mine"], ["mine"]]
    gone = [each["name"] for one in found["changes"] for each in one["causes"]["gone"]]
    assert gone == ["floor-of-half-more"], "1.0 has it, 1.1 of the same run does not"


def test_hostile_names_are_inert_in_every_file(tmp_path: Path) -> None:
    write_dated(renamed(real(), HOSTILE, "</script><b>"), tmp_path / "runs" / "<img src=x onerror=alert(1)>", 0)
    assert built(tmp_path / "runs", tmp_path / "site").exit_code == 0
    for name, content in files(tmp_path / "site").items():
        text = content.decode()
        assert re.fullmatch(r"[A-Za-z0-9._+/-]+", name) and max(map(len, name.split("/"))) < 200
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", text), name
        if name.endswith((".html", ".svg", ".xml")):
            assert "<script>alert" not in text and "<img src=x" not in text and "</script><b>" not in text, name
        if name.endswith((".svg", ".xml")):
            ET.fromstring(text)
        if name.endswith(".html") and "report" not in name:
            policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
            assert policy and "unsafe" not in policy[0] and "script-src 'self'" in policy[0]


def test_file_names_are_readable_and_never_the_same() -> None:
    texts = [
        "onnxruntime",
        "onnx.QuantizeLinear",
        "a b",
        "a-b",
        "a/b",
        "..",
        ".",
        "",
        "a.",
        "é",
        "x" * 300,
        "<b>",
        "A+1",
    ]
    names = [file_name(text) for text in texts]
    assert len(set(names)) == len(texts) and names[:2] == texts[:2]
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]*(?<!\.)", name) and len(name) <= 60 for name in names)
    assert cause_page(HALF) == "causes/mine-onnx.QuantizeLinear-floor-of-half-more-b2011f7f27.html"


def test_a_badge_says_exact_as_written_or_how_much_is_found(runs: Path) -> None:
    facts = collect(runs, lambda facts, run: None)
    cells = {cell.release: cell for run in facts.runs for cell in run.cells}
    clean = replace(cells["1.1"], counts={"exact": 5}, as_written=0)
    wanted = {
        "1 finding": cells["1.0"],
        "exact": clean,
        "as written": replace(clean, counts={"exact": 5, "unspecified": 1}, as_written=1),  # of the unspecified case
        "2 findings": replace(clean, findings=2, hazards=3),
        "3 hazards": replace(clean, hazards=3),
        "unspecified": replace(clean, judged=0, counts={"unspecified": 2}),
        "not run": replace(clean, judged=0, counts={"unsupported": 2}),
    }
    assert {badge_of(cell).message: cell for cell in wanted.values()} == wanted


def test_a_badge_accuses_only_the_backend_and_operator_that_a_finding_is_about() -> None:
    run = real()
    backends = [{"name": name, "version": "1", "library": "a"} for name in ("a", "a-two")]
    path = {"backend": "a", "operator": "x", "answers": [{"paths": ["in a tail"]}]}
    info = {
        "backends": backends,
        "clusters": [{"backend": "a", "operator": "x", "document": one} for one in ("own", "foreign")],
        "paths": [path, path, path | {"operator": "y"}, path | {"answers": [{"paths": ["alone"]}]}],
        "failures": [{"backend": "a-two", "operator": "x"}],
        "repeated": [
            {"backend": "a-two", "operator": "y", "differ": 0},
            {"backend": "a", "operator": "z", "differ": 2},
        ],
        "pairs": [{"a": "a", "b": "a-two", "operator": "w", "differ": 1}],
    }
    found = finding_counts(replace(run, info=info))
    wanted = {("a", "x"): 3, ("a", "y"): 1, ("a-two", "x"): 1, ("a", "z"): 1, ("a", "w"): 1, ("a-two", "w"): 1}
    assert found == wanted and hazard_counts(replace(run, info=info)) == {("a", "x"): 1}


@pytest.mark.parametrize("place", ["other.txt", "runs/x.txt", "a-folder/deep.txt"])
def test_a_folder_with_any_other_file_is_left_alone(runs: Path, site: Path, tmp_path: Path, place: str) -> None:
    """Also if the rest of it is a site."""
    for folder in (tmp_path / "plain", tmp_path / "mixed"):
        if folder.name == "mixed":
            assert built(runs, folder).exit_code == 0
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text("mine", encoding="utf-8")
        before = files(folder)
        result = built(runs, folder)
        assert result.exit_code == 2 and "no site of results: it has" in result.stderr and place in result.stderr
        assert files(folder) == before


def fails(pages: Any) -> str:
    raise OSError(28, "no room")


@pytest.mark.slow
def test_an_error_leaves_the_old_site_and_what_was_killed_is_cleared(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site"
    assert built(runs, folder).exit_code == 0
    before = files(folder)
    with monkeypatch.context() as patched:
        patched.setattr("tiebreak.reports.site.pages.Pages.feed", fails)
        result = built(runs, folder)
    assert result.exit_code == 2 and "can't write there: no room" in result.stderr
    assert files(folder) == before and [path.name for path in tmp_path.iterdir()] == ["site"]
    left = tmp_path / ".site.part"  # of a build that was killed
    left.mkdir()
    (left / MARKER).write_text('{"format": "tiebreak-site", "version": 1, "files": [], "unfinished": true}')
    (left / "half.html").write_text("half")
    assert built(runs, folder).exit_code == 0 and not left.exists() and files(folder) == before


def test_the_current_folder_is_not_replaced(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = built(runs, Path("."))
    assert result.exit_code == 2 and "the current folder would be replaced" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_but_damaged_runs_is_an_error_that_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "runs" / "half").mkdir(parents=True)
    (tmp_path / "runs" / "half" / "run.json").write_text("{", encoding="utf-8")
    result = built(tmp_path / "runs", tmp_path / "site")
    assert result.exit_code == 2 and "no whole run in it" in result.stderr and result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_the_first_page_stays_light_however_much_there_is(runs: Path) -> None:
    """100 runs of 17 backends, 25 operators and 100 releases: what a phone loads first."""
    facts = collect(runs, lambda facts, run: None)
    cell = next(cell for run in facts.runs for cell in run.cells if cell.findings)
    cells = [
        replace(cell, backend=one, library=one, operator=name, equal=()) for one in BACKENDS for name in [*KNOWN][:25]
    ]
    many = tuple(
        replace(facts.runs[0], name=f"run-{number}", sightings=(), cells=tuple(released(cells, f"1.{number}", number)))
        for number in range(100, 0, -1)
    )
    pages = dict(Pages(SiteFacts(many, {}, ()), site_environment(), "").index())
    assert pages["index.html"].count("<tr") > 34 and pages["index.html"].count("✗") > 850
    assert len(pages["index.html"].encode()) < 300_000


def released(cells: list[SiteCell], release: str, number: int) -> list[SiteCell]:
    return [replace(cell, release=release, run=f"run-{number}") for cell in cells]


def test_no_template_writes_an_attribute_as_a_text() -> None:
    """Jinja would escape its quotes, and the attribute would be another."""
    templates = sorted((Path(__file__).parent.parent / "reports" / "templates").glob("*.j2"))
    assert len(templates) > 10
    assert [path.name for path in templates if re.search(r"\{\{ ?'[^'}]*=\"", path.read_text(encoding="utf-8"))] == []
