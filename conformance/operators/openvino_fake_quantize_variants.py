"""What can go wrong with openvino.FakeQuantize, as changes of its term, likelier first: kernels, then single steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from tiebreak.conformance.operators import wrong_terms as wrong
from tiebreak.conformance.operators.wrong_ranges import FLOAT32, by_parameters
from tiebreak.conformance.operators.wrong_terms import Wrong, of_place, of_role, often
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import mutant as wrongly
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import Change, everywhere, operands_of, with_change
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, Output, changed, posed, written
from tiebreak.conformance.variants.places import PLACES, misplaced
from tiebreak.golden.arithmetic import term as of
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import Numeric, Term, clamp, equal, greatest, least, lifted, rounded, step, where
from tiebreak.golden.elements import FLOAT_TYPES, FloatType
from tiebreak.golden.operators.openvino_fake_quantize import LIMITS, inside
from tiebreak.golden.problem import Array, Elementwise, array_of, codes_of
from tiebreak.golden.rounding import EVEN

POSITION, RESULT, WIDTH = "F4", "F8", "input_high - input_low"  # numbers of the term, by their clauses or formulas
LEVEL = of.operand(-1, "level")  # stands for the rounded position in formulas of a result
IN_FLOAT32 = partial(step, kind=FLOAT32)
LARGEST = int(np.finfo(np.float32).max)
STEPS = {15: 255, 16: 15, 255: 255, 256: 255}  # by number of levels: the steps of the type that limits are rebuilt for
SIGNED = {16: (-8, 7), 255: (-127, 127), 256: (-128, 127)}  # its least and greatest code if it is signed
NEAR_ZERO, MOST_ASYMMETRIC = np.float32(1e-6), np.float32(0.002)
LEAST_SCALE, GREATEST_SCALE = (Fraction(float(np.float32(end))) for end in (1e-32, 1e32))
Codes = tuple[int, int, bool]  # the least and the greatest code, and whether the limits keep a zero point


class LevelParts(NamedTuple):
    """What formulas are made of, in which each operation is a step (rewrites.stepped)."""

    p: Elementwise
    x: Term
    low: Term
    high: Term
    first: Term
    last: Term
    levels: int
    n: Term  # steps between levels
    width: Term
    span: Term
    factor: Term
    unit: Term
    clipped: Term
    high_first: Term  # clipped to high first


Of = Callable[[LevelParts], Term]
OfLimits = Callable[[LevelParts], Sequence[Numeric]]


def parts(p: Elementwise, x: Term, low: Term, high: Term, first: Term, last: Term) -> LevelParts:
    levels, width, span = p.constants["levels"], high - low, last - first
    n, clipped, high_first = step(lifted(levels - 1)), clamp(x, low, high), greatest(least(x, high), low)
    return LevelParts(p, x, low, high, first, last, levels, n, width, span, n / width, span / n, clipped, high_first)


def parts_of(p: Elementwise) -> LevelParts:
    return parts(p, *operands_of(p).values())


def number(name: str, make: Of) -> Mutant:
    def change(p: Elementwise) -> Change:
        made = by.stepped(make(parts_of(p)))
        return wrongly.numbers_otherwise(lambda n: {name: everywhere(made, {LEVEL: n["level"]}.get)}, p)

    return written(change)


def kernel(make: Of) -> Mutant:
    """A formula for all x."""
    return by.result_of(lambda p, *own: by.stepped(make(parts(p, *own))))


def limits(make: OfLimits) -> Mutant:
    """Other limits, wherever they are used."""

    def change(p: Elementwise) -> Change:
        own = parts_of(p)
        return dict(zip(own[2:6], (by.stepped(lifted(one)) for one in make(own)), strict=True)).get

    return written(change)


def input_limits(make: OfLimits) -> Mutant:
    return limits(lambda k: (*make(k), k.first, k.last))


def only_of(mutant: Mutant, *kinds: str) -> Mutant:
    """A mistake of these types: with others something simpler gives the same, or no exact products are there."""

    def check(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        if problem.working.name not in kinds:
            raise ValueError(f"not of {problem.working.name}")
        return problem, term

    return replace(mutant, reading=check)


def fused(mutant: Mutant) -> Mutant:
    return only_of(mutant, "float32", "float16", "bfloat16")


def numbers(name: str, makes: Mapping[str, Of]) -> dict[str, Mutant]:
    every = {id_: number(name, make) for id_, make in makes.items()}
    return {id_: fused(mutant) if "fused" in id_ else mutant for id_, mutant in every.items()}


def counted(levels: Callable[[int], int]) -> Mutant:
    return wrongly.with_constants(lambda own: {**own, "levels": levels(own["levels"])})


def levels_of(p: Elementwise) -> tuple[int, int]:
    return 0, p.constants["levels"] - 1


def step_of(one: Term) -> Term | None:
    """Operands and the result are steps, too."""
    if one.name == "operand":
        return step(one)
    is_number = one.name == "to-float" and one.args[0].name != "step"
    return replace(one, args=(step(one.args[0]),)) if is_number else None


STEPPED = changed(step_of)


def all_in(kind: str) -> Mutant:
    """All steps, operands and the result in a type."""
    return STEPPED + Mutant((lambda call, problem, term: (problem, of.in_type(term, FLOAT_TYPES[kind])),))


class Branches(NamedTuple):
    """x, the least and the greatest input limit, and the results up to the one, above the other, and between them."""

    p: Elementwise
    x: Term
    lower: Term
    upper: Term
    first: Term
    last: Term
    inside: Term
    low: Term
    high: Term

    @property
    def clipped(self) -> Term:
        return self.at(clamp(self.x, self.lower, self.upper))

    @property
    def term(self) -> Term:
        return self.up_to(self.above(self.inside))

    def at(self, x: Term) -> Term:
        return with_change(self.inside, self.x, x)

    def up_to(self, otherwise: Term) -> Term:
        return where(self.x <= self.lower, self.first, otherwise)

    def above(self, otherwise: Term) -> Term:
        return where(self.x > self.upper, self.last, otherwise)


def branches(make: Callable[[Branches], Term]) -> Mutant:
    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        below, first, others = term.args
        (x, lower), (above, last, between) = below.args, others.args
        return problem, make(Branches(problem, x, lower, above.args[0], first, last, between, *lower.args))

    return Mutant((apply,))


def passed(b: Branches) -> Term:
    own = replace(b.first, args=(b.x,))
    return b._replace(first=own, last=own).term


def equal_up(b: Branches) -> Term:
    return where(equal(b.x, b.low) & equal(b.low, b.high), b.last, b.term)


def inside_in(kind: str) -> Mutant:
    """The expression in a type; x is compared in its own, which output limits keep, too."""
    own = partial(by.steps_in, FLOAT_TYPES[kind], operands=True)
    return branches(lambda b: b._replace(inside=everywhere(b.inside, own(b.p))).term)


# Limits of other values, and from other places.


def sorted_outputs(k: LevelParts) -> Sequence[Term]:
    return k.low, k.high, least(k.first, k.last), greatest(k.first, k.last)


def in_order(k: LevelParts) -> Sequence[Term]:
    """Both pairs are exchanged where the input's are reversed."""
    pairs = ((k.high, k.low), (k.low, k.high), (k.last, k.first), (k.first, k.last))
    return [where(k.low > k.high, one, other) for one, other in pairs]


