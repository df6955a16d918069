"""Runs blocks of a space on a backend in its worker: the worker's side, and Tiebreak's side, which keeps it busy.

The worker makes the inputs itself. It writes results into one of a few slots of the shared memory, and works on the
next blocks while Tiebreak judges one. Many pieces of a sweep have the same result throughout: zero, or an end of the
range. The reply only names that result; a block of nothing else takes no memory on either side.
"""

from __future__ import annotations

import ctypes
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tiebreak.adapters.answering import Answerer, WrongOutput, message_of
from tiebreak.adapters.arena import ALIGNMENT, Arena
from tiebreak.adapters.float_mode import FloatMode
from tiebreak.adapters.frames import BrokenFrame
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array
from tiebreak.golden.scale_space import ScaleCall, ScaleSpace, scale_space_from
from tiebreak.golden.space import VECTOR, Space, space_from
from tiebreak.golden.untrusted_text import safe_text

if TYPE_CHECKING:
    from tiebreak.adapters.process import WorkerProcess
try:
    from tiebreak.golden._kernel import repeated
except ImportError:  # in a worker of another environment
    from tiebreak.golden.filling import repeated

AnySpace = Space | ScaleSpace
SLOTS = 6  # the judge may take longer over one block than the backend over several
STATUSES = ("ok", "unsupported", "error")
SEQUENCES = tuple, list
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc
MOST_FREED, MOST_ON_HEAP = 1 << 28, 1 << 25  # bytes; the second is the most that glibc takes


@dataclass(frozen=True)
class BlockAnswer:
    """The results of a block (the node's first output, flat, in memory that is reused), or a message.

    `seconds` is the time within the backend's own calls. If all results are the same, `element` is the bytes of one in
    hexadecimal and `output` repeats it with a stride of 0; otherwise `element` is empty.
    """

    block: int
    status: str
    output: Array
    seconds: float = 0.0
    message: str = ""
    element: str = ""


def answer_block(answerer: Answerer, arena: Arena, request: Mapping[str, Any]) -> dict[str, Any]:
    """In the worker: run one block, write its results into the shared memory, and return the reply."""
    keep_freed_memory()
    (space, memory), block = space_and_memory(request["space"]), int(request["block"])
    arena.reach(int(request["at"]) + slot_size(space))
    reply = {"block": block, "status": "ok", "seconds": 0.0, "message": "", "same": []}
    try:
        answerer.compile_once(space.node.key)
        modes = FloatMode()
        if isinstance(space, ScaleSpace):
            calls = asked_calls(arena, request) if "asked" in request else space.calls(block)
            found = run_calls(answerer, arena, space, calls, int(request["at"]))
        else:
            found = run_block(answerer, arena, space, memory, block, int(request["at"]))
        if changed := modes.changed():  # the change would affect the next block
            modes.put_back()
            return reply | {"status": "error", "message": f"run() left {' and '.join(changed)} changed"}
        return reply | found
    except Unsupported as reason:
        return reply | {"status": "unsupported", "message": message_of(reason)}
    except BaseException as error:  # the backend's code may raise anything
        return reply | {"status": "error", "message": message_of(error)}


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Have the allocator keep what is freed, for the next call: a backend's arrays are as large in each.

    Otherwise glibc gives them back to the system, which clears every page anew; with NumPy that takes a third of the
    time, and more if processes on several cores do it at once.
    """
    with suppress(OSError, AttributeError):  # not glibc
        allocator = ctypes.CDLL(None)
        for option, most in ((M_TRIM_THRESHOLD, MOST_FREED), (M_MMAP_THRESHOLD, MOST_ON_HEAP)):
            allocator.mallopt(option, most)


@lru_cache(maxsize=1)
def space_and_memory(text: str) -> tuple[AnySpace, Array]:
    """A space, and memory for the first input of a piece; reusing it keeps it in the processor's cache."""
    data = json.loads(text)
    if "parts" in data:
        return scale_space_from(data), np.empty(0)
    space = space_from(data)
    return space, space.first_input(0, space.piece)


