"""Testing `stablehlo.uniform_quantize`: floats and quantized operands near ties, zero points at the ends of types."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_tensors import tensor_shapes
from tiebreak.conformance.operators.forbidden_call import M22, V2, ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, multiples, probe_values, scale_classes
from tiebreak.conformance.operators.stablehlo import (
    drawn_parameters,
    forbidden_types,
    integers_between,
    type_ends,
    written,
)
from tiebreak.conformance.operators.stablehlo_uniform_quantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tensorflow_uniform import axis_of
from tiebreak.conformance.semantics.uniform_quantize import of_stablehlo
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, decode, encode, neighbour
from tiebreak.golden.operators.stablehlo import EXPRESSED, STORAGE, ends_of
from tiebreak.golden.operators.stablehlo_uniform_quantize import ID
from tiebreak.golden.problem import along
from tiebreak.golden.samples.model import Tensor, bits

KINDS = (*EXPRESSED, "float32", "float32", "int8", "uint8", "int16", "int32")  # of operands, the usual ones often


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    real, quantized = wanted.real or draw(st.sampled_from(KINDS)), wanted.quantized or draw(st.sampled_from(STORAGE))
    shape = draw(tensor_shapes(wanted.rank))
    axis, ends = axis_of(draw, len(shape)), draw(type_ends(quantized))
    expressed = "float32" if real in INTEGER_TYPES else real
    count = 1 if axis < 0 else shape[axis]
    scales, points = drawn_parameters(draw, expressed, quantized, ends, count, axis < 0)
    types, attributes = {"real": real, "quantized": quantized}, written(ends, quantized, axis)
    if real not in INTEGER_TYPES:
        x = aimed(draw, real, shape, axis, scales.codes, points.codes, wanted.specials)
        return {**types, "attributes": attributes}, (bits(real, x, shape), scales, points)
    own_axis, own_ends = axis_of(draw, len(shape)), draw(type_ends(real))
    own = drawn_parameters(draw, expressed, real, own_ends, 1 if own_axis < 0 else shape[own_axis], own_axis < 0)
    given = integers_between(draw, real, own_ends, math.prod(shape), shape)
    attributes |= written(own_ends, real, own_axis, "operand_")
    return {**types, "attributes": attributes}, (given, scales, points, *own)


def aimed(
    draw: st.DrawFn, real: str, shape: tuple[int, ...], axis: int, scales: Any, points: Any, specials: bool
) -> list[int]:
    """Bits of numbers on or beside ties and integers of their own scale, near its zero point or 0, or arbitrary."""
    kind = FLOAT_TYPES[real]
    quotients = st.tuples(st.integers(-600, 600), st.sampled_from((0, 0, 1)), st.integers(-2, 2))
    anything = st.integers(0, (1 << kind.bits) - 1)
    if not specials:
        anything = anything.filter(lambda code: math.isfinite(decode(code, kind)))
    aims = draw(st.lists(st.one_of(quotients, quotients, quotients, anything), min_size=1, max_size=9))
    numbers = np.arange(len(scales)).reshape(() if axis < 0 else (len(scales),))
    owners = np.broadcast_to(along(numbers, () if axis < 0 else (axis,), shape), shape).reshape(-1).tolist()
    return [aim(real, aims[n % len(aims)], scales[owner], points[owner]) for n, owner in enumerate(owners)]


def aim(real: str, target: Any, scale: int, point: int) -> int:
    """Bits of a number so many halves from 0, or from the zero point, in scales; moved by some ulp."""
    if isinstance(target, int):
        return target
    kind, (halves, from_point, ulps) = FLOAT_TYPES[real], target
    value = (Fraction(halves, 2) - point * from_point) * Fraction(decode(scale, kind))
    code = neighbour(encode(value, kind), kind, ulps)
    return code if math.isfinite(decode(code, kind)) else 0


INT8 = {"real": "float32", "quantized": "int8"}
BYTES = {"real": "int8", "quantized": "int8"}
PATH_PROBES = (
    PathProbe("uint8", {"real": "float32", "quantized": "uint8"}, (STEP, 101), probe_values(), 2),
    PathProbe("int32", {"real": "float32", "quantized": "int32"}, (STEP, 1001), probe_values(far=1 << 20)),
    *(
        PathProbe(f"{found.name}-int8", INT8, (found.scale, 3), multiples(found.scale), constants_only=True)
        for found in scale_classes()[:-1]
    ),
)


def own_type(clause: str, what: str, scales: tuple[int, ...], value: float = 1.0, **attributes: int) -> ForbiddenCall:
    shapes, values = (M22, S, S, scales, scales), {2: 0.0, 3: value, 4: 0.0}
    given = {f"operand_{name}": number for name, number in attributes.items()}
    return ForbiddenCall(f"SUQ-{clause}", what, shapes, BYTES, given, values=values)


def is_narrow(shown: CaseWithStates) -> bool:
    node, kind = shown.case.node, INTEGER_TYPES[shown.case.node.output_type]
    return ends_of(ID, node.output_type, node.attributes) != (kind.lowest, kind.highest)


SITUATIONS: dict[str, Situation] = {
    "a quantized operand": lambda shown: shown.case.node.input_type in INTEGER_TYPES,
    "storage ends narrower than the type": is_narrow,
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it adds the zero point before it rounds: none is round(x / scale) + zero_point"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis("quantization_dimension"),
    forbidden_calls=(
        *forbidden_types("SUQ", INT8),
        own_type("A4", "2 operand scales without a dimension", V2),
        own_type("A4", "operand dimension 2 of a tensor with two", V2, quantization_dimension=2),
        own_type("T2", "an operand's scale of 0", S, 0.0),
    ),
    situations=SITUATIONS,
    semantics=AuditedSemantics(of_stablehlo, never_elementwise, witnesses_of="ngraph.Quantize"),
)