def nudged(mode: str) -> Mutant:
    """The input's limits are moved so that 0 is a level."""

    def make(k: LevelParts) -> Sequence[Term]:
        zero = clamp(rounded((0 - k.low) / (k.width / k.n), mode), 0, k.n)
        return -1 * zero * (k.width / k.n), (k.n - zero) * (k.width / k.n)

    return input_limits(make)


def moved_to_grid(k: LevelParts) -> Sequence[Term]:
    """The input range is moved so that zero is on the grid, even if it then is outside of the range."""
    found = rounded(k.low / (k.width / k.n), EVEN) * (k.width / k.n) - k.low
    more = where(of.is_finite(found), found, 0)
    return k.low + more, k.high + more


def held(kind: str, *names: str) -> Mutant:
    """Limits, or x, go through a type."""
    return by.operands(lambda one: step(step(one, FLOAT_TYPES[kind])), *names)


def laid(name: str, *numbers: int) -> Mutant:
    """Limits with several values, all or those of these numbers, are taken from elsewhere."""
    return misplaced(dict.fromkeys(numbers or range(1, 5), PLACES[name]), only="output")


def at_output_low(*, beyond: bool) -> Mutant:
    """output_high is read at the places of output_low: where it has fewer values, 0 `beyond` them."""

    def pose(call: NodeCall, problem: Elementwise) -> Elementwise:
        first, last = call.inputs[3:]
        if first.shape == last.shape or (first.size > last.size) != beyond:
            return problem
        codes = np.append(codes_of(last).reshape(-1), np.zeros(first.size, codes_of(last).dtype))
        return replace(problem, operands=(*problem.operands[:4], codes[call.indices(3)]))

    return posed(pose)


