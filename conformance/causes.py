"""Why an element differs: usual mistakes, written down as arithmetic and compared with what the backend gave.

Every hypothesis predicts a whole case. One that contradicts an element on which the backend conforms is kept only if
nothing better explains the element. The tables below are explanations, never truths: no verdict depends on them.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

from tiebreak.conformance.judge import DEVIATES, UNSPECIFIED, Judgement, codes_of_outputs, output_problem
from tiebreak.conformance.suite import SUITES
from tiebreak.conformance.suite.layout import Cause
from tiebreak.conformance.truths import Truths
from tiebreak.golden.elements import FLOAT_TYPES
from tiebreak.golden.kernel import spread
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import Array, Quantization
from tiebreak.golden.rounding import ROUND_MODES, is_nearest, short_mode

UNEXPLAINED = "unexplained"
FEWEST_BY_POSITION = 30  # elements; a few fit some pattern of positions by chance
VECTOR_WIDTHS = (4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Operands:
    """A case's operands, flat, one of each for every element, in the input's own type."""

    x: Array
    scale: Array
    zero_point: Array
    lowest: int
    highest: int
    mode: str

    def quotient(self, dtype: object = None) -> Array:
        kind = np.dtype(dtype or self.x.dtype)  # type: ignore[call-overload]
        return np.asarray((self.x.astype(kind) / self.scale.astype(kind)), np.float64)

    def clamp(self, values: Array) -> Array:
        return np.asarray(np.clip(np.nan_to_num(values), self.lowest, self.highest), np.int64)

    def finish(self, q: Array) -> Array:
        """Round by the node's mode, add the zero point, clamp: what follows a right quotient."""
        return self.clamp(round_array(q, self.mode) + self.zero_point)

    def wrap(self, values: Array) -> Array:
        """Two's complement of the output's width, from integers that a double holds."""
        size = self.highest - self.lowest + 1
        finite = np.clip(np.nan_to_num(values), -(2.0**62), 2.0**62).astype(np.int64)
        return np.asarray(np.mod(finite - self.lowest, size) + self.lowest)


Predict = Callable[[Operands], Array]


def round_array(q: Array, mode: str) -> Array:
    """The nine modes on doubles."""
    if mode in ("ROUND_UP", "ROUND_DOWN"):
        return np.ceil(q) if mode == "ROUND_UP" else np.floor(q)
    if mode in ("ROUND_TOWARD_ZERO", "ROUND_TOWARD_INFINITY"):
        return np.trunc(q) if mode == "ROUND_TOWARD_ZERO" else np.copysign(np.ceil(np.abs(q)), q)
    magnitude, negative = np.abs(q), q < 0
    whole = np.floor(magnitude)
    fraction = magnitude - whole  # exact, which q - floor(q) is not just above -1/2
    away = {
        "ROUND_NEAREST_TOWARD_INFINITY": np.ones_like(negative),
        "ROUND_NEAREST_TOWARD_ZERO": np.zeros_like(negative),
        "ROUND_NEAREST_UPWARD": ~negative,
        "ROUND_NEAREST_DOWNWARD": negative,
        "ROUND_NEAREST_TOWARD_EVEN": np.mod(whole, 2) == 1,
    }[mode]
    return np.asarray(np.copysign(whole + np.where(fraction == 0.5, away, fraction > 0.5), q))


def reciprocal(dtype: object) -> Predict:
    def predict(o: Operands) -> Array:
        kind = np.dtype(dtype or o.x.dtype)  # type: ignore[call-overload]
        inverse = (np.ones((), kind) / o.scale.astype(kind)).astype(kind)
        return o.finish(np.asarray(o.x.astype(kind) * inverse, np.float64))

    return predict


def add_half_floor(o: Operands) -> Array:
    half = o.x.dtype.type(0.5)
    return o.clamp(np.floor(((o.x / o.scale) + half).astype(np.float64)) + o.zero_point)


def add_half_away(o: Operands) -> Array:
    q = o.x / o.scale
    magnitude = np.floor((np.abs(q) + o.x.dtype.type(0.5)).astype(np.float64))
    return o.clamp(np.copysign(magnitude, q.astype(np.float64)) + o.zero_point)


def subtract_half_ceil(o: Operands) -> Array:
    half = o.x.dtype.type(0.5)
    return o.clamp(np.ceil(((o.x / o.scale) - half).astype(np.float64)) + o.zero_point)


