"""Runs one case on one backend object in this process: a worker, or with --in-process Tiebreak itself."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy import array as new_array  # bound now, since a backend may replace numpy.array

from tiebreak.adapters import frames
from tiebreak.adapters.claims import claims_of
from tiebreak.adapters.outcome import (
    ADAPTER,
    CHANGED,
    EXCEPTION,
    LEFT_CHANGED,
    NOT_ASKED,
    NOT_DETERMINISTIC,
    OUT_OF_MEMORY,
    WRONG_OUTPUT,
    Outcome,
)
from tiebreak.adapters.own_mistakes import is_own_mistake
from tiebreak.adapters.protocol import Backend, Run
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.errors import InvalidInput, MissingType, Unsupported
from tiebreak.golden.make_node import node_from_key
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array
from tiebreak.golden.untrusted_text import safe_text

LONGEST_MESSAGE = 2000
LONGEST_SCRIPT = 1 << 20
MOST_OUTPUTS = 64


HEADER = ("message", "seconds", "fault", "refused", "compiling", "alone")
USUAL = {name: getattr(Outcome("ok"), name) for name in HEADER}


NO_CONSTANTS = "an input known at compile time: the backend does not say takes_constants"


class NotAsked(Unsupported):
    """Tiebreak does not put this node to the backend."""


class LeftChanged(Exception):  # noqa: N818 - says what happened
    """compile() left the processor's floating-point mode changed."""


class WrongOutput(TypeError):  # noqa: N818 - says what it is
    """run() returned something other than a tuple of tensors that can be sent between processes."""


class Answerer:
    """Compiles each node once, keeps it, and runs each case twice.

    Every exception of the backend is caught, KeyboardInterrupt included. It is never Ctrl-C: a worker has a session of
    its own, and in Tiebreak's own process only the main thread gets it, in which no backend runs.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.compiled: dict[str, Run | BaseException] = {}

    def describe(self) -> dict[str, Any]:
        """Name, version, claims and maps as bounded text. InvalidInput if one of them is unusable."""
        claims = claims_of(self.backend)
        name, version = (checked_name(what, getattr(self.backend, what)) for what in ("name", "version"))
        built_in = sorted(safe_text(name, 200) for name in getattr(self.backend, "always_constant", ()))
        return {"name": name, "version": version, "always_constant": built_in, **claims.header()}

    def answer(self, key: str, inputs: Sequence[Array]) -> Outcome:
        """The outcome of a case, given a node's key and its inputs; never raises for what the backend does."""
        try:
            run = self.compile_once(key)
        except (NotAsked, MissingType) as reason:
            return Outcome("unsupported", message=message_of(reason), fault=NOT_ASKED, refused=True)
        except Unsupported as reason:
            return Outcome("unsupported", message=message_of(reason), refused=True)
        except BaseException as error:
            return failed_outcome(error)
        try:
            return run_twice(run, inputs)
        except Unsupported as reason:
            return Outcome("unsupported", message=message_of(reason))
        except BaseException as error:
            return failed_outcome(error)

    def prepare(self, key: str) -> None:
        """Compile a node and keep the result or the error for `answer`."""
        with suppress(BaseException):
            self.compile_once(key)

    def compile_once(self, key: str) -> Run:
        """The compiled node, compiled at most once; an error is remembered and raised again."""
        if key not in self.compiled:
            try:
                self.compiled[key] = self.compile(node_from_key(key))
            except BaseException as error:
                self.compiled[key] = error
        found = self.compiled[key]
        if isinstance(found, BaseException):
            raise found
        return found

    def compile(self, node: Node) -> Run:
        if node.baked and not getattr(self.backend, "takes_constants", False):
            raise NotAsked(NO_CONSTANTS)
        run = self.backend.compile(node)
        if not callable(run):
            raise WrongOutput(f"compile() returned {type(run).__name__}, not a function")
        return run

    def attestation(self, keys: Sequence[str]) -> dict[str, str]:
        """What the backend attests after compiling these nodes, and whether it flushes subnormals in this thread."""
        from tiebreak.golden import _kernel

        attest: Callable[[], Any] = getattr(self.backend, "attest", dict)
        try:
            for key in keys:
                self.compile_once(key)
            told = {safe_text(key, 100): safe_text(value, 500) for key, value in dict(attest()).items()}
        except BaseException as error:
            told = {"attestation failed": message_of(error)}
        told["flushes subnormals in the calling thread"] = "yes" if _kernel.subnormals_flushed() else "no"
        return told

    def reproducer(self, key: str, inputs: Sequence[Array]) -> str:
        """The backend's lines of a standalone script. Raises Unsupported if the backend writes none."""
        write: Callable[[Node, Sequence[Array]], str] | None = getattr(self.backend, "reproducer", None)
        if write is None:
            raise Unsupported("the backend writes no reproducers")
        lines = write(node_from_key(key), inputs)
        if not isinstance(lines, str):
            raise WrongOutput(f"reproducer() returned {type(lines).__name__}, not Python lines as one text")
        if not lines.strip():
            raise WrongOutput("reproducer() returned an empty text, not Python lines")
        return safe_text(lines, LONGEST_SCRIPT)


def checked_name(what: str, value: object) -> str:
    """A backend's name or version, bounded. InvalidInput unless it is text with a visible character."""
    if not isinstance(value, str) or not safe_text(value, 200).strip():
        raise InvalidInput(f"its {what} is {bounded_repr(value)}; a text that is not empty is wanted")
    return safe_text(value, 200)


