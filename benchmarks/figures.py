"""Tables and figures as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NONE = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(escaped(cell) for cell in line)} |" for line in lines) + "\n"


def escaped(cell: str) -> str:
    """The cell as text: what libraries say may hold anything."""
    return " ".join(cell.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").split())


def figure(value: float | None) -> str:
    """Three digits."""
    if value is None:
        return NONE
    places = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:,.{places}f}"


def quotient(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def megabytes(count: float | None) -> str:
    return NONE if count is None else f"{count / 1e6:,.0f}"
