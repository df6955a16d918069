"""Standard input, output and error that are closed, full or broken.

A command finishes its work whatever happens to its output. If a reader closed the pipe (`| head`), nothing is reported
and the exit code stays. If standard output is full or closed, output was lost: one line on standard error says so, and
exit code 0 becomes 3.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Any


def open_all() -> None:
    """Open /dev/null for each closed standard stream, so that no other file gets its number."""
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):  # writing to 1 must fail
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest free number
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


class KeptOutput(io.FileIO):
    """Standard output that remembers its first failure and drops everything after it."""

    failure: OSError | None = None

    def write(self, data: Any) -> int:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return len(memoryview(data).cast("B"))


def keep_output() -> KeptOutput:
    """Put a KeptOutput below sys.stdout, with an encoding error handler that never fails."""
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
    """Why output was lost; empty if none was, or if the reader closed the pipe."""
    sys.stdout.flush()
    if raw.failure is None or raw.failure.errno == errno.EPIPE:
        return ""
    if raw.failure.errno == errno.EBADF:
        return "standard output is closed"
    return f"standard output: can't write: {raw.failure.strerror}"


def tell(message: str) -> None:
    """Print a line on standard error, if possible."""
    with suppress(OSError, ValueError):
        print(message, file=sys.stderr, flush=True)
