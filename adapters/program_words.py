"""`exec:COMMAND`: the command split into words, and why a program can't be started."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from tiebreak.golden.errors import InvalidInput

EXEC = "exec:"


def program_words(command: str) -> list[str]:
    """The words of a command line, split as in a POSIX shell. InvalidInput unless the first one is a program."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidInput(f"backend '{EXEC}{command}': {error}") from None
    if not words:
        raise InvalidInput(f"backend '{EXEC}{command}': name the program to start, as in exec:./my_program")
    if shutil.which(words[0]) is None:
        raise InvalidInput(f"backend '{EXEC}{command}': {why_not_startable(words[0])}")
    return words


def why_not_startable(program: str) -> str:
    if not Path(program).exists():
        return f"no program {program!r}" + ("" if os.sep in program else " on the PATH")
    if Path(program).is_dir():
        return f"{program} is a folder"
    if os.sep not in program:
        return f"no program {program!r} on the PATH; the file of that name here is ./{program}"
    return f"{program} is not executable (chmod +x {program})"
