"""Usual mistakes of a cast, each as small backends: what becomes of a number, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.onnx_cast_emulated import EMULATED
from tiebreak.conformance.operators.onnx_cast_integers import WHOLE_WRITES
from tiebreak.conformance.operators.onnx_cast_powers import IGNORED_MODES, POWER_WRITES
from tiebreak.conformance.operators.onnx_cast_reads import (
    BOTH_SIBLINGS,
    NARROWED,
    SOURCES,
    cut_first,
    subnormals_as_zero,
)
from tiebreak.conformance.operators.onnx_cast_steps import (
    Change,
    Write,
    as_small,
    mistake,
    saturates,
    small_kind,
    to_output,
    to_small,
    to_types,
)
from tiebreak.conformance.semantics.cast_grid_facets import to_goal
from tiebreak.conformance.semantics.cast_inputs import GOALS as ENDINGS
from tiebreak.conformance.semantics.type_grids import largest_of, on_grid
from tiebreak.golden.elements import ELEMENT_TYPES, INTEGER_TYPES, FloatType, decode
from tiebreak.golden.nodes import Node
from tiebreak.golden.onnx_types import E8M0, FLOAT4, FLOAT6, FLOAT8, LARGEST_FOR_INFINITY, ONE_ZERO
from tiebreak.golden.problem import Array

# Rounding to a float 8, a float 6 and float 4.


def ties_to_odd(position: Array) -> Array:
    even = np.rint(position)
    is_tie = (np.abs(position - np.trunc(position)) == 0.5) & np.isfinite(position)
    return np.where(is_tie, 2 * position - even, even)


def lowest_bit_lost(position: Array) -> Array:
    return np.trunc(np.rint(position) / 2) * 2


STEPS: tuple[tuple[str, Change], ...] = (
    ("cuts-off", np.trunc),
    ("ties-away-to-type", ws.away),
    ("ties-toward-zero-to-type", ws.toward_zero),
    ("ties-up-to-type", ws.upward),
    ("ties-down-to-type", ws.downward),
    ("ties-odd-to-type", ties_to_odd),
    ("away-to-type", ws.from_zero),
    ("down-to-type", np.floor),
    ("up-to-type", np.ceil),
    ("lowest-bit-lost", lowest_bit_lost),
)


def by_step(step: Change, *names: str) -> Write:
    return to_types(*names, write=lambda node, values: to_small(node, values, step))


def flushed(node: Node, values: Array) -> Array:
    """Subnormal results are zero, of the number's sign."""
    found = to_small(node, values).astype(np.float64)
    small = np.abs(found) < 2.0 ** small_kind(node).emin
    return as_small(node, np.where(small, np.copysign(0.0, found), found))


def zeros_positive(node: Node, values: Array) -> Array:
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where(found == 0, 0.0, found))


def minus_zero_as_nan(node: Node, values: Array) -> Array:
    """The code of -0, which is NaN in types with one zero, where a negative number or -0 gives zero."""
    if node.output_type not in ONE_ZERO:
        raise NotImplementedError
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where((found == 0) & np.signbit(values), np.nan, found))


def minus_zero_for_negative_alone(node: Node, values: Array) -> Array:
    """A negative number that rounds to zero gives the positive zero, though the negative zero stays."""
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where((found == 0) & (values != 0), 0.0, found))


def subnormals_cut_off(node: Node, values: Array) -> Array:
    """Results below the smallest normal value are cut off, others rounded."""
    kind = small_kind(node)
    below = np.abs(values) < 2.0**kind.emin
    return to_small(node, np.where(below, on_grid(values, kind, np.trunc), values))


# The ends of float 8 and float 4.


def infinity_as(number: float) -> Write:
    """An infinity becomes a number, of its sign; NaN and infinities stay what they are."""

    def write(node: Node, values: Array) -> Array:
        found = to_small(node, values).astype(np.float64)
        return as_small(node, np.where(np.isinf(values), np.copysign(number, values), found))

    return write


def infinity_to_largest(node: Node, values: Array) -> Array:
    return infinity_as(largest_of(small_kind(node)))(node, values)


def nan_to(number: Callable[[FloatType], float]) -> Write:
    def write(node: Node, values: Array) -> Array:
        found = to_small(node, values).astype(np.float64)
        return as_small(node, np.where(np.isnan(values), number(small_kind(node)), found))

    return write


def nan_to_largest_of_its_sign(node: Node, values: Array) -> Array:
    largest = largest_of(small_kind(node))
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where(np.isnan(values), np.copysign(largest, values), found))


def nan_to_zero_of_other_sign(node: Node, values: Array) -> Array:
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where(np.isnan(values), np.copysign(0.0, -np.copysign(1.0, values)), found))


def nan_to_highest_of_its_sign(node: Node, values: Array) -> Array:
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where(np.isnan(values), np.copysign(largest_of(small_kind(node)), values), found))


def saturate_always(node: Node, values: Array) -> Array:
    return to_small(node, values, saturate=True)


def saturate_never(node: Node, values: Array) -> Array:
    return to_small(node, values, saturate=False)


