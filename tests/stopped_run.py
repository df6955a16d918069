"""`tiebreak run` that is sent a signal at a stage: python stopped_run.py STAGE SIGNAL [ARGUMENT …]."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.cli import main
from tiebreak.conformance import main_job
from tiebreak.conformance.running import asking, assembling, journal
from tiebreak.reports import html, records

# A place in the code each, and at the how manieth time that it is reached.
STAGES: dict[str, tuple[Any, str, int]] = {
    "starting": (IsolatedBackend, "start", 1),
    "planning": (main_job, "digest_of_cases", 1),
    "beginning": (main_job, "begin_run", 1),
    "first case": (journal.Journal, "add", 1),
    "some cases": (journal.Journal, "add", 3),
    "last case": (journal.Journal, "add", 6),
    "attesting": (IsolatedBackend, "attestation", 1),
    "trying forbidden calls": (asking, "forbidden_rows", 1),
    "assembling": (main_job, "unexplained_records", 1),
    "explaining": (main_job, "explained_records", 1),
    "naming": (assembling, "path_rows", 1),
    "results": (records, "write_table", 1),
    "a file": (Path, "replace", 3),
    "the record": (Path, "replace", 5),
    "reporting": (html, "render", 1),
    "summing up": (main_job, "print_summary", 1),
    "ending": (main_job, "end_run", 1),
}


def stopped(function: Callable[..., Any], number: signal.Signals, times: int) -> Callable[..., Any]:
    """The function, which sends us the signal when it is called for that time."""
    calls = []

    def called(*words: Any, **named: Any) -> Any:
        calls.append(None)
        if len(calls) == times:
            os.kill(os.getpid(), number)
        return function(*words, **named)

    return called


if __name__ == "__main__":
    place, name, times = STAGES[sys.argv[1]]
    setattr(place, name, stopped(getattr(place, name), signal.Signals[sys.argv[2]], times))
    sys.argv = ["tiebreak", *sys.argv[3:]]
    main()
