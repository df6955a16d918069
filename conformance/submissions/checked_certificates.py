"""Whether a submission's certificates hold, as far as that can be said without the backend, and within seconds."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tiebreak.conformance.proving.findings import UNKNOWN
from tiebreak.conformance.proving.proof_file import PROOF_FORMAT
from tiebreak.conformance.submissions.proofs import check_proof
from tiebreak.conformance.submissions.refused import Refused, require
from tiebreak.conformance.submissions.scale_numbers import check_scale_numbers
from tiebreak.conformance.submissions.scale_results import check_scale_results
from tiebreak.conformance.submissions.submission import Submission
from tiebreak.conformance.submissions.sweep_intervals import check_intervals
from tiebreak.conformance.submissions.sweep_numbers import check_facts, check_sweep_numbers
from tiebreak.conformance.submissions.sweep_results import Trial, check_results
from tiebreak.conformance.sweep.certificate import FORMAT
from tiebreak.golden.scale_space import ScaleSpace, scale_space_from
from tiebreak.golden.space import Space, space_from
from tiebreak.golden.untrusted_text import one_line

LONGEST = 600  # characters of a reason
SECONDS = 3.0  # in which blocks of a certificate are tried again


def check_certificates(one: Submission, folder: Path, seed: int) -> dict[str, dict[str, Any]]:
    """By name the format of each certificate, what was checked (a line each), and in how many seconds.

    The seed chooses the blocks that are tried again. Refused for the first certificate that does not hold.
    """
    found = {}
    for name, data in one.certificates.items():
        started = time.perf_counter()
        try:
            lines = checked(one, data, folder / name, seed)
        except Refused as reason:
            raise Refused(one_line(f"{name}: {reason}", LONGEST)) from None
        seconds = round(time.perf_counter() - started, 1)
        found[name] = {"format": data["format"], "checked": lines, "seconds": seconds}
    return found


def checked(one: Submission, data: Mapping[str, Any], path: Path, seed: int) -> list[str]:
    """What was checked of one certificate, a line each. Refused if it does not hold."""
    if data["format"] == PROOF_FORMAT["format"]:
        check_facts(data)
        require(not data.get("missing") or data["verdict"] == UNKNOWN, "nothing is missing in what is decided")
        return check_proof(path, data["verdict"], SECONDS, seed)
    return [
        whose(one, data["backend"]),
        *checked_sweep(data, seed),
        "not checked: whether the results are the backend's",
    ]


def checked_sweep(data: Mapping[str, Any], seed: int) -> list[str]:
    """What was checked of the certificate of a sweep of every input, or of every scale."""
    if data["format"] == FORMAT["format"]:
        space, trial = space_from(data["space"]), Trial(SECONDS, random.Random(seed))
        check_described(data, space)
        return [check_sweep_numbers(data, space), check_intervals(data, space), check_results(data, space, trial)]
    scales = scale_space_from(data["space"])
    check_described(data, scales)
    return [check_scale_numbers(data, scales), check_scale_results(data, scales, SECONDS)]


def check_described(data: Mapping[str, Any], space: Space | ScaleSpace) -> None:
    """Raise Refused unless a space is described as it describes itself."""
    require(space.described() == data["space"], "its space is not described as a sweep does")


def whose(one: Submission, backend: Mapping[str, Any]) -> str:
    """Whether a certificate is about a backend of the run, in words."""
    told = f"{backend['name']} {backend['version']}"
    is_own = (backend["name"], backend["version"]) in {(name, facts["version"]) for name, facts in one.backends.items()}
    return f"of {told}, which this run {'asked' if is_own else 'did not ask'}"
