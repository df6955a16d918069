"""What a suite's own tests stop: measured on the tests as they are, with the results that they expect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.judging.judge import codes_of_outputs, judge, output_problem
from tiebreak.conformance.judging.truths import Truths
from tiebreak.conformance.power.arithmetics import WrongArithmetic, answered
from tiebreak.conformance.power.stops import Stopping, stopping
from tiebreak.conformance.power.suites import Near
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import DEVIATES


@dataclass(frozen=True)
class OwnTest:
    """A test of a suite: its name there, the case, and the results that it expects, of which not all need be right.

    `expected` is empty where the test states none, as where the suite's own program computes them.
    """

    name: str
    case: Case
    expected: tuple[Array, ...]


@dataclass(frozen=True)
class Power:
    """What a suite's tests stop, compared exactly and as its runner does, and which tests expect a wrong result."""

    tests: int
    elements: int
    known: frozenset[WrongArithmetic]
    exactly: frozenset[WrongArithmetic]
    seen: frozenset[WrongArithmetic]
    wrong: tuple[str, ...]

    @property
    def passing(self) -> frozenset[WrongArithmetic]:
        """Wrong arithmetics that pass the suite as it is run."""
        return self.known - self.seen

    @property
    def passing_exactly(self) -> frozenset[WrongArithmetic]:
        """Those that would pass if it compared exactly."""
        return self.known - self.exactly


def power_of(tests: Sequence[OwnTest], near: Near | None) -> Power:
    """What these tests stop. A test whose expected results are wrong stops what the right results would stop."""
    found = list(answered([test.case for test in tests]))
    stops = [stopping(one, near) for one in found]
    wrong = [test.name for test, one in zip(tests, found, strict=True) if test.expected and is_wrong(test, one.truths)]
    return Power(
        tests=len(tests),
        elements=sum(test.case.size for test in tests),
        known=united(stops, "applies"),
        exactly=united(stops, "exactly"),
        seen=united(stops, "seen"),
        wrong=tuple(wrong),
    )


def is_wrong(test: OwnTest, truths: Truths) -> bool:
    """Whether the results that a test expects deviate, or are of another shape or type."""
    if output_problem(test.case, test.expected):
        return True
    codes = codes_of_outputs(truths.problems, test.expected, truths.judged_by)
    return bool(np.any(judge(codes, truths.judged_by, truths).grades == DEVIATES))


def united(stops: Sequence[Stopping], what: str) -> frozenset[WrongArithmetic]:
    return frozenset[WrongArithmetic]().union(*iterated(stops, what))


def iterated(stops: Sequence[Stopping], what: str) -> Iterator[frozenset[WrongArithmetic]]:
    return (getattr(one, what) for one in stops)
