"""Elements of blocks that hold NaN or an infinity, or whose scale is the least one: facets of special calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from tiebreak.conformance.semantics.cast_specials import VALUES, CastSpecial
from tiebreak.conformance.semantics.model import Facet, Probe, Value, codes
from tiebreak.conformance.semantics.special_calls import (
    NON_FINITE,
    SpecialCalls,
    non_finite_numbers,
    with_own_codes,
)
from tiebreak.conformance.semantics.stages import Ask, AtSettings, Inputs, Outputs, Run
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, IntegerType, encode_saturated
from tiebreak.golden.problem import Array

LEAST, NORMAL = Fraction(1, 2**127), Fraction(1, 2**126)  # the least E8M0, the least normal float32
PARTS = (1.0, 0.75, 0.5)  # of the block's greatest magnitude: numbers that the least scale divides
UNIT = 64  # of MXINT8
BESIDE = ("zero_beside_nan", "zero_beside_positive_infinity", "zero_beside_negative_infinity")


@dataclass(frozen=True)
class ElementProbe(Probe):
    """A call about an element: the facet that it shows, and the block's first two numbers; the second is asked.

    If it is about a scale, the block may have one number.
    """

    facet: str
    block: Array


@dataclass(frozen=True, eq=False)
class LeastDivisor:
    """`of` gives the element before it is rounded, from x / 2^-127."""

    id: str
    sentence: str
    of: Callable[[Fraction], Fraction]
    cause: str = ""


LEAST_DIVISOR = Facet(
    "least_divisor",
    (
        LeastDivisor("2^-127", "x is divided by the scale 2^-127 as by any other", lambda quotient: quotient),
        LeastDivisor(
            "2^-126",
            "where the scale is 2^-127, x is divided by 2^-126",
            lambda quotient: quotient * LEAST / NORMAL,
            "least-scale-divides-as:2^-126",
        ),
        LeastDivisor(
            "1",
            "where the scale is 2^-127, x is divided by 1",
            lambda quotient: quotient * LEAST,
            "least-scale-divides-as:1",
        ),
        LeastDivisor(
            "0", "where the scale is 2^-127, x is divided by 0: the largest element", lambda quotient: Fraction(1 << 20)
        ),
    ),
)


def element_code(value: Fraction, kind: FloatType | IntegerType) -> int:
    if isinstance(kind, FloatType):
        return encode_saturated(value, kind)
    return min(round(value * UNIT), kind.highest)


def bits_of_nan(kind: FloatType | IntegerType, negative: bool) -> int | None:
    """The exponent 128 and the first bit of the significand, as if the type had such a number."""
    if not isinstance(kind, FloatType):
        return None
    stored = kind.precision - 1
    found = ((129 - kind.emin) << stored | 1 << stored >> 1) & ((1 << kind.bits - 1) - 1)
    return found | (negative << kind.bits - 1)


def carried_bits_of_nan(kind: FloatType | IntegerType, negative: bool) -> int | None:
    found = bits_of_nan(kind, negative)
    return None if found is None else found + 1


AS_NUMBERS = (
    CastSpecial("as-number", "the low bits of NaN's exponent and significand", bits_of_nan),
    CastSpecial("as-number-up", "the low bits of NaN's exponent and significand, rounded up", carried_bits_of_nan),
)


def given_elements(name: str, kind: FloatType | IntegerType, signs: Sequence[bool]) -> Facet:
    """What a special call may give an element; a NaN may be taken for a number."""
    values = (*VALUES, *AS_NUMBERS) if "nan" in name else VALUES
    own = (tuple(value.code(kind, sign) for sign in signs) for value in values)
    return Facet(name, tuple(with_own_codes(values, own)))


@dataclass
class SpecialElements(SpecialCalls, AtSettings):
    """Elements at settings, with facets of NaN, of infinities and of the least scale.

    `shift` is the exponent of the scale that the backend gives a block of ones; None if no scale divides as another.
    """

    shift: int | None = None

    @cached_property
    def kind(self) -> FloatType | IntegerType:
        return ELEMENT_TYPES[self.node.output_type]

    @property
    def specials(self) -> tuple[Facet, ...]:
        own = (given_elements(name, self.kind, [name == NON_FINITE[2]]) for name in NON_FINITE)
        beside = (given_elements(name, self.kind, [False]) for name in BESIDE)
        return (*((LEAST_DIVISOR,) if self.least_block else ()), *own, *beside)

    @cached_property
    def least_block(self) -> list[float]:
        """A power of two whose scale is 2^-127 and parts of it; none if they are not normal numbers of x's type."""
        power = 0.0 if self.shift is None else 2.0 ** (-127 - self.shift)
        found = [power * part for part in PARTS]
        tiny = float(np.finfo(np.float32).tiny)
        return found if self.node.input_type != "float16" and min(found) >= tiny else []

    def special_probes(self) -> Iterator[Probe]:
        for x in self.least_block:
            yield self.special_probe(LEAST_DIVISOR.name, self.least_block[0], x, x / float(LEAST))
        for name, beside, value in zip(NON_FINITE, BESIDE, non_finite_numbers(), strict=True):
            yield self.special_probe(name, 1.0, value, value)
            yield self.special_probe(beside, value, 0.0, 0.0)

    def special_probe(self, facet: str, first: float, x: float, shown: float) -> Probe:
        dtype = self.node.inputs[0].dtype
        return ElementProbe(np.array([shown]).astype(dtype), (), facet, np.array([first, x]).astype(dtype))

    def special_of(self, probe: Probe) -> str:
        return probe.facet if isinstance(probe, ElementProbe) else ""

    def special_code(self, value: Value, probe: Probe) -> int:
        if isinstance(value, LeastDivisor):
            return element_code(value.of(Fraction(float(probe.x[0]))), self.kind)
        code = cast(CastSpecial, value).code(self.kind, bool(np.signbit(probe.x.astype(np.float64))[0]))
        assert code is not None
        return code


def ask_of_elements(
    ask: Ask, run: Run, call: Callable[[Array, Array], Inputs], element: Callable[[Outputs], Array]
) -> Ask:
    """Asks for special elements too. `call` lays out a block's first number and others, `element` is the second's."""

    def both(probes: Sequence[Probe]) -> list[Array | None]:
        special = [probe for probe in probes if isinstance(probe, ElementProbe)]
        found = run([call(probe.block[:1], probe.block[1:]) for probe in special])
        answers = iter(zip(special, found, strict=True))
        others = iter(ask([probe for probe in probes if not isinstance(probe, ElementProbe)]))
        return [answer(*next(answers)) if isinstance(probe, ElementProbe) else next(others) for probe in probes]

    def answer(probe: ElementProbe, outputs: Outputs | None) -> Array | None:
        """None where the least scale was asked for and another one came."""
        if outputs is None or (probe.facet == LEAST_DIVISOR.name and codes(outputs[1])[0] != 0):
            return None
        return codes(element(outputs))

    return both
