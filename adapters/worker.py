"""The worker process: loads one backend and runs the cases that it is sent.

`python -m tiebreak.adapters.worker SPEC FILE [CORES]`, where FILE is the descriptor of the shared memory and CORES are
the processor's cores to stay on, such as 1,3. Requests come as JSON
lines on standard input and answers leave, a line for each case, on the original standard output; tensors go through the
shared memory. Whatever the backend prints goes to standard error, so it can't break a line.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, BinaryIO

from tiebreak.adapters import registry
from tiebreak.adapters.answering import Answerer, as_header, message_of, place_of
from tiebreak.adapters.arena import Arena, put_all
from tiebreak.adapters.sweeping import answer_block
from tiebreak.golden.errors import InvalidInput

OWN = os.getpid()
TIDYING = 1.5  # seconds for ending by ourselves when no more requests come
GRACE = 30.0  # seconds after which a worker that nobody stopped ends itself


def main() -> None:
    spec, arena = sys.argv[1], Arena(int(sys.argv[2]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is recorded, not dumped
    if sys.argv[3:]:  # before a library counts them
        os.sched_setaffinity(0, set(map(int, sys.argv[3].split(","))))
    answers = os.fdopen(os.dup(1), "wb")
    requests = os.fdopen(os.dup(0), "rb")
    threading.Thread(target=end_with_parent, args=(requests.fileno(),), daemon=True).start()  # loading may hang, too
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        answerer = Answerer(registry.load(spec))
        hello = answerer.describe()
    except BaseException as error:  # the user's module may do anything, sys.exit included
        place = "" if kind_of(error) != "error" else place_of(error, "")
        send(answers, {"status": "failed", "kind": kind_of(error), "message": message_of(error) + place})
        return
    send(answers, {"status": "ready", **hello})
    for line in requests:
        serve(answerer, arena, json.loads(line), answers)


def end_with_parent(requests: int) -> None:
    """Nobody stops a hanging worker, and what it started, if the parent was killed: the pipe from it is closed then."""
    pipe = select.poll()
    pipe.register(requests, 0)  # which tells of the end only
    pipe.poll()
    import psutil  # seldom needed

    time.sleep(TIDYING)  # a parent that lives lets us end by ourselves first
    with suppress(psutil.Error):
        for child in psutil.Process().children(recursive=True):
            child.kill()
    if os.getpgrp() == OWN:
        os.killpg(OWN, signal.SIGKILL)
    os._exit(1)


def kind_of(error: BaseException) -> str:
    if isinstance(error, InvalidInput):
        return "usage"
    return "not-installed" if isinstance(error, ModuleNotFoundError) else "error"


def serve(answerer: Answerer, arena: Arena, request: Mapping[str, Any], answers: BinaryIO) -> None:
    """Answer one request."""
    if request["request"] == "run":
        run_batch(answerer, arena, request, answers)
    elif request["request"] == "sweep":
        send(answers, answer_block(answerer, arena, request))
    elif request["request"] == "attest":
        send(answers, {"attestation": answerer.attestation(request["nodes"])})
    else:
        inputs = [arena.get(tensor) for tensor in request["tensors"]]
        try:
            send(answers, {"lines": answerer.reproducer(request["node"], inputs)})
        except Exception as error:
            send(answers, {"lines": "", "message": message_of(error)})


def run_batch(answerer: Answerer, arena: Arena, request: Mapping[str, Any], answers: BinaryIO) -> None:
    """A line for each case as soon as it is done, so that the one that never comes is the one to blame."""
    arena.reset(request["free"])
    # Where the backend hangs with the interpreter's lock held, only this ends a worker whose parent was killed.
    faulthandler.dump_traceback_later(request["limit"] * len(request["cases"]) + GRACE, exit=True)
    for number, case in enumerate(request["cases"]):
        inputs = [arena.get(tensor) for tensor in case["tensors"]]
        key = request["nodes"][case["node"]]
        if key not in answerer.compiled:
            send(answers, {"compiling": number})
            answerer.prepare(key)
            send(answers, {"compiled": number})
        outcome = answerer.answer(key, inputs)
        tensors = put_all(arena, outcome.outputs)
        send(answers, {"case": number, **as_header(outcome), "tensors": tensors})
    faulthandler.cancel_dump_traceback_later()


def send(answers: BinaryIO, header: Mapping[str, Any]) -> None:
    if os.getpid() != OWN:  # a child that the backend forked and let return
        os._exit(0)
    answers.write(json.dumps(header).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
