"""Testing `onnx.Cast`: any two types of which one is small, numbers near midpoints and at the ends of ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_tensors import repeat, tensor_shapes
from tiebreak.conformance.operators.elementwise import input_alone
from tiebreak.conformance.operators.forbidden_call import V2, ForbiddenCall
from tiebreak.conformance.operators.model import Absent, AuditedSemantics, CaseConstraints, OperatorUnderTest
from tiebreak.conformance.operators.onnx_cast_mistakes import MISTAKES
from tiebreak.conformance.operators.onnx_cast_moved_bits import MOVED_BITS
from tiebreak.conformance.operators.onnx_cast_moved_fields import MOVED_FIELDS
from tiebreak.conformance.operators.onnx_linear import any_code, is_finite
from tiebreak.conformance.operators.path_probe import PathProbe
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.authorities_cast import OF_CAST
from tiebreak.conformance.semantics.cast import CastArithmetic
from tiebreak.conformance.semantics.cast_whole_numbers import silence_of_integers
from tiebreak.golden.elements import (
    ELEMENT_TYPES,
    FLOAT_TYPES,
    INTEGER_TYPES,
    FloatType,
    IntegerType,
    decode,
    encode,
    neighbour,
)
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import E8M0, FLOAT8, LARGEST_FOR_INFINITY, ONE_ZERO
from tiebreak.golden.operators.onnx_cast import (
    OPSETS,
    ROUNDING,
    SINCE,
    SMALL,
    TYPES,
    WIDE_REALS,
)
from tiebreak.golden.problem import OUT_OF_RANGE, UNDEFINED, Elementwise
from tiebreak.golden.samples.model import Tensor, bits

FEW_BITS = 8  # of a type whose codes are drawn one like another
LONGEST = 70  # of a drawn vector
MODES = ("up", "down", "nearest")


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    source, target = draw_types(draw, wanted)
    shape = draw(shapes(wanted.rank))
    codes = draw(st.lists(input_codes(source, target, wanted.specials), min_size=1, max_size=12))
    if wanted.specials and draw(st.booleans()):
        codes += special_codes(source)
    opsets = [opset for opset in OPSETS if opset >= max(SINCE.get(name, OPSETS[0]) for name in (source, target))]
    given = draw_attributes(draw, target)
    node = {"real": source, "quantized": target, "attributes": given, "opset": draw(st.sampled_from(opsets))}
    return node, (bits(source, repeat(codes, math.prod(shape)), shape),)


def draw_types(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[str, str]:
    """The types of input and output: at least one of those that are not given is small."""
    source, target = wanted.real, wanted.quantized
    if not source and not target:
        small, other = draw(st.sampled_from(SMALL)), draw(st.sampled_from((*TYPES, *WIDE_REALS)))
        return (other, small) if draw(st.integers(0, 2)) else (small, other)
    return source or draw(types_beside(target)), target or draw(types_beside(source))


def types_beside(other: str) -> st.SearchStrategy[str]:
    return st.sampled_from(TYPES if other in SMALL else SMALL)


def draw_attributes(draw: st.DrawFn, target: str) -> dict[str, Any]:
    """Attributes where they matter, and seldom saturate where it does not."""
    given: dict[str, Any] = {}
    if draw(st.integers(0, 7)) == 0 or (target in (*FLOAT8, *E8M0) and draw(st.booleans())):
        given["saturate"] = draw(st.booleans())
    if target in E8M0 and (mode := draw(st.sampled_from(("", *MODES)))):
        given["round_mode"] = mode
    return given


def shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of a rank, or of any; if it may be 1 mostly vectors, in which each code has a place."""
    vectors = st.integers(1, LONGEST).map(lambda length: (length,))
    return st.one_of(vectors, vectors, tensor_shapes(rank)) if rank in (None, 1) else tensor_shapes(rank)


@cache
def input_codes(source: str, target: str, specials: bool) -> st.SearchStrategy[int]:
    """Codes of an input: any, and of wide floats mostly numbers between two values of the output's type."""
    kind, every = ELEMENT_TYPES[source], any_code(source, specials=specials)
    if not isinstance(kind, FloatType) or kind.bits <= FEW_BITS:
        return every
    parts, steps = st.integers(0, 4), st.integers(-2, 2)
    between = st.tuples(st.integers(0, highest_place(target)), parts, st.booleans(), steps)
    aimed = between.map(lambda found: code_between(kind, target, *found))
    return st.one_of(aimed, aimed, every).filter(lambda code: specials or is_finite(code, kind))


def special_codes(source: str) -> list[int]:
    """Both infinities, NaN and the negative zero of a wide float; none of other types."""
    kind = FLOAT_TYPES.get(source)
    if kind is None or kind.nan_bits is None:
        return []
    sign = 1 << (kind.bits - 1)
    return [kind.infinity_bits, kind.infinity_bits | sign, kind.nan_bits, sign]


def highest_place(target: str) -> int:
    """The place of the type's largest magnitude, as `magnitude_at` counts them."""
    kind = ELEMENT_TYPES[target]
    return kind.largest_bits if isinstance(kind, FloatType) else max(kind.highest, -kind.lowest)


