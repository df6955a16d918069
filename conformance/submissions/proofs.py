"""Checks a proof's certificate in a process of its own, which has a time and no more.

Who wrote the certificate chose how long it takes. So the process ends after a while, and the check says so.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tiebreak.conformance.proof_checker import ProofRefused, check
from tiebreak.conformance.proof_checker.refusal import ProofUndecided
from tiebreak.conformance.submissions.refused import Refused

MOST_SECONDS = 60  # in which a process ends, whatever it does
MOST_MEMORY = 8 << 30  # bytes of its addresses


def check_proof(path: Path, verdict: str, seconds: float, seed: int) -> list[str]:
    """What was checked, a line each; or why nothing can be said of it. Refused if the certificate does not hold."""
    command = [sys.executable, "-P", "-m", __name__, str(path), str(seconds), str(seed)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=MOST_SECONDS, check=False)
        found: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return [f"{verdict}: not checked: that takes longer than {MOST_SECONDS} s"]
    except ValueError:
        return [f"{verdict}: not checked: the checker's process ended with {done.returncode}"]
    if "refused" in found:
        raise Refused(found["refused"])
    if "undecided" in found:
        return [f"{verdict}: not checked: {found['undecided']}"]
    return [f"{verdict}: {'; '.join(found['checked'])}"]


def answer(path: str, seconds: str, seed: str) -> dict[str, Any]:
    """In the process: what came of a certificate."""
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    try:
        return {"checked": check(data, seconds=float(seconds), chance=random.Random(int(seed)))}
    except ProofUndecided as reason:
        return {"undecided": str(reason)}
    except ProofRefused as reason:
        return {"refused": str(reason)}


def limit_memory() -> None:
    """Where the system can, as Windows can't."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


if __name__ == "__main__":
    limit_memory()
    print(json.dumps(answer(*sys.argv[1:])))
