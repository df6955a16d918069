"""What a Dask worker does for us: blocks of a sweep, cases of a run. Arguments and results are plain data.

Starting a backend takes seconds, so its process is kept for the next task and ended when another is wanted.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import signal
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from tiebreak.adapters import frames
from tiebreak.adapters.answering import as_header
from tiebreak.adapters.faults import Faults
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.outcome import Outcome
from tiebreak.adapters.platform_facts import instruction_sets, machine
from tiebreak.adapters.registry import check_spec
from tiebreak.conformance.sweep.certificate import kernel_facts
from tiebreak.conformance.sweep.explaining import causes_of
from tiebreak.conformance.sweep.intervals import interval_from
from tiebreak.conformance.sweep.sweeper import Sweeper
from tiebreak.golden.errors import InvalidInput, TiebreakError, Unsupported
from tiebreak.golden.make_node import node_from_key
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.space import space_from
from tiebreak.version import __version__

MOST_WARM = 2  # backends kept by a worker process

Warm = Sweeper | IsolatedBackend
Kept = TypeVar("Kept", Sweeper, IsolatedBackend)
warm: OrderedDict[str, Warm] = OrderedDict()  # the last used is last
facts: dict[str, dict[str, Any]] = {}  # of a sweep's backend, by the same key
one_at_a_time = threading.Lock()  # for Dask workers of several threads
OF_DASK = "MALLOC_TRIM_THRESHOLD_"  # Dask's setting for its workers, with which backends' memory would be slow


def backend_spec(spec: str) -> str:
    """The spec, checked, in an environment for its process. InvalidInput as check_spec raises it."""
    os.environ.pop(OF_DASK, None)
    return check_spec(spec)


def dask_setup(worker: object) -> None:
    """Called by Dask in the workers of --scheduler local: Ctrl-C is for the command, which ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def sweep_blocks(
    spec: str, space: Mapping[str, Any], limits: Sequence[float], all_modes: bool, numbers: Sequence[int]
) -> dict[str, Any]:
    """Blocks of a sweep as `Block.described` gives them, as far as they came, their seconds, the backend's facts.

    `limits` are seconds for a block and MiB for the backend's process.
    """
    key = json.dumps(["sweep", spec, dict(space), list(limits), all_modes])
    blocks: list[dict[str, Any]] = []
    told: dict[str, Any] = {"backend": None, "machine": this_machine(), "blocks": blocks, "seconds": 0.0}

    def work() -> dict[str, Any]:
        sweeper = kept(key, lambda: new_sweeper(spec, space, limits, all_modes))
        if key not in facts:
            facts[key] = sweeper.facts()
        told["backend"], started = facts[key], time.perf_counter()
        for block in sweeper.sweep(numbers):
            blocks.append(block.described())
            told["seconds"] = time.perf_counter() - started
        return {}

    return told | reported(key, work)


def new_sweeper(spec: str, space: Mapping[str, Any], limits: Sequence[float], all_modes: bool) -> Sweeper:
    chosen = backend_spec(spec), space_from(space), float(limits[0]), int(limits[1]), all_modes
    return Sweeper(*chosen, pinned=False)


def explain(spec: str, space: Mapping[str, Any], intervals: Sequence[Any], memory_limit: int) -> dict[str, Any]:
    """Causes of a sweep's mismatches, as pairs of an interval's first input and its cause."""

    def work() -> dict[str, Any]:
        found = causes_of(spec, space_from(space), [interval_from(row) for row in intervals], memory_limit)
        return {"causes": sorted(found.items())}

    return reported("", work)


def hello(spec: str, limits: Sequence[float]) -> dict[str, Any]:
    """Name, version and claims of a run's backend."""
    return reported(key_of_run(spec, limits), lambda: {"hello": described(backend_of(spec, limits))})


def run_cases(spec: str, limits: Sequence[float], batch: bytes) -> dict[str, Any]:
    """Outcomes of a batch of cases, both as frames: cases_frame and outcomes_frame say what is in them."""

    def work() -> dict[str, Any]:
        backend, cases = backend_of(spec, limits), cases_of(batch)
        forget(backend)
        outcomes = backend.run_batch(cases)
        return {"hello": described(backend), "frame": outcomes_frame(outcomes, backend.refused)}

    return reported(key_of_run(spec, limits), work)


def attest(spec: str, limits: Sequence[float], nodes: Sequence[str]) -> dict[str, Any]:
    """What the backend says of itself having compiled these nodes."""
    return reported(key_of_run(spec, limits), lambda: {"attestation": backend_of(spec, limits).attestation(nodes)})


def key_of_run(spec: str, limits: Sequence[float]) -> str:
    return json.dumps(["run", spec, list(limits)])


