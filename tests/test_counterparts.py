"""Backends of two runs are matched by library and configuration, whatever releases and names they have."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from recorded_versions import recorded
from waiver_files import waiver_file

from tiebreak.cli import main
from tiebreak.conformance.gate.compare import compare, new_findings
from tiebreak.conformance.gate.counterparts import counterparts
from tiebreak.conformance.gate.gate import gate
from tiebreak.conformance.gate.waivers import read_waivers
from tiebreak.reports.records import DISCREPANCY_DTYPES, RESULT_DTYPES, Run, read_run, typed_frame, write_run
from tiebreak.reports.text_columns import mapped_text

TODAY = date(2026, 6, 1)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("runs"))


def of_library(run: Run, name: str) -> Run:
    """The run of one backend as if it was of the library lib, in an environment if the name has a release."""
    info = run.info | {
        "backends": [{**one, "name": name, "spec": name, "library": "lib"} for one in run.info["backends"]]
    }
    info["clusters"] = [{**one, "backend": name} for one in run.info["clusters"]]
    info["failures"] = [{**one, "backend": name} for one in run.info["failures"]]
    results, found = (
        rows.assign(backend=mapped_text(rows["backend"], lambda _: name)) for rows in (run.results, run.discrepancies)
    )
    return replace(run, info=info, results=results, discrepancies=found)


def of_backends(*facts: tuple[str, str] | dict[str, str]) -> Run:
    """A run without cases. A pair is a backend's name, which is its spec, and its version."""
    rows = [
        one if isinstance(one, dict) else {"name": one[0], "spec": one[0], "version": one[1], "library": "lib"}
        for one in facts
    ]
    return Run({"backends": rows}, typed_frame([], RESULT_DTYPES), typed_frame([], DISCREPANCY_DTYPES))


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ([("lib@1.0", "1.0")], [("lib", "2.0")], {"lib@1.0": "lib"}),
        ([("lib", "1.0")], [("lib@2.0", "2.0")], {"lib": "lib@2.0"}),
        ([("lib@1.0", "1.0")], [("lib-qdq", "2.0")], {}),
        (
            [("lib@1.0", "1.0"), ("lib-qdq@1.0", "1.0")],
            [("lib-qdq", "2.0"), ("lib", "2.0")],
            {"lib@1.0": "lib", "lib-qdq@1.0": "lib-qdq"},
        ),
        ([("lib@1.0", "1.0"), ("lib@2.0", "2.0")], [("lib@2.0", "2.0")], {"lib@2.0": "lib@2.0"}),
        ([("lib@1.0", "1.0")], [("lib@2.0", "2.0"), ("lib@3.0", "3.0")], {}),
        ([("lib@1.0", "1.0")], [("lib", "3.0"), ("lib@2.0", "2.0")], {}),
        ([("lib@2.0", "2.0")], [("lib", "2.0"), ("lib@3.0", "3.0")], {"lib@2.0": "lib"}),
        ([("lib", "1.0"), ("lib@2.0", "2.0")], [("lib", "2.0")], {"lib": "lib"}),
    ],
)  # fmt: skip
def test_configurations_are_matched_where_only_one_is_meant(
    before: list[tuple[str, str]], after: list[tuple[str, str]], wanted: dict[str, str]
) -> None:
    assert counterparts(of_backends(*before), of_backends(*after)) == wanted


def test_a_library_with_one_configuration_and_a_user_s_own_code() -> None:
    alone = {"version": "1", "library": ""}
    one = of_backends({"name": "one@1", "spec": "one@1", **alone}, {"name": "a@1", "spec": "x.py:A", **alone})
    other = of_backends({"name": "one", "spec": "one", **alone}, {"name": "a@2", "spec": "x.py:A", **alone})
    assert counterparts(one, other) == {"one@1": "one"}, "the name of one's own code is no release"


def test_a_release_of_an_environment_is_judged_by_the_baseline_of_another(runs: Path) -> None:
    sound, away = (
        of_library(read_run(runs / name), called) for name, called in (("sound", "lib"), ("away", "lib@2.0"))
    )
    found = compare(sound, away)
    assert [row["status"] for row in found["causes"]] == ["new"] and found["exit"] == 1
    assert (found["counterparts"], found["causes"][0]["backend"]) == ({"lib": "lib@2.0"}, "lib@2.0")
    assert found["causes"][0]["versions"] == ["1.0", "2.0"] and found["backends"][0]["versions"] == ["1.0", "2.0"]
    known = gate(of_library(read_run(runs / "away"), "lib"), away, [], TODAY)
    assert (known["exit"], known["counts"]["new"], known["not_run"]) == (0, 0, [])
    assert known["counts"]["known"] > 100 and known["counterparts"] == {"lib@2.0": "lib"}
    assert new_findings(away, of_library(read_run(runs / "away"), "lib")) == frozenset()
    crashed = of_library(read_run(runs / "aborts"), "lib")
    assert gate(crashed, of_library(read_run(runs / "aborts"), "lib@3.0"), [], TODAY)["failures"] == []
    assert new_findings(of_library(read_run(runs / "aborts"), "lib@3.0"), crashed) == frozenset()


def test_a_waiver_of_a_library_is_for_its_releases_too(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    entries = {"backend": "lib", "version": ">=2"}, {"backend": "lib", "version": ">=3"}
    away = of_library(read_run(runs / "away"), "lib@2.0")
    codes = [gate(away, None, read_waivers(waiver_file(tmp_path, one), ["lib"]), TODAY)["exit"] for one in entries]
    assert codes == [0, 1]


def test_both_commands_say_what_was_matched(runs: Path, tmp_path: Path) -> None:
    names = {"old": "lib@2.0", "new": "lib"}
    for folder, name in names.items():
        (tmp_path / folder).mkdir()
        write_run(tmp_path / folder, of_library(read_run(runs / "away"), name), [])
    page = tmp_path / "page.html"
    words: list[list[Any]] = [
        ["compare", tmp_path / "old", tmp_path / "new", "--html", page],
        ["gate", tmp_path / "new", "--baseline", tmp_path / "old", "--junit", tmp_path / "gate.xml"],
    ]
    said = "lib@2.0 before, lib now: one configuration of a library"
    for one in words:
        told = CliRunner().invoke(main, [str(word) for word in one])
        assert told.exit_code == 0 and said in told.output
    assert said in page.read_text() and said in (tmp_path / "gate.xml").read_text()
    assert json.loads((tmp_path / "old" / "run.json").read_text())["backends"][0]["name"] == "lib@2.0"
