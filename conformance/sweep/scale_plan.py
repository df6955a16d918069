"""What a sweep of every scale tries: the node for it, and the parts of its space.

On the normal range x / scale stays the same if both are multiplied by a power of two, and so do float32 products with a
rounded reciprocal. So the significands of one exponent stand for all. That is assumed of a backend, and checked with
some significands at every other exponent. What it can't hold for is swept apart: scales that are subnormal or next to
it, and the highest, whose reciprocals are subnormal or whose thresholds are beyond the greatest x.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from tiebreak.conformance.cases.plan import Selection, chosen_operators, typed_case
from tiebreak.conformance.operators import TESTED
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Quantization
from tiebreak.golden.problems import problems_of
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.scale_space import CALLS, LinePart, Part, ScalePart, ScaleSpace, check_scale_space
from tiebreak.golden.thresholds import LARGEST, places_of

SIGNIFICANDS = 1 << 23
EXPONENT_OF_ONE, HIGHEST = 127, 254  # as float32 stores them
NORMAL, SAMPLE, EVERY_X = "normal range", "sample of 2^", "every x with scale "
SUBNORMAL, LOWEST, HIGHEST_PART = "subnormal", "lowest normal exponent", "highest exponent"
ENDS = {  # by the bits of the output: a part, its exponent, how many significands at most
    8: ((SUBNORMAL, 0, SIGNIFICANDS), (LOWEST, 1, SIGNIFICANDS), (HIGHEST_PART, HIGHEST, SIGNIFICANDS >> 4)),
    16: ((SUBNORMAL, 0, 1 << 14), (LOWEST, 1, 1 << 14), (HIGHEST_PART, HIGHEST, 1 << 10)),
}
SAMPLED = {8: 4096, 16: 64}  # significands at every other exponent, by the bits of the output
ALONE = 1 << 14  # significands where a backend takes one scale a call
LINES = (0x3F9D89D9, 0x3F800000, 0x3FFFFFFF, 0x3FB504F3, 0x3FC90FDB, 0x3F8E38E4)  # scales in [1, 2) that get every x
ALL_LINES = 1 << 16  # significands from which on they all do; the first only, of fewer
BELOW = 4  # an x smaller than a scale by this factor is far from the first threshold


def scale_case(selection: Selection, *, along_axis: bool) -> Case:
    """The node with a scale for each row of x, or with one scale. InvalidInput for what has no sweep of every scale."""
    operators = chosen_operators(selection)
    if len(operators) != 1:
        raise InvalidInput("a sweep is of exactly one --operator")
    spec = get_operator(operators[0])
    form = spec.forms[0]
    if len(form) < 2 or not form[1].endswith(("scale", "scales")):
        raise InvalidInput(f"{spec.id} has no scale as its second input: --every-scale is for quantize operators")
    for name in form[:2]:
        if name in selection.inputs:
            raise InvalidInput(f"{spec.id}: --every-scale takes every {name}: leave --input {name} off")
    axis = TESTED[spec.id].axis
    attributes = dict(selection.attributes)
    if along_axis and axis and axis.attribute:
        if axis.attribute in attributes:
            raise InvalidInput(
                f"{spec.id}: --every-scale has its own {axis.attribute}: leave --attr {axis.attribute} off"
            )
        attributes[axis.attribute] = 0
    shape = "[{}]" if along_axis else "{}"
    inputs = {form[0]: shape.format("[0]"), form[1]: shape.format("1")}
    inputs |= {name: shape.format(text) for name, text in selection.inputs.items()}
    return check_case(typed_case(replace(selection, inputs=inputs, attributes=attributes), operators))


def check_case(case: Case) -> Case:
    """The case if its thresholds are those of golden/thresholds.py. InvalidInput otherwise."""
    node, problem = case.node, problems_of(case)[0]
    if node.input_type in ("float16", "bfloat16"):
        raise InvalidInput(
            f"--every-scale is for float32: a sweep of {node.input_type} without a scale takes every scale by itself"
        )
    if not isinstance(problem, Quantization) or problem.mode != EVEN or not get_operator(node.operator).saturates:
        raise InvalidInput(
            f"{node.operator}: --every-scale is for x / scale rounded half to even and clamped, plus a zero point"
        )
    if node.input_type != "float32" or problem.quantized.bits not in CALLS:
        kinds = f"{node.input_type} and {node.output_type}"
        raise InvalidInput(f"--every-scale is for float32 and results of 8 or 16 bits, not {kinds}")
    return case


def scale_space(selection: Selection, significands: int | None, *, along_axis: bool) -> ScaleSpace:
    """The space of a sweep with so many significands, None for all, or where one call has one scale for a sample."""
    case = scale_case(selection, along_axis=along_axis)
    zero_points = case.inputs[2:]
    zero_point = int(zero_points[0].reshape(-1)[0]) if zero_points else 0
    count = significands or (SIGNIFICANDS if along_axis else ALONE)
    found = ScaleSpace(case.node, zero_point, (), along_axis)
    return check_scale_space(replace(found, parts=tuple(parts_of(found.result.bits, count))))


def parts_of(bits: int, count: int) -> Iterator[Part]:
    """The parts of a sweep with `count` significands, the normal range first, for an output of so many bits."""
    yield evenly(NORMAL, EXPONENT_OF_ONE, count)
    for name, exponent, most in ENDS[bits]:
        yield evenly(name, exponent, min(count, most))
    sampled = min(count, SAMPLED[bits])
    for exponent in (EXPONENT_OF_ONE, *range(2, EXPONENT_OF_ONE), *range(EXPONENT_OF_ONE + 1, HIGHEST)):
        yield evenly(f"{SAMPLE}{exponent - EXPONENT_OF_ONE}", exponent, sampled)
    for number, scale in enumerate(LINES if count >= ALL_LINES else LINES[:1]):
        name = f"{EVERY_X}0x{scale:08x}"
        if number == 0 and count == SIGNIFICANDS:
            yield LinePart(name, scale, -LARGEST, LARGEST)
            continue
        yield from rounded_range(name, scale, bits)


def rounded_range(name: str, scale: int, bits: int) -> Iterator[LinePart]:
    """Every x from a fraction of the scale to beyond the last threshold, of either sign."""
    number = np.uint32(scale).view(np.float32)
    ends = np.array([number / np.float32(BELOW), number * np.float32(2 << bits)], np.float32)
    low, high = places_of(ends.view(np.uint32)).tolist()
    yield LinePart(f"{name}, above 0", scale, low, high)
    yield LinePart(f"{name}, below 0", scale, -high, -low)


def evenly(name: str, exponent: int, count: int) -> ScalePart:
    """So many significands of an exponent, evenly apart by an odd number, so that their last bits vary."""
    first, whole = exponent << 23, SIGNIFICANDS
    if exponent == 0:
        first, whole = 1, SIGNIFICANDS - 1
    step = max(1, (whole - 1) // count)
    step -= step > 1 and step % 2 == 0
    return ScalePart(name, first, step, min(count, whole))


def assumptions(space: ScaleSpace) -> Mapping[str, str]:
    """What a certificate says of its own limits, by name."""
    count = next(part.size for part in space.parts if isinstance(part, ScalePart))
    whole = count == SIGNIFICANDS
    sample = f"{count:,} of {SIGNIFICANDS:,}, evenly apart"
    lines = sum(part.name.startswith(EVERY_X) for part in space.parts)
    return {
        "monotone": "with one scale, results never go back as x grows; checked where an answer is wrong, "
        f"and with every x in {lines} stretches",
        "invariant": "a power of two times x and scale changes no result on the normal range; "
        f"checked by checksums, with up to {SAMPLED[space.result.bits]:,} significands at every other exponent",
        "significands": "all of them" if whole else f"a sample: {sample}",
        "calls": "many scales a call, along the first axis" if space.along_axis else "one scale a call",
    }
