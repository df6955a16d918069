"""A backend in a process of its own: what it does wrong costs one case and is named for it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tiebreak.adapters import frames
from tiebreak.golden.errors import InvalidInput, MachineryFailed
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array

START_LIMIT = 120.0  # seconds to import a library and build the backend
CRASHES_IN_A_ROW = 20
MOST_CRASHES = 200
MOST_TIMEOUTS = 3


@dataclass(frozen=True)
class Outcome:
    """What came of one case: ok with outputs, or unsupported, error, crash or timeout with a message."""

    status: str
    outputs: tuple[Array, ...] = ()
    message: str = ""
    seconds: float = 0.0


@dataclass
class IsolatedBackend:
    """Starts the worker when first needed and again after a fault; `time_limit` is in seconds for one case."""

    spec: str
    time_limit: float = 10.0
    name: str = ""
    version: str = ""
    operators: frozenset[str] | None = None
    crashes: int = 0
    in_a_row: int = 0
    timeouts: int = 0
    refused: dict[str, str] = field(default_factory=dict)  # nodes that compile() does not support, with its reason
    process: subprocess.Popen[bytes] | None = None
    errors: Any = field(default_factory=lambda: tempfile.TemporaryFile())  # noqa: SIM115 - lives as long as we do

    def start(self) -> None:
        """Start the worker. InvalidInput for a spec that is wrong, MachineryFailed if the backend can't be had."""
        self.errors.seek(0)
        self.errors.truncate()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tiebreak.adapters.worker", self.spec],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            bufsize=0,
        )
        try:
            hello, _ = self.read_frame(time.monotonic() + START_LIMIT)
        except (EOFError, TimeoutError, frames.BrokenFrame) as error:
            raise MachineryFailed(f"backend {self.spec!r} did not start: {self.describe_end(error)}") from None
        if hello["status"] != "ready":
            self.stop()
            raise_for(self.spec, hello)
        self.name, self.version = hello["name"], hello["version"]
        self.operators = None if hello["operators"] is None else frozenset(hello["operators"])

    def run(self, case: Case) -> Outcome:
        """Run one case; never raises for what the backend does."""
        if self.is_given_up():
            faults = f"{self.crashes} crashes and {self.timeouts} timeouts"
            return Outcome("error", message=f"not run: the backend was given up after {faults}")
        if case.node.key in self.refused:
            return Outcome("unsupported", message=self.refused[case.node.key])
        try:
            reply, outputs = self.ask({"request": "run", "node": case.node.key}, case.inputs, self.time_limit)
        except TimeoutError:
            self.timeouts += 1
            self.stop()
            return Outcome("timeout", message=f"no answer within {self.time_limit:g} s")
        except (EOFError, OSError) as error:
            self.count_crash()
            return Outcome("crash", message=self.describe_end(error))
        except frames.BrokenFrame as error:
            self.stop()
            return Outcome("error", message=str(error))
        except MachineryFailed as error:
            self.count_crash()
            return Outcome("error", message=str(error))
        self.in_a_row = 0
        message = reply.get("message", "")
        if reply.get("node") == "refused":
            self.refused[case.node.key] = message
        return Outcome(reply["status"], tuple(outputs), message, reply.get("seconds", 0.0))

    def is_given_up(self) -> bool:
        """After so many faults the rest would only take time."""
        if self.in_a_row >= CRASHES_IN_A_ROW or self.crashes >= MOST_CRASHES:
            return True
        return self.timeouts >= MOST_TIMEOUTS

    def count_crash(self) -> None:
        self.crashes += 1
        self.in_a_row += 1

    def attestation(self) -> dict[str, str]:
        """What the backend says of itself; says so if it cannot answer any more."""
        try:
            reply, _ = self.ask({"request": "attest"}, (), START_LIMIT)
        except (EOFError, OSError, frames.BrokenFrame, MachineryFailed) as error:  # TimeoutError is an OSError
            self.stop()
            return {"attestation failed": str(error) or "the worker ended"}
        return dict(reply["attestation"])

    def ask(
        self, header: Mapping[str, Any], inputs: tuple[Array, ...], limit: float
    ) -> tuple[dict[str, Any], list[Array]]:
        if self.process is None:
            self.start()
        deadline = time.monotonic() + limit
        self.write(frames.encode(header, inputs), deadline)
        return self.read_frame(deadline)

    def write(self, data: bytes, deadline: float) -> None:
        assert self.process is not None and self.process.stdin is not None
        pipe = self.process.stdin.fileno()
        os.set_blocking(pipe, False)
        view = memoryview(data)
        while view:
            wait_for([], [pipe], deadline)
            view = view[os.write(pipe, view) :]

    def read_frame(self, deadline: float) -> tuple[dict[str, Any], list[Array]]:
        buffer = bytearray()

        def fill() -> None:
            assert self.process is not None and self.process.stdout is not None
            pipe = self.process.stdout.fileno()
            wait_for([pipe], [], deadline)
            data = os.read(pipe, 1 << 20)
            if not data:
                raise EOFError
            buffer.extend(data)

        def read_line() -> bytes:
            while b"\n" not in buffer:
                if len(buffer) > frames.LONGEST_HEADER:
                    raise frames.BrokenFrame("a header line without end")
                fill()
            end = buffer.index(b"\n") + 1
            return take(end)

        def take(count: int) -> bytes:
            while len(buffer) < count:
                fill()
            taken = bytes(buffer[:count])
            del buffer[:count]
            return taken

        return frames.decode(read_line, take)

    def describe_end(self, error: BaseException) -> str:
        """How the worker ended and the end of what it wrote to standard error; the worker is gone afterwards."""
        if isinstance(error, TimeoutError):
            self.stop()
            return f"no answer within {START_LIMIT:g} s"
        code = self.wait()
        self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, self.errors.tell() - 600))
        tail = " ".join(self.errors.read().decode(errors="replace").split())
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"
        return f"the worker process was {how}; {tail}" if tail else f"the worker process was {how}"

    def wait(self) -> int:
        """The exit status of a worker that closed its pipe, killed if it lingers."""
        assert self.process is not None
        process, self.process = self.process, None
        try:
            code = process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        close_pipes(process)
        return code

    def stop(self) -> None:
        """End the worker, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.wait()

    def close(self) -> None:
        self.stop()
        self.errors.close()


def close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def wait_for(readable: list[int], writable: list[int], deadline: float) -> None:
    """Until one of the pipes is ready; TimeoutError after the deadline."""
    left = deadline - time.monotonic()
    if left <= 0 or not any(select.select(readable, writable, [], left)):
        raise TimeoutError


def raise_for(spec: str, hello: Mapping[str, Any]) -> None:
    """The exception for a backend that did not load."""
    message = str(hello["message"])
    if hello["kind"] == "usage":
        raise InvalidInput(message)
    if hello["kind"] == "not-installed" and ":" not in spec:
        raise MachineryFailed(
            f"backend {spec!r} is not installed ({message}): pip install 'tiebreak[{extra_of(spec)}]'"
        )
    raise MachineryFailed(f"backend {spec!r} failed to load: {message}")


def extra_of(name: str) -> str:
    """The extra that installs a built-in backend: its name's first part that is one."""
    known = {"onnx-reference": "onnx", "tensorflow-no-onednn": "tensorflow", "openvino-as-shipped": "openvino"}
    return known.get(name, name)
