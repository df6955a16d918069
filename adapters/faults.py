"""Counts what a backend did wrong, to give up one that only costs time."""

from __future__ import annotations

from dataclasses import dataclass

from tiebreak.adapters.outcome import GIVEN_UP, Outcome

CRASHES_IN_A_ROW = 40
MOST_CRASHES = 400
HANG_SECONDS = 120.0  # of waiting for hanging cases, all together
FEWEST_HANGS = 3


@dataclass
class Faults:
    """What went wrong so far, by the outcomes alone, so that a resumed run counts as an unbroken one."""

    crashes: int = 0
    hangs: int = 0
    crashes_in_a_row: int = 0

    def note(self, outcome: Outcome) -> None:
        counts = not outcome.refused  # cases that never ran because their node can't be compiled are no new faults
        crashed, hung = outcome.status == "crash" and counts, outcome.status == "timeout" and counts
        self.crashes, self.hangs = self.crashes + crashed, self.hangs + hung
        if outcome.fault != GIVEN_UP and counts:
            self.crashes_in_a_row = self.crashes_in_a_row + 1 if crashed else 0

    def too_many(self, time_limit: float) -> bool:
        """After so many the rest would only take time."""
        if self.crashes_in_a_row >= CRASHES_IN_A_ROW or self.crashes >= MOST_CRASHES:
            return True
        return self.hangs >= FEWEST_HANGS and self.hangs * time_limit >= HANG_SECONDS
