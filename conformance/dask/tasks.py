"""The tasks of a Dask worker: blocks of a sweep, cases of a run. Arguments and results are plain data.

Starting a backend takes seconds, so its process is kept for the next task and ended when another backend is needed.
"""

from __future__ import annotations

import atexit
import importlib
import io
import json
import os
import signal
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from tiebreak.adapters import frames
from tiebreak.adapters.answering import as_header
from tiebreak.adapters.faults import Faults
from tiebreak.adapters.isolation import IsolatedBackend
from tiebreak.adapters.outcome import Outcome
from tiebreak.adapters.platform_facts import instruction_sets, machine
from tiebreak.adapters.registry import check_spec
from tiebreak.conformance.sweep.certificate import kernel_facts
from tiebreak.conformance.sweep.explaining import causes_of_intervals
from tiebreak.conformance.sweep.intervals import interval_from
from tiebreak.conformance.sweep.scale_sweeper import ScaleSweeper
from tiebreak.conformance.sweep.sweeper import Sweeper
from tiebreak.golden.errors import InvalidInput, NotMonotone, TiebreakError, Unsupported
from tiebreak.golden.make_node import node_from_key
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.scale_space import scale_space_from
from tiebreak.golden.space import space_from
from tiebreak.version import __version__

MOST_WARM = 2  # backends kept by a worker process

AnySweeper = Sweeper | ScaleSweeper
Warm = AnySweeper | IsolatedBackend
Kept = TypeVar("Kept", AnySweeper, IsolatedBackend)
warm: OrderedDict[str, Warm] = OrderedDict()  # the most recently used is last
facts: dict[str, dict[str, Any]] = {}  # the facts of a sweep's backend, by the same key
one_at_a_time = threading.Lock()  # for Dask workers of several threads
own: set[int] = set()  # the cores that no other worker has, if there are such
WORKERS = "tiebreak.workers"  # their number, in Dask's configuration
OF_DASK = "MALLOC_TRIM_THRESHOLD_"  # Dask sets it for its workers; it would slow down a backend's memory


def backend_spec(spec: str) -> str:
    """The checked spec; also removes Dask's setting from the environment. InvalidInput as from check_spec."""
    os.environ.pop(OF_DASK, None)
    return check_spec(spec)


def dask_setup(worker: Any) -> None:
    """Dask calls this in the workers of --scheduler local, which are named 0, 1, … by `scheduler.local_cluster`.

    They ignore Ctrl-C: the command ends them. Each keeps to its own share of the cores, with the backends that it
    starts: otherwise the system moves these from core to core, and each has all cores for its threads.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    workers = importlib.import_module("dask.config").get(WORKERS, 0)
    if workers and hasattr(os, "sched_setaffinity"):
        own.update(share_of_cores(int(worker.name), workers, sorted(os.sched_getaffinity(0))))
        for thread in os.listdir("/proc/self/task"):
            with suppress(OSError):  # it has ended
                os.sched_setaffinity(int(thread), own)


def share_of_cores(number: int, workers: int, cores: Sequence[int]) -> Sequence[int]:
    """The cores of worker `number` of so many: its part of them, or if there are too few one that others have too."""
    return cores[number::workers] or [cores[number % len(cores)]]


def sweep_blocks(
    spec: str, space: Mapping[str, Any], limits: Sequence[float], all_modes: bool, numbers: Sequence[int]
) -> dict[str, Any]:
    """Sweep some blocks: their rows (`described`) until the first problem, seconds, and the backend's facts.

    `limits` are seconds for a block and MiB for the backend's process.
    """
    key = json.dumps(["sweep", spec, dict(space), list(limits), all_modes])
    blocks: list[dict[str, Any]] = []
    told: dict[str, Any] = {"backend": None, "machine": this_machine(), "blocks": blocks, "seconds": 0.0}

    def work() -> dict[str, Any]:
        sweeper = warm_or_new(key, lambda: new_sweeper(spec, space, limits, all_modes))
        if key not in facts:
            facts[key] = sweeper.facts()
        told["backend"], started = facts[key], time.perf_counter()
        for block in sweeper.sweep(numbers):
            blocks.append(block.described())
            told["seconds"] = time.perf_counter() - started
        return {}

    return told | task_report(key, work)


def new_sweeper(spec: str, space: Mapping[str, Any], limits: Sequence[float], all_modes: bool) -> AnySweeper:
    spec, time_limit, memory_limit = backend_spec(spec), float(limits[0]), int(limits[1])
    if "parts" in space:
        return ScaleSweeper(spec, scale_space_from(space), time_limit, memory_limit, pinned=bool(own))
    return Sweeper(spec, space_from(space), time_limit, memory_limit, bool(own), all_modes=all_modes)


def explain(spec: str, space: Mapping[str, Any], intervals: Sequence[Any], memory_limit: int) -> dict[str, Any]:
    """The causes of a sweep's mismatches: pairs of an interval's first input and its cause."""

    def work() -> dict[str, Any]:
        found = causes_of_intervals(spec, space_from(space), [interval_from(row) for row in intervals], memory_limit)
        return {"causes": sorted(found.items())}

    return task_report("", work)


def backend_hello(spec: str, limits: Sequence[float]) -> dict[str, Any]:
    """Name, version and claims of a run's backend."""
    return task_report(key_of_run(spec, limits), lambda: {"hello": backend_facts(kept_backend(spec, limits))})


