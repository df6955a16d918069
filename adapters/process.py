"""A worker as an operating-system process: starting it, talking to it within limits, and ending it."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, cast

import psutil

from tiebreak.adapters.arena import Arena
from tiebreak.adapters.environments import named
from tiebreak.adapters.environments.named import split_release
from tiebreak.adapters.frames import LONGEST_HEADER, BrokenFrame
from tiebreak.adapters.registry import entry_point, environment_of
from tiebreak.adapters.settings import worker_environment
from tiebreak.golden.messages import last_words

TAIL = 600  # characters of standard error quoted in a message
HEAD = 1 << 16  # bytes of standard error searched for the first line of a panic
LOOK = 0.25  # seconds between two checks of a busy worker's memory, which take a hundredth of that
TIDYING = 1.0  # seconds that a worker gets to end by itself
MIB = 1 << 20
MOST_ERRORS = 64 * MIB  # of standard error; a worker may write without end
PACKAGE = Path(named.__file__).absolute().parents[2]  # Tiebreak's own, for a worker in another environment
START = PACKAGE / "adapters" / "environments" / "start.py"
TO_END = 3.0  # seconds in which a process that closed its pipe must end, on a machine that has much to do, too


class TooMuchMemory(Exception):  # noqa: N818 - says what happened
    """The worker and its children hold more memory than the limit."""


class WorkerProcess:
    """One worker, its pipes, its shared memory and a file for its standard error.

    `memory_limit` is in bytes of resident memory of the worker and its children together. `cores` are the processor's
    cores that it may use; none means all. `command` starts it, if not what the spec names. `variables` come on top of
    the environment. Every wait has a deadline in time.monotonic() seconds and raises
    TimeoutError, EOFError, TooMuchMemory or BrokenFrame.
    """

    def __init__(
        self,
        spec: str,
        memory_limit: int,
        cores: Collection[int] = (),
        command: Sequence[str] = (),
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        command = command or worker_command(spec)  # before there is anything to close
        self.memory_limit = memory_limit
        self.arena = Arena()
        self.errors = open_errors()
        fcntl.fcntl(self.errors, fcntl.F_SETFL, os.O_APPEND)  # so that it can be truncated while the worker writes
        self.buffer = bytearray()
        self.scanned = 0
        self.quoted = 0  # bytes of standard error written before the last answer
        command = [*command, str(self.arena.descriptor)]
        self.process = subprocess.Popen(
            [*command, ",".join(map(str, cores))] if cores else command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            bufsize=0,
            env={**worker_environment(os.environ), **variables},
            pass_fds=[self.arena.descriptor],
            start_new_session=True,  # so that its children can be ended with it
        )
        self.watched, self.next_look = psutil.Process(self.process.pid), 0.0
        self.children: list[psutil.Process] = []
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self.stdin, False)

    def send(self, request: Mapping[str, Any], deadline: float) -> None:
        self.cut_errors(MIB)
        view = memoryview(json.dumps(request).encode() + b"\n")
        while view:
            self.wait_for([], [self.stdin], deadline)
            view = view[os.write(self.stdin, view) :]

    def read_line(self, deadline: float) -> dict[str, Any]:
        """The next JSON object that the worker writes."""
        while (end := self.buffer.find(b"\n", self.scanned)) < 0:
            self.scanned = len(self.buffer)
            if self.scanned > LONGEST_HEADER:
                raise BrokenFrame("a line without end")
            self.wait_for([self.stdout], [], deadline)
            data = os.read(self.stdout, 1 << 20)
            if not data:
                raise EOFError
            self.buffer += data
        line, self.scanned = bytes(self.buffer[:end]), 0
        del self.buffer[: end + 1]
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BrokenFrame(f"not a reply: {error}") from None
        if not isinstance(found, dict):
            raise BrokenFrame("not a reply: no JSON object")
        self.quoted = self.errors_before(found.pop("stderr", -1))
        return found

    def errors_before(self, written: Any) -> int:
        """Bytes of standard error that are about earlier cases: what the worker had `written` when it answered.

        The worker runs ahead of us, so the file may by now hold the last words of the next case.
        """
        size = os.fstat(self.errors.fileno()).st_size
        return written if type(written) is int and 0 <= written <= size else size

    def wait_for(self, readable: list[int], writable: list[int], deadline: float) -> None:
        """Wait until a pipe is ready, and check the worker meanwhile.

        The worker's end is checked too: a child may hold the pipe open, so that no EOF comes.
        """
        while True:
            left = deadline - time.monotonic()
            gone = self.process.poll() is not None
            ready = any(select.select(readable, writable, [], 0 if gone else max(0.0, min(left, LOOK))))
            if not gone and time.monotonic() >= self.next_look:
                self.check_memory()
                self.cut_errors(MOST_ERRORS)
            if ready:
                return
            if gone:
                raise EOFError
            if left <= 0:
                raise TimeoutError

    def cut_errors(self, most: int) -> None:
        """Discard the worker's standard error if it is longer than `most` bytes."""
        if os.fstat(self.errors.fileno()).st_size > most:
            os.ftruncate(self.errors.fileno(), 0)
            self.quoted = 0

    def check_memory(self) -> None:
        used = self.memory()
        if used > self.memory_limit:
            limit = self.memory_limit // MIB
            raise TooMuchMemory(f"the worker held {used // MIB} MiB of memory, the limit is {limit} MiB")

    def memory(self) -> int:
        """Resident bytes of the worker and its children."""
        with suppress(psutil.Error):
            if time.monotonic() >= self.next_look:  # slow: finding children reads every process of the system
                self.children = self.watched.children(recursive=True)
                self.next_look = time.monotonic() + LOOK
            return sum(map(resident, (self.watched, *self.children)))
        return 0

    def end(self) -> str:
        """End the worker if it is still running; how it ended and what it last wrote to standard error."""
        try:
            code: int | None = self.process.wait(TO_END)
        except subprocess.TimeoutExpired:
            code = None
        self.kill()
        tail = self.last_words()
        self.close()
        if code is None:
            how = "closed its pipe and went on"
        else:
            how = f"was killed by {signal_name(-code)}" if code < 0 else f"ended with exit status {code}"
        return f"the worker process {how}; {tail}" if tail else f"the worker process {how}"

    def last_words(self) -> str:
        """The worker's standard error since its last answer, or else its end, as one bounded line."""
        size = os.fstat(self.errors.fileno()).st_size
        start = self.quoted if size > self.quoted else max(0, size - TAIL)
        text = os.pread(self.errors.fileno(), HEAD, start)
        if size > start + HEAD:
            text += b"\n" + os.pread(self.errors.fileno(), TAIL, size - TAIL)
        return last_words(text.decode(errors="replace"), TAIL)

    def kill(self) -> None:
        """End the worker and its children; while it still runs, also children in sessions of their own."""
        children: list[psutil.Process] = []
        with suppress(psutil.Error, ProcessLookupError, PermissionError):
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGSTOP)  # it can start no more children
                children = psutil.Process(self.process.pid).children(recursive=True)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for child in children:
            with suppress(psutil.Error):
                child.kill()
        self.process.wait()
        psutil.wait_procs(children, timeout=TIDYING)  # killed processes take a moment to end

    def finish(self) -> None:
        """Let the worker end by itself, so that libraries can clean up; then make sure that it ended."""
        left: list[psutil.Process] = []
        with suppress(psutil.Error):  # its children can't be found once it has ended
            left = self.watched.children(recursive=True)
        with suppress(OSError):
            self.process.stdin.close()  # type: ignore[union-attr]
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(TIDYING)
        self.kill()
        for child in left:
            with suppress(psutil.Error):
                child.kill()
        self.close()

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.errors.close()
        self.arena.close()


def worker_command(spec: str) -> list[str]:
    """What starts a worker for a backend. MachineryFailed if the environment that it names is missing or damaged."""
    found = environment_of(spec)
    if found is None:
        return [sys.executable, "-P", "-m", "tiebreak.adapters.worker", spec]
    return command_in(found.interpreter, split_release(spec)[0])


def command_in(interpreter: Path, name: str) -> list[str]:
    """What starts a worker for a built-in backend with the Python of an environment."""
    return [str(interpreter), "-I", str(START), str(PACKAGE), entry_point(name)]


def open_errors() -> BinaryIO:
    """A file in memory where the system supports it, so that a full disk can't fail a case."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("tiebreak-errors", os.MFD_CLOEXEC), "w+b")
    return cast(BinaryIO, tempfile.TemporaryFile())


def resident(process: psutil.Process) -> int:
    """Resident bytes of a process; 0 if it has ended."""
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
