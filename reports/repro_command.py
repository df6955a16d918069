"""The command that shows a discrepancy or a root cause again."""

from __future__ import annotations


def repro_words(name: str, folder: str, spec: str) -> list[str]:
    """The words of `tiebreak repro` for an id. A user's own backend is named, since no file may choose what runs."""
    return ["tiebreak", "repro", name, "--run", folder, *(["-b", spec] if ":" in spec else [])]
