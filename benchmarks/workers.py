"""Two Dask workers on a core each over one on one core: sweeps and a run, with a quick and a slow backend.

Beside them stand two independent processes of the backend alone over one: what the two cores, which share caches and
memory, allow. Every way runs with one core and with two in each round, in processes of its own that may use no other
core. Clusters, backends and cases are there before the clock starts.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import psutil
from alone import compiled, run_blocks
from fresh import Failed, in_fresh_process

from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.dask import tasks
from tiebreak.conformance.dask.scheduler import Cluster, cluster_at
from tiebreak.conformance.dask.sweeps import ClusterBlocks
from tiebreak.conformance.main_job import RunLimits, main_job
from tiebreak.conformance.sweep.job import space_of
from tiebreak.conformance.sweep.session import SweepLimits
from tiebreak.golden.space import space_from

QUICK, SLOW = "numpy-naive", f"{Path(__file__).with_name('slow.py')}:Slow"
SWEEP = Selection(
    ("onnx.QuantizeLinear",),
    input_type="float32",
    output_type="uint8",
    inputs={"y_scale": "0.1", "y_zero_point": "128"},
)
RUN = Selection(("onnx.QuantizeLinear",), input_type="float32", output_type="uint8", level="full")


@dataclass(frozen=True)
class Sizes:
    """Blocks of a sweep with either backend, and whether there is a run too."""

    quick: int = 1024
    slow: int = 8
    run: bool = True


def measure(rounds: int, sizes: Sizes) -> dict[str, Any]:
    """A row for each way: the shortest seconds and the least processor time, on one core and on two."""
    found: dict[str, Any] = {"rounds": rounds, "sizes": asdict(sizes)}
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        return found | {"rows": [], "note": "one core only"}
    try:
        return found | {"rows": [row(*way, cores, rounds) for way in ways(sizes)]}
    except Failed as error:
        return found | {"rows": [], "note": str(error)}


def ways(sizes: Sizes) -> list[tuple[str, str, Callable[..., Any], tuple[Any, ...]]]:
    described = space_of(SWEEP).described()
    quick, slow = (spread(count) for count in (sizes.quick, sizes.slow))
    found: list[tuple[str, str, Callable[..., Any], tuple[Any, ...]]] = [
        ("sweep", "quick", swept, (QUICK, described, quick)),
        ("backend alone", "quick", alone_in_processes, (QUICK, described, quick)),
        ("sweep", "slow", swept, (SLOW, described, slow)),
        ("backend alone", "slow", alone_in_processes, (SLOW, described, slow)),
    ]
    return [*found, ("run", "slow", whole_run, (SLOW, asdict(RUN)))] if sizes.run else found


def spread(count: int) -> list[int]:
    """So many blocks, evenly spread."""
    every = space_of(SWEEP).blocks
    return list(range(0, every, every // count))


def row(
    way: str, backend: str, function: Callable[..., Any], arguments: Sequence[Any], cores: Sequence[int], rounds: int
) -> dict[str, Any]:
    best: dict[str, float] = {}
    for _ in range(rounds):
        for number, word in ((1, "one"), (2, "two")):
            times, _ = in_fresh_process(function, *arguments, cores[:number])
            for name, value in times.items():
                key = f"{name}_{word}"
                best[key] = min(best.get(key, value), value)
    return {"way": way, "backend": backend, **best}


def swept(spec: str, described: Mapping[str, Any], numbers: Sequence[int], cores: Sequence[int]) -> dict[str, float]:
    """A sweep of these blocks on a worker for each core."""
    os.sched_setaffinity(0, cores)
    space, how = space_from(described), SweepLimits()
    with cluster_at("local", len(cores)) as cluster:
        limits = [how.time_limit, how.memory_limit]
        on_every_worker(cluster, tasks.sweep_blocks, spec, described, limits, how.all_modes, list(numbers[:1]))
        runner, before, started = ClusterBlocks(cluster, spec, space, how), processor_time(), time.perf_counter()
        runner.begin(numbers, {})
        done = sum(1 for block, _ in runner.finished_blocks() if not block.fault)
        times = {"seconds": time.perf_counter() - started, "cpu_seconds": processor_time() - before}
    return checked(times, done, len(numbers))


def whole_run(spec: str, choice: Mapping[str, Any], cores: Sequence[int]) -> dict[str, float]:
    """`tiebreak run` with planning, judging and report, on a worker for each core."""
    os.sched_setaffinity(0, cores)
    how = RunLimits()
    with cluster_at("local", len(cores)) as cluster, tempfile.TemporaryDirectory() as folder:
        on_every_worker(cluster, tasks.backend_hello, spec, [how.time_limit, how.memory_limit])
        selection, before, started = Selection(**choice), processor_time(), time.perf_counter()
        code = main_job([spec], selection, Path(folder), how, show="nothing", cluster=cluster)
        times = {"seconds": time.perf_counter() - started, "cpu_seconds": processor_time() - before}
    return checked(times, code, 0)


def on_every_worker(cluster: Cluster, task: Callable[..., dict[str, Any]], *arguments: Any) -> None:
    """Have each worker do this once, which starts its backend. Failed if one can't."""
    for found in cluster.client.run(task, *arguments).values():
        if found["problem"] is not None:
            raise Failed(str(found["problem"]))


def checked(times: dict[str, float], found: int, wanted: int) -> dict[str, float]:
    if found != wanted:
        raise Failed(f"{found} instead of {wanted}")
    return times


def processor_time() -> float:
    """Seconds of this process and of all below it."""
    first = psutil.Process()
    return sum(sum(process.cpu_times()[:2]) for process in (first, *first.children(recursive=True)))


def alone_in_processes(
    spec: str, described: Mapping[str, Any], numbers: Sequence[int], cores: Sequence[int]
) -> dict[str, float]:
    """The backend alone with its part of these blocks in a process for each core, from the first start to the end."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(len(cores)), context.Queue()
    parts = [numbers[place :: len(cores)] for place in range(len(cores))]
    processes = [
        context.Process(target=alone_on_one_core, args=(results, barrier, spec, described, part, core))
        for part, core in zip(parts, cores, strict=True)
    ]
    for process in processes:
        process.start()
    found = [results.get(timeout=600) for _ in processes]
    for process in processes:
        process.join()
    starts, ends, used = zip(*found, strict=True)
    return {"seconds": max(ends) - min(starts), "cpu_seconds": sum(used)}


def alone_on_one_core(
    results: Any, barrier: Barrier, spec: str, described: Mapping[str, Any], numbers: Sequence[int], core: int
) -> None:
    space, run = compiled(spec, described, [core])
    barrier.wait(60)
    started, before = time.perf_counter(), time.process_time()
    run_blocks(space, run, numbers)
    results.put((started, time.perf_counter(), time.process_time() - before))
