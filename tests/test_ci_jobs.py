"""The jobs and the page about CI: their shells are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
import yaml
from click.testing import CliRunner, Result
from recorded_versions import recorded

from tiebreak.cli import main
from tiebreak.reports.records import read_run

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("runs"))


def cli(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def jobs() -> dict[str, tuple[dict[str, str], list[str]]]:
    """For each CI service the job's variables and its scripts, as its shell gets them."""
    github = yaml.safe_load((DOCS / "ci" / "github.yml").read_text())["jobs"]["gate"]
    gitlab = yaml.safe_load((DOCS / "ci" / "gitlab.yml").read_text())["tiebreak"]
    steps = [step["run"] for step in github["steps"] if "run" in step]
    assert all(step["shell"] == "bash" for step in github["steps"] if "run" in step)
    return {
        "github": (github["env"], steps),
        "gitlab": (gitlab["variables"], ["\n".join(gitlab["before_script"] + gitlab["script"])]),
    }


needs_docs = pytest.mark.skipif(not DOCS.is_dir(), reason="a source distribution may have no docs")


@needs_docs
def test_the_jobs_keep_their_records_even_if_they_fail() -> None:
    github = yaml.safe_load((DOCS / "ci" / "github.yml").read_text())["jobs"]["gate"]["steps"]
    upload = github[-1]
    assert (upload["if"], upload["with"]["path"]) == ("always()", "tiebreak-run")
    assert not any("continue-on-error" in step for step in github)
    artifacts = yaml.safe_load((DOCS / "ci" / "gitlab.yml").read_text())["tiebreak"]["artifacts"]
    assert (artifacts["when"], artifacts["paths"]) == ("always", ["tiebreak-run"])
    assert artifacts["reports"]["junit"] == "tiebreak-run/gate.xml"


@needs_docs
@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_every_option_of_the_jobs_is_there(service: str) -> None:
    commands = [line.split() for script in jobs()[service][1] for line in script.splitlines() if "tiebreak " in line]
    commands = [words for words in commands if words[0] == "tiebreak"]
    assert {words[1] for words in commands} == {"run", "gate"}
    for words in commands:
        context = click.Context(main)
        command = main.get_command(context, words[1])
        assert command is not None
        known = {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
        assert {word for word in words if word.startswith("-") and word != "-f"} <= known
        assert cli(words[1], "--help").exit_code == 0


@needs_docs
@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_the_jobs_shell_passes_the_gates_exit_code_on(service: str, runs: Path, tmp_path: Path) -> None:
    variables, scripts = jobs()[service]
    (tmp_path / "waivers.toml").touch()
    choice = f"--operator onnx.QuantizeLinear --case {read_run(runs / 'away').discrepancies['case'][0]}"
    own = variables | {"CHOICE": choice, "BASELINE": str(runs / "sound"), "WAIVERS": str(tmp_path / "waivers.toml")}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]

    def job(backend: str) -> int:
        """The scripts one after the other until one fails, as the service runs them, in a fresh folder."""
        shutil.rmtree(tmp_path / "work", ignore_errors=True)
        (tmp_path / "work").mkdir()
        paths = {"PATH": f"{tools(tmp_path)}{os.pathsep}{os.environ['PATH']}", "BACKEND": backend}
        for script in scripts:
            done = subprocess.run(
                [*shell, script], cwd=tmp_path / "work", env={**os.environ, **own, **paths}, check=False
            )
            if done.returncode:
                return done.returncode
        return 0

    assert job(f"{runs / 'versions.py'}:away") == 1
    assert (tmp_path / "work" / "tiebreak-run" / "report.html").exists()
    assert len(ElementTree.parse(tmp_path / "work" / "tiebreak-run" / "gate.xml").findall(".//failure")) == 1
    assert job("no-such-backend") != 0


def tools(folder: Path) -> Path:
    """A folder with this Python's tiebreak, and with a pip that installs nothing."""
    found = folder / "tools"
    found.mkdir(exist_ok=True)
    for name, text in (("tiebreak", f'exec "{sys.executable}" -P -m tiebreak "$@"'), ("pip", "test $1 = install")):
        (found / name).write_text(f"#!/bin/sh\n{text}\n")
        (found / name).chmod(0o755)
    return found


@needs_docs
@pytest.mark.slow
def test_the_pages_commands_do_what_they_say(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    page = (DOCS / "gate-ci.md").read_text(encoding="utf-8")
    commands = 0
    for kind, body in re.findall(r"^```(sh|python|toml)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        if kind != "sh":
            (tmp_path / ("mine.py" if kind == "python" else "tiebreak/waivers.toml")).write_text(body, encoding="utf-8")
            continue
        for line in body.splitlines():
            environment = {**os.environ, "PATH": f"{tools(tmp_path)}{os.pathsep}{os.environ['PATH']}"}
            done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True)
            wanted = re.search(r"# exit (\d)$", line)
            assert done.returncode == (int(wanted[1]) if wanted else 0), f"{line}\n{done.stdout}\n{done.stderr}"
            commands += 1
    assert commands >= 9
