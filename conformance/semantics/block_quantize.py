"""Blocks with a shared power of two as black boxes quantize them: the scale, then the elements given it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from tiebreak.conformance.semantics.block_element_specials import SpecialElements, ask_of_elements
from tiebreak.conformance.semantics.block_scale import BlockScale, ElementRange, element_range
from tiebreak.conformance.semantics.block_specials import BIAS, NAN, beside
from tiebreak.conformance.semantics.cast import CastArithmetic
from tiebreak.conformance.semantics.cast_probes import aimed_inputs
from tiebreak.conformance.semantics.model import Probe, codes
from tiebreak.conformance.semantics.quantize import QuantizeArithmetic
from tiebreak.conformance.semantics.quantize_probes import trap_inputs
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
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.ocp_mx_quantize import BLOCK
from tiebreak.golden.problem import Array

SCALES, ELEMENTS = "scales", "elements"
ASKED = ("precision", "round_mode", "output_subnormals", "saturation", "zero")  # of the elements
ASKED_OF_INTEGERS = ("precision", "round_mode", "saturation")
TOLD_APART = {  # a power of two divides exactly, no zero point is added, and nothing is far beyond the range
    "precision": ("float32", "bfloat16", "float16"),
    "saturation": ("saturate", "wrap", "narrow-range"),
}
UNIT = 2.0**-6  # of MXINT8
SINGLE = np.float32
INTEGER_OPERANDS = (np.asarray(UNIT, SINGLE), np.zeros((), np.int8))  # the table's operands after x / scale
FEW = 3000  # numbers of a probe


def block_stages(node: Node, run: Run) -> Iterator[Stage]:
    """The stages of a node; the elements' only if a scale far below the greatest magnitude can be made."""
    kind = element_range(ELEMENT_TYPES[node.output_type])
    shift = exponent_of_ones(node, run)
    yield scale_stage(node, kind, run, shift)
    settings = measured_settings(node, kind, run)
    if settings:
        yield element_stage(node, run, settings, shift)


def exponent_of_ones(node: Node, run: Run) -> int | None:
    """The exponent of the scale that a backend gives a block of ones; None if it gives none."""
    ones = np.ones(BLOCK - 1, node.inputs[0].dtype)
    (outputs,) = run([(blocks_of(ones[:1], ones),)])
    code = NAN if outputs is None else int(codes(outputs[1])[0])
    return code - BIAS if code < NAN else None


def blocks_of(first: Array, values: Array, size: int = BLOCK) -> Array:
    """Rows of a block each, with a number of its own in front and the others behind; what is missing is 0.

    There are two rows at least: one alone is too short for some.
    """
    rows = max(2, first.size, -(-values.size // (size - 1)))
    found = np.zeros((rows, size), first.dtype)
    found[:, 0] = first
    padded = np.zeros(rows * (size - 1), first.dtype)
    padded[: values.size] = values
    found[:, 1:] = padded.reshape(rows, size - 1)
    return found


def scale_stage(node: Node, kind: ElementRange, run: Run, shift: int | None) -> Stage:
    def calls(probe: Probe) -> list[Inputs]:
        return [(blocks_of(probe.x, beside(probe)),)]

    def ask(probes: Sequence[Probe]) -> list[Array | None]:
        answers = run([calls(probe)[0] for probe in probes])
        return [
            None if one is None else codes(one[1])[: probe.x.size] for probe, one in zip(probes, answers, strict=True)
        ]

    dtype, mode = node.inputs[0].dtype, str(node.value("scaling_mode"))
    table = stand_in(node, (("greatest magnitude", dtype),), (SCALES, node.outputs[1].dtype), scaling_mode=mode)
    return Stage(SCALES, BlockScale(table, kind, mode, shift), ask, calls)


def measured_settings(node: Node, kind: ElementRange, run: Run) -> list[MeasuredSetting]:
    """A block whose greatest magnitude is as far beyond its scale as any, and so beyond the largest element or not."""
    dtype = node.inputs[0].dtype
    almost_two = np.array(2.0 - 2.0**-7) * 2.0**kind.emax
    anchors = np.array([almost_two]).astype(dtype)
    (outputs,) = run([(blocks_of(anchors, anchors[:0]),)])
    if outputs is None or not 0 < (code := int(codes(outputs[1])[0])) < 2 * BIAS:
        return []
    end = float(anchors[0]) / 2.0 ** (code - BIAS)
    others = () if isinstance(ELEMENT_TYPES[node.output_type], FloatType) else INTEGER_OPERANDS
    return [MeasuredSetting(others, np.array([anchors[0], 2.0 ** (code - BIAS)]).astype(dtype), -end, end)]


def element_table(node: Node, settings: Sequence[MeasuredSetting], shift: int | None) -> AtSettings:
    """What elements are, given x / scale: a cast to a float, or MXINT8's integer of 2^-6."""
    dtype, target = node.inputs[0].dtype, node.outputs[0].dtype
    if not isinstance(ELEMENT_TYPES[node.output_type], FloatType):
        operands = (("x / scale", dtype), ("unit", SINGLE), ("zero point", target))
        inner = QuantizeArithmetic(stand_in(node, operands, (ELEMENTS, target)))
        numbers_near = partial(numbers_near_integers, inner.node)
        return SpecialElements(inner, settings, ASKED_OF_INTEGERS, numbers_near, TOLD_APART, shift=shift)

    def numbers(setting: MeasuredSetting, random: np.random.Generator, most: int) -> Array:
        x = aimed_inputs(node.input_type, node.output_type)
        x = x[setting.keeps(x.astype(np.float64))]
        zeros = np.array([0.0, -0.0]).astype(dtype)
        return np.concatenate([zeros, x[random.permutation(x.size)[: most or FEW]]])

    table = stand_in(node, (("x / scale", dtype),), (ELEMENTS, target), saturate=True)
    return SpecialElements(CastArithmetic(table), settings, ASKED, numbers, shift=shift)


def numbers_near_integers(table: Node, setting: MeasuredSetting, random: np.random.Generator, most: int) -> Array:
    return trap_inputs(table, UNIT, 0, random, most)


def element_stage(node: Node, run: Run, settings: Sequence[MeasuredSetting], shift: int | None) -> Stage:
    """The elements of blocks whose own scale is a power of two."""
    dtype = node.inputs[0].dtype

    def call(setting: MeasuredSetting, x: Array) -> Inputs:
        scale = float(setting.anchors[1])
        return (blocks_of(setting.anchors[:1], (x.astype(np.float64) * scale).astype(dtype)),)

    def own(setting: MeasuredSetting, outputs: Outputs) -> tuple[Array, ...]:
        same = (outputs[1].astype(np.float64) == float(setting.anchors[1])).all()
        return setting.others if same else (np.zeros(1),)

    def results(outputs: Outputs, count: int) -> Array:
        return np.ascontiguousarray(outputs[0].reshape(-1, BLOCK)[:, 1:]).reshape(-1)[:count]

    arithmetic = element_table(node, settings, shift)
    finite = ask_at(settings, run, call, own, results)
    ask = ask_of_elements(finite, run, lambda first, x: (blocks_of(first, x),), lambda outputs: results(outputs, 1))
    calls = calls_at(settings, call)
    return Stage(ELEMENTS, arithmetic, ask, calls, (SCALES,), elementwise=True)
