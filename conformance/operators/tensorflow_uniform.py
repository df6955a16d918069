"""What testing TensorFlow's uniform operators shares: strategies, and inputs with the parameters of their slices."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.judging.misplaced import ALL_MISPLACED, Misplace, in_place
from tiebreak.conformance.operators.case_with_states import CaseWithStates
from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.forbidden_call import M22, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, encode, neighbour
from tiebreak.golden.operators import get_operator
from tiebreak.golden.operators.tensorflow_uniform import is_range_of
from tiebreak.golden.problem import Array, along
from tiebreak.golden.samples.model import Tensor, bits

SINGLE = FLOAT_TYPES["float32"]
WORD = INTEGER_TYPES["int32"]


def first_for_all(index: Array, count: int) -> Array:
    return np.zeros_like(index)


# Which scale and which zero point an element takes, by the ids of causes.
PLACES: tuple[tuple[str, Misplace, Misplace], ...] = (
    ("one-for-all:scale and zero point", first_for_all, first_for_all),
    ("one-for-all:scale", first_for_all, in_place),
    ("one-for-all:zero point", in_place, first_for_all),
    *ALL_MISPLACED,
)


def taken(x: Array, axis: int, scales: Array, zero_points: Array, places: tuple[Misplace, Misplace]) -> list[Array]:
    """The scale and the zero point of each element, of x's shape."""
    numbers = np.arange(scales.size).reshape(scales.shape)
    index = np.broadcast_to(along(numbers, () if axis < 0 else (axis,), x.shape), x.shape)
    pairs = zip((scales, zero_points), places, strict=True)
    return [array.reshape(-1)[place(index, max(scales.size, 1))] for array, place in pairs]


IN_PLACE: tuple[Misplace, Misplace] = (in_place, in_place)


def scale_codes(specials: bool, *, negative: bool = True) -> st.SearchStrategy[int]:
    """Bits of scales: decimals, powers of two and their neighbours; seldom any float32, or with `specials` all."""
    decimals = st.tuples(st.integers(1, 99), st.sampled_from((3, 7, 10, 100, 1000))).map(lambda of: Fraction(*of))
    powers = st.integers(-14, 6).map(lambda power: Fraction(2) ** power)
    usual = st.tuples(st.one_of(decimals, powers), st.integers(-1, 1)).map(
        lambda found: neighbour(encode(found[0], SINGLE), SINGLE, found[1])
    )
    far = st.integers(-149, 127).map(lambda power: encode(Fraction(2) ** power, SINGLE))
    finite = st.integers(1, SINGLE.infinity_bits - 1)
    signed = finite.map(lambda code: code | 1 << 31) if negative else finite
    anything = st.integers(0, (1 << 32) - 1) if specials else finite
    return st.one_of(usual, usual, usual, usual, far, signed, anything)


def point_values(quantized: str) -> st.SearchStrategy[int]:
    """Zero points: mostly of the quantized type, also beyond it."""
    kind = INTEGER_TYPES[quantized]
    own = st.integers(kind.lowest, kind.highest)
    small = st.integers(-130, 260)
    return st.one_of(own if kind.bits == 8 else small, small, st.sampled_from((0, kind.lowest, kind.highest)),
                     st.integers(WORD.lowest, WORD.highest))  # fmt: skip


def range_values(quantized: str) -> st.SearchStrategy[tuple[int, int]]:
    """Both ends: mostly the type's or one less, also any of the type in order, seldom any int32."""
    kind = INTEGER_TYPES[quantized]
    whole = st.sampled_from(((kind.lowest, kind.highest), (kind.lowest + 1, kind.highest)))
    inside = st.integers(kind.lowest, kind.highest)
    ordered = st.tuples(inside, inside).map(lambda pair: (min(pair), max(pair)))
    around = st.tuples(st.integers(0, 20), st.integers(0, 20)).map(
        lambda pair: (max(kind.lowest, 64 - pair[0]), 64 + pair[1])
    )
    anything = st.tuples(*[st.integers(WORD.lowest, WORD.highest)] * 2)
    return st.integers(0, 15).flatmap(
        lambda n: anything if n == 0 else ordered if n < 3 else around if n < 5 else whole
    )


def axis_of(draw: st.DrawFn, rank: int) -> int:
    return draw(st.integers(0, rank - 1)) if rank and draw(st.booleans()) else -1


def drawn_parameters(
    draw: st.DrawFn, quantized: str, count: int, scalar: bool, codes: st.SearchStrategy[int]
) -> tuple[Tensor, Tensor]:
    """scales and zero_points, a few in turn."""
    shape = () if scalar else (count,)
    scales = draw(st.lists(codes, min_size=1, max_size=4))
    points = draw(st.lists(point_values(quantized), min_size=1, max_size=4))
    return bits("float32", repeat(scales, count), shape), bits("int32", repeat(points, count), shape)


def ends(shown: CaseWithStates) -> tuple[int, int]:
    """The ends of the output's range, which the attributes of an operator with two ranges name so."""
    node = shown.case.node
    prefix = "output_" if get_operator(node.operator).has_attribute("output_quantization_min_val") else ""
    least, greatest = (int(node.value(f"{prefix}quantization_{end}_val")) for end in ("min", "max"))
    return least, greatest


def has_no_range(shown: CaseWithStates) -> bool:
    """Whether the two ends are no range of the output's type."""
    return not is_range_of(INTEGER_TYPES[shown.case.node.output_type], *ends(shown))


def is_narrow(shown: CaseWithStates) -> bool:
    kind = INTEGER_TYPES[shown.case.node.output_type]
    return ends(shown) != (kind.lowest, kind.highest) and not has_no_range(shown)


def forbidden_calls(prefix: str, valid: Mapping[str, Any]) -> tuple[ForbiddenCall, ...]:
    """Parameters that do not fit the axis. `valid` has a valid node's types and its attributes but for the axis."""

    def call(
        clause: str, what: str, scales: tuple[int, ...], points: tuple[int, ...] | None = None, **axis: int
    ) -> ForbiddenCall:
        shapes = (M22, scales, scales if points is None else points)
        return ForbiddenCall(f"{prefix}-{clause}", what, shapes, valid, axis, values={2: 0.0})

    return (
        call("A1", "3 scales for an axis of size 2", V3, quantization_axis=0),
        call("A1", "one scale of rank 1 for an axis of size 2", (1,), quantization_axis=0),
        call("A1", "a scalar scale with an axis", S, quantization_axis=0),
        call("A1", "2 scales and 3 zero points", V2, V3, quantization_axis=0),
        call("A2", "2 scales without an axis", V2),
        call("A2", "a scale of rank 1 without an axis", (1,)),
        call("A3", "axis 2 of an input with two axes", V2, quantization_axis=2),
        call("A3", "axis -2", V2, quantization_axis=-2),
    )
