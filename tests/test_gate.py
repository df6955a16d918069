"""The gate: what is new, known, waived, stale, expired or failed, every exit code, and the jobs that CI runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest
import yaml
from click.testing import CliRunner, Result
from recorded_versions import recorded

from tiebreak.cli import main
from tiebreak.conformance.gate import gate, update_baseline
from tiebreak.conformance.waivers import TOLERANCES, is_within, read_waivers
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.reports.gate import code, markdown
from tiebreak.reports.records import Run, read_run, write_run

DOCS = Path(__file__).parent.parent / "docs"
TODAY = date(2026, 6, 1)
WAIVER: dict[str, Any] = {
    "backend": "dev",
    "operator": "onnx.QuantizeLinear",
    "cause": "wrong tie rule: *",
    "reason": "known",
    "link": "https://example.org/1",
    "expires": date(2099, 1, 1),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("runs"))


def cli(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(one)}" for name, one in value.items()) + " }"
    return value.isoformat() if isinstance(value, date) else json.dumps(value)


def waiver_file(folder: Path, *changes: dict[str, Any]) -> Path:
    """A file of waivers, each WAIVER with some keys changed; None leaves one out."""
    entries = [{k: v for k, v in (WAIVER | change).items() if v is not None} for change in changes]
    text = "\n".join("[[waiver]]\n" + "\n".join(f"{k} = {toml(v)}" for k, v in entry.items()) for entry in entries)
    path = folder / "waivers.toml"
    path.write_text(text, encoding="utf-8")
    return path


def gated(runs: Path, name: str, baseline: str | Run | None, *changes: dict[str, Any]) -> dict[str, Any]:
    base = read_run(runs / baseline) if isinstance(baseline, str) else baseline
    waivers = read_waivers(waiver_file(runs, *changes), ["dev", "sound"]) if changes else []
    return gate(read_run(runs / name), base, waivers, TODAY)


def test_known_discrepancies_pass_and_new_ones_do_not(runs: Path) -> None:
    new, known = gated(runs, "away", "sound"), gated(runs, "away", "away")
    assert (new["exit"], known["exit"]) == (1, 0)
    assert new["counts"]["new"] == known["counts"]["known"] == new["new"][0]["elements"] > 100
    assert new["new"][0]["repro"] == "C001" and new["new"][0]["unseen"] == 0
    assert gated(runs, "sound", "away")["counts"]["gone"] == known["counts"]["known"]
    assert gated(runs, "away", None)["new"][0]["unseen"] == new["counts"]["new"]


def test_more_elements_or_other_bits_are_new_and_another_name_is_not(runs: Path) -> None:
    whole = read_run(runs / "away")
    found = gated(runs, "away", replace(whole, discrepancies=whole.discrepancies[3:]))
    assert (found["exit"], found["counts"]["new"]) == (1, 3)
    assert found["new"][0]["repro"] == whole.discrepancies["id"][0], "the witness is one of the new elements"
    bits = whole.discrepancies["got_bits"].copy()
    bits[7] += 1
    found = gated(runs, "away", replace(whole, discrepancies=whole.discrepancies.assign(got_bits=bits)))
    assert (found["exit"], found["counts"]["new"]) == (1, 1)
    renamed = replace(whole, discrepancies=whole.discrepancies.assign(cause="unexplained"))
    assert gated(runs, "away", renamed)["exit"] == 0


def test_failures_are_known_only_of_the_same_case_and_verdict_and_never_waived(runs: Path) -> None:
    any_cause = {"cause": "*"}
    found = gated(runs, "aborts", "sound", any_cause)
    assert (found["exit"], found["new"], found["failures"][0]["verdict"]) == (3, [], "crash")
    assert found["waivers"][0]["status"] == "not run", "what crashed may still have the discrepancy"
    assert gated(runs, "aborts", "aborts")["exit"] == 0
    crashed = read_run(runs / "aborts")
    other = crashed.results["verdict"].mask(crashed.results["verdict"] == "crash", "timeout")
    assert gated(runs, "aborts", replace(crashed, results=crashed.results.assign(verdict=other)))["exit"] == 3
    assert 0 < found["not_run"][0]["cases"] <= found["failures"][0]["cases"]


def test_nothing_ran_is_no_pass(runs: Path, tmp_path: Path) -> None:
    whole = read_run(runs / "sound")
    idle = Run(whole.info, whole.results.assign(verdict="unsupported"), whole.discrepancies)
    found = gate(idle, whole, [], TODAY)
    assert (found["exit"], found["not_run"][0]["cases"]) == (4, found["not_run"][0]["of"])
    (tmp_path / "idle").mkdir()
    write_run(tmp_path / "idle", idle, [])
    result = cli("gate", tmp_path / "idle", "--baseline", tmp_path / "new", "--update", "--accept")
    assert result.exit_code == 4 and not (tmp_path / "new").exists()


def test_a_waiver_excuses_what_it_tolerates_and_no_more(runs: Path) -> None:
    assert gated(runs, "away", "sound", {})["exit"] == 0
    assert gated(runs, "away", "sound", {"cause": None, "clause": "ONQ-R1", "version": ">=2,<3"})["exit"] == 0
    assert gated(runs, "away", "sound", {"tolerance": {"kind": "within k ulp of a boundary", "ulp": 1}})["exit"] == 0
    found = gated(runs, "away", "sound", {"tolerance": {"kind": "ties only"}})
    near = int((read_run(runs / "away").discrepancies["boundary_ulp"] != 0).sum())
    assert (found["exit"], found["counts"]["new"]) == (1, near) and near > 0
    assert (found["new"][0]["beyond"], found["waivers"][0]["status"]) == ([1], "used")
    found = gated(runs, "away", "sound", {"tolerance": {"kind": "nan only"}})
    assert found["waivers"][0]["why"] == "all that it names is beyond its tolerance" and found["exit"] == 1


def test_a_waiver_whose_discrepancy_is_gone_is_stale(runs: Path) -> None:
    found = gated(runs, "sound", "sound", {})
    assert (found["exit"], found["waivers"][0]["status"]) == (1, "stale")
    for change in ({"backend": "sound"}, {"version": ">=7"}, {"operator": "ngraph.Quantize"}):
        found = gated(runs, "sound", "sound", change)
        assert (found["exit"], found["waivers"][0]["status"]) == (0, "not run"), change


def test_a_waiver_of_cases_that_did_not_run_is_not_stale(runs: Path) -> None:
    whole = read_run(runs / "away")
    rest = replace(
        whole, results=whole.results[whole.results["verdict"] != "deviates"], discrepancies=whole.discrepancies[:0]
    )
    found = gate(rest, whole, read_waivers(waiver_file(runs, {}), ["dev"]), TODAY)
    assert (found["exit"], found["waivers"][0]["status"]) == (0, "not run")


def test_an_expired_waiver_no_longer_counts(runs: Path) -> None:
    last, day_after = {"expires": TODAY}, {"expires": date(2026, 5, 31)}
    assert gated(runs, "away", "sound", last)["exit"] == 0
    for baseline in ("sound", "away"):  # not even with a baseline that was made meanwhile
        found = gated(runs, "away", baseline, day_after)
        assert (found["exit"], found["waivers"][0]["status"], found["new"][0]["expired"]) == (1, "expired", [1])
    assert gated(runs, "sound", "sound", day_after)["exit"] == 0


ROW = {"boundary_ulp": 0.0, "round_mode": "ROUND_NEAREST_TOWARD_EVEN", "result_type": "uint8", "distance": 1}
ROW |= {"expected": 254.0, "got": 255.0, "expected_bits": 254, "operands": '[["x", "0x0", "1.0"]]'}
NAN = float("nan")


@pytest.mark.parametrize(
    ("kind", "ulp", "change", "wanted"),
    [
        ("any", 0, {}, True),
        ("ties only", 0, {}, True),
        ("ties only", 0, {"boundary_ulp": 1.0}, False),
        ("ties only", 0, {"round_mode": "ROUND_DOWN"}, False),
        ("ties only", 0, {"boundary_ulp": NAN}, False),
        ("within k ulp of a boundary", 2, {"boundary_ulp": 2.0}, True),
        ("within k ulp of a boundary", 2, {"boundary_ulp": 3.0}, False),
        ("within k ulp of a boundary", 2, {"boundary_ulp": NAN}, False),
        ("within k ulp", 1, {"result_type": "float32"}, True),
        ("within k ulp", 1, {"result_type": "float32", "distance": -2}, False),
        ("within k ulp", 1, {"result_type": "float32", "got": NAN}, False),
        ("within k ulp", 1, {}, False),
        ("off by one", 0, {"distance": -1}, True),
        ("off by one", 0, {"distance": 2}, False),
        ("off by one", 0, {"expected": NAN}, False),
        ("saturation only", 0, {}, False),
        ("saturation only", 0, {"expected": 255.0}, True),
        ("saturation only", 0, {"expected": 0.0}, True),
        ("saturation only", 0, {"result_type": "float8_e4m3fn", "expected": -448.0, "expected_bits": 0xFE}, True),
        ("saturation only", 0, {"result_type": "float8_e4m3fn", "expected": 1.0, "expected_bits": 0x38}, False),
        ("nan only", 0, {}, False),
        ("nan only", 0, {"got": NAN}, True),
        ("nan only", 0, {"operands": '[["x", "0x7fc0", "nan"]]'}, True),
    ],
)
def test_tolerances(kind: str, ulp: float, change: dict[str, Any], wanted: bool) -> None:
    assert TOLERANCES[kind](ROW | change, ulp) is wanted


def test_versions_as_backends_write_them() -> None:
    assert is_within("2026.4.1-22982-e213a147257-releases/2026/4", ">=2026.4,<2027")
    assert is_within("1.23.0rc1", ">=1.22,<1.24") and not is_within("1.23.0rc1", ">=1.23")
    assert not is_within("1.9", ">=1.10")
    assert not is_within("main", ">=0") and not is_within("", ">=0")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"operator": "onnx.Nothing"}, r"waiver 1: operator: unknown 'onnx.Nothing'; known: .*onnx.QuantizeLinear"),
        ({"clause": "ONQ-X9"}, "waiver 1: clause: onnx.QuantizeLinear has no 'ONQ-X9'; it has: ONQ-"),
        ({"backend": "nobody*"}, r"waiver 1: backend: 'nobody\*' matches none of dev"),
        ({"reason": None}, "waiver 1: no 'reason'"),
        ({"reason": "  "}, "waiver 1: reason: '  ' is blank"),
        ({"reason": 7}, "waiver 1: reason: 7 is not of type 'string'"),
        ({"cause": None}, "waiver 1: no 'cause' and no 'clause'"),
        ({"causes": "x"}, "waiver 1: unknown key 'causes'; allowed: backend"),
        ({"expires": "2027-01-31"}, "waiver 1: expires: '2027-01-31' is no date"),
        ({"link": "see the wiki"}, "waiver 1: link: 'see the wiki' is no http"),
        ({"version": "1.2 or so"}, "waiver 1: version: '1.2 or so' is no version specifier"),
        ({"tolerance": {"kind": "atol"}}, "waiver 1: tolerance.kind: 'atol' is none of 'any', 'ties only'"),
        ({"tolerance": {"kind": "within k ulp"}}, "waiver 1: tolerance.ulp: .* need it"),
        ({"tolerance": {"kind": "ties only", "ulp": 1}}, "waiver 1: tolerance.ulp: .* need it"),
        ({"tolerance": {"ulp": 1}}, "waiver 1: tolerance: no 'kind'"),
        ({"tolerance": {"kind": "within k ulp", "ulp": -1}}, "waiver 1: tolerance.ulp: -1 is less than the minimum"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_waiver_is_named_with_its_field(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_waivers(waiver_file(tmp_path, change), ["dev"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[waiver]", "not TOML"),
        ("waiver = 3", "'waiver' is to be"),
        ("[[waivers]]\na = 1", "unknown key 'waivers'"),
        ("waiver = [1]", "waiver 1: 1 is not of type 'object'"),
        ("\ud800", "not UTF-8"),
        ("#" * (1 << 20) + "#", "larger than 1 MiB"),
    ],
    ids=["syntax", "number", "key", "entry", "bytes", "size"],
)
def test_a_file_that_is_no_waiver_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "w.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InvalidInput, match=message):
        read_waivers(path, [])
    assert read_waivers(Path(os.devnull), []) == []


def test_the_command_says_what_is_new_first(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("before\n")
    waivers = waiver_file(tmp_path, {"tolerance": {"kind": "ties only"}}, {"backend": "de?", "cause": "unknown to all"})
    junit = tmp_path / "gate.xml"
    result = cli("gate", runs / "away", "--baseline", runs / "sound", "--waivers", waivers, "--junit", junit)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0].startswith("new dev 2.0, onnx.QuantizeLinear: wrong tie rule")
    assert any(line.strip().startswith("tiebreak repro D") and " -b " in line for line in lines)
    assert any(line.startswith("stale waiver 2 (de?") for line in lines)
    assert "exit code 1" in lines[-1]
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("before\n## Tiebreak gate") and "- **new** `dev`" in summary and "**stale**" in summary
    root = ElementTree.parse(junit).getroot()
    suite = root.find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "2", "0", "0"]
    assert len(root.findall("testsuite/testcase/failure")) == 2
    found = json.loads(cli("gate", runs / "away", "--baseline", runs / "sound", "--json").output)
    assert (found["exit"], found["counts"]["new"]) == (1, found["counts"]["deviating"])


def failures_in(junit: Path) -> int:
    return len(ElementTree.parse(junit).getroot().findall("testsuite/testcase/failure"))


@pytest.mark.parametrize("schema", ["ant-junit.xsd", "jenkins-junit-10.xsd"])
@pytest.mark.parametrize("name", ["away", "hostile", "aborts", "sound"])
def test_the_junit_file_is_as_ci_servers_want_it(runs: Path, tmp_path: Path, name: str, schema: str) -> None:
    xmlschema = pytest.importorskip("xmlschema")
    path = tmp_path / "gate.xml"
    cli("gate", runs / name, "--baseline", runs / "sound", "--waivers", waiver_file(tmp_path, {}), "--junit", path)
    xmlschema.XMLSchema(str(Path(__file__).parent / "schemas" / schema)).validate(str(path))


def test_a_hostile_backend_is_quoted_everywhere(runs: Path, tmp_path: Path) -> None:
    junit = tmp_path / "gate.xml"
    result = cli("gate", runs / "hostile", "--junit", junit)
    assert result.exit_code == 1 and "\x1b" not in result.output
    assert "<script>alert('name')</script>[red] ?[31m<img" in result.output
    assert "\x1b" not in junit.read_text() and "<script" not in junit.read_text()
    assert failures_in(junit) == 1
    found = {"run": "r", "baseline": None} | gated(runs, "hostile", None)
    assert "<script" not in re.sub(r"`[^`\n]*`", "", markdown(found))
    assert code("a`b\n# c") == "`a'b # c`"


def test_wrong_usage(runs: Path, tmp_path: Path) -> None:
    for words in (
        [tmp_path / "none"],
        [runs / "away", "--baseline", tmp_path / "none"],
        [runs / "away", "--waivers", tmp_path / "none.toml"],
        [runs / "away", "--update"],
        [runs / "away", "--baseline", runs / "sound", "--accept"],
        [runs / "away", "--baseline", runs / "away", "--update"],
    ):
        result = cli("gate", *words)
        assert result.exit_code == 2 and len(result.output.splitlines()) == 1, result.output


def test_damaged_operands_are_no_traceback(runs: Path) -> None:
    whole = read_run(runs / "away")
    waivers = read_waivers(waiver_file(runs, {"tolerance": {"kind": "nan only"}}), ["dev"])
    with pytest.raises(DamagedFile, match="discrepancies"):
        gate(replace(whole, discrepancies=whole.discrepancies.assign(operands="{")), None, waivers, TODAY)


def test_update_replaces_the_baseline_only_if_nothing_new_failed(runs: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "kept" / "baseline"
    made = cli("gate", runs / "sound", "--baseline", baseline, "--update", "--accept")
    assert made.exit_code == 0 and read_run(baseline).info["backends"][0]["version"] == "1.0"
    (baseline / "NOTES.md").write_text("mine")
    for name, expected in (("away", 1), ("aborts", 3)):
        refused = cli("gate", runs / name, "--baseline", baseline, "--update")
        assert refused.exit_code == expected and "stays as it was" in refused.output
        assert read_run(baseline).info["backends"][0]["version"] == "1.0"
    assert cli("gate", runs / "away", "--baseline", baseline, "--update", "--accept").exit_code == 0
    assert cli("gate", runs / "away", "--baseline", baseline).exit_code == 0
    assert cli("gate", runs / "sound", "--baseline", baseline, "--update").exit_code == 0
    assert read_run(baseline).info["backends"][0]["version"] == "1.0"
    assert (baseline / "NOTES.md").read_text() == "mine"
    assert [path.name for path in baseline.parent.iterdir()] == ["baseline"], "nothing half-made is left"


def full_disk(*paths: Path, **how: Any) -> None:
    raise OSError(28, "No space left on device")


def test_update_leaves_other_folders_and_the_old_baseline_alone(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").write_text("x")
    with pytest.raises(InvalidInput, match="no run here"):
        update_baseline(runs / "sound", tmp_path / "photos")
    shutil.copytree(runs / "away", tmp_path / "baseline")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", full_disk)
        with pytest.raises(InvalidInput, match="No space left"):
            update_baseline(runs / "sound", tmp_path / "baseline")
    assert read_run(tmp_path / "baseline").info["backends"][0]["version"] == "2.0"
    shutil.copytree(runs / "away", tmp_path / "linked")
    (tmp_path / "linked" / "report.html").unlink(missing_ok=True)
    (tmp_path / "linked" / "report.html").symlink_to("/etc/hostname")
    with pytest.raises(InvalidInput, match="a link"):
        update_baseline(tmp_path / "linked", tmp_path / "baseline")


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
    assert failures_in(tmp_path / "work" / "tiebreak-run" / "gate.xml") == 1
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
