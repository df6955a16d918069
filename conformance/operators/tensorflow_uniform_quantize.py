"""Testing `tensorflow.UniformQuantize`: scales of all sizes, int32 zero points, narrow ranges, any axis."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_tensors import tensor_shapes
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, multiples, probe_values, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tensorflow_uniform import (
    SINGLE,
    axis_of,
    drawn_parameters,
    forbidden_calls,
    range_values,
    scale_codes,
)
from tiebreak.conformance.operators.tensorflow_uniform_quantize_mistakes import MISTAKES, PAIRS
from tiebreak.conformance.semantics.uniform_quantize import of_tensorflow, whole_range
from tiebreak.golden.elements import decode, encode, neighbour
from tiebreak.golden.operators.tensorflow_uniform_quantize import ID, TYPES
from tiebreak.golden.problem import along
from tiebreak.golden.samples.model import Tensor, bits
from tiebreak.golden.samples.tensorflow_uniform import range_of


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    quantized = wanted.quantized or draw(st.sampled_from(TYPES))
    shape = draw(tensor_shapes(wanted.rank))
    axis = axis_of(draw, len(shape))
    attributes = range_of(*draw(range_values(quantized))) | ({} if axis < 0 else {"quantization_axis": axis})
    count = 1 if axis < 0 else shape[axis]
    scales, points = drawn_parameters(draw, quantized, count, axis < 0, scale_codes(wanted.specials))
    x = aimed(draw, shape, axis, scales.codes, points.codes, wanted.specials)
    return {"quantized": quantized, "attributes": attributes}, (bits("float32", x, shape), scales, points)


def aimed(draw: st.DrawFn, shape: tuple[int, ...], axis: int, scales: Any, points: Any, specials: bool) -> list[int]:
    """Bits of inputs on or beside ties and integers of their own scale, near its zero point or 0, or arbitrary."""
    quotients = st.tuples(st.integers(-600, 600), st.sampled_from((0, 0, 1)), st.integers(-2, 2))
    anything = st.integers(0, (1 << 32) - 1)
    if not specials:
        anything = anything.filter(lambda code: code & 0x7FFFFFFF < SINGLE.infinity_bits)
    aims = draw(st.lists(st.one_of(quotients, quotients, quotients, anything), min_size=1, max_size=9))
    numbers = np.arange(len(scales)).reshape(() if axis < 0 else (len(scales),))
    owners = np.broadcast_to(along(numbers, () if axis < 0 else (axis,), shape), shape).reshape(-1).tolist()
    return [aim(aims[n % len(aims)], scales[owner], points[owner]) for n, owner in enumerate(owners)]


def aim(target: Any, scale: int, point: int) -> int:
    """Bits of a number so many halves from 0, or from the zero point, in scales; moved by some ulp."""
    if isinstance(target, int):
        return target
    halves, from_point, steps = target
    factor = decode(scale, SINGLE)
    value = (Fraction(halves, 2) - point * from_point) * (Fraction(factor) if math.isfinite(factor) else 1)
    code = neighbour(encode(value, SINGLE), SINGLE, steps)
    return code if code & 0x7FFFFFFF < SINGLE.infinity_bits else 0


INT8 = {"quantized": "int8", "attributes": range_of(-128, 127)}
UINT8 = {"quantized": "uint8", "attributes": range_of(0, 255)}
INT32 = {"quantized": "int32", "attributes": range_of(-(1 << 31), (1 << 31) - 1)}
PATH_PROBES = (
    PathProbe("uint8", UINT8, (STEP, 101), probe_values(), 4),
    PathProbe("narrow-int8", {"quantized": "int8", "attributes": range_of(-127, 127)}, (STEP, -3), probe_values()),
    PathProbe("int32", INT32, (STEP, 1001), probe_values(far=1 << 20)),
    *(
        PathProbe(f"{found.name}-int8", INT8, (found.scale, 3), multiples(found.scale), constants_only=True)
        for found in scale_classes()
    ),
)


def scales_of(shown: CaseWithStates) -> Any:
    return shown.case.inputs[1].astype(np.float64)


SITUATIONS: dict[str, Situation] = {
    "a scale that is zero or no number": lambda shown: bool(
        (~np.isfinite(scales_of(shown)) | (scales_of(shown) == 0)).any()
    ),
    "a reciprocal beyond float32": lambda shown: bool(
        ((scales_of(shown) != 0) & (np.abs(scales_of(shown)) <= 2.0**-128)).any()
    ),
}


TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("its nodes have a reciprocal and a range of their own: none is round(x / scale) + zero_point"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis("quantization_axis"),
    forbidden_calls=forbidden_calls("TUQ", INT8),
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        of_tensorflow, never_elementwise, defaults_of=whole_range, witnesses_of="ngraph.Quantize"
    ),
)
