"""The steps of a number times a dequantized weight, as com.microsoft.MatMulNBits has them: its table's, traced.

Numbers on the way are ordinary, as those are that an audit asks: none is subnormal, and none overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tiebreak.conformance.emulators.steps import (
    SINGLE,
    Computed,
    cast,
    constant,
    double,
    given,
    modulus,
    named,
    step,
    where,
    with_names,
)
from tiebreak.conformance.emulators.traced import Traced
from tiebreak.conformance.semantics.model import Semantics
from tiebreak.conformance.semantics.weight_product import WeightProductArithmetic
from tiebreak.conformance.semantics.weight_product_facets import Narrowing, Parts, WeightProductCombination
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.nodes import Node

NAMES = ("a", "code", "scale", "zero_point")
NODE_NAMES = ("a_rows", "b", "scales", "zero_points")
LEAST = 2.0**-149  # of float32
NOTE = "the audit asked for one product: it says nothing of a sum of several"


def weight_product_steps(arithmetic: WeightProductArithmetic, semantics: Semantics) -> Computed:
    """The product, in Y's type."""
    one, node = WeightProductCombination._make(semantics), arithmetic.node
    kinds = [tensor.element for tensor in node.inputs]
    a, code, scale, point = (Traced(given(name, kind)) for name, kind in zip(NAMES, kinds, strict=True))
    dtype, operand = one.precision.dtype, one.operand.of(a)  # type: ignore[arg-type]
    parts: Any = Parts(*(part.astype(dtype) for part in (*operand, code, point, scale)))  # type: ignore[arg-type]
    product: Any = one.position.of(parts, lambda weight: narrowed(one.weight, weight).astype(dtype))
    return with_names(named("y", cast(node.output_type, narrowed(one.result, product).of)))


def narrowed(rule: Narrowing, value: Any) -> Any:
    """What a narrowing gives. Those that look at bits have steps of their own."""
    kind, _, how = rule.id.partition("-")
    return Traced(BY_BITS[how](kind, value.of)) if how else rule.of(value)


def cut_off(kind: str, value: Computed) -> Computed:
    """Toward zero: the nearest number, or where that is greater in magnitude, the one before it.

    Between half a unit in its last place and a whole one is taken off the nearest: that rounds to the one before.
    """
    nearest = named("nearest", cast(SINGLE, cast(kind, value)))
    before = cast(SINGLE, cast(kind, nearest * constant(1 - 2.0 ** -digits(kind), SINGLE)))
    return cast(kind, where(step("abs", nearest) > step("abs", value), before, nearest))


def half_for_odd(kind: str, value: Computed) -> Computed:
    """Cut off after half a unit is added to a number whose last digit that is kept is odd."""
    cut = named("cut", cast(SINGLE, cut_off(kind, value)))
    unit = named(
        "unit",
        step("power_of_two", step("maximum", step("abs", double(cut)), constant(LEAST)))
        * constant(2.0 ** (1 - digits(kind))),
    )
    odd = step("equal", modulus(step("abs", double(cut)) / unit, 2.0), constant(1))
    rest = step("abs", double(value)) - step("abs", double(cut))
    more = double(cut) + step("copysign", unit, double(cut))
    return cast(kind, cast(SINGLE, where(odd & (rest >= unit * constant(0.5)), more, double(cut))))


BY_BITS: Mapping[str, Callable[[str, Computed], Computed]] = {"cut-off": cut_off, "half-for-odd": half_for_odd}


def digits(kind: str) -> int:
    """Bits of a significand, with the one that is not stored."""
    return FLOAT_TYPES[kind].precision


def first_product(node: Node) -> tuple[str, ...]:
    """Lines of Python that take the function's inputs from the node's."""
    mask = (1 << int(node.value("bits"))) - 1
    return (
        "if a_rows[..., 1:].any():",
        '    raise Unsupported("made for one product: rows of A whose first number alone is not 0")',
        "a, scale = a_rows[..., :1], scales.reshape(-1)[0]",
        f"code, zero_point = (one.reshape(-1)[0] & {mask} for one in (b, zero_points))",
    )