# Kernels.


def level_of(k: LevelParts, clipped: Term) -> Term:
    return rounded(clipped * k.factor - k.low * k.factor, EVEN)


def folded(k: LevelParts, *, fuses: bool = True) -> Term:
    product = level_of(k, k.clipped) * k.unit
    return (by.exact(product) if fuses else product) + k.first


def dequantized(k: LevelParts) -> Term:
    """A quantize and a dequantize: (level - zero_point) * step with zero_point = -output_low / step."""
    return (level_of(k, k.clipped) - -1 * k.first / k.unit) * k.unit


def ends_of_steps(k: LevelParts, steps: int, flat: Numeric | None = None) -> tuple[Term, Term]:
    """Output limits become a scale and a zero point, `flat` if both are equal, of so many steps, and then limits."""
    point = -steps * k.first / k.span
    point = point if flat is None else where(equal(k.span, 0), flat, point)
    return -1 * point * (k.span / steps), (steps - point) * (k.span / steps)


def rebuilt_anyway(k: LevelParts) -> Term:
    """Rebuilt, but for symmetric ones of 255 levels."""
    if k.levels not in STEPS:
        return folded(k)
    is_kept = equal(k.first, -1 * k.last) if k.levels == 255 else equal(0, 1)
    ends = zip((k.first, k.last), ends_of_steps(k, STEPS[k.levels], 0), strict=True)
    first, last = (where(is_kept, own, end) for own, end in ends)
    return folded(parts(k.p, k.x, k.low, k.high, first, last))


def folded_wide(k: LevelParts, *, rounds: bool = True) -> Term:
    """Scale, shift and step are rounded to x's type and used in float32."""
    x, factor, shift, unit, first = map(IN_FLOAT32, (k.clipped, k.factor, k.low * k.factor, k.unit, k.first))
    level = wide(wide(x * factor) - shift)
    return wide(wide((rounded(level, EVEN) if rounds else level) * unit) + first)


def wide(number: Term, kind: FloatType = FLOAT32) -> Term:
    return step(by.exact(number), kind)


def position_in(kind: str) -> Mutant:
    hold, own = partial(step, kind=FLOAT_TYPES[kind]), partial(wide, kind=FLOAT_TYPES[kind])
    return number(POSITION, lambda k: step(own(own(own(hold(k.x) - hold(k.low)) / hold(k.width)) * k.n)))


def by_codes(k: LevelParts) -> Term:
    """(clamp(round(x / step) + zero_point) - zero_point') * step', with zero points that are integers."""
    scale = k.width / k.n
    zero, own = rounded((0 - k.low) / scale, EVEN), rounded((0 - k.first) / k.unit, EVEN)
    return (clamp(rounded(k.x / scale, EVEN) + zero, 0, k.n) - own) * k.unit


def by_zero_point(k: LevelParts) -> Term:
    scale = k.width / k.n
    return (rounded(k.x / scale, EVEN) - rounded(k.low / scale, EVEN)) * k.unit + k.first


# A compiler's kernels, in float32 whatever the type. What is beyond float32 becomes its largest number.


def saturated(p: Elementwise) -> Change:
    is_wide = p.working == DOUBLE

    def change(one: Term) -> Term | None:
        if one.name == "operand":
            return IN_FLOAT32(clamp(one, -LARGEST, LARGEST) if is_wide else one)
        if one.name == "to-float" and is_wide:
            return replace(one, args=(clamp(one.args[0], -LARGEST, LARGEST),))
        return None

    return change


