"""Untrusted text on a terminal."""

from __future__ import annotations

from rich.markup import escape

from tiebreak.golden.untrusted_text import printable


def terminal_label(text: str, longest: int = 60) -> str:
    """A backend's text, bounded, without anything that rich or a terminal would interpret."""
    return escape(printable(text, longest))


def terminal_text(text: object, longest: int = 60) -> str:
    """Untrusted text for a terminal: printable, cut with "…" at `longest` characters, escaped for rich."""
    found = printable(text, longest + 1)
    return escape(found if len(found) <= longest else found[: longest - 1] + "…")
