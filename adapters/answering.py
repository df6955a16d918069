"""One case on one backend object, in the process where this runs: the worker's, or with --in-process our own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tiebreak.adapters import frames
from tiebreak.adapters.outcome import EXCEPTION, NOT_DETERMINISTIC, OUT_OF_MEMORY, Outcome
from tiebreak.adapters.protocol import Backend, Run
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.nodes import Node, node_from_key
from tiebreak.golden.problem import Array

LONGEST_MESSAGE = 2000


class Answerer:
    """Compiles each node once, keeps it, and runs each case twice."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.compiled: dict[str, Run | Exception] = {}

    def describe(self) -> dict[str, Any]:
        """Name, version and claimed operators, as text whatever the backend put there."""
        operators = getattr(self.backend, "operators", None)
        claimed = None if operators is None else sorted(str(name) for name in operators)
        return {"name": str(self.backend.name)[:200], "version": str(self.backend.version)[:200], "operators": claimed}

    def answer(self, key: str, inputs: Sequence[Array]) -> Outcome:
        """What the backend makes of a case; never raises for what the backend does."""
        try:
            run = self.compile_once(key)
        except Unsupported as reason:
            return Outcome("unsupported", message=message_of(reason), refused=True)
        except Exception as error:
            return failed(error)
        try:
            return run_twice(run, inputs)
        except Unsupported as reason:
            return Outcome("unsupported", message=message_of(reason))
        except Exception as error:
            return failed(error)

    def compile_once(self, key: str) -> Run:
        """The compiled node; a refusal is remembered too and raised again."""
        if key not in self.compiled:
            try:
                self.compiled[key] = self.compile(node_from_key(key))
            except Exception as error:
                self.compiled[key] = error
        found = self.compiled[key]
        if isinstance(found, Exception):
            raise found
        return found

    def compile(self, node: Node) -> Run:
        if node.baked and not getattr(self.backend, "takes_constants", False):
            raise Unsupported("an input known at compile time: the backend does not say takes_constants")
        return self.backend.compile(node)

    def attestation(self, keys: Sequence[str]) -> dict[str, str]:
        """What the backend says of itself having compiled these nodes, and whether it left subnormals flushed here."""
        from tiebreak.golden import _kernel

        attest: Callable[[], Any] = getattr(self.backend, "attest", dict)
        try:
            for key in keys:
                self.compile_once(key)
            told = {str(key)[:100]: str(value)[:500] for key, value in dict(attest()).items()}
        except Exception as error:
            told = {"attestation failed": message_of(error)}
        told["flushes subnormals in the calling thread"] = "yes" if _kernel.subnormals_flushed() else "no"
        return told

    def reproducer(self, key: str, inputs: Sequence[Array]) -> str:
        """The backend's own lines of a standalone script. Raises Unsupported if it writes none."""
        write: Callable[[Node, Sequence[Array]], str] | None = getattr(self.backend, "reproducer", None)
        if write is None:
            raise Unsupported("the backend writes no reproducers")
        return str(write(node_from_key(key), inputs))


def run_twice(run: Run, inputs: Sequence[Array]) -> Outcome:
    """Run on copies of the inputs, since a backend may write into them, and again; both must give the same."""
    started = time.perf_counter()
    first = checked(run(*copies(inputs)))
    seconds = time.perf_counter() - started
    second = checked(run(*copies(inputs)))
    change = difference(first, second)
    if change:
        return Outcome("error", message=change, seconds=seconds, fault=NOT_DETERMINISTIC)
    return Outcome("ok", tuple(first), seconds=seconds)


def copies(arrays: Sequence[Array]) -> list[Array]:
    return [array.copy() for array in arrays]


def checked(outputs: Any) -> list[Array]:
    """Copies of the outputs, if they are a tuple of arrays of types that can travel; TypeError otherwise."""
    if not isinstance(outputs, tuple | list) or not all(
        isinstance(output, np.ndarray | np.generic) for output in outputs
    ):
        raise TypeError(f"run() returned {type(outputs).__name__}, not a tuple of numpy arrays")
    for output in outputs:
        frames.dtype_named(output.dtype.name)
    return [np.array(output, order="C") for output in outputs]


def difference(first: Sequence[Array], second: Sequence[Array]) -> str:
    """How the outputs of two identical calls differ, any NaN being as good as another; empty if they don't."""
    changed = "outputs change between two identical calls"
    if [(a.shape, a.dtype) for a in first] != [(b.shape, b.dtype) for b in second]:
        return f"{changed}: {described(first)}, then {described(second)}"
    for number, (a, b) in enumerate(zip(first, second, strict=True)):
        word = f"u{a.dtype.itemsize}"
        differs = a.reshape(-1).view(word) != b.reshape(-1).view(word)
        if isinstance(ELEMENT_TYPES.get(a.dtype.name), FloatType):
            differs &= ~((a != a) & (b != b)).reshape(-1)
        if differs.any():
            i = int(np.flatnonzero(differs)[0])
            was, then = (hex(int(array.reshape(-1).view(word)[i])) for array in (a, b))
            return f"{changed}: output {number}, element {i}: {was}, then {then}"
    return ""


def described(arrays: Sequence[Array]) -> str:
    return ", ".join(f"{array.dtype.name}{list(array.shape)}" for array in arrays)[:200]


def failed(error: Exception) -> Outcome:
    """An exception's outcome."""
    fault = OUT_OF_MEMORY if isinstance(error, MemoryError) else EXCEPTION
    return Outcome("error", message=message_of(error), fault=fault)


def message_of(error: BaseException) -> str:
    """The error in one line, with its type unless it is our own."""
    text = " ".join(str(error).split()) or "no message"
    own = isinstance(error, Unsupported | InvalidInput)
    return (text if own else f"{type(error).__name__}: {text}")[:LONGEST_MESSAGE]


def as_header(outcome: Outcome) -> Mapping[str, Any]:
    """An outcome without its outputs, for a worker's reply."""
    return {
        "status": outcome.status,
        "message": outcome.message,
        "seconds": outcome.seconds,
        "fault": outcome.fault,
        "refused": outcome.refused,
    }
