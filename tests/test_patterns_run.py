"""`tiebreak pattern`: records, findings, faults, scripts, and what the command says of bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from click.testing import CliRunner

from tiebreak.adapters.patterns.isolated import IsolatedRuntime
from tiebreak.adapters.patterns.model import SHIPPED, UNFUSED
from tiebreak.adapters.platform_facts import instruction_sets, machine
from tiebreak.cli import main
from tiebreak.conformance.patterns.comparing import PatternTruths
from tiebreak.conformance.patterns.job import PatternRun, asked, exit_code
from tiebreak.conformance.patterns.main import pattern_job
from tiebreak.conformance.patterns.operands import rows_of
from tiebreak.conformance.patterns.parameters import settings
from tiebreak.conformance.patterns.pattern_setting import PatternSetting
from tiebreak.conformance.patterns.shrinking import smallest
from tiebreak.conformance.patterns.summary import cells
from tiebreak.golden.patterns.graph import ScalePair
from tiebreak.golden.patterns.stepwise import Undecided
from tiebreak.golden.patterns.text import pattern_of

BOXES = Path(__file__).parent / "pattern_boxes.py"


def box(name: str) -> str:
    return f"{BOXES}:{name}"


def at(*scales: str) -> PatternSetting:
    return PatternSetting(
        {f"s{k}": ScalePair(np.float32(scale), 0, "uint8") for k, scale in enumerate(scales, 1)}, "a test"
    )


def rows_by_way(name: str, words: str, setting: PatternSetting, limit: float = 60) -> dict[str, Any]:
    pattern = pattern_of(words)
    with IsolatedRuntime(box(name), limit) as runtime:
        runtime.start()
        found = list(
            asked(runtime, pattern, setting, PatternTruths.of(pattern, setting, rows_of(pattern, setting.pairs)))
        )
    return {row["way"]: row for row in found}


def test_a_right_runtime_differs_nowhere() -> None:
    patterns = [pattern_of("add"), pattern_of("relu-q")]
    with closing(PatternRun(patterns, "quick", 60, 4096, lambda line: None)) as run:
        rows = run.run([box("Right")])
    assert len(rows) == 3 * sum(len(settings(pattern, 6)) for pattern in patterns)
    assert {row["differ_unfused"] for row in rows} == {row["differ_stepwise"] for row in rows} == {0}
    assert exit_code(rows, run.missing) == 0


def test_merged_scales_are_found_and_undone_by_the_other_way() -> None:
    with closing(PatternRun([pattern_of("add")], "quick", 60, 4096, lambda line: None)) as run:
        rows = run.run([box("MergesScales")])
    (cell,) = cells(rows)
    assert cell["fused_unfused"] > 0
    assert cell["restores"] == ["careful"]
    assert cell["worst"] is not None
    witness = cell["worst"]["witness"]
    assert witness is not None
    assert witness["alone"]
    assert witness["got"] != witness["unfused"] == witness["stepwise"]
    assert exit_code(rows, {}) == 1


def test_the_witness_is_the_simplest() -> None:
    shipped = rows_by_way("MergesScales", "add", at("0.02", "0.03", "0.04"))[SHIPPED]
    assert shipped["differ_unfused"] == 2008  # ONNX Runtime 1.32's count: it computes the same
    assert shipped["witness"]["operands"] == {"a": ["0"], "b": ["10"]}
    assert (shipped["witness"]["got"], shipped["witness"]["unfused"], shipped["witness"]["exact"]) == ("8", "7", "8")


def test_a_crash_costs_one_answer() -> None:
    found = rows_by_way("Crashes", "relu", at("0.02", "0.04"))
    assert found[SHIPPED]["status"] == "crash"
    assert "SIGABRT" in found[SHIPPED]["message"]
    assert found["careful"]["status"] == "ok"
    assert exit_code(list(found.values()), {}) == 3


@pytest.mark.slow
def test_a_hang_costs_one_answer() -> None:
    found = rows_by_way("Hangs", "relu", at("0.02", "0.04"), limit=3)
    assert (found[SHIPPED]["status"], found["careful"]["status"]) == ("timeout", "ok")


def test_a_refusal_is_unsupported_with_its_own_message() -> None:
    found = rows_by_way("Refuses", "relu", at("0.02", "0.04"))
    assert {(row["status"], row["message"]) for row in found.values()} == {("unsupported", "no such <graph> here")}
    assert exit_code(list(found.values()), {}) == 4


def test_a_difference_that_needs_other_rows_says_so() -> None:
    shipped = rows_by_way("NeedsNeighbours", "relu", at("0.02", "0.04"))[SHIPPED]
    assert shipped["differ_unfused"] > 0
    assert not shipped["witness"]["alone"]


def test_a_difference_that_only_the_unfused_graph_makes_is_not_there_alone() -> None:
    shipped = rows_by_way("UnfusedNeedsNeighbours", "relu", at("0.02", "0.04"))[SHIPPED]
    assert shipped["differ_unfused"] > 0
    assert not shipped["witness"]["alone"]


def test_an_output_of_another_shape_differs_everywhere() -> None:
    shipped = rows_by_way("LosesARow", "relu", at("0.02", "0.04"))[SHIPPED]
    assert (shipped["differ_unfused"], shipped["outputs"]) == (256, 255)
    assert shipped["witness"] is None


def test_a_missing_library_is_named_and_the_others_run() -> None:
    with closing(PatternRun([pattern_of("relu")], "quick", 60, 4096, lambda line: None)) as run:
        rows = run.run([box("Missing"), box("Right")])
    assert "No module named 'nothing'" in run.missing[box("Missing")]
    assert {row["backend"] for row in rows} == {box("Right")}
    assert exit_code(rows, run.missing) == 3


def test_nodes_are_dropped_while_the_difference_stays() -> None:
    pattern = pattern_of("Q(Relu(DQ(Q(Add(DQ(a), DQ(b))))))")
    with IsolatedRuntime(box("NeedsNeighbours")) as runtime:
        runtime.start()
        found = smallest(runtime, pattern, at("0.02", "0.03", "0.04", "0.04"), 1)
    assert [step.operation for step in found.pattern.steps] == ["DQ", "Q"]
    assert found.differ > 0


def test_what_explains_can_fail_without_losing_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("no smaller graph")

    monkeypatch.setattr("tiebreak.conformance.patterns.explaining.smallest", fails)
    patterns, box_name = [pattern_of("add")], box("MergesScales")
    found = pattern_job(patterns, [box_name], "quick", 60, 4096, tmp_path, lambda line: None)
    assert (found["exit"], len(found["rows"])) == (1, 4 * len(settings(patterns[0], 6)))
    assert [one["problem"] for one in found["explanations"]] == ["ZeroDivisionError: no smaller graph"]
    kept = json.loads((tmp_path / "patterns.json").read_text())
    assert kept["rows"] == found["rows"]
    assert (kept["machine"], kept["instruction_sets"]) == (machine(), instruction_sets())


def test_truths_that_decide_nothing_are_no_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(*_: object) -> None:
        raise Undecided("float64 does not decide")

    monkeypatch.setattr("tiebreak.conformance.patterns.comparing.stepwise", undecided)
    shipped = rows_by_way("MergesScales", "add", at("0.02", "0.03", "0.04"))[SHIPPED]
    assert (shipped["differ_unfused"], shipped["differ_stepwise"], shipped["stepwise_exact"]) == (2008, -1, -1)
    assert shipped["witness"]["stepwise"] == ""


PARENT = """
import sys
import numpy as np
from tiebreak.adapters.patterns.isolated import IsolatedRuntime
from tiebreak.golden.patterns.graph import ScalePair
from tiebreak.golden.patterns.text import pattern_of
runtime, pattern = IsolatedRuntime(sys.argv[1]), pattern_of("relu")
runtime.start()
print(runtime.worker.process.pid, flush=True)
pairs = {name: ScalePair(np.float32(1), 0, "uint8") for name in pattern.pairs}
runtime.ask(pattern, pairs, {"x": np.zeros((1, 1), np.uint8)}, "as shipped")
"""


@pytest.mark.slow
def test_the_process_of_a_runtime_ends_with_its_parent(tmp_path: Path) -> None:
    """Even while the runtime hangs, and though nobody can tell it to end."""
    hanging = tmp_path / "hanging"
    command, environment = [sys.executable, "-c", PARENT, box("Hangs")], {**os.environ, "HANGING": str(hanging)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        worker = psutil.Process(int(parent.stdout.readline()))
        while not hanging.exists():
            assert parent.poll() is None
            time.sleep(0.05)
        parent.kill()
    psutil.wait_procs([worker], timeout=20)
    assert not worker.is_running()


def test_onnxruntime_adds_another_way_as_shipped(tmp_path: Path) -> None:
    """The first setting of the pattern: .02, .03 and .04 at zero points 0. The graph is saved by the runtime itself."""
    pytest.importorskip("onnxruntime")
    pattern = pattern_of("add")
    setting = settings(pattern, 1)[0]
    with IsolatedRuntime("onnxruntime") as runtime:
        runtime.start()
        found = {
            row["way"]: row
            for row in asked(
                runtime, pattern, setting, PatternTruths.of(pattern, setting, rows_of(pattern, setting.pairs))
            )
        }
    assert found[UNFUSED]["graph"] == ["DequantizeLinear", "DequantizeLinear", "Add", "QuantizeLinear"]
    assert found[UNFUSED]["differ_stepwise"] == 0
    assert found[SHIPPED]["graph"] == ["QLinearAdd"]
    assert found[SHIPPED]["differ_unfused"] > 0
    assert found["no selectors"]["differ_unfused"] == 0


def test_onnxruntime_rounds_a_sum_with_an_odd_zero_point() -> None:
    """At .02, .03 and .04 a fifth of all pairs of codes come out otherwise fused: ties go to an even sum."""
    pytest.importorskip("onnxruntime")
    pattern = pattern_of("add")
    zero_points = zip(at("0.02", "0.03", "0.04").pairs.items(), (128, 128, 127), strict=True)
    setting = PatternSetting(
        {name: ScalePair(pair.scale, zero, "uint8") for (name, pair), zero in zero_points}, "a test"
    )
    with IsolatedRuntime("onnxruntime") as runtime:
        runtime.start()
        truths = PatternTruths.of(pattern, setting, rows_of(pattern, setting.pairs))
        found = {row["way"]: row for row in asked(runtime, pattern, setting, truths)}
    assert found[SHIPPED]["differ_unfused"] > 12_000
    assert found[UNFUSED]["differ_stepwise"] == 0


def test_openvino_runs_the_same_graph_node_by_node() -> None:
    pytest.importorskip("openvino")
    pattern = pattern_of("matmul")
    setting = at("1", "0.5", "2")
    with IsolatedRuntime("openvino") as runtime:
        runtime.start()
        found = list(
            asked(runtime, pattern, setting, PatternTruths.of(pattern, setting, rows_of(pattern, setting.pairs)))
        )
    assert [row["way"] for row in found] == [UNFUSED, SHIPPED, "no low precision"]
    assert {row["differ_exact"] for row in found} == {0}
    assert found[0]["graph"] == ["DQ", "DQ", "MatMul", "Q"]
    assert any(layer.startswith("FullyConnected") for layer in found[1]["graph"])


def invoked(*words: str) -> Any:
    return CliRunner().invoke(main, ["pattern", *words])


@pytest.mark.slow
def test_the_command_writes_records_report_scripts_and_models(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    folder = tmp_path / "out"
    result = invoked("run", "add", "dq-q", "-b", "onnxruntime", "-o", str(folder))
    assert result.exit_code == 1, result.output
    assert "outputs differ from those of the unfused graph" in " ".join(result.output.split())
    found = json.loads((folder / "patterns.json").read_text())
    assert [cell["fused_unfused"] > 0 for cell in found["cells"]] == [True, False]
    (explained,) = found["explanations"]
    assert explained["smallest"] == "Q(Add(DQ(a), DQ(b)))"
    script = subprocess.run([sys.executable, folder / explained["script"]], capture_output=True, text=True, check=False)
    assert (script.returncode, script.stderr) == (1, "")
    worst = found["cells"][0]["worst"]["witness"]
    assert f"as shipped: [{worst['got']}]" in script.stdout
    import onnx

    assert [node.op_type for node in onnx.load(folder / explained["model"]).graph.node][-1] == "QuantizeLinear"
    page = (folder / "report.html").read_text()
    assert "1 of 2 cells give another answer as shipped than unfused" in page
    assert explained["script"] in page
    import pyarrow.parquet

    assert pyarrow.parquet.read_table(folder / "patterns.parquet").num_rows == len(found["rows"])


def test_what_a_runtime_says_is_escaped(tmp_path: Path) -> None:
    result = invoked("run", "relu", "-b", box("Refuses"), "-o", str(tmp_path / "out"))
    assert result.exit_code == 4
    page = (tmp_path / "out" / "report.html").read_text()
    assert "no such &lt;graph&gt; here" in page
    assert "<graph>" not in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "addd"), "no pattern 'addd'; known: relu"),
        (("run", "add", "-b", "ortt"), "backend 'ortt' runs no patterns; these do: onnxruntime, openvino"),
        (("run", "add", "-b", "nothing.py:Box"), "runs no patterns"),
        (("run", "add", "--type", "int32"), "type 'int32' is none of uint8, int8, uint16, int16"),
        (("export", "add", "--scale", "s9=1"), "names: s1, s2, s3"),
        (("export", "add", "--scale", "s1=-1"), "a scale is positive and finite"),
        (("export", "add", "--scale", "s1=1@256"), "a zero point of uint8 from 0 to 255"),
        (("export", "Q(Gemm(Conv(DQ(x), DQ(constant(w))), DQ(constant(v))))"), "take tensors of unlike ranks"),
    ],
)
def test_bad_input_is_refused_in_one_line(words: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoked(*words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_pattern_is_exported_and_listed(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    path = tmp_path / "add.onnx"
    result = invoked("export", "add", "--scale", "s1=0.02@128", "--rows", "4", "-o", str(path))
    assert result.exit_code == 0, result.output
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    held = {tensor.name: onnx.numpy_helper.to_array(tensor).item() for tensor in model.graph.initializer}
    assert (held["s1_scale"], held["s1_zero_point"]) == (np.float32(0.02), 128)
    listed = json.loads(invoked("list", "--json").output)
    assert listed["add"] == "Q(Add(DQ(a), DQ(b)))"
