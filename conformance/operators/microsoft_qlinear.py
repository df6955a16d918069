"""What the tests of QLinearAdd and QLinearMul share: drawn pairs, path probes of three kernels, forbidden calls."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates
from tiebreak.conformance.operators.forbidden_call import M22, V2, V3, ForbiddenCall, S
from tiebreak.conformance.operators.layouts import BroadcastLayout
from tiebreak.conformance.operators.model import CaseConstraints, DrawCase
from tiebreak.conformance.operators.path_probe import PathProbe, ScaleClass, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.golden import kernel
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, encode, neighbour
from tiebreak.golden.nodes import Node
from tiebreak.golden.operators.microsoft_qlinear import SECOND, TYPES
from tiebreak.golden.problem import UNDEFINED
from tiebreak.golden.problems import problems_of
from tiebreak.golden.samples.model import Tensor, bits

SINGLE = FLOAT_TYPES["float32"]
LONGEST = 70  # of a drawn vector
EVERY = 256  # integers of 8 bits
Shapes = tuple[tuple[int, ...], tuple[int, ...]]
Ratio = Callable[[Fraction, Fraction], Fraction]  # the scale of C at which a simple ratio results


def drawing(third: Ratio) -> DrawCase:
    """Draws cases whose C_scale makes with both others a simple ratio, or nearly; or is any scale."""

    def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
        kind = wanted.quantized or draw(st.sampled_from(TYPES))
        scales = draw_scales(draw, third, specials=wanted.specials)
        points = [draw(zero_points(kind)) for _ in scales]
        shapes = draw(shapes_of(wanted.rank))
        a, b = (integers_of(draw, kind, shape) for shape in shapes)
        parameters = [
            (Tensor("float32", (), [scale]), bits(kind, [point], ()))
            for scale, point in zip(scales, points, strict=True)
        ]
        optional = draw(st.integers(0, 5)) > 0
        tensors = (a, *parameters[0], b, *parameters[1], *parameters[2])
        return {"quantized": kind, "zero_point": optional}, tensors if optional else tensors[:-1]

    return draw


def draw_scales(draw: st.DrawFn, third: Ratio, *, specials: bool) -> list[int]:
    """Bits of three scales: decimals, moved by a few units in the last place; seldom any numbers."""
    if specials and draw(st.integers(0, 9)) == 0:
        return [draw(st.integers(0, (1 << 32) - 1)) for _ in range(3)]
    first, second = (draw(decimals()) for _ in range(2))
    last = draw(st.one_of(st.just(third(first, second)), decimals()))
    steps = st.integers(-1, 1)
    return [neighbour(encode(value, SINGLE), SINGLE, draw(steps)) for value in (first, second, last)]


def decimals() -> st.SearchStrategy[Fraction]:
    tens = st.tuples(st.integers(1, 99), st.sampled_from((100, 1000, 10, 3))).map(lambda of: Fraction(*of))
    return st.one_of(tens, tens, st.integers(-8, 2).map(lambda power: Fraction(2) ** power))


def zero_points(kind: str) -> st.SearchStrategy[int]:
    own = INTEGER_TYPES[kind]
    middle = (own.lowest + own.highest + 1) // 2
    return st.one_of(
        st.just(middle), st.sampled_from((own.lowest, own.highest, 0)), st.integers(own.lowest, own.highest)
    )


def shapes_of(rank: int | None) -> st.SearchStrategy[Shapes]:
    """Shapes of A and B that broadcast to a rank; if it may be 2, sometimes every integer beside sixteen."""
    found = st.lists(
        st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=rank or 0, max_size=4 if rank is None else rank
    )
    spread = found.map(
        lambda axes: (
            tuple(1 if how == 1 else size for size, how in axes),
            tuple(1 if how == 2 else size for size, how in axes),
        )
    )
    if rank not in (None, 1, 2):
        return spread
    length = st.integers(1, LONGEST)
    vectors = st.one_of(
        length.map(lambda n: ((n,), (n,))), length.map(lambda n: ((n,), ())), length.map(lambda n: ((), (n,)))
    )
    every = st.just(((EVERY, 1), (1, 16)))
    if rank == 1:
        return st.one_of(vectors, spread)
    return st.one_of(spread, every) if rank == 2 else st.one_of(vectors, vectors, spread, every)


def integers_of(draw: st.DrawFn, kind: str, shape: tuple[int, ...]) -> Tensor:
    """Every integer in order where there is room for all, else from a drawn one on in drawn steps."""
    own, size = INTEGER_TYPES[kind], math.prod(shape)
    start, step = (0, 1) if size == EVERY else (draw(st.integers(0, 255)), draw(st.integers(1, 255)))
    return bits(kind, [own.lowest + (start + n * step) % EVERY for n in range(size)], shape)


def probes(scales: tuple[str, str, str], sought: tuple[int, ...]) -> tuple[PathProbe, ...]:
    """B a tensor like A, B a scalar, and A a scalar beside a tensor B, which kernels take apart.

    `sought` are integers beside a zero point of 0; the last one is far from every tie.
    """
    return tuple(one for kind in TYPES for one in probes_of(kind, tuple(map(Fraction, scales)), sought))


def probes_of(kind: str, scales: tuple[Fraction, ...], sought: tuple[int, ...]) -> tuple[PathProbe, ...]:
    first, second, last = scales
    middle = 0 if INTEGER_TYPES[kind].signed else 128
    values, node = tuple(middle + value for value in sought), {"quantized": kind}
    fixed = middle + 3  # the other operand
    right = (first, middle, fixed, second, middle, last, middle + 1)
    left = (fixed, first, middle, second, middle, last, middle + 1)
    return (
        PathProbe(
            f"{kind}-both", node, right, values, 4 if kind == "int8" else 0, layout=BroadcastLayout(0, (SECOND,))
        ),
        PathProbe(f"{kind}-scalar-b", node, right, values),
        PathProbe(f"{kind}-scalar-a", node, left, values, layout=BroadcastLayout(SECOND)),
    )


def at_scale_classes(*, adds: bool) -> tuple[PathProbe, ...]:
    """Each parameter as a constant at every class of A's scale; B a scalar, of A's scale in a sum, else of scale 1."""
    return tuple(at_scale(found, found.scale if adds else Fraction(1)) for found in scale_classes()[:-1])


def at_scale(found: ScaleClass, second: Fraction) -> PathProbe:
    ratio = Fraction(2, 3) if found.name == "subnormal" else Fraction(3, 2)
    parameters = (found.scale, 3, 5, second, -2, found.scale * ratio, -5)
    return PathProbe(
        f"{found.name}-int8", {"quantized": "int8"}, parameters, (4, 2, 9, -1, 100, -127, 3), constants_only=True
    )


def forbidden_calls(prefix: str) -> tuple[ForbiddenCall, ...]:
    def call(clause: str, what: str, shapes: tuple[tuple[int, ...], ...], **changes: Any) -> ForbiddenCall:
        return ForbiddenCall(f"{prefix}-{clause}", what, shapes, {"quantized": "int8"}, **changes)

    one = (M22, S, S, M22, S, S, S, S)
    return (
        call("S1", "shapes that do not broadcast", (V3, S, S, V2, S, S, S, S)),
        call("S2", "two scales of A", (M22, V2, S, M22, S, S, S, S)),
        call("S2", "two scales of B", (M22, S, S, M22, V2, S, S, S)),
        call("S2", "two scales of C", (M22, S, S, M22, S, S, V2, S)),
        call("S2", "two zero points of A", (M22, S, V2, M22, S, S, S, S)),
        call("T1", "an output of int16", one, output="int16"),
        call("T1", "an output of the other signedness", one, output="uint8"),
    )


def odd_scale(shown: CaseWithStates) -> bool:
    """Whether a scale is NaN or infinite, or one of the last operand, which the others are divided by, is 0."""
    found = shown.floats()
    return not all(np.isfinite(scale).all() for scale in found) or bool((found[-1] == 0).any())


def overflows(shown: CaseWithStates) -> bool:
    """Whether an element that has an exact result has none in working precision."""
    (problem,) = problems_of(shown.case)
    working = kernel.solve(problem, working=True)[1]
    return bool(np.any((working == UNDEFINED) & (shown.states != UNDEFINED)))


def silence_of_ties(node: Node) -> str:
    return "onnxruntime's text says that the result is rounded, and not how a tie is"
