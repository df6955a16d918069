"""Finds the places of a backend's own thresholds, where they are not the right ones, by asking for inputs between.

It assumes that answers never go back as x grows, and stops with NotMonotone where they do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tiebreak.conformance.sweep.scale_blocks import ScaleBlock, Worst
from tiebreak.conformance.sweep.scale_judging import Moved, went_back
from tiebreak.golden._thresholds import wrong_steps
from tiebreak.golden.problem import Array
from tiebreak.golden.scale_space import ScaleCall, ScaleSpace
from tiebreak.golden.thresholds import (
    LARGEST,
    asked_of,
    lie_apart,
    patterns_at,
    places_of,
    thresholds_of,
    working_thresholds,
)

AT_ONCE = 16  # inputs asked for a threshold in one call
MOST_FOLLOWED = 1 << 12  # wrong answers of a block: where there are more, those of some scales are followed
BEYOND = LARGEST + 1  # the place of a threshold that no finite x reaches

Ask = Callable[[ScaleCall], Array]  # the codes of a call


@dataclass
class OwnThresholds:
    """Thresholds of a backend that have moved, as arrays of one length, by scale and then by step.

    `row` is the number of the scale, `step` the step below. The threshold is above place `lower` and not above `upper`.
    """

    row: Array
    step: Array
    lower: Array
    upper: Array

    def some(self, which: Array) -> OwnThresholds:
        return OwnThresholds(self.row[which], self.step[which], self.lower[which], self.upper[which])


def locate(space: ScaleSpace, block: ScaleBlock, moved: Moved, ask: Ask) -> ScaleBlock:
    """The block with the number of its pairs of input and scale that differ. NotMonotone if results go back."""
    if not moved.scales.size:
        return block
    check_orders(space, moved)
    chosen = moved.some(followed(moved.wrong))
    found = bracketed(space, chosen)
    narrow(space, chosen.scales, found, np.flatnonzero(found.upper - found.lower > 1), ask)
    return counted(block, chosen, found)


def followed(wrong: Array) -> Array:
    """The numbers of the scales whose thresholds are located: all, or where too much is wrong some, evenly spread."""
    count = wrong.size * MOST_FOLLOWED // max(int(wrong.sum()), 1)
    return np.arange(wrong.size) if count >= wrong.size else np.linspace(0, wrong.size - 1, max(count, 1)).astype(int)


def check_orders(space: ScaleSpace, moved: Moved) -> None:
    """NotMonotone if the codes of one of the scales go back."""
    plain = lie_apart(moved.scales, space.first_step, space.codes)
    check_order(moved.some(plain), order_of(space), space)
    if not plain.all():
        others = moved.some(~plain)
        places = places_of(asked_of(others.scales, space.first_step, space.codes))
        check_order(others, np.argsort(places, axis=1, kind="stable"), space)


def bracketed(space: ScaleSpace, moved: Moved) -> OwnThresholds:
    """Where the wrong thresholds can be, by what has been asked."""
    plain = lie_apart(moved.scales, space.first_step, space.codes)
    parts = []
    for some, find in ((np.flatnonzero(plain), by_neighbours), (np.flatnonzero(~plain), by_order)):
        if some.size:
            part = find(space, moved.some(some))
            parts.append(replace(part, row=some[part.row]))
    found = [np.concatenate([getattr(part, name) for part in parts]) for name in ("row", "step", "lower", "upper")]
    whole = OwnThresholds(*found)
    return whole.some(np.lexsort((whole.step, whole.row)))


def by_neighbours(space: ScaleSpace, moved: Moved) -> OwnThresholds:
    """For scales whose inputs are in order: a wrong threshold is bracketed by its own three inputs or the next ones."""
    word = f"u{moved.codes.dtype.itemsize}"
    codes, count, lowest = moved.codes, space.codes - 1, space.result.lowest
    low = (np.arange(space.codes) + lowest).astype(codes.dtype)
    row, at = wrong_steps(moved.scales, codes.view(word), low.view(word), space.first_step, int(moved.wrong.sum()))
    step = at + space.first_step
    middle = thresholds_of(moved.scales[row], step) - (step & 1)
    up = [codes[row, at + number * count] > low[at] for number in range(3)]
    before, after = np.maximum(at - 1, 0), np.minimum(at + 1, count - 1)
    near = [
        thresholds_of(moved.scales[row], s + space.first_step) - ((s + space.first_step) & 1) for s in (before, after)
    ]
    left = (at > 0) & (codes[row, before + 2 * count] <= low[at])
    right = (at < count - 1) & (codes[row, after] > low[at])
    lower = np.where(up[0], np.where(left, near[0] + 1, -BEYOND), middle - 1)
    lower = np.where(up[1] | up[0], lower, middle)
    lower = np.where(up[2] | up[1] | up[0], lower, middle + 1)
    upper = np.where(up[2], middle + 1, np.where(right, near[1] - 1, BEYOND))
    upper = np.where(up[1], middle, upper)
    return OwnThresholds(row, step, lower, np.where(up[0], middle - 1, upper))


def by_order(space: ScaleSpace, moved: Moved) -> OwnThresholds:
    """For scales whose inputs overlap or end early: by counting the inputs asked that have no greater code."""
    places = places_of(asked_of(moved.scales, space.first_step, space.codes))
    order = np.argsort(places, axis=1, kind="stable")
    places, rows = np.take_along_axis(places, order, 1), len(moved.scales)
    width, lowest = places.shape[1], space.result.lowest
    index = (moved.codes.astype(np.int64) - lowest) + space.codes * np.arange(rows)[:, None]
    below = np.bincount(index.reshape(-1), minlength=rows * space.codes).reshape(rows, -1).cumsum(axis=1)[:, :-1]
    padded = np.hstack([np.full((rows, 1), -BEYOND), places, np.full((rows, 1), BEYOND)])
    lower, upper = (np.take_along_axis(padded, below + number, 1) for number in (0, 1))
    assert below.max(initial=0) <= width
    steps = np.arange(space.first_step, space.first_step + space.codes - 1)
    right = [form(moved.scales[:, None], steps).clip(-LARGEST, BEYOND) for form in (thresholds_of, working_thresholds)]
    wrong = ~np.logical_or.reduce([(lower < place) & (place <= upper) for place in right])
    row, at = np.nonzero(wrong)
    return OwnThresholds(row, steps[at], lower[row, at], upper[row, at])


def order_of(space: ScaleSpace) -> Array:
    """The columns of the inputs asked, by value, of any scale whose thresholds lie apart."""
    count = space.codes - 1
    order = np.arange(3 * count).reshape(3, count).T.reshape(-1)
    zero = 3 * min(max(-space.first_step, 0), count)
    return np.concatenate([[3 * count], order[:zero], [3 * count + 1], order[zero:], [3 * count + 2]])


def check_order(moved: Moved, order: Array, space: ScaleSpace) -> None:
    """NotMonotone if the codes of a scale's inputs, in this order (one for all rows or one a row), go back."""
    ordered = moved.codes[:, order] if order.ndim == 1 else np.take_along_axis(moved.codes, order, 1)
    back = ordered[:, 1:] < ordered[:, :-1]
    if back.any():
        row, at = (int(found[0]) for found in np.nonzero(back))
        columns = (order if order.ndim == 1 else order[row])[at : at + 2]
        places = places_of(asked_of(moved.scales[row : row + 1], space.first_step, space.codes)[0, columns])
        (lower, upper), (got, then) = places.tolist(), ordered[row, at : at + 2].tolist()
        raise went_back(int(moved.scales[row]), lower, got, upper, then)


