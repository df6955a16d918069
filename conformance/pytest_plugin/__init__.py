"""The pytest plugin: options of the conformance suite, checked before anything is collected.

    pytest --pyargs tiebreak.conformance.suite --tiebreak-backend mine:Backend

pytest loads this module in every environment that has Tiebreak installed. So it imports nothing of Tiebreak until
the suite is asked for.
"""

from __future__ import annotations

import pytest

SUITE = "tiebreak.conformance.suite"
LEVELS = ("vectors", "quick", "full", "deep")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tiebreak", f"conformance of quantization operators (pytest --pyargs {SUITE})")
    group.addoption(
        "--tiebreak-backend",
        action="append",
        default=[],
        metavar="BACKEND",
        help="a backend's name, module:attribute, path/to/file.py:attribute or exec:COMMAND; repeat for more",
    )
    group.addoption(
        "--tiebreak-operator", action="append", default=[], metavar="ID", help="only this operator; repeat for more"
    )
    group.addoption(
        "--tiebreak-level",
        choices=LEVELS,
        default="quick",
        help="how many generated cases are added to the golden vectors, vectors meaning none (default: quick)",
    )
    group.addoption("--tiebreak-waivers", metavar="FILE", help="known discrepancies (TOML): they fail as expected")
    group.addoption(
        "--tiebreak-timeout", type=float, default=10.0, metavar="SECONDS", help="limit for one case (default: 10)"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Raises UsageError, in one line, for options that are wrong or missing."""
    if config.getoption("tiebreak_backend"):
        check_options(config)
    elif any(str(argument).startswith(SUITE) for argument in config.args):
        raise pytest.UsageError(f"{SUITE}: name what to test with --tiebreak-backend BACKEND")


def check_options(config: pytest.Config) -> None:
    from tiebreak.conformance.pytest_plugin.checks import options_of
    from tiebreak.golden.errors import TiebreakError

    try:
        options_of(config)
    except TiebreakError as error:
        raise pytest.UsageError(f"tiebreak: {error}") from None
