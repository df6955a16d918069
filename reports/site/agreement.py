"""Whether the records of a run agree with each other: who changes one of the files must change the others alike."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.reports.records import DISCREPANCIES, INFO, RESULTS, Run
from tiebreak.reports.rows import values_by_key

if TYPE_CHECKING:
    import pandas as pd

Counts = Counter[tuple[str, str]]  # elements that deviate, by backend and operator


def check_agreement(folder: Path, run: Run) -> None:
    """Raise DamagedFile if the files count other elements; InvalidInput if causes were not looked for yet."""
    if not run.info.get("explained", True):
        raise InvalidInput(f"{folder}: the run was ended before causes were looked for: tiebreak run --resume {folder}")
    keys = ["backend", "operator"]
    listed = counts_of_groups(run.discrepancies.groupby(keys, observed=True).size())
    refuse(folder, RESULTS, counts_of_groups(run.results.groupby(keys, observed=True)["deviates"].sum()), listed)
    if run.info.get("clusters"):
        refuse(folder, INFO, explained(folder, run), listed)


def counts_of_groups(sums: pd.Series[Any]) -> Counts:
    return Counter({(str(key[0]), str(key[1])): int(count) for key, count in values_by_key(sums)})


def explained(folder: Path, run: Run) -> Counts:
    """The elements of the root causes. DamagedFile for one that has none."""
    counts: Counts = Counter()
    for row in run.info["clusters"]:
        if row["elements"] < 1:
            raise DamagedFile(f"{folder}: its records disagree: {INFO} has a root cause of {row['elements']} elements")
        counts[str(row["backend"]), str(row["operator"])] += int(row["elements"])
    return counts


def refuse(folder: Path, name: str, counts: Counts, listed: Counts) -> None:
    """Raise DamagedFile for the first backend's operator whose counts differ."""
    for key in sorted(counts.keys() | listed.keys()):
        if counts[key] != listed[key]:
            where = f"{ascii(key[0])[1:80]}, {ascii(key[1])[1:80]}".replace("'", "")
            said = f"{name} counts {counts[key]:,} deviating elements, {DISCREPANCIES} has {listed[key]:,}"
            raise DamagedFile(f"{folder}: its records disagree: {where}: {said}")
