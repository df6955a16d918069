"""Wrong steps of Dequantize: one of them, or two at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from tiebreak.conformance.operators import wrong_steps as ws
from tiebreak.conformance.operators.model import Cause, Mistake
from tiebreak.conformance.operators.tensorflow_ranges import RangedIntegers, ranges_of_elements
from tiebreak.conformance.operators.wrong_steps import frequent, step
from tiebreak.golden.elements import INTEGER_TYPES, IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Array

F32 = np.float32
Ends = tuple[Array, Array]


@dataclass(frozen=True)
class RangedInput(RangedIntegers):
    narrow: bool

    @property
    def step(self) -> Array:
        return np.asarray(self.width / self.steps)


def sides(o: RangedInput, narrow: bool | None = None) -> Ends:
    from_high = o.high / F32(o.kind.highest)
    lowest = o.kind.lowest + (o.narrow if narrow is None else narrow)
    return (o.low / F32(lowest) if o.kind.signed else from_high), from_high


def greater(o: RangedInput) -> Array:
    return np.maximum(*sides(o))


def first_step(o: RangedInput) -> Array:
    count = 2.0**o.kind.bits
    return np.asarray(o.width * F32(count / (count - 1)) / F32(count))


def added_in_double(x: Array, o: RangedInput, step: Array) -> Array:
    return np.asarray(o.low.astype(np.float64) + x * step.astype(np.float64))


def offset_of(o: RangedInput) -> float:
    return -float(o.kind.lowest)


def code_as_is(x: Array, kind: IntegerType) -> Array:
    return x


@lru_cache(maxsize=1 << 8)
def changes_codes(code: Callable[..., Array], kind: IntegerType) -> bool:
    return ws.changes(partial(code, kind=kind), kind.name)


@dataclass(frozen=True)
class DequantizeSteps:
    """The document's steps, each rounded to float32. A field that is not as here is a wrong step; x is float64."""

    mode: str = ""
    x: Callable[[Array], Array] = ws.as_is
    code: Callable[..., Array] = code_as_is
    places: tuple[ws.Place | None, ws.Place | None] | None = None
    range: Callable[[Array, Array], Ends] = lambda low, high: (low, high)
    offset: Callable[[RangedInput], float] = offset_of
    combined: Callable[[Array, RangedInput], Array] = lambda x, o: o.low + x * o.width / o.steps
    first_step: Callable[[RangedInput], Array] = first_step
    lowest: Callable[[RangedInput], int] = lambda o: o.kind.lowest
    added: Callable[[Array, RangedInput, Array], Array] = added_in_double
    factor: Callable[[RangedInput], Array] = greater
    product: Callable[[Array, Array], Array] = lambda x, factor: x.astype(F32) * factor
    out: Callable[[Array], Array] = lambda y: y

    def __call__(self, node: Node, x: Array, low: Array, high: Array) -> tuple[Array, ...]:
        mode = str(node.attributes.get("mode", "MIN_COMBINED"))
        if self.mode not in ("", mode):
            raise ValueError("another mode's step")
        with np.errstate(all="ignore"):
            kind, narrow = INTEGER_TYPES[node.input_type], bool(node.attributes.get("narrow_range", False))
            self.check(kind)
            codes = self.x(self.code(x.astype(np.float64), kind))
            o = RangedInput(*self.range(*ranges_of_elements(node.attributes, x, low, high, self.places)), kind, narrow)
            found = self.dequantized(mode, codes, o).astype(F32)
            return (np.asarray(self.out(found)).astype(node.outputs[0].dtype).reshape(x.shape),)

    def check(self, kind: IntegerType) -> None:
        """ValueError where a step of the input changes no integer of its type."""
        if self.x is not ws.as_is and not ws.changes(self.x, kind.name):
            raise ValueError("there is nothing to mistake")
        if self.code is not code_as_is and not changes_codes(self.code, kind):
            raise ValueError("there is nothing to mistake")

    def dequantized(self, mode: str, x: Array, o: RangedInput) -> Array:
        if mode == "MIN_COMBINED":
            return np.asarray(self.combined((x + self.offset(o)).astype(F32), o))
        if mode == "MIN_FIRST":
            return np.asarray(self.added(x - self.lowest(o), o, np.asarray(self.first_step(o)).astype(F32)))
        return np.asarray(self.product(x, np.asarray(self.factor(o)).astype(F32)))


