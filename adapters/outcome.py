"""The outcome of one case on one backend, before it is judged."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tiebreak.golden.problem import Array
from tiebreak.golden.verdicts import ADAPTER as ADAPTER
from tiebreak.golden.verdicts import NOT_ASKED as NOT_ASKED
from tiebreak.golden.verdicts import NOT_DETERMINISTIC as NOT_DETERMINISTIC
from tiebreak.golden.verdicts import NOT_JUDGED as NOT_JUDGED
from tiebreak.golden.verdicts import OURS as OURS

# The kinds of fault, by their names in the records.
CRASH = "crash"
HANG = "hang"
OUT_OF_MEMORY = "out of memory"
EXCEPTION = "exception"
WRONG_OUTPUT = "wrong output"
CLOSED_PIPE = "closed its pipe"
GARBAGE = "garbage"
LEFT_CHANGED = "left changed"
NO_START = "did not start again"
GIVEN_UP = "given up"
UNASKED = (*OURS, NOT_ASKED, GIVEN_UP)  # faults of cases that the library has not answered: nothing is known of it

# How a message of the fault NOT_DETERMINISTIC ends: the first element that changes, and its bits in two calls.
CHANGED = "output {}, element {}: {:#x}, then {:#x}"
CHANGED_ELEMENT = re.compile(r"output (\d{1,9}), element (\d{1,12}): (0x[0-9a-f]{1,16}), then (0x[0-9a-f]{1,16})\Z")


@dataclass(frozen=True)
class Outcome:
    """`status` is ok (with outputs), unsupported, error, crash or timeout; `fault` is the kind of the last three,
    or NOT_ASKED.

    `refused` is true if the whole node was refused and not only these inputs. `compiling` is true if the fault came
    while the node compiled. `alone` is true if no other case had run in the process, so that none can be to blame.
    """

    status: str
    outputs: tuple[Array, ...] = ()
    message: str = ""
    seconds: float = 0.0
    fault: str = ""
    refused: bool = False
    compiling: bool = False
    alone: bool = False
