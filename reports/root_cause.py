"""What a root cause is: a backend's operator and the cause of its discrepancies, whatever the witness."""

from __future__ import annotations

import re

BY_PATH = "path-dependent: "
ANSWER = re.compile(r"(?:^|(?<=; ))\S+ (?=per |in |with |alone|as |at )")  # one operand's answers, before each path


def root_of(cause: str) -> str:
    """The cause without the answers of one operand, which differ from witness to witness."""
    if not cause.startswith(BY_PATH):
        return cause
    paths = ANSWER.sub("", cause.removeprefix(BY_PATH)).split("; ")
    return BY_PATH + "; ".join(sorted(paths))
