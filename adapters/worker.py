"""The worker process: loads one backend and runs the cases that it is sent. `python -m tiebreak.adapters.worker SPEC`.

Requests come on standard input and answers leave on the original standard output; whatever the backend prints goes to
standard error, so it can't break a frame.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from io import BufferedReader
from typing import Any, BinaryIO

import numpy as np

from tiebreak.adapters import frames, registry
from tiebreak.adapters.protocol import Backend, Run
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.nodes import node_from_key
from tiebreak.golden.problem import Array

LONGEST_MESSAGE = 2000


def main() -> None:
    spec = sys.argv[1]
    answers = os.fdopen(os.dup(1), "wb")
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        backend = registry.load(spec)
        hello = describe(backend)
    except BaseException as error:  # the user's module may do anything, sys.exit included
        send(answers, {"status": "failed", "kind": kind_of(error), "message": message_of(error)})
        return
    send(answers, {"status": "ready", **hello})
    serve(backend, requests, answers)


def describe(backend: Backend) -> dict[str, Any]:
    """Name, version and claimed operators, as text whatever the backend put there."""
    operators = getattr(backend, "operators", None)
    claimed = None if operators is None else sorted(str(name) for name in operators)
    return {"name": str(backend.name)[:200], "version": str(backend.version)[:200], "operators": claimed}


def kind_of(error: BaseException) -> str:
    if isinstance(error, InvalidInput):
        return "usage"
    return "not-installed" if isinstance(error, ModuleNotFoundError) else "error"


def message_of(error: BaseException) -> str:
    """The error in one line, with its type unless it is our own."""
    text = " ".join(str(error).split()) or "no message"
    own = isinstance(error, Unsupported | InvalidInput)
    return (text if own else f"{type(error).__name__}: {text}")[:LONGEST_MESSAGE]


def serve(backend: Backend, requests: BufferedReader, answers: BinaryIO) -> None:
    """Answer each request until the pipe closes; one node is compiled once and kept."""
    compiled: dict[str, Run | Exception] = {}
    while True:
        if not requests.peek(1):
            return
        header, inputs = frames.decode(requests.readline, requests.read)
        if header["request"] == "attest":
            send(answers, {"status": "ok", "attestation": attestation(backend)})
            continue
        reply, outputs = answer(backend, compiled, header["node"], inputs)
        send(answers, reply, outputs)


def attestation(backend: Backend) -> dict[str, str]:
    """What the backend says of itself, and whether it left subnormals flushed in this process."""
    from tiebreak.golden import _kernel

    attest: Callable[[], Any] = getattr(backend, "attest", dict)
    try:
        told = {str(key)[:100]: str(value)[:500] for key, value in dict(attest()).items()}
    except Exception as error:
        told = {"attestation failed": message_of(error)}
    told["flushes subnormals in the calling thread"] = "yes" if _kernel.subnormals_flushed() else "no"
    return told


def answer(
    backend: Backend, compiled: dict[str, Run | Exception], key: str, inputs: list[Array]
) -> tuple[dict[str, Any], list[Array]]:
    try:
        run = compile_once(backend, compiled, key)
    except Unsupported as reason:
        return {"status": "unsupported", "message": message_of(reason), "node": "refused"}, []
    except Exception as error:
        return {"status": "error", "message": message_of(error)}, []
    try:
        started = time.perf_counter()
        outputs = run(*inputs)
        seconds = time.perf_counter() - started
        return {"status": "ok", "seconds": seconds}, checked(outputs)
    except Unsupported as reason:
        return {"status": "unsupported", "message": message_of(reason)}, []
    except Exception as error:
        return {"status": "error", "message": message_of(error)}, []


def compile_once(backend: Backend, compiled: dict[str, Run | Exception], key: str) -> Run:
    """The compiled node; a refusal is remembered too and raised again."""
    if key not in compiled:
        try:
            compiled[key] = backend.compile(node_from_key(key))
        except Exception as error:
            compiled[key] = error
    found = compiled[key]
    if isinstance(found, Exception):
        raise found
    return found


def checked(outputs: Any) -> list[Array]:
    """The outputs, if they are a tuple of arrays of types that can travel; TypeError otherwise."""
    if not isinstance(outputs, tuple | list) or not all(
        isinstance(output, np.ndarray | np.generic) for output in outputs
    ):
        raise TypeError(f"run() returned {type(outputs).__name__}, not a tuple of numpy arrays")
    for output in outputs:
        frames.dtype_named(output.dtype.name)
    return [np.asarray(output) for output in outputs]


def send(answers: BinaryIO, header: dict[str, Any], arrays: list[Array] | None = None) -> None:
    answers.write(frames.encode(header, arrays or []))
    answers.flush()


if __name__ == "__main__":
    main()
