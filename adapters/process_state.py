"""The state of the process that a backend's call may change, compared and restored before the next case.

A changed floating-point mode would change numbers, so it is a fault of the case that left it. Everything else is
restored silently. What can't be restored spoils the process: its worker is replaced, which costs no case.
"""

from __future__ import annotations

import decimal
import gc
import locale
import os
import resource
import signal
import sys
import warnings
from contextlib import suppress

import numpy as np

from tiebreak.adapters.float_mode import FloatMode

LIMITS = tuple(getattr(resource, f"RLIMIT_{name}") for name in ("AS", "DATA", "STACK", "NOFILE", "FSIZE", "CPU"))
ENVIRONMENT: dict[bytes, bytes] = vars(os.environ)[
    "_data"
]  # raw bytes: decoding them each time would take longer than a case
TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


class ProcessState:
    """The state before a call, which `put_back` compares and restores after it."""

    def __init__(self) -> None:
        self.floats = FloatMode()
        self.numpy, self.decimal = np.geterr(), decimal.getcontext().copy()
        self.folder, self.environment = current_folder(), ENVIRONMENT.copy()
        self.language, self.umask = locale.setlocale(locale.LC_ALL), os.umask(0o077)
        os.umask(self.umask)
        self.filters = warnings.filters[:]
        self.trace, self.profile, self.depth = sys.gettrace(), sys.getprofile(), sys.getrecursionlimit()
        self.streams = sys.stdin, sys.stdout, sys.stderr
        self.collecting = gc.isenabled()
        self.limits = [resource.getrlimit(which) for which in LIMITS]
        self.files = standard_files()

    def put_back(self) -> tuple[list[str], bool]:
        """Restore the state; what was changed of the floating-point mode, and whether something can't be restored."""
        if sys.gettrace() is not self.trace:  # first, since these hooks run in everything that follows
            sys.settrace(self.trace)
        if sys.getprofile() is not self.profile:
            sys.setprofile(self.profile)
        changed = self.floats.changed()
        if changed:
            self.floats.put_back()
        self.put_back_settings()
        return changed, not (self.put_back_folder() and self.put_back_limits() and self.is_whole())

    def put_back_settings(self) -> None:
        sys.setrecursionlimit(self.depth)
        if np.geterr() != self.numpy:
            np.seterr(**self.numpy)
        decimal.setcontext(self.decimal.copy())
        if warnings.filters != self.filters:
            warnings.simplefilter("default", append=True)  # invalidates cached decisions of the filters
            warnings.filters[:] = self.filters  # type: ignore[index]
        if locale.setlocale(locale.LC_ALL) != self.language:
            locale.setlocale(locale.LC_ALL, self.language)
        os.umask(self.umask)
        sys.stdin, sys.stdout, sys.stderr = self.streams
        if gc.isenabled() != self.collecting:
            gc.enable() if self.collecting else gc.disable()
        for timer in TIMERS:  # an alarm would end the worker during another case
            signal.setitimer(timer, 0)

    def put_back_folder(self) -> bool:
        """Restore the current folder and the environment; whether that worked."""
        if self.environment != ENVIRONMENT:
            os.environ.clear()
            os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in self.environment.items()})
        if current_folder() != self.folder:
            try:
                os.chdir(self.folder)
            except OSError:
                return False
        return True

    def put_back_limits(self) -> bool:
        """Restore the resource limits; whether that worked: a lowered hard limit can't be raised again."""
        for which, limits in zip(LIMITS, self.limits, strict=True):
            if resource.getrlimit(which) != limits:
                try:
                    resource.setrlimit(which, limits)
                except (OSError, ValueError):
                    return False
        return True

    def is_whole(self) -> bool:
        """Whether the standard streams are open and numpy is loaded; neither can be restored."""
        closed = any(stream is not None and stream.closed for stream in self.streams)
        return not closed and standard_files() == self.files and "numpy" in sys.modules


def current_folder() -> str:
    with suppress(OSError):
        return os.getcwd()
    return ""


def standard_files() -> list[int]:
    """The inodes of the three standard descriptors; empty if one is closed."""
    try:
        return [os.fstat(descriptor).st_ino for descriptor in (0, 1, 2)]
    except OSError:
        return []
