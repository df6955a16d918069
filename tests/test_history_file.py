"""The history in one file: the same as of the runs' folders, in the order of releases; and the job of every night."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner, Result
from test_ci_jobs import GITHUB_SHELL, check

from tiebreak.adapters.environments import packages
from tiebreak.cli import main
from tiebreak.conformance.gate.history import history
from tiebreak.conformance.gate.history_view import history_at
from tiebreak.reports.history_page import history_page
from tiebreak.reports.trend import trends

ROOT = Path(__file__).parent.parent
KEPT = Path(__file__).parent / "formats_of_version_1" / "run"
NIGHTLY = ROOT / "docs" / "nightly.yml"
RELEASES = ("1.10.0", "1.9.0", "1.2.0")  # in the order of their dates

needs_nightly = pytest.mark.skipif(not NIGHTLY.exists(), reason="a source distribution may have none")


def cli(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments], catch_exceptions=False)


def a_run(folder: Path, release: str, day: int) -> Path:
    """A run of a release of the backend of the kept run."""
    shutil.copytree(KEPT, folder)
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    backend = info["backends"][0]
    backend |= {"version": release, "spec": f"{backend['name']}@{release}"}
    info["created"] = f"2026-01-{day:02d}T00:00:00+00:00"
    (folder / "run.json").write_text(json.dumps(info), encoding="utf-8")
    rows = pd.read_parquet(folder / "results.parquet")
    rows.assign(version=release).to_parquet(folder / "results.parquet", index=False)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("releases") / "runs"
    folder.mkdir()
    for day, release in enumerate(RELEASES, start=1):
        a_run(folder / f"night-{day}", release, day)
    return folder


@pytest.fixture(scope="module")
def file(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("file") / "history.duckdb"
    told = cli("history", "add", *sorted(runs.iterdir()), "--db", path)
    assert told.exit_code == 0 and told.output.count(": added\n") == 3, told.output
    return path


def test_a_file_shows_what_the_folders_show(runs: Path, file: Path) -> None:
    kept, seen = history_at(file), history_at(runs)
    assert kept["rows"] == seen["rows"] and len(kept["rows"]) == 3
    (first, *_) = kept["rows"]
    assert first["verdicts"]["deviates"] > 0 and sum(first["verdicts"].values()) == first["cases"]
    assert sum(first["causes"].values()) == first["deviating"] > 0
    assert json.loads(cli("history", file, "--json").output) == kept
    assert cli("history", "show", file).output == cli("history", file).output != ""


def test_a_run_is_added_once(runs: Path, file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "copy")
    told = cli("history", "add", runs / "night-1", "--db", tmp_path / "copy")
    assert told.exit_code == 0 and told.output == f"{runs / 'night-1'}: was there\n"
    assert history_at(tmp_path / "copy")["rows"] == history_at(file)["rows"]
    assert {path.name for path in tmp_path.iterdir()} == {"copy"}


def test_releases_are_in_their_order_each_by_its_last_run(runs: Path, file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "copy")
    again = a_run(tmp_path / "again", "1.9.0", 9)
    assert cli("history", "add", again, "--db", tmp_path / "copy").exit_code == 0
    rows = history_at(tmp_path / "copy", by_release=True)["rows"]
    found = [(row["release"], row["order"], row["run"]) for row in rows]
    assert found == [("1.2.0", 0, "night-3"), ("1.9.0", 1, "again"), ("1.10.0", 2, "night-1")]
    (library,) = trends(rows, 60)
    assert [version for _, _, version in library.runs] == ["1.2.0", "1.9.0", "1.10.0"]
    assert [one.version for one in library.releases] == ["1.2.0", "1.9.0", "1.10.0"]
    page = history_page(history_at(tmp_path / "copy", by_release=True))
    assert "Releases stand side by side" in page and "by date; a dotted line" not in page


def test_a_site_with_a_history_has_a_page_of_releases(runs: Path, file: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    built = cli("site", runs, "-o", site, "--history", file)
    assert built.exit_code == 0, built.output
    assert json.loads((site / "releases.json").read_text(encoding="utf-8"))["by"] == "release"
    linked = 'href="{}releases.html"'
    assert linked.format("") in (site / "index.html").read_text(encoding="utf-8")
    assert all(linked.format("../../") in page.read_text(encoding="utf-8") for page in site.glob("runs/*/report.html"))
    trends = (site / "releases.html").read_text(encoding="utf-8")
    assert 'href="index.html"' in trends and "1.10.0" in trends
    assert cli("site", runs, "-o", site).exit_code == 0  # the page is a part of the site, which goes with it
    assert not (site / "releases.html").exists()
    assert linked.format("") not in (site / "index.html").read_text(encoding="utf-8")


def test_releases_of_one_run_stand_apart(runs: Path, tmp_path: Path) -> None:
    """Backends of one name have numbers in a run; their specs tell the releases."""
    run = a_run(tmp_path / "runs" / "both", "1.9.0", 1)
    info = json.loads((run / "run.json").read_text(encoding="utf-8"))
    name = info["backends"][0]["name"]
    info["backends"].append(
        info["backends"][0] | {"name": f"{name} (2)", "version": "1.10.0", "spec": f"{name}@1.10.0"}
    )
    (run / "run.json").write_text(json.dumps(info), encoding="utf-8")
    rows = pd.read_parquet(run / "results.parquet")
    both = pd.concat([rows, rows.assign(backend=f"{name} (2)", version="1.10.0")])
    both.to_parquet(run / "results.parquet", index=False)
    found = history(tmp_path / "runs")["rows"]
    assert [(row["backend"], row["release"]) for row in found] == [(name, "1.10.0"), (name, "1.9.0")]
    (library,) = trends(found, 60)
    assert [run for _, run, _ in library.runs] == ["both (1.9.0)", "both (1.10.0)"]


def test_a_backend_and_an_operator_are_chosen(file: Path, tmp_path: Path) -> None:
    (row, *_) = history_at(file)["rows"]
    one = cli("history", file, "-b", row["backend"], "--operator", row["operator"], "--html", tmp_path / "page.html")
    assert one.exit_code == 0 and row["operator"] in (tmp_path / "page.html").read_text(encoding="utf-8")
    none = cli("history", file, "--operator", "ngraph.Quantize")
    assert none.exit_code == 2 and f"no operator 'ngraph.Quantize' in it; there are {row['operator']}" in none.stderr


def test_nothing_is_added_if_one_is_no_run(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "night-2", tmp_path / "damaged")
    (tmp_path / "damaged" / "results.parquet").write_bytes(b"PAR1")
    told = cli("history", "add", runs / "night-1", tmp_path / "damaged", "--db", tmp_path / "new")
    assert told.exit_code == 2 and "damaged run" in told.stderr and len(told.stderr.splitlines()) == 1
    assert not (tmp_path / "new").exists()


def test_what_is_no_history_is_refused(file: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database", encoding="utf-8")
    duckdb.connect(str(tmp_path / "other")).close()
    shutil.copy(file, tmp_path / "newer")
    with duckdb.connect(str(tmp_path / "newer")) as connection:
        connection.execute("UPDATE about SET version = 2")
    reasons = {"text": "no history", "other": "no history", "newer": '"version" is 2, this Tiebreak reads 1'}
    for name, reason in reasons.items():
        found = cli("history", tmp_path / name)
        assert found.exit_code == 2 and reason in found.stderr and len(found.stderr.splitlines()) == 1, found.stderr
    missing = cli("history", "missing", "--db", tmp_path / "text", "-b", "onnxruntime")
    assert missing.exit_code == 2 and "no history" in missing.stderr


def test_a_history_reads_no_other_file(file: Path, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "sly")
    (tmp_path / "secret.csv").write_text("secret\n1\n", encoding="utf-8")
    with duckdb.connect(str(tmp_path / "sly")) as connection:
        connection.execute("DROP TABLE about")
        secret = (
            f"SELECT 'tiebreak-history' AS format, secret::INTEGER AS version FROM read_csv('{tmp_path}/secret.csv')"
        )
        connection.execute(f"CREATE VIEW about AS {secret}")
    found = cli("history", tmp_path / "sly")
    assert found.exit_code == 2 and "disabled" in found.stderr, found.stderr


@pytest.mark.slow
def test_missing_releases_are_the_newest_that_the_file_lacks(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def releases(distribution: str, python: str) -> list[str]:
        asked.append(distribution)
        return {"onnxruntime": ["1.32.0", "1.31.1"], "openvino": []}.get(distribution, ["9.0"])

    monkeypatch.setattr(packages, "releases", releases)
    words = ("history", "missing", "--db", tmp_path / "file", "-b", "onnxruntime", "-b", "onnxruntime-qdq")
    found = cli(*words, "-b", "openvino")
    assert found.stdout == "onnxruntime@1.32.0\nonnxruntime-qdq@1.32.0\n"
    assert found.stderr == "tiebreak: openvino: no release of its library installs here\n"
    assert asked == ["onnxruntime", "openvino"]
    run = a_run(tmp_path / "run", "1.32.0", 1)
    info = (run / "run.json").read_text(encoding="utf-8")
    name = json.loads(info)["backends"][0]["name"]
    (run / "run.json").write_text(info.replace(f"{name}@1.32.0", "onnxruntime@1.32.0"), encoding="utf-8")
    assert cli("history", "add", run, "--db", tmp_path / "file").exit_code == 0
    assert cli(*words).stdout == "onnxruntime-qdq@1.32.0\n"
    older = "onnxruntime@1.31.1\nonnxruntime-qdq@1.31.1\n"
    assert cli(*words, "--releases", "3").stdout == f"onnxruntime-qdq@1.32.0\n{older}"
    every = cli("history", "missing", "--db", tmp_path / "file").stdout.split()
    assert {"torch@9.0", "tflite-micro@9.0", "onnx-reference@9.0"} <= set(every)
    assert not {one for one in every if one.startswith(("numpy-naive", "onnxruntime@", "torch-compiled"))}


# The job of every night: its shell runs with a `tiebreak` that installs nothing, but adds to a real file.

STUB = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$1 $2" in
  "history missing") printf 'first@1.9.0\\nbroken@1.0\\nsecond@2.0\\n' ;;
  "backends install") [ "$3" != broken@1.0 ] ;;
  "backends uninstall") ;;
  "run -b") while [ "$1" != -o ]; do shift; done; if [ "$2" = tiebreak-history/runs/second@2.0 ]; then exit 3; fi
    cp -r "$RUN" "$2"; exit 1 ;;
  *) exec "$PYTHON" -m tiebreak "$@" ;;
esac
"""


