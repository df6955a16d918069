"""The steps of PyTorch's fake quantizers: those to the level, and the number that it stands for, rounded once."""

from __future__ import annotations

from tiebreak.conformance.emulators.quantize_steps import quantize_steps
from tiebreak.conformance.emulators.steps import NAMES, SINGLE, Computed, cast, double, given, named
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.torch_fake_quantize import FakeLevels


def fake_levels_steps(arithmetic: FakeLevels, semantics: Semantics) -> Computed:
    """The result, a float32: the product of a difference of 17 bits and a scale is exact in float64."""
    level = named("level", quantize_steps(arithmetic.inner, semantics))
    _, scale, zero_point = (
        given(name, tensor.element) for name, tensor in zip(NAMES, arithmetic.node.inputs, strict=True)
    )
    return named("number", cast(SINGLE, (level - double(zero_point)) * double(scale)))
