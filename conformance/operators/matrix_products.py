"""Products of integer matrices: strategies for shapes, values, zero points and scales; path probes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.layouts import Place, ProductLayout
from tiebreak.conformance.operators.path_probe import PathProbe, Value
from tiebreak.conformance.operators.strategies import st
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, encode, neighbour
from tiebreak.golden.products import matrix_product
from tiebreak.golden.samples.model import Tensor, integers
from tiebreak.golden.samples.onnx_qlinear_matmul import POINTS

LONG = (33_024, 33_025, 33_026, 66_051, 66_052)  # of 255 * 255 and of 255 * -128, around the ends of int32
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Shapes:
    """The shapes of a, b and their zero points (and scales): [] or a value for each row or column."""

    a: Shape
    b: Shape
    rows: Shape = ()
    columns: Shape = ()


@dataclass(frozen=True)
class Matrices:
    """Two operands and their zero points."""

    a: Tensor
    a_zero_point: Tensor
    b: Tensor
    b_zero_point: Tensor

    def sums(self) -> list[int]:
        """The sums of products of all elements of the result."""
        tensors = (self.a, self.a_zero_point, self.b, self.b_zero_point)
        return [int(value) for value in matrix_product("", *(tensor.array() for tensor in tensors)).sums]


def drawn_matrices(draw: st.DrawFn, operands: tuple[str, str], rank: int | None, *, vary: bool) -> Matrices:
    """Matrices of these types; `rank` is a's. Where parameters may `vary`, sometimes with a zero point for each row."""
    shapes = draw(st.one_of(*(both_shapes(one, vary=vary) for one in ((rank,) if rank else (1, 2, 2, 2, 3, 4)))))
    if rank in (None, 2) and draw(st.integers(0, 59)) == 0:
        shapes = Shapes((1, draw(st.sampled_from(LONG))), ())
        shapes = Shapes(shapes.a, (shapes.a[1], 1))
    a, b = (draw(filled(kind, shape)) for kind, shape in zip(operands, (shapes.a, shapes.b), strict=True))
    of_a, of_b = (draw(points(kind, own)) for kind, own in zip(operands, (shapes.rows, shapes.columns), strict=True))
    return Matrices(a, of_a, b, of_b)


def both_shapes(rank: int, *, vary: bool) -> st.SearchStrategy[Shapes]:
    """Shapes of a product whose first operand has so many axes; the second is a vector, a matrix or a batch."""
    small = st.integers(0, 5)
    sizes = st.one_of(st.integers(1, 5), st.integers(1, 5), st.integers(6, 70), st.just(0))
    drawn = st.tuples(small, sizes, small, st.lists(st.integers(1, 3), min_size=2, max_size=2), st.integers(0, 7))
    return drawn.map(lambda p: shapes_of(rank, *p, vary=vary))


def shapes_of(rank: int, rows: int, inner: int, columns: int, batch: list[int], turn: int, *, vary: bool) -> Shapes:
    """`turn` says whether b is a vector, a matrix or a batch, and which parameters vary."""
    own = (inner,) if rank < 2 else (*batch[: rank - 2], rows, inner)
    outer = tuple(batch[: max(rank - 2, 0)]) if turn % 3 == 0 else (1,) if turn == 4 and rank > 2 else ()
    other = (inner,) if turn == 5 else (*outer, inner, columns)
    if not vary:
        return Shapes(own, other)
    of_rows = () if turn % 2 or rank < 2 else own[:1] if rank == 2 else (*own[:-1], 1)
    of_columns = () if turn in (0, 3, 5) else other[1:] if len(other) == 2 else (*other[:-2], 1, *other[-1:])
    return Shapes(own, other, of_rows, of_columns)


def filled(kind: str, shape: Shape) -> st.SearchStrategy[Tensor]:
    """A tensor of values in turn: often those at the ends of the type."""
    own = INTEGER_TYPES[kind]
    ends = st.sampled_from((own.lowest, own.highest, own.highest - 1, own.lowest + 128, own.lowest + 129))
    values = st.lists(st.one_of(ends, st.integers(own.lowest, own.highest)), min_size=1, max_size=12)
    return values.map(lambda found: integers(kind, repeat(found, math.prod(shape)), shape))


def points(kind: str, shape: Shape) -> st.SearchStrategy[Tensor]:
    """Zero points: the middle of the type, its ends, or any."""
    own = INTEGER_TYPES[kind]
    usual = st.sampled_from((0 if own.signed else 128, 0, own.lowest, own.highest))
    values = st.lists(st.one_of(usual, st.integers(own.lowest, own.highest)), min_size=1, max_size=5)
    return values.map(lambda found: integers(kind, repeat(found, math.prod(shape)), shape))


# Parameters


def zero_points(kind: str) -> st.SearchStrategy[int]:
    own = INTEGER_TYPES[kind]
    return st.one_of(st.sampled_from((POINTS[kind], own.lowest, own.highest)), st.integers(own.lowest, own.highest))


def scales(real: str, *, specials: bool) -> st.SearchStrategy[list[int]]:
    """Bits of up to five scales: short decimals, powers of two, ordinary and negative ones, with `specials` any."""
    kind = FLOAT_TYPES[real]
    decimals = st.integers(1, 300).map(lambda n: encode(Fraction(n, 1000), kind))
    hundredths = st.integers(1, 30).map(lambda n: encode(Fraction(n, 100), kind))
    powers = st.integers(-8, 4).map(lambda n: encode(Fraction(2) ** n, kind))
    ordinary = st.tuples(st.integers(128, 255), st.integers(-14, -6)).map(
        lambda p: neighbour(encode(p[0] * Fraction(2) ** p[1], kind), kind, p[0] % 5 - 2)
    )
    negative = hundredths.map(lambda code: code | 1 << (kind.bits - 1))
    usual = (hundredths, decimals, powers, ordinary, hundredths, ordinary)
    anything = st.integers(0, (1 << kind.bits) - 1)
    one = st.one_of(*usual, negative, anything) if specials else st.one_of(*usual)
    return st.lists(one, min_size=1, max_size=5)


# Path probes


def product_probe(
    label: str, kind: Place, node: Mapping[str, Any], own: tuple[int, int], scale: Sequence[Value],
    other: int, point: int, values: tuple[int, ...], scanned: int = 0, constants_only: bool = False,
    flat: bool = False,
) -> PathProbe:  # fmt: skip
    """`own` are the zero points of a and b; `other` is the value of each element of the other matrix."""
    layout = ProductLayout(kind, 0, 3, flat)
    parameters: list[Value] = [scale[0], own[0], scale[1], own[1], scale[2], point]
    parameters.insert(3 - 1 if layout.into == 0 else 0, other)
    return PathProbe(f"{label}-{kind}", node, tuple(parameters), values, scanned, constants_only, layout)


NEAR = (Fraction("0.02"), Fraction("0.03"), Fraction("0.04"))
HALF = (Fraction(1, 2), Fraction(1), Fraction(1))
# Scales of every size, with which each parameter is a constant by itself.
SCALES = (
    ("decimal", Fraction("0.02"), Fraction("0.05"), Fraction("0.2")),
    ("power-of-two", Fraction(1, 4), Fraction(1, 8), Fraction(2)),
    ("subnormal", Fraction(3, 1 << 149), Fraction(1, 2), Fraction(1, 1 << 146)),
    ("large", Fraction(2) ** 125, Fraction(3, 1 << 9), Fraction(2) ** 123),
    ("negative", Fraction(-41, 64), Fraction(1, 32), Fraction(1, 2)),
)