def wrapped(x: Array, signed: bool, bits: int) -> Array:
    """The low bits of integers."""
    lowest = -(1 << (bits - 1)) if signed else 0
    return np.asarray(np.mod(x - lowest, 2.0**bits) + lowest)


def clipped(x: Array, bits: int) -> Array:
    return np.clip(x, -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1)


def by_zero_point(x: Array, o: RangedInput) -> Array:
    return np.asarray((x - np.rint(-o.low / o.step)) * o.step)


def reciprocal_ratio(o: RangedInput) -> Array:
    """As compilers rewrite a division by a constant."""
    return np.asarray(o.width * (F32(1) / o.steps))


def between(x: Array, o: RangedInput) -> Array:
    share = x / o.steps
    return np.asarray(o.low * (F32(1) - share) + o.high * share)


def sum_cut_off(x: Array, o: RangedInput) -> Array:
    return ws.cut_off(o.low.astype(np.float64) + (x * o.width / o.steps).astype(np.float64), F32)


def moved_to(whole: Callable[[Array], Array]) -> Callable[[Array, RangedInput, Array], Array]:
    """min_range moves to a multiple of the step, whose product with the integer is added in double."""

    def added(x: Array, o: RangedInput, step: Array) -> Array:
        wide = step.astype(np.float64)
        return np.asarray(whole(o.low / step).astype(np.float64) * wide + x * wide)

    return added