def steps() -> list[dict[str, Any]]:
    return list(yaml.safe_load(NIGHTLY.read_text(encoding="utf-8"))["jobs"]["nightly"]["steps"])


def shell(step: str, folder: Path, run: Path, minutes: str = "9") -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does."""
    (script,) = [one["run"] for one in steps() if one.get("name") == step]
    stub = folder.parent / "bin" / "tiebreak"
    stub.parent.mkdir(exist_ok=True)
    stub.write_text(STUB, encoding="utf-8")
    stub.chmod(0o755)
    given = {"BACKENDS": "first second", "LEVEL": "quick", "GITHUB_OUTPUT": str(folder.parent / "output")}
    given |= {
        "RELEASES": "2",
        "MINUTES": minutes,
        "CALLS": str(folder.parent / "calls"),
        "RUN": str(run),
        "PYTHON": sys.executable,
    }
    environment = os.environ | given | {"PATH": f"{stub.parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        [*GITHUB_SHELL, script], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@needs_nightly
def test_the_job_is_as_github_wants_it() -> None:
    document = yaml.safe_load(NIGHTLY.read_text(encoding="utf-8"))
    job = {"on" if name is True else name: value for name, value in document.items()}
    check(job, "github-workflows")
    with pytest.raises(jsonschema.ValidationError):
        check(job | {"jobs": {"nightly": {"steps": []}}}, "github-workflows")
    scripts = [one["run"] for one in steps() if "run" in one]
    assert len(scripts) == 4 and not [script for script in scripts if "${{" in script]
    assert [
        one.get("if") for one in steps() if one.get("uses", "").startswith(("actions/cache/save", "actions/upload-a"))
    ]


@pytest.mark.slow
@needs_nightly
def test_the_job_runs_what_is_new_and_tells_what_it_could_not(runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    ran = shell("Run what is new", folder, runs / "night-2")
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "output").read_text() == "failed=1\n"
    assert "::warning::broken@1.0 was not installed" in ran.stdout
    assert "::warning::second@2.0 gave no whole run" in ran.stdout
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[0] == "history missing --db tiebreak-history/history.duckdb --releases 2 -b first -b second"
    assert [call for call in calls if call.startswith("backends")] == [
        "backends install first@1.9.0",
        "backends uninstall first@1.9.0",
        "backends install broken@1.0",
        "backends install second@2.0",
        "backends uninstall second@2.0",
    ]
    (row,) = history_at(folder / "tiebreak-history" / "history.duckdb")["rows"]
    assert (row["run"], row["release"]) == ("first@1.9.0", "1.9.0")
    built = shell("Build the site", folder, runs / "night-2")
    assert built.returncode == 0, built.stderr
    assert json.loads((folder / "site" / "releases.json").read_text())["by"] == "release"
    assert "<title>Tiebreak: the runs in" in (folder / "site" / "releases.html").read_text()
    assert (folder / "site" / "index.html").exists()


@needs_nightly
def test_what_there_is_no_time_for_waits_for_the_next_night(runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    ran = shell("Run what is new", folder, runs / "night-2", minutes="0")
    assert ran.returncode == 0 and "::notice::first@1.9.0 and what follows wait" in ran.stdout
    assert (tmp_path / "output").read_text() == "failed=0\n"
    assert (tmp_path / "calls").read_text().count("\n") == 1


@needs_nightly
def test_no_history_at_all_is_no_pass(tmp_path: Path, runs: Path) -> None:
    (tmp_path / "work").mkdir()
    built = shell("Build the site", tmp_path / "work", runs / "night-1")
    assert built.returncode == 1 and "no runtime was ever run" in built.stdout


@needs_nightly
def test_the_words_of_the_job_are_commands() -> None:
    """All but `install`, which loads a library: each is asked for its help."""
    for words in (["history", "missing"], ["history", "add"], ["history", "show"], ["backends", "uninstall"], ["run"]):
        assert cli(*words, "--help").exit_code == 0


@pytest.mark.slow
def test_a_real_release_is_installed_run_and_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Needs a network: a wheel of 15 MB."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    spec, file = "onnxruntime@1.20.0", tmp_path / "history.duckdb"
    assert cli("backends", "install", spec).exit_code == 0
    chosen = ("--operator", "onnx.QuantizeLinear", "--type", "uint8", "--input-type", "float16", "--level", "brief")
    words = (*chosen, "--timeout", "60", "-o", tmp_path / spec)
    assert cli("run", "-b", spec, *words).exit_code in (0, 1)
    assert cli("history", "add", tmp_path / spec, "--db", file).exit_code == 0
    (row,) = history_at(file, by_release=True)["rows"]
    assert (row["backend"], row["library"], row["release"], row["version"]) == ("onnxruntime",) * 2 + ("1.20.0",) * 2
    assert row["ran"] > 50
    assert cli("history", "missing", "--db", file, "-b", "onnxruntime").stdout.startswith("onnxruntime@1.")
