"""The process in which one runtime runs patterns: `python -m tiebreak.adapters.patterns.worker NAME FILE`.

FILE is the descriptor of the shared memory. Requests and answers are JSON lines, tensors pass through the shared
memory. What the runtime prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from tiebreak.adapters.answering import message_of
from tiebreak.adapters.arena import Arena
from tiebreak.adapters.patterns.model import PatternRuntime
from tiebreak.adapters.patterns.runtimes import load_runtime
from tiebreak.adapters.worker import adopt_orphans, end_with_parent
from tiebreak.golden.errors import Unsupported
from tiebreak.golden.patterns.graph import Pattern, ScalePair
from tiebreak.golden.patterns.text import pattern_of

LONGEST = 2000  # characters of a message


def main() -> None:
    name, arena = sys.argv[1], Arena(int(sys.argv[2]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    adopt_orphans()
    answers, requests = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    threading.Thread(target=end_with_parent, args=(requests.fileno(),), daemon=True).start()
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        runtime = load_runtime(name)
    except BaseException as error:  # the runtime may raise anything
        kind = "not-installed" if isinstance(error, ModuleNotFoundError) else "error"
        send(answers, {"status": "failed", "kind": kind, "message": message_of(error)})
        return
    ways = [[way.name, way.settings] for way in runtime.ways]
    send(answers, {"status": "ready", "name": runtime.name, "version": runtime.version, "ways": ways})
    for line in requests:
        send(answers, answer(runtime, arena, json.loads(line)))


def answer(runtime: PatternRuntime, arena: Arena, request: Mapping[str, Any]) -> dict[str, Any]:
    """What the runtime gives, or why it gives nothing."""
    pattern = pattern_of(request["text"], request["type"])
    names = [operand.name for operand in pattern.operands]
    rows = dict(zip(names, (array.copy() for array in arena.get(request["inputs"])), strict=True))
    try:
        opened = runtime.open(pattern, pairs_of(pattern, request["pairs"]), rows, request["way"])
        output = opened.run({operand.name: rows[operand.name] for operand in pattern.inputs})
    except Unsupported as reason:
        return {"status": "unsupported", "message": str(reason)[:LONGEST]}
    except BaseException as error:
        return {"status": "error", "message": message_of(error)[:LONGEST]}
    arena.reset(request["free"])
    return {"status": "ok", "graph": list(opened.graph), "outputs": arena.put([output])}


def pairs_of(pattern: Pattern, given: Mapping[str, Any]) -> dict[str, ScalePair]:
    """Scales are sent as the bits of a float32."""
    return {
        name: ScalePair(np.uint32(given[name][0]).view(np.float32), int(given[name][1]), kind)
        for name, kind in pattern.pairs.items()
    }


def send(answers: BinaryIO, header: Mapping[str, Any]) -> None:
    answers.write(json.dumps(header).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
