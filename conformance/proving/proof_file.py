"""The certificate of a proof or a counterexample: a JSON file that somebody else's program can check.

docs/proof-certificate.md describes it. `conformance/proof_checker` checks it, and shares no code with what wrote it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tiebreak.adapters.platform_facts import machine
from tiebreak.conformance.proving.findings import PROVED, REFUTED, UNKNOWN, Decision, spans_of
from tiebreak.golden.files import checked_json
from tiebreak.golden.places import write_text_aside
from tiebreak.version import __version__

PROOF_FORMAT = {"format": "tiebreak-proof", "version": 1}
LARGEST = 64 << 20  # bytes
KINDS = ("patterns", "arithmetics", "integers")
TEXT = {"type": "string", "maxLength": 4000}
NUMBERS = {"type": "array", "items": {"type": "integer"}}
SPANS = {"type": "array", "items": {**NUMBERS, "minItems": 2, "maxItems": 2}}
WORDS = {"type": "object", "additionalProperties": TEXT}
BLOCK = {
    "type": "array",
    "prefixItems": [
        {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        {"type": "integer", "minimum": 0},
        {"type": ["integer", "null"], "minimum": 0},
    ],
    "minItems": 3,
    "maxItems": 3,
}
STEP = {
    "type": "object",
    "required": ["rule", "left", "right", "premises"],
    "properties": {
        **dict.fromkeys(("rule", "left", "right"), TEXT),
        "premises": NUMBERS,
        "exact": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2},
        "codes": WORDS,
        "zero_point": {"type": ["integer", "null"]},
        "exponents": SPANS,
        "blocks": {"type": "array", "items": BLOCK},
        "chain": {"type": "string"},
    },
}
REFUTATION = {
    "type": "object",
    "required": ["operands", "scales", "zero_points", "left", "right"],
    "properties": {
        **dict.fromkeys(("operands", "scales"), WORDS),
        "zero_points": {"type": "object", "additionalProperties": {"type": "integer"}},
        "left": TEXT,
        "right": TEXT,
    },
}
WITNESS = {
    "type": "object",
    "required": ["zero_points", "operands", "scales"],
    "properties": {"zero_points": SPANS["items"], **dict.fromkeys(("operands", "scales"), WORDS)},
}
PROOF_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": [*PROOF_FORMAT, "tiebreak", "created", "machine", "seconds", "claim", "verdict"],
    "properties": {
        **{name: {"const": value} for name, value in PROOF_FORMAT.items()},
        "claim": {
            "type": "object",
            "required": ["kind", "left", "right"],
            "properties": {"kind": {"enum": list(KINDS)}, "left": TEXT, "right": TEXT},
        },
        "verdict": {"enum": [PROVED, REFUTED, UNKNOWN]},
        "steps": {"type": "array", "items": STEP},
        "counterexample": {"anyOf": [{"type": "null"}, REFUTATION]},
        "holds": SPANS,
        "differs": {"type": "array", "items": WITNESS},
        "missing": TEXT,
    },
}


def described(claim: Mapping[str, Any], decision: Decision, seconds: float) -> dict[str, Any]:
    """A decision as a certificate has it; `claim` says what was to be proven, and its kind."""
    example = decision.counterexample
    steps = [
        {"rule": one.rule, "left": one.left, "right": one.right, "premises": list(one.premises), **one.evidence}
        for one in decision.steps
    ]
    return {
        **PROOF_FORMAT,
        "tiebreak": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "seconds": round(seconds, 3),
        "claim": dict(claim),
        "verdict": decision.verdict,
        "counterexample": None
        if example is None
        else {
            "operands": dict(example.operands),
            "scales": dict(example.scales),
            "zero_points": dict(example.zero_points),
            "left": example.left,
            "right": example.right,
        },
        "holds": spans_of(decision.holds),
        "differs": [
            {"zero_points": [one.first, one.last], "operands": dict(one.operands), "scales": dict(one.scales)}
            for one in decision.differs
        ],
        "missing": decision.missing,
        "steps": steps,
    }


def write_proof(path: Path, data: Mapping[str, Any]) -> None:
    write_text_aside(path, json.dumps(data, indent=1) + "\n")


def read_proof(path: Path) -> dict[str, Any]:
    """A certificate. InvalidInput if there is no file, DamagedFile if it is none."""
    return checked_json(path, PROOF_SCHEMA, LARGEST, "a certificate")
