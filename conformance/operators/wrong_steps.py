"""Wrong steps that several operators' backends may share, and the backends that make one of them, or two at once.

An operator's arithmetic is a small pipeline with one field for each step; a wrong step is a value of one field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.semantics.places import fused_multiply_add
from tiebreak.conformance.semantics.precisions import OF_TYPE
from tiebreak.conformance.semantics.round_modes import AWAY, FLOOR, MODES, TRUNCATE, RoundMode
from tiebreak.conformance.variants.conversions import RESULTS, Change, as_is
from tiebreak.conformance.variants.places import Place
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.problem import Array


@dataclass(frozen=True)
class WrongStep:
    """A cause's id and role, and the fields of a pipeline that make it."""

    id: str
    role: str
    fields: Mapping[str, Any]
    in_pairs: bool = False

    def fits(self, other: WrongStep) -> bool:
        return not set(self.fields) & set(other.fields)

    @property
    def is_mode(self) -> bool:
        """Whether it is another rounding mode, which all operators are compared with anyway."""
        return self.id.startswith(("rounds:", "ties:"))


def step(id: str, role: str, **fields: Any) -> WrongStep:
    return WrongStep(id, role, fields)


def frequent(id: str, role: str, **fields: Any) -> WrongStep:
    """A wrong step that is tried with another one, too."""
    return WrongStep(id, role, fields, in_pairs=True)


def single_steps(
    pipeline: Callable[..., Mistake], steps: Sequence[WrongStep], rank: int = 0
) -> tuple[tuple[Cause, Mistake], ...]:
    return tuple((Cause(one.id, one.role, rank), pipeline(**one.fields)) for one in steps if not one.is_mode)


def pairs_of_steps(
    pipeline: Callable[..., Mistake], steps: Sequence[WrongStep], rank: int = 0
) -> tuple[tuple[Cause, Mistake], ...]:
    """Two frequent wrong steps at once."""
    return tuple(
        (Cause(f"{one.id}{JOINT}{other.id}", one.role, rank), pipeline(**one.fields, **other.fields))
        for one, other in fitting(steps)
    )


def fitting(steps: Sequence[WrongStep]) -> Iterator[tuple[WrongStep, WrongStep]]:
    chosen = [one for one in steps if one.in_pairs]
    return (pair for pair in combinations(chosen, 2) if pair[0].fits(pair[1]) and JOINT not in pair[0].id + pair[1].id)


def of_result(role: str) -> tuple[WrongStep, ...]:
    """The result, of the field `out`; the first three are frequent."""
    return changed("out", role, RESULTS, 3)


def changed(field: str, role: str, by: Mapping[str, Change], often: int) -> tuple[WrongStep, ...]:
    return tuple(WrongStep(key, role, {field: change}, n < often) for n, (key, change) in enumerate(by.items()))


@lru_cache(maxsize=1 << 10)
def changes(change: Change, kind: str) -> bool:
    """Whether a conversion changes any number of an element type: of a float type, or an integer type as float64."""
    if kind in INTEGER_TYPES:
        own = INTEGER_TYPES[kind]
        sample = np.unique(np.linspace(own.lowest, own.highest, 4099).round())
    else:
        drawn = np.random.default_rng(0).normal(size=200) * np.logspace(-9, 6, 200)
        sample = drawn.astype(ml_dtypes.bfloat16 if kind == "bfloat16" else kind)
    with np.errstate(all="ignore"):
        return bool((change(sample) != sample).any())


def check_conversions(kind: np.dtype[Any], *conversions: Change) -> None:
    """ValueError where a conversion that is not as_is changes no number of the type."""
    if any(change is not as_is and not changes(change, kind.name) for change in conversions):
        raise ValueError("there is nothing to mistake")


def fused(a: Array, b: Array, c: Array) -> Array:
    """a * b + c, rounded once to a's type. ValueError for float64, whose products no type of NumPy holds."""
    if a.dtype == np.float64:
        raise ValueError("no exact products of float64")
    a, b, c = np.broadcast_arrays(a, b, c)
    return fused_multiply_add(a, b, c.astype(np.float64), a.dtype)


# Rounding to integers, of the array's type.


def by_mode(mode: RoundMode) -> Callable[[Array], Array]:
    """Rounding as a value of the audit's facet does it."""
    return lambda values: mode.round(values.astype(np.float64), OF_TYPE[values.dtype.name]).astype(values.dtype)


away = by_mode(MODES["ROUND_NEAREST_TOWARD_INFINITY"])
upward = by_mode(MODES["ROUND_NEAREST_UPWARD"])
downward = by_mode(MODES["ROUND_NEAREST_DOWNWARD"])
toward_zero = by_mode(MODES["ROUND_NEAREST_TOWARD_ZERO"])
from_zero = by_mode(MODES["ROUND_TOWARD_INFINITY"])
floor_of_half_more = by_mode(FLOOR)
trunc_of_half_more = by_mode(TRUNCATE)
trunc_of_signed_half_more = by_mode(AWAY)


def through_int32(values: Array) -> Array:
    """Whole numbers after a conversion to int32 that gives its lowest number for all that is beyond."""
    beyond = (values < -(2.0**31)) | (values >= 2.0**31)
    return np.where(beyond, -(2**31), values)


def taken_from(places: tuple[Place | None, Place | None], at: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The ends of the range of each element, of x's shape; `at` is the index of its own range."""
    if low.size < 2 or not at.size:
        raise ValueError("there is nothing to mistake")
    found = (
        end.reshape(-1)[(at if place is None else place(at, end.size)) % end.size]
        for place, end in zip(places, (low, high), strict=True)
    )
    first, last = found
    return first, last
