"""Shared testing of both FakeQuantWithMinMaxVars operators: nodes, ranges, inputs and forbidden calls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators.forbidden_call import M22, V3, ForbiddenCall
from tiebreak.conformance.operators.path_probe import (
    HIGH,
    LOW,
    PathProbe,
    fake_quantize_values,
    multiples,
    step_classes,
)
from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import FLOAT_TYPES, decode, encode, neighbour

REAL = FLOAT_TYPES["float32"]
SPECIALS = (REAL.infinity_bits, REAL.infinity_bits | 1 << 31, REAL.nan_bits or 0)
EIGHT_BITS = PathProbe("8-bits", {}, (LOW, HIGH), fake_quantize_values(LOW), 2)
STEP_CLASSES = tuple(
    PathProbe(
        f"{found.name}-8-bits", {}, (-64 * found.scale, 191 * found.scale), multiples(found.scale), constants_only=True
    )
    for found in step_classes(255)
)


def fake_quant_nodes() -> st.SearchStrategy[dict[str, Any]]:
    attributes = st.fixed_dictionaries({"num_bits": st.integers(2, 16), "narrow_range": st.booleans()})
    return attributes.map(lambda chosen: {"real": "float32", "attributes": chosen})


def ranges() -> st.SearchStrategy[tuple[int, int]]:
    """Bits of min and max: around 0, on one side of 0, with a power of two as scale, or not a valid range."""
    size = st.one_of(st.integers(1, 64).map(lambda n: Fraction(n, 8)), moderate())
    inside = st.tuples(size, size).map(lambda pair: (-pair[0], pair[1]))
    above = st.tuples(size, size).map(lambda pair: (pair[0], pair[0] + pair[1]))
    below = above.map(lambda pair: (-pair[1], -pair[0]))
    grid = st.tuples(st.integers(2, 16), st.integers(0, 1), st.integers(0, 255)).map(power_of_two_grid)
    none = st.sampled_from([(Fraction(0), Fraction(0)), (Fraction(1), Fraction(-1))])
    ends = st.one_of(inside, grid, above, below, st.just((Fraction(0), Fraction(1))), none)
    return ends.map(lambda pair: (encode(pair[0], REAL), encode(pair[1], REAL)))


def power_of_two_grid(chosen: tuple[int, int, int]) -> tuple[Fraction, Fraction]:
    width, less, offset = chosen
    steps = (1 << width) - 1 - less
    low = -Fraction(min(2 * offset, 2 * steps), 8)
    return low, low + Fraction(steps, 4)


def moderate() -> st.SearchStrategy[Fraction]:
    codes = st.tuples(st.integers(-12, 12), st.integers(0, (1 << 23) - 1)).map(lambda p: (p[0] + 127 << 23) | p[1])
    return codes.map(lambda code: Fraction(decode(code, REAL)))


def values_in(node: dict[str, Any], low: int, high: int, specials: bool) -> st.SearchStrategy[int]:
    """Bits of inputs: on or beside the grid's points and the midpoints between them, or arbitrary."""
    least, greatest = Fraction(decode(low, REAL)), Fraction(decode(high, REAL))
    attributes = node["attributes"]
    steps = (1 << attributes["num_bits"]) - 1 - attributes["narrow_range"]
    step = max(greatest - least, Fraction(0)) / steps or Fraction(1)
    start = Fraction(0) if least > 0 else least - greatest if greatest < 0 else step * round(least / step)

    def code(chosen: tuple[int, int]) -> int:
        return encode(start + Fraction(chosen[0], 2) * step, REAL)

    near = st.tuples(st.integers(-2, 2 * steps + 2), st.just(0)).map(code)
    beside = st.tuples(near, st.integers(-2, 2)).map(lambda pair: neighbour(pair[0], REAL, pair[1]))
    anything = st.integers(0, (1 << 32) - 1)
    finite = anything.filter(lambda pattern: pattern & 0x7FFFFFFF < REAL.infinity_bits)
    return st.one_of(beside, st.sampled_from((low, high)), finite, *([st.sampled_from(SPECIALS)] if specials else []))


def forbidden_fake_quant_calls(prefix: str, limits: tuple[int, ...]) -> tuple[ForbiddenCall, ...]:
    """Calls that both documents forbid; `prefix` is that of the clause ids, `limits` the shape of min and max."""
    shapes, zero = (M22, limits, limits), {1: 0.0}
    return (
        *(
            ForbiddenCall(f"{prefix}-N1", f"num_bits {n}", shapes, attributes={"num_bits": n}, values=zero)
            for n in (-1, 0)
        ),
        *(
            ForbiddenCall(
                f"{prefix}-N1",
                f"num_bits {n}, narrow_range",
                shapes,
                attributes={"num_bits": n, "narrow_range": True},
                values=zero,
            )
            for n in (1, 17)
        ),
        ForbiddenCall(f"{prefix}-N1", "num_bits 1", shapes, attributes={"num_bits": 1}, values=zero),
        ForbiddenCall(f"{prefix}-N1", "num_bits 17", shapes, attributes={"num_bits": 17}, values=zero),
        ForbiddenCall(f"{prefix}-G1", "ranges of size 3 for inputs of 2 by 2", (M22, V3, V3), values=zero),
    )
