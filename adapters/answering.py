"""One case on one backend object, in the process where this runs: the worker's, or with --in-process our own."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy import array as new_array  # bound now, since a backend may put another thing in its place

from tiebreak.adapters import frames
from tiebreak.adapters.outcome import (
    EXCEPTION,
    LEFT_CHANGED,
    NOT_DETERMINISTIC,
    OUT_OF_MEMORY,
    WRONG_OUTPUT,
    Outcome,
)
from tiebreak.adapters.protocol import Backend, Run
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput, Unsupported
from tiebreak.golden.make_node import node_from_key
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators import OPERATORS
from tiebreak.golden.problem import Array

LONGEST_MESSAGE = 2000
LONGEST_SCRIPT = 1 << 20
MOST_OUTPUTS = 64


# What a backend may raise: all but Ctrl-C, which is for whoever debugs it in Tiebreak's own process.
NOT_OURS: tuple[type[BaseException], ...] = (Exception, SystemExit, GeneratorExit)


class LeftChanged(Exception):  # noqa: N818 - says what happened
    """compile() left changed how the processor computes."""


class WrongOutput(TypeError):  # noqa: N818 - says what it is
    """What run() returned is no tuple of tensors that can travel."""


class Answerer:
    """Compiles each node once, keeps it, and runs each case twice."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.compiled: dict[str, Run | BaseException] = {}

    def describe(self) -> dict[str, Any]:
        """Name, version and claimed operators, as text whatever the backend put there. InvalidInput if it can't be."""
        operators = getattr(self.backend, "operators", None)
        if isinstance(operators, str):
            raise InvalidInput(f"its operators are text, {text_of(operators, 80)!r}; a set of ids is wanted")
        claimed = None if operators is None else sorted(text_of(name, 200) for name in operators)
        if claimed and not set(claimed) & set(OPERATORS):
            raise InvalidInput(f"it claims {', '.join(claimed)[:200]}, no operator; known: {', '.join(OPERATORS)}")
        name, version = (named(what, getattr(self.backend, what)) for what in ("name", "version"))
        built_in = sorted(text_of(name, 200) for name in getattr(self.backend, "always_constant", ()))
        return {"name": name, "version": version, "operators": claimed, "always_constant": built_in}

    def answer(self, key: str, inputs: Sequence[Array]) -> Outcome:
        """What the backend makes of a case; never raises for what the backend does."""
        try:
            run = self.compile_once(key)
        except Unsupported as reason:
            return Outcome("unsupported", message=message_of(reason), refused=True)
        except NOT_OURS as error:
            return failed(error)
        try:
            return run_twice(run, inputs)
        except Unsupported as reason:
            return Outcome("unsupported", message=message_of(reason))
        except NOT_OURS as error:
            return failed(error)

    def prepare(self, key: str) -> None:
        """Compile a node; what comes of it is kept for `answer`."""
        with suppress(*NOT_OURS):
            self.compile_once(key)

    def compile_once(self, key: str) -> Run:
        """The compiled node; a refusal is remembered too and raised again."""
        if key not in self.compiled:
            try:
                self.compiled[key] = self.compile(node_from_key(key))
            except NOT_OURS as error:
                self.compiled[key] = error
        found = self.compiled[key]
        if isinstance(found, BaseException):
            raise found
        return found

    def compile(self, node: Node) -> Run:
        if node.baked and not getattr(self.backend, "takes_constants", False):
            raise Unsupported("an input known at compile time: the backend does not say takes_constants")
        run = self.backend.compile(node)
        if not callable(run):
            raise WrongOutput(f"compile() returned {type(run).__name__}, not a function")
        return run

    def attestation(self, keys: Sequence[str]) -> dict[str, str]:
        """What the backend says of itself having compiled these nodes, and whether it left subnormals flushed here."""
        from tiebreak.golden import _kernel

        attest: Callable[[], Any] = getattr(self.backend, "attest", dict)
        try:
            for key in keys:
                self.compile_once(key)
            told = {text_of(key, 100): text_of(value, 500) for key, value in dict(attest()).items()}
        except Exception as error:
            told = {"attestation failed": message_of(error)}
        told["flushes subnormals in the calling thread"] = "yes" if _kernel.subnormals_flushed() else "no"
        return told

    def reproducer(self, key: str, inputs: Sequence[Array]) -> str:
        """The backend's own lines of a standalone script. Raises Unsupported if it writes none."""
        write: Callable[[Node, Sequence[Array]], str] | None = getattr(self.backend, "reproducer", None)
        if write is None:
            raise Unsupported("the backend writes no reproducers")
        lines = write(node_from_key(key), inputs)
        if not isinstance(lines, str):
            raise WrongOutput(f"reproducer() returned {type(lines).__name__}, not Python lines as one text")
        return text_of(lines, LONGEST_SCRIPT)


