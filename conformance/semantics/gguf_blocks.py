"""Blocks with a float16 scale as black boxes quantize them: the scale, then elements given it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from tiebreak.conformance.semantics.block_quantize import ELEMENTS, SCALES
from tiebreak.conformance.semantics.cast import CastArithmetic
from tiebreak.conformance.semantics.gguf_element import GgufElement
from tiebreak.conformance.semantics.gguf_scale import GgufScale
from tiebreak.conformance.semantics.gguf_steps import SINGLE, is_nibble
from tiebreak.conformance.semantics.model import Probe, codes
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
from tiebreak.golden.operators.gguf_quantize import AMAX, BLOCK, DIVISORS, SCALE_TYPE
from tiebreak.golden.problem import Array

ROW = 2 * BLOCK  # two blocks side by side: who shares a scale between them is seen
# Over the largest element: whole scales, and others of many significands.
UNITS = (1.0, 49.0, 3.0, 1.7, 0.31, 77.3, 0.0043, 5.9, 12.34, 0.77, 0.1, 23.9, 0.0617, 2.03)
OTHER_DIVISORS = {127: 128, 8: 7}  # by the document's
CLOSE = 1000  # numbers of a probe near a half between two elements
NEAR = (-9, -4, -2, -1, 0, 1, 2, 4, 9)  # units in the last place


def gguf_stages(node: Node, run: Run) -> Iterator[Stage]:
    """The stages of a node; the elements' only if it gives finite scales that are not 0."""
    yield scale_stage(node, run)
    settings = measured_settings(node, run)
    if settings:
        yield element_stage(node, run, settings)


# Scales


def scale_stage(node: Node, run: Run) -> Stage:
    half = node.outputs[1].dtype
    named = (("first number", SINGLE), ("later number", SINGLE))
    table = stand_in(node, named, (SCALES, half), elements=node.output_type)
    cast = CastArithmetic(stand_in(node, (("d", SINGLE),), (SCALES, half), saturate=True))

    def calls(probe: Probe) -> list[Inputs]:
        later = np.broadcast_to(np.asarray(probe.others[0]).reshape(-1), probe.x.shape)
        return [(blocks_of_two(probe.x, later),)]

    def ask(probes: Sequence[Probe]) -> list[Array | None]:
        answers = run([calls(probe)[0] for probe in probes])
        sizes = [probe.x.size for probe in probes]
        return [None if one is None else codes(one[1])[:size] for one, size in zip(answers, sizes, strict=True)]

    return Stage(SCALES, GgufScale(table, node.output_type, cast), ask, calls, elementwise=True)


def blocks_of_two(one: Array, later: Array) -> Array:
    """Blocks with two numbers, at places that go round; rows of two blocks, of which the last may be of zeros."""
    count = one.size + one.size % 2
    found, number = np.zeros((count, BLOCK), SINGLE), np.arange(one.size)
    place = number * 7 % (BLOCK - 1)
    found[number, place] = one
    found[number, place + 1 + number * 5 % (BLOCK - 1 - place)] = later
    return found.reshape(-1, ROW)


# Elements


def measured_settings(node: Node, run: Run) -> list[MeasuredSetting]:
    """Numbers that decide, of Q4_0 of both signs, each with the scale that the backend gives its block."""
    signs = [(-1) ** number if is_nibble(node.output_type) else 1 for number in range(1, len(UNITS) + 1)]
    tops = (np.array(UNITS) * signs * abs(DIVISORS[node.output_type])).astype(SINGLE)
    found = []
    for top, outputs in zip(tops, run([(blocks_behind(top, tops[:0]),) for top in tops]), strict=True):
        if outputs is not None and 0 < abs(scale := outputs[1].reshape(-1)[0]) < np.inf:
            end = abs(float(top))
            found.append(MeasuredSetting((np.asarray(top), np.asarray(scale)), np.array([top]), -end, end))
    return found


def blocks_behind(top: np.float32, values: Array) -> Array:
    """Rows of two blocks, each of which begins with a number; the values stand behind it, and then 0."""
    count = max(2, -(-values.size // (BLOCK - 1)))
    count += count % 2
    found = np.zeros((count, BLOCK), SINGLE)
    found[:, 0] = top
    padded = np.zeros(count * (BLOCK - 1), SINGLE)
    padded[: values.size] = values
    found[:, 1:] = padded.reshape(count, BLOCK - 1)
    return found.reshape(-1, ROW)


def numbers_near_halves(most: int, own: MeasuredSetting, random: np.random.Generator, asked: int) -> Array:
    """Numbers near those that are halfway between two elements, zeros, and the number that decides.

    Its negative is asked at another time: where that decides instead, nothing else would have an answer.
    """
    units = abs(float(own.others[0])) / np.array([[most], [OTHER_DIVISORS[most]]])
    halves = neighbours(((np.arange(-most, most) + 0.5) * units).astype(SINGLE).reshape(-1), NEAR)
    inside = halves[np.abs(halves) < own.high]
    chosen = inside[random.permutation(inside.size)[: asked or CLOSE]]
    return np.concatenate([np.array([0.0, -0.0, own.others[0]], SINGLE), chosen])


class AtBlocks(AtSettings):
    """As AtSettings; and the negative of each number that decides, in calls of its own."""

    def first_probes(self) -> Iterator[Probe]:
        yield from super().first_probes()
        for setting in self.settings:
            yield Probe(-setting.anchors, setting.others)


def element_stage(node: Node, run: Run, settings: Sequence[MeasuredSetting]) -> Stage:
    """The elements of blocks whose scale is a setting's; no answer where the backend gives another one."""
    operands = (("x", SINGLE), (AMAX, SINGLE), ("scale", np.dtype(SCALE_TYPE)))
    inner = GgufElement(stand_in(node, operands, (ELEMENTS, node.outputs[0].dtype)))
    numbers = partial(numbers_near_halves, abs(DIVISORS[node.output_type]))
    arithmetic = AtBlocks(inner, settings, tuple(facet.name for facet in inner.facets), numbers)

    def call(own: MeasuredSetting, x: Array) -> Inputs:
        return (blocks_behind(own.anchors[0], x),)

    def given(own: MeasuredSetting, outputs: Outputs) -> tuple[Array, ...]:
        same = (outputs[1] == own.others[1]).all()
        return own.others if same else (np.zeros(1),)

    def results(outputs: Outputs, count: int) -> Array:
        return np.ascontiguousarray(outputs[0].reshape(-1, BLOCK)[:, 1:]).reshape(-1)[:count]

    ask, calls = ask_at(settings, run, call, given, results), calls_at(settings, call)
    return Stage(ELEMENTS, arithmetic, ask, calls, (SCALES,), elementwise=True)
