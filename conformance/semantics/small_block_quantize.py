"""Blocks with a scale of 8 bits as black boxes quantize them: the scale, then elements given it.

Without global_amax the scale is asked for quotients that a division by 6 and a product with 1 / 6 give alike. With it
each of several tensors is asked for magnitudes, and the order of the steps is a facet. Elements are asked in blocks
of many scales, each of which the backend itself gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from tiebreak.conformance.semantics.block_element_specials import SpecialElements, ask_of_elements
from tiebreak.conformance.semantics.block_quantize import ASKED, ELEMENTS, FEW, SCALES, blocks_of
from tiebreak.conformance.semantics.cast import CastArithmetic
from tiebreak.conformance.semantics.cast_probes import aimed_inputs
from tiebreak.conformance.semantics.model import Facet
from tiebreak.conformance.semantics.quantize_probes import neighbours
from tiebreak.conformance.semantics.scaled_cast import ScaledCast
from tiebreak.conformance.semantics.small_block_least import ScalesWithLeast
from tiebreak.conformance.semantics.small_block_scaling import (
    ELEMENTS_OF_BLOCKS,
    ELEMENTS_OF_TENSORS,
    FACTOR,
    SCALES_OF_TENSORS,
    scaling_of,
)
from tiebreak.conformance.semantics.stages import (
    Ask,
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
from tiebreak.conformance.semantics.type_grids import bits_as_numbers
from tiebreak.golden.elements import SMALL_FLOAT_TYPES, FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.nvidia_nvfp4_quantize import BLOCK, GLOBAL, LARGEST, SCALE_TYPE
from tiebreak.golden.problem import Array

SINGLE = np.float32
SIXTEENTHS = range(17, 33, 2)  # of scales: halfway between those that E4M3 has, so that the lower is far exceeded
POWERS = (0, -3, 5)  # of two, of scales without global_amax
WHOLES = (100.0, 6.0, 2688.0, 2.5, 0.03, 1000.0, 3.7, 12.34, 7e3, 0.17, 55.0, 41.7)  # global_amax
CLOSE, FURTHER = 360, 120  # numbers of a probe near a half between two results, and others
NEAR = (-2, -1, 0, 1, 2)  # units in the last place


def small_block_stages(node: Node, run: Run) -> Iterator[Stage]:
    """The stages of a node with global_amax or without; the elements' only if it gives finite scales that are not 0."""
    wholes = [SINGLE(one) for one in WHOLES] if len(node.inputs) > 1 else []
    yield scale_stage_of_tensors(node, run, wholes) if wholes else scale_stage(node, run)
    settings = measured_settings(node, run, wholes)
    if settings:
        yield element_stage(node, run, settings)


