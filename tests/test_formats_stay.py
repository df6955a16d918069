"""What version 0.1 wrote still loads; docs/compatibility.md promises it. The files are never made anew."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tiebreak.cli import main

KEPT = Path(__file__).parent / "formats_of_version_1"
DIGEST = "29b12ee01e6a226bd0027edfa99a84914c315e98acecefc14784d12cf1126102"
TIES = "onnx.QuantizeLinear/float32/uint8/ties-zp0/ROUND_NEAREST_TOWARD_EVEN"
BACKEND = f"{KEPT}/mine.py:Mine"


def cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments], catch_exceptions=False)


def test_nobody_has_changed_the_files() -> None:
    digest = hashlib.sha256()
    for path in sorted(path for path in KEPT.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        digest.update(f"{path.relative_to(KEPT).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    assert digest.hexdigest() == DIGEST


def test_a_run_is_reported_and_compared(tmp_path: Path) -> None:
    told = cli("report", KEPT / "run", "--text")
    assert told.exit_code == 0 and "C001" in told.output and "floor(q + 0.5)" in told.output
    built = cli("report", KEPT / "run", "-o", tmp_path / "report.html")
    assert built.exit_code == 0 and "floor(q + 0.5)" in (tmp_path / "report.html").read_text(encoding="utf-8")
    same = cli("compare", KEPT / "run", KEPT / "run")
    assert same.exit_code == 0 and "1 unchanged" in same.output


def test_a_run_is_gated_by_a_baseline_and_by_waivers() -> None:
    assert cli("gate", KEPT / "run").exit_code == 1
    assert cli("gate", KEPT / "run", "--baseline", KEPT / "run").exit_code == 0
    waived = cli("gate", KEPT / "run", "--waivers", KEPT / "waivers.toml")
    assert waived.exit_code == 0 and "1,541 waived" in waived.output


def test_a_run_is_repeated_tabled_and_put_into_a_history(tmp_path: Path) -> None:
    again = cli("repro", "C001", "--run", KEPT / "run", "-b", BACKEND)
    assert again.exit_code == 0 and "separating-5" in again.output and "import subprocess" in again.output
    assert cli("tables", KEPT / "run", "-o", tmp_path / "tables").exit_code == 0 and any(
        (tmp_path / "tables").iterdir()
    )
    assert cli("history", "add", KEPT / "run", "--db", tmp_path / "history.duckdb").exit_code == 0


def test_a_history_is_shown(tmp_path: Path) -> None:
    shutil.copy(KEPT / "history.duckdb", tmp_path)
    shown = cli("history", "show", tmp_path / "history.duckdb")
    assert shown.exit_code == 0 and "mine" in shown.output


def test_a_submission_is_checked() -> None:
    found = cli("submit", "check", KEPT / "submission.tiebreak")
    assert found.exit_code == 0 and "nothing in it contradicts itself" in found.output


def test_exported_cases_are_judged(tmp_path: Path) -> None:
    shutil.copytree(KEPT / "cases", tmp_path / "cases")
    found = cli("verify", tmp_path / "cases", "--backend-name", "mine", "-o", tmp_path / "run")
    assert found.exit_code == 1 and "2 " in found.output and "deviates" in found.output


@pytest.mark.parametrize(("backend", "name"), [("numpy-naive", "certificate"), (BACKEND, "scale-certificate")])
def test_certificates_of_sweeps_are_checked(backend: str, name: str) -> None:
    found = cli("sweep", backend, "--check", KEPT / f"{name}.json")
    assert found.exit_code == 0 and "all results are what they were" in found.output


def test_a_proof_is_checked() -> None:
    found = cli("prove", "--check", KEPT / "proof.json")
    assert found.exit_code == 0 and "REFUTED holds" in found.output


@pytest.mark.parametrize("spec", [BACKEND, f"exec:python3 {KEPT}/program.py"])
def test_a_backend_is_run(spec: str, tmp_path: Path) -> None:
    found = cli("run", "-b", spec, "--case", TIES, "-o", tmp_path / "run")
    assert found.exit_code == 1 and " C001 " in found.output and "tie" in found.output


def test_a_newer_run_is_refused_with_both_versions(tmp_path: Path) -> None:
    shutil.copytree(KEPT / "run", tmp_path / "run")
    info = tmp_path / "run" / "run.json"
    info.write_text(info.read_text(encoding="utf-8").replace('"version": 1', '"version": 2', 1), encoding="utf-8")
    refused = cli("report", tmp_path / "run", "--text")
    assert refused.exit_code == 2
    assert refused.stderr == f'tiebreak: {info}: "version" is 2, this Tiebreak reads 1\n'
