"""The discrepancies of a run that a user asks a report to show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tiebreak.conformance.running.illustrations import element_of, examples
from tiebreak.conformance.running.repro import case_of_row, discrepancy_id_of, discrepancy_row
from tiebreak.golden.errors import InvalidInput
from tiebreak.reports.records import Run
from tiebreak.reports.rows import Example

MOST = 50


def asked_examples(run: Run, folder: Path, names: Sequence[str]) -> list[Example]:
    """What a report adds to each of some discrepancies. `names` are their ids, or those of root causes.

    Raises InvalidInput for an unknown id, or for more than MOST.
    """
    if len(names) > MOST:
        raise InvalidInput(f"--discrepancy: {len(names)} of them; a report takes {MOST} at most")
    ids = dict.fromkeys(discrepancy_id_of(run, name, folder) for name in names)
    rows = [discrepancy_row(run, one, folder) for one in ids]
    cases = {str(row["case"]): row for row in rows}
    made = {name: case_of_row(row, folder) for name, row in cases.items()}
    return examples(rows, [element_of(row, made) for row in rows])
