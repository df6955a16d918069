"""The steps of one arithmetic, from its inputs to its result: what an emulator in any language is written from.

A step names an operation and the steps that it takes. Nothing in here runs; writers turn steps into source or nodes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tiebreak.golden.elements import FLOAT_TYPES

NAMES = ("x", "scale", "zero_point")  # of the inputs of most functions, whatever the node calls them
NAMELESS = "t"  # of a line: t1, t2, …
DOUBLE, SINGLE, TRUTH = "float64", "float32", "bool"
LONG = "int64"  # of whole numbers that float64 may not hold
COMPARISONS = {"less", "greater", "at_most", "at_least", "equal", "is_nan", "is_finite", "has_sign", "and", "or", "not"}


@dataclass(frozen=True, eq=False)
class Computed:
    """One operation. Its result is rounded to `type`: a float type's name, "int64" or "bool". An input may have any.

    With a `name` the result has a line of its own, behind which `note` stands as a comment. `value` is a constant's.
    """

    op: str
    type: str
    operands: tuple[Computed, ...] = ()
    name: str = ""
    note: str = ""
    value: float = 0.0

    def __add__(self, other: Computed) -> Computed:
        return step("add", self, other)

    def __sub__(self, other: Computed) -> Computed:
        return step("subtract", self, other)

    def __mul__(self, other: Computed) -> Computed:
        return step("multiply", self, other)

    def __truediv__(self, other: Computed) -> Computed:
        return step("divide", self, other)

    def __lt__(self, other: Computed) -> Computed:
        return step("less", self, other)

    def __gt__(self, other: Computed) -> Computed:
        return step("greater", self, other)

    def __le__(self, other: Computed) -> Computed:
        return step("at_most", self, other)

    def __ge__(self, other: Computed) -> Computed:
        return step("at_least", self, other)

    def __and__(self, other: Computed) -> Computed:
        return step("and", self, other)

    def __or__(self, other: Computed) -> Computed:
        return step("or", self, other)

    def __invert__(self) -> Computed:
        return step("not", self)


def given(name: str, type: str) -> Computed:
    """An input."""
    return Computed("input", type, name=name)


def constant(value: float, type: str = DOUBLE, name: str = "") -> Computed:
    """A number; with a name it stands before the function, for all to see."""
    return Computed("constant", type, name=name, value=float(value))


def step(op: str, *operands: Computed) -> Computed:
    """An operation on operands of one type, which its result has, too, unless it is a truth."""
    first = operands[-1] if op == "where" else operands[0]
    kinds = {one.type for one in (operands[1:] if op == "where" else operands)}
    if len(kinds) > 1:
        raise TypeError(f"{op} of {', '.join(sorted(kinds))}")
    return Computed(op, TRUTH if op in COMPARISONS else first.type, operands)


def where(condition: Computed, yes: Computed, no: Computed) -> Computed:
    return step("where", condition, yes, no)


def cast(type: str, value: Computed) -> Computed:
    """A number rounded to a type; itself if it has it."""
    return value if value.type == type else Computed("cast", type, (value,))


def double(value: Computed) -> Computed:
    return cast(DOUBLE, value)


def named(name: str, value: Computed, note: str = "") -> Computed:
    """The step on a line of its own; an input, a number or a line stays as it is."""
    if value.name or value.op == "constant":
        return value
    return Computed(value.op, value.type, value.operands, name, note, value.value)


def number_of(whole: Computed, type: str) -> Computed:
    """An integer as a number of a type; to 16 bits through float32, as everybody converts."""
    return cast(type, cast(SINGLE, whole) if FLOAT_TYPES[type].bits == 16 else whole)


def flushed(value: Computed, emin: int) -> Computed:
    """A subnormal number becomes a zero of its sign."""
    return step("flushed", value, constant(2.0**emin, value.type))


def fused(a: Computed, b: Computed, added: Computed, type: str) -> Computed:
    """a * b + added, rounded once to a type of at most 24 digits: the product is exact in float64."""
    product, summand = named("product", double(a) * double(b)), named("summand", double(added))
    return cast(type, step("odd_sum", product, summand))


def modulus(value: Computed, size: float) -> Computed:
    """The remainder of a whole number over a power of two, from 0 on."""
    if value.type == LONG:
        return value - step("floor_divide", value, constant(size, LONG)) * constant(size, LONG)
    return step("modulus", value, constant(size))


def with_names(result: Computed) -> Computed:
    """The same steps, where each that others take twice has a line of its own."""
    uses = Counter[int]()
    count_uses(result, uses)
    return named_where_shared(result, uses, {})


def count_uses(one: Computed, uses: Counter[int]) -> None:
    uses[id(one)] += 1
    if uses[id(one)] == 1:
        for operand in one.operands:
            count_uses(operand, uses)


def named_where_shared(one: Computed, uses: Counter[int], made: dict[int, Computed]) -> Computed:
    if id(one) not in made:
        operands = tuple(named_where_shared(operand, uses, made) for operand in one.operands)
        name = one.name or (NAMELESS if operands and uses[id(one)] > 1 else "")
        made[id(one)] = Computed(one.op, one.type, operands, name, one.note, one.value) if operands else one
    return made[id(one)]
