"""Places where a cause may hold that is contradicted elsewhere: of vector loops, of pairs of lanes, of halves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.problem import Array

WIDTHS = (4, 8, 16, 32, 64)  # of vector loops
LOOPS = (*(("body", width) for width in WIDTHS), *(("tail", width) for width in reversed(WIDTHS)))  # the widest first
OTHERS = (("odd", 0), ("even", 0), ("second-half", 0), ("first-half", 0))
PLACES = (*LOOPS, *OTHERS)
Span = tuple[int, int, bool, bool]  # the first and the last index; whether one is odd, and whether one is even


def may_be_placed(cause: Cause) -> bool:
    """Whether it may be said of a cause that it holds at a place only: of single mistakes, but modes say it already."""
    return JOINT not in cause.id and not cause.mode


def spans_of(masks: Array) -> list[Span]:
    """The span of each mask (a row), none of which is empty."""
    first, last = masks.argmax(axis=1), masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
    odd, even = np.any(masks[:, 1::2], axis=1), np.any(masks[:, ::2], axis=1)
    return list(zip(*(part.tolist() for part in (first, last, odd, even)), strict=True))


def contradicted_places(
    spans: Sequence[tuple[Cause, Span]], size: int, against: Mapping[Cause, int]
) -> dict[Cause, int]:
    """By cause, the bits of the places of PLACES in which conforming elements of a case contradict it.

    `spans` say where these elements are. Where a cause has several, it is one of several arithmetics: only what
    contradicts all of them counts, and nothing if `against` says that one is not contradicted.
    """
    if not spans:
        return {}
    first, last, odd, even = (np.array([span[part] for _, span in spans])[:, None] for part in range(4))
    ends = np.array([size - size % width for _, width in LOOPS])
    bodies, half = np.array([name == "body" for name, _ in LOOPS]), (size + 1) // 2
    table = np.hstack([np.where(bodies, first < ends, last >= ends), odd, even, last >= half, first < half])
    found: dict[Cause, int] = {}
    for (cause, _), one in zip(spans, (table @ (1 << np.arange(len(PLACES)))).tolist(), strict=True):
        if against[cause]:
            found[cause] = one & found.get(cause, one)
    return found


def is_inside(place: int, index: int, size: int) -> bool:
    """Whether an element of an array is at the place with this number."""
    name, width = PLACES[place]
    if name in ("odd", "even"):
        return (index % 2 == 1) == (name == "odd")
    if name.endswith("half"):
        return (index >= (size + 1) // 2) == (name == "second-half")
    return (index < size - size % width) == (name == "body")
