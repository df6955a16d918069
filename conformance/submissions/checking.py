"""`tiebreak submit check FILE`: whether a submission holds together and says what its stored outputs say."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tiebreak.conformance.submissions.checked_certificates import check_certificates
from tiebreak.conformance.submissions.counting import check_causes, check_counts, check_manifest, check_outputs
from tiebreak.conformance.submissions.denominators import check_cases, check_planned, check_vectors
from tiebreak.conformance.submissions.rejudging import check_sample
from tiebreak.conformance.submissions.submission import Submission, named_as_in, read_submission

STEPS: dict[str, Callable[[Submission], str]] = {
    "manifest": check_manifest,
    "vectors": check_vectors,
    "cases": check_cases,
    "planned": check_planned,
    "verdicts": check_counts,
    "outputs": check_outputs,
    "causes": check_causes,
}
SAMPLE = 200  # cases that are judged again
SEEDS = 1 << 63


def check(path: Path, *, sample: int = SAMPLE, seed: int | None = None) -> dict[str, Any]:
    """What was checked, in words, as the document that `tiebreak submit check --json` prints.

    The seed is random unless it is given: who submits can't know which cases are judged again. DamagedFile or
    InvalidInput for a file that is no submission, Refused for one that does not say the truth.
    """
    chosen = secrets.randbelow(SEEDS) if seed is None else seed
    with tempfile.TemporaryDirectory(prefix="tiebreak-submission-") as aside:
        folder = Path(aside)
        one = read_submission(path, folder)
        with named_as_in(path, folder):
            checked = {name: step(one) for name, step in STEPS.items()}
            checked["judged again"] = check_sample(one, sample, chosen)
            certificates = check_certificates(one, folder, chosen)
    return {
        "file": str(path),
        "tiebreak": one.info["made_by"]["tiebreak"],
        "created": one.info["created"],
        "level": one.info["level"],
        "backends": [{"name": name, "version": told["version"]} for name, told in one.backends.items()],
        "checked": checked,
        "certificates": certificates,
        "seed": chosen,
        "exit": 0,
    }
