"""Usual mistakes of paddle.QuantizeLinear, as small NumPy backends.

The pipeline has these steps: X and the scale, range, the quotient X * range / Scale, rounding. Numbers are float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Mistake
from tiebreak.conformance.operators.wrong_steps import WrongStep, frequent, pairs_of_steps, single_steps, step
from tiebreak.conformance.variants import conversions
from tiebreak.conformance.variants.places import CHANNEL_NAMES, PLACES, Place
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array, along
from tiebreak.golden.rounding import EVEN

FLOAT = np.float32
EPSILON, LEAST, LEAST_NORMAL = FLOAT(1e-6), FLOAT(1e-30), np.finfo(np.float32).tiny  # of the kernel's `inverse`
Quotient = Callable[[Array, Array, np.float32], Array]


# The right steps


def range_of(node: Node) -> int:
    return int(2 ** (node.value("bit_length") - 1) - 1)


def divided(x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray(x * steps / scale)


def away(quotient: Array) -> Array:
    return np.copysign(ws.away(quotient), quotient)


def rounded(mode: str, quotient: Array) -> Array:
    return np.asarray(np.rint(quotient) if mode == EVEN else away(quotient))


@dataclass(frozen=True)
class PaddleQuantizer:
    """Steps in order, the right ones unless given. Results beyond qmin and qmax are open: the ends take their place."""

    x: Callable[[Array], Array] = conversions.as_is
    scale: Callable[[Array], Array] = conversions.as_is
    place: Place | None = None
    limit: Callable[[str, Array, Array], Array] = lambda mode, x, scale: x
    steps: Callable[[Node], int] = range_of
    quotient: Quotient = divided
    round: Callable[[str, Array], Array] = rounded
    ends: Callable[[Node], tuple[int, int]] = lambda node: (int(node.value("qmin")), int(node.value("qmax")))
    out: Callable[[Array], Array] = conversions.as_is

    def __call__(self, node: Node, x: Array, scale: Array, zero_point: Array) -> tuple[Array, ...]:
        low, high = self.ends(node)
        with np.errstate(all="ignore"):
            own = self.spread(node, x, self.scale(scale))
            quotient = self.quotient(self.limit(node.round_mode, self.x(x), own), own, FLOAT(self.steps(node)))
            whole = np.fmin(np.fmax(self.round(node.round_mode, quotient), low), high)
            return (np.asarray(self.out(np.asarray(whole, FLOAT)), FLOAT),)

    def spread(self, node: Node, x: Array, scale: Array) -> Array:
        """The scale of each element, from its own place or a wrong one."""
        axis = int(node.value("quant_axis"))
        if self.place is not None:
            at = along(np.arange(scale.size), (axis,), x.shape) if axis >= 0 else np.zeros((), np.int64)
            return ws.taken_from((self.place, None), np.broadcast_to(at, x.shape), scale, scale)[0]
        return np.broadcast_to(scale.reshape(()) if axis < 0 else along(scale, (axis,), x.shape), x.shape)


def pipeline(**steps: Any) -> Mistake:
    return PaddleQuantizer(**steps)


# The quotient, in other orders


def raised(scale: Array) -> Array:
    """A scale of at most 1e-30 plus 1e-6, as the kernel's `inverse` has it."""
    return np.where(scale <= LEAST, scale + EPSILON, scale)


def inverse(scale: Array) -> Array:
    return np.asarray(FLOAT(1) / scale)


