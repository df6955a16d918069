"""Wrong steps that quantizers of blocks share, as changes of their terms: what a block is measured by, and elements.

A reading of their terms names the number that becomes an element QUOTIENT.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tiebreak.conformance.operators.wrong_terms import Wrong, of_role
from tiebreak.conformance.semantics.type_grids import largest_of, on_grid
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import Change
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, posed, written
from tiebreak.golden.arithmetic.doubles import round_array
from tiebreak.golden.arithmetic.term import AWAY, DOWN, TOWARD_ZERO, UPWARD, Term
from tiebreak.golden.elements import FloatType, IntegerType
from tiebreak.golden.problem import Array, Elementwise, codes_of

QUOTIENT, AMAX = "quotient", "amax of its block"
PLUS = "to positive zero"  # as a comparison gives it that puts 0, where one of bits keeps the sign
Measure = Callable[[Array], Array]  # of whole blocks, along the last axis


def at_label(label: str, change: Callable[[Elementwise, Term], Term | None], *, only: str = "") -> Mutant:
    """A change of the number with this name, in all outputs or in one."""

    def make(p: Elementwise) -> Change:
        return lambda one: change(p, one) if one.label == label else None

    return written(make, only=(only,) if only else ())


# What is measured


def measured(measure: Measure, block: int) -> Mutant:
    """Blocks are measured otherwise, NaN as 0."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        (x, *_), place = call.inputs, problem.named.index(AMAX)
        found = codes_of(measure(blocked(x, block)).astype(x.dtype))
        if problem.output == "elements":
            found = np.repeat(found, block, axis=-1)[..., : x.shape[-1]]
        operands = list(problem.operands)
        operands[place] = np.ascontiguousarray(found).reshape(-1)
        return replace(problem, operands=tuple(operands))

    return posed(pose)


