"""`tiebreak sweep --every-scale` from choice to exit code: sweep, log the blocks, write the certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tiebreak.adapters.registry import check_spec
from tiebreak.conformance.cases.plan import Selection
from tiebreak.conformance.sweep.job import check_place
from tiebreak.conformance.sweep.log import SweepLog, sweep_log_path
from tiebreak.conformance.sweep.scale_blocks import COUNTS, scale_block_from
from tiebreak.conformance.sweep.scale_certificate import (
    ScaleResult,
    chained,
    read_scale_certificate,
    together,
    write_scale_certificate,
)
from tiebreak.conformance.sweep.scale_plan import scale_space
from tiebreak.conformance.sweep.scale_sweeper import ScaleSweeper
from tiebreak.conformance.sweep.session import (
    BlockRunner,
    LocalBlocks,
    Progress,
    SweepLimits,
    compared,
    record_blocks,
    spec_of_certificate,
    swept_again,
)
from tiebreak.golden.errors import DamagedFile, InvalidInput, Unsupported
from tiebreak.golden.exit_codes import exit_code
from tiebreak.golden.scale_space import ScaleSpace
from tiebreak.golden.verdicts import FOREIGN

MakeRunner = Callable[[str, ScaleSpace, SweepLimits], BlockRunner]


def local_scales(spec: str, space: ScaleSpace, how: SweepLimits) -> BlockRunner:
    return LocalBlocks(ScaleSweeper(check_spec(spec), space, how.time_limit, how.memory_limit))


def every_scale_job(
    spec: str,
    selection: Selection,
    significands: int | None,
    certificate: Path,
    how: SweepLimits,
    *,
    resume: bool = False,
    progress: Progress = lambda done, of: None,
    runner: MakeRunner = local_scales,
) -> dict[str, Any]:
    """Sweep, write the certificate and return its content.

    A backend that takes no scale for each row gets one scale a call, and a sample of them. Raises Unsupported if it
    takes neither, InvalidInput for bad input, NotMonotone if results go back, MachineryFailed if the backend can't be
    started or fails too often.
    """
    check_place(certificate)
    refusals: list[Unsupported] = []
    for along_axis in (True, False):
        space = scale_space(selection, significands, along_axis=along_axis)
        try:
            return carry_out_scales(runner(spec, space, how), space, certificate, how, resume=resume, progress=progress)
        except Unsupported as refusal:
            refusals.append(refusal)
        except InvalidInput:
            if along_axis and resume and log_is_of(certificate, scale_space(selection, significands, along_axis=False)):
                continue
            raise
    raise refusals[-1]


def log_is_of(certificate: Path, space: ScaleSpace) -> bool:
    """Whether the unfinished sweep beside a certificate is of this space."""
    log = SweepLog(sweep_log_path(certificate), scale_block_from)
    try:
        log.read()
        return bool(log.header.get("space") == space.described())
    finally:
        log.close()


def carry_out_scales(
    runner: BlockRunner, space: ScaleSpace, certificate: Path, how: SweepLimits, *, resume: bool, progress: Progress
) -> dict[str, Any]:
    """Sweep with any runner of blocks, log the blocks, and write the certificate; see `every_scale_job`."""
    log = SweepLog(sweep_log_path(certificate), scale_block_from)
    try:
        facts = record_blocks(runner, space, log, {}, resume=resume, progress=progress)
        check_whole_scales(space, log)
        blocks = [log.blocks[number] for number in sorted(log.blocks)]
        data = write_scale_certificate(certificate, ScaleResult(space, facts, blocks, runner.seconds))
        log.end()
        return data
    finally:
        log.close()


def check_whole_scales(space: ScaleSpace, log: SweepLog) -> None:
    """DamagedFile unless each block is there once, with counts that can be."""
    if sorted(log.blocks) != list(range(space.blocks)):
        raise DamagedFile(f"{log.path}: damaged: it has other blocks than the sweep")
    for number, block in log.blocks.items():
        asked = 0 if block.fault else space.results_in(number)
        counts = [getattr(block, name) for name in COUNTS]
        inside = (
            block.working + block.wrong <= asked == block.asked and block.located <= block.differing <= block.scales
        )
        if min(counts) < 0 or not inside or not math.isfinite(block.seconds):
            raise DamagedFile(f"{log.path}: damaged: block {number} is not one of the sweep's")


def exit_code_of_scales(data: Mapping[str, Any], *, judge_foreign: bool = False) -> int:
    """The exit code, from the certificate; a document that the backend does not claim counts with `judge_foreign`."""
    own = judge_foreign or data["backend"].get("document") != FOREIGN
    return exit_code(
        discrepancies=own and bool(data["total"]["wrong"]),
        failures=bool(data["faults"]),
        ran=bool(data["total"]["asked"]),
    )


def check_scales_job(
    certificate: Path, how: SweepLimits, named: str = "", progress: Progress = lambda done, of: None
) -> dict[str, Any]:
    """Repeat the sweep of a certificate and compare: stretches of blocks with other results, changes of the backend."""
    data, space = read_scale_certificate(certificate)
    spec = spec_of_certificate(data, named, certificate)
    facts, blocks = swept_again(ScaleSweeper(spec, space, how.time_limit, how.memory_limit), progress)
    then = ["0" * 64, *(row[2] for row in data["sha256"])]
    now = chained(space, blocks, lambda number: then[number])
    changed = [row[:2] for row, before in zip(now, then[1:], strict=True) if row[2] != before]
    counts = {"then": counts_of(data["total"]), "now": counts_of(together(blocks))}
    return compared(certificate, data, space, facts, blocks, changed_blocks=changed, counts=counts)


def counts_of(total: Mapping[str, Any]) -> dict[str, int]:
    return {name: int(total[name]) for name in COUNTS}