def named(what: str, value: object) -> str:
    """A backend's name or version. InvalidInput unless it is text with something to read in it."""
    if not isinstance(value, str) or not text_of(value, 200).strip():
        raise InvalidInput(f"its {what} is {shown(value)}; a text that is not empty is wanted")
    return text_of(value, 200)


def shown(value: object) -> str:
    try:
        return text_of(repr(value), 80)
    except Exception:
        return f"a {type(value).__name__}"


def run_twice(run: Run, inputs: Sequence[Array]) -> Outcome:
    """Run on copies of the inputs, since a backend may write into them, and again; both must give the same."""
    started = perf_counter()
    first = checked(run(*copies(inputs)))
    seconds = perf_counter() - started
    second = checked(run(*copies(inputs)))
    change = difference(first, second)
    if change:
        return Outcome("error", message=change, seconds=seconds, fault=NOT_DETERMINISTIC)
    return Outcome("ok", tuple(first), seconds=seconds)


def copies(arrays: Sequence[Array]) -> list[Array]:
    return [array.copy() for array in arrays]


def checked(outputs: Any) -> list[Array]:
    """Copies of the outputs, if they are a tuple of arrays of types that can travel; WrongOutput otherwise."""
    if not isinstance(outputs, tuple | list):
        raise WrongOutput(f"run() returned {type(outputs).__name__}, not a tuple of numpy arrays")
    if len(outputs) > MOST_OUTPUTS:
        raise WrongOutput(f"run() returned {len(outputs)} outputs")
    for output in outputs:
        check_output(output)
    return [new_array(output, dtype=output.dtype.newbyteorder("="), order="C") for output in outputs]


def check_output(output: Any) -> None:
    """WrongOutput for what is no array of numbers, or too much to copy."""
    if not isinstance(output, np.ndarray | np.generic):
        raise WrongOutput(f"run() returned a tuple with {type(output).__name__}, not of numpy arrays")
    try:
        frames.dtype_named(output.dtype.name)
    except ValueError as error:
        raise WrongOutput(str(error)) from None
    if output.size * output.dtype.itemsize > frames.MOST_BYTES:  # that a view with strides of 0 never had in memory
        raise WrongOutput(f"run() returned an array of shape {list(output.shape)}, more than 2 GiB")
    if "numpy.ma" in sys.modules and np.ma.is_masked(output):
        raise WrongOutput("run() returned a masked array: what is masked has no value")


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


def failed(error: BaseException) -> Outcome:
    """An exception's outcome."""
    fault = OUT_OF_MEMORY if isinstance(error, MemoryError) else EXCEPTION
    fault = WRONG_OUTPUT if isinstance(error, WrongOutput) else fault
    fault = LEFT_CHANGED if isinstance(error, LeftChanged) else fault
    return Outcome("error", message=message_of(error) + place_of(error, fault), fault=fault)


def place_of(error: BaseException, fault: str) -> str:
    """Where an exception was raised, as file, line and function; of what can't be parsed, where that is."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" (at {Path(error.filename).name}:{error.lineno})" if error.lineno else ""
    frames_ = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<frozen")]
    if fault in (WRONG_OUTPUT, LEFT_CHANGED) or not frames_:
        return ""
    if Path(frames_[-1].filename).parent == Path(__file__).parent:
        return ""  # an adapter of ours says enough
    return f" (at {Path(frames_[-1].filename).name}:{frames_[-1].lineno} in {frames_[-1].name})"


def message_of(error: BaseException) -> str:
    """The error in one line, with its type unless it is our own."""
    text = " ".join(text_of(error, LONGEST_MESSAGE).split()) or "no message"
    own = isinstance(error, Unsupported | InvalidInput | WrongOutput | LeftChanged)
    return (text if own else f"{type(error).__name__}: {text}")[:LONGEST_MESSAGE]


def text_of(value: object, longest: int) -> str:
    """A value of the backend's as text that can be written anywhere: without lone surrogates, cut, never raising."""
    try:
        return str(value)[:longest].encode("utf-8", "replace").decode()
    except Exception as error:
        return f"(its text can't be had: {type(error).__name__})"


def as_header(outcome: Outcome) -> Mapping[str, Any]:
    """An outcome without its outputs, for a worker's reply."""
    return {
        "status": outcome.status,
        "message": outcome.message,
        "seconds": outcome.seconds,
        "fault": outcome.fault,
        "refused": outcome.refused,
        "compiling": outcome.compiling,
        "alone": outcome.alone,
    }
