"""Shared by the tests of the tester."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

with suppress(ImportError):
    import setuptools  # noqa: F401 - before another library imports distutils: torch.compile wants setuptools' own

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parent.parent))  # for benchmarks

from browser import chromium, watched  # noqa: F401 - fixtures
from few import left_to_slow

os.environ.pop("GITHUB_ACTIONS", None)  # there a gate says more, which the tests of that ask for

# How long an example takes says nothing about right and wrong, least of all on a busy machine.
settings.register_profile("tiebreak", deadline=None)
settings.load_profile("tiebreak")


@pytest.hookimpl(tryfirst=True)  # before slow tests are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in left_to_slow(items):
        item.add_marker("slow")


def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: many tests wait, for time limits and for processes to start."""
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
