"""Makes cases in processes of their own, on all cores, while the caller does something else.

`python -m tiebreak.conformance.cases.makers FOLDER` is such a process. It reads recipes as JSON lines, writes the cases
of each into the cache in FOLDER and answers each line. It ends as soon as its standard input does, so it never outlives
the process that started it.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from tiebreak.conformance.cases.recipes import Recipe
from tiebreak.golden.case_cache import CaseCache

DONE, FAILED = b"done\n", b"failed\n"
TIDYING = 1.0  # seconds for a thread to notice that its process was ended


def cores() -> int:
    """How many cores we may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Makers:
    """Processes that write the recipes' cases into a cache; each takes the next recipe when it has done one.

    Whatever fails, a recipe ends up settled, and its cases are in the cache or are not.
    """

    def __init__(self, recipes: Sequence[Recipe], folder: Path, processes: int) -> None:
        self.folder = folder
        self.todo: queue.SimpleQueue[Recipe] = queue.SimpleQueue()
        self.settled = {recipe: threading.Event() for recipe in recipes}
        for recipe in self.settled:
            self.todo.put(recipe)
        self.lock, self.closed = threading.Lock(), False
        self.processes: set[subprocess.Popen[bytes]] = set()
        self.threads: list[threading.Thread] = []
        with suppress(RuntimeError):  # no more threads
            for _ in range(processes):
                thread = threading.Thread(target=self.serve, daemon=True)
                thread.start()
                self.threads.append(thread)
        if not self.threads:
            self.close()

    def wait(self, recipe: Recipe) -> None:
        """Return when the recipe's cases are in the cache, or won't be."""
        if recipe in self.settled:
            self.settled[recipe].wait()

    def serve(self) -> None:
        """Give one process recipe after recipe; the next one to a new process if it ended or did not start."""
        process: subprocess.Popen[bytes] | None = None
        with suppress(queue.Empty):
            while not self.closed:
                recipe = self.todo.get_nowait()
                try:
                    process = process or self.start()
                    alive = made_by(process, recipe)
                except Exception:  # whatever it is, the caller makes the cases, and must not wait for ever
                    alive = False
                if process and not alive:
                    self.end(process)
                    process = None
                self.settled[recipe].set()
        if process:
            self.end(process)

    def start(self) -> subprocess.Popen[bytes]:
        """A new process. OSError if it can't be started, or must not any more."""
        with self.lock:
            if self.closed:
                raise OSError("closed")
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # what it can't make is made here, and fails here in the open
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for us; we end it
            )
            self.processes.add(process)
            return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                pipe.close()
        with self.lock:
            self.processes.discard(process)

    def close(self) -> None:
        """End all processes at once; nobody waits for them any more."""
        with self.lock:
            self.closed = True
            for process in self.processes:
                process.kill()
        for event in self.settled.values():
            event.set()
        for thread in self.threads:
            thread.join(TIDYING)


def made_by(process: subprocess.Popen[bytes], recipe: Recipe) -> bool:
    """Have a process make the recipe's cases. False if it ended, OSError if it had ended before."""
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(asdict(recipe)).encode() + b"\n")
    return process.stdout.readline() in (DONE, FAILED)


def main() -> None:
    """Make the cases of one recipe after the other."""
    cache = CaseCache(Path(sys.argv[1]))
    answers, requests = os.dup(1), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)  # whatever prints can't break a line
    recipes: queue.SimpleQueue[Recipe] = queue.SimpleQueue()
    threading.Thread(target=read_requests, args=(requests, recipes), daemon=True).start()
    while True:
        recipe = recipes.get()
        done = cache.put(recipe.key(), recipe.make())
        os.write(answers, DONE if done else FAILED)


def read_requests(requests: BinaryIO, recipes: queue.SimpleQueue[Recipe]) -> None:
    """Hand the recipes on; end this process, whatever it is making, once nobody can want it."""
    for line in requests:
        recipes.put(Recipe(**json.loads(line)))
    os._exit(0)


if __name__ == "__main__":
    main()