def bounded_repr(value: object) -> str:
    try:
        return safe_text(repr(value), 80)
    except Exception:
        return f"a {type(value).__name__}"


def run_twice(run: Run, inputs: Sequence[Array]) -> Outcome:
    """Run twice on copies of the inputs, which a backend may overwrite; both runs must give the same bits."""
    started = perf_counter()
    first = copied_outputs(run(*copies(inputs)))
    seconds = perf_counter() - started
    second = copied_outputs(run(*copies(inputs)))
    change = difference(first, second)
    if change:
        return Outcome("error", message=change, seconds=seconds, fault=NOT_DETERMINISTIC)
    return Outcome("ok", tuple(first), seconds=seconds)


def copies(arrays: Sequence[Array]) -> list[Array]:
    return [array.copy() for array in arrays]


def copied_outputs(outputs: Any) -> list[Array]:
    """Copies of the outputs in native byte order and C order. WrongOutput unless they are a tuple of usable arrays."""
    if not isinstance(outputs, tuple | list):
        raise WrongOutput(f"run() returned {type(outputs).__name__}, not a tuple of numpy arrays")
    if len(outputs) > MOST_OUTPUTS:
        raise WrongOutput(f"run() returned {len(outputs)} outputs")
    for output in outputs:
        check_tensor(output)
    return [new_array(output, dtype=output.dtype.newbyteorder("="), order="C") for output in outputs]


def check_tensor(output: Any) -> None:
    """WrongOutput unless it is an array of numbers that is small enough to copy."""
    if not isinstance(output, np.ndarray | np.generic):
        raise WrongOutput(f"run() returned a tuple with {type(output).__name__}, not of numpy arrays")
    try:
        frames.dtype_named(frames.name_of(output.dtype))
    except ValueError as error:
        raise WrongOutput(str(error)) from None
    if output.size * output.dtype.itemsize > frames.MOST_BYTES:  # a view with strides of 0 can claim any size
        raise WrongOutput(f"run() returned an array of shape {list(output.shape)}, more than 2 GiB")
    if "numpy.ma" in sys.modules and np.ma.is_masked(output):
        raise WrongOutput("run() returned a masked array: what is masked has no value")


def difference(first: Sequence[Array], second: Sequence[Array]) -> str:
    """How the outputs of two identical calls differ; empty if they don't. All NaNs count as equal."""
    if all(map(same_bytes, first, second)) and len(first) == len(second):  # nearly always
        return ""
    changed = "outputs change between two identical calls"
    if [(a.shape, a.dtype) for a in first] != [(b.shape, b.dtype) for b in second]:
        return f"{changed}: {types_and_shapes(first)}, then {types_and_shapes(second)}"
    for number, (a, b) in enumerate(zip(first, second, strict=True)):
        word = f"u{a.dtype.itemsize}"
        differs = a.reshape(-1).view(word) != b.reshape(-1).view(word)
        if isinstance(ELEMENT_TYPES.get(a.dtype.name), FloatType):
            differs &= ~((a != a) & (b != b)).reshape(-1)
        if differs.any():
            i = int(np.flatnonzero(differs)[0])
            was, then = (int(array.reshape(-1).view(word)[i]) for array in (a, b))
            return f"{changed}: {CHANGED.format(number, i, was, then)}"
    return ""


def same_bytes(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def types_and_shapes(arrays: Sequence[Array]) -> str:
    return ", ".join(f"{array.dtype.name}{list(array.shape)}" for array in arrays)[:200]


def failed_outcome(error: BaseException) -> Outcome:
    """The outcome for an exception that the backend raised."""
    fault = OUT_OF_MEMORY if isinstance(error, MemoryError) else EXCEPTION
    fault = WRONG_OUTPUT if isinstance(error, WrongOutput) else fault
    fault = LEFT_CHANGED if isinstance(error, LeftChanged) else fault
    if is_own_mistake(error):
        return Outcome(
            "error", message=f"Tiebreak's adapter failed: {message_of(error)}{place_of(error)}", fault=ADAPTER
        )
    return Outcome("error", message=message_of(error) + raised_at(error, fault), fault=fault)


def raised_at(error: BaseException, fault: str) -> str:
    """Where an exception was raised: file, line and function. For a syntax error: where the error is."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" (at {Path(error.filename).name}:{error.lineno})" if error.lineno else ""
    frames_ = frames_of(error)
    if fault in (WRONG_OUTPUT, LEFT_CHANGED) or not frames_:
        return ""
    if Path(frames_[-1].filename).parent == Path(__file__).parent:
        return ""  # the message of a built-in adapter says enough
    return place_of(error)


def place_of(error: BaseException) -> str:
    """The file, line and function of the frame that raised; empty if there is none."""
    last = frames_of(error)[-1:]
    return "".join(f" (at {Path(frame.filename).name}:{frame.lineno} in {frame.name})" for frame in last)


def frames_of(error: BaseException) -> list[traceback.FrameSummary]:
    return [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<frozen")]


def message_of(error: BaseException) -> str:
    """The error in one line, with its type unless it is one of Tiebreak's."""
    text = " ".join(safe_text(error, LONGEST_MESSAGE).split()) or "no message"
    own = isinstance(error, Unsupported | InvalidInput | WrongOutput | LeftChanged)
    return (text if own else f"{type(error).__name__}: {text}")[:LONGEST_MESSAGE]


def as_header(outcome: Outcome) -> Mapping[str, Any]:
    """An outcome without its outputs, for a worker's reply; what is as usual is left off."""
    found = {name: value for name in HEADER if (value := getattr(outcome, name)) != USUAL[name]}
    return {"status": outcome.status, **found}
