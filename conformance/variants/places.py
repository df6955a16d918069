"""Parameters that elements take from a wrong place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from tiebreak.conformance.variants.mutant import Mutant, NodeCall, posed
from tiebreak.golden.problem import Array, Elementwise, codes_of

# Which parameters an element takes: from the index of its own ones, for an input of that shape, and their number.

Place = Callable[[Array, int], Array]


def flat(at: Array) -> Array:
    return np.arange(at.size).reshape(at.shape)


def along(axis: int, at: Array, count: int) -> Array:
    sizes = [at.shape[axis] if n == axis % at.ndim else 1 for n in range(at.ndim)]
    return np.broadcast_to(np.arange(at.shape[axis]).reshape(sizes), at.shape)


def along_if_it_fits(axis: int) -> Place:
    """Along an axis that has the parameters' size; else they are right."""

    def place(at: Array, count: int) -> Array:
        return along(axis, at, count) if at.ndim > axis and at.shape[axis] == count else at

    return place


def in_runs(at: Array, count: int) -> Array:
    return flat(at) // max(-(-at.size // count), 1)


PLACES: Mapping[str, Place] = {
    "one-for-all:first range": lambda at, count: np.zeros_like(at),
    "one-for-all:last range": lambda at, count: np.full_like(at, count - 1),
    "previous-range": lambda at, count: at - 1,
    "next-range": lambda at, count: at + 1,
    "ranges-reversed": lambda at, count: count - 1 - at,
    "ranges-in-pairs": lambda at, count: at // 2 * 2,
    "ranges-of-first:four channels": lambda at, count: at % 4,
    "ranges-along:the first axis": partial(along, 0),
    "ranges-along:the last axis": partial(along, -1),
    "ranges-repeat": lambda at, count: flat(at),
    "ranges-in-runs": in_runs,
}
FREQUENT_PLACES = ("one-for-all:first range", "previous-range", "next-range", "ranges-in-pairs")
ENDS: Mapping[str, tuple[Place | None, Place | None]] = {  # the places of min and of max; None: right
    "one-for-all:min": (PLACES["one-for-all:first range"], None),
    "one-for-all:max": (None, PLACES["one-for-all:first range"]),
    "next-min": (PLACES["next-range"], None),
    "next-max": (None, PLACES["next-range"]),
}
CHANNEL_NAMES: Mapping[str, str] = {  # of the places of a scale and a zero point
    "one-for-all:first range": "one-for-all:scale and zero point",
    "previous-range": "previous-channel",
    "next-range": "next-channel",
    "one-for-all:last range": "last-for-all",
    "ranges-reversed": "channels-reversed",
    "ranges-in-pairs": "channel-pairs",
    "ranges-of-first:four channels": "four-lanes",
    "ranges-repeat": "flat-modulo",
    "ranges-in-runs": "flat-runs",
    "ranges-along:the last axis": "channels-along:the last axis",
    "ranges-along:the first axis": "channels-along:the first axis",
    "one-for-all:min": "one-for-all:scale",
    "one-for-all:max": "one-for-all:zero point",
    "next-min": "next-scale",
    "next-max": "next-zero-point",
}


def misplaced(places: Mapping[int, Place], *, only: str) -> Mutant:
    """Elements of the output `only` take these inputs from elsewhere, if a node has them and they several elements."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        several = [number for number in places if number < len(call.inputs) and call.inputs[number].size > 1]
        if problem.output != only or not several or not problem.operands[0].size:
            return problem
        operands = list(problem.operands)
        for number in several:
            codes, place = codes_of(call.inputs[number]).reshape(-1), places[number]
            if (codes != codes[0]).any():  # else the place is all the same
                own = call.indices(number).reshape(problem.shape)
                operands[number] = codes[(place(own, codes.size) % codes.size).reshape(-1)]
        return replace(problem, operands=tuple(operands))

    return posed(pose)


def first_for_all(*numbers: int) -> Mutant:
    """The first value of these inputs serves every element, in all outputs."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        if min(call.inputs[number].size for number in numbers) < 2:
            return problem
        missing = len(call.inputs) - len(problem.operands)  # outputs of parameters lack the first inputs
        operands = list(problem.operands)
        for number in numbers:
            codes = operands[number - missing]
            operands[number - missing] = np.full_like(codes, codes_of(call.inputs[number]).flat[0])
        return replace(problem, operands=tuple(operands))

    return posed(pose)