STEPS: tuple[ws.WrongStep, ...] = (
    *ws.of_input("input-type"),
    frequent("input-as-unsigned", "input-type", code=lambda x, kind: wrapped(x, False, kind.bits)),
    frequent("unsigned-as-signed", "input-type", code=lambda x, kind: wrapped(x, True, kind.bits)),
    frequent("lowest-input-as-next", "input-type", code=lambda x, kind: np.maximum(x, kind.lowest + 1)),
    frequent("input-saturates-to:int8", "input-type", code=lambda x, kind: clipped(x, 8)),
    frequent("input-saturates-to:int16", "input-type", code=lambda x, kind: clipped(x, 16)),
    frequent("input-keeps-low:8 bits", "input-type", code=lambda x, kind: wrapped(x, kind.signed, 8)),
    step("input-keeps-low:16 bits", "input-type", code=lambda x, kind: wrapped(x, kind.signed, 16)),
    *ws.of_places("axis", {"one-for-all:first range": "one-for-all:range"}),
    frequent("range-in-bfloat16", "range-type", range=lambda low, high: (ws.in_bfloat16(low), ws.in_bfloat16(high))),
    frequent("range-in:float16", "range-type", range=lambda low, high: (ws.in_float16(low), ws.in_float16(high))),
    frequent("range-exchanged", "combined", range=lambda low, high: (high, low)),
    step(
        "range-made-symmetric",
        "combined",
        range=lambda low, high: (-np.maximum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))),
    ),
    step(
        "range-extended-to-zero",
        "combined",
        range=lambda low, high: (np.minimum(low, F32(0)), np.maximum(high, F32(0))),
    ),
    *ws.in_mode(
        "MIN_COMBINED",
        frequent("no-offset", "offset", offset=lambda o: 0.0),
        frequent("offset-of-one-less", "offset", offset=lambda o: offset_of(o) - o.kind.signed),
        frequent("offset-of-half-less", "offset", offset=lambda o: offset_of(o) - 0.5 * o.kind.signed),
        frequent("range-ratio-first", "combined", combined=lambda x, o: o.low + x * o.step),
        frequent("result:fused", "combined", combined=lambda x, o: ws.fused(x, o.step, o.low)),
        frequent("range-ratio-by-reciprocal", "combined", combined=lambda x, o: o.low + x * reciprocal_ratio(o)),
        frequent(
            "range-ratio-by-reciprocal-fused", "combined", combined=lambda x, o: ws.fused(x, reciprocal_ratio(o), o.low)
        ),
        frequent("divides-before-width", "combined", combined=lambda x, o: o.low + x / o.steps * o.width),
        frequent(
            "reciprocal-of-integer-range", "combined", combined=lambda x, o: o.low + x * o.width * (F32(1) / o.steps)
        ),
        frequent("result:between the limits", "combined", combined=between),
        frequent("counts-from-max", "combined", combined=lambda x, o: o.high - (o.steps - x) * o.step),
        frequent("counts-values", "range-of-T", combined=lambda x, o: o.low + x * o.width / (o.steps + F32(1))),
        step("counts-one-step-less", "range-of-T", combined=lambda x, o: o.low + x * o.width / (o.steps - F32(1))),
        frequent("step-in:float16", "combined", combined=lambda x, o: o.low + x * ws.in_float16(o.step)),
        frequent("step-in:bfloat16", "combined", combined=lambda x, o: o.low + x * ws.in_bfloat16(o.step)),
        frequent("by-integer-zero-point", "combined", combined=by_zero_point),
        frequent("no-minimum", "combined", combined=lambda x, o: x * o.width / o.steps),
        step("cuts-off", "combined", combined=sum_cut_off),
    ),
    *ws.in_mode(
        "MIN_FIRST",
        frequent("one-division", "range-scale", first_step=lambda o: o.step),
        frequent("no-range-adjust", "range-scale", first_step=lambda o: o.width / (o.steps + F32(1))),
        frequent("step-in:float16", "range-scale", first_step=lambda o: ws.in_float16(first_step(o))),
        frequent("step-in:bfloat16", "range-scale", first_step=lambda o: ws.in_bfloat16(first_step(o))),
        frequent("min-first-in-float32", "double-steps", added=lambda x, o, k: o.low + x.astype(F32) * k),
        frequent("moves-minimum", "min-first", added=moved_to(np.rint)),
        frequent("moves-minimum-down", "min-first", added=moved_to(np.floor)),
        frequent("no-minimum", "min-first", added=lambda x, o, k: x * k.astype(np.float64)),
        frequent("no-lowest", "min-first", lowest=lambda o: 0),
    ),
    *ws.in_mode(
        "SCALED",
        frequent("smaller-factor", "signed-factor", factor=lambda o: np.minimum(*sides(o))),
        frequent("max-side-alone", "signed-factor", factor=lambda o: sides(o)[1]),
        frequent("one-end-alone:min_range", "signed-factor", factor=lambda o: sides(o)[0]),
        frequent("one-scale-for-both-sides", "signed-factor", factor=lambda o: o.magnitude / F32(o.kind.highest)),
        frequent(
            "one-scale-of-half-the-values", "signed-factor", factor=lambda o: o.magnitude / F32(o.kind.highest + 1)
        ),
        frequent("width-over-steps", "signed-factor", factor=lambda o: o.width / (o.steps - F32(o.narrow))),
        frequent("factor-in:float16", "scaled", factor=lambda o: ws.in_float16(greater(o))),
        frequent("factor-in-bfloat16", "scaled", factor=lambda o: ws.in_bfloat16(greater(o))),
        step("factor-cut-off-to-bfloat16", "scaled", factor=lambda o: ws.cut_to_bfloat16(greater(o))),
        step("factor-of-digits:6", "scaled", factor=lambda o: ws.of_six_digits(greater(o))),
        frequent("ignores:narrow_range", "narrow", factor=lambda o: np.maximum(*sides(o, False))),
        frequent("narrow-range", "narrow", factor=lambda o: np.maximum(*sides(o, True))),
        frequent("divides-by-step", "scaled", product=lambda x, k: x.astype(F32) / (F32(1) / k)),
        frequent("divides-by-estimate-of-bits:12", "scaled", product=lambda x, k: x.astype(F32) / ws.estimate(k)),
        step("cuts-off", "scaled", product=lambda x, k: ws.cut_off(x.astype(F32).astype(np.float64) * k, F32)),
        step("multiplies-exact-input", "scaled", product=lambda x, k: x * k.astype(np.float64)),
    ),
    *ws.of_result("output-type"),
)
MISTAKES: tuple[tuple[Cause, Mistake], ...] = ws.single_steps(DequantizeSteps, STEPS)
PAIRS: tuple[tuple[Cause, Mistake], ...] = ws.pairs_of_steps(DequantizeSteps, STEPS)
