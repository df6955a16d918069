"""Judges the answers of a block of a sweep of every scale: which inputs differ, and which thresholds have moved."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tiebreak.adapters.sweeping import BlockAnswer
from tiebreak.conformance.sweep.scale_blocks import ScaleBlock
from tiebreak.golden import kernel, oracle
from tiebreak.golden._thresholds import grade_asked
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.errors import MachineryFailed, NotMonotone
from tiebreak.golden.problem import Array, Quantization
from tiebreak.golden.rounding import EVEN
from tiebreak.golden.scale_space import LinePart, ScalePart, ScaleSpace
from tiebreak.golden.thresholds import asked_of, columns, exact_row, lie_apart

SAMPLED = 64  # scales on which the judge is compared with the reference kernel, and a few with the oracle
BY_ORACLE = 256  # inputs
MOST_PARTS = 16


@dataclass(frozen=True)
class Moved:
    """The scales of a block with wrong answers, these scales' answers (a row of codes each), how many are wrong."""

    scales: Array
    codes: Array
    wrong: Array

    def some(self, which: Array) -> Moved:
        """Some scales of them, by number."""
        return Moved(*(np.ascontiguousarray(array[which]) for array in (self.scales, self.codes, self.wrong)))


NONE_MOVED = Moved(*np.empty((3, 0), np.uint32))


@dataclass(frozen=True)
class Judged:
    """A block without its checksum, what of it needs more questions, and the results that the checksum is of."""

    block: ScaleBlock
    moved: Moved
    telling: Array