def codes_for(levels: int, first: Array, last: Array) -> Codes:
    """The codes for all output limits together: those near enough to symmetric, or to 0, lose their zero point."""
    least_code, greatest_code = SIGNED.get(levels, (0, 0))
    signed, unsigned = (least_code, greatest_code, False), (0, STEPS[levels], False)
    large = (np.abs(first) >= NEAR_ZERO) | (np.abs(last) >= NEAR_ZERO)
    if levels in SIGNED and not large.any():
        return signed if (first < 0).any() else unsigned
    first, last = first[large], last[large]
    from_zero = np.abs(first) < NEAR_ZERO
    of_both_signs = (np.signbit(first) != np.signbit(last)) & ~from_zero
    symmetric = np.float32(-1) if levels == 255 else -np.float32(levels) / np.float32(levels - 2)
    asymmetric = np.abs((first / last - symmetric) / np.minimum(first / last, symmetric)) > MOST_ASYMMETRIC
    is_far = np.where(of_both_signs, (last == 0) | asymmetric, ~from_zero).any()
    if levels not in SIGNED or is_far or of_both_signs.any() != of_both_signs.all():
        return 0, STEPS[levels], True
    return signed if of_both_signs.all() else unsigned


def rebuilt(k: LevelParts) -> LevelParts:
    """With the output limits of the least and the greatest code, by a zero point and a scale."""
    if k.p.constants["codes"] is None:
        return k
    low, high, has_point = k.p.constants["codes"]
    scale = k.span / (high - low)
    point = (low * k.last - high * k.first) / k.span if has_point else lifted(0)
    bounded = where(of.magnitude(scale) < LEAST_SCALE, LEAST_SCALE, clamp(scale, -GREATEST_SCALE, GREATEST_SCALE))
    code = where((k.last >= 0) & (k.last <= high), rounded(k.last, EVEN), 0)  # a cast of what is out of range gives 0
    first, last = (where(equal(k.first, k.last), code, (end - point) * bounded) for end in (low, high))
    return parts(k.p, k.x, k.low, k.high, first, last)


def flushed_limits(k: LevelParts, *, flushes: bool) -> LevelParts:
    return parts(k.p, k.x, *map(to.FLUSH, k[2:6])) if flushes else k


def by_compiler(call: NodeCall, problem: Elementwise, *, flushes: bool, moved: bool) -> Elementwise:
    """The codes for the output limits, and which kernel a compiler takes: one that clips to high first along an axis.

    A node with reversed limits, or two levels and equal ones, goes to it or has the formula.
    """
    levels, flush = problem.constants["levels"], to.FLUSH.function if flushes else to.as_is
    if moved and levels not in STEPS:
        raise ValueError("limits are not rebuilt")
    pairs = zip(problem.kinds, problem.operands, strict=True)
    own = [array_of(kind.name, problem.shape, codes) for kind, codes in pairs]
    wide = [np.clip(one, -LARGEST, LARGEST) if problem.working == DOUBLE else one for one in own]
    low, high, first, last = (flush(one.astype(np.float32)) for one in wide[1:])
    codes, way = codes_for(levels, first, last) if levels in STEPS else None, "folded"
    new = replace(problem, constants={**problem.constants, "codes": codes})
    ends = rebuilt(flushed_limits(parts_of(new), flushes=flushes))
    is_flat = of.in_type(where(equal(by.stepped(ends.first), by.stepped(ends.last)), 1, 0), FLOAT32)
    if codes and call.computed(problem, of.to_ends(everywhere(is_flat, saturated(problem)), 0, 1)).all():
        way = "constant"
    elif (low > high).any() or (levels == 2 and (low == high).any()):
        way = "along axis" if vary_along_one_axis(call.inputs[: 4 if moved else 5]) else "formula"
    return replace(new, constants={**new.constants, "way": way})


def vary_along_one_axis(inputs: Sequence[Array]) -> bool:
    """Whether no limit varies, or all that do along the same axis, 0 or 1, of an array of this rank, at least 2."""
    x, *ends = inputs
    lengths = [(x.ndim - limit.ndim + axis, length) for limit in ends for axis, length in enumerate(limit.shape)]
    return x.ndim > 1 and {axis for axis, length in lengths if length > 1} in (set(), {0}, {1})


def clipped_high_first(k: LevelParts) -> Term:
    """Both products and sums are fused."""
    level = rounded(by.exact(k.high_first * k.factor) + -1 * k.low * k.n / k.width, EVEN)
    return by.exact(level * k.unit) + k.first


