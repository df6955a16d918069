"""Tries parts of a sweep of every scale again with the reference kernel, where all their results are certain."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tiebreak.conformance.submissions.refused import require
from tiebreak.conformance.submissions.scale_numbers import ran_of_groups
from tiebreak.conformance.submissions.sweep_numbers import faulty_blocks
from tiebreak.conformance.sweep.digests import sha256
from tiebreak.conformance.sweep.scale_blocks import ScaleBlock
from tiebreak.conformance.sweep.scale_certificate import chained
from tiebreak.conformance.sweep.scale_judging import ScaleJudge
from tiebreak.golden import kernel
from tiebreak.golden.scale_space import ScalePart, ScaleSpace
from tiebreak.golden.thresholds import lie_apart
from tiebreak.golden.untrusted_text import plural


@dataclass
class RightScales:
    """The blocks of a part with the checksums of the exact results, and with those of working precision.

    `two` inputs have a right result of working precision alone.
    """

    exact: list[ScaleBlock] = field(default_factory=list)
    working: list[ScaleBlock] = field(default_factory=list)
    two: int = 0

    def certain(self, working: int) -> Sequence[ScaleBlock]:
        """The blocks if `working` results of working precision alone tell which results they have; none if not."""
        return self.exact if working == 0 else self.working if working == self.two else []


def check_scale_results(data: Mapping[str, Any], space: ScaleSpace, seconds: float) -> str:
    """What was checked. Refused if a part's checksums are none of its right results.

    Only parts without a wrong answer, in which all results are exact or all of working precision, have certain ones.
    """
    end, tried, told = time.monotonic() + seconds, 0, 0
    judge, groups = ScaleJudge(space), ran_of_groups(data, space)
    named = {number: at for at, row in enumerate(data["sha256"]) for number in range(row[0], row[1] + 1)}
    faulty = {named[number] for number in faulty_blocks(data, space.blocks)}
    for name, blocks in groups.items():
        part = data["parts"][name]
        if part["wrong"] or not blocks or not isinstance(space.part_of(blocks[0]), ScalePart):
            continue
        right = right_scales(judge, blocks, end)
        if right is None:
            continue
        tried += 1
        require(
            part["working"] <= right.two,
            f"{name}: {part['working']:,} answers of working precision; {right.two:,} can be",
        )
        certain = {one.number: one for one in right.certain(part["working"])}
        told += bool(certain)
        check_stretches(data, space, certain, faulty)
    said = f"{tried} of {plural(len(groups), 'part')} tried again"
    return f"{said}; {told} can have no other checksums"


def check_stretches(
    data: Mapping[str, Any], space: ScaleSpace, certain: Mapping[int, ScaleBlock], faulty: set[int]
) -> None:
    """Raise Refused unless stretches of these blocks alone have the checksums that follow."""
    then = ["0" * 64, *(row[2] for row in data["sha256"])]
    whole = [certain.get(number, ScaleBlock(number)) for number in range(space.blocks)]
    now = chained(space, whole, lambda number: then[number]) if certain else []
    for number, (first, last, digest) in enumerate(now):
        if first in certain and number not in faulty:
            require(
                digest == then[number + 1], f"blocks {first} to {last} have another checksum than their right results"
            )


def right_scales(judge: ScaleJudge, blocks: Sequence[int], end: float) -> RightScales | None:
    """What is right in these blocks, by the reference kernel; None if it takes longer than until `end`."""
    found = RightScales()
    for number in blocks:
        if time.monotonic() >= end:
            return None
        add_block(judge, number, found)
    return found


def add_block(judge: ScaleJudge, number: int, found: RightScales) -> None:
    space, dtype = judge.space, judge.space.node.outputs[0].dtype
    calls = list(space.calls(number))
    scales, x = np.concatenate([one.scales for one in calls]), np.concatenate([one.x for one in calls])
    problem, plain = judge.problem(scales, x), lie_apart(scales, space.first_step, space.codes)
    exact, working = (kernel.quantize(problem, working=form)[0].reshape(x.shape) for form in (False, True))
    found.two += int((exact != working).sum())
    for codes, blocks in ((exact, found.exact), (working, found.working)):
        digest = sha256(judge.telling(codes.astype(dtype), plain))
        blocks.append(replace(ScaleBlock(number), sha256=digest))
