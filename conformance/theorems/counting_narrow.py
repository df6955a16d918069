"""The same for float16 and bfloat16: every scale, and the least inputs by halving, with the audit's own arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tiebreak.conformance.semantics.quantize_facets import UpToRounding
from tiebreak.conformance.theorems.arithmetics import NamedArithmetic
from tiebreak.conformance.theorems.decisions import CodeSetting, exact_decisions, setting_of
from tiebreak.conformance.theorems.scale_blocks import CountedScales, counted_block
from tiebreak.conformance.theorems.scale_domains import ScaleDomain
from tiebreak.golden.elements import INTEGER_TYPES, numpy_dtype
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.problem import Array

BLOCK = 1 << 11  # scales


@dataclass(frozen=True, eq=False)
class NarrowCounter:
    """Counts for float16 and bfloat16, every scale alike. Raises InvalidInput for what is not defined everywhere."""

    left: NamedArithmetic
    right: NamedArithmetic
    domain: ScaleDomain

    @property
    def normal(self) -> list[int]:
        return []

    @property
    def pair(self) -> tuple[NamedArithmetic, NamedArithmetic]:
        return self.left, self.right

    @cached_property
    def settings(self) -> tuple[CodeSetting, CodeSetting]:
        return setting_of(self.left, self.domain), setting_of(self.right, self.domain)

    def check(self) -> None:
        """Raise InvalidInput if these arithmetics can't be compared on this domain."""
        for one in self.pair:
            if one.combination.scaling.of_range:
                raise InvalidInput(f"{one.name} is not defined where a range overflows")
        _ = self.settings

    def blocks(self) -> list[int]:
        return list(range(-(-self.domain.real_type.infinity_bits // BLOCK)))

    def scales_of(self, block: int) -> Array:
        """The bit patterns of a block's positive finite scales."""
        first = max(block * BLOCK, 1)
        return np.arange(first, min((block + 1) * BLOCK, self.domain.real_type.infinity_bits), dtype=np.uint32)

    def counted(self, block: int) -> CountedScales:
        real, scales = self.domain.real_type, self.scales_of(block)
        left, right = (self.least_table(side, scales) for side in (0, 1))
        return counted_block(block, real, scales, differing_inputs(left, right).astype(np.uint32))

    @property
    def undefined(self) -> int:
        """How many scales have an infinite 1 / scale, in one of the arithmetics: 0 times it is NaN."""
        scales = np.concatenate([self.scales_of(block) for block in self.blocks()])
        return int(np.logical_or(*(self.no_inverse(one, scales) for one in self.pair)).sum())

    def no_inverse(self, arithmetic: NamedArithmetic, scales: Array) -> Array:
        if arithmetic.precision == "exact" or arithmetic.scaling == "divide":
            return np.zeros(scales.shape, bool)
        zeros = np.zeros(scales.shape, np.int64)
        value = argument(arithmetic, self.input_of(zeros), self.input_of(scales), CodeSetting(0, INT16, zeros))
        return np.isnan(value)

    def least_inputs(self, scale: int) -> tuple[Array, Array]:
        """The least input (an ordinal) of each decision in both arithmetics, at one scale (a bit pattern)."""
        left, right = (self.least_table(side, np.array([scale], np.uint32))[0] for side in (0, 1))
        return left, right

    def least_table(self, side: int, scales: Array) -> Array:
        """The least inputs (ordinals, int64) of each decision (columns) at each scale (rows), by halving."""
        arithmetic, setting, rows = self.pair[side], self.settings[side], scales.size
        scale = np.repeat(self.input_of(scales), setting.codes.size)
        if arithmetic.combination.precision.is_exact:
            start, more = exact_decisions(arithmetic.combination, setting.codes, setting.zero_point)
            # Exact in float64: at most 18 and 11 bits.
            at, inclusive = np.tile(start, rows) * scale.astype(np.float64), np.tile(more == 0, rows)
            return self.halved(rows, lambda x: (x > at) | ((x == at) & inclusive))
        codes = np.tile(setting.codes, rows)
        return self.halved(rows, lambda x: passes_input(arithmetic, x, scale, setting._replace(codes=codes)))

    def halved(self, rows: int, passes: Callable[[Array], Array]) -> Array:
        """The least inputs that pass, in so many rows; an ordinal beyond infinity where none does."""
        shape = rows, self.settings[0].codes.size
        low = np.full(shape[0] * shape[1], -self.domain.real_type.infinity_bits - 1)
        high = -low
        while (high - low > 1).any():
            middle = (low + high) // 2
            passing = passes(self.input_of(middle))
            low, high = np.where(passing, low, middle), np.where(passing, middle, high)
        return np.asarray(high.reshape(shape))

    def input_of(self, counted: Array) -> Array:
        """The inputs that ordinals count; NaN beyond infinity."""
        bits = np.where(counted < 0, -counted.astype(np.int64) | 1 << 15, counted).astype(np.uint16)
        return np.asarray(bits.view(numpy_dtype(self.domain.real)))


INT16 = INTEGER_TYPES["int16"]


def passes_input(arithmetic: NamedArithmetic, x: Array, scale: Array, setting: CodeSetting) -> Array:
    """Whether each input's code, before it is clamped, is more than a code. Not for an exact quotient."""
    combination = arithmetic.combination
    value = argument(arithmetic, x, scale, setting)
    before, after = combination.zero_point.before_and_after(np.asarray(setting.zero_point))
    value = np.where(np.isnan(value) & (x == 0), before, value)  # as at scales whose inverse is finite
    with np.errstate(all="ignore"):
        return np.asarray(combination.round_mode.round(value, combination.precision) + after > setting.codes)


def argument(arithmetic: NamedArithmetic, x: Array, scale: Array, setting: CodeSetting) -> Array:
    """The argument of round (float64)."""
    combination = arithmetic.combination
    up_to_rounding = UpToRounding(*combination[:4])
    added, _ = up_to_rounding.before_and_after(np.asarray(setting.zero_point), setting.quantized)
    with np.errstate(all="ignore"):
        return up_to_rounding.argument(x, scale, added, setting.quantized)


def differing_inputs(left: Array, right: Array) -> Array:
    """The number of inputs in each row between the least inputs of some decision, where neighbours may overlap."""
    low, high = np.minimum(left, right), np.maximum(left, right)
    ends = np.maximum.accumulate(high, axis=1)
    before = np.concatenate((low[:, :1], ends[:, :-1]), axis=1)
    return np.asarray(np.maximum(high - np.maximum(low, before), 0).sum(axis=1))
