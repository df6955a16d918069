"""Scales of 8 bits that end below: a facet `least`, and what zeros, NaN and infinities give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from tiebreak.conformance.semantics.around_settings import AroundSettings
from tiebreak.conformance.semantics.block_element_specials import ElementProbe
from tiebreak.conformance.semantics.cast_specials import VALUES, CastSpecial
from tiebreak.conformance.semantics.model import Candidates, Facet, Probe, Semantics
from tiebreak.conformance.semantics.special_calls import (
    NON_FINITE,
    non_finite_numbers,
    with_own_codes,
)
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType
from tiebreak.golden.problem import Array

ZERO_BLOCK = "zero_block"


@dataclass(frozen=True, eq=False)
class LeastScale:
    """`code` is the least code that a scale has."""

    id: str
    sentence: str
    code: int
    cause: str = ""


NONE = LeastScale("none", "a scale may be as small as the type has it, and 0", 0)
NORMAL = LeastScale("2^-6", "no scale is below 2^-6, the least normal number", 8, "scale-at-least:2^-6")
POSITIVE = LeastScale("2^-9", "no scale is below 2^-9, so that none is 0", 1, "scale-at-least:2^-9")
LEAST = Facet("least", (NONE, NORMAL, POSITIVE))


def scale_of(code: int, id: str, sentence: str) -> CastSpecial:
    return CastSpecial(id, sentence, lambda kind, negative: code)


SCALES = (*VALUES, scale_of(8, "2^-6", "the scale is 2^-6"), scale_of(1, "2^-9", "the scale is 2^-9"),
          scale_of(56, "one", "the scale is 1"))  # fmt: skip


@dataclass
class ScalesWithLeast(AroundSettings):
    """The table of scales at settings, each of whose combinations may have a least scale."""

    @property
    def facets(self) -> tuple[Facet, ...]:
        return (*self.inner.facets, LEAST)

    @property
    def documented(self) -> Semantics:
        return (*self.inner.documented, NONE)

    @property
    def candidates(self) -> Candidates:
        return self.combinations

    @cached_property
    def combinations(self) -> Candidates:
        """A least scale hides subnormal ones: with it they are kept."""
        plain = self.inner.candidates.all
        names = [facet.name for facet in self.inner.facets]
        place = names.index("output_subnormals")
        kept = [one for one in plain if one[place].id == "kept"]
        ends = ((*one, end) for one in kept for end in (NORMAL, POSITIVE))
        return Candidates(self.facets, (*((*one, NONE) for one in plain), *ends))

    def completed(self, semantics: Semantics) -> Semantics:
        return (*self.inner.completed(semantics[:-1]), semantics[-1])

    def staged(self, probe: Probe, semantics: Sequence[Semantics]) -> Iterator[tuple[Array, Array]]:
        found = self.inner.staged(probe, [one[:-1] for one in semantics])
        for one, (codes, stages) in zip(semantics, found, strict=True):
            end = cast(LeastScale, one[-1]).code
            yield np.where(codes >= 0, np.maximum(codes, end), codes), stages

    @cached_property
    def kind(self) -> FloatType:
        kind = ELEMENT_TYPES[self.node.output_type]
        assert isinstance(kind, FloatType)
        return kind

    @property
    def specials(self) -> tuple[Facet, ...]:
        own = tuple(with_own_codes(SCALES, [(one.code(self.kind, False),) for one in SCALES]))
        return tuple(Facet(name, own) for name in (ZERO_BLOCK, *NON_FINITE))

    def special_probes(self) -> Iterator[Probe]:
        for name, value in zip((ZERO_BLOCK, *NON_FINITE), (0.0, *non_finite_numbers()), strict=True):
            x = np.array([value]).astype(self.node.inputs[0].dtype)
            yield ElementProbe(x, (), name, x)
