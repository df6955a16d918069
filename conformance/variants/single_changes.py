"""Every change of a single step of a term that a kernel may make by mistake, with its cause's id, the likelier first.

Nothing here knows an operator. A number of the formula is known by its own formula: "x - zero_point in float16".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from itertools import combinations, permutations

import numpy as np

from tiebreak.conformance.variants import conversions as to
from tiebreak.conformance.variants import rewrites as by
from tiebreak.conformance.variants.changes import everywhere, inner, matched, with_change
from tiebreak.conformance.variants.one_step import TRUTHS, toward
from tiebreak.golden.arithmetic.doubles import DOUBLE
from tiebreak.golden.arithmetic.term import (
    AWAY,
    DOWN,
    TOWARD_ZERO,
    UP,
    UPWARD,
    Term,
    clamp,
    greatest,
    least,
    lifted,
    rounded,
    step,
    steps_of,
    to_ends,
    where,
    whole,
    wrapped,
)
from tiebreak.golden.arithmetic.text import text_of
from tiebreak.golden.elements import FLOAT_TYPES, INTEGER_TYPES, FloatType, IntegerType, decode, scaled
from tiebreak.golden.problem import Array, Problem
from tiebreak.golden.rounding import EVEN

Named = tuple[str, Term]  # the id of a change, and what stands for the step then
Change = tuple[str, Callable[[Term], Term]]  # the id of a change, and what makes the changed term of a term
LONGEST = 60  # of a number's formula in an id; a longer one is known by its clause
MOST_ORDERS = 5  # factors of a product whose orders are tried
HALF_TYPES = ("float16", "bfloat16")
BITS, FRACTION_BITS = (7, 8, 10, 11, 12, 14, 15, 16, 22, 23, 24, 31), (8, 10, 12, 14, 15, 16, 20, 22, 24, 30, 31)
SMALL = ("1e-12", "1e-10", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5")
WORDS = ("int8", "uint8", "int16", "uint16", "int32", "int4", "uint4")
ROUNDINGS: Mapping[str, by.Rounding] = {
    "toward zero": by.in_mode(TOWARD_ZERO),
    "ties away from zero": by.in_mode(AWAY),
    "ties to even": by.in_mode(EVEN),
    "ties upward": by.in_mode(UPWARD),
    "down": by.in_mode(DOWN),
    "up": by.in_mode(UP),
    "ties toward zero": by.in_mode("ROUND_NEAREST_TOWARD_ZERO"),
    "ties downward": by.in_mode("ROUND_NEAREST_DOWNWARD"),
    "by trunc(q+0.5)": by.trunc_of_half_more,
    "by floor(q+0.5)": by.floor_of_half_more,
    "by trunc(q+0.5 sign(q))": by.trunc_of_signed_half_more,
}


def single_changes(term: Term, problem: Problem) -> Iterator[Change]:
    """Each change of a backend's term (changes.spoken)."""
    numbers = numbers_of(term)
    for kinds in (of_operation, of_conversions):
        for site, name in numbers:
            for id_, new in kinds(site, name, problem):
                if new != site:
                    yield id_, partial(with_change, site=site, new=new)
    yield from of_operands(term, problem)
    yield from of_all_steps()


def numbers_of(term: Term) -> list[tuple[Term, str]]:
    """The distinct numbers that steps make, the first ones first, each with its name. A rounded one stands for both."""
    found: dict[Term, str] = {}
    under = {one.args[0] for one in steps_of(term) if one.name in ("step", "held")}
    for one in outside_of_sums(term):
        if one.name not in (*TRUTHS, "not", "bits") and one not in under and (one.name != "number" or one.clauses):
            found.setdefault(one, name_of(one))
    return list(found.items())


def name_of(number: Term) -> str:
    """The formula of a number, written so that an id can hold it; of a long one the last clause that it follows."""
    if number.name in ("to-ends", "to-float", "whole", "end"):
        return "the result"
    text = text_of(number).replace(" + ", "+")
    clauses = [*number.clauses, *inner(number).clauses]
    is_short = len(text) <= LONGEST and not set(text) & set(",:@")
    return text if is_short or not clauses else f"the number of {clauses[-1]}"


