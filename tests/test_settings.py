"""A run records the variables that libraries read, and a worker gets none that only costs time."""

from __future__ import annotations

from datetime import date

import pytest

from tiebreak.adapters.settings import settings_of, worker_environment
from tiebreak.conformance.gate.compare import compare
from tiebreak.conformance.gate.gate import gate
from tiebreak.conformance.running.assembling import assemble
from tiebreak.reports.comparison import setting_lines
from tiebreak.reports.records import DISCREPANCY_DTYPES, RESULT_DTYPES, Run, typed_frame

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