def zero_point_first(o: Operands) -> Array:
    total = (o.x / o.scale).astype(o.x.dtype) + o.zero_point.astype(o.x.dtype)
    return o.clamp(round_array(total.astype(np.float64), o.mode))


def zero_point_first_double(o: Operands) -> Array:
    return o.clamp(round_array(o.quotient(np.float64) + o.zero_point, o.mode))


def clamp_first(o: Operands) -> Array:
    inner = o.clamp(round_array(o.quotient(), o.mode))
    return o.clamp((inner + o.zero_point).astype(np.float64))


def clamp_first_wrapping(o: Operands) -> Array:
    return o.wrap((o.clamp(round_array(o.quotient(), o.mode)) + o.zero_point).astype(np.float64))


def no_clamp(o: Operands) -> Array:
    return o.wrap(round_array(o.quotient(), o.mode) + o.zero_point)


def int32_cast(dtype: object) -> Predict:
    """A cast to int32 that gives its lowest value for everything out of range, as x86's does."""

    def predict(o: Operands) -> Array:
        rounded = round_array(o.quotient(dtype), o.mode)
        fits = (rounded >= -(2.0**31)) & (rounded < 2.0**31)
        total = np.where(fits, rounded, -(2.0**31)) + o.zero_point
        wrapped = np.mod(total + 2.0**31, 2.0**32) - 2.0**31
        return o.clamp(wrapped)

    return predict


def sum_in(dtype: object) -> Predict:
    def predict(o: Operands) -> Array:
        kind = np.dtype(dtype or o.x.dtype)  # type: ignore[call-overload]
        total = round_array(o.quotient(), o.mode).astype(kind) + o.zero_point.astype(kind)
        return o.clamp(total.astype(kind).astype(np.float64))

    return predict


def reciprocal_and_zero_point(fused: bool) -> Predict:
    """x times the rounded reciprocal plus the zero point, rounded once or after each step, and then to an integer."""

    def predict(o: Operands) -> Array:
        kind = o.x.dtype.type
        product = o.x.astype(np.float64) * (kind(1) / o.scale).astype(np.float64)  # exact up to float32
        if not fused:
            product = product.astype(kind).astype(np.float64)
        total = (product + o.zero_point).astype(kind)
        return o.clamp(round_array(total.astype(np.float64), o.mode))

    return predict


def sum_and_clamp_in_own_type(o: Operands) -> Array:
    """The highest value rounded to the input's type may be one too many: the cast to int32 then gives x86's lowest."""
    kind = o.x.dtype.type
    total = round_array(o.quotient(), o.mode).astype(kind) + o.zero_point.astype(kind)
    clamped = np.clip(np.nan_to_num(total), kind(o.lowest), kind(o.highest)).astype(np.float64)
    return np.where(clamped > o.highest, o.lowest, o.clamp(clamped))


def result_in_float32(o: Operands) -> Array:
    total = round_array(o.quotient(), o.mode) + o.zero_point
    return o.clamp(total.astype(np.float32).astype(np.float64))


def narrow_range(o: Operands) -> Array:
    return np.maximum(o.finish(o.quotient()), o.lowest + 1)


def flush(which: str) -> Predict:
    def predict(o: Operands) -> Array:
        tiny = 2.0 ** FLOAT_TYPES[o.x.dtype.name].emin
        x, scale = o.x.astype(np.float64), o.scale.astype(np.float64)
        x = flushed(x, tiny) if which in ("inputs", "operands", "all") else x
        scale = flushed(scale, tiny) if which in ("scales", "operands", "all") else scale
        q = (x / scale).astype(o.x.dtype).astype(np.float64)
        return o.finish(flushed(q, tiny) if which in ("quotient", "all") else q)

    return predict


def flushed(values: Array, tiny: float) -> Array:
    return np.where(np.abs(values) < tiny, np.copysign(0.0, values), values)


def without_zero_point(o: Operands) -> Array:
    return o.clamp(round_array(o.quotient(), o.mode))


def subtracted_zero_point(o: Operands) -> Array:
    return o.clamp(round_array(o.quotient(), o.mode) - o.zero_point)


