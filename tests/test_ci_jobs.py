"""The GitHub Action, the GitLab component, the hook and the page about them: valid YAML, and their shells are run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml
from recorded_versions import recorded

from tiebreak.reports.records import read_run

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "gate-ci.md"
ACTION, COMPONENT, HOOKS = ROOT / "action.yml", ROOT / "templates" / "tiebreak.yml", ROOT / ".pre-commit-hooks.yaml"
GITHUB_SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
GITLAB_SHELLS = {"bash": ("bash", "-eo", "pipefail", "-c"), "sh": ("sh", "-e", "-c")}
WITH_SPACES = "a folder"

needs_files = pytest.mark.skipif(not (PAGE.exists() and ACTION.exists()), reason="a source distribution may have none")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded runs, and beside them a backend, below a folder whose name has a blank."""
    folder = tmp_path_factory.mktemp("runs") / WITH_SPACES
    folder.mkdir()
    return recorded(folder)


def check(document: Any, schema: str) -> None:
    """Raise ValidationError unless the document fits the published schema, as check-jsonschema has it."""
    pytest.importorskip("check_jsonschema")
    text = (files("check_jsonschema") / "builtin_schemas" / "vendor" / f"{schema}.json").read_text(encoding="utf-8")
    jsonschema.Draft7Validator(json.loads(text)).validate(document)


def blocks() -> dict[str, Any]:
    """The page's YAML by its first key."""
    page = PAGE.read_text(encoding="utf-8")
    found = [yaml.safe_load(body) for body in re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)]
    return {next(iter(document)): document for document in found}


def action() -> dict[str, Any]:
    return dict(yaml.safe_load(ACTION.read_text(encoding="utf-8")))


def component(**inputs: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The component's header and its pipeline, with inputs put in as GitLab does."""
    header, _, body = COMPONENT.read_text(encoding="utf-8").partition("\n---\n")
    spec = yaml.safe_load(header)["spec"]
    given = {name: said["default"] for name, said in spec["inputs"].items() if "default" in said} | inputs
    assert set(given) == set(spec["inputs"]), "every input that has no default is given, and no other"
    filled = re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: given[found[1]], body)
    return {"spec": spec}, yaml.safe_load(filled)


COMPONENT_INPUTS = {"backend": "mine.py:Mine", "operators": "onnx.QuantizeLinear", "tiebreak": "x.whl"}


@needs_files
def test_the_page_lists_the_actions_inputs_and_outputs() -> None:
    page, facts = PAGE.read_text(encoding="utf-8"), action()
    rows = re.findall(r"^\| `([\w-]+)` \| (\S+) \| (.*) \|$", page, re.MULTILINE)
    wanted = []
    for name, said in facts["inputs"].items():
        default = f"`{said['default']}`" if said.get("default") else "required" if said.get("required") else "empty"
        wanted.append((name, default, said["description"]))
    assert [row for row in rows if row[0] in facts["inputs"]] == wanted and len(wanted) > 5
    assert all(f"`{name}`" in page for name in facts["outputs"])


@needs_files
def test_all_yaml_is_as_the_services_want_it() -> None:
    check(action(), "github-actions")
    header, pipeline = component(**COMPONENT_INPUTS)
    check(header, "gitlab-ci")
    check(pipeline, "gitlab-ci")
    check(workflow(), "github-workflows")
    check({"include": blocks()["include"]["include"]}, "gitlab-ci")
    with pytest.raises(jsonschema.ValidationError):
        check(action() | {"runs": {"using": "composite"}}, "github-actions")
    with pytest.raises(jsonschema.ValidationError):
        check({"tiebreak": pipeline["tiebreak"] | {"artifacts": {"when": "sometimes"}}}, "gitlab-ci")


def workflow() -> dict[str, Any]:
    """The page's workflow; YAML 1.1 reads its key `on` as true."""
    return {"on" if name is True else name: value for name, value in blocks()["name"].items()}


@needs_files
def test_the_hook_is_as_pre_commit_wants_it(tmp_path: Path) -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    (hook,) = clientlib.load_manifest(str(HOOKS))
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(blocks()["repos"]), encoding="utf-8")
    (repository,) = clientlib.load_config(str(tmp_path / "config.yaml"))["repos"]
    assert [one["id"] for one in repository["hooks"]] == [hook["id"]]
    assert (hook["stages"], hook["pass_filenames"]) == (["pre-push"], False)


@needs_files
def test_the_page_gives_inputs_that_there_are() -> None:
    used = workflow()["jobs"]["gate"]["steps"][-1]["with"]
    wanted = {name for name, said in action()["inputs"].items() if said.get("required")}
    assert wanted <= set(used) <= set(action()["inputs"])
    assert "tiebreak" in component(**blocks()["include"]["include"][0]["inputs"])[1]


