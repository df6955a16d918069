"""Testing `openvino.FakeQuantize`: any type, levels, ranges and shapes of limits."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import Situation, holds_for_limits
from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.elementwise import broadcast_operands
from tiebreak.conformance.operators.forbidden_call import M22, V3, ForbiddenCall, S
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    in_any_problem,
)
from tiebreak.conformance.operators.openvino_fake_quantize_facets import fake_quantize
from tiebreak.conformance.operators.openvino_fake_quantize_variants import MISTAKES, PAIRS
from tiebreak.conformance.operators.path_probe import (
    HIGH,
    LOW,
    STEP,
    PathProbe,
    fake_quantize_values,
    multiples,
    step_classes,
)
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.authorities_fake import OF_FAKE_QUANTIZE
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, decode, encode, neighbour
from tiebreak.golden.operators.model import ALL_REAL_TYPES
from tiebreak.golden.samples.model import Tensor, bits

Aim = tuple[int, int, int]  # twice the argument of round, units in the last place beside it, arbitrary bits
EXACT_LEVELS = (2, 3, 5, 9, 17, 65)  # a range of 1, 2, 4 or 8 has exact steps, hence exact ties
FEW_LEVELS = (4, 15, 16, 100, 255, 256)
MANY_LEVELS = (257, 1000, 2049, 4096, 65536, (1 << 24) + 2, (1 << 40) + 5)


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    real = wanted.real or draw(st.sampled_from(ALL_REAL_TYPES))
    kind = FLOAT_TYPES[real]
    shape = draw(input_shapes(wanted.rank))
    rule = draw(st.sampled_from(["numpy", "numpy", "numpy", "none"]))
    levels = draw(
        st.one_of(
            st.sampled_from(EXACT_LEVELS),
            st.sampled_from(FEW_LEVELS),
            st.integers(2, 300),
            st.sampled_from(MANY_LEVELS),
        )
    )
    ranges = [limits for _ in range(2) for limits in draw_ranges(draw, kind, wanted.specials)]
    tensors = []
    for values in ranges:
        kept = shape if rule == "none" else draw_projection(draw, shape)
        tensors.append(bits(real, repeat(values, math.prod(kept)), kept))
    x = aimed_bits(kind, shape, levels, tensors, draw(st.lists(aims(kind, wanted.specials), min_size=1, max_size=12)))
    node = {"real": real, "attributes": {"levels": levels, "auto_broadcast": rule}}
    return node, (bits(real, x, shape), *tensors)


def input_shapes(rank: int | None) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of the given rank, or of rank 0 to 4; at most 256 elements, sometimes none."""
    low, high = (0, 4) if rank is None else (rank, rank)
    sizes = st.one_of(st.integers(1, 4), st.integers(1, 4), st.integers(0, 4))
    return st.lists(sizes, min_size=low, max_size=high).map(tuple)


