"""Standard input, output and error that are closed, full or broken.

A command does its work and keeps its exit code wherever its output goes. A reader that closed a pipe (`| head`) had
enough: nothing is said. A standard output that is full or closed lost what was told: one line on standard error says
so, and 0 becomes exit code 3.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Any


def open_all() -> None:
    """Put something where a standard stream is closed, so that no file of ours gets its number."""
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):  # writing to 1 shall fail
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # gets the lowest number that is free
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


class KeptOutput(io.FileIO):
    """Standard output whose first failure is kept for the end; what follows it is dropped."""

    failure: OSError | None = None

    def write(self, data: Any) -> int:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return len(memoryview(data).cast("B"))


def keep_output() -> KeptOutput:
    """Put a `Kept` below sys.stdout, in which no character is refused."""
    raw = KeptOutput(1, "wb", closefd=False)
    encoding = sys.stdout.encoding if sys.stdout is not None else "utf-8"
    if sys.stdout is not None:
        with suppress(OSError):
            sys.stdout.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=encoding, errors="backslashreplace", line_buffering=raw.isatty()
    )
    return raw


def lost_output(raw: KeptOutput) -> str:
    """Why output was lost that somebody waits for; empty if none was."""
    sys.stdout.flush()
    if raw.failure is None or raw.failure.errno == errno.EPIPE:
        return ""
    if raw.failure.errno == errno.EBADF:
        return "standard output is closed"
    return f"standard output: can't write: {raw.failure.strerror}"


def tell(message: str) -> None:
    """A line on standard error, if that takes it."""
    with suppress(OSError, ValueError):
        print(message, file=sys.stderr, flush=True)