def magnitude_at(place: int, target: str) -> Fraction:
    """The magnitude of a place: of an integer type the integers, of a float type its values; beyond it their step."""
    kind, last = ELEMENT_TYPES[target], highest_place(target)
    if isinstance(kind, IntegerType):
        return Fraction(place)
    if place > last:
        ends = magnitude_at(last, target), magnitude_at(last - 1, target)
        return 2 * ends[0] - ends[1]
    return Fraction(decode(place, kind))


def code_between(kind: FloatType, target: str, place: int, part: int, negative: bool, steps: int) -> int:
    """A number some quarters of the way to the next magnitude, moved by a few units in the last place."""
    low, high = magnitude_at(place, target), magnitude_at(place + 1, target)
    number = low + (high - low) * part / 4
    return neighbour(encode(-number if negative else number, kind), kind, steps)


# Values at which kernels differ, at last one that every kernel gets right.


def probe(source: str, target: str, values: Sequence[Fraction | float | int], scanned: int = 0) -> PathProbe:
    return PathProbe(f"{source}-{target}", {"real": source, "quantized": target}, (), tuple(values), scanned)


TINY = (Fraction(3, 1 << 10), Fraction(1, 1 << 9))  # a tie of two subnormals, and the least one
EIGHTHS = (Fraction(17, 16), Fraction(19, 16))  # a tie to an even and one to an odd value of three bits
PATH_PROBES = (
    probe("float32", "float8_e4m3fn", (*EIGHTHS, 1000.0, math.nan, *TINY, -math.inf, -0.0, 1.5), 4),
    probe("float16", "float8_e5m2", (Fraction(9, 8), Fraction(11, 8), 61440.0, math.nan, 2.0**-17, math.inf, 1.5)),
    probe("float32", "float8_e4m3fnuz", (*EIGHTHS, 1000.0, math.nan, Fraction(3, 1 << 11), -0.0, 1.5)),
    probe("float32", "float4_e2m1fn", (Fraction(5, 4), Fraction(7, 4), 100.0, -math.inf, Fraction(1, 4), -0.125, 1.0)),
    probe("float32", "float6_e2m3fn", (*EIGHTHS, 100.0, -math.inf, Fraction(1, 16), -Fraction(1, 32), 1.0)),
    probe("float32", "int4", (0.5, 1.5, -2.5, 3.75, -0.5, -7.5, 3.0)),
    probe("float32", "float8_e8m0fnu", (1.25, 1.5, 3.0, math.nan, 2.0**-127, 1.75 * 2.0**100, 2.0)),
    probe("float8_e4m3fn", "float32", (Fraction(1, 1 << 9), -0.4375, 448.0, math.nan, -(2.0**-6), 1.125, 1.0)),
    probe("float8_e8m0fnu", "float32", (2.0**-127, 2.0**-126, 2.0**127, math.nan, 0.5, 2.0**100, 1.0)),
    probe("float4_e2m1fn", "float16", (0.5, -6.0, 3.0, -0.5, 4.0, -1.5, 1.0)),
    probe("int8", "int4", (8, -9, 127, -128, 23, -8, 3)),
    probe("int4", "float32", (-8, 7, -1, 5, -3, 2, 1)),
)


def forbidden(clause: str, what: str, real: str, quantized: str, **changes: Any) -> ForbiddenCall:
    return ForbiddenCall(clause, what, (V2,), {"real": real, "quantized": quantized}, **changes)


FORBIDDEN = (
    forbidden("ONC-V1", "float8_e4m3fn before operator set 19", "float32", "float8_e4m3fn", opset=13),
    forbidden("ONC-V1", "int4 before operator set 21", "float32", "int4", opset=19),
    forbidden("ONC-V1", "float4_e2m1fn before operator set 23", "float32", "float4_e2m1fn", opset=21),
    forbidden("ONC-V1", "float8_e8m0fnu before operator set 24", "float32", "float8_e8m0fnu", opset=23),
    forbidden("ONC-V1", "int2 before operator set 25", "int8", "int2", opset=24),
    forbidden("ONC-V1", "float6_e2m3fn before operator set 28", "float32", "float6_e2m3fn", opset=25),
    forbidden("ONC-V1", "from uint4 before operator set 21", "uint4", "float32", opset=19),
    forbidden(
        "ONC-V1",
        "round_mode before operator set 24",
        "float32",
        "float8_e4m3fn",
        attributes={"round_mode": "nearest"},
        opset=21,
    ),
    forbidden("ONC-T2", "round_mode even", "float32", "float8_e8m0fnu", attributes={"round_mode": "even"}),
)


def output_in(*names: str) -> Situation:
    return lambda shown: shown.case.node.output_type in names


def is_float(name: str) -> bool:
    return isinstance(ELEMENT_TYPES[name], FloatType)


def between_kinds(from_float: bool, test: Callable[[str], bool]) -> Situation:
    """Whether the input is a float, or an integer, and the output's type passes a test."""
    return lambda s: is_float(s.case.node.input_type) is from_float and test(s.case.node.output_type)


