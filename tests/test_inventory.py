"""`tiebreak backends`, `tiebreak doctor` and `tiebreak repro`, asked as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.numpy_naive import NumpyNaive
from tiebreak.cli import main
from tiebreak.conformance import inventory
from tiebreak.golden.case_cache import CaseCache
from tiebreak.golden.errors import InvalidInput
from tiebreak.reports import progress

SAMPLES = Path(__file__).parent / "sample_backends.py"


def tiebreak(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "tiebreak", *map(str, words)]
    return subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=300
    )


def listed(*words: object, **environment: str) -> list[dict[str, object]]:
    done = tiebreak("backends", "--json", *words, **environment)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)["backends"]
    return found


@pytest.mark.slow
def test_operators_and_types_are_those_that_a_backend_ran_when_asked() -> None:
    sound, naive = listed("-b", f"{SAMPLES}:sound", "-b", "numpy-naive")
    assert (sound["version"], sound["installed"], sound["message"]) == ("1.0", True, "")
    assert sound["accepts"] == {"onnx.QuantizeLinear": ["float32 to int8", "float32 to uint8"]}
    accepts = naive["accepts"]
    assert isinstance(accepts, dict)
    assert sorted(accepts) == sorted(NumpyNaive.operators)
    assert {"float16 to int4", "float64 to int32"} <= set(accepts["ngraph.Quantize"])
    assert "float32 to float8_e5m2" not in accepts["onnx.QuantizeLinear"]


def test_all_backends_are_listed_without_a_start_of_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IsolatedBackend, "start", lambda self: pytest.fail(f"{self.spec} was started"))
    monkeypatch.setattr(inventory, "environment_of", lambda spec: None)
    done = CliRunner().invoke(main, ["backends", "--json"])
    assert done.exit_code == 0, done.output
    found = {row["backend"]: row for row in json.loads(done.stdout)["backends"]}
    assert found["onnxruntime"]["version"] == version("onnxruntime") and found["onnxruntime"]["installed"]
    assert found["onnxruntime-basic"]["on_request"] and found["numpy-naive"]["installed"]
    assert found["ngraph"]["install"] == "tiebreak backends install ngraph"
    assert [row["installed"] for row in found.values()] == sorted(
        (row["installed"] for row in found.values()), reverse=True
    )


@pytest.mark.slow
def test_what_is_not_installed_is_named_with_what_to_type(tmp_path: Path) -> None:
    (tmp_path / "onnx.py").write_text("raise ModuleNotFoundError(\"No module named 'onnx'\")\n")
    (row,) = listed("-b", "onnx-reference", PYTHONPATH=str(tmp_path))
    assert (row["installed"], row["accepts"]) == (False, {})
    assert row["install"] == "pip install 'tiebreak[onnx]'"
    assert "No module named 'onnx'" in str(row["message"])
    shown = tiebreak("backends", "-b", "onnx-reference", PYTHONPATH=str(tmp_path), COLUMNS="200").stdout
    assert "pip install 'tiebreak[onnx]'" in shown


def test_a_line_tells_when_each_backend_has_answered_if_it_takes_longer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = ["numpy-naive", f"{SAMPLES}:sound"]
    found = inventory.ask_all(specs)
    assert [one.spec for one in found] == specs and found[1].version == "1.0"
    monkeypatch.setattr(progress, "MOMENT", 0.0)
    capsys.readouterr()
    inventory.ask_all([specs[1], "numpy-naive"])
    lines = capsys.readouterr().err.splitlines()
    begun, *done = lines
    assert begun == "tiebreak: 0 of 2 backends"
    assert [line[:27] for line in done] == ["tiebreak: 1 of 2 backends: ", "tiebreak: 2 of 2 backends: "]
    assert any(line.endswith(f"{SAMPLES}:sound 1.0") for line in lines)


@pytest.mark.slow
def test_configurations_of_a_library_share_a_process_and_answer_as_they_do_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    specs = ["onnxruntime", "onnxruntime-qdq", "onnxruntime-no-optimisation"]
    alone = [inventory.ask_all([spec], inventory.questions)[0] for spec in specs]
    started: list[str] = []
    start = IsolatedBackend.start
    monkeypatch.setattr(IsolatedBackend, "start", lambda self: (started.append(self.spec), start(self))[1])
    together = inventory.ask_all(specs, inventory.questions)
    assert len(started) == 1, "one process"
    assert [vars(one) for one in together] == [vars(one) for one in alone]
    assert len({len(one.accepts["onnx.QuantizeLinear"]) for one in together}) == 2, "not the answers of the first"


def test_a_configuration_after_one_that_ended_its_process_starts_its_own() -> None:
    with closing(IsolatedBackend(f"{SAMPLES}:aborts")) as first, closing(IsolatedBackend(f"{SAMPLES}:sound")) as second:
        first.start()
        assert first.worker is not None
        first.worker.kill()
        second.start_in(first)
        assert (first.worker, second.name, second.version) == (None, "sound", "1.0")


def test_no_backend_answers_for_one_that_does_not_load() -> None:
    first, second = IsolatedBackend(f"{SAMPLES}:sound"), IsolatedBackend(f"{SAMPLES}:absent")
    with closing(first):
        first.start()
        with pytest.raises(InvalidInput, match="no 'absent' there"):
            second.start_in(first)
        assert first.worker is None and second.worker is None


def test_those_that_need_their_own_environment_start_alone() -> None:
    assert inventory.libraries(["torch", "tensorflow", "torch-decomposed", "tensorflow-no-onednn", "a:b", "a:c"]) == [
        *(["torch", "torch-decomposed"], ["tensorflow"], ["tensorflow-no-onednn"], ["a:b"], ["a:c"])
    ]


def test_those_that_take_longest_begin_first() -> None:
    assert inventory.slow_first(["litert", "openvino", "numpy-naive", "torch-decomposed"]) == [
        *("openvino", "torch-decomposed", "litert", "numpy-naive"),
    ]


def test_an_unknown_backend_is_bad_input() -> None:
    done = tiebreak("backends", "-b", "nosuch")
    assert done.returncode == 2
    assert "unknown backend 'nosuch'" in done.stderr and "`tiebreak backends` lists all" in done.stderr


@pytest.mark.slow
def test_doctor_tells_what_is_missing_what_is_changed_and_what_to_type(tmp_path: Path) -> None:
    (tmp_path / "onnxruntime.py").write_text("raise ModuleNotFoundError(\"No module named 'onnxruntime'\")\n")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = tiebreak("doctor", "--json", PYTHONPATH=str(tmp_path), TF_ENABLE_ONEDNN_OPTS="0", **cache)
    assert done.returncode == 0, done.stderr
    findings = {found["what"]: (found["state"], found["advice"]) for found in json.loads(done.stdout)["findings"]}
    assert findings["onnxruntime"] == ("missing", "pip install 'tiebreak[onnxruntime]'")
    assert findings["onnxruntime-qdq"] == ("missing", "pip install 'tiebreak[onnxruntime]'")
    assert findings["reference kernel and golden vectors"] == ("ok", "")
    (kept,) = (what for what in findings if what.startswith("cache of cases, "))
    assert kept.endswith(f" MB: {tmp_path / 'cache' / 'tiebreak' / 'cases'}") and findings[kept] == ("ok", "")
    changed = findings["TF_ENABLE_ONEDNN_OPTS=0 may change what runtimes do"]
    assert changed == ("changed", "unset TF_ENABLE_ONEDNN_OPTS")
    assert any(what.startswith("numpy-naive ") and found == ("ok", "") for what, found in findings.items())


def test_doctor_names_a_cache_that_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    found = inventory.cache_finding(CaseCache(tmp_path / "file" / "cases"))
    assert found.state == "missing" and "can't be written" in found.what and found.advice


def test_doctor_exits_with_3_for_what_is_there_but_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "onnxruntime.py").write_text('raise OSError("libgomp.so.1: cannot open shared object file")\n')
    monkeypatch.setattr(inventory, "usual", lambda: ["onnxruntime"])  # one of them is quicker than all
    done = CliRunner().invoke(main, ["doctor"], env={"COLUMNS": "200", "PYTHONPATH": str(tmp_path)})
    assert done.exit_code == 3
    assert "libgomp.so.1" in done.output


def run_of(backend: str, folder: Path, *words: str) -> pd.DataFrame:
    done = tiebreak("run", "-b", backend, "--level", "quick", *words, "-o", folder)
    assert done.returncode == 1, done.stderr
    return pd.read_parquet(folder / "discrepancies.parquet")


@pytest.mark.slow
def test_repro_prints_a_script_without_tiebreak_that_shows_the_discrepancy(tmp_path: Path) -> None:
    words = ("--operator", "onnx.QuantizeLinear", "--type", "uint8", "--input-type", "float32")
    rows = run_of(f"{SAMPLES}:shown", tmp_path / "run", *words)
    row = rows[(rows["zero_point"] == 0) & (rows["cause"].str.startswith("wrong tie rule"))].iloc[0]
    unasked = tiebreak("repro", row["id"], "--run", tmp_path / "run")
    assert unasked.returncode == 2 and "name it yourself" in unasked.stderr
    done = tiebreak("repro", row["id"], "--run", tmp_path / "run", "-b", f"{SAMPLES}:shown")
    assert done.returncode == 0, done.stderr
    assert "import tiebreak" not in done.stdout
    script = tmp_path / "repro.py"
    script.write_text(done.stdout)
    shown = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=False)
    assert shown.returncode == 1, shown.stdout + shown.stderr
    assert f"got {int(row['got_bits']):#04x}" in shown.stdout
    assert f"expected {int(row['expected_bits']):#04x} (" in shown.stdout
    script.write_text(done.stdout.replace("np.floor(np.abs(x / y_scale) + 0.5)", "np.rint(np.abs(x / y_scale))"))
    assert subprocess.run([sys.executable, "-I", str(script)], capture_output=True, check=False).returncode == 0


@pytest.mark.slow
def test_repro_of_a_backend_that_writes_none_replays_the_case(tmp_path: Path) -> None:
    words = ("--operator", "onnx.QuantizeLinear", "--type", "uint8", "--input-type", "float32")
    row = run_of(f"{SAMPLES}:wrong", tmp_path / "run", *words).iloc[0]
    done = tiebreak("repro", row["id"], "--run", tmp_path / "run", "-b", f"{SAMPLES}:wrong")
    assert done.returncode == 0
    assert "writes no reproducers; to replay the case: tiebreak run -b " in done.stdout
    script = tmp_path / "replay.py"
    script.write_text(done.stdout)
    without_command = {**os.environ, "PATH": "/usr/bin:/bin"}
    again = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, env=without_command)
    assert again.returncode == 1 and "The run and its report stay in" in again.stdout, again.stdout + again.stderr
    unknown = tiebreak("repro", "D999999", "--run", tmp_path / "run")
    assert unknown.returncode == 2
    assert "no discrepancy 'D999999'; it has D000001 to D" in unknown.stderr
