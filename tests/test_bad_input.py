"""Whatever is typed wrongly, or lies there damaged, gives one line and an exit code, and changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from bad_inputs import Row, prepared, rows
from click.testing import CliRunner

from tiebreak.cli import main
from tiebreak.cli.kinds import AnyPath, Opset, Words

ROWS = list(rows())
LONGEST = 2200  # characters of what is said


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory.mktemp("place"))


def everything(place: Path) -> dict[str, tuple[int, int, int]]:
    """Every file and folder with what tells of a change."""
    found = {}
    for path in place.rglob("*"):
        if "__pycache__" not in path.parts:
            state = path.lstat()
            found[str(path)] = (state.st_ino, state.st_size, state.st_mtime_ns if path.is_file() else 0)
    return found


def label(row: Row) -> str:
    return " ".join(word if len(word) < 40 else f"{word[:20]}…" for word in row[0]).encode("ascii", "replace").decode()


@pytest.mark.few(6)
@pytest.mark.parametrize("row", ROWS, ids=label)
def test_bad_input_is_one_line_and_nothing_is_touched(place: Path, row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    words, code, message = row
    monkeypatch.chdir(place)
    before = everything(place)
    result = CliRunner().invoke(main, [word.replace("{place}", str(place)) for word in words])
    assert result.exit_code == code, (result.output, result.exception)
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("tiebreak: "), lines
    assert message in lines[0]
    assert len(lines[0]) < LONGEST and lines[0].isprintable()
    assert not any(told in result.output for told in ("Traceback", "internal error", "<frozen"))
    assert everything(place) == before


def test_the_table_is_over_all_commands() -> None:
    assert len(ROWS) >= 200
    named = {" ".join(row[0][:2]) for row in ROWS} | {row[0][0] for row in ROWS}
    assert {name for name, _ in commands(main)} <= named


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")


def test_every_parameter_that_takes_text_refuses_what_no_command_can_use() -> None:
    ours = (AnyPath, Opset, Words, click.Choice, click.IntRange, click.FloatRange, click.types.BoolParamType)
    for name, command in commands(main):
        for parameter in command.params:
            assert isinstance(parameter.type, ours), f"{name} {parameter.name}: {parameter.type}"


def test_a_step_summary_is_not_appended_to_a_record(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "runs/away/run.json")
    before = everything(place)
    result = CliRunner().invoke(main, ["gate", "runs/away"])
    assert result.exit_code == 1 and "a record of the run" in result.stderr
    assert everything(place) == before


def test_two_outputs_are_two_files(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    before = everything(place)
    for words in (
        ["report", "runs/away", "--markdown", "new", "--junit", os.path.join(".", "new")],
        ["gate", "runs/away", "--waivers", "deep.toml", "--junit", "deep.toml"],
    ):
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 2 and "the same file" in result.stderr, result.output
    assert everything(place) == before