def folded_rebuilt(k: LevelParts, *, fuses: bool = True, flushes: bool = False) -> Term:
    """`flushes` takes subnormal numbers as 0; of the formula only in the limits."""
    k, way = rebuilt(flushed_limits(k, flushes=flushes)), k.p.constants["way"]
    if way == "constant":
        return k.first
    if way == "formula":
        between = where(k.x > greatest(k.low, k.high), k.last, inside(*k[:6]))
        return where(k.x <= least(k.low, k.high), k.first, between)
    k = parts(k.p, to.FLUSH(k.x), *k[2:6]) if flushes else k
    found = clipped_high_first(k) if way == "along axis" else folded(k, fuses=fuses)
    return to.FLUSH(found) if flushes else found


def factors_in_bfloat16(k: LevelParts) -> Term:
    """Scale, shift and step become bfloat16 with half a unit for odd numbers."""
    factor, unit, shift = map(to.HALF_IF_ODD, (k.factor, k.unit, -1 * k.low * k.n / k.width))
    return rounded(k.high_first * factor + shift, EVEN) * unit + k.first


def decoded(k: LevelParts, *, whole: bool = False) -> Term:
    """(code - zero_point) * scale of rebuilt limits; a code is a rounded level. The zero point may be whole, too."""
    steps = step(lifted(STEPS.get(k.levels, k.levels - 1)))
    point = -1 * steps * k.first / k.span
    code = rounded(level_of(k, k.high_first) * (steps / k.n), EVEN)
    product = (code - (rounded(point, EVEN) if whole else point)) * (k.span / steps)
    return where(equal(k.first, k.last), rounded(k.last, EVEN), product)


SATURATED, AT_LOW = by.all_steps_in(FLOAT32) + written(saturated), at_output_low(beyond=False)
FLUSHED, FLUSHED_STEPS = by.flushes("operand", "to-float"), by.flushes("operand", "step", "to-float")
PLAIN_ZEROS = by.result(to.Conversion("zeros without a sign", lambda values: values + 0.0))
ODD = changed(lambda one: replace(one, args=(to.HALF_IF_ODD(one.args[0]),)) if one.name == "to-float" else None)
WHOLE, CASTS = "codes and zero point rounded, in float32", "float64 + casts-to-int64"
FUSED, CLAMPED = "result:quotient first, fused", branches(lambda b: b.clipped)


def compiled(make: Of) -> Mutant:
    return kernel(make) + SATURATED


def compiled_rebuilt(*, fuses: bool = True, flushes: bool = False, moved: bool = False) -> Mutant:
    way = posed(partial(by_compiler, flushes=flushes, moved=moved))
    return way + compiled(partial(folded_rebuilt, fuses=fuses, flushes=flushes))


