"""The pieces of benchmarks/ on tiny sizes: that they measure what they say, never how long it took."""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiebreak.conformance.cases.plan import Selection
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.kernel import MODES
from tiebreak.reports.records import read_run

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
if not BENCHMARKS.is_dir():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import alone  # noqa: E402
import audit  # noqa: E402
import case_costs  # noqa: E402
import casts  # noqa: E402
import casts_page  # noqa: E402
import contenders  # noqa: E402
import figures  # noqa: E402
import fresh  # noqa: E402
import full_run  # noqa: E402
import hook  # noqa: E402
import kernel  # noqa: E402
import libraries  # noqa: E402
import measure  # noqa: E402
import patterns_page  # noqa: E402
import planning  # noqa: E402
import rendering  # noqa: E402
import report  # noqa: E402
import run_stages  # noqa: E402
import setting  # noqa: E402
import slow  # noqa: E402
import sweep  # noqa: E402
import timing  # noqa: E402
import workers  # noqa: E402

TINY = kernel.Sizes(cached=256, large=512, rounds=1, least=0.0)
HALVES = Selection(
    ("onnx.QuantizeLinear",), input_type="float16", output_type="uint8", inputs={"y_scale": "0.1", "y_zero_point": "9"}
)
CASES = {"operators": ("onnx.QuantizeLinear",), "input_type": "float32", "output_type": "uint8", "level": ""}
FACTS = {
    **{"created": "2026-01-01T00:00:00", "machine": "M", "processor": "P", "cores": 2, "kernel_path": "avx2"},
    **{"quick": True, "libraries": {"numpy": "2"}},
}


