"""Two usual mistakes of a quantizer at once: each predicts all results of a case from its operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.operators.quantize_mistakes import (
    HYPOTHESES,
    ZERO_POINTS,
    Change,
    Predict,
)
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES, is_nearest, short_mode

WITH_MODES = (  # these leave the rounding as it is
    *("own-reciprocal", "reciprocal:float32", "reciprocal:float64", "flushes-inputs", "flushes-scales"),
    *("wraps", "narrow-range", "highest-never", "casts-to-int32", "saturates-to-int32", "saturates-to-int16"),
    *("saturates-to-8-bits", "highest-of-signed", "clamps-before-zero-point", "clamps-before-zero-point-and-wraps"),
)
WITH_ZERO_POINTS = (  # these leave the zero point as it is
    *("own-reciprocal", "reciprocal:float32", "floor-of-half-more", "half-added-to-magnitude", "ties-odd"),
    *("magic-number", "magic-number-bits", "halves-first"),
)
WITH_NARROW_RANGE = ("zero-point-first-in-own-type", "own-reciprocal")


def mode_cause(wanted: str, other: str) -> Cause:
    """The cause "rounds by another mode": `other`, where the document asks for `wanted`."""
    alike = is_nearest(wanted) == is_nearest(other)
    fault = "ties" if alike and is_nearest(wanted) else "rounds"
    return Cause(f"{fault}:{short_mode(other)}", "mode", rank=0 if alike else 1, mode=other)


@cache
def pairs_of(wanted: str) -> tuple[tuple[Cause, Predict], ...]:
    """Pairs where the document asks for a mode."""
    return (*with_modes(wanted), *with_zero_points(), *with_narrow_range())


def with_modes(wanted: str) -> Iterator[tuple[Cause, Predict]]:
    for mode in ROUND_MODES:
        if mode != wanted:
            second = mode_cause(wanted, mode).id
            for first, predict in chosen(WITH_MODES):
                yield replace(joint(first, second), ties=mode), partial(in_mode, mode, predict)
            for key, change in ZERO_POINTS:
                yield joint(Cause(key, "add"), second), partial(in_mode, mode, partial(changed, change, finished))


def with_zero_points() -> Iterator[tuple[Cause, Predict]]:
    for key, change in ZERO_POINTS:
        for second, predict in chosen(WITH_ZERO_POINTS):
            yield joint(Cause(key, "add"), second.id), partial(changed, change, predict)


def with_narrow_range() -> Iterator[tuple[Cause, Predict]]:
    for first, predict in chosen(WITH_NARROW_RANGE):
        yield joint(first, "narrow-range"), partial(never_lowest, predict)


def chosen(keys: tuple[str, ...]) -> list[tuple[Cause, Predict]]:
    return [(cause, predict) for cause, predict in HYPOTHESES if cause.id in keys]


def joint(first: Cause, second: str) -> Cause:
    return Cause(f"{first.id}{JOINT}{second}", first.role)


def finished(o: QuantizationOperands) -> Array:
    return o.finish(o.quotient())


def in_mode(mode: str, predict: Predict, o: QuantizationOperands) -> Array | None:
    return predict(replace(o, mode=mode))


def changed(change: Change, predict: Predict, o: QuantizationOperands) -> Array | None:
    zero_point = change(o)
    return None if zero_point is None else predict(replace(o, zero_point=zero_point))


def never_lowest(predict: Predict, o: QuantizationOperands) -> Array | None:
    found = predict(o)
    return None if found is None else found.clip(o.lowest + 1)
