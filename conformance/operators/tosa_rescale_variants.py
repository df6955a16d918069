"""What can go wrong with tosa.RESCALE, as changes of its term, which is exact.

F1 is the difference, F2 its product with the multiplier, R1 the rounded quotient by 2^shift.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tiebreak.conformance.operators import wrong_integer_terms as integers
from tiebreak.conformance.operators.wrong_terms import Wrong, as_read, mistakes_of, of_place, often, pairs_of
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.by_id import by_id
from tiebreak.conformance.variants.changes import at, everywhere
from tiebreak.conformance.variants.mutant import Mutant, NodeCall, Output, changed
from tiebreak.conformance.variants.places import PLACES, Place, along, in_runs, misplaced
from tiebreak.golden.arithmetic.term import (
    UPWARD,
    Term,
    clamp,
    floor,
    greatest,
    in_reals,
    lifted,
    power_of_two,
    rounded,
    step,
    steps_of,
    where,
    wrapped,
)
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType
from tiebreak.golden.operators.tosa_rescale import DOUBLE, MOST_SHIFT, WIDE
from tiebreak.golden.problem import Elementwise
from tiebreak.golden.rounding import EVEN

SHIFT = "the shift"  # its mark
NUDGE = 1 << 30
HELD = by.of_operand("shift", lambda shift: clamp(shift, 1, MOST_SHIFT).by(SHIFT))  # others are open


def exact(call: NodeCall, problem: Elementwise, term: Term) -> Output:
    return problem, in_reals(everywhere(term, HELD))


# The quotient


def whole_number(make: Callable[[Term, Term, Term], Term]) -> Mutant:
    """Another whole number, from the difference, the multiplier and the shift."""

    def found(one: Term) -> Term:
        parts = {clause: part for part in steps_of(one) for clause in part.clauses}
        value, multiplier = parts["TRS-F2"].args
        return make(value, multiplier, parts[SHIFT])

    return changed(at("TRS-R1", found))


def halved(product: Term, shift: Term) -> Term:
    return rounded(product * power_of_two(0 - shift), UPWARD)


def once(value: Term, multiplier: Term, shift: Term) -> Term:
    return halved(value * multiplier, shift)


def twice(value: Term, multiplier: Term, shift: Term, above: int = 31) -> Term:
    """Rounding twice adds a nudge to the product."""
    nudge = where(shift > above, where(value < 0, -NUDGE, NUDGE), 0)
    return halved(value * multiplier + nudge, shift)


def nudged_upward(value: Term, multiplier: Term, shift: Term) -> Term:
    return halved(value * multiplier + where(shift > 31, NUDGE, 0), shift)


def shifted_twice(value: Term, multiplier: Term, shift: Term) -> Term:
    """To a shift of 31, with ties upward, then by the rest, again upward."""
    both = halved(halved(value * multiplier, lifted(31)), greatest(shift - 31, 0))
    return where(shift > 31, both, once(value, multiplier, shift))


def rounding_constant_lost(value: Term, multiplier: Term, shift: Term) -> Term:
    """The constant that rounds is computed in 32 bits, where it vanishes for the larger shifts."""
    constant = where(shift > 32, 0, integers.word(power_of_two(shift - 1)))
    return floor((value * multiplier + constant) * power_of_two(0 - shift))


def in_float(kind: FloatType, value: Term, multiplier: Term, shift: Term) -> Term:
    """The quotient by one factor in a floating-point type, ties to even."""
    factor = step(multiplier * power_of_two(0 - shift), kind)
    return rounded(step(step(value, kind) * factor, kind), EVEN)


def product_in(kind: str) -> Mutant:
    return changed(at("TRS-F2", lambda one: wrapped(one, INTEGER_TYPES[kind])))


def shift_moved(more: int) -> Mutant:
    return by.operands(lambda shift: shift + more, "shift")


def of_bits(bits: int) -> Mutant:
    """The multiplier rounded to so many bits, as a narrower one has them."""
    unit = 1 << (31 - bits)
    return by.operands(lambda multiplier: rounded(multiplier / unit, UPWARD) * unit, "multiplier")


def is_double(call: NodeCall) -> bool:
    return bool(call.node.value("rounding_mode") == DOUBLE)


def is_single(call: NodeCall) -> bool:
    return not is_double(call)


def is_48(call: NodeCall) -> bool:
    return call.node.input_type == "int48"


def of_double(make: Callable[[Term, Term, Term], Term]) -> Mutant:
    """A wrong step that only nodes have that round twice."""
    return integers.only(is_double, whole_number(make))


TO_UPPER_HALF = by.operands(lambda multiplier: multiplier * (1 << 16), "multiplier")
UPPER_HALF = integers.only(lambda call: not call.node.value("scale32"), TO_UPPER_HALF)
QUOTIENTS = (
    *of_place(
        "scale",
        often(
            "rounding-mode:DOUBLE_ROUND", "single", integers.only(lambda call: not is_double(call), whole_number(twice))
        ),
        often("rounding-mode:SINGLE_ROUND", "double", of_double(once)),
        often("nudge-upward-always", "double", of_double(nudged_upward)),
        *(often(f"nudge-from-shift:{n}", "double", of_double(partial(twice, above=n - 1))) for n in (31, 33, 2)),
        often("shifts-twice", "double", whole_number(shifted_twice)),
        often("product-wraps", "scale32", product_in("int32")),
        often("product-of-48-bits", "scale16", integers.only(is_48, product_in("int48"))),
        often("rounding-constant-in-32-bits", "single", whole_number(rounding_constant_lost)),
        *(
            often(f"scales-in:{name}", "single", whole_number(partial(in_float, FLOAT_TYPES[name])))
            for name in ("float32", "float64")
        ),
    ),
    *of_place(
        "factors",
        often("shift-moved:one more", "scale32", shift_moved(1)),
        often("shift-moved:one less", "scale32", shift_moved(-1)),
        Wrong("shift-moved:16 more", "scale16", shift_moved(16)),
        Wrong(
            "multiplier-in-upper-half",
            "scale16",
            integers.only(lambda call: not call.node.value("scale32"), UPPER_HALF),
        ),
        Wrong("factor-of-bits:15", "scale32", of_bits(15)),
        Wrong("factor-of-bits:24", "scale32", of_bits(24)),
    ),
)

# The input and the zero points


def in_32_bits(change: Callable[[Term], Term]) -> Mutant:
    """An input of 48 bits as one of 32."""
    return integers.only(is_48, by.operands(change, "x"))


INPUTS = (
    *of_place(
        "read",
        often("input-as-signed", "difference", integers.read_as(True, "x", most=16)),
        often("input-as-unsigned", "difference", integers.read_as(False, "x", most=16)),
    ),
    *of_place(
        "points",
        often("ignores:the input zero point", "difference", integers.taken_as(0, "input_zp")),
        often("ignores:the output zero point", "zero-point", integers.taken_as(0, "output_zp")),
        often("adds-input-zero-point", "difference", integers.negated("input_zp")),
        often("subtracts-output-zero-point", "zero-point", integers.negated("output_zp")),
        often("zero-points-exchanged", "zero-point", integers.exchanged("input_zp", "output_zp")),
        Wrong("input-zero-point-as:signed", "difference", integers.read_as(True, "input_zp", most=16)),
        Wrong("input-zero-point-as:unsigned", "difference", integers.read_as(False, "input_zp", most=16)),
        Wrong("output-zero-point-as:signed", "zero-point", integers.read_as(True, "output_zp", most=16)),
        Wrong("output-zero-point-as:unsigned", "zero-point", integers.read_as(False, "output_zp", most=16)),
    ),
    *of_place(
        "read",
        often("input-in-32-bits:wrapped around", "difference", in_32_bits(integers.word)),
        often("input-in-32-bits:saturated", "difference", in_32_bits(integers.saturated)),
    ),
    *of_place(
        "difference",
        often("difference-wraps", "difference", integers.held_difference("TRS-F1", wrapped)),
        often("difference-saturates", "difference", integers.held_difference("TRS-F1", integers.saturated)),
    ),
)

# Which multiplier and shift an element takes

OTHER_CHANNELS: Mapping[str, Place] = {
    "the first channel": PLACES["one-for-all:first range"],
    "the last channel": PLACES["one-for-all:last range"],
    "the previous channel": PLACES["previous-range"],
    "the next channel": PLACES["next-range"],
    "the channels in reverse order": PLACES["ranges-reversed"],
    "the even channel of a pair": PLACES["ranges-in-pairs"],
    "four channels in turn": PLACES["ranges-of-first:four channels"],
    "the index along the first axis": partial(along, 0),
    "equal runs of the flat array": in_runs,
}
CHANNELS = tuple(
    Wrong(f"{key}:{name}", "channels", misplaced(dict.fromkeys(numbers, place), only="output"))
    for key, numbers in {"factors-of": (1, 2), "multiplier-of": (1,), "shift-of": (2,)}.items()
    for name, place in OTHER_CHANNELS.items()
)

# The sum and the clamp


def of_outputs(condition: Callable[[str], bool], id_: str) -> Mutant:
    return integers.only(lambda call: condition(call.node.output_type), by_id(id_))


CLAMPS = (
    *of_place(
        "clamp",
        *(often(id_, "saturate", by_id(id_)) for id_ in ("wraps", "wraps-above", "wraps-below")),
        often("saturates-as-unsigned", "saturate", of_outputs(lambda kind: kind not in WIDE, "saturates-as-unsigned")),
        *(often(id_, "saturate", by_id(id_)) for id_ in ("saturates-as-signed", "highest-of-signed")),
        often("narrow-range", "saturate", of_outputs(lambda kind: not kind.startswith("u"), "narrow-range")),
    ),
    *of_place("add", often("clamps-before-zero-point", "saturate", by_id("clamps-before-zero-point"))),
    Wrong("clamps-before-zero-point-and-wraps", "saturate", by_id("clamps-before-zero-point-and-wraps")),
    Wrong("sum-wraps-in:int16", "zero-point", by_id("sum-wraps-in:int16")),
)
MISTAKES = mistakes_of(as_read(exact, (*QUOTIENTS, *INPUTS, *CLAMPS, *CHANNELS)))
PAIRS = pairs_of(as_read(exact, (*QUOTIENTS, *CLAMPS, *INPUTS)), later_first=True)
