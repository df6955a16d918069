"""Testing `tensorflow.QuantizeV2`: any mode, type, axis and range."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.drawn_tensors import tensor_shapes
from tiebreak.conformance.operators.elementwise import operands_along_axis
from tiebreak.conformance.operators.forbidden_call import INT8, M22, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.model import Absent, AuditedSemantics, Axis, CaseConstraints, OperatorUnderTest
from tiebreak.conformance.operators.path_probe import HIGH, LOW, STEP, PathProbe, multiples, probe_values, step_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tensorflow_quantize_v2_facets import quantize_v2
from tiebreak.conformance.operators.tensorflow_quantize_v2_variants import MISTAKES, PAIRS
from tiebreak.conformance.operators.tensorflow_ranges import F32, draw_ranges, end_tensors
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType, decode, encode, neighbour
from tiebreak.golden.operators.tensorflow_ranges import QUANTIZED_TYPES, RANGE_MODES
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.samples.model import Tensor, bits
from tiebreak.golden.samples.tensorflow_quantize_v2 import input_at, span

LEAST_ORDINARY = 2.0**-64


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    quantized = wanted.quantized or draw(st.sampled_from(QUANTIZED_TYPES))
    shape = draw(tensor_shapes(wanted.rank))
    attributes = draw_attributes(draw, quantized, wanted.round_mode, len(shape))
    axis = attributes.get("axis", -1)
    ranges = draw_ranges(draw, wanted, shape, axis)
    x = aimed_range_bits(
        draw, INTEGER_TYPES[quantized], attributes.get("mode", "MIN_COMBINED"), shape, axis, ranges, wanted
    )
    tensors = bits("float32", x, shape), *end_tensors(ranges, axis)
    return {"quantized": quantized, "attributes": attributes}, tensors


def draw_attributes(draw: st.DrawFn, quantized: str, round_mode: str, rank: int) -> dict[str, Any]:
    """Attributes for an input of a rank; MIN_COMBINED is rarer for types where the document leaves it open."""
    even = round_mode == EVEN or (not round_mode and draw(st.booleans()))
    specified = RANGE_MODES[1:] * 2 if quantized in ("int16", "int32") else ()
    mode = "SCALED" if even else draw(st.sampled_from(RANGE_MODES + specified))
    found: dict[str, Any] = {"mode": mode} if mode != "MIN_COMBINED" or draw(st.booleans()) else {}
    if even:
        found["round_mode"] = "HALF_TO_EVEN"
    if draw(st.booleans()):
        found["narrow_range"] = draw(st.booleans())
    if draw(st.integers(0, 5)):
        found["ensure_minimum_range"] = draw(st.sampled_from([0.0, 0.0, 0.0, 0.0, 0.01, 0.5, 2.0]))
    if rank and draw(st.booleans()):
        found["axis"] = draw(st.integers(0, rank - 1))
    return found


def aimed_range_bits(
    draw: st.DrawFn,
    kind: IntegerType,
    mode: str,
    shape: tuple[int, ...],
    axis: int,
    ranges: list[tuple[int, int]],
    wanted: CaseConstraints,
) -> list[int]:
    """Bits of inputs on or beside ties, integers and the ends of their own range, or arbitrary."""
    anything = st.integers(0, (1 << 32) - 1)
    if not wanted.specials:
        anything = anything.filter(lambda b: b & 0x7FFFFFFF < F32.infinity_bits)
    aims = draw(
        st.lists(
            st.one_of(
                st.tuples(st.integers(0, 1 << 12), st.sampled_from([0, 1]), st.integers(-2, 2)),
                st.tuples(st.just(-1), st.sampled_from([0, 1]), st.integers(-2, 2)),
                st.tuples(st.just(-2), anything, st.just(0)),
            ),
            min_size=1,
            max_size=10,
        )
    )
    kept = [size if place_ == axis else 1 for place_, size in enumerate(shape)]
    owners = np.broadcast_to(np.arange(len(ranges)).reshape(kept if axis >= 0 else [1] * len(shape)), shape)
    return [
        aim_at(kind, mode, ranges[owner], *aims[i % len(aims)]) for i, owner in enumerate(owners.reshape(-1).tolist())
    ]


def aim_at(kind: IntegerType, mode: str, ends: tuple[int, int], which: int, half: int, steps: int) -> int:
    """Bits of the input that lies `which` integers and `half` halves into the range, moved by `steps` ulp.

    If `which` is -1 the input is an end of the range; if it is -2 its bits are `half` itself.
    """
    low, high = (decode(end, F32) for end in ends)
    if which == -2 or not isinstance(low, Fraction) or not isinstance(high, Fraction) or low >= high:
        return half if which == -2 else neighbour(ends[half], F32, steps)
    if which == -1:
        return neighbour(ends[half], F32, steps)
    first, last = span(kind, mode, low, high)
    q = first - 2 + which % (last - first + 4) + Fraction(half, 2)
    return neighbour(encode(input_at(kind, mode, low, high, q), F32), F32, steps)


def forbidden(clause: str, what: str, parameter: tuple[int, ...], **attributes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, (M22, parameter, parameter), INT8, attributes, values={1: 0.0})


ANY_WIDTH = {"ensure_minimum_range": 0.0}
SCALED = {"T": "int8", "mode": "SCALED", "round_mode": "HALF_TO_EVEN"}
PATH_PROBES = (
    PathProbe("combined-uint8", {"attributes": {"T": "uint8"}}, (LOW, HIGH), probe_values(LOW), 4),
    PathProbe("scaled-int8", {"attributes": SCALED}, (-128 * STEP, 127 * STEP), probe_values()),
    PathProbe("first-uint8", {"attributes": {"T": "uint8", "mode": "MIN_FIRST"}}, (LOW, HIGH), probe_values(LOW)),
    *(
        PathProbe(
            f"{found.name}-{mode.lower()}",
            {"attributes": {"T": "uint8", "mode": mode} | ANY_WIDTH},
            (0, 255 * found.scale),
            multiples(found.scale),
            constants_only=True,
        )
        for mode in RANGE_MODES
        for found in step_classes(255)
    ),
)


def forbidden_ranges(mode: str) -> tuple[ForbiddenCall, ...]:
    """Ranges and axes that do not fit the input, in one mode."""
    where = "" if mode == "MIN_COMBINED" else f", {mode}"
    return (
        forbidden("TFQ-A2", f"3 ranges for an axis of size 2{where}", V3, axis=0, mode=mode),
        forbidden("TFQ-A2", f"1 range for an axis of size 2{where}", (1,), axis=0, mode=mode),
        forbidden("TFQ-A3", f"2 ranges without axis{where}", V2, mode=mode),
        forbidden("TFQ-A2", f"axis 2 of an input with two axes{where}", V2, axis=2, mode=mode),
        forbidden("TFQ-A3", f"axis -2{where}", V2, axis=-2, mode=mode),
    )


FORBIDDEN_CALLS = (
    forbidden("TFQ-R3", "HALF_TO_EVEN with MIN_COMBINED", S, round_mode="HALF_TO_EVEN"),
    forbidden("TFQ-R3", "HALF_TO_EVEN with MIN_FIRST", S, round_mode="HALF_TO_EVEN", mode="MIN_FIRST"),
    *(call for mode in RANGE_MODES for call in forbidden_ranges(mode)),
)


def without_overflow(problem: Elementwise) -> bool:
    """The range is so far from the ends of float32 that no step gives an infinity: then one order of steps decides."""
    limits = [float(decode(int(operand[0]), problem.working)) for operand in problem.operands[1:]]
    return all(limit == 0 or LEAST_ORDINARY <= abs(limit) <= 1 / LEAST_ORDINARY for limit in limits)


TESTED = OperatorUnderTest(
    id="tensorflow.QuantizeV2",
    plain_nodes=Absent("it has a range for a scale, and none of its nodes is round(x / scale) + zero_point"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis("axis"),
    forbidden_calls=FORBIDDEN_CALLS,
    situations=Absent("its clauses name only situations that those of other operators name too"),
    semantics=AuditedSemantics(quantize_v2, operands_along_axis),
    monotone=without_overflow,
)