def only_finite_saturates_never(node: Node, values: Array) -> Array:
    """Finite numbers do not saturate, infinities do."""
    kind = small_kind(node)
    found = to_small(node, values, saturate=False).astype(np.float64)
    return as_small(node, np.where(np.isinf(values), np.copysign(largest_of(kind), values), found))


def largest_is_the_end(node: Node, values: Array) -> Array:
    """A number beyond the largest value is NaN or infinite though it rounds to it."""
    if saturates(node):
        raise NotImplementedError
    beyond = np.abs(values) > largest_of(small_kind(node))
    return to_small(node, np.where(beyond, np.copysign(np.inf, values), values))


def largest_never(node: Node, values: Array) -> Array:
    kind = small_kind(node)
    found = to_small(node, values).astype(np.float64)
    end = float(decode(kind.largest_bits - 1, kind))
    return as_small(node, np.where(np.isfinite(found), np.clip(found, -end, end), found))


def ends_at(end: Callable[[float], float]) -> Write:
    """Results end below the type's highest value; beyond it they saturate, or are infinite or NaN."""

    def write(node: Node, values: Array) -> Array:
        kind = small_kind(node)
        highest = end(largest_of(kind))
        found = to_small(node, values).astype(np.float64)
        last = highest if saturates(node) else np.inf if kind.specials == "ieee" else np.nan
        return as_small(node, np.where(np.abs(found) > highest, np.copysign(last, values), found))

    return write


def rounded_as_sibling(node: Node, values: Array) -> Array:
    """The bits that the sibling type has for a number, rounded and held as that type does it."""
    other = BOTH_SIBLINGS.get(node.output_type)
    if other is None:
        raise NotImplementedError
    kind = ELEMENT_TYPES[other]
    assert isinstance(kind, FloatType)
    largest = largest_of(kind)
    rounded = on_grid(values, kind, np.rint)
    nothing = np.inf if kind.specials == "ieee" else np.nan
    end = np.copysign(largest if saturates(node) else nothing, rounded)
    found = np.where(np.abs(rounded) > largest, end, rounded).astype(getattr(ml_dtypes, other))
    return found.view(node.outputs[0].dtype)


def nan_below_infinity(node: Node, values: Array) -> Array:
    """float8_e5m2 without saturation: what lies below 65536 and rounds up to it, beyond the type, becomes NaN."""
    if node.output_type != "float8_e5m2" or saturates(node):
        raise NotImplementedError
    found = to_small(node, values).astype(np.float64)
    return as_small(node, np.where(np.isinf(found) & (np.abs(values) < 65536), np.nan, found))


def step_beyond(node: Node, values: Array) -> Array:
    """float8_e4m3fn without saturation: 480 and up to half a step more become 448."""
    if node.output_type != "float8_e4m3fn" or saturates(node):
        raise NotImplementedError
    beyond = (np.abs(values) >= 480) & (np.abs(values) < 496)
    return to_small(node, np.where(beyond, np.copysign(448.0, values), values))


def saturates_beyond_next(node: Node, values: Array) -> Array:
    """As PaddlePaddle: what rounds to the value after the largest is lost, what is as large saturates."""
    limit = {"float8_e4m3fn": 480.0, "float8_e5m2": 65536.0}.get(node.output_type)
    if limit is None or not saturates(node):
        raise NotImplementedError
    kind = small_kind(node)
    beyond = np.abs(values) >= limit
    if kind.specials != "ieee":
        beyond |= np.isnan(values)
    return as_small(
        node, np.where(beyond, np.copysign(largest_of(kind), values), to_small(node, values, saturate=False))
    )


def infinity_as_from_24(node: Node, values: Array) -> Array:
    """Before operator set 24, what came with it: with saturate an infinity is the largest value."""
    if node.output_type not in ONE_ZERO or node.opset >= LARGEST_FOR_INFINITY or not saturates(node):
        raise NotImplementedError
    return infinity_to_largest(node, values)


