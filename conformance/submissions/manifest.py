"""manifest.json and environment.json of a submission."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tiebreak.conformance.submissions.digests import record_digests
from tiebreak.golden.case_digests import case_digests
from tiebreak.golden.files import check_format, checked_json
from tiebreak.golden.nodes import Case
from tiebreak.reports.records import OFFLINE, Run
from tiebreak.version import __version__

FORMAT, ENVIRONMENT_FORMAT, VERSION = "tiebreak-submission", "tiebreak-environment", 1
LARGEST = 64 << 20  # bytes of the manifest
WHERE_JUDGED = "where the outputs were judged; where they were computed, and by what, is not known"
TEXT = {"type": "string", "maxLength": 1000}
COUNT = {"type": "integer", "minimum": 0}
SHA256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def an_object(**properties: Any) -> dict[str, Any]:
    """The schema of an object with all of these properties, and perhaps others."""
    return {"type": "object", "required": [*properties], "properties": properties}


def each(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": dict(value)}


SCHEMA = an_object(
    format={"const": FORMAT},
    version={"type": "integer"},
    tiebreak=TEXT,
    members=each(an_object(bytes=COUNT, sha256=SHA256)),
    vectors=each({"type": "string", "pattern": "^[0-9a-f]{16}$"}),
    records=each(an_object(verdicts=each(COUNT), discrepancies=COUNT, sha256=SHA256)),
)
ENVIRONMENT_SCHEMA = an_object(
    format={"const": ENVIRONMENT_FORMAT},
    version={"type": "integer"},
    created=TEXT,
    machine=TEXT,
    instruction_sets=TEXT,
    made_by=each(TEXT),
    backends={"type": "array", "items": an_object(name=TEXT, version=TEXT, attestation={"type": "object"})},
)


def manifest_of(run: Run, vectors: Iterable[Case], members: Mapping[str, tuple[int, str]]) -> dict[str, Any]:
    """The manifest: `members` have their sizes in bytes and SHA-256, `vectors` are the run's golden vectors."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "tiebreak": __version__,
        "members": {name: {"bytes": size, "sha256": digest} for name, (size, digest) in sorted(members.items())},
        "vectors": dict(sorted(case_digests(vectors).items())),
        "records": record_digests(run),
    }


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest. DamagedFile if it is none, or of a version that this Tiebreak does not read."""
    return check_format(path, checked_json(path, SCHEMA, LARGEST, "a manifest"), FORMAT, "manifest", (VERSION,))


def environment_of(info: Mapping[str, Any]) -> dict[str, Any]:
    """Where and with what a run was made, from its run.json."""
    said = ("name", "version", "library", "spec", "attestation")
    backends = [{"attestation": {}} | {name: one[name] for name in said if name in one} for one in info["backends"]]
    facts = {name: info.get(name, "") for name in ("created", "machine", "instruction_sets")}
    if info.get("level") == OFFLINE:
        facts["about"] = WHERE_JUDGED
    head = {"format": ENVIRONMENT_FORMAT, "version": VERSION, **facts}
    return head | {"made_by": info["made_by"], "backends": backends}


def read_environment(path: Path) -> dict[str, Any]:
    data = checked_json(path, ENVIRONMENT_SCHEMA, LARGEST, "an environment")
    return check_format(path, data, ENVIRONMENT_FORMAT, "environment", (VERSION,))