def draw_projection(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts to `shape`: of the same or a lower rank, some sizes 1."""
    kept = shape[draw(st.integers(0, len(shape))) :]
    return tuple(size if draw(st.booleans()) else 1 for size in kept)


def draw_ranges(draw: st.DrawFn, kind: FloatType, specials: bool) -> tuple[list[int], list[int]]:
    """Bits of lower and upper limits, mostly a drawn width apart; the width may be negative or 0."""
    triples = st.tuples(limit(kind, specials), range_widths(), limit(kind, specials))
    pairs = draw(st.lists(triples, min_size=1, max_size=4))
    low = [first for first, _, _ in pairs]
    return low, [upper(kind, first, width, other) for first, width, other in pairs]


def range_widths() -> st.SearchStrategy[Fraction | None]:
    """The distance from the lower to the upper limit; None means an independent upper limit."""
    whole = st.integers(-8, 300).map(Fraction)
    exact = st.sampled_from([1, 2, 4, 8]).map(Fraction)
    return st.one_of(exact, exact, whole, st.fractions(-2, 8, max_denominator=100), st.none())


def upper(kind: FloatType, low: int, width: Fraction | None, other: int) -> int:
    start = decode(low, kind)
    return other if width is None or not isinstance(start, Fraction) else encode(start + width, kind)


def limit(kind: FloatType, specials: bool) -> st.SearchStrategy[int]:
    """Bits of a limit: 0, up to 40 eighths, up to 300 hundredths, or arbitrary."""
    eighths = st.integers(-40, 40).map(lambda n: encode(Fraction(n, 8), kind))
    decimals = st.integers(-300, 300).map(lambda n: encode(Fraction(n, 100), kind))
    return st.one_of(st.just(0), eighths, eighths, decimals, anything(kind, specials))


def anything(kind: FloatType, specials: bool) -> st.SearchStrategy[int]:
    codes = st.integers(0, (1 << kind.bits) - 1)
    return codes if specials else codes.filter(lambda b: b & ~(1 << (kind.bits - 1)) < kind.infinity_bits)


def aims(kind: FloatType, specials: bool) -> st.SearchStrategy[Aim]:
    """Ties and levels with their neighbours, the ends of the range, and arbitrary bits (marked by a second of 3)."""
    near = st.tuples(st.one_of(st.integers(-2, 12), st.integers(-9, 600)), st.integers(-2, 2), st.just(0))
    return st.one_of(near, st.tuples(st.just(0), st.just(3), anything(kind, specials)))


def aimed_bits(
    kind: FloatType, shape: tuple[int, ...], levels: int, limits: list[Tensor], aims: list[Aim]
) -> list[int]:
    """The bits of x: elements take the aims in turn, within their own input limits, one level further each round."""
    spread = [np.broadcast_to(np.array(t.codes, object).reshape(t.shape), shape).reshape(-1) for t in limits[:2]]
    found = []
    for i, (low, high) in enumerate(zip(*(s.tolist() for s in spread), strict=True)):
        (twice, steps, code), turn = aims[i % len(aims)], i // len(aims)
        start, end = decode(low, kind), decode(high, kind)
        if steps <= 2 and isinstance(start, Fraction) and isinstance(end, Fraction):
            at = (twice + 2 * turn) % (2 * levels)
            code = neighbour(encode(start + (end - start) * at / (2 * (levels - 1)), kind), kind, steps)
        found.append(code)
    return found


OUTPUTS = Fraction(-7, 10), Fraction(13, 10)
PATH_PROBES = (
    PathProbe("256", {"attributes": {"levels": 256}}, (LOW, HIGH, *OUTPUTS), fake_quantize_values(LOW), 2),
    PathProbe("16", {"attributes": {"levels": 16}}, (LOW, LOW + 15 * STEP, *OUTPUTS), fake_quantize_values(LOW)),
    *(
        PathProbe(
            f"{found.name}-2",
            {"attributes": {"levels": 2}},
            (0, found.scale, 0, found.scale),
            multiples(found.scale),
            constants_only=True,
        )
        for found in step_classes(1)
    ),
)
ZERO_LOWS = {1: 0.0, 3: 0.0}
SCALARS = (M22, S, S, S, S)


def enlarging(place: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of X and scalar limits, but for one limit of a higher rank than X."""
    return tuple((3, 2, 2) if i == place else shape for i, shape in enumerate(SCALARS))


NO_BROADCAST = {"attributes": {"levels": 256, "auto_broadcast": "none"}}
FORBIDDEN_CALLS = (
    *(
        ForbiddenCall(
            "OVF-S1", f"{name} of a shape that enlarges X", enlarging(place), {"attributes": {"levels": 2}},
            values=ZERO_LOWS,
        )
        for place, name in enumerate(("input_low", "input_high", "output_low", "output_high"), start=1)
    ),
    *(
        ForbiddenCall(
            "OVF-L1", f"levels {n}", SCALARS, {"attributes": {"levels": 2}}, {"levels": n}, values=ZERO_LOWS
        )
        for n in (-1, 0, 1)
    ),
    ForbiddenCall(
        "OVF-A1", "limits of 3 for X of 2 by 2", (M22, V3, V3, V3, V3), {"attributes": {"levels": 256}},
        values=ZERO_LOWS,
    ),
    ForbiddenCall("OVF-A2", "auto_broadcast none and scalar limits", SCALARS, NO_BROADCAST, values=ZERO_LOWS),
)  # fmt: skip
SITUATIONS: dict[str, Situation] = {
    "equal limits": lambda s: holds_for_limits(s, 1, np.equal),
    "reversed limits": lambda s: holds_for_limits(s, 1, np.greater),
    "equal output limits": lambda s: holds_for_limits(s, 3, np.equal),
    "reversed output limits": lambda s: holds_for_limits(s, 3, np.greater),
}

TESTED = OperatorUnderTest(
    id="openvino.FakeQuantize",
    plain_nodes=Absent("its results are real"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    path_probes=PATH_PROBES,
    axis=Axis(broadcast=True),
    forbidden_calls=FORBIDDEN_CALLS,
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        fake_quantize, broadcast_operands, defaults={"levels": 256}, authorities=OF_FAKE_QUANTIZE
    ),
    monotone=in_any_problem,
)
