"""Whether the intervals of a sweep's certificate are some, and their ends deviate as they say."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from tiebreak.conformance.judging.judge import judge
from tiebreak.conformance.judging.truths import truths_by
from tiebreak.conformance.submissions.refused import Refused, require
from tiebreak.conformance.submissions.sweep_numbers import faulty_blocks, is_count, is_text
from tiebreak.conformance.sweep.certificate import interval_row
from tiebreak.conformance.sweep.intervals import MOST_KEPT, Interval, families
from tiebreak.conformance.sweep.solving import SolvingJudge
from tiebreak.golden import kernel, oracle
from tiebreak.golden.elements import ELEMENT_TYPES, FloatType, parse_real
from tiebreak.golden.space import Space
from tiebreak.golden.untrusted_text import plural
from tiebreak.golden.verdicts import DEVIATES


def check_intervals(data: Mapping[str, Any], space: Space) -> str:
    """What was checked. Refused if an interval's end does not deviate, by the kernel and the oracle, as it says."""
    told, rows = data["intervals"]["count"], data["intervals"]["kept"]
    require(len(rows) == min(told, MOST_KEPT), f"{len(rows):,} intervals are listed of {told:,}")
    found = read_intervals(data, space)
    check_apart(space, found)
    inside, deviating = sum(one.inputs for one in found), data["counts"]["deviates"]
    more = told - len(found)
    good = inside + more <= deviating if more else inside == deviating
    require(good, f"its intervals have {inside:,} inputs, {deviating:,} deviate")
    faulty = faulty_blocks(data, space.blocks)
    require(not any(has_faults(space, one, faulty) for one in found), "an interval is in a block without results")
    for _, some in groupby(zip(found, rows, strict=True), key=lambda pair: pair[0].first // space.patterns):
        check_ends(space, list(some))
    return f"{plural(len(found), 'interval')} with both ends judged again" if found else "no input deviates"


def has_faults(space: Space, one: Interval, faulty: Collection[int]) -> bool:
    return any(one.first // space.block <= number <= one.last // space.block for number in faulty)


def read_intervals(data: Mapping[str, Any], space: Space) -> list[Interval]:
    """The intervals that are listed, with what was expected still to come. Refused if one has another form."""
    return [read_interval(space, number, row) for number, row in enumerate(data["intervals"]["kept"])]


def read_interval(space: Space, number: int, row: Mapping[str, Any]) -> Interval:
    try:
        scale = (int(row["scale"][0], 16) - 1) * space.patterns if space.every_scale else 0
        ends = [scale + int(row[end]["bits"], 16) for end in ("first", "last")]
        got = [code_of(space, row[end]["got"]) for end in ("first", "last")]
        require(is_text(row["cause"]) and is_count(row["inputs"]), f"interval {number} has another form")
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        raise Refused(f"interval {number} has another form") from None
    inside = 0 <= scale <= ends[0] <= ends[1] < min(scale + space.patterns, space.inputs)
    require(inside, f"interval {number} is none of this sweep's")
    require(ends[0] < ends[1] or got[0] == got[1], f"interval {number} has two results of one input")
    return Interval(ends[0], ends[1], got[0], 0, got[1], 0, row["cause"])


def code_of(space: Space, text: str) -> int:
    kind = ELEMENT_TYPES[space.node.output_type]
    if isinstance(kind, FloatType):
        bits = np.array([parse_real(text, kind)], np.uint64)
        return int(bits.view(np.int64)[0])
    return int(text) if len(text) < 40 else int("")


def check_apart(space: Space, found: Sequence[Interval]) -> None:
    """Raise Refused unless intervals ascend, none crosses what intervals end at, and no two are one."""
    if not found:
        return
    labels = families(space, np.array([end for one in found for end in (one.first, one.last)], np.int64)).tolist()
    for number, one in enumerate(found):
        require(labels[2 * number] == labels[2 * number + 1], f"interval {number} goes on where intervals end")
        if number:
            gap = one.first - found[number - 1].last
            good = gap > 1 or (gap == 1 and labels[2 * number - 1] != labels[2 * number])
            require(good, f"interval {number} is not apart from the one before")


def check_ends(space: Space, some: Sequence[tuple[Interval, Mapping[str, Any]]]) -> None:
    """Raise Refused unless both ends of intervals with one scale deviate, and their rows say what was expected."""
    numbers = np.array([end for one, _ in some for end in (one.first, one.last)], np.int64)
    got = np.array([code for one, _ in some for code in (one.first_got, one.last_got)], np.int64)
    case, _ = SolvingJudge(space).case_and_problem(numbers)
    truths, others = (truths_by(solve, case) for solve in (kernel.solve, oracle.solve))
    good = [judge(got, one.judged_by, one).grades == DEVIATES for one in (truths, others)]
    expected = truths.judged_by.exact
    for number, (one, row) in enumerate(some):
        at = slice(2 * number, 2 * number + 2)
        where = f"the interval from {row['first']['bits']:.40} on"
        require(good[0][at].all() and good[1][at].all(), f"{where}: an end of it does not deviate")
        first, last = expected[at].tolist()
        again = interval_row(space, replace(one, first_expected=first, last_expected=last))
        require(again == row, f"{where} is not what its ends say")