def range_times_inverse(x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray(steps * inverse(scale) * x)


def range_times_kernel_inverse(x: Array, scale: Array, steps: np.float32) -> Array:
    """The kernel's own inverse: a small scale is raised."""
    return range_times_inverse(x, raised(scale), steps)


def range_times_flushed_inverse(x: Array, scale: Array, steps: np.float32) -> Array:
    """So where subnormals are flushed, as in eager mode."""
    found = inverse(raised(scale))
    return np.asarray(steps * np.where(np.abs(found) < LEAST_NORMAL, FLOAT(0), found) * x)


def product_times_inverse(x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray(x * steps * inverse(scale))


def inverse_first(x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray(x * inverse(scale) * steps)


def factor_first(x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray(x * (steps / scale))


def step_first(x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray(x / (scale / steps))


def step_by_reciprocal(x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray(x / (scale * FLOAT(1 / float(steps)))) if steps else np.zeros_like(x)


def step_by_reciprocals(x: Array, scale: Array, steps: np.float32) -> Array:
    """The step is the scale times a reciprocal, and X is multiplied by its reciprocal."""
    return np.asarray(x * inverse(scale * FLOAT(1 / float(steps)))) if steps else np.zeros_like(x)


def quotient_first(x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray(x / scale * steps)


def multiplied(x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray(x * steps * scale)


def scale_as_step(x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray(x / scale)


def divided_in(kind: Any, x: Array, scale: Array, steps: np.float32) -> Array:
    return np.asarray((x.astype(kind) * kind(steps) / scale.astype(kind)).astype(FLOAT))


QUOTIENTS = (
    frequent("own-reciprocal-times-range", "quotient", quotient=range_times_inverse),
    step("own-inverse-times-range + flushes-inputs-and-reciprocals", "quotient", quotient=range_times_flushed_inverse),
    frequent("own-inverse-times-range", "quotient", quotient=range_times_kernel_inverse),
    frequent("own-reciprocal", "quotient", quotient=product_times_inverse),
    frequent("factor-first", "quotient", quotient=factor_first),
    frequent("step-first", "quotient", quotient=step_first),
    step("step-by-reciprocals", "quotient", quotient=step_by_reciprocals),
    step("step-by-reciprocal-of-range", "quotient", quotient=step_by_reciprocal),
    step("own-reciprocal-before-range", "quotient", quotient=inverse_first),
    step("divides-before-range", "quotient", quotient=quotient_first),
    step("multiplies-by-scale", "quotient", quotient=multiplied),
    step("ignores:range", "range", quotient=scale_as_step),
    step("divides-in:float16", "quotient", quotient=partial(divided_in, np.float16)),
    step("divides-in:bfloat16", "quotient", quotient=partial(divided_in, ml_dtypes.bfloat16)),
)

# Range, scale and X


def limited(mode: str, x: Array, scale: Array) -> Array:
    return np.fmin(np.fmax(x, -scale), scale)


def limited_if_away(mode: str, x: Array, scale: Array) -> Array:
    """So only with round_type 1, as the kernel does it."""
    if mode == EVEN:
        raise ValueError("these are not limited")
    return limited(mode, x, scale)


def qmax(node: Node) -> int:
    return int(node.value("qmax"))


def qmax_both_ways(node: Node) -> tuple[int, int]:
    return -qmax(node) - 1, qmax(node)


def without_qmin(node: Node) -> tuple[int, int]:
    return int(node.value("qmin")) + 1, qmax(node)


def ends_of_bits(node: Node) -> tuple[int, int]:
    return -one_more(node), range_of(node)


def one_more(node: Node) -> int:
    return range_of(node) + 1


def unsigned(node: Node) -> int:
    return 2 * range_of(node) + 1


def of_eight_bits(node: Node) -> int:
    return 127


OPERANDS = (
    step(
        "own-inverse-times-range + range-and-ends-are-qmax",
        "range",
        quotient=range_times_kernel_inverse,
        steps=qmax,
        ends=qmax_both_ways,
    ),
    frequent("range-and-ends-are-qmax", "range", steps=qmax, ends=qmax_both_ways),
    step("range-is-qmax", "range", steps=qmax),
    step("range-counts:2^(bit_length - 1)", "range", steps=one_more),
    step("range-counts:2^bit_length - 1", "range", steps=unsigned),
    step("ignores:bit_length", "range", steps=of_eight_bits),
    step("small-scale-raised", "quotient", scale=raised),
    frequent("clips-to-scale:with round_type 1", "product", limit=limited_if_away),
    step("clips-to-scale", "product", limit=limited),
    step(
        "own-inverse-times-range + range-and-ends-are-qmax + clips-to-scale:with round_type 1",
        "range",
        quotient=range_times_kernel_inverse,
        steps=qmax,
        ends=qmax_both_ways,
        limit=limited_if_away,
    ),
    step("scale-in:float16", "quotient", scale=conversions.in_float16),
    step("scale-in:bfloat16", "quotient", scale=conversions.in_bfloat16),
    step("scale-to-power-of-two", "quotient", scale=lambda scale: conversions.significant(1, scale)),
)

# Rounding and the ends


def exchanged(mode: str, quotient: Array) -> Array:
    return rounded("" if mode == EVEN else EVEN, quotient)


def only_even(mode: str, quotient: Array) -> Array:
    if mode == EVEN:
        raise ValueError("that is right")
    return np.asarray(np.rint(quotient))


def only_away(mode: str, quotient: Array) -> Array:
    if mode != EVEN:
        raise ValueError("that is right")
    return away(quotient)


def half_added(mode: str, quotient: Array) -> Array:
    """Ties away from zero by a sum in float32."""
    if mode == EVEN:
        return rounded(mode, quotient)
    return np.copysign(np.floor(np.abs(quotient) + FLOAT(0.5)), quotient)


def only_half_added(mode: str, quotient: Array) -> Array:
    if mode == EVEN:
        raise ValueError("that is right")
    return half_added(mode, quotient)


def by(whole: Callable[[Array], Array]) -> Callable[[str, Array], Array]:
    return lambda mode, quotient: np.asarray(whole(quotient))


ROUNDS = (
    frequent("ties-away", "even", round=only_away),
    frequent("ignores:round_type", "away", round=only_even),
    step("inverts:round_type", "round-type", round=exchanged),
    step("truncates", "even", round=by(np.trunc)),
    step("floors", "even", round=by(np.floor)),
    step("ceils", "even", round=by(np.ceil)),
    step("floor-of-half-more", "even", round=by(lambda q: np.floor(q + FLOAT(0.5)))),
    step("half-added-to-magnitude", "away", round=only_half_added),
)
ENDS = (
    step(
        "step-by-reciprocals + ends-of-bits + half-added-to-magnitude:with round_type 1",
        "quotient",
        quotient=step_by_reciprocals,
        ends=ends_of_bits,
        round=half_added,
    ),
    step("ends-of-bits", "bit-length", ends=ends_of_bits),
    step("narrow-range", "quotient", ends=lambda node: (-qmax(node), qmax(node))),
    step("narrow-range:whatever qmin is", "quotient", ends=without_qmin),
)
STEPS: tuple[WrongStep, ...] = (
    *QUOTIENTS,
    *OPERANDS,
    *ROUNDS,
    *ENDS,
    *ws.of_input("product"),
    *ws.of_result("output-type"),
)
MISTAKES = single_steps(pipeline, STEPS)
PAIRS = pairs_of_steps(pipeline, STEPS)

# The places of scales

FIRST = "one-for-all:first range"
OF_SCALES = {**{name: CHANNEL_NAMES[name] for name in PLACES}, FIRST: "one-for-all:scale"}
CHANNELS = tuple(step(OF_SCALES[name], "axis", place=place) for name, place in PLACES.items())
CHANNEL_MISTAKES = single_steps(pipeline, CHANNELS)