def even_blocks(first: Array, values: Array) -> Array:
    """Rows of a block each, an even number of them: MLX takes no other. The last first number is repeated."""
    rows = max(first.size, -(-values.size // (BLOCK - 1)))
    rows += rows % 2
    padded = np.zeros(rows * (BLOCK - 1), first.dtype)
    padded[: values.size] = values
    return blocks_of(np.pad(first, (0, rows - first.size), mode="edge"), padded, BLOCK)


# Scales


def scale_stage(node: Node, run: Run) -> Stage:
    """What becomes of magnitude / 6: of quotients that a division and a product with 1 / 6 give alike."""
    dtype = node.inputs[0].dtype
    setting = MeasuredSetting((), np.zeros(0, dtype), 2.0**-20, 2.0**20)
    given = {"saturate": True, GLOBAL: False}
    table = stand_in(node, (("magnitude / 6", SINGLE),), (SCALES, node.outputs[1].dtype), **given)

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
        return (even_blocks(magnitudes(x), np.zeros(0, dtype)),)

    arithmetic = ScalesWithLeast(AtSettings(CastArithmetic(table), [setting], ASKED[:-1], numbers))
    ask = ask_with_specials(ask_at([setting], run, call, lambda own, outputs: (), scales_of), run, ())
    return Stage(SCALES, arithmetic, ask, calls_at([setting], call), elementwise=True)


def ask_with_specials(finite: Ask, run: Run, whole: Sequence[Array]) -> Ask:
    """Asks for the scales of special blocks too; `whole` is global_amax, if there is one."""
    return ask_of_elements(
        finite, run, lambda first, others: (even_blocks(first, others), *whole), lambda outputs: scales_of(outputs, 1)
    )


def scales_of(outputs: Outputs, count: int) -> Array:
    return np.asarray(outputs[1].reshape(-1)[:count])


def scale_stage_of_tensors(node: Node, run: Run, wholes: Sequence[np.float32]) -> Stage:
    """What becomes of a block's greatest magnitude in tensors with these global_amax."""
    dtype = node.inputs[0].dtype
    operands = (("greatest magnitude", dtype), (GLOBAL, SINGLE))
    table = stand_in(node, operands, (SCALES, node.outputs[1].dtype), saturate=True, **{GLOBAL: True})
    settings = [MeasuredSetting((np.asarray(one),), np.zeros(0, dtype), 2.0**-60, 2.0**60) for one in wholes]

    def units(own: MeasuredSetting) -> float:
        return float(own.others[0]) / (448 * LARGEST) * LARGEST

    def call(own: MeasuredSetting, x: Array) -> Inputs:
        return even_blocks(x, np.zeros(0, dtype)), np.asarray(own.others[0])

    ways, names = (FACTOR, scaling_of(SCALES_OF_TENSORS, node.input_type)), ASKED[:-1]
    arithmetic = ScalesWithLeast(scaled_table(table, ways, names, settings, units, has_scale=False))
    finite = ask_at(settings, run, call, lambda own, outputs: own.others, scales_of)
    ask = ask_with_specials(finite, run, settings[0].others)
    return Stage(SCALES, arithmetic, ask, calls_at(settings, call), elementwise=True)


def scaled_table(
    table: Node, ways: tuple[Facet, ...], names: tuple[str, ...], settings: Sequence[MeasuredSetting],
    unit: Callable[[MeasuredSetting], float], *, has_scale: bool, kind: type[AtSettings] = AtSettings,
) -> AtSettings:  # fmt: skip
    """The table of numbers in units that depend on the setting, cast to the result's type."""
    target = table.outputs[0]
    cast = CastArithmetic(stand_in(table, (("scaled", SINGLE),), (target.name, target.dtype), saturate=True))
    inner = ScaledCast(table, cast, ways, names, has_scale)
    numbers = partial(numbers_near_halves, table, SMALL_FLOAT_TYPES[table.output_type], unit)
    return kind(inner, settings, (*(facet.name for facet in ways), *names), numbers)


def numbers_near_halves(
    table: Node, kind: FloatType, unit: Callable[[MeasuredSetting], float], own: MeasuredSetting,
    random: np.random.Generator, most: int,
) -> Array:  # fmt: skip
    """Numbers a few units in the last place from those that are halfway between two results, and some others."""
    values = bits_as_numbers(np.arange(kind.largest_bits + 1), kind)
    halves = (values[1:] + values[:-1]) / 2
    x = neighbours((halves * unit(own)).astype(table.inputs[0].dtype), NEAR)
    aimed = aimed_inputs("float32", kind.name)
    others = (aimed[random.permutation(aimed.size)[:FURTHER]].astype(np.float64) * unit(own)).astype(x.dtype)
    both = np.concatenate([x, -x]) if own.low < 0 else x
    zeros = np.array([0.0, -0.0]).astype(x.dtype)
    return np.concatenate([zeros, both[random.permutation(both.size)[: most or CLOSE]], others])


# Elements


def measured_settings(node: Node, run: Run, wholes: Sequence[np.float32]) -> list[MeasuredSetting]:
    """Blocks with scales of all significands, as the backend gives them; the first is about 1 and far exceeded."""
    dtype = node.inputs[0].dtype
    units: list[tuple[float, Inputs]] = [(float(one) / (448 * LARGEST), (np.asarray(one),)) for one in wholes]
    units = units or [(1.0, ())]
    powers = (8,) if wholes else POWERS
    asked = [
        (np.array([LARGEST * part / 16 * 2.0**power * unit * (1 - 2.0**-8)]).astype(dtype), whole)
        for unit, whole in units
        for power in powers
        for part in SIXTEENTHS
    ]
    answers = run([(even_blocks(anchor, anchor[:0]), *whole) for anchor, whole in asked])
    found = dict[bytes, MeasuredSetting]()
    for (anchor, whole), outputs in zip(asked, answers, strict=True):
        if outputs is not None and 0 < (scale := outputs[1].reshape(-1)[0]) < np.inf:
            end = float(anchor[0])
            setting = MeasuredSetting((np.asarray(scale), *whole), anchor, -end, end)
            found.setdefault(setting.key, setting)
    return list(found.values())


def element_stage(node: Node, run: Run, settings: Sequence[MeasuredSetting]) -> Stage:
    """The elements of blocks whose scale is a setting's; no answer where the backend gives another one."""
    dtype, two_levels = node.inputs[0].dtype, len(node.inputs) > 1
    operands = (("x", dtype), ("scale", node.outputs[1].dtype), *(((GLOBAL, SINGLE),) if two_levels else ()))
    given = {"saturate": True, GLOBAL: two_levels}
    table = stand_in(node, operands, (ELEMENTS, node.outputs[0].dtype), **given)

    def unit(own: MeasuredSetting) -> float:
        whole = float(own.others[1]) / (448 * LARGEST) if two_levels else 1.0
        return float(own.others[0]) * whole

    def call(own: MeasuredSetting, x: Array) -> Inputs:
        return even_blocks(own.anchors, x), *own.others[1:]

    def given_scale(own: MeasuredSetting, outputs: Outputs) -> tuple[Array, ...]:
        scales = np.unique(outputs[1].astype(SINGLE))
        return (scales.astype(outputs[1].dtype).reshape(-1), *own.others[1:]) if scales.size == 1 else (np.zeros(1),)

    def results(outputs: Outputs, count: int) -> Array:
        return np.ascontiguousarray(outputs[0].reshape(-1, BLOCK)[:, 1:]).reshape(-1)[:count]

    own_ways = scaling_of(ELEMENTS_OF_TENSORS if two_levels else ELEMENTS_OF_BLOCKS, node.input_type)
    ways = (FACTOR, own_ways) if two_levels else (own_ways,)
    arithmetic = scaled_table(table, ways, ASKED, settings, unit, has_scale=True, kind=SpecialElements)

    def special(first: Array, x: Array) -> Inputs:
        return even_blocks(first, x), *settings[0].others[1:]

    finite, calls = ask_at(settings, run, call, given_scale, results), calls_at(settings, call)
    ask = ask_of_elements(finite, run, special, lambda outputs: results(outputs, 1))
    return Stage(ELEMENTS, arithmetic, ask, calls, (SCALES,), elementwise=True)
