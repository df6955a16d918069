"""The command that shows a discrepancy or a root cause again."""

from __future__ import annotations

from tiebreak.reports.story import Finding


def repro_words(name: str, folder: str, *specs: str) -> list[str]:
    """The words of `tiebreak repro` for an id. A user's own backends are named, since no file may choose what runs."""
    own = [word for spec in dict.fromkeys(specs) if ":" in spec for word in ("-b", spec)]
    return ["tiebreak", "repro", name, "--run", folder, *own]


def shown_backends(finding: Finding) -> tuple[str, ...]:
    """The backends that the script of a finding's first id asks: of what contradicts itself perhaps both of a pair."""
    return finding.backends if finding.ids[0].startswith("S") else finding.backends[:1]