def outside_of_sums(term: Term) -> Iterator[Term]:
    """The steps of a term. Of what is in the parts of a long sum, only what the first two of them have in common."""
    long = [one for one in steps_of(term) if one.name == "sum" and len(one.args) > 2]
    within = {part for one in long for arg in one.args for part in steps_of(arg)}
    common = {part for one in long for part in {*steps_of(one.args[0])} & {*steps_of(one.args[1])}}
    return (one for one in steps_of(term) if one not in within or one in common)


# What may happen to a number after the step that makes it.


def of_conversions(site: Term, name: str, problem: Problem) -> Iterator[Named]:
    if site.name in ("to-ends", "whole", "end"):
        return
    if site.name == "to-float":
        put_out = site.args[0] if site.args[0].name == "step" else step(site.args[0])
        for id_, new in conversions_of(put_out, name, problem):
            yield id_, replace(site, args=(new,))
        return
    yield from conversions_of(site, name, problem)


def conversions_of(number: Term, name: str, problem: Problem) -> Iterator[Named]:
    integer = is_integer(number, problem)
    if integer:
        yield from of_integer(number, name)
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


def in_kind(kind: FloatType) -> Callable[[Term], Term]:
    return lambda number: step(number, kind)


def converted(name: str, function: to.Change) -> to.Conversion:
    return to.Conversion(name, function)


def to_multiple(bits: int, whole_: Callable[[Array], Array], values: Array) -> Array:
    return np.ldexp(whole_(np.ldexp(values, bits)), -bits)


def nearest_power(values: Array) -> Array:
    return np.copysign(np.exp2(np.rint(np.log2(np.abs(values)))), values)


def below_to_zero(bound: float, values: Array) -> Array:
    return np.where(np.abs(values) < bound, np.copysign(0.0, values), values)


def raised(bound: float, values: Array) -> Array:
    return np.where(values < bound, bound, values)


def float32(text: str) -> float:
    return float(np.float32(text))


def real_conversions() -> Iterator[tuple[str, Callable[[Term], Term]]]:
    for kind in HALF_TYPES:
        yield f"number-in:{kind}", in_kind(FLOAT_TYPES[kind])
    yield "number-in:TF32", to.TF32
    yield "number-in:float32", in_kind(FLOAT_TYPES["float32"])
    yield "number-cut-off-to:bfloat16", to.CUT_TO_BFLOAT16
    yield "number-cut-off-to:float16", converted("cut to float16", partial(cut_to, "float16"))
    yield "number-cut-off-to:float32", to.CUT_TO_FLOAT32
    yield "number-saturates-in:float16", converted("saturating float16", to.in_saturating_float16)
    for kind in ("float32", *HALF_TYPES):
        least_normal = float(scaled(1, FLOAT_TYPES[kind].emin))
        yield f"number-flushed-in:{kind}", converted(f"flushed {kind}", partial(below_to_zero, least_normal))
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
        yield f"number-plus:{text}", partial(plus, Fraction(float32(text)))
        yield f"number-raised-to:{text}", converted(f"at least {text}", partial(raised, float32(text)))
        yield f"number-to-zero-below:{text}", converted(f"zero below {text}", partial(below_to_zero, float32(text)))


def cut_to(kind: str, values: Array) -> Array:
    return to.cut_off(values, kind).astype(np.float64)


def plus(more: Fraction, number: Term) -> Term:
    return step(number + more)


REAL_CONVERSIONS = dict(real_conversions())
ONLY_OF_REALS = (
    "number-flushed-in",
    "number-truncated",
    "number-rounded",
    "number-of-fraction-bits",
    "number-cut-to-fraction-bits",
    "number-raised-to",
    "number-to-zero-below",
)


# Other ways to compute a number.


def of_operation(site: Term, name: str, problem: Problem) -> Iterator[Named]:
    """What may stand for a number's own operation, by that operation."""
    if site.name == "to-ends":
        yield from of_ends(site, problem)
    elif site.name == "to-float":
        yield from of_float(site, problem)
    elif site.name == "round":
        yield from ((f"number-rounds:{name},{way}", rounding(site.args[0])) for way, rounding in ROUNDINGS.items())
        yield f"number-taken-as:{name},{text_of(site.args[0])}".replace(" + ", "+"), site.args[0]
        yield from ((f"number-as:{name},{text}", new) for text, new in named(of_rounded_sum(site)))
    elif site.name == "number":
        for more in (1, -1):
            yield id_of(f"number-plus:{more}", name), lifted(site.constant + more)
    else:
        yield from ((f"number-as:{name},{text}", new) for text, new in named(of_number(site)))
        if inner(site).name in ("multiply", "divide"):
            yield from of_folded_factor(inner(site), problem)


