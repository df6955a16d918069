"""The worker process: loads one backend and runs the cases that it is sent.

`python -m tiebreak.adapters.worker SPEC FILE [CORES]`: FILE is the descriptor of the shared memory, and CORES are the
processor's cores that it may use, such as 1,3. Requests are JSON lines on standard input. Answers are JSON lines, one
for each case, on the original standard output. Tensors pass through the shared memory. Whatever the backend prints goes
to standard error, so that it can't break a line.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from json import dumps  # bound now, since a backend may replace it
from os import fstat, getpid
from typing import Any, BinaryIO

from tiebreak.adapters import registry
from tiebreak.adapters.answering import Answerer, LeftChanged, as_header, message_of, raised_at
from tiebreak.adapters.arena import Arena
from tiebreak.adapters.float_mode import FloatMode
from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.outcome import GARBAGE, LEFT_CHANGED, NOT_DETERMINISTIC, Outcome
from tiebreak.adapters.process_state import ProcessState
from tiebreak.golden.errors import InvalidInput, MissingType, NoDevice, Unsupported
from tiebreak.golden.problem import Array

OWN = getpid()
PR_SET_CHILD_SUBREAPER = 36  # of Linux
TIDYING = 1.5  # seconds in which the worker may end by itself when no more requests come
GRACE = 30.0  # seconds beyond the time limits after which a worker that nobody stopped ends itself


def main() -> None:
    spec, arena = sys.argv[1], Arena(int(sys.argv[2]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is recorded, not dumped
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the signal ends it; KeyboardInterrupt is the backend's
    if sys.argv[3:]:  # before a library counts them
        os.sched_setaffinity(0, set(map(int, sys.argv[3].split(","))))
    adopt_orphans()
    answers = os.fdopen(os.dup(1), "wb")
    requests = os.fdopen(os.dup(0), "rb")
    threading.Thread(target=end_with_parent, args=(requests.fileno(),), daemon=True).start()  # loading may hang, too
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    answerer = load(spec, answers)
    for line in requests:
        if answerer is None:  # it did not load, and no other backend answers for it
            return
        request = json.loads(line)
        if request["request"] == "load":  # another backend of the same library, in its place
            answerer = load(request["spec"], answers)
        elif not answer_request(answerer, arena, request, answers):
            os._exit(0)  # another worker takes over; exit handlers may be spoiled, so none run


def load(spec: str, answers: BinaryIO) -> Answerer | None:
    """Load a backend and introduce it, or say why it does not load."""
    try:
        answerer = Answerer(registry.load_backend(spec))
        hello = answerer.describe()
    except BaseException as error:  # a user's module may raise anything, SystemExit included
        place = "" if load_failure_kind(error) != "error" else raised_at(error, "")
        send(answers, {"status": "failed", "kind": load_failure_kind(error), "message": message_of(error) + place})
        return None
    send(answers, {"status": "ready", **hello})
    return answerer


def adopt_orphans() -> None:
    """Keep all processes that the backend starts below this one, even daemons, so that they are counted and ended."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent(requests: int) -> None:
    """End this process and its children when the parent is gone: its pipe is closed then, even if it was killed."""
    pipe = select.poll()
    pipe.register(requests, 0)  # reports only that the pipe was closed
    pipe.poll()
    import psutil  # seldom needed

    time.sleep(TIDYING)  # a living parent lets the worker end by itself first
    with suppress(psutil.Error):
        for child in psutil.Process().children(recursive=True):
            child.kill()
    if os.getpgrp() == OWN:
        os.killpg(OWN, signal.SIGKILL)
    os._exit(1)


def load_failure_kind(error: BaseException) -> str:
    if isinstance(error, InvalidInput):
        return "usage"
    if isinstance(error, NoDevice):
        return "no-device"
    return "not-installed" if isinstance(error, ModuleNotFoundError) else "error"


