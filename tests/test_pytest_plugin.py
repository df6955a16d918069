"""The pytest plugin, in pytest processes of its own; its findings and assertions, in this one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import date
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.cases.plan import Selection, plan, stored_cases
from tiebreak.conformance.gate.waivers import Waiver
from tiebreak.conformance.pytest_plugin import pytest_configure
from tiebreak.conformance.pytest_plugin.assertions import assert_conforms, verdicts
from tiebreak.conformance.pytest_plugin.checks import Checks, SuiteOptions, SuiteTest, kind_of_case, suite_tests
from tiebreak.conformance.pytest_plugin.findings import CaseRows, outcome_of_rows, replay_command
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import OPERATORS
from tiebreak.reports.records import read_run

OPERATOR = "onnx.QuantizeLinear"
PLUGIN = "tiebreak.conformance.pytest_plugin"
KIND = (OPERATOR, "ROUND_NEAREST_TOWARD_EVEN", "float32", "int8")
NAME = f"{OPERATOR}-NEAREST_TOWARD_EVEN-float32-int8"
DOCS = Path(__file__).parent.parent / "docs" / "test-with-pytest.md"

BACKENDS = """
import os
import numpy as np
from tiebreak import Unsupported

class HalfAway:
    version = "1.0"
    operators = {"onnx.QuantizeLinear"}
    ties_to_even = False

    def __init__(self, name="half away", crashes=False):
        self.name, self.crashes = name, crashes

    def compile(self, node):
        types = [tensor.dtype.name for tensor in (*node.inputs, *node.outputs)]
        if types != ["float32", "float32", "int8", "int8"] or set(node.attributes) - {"axis"}:
            raise Unsupported("only plain float32 to int8")
        return self.run

    def run(self, x, scale, zero_point):
        if scale.ndim:
            raise Unsupported("only one scale")
        if self.crashes and x.ndim == 3:
            os.abort()
        with np.errstate(all="ignore"):
            q = (x / scale).astype(np.float64)
            q = np.rint(q) if self.ties_to_even else np.copysign(np.floor(np.abs(q) + 0.5), q)
            return (np.clip(np.nan_to_num(q) + zero_point, -128, 127).astype(np.int8),)

half_away = HalfAway()
crashes = HalfAway("crashes", crashes=True)
right = HalfAway("right")
right.ties_to_even = True
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "boxes.py").write_text(BACKENDS, encoding="utf-8")
    return tmp_path


def environment() -> dict[str, str]:
    """With our scripts on the PATH, and with the plugin where the installed package does not name it."""
    named = entry_points(group="pytest11", name="tiebreak")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    own = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return {**own, "PATH": path, "COLUMNS": "300"} | ({} if named else {"PYTEST_PLUGINS": PLUGIN})


def suite(folder: Path, *options: str) -> tuple[int, str]:
    """Exit code and output of the suite, on vectors of one operator."""
    words = ["-m", "pytest", "-rfsxE", "--pyargs", "tiebreak.conformance.suite", "--tiebreak-level", "vectors"]
    command = [sys.executable, *words, "--tiebreak-operator", OPERATOR, *options]
    ran = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def line_of(output: str, start: str, name: str) -> str:
    """The line of pytest's summary about a test."""
    found = re.search(rf"^{start} \S*test_conforms\[{re.escape(name)}\].*$", output, re.MULTILINE)
    assert found, f"no {start} of {name} in\n{output[-4000:]}"
    return found[0]


def test_loading_the_plugin_imports_nothing_of_tiebreak() -> None:
    program = f"import sys, {PLUGIN}; print(*sorted(n for n in sys.modules if n.startswith(('tiebreak', 'numpy'))))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["tiebreak", "tiebreak.conformance", PLUGIN, "tiebreak.version"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "tiebreak.conformance.suite: name what to test with --tiebreak-backend BACKEND"),
        ({"backend": ["nope"]}, "tiebreak: unknown backend 'nope'; "),
        ({"backend": ["boxes:right"], "operator": ["Foo"]}, "tiebreak: unknown operator 'Foo'"),
        ({"backend": ["boxes:right"], "waivers": "none.toml"}, "none.toml"),
        ({"backend": ["boxes:right"], "timeout": 0.0}, "a positive number of seconds"),
    ],
)
def test_wrong_options_are_a_usage_error_of_one_line(options: dict[str, Any], says: str) -> None:
    given = {"backend": [], "operator": [], "waivers": None, "level": "quick", "timeout": 10.0} | options
    config = SimpleNamespace(
        args=["tiebreak.conformance.suite"], getoption=lambda name: given[name.removeprefix("tiebreak_")]
    )
    with pytest.raises(pytest.UsageError) as found:
        pytest_configure(config)  # type: ignore[arg-type]
    assert says in str(found.value) and "\n" not in str(found.value)


def test_without_a_backend_pytest_ends_with_a_usage_error(folder: Path) -> None:
    code, output = suite(folder)
    assert code == 4
    assert [line for line in output.splitlines() if line.strip()] == [
        "ERROR: tiebreak.conformance.suite: name what to test with --tiebreak-backend BACKEND"
    ]