@pytest.fixture
def without_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("onnxruntime", "torch", "tensorflow"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def called(function: Any, *arguments: Any, watch: bool = False) -> tuple[Any, int]:
        return function(*arguments), 1 if watch else 0

    for module in (case_costs, sweep, planning, run_stages, full_run, report):
        monkeypatch.setattr(module, "in_fresh_process", called)


def test_contenders_take_turns_and_the_shortest_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    now, took = 0.0, {"a": iter([1.0, 6.0, 4.0]), "b": iter([1.0, 2.0, 9.0])}

    def contender(name: str) -> timing.Repeat:
        def repeat(times: int) -> None:
            nonlocal now
            called.append(name)
            now += next(took[name]) * times

        return repeat

    monkeypatch.setattr(timing.time, "perf_counter", lambda: now)
    best = timing.best_times({name: contender(name) for name in "ab"}, 2, 0.5)
    assert called == ["a", "b", "a", "b", "b", "a"]  # each once to see how often a sample repeats it
    assert best == {"a": 4.0, "b": 2.0}


def test_a_sample_repeats_what_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def repeat(times: int) -> None:
        nonlocal now
        now += 0.25 * times

    monkeypatch.setattr(timing.time, "perf_counter", lambda: now)
    assert timing.enough(repeat, 1.0) == 4


@pytest.mark.few(6)
@pytest.mark.parametrize("data", setting.SCALES)
@pytest.mark.parametrize("output", ["uint8", "int8", "int16"])
def test_contenders_do_the_same_work(output: str, data: str) -> None:
    if data == "NaN and infinities":
        pytest.skip("nothing is specified for them")
    asked = setting.Setting(output, data=data, form="working", elements=4096)
    expected = contenders.numpy_naive(asked)
    expected.repeat(1)
    for threads in (1, 2):
        own = contenders.tiebreak(replace(asked, threads=threads))
        asked.out[:] = 77
        own.repeat(2)
        np.testing.assert_array_equal(own.result(), expected.result())


@pytest.mark.parametrize("layout", setting.LAYOUTS)
def test_onnxruntime_does_the_same_work(layout: str) -> None:
    pytest.importorskip("onnxruntime")
    asked = setting.Setting("int8", form="working", layout=layout, elements=4096)
    own, peer = contenders.tiebreak(asked), libraries.onnxruntime(asked)
    own.repeat(1)
    peer.repeat(1)
    assert len(set(asked.scale)) == {setting.ONE: 1}.get(layout, 64)
    np.testing.assert_array_equal(own.result(), peer.result())


def test_data_are_what_they_are_called() -> None:
    def quotients(data: str) -> Any:
        return setting.inputs(data, "int8", 1024) / setting.SCALES[data]

    assert (np.abs(quotients("ties") % 1) == 0.5).all()
    assert (quotients("whole quotients") % 1 == 0).all()
    assert (np.abs(quotients("out of range")) > 128).all()
    assert not np.isfinite(quotients("NaN and infinities")).any()
    assert np.abs(quotients("ordinary")).max() < 132
    for data in ("subnormal inputs", "subnormal inputs and scale"):
        x = setting.inputs(data, "int8", 1024)
        assert 0 < np.abs(x).max() < np.finfo(np.float32).tiny
    assert 100 < np.abs(quotients("subnormal inputs and scale")).max() < 132


@pytest.mark.slow
def test_every_setting_of_the_kernel_is_measured(without_libraries: None) -> None:
    rows = kernel.measure(TINY)
    own = [row for row in rows if row["who"] == "tiebreak"]
    assert {row["about"] for row in own} == {"modes", "data", "forms", "paths"}
    assert all(row["seconds"] > 0 and row["gelems"] > 0 for row in own)
    by_mode = {(r["place"], r["output"], r["threads"], r["mode"]) for r in own if r["about"] == "modes"}
    assert len(by_mode) == 2 * 4 * 2 * len(MODES)
    assert {row["path"] for row in own if row["about"] == "paths"} == set(kernel._kernel.available_paths())
    assert {row["data"] for row in own} == set(setting.SCALES)
    absent = [row for row in rows if row["who"] in ("onnxruntime", "torch", "tensorflow")]
    assert absent and all(row["note"].startswith("not installed") and "seconds" not in row for row in absent)
    assert "not installed (onnxruntime)" in rendering.render({"kernel": FACTS | {"rows": rows}})


def test_what_a_library_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    with pytest.raises(contenders.Missing, match="has no int32"):
        libraries.onnxruntime(setting.Setting("int32", elements=64))
    monkeypatch.setattr(libraries, "PROVIDERS", ["no such provider"])
    row = kernel.group("data", "in cache", [setting.Setting(elements=64)], kernel.RUNTIME, TINY)[1]
    assert row["note"].startswith("refuses: ") and "seconds" not in row


def test_a_sweep_and_the_backend_alone(in_this_process: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "cores", lambda: ([], []))  # we stay where we are
    found = sweep.measure("numpy-naive", HALVES, 1)
    assert [row["way"] for row in found["rows"]] == list(sweep.WAYS)
    assert found["inputs"] == 65536 and found["blocks_measured"] == found["blocks"] == 1
    assert all(row["seconds"] > 0 and row["peak_bytes"] == 1 for row in found["rows"])
    assert 0 < found["rows"][0]["backend_seconds"] <= found["rows"][0]["seconds"]
    assert "numpy-naive, 65,536 inputs of 65,536" in rendering.render({"sweep": FACTS | found})


def test_some_blocks_of_a_sweep(in_this_process: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "cores", lambda: ([], []))
    monkeypatch.setattr(sweep, "WAYS", {"sweep": sweep.swept, "backend alone": alone.alone})
    found = sweep.measure("numpy-naive", sweep.SELECTION, 1, 2)
    assert (found["blocks"], found["blocks_measured"]) == (1024, 2)
    assert all(row["seconds"] > 0 for row in found["rows"])


def test_a_sweep_of_casts_beside_the_backend_alone(in_this_process: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "cores", lambda: ([], []))
    pytest.importorskip("onnxruntime")
    found = sweep.measure(sweep.BACKEND, sweep.CAST, 1, 1)
    assert [row["way"] for row in found["rows"]] == [way for way in sweep.WAYS if "--modes" not in way]
    lines = rendering.render({"cast-sweep": FACTS | found}).splitlines()
    ratio = found["rows"][0]["seconds"] / found["rows"][1]["seconds"]
    assert any("onnx.Cast, float32" in line and figures.figure(ratio) in line for line in lines)


TRUNCATING = """
import numpy as np
from tiebreak import Unsupported

class Truncating:
    name, version, operators = "truncating", "1", {"onnx.Cast"}

    def compile(self, node):
        if node.outputs[0].dtype.name != "int4":
            raise Unsupported("int4 | only")
        return lambda x: (np.trunc(x.astype(np.float32)).astype(node.outputs[0].dtype),)
"""


def test_every_cast_is_swept_on_one_worker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text(TRUNCATING)
    asked = ["-b", f"{tmp_path}/mine.py:Truncating", "--source", "float4_e2m1fn", "--source", "float16"]
    asked += ["--target", "int4", "--target", "float8_e5m2fnuz", "-o", str(tmp_path / "rows.json")]
    begin = datetime.now(UTC).date()
    assert casts.main(asked) == 0
    rows = [json.loads(line) for line in (tmp_path / "rows.json").read_text().splitlines()]
    found = {(row["source"], row["target"], row["opset"], row["attributes"].get("saturate")): row for row in rows}
    assert len(found) == len(rows) == 2 + 2 + 4  # float16 has an infinity, of which operator set 24 speaks anew
    row = found["float4_e2m1fn", "int4", 0, None]
    grades = {"exact": 14, "working-precision": 0, "other-order": 0, "unspecified": 0, "deviates": 2}
    assert row["counts"] == grades
    assert found["float16", "float8_e5m2fnuz", 24, False]["message"] == "int4 | only"
    assert {row["version"] for row in rows} == {"1"}
    assert all(begin <= date.fromisoformat(row["day"]) <= datetime.now(UTC).date() for row in rows)
    lines = capsys.readouterr().out.splitlines()
    assert any("| 16 | 2 | 0 | 0x3 = 1.5: 1, not 2 |" in line for line in lines)
    assert all(line.count("|") == 9 for line in lines)


def test_the_page_of_casts_says_what_was_swept_and_what_deviates(tmp_path: Path) -> None:
    node = {"backend": "it", "target": "int4", "attributes": {}, "opset": 0, "status": "swept", "faults": []}
    first = [{"first": {"bits": "0x3", "input": "1.5", "got": "1", "expected": "2"}}]
    counts = {"exact": 14, "working-precision": 0, "unspecified": 0, "deviates": 2}
    whole = node | {"source": "float4_e2m1fn", "counts": counts, "first": first}
    part = node | {"source": "float16", "counts": {"exact": 64}, "first": []}
    other = whole | {"backend": "other", "version": "1.2", "day": "2026-11-27"}
    later = other | {"attributes": {"saturate": True}, "day": "2026-11-28"}
    refused = node | {"source": "float32", "status": "unsupported", "message": "no"}
    (tmp_path / "old").write_text(json.dumps(whole | {"counts": {"exact": 16}, "first": []}) + "\n")
    (tmp_path / "new").write_text("".join(f"{json.dumps(row)}\n" for row in (whole, part, refused, other, later)))
    lines = casts_page.page(casts_page.read_all([str(tmp_path / "old"), str(tmp_path / "new")])).splitlines()
    assert "| it | 3 | 1 | 1 | 0 | 80 | 2 |" in lines
    assert "- other: float16, float32 not asked" in lines
    assert "- it (version not recorded), day not recorded: 3 nodes" in lines
    assert "- other 1.2, 2026-11-27 to 2026-11-28: 2 nodes" in lines
    assert "- it, float16: 1 nodes, 64 inputs of each" in lines
    assert "| it | int4 | – | float4_e2m1fn 2 | 0x3 = 1.5: 1, not 2 |" in lines


def test_a_refusal_leaves_the_worker_to_the_next_node(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TRUNCATING)
    asked = list(casts.nodes(["float32"], ["uint4", "int4"]))
    rows = list(casts.swept(f"{tmp_path}/mine.py:Truncating", asked, 16))
    assert [row["status"] for row in rows] == ["unsupported", "swept"]
    row = rows[1]
    assert not row["faults"] and sum(row["counts"].values()) == 16 << 22


def test_a_type_of_32_bits_can_be_swept_in_parts() -> None:
    (selection,) = casts.nodes(["float32"], ["int4"])
    assert casts.spread(casts.space_of(selection), 4) == range(0, 1024, 256)
    assert len(casts.spread(casts.space_of(selection), 0)) == 1024


@pytest.mark.slow
def test_two_workers_and_two_processes_over_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ways", lambda sizes: few_ways)
    described, blocks, before = workers.space_of(workers.SWEEP).described(), workers.spread(2), os.sched_getaffinity(0)
    few_ways = [
        (way, "quick", function, (workers.QUICK, described, blocks))
        for way, function in (("sweep", workers.swept), ("backend alone", workers.alone_in_processes))
    ]
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: [*before][:1] * 2)  # a core will do for both
    found = workers.measure(1, workers.Sizes())
    assert [row["way"] for row in found["rows"]] == ["sweep", "backend alone"]
    assert all(min(row[name] for name in row if "seconds" in name) > 0 for row in found["rows"])
    shown = rendering.render({"workers": FACTS | found})
    aim = next(line for line in shown.splitlines() if "on two workers over one, a core each, quick" in line)
    assert "not measured" not in aim and "(the backend alone: " in aim