def blocked(x: Array, block: int) -> Array:
    """float64 blocks along a new last axis, the last of each row filled with zeros."""
    *outer, length = x.shape
    count = -(-length // block)
    whole = np.zeros((*outer, count * block))
    whole[..., :length] = np.nan_to_num(x.astype(np.float64), posinf=np.inf, neginf=-np.inf)
    return whole.reshape(*outer, count, block)


def first_greatest(blocks: Array) -> Array:
    """The first number of greatest magnitude, with its sign."""
    place = np.abs(blocks).argmax(axis=-1, keepdims=True)
    return np.asarray(np.take_along_axis(blocks, place, axis=-1)[..., 0])


def greatest(blocks: Array) -> Array:
    return np.abs(first_greatest(blocks))


def of_some(part: slice, own: Measure) -> Measure:
    """Those elements of each block alone."""
    return lambda blocks: own(blocks[..., part])


def shared(blocks_each: int, own: Measure) -> Measure:
    """One measure for so many neighbouring blocks; 0 is a whole row. ValueError where there is but one."""

    def found(blocks: Array) -> Array:
        each = own(blocks)
        if each.shape[-1] < 2:
            raise ValueError("there is nothing to mistake")
        starts = range(0, each.shape[-1], blocks_each or each.shape[-1])
        groups = [each[..., start : start + (blocks_each or each.shape[-1])] for start in starts]
        return np.concatenate([np.broadcast_to(own(group)[..., None], group.shape) for group in groups], axis=-1)

    return found


def of_tensor(blocks: Array) -> Array:
    own = greatest(blocks)
    return np.broadcast_to(own.max(initial=0), own.shape)


def wrong_measures(block: int, parts: Mapping[str, slice], own: Measure) -> dict[str, Mutant]:
    """Measures of parts of each block, and of several blocks."""
    return {
        "amax-of:the values without their magnitudes": measured(lambda blocks: own(blocks.max(-1)[..., None]), block),
        "amax-of:all but the first": measured(of_some(slice(1, None), own), block),
        "amax-of:all but the last": measured(of_some(slice(None, -1), own), block),
        **{f"amax-of:{name}": measured(of_some(part, own), block) for name, part in parts.items()},
        f"one-scale-for:{2 * block} elements": measured(shared(2, own), block),
        "one-scale-for:each row": measured(shared(0, own), block),
    }


def wrong_maxima(block: int, firsts: tuple[int, ...]) -> tuple[Wrong, ...]:
    """Wrong measures of greatest magnitudes."""
    found = wrong_measures(block, {f"the first {count}": slice(count) for count in firsts}, greatest)
    return of_role("block", {**found, "one-scale-for:the tensor": measured(of_tensor, block), **AMAX_IN})


def converted(conversion: Callable[[Term], Term], *names: str) -> Mutant:
    """Operands are converted before anything else is done with them."""

    def make(p: Elementwise) -> Change:
        places = [place for place, name in enumerate(p.named) if name in names]
        return lambda one: conversion(one) if one.name == "operand" and one.constant[0] in places else None

    return written(make)


def plus_zero(values: Array) -> Array:
    """Every zero without its sign."""
    return np.where(values == 0, np.zeros_like(values), values)


FLUSH_TO_PLUS = to.Conversion("flushed, without sign", lambda values: plus_zero(to.FLUSH.function(values)))
AMAX_IN: Mapping[str, Mutant] = {
    "amax-in:bfloat16": converted(to.BFLOAT16, AMAX),
    "amax-in:float16": converted(to.FLOAT16, AMAX),
}
INPUTS: Mapping[str, Mutant] = {
    "flushes-inputs": converted(to.FLUSH, "x", AMAX),
    f"flushes-inputs:{PLUS}": converted(FLUSH_TO_PLUS, "x", AMAX),
    "x-in:bfloat16": converted(to.BFLOAT16, "x", AMAX),
    "x-in:float16": converted(to.FLOAT16, "x", AMAX),
}

# Elements

OfKind = Callable[[Array, Any], Array]  # of numbers and the element's type


def on_the_grid(whole: to.Change, values: Array, kind: FloatType | IntegerType) -> Array:
    """Numbers in an element's type by another rounding; one of 8 bits without exponent counts in 64ths."""
    return on_grid(values, kind, whole) if isinstance(kind, FloatType) else whole(values * 64) / 64


def of_element(name: str, change: OfKind, *, floats: bool = False) -> Mutant:
    """What is rounded to the element's type is converted first; with `floats` only if that has an exponent."""

    def found(p: Elementwise, one: Term) -> Term | None:
        if floats and not isinstance(p.result, FloatType):
            return None
        return to.Conversion(f"{name} of {p.result.name}", lambda values: change(values, p.result))(one)

    return at_label(QUOTIENT, found, only="elements")


of_float = partial(of_element, floats=True)


def rounds(mode: str) -> Mutant:
    return of_element(mode, partial(on_the_grid, partial(round_array, mode=mode)))


def quotient_then(conversion: Callable[[Term], Term]) -> Mutant:
    return at_label(QUOTIENT, lambda p, one: conversion(one), only="elements")


def flushed(values: Array, kind: FloatType) -> Array:
    return to.below_to_zero(2.0**kind.emin, on_grid(values, kind))


def without_lowest_bit(whole: Array) -> Array:
    """Numbers of least steps, rounded to even ones toward zero after they were rounded."""
    return np.asarray(np.trunc(np.rint(whole) / 2) * 2)


def half_the_end(values: Array, kind: FloatType) -> Array:
    return np.clip(values, -largest_of(kind) / 2, largest_of(kind) / 2)


def power_at_end(values: Array, kind: FloatType | IntegerType) -> Array:
    """Elements end at the type's largest power of two."""
    power = 2.0**kind.emax if isinstance(kind, FloatType) else 1.0
    return np.clip(values, -power, power)


TIES: Mapping[str, Mutant] = {
    "element-ties:away from zero": rounds(AWAY),
    "element-ties:toward zero": rounds("ROUND_NEAREST_TOWARD_ZERO"),
    "element-ties:upward": rounds(UPWARD),
}
ROUNDINGS: Mapping[str, Mutant] = {
    "elements-cut-off": rounds(TOWARD_ZERO),
    "elements-rounded:down": rounds(DOWN),
    "elements-rounded:away from zero": rounds("ROUND_TOWARD_INFINITY"),
    "quotient-in:bfloat16": quotient_then(to.BFLOAT16),
    "quotient-in:float16": quotient_then(to.FLOAT16),
    "elements-flushed": of_float("flushed", flushed),
    f"elements-flushed:{PLUS}": of_float("flushed, no sign", lambda values, kind: plus_zero(flushed(values, kind))),
    "lowest-bit-lost": of_float("without the lowest bit", partial(on_the_grid, without_lowest_bit)),
}
ENDS: Mapping[str, Mutant] = {
    "elements-end-at-power": of_element("power at the end", power_at_end),
    "ends-at:half the highest value": of_float("half the end", half_the_end),
}
WITHOUT_SIGN: Mapping[str, Mutant] = {"elements-without-sign": quotient_then(to.Conversion("magnitude", to.magnitude))}
SELDOM = (f"elements-flushed:{PLUS}", "lowest-bit-lost", "ends-at:half the highest value")  # in no pairs


def wrong_elements(role: str, mutants: Mapping[str, Mutant]) -> tuple[Wrong, ...]:
    return tuple(Wrong(id_, role, one, id_ not in SELDOM, place="element") for id_, one in mutants.items())
