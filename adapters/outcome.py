"""What came of one case on one backend, before anybody judges it."""

from __future__ import annotations

from dataclasses import dataclass

from tiebreak.golden.problem import Array

# What a backend can do wrong, each by its own name in the records.
CRASH = "crash"
HANG = "hang"
OUT_OF_MEMORY = "out of memory"
EXCEPTION = "exception"
WRONG_OUTPUT = "wrong output"
NOT_DETERMINISTIC = "outputs change"
CLOSED_PIPE = "closed its pipe"
GARBAGE = "garbage"
LEFT_CHANGED = "left changed"
NO_START = "did not start again"
GIVEN_UP = "given up"
NOT_JUDGED = "not judged"  # the fault is ours


@dataclass(frozen=True)
class Outcome:
    """`status` is ok (with outputs), unsupported, error, crash or timeout; `fault` says which kind of the last three.

    `refused` is true if the node was, not only these inputs; `compiling` if what went wrong did so before any ran;
    `alone` if no other case had run in that process, so that none can be to blame.
    """

    status: str
    outputs: tuple[Array, ...] = ()
    message: str = ""
    seconds: float = 0.0
    fault: str = ""
    refused: bool = False
    compiling: bool = False
    alone: bool = False