def symmetric_range(o: Operands) -> Array:
    """The factor that maps [-|lowest|, |lowest|] * scale to [-highest, highest]: 127/128 of the right one for int8.

    For more than 8 bits it is so near 1 that it would explain any noise.
    """
    if o.highest > 255:
        return np.full(o.x.shape, o.lowest - 1, np.int64)
    factor = (o.highest / max(-o.lowest, o.highest + 1)) / o.scale.astype(np.float64)
    return o.finish(np.asarray(o.x * factor.astype(o.x.dtype), np.float64))


def multiplied(o: Operands) -> Array:
    return o.finish(np.asarray(o.x * o.scale, np.float64))


def in_type(dtype: object) -> Predict:
    return lambda o: o.finish(o.quotient(dtype))


# Of two that explain as much the earlier one is named, so each stands before those that it is a special case of.
HYPOTHESES: tuple[tuple[Cause, Predict], ...] = (
    (Cause("flushes subnormal inputs to zero", "quotient"), flush("inputs")),
    (Cause("flushes subnormal scales to zero", "quotient"), flush("scales")),
    (Cause("flushes subnormal inputs and scales to zero", "quotient"), flush("operands")),
    (Cause("flushes subnormal quotients to zero", "quotient"), flush("quotient")),
    (Cause("flushes all subnormals to zero", "quotient"), flush("all")),
    (Cause("divides in float32", "quotient"), in_type(np.float32)),
    (Cause("divides in bfloat16", "quotient"), in_type(ml_dtypes.bfloat16)),
    (Cause("divides in float16", "quotient"), in_type(np.float16)),
    (Cause("divides in float64, not enough for this output type", "quotient"), in_type(np.float64)),
    (Cause("multiplies by the reciprocal rounded to the input's type", "quotient"), reciprocal(None)),
    (Cause("multiplies by the reciprocal in float32", "quotient"), reciprocal(np.float32)),
    (Cause("multiplies by the reciprocal in float64", "quotient"), reciprocal(np.float64)),
    (Cause("adds the zero point before rounding, in the input's type", "round-first"), zero_point_first),
    (Cause("adds the zero point before rounding, in float64", "round-first"), zero_point_first_double),
    (
        Cause("multiplies by the rounded reciprocal and adds the zero point, fused, before rounding", "round-first"),
        reciprocal_and_zero_point(fused=True),
    ),
    (
        Cause("multiplies by the rounded reciprocal and adds the zero point before rounding", "round-first"),
        reciprocal_and_zero_point(fused=False),
    ),
    (Cause("floor(q + 0.5) computed in the input's type", "mode"), add_half_floor),
    (Cause("0.5 added to the magnitude in the input's type", "mode"), add_half_away),
    (Cause("ceil(q - 0.5) computed in the input's type", "mode"), subtract_half_ceil),
    (Cause("clamps before the zero point is added", "add"), clamp_first),
    (Cause("clamps before the zero point is added, then wraps", "add"), clamp_first_wrapping),
    (Cause("casts to int32 before clamping, which overflows", "range"), int32_cast(None)),
    (Cause("divides in float32, casts to int32 before clamping, which overflows", "range"), int32_cast(np.float32)),
    (Cause("no clamp: wraps around", "range"), no_clamp),
    (Cause("narrow range: the lowest value is never used", "range"), narrow_range),
    (Cause("sum with the zero point computed in float32", "add"), sum_in(np.float32)),
    (Cause("sum with the zero point computed in the input's type", "add"), sum_in(None)),
    (Cause("sum and clamp in the input's type, cast to int32", "add"), sum_and_clamp_in_own_type),
    (Cause("result passes through float32", "add"), result_in_float32),
    (Cause("ignores the zero point", "add"), without_zero_point),
    (Cause("subtracts the zero point", "add"), subtracted_zero_point),
    (Cause("multiplies by the scale", "quotient"), multiplied),
    (Cause("scales to the symmetric range: highest / -lowest of the right factor", "quotient"), symmetric_range),
)


def mode_cause(wanted: str, other: str) -> Cause:
    alike = is_nearest(wanted) == is_nearest(other)
    kind = "wrong tie rule" if alike and is_nearest(wanted) else "wrong rounding"
    return Cause(f"{kind}: {short_mode(other)}", "mode", rank=0 if alike else 1, mode=other)


