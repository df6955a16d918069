"""A run records the variables that libraries read, and a worker gets none that only costs time."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from html import escape
from pathlib import Path

import pytest

from tiebreak.adapters.settings import settings_of, worker_environment
from tiebreak.conformance.gate.compare import compare
from tiebreak.conformance.gate.gate import gate
from tiebreak.conformance.running.assembling import assemble
from tiebreak.reports.comparison import setting_lines
from tiebreak.reports.comparison_page import comparison_page
from tiebreak.reports.gate import gate_document, gate_markdown
from tiebreak.reports.records import DISCREPANCY_DTYPES, RESULT_DTYPES, Run, read_run, typed_frame

SHELL = {"ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default", "RUST_BACKTRACE": "1", "HOME": "/x"}


def test_what_libraries_read_is_recorded_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    others = {"CUDA_API_KEY": "x", "TF_CLI_CONFIG_FILE": "/home/me/tf", "TF_ENABLE_ONEDNN_OPTS": "0"}
    assert settings_of(SHELL | others | {"LD_PRELOAD": "/home/me/libm.so:/opt/a.so"}) == {
        "LD_PRELOAD": "libm.so:a.so",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
    }
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "SSE41")
    assert assemble([], [], {}).info["settings"]["ONEDNN_MAX_CPU_ISA"] == "SSE41"


def test_what_each_library_reads_is_recorded() -> None:
    read = {
        "TF_SET_ONEDNN_FPMATH_MODE": "BF16",
        "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_LEVEL": "UNSAFE_FORCE_ALL",
        "TF_FP16_MATMUL_USE_FP32_COMPUTE": "0",
        "FLAGS_use_mkldnn": "1",
        "LITERT_CPU_THREADS": "2",
        "MLX_ENABLE_TF32": "0",
        "NGRAPH_CODEGEN": "1",
        "TORCHDYNAMO_DISABLE": "1",
        "TORCHAO_AUTOTUNER_ENABLE": "1",
    }
    terraform = {"TF_VAR_region": "x", "TF_TOKEN_app": "x", "TF_WORKSPACE": "x", "TF_DATA_DIR": "x", "TF_BUILD": "True"}
    assert settings_of(read | terraform) == read


READS = """
import os
import numpy as np

class Reads:
    name, operators = "reads", {"onnx.QuantizeLinear"}
    version = os.environ.get("ONEDNN_MAX_CPU_ISA", "none")

    def compile(self, node):
        return lambda x, *rest: (np.zeros(x.shape, "uint8"),)

    def attest(self):
        return {name: os.environ.get(name, "none") for name in ("ONEDNN_MAX_CPU_ISA", "RUST_BACKTRACE")}
"""


def test_a_run_records_what_its_workers_read(tmp_path: Path) -> None:
    """Of a whole run, with a worker: the variable is there as the library reads it, and in run.json."""
    (tmp_path / "reads.py").write_text(READS, encoding="utf-8")
    words = ["--operator", "onnx.QuantizeLinear", "--input", "x=1.5", "--input", "y_scale=1", "-o", "run"]
    command = [sys.executable, "-P", "-m", "tiebreak", "run", "-b", "reads.py:Reads", *words]
    shell = {name: value for name, value in SHELL.items() if name != "HOME"}
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | shell, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    info = read_run(tmp_path / "run").info
    assert {"ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default"}.items() <= info["settings"].items()
    (backend,) = info["backends"]
    assert (backend["version"], backend["attestation"]["ONEDNN_MAX_CPU_ISA"]) == ("SSE41", "SSE41")
    assert backend["attestation"]["RUST_BACKTRACE"] == "none" and "RUST_BACKTRACE" not in info["settings"]


def test_a_worker_gets_nothing_that_only_costs_time() -> None:
    assert set(worker_environment(SHELL)) == set(SHELL) - {"RUST_BACKTRACE"}


def test_a_comparison_says_which_settings_differ_and_takes_runs_that_recorded_none() -> None:
    old, one, other = (
        Run({"backends": [], **info}, typed_frame([], RESULT_DTYPES), typed_frame([], DISCREPANCY_DTYPES))
        for info in ({}, {"settings": {}}, {"settings": {"MKL_CBWR": "2"}})
    )
    assert setting_lines(compare(one, other)["settings"]) == ["another setting: no MKL_CBWR → MKL_CBWR=2"]
    assert setting_lines(gate(other, one, [], date(2026, 1, 1))["settings"]) == [
        "another setting: no MKL_CBWR → MKL_CBWR=2"
    ]
    assert compare(old, other)["settings"] == []


def test_pages_junit_and_summaries_say_which_settings_differ() -> None:
    one, other = (
        Run({"backends": [], "settings": own}, typed_frame([], RESULT_DTYPES), typed_frame([], DISCREPANCY_DTYPES))
        for own in ({"ONEDNN_MAX_CPU_ISA": "<SSE41>"}, {})
    )
    compared = {"folders": ["a", "b"], "created": ["", ""]} | compare(one, other)
    gated = {"run": "b"} | gate(other, one, [], date(2026, 1, 1))
    said = "another setting: ONEDNN_MAX_CPU_ISA=<SSE41> → no ONEDNN_MAX_CPU_ISA"
    assert escape(said) in comparison_page(compared) and "<SSE41>" not in comparison_page(compared)
    assert said in str(gate_document(gated, "").findtext("testsuite/system-out"))
    assert f"- `{said}`" in gate_markdown(gated)