def narrow(space: ScaleSpace, scales: Array, found: OwnThresholds, which: Array, ask: Ask) -> None:
    """Ask until these thresholds are located.

    The first inputs asked are those next to the nearer end of the bracket: there one or two units in the last place
    show. The next are ever farther. Once there is an input on either side, the bracket is cut into equal parts.
    """
    exact = thresholds_of(scales[found.row], found.step)
    down = found.upper <= exact
    start, far = np.where(down, found.upper, found.lower), np.zeros(exact.size, np.int64)
    bounded = np.zeros(exact.size, bool)
    while which.size:
        lower, upper = found.lower[which], found.upper[which]
        places = places_between(lower, upper, start[which], down[which], far[which], bounded[which])
        codes = ask_places(space, scales[found.row[which]], places, ask)
        above = codes > (found.step[which] - space.first_step + space.result.lowest)[:, None]
        first = np.where(above.any(axis=1), above.argmax(axis=1), AT_ONCE)
        rows = np.arange(which.size)
        new_lower = np.where(first > 0, places[rows, first - 1], lower)
        new_upper = np.where(first < AT_ONCE, places[rows, np.minimum(first, AT_ONCE - 1)], upper)
        bounded[which] |= np.where(down[which], new_lower != lower, new_upper != upper)
        far[which] += 1
        found.lower[which], found.upper[which] = new_lower, new_upper
        which = which[new_upper - new_lower > 1]


