"""Runs blocks of a space on a backend in its worker: the worker's side, and Tiebreak's side, which keeps it busy.

The worker makes the inputs itself. It writes results into one of a few slots of the shared memory, and works on the
next blocks while Tiebreak judges one. Many pieces of a sweep have the same result throughout: zero, or an end of the
range. The reply only names that result, and Tiebreak fills the slot on the core that reads it next.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tiebreak.adapters.answering import Answerer, WrongOutput, message_of, safe_text
from tiebreak.adapters.arena import Arena
from tiebreak.adapters.float_mode import FloatMode
from tiebreak.adapters.frames import BrokenFrame
from tiebreak.adapters.process import WorkerProcess
from tiebreak.golden import _kernel
from tiebreak.golden.elements import numpy_dtype
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.problem import Array
from tiebreak.golden.space import Space, space_from

SLOTS = 3
STATUSES = ("ok", "unsupported", "error")


@dataclass(frozen=True)
class BlockAnswer:
    """The results of a block (the node's first output, flat, in memory that is reused), or a message.

    `seconds` is the time within the backend's own calls. If all results are the same, `element` is the bytes of one in
    hexadecimal; otherwise it is empty.
    """

    block: int
    status: str
    output: Array
    seconds: float = 0.0
    message: str = ""
    element: str = ""


def answer_block(answerer: Answerer, arena: Arena, request: Mapping[str, Any]) -> dict[str, Any]:
    """In the worker: run one block, write its results into the shared memory, and return the reply."""
    (space, memory), block = space_and_memory(request["space"]), int(request["block"])
    arena.reach(int(request["at"]) + slot_size(space))
    reply = {"block": block, "status": "ok", "seconds": 0.0, "message": "", "same": []}
    try:
        answerer.compile_once(space.node.key)
        modes = FloatMode()
        found = run_block(answerer, arena, space, memory, block, int(request["at"]))
        if changed := modes.changed():  # the change would affect the next block
            modes.put_back()
            return reply | {"status": "error", "message": f"run() left {' and '.join(changed)} changed"}
        return reply | found
    except Unsupported as reason:
        return reply | {"status": "unsupported", "message": message_of(reason)}
    except Exception as error:
        return reply | {"status": "error", "message": message_of(error)}


@lru_cache(maxsize=1)
def space_and_memory(text: str) -> tuple[Space, Array]:
    """A space, and memory for the first input of a piece; reusing it keeps it in the processor's cache."""
    space = space_from(json.loads(text))
    return space, space.first_input(0, space.piece)


def run_block(answerer: Answerer, arena: Arena, space: Space, x: Array, block: int, at: int) -> dict[str, Any]:
    """Run one block. Returns seconds within the backend's calls, and the runs of equal results in the slot."""
    run, seconds, start = answerer.compile_once(space.node.key), 0.0, at
    same: list[list[Any]] = []
    dtype, clock = numpy_dtype(space.node.output_type), time.perf_counter
    memory = np.frombuffer(arena.memory, np.uint8)
    for number in space.pieces(block):
        x = space.first_input(number, space.piece, x)
        others = [array.copy() for array in space.other_inputs(number)]  # a backend may overwrite them
        started = clock()
        outputs = run(x, *others)
        seconds += clock() - started
        output = checked_first_output(outputs, dtype, x.shape, len(space.node.outputs))
        results = output.reshape(-1).view(np.uint8)
        if _kernel.uniform(results, dtype.itemsize):
            same.append([at - start, at - start + results.size, results[: dtype.itemsize].tobytes().hex()])
        else:
            memory[at : at + results.size] = results
        at += results.size
    return {"seconds": seconds, "same": merged_runs(same)}


def merged_runs(same: Sequence[list[Any]]) -> list[list[Any]]:
    """Adjacent runs of the same result joined."""
    found: list[list[Any]] = []
    for first, last, element in same:
        if found and found[-1][1] == first and found[-1][2] == element:
            found[-1][1] = last
        else:
            found.append([first, last, element])
    return found


def checked_first_output(outputs: Any, dtype: np.dtype[Any], shape: tuple[int, ...], count: int) -> Array:
    if not isinstance(outputs, tuple | list) or not outputs or not isinstance(outputs[0], np.ndarray):
        raise WrongOutput(f"run() returned {type(outputs).__name__}, not a tuple of numpy arrays")
    if len(outputs) != count:
        raise WrongOutput(f"{len(outputs)} outputs, the node has {count}")
    if outputs[0].dtype != dtype or outputs[0].shape != shape:
        found = f"{safe_text(outputs[0].dtype, 40)}{list(outputs[0].shape)}"
        raise WrongOutput(f"output is {found}, {dtype.name}{list(shape)} is wanted")
    return np.ascontiguousarray(outputs[0])


def slot_size(space: Space) -> int:
    """The size of a block's results in bytes."""
    return min(space.block, space.inputs) * numpy_dtype(space.node.output_type).itemsize


def block_answers(
    worker: WorkerProcess, space: Space, blocks: Iterable[int], time_limit: float
) -> Iterator[BlockAnswer]:
    """Answers to the blocks, in order, while the worker works ahead. `time_limit` is in seconds for a block.

    Raises TimeoutError, EOFError, TooMuchMemory or BrokenFrame at the first block without an answer.
    """
    todo, size, described = iter(blocks), slot_size(space), json.dumps(space.described())
    worker.arena.reach(SLOTS * size)
    waiting: list[tuple[int, int]] = []
    ended: list[bool] = []
    filled: dict[int, str] = {}  # by slot: the one result with which it is filled already

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
        yield parse_answer(
            worker.read_line(time.monotonic() + time_limit), worker.arena, space, block, slot * size, filled
        )
        send(slot)


def parse_answer(
    reply: Mapping[str, Any], arena: Arena, space: Space, block: int, at: int, filled: dict[int, str]
) -> BlockAnswer:
    """The answer in a reply, checked. BrokenFrame for anything else. `at` is the offset of its slot."""
    try:
        if reply["block"] != block or reply["status"] not in STATUSES:
            raise BrokenFrame("a reply to another block")
        seconds, message = float(reply["seconds"]), safe_text(reply["message"], 2000)
        dtype = numpy_dtype(space.node.output_type)
        count = space.piece * len(space.pieces(block)) if reply["status"] == "ok" else 0
        slot = np.frombuffer(arena.memory, np.uint8, count * dtype.itemsize, at)
        whole = [str(element) for first, last, element in reply["same"] if (first, last) == (0, slot.size)]
        if not whole or filled.get(at) != whole[0]:
            for first, last, element in reply["same"]:
                word = np.frombuffer(bytes.fromhex(element), f"u{dtype.itemsize}")
                slot[int(first) : int(last)].view(word.dtype)[:] = word
        filled.pop(at, "")
        if whole:
            filled[at] = whole[0]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise BrokenFrame(f"not a reply: {error}") from None
    return BlockAnswer(block, reply["status"], slot.view(dtype), seconds, message, whole[0] if whole else "")
