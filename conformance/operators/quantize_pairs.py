"""Two usual mistakes of a quantizer at once: each predicts all results of a case from its operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, product

import numpy as np

from tiebreak.conformance.judging.operands import QuantizationOperands
from tiebreak.conformance.operators.model import Cause
from tiebreak.conformance.operators.operand_mistakes import BFLOAT16, OF_SCALES, OfScale
from tiebreak.conformance.operators.quantize_by_facets import by_scaling
from tiebreak.conformance.operators.quantize_mistakes import HYPOTHESES
from tiebreak.conformance.operators.quantize_prediction import Predict
from tiebreak.conformance.operators.quantize_quotients import QUOTIENTS, Quotient
from tiebreak.conformance.operators.quantize_saturations import SATURATED, Saturate
from tiebreak.conformance.operators.quantize_zero_points import ZERO_POINTS, Change
from tiebreak.conformance.semantics.causes import JOINT, without_forms
from tiebreak.conformance.semantics.facet_causes import mode_cause
from tiebreak.conformance.semantics.precisions import FLOAT16, FLOAT32, FLOAT64
from tiebreak.conformance.semantics.quantize_scaling import RECIPROCAL
from tiebreak.conformance.semantics.subnormals import INPUTS, SCALES
from tiebreak.golden.problem import Array
from tiebreak.golden.rounding import ROUND_MODES

Alter = Callable[[QuantizationOperands], QuantizationOperands | None]  # operands with one mistake; None: it has none
Step = tuple[Cause, Alter]

ROUNDED = (  # these round in a way of their own, whatever the mode
    *("floor-of-half-more", "half-added-to-magnitude", "ties-odd", "magic-number", "magic-number-bits"),
    *("halves-first", "sixteenths-first", "cut-to-fraction-bits:8", "adds-half-and-truncates", "negatives-down"),
)
SUMMED = (  # these have a way of their own from the quotient to the sum
    *("zero-point-first-in-own-type", "saturates-to-int16", "saturates-to-int8", "saturates-to-int16-and-wraps"),
    *("clamps-before-zero-point", "casts-to-int32", "casts-to-int32-then-wider-sum", "saturates-to-int32"),
    *("sum-in:float32", "sum-in:float16", "negative-quotient-to-zero", "clamps-before-zero-point-and-wraps"),
)
OF_OPERANDS = (  # these have a formula of their own for x, the scale and the zero point
    *("range-formula", "range-formula-in:float32", "zero-point-in-input", "zero-point-first-all-in:float16"),
    *("zero-point-first-all-in:bfloat16", "multiplier-of-bits:31", "multiplier-of-bits:15"),
)
SCALES_IN: tuple[tuple[str, OfScale], ...] = (
    ("scale-in:float16", lambda scale: scale.astype(np.float16).astype(np.float64)),
    ("scale-in:bfloat16", lambda scale: scale.astype(BFLOAT16).astype(np.float64)),
    *OF_SCALES,
)
DIVIDED: tuple[tuple[str, Quotient], ...] = (
    ("divides-in:float32", by_scaling(precision=FLOAT32)),
    ("divides-in:float16", by_scaling(precision=FLOAT16)),
    ("own-reciprocal", by_scaling(scaling=RECIPROCAL)),
    ("reciprocal:float32", by_scaling(scaling=RECIPROCAL, precision=FLOAT32)),
    ("reciprocal:float64", by_scaling(scaling=RECIPROCAL, precision=FLOAT64)),
    ("flushes-inputs", by_scaling(subnormals=INPUTS)),
    ("flushes-scales", by_scaling(subnormals=SCALES)),
    *QUOTIENTS,
)


@cache
def pairs_of(wanted: str) -> tuple[tuple[Cause, Predict], ...]:
    """Pairs where the document asks for a mode: of mistakes in two different steps."""
    single = {cause.id for cause, _ in HYPOTHESES}
    return tuple(entry for entry in (*of_two_steps(wanted), *with_predictions(wanted)) if entry[0].id not in single)


def steps(wanted: str) -> tuple[list[Step], ...]:
    """Mistakes in one step each: the zero point, the quotient, the clamp, the rounding mode."""
    zeros: list[Step] = [(Cause(key, "add"), partial(with_zero_point_of, change)) for key, change in ZERO_POINTS]
    quotients: list[Step] = [(Cause(key, "quotient"), partial(with_quotient, divide)) for key, divide in DIVIDED]
    clamps: list[Step] = [(Cause(key, "range"), partial(with_clamp, saturate)) for key, saturate in SATURATED]
    modes: list[Step] = [(mode_cause(wanted, mode), partial(with_mode, mode)) for mode in ROUND_MODES if mode != wanted]
    return zeros, quotients, clamps, modes


def of_two_steps(wanted: str) -> Iterator[tuple[Cause, Predict]]:
    for one, other in combinations(steps(wanted), 2):
        for (first, alter), (second, change) in product(one, other):
            ties = "" if first.role == "quotient" else second.mode  # another quotient has its ties elsewhere
            yield replace(joint(first, second.id), ties=ties), partial(altered_twice, alter, change)


def with_predictions(wanted: str) -> Iterator[tuple[Cause, Predict]]:
    zeros, quotients, clamps, modes = steps(wanted)
    for second, predict in chosen((*ROUNDED, *SUMMED)):
        for first, alter in (*zeros, *quotients):
            yield joint(first, second.id), partial(altered, alter, predict)
        for last, alter in clamps:
            yield joint(second, last.id), partial(altered, alter, predict)
    for second, predict in chosen(OF_OPERANDS):
        for key, of_scale in SCALES_IN:
            yield joint(Cause(key, "quotient"), second.id), partial(altered, partial(with_scale_of, of_scale), predict)
        for first, alter in zeros:
            yield joint(first, second.id), partial(altered, alter, predict)
    for first, predict in chosen(SUMMED):
        for mode, alter in modes:
            yield replace(joint(first, mode.id), ties=mode.mode), partial(altered, alter, predict)


def chosen(keys: tuple[str, ...]) -> list[tuple[Cause, Predict]]:
    return [(cause, predict) for cause, predict in HYPOTHESES if without_forms(cause.id) in keys]


def joint(first: Cause, second: str) -> Cause:
    return Cause(f"{first.id}{JOINT}{second}", first.role)


def finished(o: QuantizationOperands) -> Array:
    return o.finish(o.quotient())


def in_mode(mode: str, predict: Predict, o: QuantizationOperands) -> Array | None:
    return predict(replace(o, mode=mode))


def with_mode(mode: str, o: QuantizationOperands) -> QuantizationOperands:
    return replace(o, mode=mode)


def with_quotient(divide: Quotient, o: QuantizationOperands) -> QuantizationOperands:
    return replace(o, divide=divide)


def with_clamp(saturate: Saturate, o: QuantizationOperands) -> QuantizationOperands | None:
    return None if saturate(o, np.zeros(o.x.shape)) is None else replace(o, saturate=saturate)


def with_scale_of(change: OfScale, o: QuantizationOperands) -> QuantizationOperands:
    return replace(o, scale=change(o.scale.astype(np.float64)).astype(o.scale.dtype))


def with_zero_point_of(change: Change, o: QuantizationOperands) -> QuantizationOperands | None:
    zero_point = change(o)
    return None if zero_point is None else replace(o, zero_point=zero_point)


def altered(alter: Alter, predict: Predict, o: QuantizationOperands) -> Array | None:
    other = alter(o)
    return None if other is None else predict(other)


def altered_twice(one: Alter, two: Alter, o: QuantizationOperands) -> Array | None:
    return altered(one, partial(altered, two, finished), o)
