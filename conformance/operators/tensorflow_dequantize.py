"""Testing `tensorflow.Dequantize`: any mode, types, axis and range."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators.drawn_tensors import integer_tensor, tensor_shapes
from tiebreak.conformance.operators.forbidden_call import INT8, M22, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import PathProbe, step_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tensorflow_dequantize_facets import (
    range_dequantize,
    role_of_range_dequantizer,
    silence_of_offset,
)
from tiebreak.conformance.operators.tensorflow_dequantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.operators.tensorflow_ranges import draw_ranges, end_tensors
from tiebreak.golden.operators.tensorflow_dequantize import REAL_TYPES
from tiebreak.golden.operators.tensorflow_ranges import QUANTIZED_TYPES, RANGE_MODES
from tiebreak.golden.samples.model import Tensor


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    quantized = wanted.quantized or draw(st.sampled_from(QUANTIZED_TYPES))
    real = wanted.real or draw(st.sampled_from(REAL_TYPES))
    shape = draw(tensor_shapes(wanted.rank))
    attributes = draw_attributes(draw, real, len(shape))
    axis = attributes.get("axis", -1)
    ends = end_tensors(draw_ranges(draw, wanted, shape, axis), axis)
    node = {"real": real, "quantized": quantized, "attributes": attributes}
    return node, (integer_tensor(draw, quantized, shape), *ends)


def draw_attributes(draw: st.DrawFn, real: str, rank: int) -> dict[str, Any]:
    mode = "MIN_COMBINED" if real == "bfloat16" else draw(st.sampled_from(RANGE_MODES))
    found: dict[str, Any] = {"mode": mode} if mode != "MIN_COMBINED" or draw(st.booleans()) else {}
    if real == "bfloat16":
        found["dtype"] = real
    if draw(st.booleans()):
        found["narrow_range"] = draw(st.booleans())
    if rank and draw(st.booleans()):
        found["axis"] = draw(st.integers(0, rank - 1))
    return found


def forbidden(clause: str, what: str, parameter: tuple[int, ...], **attributes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, (M22, parameter, parameter), INT8, attributes, values={1: 0.0})


ENDS = LEAST, GREATEST = Fraction(-13, 10), Fraction(27, 10)
SCALED = {"quantized": "int8", "attributes": {"mode": "SCALED"}}
FIRST = {"quantized": "uint8", "attributes": {"mode": "MIN_FIRST"}}
# Values whose results depend on the order of the steps, both ends, others, and last zero or an end of the range.
PATH_PROBES = (
    PathProbe("combined-uint8", {"quantized": "uint8"}, ENDS, (51, 96, 128, 255, 1, 200, 0), 2),
    PathProbe("scaled-int8", SCALED, (-GREATEST, GREATEST), (-124, -121, -128, 127, 1, 70, 0)),
    PathProbe("first-uint8", FIRST, ENDS, (20, 51, 128, 255, 1, 200, 0)),
    *(
        PathProbe(
            f"{found.name}-{mode.lower()}",
            {"quantized": "uint8", "attributes": {"mode": mode}},
            (0, 255 * found.scale),
            (20, 51, 128, 255, 1, 200, 0),
            constants_only=True,
        )
        for mode in RANGE_MODES
        for found in step_classes(255)
    ),
)
BFLOAT16 = {**INT8, "real": "bfloat16"}


def forbidden_ranges(mode: str) -> tuple[ForbiddenCall, ...]:
    """Ranges and axes that do not fit the input, in one mode."""
    where = "" if mode == "MIN_COMBINED" else f", {mode}"
    return (
        forbidden("TFD-A1", f"3 ranges for an axis of size 2{where}", V3, axis=0, mode=mode),
        forbidden("TFD-A1", f"1 range for an axis of size 2{where}", (1,), axis=0, mode=mode),
        forbidden("TFD-A2", f"2 ranges without axis{where}", V2, mode=mode),
        forbidden("TFD-A1", f"axis 2 of an input with two axes{where}", V2, axis=2, mode=mode),
        forbidden("TFD-A2", f"axis -2{where}", V2, axis=-2, mode=mode),
    )


FORBIDDEN_CALLS = (
    *(call for mode in RANGE_MODES for call in forbidden_ranges(mode)),
    *(
        ForbiddenCall("TFD-T3", f"bfloat16 with {mode}", (M22, S, S), BFLOAT16, {"mode": mode}, values={1: 0.0})
        for mode in ("SCALED", "MIN_FIRST")
    ),
)

TESTED = OperatorUnderTest(
    id="tensorflow.Dequantize",
    plain_nodes=Absent("it does not quantize"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis("axis"),
    forbidden_calls=FORBIDDEN_CALLS,
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(
        range_dequantize,
        never_elementwise,
        role_of=role_of_range_dequantizer,
        silence=silence_of_offset,
        of_integers=True,
    ),
)