def predictions(case: Case, truths: Truths) -> Iterator[tuple[Cause, Array]]:
    """Each hypothesis with its prediction (int64 codes, flat); the simplest explanations first."""
    yield from mode_predictions(case, truths)
    (problem, *_) = truths.problems
    with np.errstate(all="ignore"):
        if isinstance(problem, Quantization):
            yield from quantize_predictions(case, problem, truths)
        if case.node.operator in SUITES:
            first = len(HYPOTHESES) + 4 if isinstance(problem, Quantization) else 2
            yield from mistaken(case, truths, first)


def mode_predictions(case: Case, truths: Truths) -> Iterator[tuple[Cause, Array]]:
    """What each rounding mode gives that the document does not allow."""
    wanted = truths.allowed[0]
    for mode, truth in truths.compared.items():
        if mode not in truths.allowed:
            yield mode_cause(wanted, mode), truth.exact
            yield mode_cause(wanted, mode), truth.working


def quantize_predictions(case: Case, problem: Quantization, truths: Truths) -> Iterator[tuple[Cause, Array]]:
    own = operands(case, problem, problem.axes)
    for rank, (cause, predict) in enumerate(HYPOTHESES, start=2):
        yield replace(cause, rank=rank), predict(own)
    yield from path_causes(case, truths)
    for text, other in wrong_parameters(case, problem):
        yield Cause(text, "projection", len(HYPOTHESES) + 2), other.finish(other.quotient())


def mistaken(case: Case, truths: Truths, first: int) -> Iterator[tuple[Cause, Array]]:
    """What small backends that make usual mistakes give, ranked from `first`; one that can't run it gives nothing."""
    for rank, (cause, run) in enumerate(SUITES[case.node.operator].mistakes, start=first):
        try:
            outputs = run(case.node, *(array.copy() for array in case.inputs))
        except (ArithmeticError, ValueError, TypeError, IndexError, NotImplementedError):
            continue
        if not output_problem(case, outputs, truths.problems):
            yield replace(cause, rank=rank), codes_of_outputs(truths.problems, outputs, truths.own)


def path_causes(case: Case, truths: Truths) -> Iterator[tuple[Cause, Array]]:
    """Vector loops whose body or tail rounds by another mode than the rest."""
    wanted, index, by_mode = case.node.round_mode, np.arange(case.size), truths.by_mode
    for width in VECTOR_WIDTHS:
        tail = index >= case.size - case.size % width
        if tail.any():
            for mode in ROUND_MODES:
                for place, where in (("tail", tail), ("body", ~tail)):
                    text = f"the {place} of a vector loop of {width} rounds {short_mode(mode)}"
                    mixed = np.where(where, by_mode[mode].working, by_mode[wanted].working)
                    yield Cause(text, "mode", len(HYPOTHESES) + 3, mode=mode, width=width), mixed


def operands(case: Case, problem: Quantization, axes: tuple[int, ...]) -> Operands:
    x, scale = case.inputs[0], case.inputs[1]
    flat_scale, flat_zero = (fill(spread(p, axes, x.shape), x.size) for p in (scale, problem.zero_point))
    kind = problem.quantized
    return Operands(x.reshape(-1), flat_scale, flat_zero, kind.lowest, kind.highest, problem.mode)


def fill(parameter: Array, size: int) -> Array:
    return np.broadcast_to(parameter, (size,)) if parameter.size == 1 else parameter


def wrong_parameters(case: Case, problem: Quantization) -> Iterator[tuple[str, Operands]]:
    """Scales and zero points taken from other axes, in another order, or all from the first coordinate."""
    shape, axes = case.inputs[0].shape, problem.axes
    if not axes or not case.size:
        return
    for other in itertools.combinations(range(len(shape)), len(axes)):
        if other != axes and tuple(shape[axis] for axis in other) == problem.scale.shape:
            yield "wrong axis", operands(case, problem, other)
    for order in itertools.permutations(range(len(axes))):
        sizes = tuple(problem.scale.shape[axis] for axis in order)
        if order != tuple(range(len(axes))) and sizes == problem.scale.shape:
            yield "axes swapped", transposed(case, problem, order)
    first = (0,) * len(axes)
    scale = np.broadcast_to(case.inputs[1][first], problem.scale.shape)
    zero_point = np.broadcast_to(problem.zero_point[first], problem.scale.shape)
    yield "one scale for all", replaced(case, problem, scale, problem.zero_point)
    yield "one zero point for all", replaced(case, problem, case.inputs[1], zero_point)
    yield "one scale and zero point for all", replaced(case, problem, scale, zero_point)


