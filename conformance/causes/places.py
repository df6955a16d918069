"""Places where a cause may hold that is contradicted elsewhere: in vector loops, lanes and halves, or some arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array

WIDTHS = (2, 4, 8, 16, 32, 64)  # of vector loops
STARTS = (1024, 4096)  # of what comes after so many elements
SIZES = (2, 4, 8, 16, 32, 64, 1024, 16384)  # of arrays, at which a library may take another kernel
# The widest first: what explains as much elsewhere is less to say.
LOOPS = (*(("body", width) for width in WIDTHS), *(("tail", width) for width in reversed(WIDTHS)))
ROWS = tuple((f"row-{name}", width) for name, width in LOOPS)
LANES = (("odd", 0), ("even", 0), ("last-of-4", 0))
RUNS = (("second-half", 0), ("first-half", 0), ("first", 0), ("last", 0), *(("after", start) for start in STARTS))
ARRAYS = (
    *(("large", size) for size in SIZES),
    *(("small", size) for size in reversed(SIZES)),
    ("rank-1", 0),
    ("rank-2", 0),
)
PLACES = (*LOOPS, *LANES, *RUNS, *ROWS, *ARRAYS)
EVERYWHERE = (1 << len(PLACES)) - 1


class Layout(NamedTuple):
    """What a place depends on beside an element's index: an array's size, the length of its rows, and its rank."""

    size: int
    row: int
    rank: int


def layout_of_input(case: Case) -> Layout:
    shape = case.shape
    return Layout(case.size, shape[-1] if shape else 1, len(shape))


def may_be_placed(cause: Cause) -> bool:
    """Whether it may be said of a cause that it holds at a place only: of single mistakes, if they do not say it."""
    return not (JOINT in cause.id or cause.by_position or cause.of_some_numbers)


def bits_of_masks(masks: Array, layout: Layout) -> list[int]:
    """The bits of the places of PLACES in which each mask (a row, not empty) has an element.

    A mask may go on after the array, over further outputs: what is there is at every place.
    """
    if not 0 < layout.size <= masks.shape[1]:
        return [EVERYWHERE] * len(masks)
    inside = masks[:, : layout.size]
    whole = ends_of(inside)
    rows = ends_of(any_of(inside.reshape(len(masks), -1, layout.row))) if layout.row < layout.size else whole
    lanes = [any_of(lane) for lane in (inside[:, 1::2], inside[:, ::2], inside[:, 3::4])]
    beyond = any_of(masks[:, layout.size :])
    return np.where(beyond, EVERYWHERE, packed(lanes, whole, rows, layout)).tolist()  # type: ignore[no-any-return]


def any_of(masks: Array) -> Array:
    return np.asarray(masks.any(axis=1))


@lru_cache(maxsize=1 << 8)
def bits_of_elements(layout: Layout) -> Array:
    """The bits of the places at which each element of an array is."""
    at = np.arange(layout.size)
    lanes = [at % 2 == 1, at % 2 == 0, at % 4 == 3]
    return packed(lanes, (at, at), (at % layout.row, at % layout.row), layout)


def packed(lanes: Sequence[Array], whole: tuple[Array, Array], rows: tuple[Array, Array], layout: Layout) -> Array:
    """The bits of the places, by the lanes and by the first and last place in the array and in its rows."""
    (first, last), half, several = whole, (layout.size + 1) // 2, layout.size > 1
    ends = [last >= half, first < half, (first == 0) & several, (last == layout.size - 1) & several]
    runs = np.stack([*lanes, *ends, *(last >= start for start in STARTS)], axis=1)
    arrays = np.broadcast_to(arrays_with(layout), (len(first), len(ARRAYS)))
    table = np.hstack([in_loops(first, last, layout.size), runs, in_loops(*rows, layout.row), arrays])
    return np.asarray(table @ (1 << np.arange(len(PLACES), dtype=np.int64)))


def ends_of(masks: Array) -> tuple[Array, Array]:
    """The first and the last place of each mask."""
    return masks.argmax(axis=1), masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def in_loops(first: Array, last: Array, size: int) -> Array:
    """Whether something from `first` to `last` is in the bodies and tails of LOOPS."""
    ends = np.array([size - size % width for _, width in LOOPS])
    bodies = np.array([name == "body" for name, _ in LOOPS])
    return np.where(bodies, first[:, None] < ends, last[:, None] >= ends)


@lru_cache(maxsize=1 << 12)
def arrays_with(layout: Layout) -> Array:
    """Which of ARRAYS a layout is."""
    large, small = [layout.size >= size for size in SIZES], [layout.size < size for size in reversed(SIZES)]
    return np.array([*large, *small, layout.rank == 1, layout.rank >= 2])


def contradicted_places(bits: Sequence[tuple[Cause, int]], against: Mapping[Cause, int]) -> dict[Cause, int]:
    """By cause, the bits of the places of PLACES in which conforming elements of a case contradict it.

    Where a cause has several, it is one of several arithmetics: only what contradicts all of them counts, and nothing
    if `against` says that one is not contradicted.
    """
    found: dict[Cause, int] = {}
    for cause, one in bits:
        if against[cause]:
            found[cause] = one & found.get(cause, one)
    return found


def mask_of_place(place: int, layout: Layout, size: int) -> Array:
    """The elements of a case (so many) at a place. What goes on after the array is at every place."""
    mask = np.ones(size, bool)
    mask[: layout.size] = bits_of_elements(layout)[:size] >> place & 1
    return mask


def numbers_of(bits: int) -> list[int]:
    """The numbers of the places with these bits."""
    return [place for place in range(len(PLACES)) if bits >> place & 1]
