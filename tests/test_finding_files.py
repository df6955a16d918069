"""`tiebreak findings`: a file for each root cause in a folder for each library, with a script that shows it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from recorded_versions import recorded

from tiebreak.cli import main
from tiebreak.conformance.semantics.cause_sentences import SENTENCES
from tiebreak.golden.verdicts import DOMAINS
from tiebreak.reports.finding_files import fixes, reproduced, safe_name
from tiebreak.reports.findings import public_issues
from tiebreak.reports.folding import folded_causes
from tiebreak.reports.records import read_run
from tiebreak.reports.severity import leading_domain


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run of the ONNX reference evaluator, and what the command writes of it."""
    pytest.importorskip("onnx")
    folder = tmp_path_factory.mktemp("findings")
    chosen = ["--operator", "onnx.QuantizeLinear", "--level", "brief", "-b", "onnx-reference"]
    assert CliRunner().invoke(main, ["run", *chosen, "-o", str(folder / "run")]).exit_code == 1
    done = CliRunner().invoke(main, ["findings", str(folder / "run"), "-o", str(folder / "out")])
    assert done.exit_code == 0, done.output
    assert f"{len(list((folder / 'out').rglob('*.md')))} files in" in done.output
    return folder / "run", folder / "out"


def test_every_root_cause_has_a_file_that_its_librarys_page_links(written: tuple[Path, Path]) -> None:
    run, out = read_run(written[0]), written[1]
    own = {path.name for path in (out / "onnx-reference").iterdir()} - {"README.md"}
    assert len(own) == len(folded_causes(run)) > 0
    page = (out / "onnx-reference" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([^)]+)\)", page)) == own
    assert "[onnx-reference](onnx-reference/README.md)" in (out / "README.md").read_text(encoding="utf-8")


def test_the_calibrated_domain_leads(written: tuple[Path, Path]) -> None:
    run, out = read_run(written[0]), written[1]
    page = (out / "onnx-reference" / "README.md").read_text(encoding="utf-8")
    places = [next((n for n, name in enumerate(DOMAINS[1:], 1) if f"{name} only" in line), 0) for line in links(page)]
    assert places == sorted(places)
    assert len(places) == sum(bool(leading_domain(cause.row)) for cause in folded_causes(run))


def links(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("- [")]


def test_a_file_has_all_that_a_maintainer_needs_and_its_script_fails(
    written: tuple[Path, Path], tmp_path: Path
) -> None:
    for path in sorted((written[1] / "onnx-reference").glob("onnx.*.md")):
        text = path.read_text(encoding="utf-8")
        parts = re.findall(r"^## (.*)$", text, re.MULTILINE)
        assert parts[:4] == ["What the document says", "What happens", "Reproduce", "How often"]
        assert "The library claims onnx.QuantizeLinear: ONNX operator schemas" in text
        assert re.search(r"^\| \*\*expected\*\* \| \S+ \| 0x[0-9a-f]+ \|$", text, re.MULTILINE)
        script = tmp_path / "script.py"
        script.write_text(text.partition("```python\n")[2].partition("\n```")[0], encoding="utf-8")
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 1 and "expected" in done.stdout, done.stderr


@pytest.mark.slow
def test_a_backend_of_the_users_own_has_no_script_but_the_reason(tmp_path: Path) -> None:
    runs = recorded(tmp_path)
    assert CliRunner().invoke(main, ["findings", str(runs / "away"), "-o", str(tmp_path / "out")]).exit_code == 0
    (file,) = (path for path in (tmp_path / "out").rglob("*.md") if path.name != "README.md")
    text = file.read_text(encoding="utf-8")
    assert "it starts no backend of your own" in text and "-b versions.py:" in text and "```" not in text
    assert "Use rintf" in text  # what would mend it
    for path in (tmp_path / "out").rglob("*"):
        path.unlink() if path.is_file() else None
    shutil.rmtree(tmp_path / "out")
    assert CliRunner().invoke(main, ["findings", str(runs / "hostile"), "-o", str(tmp_path / "out")]).exit_code == 0
    assert "<script" not in "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").rglob("*.md"))


@pytest.mark.parametrize("id", ["A001", "C001", "D000001", "F001", "R001", "S001"])
def test_whatever_repro_takes_has_its_command(id: str) -> None:
    (told,) = reproduced(id, ("", "it is not run"), "flip.py:One", "flip.py:Two")
    assert told.startswith(f"`tiebreak repro {id} --run RUN_DIR -b flip.py:One -b flip.py:Two` prints a script")
    assert "`" not in "".join(reproduced(id, ("", ""), "a`b:c")).replace("`tiebreak", "", 1).replace("BACKEND`", "", 1)


def test_runs_of_other_operators_make_one_folder(written: tuple[Path, Path], tmp_path: Path) -> None:
    chosen = ["--operator", "onnx.DequantizeLinear", "--level", "brief", "-b", "onnx-reference", "-b", "numpy-naive"]
    assert CliRunner().invoke(main, ["run", *chosen, "-o", str(tmp_path / "run")]).exit_code == 1
    runs, out = [str(written[0]), str(tmp_path / "run")], tmp_path / "out"
    assert CliRunner().invoke(main, ["findings", *runs, "-o", str(out)]).exit_code == 0
    files = {path.name for path in (out / "onnx-reference").iterdir()} - {"README.md"}
    page = (out / "onnx-reference" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([^)]+)\)", page)) == files
    assert {name.split("Linear")[0] for name in files} == {"onnx.Quantize", "onnx.Dequantize"}
    cases = sum(len(read_run(Path(run)).results) for run in runs)
    front = (out / "README.md").read_text(encoding="utf-8")
    assert "2 runs" in front and f": 2 backends, {cases:,} cases" in front
    assert f"onnx-reference/README.md) | 0 | {len(files)} | 0 | 0 |" in front
    some = CliRunner().invoke(main, ["findings", *runs, "-b", "numpy-naive", "-o", str(tmp_path / "some")])
    assert some.exit_code == 0, some.output  # the first run has no numpy-naive
    assert {path.name for path in (tmp_path / "some").iterdir()} == {"numpy-naive", "README.md"}


def test_one_operator_of_a_backend_in_two_runs_is_refused(written: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(written[0], tmp_path / "again")
    asked = ["findings", str(written[0]), str(tmp_path / "again"), "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 2 and not (tmp_path / "out").exists()
    assert "two of the runs asked onnx-reference onnx.QuantizeLinear" in done.output


def test_a_folder_with_something_in_it_stays_as_it_is(written: tuple[Path, Path]) -> None:
    before = sorted(written[1].rglob("*"))
    done = CliRunner().invoke(main, ["findings", str(written[0]), "-o", str(written[1])])
    assert done.exit_code == 2 and "not empty" in done.output
    assert sorted(written[1].rglob("*")) == before


@pytest.mark.parametrize("text", ["../../etc/passwd", ".hidden", "a b/c", "", "\x00", "x" * 500])
def test_names_of_files_stay_in_their_folder(text: str) -> None:
    name = safe_name(text)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", name) and len(name) <= 100


def test_fixes_and_public_issues_are_of_known_causes() -> None:
    assert {key.partition(":")[0] for key in fixes()} <= set(SENTENCES)
    assert all(any(key.startswith(one["cause"].partition(":")[0]) for key in SENTENCES) for one in public_issues())
