"""The certificates of sweeps and proofs that go with a submission."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiebreak.conformance.proving.proof_file import PROOF_FORMAT, read_proof
from tiebreak.conformance.submissions.archive import CERTIFICATE, CERTIFICATES, LARGEST_CERTIFICATE, MOST_CERTIFICATES
from tiebreak.conformance.sweep.certificate import FORMAT, read_certificate
from tiebreak.conformance.sweep.scale_certificate import FORMAT as SCALE_FORMAT
from tiebreak.conformance.sweep.scale_certificate import read_scale_certificate
from tiebreak.golden.errors import DamagedFile, InvalidInput
from tiebreak.golden.files import bounded_text

READERS: dict[object, Any] = {
    FORMAT["format"]: lambda path: read_certificate(path)[0],
    SCALE_FORMAT["format"]: lambda path: read_scale_certificate(path)[0],
    PROOF_FORMAT["format"]: read_proof,
}


def format_of(path: Path) -> str:
    """The format that a JSON file names, if it is a certificate's; otherwise empty."""
    try:
        data = json.loads(bounded_text(path, LARGEST_CERTIFICATE, "a certificate"))
    except (InvalidInput, ValueError, RecursionError):
        return ""
    named = data.get("format") if isinstance(data, dict) else None
    return str(named) if isinstance(named, str) and named in READERS else ""


def read(path: Path) -> dict[str, Any]:
    """A certificate of any kind. DamagedFile if it is none, or does not have the form of its kind."""
    kind = format_of(path)
    if not path.exists():
        raise InvalidInput(f"{path}: no such file")
    if not kind:
        raise DamagedFile(f"{path}: damaged: no certificate; its format is none of {', '.join(map(str, READERS))}")
    found: dict[str, Any] = READERS[kind](path)
    return found


def certificates_for(folder: Path, named: Sequence[Path]) -> dict[str, Path]:
    """The certificates at the top of a run's folder and those named, by their names in the archive.

    InvalidInput for a named file that is none, for two of one name, and for a name that no archive may have.
    """
    found: dict[str, Path] = {}
    there = sorted(path for path in folder.glob("*.json") if path.is_file() and format_of(path))
    for path in (*there, *named):
        read(path)
        name = f"{CERTIFICATES}/{path.name}"
        if not CERTIFICATE.fullmatch(name):
            raise InvalidInput(f"{path}: its name needs letters, digits and ._@+- only, and an end in .json")
        if name in found and found[name].resolve() != path.resolve():
            raise InvalidInput(f"{path}: {found[name]} has the same name; rename one")
        found[name] = path
    if len(found) > MOST_CERTIFICATES:
        raise InvalidInput(f"{len(found)} certificates; a submission has {MOST_CERTIFICATES} at most")
    return found
