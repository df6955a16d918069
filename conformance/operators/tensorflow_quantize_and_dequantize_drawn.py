"""Shared testing of QuantizeAndDequantizeV2, V3 and V4: values beside the ties of any scale_factor."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators.forbidden_call import M22, ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    in_any_problem,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import (
    STEP,
    PathProbe,
    ScaleClass,
    Value,
    fake_quantize_values,
    multiples,
    step_classes,
)
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.operators.tensorflow_quantize_and_dequantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.semantics.round_trip import role_of_round_trip, round_trip
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, decode, encode, neighbour
from tiebreak.golden.operators.model import ALL_REAL_TYPES
from tiebreak.golden.operators.tensorflow_quantize_and_dequantize import representable
from tiebreak.golden.samples.model import Tensor, bits

ROUND_MODES = {"ROUND_NEAREST_TOWARD_EVEN": "HALF_TO_EVEN", "ROUND_NEAREST_UPWARD": "HALF_UP"}


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    real = FLOAT_TYPES[wanted.real or draw(st.sampled_from(ALL_REAL_TYPES))]
    rank = draw(st.integers(0, 4)) if wanted.rank is None else wanted.rank
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)))
    mode = ROUND_MODES.get(wanted.round_mode) or draw(st.sampled_from(tuple(ROUND_MODES.values())))
    attributes: dict[str, Any] = {
        "signed_input": draw(st.booleans()),
        "num_bits": draw(st.one_of(st.integers(1, 12), st.integers(1, 62))),
        "range_given": draw(st.booleans()),
        "round_mode": mode,
        "narrow_range": draw(st.booleans()),
        "axis": draw(st.integers(-1, rank - 1)),
    }
    axis = attributes["axis"]
    limit_shape = () if axis < 0 else (shape[axis],)
    limits = [draw(ranges(real)) for _ in range(math.prod(limit_shape))] or [(0, 0)]
    values = draw(st.lists(values_in(real, attributes, limits[0], wanted.specials), min_size=1, max_size=16))
    count = math.prod(shape)
    x = bits(real.name, [values[i % len(values)] for i in range(count)], shape)
    ends = (bits(real.name, [pair[end] for pair in limits][: math.prod(limit_shape)], limit_shape) for end in (0, 1))
    return {"real": real.name, "attributes": attributes}, (x, *ends)


def ranges(real: FloatType) -> st.SearchStrategy[tuple[int, int]]:
    """Bits of input_min and input_max: around 0, on one side of 0, whole numbers, or not a valid range."""
    size = st.one_of(st.integers(1, 64).map(lambda n: Fraction(n, 8)), moderate(real))
    inside = st.tuples(size, size).map(lambda pair: (-pair[0], pair[1]))
    above = st.tuples(size, size).map(lambda pair: (pair[0], pair[0] + pair[1]))
    below = above.map(lambda pair: (-pair[1], -pair[0]))
    whole = st.integers(1, 8).map(lambda n: (Fraction(-(1 << n)), Fraction((1 << n) - 1)))
    none = st.sampled_from([(Fraction(0), Fraction(0)), (Fraction(1), Fraction(-1))])
    ends = st.one_of(whole, inside, above, below, st.just((Fraction(-1), Fraction(1))), none)
    return ends.map(lambda pair: (encode(pair[0], real), encode(pair[1], real)))


def moderate(real: FloatType) -> st.SearchStrategy[Fraction]:
    top = real.precision - 1
    codes = st.tuples(st.integers(-8, 8), st.integers(0, (1 << top) - 1)).map(
        lambda p: (p[0] + real.bias << top) | p[1]
    )
    return codes.map(lambda code: Fraction(decode(code, real)))


def values_in(
    real: FloatType, attributes: dict[str, Any], limits: tuple[int, int], specials: bool
) -> st.SearchStrategy[int]:
    """Bits of inputs: on or beside multiples of 1/2 divided by scale_factor, or arbitrary."""
    low, high = (Fraction(decode(end, real)) for end in limits)
    ends = representable(attributes)
    lowest, highest = ends["lowest"], ends["highest"]
    sides = [highest / high] if high > 0 else []
    sides += [lowest / low] if low < 0 and lowest else []
    factor = min(sides, default=Fraction(1)) or Fraction(1)
    bound = min(highest, 300)
    doubled = st.one_of(st.integers(-2 * bound - 4, 2 * bound + 4), st.integers(2 * lowest - 2, 2 * highest + 2))
    near = doubled.map(lambda twice: encode(twice / factor / 2, real))
    finite_near = near.filter(lambda code: code & ~(1 << (real.bits - 1)) <= real.largest_bits)
    beside = st.tuples(finite_near, st.integers(-2, 2)).map(lambda pair: neighbour(pair[0], real, pair[1]))
    anything = st.integers(0, (1 << real.bits) - 1)
    kept = anything if specials else anything.filter(lambda b: b & ~(1 << (real.bits - 1)) < real.infinity_bits)
    return st.one_of(beside, st.sampled_from(limits), kept)


ENDS = (-128 * STEP, 127 * STEP)
GIVEN: dict[str, Any] = {"attributes": {"range_given": True}}
UP = PathProbe(
    "up-float64",
    {"real": "float64", "attributes": {"range_given": True, "round_mode": "HALF_UP"}},
    ENDS,
    fake_quantize_values(smallest=1074),
)


def even_probes(*more: Value) -> tuple[PathProbe, ...]:
    """The probes of nodes that round to even; `more` are the values of the inputs after the range."""
    ordinary = PathProbe("even", GIVEN, (*ENDS, *more), fake_quantize_values(), 2)
    return (ordinary, *(step_probe(found, more) for found in step_classes(255)))


def step_probe(found: ScaleClass, more: tuple[Value, ...]) -> PathProbe:
    ends = (-128 * found.scale, 127 * found.scale)
    return PathProbe(f"{found.name}-even", GIVEN, (*ends, *more), multiples(found.scale), constants_only=True)


RANGED = (M22, S, S)


def forbidden_types(prefix: str, *more: tuple[int, ...]) -> tuple[ForbiddenCall, ...]:
    """Calls with types that no version takes; `more` are the shapes of the inputs after the range.

    The document leaves open which widths, ranges and shapes of ranges are allowed, so none of these is forbidden.
    """
    integers: dict[int, str] = dict.fromkeys((0, 1, 2), "int32")
    changes = (("an input and a range of int32", integers), ("a range of float64", {1: "float64", 2: "float64"}))
    unlike = ("input_max of float16", {2: "float16"})
    return tuple(
        ForbiddenCall(f"{prefix}-T1", what, (*RANGED, *more), kinds=kinds, values={1: 0.0, 3: 8.0})
        for what, kinds in (*changes, unlike)
    )


def tested(operator: str, prefix: str) -> OperatorUnderTest:
    """The record of a version whose number of bits is an attribute; `prefix` begins the ids of its clauses."""
    first, *others = even_probes()
    return OperatorUnderTest(
        id=operator,
        plain_nodes=Absent("its results are real"),
        draw=draw,
        mistakes=MISTAKES,
        pairs=PAIRS,
        path_probes=(first, UP, *others),
        axis=Axis("axis"),
        forbidden_calls=(
            *forbidden_types(prefix),
            ForbiddenCall(f"{prefix}-M1", "ties away from zero", RANGED, attributes={"round_mode": "HALF_AWAY"}),
        ),
        situations=Absent("its clauses name only situations that those of other operators name too"),
        semantics=AuditedSemantics(
            round_trip, never_elementwise, defaults={"range_given": True}, role_of=role_of_round_trip
        ),
        monotone=in_any_problem,
    )