def run_block(answerer: Answerer, arena: Arena, space: Space, x: Array, block: int, at: int) -> dict[str, Any]:
    """Run one block. Returns seconds within the backend's calls, and the runs of equal results in the slot."""
    run, seconds, clock = answerer.compile_once(space.node.key), 0.0, time.perf_counter
    same = Repeated()
    device = getattr(answerer.backend, "device_sweep", lambda node: None)(space.node)
    if device is not None and space.shape == VECTOR:
        return run_block_on_device(device, arena, space, block, at)
    dtype, count, place = numpy_dtype(space.node.output_type), len(space.node.outputs), 0
    memory = np.frombuffer(arena.memory, np.uint8)[at:]
    for number in space.pieces(block):
        x = space.first_input(number, space.piece, x)
        others = [array.copy() for array in space.other_inputs(number)]  # a backend may overwrite them
        started = clock()
        outputs = run(x, *others)
        seconds += clock() - started
        results = checked_first_output(outputs, dtype, x.shape, count).reshape(-1).view(np.uint8)
        place = put_results(memory, place, results, dtype.itemsize, same)
    return {"seconds": seconds, "same": same.described()}


def put_results(memory: Array, place: int, results: Array, width: int, same: Repeated) -> int:
    """Write results (bytes) where they belong in a slot, or only note that all are the same; where the next go."""
    end = place + results.size
    if element := repeated(results, width):
        same.add(place, end, element)
    else:
        memory[place:end] = results
    return end


def run_calls(
    answerer: Answerer, arena: Arena, space: ScaleSpace, calls: Iterable[ScaleCall], at: int
) -> dict[str, Any]:
    """As run_block, for the calls of a sweep of every scale."""
    run, seconds, clock = answerer.compile_once(space.node.key), 0.0, time.perf_counter
    dtype, count, place, same = numpy_dtype(space.node.output_type), len(space.node.outputs), 0, Repeated()
    memory = np.frombuffer(arena.memory, np.uint8)[at:]
    for call in calls:
        arguments = space.arguments(call)
        shape = arguments[0].shape
        started = clock()
        outputs = run(*arguments)
        seconds += clock() - started
        results = checked_first_output(outputs, dtype, shape, count).reshape(-1).view(np.uint8)
        place = put_results(memory, place, results, dtype.itemsize, same)
    return {"seconds": seconds, "same": same.described()}


def asked_calls(arena: Arena, request: Mapping[str, Any]) -> list[ScaleCall]:
    """The calls that `ask_calls` put into the shared memory: one for all rows, or one for each."""
    place, rows, width, size = map(int, request["asked"])
    arena.reach(place + 4 * rows * (1 + width))
    words = np.frombuffer(arena.memory, np.uint32, rows * (1 + width), place).copy()  # a backend may overwrite them
    scales, x = words[:rows], words[rows:].reshape(rows, width)
    return [ScaleCall(scales[first : first + size], x[first : first + size]) for first in range(0, rows, size)]


def run_block_on_device(device: Any, arena: Arena, space: Space, block: int, at: int) -> dict[str, Any]:
    """As run_block, with all patterns of a scale in one call; the device finds the runs. See torch_device."""
    dtype, same, place, started = numpy_dtype(space.node.output_type), Repeated(), 0, time.perf_counter()
    memory = np.frombuffer(arena.memory, np.uint8)[at:]
    end = min((block + 1) * space.block, space.inputs)
    size = min(space.block, space.patterns)
    for number in range(block * space.block, end, size):
        found = device.results(number % space.patterns, space.first_input(0, 1), size, space.other_inputs(number))
        if isinstance(found, np.ndarray):
            results = checked_first_output((found,), dtype, (size,), 1).view(np.uint8)
            memory[place : place + results.size] = results
        else:
            for first, last, element in found:
                same.add(place + first * dtype.itemsize, place + last * dtype.itemsize, element)
        place += size * dtype.itemsize
    return {"seconds": time.perf_counter() - started, "same": same.described()}


@dataclass
class Repeated:
    """Runs of equal results: first byte, last byte and the bytes of one result; adjacent runs are joined."""

    runs: list[tuple[int, int, bytes]] = field(default_factory=list)

    def add(self, first: int, last: int, element: bytes) -> None:
        """Add the next run."""
        if self.runs and self.runs[-1][1:] == (first, element):
            first = self.runs.pop()[0]
        self.runs.append((first, last, element))

    def described(self) -> list[list[Any]]:
        return [[first, last, element.hex()] for first, last, element in self.runs]


