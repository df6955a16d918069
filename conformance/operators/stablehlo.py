"""What testing StableHLO's two operators shares: drawn types, parameters of slices, forbidden types."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.forbidden_call import M22, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType, encode, neighbour
from tiebreak.golden.samples.model import Tensor, bits

Ends = tuple[int, int]


def type_ends(storage: str) -> st.SearchStrategy[Ends]:
    """Ends of a quantized type: mostly those of the storage type, sometimes narrower ones."""
    kind = INTEGER_TYPES[storage]
    whole = st.just((kind.lowest, kind.highest))
    narrow = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda by: (kind.lowest + by[0], kind.highest - by[1]))
    return st.one_of(whole, whole, narrow)


def written(ends: Ends, storage: str, axis: int, prefix: str = "") -> dict[str, int]:
    """The attributes of a type; ends that are the storage type's are left off."""
    kind = INTEGER_TYPES[storage]
    said = {} if ends == (kind.lowest, kind.highest) else {f"{prefix}storage_min": ends[0]} | {
        f"{prefix}storage_max": ends[1]
    }  # fmt: skip
    return said | ({} if axis < 0 else {f"{prefix}quantization_dimension": axis})


def scale_codes(kind: FloatType) -> st.SearchStrategy[int]:
    """Bits of positive scales: decimals, powers of two and their neighbours, seldom any number."""
    decimals = st.tuples(st.integers(1, 99), st.sampled_from((3, 7, 10, 100, 1000))).map(lambda of: Fraction(*of))
    powers = st.integers(-8, 6).map(lambda power: Fraction(2) ** power)
    usual = st.tuples(st.one_of(decimals, powers), st.integers(-1, 1)).map(
        lambda found: neighbour(encode(found[0], kind), kind, found[1])
    )
    return st.one_of(usual, usual, usual, usual, st.integers(1, kind.infinity_bits - 1))


def drawn_parameters(
    draw: st.DrawFn, expressed: str, storage: str, ends: Ends, count: int, scalar: bool
) -> tuple[Tensor, Tensor]:
    """scales and zero_points, a few in turn."""
    shape, low, high = () if scalar else (count,), *ends
    near = st.integers(-3, 3).map(lambda n: min(max((low + high + 1) // 2 + n, low), high))
    points = st.one_of(near, st.sampled_from(ends), st.integers(low, high))
    found = draw(st.lists(points, min_size=1, max_size=4))
    scales = draw(st.lists(scale_codes(FLOAT_TYPES[expressed]), min_size=1, max_size=4))
    return Tensor(expressed, shape, repeat(scales, count)), bits(storage, repeat(found, count), shape)


def integers_between(draw: st.DrawFn, storage: str, ends: Ends, count: int, shape: tuple[int, ...]) -> Tensor:
    """Values of a quantized type."""
    one = st.one_of(st.sampled_from(ends), st.integers(*ends))
    return bits(storage, repeat(draw(st.lists(one, min_size=1, max_size=12)), count), shape)


def forbidden_types(prefix: str, valid: Mapping[str, Any]) -> tuple[ForbiddenCall, ...]:
    """Types that the document excludes, of the operand or the result that `valid` quantizes with int8."""

    def call(
        clause: str, what: str, scales: tuple[int, ...] = S, points: tuple[int, ...] | None = None,
        values: Mapping[int, float] | None = None, **attributes: int,
    ) -> ForbiddenCall:  # fmt: skip
        shapes = (M22, scales, scales if points is None else points)
        return ForbiddenCall(f"{prefix}-{clause}", what, shapes, valid, attributes, values={2: 0.0, **(values or {})})

    return (
        call("A1", "3 scales for a dimension of size 2", V3, quantization_dimension=0),
        call("A1", "2 scales and 3 zero points", V2, V3, quantization_dimension=0),
        call("A2", "2 scales without a dimension", V2),
        call("A3", "dimension 2 of a tensor with two", V2, quantization_dimension=2),
        call("T2", "a scale of 0", values={1: 0.0}),
        call("T2", "a negative scale", values={1: -1.0}),
        call("T2", "an infinite scale", values={1: float("inf")}),
        call("T3", "a zero point beyond storage_max", values={2: 5.0}, storage_min=-4, storage_max=4),
        call("T4", "storage_min above storage_max", storage_min=4, storage_max=-4),
        call("T4", "a storage_max that the type lacks", storage_min=-4, storage_max=128),
    )
