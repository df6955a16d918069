"""The bodies and tails of vector loops: places where a cause may hold that is contradicted elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.problem import Array

WIDTHS = (4, 8, 16, 32, 64)  # of vector loops
PLACES = (*(("body", width) for width in WIDTHS), *(("tail", width) for width in reversed(WIDTHS)))  # the widest first


def may_be_placed(cause: Cause) -> bool:
    """Whether it may be said of a cause that it holds at a place only: of single mistakes, but modes say it already."""
    return JOINT not in cause.id and not cause.mode


def span_of(mask: Array) -> tuple[int, int]:
    """The first and the last index of a mask that is not empty."""
    return int(mask.argmax()), mask.size - 1 - int(mask[::-1].argmax())


def contradicted_places(
    spans: Sequence[tuple[Cause, int, int]], size: int, against: Mapping[Cause, int]
) -> dict[Cause, int]:
    """By cause, the bits of the places of PLACES in which conforming elements of a case contradict it.

    `spans` have the first and the last of these elements. Where a cause has several, it is one of several arithmetics:
    only what contradicts all of them counts, and nothing if `against` says that one is not contradicted.
    """
    if not spans:
        return {}
    first, last = (np.array([span[end] for span in spans])[:, None] for end in (1, 2))
    ends = np.array([size - size % width for _, width in PLACES])
    bodies = np.array([name == "body" for name, _ in PLACES])
    bits = np.where(bodies, first < ends, last >= ends) @ (1 << np.arange(len(PLACES)))
    found: dict[Cause, int] = {}
    for (cause, _, _), one in zip(spans, bits.tolist(), strict=True):
        if against[cause]:
            found[cause] = one & found.get(cause, one)
    return found


def is_inside(place: int, index: int, size: int) -> bool:
    """Whether an element of an array is at the place with this number."""
    name, width = PLACES[place]
    return (index < size - size % width) == (name == "body")
