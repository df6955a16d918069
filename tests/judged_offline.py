"""The records of a verified export, with what explains them."""

from __future__ import annotations

from pathlib import Path

from tiebreak.conformance.offline.verify import judge_returned
from tiebreak.conformance.running.assembling import assemble
from tiebreak.reports.records import RunRecords


def verify(folder: Path, name: str, version: str) -> RunRecords:
    """What `tiebreak verify` records of the outputs in folder/outputs."""
    records, cases = judge_returned(folder, name, version)
    return assemble([records], cases, {"level": "offline", "seed": 0})
