"""The options of `run` and `sweep` for a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tiebreak.cli.kinds import NAME, WholeNumber
from tiebreak.golden.errors import InvalidInput

if TYPE_CHECKING:
    from tiebreak.conformance.dask.scheduler import Cluster

Command = TypeVar("Command", bound=Callable[..., Any])
SCHEDULING = ("scheduler", "scheduler_workers")


def scheduling(command: Command) -> Command:
    """The options --scheduler and --scheduler-workers."""
    for option in (
        click.option(
            "--scheduler-workers",
            type=WholeNumber(1, 4096),
            metavar="N",
            help="How many workers --scheduler local has. Default: one for each core.",
        ),
        click.option(
            "--scheduler",
            type=NAME,
            metavar="ADDRESS",
            help="Run on the workers of a Dask scheduler, such as tcp://host:8786; local: on workers of our own.",
        ),
    ):
        command = option(command)
    return command


def cluster_if(scheduler: str | None, workers: int | None) -> AbstractContextManager[Cluster | None]:
    """The requested Dask cluster; None if none was requested."""
    if scheduler is None:
        if workers:
            raise InvalidInput("--scheduler-workers goes with --scheduler local")
        return nullcontext()
    from tiebreak.conformance.dask.scheduler import cluster_at

    return cluster_at(scheduler, workers or 0)