def transposed(case: Case, problem: Quantization, order: tuple[int, ...]) -> Operands:
    return replaced(case, problem, case.inputs[1].transpose(order), problem.zero_point.transpose(order))


def replaced(case: Case, problem: Quantization, scale: Array, zero_point: Array) -> Operands:
    x, kind = case.inputs[0], problem.quantized
    flat_scale, flat_zero = (fill(spread(p, problem.axes, x.shape), x.size) for p in (scale, zero_point))
    return Operands(x.reshape(-1), flat_scale, flat_zero, kind.lowest, kind.highest, problem.mode)


@dataclass(frozen=True)
class Explanation:
    """Causes that predict one deviating element: those that contradict nothing in its case, and all of them."""

    consistent: frozenset[Cause]
    matching: frozenset[Cause]


def explanations(case: Case, truths: Truths, judgement: Judgement) -> tuple[list[Explanation], Counter[Cause]]:
    """One for each deviating element, in order; and for each cause how many conforming elements contradict it."""
    wrong = judgement.grades == DEVIATES
    right = ~wrong & (judgement.grades != UNSPECIFIED)
    found: list[dict[Cause, bool]] = [{} for _ in range(judgement.count(DEVIATES))]
    against: dict[Cause, int] = {}
    for cause, predicted in predictions(case, truths):
        match = predicted == judgement.values
        if cause.by_position and not (case.size >= 2 * cause.width and match[right | wrong].all()):
            continue
        contradictions = int(np.count_nonzero(~match[right]))
        against[cause] = min(contradictions, against.get(cause, contradictions))
        for position in np.flatnonzero(match[wrong]):
            found[position][cause] = found[position].get(cause, False) or not contradictions
    each = [Explanation(frozenset(c for c, ok in causes.items() if ok), frozenset(causes)) for causes in found]
    return each, Counter(against)


def settle(groups: Sequence[Sequence[Explanation]]) -> list[list[Cause]]:
    """One cause for each element: greedily, group by group, the one that explains the most of what is left.

    A cause that contradicts other elements of a case is named there only if elsewhere it contradicts nothing: a
    backend may well have two faults. One that depends on positions is named only for want of others. Between causes
    that explain as much of a group the earlier one in the table is named, then the one that explains more elsewhere.
    """
    plain = [[frozenset(c for c in e.consistent if not c.by_position) for e in group] for group in groups]
    prior = Counter(cause for group in plain for causes in group for cause in causes)
    accepted = frozenset(cause for group in plain for cause in cover(group, prior).values())
    settled = []
    for group, consistent in zip(groups, plain, strict=True):
        tiers = [c or e.matching & accepted or e.consistent for c, e in zip(consistent, group, strict=True)]
        chosen = cover(tiers, prior)
        settled.append([chosen[causes] for causes in tiers])
    seen = Counter(cause for group in settled for cause in group)
    rare = {cause for cause, count in seen.items() if cause.by_position and count < FEWEST_BY_POSITION}
    return [[Cause(UNEXPLAINED, "mode") if cause in rare else cause for cause in group] for group in settled]


def without(explanation: Explanation, refuted: frozenset[Cause]) -> Explanation:
    return Explanation(explanation.consistent - refuted, explanation.matching - refuted)


def cover(sets: list[frozenset[Cause]], prior: Counter[Cause]) -> dict[frozenset[Cause], Cause]:
    """A cause for each distinct set, by greedy cover weighted with how often they occur, then by rank and `prior`."""
    left: dict[frozenset[Cause], int] = {}
    for causes in sets:
        left[causes] = left.get(causes, 0) + 1
    chosen = {frozenset[Cause](): Cause(UNEXPLAINED, "mode")}
    left.pop(frozenset(), None)
    while left:
        weight: dict[Cause, int] = {}
        for causes, count in left.items():
            for cause in causes:
                weight[cause] = weight.get(cause, 0) + count
        best = min(weight, key=lambda cause: (-weight[cause], cause.rank, -prior[cause], cause.text))
        chosen |= {causes: best for causes in left if best in causes}
        left = {causes: count for causes, count in left.items() if best not in causes}
    return chosen