@dataclass
class ScaleJudge:
    """Judges blocks of one space; its own rule is compared with the reference kernel and the oracle first."""

    space: ScaleSpace
    exact: Array = field(init=False)
    low: Array = field(init=False)  # all codes in order, of the output's type

    def __post_init__(self) -> None:
        space = self.space
        self.exact = exact_row(space.first_step, space.result.lowest, space.codes)
        self.low = (np.arange(space.codes) + space.result.lowest).astype(space.node.outputs[0].dtype)
        self.check_itself()

    def judge(self, answer: BlockAnswer) -> Judged:
        """The block and what of it needs more questions. NotMonotone if results go back."""
        space = self.space
        scales = space.scales_in(answer.block)
        if isinstance(space.part_of(answer.block), LinePart):
            self.check_line(answer)
            block = ScaleBlock(answer.block, asked=answer.output.size, seconds=answer.seconds)
            return Judged(block, NONE_MOVED, answer.output)
        codes = np.ascontiguousarray(answer.output).reshape(scales.size, -1)
        plain = lie_apart(scales, space.first_step, space.codes)
        wrong, working = self.graded(scales, codes, plain)
        at = np.flatnonzero(wrong)
        block = ScaleBlock(
            answer.block,
            scales=scales.size,
            asked=codes.size,
            working=working,
            wrong=int(wrong.sum()),
            differing=at.size,
            seconds=answer.seconds,
        )
        return Judged(block, Moved(scales[at], codes[at], wrong[at]), self.telling(codes, plain & (wrong == 0)))

    def telling(self, codes: Array, right: Array) -> Array:
        """The results that a checksum is of, as bytes: of `right` scales the middle ones alone. All others are certain.

        So a checksum takes less time than the backend.
        """
        steps = self.space.codes - 1
        if right.all():
            return np.ascontiguousarray(codes[:, steps : 2 * steps]).reshape(-1).view(np.uint8)
        middle = codes[right, steps : 2 * steps]
        others = np.flatnonzero(~right)
        parts = (middle, codes[others], others)
        return np.concatenate([np.ascontiguousarray(part).reshape(-1).view(np.uint8) for part in parts])

    def graded(self, scales: Array, codes: Array, plain: Array) -> tuple[Array, int]:
        """For each scale the number of wrong answers; in all, the number of answers of working precision alone.

        `plain` are the scales whose thresholds lie apart.
        """
        wrong, working = np.zeros(scales.size, np.uint32), 0
        if plain.all():
            return wrong, self.grade_plain(scales, codes, wrong)
        for some, grade in ((plain, self.grade_plain), (~plain, self.grade_others)):
            found = np.zeros(int(some.sum()), np.uint32)
            working += grade(np.ascontiguousarray(scales[some]), np.ascontiguousarray(codes[some]), found)
            wrong[some] = found
        return wrong, working

    def grade_plain(self, scales: Array, codes: Array, wrong: Array) -> int:
        word = f"u{codes.dtype.itemsize}"
        return grade_asked(scales, codes.view(word), self.low.view(word), self.space.first_step, wrong)

    def grade_others(self, scales: Array, codes: Array, wrong: Array) -> int:
        """The same for scales whose thresholds are too close, or beyond the greatest x: by the reference kernel."""
        if not scales.size:
            return 0
        problem = self.problem(scales, asked_of(scales, self.space.first_step, self.space.codes))
        exact, working = (kernel.quantize(problem, working=form)[0] for form in (False, True))
        wrong[:] = ((codes != exact) & (codes != working)).sum(axis=1)
        return int(((codes != exact) & (codes == working)).sum())

    def problem(self, scales: Array, x: Array) -> Quantization:
        """The quantization of a row of x (bit patterns) for each scale (bit patterns)."""
        zero_points = np.full(scales.size, self.space.zero_point, np.int64)
        return Quantization(FLOAT_TYPES["float32"], self.space.result, EVEN, (0,), x, scales, zero_points)

    def check_line(self, answer: BlockAnswer) -> None:
        """NotMonotone if the results of consecutive x go back."""
        codes = answer.output
        if codes.strides == (0,):
            return
        back = np.flatnonzero(codes[1:] < codes[:-1])
        if back.size:
            first, _ = self.space.line_ends(answer.block)
            scale = int(self.space.scales_in(answer.block)[0])
            at = int(back[0])
            raise went_back(scale, first + at, int(codes[at]), first + at + 1, int(codes[at + 1]))

    def check_itself(self) -> None:
        """MachineryFailed if the rule by which this judges disagrees with the reference kernel or the oracle."""
        scaled = [part for part in self.space.parts if isinstance(part, ScalePart)]
        for part in scaled[:: max(1, len(scaled) // MOST_PARTS)]:
            at = np.unique(np.linspace(0, part.size - 1, SAMPLED).astype(np.int64))
            scales = (part.first + part.step * at).astype(np.uint32)
            scales = scales[lie_apart(scales, self.space.first_step, self.space.codes)]
            if scales.size:
                self.check_rule(scales)

    def check_rule(self, scales: Array) -> None:
        width = columns(self.space.codes)
        scales = scales[:: max(1, width // 1024)]  # of 16 bits, fewer
        x = asked_of(scales, self.space.first_step, self.space.codes)
        problem, wrong = self.problem(scales, x), np.zeros(scales.size, np.uint32)
        exact, working = (kernel.quantize(problem, working=form)[0] for form in (False, True))
        dtype = self.space.node.outputs[0].dtype
        found = self.grade_plain(scales, working.astype(dtype), wrong)
        agrees = (exact == self.exact).all() and not wrong.any() and found == int((exact != working).sum())
        places = np.random.default_rng(0).integers(0, x.size, BY_ORACLE)
        asked = problem.some(places)
        truths = oracle.solve(asked, working=False)[0]
        if not (agrees and np.array_equal(truths, exact.reshape(-1)[places])):
            raise MachineryFailed("two ways to judge a sweep of every scale disagree; one of them is wrong")


def went_back(scale: int, lower: int, got: int, upper: int, then: int) -> NotMonotone:
    """What to say of two inputs, given by their places."""
    return NotMonotone(
        f"not monotone: with scale {number_of(scale)}, x = {number_at(lower)} gives {got} and the greater x = "
        f"{number_at(upper)} gives {then}; one of them is wrong, and thresholds would say nothing of what is between"
    )


def number_of(bits: int) -> str:
    return f"{np.uint32(bits).view(np.float32)!s} (0x{bits:08x})"


def number_at(place: int) -> str:
    return number_of(place if place >= 0 else 0x80000000 - place)
