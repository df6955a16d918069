"""The judge of steps: of a run of inputs with one right answer and one result, only an end is solved.

Where all that an operator does to its first input is monotone, the right answers to consecutive inputs are steps: if
they are equal at both ends of a stretch, they are equal between. So the kernel is asked for the ends of stretches,
which are halved until nothing changes inside, once for all blocks. A backend's results have runs, too. Every run that
has one right answer and one result, right or wrong, is judged by its first input. A block with too many runs is solved
input by input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.judging.other_order import has_orders
from tiebreak.conformance.operators import TESTED
from tiebreak.conformance.sweep.look import PieceGrades, WrongRuns
from tiebreak.conformance.sweep.orders import cut_by_orders
from tiebreak.conformance.sweep.solving import SolvingJudge, judged
from tiebreak.golden import kernel
from tiebreak.golden.elements import FloatType
from tiebreak.golden.errors import MachineryFailed
from tiebreak.golden.problem import Array, Elementwise, codes_of, kind_of
from tiebreak.golden.space import Space
from tiebreak.golden.verdicts import DEVIATES, GRADES

MOST_RUNS = 1 << 16  # of a block, and steps of all inputs; with more, inputs are solved one by one
CHECKED = 1 << 6  # inputs of a block's size, evenly spread, that are solved all the same
AT_ONCE = 1 << 14  # of these
STRETCHES = 128  # that all patterns are cut into, so that none has two ranges of which the document says nothing


@dataclass
class StepJudge:
    """For nodes of which OperatorUnderTest.monotone holds, in a space with one scale.

    `known` has the steps of all inputs by modes, None if there are too many; then each block's are found by themselves.
    """

    space: Space
    solving: SolvingJudge
    known: dict[tuple[str, ...], Array | None] = field(default_factory=dict)

    @cached_property
    def fixed(self) -> Array:
        problem = self.solving.case_and_problem(np.zeros(1, np.int64))[1]
        alone = TESTED[self.space.node.operator].only_answers(problem) if isinstance(problem, Elementwise) else ()
        return fixed_cuts(self.space, alone)

    def look(self, at: int, output: Array, found: PieceGrades) -> None:
        firsts = self.runs(at, output, self.solving.modes)
        if firsts is None:
            self.solving.look(at, output, found)
            return
        firsts = self.cut(firsts, at, output, self.solving.modes)
        truths, lengths = self.solving.truths(firsts, self.solving.modes), np.diff(firsts, append=at + output.size)
        judgement = judged(output[firsts - at], truths)
        found.counts += np.bincount(judgement.grades, lengths, len(GRADES)).astype(np.int64)
        if (wrong := judgement.grades == DEVIATES).any():
            first, last, codes = firsts[wrong], (firsts + lengths - 1)[wrong], judgement.values[wrong]
            found.wrong.append(WrongRuns(first, last, codes, truths.judged_by.exact[wrong]))

    def look_at_modes(self, at: int, output: Array, found: PieceGrades) -> None:
        if not self.space.node.modes:
            return
        firsts = self.runs(at, output, kernel.MODES)
        if firsts is None:
            self.solving.look_at_modes(at, output, found)
            return
        for place, mode in enumerate(kernel.MODES):
            cut = self.cut(firsts, at, output, (mode,))
            lengths, grades = np.diff(cut, append=at + output.size), self.grades(cut, at, output, (mode,))
            found.differ[place] += lengths[grades == DEVIATES].sum()

    def cut(self, firsts: Array, at: int, output: Array, modes: Sequence[str]) -> Array:
        """The runs, cut so that each has one grade where the document leaves the order of its steps open."""
        if not self.has_orders:
            return firsts
        return cut_by_orders(firsts, at + output.size, lambda numbers: self.grades(numbers, at, output, modes))

    @cached_property
    def has_orders(self) -> bool:
        return has_orders(self.solving.case_and_problem(np.zeros(1, np.int64))[1])

    def grades(self, numbers: Array, at: int, output: Array, modes: Sequence[str]) -> Array:
        return judged(output[numbers - at], self.solving.truths(numbers, modes)).grades

    def runs(self, at: int, output: Array, modes: Sequence[str]) -> Array | None:
        """The first input of each run that has one right answer in each mode and one result; None if there are many."""
        changes = changes_of(output)
        steps = self.steps(at, output.size, modes) if changes.size <= MOST_RUNS else None
        return None if steps is None else np.union1d(steps, at + changes)

    def steps(self, at: int, size: int, modes: Sequence[str]) -> Array | None:
        """The first input of each run that has one right answer in each mode, sorted; None if there are too many."""
        if (key := tuple(modes)) not in self.known:
            self.known[key] = self.found_steps(0, self.space.inputs, modes)
        whole = self.known[key]
        if whole is None:
            return self.found_steps(at, size, modes)
        first, end = np.searchsorted(whole, [at + 1, at + size])
        return np.concatenate([[at], whole[first:end]])

    def found_steps(self, at: int, size: int, modes: Sequence[str]) -> Array | None:
        steps = self.halved_steps(at, size, modes)
        if steps is not None:
            self.check(at, size, steps, modes)
        return steps

    def halved_steps(self, at: int, size: int, modes: Sequence[str]) -> Array | None:
        """The steps that halving finds: where the right answers are not monotone, some of them."""
        low, high = self.ends(at, size)
        found = [low]
        left = Stretches(low, high, self.answers(low, modes), self.answers(high, modes)).changing()
        while left.low.size:
            if left.low.size > MOST_RUNS:
                return None
            middle = (left.low + left.high) // 2
            halves = left.halved(middle, self.answers(middle, modes)).changing()
            narrow = halves.high - halves.low == 1
            found.append(halves.high[narrow])
            left = halves.only(~narrow)
        return np.sort(np.concatenate(found))

    def check(self, at: int, size: int, steps: Array, modes: Sequence[str]) -> None:
        """MachineryFailed if an input of the sample has another right answer than the step that it is on."""
        count = CHECKED * max(1, size // self.space.block)
        for sample in np.array_split(np.linspace(at, at + size - 1, count).astype(np.int64), -(-count // AT_ONCE)):
            begins = steps[np.searchsorted(steps, sample, "right") - 1]
            if not np.array_equal(self.answers(sample, modes), self.answers(begins, modes)):
                raise MachineryFailed(f"{self.space.node.operator}: a sweep's steps are not the kernel's results")

    def answers(self, numbers: Array, modes: Sequence[str]) -> Array:
        """All that is right about these inputs: a column for each."""
        rows: list[Array] = []
        for truth in self.solving.truths(numbers, modes).by_mode.values():
            rows += truth.exact, truth.working, truth.exact_specified, truth.working_specified, truth.zero
        return np.stack([row.astype(np.int64) for row in rows])

    def ends(self, at: int, size: int) -> tuple[Array, Array]:
        """The first and the last input of each stretch of a block."""
        start = at % self.space.patterns
        inside = self.fixed[(self.fixed > start) & (self.fixed < start + size)]
        firsts = np.concatenate([[start], inside]) - start + at
        return firsts, np.append(firsts[1:], at + size) - 1


class Stretches(NamedTuple):
    """Stretches of inputs: the first and the last of each, and the answers there, a column for each."""

    low: Array
    high: Array
    below: Array
    above: Array

    def only(self, kept: Array) -> Stretches:
        return Stretches(self.low[kept], self.high[kept], self.below[:, kept], self.above[:, kept])

    def changing(self) -> Stretches:
        """Those with another answer at the end than at the beginning."""
        return self.only((self.below != self.above).any(axis=0))

    def halved(self, middle: Array, amid: Array) -> Stretches:
        """The stretches from each beginning to the middle and from the middle to each end."""
        low, high = np.concatenate([self.low, middle]), np.concatenate([middle, self.high])
        return Stretches(low, high, np.hstack([self.below, amid]), np.hstack([amid, self.above]))


def fixed_cuts(space: Space, alone: Sequence[int]) -> Array:
    """Patterns at which a stretch begins.

    At each sign's zero, infinity and first NaN; at the values of other inputs and next to them, where a formula may
    take another branch; at STRETCHES places. Also at integers that `alone` have an answer, and next to them.
    """
    half, first = space.patterns // 2, space.first
    found = list(range(0, space.patterns, max(1, space.patterns // STRETCHES)))
    found += [(value + beyond) % space.patterns for value in alone for beyond in (0, 1)]
    if isinstance(first, FloatType):
        found += [sign + first.infinity_bits + beyond for sign in (0, half) for beyond in (0, 1)]
    for other in space.others:
        if kind_of(other) == first:
            codes = codes_of(other).reshape(-1).tolist()
            found += [(code + beyond) % space.patterns for code in codes for beyond in (0, 1)]
    return np.unique(np.array(found, np.int64))


def changes_of(output: Array) -> Array:
    """The places of results with other bits than the one before."""
    if output.strides == (0,):
        return np.zeros(0, np.int64)
    words = output.view(f"uint{8 * output.itemsize}")
    return np.flatnonzero(words[1:] != words[:-1]) + 1
