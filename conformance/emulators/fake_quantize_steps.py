"""The steps of FakeQuantize, as the values of an audit's facets say them: their own formulas, traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from tiebreak.conformance.emulators.rounding_steps import rounded
from tiebreak.conformance.emulators.special_steps import as_largest, first_seen, with_results
from tiebreak.conformance.emulators.steps import Computed, cast, constant, flushed, given, named, with_names
from tiebreak.conformance.emulators.traced import Traced, line
from tiebreak.conformance.semantics.fake_quantize import FakeQuantizeArithmetic
from tiebreak.conformance.semantics.fake_quantize_facets import FakeQuantizeCombination
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.golden.errors import Unsupported

LIMITS = ("input_low", "input_high", "output_low", "output_high")
NO_EXACT = "steps that no type rounds"


def fake_quantize_steps(arithmetic: FakeQuantizeArithmetic, semantics: Semantics) -> Computed:
    """The result in the output's type. Raises Unsupported for steps that are not rounded."""
    one: Any = FakeQuantizeCombination._make(semantics)
    kind = arithmetic.node.input_type
    if one.precision.is_exact:
        raise Unsupported(NO_EXACT)
    s: Any = one.subnormals.step_in(one.precision)
    real, *limits = (given(name, kind) for name in ("x", *LIMITS))
    number = as_number(arithmetic, real)
    used = (one.subnormals.flushed(Traced(o), arithmetic.tiny) for o in (number, *limits))
    operands: Any = (operand.astype(one.precision.dtype) for operand in used)
    x, low, high, first, last = operands
    n = s(np.asarray(arithmetic.n))
    low, high = one.range.limits(s, low, high, n)
    low, high = line("low", low), line("high", high)
    below, above = x <= low, x > high
    inside = line("inside", np.where(x < low, low, np.where(above, high, x)))
    place = one.position.of(s, inside, low, high, n)
    level = s(Traced(named("level", rounded(named("place", place.of), one.round_mode))))
    found = one.result.of(s, level, *one.output_limits.rebuilt(s, first, last), n)
    if one.ends.selects:
        found = np.where(below, first, np.where(above, last, found))
    result = cast(kind, s(found).of)
    result = flushed(result, arithmetic.tiny) if one.subnormals.flushes else result
    return with_names(named("y", with_specials(arithmetic, result, real, *limits[2:])))


def as_number(arithmetic: FakeQuantizeArithmetic, x: Computed) -> Computed:
    """x; the largest finite number in the place of a NaN or an infinity that gave what such a number gives."""
    large = {name: end for name, end in first_seen(arithmetic.seen).items() if end.value is None}
    return as_largest(x, {name: name == "negative_infinity" or end.like == b"-" for name, end in large.items()})


def with_specials(
    arithmetic: FakeQuantizeArithmetic, result: Computed, x: Computed, first: Computed, last: Computed
) -> Computed:
    """The result, but what NaN and infinities gave; as FakeQuantizeArithmetic.special_code."""
    found: dict[str, Any] = {
        name: end.value(first, last) for name, end in first_seen(arithmetic.seen).items() if end.value
    }
    steps = {name: one if isinstance(one, Computed) else constant(one, x.type) for name, one in found.items()}
    return with_results(result, x, steps)