def named(terms: Iterator[Term]) -> Iterator[Named]:
    """Each with its formula; one that an id can't hold is left out."""
    for one in terms:
        text = text_of(one).replace(" + ", "+")
        if not set(text) & set(",:@"):
            yield text, one


def of_rounded_sum(site: Term) -> Iterator[Term]:
    """The parts of a sum rounded one by one."""
    parts = parts_of(site.args[0])
    if len(parts) > 1:
        yield reduce(Term.__add__, (rounded(one, site.constant) for one in parts))


def parts_of(number: Term) -> list[Term]:
    """The numbers whose sum a number is, divided one by one if it is a quotient."""
    own = inner(number)
    if own.name == "add":
        return [part for arg in own.args for part in parts_of(arg)]
    if own.name == "divide":
        parts = parts_of(own.args[0])
        return [step(part / own.args[1]) for part in parts] if len(parts) > 1 else [number]
    return [number]


def of_number(site: Term) -> Iterator[Term]:
    operation = inner(site)
    if operation.name in ("multiply", "divide"):
        yield from of_product(operation)
    elif operation.name in ("add", "subtract"):
        first, second = operation.args
        yield from (first, second)
        yield (first - second) if operation.name == "add" else (first + second)
        yield step(second - first)
        yield from of_fused_sum(operation)
        if operation.name == "add" and first.name == "round":
            yield rounded(step(inner(first.args[0]) + second), first.constant)
            yield rounded(step(first.args[0] + second), first.constant)
            yield rounded(step(first.args[0] + second), AWAY)
    elif operation.name == "sum" and len(operation.args) > 2:
        yield from of_sum(operation)
    elif operation.name in ("least", "greatest"):
        yield from operation.args
        yield (greatest if operation.name == "least" else least)(*operation.args)
    elif operation.name == "clamp":
        value, low, high = operation.args
        yield value
        yield greatest(value, low)
        yield least(value, high)
    elif operation.name == "where":
        yield from operation.args[1:]
    elif operation.name == "magnitude":
        yield operation.args[0]


def of_sum(operation: Term) -> Iterator[Term]:
    """A long sum without its first or last part."""
    yield replace(operation, args=operation.args[1:])
    yield replace(operation, args=operation.args[:-1])


def of_fused_sum(operation: Term) -> Iterator[Term]:
    """A sum without the rounding of one or both of its parts."""
    first, second = operation.args
    for args in ((inner(first), second), (first, inner(second)), (inner(first), inner(second))):
        yield step(replace(operation, args=args))


def of_product(operation: Term) -> Iterator[Term]:
    """The factors of a product in other orders, with reciprocals, and without one of them."""
    factors = factors_of(operation)
    if len(factors) > MOST_ORDERS:
        return
    for reciprocal in (False, True):
        for order in permutations(factors):
            yield in_turn(order, reciprocal=reciprocal)
            if len(order) > 2:
                yield product_of(order[0], (in_turn(order[1:], reciprocal=reciprocal), False), reciprocal=reciprocal)
    for place, (one, divides) in enumerate(factors):
        others = [*factors[:place], *factors[place + 1 :]]
        yield in_turn(others, reciprocal=False)
        yield in_turn([*others, (one, not divides)], reciprocal=False)
        if inner(one).name == "number":
            for more in (1, -1):
                other = lifted(inner(one).constant + more).named(f"({text_of(one)}{more:+d})")
                yield in_turn([*others, (other, divides)], reciprocal=False)
        if divides:
            estimate = (step(to.ESTIMATE(one)), False)
            yield in_turn([*others, estimate], reciprocal=False)
        sums = matched(one, "subtract") or matched(one, "add")
        if sums and not divides:
            parts = [in_turn([(part, False), *others], reciprocal=False) for part in sums]
            yield step(replace(inner(one), args=tuple(parts)))
            yield step(replace(inner(one), args=(inner(parts[0]), parts[1])))
    yield step(reduce(exact_product, factors, lifted(1)))