def test_what_the_workers_are_measured_with(monkeypatch: pytest.MonkeyPatch) -> None:
    assert workers.spread(4) == [0, 256, 512, 768]
    assert [way[0] for way in workers.ways(workers.Sizes(run=False))] == ["sweep", "backend alone"] * 2
    assert workers.ways(workers.Sizes())[-1][0] == "run"
    with pytest.raises(fresh.Failed, match="3 instead of 4"):
        workers.checked({}, 3, 4)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
    assert workers.measure(1, workers.Sizes())["note"] == "one core only"


def test_the_slow_backend_gives_what_the_quick_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow, "LEAST", 0.0)
    node, x = workers.space_of(workers.SWEEP).node, np.linspace(-20, 20, 999, dtype=np.float32)
    inputs = x, np.float32(0.1), np.uint8(3)
    quick, late = (backend().compile(node)(*inputs)[0] for backend in (slow.NumpyNaive, slow.Slow))
    assert late.tolist() == quick.tolist() and late.max() > late.min()


@pytest.mark.slow
def test_every_way_of_planning_has_the_same_cases(
    in_this_process: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # and is put back afterwards
    found = planning.measure({"level": "quick", "operators": ("ngraph.Dequantize",)}, 1)
    assert [row["way"] for row in found["rows"]] == list(planning.WAYS)
    assert len({row["cases"] for row in found["rows"]}) == 1 and found["cases"] > 100
    assert all(row["seconds"] > 0 for row in found["rows"])
    shown = rendering.render({"planning": FACTS | found})
    assert f"| {planning.JSON} | " in shown and "| 100.0 % |" in shown
    aim = next(line for line in shown.splitlines() if line.startswith("| planning a later run"))
    assert "not measured" not in aim


def test_a_run_by_stage(in_this_process: None) -> None:
    found = run_stages.measure(["numpy-naive"], CASES, 1)
    assert found["cases"] > 100
    stages = [row["stage"] for row in found["rows"]]
    assert stages.index("plan") < stages.index("run and judge") < stages.index("write the report")
    assert sum(row["share"] for row in found["rows"]) == pytest.approx(1)


@pytest.mark.slow
def test_what_a_case_costs(in_this_process: None) -> None:
    few = {"level": "quick", "operators": ("onnx.QuantizeLinear",), "input_type": "float32", "output_type": "uint8"}
    found = case_costs.measure({**few, "operators": ("ngraph.Quantize",)}, few, 1)
    assert [row["what"] for row in found["rows"]] == [
        case_costs.WIRE,
        case_costs.CALLS,
        case_costs.FIRST,
        case_costs.FURTHER,
    ]
    assert all(row["cases"] > 20 and row["seconds"] > 0 for row in found["rows"])
    shown = rendering.render({"cases": FACTS | found})
    aim = next(line for line in shown.splitlines() if line.startswith("| passing a case"))
    assert "not measured" not in aim and f"| {case_costs.FURTHER} | " in shown


@pytest.mark.slow
def test_an_audit_and_the_same_with_numpy() -> None:
    assert audit.compared(400_000) == audit.compared_with_numpy(400_000) > 190_000
    found = audit.measure(1, 20_000)
    assert [row["way"] for row in found["rows"]] == [*audit.COLD, *audit.COMPARED]
    assert found["inputs"] > 6 and all(row["seconds"] > 0 for row in found["rows"])
    text = rendering.render({"audit": FACTS | found})
    assert f"on {found['inputs']:,} inputs" in text and "| cold audit |" in text


@pytest.mark.slow
def test_a_hook_that_ends_well_is_measured_and_no_other() -> None:
    found = hook.measure((hook.BACKEND,), 1, "brief")
    assert [row["backend"] for row in found["rows"]] == ["TiesUpward"] and found["rows"][0]["seconds"] > 0
    text = rendering.render({"hook": FACTS | found})
    assert "## A pre-push hook" in text and "| a pre-push hook: " in text and "| TiesUpward |" in text
    with pytest.raises(MachineryFailed, match=r"tiebreak run -b no-such-backend .* ended with 2"):
        hook.measure(("no-such-backend",), 1)


def test_an_audit_that_fails_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(audit.COLD, "cold audit", ["-m", "tiebreak", "audit", "no-such-backend", "--operator", "x"])
    with pytest.raises(MachineryFailed, match="cold audit: "):
        audit.started("cold audit")


def test_a_full_run_is_a_run_and_its_memory_that_of_this_process(in_this_process: None) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * full_run.UNIT  # a peak never falls
    found = full_run.measure(("numpy-naive",), {**CASES})
    (row,) = found["rows"]
    assert (found["level"], row["backends"], row["cases"] > 3) == ("", 1, True)
    assert row["main_peak_bytes"] >= before > 0
    text = rendering.render({"full-run": FACTS | found})
    assert f"| 1 | {row['cases']:,} |" in text and "a full run's main process" in text


@pytest.mark.slow
def test_a_full_run_that_fails_is_not_measured() -> None:
    broken = full_run.measure(("numpy-naive",), {"operators": ("no.Such",)})
    assert broken["rows"] == [] and "no.Such" in broken["note"]


@pytest.mark.slow
def test_records_and_report_grow(in_this_process: None, tmp_path: Path) -> None:
    found = report.measure([7, 3000], Selection(**CASES))
    small, large = found["rows"]
    assert found["real_discrepancies"] > 10
    assert small["records_bytes"] < large["records_bytes"] and small["report_bytes"] > 1000
    assert all(row["text_seconds"] > 0 for row in (small, large))
    report.begin(tmp_path, Selection(**CASES))
    run = read_run(tmp_path)
    grown = report.grown(run, 3000)
    assert len(grown.discrepancies) == grown.discrepancies["id"].nunique() == 3000
    assert (grown.discrepancies.dtypes == run.discrepancies.dtypes).all()


def test_a_process_of_its_own_gives_results_errors_and_memory() -> None:
    found, peak = fresh.in_fresh_process(os.getpid, watch=True)
    assert found != os.getpid() and peak > 0
    with pytest.raises(fresh.Failed, match="ValueError: "):
        fresh.in_fresh_process(int, "x")
    with pytest.raises(fresh.Failed, match="exit status 3"):
        fresh.in_fresh_process(os._exit, 3)


def test_the_command_writes_both_files_and_keeps_the_other_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"stage": "plan", "seconds": 1.23456789, "share": 1.0}]
    run = {"backends": ["a"], "level": "quick", "cases": 3, "seconds": 1.0, "rows": rows}
    monkeypatch.setattr(measure, "PARTS", {"run": lambda quick: run, "report": lambda quick: {"rows": []}})
    assert measure.main(["-o", str(tmp_path), "--quick"]) == 0
    run["cases"] = 4
    assert measure.main(["-o", str(tmp_path), "--only", "run"]) == 0
    data = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert (data["run"]["cases"], data["run"]["quick"], data["report"]["quick"]) == (4, False, True)
    assert data["run"]["rows"] == [{"stage": "plan", "seconds": 1.23457, "share": 1.0}]
    assert (tmp_path / "tables.md").read_text(encoding="utf-8") == rendering.render(data)
    assert "| plan | 1.23 | 100.0 % |" in capsys.readouterr().out
    (tmp_path / "results.json").write_text("[broken", encoding="utf-8")
    assert measure.known(tmp_path / "results.json") == measure.FORMAT


