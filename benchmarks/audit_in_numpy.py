"""The comparison for every input as it was with NumPy alone: what the loops of an audit are measured beside."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tiebreak.conformance.semantics.model import Probe, Semantics
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.conformance.semantics.quantize_facets import Combination
from tiebreak.golden.problem import Array

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from steps_in_numpy import locate, round_place, saturated_codes, saturation_stage

AT_ONCE = 1 << 18  # predictions at a time, as many as proof.AT_ONCE


def inputs_compared(arithmetic: QuantizeArithmetic, setting: Probe, left: Sequence[Semantics], most: int) -> int:
    """The number of inputs on which semantics in float64, which must agree, were compared by `most` predictions."""
    largest = arithmetic.node.real.infinity_bits - 1
    ends = np.array([-largest, -1, 0, 1, largest])
    stages, inputs = at(ends, arithmetic, left, setting), 6  # with -0
    work = [(ends[:-1], ends[1:], stages[:, :4], stages[:, 1:5])]
    while work and inputs * len(left) <= most:
        low, high, below, above = work.pop()
        open_ = np.flatnonzero((below != above).any(axis=0) & (high - low > 1))
        now, later = np.split(open_, [AT_ONCE // len(left)])
        work += [(low[later], high[later], below[:, later], above[:, later])] if later.size else []
        if not now.size:
            continue
        low, high, below, above = low[now], high[now], below[:, now], above[:, now]
        middle = low + (high - low) // 2
        stages = at(middle, arithmetic, left, setting)
        inputs += middle.size
        assert (below <= stages).all() and (stages <= above).all()
        halves = ((low, middle), (middle, high), (below, stages), (stages, above))
        work.append(tuple(np.concatenate(two, axis=-1) for two in halves))  # type: ignore[arg-type]
    return inputs


def at(ordinals: Array, arithmetic: QuantizeArithmetic, left: Sequence[Semantics], setting: Probe) -> Array:
    """The stages of each semantics (rows): quotients in float64, a zero point after rounding."""
    words = np.abs(ordinals).astype(np.uint32) | ((ordinals < 0).astype(np.uint32) << np.uint32(31))
    zero_point, quantized = setting.others[1].astype(np.int64), arithmetic.quantized
    place = locate(words.view(np.float32).astype(np.float64) / setting.others[0].astype(np.float64))
    stages, table = [], []
    for precision, *_, mode, saturation in map(Combination._make, left):
        whole = round_place(place, mode, precision)
        table.append(saturated_codes(quantized, whole, zero_point, saturation.id))
        stages.append(saturation_stage(quantized, whole, table[-1], zero_point, saturation.id))
    first = np.sort(np.stack(table), axis=0)
    assert not np.count_nonzero(first[1:] != first[:-1])
    return np.stack(stages)
