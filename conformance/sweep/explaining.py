"""Causes of a sweep's mismatches: the ends of intervals and their neighbours run as cases of an ordinary run.

A false cause may give every element that deviates. What refutes it are elements that conform. So decision boundaries,
where the right answer changes, are run beside the intervals. They are run in no order: a sweep's own lists numbers by
their sign, and a cause that reads a place in an array would stand for a sign.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from tiebreak.conformance.running.backends import run_cases
from tiebreak.conformance.sweep.intervals import Interval
from tiebreak.conformance.sweep.solving import SolvingJudge
from tiebreak.conformance.sweep.steps import StepJudge
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.space import Space
from tiebreak.reports.rows import discrepancy_rows

MOST_SCALES = 50
MOST_BOUNDARIES = 1024  # of a scale
SEED = 1  # any: each time the same order
NOT_REPEATED = "another answer in another array"


def causes_of_intervals(spec: str, space: Space, intervals: Sequence[Interval], memory_limit: int) -> dict[int, str]:
    """The cause of each interval, by the number of its first input; both causes if its ends have different ones."""
    by_scale: dict[int, list[Interval]] = defaultdict(list)
    for interval in intervals:
        by_scale[interval.first // space.patterns].append(interval)
    found: dict[int, str] = {}
    cases, numbers = [], []
    for scale, own in list(by_scale.items())[:MOST_SCALES]:
        asked = np.union1d(numbers_around(space, scale, own), numbers_at_boundaries(space, scale))
        numbers.append(np.random.default_rng(SEED).permutation(asked))
        inputs = space.first_inputs(numbers[-1]), *space.other_inputs(int(numbers[-1][0]))
        cases.append(Case(f"sweep/{scale}", space.node, inputs))
    records = run_cases([spec], cases, time_limit=120.0, memory_limit=memory_limit, facts={})
    named = {(row["case"], row["index"]): row["cause"] for row in discrepancy_rows(records.discrepancies)}
    for case, at in zip(cases, numbers, strict=True):
        places = {int(number): i for i, number in enumerate(at)}
        for interval in by_scale[int(at[0]) // space.patterns]:
            ends = [named.get((case.id, places[end]), NOT_REPEATED) for end in (interval.first, interval.last)]
            found[interval.first] = "; ".join(dict.fromkeys(ends))
    return found


def numbers_around(space: Space, scale: int, intervals: Sequence[Interval]) -> Array:
    """The numbers of the inputs at the ends of the intervals and next to them, sorted."""
    start = scale * space.patterns
    ends = np.array([(i.first - 1, i.first, i.last, i.last + 1) for i in intervals], np.int64).reshape(-1)
    return np.unique(ends[(ends >= start) & (ends < start + space.patterns)])


def numbers_at_boundaries(space: Space, scale: int) -> Array:
    """The numbers of the inputs on both sides of decision boundaries, sorted.

    Of many boundaries there are pairs of neighbours, evenly spread: every second one alone may be a tie to odd. Where
    there are too many to find, every input is next to one: the inputs are evenly spread.
    """
    solving, start = SolvingJudge(space), scale * space.patterns
    steps = StepJudge(space, solving).halved_steps(start, space.patterns, solving.modes)
    if steps is None:
        return np.linspace(start, start + space.patterns - 1, MOST_BOUNDARIES).astype(np.int64)
    pairs = np.linspace(0, steps.size - 1, MOST_BOUNDARIES // 2).astype(np.int64)
    chosen = steps[np.unique(np.minimum([pairs, pairs + 1], steps.size - 1))]
    beside = np.unique([chosen - 1, chosen])
    return np.asarray(beside[beside >= start])
