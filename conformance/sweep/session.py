"""What every sweep does between its choice and its certificate: run the blocks, log them, go on where one ended."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tiebreak.adapters.isolation import MEMORY_LIMIT
from tiebreak.adapters.registry import spec_from_file
from tiebreak.adapters.settings import differing_settings, settings_of
from tiebreak.adapters.sweeping import AnySpace
from tiebreak.conformance.running.journal import check_settings
from tiebreak.conformance.sweep.block_sweeper import BLOCK_LIMIT, BlockSweeper
from tiebreak.conformance.sweep.log import SweepLog
from tiebreak.golden.errors import InvalidInput, NotMonotone, Unsupported
from tiebreak.version import __version__

Progress = Callable[[int, int], None]  # inputs done, and of how many


@dataclass(frozen=True)
class SweepLimits:
    """`time_limit` is in seconds for a block, `memory_limit` in MiB for the worker.

    `all_modes` also counts the mismatches with each rounding mode.
    """

    time_limit: float = BLOCK_LIMIT
    memory_limit: int = MEMORY_LIMIT
    all_modes: bool = False


class BlockRunner(Protocol):
    """Runs a sweep's blocks: on one worker here, or on many elsewhere. `seconds` is the time of all together."""

    seconds: float

    def begin(self, numbers: Sequence[int], known: Mapping[str, Any]) -> dict[str, Any]:
        """Start on these blocks and return the backend's facts. `known` are the facts of an earlier session, if any."""
        ...

    def finished_blocks(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Each block, in any order, with facts about the machine that ran it, empty for this one."""
        ...

    def close(self) -> None: ...


@dataclass
class LocalBlocks:
    """Runs a sweep's blocks on one worker on this machine."""

    sweeper: BlockSweeper[Any]
    numbers: Sequence[int] = ()
    seconds: float = 0.0

    def begin(self, numbers: Sequence[int], known: Mapping[str, Any]) -> dict[str, Any]:
        self.numbers = numbers
        self.sweeper.start()
        return self.sweeper.facts()

    def finished_blocks(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        started = time.perf_counter()
        for block in self.sweeper.sweep(self.numbers):
            yield block, {}
        self.seconds = time.perf_counter() - started

    def close(self) -> None:
        self.sweeper.close()


def record_blocks(
    runner: BlockRunner, space: AnySpace, log: SweepLog, asked: Mapping[str, Any], *, resume: bool, progress: Progress
) -> dict[str, Any]:
    """Run the blocks that the log lacks and add them to it; the backend's facts, with the machines that took part.

    `asked` says what else than the space makes a sweep another one. The runner is closed then, the log is not.
    """
    header = {"tiebreak": __version__, "space": space.described(), **asked}
    try:
        if resume:
            log.read()
            check_same_sweep(log, header)
            check_settings(str(log.path), log.header.get("settings"))
        left = blocks_left(space, log)
        facts = runner.begin(left, log.header.get("backend", {}))
        if resume:
            check_same_sweep(log, {"backend": facts})
        else:
            log.begin(header | {"settings": settings_of(os.environ), "backend": facts})
        run_blocks(runner, space, left, log, progress)
    except NotMonotone:  # going on would come to the same input
        log.end()
        raise
    except (InvalidInput, Unsupported):
        if not resume and not log.blocks:
            log.end()
        raise
    finally:
        runner.close()
    machines = machines_of(log)
    return {**facts, "machines": machines} if machines else facts


def blocks_left(space: AnySpace, log: SweepLog) -> list[int]:
    """The blocks without results in the log."""
    return [number for number in range(space.blocks) if number not in log.blocks or log.blocks[number].fault]


def run_blocks(runner: BlockRunner, space: AnySpace, left: Sequence[int], log: SweepLog, progress: Progress) -> None:
    """Run these blocks and add them to the log."""
    done = space.inputs - sum(space.results_in(number) for number in left)
    progress(done, space.inputs)
    for block, machine in runner.finished_blocks():
        log.add(block, machine)
        done += space.results_in(block.number)
        progress(done, space.inputs)


def check_same_sweep(log: SweepLog, header: Mapping[str, Any]) -> None:
    """InvalidInput if the unfinished sweep was of another space, backend or version."""
    for name, now in header.items():
        if log.header.get(name) != now:
            raise InvalidInput(f"{log.path}: its {name} is another than what is asked for now: start anew")


def machines_of(log: SweepLog) -> list[dict[str, Any]]:
    """The other machines that took part, each with its number of blocks."""
    found = Counter(json.dumps(machine, sort_keys=True) for machine in log.machines.values() if machine)
    return [{**json.loads(text), "blocks": count} for text, count in sorted(found.items())]


def spec_of_certificate(data: Mapping[str, Any], named: str, certificate: Any) -> str:
    """The backend to check a certificate with: `named` if it is not one of Tiebreak's own."""
    return spec_from_file(data["backend"]["spec"], named, f"{certificate} (as in: tiebreak sweep BACKEND --check)")


def swept_again(sweeper: BlockSweeper[Any], progress: Progress) -> tuple[dict[str, Any], list[Any]]:
    """The backend's facts and all blocks, in the order of their numbers."""
    space, blocks, done = sweeper.space, list[Any](), 0
    try:
        sweeper.start()
        facts = sweeper.facts()
        for block in sweeper.sweep(range(space.blocks)):
            blocks.append(block)
            done += space.results_in(block.number)
            progress(done, space.inputs)
    finally:
        sweeper.close()
    return facts, sorted(blocks, key=lambda block: int(block.number))


def compared(
    certificate: Any,
    data: Mapping[str, Any],
    space: AnySpace,
    facts: Mapping[str, Any],
    blocks: Sequence[Any],
    *,
    changed_blocks: Sequence[Any],
    counts: Mapping[str, Any],
) -> dict[str, Any]:
    """What `tiebreak sweep --check` found, as one object."""
    return {
        "certificate": str(certificate),
        "backend": facts["name"],
        "operator": space.node.operator,
        "inputs": space.inputs,
        "blocks": space.blocks,
        "changed_blocks": list(changed_blocks),
        "counts": dict(counts),
        "changed": backend_changes(data["backend"], facts) | changed_settings(data),
        "faults": {str(block.number): block.fault for block in blocks if block.fault},
    }


def backend_changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[str]]:
    """What changed about the backend: name, version, libraries, attestation; each as [then, now]."""
    found = {name: [str(then[name]), str(now[name])] for name in ("name", "version") if then[name] != now[name]}
    for part in ("libraries", "attestation"):
        for name in sorted({*then[part], *now[part]}):
            pair = [str(then[part].get(name, "absent")), str(now[part].get(name, "absent"))]
            if pair[0] != pair[1]:
                found[f"{part}: {name}"] = pair
    return found


def changed_settings(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """What changed, since a certificate, of the variables that libraries read; each as [then, now]."""
    differing = differing_settings(data.get("settings"), settings_of(os.environ))
    pairs = {f"settings: {row['name']}": (row["before"], row["after"]) for row in differing}
    return {name: ["absent" if value is None else value for value in pair] for name, pair in pairs.items()}
