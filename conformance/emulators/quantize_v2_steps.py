"""The steps of TensorFlow's QuantizeV2: the formulas of its table, traced."""

from __future__ import annotations

from typing import Any

from tiebreak.conformance.emulators.fake_quantize_steps import NO_EXACT
from tiebreak.conformance.emulators.rounding_steps import rounded
from tiebreak.conformance.emulators.saturation_steps import TypeEnds
from tiebreak.conformance.emulators.special_steps import as_largest, first_seen, with_results
from tiebreak.conformance.emulators.steps import Computed, constant, given, named, with_names
from tiebreak.conformance.emulators.traced import Traced
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.quantize_v2 import QuantizeV2Arithmetic
from tiebreak.conformance.semantics.quantize_v2_facets import QuantizeV2Combination, UnscaledInRange
from tiebreak.golden.errors import Unsupported

RANGE = ("min_range", "max_range")


def quantize_v2_steps(arithmetic: QuantizeV2Arithmetic, semantics: Semantics) -> Computed:
    """The code, as a float64. Raises Unsupported for steps that are not rounded."""
    precision, formula, scaling, ends, offset, mode = QuantizeV2Combination._make(semantics)
    if precision.is_exact:
        raise Unsupported(NO_EXACT)
    seen = first_seen(arithmetic.seen)
    x, low, high = (given(name, arithmetic.node.input_type) for name in ("x", *RANGE))
    number = as_largest(x, {name: name == "negative_infinity" for name, end in seen.items() if not end.value})
    operands: Any = (Traced(one).astype(precision.dtype) for one in (number, low, high))
    used, bottom, top = operands
    unscaled = UnscaledInRange(used, bottom, top, precision.dtype, arithmetic.quantized, arithmetic.lowest)
    unrounded: Any = formula.argument(unscaled, scaling, ends, offset)
    whole = rounded(named("q", unrounded.value.of), mode)
    if unrounded.taken is not None:
        whole = named("whole", whole) - rounded(named("q_of_min", unrounded.taken.of), mode)
    if unrounded.added:
        whole = whole + constant(unrounded.added)
    code = TypeEnds(arithmetic.quantized).clamp(whole)
    fixed = {name: constant(end.value(arithmetic.quantized)) for name, end in seen.items() if end.value}
    return with_names(named("y", with_results(code, x, fixed)))
