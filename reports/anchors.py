"""The addresses of findings in a page: an id of the run, or a checksum that is the same in every report."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable

from tiebreak.reports.story import Finding


def anchor_of_finding(chapter: str, library: str, finding: Finding) -> str:
    """The first id of a finding; of one without ids a checksum of what it says."""
    ids = ids_of(finding)
    return ids[0] if ids else checksum((chapter, library, finding.what, *finding.operators))


def ids_of(finding: Finding) -> list[str]:
    """Those ids that are safe in an address."""
    return [one for one in finding.ids if is_id(one)]


def is_id(text: str) -> bool:
    return re.fullmatch(r"[A-Z]\d{1,9}", text) is not None


def checksum(parts: Iterable[str]) -> str:
    return f"finding-{zlib.crc32(repr(tuple(parts)).encode()):08x}"
