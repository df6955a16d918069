"""A gate's alerts as annotations of a GitHub Actions job, which GitHub shows beside the lines of a pull request."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from typing import Any

from tiebreak.reports.alerts import Alert, alerts_of

MOST = 10  # GitHub shows no more errors of one step
IN_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}  # as actions/toolkit escapes them
IN_PROPERTY = IN_DATA | {":": "%3A", ",": "%2C"}


def annotation_lines(found: Mapping[str, Any]) -> list[str]:
    """A workflow command for each of the first alerts; none outside GitHub Actions, or if the gate is open."""
    if os.environ.get("GITHUB_ACTIONS") != "true" or not found["exit"]:
        return []
    return [error_command(alert) for alert in islice(alerts_of(found), MOST)]


def error_command(alert: Alert) -> str:
    place = {"file": alert.place.file, "line": alert.place.line} if alert.place else {}
    facts = place | {"title": f"Tiebreak: {alert.title}"}
    properties = ",".join(f"{name}={command_text(IN_PROPERTY, value)}" for name, value in facts.items())
    text = "\n".join(alert.lines)
    return f"::error {properties}::{command_text(IN_DATA, text)}"


def command_text(table: Mapping[str, str], value: object) -> str:
    return "".join(table.get(character, character) for character in str(value))
