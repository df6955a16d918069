"""The fast judge: the kernel's loops over whole blocks; only inexact results are graded element by element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.sweep.look import PieceGrades
from tiebreak.golden import _kernel, kernel
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.kernels import tensors
from tiebreak.golden.operators import get_operator
from tiebreak.golden.problem import Array, codes_of
from tiebreak.golden.space import Space
from tiebreak.golden.verdicts import DEVIATES, EXACT, GRADES, UNSPECIFIED, WORKING

ONE_ROW = np.zeros(1, np.int64)


class Stretch(NamedTuple):
    """Consecutive inputs, by the number of the first, with their results."""

    at: int
    output: Array


@dataclass
class FastJudge:
    """For round(x / scale) + zero_point only; see choosing.plain_quantization.

    For either sign of x, the quotient's magnitude grows with the bit pattern. So the specified inputs are the patterns
    below a limit for each sign: infinity, or the first result out of range where the document leaves those open.
    """

    space: Space
    scale_bits: int = -1
    scale: float = 1.0
    zero_point: int = 0
    kept: dict[tuple[str, bool, int], _kernel.Parameters] = field(default_factory=dict)  # for the current scale
    limits: tuple[int, int] = (0, 0)  # first magnitude that one form leaves open, by sign
    silence: tuple[int, int] = (0, 0)  # first magnitude that both forms leave open
    solid: Array = field(default_factory=lambda: np.zeros(0, np.int8))  # one result, as often as was last needed

    @cached_property
    def kind(self) -> int:
        return kernel.KINDS[self.space.node.input_type]

    @cached_property
    def result(self) -> IntegerType:
        return self.space.node.quantized

    @cached_property
    def saturates(self) -> bool:
        return get_operator(self.space.node.operator).saturates

    @cached_property
    def half(self) -> int:
        return self.space.patterns // 2

    def look(self, at: int, output: Array, found: PieceGrades) -> None:
        for stretch in self.by_scale(at, output):
            if not self.set_scale(stretch.at):
                found.counts[UNSPECIFIED] += stretch.output.size
                continue
            left = stretch.output.size
            for begin, part in self.below_limits(stretch):
                self.look_quickly(begin, part, found)
                left -= part.size
            for begin, part in self.at_edges(stretch):
                self.grade(begin, part, found)
                left -= part.size
            found.counts[UNSPECIFIED] += left

    def look_quickly(self, at: int, output: Array, found: PieceGrades) -> None:
        """Grade element by element only pieces in which a result is neither form's; the kernel counts all others.

        Both forms must specify all of these inputs.
        """
        if output.strides == (0,) and self.exact_at_ends(at, output):
            found.counts[EXACT] += output.size
            return
        left, size = output.size, _kernel.PIECE
        pieces, working = self.deviating_pieces(at, output)
        for number in pieces:
            part = output[number * size : (number + 1) * size]
            self.grade(at + number * size, part, found)
            left -= part.size
        found.counts[WORKING] += working
        found.counts[EXACT] += left - working

    def exact_at_ends(self, at: int, output: Array) -> bool:
        """Whether one result for inputs of one sign is exact for the first and the last: then so it is between them.

        What rounds and clamps a quotient that grows never goes back.
        """
        ends = (self.deviating_pieces(at + place, output[:1]) for place in (0, output.size - 1))
        return all(end == ([], 0) for end in ends)

    def deviating_pieces(self, at: int, output: Array) -> tuple[list[int], int]:
        codes, mode = self.in_bytes(output), self.space.node.modes[0]
        forms = (self.parameters(mode, working) for working in (False, True))
        return _kernel.deviating_pieces(
            at % self.space.patterns, codes.view(np.uint8), codes.itemsize, self.kind, *forms
        )

    def grade(self, at: int, output: Array, found: PieceGrades) -> None:
        """Grade finite inputs element by element, against both forms."""
        exact, working = (self.codes(at, output.size, form) for form in (False, True))
        got, lowest, highest = output.astype(np.int64), self.result.lowest, self.result.highest
        silent_exact, silent = np.zeros((2, got.size), bool)
        if not self.saturates:
            silent_exact = (exact < lowest) | (exact > highest)
            silent = silent_exact | (working < lowest) | (working > highest)
        exact, working = np.clip(exact, lowest, highest), np.clip(working, lowest, highest)
        grades = np.where(silent, UNSPECIFIED, DEVIATES)
        grades[~silent & (got == working)] = WORKING
        grades[~silent_exact & (got == exact)] = EXACT
        found.counts += np.bincount(grades, minlength=len(GRADES))
        where = np.flatnonzero(grades == DEVIATES)
        found.add_wrong(at + where, got[where], exact[where].astype(np.int64))

    def look_at_modes(self, at: int, output: Array, found: PieceGrades) -> None:
        ends, infinity = (self.result.lowest, self.result.highest), self.space.node.real.infinity_bits
        for stretch in self.by_scale(at, output):
            if not self.set_scale(stretch.at):
                continue
            exact, working = (self.parameters("ROUND_DOWN", form, 2) for form in (False, True))
            for begin, part in self.below(stretch, (infinity, infinity)):
                codes = self.in_bytes(part)
                operands = begin % self.space.patterns, codes.view(np.uint8), codes.itemsize, self.kind, exact, working
                _kernel.count_modes(*operands, self.zero_point, *ends, not self.saturates, found.differ)

    def in_bytes(self, output: Array) -> Array:
        """The results one after the other in memory; types smaller than a byte take one too."""
        if output.strides == (0,) and output.size > 1:  # mostly the same as for the last block
            if self.solid.size < output.size or self.solid[0] != output[0]:
                self.solid = output.copy()
            output = self.solid[: output.size]
        return output if self.result.bits >= 8 else output.astype(np.int8)

    def set_scale(self, at: int) -> bool:
        """Take the scale and zero point of input number `at`; False if the scale is zero, infinite or NaN."""
        bits = self.space.scale_bits(at)
        if bits != self.scale_bits:
            scale, *rest = self.space.other_inputs(at)
            self.scale_bits = bits
            self.scale = float(tensors.doubles(codes_of(scale).reshape(-1), self.space.node.real)[0])
            self.zero_point = int(codes_of(rest[0]).reshape(-1)[0]) if rest else 0
            self.kept.clear()
            infinity = self.space.node.real.infinity_bits
            self.limits = self.silence = infinity, infinity
            if self.defined() and not self.saturates:
                start = at - at % self.space.patterns
                both = [self.limits_of(zero) for zero in (start, start + self.half)]
                self.limits, self.silence = (min(both[0]), min(both[1])), (max(both[0]), max(both[1]))
        return self.defined()

    def defined(self) -> bool:
        return bool(np.isfinite(self.scale)) and self.scale != 0.0

    def limits_of(self, start: int) -> tuple[int, int]:
        """The first magnitude out of range in each form, by bisection; `start` is the number of the zero input."""
        found = []
        for working in (False, True):
            inside, outside = 0, self.space.node.real.infinity_bits
            while outside - inside > 1:
                middle = (inside + outside) // 2
                inside, outside = (middle, outside) if self.in_range(start + middle, working) else (inside, middle)
            found.append(outside)
        return found[0], found[1]

    def in_range(self, at: int, working: bool) -> bool:
        return self.result.lowest <= int(self.codes(at, 1, working)[0]) <= self.result.highest

    def codes(self, at: int, size: int, working: bool) -> Array:
        """The node's results, clamped to one beyond the range, which stands for all that are out of range."""
        parameters = self.parameters(self.space.node.modes[0], working, 1)
        x = codes_of(self.space.first_input(at, size)).reshape(-1)
        out = np.empty(size, np.int64 if parameters.wide else np.int32)
        _kernel.round_quotients(x, self.kind, parameters, out, ONE_ROW, False)
        return out

    def parameters(self, mode: str, working: bool, beyond: int = 0) -> _kernel.Parameters:
        """The kernel loops' parameters; results are clamped to the type's range widened by `beyond` at both ends."""
        key = mode, working, beyond
        if key not in self.kept:
            scale, zero_point = np.array([self.scale]), np.array([self.zero_point], np.int64)
            lowest, highest = self.result.lowest - beyond, self.result.highest + beyond
            wide = working and self.parameters(mode, False, beyond).wide  # count_modes wants both alike
            number = kernel.MODES.index(mode)
            self.kept[key] = _kernel.Parameters(scale, zero_point, wide, number, working, lowest, highest)
        return self.kept[key]

    def by_scale(self, at: int, output: Array) -> Iterator[Stretch]:
        size = self.space.patterns if self.space.every_scale else max(1, output.size)
        for start in range(0, output.size, size):
            yield Stretch(at + start, output[start : start + size])

    def below_limits(self, stretch: Stretch) -> Iterator[Stretch]:
        return self.below(stretch, self.limits)

    def at_edges(self, stretch: Stretch) -> Iterator[Stretch]:
        """The parts that only one of the two forms specifies."""
        return self.between(stretch, self.limits, self.silence)

    def below(self, stretch: Stretch, limits: tuple[int, int]) -> Iterator[Stretch]:
        return self.between(stretch, (0, 0), limits)

    def between(self, stretch: Stretch, lower: tuple[int, int], upper: tuple[int, int]) -> Iterator[Stretch]:
        """The parts of a stretch with magnitudes from `lower` to below `upper`, for each sign."""
        first = stretch.at % self.space.patterns
        for sign, low, high in zip((0, self.half), lower, upper, strict=True):
            begin, end = max(first, sign + low), min(first + stretch.output.size, sign + high)
            if begin < end:
                yield Stretch(stretch.at + begin - first, stretch.output[begin - first : end - first])