def checked_first_output(outputs: Any, dtype: np.dtype[Any], shape: tuple[int, ...], count: int) -> Array:
    if not isinstance(outputs, SEQUENCES) or not outputs or not isinstance(outputs[0], np.ndarray):
        raise WrongOutput(f"run() returned {type(outputs).__name__}, not a tuple of numpy arrays")
    if len(outputs) != count:
        raise WrongOutput(f"{len(outputs)} outputs, the node has {count}")
    if outputs[0].dtype != dtype or outputs[0].shape != shape:
        found = f"{safe_text(outputs[0].dtype, 40)}{list(outputs[0].shape)}"
        raise WrongOutput(f"output is {found}, {dtype.name}{list(shape)} is wanted")
    return np.ascontiguousarray(outputs[0])


def slot_size(space: AnySpace) -> int:
    """The size of a block's results in bytes, in whole words."""
    return -(-space.most_results * numpy_dtype(space.node.output_type).itemsize // ALIGNMENT) * ALIGNMENT


def ask_calls(worker: WorkerProcess, space: ScaleSpace, call: ScaleCall, time_limit: float) -> BlockAnswer:
    """The results of inputs of one's own, which may not be more than a block's. Errors are those of block_answers.

    No other answer of the worker may be outstanding.
    """
    size, (rows, width) = slot_size(space), call.x.shape
    worker.arena.reach(size + 4 * rows * (1 + width))
    words = np.concatenate([call.scales, call.x.reshape(-1)])
    np.frombuffer(worker.arena.memory, np.uint32, words.size, size)[:] = words
    asked = [size, rows, width, rows if space.along_axis else 1]
    request = {"request": "sweep", "space": json.dumps(space.described()), "block": 0, "at": 0, "asked": asked}
    worker.send(request, time.monotonic() + time_limit)
    reply = worker.read_line(time.monotonic() + time_limit)
    return parse_answer(reply, worker.arena, space, 0, 0, call.x.size)


def block_answers(
    worker: WorkerProcess, space: AnySpace, blocks: Iterable[int], time_limit: float
) -> Iterator[BlockAnswer]:
    """Answers to the blocks, in order, while the worker works ahead. `time_limit` is in seconds for a block.

    Raises TimeoutError, EOFError, TooMuchMemory or BrokenFrame at the first block without an answer.
    """
    todo, size, described = iter(blocks), slot_size(space), json.dumps(space.described())
    worker.arena.reach(SLOTS * size)
    waiting: list[tuple[int, int]] = []
    ended: list[bool] = []

    def send(slot: int) -> None:
        block = next(todo, None)
        if block is not None and not ended:
            request = {"request": "sweep", "space": described, "block": block, "at": slot * size}
            try:
                worker.send(request, time.monotonic() + time_limit)
            except (OSError, EOFError):  # earlier answers are still to be read
                ended.append(True)
            waiting.append((block, slot))

    for slot in range(SLOTS):
        send(slot)
    while waiting:
        block, slot = waiting.pop(0)
        reply = worker.read_line(time.monotonic() + time_limit)
        yield parse_answer(reply, worker.arena, space, block, slot * size, space.results_in(block))
        send(slot)


def parse_answer(
    reply: Mapping[str, Any], arena: Arena, space: AnySpace, block: int, at: int, results: int
) -> BlockAnswer:
    """The answer in a reply, checked. BrokenFrame for anything else. `at` is the offset of its slot."""
    try:
        if reply["block"] != block or reply["status"] not in STATUSES:
            raise BrokenFrame("a reply to another block")
        seconds, message = float(reply["seconds"]), safe_text(reply["message"], 2000)
        dtype = numpy_dtype(space.node.output_type)
        count = results if reply["status"] == "ok" else 0
        slot = np.frombuffer(arena.memory, dtype, count, at)
        for first, last, element in reply["same"]:
            word = np.frombuffer(bytes.fromhex(element), dtype)
            if (first, last) == (0, slot.nbytes):
                return BlockAnswer(block, reply["status"], np.broadcast_to(word, count), seconds, message, element)
            bits = f"u{dtype.itemsize}"
            slot.view(np.uint8)[int(first) : int(last)].view(bits)[:] = word.view(bits)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BrokenFrame(f"not a reply: {error}") from None
    return BlockAnswer(block, reply["status"], slot, seconds, message)
