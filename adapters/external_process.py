"""A running external program and the frames to and from it. Everything that it writes is checked."""

from __future__ import annotations

import json
import math
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import FileIO
from typing import Any, NoReturn, cast

import numpy as np

from tiebreak.adapters import frames
from tiebreak.adapters.program import array_from_words
from tiebreak.golden.problem import Array

LONGEST_REQUEST = 65_535  # bytes of a header line, so that a program can read it into a fixed buffer
SHOWN = 80  # bytes of garbage in a message
LINGER = 2.0  # seconds in which a program that closed its output must end


class ProgramError(Exception):
    """The program reported an error, or its reply was invalid."""


class Program:
    """A running program. Raises OSError if it can't be started.

    It stays in this process's group, so that killing the group kills it too. It shares this process's standard error.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        # Without buffers, select() sees what was written and not yet read.
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.sent = 0
        self.requests, self.replies = cast(FileIO, self.process.stdin), cast(FileIO, self.process.stdout)

    def send(self, request: str, header: Mapping[str, Any], data: Sequence[bytes]) -> None:
        """Write a request with the next id. Raises BrokenPipeError if the program has ended."""
        self.sent += 1
        line = json.dumps({"request": request, "id": self.sent, **header}).encode() + b"\n"
        if len(line) > LONGEST_REQUEST:
            raise ProgramError(f"the request's header has {len(line)} bytes, more than a program must be able to read")
        view = memoryview(b"".join([line, *data]))
        while view:
            view = view[self.requests.write(view) :]

    def receive(self) -> tuple[dict[str, Any], list[Array]]:
        """The reply to the last request. Raises ProgramError for anything else, EOFError if the program has ended."""
        begin = self.first(1)
        if begin != b"{":
            is_more = select.select([self.replies], [], [], 0)[0]
            begin += self.first() if is_more else b""
            raise ProgramError(
                f"the program wrote {quoted_start(begin.splitlines(keepends=True)[0])} where a reply begins"
            )
        line = begin + self.replies.readline(frames.LONGEST_HEADER)
        if not line.endswith(b"\n"):
            if len(line) <= frames.LONGEST_HEADER:
                raise EOFError
            raise ProgramError(f"the program wrote a header line of more than {frames.LONGEST_HEADER} bytes")
        try:
            reply = json.loads(line)
            if reply["id"] != self.sent:
                raise ValueError(f"id {reply['id']!r}, not {self.sent} as the request's")
            if reply["status"] not in ("ok", "unsupported", "error"):
                raise ValueError(f"status {reply['status']!r} is none of ok, unsupported, error")
            sizes = sizes_of(reply.get("tensors") or ())
            return reply, [array_from_words(dtype, shape, self.read(size)) for dtype, shape, size in sizes]
        except KeyError as absent:
            raise ProgramError(f"the program wrote {quoted_start(line)}, a reply without {absent}") from None
        except (ValueError, TypeError, RecursionError) as error:
            raise ProgramError(f"the program wrote {quoted_start(line)}, which is not the reply: {error}") from None

    def first(self, most: int = SHOWN) -> bytes:
        """One byte or more of the reply. Raises EOFError at the end."""
        data = self.replies.read(most)
        if not data:
            raise EOFError
        return data

    def read(self, count: int) -> bytearray:
        data = bytearray(count)
        view = memoryview(data)
        while view:
            taken = self.replies.readinto(view)
            if not taken:
                raise EOFError
            view = view[taken:]
        return data

    def close(self) -> None:
        """Kill the program if it runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.requests.close()
        self.replies.close()
        self.process.wait()

    def share_fate(self) -> NoReturn:
        """End this worker process in the way the program ended.

        Raises ProgramError in any other process, or if the program keeps running.
        """
        try:
            code = self.process.wait(LINGER)
        except subprocess.TimeoutExpired:
            self.close()
            raise ProgramError("the program closed its standard output or input and did not end") from None
        how = f"ended with exit status {code}" if code >= 0 else f"was killed by {signal_name(-code)}"
        self.close()
        told = " ".join(["the program", *self.words, how])
        if not in_worker():
            raise ProgramError(told)
        os.write(2, told.encode(errors="replace") + b"\n")
        if code < 0:  # the worker dumps no core
            with suppress(OSError, ValueError):  # SIGKILL has no handler
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        os._exit(code if code >= 0 else 128 - code)


def in_worker() -> bool:
    """Whether this process is a worker, started as `python -m tiebreak.adapters.worker`, and may be ended."""
    return getattr(sys.modules["__main__"].__spec__, "name", "") == "tiebreak.adapters.worker"


def signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def quoted_start(data: bytes) -> str:
    """The beginning of what a program wrote, quoted, on one line."""
    text = repr(data[:SHOWN].decode(errors="replace"))
    return text if len(data) <= SHOWN else f"{text} …"


def sizes_of(tensors: Sequence[Mapping[str, Any]]) -> list[tuple[np.dtype[Any], list[int], int]]:
    """Type, shape and bytes of each announced tensor. Raises ValueError for impossible ones, before any is read."""
    found = []
    for tensor in tensors:
        dtype, shape = frames.dtype_named(tensor["dtype"]), list(tensor["shape"])
        if not all(type(size) is int and 0 <= size <= frames.MOST_BYTES for size in shape):
            raise ValueError(f"shape {shape} is not of whole numbers from 0 to {frames.MOST_BYTES}")
        found.append((dtype, shape, math.prod(shape) * dtype.itemsize))
    total = sum(size for _, _, size in found)
    if total > frames.MOST_BYTES:
        raise ValueError(f"{total} bytes of tensors, more than {frames.MOST_BYTES}")
    return found
