"""JUnit XML of a small real run and of hostile records, checked against both schemas."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.reports import junit
from tiebreak.reports.junit import write_junit, xml_text
from tiebreak.reports.records import Run, read_run
from tiebreak.reports.text_columns import with_plain_text

SCHEMAS = Path(__file__).parent / "schemas"
HOSTILE = "a\x00b\x1b[31m]]><failure/>&amp;\ud800\ufffe\u202e\"'\n" + "x" * 100_000
RUN = ("run", "-b", "numpy-naive", "-b", "onnx-reference", "--operator", "onnx.QuantizeLinear", "--input-type", "int32")


@pytest.fixture(scope="module")
def schemas() -> list[xmlschema.XMLSchema]:
    return [xmlschema.XMLSchema(SCHEMAS / name) for name in ("jenkins-junit-10.xsd", "ant-junit.xsd")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("junit") / "run"
    result = CliRunner().invoke(main, [*RUN, "--level", "quick", "-o", str(path)])
    assert result.exit_code == 1, result.output
    return read_run(path)


def written(run: Run, path: Path, schemas: list[xmlschema.XMLSchema], folder: str = "my run") -> dict[str, ET.Element]:
    """The suites by name, after both schemas took the file."""
    write_junit(path, run, folder)
    for schema in schemas:
        schema.validate(str(path))
    suites = ET.parse(path).getroot().findall("testsuite")
    for suite in suites:
        counted = {name: len(suite.findall(f"testcase/{tag}")) for name, tag in COUNTS.items()}
        assert counted == {name: int(suite.attrib[name]) for name in COUNTS}
        assert len(suite.findall("testcase")) == int(suite.attrib["tests"])
    return {suite.attrib["name"].split()[0]: suite for suite in suites}


COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


@pytest.mark.slow
def test_deviations_are_failures_with_witness_and_command(
    run: Run, tmp_path: Path, schemas: list[xmlschema.XMLSchema]
) -> None:
    suite = written(run, tmp_path / "j.xml", schemas)["onnx-reference"]
    failures = suite.findall("testcase/failure")
    keys = run.discrepancies.groupby(["round_mode", "input_type", "output_type"])
    assert len(failures) == keys.ngroups > 1 and suite.attrib["errors"] == "0"
    case = next(case for case in suite.findall("testcase") if case.find("failure") is not None)
    assert case.attrib["classname"] == "onnx-reference.onnx.QuantizeLinear"
    assert case.attrib["name"] == "ROUND_NEAREST_TOWARD_EVEN: int32 to int16" and float(case.attrib["time"]) >= 0
    text = str(case.findtext("failure"))
    name = re.search(r"show it: tiebreak repro (D\d+) --run 'my run'$", text)
    assert name and "casts to int32" in text and "ONQ-C1" in text
    witness = run.discrepancies.set_index("id").loc[name[1]]
    assert (witness["output_type"], witness["case"] in text, witness["operands"] in text) == ("int16", True, True)
    sizes = run.results.set_index("case")["elements"].groupby(level=0).first()
    cases = run.discrepancies[run.discrepancies["output_type"] == "int16"]["case"]
    assert sizes[witness["case"]] == cases.map(sizes).min()


def test_unsupported_is_skipped_and_unspecified_passes(
    run: Run, tmp_path: Path, schemas: list[xmlschema.XMLSchema]
) -> None:
    results = with_plain_text(run.results)
    silent = (
        (results["backend"] == "numpy-naive") & (results["output_type"] == "int8") & (results["verdict"] == "exact")
    )
    results.loc[silent, "verdict"] = "unspecified"
    suite = written(replace(run, results=results), tmp_path / "j.xml", schemas)["numpy-naive"]
    by_name = {case.attrib["name"]: case for case in suite.findall("testcase")}
    skipped = by_name["ROUND_NEAREST_TOWARD_EVEN: int32 to float8_e4m3fn"].find("skipped")
    assert skipped is not None and "people write this for plain integers" in skipped.attrib["message"]
    assert len(by_name["ROUND_NEAREST_TOWARD_EVEN: int32 to int8"]) == 0 and suite.attrib["failures"] == "0"
    notes = str(suite.findtext("system-out"))
    assert "never a failure" in notes and f"int32 to int8: {silent.sum()} unspecified, " in notes
    properties = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
    assert properties["cases unspecified"] == str(silent.sum()) and properties["version"]


@pytest.mark.parametrize("verdict", ["crash", "timeout", "error"])
def test_what_failed_to_run_is_an_error_that_keeps_the_deviation(
    run: Run, verdict: str, tmp_path: Path, schemas: list[xmlschema.XMLSchema]
) -> None:
    results = with_plain_text(run.results)
    rows = results[(results["backend"] == "onnx-reference") & (results["output_type"] == "uint8")]
    first = rows[rows["verdict"] == "exact"].index[0]
    results.loc[first, ["verdict", "message"]] = [verdict, "SIGSEGV"]
    suite = written(replace(run, results=results), tmp_path / "j.xml", schemas)["onnx-reference"]
    error = suite.find("testcase/error")
    assert error is not None and error.attrib["type"] == verdict and f"1 {verdict}" in error.attrib["message"]
    assert "SIGSEGV" in str(error.text) and "smallest witness" in str(error.text)


def test_hostile_text_is_removed_escaped_and_bounded(
    run: Run, tmp_path: Path, schemas: list[xmlschema.XMLSchema]
) -> None:
    safe = HOSTILE.replace("\ud800", "")  # Arrow and JSON files hold no lone surrogate
    names = {"backend": {"onnx-reference": safe}}
    results = with_plain_text(run.results).replace(names).assign(message=safe)
    results.loc[results.index[:2], "verdict"] = ["crash", "unsupported"]
    discrepancies = with_plain_text(run.discrepancies).replace(names).assign(cause=safe)
    backends = [dict(one, name=one["name"].replace("onnx-reference", safe)) for one in run.info["backends"]]
    hostile = Run(run.info | {"backends": backends, "clusters": []}, results, discrepancies)
    suites = written(hostile, tmp_path / "j.xml", schemas, "x\x00`")
    text = (tmp_path / "j.xml").read_text(encoding="utf-8")
    assert len(suites) == 2 and "<failure/>" not in text and "\x1b" not in text and "\u202e" not in text
    assert len(text) < 60_000 and "--run RUN_DIR" in text
    assert xml_text(HOSTILE).startswith("a?b?[31m]]><failure/>&amp;??") and len(xml_text(HOSTILE)) == 300


def test_a_backend_that_claims_nothing_has_an_empty_suite(
    run: Run, tmp_path: Path, schemas: list[xmlschema.XMLSchema]
) -> None:
    results = run.results[run.results["backend"] == "onnx-reference"]
    suites = written(replace(run, results=results), tmp_path / "j.xml", schemas)
    assert suites["numpy-naive"].attrib["tests"] == "0" and suites["onnx-reference"].attrib["tests"] != "0"


def test_a_backend_that_run_json_lacks_is_no_silent_pass(run: Run, tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match="unknown backend 'onnx-reference'"):
        write_junit(tmp_path / "j.xml", replace(run, info=run.info | {"backends": run.info["backends"][:1]}))
    with pytest.raises(InvalidInput, match="can't write"):
        write_junit(tmp_path / "none" / "j.xml", run)
    assert list(tmp_path.iterdir()) == []


def test_too_many_tests_leave_out_those_that_passed(
    run: Run, tmp_path: Path, schemas: list[xmlschema.XMLSchema], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = written(run, tmp_path / "a.xml", schemas)["onnx-reference"]
    monkeypatch.setattr(junit, "MOST_TESTS", int(whole.attrib["failures"]))
    cut = written(run, tmp_path / "b.xml", schemas)["onnx-reference"]
    assert cut.attrib["tests"] == cut.attrib["failures"] == whole.attrib["failures"]
    assert "tests are left out" in str(cut.findtext("system-out"))


def test_a_damaged_time_is_left_out(run: Run, tmp_path: Path, schemas: list[xmlschema.XMLSchema]) -> None:
    results = run.results.assign(seconds=float("nan"))
    suites = written(
        replace(run, results=results, info=run.info | {"created": "2026-99-99T"}), tmp_path / "j.xml", schemas
    )
    assert {suite.attrib["time"] for suite in suites.values()} == {"0.000"}
    assert suites["numpy-naive"].attrib["timestamp"] == "1970-01-01T00:00:00"