POSITIONS: dict[str, Of] = {
    "position:multiply, divide": lambda k: (k.x - k.low) * k.n / k.width,
    "position:step": lambda k: (k.x - k.low) / (k.width / k.n),
    "position:factor": lambda k: (k.x - k.low) * k.factor,
    "position:reciprocal of step": lambda k: (k.x - k.low) * (1 / (k.width / k.n)),
    "position:factor and shift": lambda k: k.x * k.factor - k.low * k.factor,
    "position:fused": lambda k: by.exact(k.x * k.factor) + -1 * k.low * k.factor,
    "position:reciprocal of range": lambda k: (k.x - k.low) * (1 / k.width) * k.n,
    "position:two quotients": lambda k: k.x / (k.width / k.n) - k.low / (k.width / k.n),
    "position:estimate of 12 bits": lambda k: (k.x - k.low) * step(to.ESTIMATE(k.width)) * k.n,
    "position:from input_high": lambda k: k.n - (k.low + k.width - k.x) / k.width * k.n,
    "position:without input_low": lambda k: k.x / k.width * k.n,
    "position:magnitude of input_low": lambda k: (k.x + of.magnitude(k.low)) / k.width * k.n,
}
RESULTS: dict[str, Of] = {
    "result:multiply, divide": lambda k: LEVEL * k.span / k.n + k.first,
    "result:step": lambda k: LEVEL * k.unit + k.first,
    "result:fused": lambda k: by.exact(LEVEL * k.unit) + k.first,
    "result:reciprocal of steps": lambda k: LEVEL * (1 / k.n) * k.span + k.first,
    "result:quotient first, fused": lambda k: by.exact(LEVEL / k.n * k.span) + k.first,
    "result:between the limits": lambda k: (1 - LEVEL / k.n) * k.first + LEVEL / k.n * k.last,
    "result:from output_high": lambda k: k.last - (k.n - LEVEL) / k.n * k.span,
    "result:two products": lambda k: (LEVEL + k.first / k.unit) * k.unit,
    "output-step-in:float16": lambda k: LEVEL * to.FLOAT16(k.unit) + k.first,
    "output-step-in:bfloat16": lambda k: LEVEL * to.BFLOAT16(k.unit) + k.first,
    "result:without output_low": lambda k: LEVEL / k.n * k.span,
    "result:with output_high": lambda k: LEVEL / k.n * k.span + k.last,
    "result:from the other end": lambda k: (k.n - LEVEL) / k.n * k.span + k.first,
}
ROUNDINGS = {
    "truncates": by.in_mode(of.TOWARD_ZERO),
    "rounds:UP": by.in_mode(of.UP),
    "ties-away": by.in_mode(of.AWAY),
    "floor-of-half-more": by.floor_of_half_more,
    "adds-half-and-truncates": by.trunc_of_half_more,
}
LEVELS: dict[str, Callable[[int], int]] = {
    "levels-not-steps": lambda levels: levels + 1,
    "one-level-fewer": lambda levels: max(levels - 1, 2),
    "at-most:256 levels": lambda levels: min(levels, 256),
    "255-levels-for-256": lambda levels: 255 if levels == 256 else levels,
    "at-least:16 levels": lambda levels: max(levels, 16),
    "even-levels": lambda levels: levels + levels % 2,
    "power-of-two-levels-below": lambda levels: 1 << (levels.bit_length() - 1),
}
OF_STEPS = (
    *of_place("x", *wrong.of_inputs("x", "quotient"), Wrong("x-in:float32", "quotient", held("float32", "x"))),
    *of_place(
        "lay",
        often("one-for-all:limit", "projection", laid("one-for-all:first range")),
        Wrong("one-for-all:input limits", "projection", laid("one-for-all:first range", 1, 2)),
        often("one-for-all:output limit", "projection", laid("one-for-all:first range", 3, 4)),
        *of_role(
            "projection",
            {f"one-for-all:{name}": laid("one-for-all:first range", n) for n, name in enumerate(LIMITS, start=1)},
        ),
        Wrong("one-for-all:last limits", "projection", laid("one-for-all:last range")),
        often("previous-limits", "projection", laid("previous-range")),
        often("next-limits", "projection", laid("next-range")),
        Wrong("limits-reversed", "projection", laid("ranges-reversed")),
        Wrong("limits-in-pairs", "projection", laid("ranges-in-pairs")),
    ),
    *of_place(
        "limits",
        often("output-limits-exchanged", "product", limits(lambda k: (k.low, k.high, k.last, k.first))),
        often("takes-input-limits-for-output", "product", limits(lambda k: (k.low, k.high, k.low, k.high))),
        Wrong("takes-output-limits-for-input", "quotient", limits(lambda k: (k.first, k.last, k.first, k.last))),
        Wrong("both-limits-in-order", "reversed", limits(in_order)),
        often(
            "sorts-input-limits", "reversed", input_limits(lambda k: (least(k.low, k.high), greatest(k.low, k.high)))
        ),
        Wrong("sorts-output-limits", "falling", limits(sorted_outputs)),
        Wrong("low-is-minus-high", "quotient", input_limits(lambda k: (0 - k.high, k.high))),
        Wrong("nudges-range", "quotient", nudged(of.UPWARD)),
        Wrong("range:nudged, ties to even", "quotient", nudged(EVEN)),
        Wrong("moves-range-to-grid", "quotient", input_limits(moved_to_grid)),
        often("limits-extended-to-zero", "quotient", input_limits(lambda k: (least(k.low, 0), greatest(k.high, 0)))),
        Wrong("input-limits-in:bfloat16", "quotient", held("bfloat16", *LIMITS[:2])),
        Wrong("output-limits-in-bfloat16", "product", held("bfloat16", *LIMITS[2:])),
        Wrong("limits-in:bfloat16", "quotient", held("bfloat16", *LIMITS)),
        Wrong("input-limits-in:float16", "quotient", held("float16", *LIMITS[:2])),
        Wrong("output-limits-in:float16", "product", held("float16", *LIMITS[2:])),
        Wrong("limits-in:float16", "quotient", held("float16", *LIMITS)),
        Wrong("limits-in:float32", "quotient", held("float32", *LIMITS)),
    ),
    *of_place("levels", *of_role("levels", {id_: counted(change) for id_, change in LEVELS.items()}, 4)),
    *of_place(
        "branches",
        often("clamped-goes-through", "above", CLAMPED),
        Wrong("clamped-goes-through-above", "above", branches(lambda b: b.up_to(b.clipped))),
        Wrong("clamped-goes-through-below", "below", branches(lambda b: b.above(b.clipped))),
        often("does-not-clamp", "above", branches(lambda b: b.inside)),
        Wrong("does-not-clamp-above", "above", branches(lambda b: b.up_to(b.inside))),
        Wrong("does-not-clamp-below", "below", branches(lambda b: b.above(b.inside))),
        often("ends-exchanged", "above", branches(lambda b: b._replace(first=b.last, last=b.first).term)),
        Wrong("x-outside-is-result", "above", branches(passed)),
        Wrong("clips-unordered", "reversed", branches(lambda b: b._replace(lower=b.low, upper=b.high).term)),
    ),
    *of_place(
        "position",
        *of_role("quotient", numbers(POSITION, POSITIONS), 7),
        Wrong("position-in:float16", "quotient", position_in("float16")),
        Wrong("position-in:bfloat16", "quotient", position_in("bfloat16")),
    ),
    *of_place("rounding", *of_role("nearest", {id_: changed(by.rounding(way)) for id_, way in ROUNDINGS.items()}, 4)),
    *of_place("result", *of_role("product", numbers(RESULT, RESULTS), 6)),
    *of_place("position rounding result", often("quantize-and-dequantize-whole", "sum", number(RESULT, by_codes))),
    *of_place("out", *wrong.of_results("sum")),
)
ALONE = {one.id: one for one in OF_STEPS}


