"""What is drawn for torch.quantize_per_tensor and torch.quantize_per_channel: scales, zero points and inputs."""

from __future__ import annotations

from fractions import Fraction

from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import FLOAT_TYPES, IntegerType, decode, encode, neighbour

REAL = FLOAT_TYPES["float32"]
SPECIALS = (REAL.infinity_bits, REAL.infinity_bits | 1 << 31, REAL.nan_bits or 0)


def finite_codes() -> st.SearchStrategy[int]:
    return st.integers(0, (1 << 32) - 1).filter(lambda code: code & 0x7FFFFFFF < REAL.infinity_bits)


def scales(specials: bool) -> st.SearchStrategy[int]:
    """Bits of a scale: mostly a moderate one, simple or with any significand; sometimes any number."""
    simple = st.sampled_from(("1", "0.5", "0.25", "2", "0.1", "0.02", "0.00392157", "3")).map(
        lambda text: encode(Fraction(text), REAL)
    )
    moderate = st.tuples(st.integers(-12, 8), st.integers(0, (1 << 23) - 1)).map(lambda p: (p[0] + 127 << 23) | p[1])
    return st.one_of(simple, moderate, moderate, finite_codes(), *([st.sampled_from(SPECIALS)] if specials else []))


def zero_points(kind: IntegerType) -> st.SearchStrategy[int]:
    near = st.integers(max(kind.lowest, -130), min(kind.highest, 255))
    return st.one_of(near, st.sampled_from((kind.lowest, kind.highest)), st.integers(kind.lowest, kind.highest))


def float_points(kind: IntegerType) -> st.SearchStrategy[Fraction]:
    """Whole and not, in and around the type's range; sums with them are often ties."""
    quarters = st.integers(4 * kind.lowest - 9, 4 * kind.highest + 9).map(lambda n: Fraction(n, 4))
    units = st.integers(-(1 << 23), 1 << 23)
    return st.one_of(quarters, units.map(lambda n: Fraction(n, 1 << 15)), units.map(lambda n: Fraction(n, 1 << 23)))


def inputs(kind: IntegerType, scale: int, zero_point: Fraction | int, specials: bool) -> st.SearchStrategy[int]:
    """Bits of inputs whose sums are on or beside multiples of a half, near the type's ends or anywhere."""
    step = decode(scale, REAL)
    anything = st.one_of(finite_codes(), *([st.sampled_from(SPECIALS)] if specials else []))
    if not isinstance(step, Fraction) or not step:
        return anything
    ends = [2 * (end - zero_point) for end in (kind.lowest, kind.highest)]
    near_ends = st.tuples(st.sampled_from(ends), st.integers(-6, 6)).map(sum)
    doubled = st.one_of(st.integers(-600, 600), near_ends)
    codes = doubled.map(lambda twice: encode(step * twice / 2, REAL))
    near = codes.filter(lambda code: code & 0x7FFFFFFF < REAL.infinity_bits)
    beside = st.tuples(near, st.integers(-2, 2)).map(lambda pair: neighbour(pair[0], REAL, pair[1]))
    return st.one_of(beside, beside, anything)
