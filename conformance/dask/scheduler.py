"""A Dask cluster: an existing scheduler with its workers, or our own workers on this machine.

Only plain data travels: names, numbers, lists, bytes. Any fault of the cluster is a MachineryFailed of one line here.
"""

from __future__ import annotations

import importlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NoReturn

from tiebreak.golden.errors import InvalidInput, MachineryFailed, NotMonotone, Unsupported
from tiebreak.version import __version__

LOCAL = "local"
CONNECT_LIMIT = 30.0  # seconds to reach the scheduler, and then for its first worker
RETRIES = 2  # of a task that failed; the scheduler's own setting limits how often a task may lose its worker
SIZE_AGE = 2.0  # seconds for which the number of workers is cached

# Dask looks at itself so often that an idle cluster takes 4 % of a core from the backends.
QUIET = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.profile.enabled": False,
}

AS_IT_IS: dict[str, type[Exception]] = {"unsupported": Unsupported, "not monotone": NotMonotone}
KINDS: dict[str, type[Exception]] = {"usage": InvalidInput, "failed": MachineryFailed, **AS_IT_IS}


@dataclass
class Cluster:
    """A client of a Dask scheduler."""

    client: Any
    address: str
    counted: tuple[float, int] = (0.0, 0)

    def size(self) -> int:
        """How many workers there are now, at least 1."""
        if time.monotonic() - self.counted[0] > SIZE_AGE:
            try:
                found = len(self.client.nthreads())
            except Exception as error:
                raise_cluster_failure(self.address, error)
            self.counted = time.monotonic(), max(1, found)
        return self.counted[1]

    def submit(self, function: Callable[..., Any], *args: Any, priority: int = 0) -> Any:
        """Submit a task and return its future; waiting tasks with a higher `priority` run first."""
        try:
            return self.client.submit(function, *args, pure=False, retries=RETRIES, priority=priority)
        except Exception as error:
            raise_cluster_failure(self.address, error)

    def result(self, task: Any) -> dict[str, Any]:
        """The result of a task of dask/tasks.py, including its "problem". MachineryFailed if there is no result."""
        try:
            found: dict[str, Any] = task.result()
        except Exception as error:
            raise_cluster_failure(self.address, error)
        if found["tiebreak"] != __version__:
            raise MachineryFailed(f"{found['worker']} has Tiebreak {found['tiebreak']}, here it is {__version__}")
        return found

    def call(self, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """Run one task and return its result; its problem, if any, is raised."""
        found = self.result(self.submit(function, *args))
        raise_problem(found)
        return found

    def cancel(self, tasks: Iterable[Any]) -> None:
        with suppress(Exception):
            self.client.cancel(list(tasks))

    def release(self) -> None:
        """End the backends that workers kept for the next task."""
        from tiebreak.conformance.dask import tasks

        with suppress(Exception):
            self.client.run(tasks.release, on_error="ignore")


def raise_problem(found: dict[str, Any]) -> None:
    """Raise the problem that a task reports, as the same kind of exception."""
    if found["problem"] is not None:
        kind, message = found["problem"]
        raise KINDS[kind](message if kind in AS_IT_IS else f"{found['worker']}: {message}")


def raise_cluster_failure(address: str, error: Exception) -> NoReturn:
    """Raise MachineryFailed for an exception of a task or of Dask itself."""
    if isinstance(error, distributed_package().KilledWorker):
        raise MachineryFailed("Dask workers, one after the other, died with the same task: see their logs") from None
    if isinstance(error, distributed_package().CancelledError | OSError):  # a closed connection is an OSError too
        raise MachineryFailed(f"the Dask scheduler {address} was lost") from None
    text = " ".join(str(error).split())[:500]
    raise MachineryFailed(f"a task on the Dask cluster {address} failed: {type(error).__name__}: {text}") from None


def distributed_package() -> Any:
    """The package `distributed`; MachineryFailed without it."""
    try:
        return importlib.import_module("distributed")
    except ModuleNotFoundError:
        raise MachineryFailed("--scheduler needs Dask: pip install 'tiebreak[distributed]'") from None


@contextmanager
def cluster_at(address: str, workers: int = 0) -> Iterator[Cluster]:
    """The cluster of the scheduler at an address such as tcp://host:8786; "local" starts `workers` processes here.

    Raises InvalidInput for an invalid address, MachineryFailed without Dask, a scheduler or a worker.
    """
    distributed = distributed_package()
    if workers and address != LOCAL:
        raise InvalidInput("--scheduler-workers goes with --scheduler local; a scheduler has the workers that it has")
    if address != LOCAL:
        check_address(address)
    own = local_cluster(distributed, workers) if address == LOCAL else None
    try:
        client = connected_client(distributed, address, own)
        cluster = Cluster(client, address)
        try:
            yield cluster
        finally:
            cluster.release()
            client.close(timeout=5)
    finally:
        if own is not None:
            own.close(timeout=5)


def check_address(address: str) -> None:
    """InvalidInput unless a scheduler could have this address."""
    try:
        scheme, place = distributed_package().comm.parse_address(address)
        distributed_package().comm.registry.get_backend(scheme)
        distributed_package().comm.parse_host_port(place)
    except (ValueError, TypeError) as error:
        problem = " ".join(str(error).split())[:200]
        raise InvalidInput(f"--scheduler {address}: {problem}; wanted: tcp://host:8786 or local") from None


def local_cluster(distributed: Any, workers: int) -> Any:
    """Start worker processes on this machine: `workers`, or one per core, each with its share of the cores."""
    count, config = workers or len(os.sched_getaffinity(0)), importlib.import_module("dask.config")
    try:
        with config.set(QUIET):
            return distributed.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",  # its default port would be taken while another run has it
                scheduler_kwargs={"dashboard": False},
                memory_limit=0,  # the backend's process has its own
                preload=["tiebreak.conformance.dask.tasks"],
                config={"tiebreak": {"workers": count}, "distributed": deepcopy(config.get("distributed"))},
                silence_logs=logging.CRITICAL,
            )
    except (OSError, RuntimeError, TimeoutError) as error:
        raise MachineryFailed(f"--scheduler local: {' '.join(str(error).split())[:300]}") from None


def connected_client(distributed: Any, address: str, own: Any) -> Any:
    """A client that has reached the scheduler and at least one worker."""
    try:
        client = distributed.Client(own or address, timeout=CONNECT_LIMIT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise MachineryFailed(f"--scheduler {address}: {' '.join(str(error).split())[:300]}") from None
    try:
        client.wait_for_workers(1, timeout=CONNECT_LIMIT)
    except TimeoutError:
        client.close(timeout=5)
        raise MachineryFailed(f"--scheduler {address}: no worker within {CONNECT_LIMIT:g} s") from None
    return client
