"""Untrusted text on a terminal."""

from __future__ import annotations

from rich.markup import escape

from tiebreak.golden.untrusted_text import printable


def terminal_label(text: str, longest: int = 60) -> str:
    """A backend's text, bounded, without anything that rich or a terminal would interpret."""
    return escape(printable(text, longest))
