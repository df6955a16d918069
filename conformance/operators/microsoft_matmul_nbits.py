"""Testing `com.microsoft.MatMulNBits`: rows with one number, weights of every value, a bias, and a few sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tiebreak.conformance.operators.case_with_states import CaseWithStates, Situation
from tiebreak.conformance.operators.drawn_tensors import repeat
from tiebreak.conformance.operators.forbidden_call import ForbiddenCall
from tiebreak.conformance.operators.layers import packed_weights
from tiebreak.conformance.operators.microsoft_matmul_nbits_mistakes import MISTAKES, PAIRS
from tiebreak.conformance.operators.model import (
    Absent,
    AuditedSemantics,
    Axis,
    CaseConstraints,
    OperatorUnderTest,
    never_elementwise,
)
from tiebreak.conformance.operators.path_probe import STEP, PathProbe, Value, multiples, scale_classes
from tiebreak.conformance.operators.strategies import st
from tiebreak.conformance.semantics.weight_product import (
    as_rows_of_one,
    role_of_weight_product,
    silence_of_level,
    weight_product,
)
from tiebreak.golden.elements import FLOAT_TYPES, FloatType, encode
from tiebreak.golden.onnx_types import REALS
from tiebreak.golden.operators.microsoft_matmul_nbits import BIAS, BIASED, BITS, ID, given
from tiebreak.golden.problem import Array
from tiebreak.golden.samples.model import Tensor, bits

SIZES = (16, 16, 32, 64)


@dataclass(frozen=True)
class DrawnProduct:
    """The sizes of a drawn product."""

    inner: int
    columns: int
    bits: int
    size: int

    @property
    def blocks(self) -> int:
        return -(-self.inner // self.size)

    def attributes(self, level: int) -> dict[str, int]:
        return {
            "K": self.inner,
            "N": self.columns,
            "bits": self.bits,
            "block_size": self.size,
            "accuracy_level": level,
        }


def draw(draw: st.DrawFn, wanted: CaseConstraints) -> tuple[dict[str, Any], tuple[Tensor, ...]]:
    real = FLOAT_TYPES[wanted.real or draw(st.sampled_from(REALS))]
    form = DrawnProduct(draw(st.integers(1, 40)), draw(st.integers(1, 3)), draw(st.sampled_from(BITS)),
                 draw(st.sampled_from(SIZES)))  # fmt: skip
    kind = draw(st.sampled_from(("uint8", "uint8", "real", "none")))
    a = draw(rows(real, max(wanted.rank or 2, 2), form.inner, wanted.specials))
    held = (form.columns, form.blocks, form.size * form.bits // 8)
    b = bits("uint8", repeat(draw(st.lists(st.integers(0, 255), min_size=1, max_size=20)), math.prod(held)), held)
    shape = (form.columns, form.blocks)
    scales = bits(real.name, repeat(draw(some(scale_codes(real, wanted.specials))), math.prod(shape)), shape)
    level = draw(st.sampled_from((0, 0, 0, 0, 1, 2, 3, 4)))
    last = draw(biases(real, form.columns, wanted.specials)) if draw(st.sampled_from((False, False, True))) else ()
    number = 0 if not last else 2 if kind == "none" else 1
    node = {"real": real.name, "operands": [real.name if kind == "real" else "uint8"], "form": number}
    node |= {"zero_point": bool(last) or kind != "none", "attributes": form.attributes(level)}
    return node, (a, b, scales, *draw(zero_points(real, form, kind)), *last)


def biases(real: FloatType, columns: int, specials: bool) -> st.SearchStrategy[tuple[Tensor, ...]]:
    """A bias for each column: zeros and eighths, whose sums are often exact, and any numbers."""
    eighths = st.integers(-64, 64).map(lambda n: code_of(real, Fraction(abs(n), 8), n < 0))
    each = some(st.one_of(st.just(0), eighths, scale_codes(real, specials)))
    return each.map(lambda codes: (bits(real.name, repeat(codes, columns), (columns,)),))


def some(codes: st.SearchStrategy[int]) -> st.SearchStrategy[list[int]]:
    return st.lists(codes, min_size=1, max_size=6)


def rows(real: FloatType, rank: int, inner: int, specials: bool) -> st.SearchStrategy[Tensor]:
    """Rows with one number each, mostly a power of two; sometimes small integers everywhere, whose sums are exact."""
    powers = st.tuples(st.integers(-6, 6), st.booleans()).map(lambda p: code_of(real, Fraction(2) ** p[0], p[1]))
    near = st.tuples(st.integers(1, 999), st.booleans()).map(lambda p: code_of(real, Fraction(p[0], 77), p[1]))
    anything = st.integers(0, (1 << real.bits) - 1)
    any_code = anything if specials else anything.filter(lambda code: is_finite(code, real))
    whole = st.integers(-3, 3).map(lambda n: code_of(real, Fraction(abs(n)), n < 0))
    outer = st.lists(st.integers(0, 3), min_size=rank - 1, max_size=rank - 1)
    lone = st.tuples(some(st.one_of(powers, powers, near, any_code)), st.integers(0, inner - 1), outer)
    several = st.tuples(some(whole), outer)
    return st.one_of(
        *[lone.map(lambda p: one_each(real, p[0], p[1], inner, (*p[2], inner)))] * 3,
        several.map(lambda p: bits(real.name, repeat(p[0], math.prod(p[1]) * inner), (*p[1], inner))),
    )


def one_each(real: FloatType, codes: list[int], first: int, inner: int, shape: tuple[int, ...]) -> Tensor:
    """Rows of zeros with one of the codes each, in columns that follow each other."""
    count = math.prod(shape[:-1])
    each = [codes[n % len(codes)] if k == (first + n) % inner else 0 for n in range(count) for k in range(inner)]
    return bits(real.name, each, shape)


def code_of(real: FloatType, value: Fraction, negative: bool) -> int:
    return encode(value, real) | (1 << (real.bits - 1) if negative else 0)


def is_finite(code: int, real: FloatType) -> bool:
    return code & ~(1 << (real.bits - 1)) < real.infinity_bits


def scale_codes(real: FloatType, specials: bool) -> st.SearchStrategy[int]:
    usual = st.tuples(st.integers(1, 4000), st.booleans()).map(lambda p: code_of(real, Fraction(p[0], 1009), p[1]))
    even = st.integers(-8, 6).map(lambda n: code_of(real, Fraction(2) ** n, False))
    anything = st.integers(0, (1 << real.bits) - 1)
    return st.one_of(usual, usual, even, anything if specials else anything.filter(lambda code: is_finite(code, real)))


def zero_points(real: FloatType, form: DrawnProduct, kind: str) -> st.SearchStrategy[tuple[Tensor, ...]]:
    shape = (form.columns, form.blocks)
    if kind == "none":
        return st.just(())
    if kind == "real":
        quarters = st.integers(-8, 4 << form.bits).map(lambda n: code_of(real, Fraction(abs(n), 4), n < 0))
        return some(quarters).map(lambda codes: (bits(real.name, repeat(codes, math.prod(shape)), shape),))
    held = (shape[0], -(-shape[1] * form.bits // 8))
    return some(st.integers(0, 255)).map(lambda codes: (bits("uint8", repeat(codes, math.prod(held)), held),))


@dataclass(frozen=True)
class ColumnLayout:
    """The values are A, of one column, so that each gives an element; there is one weight."""

    into: int = 0

    def shapes(self, shape: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
        return {0: (*(shape or (1,)), 1), 1: (1, 1, 8), 2: (1, 1), 3: (1, 1)}


ONE_WEIGHT: dict[str, Any] = {"attributes": {"K": 1, "N": 1, "block_size": 16}}
NINES = 0x99  # two weights of 9
VALUES: tuple[Value, ...] = (1, -1, Fraction(1, 3), 10**30, Fraction(1, 1 << 149), Fraction(-7, 5), Fraction(5, 4))


def probe(
    label: str, scale: Value, point: Value, values: tuple[Value, ...] = VALUES, scanned: int = 0, kind: str = "uint8",
    constants_only: bool = False,
) -> PathProbe:  # fmt: skip
    node = ONE_WEIGHT | {"operands": [kind]}
    return PathProbe(label, node, (NINES, scale, point), values, scanned, constants_only, ColumnLayout())


PATH_PROBES = (
    probe("packed-points", STEP, 3, scanned=2),
    probe("real-points", STEP, Fraction(33, 10), kind="float32"),
    *(
        probe(f"{found.name}-packed-points", found.scale, 3, multiples(Fraction(4, 3)), constants_only=True)
        for found in scale_classes()
    ),
)


def forbidden(
    clause: str, what: str, *, a: tuple[int, ...] = (2, 16), b: tuple[int, ...] = (3, 1, 8),
    scales: tuple[int, ...] = (3, 1), points: tuple[int, ...] = (3, 1), bias: tuple[int, ...] | None = None,
    **changed: int,
) -> ForbiddenCall:  # fmt: skip
    node = {"attributes": {"K": 16, "N": 3, "block_size": 16}, "form": 0 if bias is None else 1}
    shapes = (a, b, scales, points, *(() if bias is None else (bias,)))
    return ForbiddenCall(clause, what, shapes, node, attributes=changed)


FORBIDDEN = (
    forbidden("MNB-N1", "3 bits", b=(3, 1, 6), bits=3),
    forbidden("MNB-N1", "5 bits", b=(3, 1, 10), bits=5),
    forbidden("MNB-N2", "blocks of 8", b=(3, 2, 4), scales=(3, 2), block_size=8),
    forbidden("MNB-N2", "blocks of 24", b=(3, 1, 12), block_size=24),
    forbidden("MNB-N3", "accuracy_level 5", accuracy_level=5),
    forbidden("MNB-N3", "accuracy_level -1", accuracy_level=-1),
    forbidden("MNB-S1", "half of the bytes", b=(3, 1, 4)),
    forbidden("MNB-S1", "weights of two columns for three", b=(2, 1, 8)),
    forbidden("MNB-S2", "two scales for a block", scales=(3, 2)),
    forbidden("MNB-S2", "scales without an axis of blocks", scales=(3,)),
    forbidden("MNB-S3", "an A of 17 columns", a=(2, 17)),
    forbidden("MNB-P3", "two bytes of zero points for a block", points=(3, 2)),
    forbidden("MNB-S5", "a bias of two columns for three", bias=(2,)),
    forbidden("MNB-S5", "one bias for all columns", bias=(1,)),
    forbidden("MNB-S5", "a bias of two axes", bias=(1, 3)),
    ForbiddenCall("MNB-T1", "a Y of float16", ((2, 16), (3, 1, 8), (3, 1), (3, 1)),
                  {"attributes": {"K": 16, "N": 3, "block_size": 16}}, output="float16"),
)  # fmt: skip


def points(shown: CaseWithStates, *, packed: bool) -> bool:
    found = inputs(shown).get("zero_points")
    return found is not None and (found.dtype == np.uint8) == packed


def inputs(shown: CaseWithStates) -> dict[str, Array]:
    return given(shown.case.node, shown.case.inputs)


def several(shown: CaseWithStates) -> bool:
    a = shown.case.inputs[0]
    return bool(np.any((a != 0).sum(axis=-1) > 1))


SITUATIONS: dict[str, Situation] = {
    "packed zero points": lambda shown: points(shown, packed=True),
    "zero points of A's type": lambda shown: points(shown, packed=False),
    "zero points left off": lambda shown: "zero_points" not in inputs(shown),
    BIASED: lambda shown: BIAS in inputs(shown),
    "a last block beyond K": lambda shown: bool(shown.case.node.value("K") % shown.case.node.value("block_size")),
    "several products": several,
}

TESTED = OperatorUnderTest(
    id=ID,
    plain_nodes=Absent("it multiplies by dequantized weights"),
    draw=draw,
    mistakes=MISTAKES,
    pairs=PAIRS,
    layers=packed_weights,
    path_probes=PATH_PROBES,
    axis=Axis(laid_out=True),
    forbidden_calls=FORBIDDEN,
    situations=SITUATIONS,
    semantics=AuditedSemantics(
        weight_product,
        never_elementwise,
        defaults={"K": 1, "N": 1, "block_size": 16},
        role_of=role_of_weight_product,
        silence=silence_of_level,
        as_called=as_rows_of_one,
    ),
)
