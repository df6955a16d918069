"""Runs a backend alone on a sweep's inputs, with only those parts of Tiebreak loaded that its worker has too."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiebreak.adapters.answering import Answerer
from tiebreak.adapters.registry import load_backend
from tiebreak.golden.space import Space, space_from

Numbers = Sequence[int] | None  # of blocks; None: all


def alone(spec: str, described: Mapping[str, Any], numbers: Numbers, cores: Sequence[int]) -> dict[str, float]:
    """Time the backend, on the cores that a sweep would give it, in a loop that only makes the inputs."""
    space, run = compiled(spec, described, cores)
    started = time.perf_counter()
    run_blocks(space, run, range(space.blocks) if numbers is None else numbers)
    return {"seconds": time.perf_counter() - started}


def run_blocks(space: Space, run: Callable[..., Any], numbers: Sequence[int]) -> None:
    x = space.first_input(0, space.piece)
    for block in numbers:
        for number in space.pieces(block):
            run(space.first_input(number, space.piece, x), *space.other_inputs(number))


def alone_on_made_inputs(
    spec: str, described: Mapping[str, Any], numbers: Numbers, cores: Sequence[int]
) -> dict[str, float]:
    """The same with the inputs of each block made beforehand, so that only the backend's calls count."""
    space, run = compiled(spec, described, cores)
    seconds = 0.0
    for block in range(space.blocks) if numbers is None else numbers:
        made = [(space.first_input(n, space.piece), *space.other_inputs(n)) for n in space.pieces(block)]
        started = time.perf_counter()
        for inputs in made:
            run(*inputs)
        seconds += time.perf_counter() - started
    return {"seconds": seconds}


def compiled(spec: str, described: Mapping[str, Any], cores: Sequence[int]) -> tuple[Space, Callable[..., Any]]:
    """The space and the backend's function, after a first call of it."""
    if cores:  # before a library counts them
        os.sched_setaffinity(0, cores)
    space = space_from(described)
    run = Answerer(load_backend(spec)).compile_once(space.node.key)
    run(space.first_input(0, space.piece), *space.other_inputs(0))
    return space, run
