"""A gate's alerts as SARIF 2.1.0, for code hosts and editors.

The texts of a SARIF message are no plain text: braces hold places for arguments, `[text](address)` is a link. What
comes from backends is escaped, so that it is neither.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tiebreak.reports.alerts import Alert, alerts_of
from tiebreak.reports.gate import headline
from tiebreak.reports.records import write_text
from tiebreak.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST = 5000  # GitHub shows no more results of one run
ROOT = "%SRCROOT%"  # the usual name for the folder that relative paths start from


def write_gate_sarif(path: Path, found: Mapping[str, Any]) -> None:
    """Write the gate's findings as SARIF. Raises as `write_aside`."""
    write_text(path, json.dumps(sarif_document(found), indent=1) + "\n")


def sarif_document(found: Mapping[str, Any]) -> dict[str, Any]:
    """The log, with one run: a rule for each kind of alert, then a result for each alert."""
    alerts = list(islice(alerts_of(found), MOST))
    rules = {alert.rule: sarif_rule(alert) for alert in reversed(alerts)}
    rules = {name: rules[name] for name in sorted(rules)}
    run = {
        "tool": {"driver": {"name": "tiebreak", "version": __version__, "rules": list(rules.values())}},
        "invocations": [
            {"executionSuccessful": True, "exitCode": found["exit"], "exitCodeDescription": headline(found)}
        ],
        "results": [sarif_result(alert, list(rules)) for alert in alerts],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_rule(alert: Alert) -> dict[str, Any]:
    return {
        "id": alert.rule,
        "shortDescription": {"text": message_text(alert.kind)},
        "help": {"text": message_text(alert.about)},
        "defaultConfiguration": {"level": "error"},
    }


def sarif_result(alert: Alert, rules: Sequence[str]) -> dict[str, Any]:
    return {
        "ruleId": alert.rule,
        "ruleIndex": rules.index(alert.rule),
        "level": "error",
        "message": {"text": "\n".join(map(message_text, [f"{alert.title}.", *alert.lines]))},
        "partialFingerprints": {"tiebreakAlert/v1": alert.fingerprint},
        "locations": [sarif_location(alert)] if alert.place or alert.backend else [],
    }


def sarif_location(alert: Alert) -> dict[str, Any]:
    """The user's own line, if it is known, and the backend's operator."""
    found: dict[str, Any] = {}
    if alert.place:
        artifact = {"uri": quote(os.fsencode(alert.place.file)), "uriBaseId": ROOT}
        found["physicalLocation"] = {"artifactLocation": artifact, "region": {"startLine": alert.place.line}}
    if alert.backend:
        whole = f"{alert.backend}/{alert.operator}"
        found["logicalLocations"] = [{"name": alert.operator, "fullyQualifiedName": whole, "kind": "function"}]
    return found


def message_text(text: str) -> str:
    """A text that says itself in a message: no place for an argument (2.1.0, 3.11.5), no link (3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")