@pytest.mark.slow
def test_a_backend_that_is_not_there_ends_the_session(folder: Path) -> None:
    code, output = suite(folder, "--tiebreak-backend", "boxes:nope")
    assert code == 4
    assert "backend boxes:nope: no 'nope' there" in output and "Traceback" not in output


def test_discrepancies_fail_with_bits_cause_and_a_command(folder: Path) -> None:
    options = "--tiebreak-backend", "boxes.py:half_away", "-k", "float32-int8 or float16-int8-ONQ-R1"
    code, output = suite(folder, *options)
    assert code == 1
    line_of(output, "FAILED", f"{NAME}-ONQ-R1")
    assert re.search(r"SKIPPED .*: unsupported: only plain float32 to int8", output)
    assert "half away deviates from onnx.QuantizeLinear (float32 to int8, NEAREST_TOWARD_EVEN) in " in output
    assert "wrong tie rule: NEAREST_TOWARD_INFINITY: " in output
    assert re.search(r"x +0x[0-9a-f]{8} +-?\d+\.\d+\n", output) and re.search(r"got +0x[0-9a-f]{2} +-?\d+\n", output)
    assert re.search(
        rf"replay +tiebreak run -b boxes.py:half_away --case {OPERATOR}/float32/int8/\S+ -o replay", output
    )
    assert re.search(r"\d+ of \d+ cases unsupported: only plain float32 to int8", output)


@pytest.mark.slow
def test_workers_of_xdist_agree_and_a_crash_fails_its_tests(folder: Path) -> None:
    pytest.importorskip("xdist")
    backends = "--tiebreak-backend", "boxes:right", "--tiebreak-backend", "boxes:crashes"
    code, output = suite(folder, *backends, "-n", "2", "-k", "float32-int8-ONQ-T1 or float32-int8-ONQ-A1")
    assert code == 1
    line_of(output, "FAILED", f"boxes:crashes-{NAME}-ONQ-T1")
    assert "crashes did not run 2 of 6 cases: crash 2" in output
    assert f"{OPERATOR}/float32/int8/tensor-2x3x4/ROUND_NEAREST_TOWARD_EVEN" in output
    assert re.search(r"1 passed, ", output), "the right backend passes ONQ-T1"
    assert "only one scale" in output


WAIVER = """
[[waiver]]
backend = "half *"
operator = "onnx.QuantizeLinear"
cause = "{cause}"
reason = "{reason}"
link = "https://example.com/1"
expires = {expires}
"""


@pytest.mark.slow
def test_waivers_are_strict_expected_failures(folder: Path) -> None:
    texts = [
        WAIVER.format(cause="wrong tie rule: *", reason="ties away", expires="2999-01-01"),
        WAIVER.format(cause="wraps *", reason="was mended", expires="2999-01-01"),
        WAIVER.format(cause="*", reason="of old", expires="2020-01-01"),
    ]
    (folder / "known.toml").write_text("".join(texts), encoding="utf-8")
    options = "--tiebreak-backend", "boxes.py:half_away", "--tiebreak-waivers", "known.toml"
    code, output = suite(folder, *options, "-k", "float32-int8-ONQ-R1 or waiver")
    assert code == 1
    assert "ties away, https://example.com/1" in line_of(output, "XFAIL", f"{NAME}-ONQ-R1")
    line_of(output, "FAILED", f"waiver-2-{OPERATOR}")
    assert "at level vectors nothing deviates so any more: was mended" in output
    assert re.search(r"SKIPPED .*expired after 2020-01-01", output)
    assert "1 failed, 1 passed, 1 skipped" in output


def test_the_plan_has_readable_names_each_once_and_every_stored_vector() -> None:
    for operator in OPERATORS:
        names = [test.name for test in suite_tests([operator], "quick")]
        assert len(set(names)) == len(names) and f"{operator}-other-types" in names
    tests = set(suite_tests([OPERATOR], ""))
    assert f"{NAME}-ONQ-F2" in {test.name for test in tests}
    cases = stored_cases(Selection(input_type="float32", output_type="int8"), [OPERATOR])
    assert {SuiteTest(kind_of_case(case), clause) for case in cases for clause in case.clauses} <= tests


def test_a_generated_case_that_fails_is_kept_for_its_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    checks = Checks(SuiteOptions(("boxes.py:half_away",), (OPERATOR,), "quick", (), 10.0), Path("kept"))
    try:
        found = checks.outcome_of_test("boxes.py:half_away", SuiteTest(KIND, "ONQ-R1"))
    finally:
        checks.close()
    (kept,) = (folder / "kept").iterdir()
    assert found.outcome == "fail" and kept.name == f"boxes.py_half_away-{NAME}"
    run = read_run(kept)
    made = str(next(name for name in run.discrepancies["case"] if not name.startswith(OPERATOR)))
    command = replay_command("boxes.py:half_away", kept, {"case": made, "operator": OPERATOR})
    assert command == f"tiebreak run -b boxes.py:half_away --case {made} --from {kept} -o replay"
    assert [case.id for case in plan(Selection(case_ids=(made,), earlier_run=kept))] == [made]


