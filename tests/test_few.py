"""Of a test marked `few`, some sets of parameters are in the default run, and the others are slow: none gets lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.few(3)
@pytest.mark.parametrize("n", range(10))
def test_spread(n): pass

@pytest.mark.few(1, of="kind")
@pytest.mark.parametrize("kind, n", [("a", 0), ("b", 0), ("b", 1)])
def test_of_each(kind, n): pass

@pytest.mark.few(2)
@pytest.mark.parametrize("n", range(1))
def test_fewer(n): pass

def test_unmarked(): pass
"""
CONFTEST = """
import few
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in few.left_to_slow(items):
        item.add_marker("slow")
"""
DEFAULT = {"spread[0]", "spread[3]", "spread[6]", "of_each[a-0]", "of_each[b-0]", "fewer[0]", "unmarked"}


def chosen(folder: Path, *words: str) -> set[str]:
    """The names of the tests that pytest collects."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return {line.partition("::test_")[2] for line in done.stdout.splitlines() if "::" in line}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(Path(__file__).with_name("few.py"), tmp_path)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n    few\n")
    return tmp_path


def test_the_default_run_and_the_slow_one_are_all_tests(folder: Path) -> None:
    default, slow = chosen(folder, "-m", "not slow"), chosen(folder, "-m", "slow")
    assert default == DEFAULT
    assert not default & slow
    assert default | slow == chosen(folder) and len(default | slow) == 15


def test_one_that_is_named_runs(folder: Path) -> None:
    assert chosen(folder, "-m", "not slow", "test_some.py::test_spread[7]") == {"spread[7]"}
