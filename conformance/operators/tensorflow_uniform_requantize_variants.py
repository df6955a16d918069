"""What can go wrong with UniformRequantize, as changes of its term: what requantizers share, its range, its places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from tiebreak.conformance.operators import wrong_integer_terms as integers
from tiebreak.conformance.operators import wrong_requantizers as rq
from tiebreak.conformance.operators.tensorflow_uniform import PLACES
from tiebreak.conformance.operators.wrong_terms import Wrong, as_read, mistakes_of, of_place, often, pairs_of
from tiebreak.conformance.semantics.causes import JOINT
from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.by_id import by_id
from tiebreak.conformance.variants.changes import Change, at, everywhere, operands_of
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, Output, at_once, changed, written
from tiebreak.conformance.variants.places import misplaced
from tiebreak.golden.arithmetic.term import Term, clamp, equal, is_finite, rounded, where, whole, wrapped
from tiebreak.golden.elements import IntegerType
from tiebreak.golden.nodes import Node
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import EVEN

SIDES = ("input", "output")
LANES = 4  # of a vector of 128 bits
EXACT = rq.reading(lambda p: rq.real, lambda scale, other: (is_finite(scale), is_finite(other) & ~equal(other, 0)))

# The input


def through_float32(p: Elementwise) -> Change:
    """An int32 rounded to float32 and cast back, which gives the lowest for what is beyond."""
    is_word = p.kinds[0] == integers.WORD
    return by.of_operand("x", lambda x: to.X86_CAST(rq.single(x)) if is_word else x)


def of_call(change: Callable[[NodeCall], Change]) -> Mutant:
    """A change that depends on the node, or on all of its inputs."""

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        return problem, everywhere(term, change(call))

    return Mutant((apply,))


def ends_of(node: Node, side: str) -> tuple[int, int]:
    least, greatest = (int(node.value(f"{side}_quantization_{end}_val")) for end in ("min", "max"))
    return least, greatest


def clips_input(call: NodeCall) -> Change:
    return by.of_operand("x", lambda x: clamp(x, *ends_of(call.node, "input")))


def wraps_in_vectors(call: NodeCall) -> Change:
    """The difference wraps around in int32 only in whole vectors; the numbers after them are subtracted in 64 bits."""
    if call.inputs[0].dtype == np.int32:
        raise ValueError("its kernel is another one")
    in_slices = any(call.node.value(f"{side}_quantization_axis") >= 0 for side in SIDES)
    lanes = call.inputs[0].size + 1 if in_slices else LANES  # slices with their own have no whole vector
    return at(rq.DIFFERENCE, lambda one: where(to.in_whole_vectors(lanes, one), integers.word(one), one))


THROUGH_FLOAT32 = written(through_float32)
IN_WORD = changed(at(rq.DIFFERENCE, integers.word))
IN_FLOAT32 = rq.difference(lambda x, zero_point: rq.single(rq.single(x) - rq.single(zero_point)))

# The output


def without_ends(least: bool, greatest: bool) -> Mutant:
    """Those of the type take the place of ends from the attributes."""

    def out(one: Term, number: Term, zero_point: Term, kind: IntegerType) -> Term:
        low, high = one.constant
        return replace(one, constant=(kind.lowest if least else low, kind.highest if greatest else high))

    return rq.output(out)


def then_clips(change: Callable[[Term, Term, IntegerType], Term]) -> Mutant:
    """The sum of the whole number and the zero point is made otherwise."""
    return rq.output(lambda one, *own: replace(one, args=(change(*own),)))


SUM_IN_WORD = then_clips(lambda number, zero_point, kind: integers.word(integers.saturated(number) + zero_point))
MULTIPLIED = rq.whole_number(rq.once) + SUM_IN_WORD

# One factor and one sum in float32, computed beforehand from both sides, as XLA compiles it


def ratio_and_shift(fused: bool, p: Elementwise) -> Change:
    x, s_in, z_in, s_out, z_out = operands_of(p).values()
    ratio = rq.single(s_in / s_out)
    shift = rq.single(rq.single(z_out) - rq.single(rq.single(z_in) * ratio))
    product = rq.single(x) * ratio
    total = rounded(rq.single((product if fused else rq.single(product)) + shift), EVEN)
    return lambda one: replace(one, args=(total,)) if one.name == "to-ends" else None


def or_input(flushed: bool | None = None) -> Mutant:
    """Fused; the input itself, unclipped, where type, ends, scales and zero points are the same on both sides.

    `flushed`: only where there are subnormal scales, which are 0 then, or only where there are none.
    """

    def apply(call: NodeCall, problem: Elementwise, term: Term) -> Output:
        x, *parameters = call.inputs
        others = [to.FLUSH.function(one) if one.dtype == np.float32 else one for one in parameters]
        if flushed not in (None, not all(map(np.array_equal, others, parameters))):
            raise NotImplementedError
        own, result = others if flushed else parameters, call.node.outputs[0]
        alike = x.dtype == result.dtype and ends_of(call.node, "input") == ends_of(call.node, "output")
        if alike and all(map(np.array_equal, own[:2], own[2:])):
            return problem, whole(operands_of(problem)["x"])
        return WITH_FUSED.changes[0](call, problem, term)

    return Mutant((apply,))


def whole_word(one: Term, number: Term, zero_point: Term, kind: IntegerType) -> Term:
    return replace(one, constant=(kind.lowest, kind.highest)) if kind == integers.WORD else one


WITH_FUSED, UNBOUNDED = written(partial(ratio_and_shift, True)), rq.output(whole_word)
OR_INPUT, OF_31_BITS = "ratio-and-shift-or-input", "multiplier-of-31-bits-in-int32"
OWN = (
    Wrong(OF_31_BITS, "ratio", MULTIPLIED + IN_WORD),
    Wrong(f"x-in:float32{JOINT}{OF_31_BITS}", "difference", MULTIPLIED + IN_WORD + THROUGH_FLOAT32),
    Wrong(
        f"{OF_31_BITS}:a difference beyond int32 only in whole vectors of {LANES}",
        "ratio",
        rq.whole_number(rq.once, wide=True) + SUM_IN_WORD + of_call(wraps_in_vectors),
    ),
    Wrong(OR_INPUT, "ratio", or_input()),
    Wrong(f"flushes-scales{JOINT}{OR_INPUT}", "ratio", at_once(UNBOUNDED, or_input(True), rq.each(to.FLUSH))),
    Wrong(f"no-ends-of-int32{JOINT}{OR_INPUT}", "range", UNBOUNDED + or_input(False)),
    Wrong("ratio-and-shift-in-float32", "ratio", written(partial(ratio_and_shift, False))),
    Wrong("ratio-and-shift-in-float32:fused", "ratio", WITH_FUSED),
    Wrong("clips-input", "input-range", of_call(clips_input)),
)

# The tables

ENDS_LAST, BOTH_ENDS = "then clips to the range", "quantization_min_val and quantization_max_val"
TYPE_FIRST = then_clips(lambda number, zero_point, kind: wrapped(integers.saturated(number, kind) + zero_point, kind))
STEPS = (
    *of_place("x", often("x-in:float32", "difference", THROUGH_FLOAT32)),
    *of_place(
        "difference",
        often("difference-wraps-in:int32", "difference", IN_WORD),
        often("converts-before-subtracting", "difference", IN_FLOAT32),
    ),
    *of_place(
        "out",
        Wrong(f"wraps:{ENDS_LAST}", "range", then_clips(lambda number, point, kind: wrapped(number + point, kind))),
        Wrong(f"clamps-before-zero-point-and-wraps:{ENDS_LAST}", "range", TYPE_FIRST),
        often("wraps", "range", by_id("wraps")),
        often("clamps-before-zero-point", "range", by_id("clamps-before-zero-point")),
        often("sum-wraps-in:int32", "range", SUM_IN_WORD),
        Wrong(f"ignores:{BOTH_ENDS}", "narrow", without_ends(True, True)),
        Wrong("ignores:quantization_min_val", "narrow", without_ends(True, False)),
        Wrong("ignores:quantization_max_val", "narrow", without_ends(False, True)),
    ),
    *(
        rq.of_whole("nearest", Wrong, f"real-result-rounded:{name}", rq.real, mode=rq.ROUNDINGS[name])
        for name in rq.ROUNDINGS
    ),
    *rq.by_multipliers("nearest"),
    *rq.in_floats("nearest"),
    *rq.inputs("ratio"),
    *rq.scales("ratio"),
)
OF_PLACES = tuple(
    Wrong(id_, "projection", misplaced({1: first, 2: last, 3: first, 4: last}, only="output"))
    for id_, first, last in PLACES
)
MISTAKES = mistakes_of(as_read(EXACT, [*OF_PLACES, *OWN, *STEPS]))
PAIRS = pairs_of(as_read(EXACT, STEPS))