def of_folded_factor(operation: Term, problem: Problem) -> Iterator[Named]:
    """One factor times all others, which are one number beforehand that something happens to."""
    factors = factors_of(operation)
    if not 1 < len(factors) <= MOST_ORDERS:
        return
    for place, (one, divides) in enumerate(factors):
        others = [*factors[:place], *factors[place + 1 :]]
        folded = reduce(exact_product, others[1:], 1 / others[0][0] if others[0][1] else others[0][0])
        if not divides and (len(others) > 1 or others[0][1]):
            for id_, new in conversions_of(folded, name_of(folded), problem):
                yield id_, step(one * new)


Factor = tuple[Term, bool]  # a factor, and whether it divides


def factors_of(operation: Term) -> list[Factor]:
    """The factors of products in products."""
    found: list[Factor] = []

    def add(one: Term, divides: bool) -> None:
        own = inner(one)
        if own.name in ("multiply", "divide"):
            add(own.args[0], divides)
            add(own.args[1], divides != (own.name == "divide"))
        elif one.name != "number" or one.constant != 1:
            found.append((one, divides))

    add(operation, False)
    return found


def exact_product(so_far: Term, factor: Factor) -> Term:
    one, divides = factor
    return so_far / one if divides else so_far * one


def in_turn(factors: Sequence[Factor], *, reciprocal: bool) -> Term:
    """A product, rounded after each factor; a divisor divides, or its rounded reciprocal multiplies."""
    (first, divides), *others = factors
    so_far: Term = step(1 / first) if divides else first
    for one in others:
        so_far = product_of((so_far, False), one, reciprocal=reciprocal)
    return so_far


def product_of(first: Factor, second: Factor, *, reciprocal: bool) -> Term:
    (one, divides), (other, other_divides) = first, second
    if divides:
        one = step(1 / one)
    if not other_divides:
        return step(one * other)
    return step(one * step(1 / other)) if reciprocal else step(one / other)


