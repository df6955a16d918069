"""A run's records with some of its backends: what names another goes, in every table and list."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.reports.finding_files import finding_files
from tiebreak.reports.of_backends import NAMES, of_backends
from tiebreak.reports.records import Run, read_run


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("onnx")
    folder = tmp_path_factory.mktemp("of-backends") / "run"
    chosen = ["--operator", "onnx.QuantizeLinear", "--level", "brief", "-b", "onnx-reference", "-b", "numpy-naive"]
    assert CliRunner().invoke(main, ["run", *chosen, "-o", str(folder)]).exit_code == 1
    return folder


def named(run: Run) -> set[str]:
    rows = [row for value in run.info.values() if isinstance(value, list) for row in value if isinstance(row, dict)]
    found = {str(row[key]) for row in rows for key in NAMES if key in row}
    return found | set(run.results["backend"]) | set(run.discrepancies["backend"])


@pytest.mark.slow
def test_nothing_of_the_others_is_left(run_dir: Path) -> None:
    run = read_run(run_dir)
    assert named(run) == {"onnx-reference", "numpy-naive"}
    kept = of_backends(run, ["onnx-reference"])
    assert named(kept) == {"onnx-reference"} == {one["name"] for one in kept.info["backends"]}
    assert len(kept.discrepancies) == (run.discrepancies["backend"] == "onnx-reference").sum() > 0
    assert not [name for name in finding_files([(kept, lambda *asked: ("", "not asked"))]) if "numpy-naive" in name]


def test_an_unknown_backend_is_one_line_and_2(run_dir: Path, tmp_path: Path) -> None:
    asked = ["findings", str(run_dir), "-b", "onnxruntime", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 2 and not (tmp_path / "out").exists()
    assert "no backend 'onnxruntime' in this run; it has:" in done.output