def places_between(lower: Array, upper: Array, start: Array, down: Array, far: Array, bounded: Array) -> Array:
    """AT_ONCE places in order between the ends of each bracket, a row each; some may be the same."""
    number = np.arange(1, AT_ONCE + 1)
    width = (upper - lower)[:, None]
    even = lower[:, None] + (width * number) // (AT_ONCE + 1)
    away = np.where(far[:, None] == 0, number, 1 << np.minimum(number + AT_ONCE * far[:, None] - AT_ONCE + 4, 33))
    away = np.where(down[:, None], (start[:, None] - away)[:, ::-1], start[:, None] + away)
    narrow_already = bounded[:, None] | (width <= AT_ONCE + 1)
    inside = np.where(width <= AT_ONCE + 1, lower[:, None] + number, even)
    return np.clip(np.where(narrow_already, inside, away), lower[:, None] + 1, upper[:, None] - 1)


def ask_places(space: ScaleSpace, scales: Array, places: Array, ask: Ask) -> Array:
    """The codes at these places, a row for each scale. NotMonotone if they go back."""
    size, found = max(1, space.most_results // AT_ONCE), []
    for first in range(0, scales.size, size):
        some = slice(first, first + size)
        found.append(ask(ScaleCall(np.ascontiguousarray(scales[some]), patterns_at(places[some]))).astype(np.int64))
    codes = np.concatenate(found)
    back = codes[:, 1:] < codes[:, :-1]
    if back.any():
        row, at = (int(array[0]) for array in np.nonzero(back))
        ends, got = places[row, at : at + 2].tolist(), codes[row, at : at + 2].tolist()
        raise went_back(int(scales[row]), ends[0], got[0], ends[1], got[1])
    return codes


def counted(block: ScaleBlock, chosen: Moved, found: OwnThresholds) -> ScaleBlock:
    """The block with its pairs: every x between a right threshold and the backend's own, which is at `upper`."""
    at = chosen.scales[found.row], found.step
    exact, working = (form(*at).clip(-LARGEST, BEYOND) for form in (thresholds_of, working_thresholds))
    nearest, farthest = np.minimum(exact, working), np.maximum(exact, working)
    low, high = np.minimum(found.upper, farthest), np.maximum(found.upper, nearest)
    same_row = np.concatenate([[False], found.row[1:] == found.row[:-1]])[: found.row.size]
    past = np.where(same_row, np.concatenate([[0], high])[: found.row.size], low)
    pairs = np.zeros(chosen.scales.size, np.int64)
    np.add.at(pairs, found.row, np.maximum(high - np.maximum(low, past), 0))  # two of a scale may overlap
    return replace(
        block,
        located=chosen.scales.size,
        located_pairs=int(pairs.sum()),
        pairs=int(pairs.sum()) + block.wrong - int(chosen.wrong.sum()),
        worst=worst_of(chosen.scales, pairs, found, high - low),
    )


def worst_of(scales: Array, pairs: Array, found: OwnThresholds, places: Array) -> Worst:
    if not places.size:
        return Worst()
    worst, furthest = int(pairs.argmax()), int(places.argmax())
    return Worst(int(scales[worst]), int(pairs[worst]), int(places[furthest]), int(found.step[furthest]))