def backend_of(spec: str, limits: Sequence[float]) -> IsolatedBackend:
    return kept(key_of_run(spec, limits), lambda: started(spec, limits))


def started(spec: str, limits: Sequence[float]) -> IsolatedBackend:
    backend = IsolatedBackend(backend_spec(spec), float(limits[0]), int(limits[1]))
    backend.start()
    return backend


def described(backend: IsolatedBackend) -> dict[str, Any]:
    claimed = None if backend.operators is None else sorted(backend.operators)
    built_in = sorted(backend.always_constant)
    return {"name": backend.name, "version": backend.version, "operators": claimed, "always_constant": built_in}


def forget(backend: IsolatedBackend) -> None:
    """Whatever it has against earlier batches: they were not those that came before this one in the run."""
    # Whether it ever answered is known to the run that sent the batch alone, which gives it up if it did not.
    backend.faults, backend.searches, backend.hung_alone = Faults(answered=True), 0, False
    for record in (backend.refused, backend.history, backend.confirmed):
        record.clear()


def reported(key: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What came of some work, or what went wrong; after that the backend is not kept."""
    common = {"worker": f"Dask worker on {socket.gethostname()}", "tiebreak": __version__}
    with one_at_a_time:
        try:
            return common | {"problem": None} | work()
        except (TiebreakError, Unsupported) as error:
            drop(key)
            kind = "usage" if isinstance(error, InvalidInput) else "failed"
            kind = "unsupported" if isinstance(error, Unsupported) else kind
            return common | {"problem": [kind, " ".join(str(error).split())[:2000]]}
        except BaseException:
            drop(key)
            raise


def this_machine() -> dict[str, Any]:
    """What a certificate says of a machine that took part."""
    return {
        "host": socket.gethostname(),
        "machine": machine(),
        "instruction_sets": instruction_sets(),
        "kernel": kernel_facts(),
    }


def cases_frame(cases: Sequence[Case]) -> bytes:
    """Cases as one frame: nodes, then for each case its id, the number of its node and how many tensors it has."""
    nodes: dict[str, int] = {}
    rows = [[case.id, nodes.setdefault(case.node.key, len(nodes)), len(case.inputs)] for case in cases]
    return frames.encode_frame(
        {"nodes": list(nodes), "cases": rows}, [array for case in cases for array in case.inputs]
    )


def cases_of(frame: bytes) -> list[Case]:
    header, arrays = decoded(frame)
    nodes = [node_from_key(key) for key in header["nodes"]]
    taken = takes(arrays, [count for _, _, count in header["cases"]])
    return [Case(name, nodes[node], next(taken)) for name, node, _ in header["cases"]]


def outcomes_frame(outcomes: Sequence[Outcome], refused: Mapping[str, Outcome]) -> bytes:
    """Outcomes as one frame, and what any further case of a node gets without a run."""
    rows = [{**as_header(outcome), "outputs": len(outcome.outputs)} for outcome in outcomes]
    header = {"outcomes": rows, "refused": {node: as_header(outcome) for node, outcome in refused.items()}}
    return frames.encode_frame(header, [array for outcome in outcomes for array in outcome.outputs])


def outcomes_of(frame: bytes) -> tuple[list[Outcome], dict[str, Outcome]]:
    """What `outcomes_frame` wrote. BrokenFrame, KeyError, TypeError or ValueError for anything else."""
    header, arrays = decoded(frame)
    taken = takes(arrays, [row.pop("outputs") for row in header["outcomes"]])
    refused = {str(node): Outcome(**row) for node, row in header["refused"].items()}
    return [Outcome(outputs=next(taken), **row) for row in header["outcomes"]], refused


def decoded(frame: bytes) -> tuple[dict[str, Any], list[Array]]:
    stream = io.BytesIO(frame)
    return frames.decode_frame(stream.readline, stream.read)


def takes(arrays: Sequence[Array], counts: Sequence[int]) -> Iterator[tuple[Array, ...]]:
    """The arrays, so many at a time."""
    at = 0
    for count in counts:
        yield tuple(arrays[at : at + count])
        at += count


def kept(key: str, make: Callable[[], Kept]) -> Kept:
    """What was kept under the key, or a new one, for which the longest unused one goes."""
    if key not in warm:
        while len(warm) >= MOST_WARM:
            drop(next(iter(warm)))
        warm[key] = make()
    warm.move_to_end(key)
    return warm[key]  # type: ignore[return-value]  # the key says which of the two it is


def drop(key: str) -> None:
    facts.pop(key, None)
    if key in warm:
        warm.pop(key).close()


def release() -> None:
    """End what is kept, unless a task is at work with it."""
    if one_at_a_time.acquire(blocking=False):
        try:
            for key in list(warm):
                drop(key)
        finally:
            one_at_a_time.release()


atexit.register(release)