def row(verdict: str, case: str = "onnx.QuantizeLinear/a", **others: Any) -> dict[str, Any]:
    return {"verdict": verdict, "case": case, "clauses": "ONQ-R1", "message": "no such type", "fault": verdict} | others


def test_what_a_test_says_of_its_cases() -> None:
    def outcome(*rows: dict[str, Any]) -> tuple[str, str, str]:
        found = outcome_of_rows(CaseRows("it", rows, []), lambda row: f"replay {row['case']}")
        return found.outcome, found.text, found.note

    assert outcome() == ("skip", "no case of these types at this level shows the clause", "")
    assert outcome(row("unsupported"), row("unsupported")) == ("skip", "unsupported: no such type", "")
    assert outcome(row("unsupported"), row("exact")) == ("pass", "", "1 of 2 cases unsupported: no such type")
    assert outcome(row("unspecified"), row("working-precision")) == ("pass", "", "")
    kind, text, _ = outcome(row("timeout", fault="hang", message="no answer\x1b[31m in 10 s"), row("exact"))
    assert kind == "fail" and "timeout (hang) 1" in text and "no answer?[31m in 10 s" in text
    assert "replay onnx.QuantizeLinear/a" in text


def test_a_failure_that_is_no_discrepancy_is_not_waived() -> None:
    waiver = Waiver(1, "it", OPERATOR, "known", "https://example.com/1", date(2999, 1, 1), cause="*")
    known = {"case": "onnx.QuantizeLinear/a", "cause": "wrong tie rule"}
    waived = outcome_of_rows(CaseRows("it", [row("deviates")], [(known, waiver)]), str)
    assert waived.outcome == "waived" and "1 element by waiver 1" in waived.text
    found = outcome_of_rows(CaseRows("it", [row("deviates"), row("crash")], [(known, waiver)]), str)
    assert found.outcome == "fail" and "1 element more are waived" in found.text


class Rounds:
    """float32 to int8 by a rule for ties of one's choice."""

    name, version = "rounds", "1"

    def __init__(self, rule: Any) -> None:
        self.rule = rule

    def compile(self, node: Node) -> Any:
        if node.output_type != "int8":
            raise Unsupported("only int8")
        return lambda x, scale, zero_point: (np.clip(self.rule(x / scale) + zero_point, -128, 127).astype(np.int8),)


def test_assertions_judge_and_explain() -> None:
    node = make_node(OPERATOR, quantized="int8")
    inputs = (np.float32([0.5, 1.5, 2.5, 3.2]), np.float32(1), np.int8(0))
    up = Rounds(lambda q: np.floor(q + np.float32(0.5)))
    assert assert_conforms(Rounds(np.rint), node, inputs) == "exact"
    assert verdicts(up, node, inputs)[0].tolist() == ["deviates", "exact", "deviates", "exact"]
    with pytest.raises(AssertionError, match="rounds deviates from ") as failed:
        assert_conforms(up, node, inputs)
    text = str(failed.value)
    assert "wrong tie rule: " in text and "0x3f000000  0.5" in text and "off by" in text and "replay" not in text


def test_assertions_tell_wrong_outputs_from_what_does_not_fit() -> None:
    node, other = make_node(OPERATOR, quantized="int8"), make_node(OPERATOR, quantized="uint8")
    inputs = (np.float32([0.5]), np.float32(1), np.int8(0))
    with pytest.raises(AssertionError, match=r"output of shape \[\], \[1\] is wanted"):
        assert_conforms(Rounds(np.sum), node, inputs)
    with pytest.raises(Unsupported, match="only int8"):
        assert_conforms(Rounds(np.rint), other, (*inputs[:2], np.uint8(0)))
    with pytest.raises(InvalidInput, match="inputs of types float32, float32, int8; the node has"):
        assert_conforms(Rounds(np.rint), other, inputs)
    (case, *_) = stored_cases(Selection(input_type="float32", output_type="int8"), [OPERATOR])
    with pytest.raises(InvalidInput, match="is a case of another node"):
        assert_conforms(Rounds(np.rint), other, case)


@pytest.mark.skipif(not DOCS.is_file(), reason="a source distribution may have no docs")
@pytest.mark.slow
def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    for kind, body in re.findall(r"^```(\w+)\n(.*?)^```$", DOCS.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        if kind != "sh":
            (tmp_path / body.split()[1]).write_text(body, encoding="utf-8")
            continue
        wanted = re.search(r"# exit (\d)", body)
        ran = subprocess.run(
            ["bash", "-c", body], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
        )
        assert ran.returncode == (int(wanted[1]) if wanted else 0), f"{body}\n{ran.stdout[-3000:]}{ran.stderr[-2000:]}"
