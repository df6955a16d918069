"""The suite as pytest tests: one for each operator, rounding mode, pair of types and clause."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from tiebreak.conformance.gate.waivers import Waiver
from tiebreak.conformance.pytest_plugin.checks import Checks, SuiteTest, options_of, short_name, suite_tests
from tiebreak.conformance.pytest_plugin.findings import SuiteOutcome
from tiebreak.golden.errors import InvalidInput, TiebreakError


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    asked = options_of(metafunc.config)
    if not asked.backends:  # the suite's folder was named by its path
        raise pytest.Collector.CollectError("name what to test with --tiebreak-backend BACKEND")
    tests: list[SuiteTest | Waiver] = [*suite_tests(asked.operators, asked.level), *asked.waivers]
    several = len(asked.backends) > 1
    made = [
        pytest.param(spec, test, id=f"{short_name(spec)}-{id_of_test(test)}" if several else id_of_test(test))
        for spec in asked.backends
        for test in tests
    ]
    metafunc.parametrize(("spec", "test"), made)


def id_of_test(test: SuiteTest | Waiver) -> str:
    return test.name if isinstance(test, SuiteTest) else f"waiver-{test.number}-{test.operator}"


@pytest.fixture(scope="session")
def checks(request: pytest.FixtureRequest) -> Iterator[Checks]:
    cache = getattr(request.config, "cache", None)  # absent with -p no:cacheprovider
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")  # each writes into a folder of its own
    folder = Path(os.path.relpath(cache.mkdir("tiebreak") / worker)) if cache else None
    made = Checks(options_of(request.config), folder)
    yield made
    made.close()


@pytest.fixture
def running_checks(checks: Checks, spec: str, request: pytest.FixtureRequest) -> Checks:
    """The checks, with the backend started. If it can't be started, the session ends."""
    problem = start_problem(checks, spec)
    if problem is not None:
        end_session(request, problem)
    return checks


def start_problem(checks: Checks, spec: str) -> TiebreakError | None:
    try:
        checks.backend(spec)
    except TiebreakError as error:
        return error
    return None


def end_session(request: pytest.FixtureRequest, error: TiebreakError) -> NoReturn:
    if hasattr(request.config, "workerinput"):  # a worker of pytest-xdist must not exit by itself
        request.session.shouldstop = f"tiebreak: {error}"
        pytest.fail(f"tiebreak: {error}", pytrace=False)
    usage = isinstance(error, InvalidInput)
    code = pytest.ExitCode.USAGE_ERROR if usage else pytest.ExitCode.INTERNAL_ERROR
    pytest.exit(f"tiebreak: {error}", returncode=code)


def test_conforms(running_checks: Checks, spec: str, test: SuiteTest | Waiver, request: pytest.FixtureRequest) -> None:
    """A kind of node conforms to a clause; or a waiver still excuses something, and fails otherwise."""
    found = found_by(running_checks, spec, test)
    if found.note:
        request.node.user_properties.append(("unsupported", found.note))
    if found.outcome == "skip":
        pytest.skip(found.text)
    if found.outcome == "waived":
        pytest.xfail(found.text)
    if found.outcome == "fail":
        pytest.fail(found.text, pytrace=False)
    if found.note:
        request.node.add_report_section("call", "tiebreak", found.note)


def found_by(checks: Checks, spec: str, test: SuiteTest | Waiver) -> SuiteOutcome:
    try:
        return (
            checks.outcome_of_test(spec, test) if isinstance(test, SuiteTest) else checks.outcome_of_waiver(spec, test)
        )
    except TiebreakError as error:  # the machinery's, such as a folder that can't be written
        return SuiteOutcome("fail", f"tiebreak: {error}")
