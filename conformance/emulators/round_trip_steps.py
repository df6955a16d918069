"""The steps of QuantizeAndDequantizeV2, V3 and V4: the formulas of their table, traced, and what decides on a side."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.conformance.emulators.rounding_steps import rounded
from tiebreak.conformance.emulators.steps import Computed, cast, flushed, given, named, with_names
from tiebreak.conformance.emulators.term_steps import NO_TYPE
from tiebreak.conformance.emulators.traced import Traced, line
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.round_trip import RoundTripArithmetic
from tiebreak.conformance.semantics.round_trip_facets import (
    AS_SAID,
    UPDATED,
    RangeAndIntegers,
    RoundTripCombination,
    SideFactor,
)
from tiebreak.golden.errors import Unsupported

RANGE = ("input_min", "input_max")


def round_trip_steps(arithmetic: RoundTripArithmetic, semantics: Semantics) -> Computed:
    """The result in the output's type. Raises Unsupported for steps that are not rounded."""
    one, node = RoundTripCombination._make(semantics), arithmetic.node
    if one.precision.is_exact:
        raise Unsupported(NO_TYPE)
    flushes, emin, kind = one.subnormals.flushes, node.real.emin, node.input_type
    s: Any = one.subnormals.step_in(one.precision)
    operands = (given(name, kind) for name in ("x", *RANGE))
    used: Any = ((o.name, one.subnormals.flushed(Traced(o), emin)) for o in operands)  # type: ignore[arg-type]
    x, low, high = (line(f"used_{name}", o.astype(one.precision.dtype)) for name, o in used)
    lowest, highest = arithmetic.integers
    if one.lowest is not AS_SAID:
        lowest = -highest - (lowest == -highest)
    ranged: Any = RangeAndIntegers(low, high, *(s(np.asarray(float(end))) for end in (lowest, highest)))
    if not arithmetic.signed:
        ranged = ranged._replace(low=s(np.zeros(())))
    result = cast(kind, there_and_back(one, s, x, ranged, signed=arithmetic.signed))
    return with_names(named("y", flushed(result, emin) if flushes else result))


def there_and_back(one: RoundTripCombination, s: Any, x: Any, r: Any, *, signed: bool) -> Computed:
    """As round_trip.Trip, whose side of the range is one of two here."""
    by, of_low = side_of(one, s, r, signed=signed)
    ends: Any = ends_of(one, s, r, by, of_low)
    inside = x if ends is None else np.minimum(np.maximum(x, ends[0]), ends[1])
    place: Any = one.forth.of(s, line("inside", inside), by)
    whole = s(Traced(rounded(named("place", place.of), one.round_mode)))
    if one.clamp.whole:
        whole = np.clip(whole, r.lowest, r.highest)
    found: Any = one.back.of(s, whole, by)
    result: Computed = found.of
    return result


def side_of(one: RoundTripCombination, s: Any, r: Any, *, signed: bool) -> tuple[SideFactor, Any]:
    """The side that determines the factor, and whether it is the lower one: None if it never is."""
    upper = SideFactor(s(r.highest / r.high), r.high, r.highest, of_low=False)
    if one.side.both:
        size: Any = np.maximum(np.abs(r.low), np.abs(r.high))
        return SideFactor(s(r.highest / size), size, r.highest, of_low=False), None
    if not signed:
        return upper, None
    factor, upper = line("lower_factor", s(r.lowest / r.low)), upper._replace(factor=line("upper_factor", upper.factor))
    compared = factor > upper.factor if one.side.id == "greater-factor" else factor < upper.factor
    of_low = line("takes_lower", (r.low < 0) & (~(r.high > 0) | compared))
    lower = (factor, r.low, r.lowest)
    both = zip(("factor", "side", "integer"), lower, upper[:3], strict=True)
    factor, side, integer = (line(name, np.where(of_low, a, b)) for name, a, b in both)
    return SideFactor(factor, side, integer, of_low=False), of_low


def ends_of(one: RoundTripCombination, s: Any, r: Any, by: SideFactor, of_low: Any) -> Any:
    """What x is clamped to, or None."""

    def back(whole: Any) -> Any:
        return one.back.of(s, whole, by)

    if one.side.both and one.clamp is UPDATED:
        return back(r.lowest), back(r.highest)
    of_high = one.clamp.ends(r, by, back)
    if of_high is None or of_low is None:
        return of_high
    of_lower = one.clamp.ends(r, by._replace(of_low=True), back)
    assert of_lower is not None
    return [np.where(of_low, a, b) for a, b in zip(of_lower, of_high, strict=True)]