def answer_request(answerer: Answerer, arena: Arena, request: Mapping[str, Any], answers: BinaryIO) -> bool:
    """Answer one request; returns whether this process can answer more."""
    if request["request"] == "run":
        return run_batch(answerer, arena, request, answers)
    if request["request"] == "sweep":
        from tiebreak.adapters.sweeping import answer_block  # most workers never need it

        send(answers, answer_block(answerer, arena, request))
    elif request["request"] == "attest":
        send(answers, {"attestation": answerer.attestation(request["nodes"])})
    else:
        inputs = [array.copy() for array in arena.get(request["inputs"])]
        try:
            send(answers, {"lines": answerer.reproducer(request["node"], inputs)})
        except Unsupported as reason:
            send(answers, {"lines": "", "message": message_of(reason)})
        except BaseException as error:  # the backend's code may raise anything
            text = f"reproducer() failed: {message_of(error)}{raised_at(error, '')}"
            send(answers, {"lines": "", "failed": True, "message": text})
    return True


def run_batch(answerer: Answerer, arena: Arena, request: Mapping[str, Any], answers: BinaryIO) -> bool:
    """Run a batch. Writes a line for each case as soon as it is done, so that the case without a line is to blame.

    Returns False if a case spoiled the process; another worker then runs the rest of the batch.
    """
    arena.reset(request["free"])
    # Where the backend hangs with the interpreter's lock held, only this ends a worker whose parent was killed.
    most = request["limit"] * len(request["cases"]) + GRACE
    faulthandler.dump_traceback_later(most, exit=True, file=2)  # not sys.stderr, which the backend may have replaced
    state, following = ProcessState(), first_inputs(arena, request["cases"][:1])
    for number, case in enumerate(request["cases"]):
        inputs = following
        key = request["nodes"][case["node"]]
        if key not in answerer.compiled:
            send(answers, {"compiling": number})
            prepare(answerer, key)
            send(answers, {"compiled": number})
            state = ProcessState()  # changes made by compiling are accepted
        outcome, spoiled = check_state_after(answerer.answer(key, inputs), state)
        spoiled &= request.get("replace", False)
        try:
            following = first_inputs(arena, request["cases"][number + 1 : number + 2])
        except BrokenFrame as damage:
            outcome, spoiled = Outcome("error", message=f"while it ran, {damage}", fault=GARBAGE), True
        header = {"case": number, **as_header(outcome), "outputs": arena.put(outcome.outputs)}
        send(answers, header | {"spoiled": True} if spoiled else header)
        if spoiled:
            return False
    faulthandler.cancel_dump_traceback_later()
    return True


def first_inputs(arena: Arena, cases: Sequence[Mapping[str, Any]]) -> tuple[Array, ...]:
    """Copies of the inputs of the one case, or none. BrokenFrame if the backend overwrote them.

    There are none, either, where a type is missing; then its node is not compiled, so that nothing runs.
    """
    with suppress(MissingType):
        return arena.get(cases[0]["inputs"]) if cases else ()
    return ()


def prepare(answerer: Answerer, key: str) -> None:
    """Compile a node. A library may start to flush subnormals, which the attestation reports, but nothing else."""
    before = FloatMode()
    answerer.prepare(key)
    if changed := [name for name in before.changed() if "subnormals" not in name]:
        before.put_back()
        answerer.compiled[key] = LeftChanged(f"compile() left {' and '.join(changed)} changed")


def check_state_after(outcome: Outcome, state: ProcessState) -> tuple[Outcome, bool]:
    """Restore the state; the outcome, an error if the floating-point mode was changed, and whether state is lost."""
    changed, lost = state.put_back()
    if changed and (
        outcome.status == "ok" or outcome.fault == NOT_DETERMINISTIC
    ):  # the changed mode may be the very reason
        message = f"run() left {' and '.join(changed)} changed"
        outcome = Outcome("error", message=message, seconds=outcome.seconds, fault=LEFT_CHANGED)
    return outcome, lost


def send(answers: BinaryIO, header: Mapping[str, Any]) -> None:
    if getpid() != OWN:  # a forked child of the backend that returned
        os._exit(0)
    answers.write(dumps({**header, "stderr": written_errors()}).encode() + b"\n")
    answers.flush()


def written_errors() -> int:
    """The length of standard error, in bytes: what stands before it is not about the cases to come. -1 if unknown."""
    try:
        return fstat(2).st_size
    except OSError:  # the backend closed it
        return -1


if __name__ == "__main__":
    main()