def test_an_impossible_folder_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert measure.main(["-o", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.startswith("measure.py: output folder ")


def test_the_page_shows_the_results_beside_it() -> None:
    page = measure.PAGE.read_text(encoding="utf-8")
    data = measure.known(BENCHMARKS / "results.json")
    assert set(measure.PARTS) <= set(data)
    assert "not measured" not in page.lower()
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({line.count(" | ") for line in table.splitlines()}) == 1
    assert page == measure.with_tables(page, rendering.render(data))
    with pytest.raises(ValueError, match="lacks the lines"):
        measure.with_tables("no marks", "")


def test_what_libraries_say_can_not_break_a_table() -> None:
    note = {"note": "a | b <c>\nd", "rows": []}
    row = {"about": "modes", "who": "torch", "place": "in cache", "output": "int8", **note}
    row |= {"mode": setting.EVEN, "data": "ordinary", "form": "exact", "layout": setting.ONE, "path": "", "threads": 1}
    assert "| a \\| b &lt;c> d |" in rendering.render({"kernel": FACTS | {"rows": [row]}})


def test_the_page_of_patterns_shows_counts_and_the_worst_setting() -> None:
    witness = {"operands": {"a": ["0"], "b": ["10"]}, "got": "8", "unfused": "7", "exact": "8", "alone": True}
    row = {
        "differ_unfused": 5,
        "outputs": 10,
        "graph": ["QLinearAdd"],
        "pairs": {"s1": ["0.5", "3"]},
        "witness": witness,
    }
    cell = {
        "backend": "one",
        "version": "1.2-build",
        "pattern": "add",
        "outputs": 10,
        "restores": ["basic"],
        "worst": row,
    }
    counts = {"fused_unfused": 5, "fused_exact": 0, "unfused_exact": -1}
    refused = {**cell, "backend": "other", "outputs": 0, "worst": None, **dict.fromkeys(counts, -1)}
    lines = patterns_page.page({"level": "quick", "cells": [{**cell, **counts}, refused], "rows": []}).splitlines()
    assert "| add | 10 | **5**, 0, – | refused |" in lines
    assert "| one | add | 5 of 10 | QLinearAdd | s1 = 0.5 @ 3 | a = 0, b = 10: 8, unfused 7, exact 8 | basic |" in lines


def test_the_page_of_patterns_shows_what_depends_on_the_processor() -> None:
    counts = {"fused_unfused": 5, "fused_exact": 0, "unfused_exact": 2}
    both = {"backend": "one", "outputs": 10, "worst": None, "restores": [], **counts}
    here = [{**both, "version": "1-build", "pattern": name} for name in ("add", "conv", "sub")]
    there = [{**both, "version": "1", "pattern": "add"}, {**both, "version": "1", "pattern": "conv", "outputs": 0}]
    found = {"level": "quick", "cells": here, "rows": [], "instruction_sets": "avx2 fma"}
    lines = patterns_page.page(
        found, {"processor": "without FMA", "why": ["Its sums differ."], "cells": there}
    ).splitlines()
    at = lines.index("On one without FMA the same releases give other counts in 1 of 2 cells.")
    assert lines[at + 1] == "Its sums differ."
    assert "| one | conv | refused | **5**, 0, 2 |" in lines
    assert "| one | add | **5**, 0, 2 | **5**, 0, 2 |" not in lines


def test_the_page_of_patterns_shows_what_decisions_change() -> None:
    """Relu's zero point of 0 drops it, that of 1 does not; only the latter differs, and no set has it."""
    sides = {zero: {"s1": ["0.02", "128"], "s2": ["0.04", str(zero)]} for zero in (0, 1)}

    def row(zero: int, graph: list[str], differ: int) -> dict[str, Any]:
        common = {"backend": "onnxruntime", "pattern": "relu", "way": "as shipped", "status": "ok", "reason": "why"}
        return {**common, "pairs": sides[zero], "graph": graph, "differ_unfused": differ, "outputs": 256}

    rows = [row(0, ["Q"], 0), row(1, ["Relu", "Q"], 7)]
    cells = [{"backend": "onnxruntime", "version": "1", "pattern": "relu", "outputs": 0, "worst": None}]
    lines = patterns_page.page({"level": "quick", "cells": cells, "rows": rows}).splitlines()
    condition = "ReluQuantRewrite: drop Relu if the zero point is the lowest code"
    assert f"| onnxruntime | {condition} | 1 of 1 | 0 | 7 |" in lines
    assert "| onnxruntime | relu | 7 of 256 | Relu > Q | s1 = 0.02 @ 128, s2 = 0.04 @ 1 | why |" in lines
    same = [row(0, ["Q"], 0), row(1, ["Q"], 0)]
    assert f"| onnxruntime | {condition} | 0 of 1 | 0 | 0 |" in patterns_page.page(
        {"level": "quick", "cells": cells, "rows": same}
    )
