"""Runs a function in a process of its own, and measures the peak memory of that process and its children."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import psutil

LOOK = 0.02  # seconds between two looks at its memory
LOOK_FOR_CHILDREN = 0.5


class Failed(Exception):  # noqa: N818 - says what happened
    """What the function raised, in one line."""


def in_fresh_process(
    function: Callable[..., Any], *arguments: Any, watch: bool = False, method: str = "spawn"
) -> tuple[Any, int]:
    """The function's result, and the peak of resident bytes (0 unless watched: watching costs a little time).

    A process that is made by "fork" has everything that is loaded here; memory that two of its processes share counts
    for both. Raises Failed.
    """
    context = multiprocessing.get_context(method)
    here, there = context.Pipe()
    process = context.Process(target=answer, args=(there, function, arguments))
    process.start()
    there.close()
    try:
        peak = peak_until_ready(here, process.pid or 0) if watch else 0
        status, found = here.recv()
    except EOFError:
        process.join()
        raise Failed(f"{function.__name__}: its process ended with exit status {process.exitcode}") from None
    finally:
        here.close()
        process.terminate()
        process.join()
    if status != "ok":
        raise Failed(str(found))
    return found, peak


def answer(pipe: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        pipe.send(("ok", function(*arguments)))
    except Exception as error:
        pipe.send(("failed", " ".join(f"{type(error).__name__}: {error}".split())[:300]))
    pipe.close()
    time.sleep(60)  # the parent ends this process, so that cleaning up is not measured


def peak_until_ready(pipe: Connection, pid: int) -> int:
    """The most resident bytes seen until the pipe has something to read or is closed."""
    peak, watched, next_look = 0, list[psutil.Process](), 0.0
    while not pipe.poll(LOOK):
        if time.monotonic() >= next_look:
            next_look = time.monotonic() + LOOK_FOR_CHILDREN
            watched = family(pid)
        peak = max(peak, sum(resident(process) for process in watched))
    return peak


def family(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    return []


def resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
