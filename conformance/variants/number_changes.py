"""What may happen to a number between the step that makes it and the next one.

Each change has an id: what happens, then the number, then what the change is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants.changes import inner
from tiebreak.golden.arithmetic.term import (
    TOWARD_ZERO,
    Term,
    clamp,
    lifted,
    rounded,
    step,
    wrapped,
)
from tiebreak.golden.arithmetic.text import text_of
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.rounding import EVEN

Named = tuple[str, Term]  # the id of a change, and what stands for the step then
LONGEST = 80  # of a number's formula in an id; a longer one is known by its clause
HALF_TYPES = ("float16", "bfloat16")
BITS, FRACTION_BITS = (7, 8, 10, 11, 12, 14, 15, 16, 22, 23, 24, 31), (7, 8, 10, 12, 14, 15, 16, 20, 22, 24, 30, 31)
SMALL = ("1e-12", "1e-10", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5")
WORDS = ("int8", "uint8", "int16", "uint16", "int32", "int4", "uint4")


def name_of(number: Term) -> str:
    """The formula of a number, written so that an id can hold it; of a long one the last clause that it follows."""
    if number.name in ("to-ends", "to-float", "whole", "end"):
        return "the result"
    text = text_of(number).replace(" + ", "+")
    every = (*number.clauses, *inner(number).clauses)
    clauses = [clause for clause in every if "-U" not in clause] or every
    is_short = len(text) <= LONGEST and not set(text) & set(",:@")
    return text if is_short or not clauses else f"the number of {clauses[-1]}"


def conversions_of(number: Term, name: str, problem: Problem) -> Iterator[Named]:
    integer, kind = is_integer(number, problem), problem.result
    if integer:
        yield from of_integer(number, name)
    elif isinstance(kind, IntegerType):
        yield f"number-saturates-to:{name},{kind.name}", clamp(number, kind.lowest, kind.highest)
    for key, conversion in REAL_CONVERSIONS.items():
        if not (integer and key.partition(":")[0] in ONLY_OF_REALS):
            yield id_of(key, name), conversion(number)


def of_integer(number: Term, name: str) -> Iterator[Named]:
    for kind in WORDS:
        yield id_of(f"number-wraps-in:{kind}", name), wrapped(number, INTEGER_TYPES[kind])
        ends = INTEGER_TYPES[kind]
        yield id_of(f"number-saturates-to:{kind}", name), clamp(number, ends.lowest, ends.highest)
    for more in (1, -1, 8, -8, 128, -128):
        yield id_of(f"number-plus:{more}", name), number + more
    for value in (8, 128, -128, 127):
        yield id_of(f"number-taken-as:{value}", name), lifted(value)


def id_of(key: str, name: str) -> str:
    """The id of a change of a number: the change, then the number, then what the change is about."""
    change, _, parameter = key.partition(":")
    return f"{change}:{name}{parameter and ','}{parameter}"


def is_integer(term: Term, problem: Problem) -> bool:
    """Whether a number is an integer whatever the operands."""
    if term.name == "operand":
        return isinstance(problem.kinds[term.constant[0]], IntegerType)
    if term.name == "number":
        return bool(term.constant.denominator == 1)
    if term.name in ("round", "wrap", "exponent"):
        return True
    args = term.args[1:] if term.name == "where" else term.args
    whole_of = ("add", "subtract", "multiply", "sum", "step", "clamp", "least", "greatest", "magnitude", "where")
    return term.name in whole_of and all(is_integer(one, problem) for one in args)


def without_subnormals(kind: str, values: Array) -> Array:
    """Values rounded to a type whose subnormal numbers are zero."""
    return to.flushed_in(FLOAT_TYPES[kind]).function(to.through(kind, values))


def in_kind(kind: FloatType) -> Callable[[Term], Term]:
    return lambda number: step(number, kind)


def converted(name: str, function: to.Change) -> to.Conversion:
    return to.Conversion(name, function)


def to_multiple(bits: int, whole_: Callable[[Array], Array], values: Array) -> Array:
    return np.ldexp(whole_(np.ldexp(values, bits)), -bits)


def nearest_power(values: Array) -> Array:
    return np.copysign(np.exp2(np.rint(np.log2(np.abs(values)))), values)


def raised(bound: float, values: Array) -> Array:
    return np.where(values < bound, bound, values)


def float32(text: str) -> float:
    return float(np.float32(text))


def real_conversions() -> Iterator[tuple[str, Callable[[Term], Term]]]:
    for kind in HALF_TYPES:
        yield f"number-in:{kind}", in_kind(FLOAT_TYPES[kind])
    yield "number-in:TF32", to.TF32
    yield "number-in:float32", in_kind(FLOAT_TYPES["float32"])
    yield "number-in-normal:float16", converted("normal float16", partial(without_subnormals, "float16"))
    yield "number-cut-off-to:bfloat16", to.CUT_TO_BFLOAT16
    yield "number-cut-off-to:float16", converted("cut to float16", partial(cut_to, "float16"))
    yield "number-cut-off-to:float32", to.CUT_TO_FLOAT32
    yield "number-saturates-in:float16", converted("saturating float16", to.in_saturating_float16)
    for kind in ("float32", *HALF_TYPES):
        yield f"number-flushed-in:{kind}", to.flushed_in(FLOAT_TYPES[kind])
    yield "number-taken-as:0", lambda number: lifted(0)
    yield "number-taken-as:1", lambda number: lifted(1)
    yield "number-negated", lambda number: 0 - number
    yield "number-without-sign", converted("magnitude", to.magnitude)
    yield "number-not-below-zero", converted("not below zero", to.negative_to_zero)
    yield "number-twice", lambda number: number * 2
    yield "number-halved", lambda number: number / 2
    yield "number-not-rounded", lambda number: number.args[0] if number.name == "step" else number
    yield "number-truncated", lambda number: rounded(number, TOWARD_ZERO)
    yield "number-rounded", lambda number: rounded(number, EVEN)
    for bits in BITS:
        yield f"number-of-bits:{bits}", converted(f"{bits} bits", partial(to.significant, bits))
        cut = partial(to.significant, bits, whole=np.trunc)
        yield f"number-cut-to-bits:{bits}", converted(f"cut to {bits} bits", cut)
    for bits in FRACTION_BITS:
        yield f"number-of-fraction-bits:{bits}", converted(f"{bits} fraction bits", partial(to_multiple, bits, np.rint))
        cut = partial(to_multiple, bits, np.trunc)
        yield f"number-cut-to-fraction-bits:{bits}", converted(f"cut to {bits} fraction bits", cut)
    yield "number-of-digits:6", to.SIX_DIGITS
    yield "number-to-power-of-two", converted("nearest power of two", nearest_power)
    yield "number-to-power-of-two-below", to.POWER_BELOW
    yield "number-to-power-of-two-above", to.POWER_ABOVE
    for text in (*SMALL, "1.1920929e-07"):
        yield f"number-plus-small:{text}", partial(plus, Fraction(float32(text)))
        yield f"number-raised-to:{text}", converted(f"at least {text}", partial(raised, float32(text)))
        yield f"number-to-zero-below:{text}", converted(f"zero below {text}", partial(to.below_to_zero, float32(text)))


def cut_to(kind: str, values: Array) -> Array:
    return to.cut_off(values, kind).astype(np.float64)


def plus(more: Fraction, number: Term) -> Term:
    return step(number + more)


REAL_CONVERSIONS = dict(real_conversions())


OF_SMALL = ("number-plus-small", "number-raised-to", "number-to-zero-below")  # what guards a divisor


ONLY_OF_REALS = (
    "number-plus-small",
    "number-flushed-in",
    "number-truncated",
    "number-rounded",
    "number-of-fraction-bits",
    "number-cut-to-fraction-bits",
    "number-raised-to",
    "number-to-zero-below",
)
