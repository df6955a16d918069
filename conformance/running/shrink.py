"""Cuts a case down to the fewest elements that still show a discrepancy, by running the backend again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiebreak.adapters.outcome import Outcome
from tiebreak.conformance.judging.judge import codes_of_outputs, output_problem
from tiebreak.conformance.judging.truths import truths_of
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.problems import problems_of

MOST_CALLS = 60


class ShrunkCase(NamedTuple):
    """A case, the flat index of the wrong element of its first output, and the code that the backend gave."""

    case: Case
    place: int
    got: int


def shrink(run: Callable[[Case], Outcome], start: ShrunkCase) -> ShrunkCase:
    """The smallest case found. Each step keeps one index of an axis, or the half of the axis that holds the element.

    Parameters that vary along an axis are cut with it. A smaller case is kept only if the element still has the same
    wrong code.
    """
    best, calls = start, 0
    smaller = True
    while smaller and calls < MOST_CALLS:
        smaller = False
        for candidate in smaller_cases(best):
            calls += 1
            if calls > MOST_CALLS:
                break
            if same_result(run, candidate):
                best, smaller = candidate, True
                break
    return best


def smaller_cases(shown: ShrunkCase) -> Iterator[ShrunkCase]:
    """Smaller cases with the element: first those that keep one index of an axis, then those that keep a half."""
    shape = shown.case.shape
    place = np.unravel_index(shown.place, shape) if shape else ()
    for whole in (True, False):
        for axis, size in enumerate(shape):
            if size > 1 and (whole or size > 3):
                at = int(place[axis])
                first, last = (at, at + 1) if whole else half_with(at, size)
                yield from cut_axis(shown, axis, first, last, tuple(map(int, place)))


def half_with(at: int, size: int) -> tuple[int, int]:
    return (0, (size + 1) // 2) if at < (size + 1) // 2 else (size // 2, size)


def cut_axis(shown: ShrunkCase, axis: int, first: int, last: int, place: tuple[int, ...]) -> Iterator[ShrunkCase]:
    """The case with only the indices first … last - 1 of an axis; with parameters whole, then cut like the axis."""
    case, size, rank = shown.case, shown.case.shape[axis], len(shown.case.shape)
    wanted = tuple(last - first if i == axis else length for i, length in enumerate(case.shape))
    moved = tuple(p - first if i == axis else p for i, p in enumerate(place))
    index = int(np.ravel_multi_index(moved, wanted))
    x, *rest = (cut_at(array, axis - rank, size, first, last) for array in case.inputs)
    ways = [(x, *case.inputs[1:])]
    if not case.node.baked:
        ways += [(x, *(cut_along(array, size, first, last) for array in case.inputs[1:])), (x, *rest)]
    for inputs in ways:
        candidate = replace(case, id=f"{case.id}/shrunk", inputs=inputs, expected=None)
        try:
            same = [problem.shape for problem in problems_of(candidate)][:1] == [wanted]
        except (InvalidInput, ValueError, IndexError):
            continue
        if same:
            yield ShrunkCase(candidate, index, shown.got)


def cut_at(array: Array, axis: int, size: int, first: int, last: int) -> Array:
    """An array cut on an axis, counted from the last, if it has one of this size there: as arrays broadcast."""
    if array.ndim < -axis or array.shape[axis] != size:
        return array
    return np.ascontiguousarray(np.take(array, range(first, last), axis))


def cut_along(array: Array, size: int, first: int, last: int) -> Array:
    """An array cut to the indices first … last - 1 of its first axis of this size; unchanged if it has no such axis."""
    axis = next((i for i, length in enumerate(array.shape) if length == size), None)
    return array if axis is None else np.ascontiguousarray(np.take(array, range(first, last), axis))


def same_result(run: Callable[[Case], Outcome], shown: ShrunkCase) -> bool:
    """Whether the element still has the same wrong code."""
    outcome = run(shown.case)
    if outcome.status != "ok":
        return False
    truths = truths_of(shown.case)
    if output_problem(shown.case, outcome.outputs, truths.problems):
        return False
    values = codes_of_outputs(truths.problems, outcome.outputs, truths.judged_by)
    right = truths.allowed_codes(shown.place)
    return int(values[shown.place]) == shown.got and shown.got not in right
