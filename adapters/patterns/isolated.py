"""A runtime in a process of its own: a crash or a hang costs one answer."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.isolation import MEMORY_LIMIT
from tiebreak.adapters.patterns.model import RuntimeWay
from tiebreak.adapters.patterns.runtimes import check_runtime
from tiebreak.adapters.process import MIB, TooMuchMemory, WorkerProcess
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.patterns.graph import Pattern, ScalePair
from tiebreak.golden.problem import Array
from tiebreak.golden.untrusted_text import one_line

START_LIMIT, LONGEST, MOST_NODES = 120.0, 500, 100
STATUSES = ("ok", "unsupported", "error")


@dataclass(frozen=True)
class WayAnswer:
    """One way's status, message, graph and output, [rows, width]; no output unless the status is ok."""

    status: str
    message: str = ""
    graph: tuple[str, ...] = ()
    output: Array | None = None


@dataclass
class IsolatedRuntime:
    """Starts its process when first asked, and again after a fault. Limits are in seconds for one answer, and MiB."""

    name: str
    time_limit: float = 60.0
    memory_limit: int = MEMORY_LIMIT
    version: str = ""
    ways: tuple[RuntimeWay, ...] = ()
    worker: WorkerProcess | None = field(default=None, repr=False)

    def start(self) -> None:
        """Raises MachineryFailed if the runtime can't be started, with its own message."""
        command = [sys.executable, "-P", "-m", "tiebreak.adapters.patterns.worker", check_runtime(self.name)]
        worker = WorkerProcess(self.name, self.memory_limit * MIB, command=command)
        try:
            hello = worker.read_line(time.monotonic() + START_LIMIT)
        except (TimeoutError, EOFError, BrokenFrame, TooMuchMemory):
            raise MachineryFailed(f"{self.name} can't be started: {worker.end()}") from None
        if hello["status"] != "ready":
            worker.finish()
            raise MachineryFailed(f"{self.name} can't be started: {one_line(hello['message'], LONGEST)}")
        self.version = one_line(hello["version"], 80)
        self.ways = tuple(RuntimeWay(*map(str, way)) for way in hello["ways"])
        self.worker = worker

    def ask(self, pattern: Pattern, pairs: Mapping[str, ScalePair], rows: Mapping[str, Array], way: str) -> WayAnswer:
        if self.worker is None:
            self.start()
        assert self.worker is not None
        worker, deadline = self.worker, time.monotonic() + self.time_limit
        worker.arena.reset()
        sent = {name: [int(np.float32(pair.scale).view(np.uint32)), pair.zero_point] for name, pair in pairs.items()}
        inputs = worker.arena.put([rows[operand.name] for operand in pattern.operands])
        request = {"text": pattern.text, "type": default_type(pattern), "pairs": sent, "way": way, "inputs": inputs}
        try:
            worker.send({**request, "free": worker.arena.used}, deadline)
            return self.believed(worker.read_line(deadline))
        except TimeoutError:
            return self.lost(WayAnswer("timeout", f"no answer within {self.time_limit:g} s"))
        except (EOFError, BrokenFrame, TooMuchMemory) as error:
            why = f"{error}; " if str(error) else ""
            self.worker = None
            return WayAnswer("crash", one_line(f"{why}{worker.end()}", LONGEST))

    def believed(self, reply: Mapping[str, Any]) -> WayAnswer:
        """A reply, once it is checked. BrokenFrame if it is none."""
        assert self.worker is not None
        status, message = reply.get("status"), one_line(reply.get("message", ""), LONGEST)
        if status not in STATUSES:
            raise BrokenFrame(f"not a reply: status {one_line(status, 40)}")
        if status != "ok":
            return WayAnswer(str(status), message)
        graph = tuple(one_line(node, 60) for node in list(reply.get("graph", ()))[:MOST_NODES])
        (output,) = self.worker.arena.get(reply.get("outputs", {}))
        return WayAnswer("ok", "", graph, output.copy())

    def lost(self, answer: WayAnswer) -> WayAnswer:
        """End the process; the answer."""
        self.close(kill=True)
        return answer

    def __enter__(self) -> IsolatedRuntime:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self, *, kill: bool = False) -> None:
        if self.worker is not None:
            self.worker.end() if kill else self.worker.finish()
            self.worker = None


def default_type(pattern: Pattern) -> str:
    """A type that the text may leave out: that of the first pair."""
    return next(iter(pattern.pairs.values()), "uint8")
