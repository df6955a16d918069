"""What a report shows first: the libraries with their shares, and at most five findings as sentences."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from recorded_versions import recorded
from test_story import DL, NQ, QL, a_run, cause

from tiebreak.cli import main
from tiebreak.conformance.gate.compare import new_findings
from tiebreak.golden.verdicts import NO_ELEMENTS, NOT_DETERMINISTIC
from tiebreak.reports.first_screen import MOST, News, headlines, library_rows, turns_into, what_ran
from tiebreak.reports.records import Run, read_run
from tiebreak.reports.story import story

COLUMNS = {"backend": "lib", "operator": QL, "document": "own", "message": "", "fault": "", "elements": 3}
WITNESS = {"id": "D1", "case": "c", "elements": 1, "operands": [["x", "0x1", "1.0"]], "expected": "1", "got": "2"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def both(folder: Path) -> Run:
    return read_run(folder / "both")


def test_a_library_has_the_shares_of_its_cases_and_operators_not_of_elements() -> None:
    rows = [
        {
            "backend": "lib",
            "operator": operator,
            "case": f"{operator}{number}",
            "verdict": "deviates",
            "fault": "",
            "document": "own",
        }
        | {"judged_calibrated": size, "deviates_calibrated": wrong, "working_calibrated": 1 - bool(wrong)}
        | {"other_order_calibrated": 0}
        for operator, size, wrong in ((QL, 65536, 65000), (DL, 3, 0), (DL, 0, 0))
        for number in range(2)
    ]
    run, a_story = replace(a_run(), results=pd.DataFrame(rows)), story(a_run())
    (row,) = library_rows(run, a_story)
    assert (row.judged, row.deviates, row.as_written, row.exact) == (4, 2, 2, 0), "a case without calibrated is none"
    assert (row.operators, row.deviate_in) == (2, 1)


@pytest.mark.slow
def test_the_rows_of_a_real_run_add_up(both: Run) -> None:
    rows = {row.library: row for row in library_rows(both, story(both))}
    assert "none" in set(both.results["document"]), "cases with unspecified elements count, too"
    own = both.results.groupby("backend")
    for name in ("dev", "sound"):
        judged, deviates = (
            int((own.get_group(name)[f"{what}_calibrated"] > 0).sum()) for what in ("judged", "deviates")
        )
        assert (rows[name].judged, rows[name].deviates) == (judged, deviates)
        assert rows[name].exact + rows[name].as_written + rows[name].deviates == judged > 0
    assert rows["dev"].deviates > rows["sound"].deviates == 0
    assert next(iter(rows)) == "dev", "what is worst comes first"
    assert rows["dev"].releases == ("2.0",)


def test_the_worst_finding_is_a_sentence_with_its_witness(folder: Path) -> None:
    run = read_run(folder / "away")
    (first, *_) = headlines(run, story(run))
    assert first.text == "dev quantizes -0.5 with y_scale 1.0, y_zero_point 1 to 0 where ONNX says 1"
    assert first.why == "wrong tie rule: NEAREST_TOWARD_INFINITY"
    assert first.anchor == first.finding.ids[0] == "C001"


def test_an_output_beside_the_first_has_its_name() -> None:
    operands = [["min", "0x0", "0.0"], ["max", "0x40400000", "3.0"]]
    row, scale = {"operator": "onnx.DynamicQuantizeLinear"}, {"output": "y_scale", "operands": operands}
    assert turns_into(row, scale, ["2.0, not 1.0"]) == "gives y_scale 2.0, not 1.0 for min 0.0, max 3.0"
    assert turns_into(row, scale, ["2.0 here", "1.0 there"]).startswith("gives y_scale 2.0 here and 1.0 there for")
    y = {"output": "y", "operands": [["x", "0x0", "0.5"], *operands]}
    assert turns_into(row, y, ["2, not 1"]) == "quantizes 0.5 with min 0.0, max 3.0 to 2, not 1"


def test_the_attributes_that_decide_are_in_the_sentence() -> None:
    witness = {"operands": [["x", "0x1", "70000"], ["y_scale", "0x2", "2"]], "attributes": ["precision=FLOAT16"]}
    assert turns_into({"operator": QL}, witness, ["57344"]) == (
        "quantizes 70000 with y_scale 2, precision=FLOAT16 to 57344"
    )


def test_a_crash_is_told_with_what_it_said(folder: Path) -> None:
    run = read_run(folder / "aborts")
    texts = [one.text for one in headlines(run, story(run))]
    assert any(text.startswith("dev, QuantizeLinear, float32 to ") and ": crash: " in text for text in texts)
    assert any("SIGABRT" in text for text in texts)
    whys = [one.why for one in headlines(run, story(run))]
    assert any(re.search(r" cases, such as .*x float32 \[7\]: -12.0, ", why) for why in whys), "with the smallest call"
    (row,) = library_rows(run, story(run))
    assert row.failed == int((run.results["verdict"] == "crash").sum()) > 0


def test_libraries_take_turns_and_there_are_five_at_most() -> None:
    rows = [cause("lib", QL, f"cause {number}", witness=WITNESS) for number in range(9)]
    rows += [cause("other", QL, "another", witness=WITNESS), cause("other", NQ, "moved", "foreign", witness=WITNESS)]
    run = a_run(clusters=[row | {"id": f"C{number:03d}"} for number, row in enumerate(rows)])
    found = headlines(run, story(run))
    assert len(found) == MOST
    assert [one.why for one in found[:2]] == ["cause 0", "another"], "each library's worst before any second one"
    assert all(one.chapter == "own" for one in found), "a hazard only where there are few others"
    many = a_run(clusters=[cause(f"lib{n}", QL, "one", witness=WITNESS) | {"id": f"C{n}"} for n in range(9)])
    many.info["backends"] = [{"name": f"lib{number}", "version": "1", "library": ""} for number in range(9)]
    assert len(headlines(many, story(many))) == 9, "each library has one"
    few = a_run(clusters=[rows[0], rows[-1] | {"id": "C9"}])
    assert [one.text for one in headlines(few, story(few))] == [
        "lib quantizes 1.0 to 2 where ONNX says 1",
        "other quantizes 1.0 to 2, not 1",
    ]


def test_the_worst_is_what_everyday_operands_show_and_none_is_told_twice() -> None:
    edge = {"domains": {"edge": {"elements": 9, "judged": 9, "farthest": 9, "boundary_ulp": None}}}
    rows = [
        cause("lib", QL, "at the edge", witness=WITNESS) | edge,
        cause("lib", QL, "everyday", witness=WITNESS),
        cause("lib", DL, "everyday", witness=WITNESS),
    ]
    run = a_run(clusters=[row | {"id": f"C{number}"} for number, row in enumerate(rows)])
    assert [one.why for one in headlines(run, story(run))] == ["everyday", "at the edge"]


def test_an_answer_that_changes_on_everyday_operands_leads() -> None:
    failure = {"id": "F1", "backend": "lib", "operator": QL, "verdict": "error", "fault": NOT_DETERMINISTIC, "cases": 3}
    failure |= {"message": "outputs change", "witness": {"case": "c1", "message": "outputs change"}}
    wrong = cause("lib", QL, "everyday", witness=WITNESS)
    hazard = cause("lib", QL, "moved", "foreign", witness=WITNESS)
    for clusters, domain, told in (
        ([wrong], "calibrated", [("F1",), ("C1",)]),
        ([wrong], "edge", [("C1",), ("F1",)]),
        ([hazard], NO_ELEMENTS, [("C1",)]),
    ):
        run = a_run(failures=[failure], clusters=clusters, domains={"F1": domain})
        assert [one.finding.ids for one in headlines(run, story(run))] == told, domain


def test_no_empty_tensor_is_a_headline() -> None:
    run = a_run(clusters=[cause("lib", QL, "no products", witness=WITNESS)], domains={"C1": NO_ELEMENTS})
    assert headlines(run, story(run)) == []


def test_what_a_library_documents_of_its_defaults_is_no_headline() -> None:
    run = a_run(
        clusters=[
            cause("lib-two", QL, "in bfloat16", witness=WITNESS) | {"id": "C1"},
            cause("lib", QL, "wrong", witness=WITNESS) | {"id": "C2"},
        ],
        pairs=[{"a": "lib", "b": "lib-two", "operator": QL, "cases": 1, "elements": 9, "differ": 9}],
    )
    assert {one.why for one in headlines(run, story(run))} > {"wrong", "in bfloat16"}
    for row in run.info["backends"]:
        row["attestation"] = {"reduced by default": "bf16"} if row["name"] == "lib-two" else {}
    assert [one.why for one in headlines(run, story(run))] == ["wrong"], "nor that such a configuration differs"
    crash = {"id": "F1", "backend": "lib-two", "operator": QL, "verdict": "crash", "fault": "crash", "cases": 1}
    run.info["failures"] = [crash | {"message": "died", "witness": {"case": "c", "message": "died"}}]
    assert ("F1",) in [one.finding.ids for one in headlines(run, story(run))], "no document says that it crashes"


def test_a_finding_of_several_operands_has_the_id_of_those_that_it_shows() -> None:
    answers = [{"value": what, "bits": "0x0", "paths": [f"per {what}"]} for what in ("tensor", "axis")]
    path = {"backend": "lib", "operator": QL, "answers": answers}
    rows = [path | {"id": f"S{n}", "operands": [["x", "0x0", x]]} for n, x in enumerate(["1.17549435e-38", "2.5"])]
    run = a_run(paths=rows)
    (told,) = headlines(run, story(run))
    assert "2.5" in told.text and told.id == "S1"


def test_a_contradiction_is_told_with_its_operator_and_types() -> None:
    answers = [{"value": what, "bits": "0x0", "paths": [f"per {what}"]} for what in ("tensor", "axis")]
    path = {"id": "S001", "backend": "lib", "operator": QL, "answers": answers, "operands": [["x", "0x0", "2.5"]]}
    run = a_run(paths=[path | {"input_type": "float32", "output_type": "int8"}])
    assert headlines(run, story(run))[0].text == (
        "lib, QuantizeLinear, float32 to int8: it quantizes 2.5 to tensor per tensor and to axis per axis"
    )


def test_what_ran_is_one_line(both: Run) -> None:
    text = what_ran(both, library_rows(both, story(both)))
    assert text.startswith("2 libraries · 2 configurations · 1 operator · ")
    assert f"{both.results['case'].nunique():,} cases" in text and "\n" not in text


def test_what_is_new_since_a_baseline_leads(folder: Path, tmp_path: Path) -> None:
    base, run = read_run(folder / "sound"), read_run(folder / "away")
    ids = new_findings(base, run)
    assert ids == {str(row["id"]) for row in run.info["clusters"]}, "the baseline has none of them"
    assert new_findings(run, run) == frozenset()
    chapters = story(run)
    last = chapters[1].findings[-1]
    assert headlines(run, chapters, News("base", frozenset(last.ids)))[0].finding == last
    assert headlines(run, chapters)[0].finding != last or len(chapters[1].findings) == 1
    words = ["report", str(folder / "away"), "--baseline", str(folder / "sound"), "-o", str(tmp_path / "page.html")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "new</strong> since <code>" in page and page.count('<span class="new">new</span>') >= 2
    assert CliRunner().invoke(main, [*words[:3], str(tmp_path / "nothing"), *words[4:]]).exit_code == 2