FLOAT8_WRITES: tuple[tuple[str, str, Write], ...] = (
    ("always-saturates", "unsaturated", saturate_always),
    ("never-saturates", "saturate", saturate_never),
    ("never-saturates:but infinities do", "saturate", only_finite_saturates_never),
    ("saturates-beyond-next-value", "saturate", saturates_beyond_next),
    ("infinity-stays", "infinity", infinity_as(np.inf)),
    ("infinity-to-nan", "infinity", infinity_as(np.nan)),
    ("infinity-to-largest:as from operator set 24 on", "older-infinity", infinity_as_from_24),
    ("infinity-to-largest", "unsaturated", infinity_to_largest),
    ("infinity-to-zero", "infinity", infinity_as(0.0)),
    ("nan-below-infinity", "unsaturated", nan_below_infinity),
    ("step-beyond-largest", "unsaturated", step_beyond),
    ("largest-is-the-end", "unsaturated", largest_is_the_end),
    ("output-as-sibling", "float8", rounded_as_sibling),
    ("nan-to-zero", "nan", nan_to(lambda kind: 0.0)),
    ("nan-to-highest", "nan", nan_to(largest_of)),
    ("nan-to-highest:with the input's sign", "nan", nan_to_highest_of_its_sign),
    ("nan-to-lowest", "nan", nan_to(lambda kind: -largest_of(kind))),
    ("nan-to-infinity", "nan", nan_to(lambda kind: np.inf if kind.specials == "ieee" else np.nan)),
    ("flushes-outputs", "float8", flushed),
    ("below-normal-cut-off", "float8", subnormals_cut_off),
    ("minus-zero-lost", "zero", zeros_positive),
    ("minus-zero-lost:where a number rounds to it", "zero", minus_zero_for_negative_alone),
    ("minus-zero-to-nan", "zero", minus_zero_as_nan),
    ("largest-never", "saturate", largest_never),
    ("ends-at:240", "float8", ends_at(lambda highest: min(240.0, highest))),
    ("ends-at:half the highest value", "float8", ends_at(lambda highest: highest / 2)),
)
(IN_FLOAT6, TWICE_IN_FLOAT6), (IN_FLOAT4, TWICE_IN_FLOAT4) = ENDINGS[FLOAT6[0]], ENDINGS[FLOAT4[0]]
IN_POWERS = "in float8_e8m0fnu"
# Of types without NaN and infinities: the cause's id, its role but for the type's name, and what is done.
BOUNDED_WRITES: tuple[tuple[str, str, Write], ...] = (
    ("infinity-to-zero", "{}-ends", infinity_as(0.0)),
    ("flushes-outputs", "{}", flushed),
    ("below-normal-cut-off", "{}", subnormals_cut_off),
    ("minus-zero-lost", "zero", zeros_positive),
    ("minus-zero-lost:where a number rounds to it", "zero", minus_zero_for_negative_alone),
    ("largest-never", "{}-ends", largest_never),
)
FLOAT4_WRITES: tuple[tuple[str, str, Write], ...] = (
    (f"nan-to-zero:{IN_FLOAT4}", "float4-ends", nan_to(lambda kind: 0.0)),
    (f"nan-to-zero:the negative one, {IN_FLOAT4}", "float4-ends", nan_to(lambda kind: -0.0)),
    (f"nan-to-zero:of the other sign, {IN_FLOAT4}", "float4-ends", nan_to_zero_of_other_sign),
    (f"nan-to-highest:of its sign, {IN_FLOAT4}", "float4-ends", nan_to_largest_of_its_sign),
    (f"nan-to-lowest:{IN_FLOAT4}", "float4-ends", nan_to(lambda kind: -largest_of(kind))),
)
# By the type of output: the role of rounding, the ending of ids, the key of rounding twice, and the types.
GOALS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("float8", "", "x-in", FLOAT8),
    ("float4", IN_FLOAT4, TWICE_IN_FLOAT4, FLOAT4),
    ("float6", IN_FLOAT6, TWICE_IN_FLOAT6, FLOAT6),
    ("integer", "in an integer", "x-in-before-integer", tuple(INTEGER_TYPES)),
    ("power", IN_POWERS, "x-in-before-power", E8M0),
)


def rounding() -> Iterator[tuple[Cause, Mistake]]:
    for role, goal, _, names in GOALS[:3]:
        for key, step in STEPS:
            yield Cause(to_goal(key, goal), role), mistake(by_step(step, *names))
    for role, goal, twice, names in GOALS:
        for narrow, read in NARROWED:
            yield Cause(f"{twice}:{narrow}", role), mistake(to_types(*names), read)
        yield Cause(to_goal("x-cut-off-to-bfloat16", goal), role), mistake(to_types(*names), cut_first(8))
    for narrow, read in NARROWED:  # of which the first alone leaves what is beyond the largest value without a cause
        cause = Cause(f"x-in:{narrow} + never-saturates", "saturate")
        yield cause, mistake(to_types(*FLOAT8, write=saturate_never), read)


def writes() -> Iterator[tuple[Cause, Mistake]]:
    for key, role, write in FLOAT8_WRITES:
        yield Cause(key, role), mistake(to_types(*FLOAT8, write=write))
    for key, role, write in FLOAT4_WRITES:
        yield Cause(key, role), mistake(to_types(*FLOAT4, write=write))
    for name, goal, _, names in GOALS[1:3]:
        for key, role, write in BOUNDED_WRITES:
            yield Cause(to_goal(key, goal), role.format(name)), mistake(to_types(*names, write=write))
    for key, role, write in (*POWER_WRITES, *WHOLE_WRITES):
        yield Cause(key, role), mistake(write)
    for key, role, write in IGNORED_MODES:  # after those of one mode, which say less
        yield Cause(key, role, of_kind=True), mistake(write)


def sources() -> Iterator[tuple[Cause, Mistake]]:
    for key, read in SOURCES:
        yield Cause(key, "exact"), mistake(to_output, read)
    for role, goal, names in (("float8", "", FLOAT8), ("power", IN_POWERS, E8M0)):  # others are zero anyway
        yield Cause(to_goal("flushes-inputs", goal), role), mistake(to_types(*names), subnormals_as_zero)


MISTAKES: tuple[tuple[Cause, Mistake], ...] = (*rounding(), *writes(), *sources(), *EMULATED)
