"""The steps of PaddlePaddle's quantize_linear: its table's own ways to X * range / Scale, traced."""

from __future__ import annotations

from typing import Any

from tiebreak.conformance.emulators.rounding_steps import rounded
from tiebreak.conformance.emulators.steps import (
    SINGLE,
    Computed,
    cast,
    constant,
    given,
    modulus,
    named,
    step,
    where,
    with_names,
)
from tiebreak.conformance.emulators.traced import Traced
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.paddle_quantize import PaddleCombination, PaddleQuantizeArithmetic

FAR = 2.0**62


def paddle_steps(arithmetic: PaddleQuantizeArithmetic, semantics: Semantics) -> Computed:
    """The result, whole numbers in float32."""
    one, steps = PaddleCombination._make(semantics), arithmetic.steps
    way = one.position
    x, scale = (Traced(given(name, SINGLE)).astype(way.precision.dtype) for name in ("x", "scale"))
    quotient: Any = way.of(x, scale, way.precision.dtype.type(steps))  # type: ignore[arg-type]
    whole = named("whole", rounded(named("q", quotient.of), one.round_mode))
    if one.saturation.id == "wrap":
        return with_names(named("y", cast(SINGLE, low_bits(whole, steps))))
    found: Any = one.saturation.of(Traced(whole), steps)  # type: ignore[arg-type]
    return with_names(named("y", cast(SINGLE, found.of)))


def low_bits(whole: Computed, steps: int) -> Computed:
    """As paddle_quantize.low_bits, of NaN those of 0."""
    held = step("clamp", where(step("is_nan", whole), constant(0), whole), constant(-FAR), constant(FAR))
    size, half = 2.0 * steps + 2, constant(steps + 1)
    return modulus(modulus(held, size) + half, size) - half
