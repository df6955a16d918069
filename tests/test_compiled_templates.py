"""Compiled templates are kept in the user's cache folder, never trusted when damaged, and never needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from tiebreak.reports.compiled_templates import CompiledTemplates
from tiebreak.reports.page import environment_of

TEMPLATE = "<p>{{ text }}</p>"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tiebreak" / "templates"


def page(text: str, *, autoescape: bool = True, template: str = TEMPLATE) -> str:
    environment = Environment(
        loader=DictLoader({"page": template}), autoescape=autoescape, bytecode_cache=CompiledTemplates()
    )
    return environment.get_template("page").render(text=text)


def test_a_template_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert page("one") == "<p>one</p>"
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(Environment, "compile", lambda *_, **__: pytest.fail("compiled again"))
    assert page("<two>") == "<p>&lt;two&gt;</p>"


def test_another_template_and_other_settings_are_compiled(folder: Path) -> None:
    assert page("<") == "<p>&lt;</p>"
    assert page("<", autoescape=False) == "<p><</p>"
    assert page("<", template="<b>{{ text }}</b>") == "<b>&lt;</b>"
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("data", [b"", b"short", bytes(200)])
def test_what_is_damaged_is_compiled_again(folder: Path, data: bytes) -> None:
    page("one")
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    for damaged in (data, whole[:-1], whole[:40] + b"?" + whole[41:]):
        path.write_bytes(damaged)
        assert page("one") == "<p>one</p>"
        assert path.read_bytes() == whole


def test_a_folder_that_cannot_be_made_costs_time_only(folder: Path) -> None:
    folder.parent.write_text("a file")
    assert page("one") == "<p>one</p>"
    assert folder.parent.read_text() == "a file"


def test_the_report_keeps_its_templates(folder: Path) -> None:
    environment_of().get_template("report.html.j2")
    assert list(folder.iterdir())