def holds(test: Callable[[Any], Any], shown: CaseWithStates) -> bool:
    """Whether a test holds of an element of a float input."""
    return any(bool(np.any(test(array))) for array in shown.floats())


def beyond_wide(shown: CaseWithStates) -> bool:
    """Whether a number is beyond a type of 16 bits and more."""
    kind = FLOAT_TYPES.get(shown.case.node.output_type)
    most = math.inf if kind is None else float(decode(kind.largest_bits, kind))
    return holds(lambda x: np.isfinite(x) & (np.abs(x) > most), shown)


def to_older_one_zero(shown: CaseWithStates) -> bool:
    node = shown.case.node
    return node.output_type in ONE_ZERO and node.opset < LARGEST_FOR_INFINITY and holds(np.isinf, shown)


def to_narrower(shown: CaseWithStates) -> bool:
    kinds = [INTEGER_TYPES.get(name) for name in (shown.case.node.input_type, shown.case.node.output_type)]
    return all(kinds) and kinds[1].bits < kinds[0].bits  # type: ignore[union-attr]


def beyond_integers(shown: CaseWithStates) -> bool:
    open_ = (shown.states == OUT_OF_RANGE) | (shown.states == UNDEFINED)
    return shown.case.node.output_type in INTEGER_TYPES and bool(open_.any())


SITUATIONS: dict[str, Situation] = {
    "a result beyond the largest value": beyond_wide,
    "a float 8 output": output_in(*FLOAT8),
    "a float8_e8m0fnu output": output_in(*E8M0),
    "a float8_e8m0fnu input": lambda s: s.case.node.input_type in E8M0,
    "a float to an integer of 2 or 4 bits": between_kinds(True, lambda to: to in INTEGER_TYPES and to in SMALL),
    "a float to an integer of 8 bits and more": between_kinds(True, lambda to: to in INTEGER_TYPES and to not in SMALL),
    "an integer to a float 8": between_kinds(False, lambda to: to in FLOAT8),
    "an integer to a narrower integer": to_narrower,
    "an infinite input to a float 8": lambda s: s.case.node.output_type in FLOAT8 and holds(np.isinf, s),
    "an infinite input to a type with one zero, before operator set 24": to_older_one_zero,
    "a NaN input": lambda s: holds(np.isnan, s),
    "a negative zero": lambda s: holds(lambda x: (x == 0) & np.signbit(x), s),
    "a float beyond an integer's range": beyond_integers,
}


def without_wrapping(problem: Elementwise) -> bool:
    """Numbers are rounded, and clamped; only from an integer to an integer they wrap."""
    return isinstance(problem.kinds[0], FloatType) or isinstance(problem.result, FloatType)


def whole_numbers_held(problem: Elementwise) -> tuple[int, ...]:
    """The integers that a float 8 type holds: of all others the document says nothing (ONC-U3)."""
    source, result = problem.kinds[0], problem.result
    if isinstance(source, FloatType) or result.name not in FLOAT8:
        return ()
    assert isinstance(result, FloatType)
    values = {decode(code, result) for code in range(1 << result.bits)}
    whole = {int(value) for value in values if math.isfinite(value) and value == int(value)}
    return tuple(sorted(value for value in whole if source.lowest <= value <= source.highest))


def codes_of_whole_numbers(problem: Elementwise) -> int:
    """Only the low bits of an integer go to an integer of fewer bits."""
    integers = isinstance(problem.kinds[0], IntegerType) and isinstance(problem.result, IntegerType)
    return 1 << problem.result.bits if integers else 0


TABLED_POWERS = {("up", True): "power-saturated", ("nearest", False): "power-unsaturated"}


def role_of_facet(node: Node, facet: str) -> str:
    """The role of the clause that a facet of a cast's arithmetic is about."""
    target, saturates = node.output_type, bool(node.value("saturate"))
    if facet == "reading":
        return "exact"
    if target in E8M0:
        asked = str(node.value("round_mode"))
        return TABLED_POWERS.get((asked, saturates), asked) if facet in ("saturation", "zero") else asked
    if target in ROUNDING:
        rounding = ROUNDING[target]
        ends = f"{rounding}-ends" if target not in FLOAT8 else "saturate" if saturates else "unsaturated"
        return {"zero": "zero", "saturation": ends}.get(facet, rounding)
    if target in INTEGER_TYPES:
        return "integer" if target in SMALL else "exact"
    return "overflow" if facet == "saturation" else "exact"


TESTED = OperatorUnderTest(
    id="onnx.Cast",
    plain_nodes=Absent("it has no scale"),
    draw=draw,
    # No pairs: two facets at once, which an audit's table combines, are what two mistakes would be.
    mistakes=(*MISTAKES, *MOVED_BITS, *MOVED_FIELDS),
    path_probes=PATH_PROBES,
    axis=Absent("it has no parameters that could vary along one"),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        CastArithmetic, input_alone, authorities=OF_CAST, role_of=role_of_facet, silence=silence_of_integers
    ),
    monotone=without_wrapping,
    only_answers=whole_numbers_held,
    period=codes_of_whole_numbers,
)