def of_ends(site: Term, problem: Problem) -> Iterator[Named]:
    """What becomes an integer: other ends, no ends, and what is cast before."""
    (value,), (low, high), kind = site.args, site.constant, problem.result
    assert isinstance(kind, IntegerType)
    yield "wraps", whole(wrapped(value, kind))
    yield "casts-to-int32", to_ends(to.X86_CAST(value), low, high)
    yield "narrow-range", to_ends(value, low + 1, high)
    yield "highest-never", to_ends(value, low, high - 1)
    yield "wraps-above", where(value > high, whole(wrapped(value, kind)), site)
    yield "wraps-below", where(value < low, whole(wrapped(value, kind)), site)
    yield "ends-of-type-exchanged", where(value > high, whole(low), where(value < low, whole(high), site))
    yield "beyond-to-lowest", where(value > high, whole(low), site)
    yield "negative-to-highest", where(value < 0, whole(high), site)
    yield "beyond-to-zero", where((value > high) | (value < low), whole(max(low, 0)), site)
    yield "narrower-by-one-bit", to_ends(value, low // 2, high // 2)
    if kind.signed:
        other = INTEGER_TYPES[f"u{kind.name}"]
        yield "saturates-as-unsigned", whole(wrapped(to_ends(value, other.lowest, other.highest), kind))
        yield "number-not-below-zero:the result", to_ends(value, 0, high)
    else:
        signed = INTEGER_TYPES.get(kind.name[1:])
        if signed:
            yield "highest-of-signed", to_ends(value, low, signed.highest)
            yield "saturates-as-signed", whole(wrapped(to_ends(value, signed.lowest, signed.highest), kind))
    for word in ("int8", "int16", "int32"):
        ends = INTEGER_TYPES[word]
        yield f"sum-wraps-in:{word}", to_ends(wrapped(value, ends), low, high)
        yield (
            f"number-saturates-to:{text_of(value)},{word}".replace(" + ", "+"),
            whole(wrapped(clamp(value, ends.lowest, ends.highest), kind)),
        )
    if matched(value, "add"):
        first, second = matched(value, "add")
        yield "clamps-before-zero-point", to_ends(clamp(first, low, high) + second, low, high)
        yield "clamps-before-zero-point-and-wraps", whole(wrapped(clamp(first, low, high) + second, kind))
        yield "number-taken-as:NaN and infinity,0", where(finite_number(first), site, to_ends(second, low, high))


def finite_number(value: Term) -> Term:
    return Term("is-finite", (value,))


def of_float(site: Term, problem: Problem) -> Iterator[Named]:
    """What becomes a float: another rounding to the type, other ends, NaN and infinities as something else."""
    end, (value,) = site.constant, site.args
    kind: FloatType = end.kind
    largest = float(decode(kind.largest_bits, kind))
    ways = {"down": DOWN, "up": UP, "toward zero": TOWARD_ZERO, "ties away from zero": AWAY, "ties upward": UPWARD}
    for way, mode in ways.items():
        yield f"number-rounds:the result,{way}", replace(site, args=(toward(value, kind, mode),))
    least_normal = float(scaled(1, kind.emin))
    flush = converted(f"flushed {kind.name}", partial(below_to_zero, least_normal))
    yield "flushes-outputs", replace(site, args=(flush(step(value)),))
    rounded_first = converted(f"flushed after {kind.name}", partial(flushed_after, kind))
    yield "number-flushed-in:the rounded result," + kind.name, replace(site, args=(rounded_first(step(value)),))
    for beyond in ("ieee", "largest"):
        if beyond != end.beyond:
            id_ = "never-saturates" if beyond == "ieee" else "overflow-saturates"
            yield id_, replace(site, constant=replace(end, beyond=beyond))
    number = step(value)
    for name, number_ in (("0", 0.0), ("the largest number", largest), ("infinity", np.inf)):
        of_nan = converted(f"NaN to {name}", partial(instead_of, np.isnan, number_))
        yield f"number-taken-as:a result of NaN,{name}", replace(site, args=(of_nan(number),))
    for name, number_ in (("0", 0.0), ("the largest number", largest), ("NaN", np.nan)):
        of_infinity = converted(f"infinity to {name}", partial(instead_of, np.isinf, number_))
        yield f"number-taken-as:an infinite result,{name}", replace(site, args=(of_infinity(number),))
        beyond_ = converted(f"beyond {largest} to {name}", partial(instead_of, partial(is_beyond, largest), number_))
        yield f"number-taken-as:a result beyond the largest number,{name}", replace(site, args=(beyond_(number),))


def is_beyond(largest: float, values: Array) -> Array:
    return np.abs(values) > largest


def instead_of(condition: Callable[[Array], Array], number: float, values: Array) -> Array:
    signed = number if np.isnan(number) else np.copysign(number, values)
    return np.where(condition(values), signed, values)


def flushed_after(kind: FloatType, values: Array) -> Array:
    """As after rounding to the type's precision: what rounds up to the least normal number stays."""
    least_normal = float(scaled(1, kind.emin))
    return below_to_zero(least_normal * (1 - 2.0 ** -(kind.precision + 1)), values)


# Operands, and all steps.


def of_operands(term: Term, problem: Problem) -> Iterator[Change]:
    """One operand taken for another of its type, and two exchanged."""
    every = list(dict.fromkeys(one for one in outside_of_sums(term) if one.name == "operand"))
    for first, second in combinations(every, 2):
        (place, name), (other_place, other) = first.constant, second.constant
        if problem.kinds[place] != problem.kinds[other_place]:
            continue
        yield f"number-taken-as:{name},{other}", partial(with_change, site=first, new=second)
        yield f"number-taken-as:{other},{name}", partial(with_change, site=second, new=first)
        yield f"number-taken-as:{name},-{other}", partial(with_change, site=first, new=0 - second)
        yield f"number-taken-as:{other},-{name}", partial(with_change, site=second, new=0 - first)
        exchanged = {first: second, second: first}
        yield f"operands-exchanged:{name},{other}", partial(everywhere, change=exchanged.get)


def of_all_steps() -> Iterator[Change]:
    """All steps in another type, with the operands if the id says so; and none rounded."""
    for name in ("float16", "bfloat16", "float32", "float64"):
        kind = FLOAT_TYPES[name]

        def in_type(one: Term, kind: FloatType = kind) -> Term | None:
            return replace(one, constant=kind) if one.name == "step" and one.constant != DOUBLE else None

        def with_operands(one: Term, kind: FloatType = kind) -> Term | None:
            return step(one, kind) if one.name == "operand" else in_type(one, kind)

        yield f"computes-in:{name}", partial(everywhere, change=in_type)
        if name in HALF_TYPES:
            yield f"computes-in:{name}, inputs too", partial(everywhere, change=with_operands)
