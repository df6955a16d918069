"""What a gate fails for, as SARIF and as GitHub's annotations: of real runs and hostile ones, at the user's lines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from click.testing import CliRunner, Result
from recorded_versions import recorded
from waiver_files import waiver_file

from tiebreak.cli import main
from tiebreak.reports.annotations import annotation_lines, command_text
from tiebreak.reports.sarif import message_text, sarif_document

SCHEMA = Path(__file__).parent / "schemas" / "sarif-2.1.0-rtm.5.json"
STALE = {"cause": "unknown to all"}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose backend was recorded in several versions: versions.py, and runs beside it."""
    folder = recorded(tmp_path_factory.mktemp("a repository"))
    (folder / ".git").mkdir()
    return folder


@pytest.fixture(autouse=True)
def no_github(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def cli(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def log_of(folder: Path, name: str, *words: object) -> dict[str, Any]:
    """The one run of the SARIF file that the gate writes, which the published schema takes."""
    file = folder / "gate.sarif"
    result = cli("gate", name, *words, "--sarif", file)
    log = json.loads(file.read_text(encoding="utf-8"))
    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(log)
    (run,) = log["runs"]
    assert run["invocations"][0]["exitCode"] == result.exit_code
    for one in run["results"]:
        assert run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
    return dict(run)


def places(run: dict[str, Any]) -> list[tuple[str, int]]:
    found = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    return [(unquote(one["artifactLocation"]["uri"]), one["region"]["startLine"]) for one in found]


def line_with(file: Path, start: str) -> int:
    (number,) = [n for n, line in enumerate(file.read_text().splitlines(), start=1) if line.startswith(start)]
    return number


@pytest.mark.slow
def test_a_new_cause_is_a_result_at_the_backends_line(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    run = log_of(tmp_path, "away", "--baseline", "sound")
    (result,), (rule,) = run["results"], run["tool"]["driver"]["rules"]
    assert places(run) == [("versions.py", line_with(repository / "versions.py", "away = "))]
    assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "dev/onnx.QuantizeLinear"
    assert rule["id"].startswith("onnx.QuantizeLinear/ties:")
    assert "wrong tie rule" in rule["shortDescription"]["text"]
    assert re.search(r"Clause ONQ-\w+: .{20}", rule["help"]["text"])
    assert "tiebreak repro C001" in result["message"]["text"] and "expected" in result["message"]["text"]


def test_a_failure_and_a_stale_waiver_are_results(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    waivers = waiver_file(repository, {}, STALE)
    run = log_of(tmp_path, "away", "--baseline", "sound", "--waivers", waivers)
    assert [one["ruleId"] for one in run["results"]] == ["stale-waiver"]
    assert places(run) == [("waivers.toml", waivers.read_text().splitlines().index("[[waiver]]", 1) + 1)]
    assert "logicalLocations" not in run["results"][0]["locations"][0]
    run = log_of(tmp_path, "aborts", "--baseline", "sound")
    assert [one["ruleId"] for one in run["results"]] == ["crash"]
    assert places(run) == [("versions.py", line_with(repository / "versions.py", "aborts = "))]
    assert log_of(tmp_path, "sound", "--baseline", "sound")["results"] == []


def test_elsewhere_a_result_has_its_operator_alone(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    (tmp_path / "other" / ".git").mkdir()
    (result,) = log_of(tmp_path, str(repository / "away"))["results"]
    assert set(result["locations"][0]) == {"logicalLocations"}


def test_the_same_finding_has_the_same_fingerprint_in_every_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    waivers = [waiver_file(repository, STALE).rename("first.toml"), waiver_file(repository, {}, STALE)]
    runs = [
        log_of(tmp_path, "away", *words)
        for words in ((), ("--baseline", "sound"), *(("--waivers", path) for path in waivers))
    ]
    runs += [log_of(tmp_path, "both"), log_of(tmp_path, "aborts")]
    found = [[one["partialFingerprints"]["tiebreakAlert/v1"] for one in run["results"]] for run in runs]
    (cause, _), (stale,) = found[2], found[3]
    assert found[:5] == [[cause], [cause], [cause, stale], [stale], [cause]]
    assert len({cause, stale, *found[5]}) == 3


def test_a_hostile_backend_says_nothing_but_its_text(repository: Path, tmp_path: Path) -> None:
    run = log_of(tmp_path, str(repository / "hostile"))
    assert run["results"] and "\x1b" not in json.dumps(run, ensure_ascii=False)


def test_no_text_is_a_link_or_a_place_for_an_argument() -> None:
    assert message_text("[x](http://example.org) {0}") == "[x] (http://example.org) {{0}}"


def test_as_many_results_as_github_shows() -> None:
    found = findings(5001)
    assert len(sarif_document(found)["runs"][0]["results"]) == 5000


def findings(count: int, **changes: Any) -> dict[str, Any]:
    """A gate's findings with so many failures, each of another operator."""
    row = {"backend": "b", "verdict": "crash", "fault": "", "cases": 1, "first": "c", "message": "m", "spec": ""}
    failures = [row | {"operator": f"x.Op{number}"} | changes for number in range(count)]
    found = {"run": "r", "failures": failures, "exit": 3 if count else 0, "any_change": False, "must_run": False}
    found |= {"strict": False}
    return found | {name: [] for name in ("new", "hazards", "other_orders", "waivers", "changed", "not_run")}


def test_annotations_are_errors_at_the_same_lines(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    waivers = waiver_file(repository, STALE)
    words = ("gate", "away", "--baseline", "sound", "--waivers", waivers)
    assert "::error" not in cli(*words).output
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    commands = [line for line in cli(*words).output.splitlines() if line.startswith("::")]
    line = line_with(repository / "versions.py", "away = ")
    assert [command.partition(",title=")[0] for command in commands] == [
        f"::error file=versions.py,line={line}",
        "::error file=waivers.toml,line=1",
    ]
    assert "title=Tiebreak%3A dev%2C onnx.QuantizeLinear%3A wrong tie rule" in commands[0]
    assert "%0Atiebreak repro C001 --run away" in commands[0].split("::", 2)[2]
    assert "::error" not in cli("gate", "sound", "--baseline", "sound").output
    json.loads(cli(*words, "--json").output)


def test_what_was_accepted_is_no_error(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    accepted = cli("gate", repository / "away", "--baseline", tmp_path / "base", "--update", "--accept")
    assert accepted.exit_code == 0 and "::error" not in accepted.output


def test_a_step_has_ten_annotations_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    lines = annotation_lines(findings(11))
    assert len(lines) == 10 and lines[0].startswith("::error title=Tiebreak%3A b%2C x.Op0%3A crash::b, x.Op0: crash")


def test_no_text_ends_a_workflow_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    hostile = "a\r\n::add-mask::b,line=9::c%0A\u2028::error::d"
    (line,) = annotation_lines(findings(1, backend=hostile, message=hostile))
    title, _, text = line.removeprefix("::error title=").partition("::")
    assert not re.search(r"[\r\n,:\u2028]", title) and not re.search(r"[\r\n\u2028]|%(?!25|0A|0D)", text)
    assert "%250A" in title and "%250A" in text
    assert command_text({"%": "%25", "\n": "%0A"}, "%\n%0A") == "%25%0A%250A"
