"""Defines when two discrepancies of a backend's operator have the same root cause."""

from __future__ import annotations

import re

BY_PATH = "path-dependent: "
UNWRITTEN = "unwritten-memory"  # a cause's id; its text:
UNWRITTEN_TEXT = "memory that nobody wrote: the result is what was left there"
ANSWER = re.compile(r"(?:^|(?<=; ))\S+ (?=per |in |with |alone|as |at )")  # the answer before each path


def root_of(cause: str) -> str:
    """The cause's text without the answers of one witness, which differ between discrepancies of one root cause."""
    if not cause.startswith(BY_PATH):
        return cause
    paths = ANSWER.sub("", cause.removeprefix(BY_PATH)).split("; ")
    return BY_PATH + "; ".join(sorted(paths))