def answer_batch(spec: str, limits: Sequence[float], batch: bytes) -> dict[str, Any]:
    """The outcomes of a batch of cases; both are frames as written by `encode_cases` and `encode_outcomes`."""

    def work() -> dict[str, Any]:
        backend, cases = kept_backend(spec, limits), decode_cases(batch)
        forget_batches(backend)
        outcomes = backend.run_batch(cases)
        return {"hello": backend_facts(backend), "frame": encode_outcomes(outcomes, backend.refused)}

    return task_report(key_of_run(spec, limits), work)


def attest(spec: str, limits: Sequence[float], nodes: Sequence[str]) -> dict[str, Any]:
    """The backend's attestation after compiling these nodes."""
    return task_report(key_of_run(spec, limits), lambda: {"attestation": kept_backend(spec, limits).attestation(nodes)})


def key_of_run(spec: str, limits: Sequence[float]) -> str:
    return json.dumps(["run", spec, list(limits)])


def kept_backend(spec: str, limits: Sequence[float]) -> IsolatedBackend:
    return warm_or_new(key_of_run(spec, limits), lambda: started_backend(spec, limits))


def started_backend(spec: str, limits: Sequence[float]) -> IsolatedBackend:
    backend = IsolatedBackend(backend_spec(spec), float(limits[0]), int(limits[1]))
    backend.start()
    return backend


def backend_facts(backend: IsolatedBackend) -> dict[str, Any]:
    named = {"name": backend.name, "version": backend.version, "always_constant": sorted(backend.always_constant)}
    return named | backend.claims.header()


def forget_batches(backend: IsolatedBackend) -> None:
    """Clear what the backend remembers of earlier batches: in the run, others may have come before this one."""
    # Only the run knows whether the backend ever answered; the run gives it up if it did not.
    backend.faults, backend.searches, backend.hung_alone = Faults(answered=True), 0, False
    for record in (backend.refused, backend.history, backend.confirmed):
        record.clear()


def task_report(key: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result of `work`, or its problem; after a problem the backend is not kept."""
    common = {"worker": f"Dask worker on {socket.gethostname()}", "tiebreak": __version__}
    with one_at_a_time:
        try:
            return common | {"problem": None} | work()
        except (TiebreakError, Unsupported) as error:
            drop_warm(key)
            kind = "usage" if isinstance(error, InvalidInput) else "failed"
            kind = "unsupported" if isinstance(error, Unsupported) else kind
            kind = "not monotone" if isinstance(error, NotMonotone) else kind
            return common | {"problem": [kind, " ".join(str(error).split())[:2000]]}
        except BaseException:
            drop_warm(key)
            raise


def this_machine() -> dict[str, Any]:
    """The facts of this machine that a certificate records."""
    return {
        "host": socket.gethostname(),
        "machine": machine(),
        "instruction_sets": instruction_sets(),
        "kernel": kernel_facts(),
    }


def encode_cases(cases: Sequence[Case]) -> bytes:
    """Cases as one frame: the nodes, then for each case its id, its node's number and how many tensors it has."""
    nodes: dict[str, int] = {}
    rows = [[case.id, nodes.setdefault(case.node.key, len(nodes)), len(case.inputs)] for case in cases]
    return frames.encode_frame(
        {"nodes": list(nodes), "cases": rows}, [array for case in cases for array in case.inputs]
    )


def decode_cases(frame: bytes) -> list[Case]:
    header, arrays = decode_frame(frame)
    nodes = [node_from_key(key) for key in header["nodes"]]
    taken = split_by_counts(arrays, [count for _, _, count in header["cases"]])
    return [Case(name, nodes[node], next(taken)) for name, node, _ in header["cases"]]


def encode_outcomes(outcomes: Sequence[Outcome], refused: Mapping[str, Outcome]) -> bytes:
    """Outcomes as one frame, with the outcome that further cases of a refused node get without running."""
    rows = [{**as_header(outcome), "outputs": len(outcome.outputs)} for outcome in outcomes]
    header = {"outcomes": rows, "refused": {node: as_header(outcome) for node, outcome in refused.items()}}
    return frames.encode_frame(header, [array for outcome in outcomes for array in outcome.outputs])


def decode_outcomes(frame: bytes) -> tuple[list[Outcome], dict[str, Outcome]]:
    """What `encode_outcomes` wrote. BrokenFrame, KeyError, TypeError or ValueError for anything else."""
    header, arrays = decode_frame(frame)
    taken = split_by_counts(arrays, [row.pop("outputs") for row in header["outcomes"]])
    refused = {str(node): Outcome(**row) for node, row in header["refused"].items()}
    return [Outcome(outputs=next(taken), **row) for row in header["outcomes"]], refused


def decode_frame(frame: bytes) -> tuple[dict[str, Any], list[Array]]:
    stream = io.BytesIO(frame)
    return frames.decode_frame(stream.readline, stream.read)


def split_by_counts(arrays: Sequence[Array], counts: Sequence[int]) -> Iterator[tuple[Array, ...]]:
    """The arrays in groups of these sizes."""
    at = 0
    for count in counts:
        yield tuple(arrays[at : at + count])
        at += count


def warm_or_new(key: str, make: Callable[[], Kept]) -> Kept:
    """The backend kept under the key, or a new one, which may replace the least recently used one."""
    if key not in warm:
        while len(warm) >= MOST_WARM:
            drop_warm(next(iter(warm)))
        warm[key] = make()
    warm.move_to_end(key)
    return warm[key]  # type: ignore[return-value]  # the key says which of the two it is


def drop_warm(key: str) -> None:
    facts.pop(key, None)
    if key in warm:
        warm.pop(key).close()


def release() -> None:
    """End the kept backends, unless a task is running."""
    if one_at_a_time.acquire(blocking=False):
        try:
            for key in list(warm):
                drop_warm(key)
        finally:
            one_at_a_time.release()


atexit.register(release)
