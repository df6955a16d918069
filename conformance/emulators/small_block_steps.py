"""The steps of blocks with a scale of 8 bits: the scale, and elements given it, with global_amax or without."""

from __future__ import annotations

from typing import Any
from typing import cast as typed

import numpy as np

from tiebreak.conformance.emulators.cast_steps import cast_of
from tiebreak.conformance.emulators.special_steps import first_seen
from tiebreak.conformance.emulators.steps import Computed, constant, double, given, named, step, where, with_names
from tiebreak.conformance.emulators.traced import Traced
from tiebreak.conformance.semantics.block_element_specials import SpecialElements
from tiebreak.conformance.semantics.cast import CastArithmetic
from tiebreak.conformance.semantics.cast_specials import CastSpecial
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.scaled_cast import ScaledCast
from tiebreak.conformance.semantics.small_block_least import ZERO_BLOCK, LeastScale, ScalesWithLeast
from tiebreak.conformance.semantics.type_grids import bits_as_numbers
from tiebreak.golden.nodes import Node

ELEMENT_OPERANDS = ("x", "scale", "global_amax")
SIXTH, MAGNITUDES = ("sixth",), ("amax", "global_amax")


def scale_operands(node: Node) -> tuple[str, ...]:
    """Without global_amax a table has the sixth part of a magnitude."""
    return MAGNITUDES if len(node.inputs) > 1 else SIXTH


def small_scale_steps(arithmetic: ScalesWithLeast, semantics: Semantics) -> Computed:
    """The scale, as a float64; of a block of zeros what the audit saw."""
    at_settings, least = arithmetic.inner, typed(LeastScale, semantics[-1])
    names = scale_operands(at_settings.node)
    first = given(names[0], at_settings.node.input_type)
    found = named("number", last_cast(at_settings.inner, at_settings.whole(semantics[:-1]), names))

    def value(code: int) -> Computed:
        return constant(float(bits_as_numbers(np.array([code]), arithmetic.kind)[0]))

    if least.code:
        found = named("at_least", step("maximum", found, value(least.code)))
    if zeros := first_seen(arithmetic.seen).get(ZERO_BLOCK):
        code = typed(CastSpecial, zeros).code(arithmetic.kind, False)
        assert code is not None
        found = where(step("equal", double(first), constant(0)), value(code), found)
    return with_names(named("found", found))


def small_element_steps(arithmetic: SpecialElements, semantics: Semantics) -> Computed:
    """An element, as a float64."""
    return with_names(last_cast(arithmetic.inner, arithmetic.whole(semantics), ELEMENT_OPERANDS))


def last_cast(inner: Any, semantics: Semantics, names: tuple[str, ...]) -> Computed:
    """The cast of a number that a table scales, or of its first operand."""
    x, *others = (given(name, tensor.element) for name, tensor in zip(names, inner.node.inputs, strict=False))
    if isinstance(inner, CastArithmetic):
        return cast_of(inner, semantics, x)
    assert isinstance(inner, ScaledCast)
    count = len(inner.ways)
    operands: Any = [Traced(one) for one in others]
    number: Any = inner.number(Traced(x), operands, semantics[:count])  # type: ignore[arg-type]
    return cast_of(inner.cast, semantics[count:], named("scaled", number.of))
