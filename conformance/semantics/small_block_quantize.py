"""Blocks with a scale of 8 bits as black boxes quantize them: the scale's rounding, then that of elements given it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tiebreak.conformance.semantics.block_quantize import ASKED, FEW, SCALES, blocks_of, element_stage
from tiebreak.conformance.semantics.cast import CastArithmetic
from tiebreak.conformance.semantics.cast_probes import aimed_inputs
from tiebreak.conformance.semantics.quantize_probes import neighbours
from tiebreak.conformance.semantics.stages import (
    AtSettings,
    Inputs,
    MeasuredSetting,
    Outputs,
    Run,
    Stage,
    ask_at,
    calls_at,
    stand_in,
)
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.nvidia_nvfp4_quantize import BLOCK, LARGEST, SCALE_TYPE
from tiebreak.golden.problem import Array

SINGLE = np.float32


def small_block_stages(node: Node, run: Run) -> Iterator[Stage]:
    """The stages of a node without global_amax, named or not; the elements' only if a scale of 1 can be made."""
    yield scale_stage(node, run)
    settings = scale_of_one(node, run)
    if settings:
        yield element_stage(node, run, settings, BLOCK)


def scale_stage(node: Node, run: Run) -> Stage:
    """What becomes of magnitude / 6: of quotients that a division and a product with 1 / 6 give alike."""
    dtype = node.inputs[0].dtype
    setting = MeasuredSetting((), np.zeros(0, dtype), 2.0**-20, 2.0**20)
    table = stand_in(node, (("magnitude / 6", SINGLE),), (SCALES, node.outputs[1].dtype), saturate=True)

    def numbers(own: MeasuredSetting, random: np.random.Generator, most: int) -> Array:
        near = neighbours(magnitudes(aimed_inputs("float32", SCALE_TYPE)), (-2, -1, 0, 1, 2)).astype(SINGLE)
        magnitude = np.unique(near[(near > own.low) & (near < own.high)])
        x = magnitude / SINGLE(LARGEST)
        alike = (magnitude * (SINGLE(1) / SINGLE(LARGEST)) == x) & (magnitudes(x).astype(SINGLE) == magnitude)
        kept = x[alike & (x > 0)]
        return np.asarray(kept[random.permutation(kept.size)[: most or FEW]])

    def magnitudes(x: Array) -> Array:
        return np.asarray((x.astype(np.float64) * LARGEST).astype(SINGLE).astype(dtype))

    def call(own: MeasuredSetting, x: Array) -> Inputs:
        return (blocks_of(magnitudes(x), np.zeros(0, dtype), BLOCK),)

    def results(outputs: Outputs, count: int) -> Array:
        return np.asarray(outputs[1].reshape(-1)[:count])

    arithmetic = AtSettings(CastArithmetic(table), [setting], ASKED[:-1], numbers)
    ask = ask_at([setting], run, call, lambda own, outputs: (), results)
    return Stage(SCALES, arithmetic, ask, calls_at([setting], call), elementwise=True)


def scale_of_one(node: Node, run: Run) -> Sequence[MeasuredSetting]:
    """A block whose own scale is 1, though its greatest magnitude is as far above 6 as may be."""
    dtype = node.inputs[0].dtype
    for magnitude in (6.34375, 6.25, 6.0):
        anchors = np.array([magnitude]).astype(dtype)
        (outputs,) = run([(blocks_of(anchors, anchors[:0], BLOCK),)])
        if outputs is not None and outputs[1].reshape(-1)[0] == 1:
            return [MeasuredSetting((), np.array([magnitude, 1.0]).astype(dtype), -magnitude, magnitude)]
    return []
