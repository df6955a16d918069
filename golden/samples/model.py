"""Samples: golden vectors before they have results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, encode, neighbour
from tiebreak.golden.problem import Array, array_of


@dataclass(frozen=True)
class Tensor:
    """An input: element type, shape, and its codes in row-major order (bit patterns of floats, integers' values)."""

    type: str
    shape: tuple[int, ...]
    codes: Sequence[int]

    def array(self) -> Array:
        return array_of(self.type, self.shape, self.codes)


@dataclass(frozen=True)
class Sample:
    """A golden vector without results: `node` are make_node's keywords, `roles` the roles of the clauses that it shows.

    `theme` becomes part of the vector's id; `flags` name the defects that it finds. A sample with a rounding `mode`
    shares its inputs with others: its id ends in the mode, and its flags follow from its quotients. If the elements are
    `independent`, open ones are split off into a vector of their own.
    """

    theme: str
    node: dict[str, Any]
    tensors: tuple[Tensor, ...]
    flags: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    mode: str = ""
    independent: bool = False


def reals(kind: str, values: Iterable[Fraction | float | int], shape: tuple[int, ...] | None = None) -> Tensor:
    """A real tensor, 1-D unless a shape is given. Values are rounded once; floats may be NaN, infinite or -0.0."""
    codes = [real_code(value, kind) for value in values]
    return Tensor(kind, (len(codes),) if shape is None else shape, codes)


def real_code(value: Fraction | float | int, kind: str) -> int:
    real = ELEMENT_TYPES[kind]
    assert isinstance(real, FloatType)
    if isinstance(value, float):
        sign = 1 << (real.bits - 1) if math.copysign(1.0, value) < 0 else 0
        if math.isnan(value):
            assert real.nan_bits is not None
            return real.nan_bits | sign
        if math.isinf(value) or value == 0:
            return sign | (real.infinity_bits if value else 0)
    return encode(Fraction(value), real)


def bits(kind: str, codes: Iterable[int], shape: tuple[int, ...] | None = None) -> Tensor:
    """A tensor of the given codes, 1-D unless a shape is given."""
    codes = list(codes)
    return Tensor(kind, (len(codes),) if shape is None else shape, codes)


integers = bits


def scalar(kind: str, value: Fraction | float | int) -> Tensor:
    """A tensor of rank 0."""
    return reals(kind, [value], ()) if isinstance(ELEMENT_TYPES[kind], FloatType) else bits(kind, [int(value)], ())


# Between each two powers of ten from 1e-12 to 1e-5, which libraries add to a scale or raise it to, and beyond them.
SMALL_POWERS = (15, 18, 22, 25, 28, 32, 36, 41, 60, 100)


def small_scales_of(real: FloatType) -> list[tuple[str, Fraction]]:
    """Names and values of normal scales far below 1 that are no powers of two: 1.5 / 2^n."""
    return [(f"scale-small-{n}", Fraction(3, 2 << n)) for n in SMALL_POWERS if n < -real.emin]


def with_neighbouring_codes(kind: str, codes: Iterable[int], steps: Sequence[int] = (-1, 0, 1)) -> list[int]:
    """The bit patterns with their neighbours at the given steps, sorted, without repeats."""
    real = ELEMENT_TYPES[kind]
    assert isinstance(real, FloatType)
    return sorted({neighbour(code, real, step) for code in codes for step in steps})