@needs_files
def test_no_input_is_part_of_a_shells_text() -> None:
    """An expression in a script would let whoever chooses its value choose commands."""
    scripts = [step["run"] for step in action()["runs"]["steps"] if "run" in step]
    scripts += next(iter(yaml.safe_load(COMPONENT.read_text().partition("\n---\n")[2]).values()))["script"]
    assert len(scripts) > 5
    assert [script for script in scripts if "${{" in script or "$[[" in script] == []


@needs_files
def test_both_keep_their_records_even_if_they_fail() -> None:
    steps = action()["runs"]["steps"]
    assert (steps[-1]["if"], steps[-1]["with"]["path"]) == ("always()", "tiebreak-run")
    assert not any("continue-on-error" in step for step in steps)
    artifacts = component(**COMPONENT_INPUTS)[1]["tiebreak"]["artifacts"]
    assert (artifacts["when"], artifacts["paths"]) == ("always", ["tiebreak-run"])
    assert artifacts["reports"]["junit"] == "tiebreak-run/gate.xml"


def tools(folder: Path, case: str = "") -> Path:
    """A folder with a python that installs nothing but notes what, and with this Python's tiebreak.

    With a `case` its gate runs that case alone, and notes what it was asked.
    """
    found = folder / "tools"
    found.mkdir(exist_ok=True)
    note = f'printf "%s\\n" "$@" > {shlex.quote(str(folder))}'
    only = f'test "$1" != gate || {{ {note}/asked; set -- "$@" --case {shlex.quote(case)}; }}\n' if case else ""
    python = f'test "$1 $2 $3" = "-m pip install" || exit 9\nshift 3\n{note}/installed'
    for name, text in (("python", python), ("tiebreak", f'{only}exec "{sys.executable}" -P -m tiebreak "$@"')):
        (found / name).write_text(f"#!/bin/sh\n{text}\n")
        (found / name).chmod(0o755)
    return found


def case_of(runs: Path) -> str:
    return str(read_run(runs / "away").discrepancies["case"][0])


def in_fresh_folder(folder: Path, runs: Path, scripts: list[tuple[str, dict[str, str]]], shell: tuple[str, ...]) -> int:
    """The scripts one after the other until one fails, as a service runs them, in the folder `work`."""
    shutil.rmtree(folder / "work", ignore_errors=True)
    (folder / "work").mkdir()
    path = f"{tools(folder, case_of(runs))}{os.pathsep}{os.environ['PATH']}"
    own = {"PATH": path, "GITHUB_OUTPUT": str(folder / "work" / "outputs"), "GITHUB_ACTIONS": ""}
    for script, variables in scripts:
        environment = {**os.environ, **own, **variables}
        done = subprocess.run([*shell, script], cwd=folder / "work", env=environment, check=False)
        if done.returncode:
            return done.returncode
    return 0


def act(folder: Path, runs: Path, **inputs: str) -> int:
    """The action's scripts with these inputs."""
    given = {name: said.get("default", "") for name, said in action()["inputs"].items()} | inputs
    values = {f"inputs.{name}": value for name, value in given.items()} | {"github.action_path": "/the/action"}

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: values[found[1]], text)

    steps = [step for step in action()["runs"]["steps"] if "run" in step]
    assert all(step["shell"] == "bash" for step in steps)
    scripts = [(step["run"], {name: filled(value) for name, value in step["env"].items()}) for step in steps]
    return in_fresh_folder(folder, runs, scripts, GITHUB_SHELL)


def words(file: Path) -> list[str]:
    return file.read_text().splitlines()


@pytest.mark.slow
@needs_files
def test_the_actions_shell_passes_the_gates_exit_code_on(runs: Path, tmp_path: Path) -> None:
    work, waivers = tmp_path / "work", runs / "known waivers.toml"
    waivers.touch()
    several = " onnx.QuantizeLinear\n\n  onnx.DequantizeLinear\n"
    given = {"operators": several, "baseline": str(runs / "sound"), "waivers": str(waivers)}
    assert act(tmp_path, runs, backend=f"{runs / 'versions.py'}:away", **given, tiebreak="a b.whl\n\nc[d]\n") == 1
    assert words(tmp_path / "installed") == ["a b.whl", "c[d]"]
    asked = words(tmp_path / "asked")
    assert [one for one in asked if one.startswith("--operator")] == [
        "--operator=onnx.QuantizeLinear",
        "--operator=onnx.DequantizeLinear",
    ]
    assert asked[asked.index("--baseline") + 1] == str(runs / "sound")
    assert words(work / "outputs") == ["exit-code=1", "run=tiebreak-run"]
    assert (work / "tiebreak-run" / "report.html").exists()
    assert len(ElementTree.parse(work / "tiebreak-run" / "gate.xml").findall(".//failure")) == 1
    assert len(json.loads((work / "tiebreak-run" / "gate.sarif").read_text())["runs"][0]["results"]) == 1


