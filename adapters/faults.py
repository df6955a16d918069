"""Counts a backend's faults, so that a run can give up on a backend that only costs time.

It counts outcomes and never reads a clock, so that a resumed run gives up at the same case as an unbroken one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tiebreak.adapters.outcome import GARBAGE, GIVEN_UP, NO_START, Outcome

CRASHES_AT_FIRST = 4  # for a backend that never gave outputs
CRASHES_IN_A_ROW = 20
OF_ONE_NODE = 5  # of a row that count for each node: one bad node alone gives up no backend
MOST_CRASHES = 400
HANG_SECONDS = 120.0  # spent waiting for all hanging cases together
FEWEST_HANGS = 3
MOST_FAILED_STARTS = 3


@dataclass
class Faults:
    """The faults of one backend so far."""

    crashes: int = 0
    hangs: int = 0
    crashes_in_a_row: int = 0
    failed_starts: int = 0
    answered: bool = False  # it gave outputs at least once
    crashes_at_first: int = 0  # before it did
    row: Counter[str] = field(default_factory=Counter)  # crashes in the present row, by node

    def note(self, outcome: Outcome, node: str = "") -> None:
        """Count the outcome of a case of the node."""
        if outcome.refused or outcome.fault == GIVEN_UP:  # the case never ran: no new fault
            return
        crashed = outcome.status == "crash" or outcome.fault == GARBAGE  # the worker is lost
        self.crashes, self.hangs = self.crashes + crashed, self.hangs + (outcome.status == "timeout")
        self.failed_starts += outcome.fault == NO_START
        self.answered |= outcome.status == "ok"
        if not crashed:
            self.crashes_in_a_row = 0
            self.row.clear()
            return
        self.crashes_at_first += not self.answered
        self.row[node] += 1
        self.crashes_in_a_row += self.row[node] <= OF_ONE_NODE

    def too_many(self, time_limit: float) -> bool:
        """Whether to give up: the remaining cases would only cost time."""
        if self.crashes >= MOST_CRASHES or self.crashes_in_a_row >= CRASHES_IN_A_ROW:
            return True
        if self.crashes_at_first >= CRASHES_AT_FIRST and not self.answered:
            return True
        if self.failed_starts >= MOST_FAILED_STARTS:
            return True
        return self.hangs >= FEWEST_HANGS and self.hangs * time_limit >= HANG_SECONDS
