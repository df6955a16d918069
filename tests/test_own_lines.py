"""Lines of the user's own files: a backend's definition, a waiver's entry; found without importing anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tiebreak.reports.own_lines import (
    LARGEST,
    OwnLine,
    line_of_attribute,
    line_of_backend,
    line_of_entry,
    line_of_waiver,
)

MODULE = b'''"""Raises if it is imported."""
raise SystemExit
from elsewhere import Theirs, Other as Renamed
import package as whole


class Plain:
    name = "plain"

    def compile(self, node):
        def run(x):
            return x

        return run


class Inherits(Plain):
    pass


class Compiles:
    def compile(self, node):
        return node.call


def factory():
    return Plain()


instance = Plain()
alias = Compiles
made = factory()
annotated: object = Plain()
one, two = 1, 2
try:
    import fast
except ImportError:
    fallback = Compiles()
if True:
    class Plain2:
        async def run(self):
            pass
twice = 1
twice = Inherits
'''


@pytest.mark.parametrize(
    ("attribute", "line"),
    [
        ("Plain", 11),
        ("Inherits", 17),
        ("Compiles", 22),
        ("factory", 26),
        ("instance", 11),
        ("alias", 22),
        ("made", 32),
        ("annotated", 11),
        ("two", 34),
        ("fallback", 22),
        ("Plain2", 41),
        ("twice", 17),
        ("Theirs", 3),
        ("Renamed", 3),
        ("whole", 4),
        ("absent", 1),
        ("", 1),
    ],
)
def test_the_line_decides_what_the_backend_answers(attribute: str, line: int) -> None:
    assert line_of_attribute(MODULE, attribute) == line


@pytest.mark.filterwarnings("error")
def test_source_that_is_no_python_has_its_first_line() -> None:
    for source in (b"", b"def (", b"\xff\xfe", b"\0", b"(" * 100_000, b"-" * 100_000 + b"1", b"x = '\\d'"):
        assert line_of_attribute(source, "x") == 1


def test_only_plain_files_of_the_repository_have_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    (root / "a b" / "c").mkdir(parents=True)
    (root / "a b" / "c" / "mine.py").write_bytes(MODULE)
    (tmp_path / "outside.py").write_bytes(MODULE)
    (root / "out.py").symlink_to(tmp_path / "outside.py")
    (root / "in.py").symlink_to(root / "a b" / "c" / "mine.py")
    (root / "loop.py").symlink_to(root / "loop.py")
    os.mkfifo(root / "fifo.py")
    (root / "\udcff.py").write_bytes(MODULE)
    (root / "huge.py").write_bytes(MODULE + b"#" * LARGEST)
    (root / "mine.txt").write_bytes(MODULE)
    monkeypatch.chdir(root / "a b")
    found = OwnLine("a b/c/mine.py", 11)
    for spec in ("c/mine.py", "./c/../c/mine.py", "../in.py", str(root / "a b" / "c" / "mine.py")):
        assert line_of_backend(f"{spec}:Plain") == found
    for place in ("../../outside.py", "../out.py", "../loop.py", "../fifo.py", "../\udcff.py", "none.py", "c", "\0.py"):
        assert line_of_backend(f"{place}:Plain") is None
    for spec in ("", "onnxruntime", "exec:./mine.py --x", "package.module:Plain", "c/mine.py", "../mine.txt:Plain"):
        assert line_of_backend(spec) is None
    assert line_of_backend("../huge.py:Plain") == OwnLine("huge.py", 1)


def test_outside_of_git_the_current_folder_is_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_bytes(MODULE)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    if not any((folder / ".git").exists() for folder in tmp_path.parents):
        assert line_of_backend("mine.py:Plain") == OwnLine("mine.py", 11)
        monkeypatch.chdir(tmp_path / "below")
        assert line_of_backend("../mine.py:Plain") is None


WAIVERS = b"""# [[waiver]] in a comment is none
[[waiver]]
reason = "a"

  [[ waiver ]]  # the second
reason = "b"
"""


def test_a_waivers_line_is_where_its_entry_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [line_of_entry(WAIVERS, number) for number in (1, 2, 3, 0)] == [2, 5, 1, 1]
    inside = b'[[waiver]]\nreason = """\n[[waiver]]\n"""\n[[waiver]]\n'
    for unclear in (inside, b"waiver = [{}, {}]", b"waiver = 1\n", b"[[waiver]", b"\xff", b""):
        assert line_of_entry(unclear, 2) == 1
    (tmp_path / ".git").mkdir()
    (tmp_path / "waivers.toml").write_bytes(WAIVERS)
    monkeypatch.chdir(tmp_path)
    assert line_of_waiver(Path("waivers.toml"), 2) == OwnLine("waivers.toml", 5)
    assert line_of_waiver(Path("../none.toml"), 2) is None
