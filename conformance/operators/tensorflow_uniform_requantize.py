"""Testing `tensorflow.UniformRequantize`: ratios near simple ones, integers near ties, an axis on either side."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators.drawn_tensors import integer_tensor, repeat, scale_beside, tensor_shapes
from tiebreak.conformance.operators.forbidden_call import M22, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import PathProbe, ScaleClass, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tensorflow_uniform import (
    SINGLE,
    axis_of,
    drawn_parameters,
    range_values,
    scale_codes,
)
from tiebreak.conformance.operators.tensorflow_uniform_requantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.semantics.uniform_requantize import (
    DEFAULTS,
    role_of_uniform,
    silence_of_ties,
    uniform_requantize,
)
from tiebreak.golden.elements import INTEGER_TYPES, decode
from tiebreak.golden.operators.tensorflow_uniform_requantize import ID, INPUT_AXIS, OUTPUT_AXIS, TYPES
from tiebreak.golden.samples.model import Tensor, bits
from tiebreak.golden.samples.tensorflow_uniform import ends_of, range_of


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    source, target = (name or draw(st.sampled_from(TYPES)) for name in (wanted.real, wanted.quantized))
    shape = draw(tensor_shapes(wanted.rank))
    axes = draw_axes(draw, axis_of(draw, len(shape)))
    codes = scale_codes(wanted.specials, negative=draw(st.integers(0, 7)) == 0)
    counts = [1 if axis < 0 else shape[axis] for axis in axes]
    own = drawn_parameters(draw, source, counts[0], axes[0] < 0, codes)
    near = st.sampled_from(own[0].codes or [0]).flatmap(scale_beside)
    other = drawn_parameters(draw, target, counts[1], axes[1] < 0, st.one_of(near, near, codes))
    x = integer_tensor(draw, source, shape)
    if source == "int32" and draw(st.integers(0, 3)):
        x = bits(source, aimed(draw, math.prod(shape), own, other), shape)
    attributes = range_of(*draw(range_values(source)), "input_") | range_of(*draw(range_values(target)), "output_")
    given = {name: axis for name, axis in zip((INPUT_AXIS, OUTPUT_AXIS), axes, strict=True) if axis >= 0}
    return {"real": source, "quantized": target, "attributes": attributes | given}, (x, *own, *other)


def draw_axes(draw: st.DrawFn, axis: int) -> tuple[int, int]:
    """The axis on one side or on both."""
    return draw(st.sampled_from(((axis, axis), (axis, -1), (-1, axis))))


def aimed(draw: st.DrawFn, count: int, own: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> list[int]:
    """Integers near ties and whole results of the first scales; the difference itself where these have no ratio."""
    scale, divisor = (decode(given[0].codes[0], SINGLE) if given[0].codes else 0 for given in (own, other))
    usable = scale and math.isfinite(scale) and math.isfinite(divisor)
    step = Fraction(divisor) / Fraction(scale) if usable else Fraction(1)
    point, kind = own[1].codes[0] if own[1].codes else 0, INTEGER_TYPES["int32"]
    near = st.tuples(st.integers(-300, 300), st.integers(-1, 1)).map(lambda of: round(step * of[0] / 2) + of[1] + point)
    found = draw(st.lists(near, min_size=1, max_size=9))
    return repeat([min(max(value, kind.lowest), kind.highest) for value in found], count)


def node_of(source: str, target: str) -> dict[str, Any]:
    ranges = range_of(*ends_of(source), "input_") | range_of(*ends_of(target), "output_")
    return {"real": source, "quantized": target, "attributes": ranges}


INT8 = node_of("int8", "int8")


def at_scale(found: ScaleClass) -> PathProbe:
    """From a scale of a class to one and a half times that, or where float32 lacks it two thirds."""
    other = found.scale * (Fraction(2, 3) if found.name == "subnormal" else Fraction(3, 2))
    return PathProbe(
        f"{found.name}-int8", INT8, (found.scale, 3, other, -5), (4, 2, 9, -1, 100, -127, 3), constants_only=True
    )


# Integers whose results other roundings of the ratio change, and at last one that every kernel gets right.
PATH_PROBES = (
    PathProbe("int8", INT8, (Fraction(1, 10), 3, Fraction(3, 10), -5), (4, 1, 7, -2, 103, -124, 3), 4),
    PathProbe(
        "int32-int8", node_of("int32", "int8"), (Fraction(1, 1 << 20), -7, Fraction(1), 5),
        (524281, -524295, 1572857, -1572871, 1 << 30, 25165817, -7),
    ),
    PathProbe(
        "int32", node_of("int32", "int32"), (Fraction(1, 10), 0, Fraction(3, 10), 1000), (4, 1, 7, -2, 103, -124, 3)
    ),
    *(at_scale(found) for found in scale_classes()[:-1]),
)  # fmt: skip


SIDES = {"input": INPUT_AXIS, "result": OUTPUT_AXIS}


def forbidden(
    clause: str, what: str, own: tuple[int, ...], other: tuple[int, ...], points: tuple[int, ...] | None = None,
    output: str = "", **axes: int,
) -> ForbiddenCall:  # fmt: skip
    """Parameters of these shapes; `points` is the shape of the input's zero points where it is another."""
    shapes = (M22, own, own if points is None else points, other, other)
    given = {SIDES[side]: axis for side, axis in axes.items()}
    return ForbiddenCall(f"TUR-{clause}", what, shapes, INT8, given, output=output, values={2: 0.0, 4: 0.0})


FORBIDDEN = (
    forbidden("A1", "3 input scales for an axis of size 2", V3, S, input=0),
    forbidden("A1", "a scalar input scale with an axis", S, S, input=0),
    forbidden("A1", "2 input scales and 3 zero points", V2, S, V3, input=0),
    forbidden("A2", "3 output scales for an axis of size 2", S, V3, result=0),
    forbidden("A2", "one output scale of rank 1 for an axis of size 2", S, (1,), result=0),
    forbidden("A3", "2 input scales without an axis", V2, S),
    forbidden("A3", "an input scale of rank 1 without an axis", (1,), S),
    forbidden("A4", "2 output scales without an axis", S, V2),
    forbidden("A5", "two axes that differ", V2, V2, input=0, result=1),
    forbidden("A6", "input axis 2 of an input with two axes", V2, S, input=2),
    forbidden("A6", "output axis 2 of an input with two axes", S, V2, result=2),
    forbidden("A6", "axis -2", V2, S, input=-2),
    forbidden("T1", "an output of uint8", S, S, output="uint8"),
)

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("its inputs are integers: there is no real number to divide"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis(INPUT_AXIS, also=OUTPUT_AXIS),
    forbidden_calls=FORBIDDEN,
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        uniform_requantize,
        never_elementwise,
        defaults=DEFAULTS,
        role_of=role_of_uniform,
        silence=silence_of_ties,
        of_integers=True,
    ),
)