def known(*ids: str) -> list[Wrong]:
    return [ALONE[id_] for id_ in ids]


def as_one(first: str, later: str) -> Mutant:
    return ALONE[later].mutant + ALONE[first].mutant


LIKELY = (
    Wrong("folded", "quotient", kernel(partial(folded, fuses=False))),
    Wrong("folded-fused", "quotient", fused(kernel(folded))),
    Wrong("folded-in-float32", "quotient", kernel(folded) + all_in("float32")),
    Wrong("folded-wide", "quotient", kernel(folded_wide)),
    Wrong("folded-rebuilt", "quotient", compiled_rebuilt()),
    Wrong("folded-rebuilt-unfused", "quotient", compiled_rebuilt(fuses=False)),
    Wrong("folded-rebuilt + flushes", "quotient", compiled_rebuilt(flushes=True)),
    Wrong("folded-rebuilt-unfused + flushes", "quotient", compiled_rebuilt(fuses=False, flushes=True)),
    Wrong("computes-in:float32 + overflow-to-largest", "quotient", only_of(SATURATED, "float64")),
    Wrong("computes-in:float32 + half-for-odd-bfloat16", "quotient", only_of(SATURATED + ODD, "bfloat16")),
    Wrong("folded-fused:both products, in float32", "quotient", compiled(clipped_high_first)),
    Wrong(
        "folded-wide:with half a unit for odd numbers", "quotient", only_of(compiled(factors_in_bfloat16), "bfloat16")
    ),
    Wrong("quantize-and-dequantize:codes rounded, in float32", "sum", compiled(decoded)),
    Wrong(f"quantize-and-dequantize:{WHOLE}", "sum", compiled(partial(decoded, whole=True))),
    Wrong("folded-rebuilt + output-high-at-output-low", "projection", AT_LOW + compiled_rebuilt(moved=True)),
    Wrong("folded-rebuilt:whatever the limits", "quotient", kernel(rebuilt_anyway) + all_in("float32")),
    Wrong("scale-and-zero-point-in:float32", "quotient", by_parameters(levels_of, to.NAN_TO_LEAST, "float32")),
    Wrong(f"scale-and-zero-point-in:{CASTS}", "quotient", by_parameters(levels_of, to.X86_CAST_64, "float64")),
    Wrong("does-not-round", "nearest", kernel(partial(folded_wide, rounds=False))),
    Wrong("quantize-and-dequantize", "sum", kernel(dequantized)),
    Wrong("quantize-and-dequantize-unshifted", "sum", kernel(lambda k: rounded(k.clipped * k.factor, EVEN) * k.unit)),
    Wrong("flushes-range", "quotient", number(WIDTH, lambda k: to.flushed_in(k.p.working)(k.width))),
    Wrong("output-step-first", "fraction", ALONE["result:step"].mutant),
    Wrong("input-scale-first", "quotient", ALONE["position:factor"].mutant),
    Wrong("scale-and-step-first", "quotient", as_one("position:factor", "result:step")),
    Wrong("quantize-and-dequantize-in:float32", "sum", kernel(dequantized) + all_in("float32")),
    *(Wrong(f"computes-in:{kind}", "quotient", all_in(kind)) for kind in ("float32", "bfloat16", "float16")),
    Wrong("flushes", "quotient", FLUSHED + PLAIN_ZEROS),
    Wrong("flushes-every-step", "quotient", FLUSHED_STEPS + PLAIN_ZEROS),
    Wrong("divides-by-zero", "equal-limits", CLAMPED),
    Wrong("clips-low-last", "reversed", branches(lambda b: b.at(greatest(least(b.x, b.high), b.low)))),
    Wrong("clips-high-last", "reversed", branches(lambda b: b.at(clamp(b.x, b.low, b.high)))),
    *known("clips-unordered", "sorts-input-limits", "sorts-output-limits", "one-for-all:limit"),
    replace(ALONE["levels-not-steps"], role="position"),
    *known("does-not-clamp", "floor-of-half-more"),
    Wrong("rounds-zero-point", "quotient", number(RESULT, by_zero_point)),
    *known("position:factor and shift", "position:fused", "position:step", "position:multiply, divide"),
    *known("position:reciprocal of range", "position:without input_low", "result:fused", "result:multiply, divide"),
    *known("result:reciprocal of steps", "result:quotient first, fused", "result:between the limits"),
    *known("result:without output_low"),
    replace(ALONE["one-level-fewer"], role="position"),
    Wrong("always-256-levels", "position", counted(lambda levels: 256)),
    Wrong("power-of-two-levels", "position", counted(lambda levels: 1 << (levels - 1).bit_length())),
    *known("clamped-goes-through"),
    Wrong("high-limit-is-above", "above", branches(lambda b: b.up_to(where(b.x >= b.upper, b.last, b.inside)))),
    Wrong("low-limit-is-inside", "below", branches(lambda b: where(b.x < b.lower, b.first, b.above(b.inside)))),
    *known("does-not-clamp-above", "ends-exchanged"),
    Wrong("equal-limits-go-up", "equal-limits", branches(equal_up)),
    *known("truncates", "ties-away"),
    Wrong("truncates + one-level-fewer", "nearest", as_one("one-level-fewer", "truncates")),
    Wrong(f"clamped-goes-through + {FUSED}", "above", as_one("clamped-goes-through", FUSED)),
    *(
        Wrong(f"computes-in:{kind}, x compared in its own type", "quotient", inside_in(kind))
        for kind in ("float32", "float16", "bfloat16", "float64")
    ),
    Wrong("flushes-inputs", "quotient", written(lambda p: by.of_operand("x", to.flushed_in(p.working)))),
    Wrong("flushes-outputs", "quotient", by.flushes("to-float") + PLAIN_ZEROS),
    *known("takes-input-limits-for-output", "output-limits-in-bfloat16", "one-for-all:output limit"),
    Wrong("limits-repeat", "projection", laid("ranges-repeat")),
    Wrong("output-high-at-output-low", "projection", AT_LOW + SATURATED),
    Wrong("output-high-beyond-its-values", "projection", at_output_low(beyond=True) + compiled(decoded)),
)
MISTAKES = wrong.mistakes_of(list(dict.fromkeys((*LIKELY, *OF_STEPS))))
PAIRS = wrong.pairs_of(OF_STEPS, later_first=True)
