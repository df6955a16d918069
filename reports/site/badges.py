"""Badges: what the newest release of a backend does with an operator, in a word, as SVG and as JSON for shields.io."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment

from tiebreak.golden.untrusted_text import plural
from tiebreak.reports.site.addresses import badge_file
from tiebreak.reports.site.run_facts import SiteCell

COLOURS = {"good": "#00618e", "bad": "#a63f00", "open": "#57606a"}
LONGEST = 60  # characters of a side
LETTER, PADDING = 6.6, 7  # about as wide is a character of 11 px, and the space beside the text


@dataclass(frozen=True)
class Badge:
    """Both sides of a badge; `look` is one of COLOURS."""

    name: str
    cell: SiteCell
    label: str
    message: str
    look: str

    @property
    def colour(self) -> str:
        return COLOURS[self.look]

    @property
    def widths(self) -> tuple[int, int]:
        """The widths of the two sides in pixels."""
        left, right = (round(len(text) * LETTER + 2 * PADDING) for text in (self.label, self.message))
        return left, right


def badge_of(cell: SiteCell) -> Badge:
    message, look = message_of(cell)
    label = f"{cell.backend}: {cell.operator}"[:LONGEST]
    return Badge(badge_file(cell.backend, cell.operator), cell, label, message, look)


def message_of(cell: SiteCell) -> tuple[str, str]:
    """Good only where nothing that ran and is specified deviates, contradicts itself or fails.

    Findings are root causes of its own document, kinds of crashes, hangs and errors, and ways to contradict itself.
    """
    if cell.findings:
        return plural(cell.findings, "finding"), "bad"
    if cell.hazards:
        return plural(cell.hazards, "hazard"), "open"
    if not cell.judged:
        return ("unspecified" if cell.ran else "not run"), "open"
    return ("other order" if cell.other_order else "as written" if cell.as_written else "exact"), "good"


def badge_files(environment: Environment, badges: Iterable[Badge]) -> Iterator[tuple[str, str]]:
    """The files of the badges with their texts."""
    template = environment.get_template("site_badge.svg.j2")
    for badge in badges:
        yield f"{badge.name}.svg", template.render(badge=badge)
        yield f"{badge.name}.json", json.dumps(endpoint(badge), indent=1) + "\n"


def endpoint(badge: Badge) -> Mapping[str, Any]:
    """What shields.io reads as an endpoint: https://shields.io/badges/endpoint-badge."""
    return {"schemaVersion": 1, "label": badge.label, "message": badge.message, "color": badge.colour.lstrip("#")}
