"""The command that shows a discrepancy or a root cause again."""

from __future__ import annotations


def repro_words(name: str, folder: str, spec: str) -> list[str]:
    """`tiebreak repro` of an id; a backend that is not one of Tiebreak's own is named: no file may say what is run."""
    return ["tiebreak", "repro", name, "--run", folder, *(["-b", spec] if ":" in spec else [])]
