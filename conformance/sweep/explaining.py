"""Causes of a sweep's mismatches: the ends of intervals and their neighbours run as cases of an ordinary run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from tiebreak.conformance.running.backends import run_cases
from tiebreak.conformance.sweep.intervals import Interval
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array
from tiebreak.golden.space import Space
from tiebreak.reports.rows import discrepancy_rows

MOST_SCALES = 50
NOT_REPEATED = "another answer in another array"


def causes_of_intervals(spec: str, space: Space, intervals: Sequence[Interval], memory_limit: int) -> dict[int, str]:
    """The cause of each interval, by the number of its first input; both causes if its ends have different ones."""
    by_scale: dict[int, list[Interval]] = defaultdict(list)
    for interval in intervals:
        by_scale[interval.first // space.patterns].append(interval)
    found: dict[int, str] = {}
    cases, numbers = [], []
    for scale, own in list(by_scale.items())[:MOST_SCALES]:
        numbers.append(numbers_around(space, scale, own))
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
