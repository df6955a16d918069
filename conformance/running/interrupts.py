"""SIGTERM and SIGHUP end a run as Ctrl-C does: workers end, outcomes are kept, and a message says how to resume."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

AS_CTRL_C = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first signal; later ones must not interrupt the cleanup.

    A signal that is ignored stays ignored, as SIGHUP is under nohup.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stopped: list[int] = []

    def stop(number: int, frame: Any) -> None:
        if not stopped:
            stopped.append(number)
            raise KeyboardInterrupt

    heard = {number: signal.getsignal(number) for number in AS_CTRL_C}
    for number, handler in heard.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