@pytest.mark.slow
@needs_files
def test_the_actions_shell_ends_as_the_gate_does(runs: Path, tmp_path: Path) -> None:
    given = {"backend": f"{runs / 'versions.py'}:right", "operators": "onnx.QuantizeLinear"}
    assert act(tmp_path, runs, **given, baseline="") == 0
    assert words(tmp_path / "installed") == ["/the/action"]
    assert not {"--baseline", "--waivers"} & set(words(tmp_path / "asked"))
    assert act(tmp_path, runs, **given, baseline="no such folder") == 2
    assert words(tmp_path / "work" / "outputs") == ["exit-code=2", "run=tiebreak-run"]
    hostile = '"; touch hacked; $(touch hacked) `touch hacked`'
    assert act(tmp_path, runs, **given | {"backend": hostile, "operators": f"* {hostile}"}, baseline=hostile) == 2
    assert not (tmp_path / "work" / "hacked").exists()


@pytest.mark.few(1)
@needs_files
@pytest.mark.parametrize("shell", GITLAB_SHELLS)
def test_the_components_shell_passes_the_gates_exit_code_on(shell: str, runs: Path, tmp_path: Path) -> None:
    def job(attribute: str, baseline: str) -> int:
        inputs = {"backend": f"{runs / 'versions.py'}:{attribute}", "operators": "onnx.QuantizeLinear onnx.Cast"}
        pipeline = component(**inputs, tiebreak="a b.whl", baseline=baseline)[1]["tiebreak"]
        script = "\n".join([*pipeline.get("before_script", []), *pipeline["script"]])
        return in_fresh_folder(tmp_path, runs, [(script, pipeline["variables"])], GITLAB_SHELLS[shell])

    assert job("away", str(runs / "sound")) == 1
    assert words(tmp_path / "installed") == ["a b.whl"]
    assert len(ElementTree.parse(tmp_path / "work" / "tiebreak-run" / "gate.xml").findall(".//failure")) == 1
    assert words(tmp_path / "asked").count("--operator") == 2
    assert job("away", "no such folder") == 2


@pytest.mark.slow
@needs_files
def test_the_hook_stops_a_push_that_changes_results(runs: Path, tmp_path: Path) -> None:
    if not shutil.which("git"):
        pytest.skip("no git")
    ((shebang, about, line),) = re.findall(r"^```bash\n(.*)\n(.*)\n(.*)\n```$", PAGE.read_text(), re.MULTILINE)
    line = line.replace("mine.py:Mine", f"'{runs / 'versions.py'}:away'")
    path = f"{tools(tmp_path, case_of(runs))}{os.pathsep}{os.environ['PATH']}"
    identity = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*asked: str) -> int:
        own = {**os.environ, **identity, "PATH": path, "GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(["git", *asked], cwd=tmp_path / "clone", env=own, check=False).returncode

    (tmp_path / "clone").mkdir()
    assert git("init", "-q", "--bare", "../remote") == git("init", "-q", "-b", "main") == 0
    assert git("commit", "-q", "--allow-empty", "-m", "x") == 0
    hook = tmp_path / "clone" / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("\n".join([shebang, about, line]) + "\n")
    hook.chmod(0o755)
    (tmp_path / "clone" / "waivers.toml").touch()
    for baseline, refused in (("sound", True), ("away", False)):
        shutil.rmtree(tmp_path / "clone" / "tiebreak", ignore_errors=True)
        shutil.copytree(runs / baseline, tmp_path / "clone" / "tiebreak" / "baseline")
        assert (git("push", "-q", "../remote", "main") != 0) == refused
        assert (tmp_path / "remote" / "refs" / "heads" / "main").exists() != refused
    (entry,) = [one["entry"] for one in yaml.safe_load(HOOKS.read_text())]
    assert line.removeprefix("exec ").startswith(entry), "both hooks run the same"


@needs_files
@pytest.mark.slow
def test_the_pages_commands_do_what_they_say(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    page = PAGE.read_text(encoding="utf-8")
    commands = 0
    for kind, body in re.findall(r"^```(sh|python|toml)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        if kind != "sh":
            (tmp_path / ("mine.py" if kind == "python" else "waivers.toml")).write_text(body, encoding="utf-8")
            continue
        for line in body.splitlines():
            environment = {**os.environ, "PATH": f"{tools(tmp_path)}{os.pathsep}{os.environ['PATH']}"}
            done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True)
            wanted = re.search(r"# exit (\d)$", line)
            assert done.returncode == (int(wanted[1]) if wanted else 0), f"{line}\n{done.stdout}\n{done.stderr}"
            commands += 1
    assert commands >= 6
