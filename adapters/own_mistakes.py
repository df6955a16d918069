"""Whether an exception of a built-in backend is a mistake of Tiebreak's adapter, and no answer of the library."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

OWN = f"{Path(__file__).parents[1]}{os.sep}"  # Tiebreak's package
ANSWERING = str(Path(__file__).with_name("answering.py"))  # it calls any backend, also a user's
STANDARD = f"{sysconfig.get_path('stdlib')}{os.sep}"
INSTALLED = ("site-packages", "dist-packages")  # folders below the standard library's that are no part of it


def is_own_mistake(error: BaseException) -> bool:
    """Whether a look-up failed in an adapter's own code: a key, an index, an attribute or a name that is not there.

    What a library's code raises is the library's, in Python or below a call of an adapter's last line. So is all that
    a user's backend raises.
    """
    if not isinstance(error, (LookupError, AttributeError, NameError)):
        return False
    steps = [step for step in steps_of(error) if file_of(step) != ANSWERING]
    if not steps or not is_own(steps[0]):
        return False
    deepest = len(steps)
    while is_standard(steps[deepest - 1]):  # such as an enumeration without this name
        deepest -= 1
    last = steps[deepest - 1]
    by_library = isinstance(error, LookupError) and deepest == len(steps) and is_calling(last)
    return is_own(last) and not by_library


def steps_of(error: BaseException) -> Iterator[TracebackType]:
    """The traceback from the first frame to that which raised."""
    step = error.__traceback__
    while step is not None:
        yield step
        step = step.tb_next


def file_of(step: TracebackType) -> str:
    return step.tb_frame.f_code.co_filename


def is_own(step: TracebackType) -> bool:
    return file_of(step).startswith(OWN)


def is_standard(step: TracebackType) -> bool:
    file = file_of(step)
    return file.startswith((STANDARD, "<frozen")) and not any(f"{os.sep}{name}{os.sep}" in file for name in INSTALLED)


def is_calling(step: TracebackType) -> bool:
    """Whether a frame without deeper ones raised in a call, so in compiled code, and not by a look-up of its own."""
    import dis  # seldom needed

    return dis.opname[step.tb_frame.f_code.co_code[step.tb_lasti]].startswith("CALL")
