"""How many float32 inputs get another code from one arithmetic than from another, scale by scale."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tiebreak.conformance.theorems import _all_scales
from tiebreak.conformance.theorems.arithmetics import NamedArithmetic
from tiebreak.conformance.theorems.decisions import Decisions, decisions_of
from tiebreak.conformance.theorems.exponents import EVERY, SUBNORMAL, blocks_of, normal_exponents, scales_of
from tiebreak.conformance.theorems.scale_blocks import CountedScales, counted_block
from tiebreak.conformance.theorems.scale_domains import ScaleDomain
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import Array


@dataclass(frozen=True, eq=False)
class SingleCounter:
    """Counts for float32. Raises InvalidInput where an arithmetic is not modelled on the whole domain."""

    left: NamedArithmetic
    right: NamedArithmetic
    domain: ScaleDomain

    @cached_property
    def decisions(self) -> tuple[Decisions, Decisions]:
        return decisions_of(self.left, self.domain), decisions_of(self.right, self.domain)

    @cached_property
    def sides(self) -> tuple[_all_scales.Side, _all_scales.Side]:
        return side_of(self.left, self.decisions[0]), side_of(self.right, self.decisions[1])

    @cached_property
    def normal(self) -> list[int]:
        """The exponents of scales whose counts are those of scales from 1 to 2."""
        return normal_exponents(zip((self.left, self.right), self.decisions, strict=True))

    @cached_property
    def ends(self) -> list[int]:
        """The other exponents, that of the subnormal scales first."""
        return [exponent for exponent in EVERY if exponent not in self.normal]

    def check(self) -> None:
        """Raise InvalidInput if these arithmetics can't be compared on this domain."""
        for one in (self.left, self.right):
            if self.domain.ends and one.combination.scaling.of_range:
                raise InvalidInput(f"{one.name} is not defined where a range overflows: take no ends")
        if not self.normal and not self.domain.ends:
            raise InvalidInput("a decision at 0 is no multiple of the scale: take ends, too")
        _ = self.sides

    def blocks(self) -> list[int]:
        """The blocks to count: those of scales from 1 to 2, then the ends."""
        return blocks_of([0] if self.normal else []) + (blocks_of(self.ends) if self.domain.ends else [])

    def counted(self, block: int) -> CountedScales:
        scales = scales_of(block)
        return counted_block(block, self.domain.real_type, scales, _all_scales.differing(*self.sides, scales))

    @property
    def undefined(self) -> int:
        """How many scales have an infinite 1 / scale, in one of the arithmetics: 0 times it is NaN."""
        if not self.domain.ends or not any(inverts_in_single(one) for one in self.pair):
            return 0
        subnormal = np.concatenate([scales_of(block) for block in blocks_of([SUBNORMAL])])
        with np.errstate(over="ignore"):
            return int(np.isinf(np.float32(1) / subnormal.view(np.float32)).sum())

    @property
    def pair(self) -> tuple[NamedArithmetic, NamedArithmetic]:
        return self.left, self.right

    def least_inputs(self, scale: int) -> tuple[Array, Array]:
        """The least input (an ordinal) of each decision in both arithmetics, at one scale (a bit pattern)."""
        left, right = (_all_scales.least_inputs(side, scale).astype(np.int64) for side in self.sides)
        return left, right


def inverts_in_single(arithmetic: NamedArithmetic) -> bool:
    """Whether 1 / scale is rounded to float32, which overflows for the smallest scales."""
    reciprocal = arithmetic.precision == "float32" and arithmetic.scaling in ("reciprocal", "fused")
    return reciprocal or arithmetic.scaling == "narrow-reciprocal"


def side_of(arithmetic: NamedArithmetic, decisions: Decisions) -> _all_scales.Side:
    pair = arithmetic.precision, arithmetic.scaling
    if pair not in _all_scales.KINDS:
        known = ", ".join("exact" if one[0] == "exact" else f"{one[1]} in {one[0]}" for one in _all_scales.KINDS)
        raise InvalidInput(f"no theorem is about {arithmetic.name} of float32; there are {known}")
    zero_point, quantized, start, least = decisions
    added = zero_point if arithmetic.combination.scaling.fused else 0
    ends = quantized.lowest - zero_point, quantized.highest - zero_point
    return _all_scales.Side(_all_scales.KINDS[pair], added, *ends, start, least)
