"""Words of two's complement, to write a lemma once: a machine computes it in Python, or hands it to a solver.

A word's operators wrap as those of 64 bits do in C. Comparisons give truths, as words too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Machine(Protocol):
    """What a word's operators do: `apply` gets an operation's name of PYTHON and the machine's own terms."""

    @property
    def bits(self) -> int: ...

    def constant(self, value: int) -> Any: ...

    def apply(self, operation: str, *terms: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class Word:
    """A two's complement integer of the machine's bits, or a truth."""

    machine: Machine
    term: Any

    def apply(self, operation: str, *others: Word | int) -> Word:
        terms = (other.term if isinstance(other, Word) else self.machine.constant(other) for other in others)
        return Word(self.machine, self.machine.apply(operation, self.term, *terms))

    def of(self, value: int) -> Word:
        """A number as a word of the same machine."""
        return Word(self.machine, self.machine.constant(value))

    def __add__(self, other: Word | int) -> Word:
        return self.apply("add", other)

    def __sub__(self, other: Word | int) -> Word:
        return self.apply("subtract", other)

    def __mul__(self, other: Word | int) -> Word:
        return self.apply("multiply", other)

    def __lshift__(self, other: Word | int) -> Word:
        return self.apply("shift left", other)

    def __rshift__(self, other: Word | int) -> Word:
        """The arithmetic shift: it copies the sign."""
        return self.apply("shift right", other)

    def bits_and(self, other: Word | int) -> Word:
        return self.apply("bits of both", other)

    def divided(self, other: Word | int) -> Word:
        """C's division: toward zero."""
        return self.apply("divide", other)

    def __lt__(self, other: Word | int) -> Word:
        return self.apply("less", other)

    def __le__(self, other: Word | int) -> Word:
        return self.apply("at most", other)

    def __ge__(self, other: Word | int) -> Word:
        return ~(self < other)

    def __gt__(self, other: Word | int) -> Word:
        return ~(self <= other)

    def same(self, other: Word | int) -> Word:
        """Whether two words, or two truths, are equal."""
        return self.apply("same", other)

    def between(self, low: Word | int, high: Word | int) -> Word:
        return (self >= low) & (self <= high)

    def __and__(self, other: Word) -> Word:
        return self.apply("and", other)

    def __or__(self, other: Word) -> Word:
        return self.apply("or", other)

    def __invert__(self) -> Word:
        return self.apply("not")

    def choose(self, yes: Word | int, no: Word | int) -> Word:
        """`yes` where this truth holds, otherwise `no`."""
        return self.apply("choose", yes, no)


def quotient(number: int, divisor: int) -> int:
    magnitude = abs(number) // abs(divisor)
    return magnitude if (number < 0) == (divisor < 0) else -magnitude


# Shifts read their distance as unsigned; it is bounded below, by the number of bits.
PYTHON: dict[str, Callable[..., int | bool]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "shift left": lambda a, b: a << b,
    "shift right": lambda a, b: a >> b,
    "bits of both": lambda a, b: a & b,
    "divide": quotient,
    "less": lambda a, b: a < b,
    "at most": lambda a, b: a <= b,
    "same": lambda a, b: a == b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "choose": lambda truth, yes, no: yes if truth else no,
}


@dataclass(frozen=True)
class PythonMachine:
    """Computes with Python's integers, and wraps each result."""

    bits: int

    def constant(self, value: int) -> int:
        half = 1 << (self.bits - 1)
        return (value + half) % (2 * half) - half

    def apply(self, operation: str, *terms: Any) -> Any:
        if operation.startswith("shift"):
            number, distance = terms
            terms = number, min(distance % (1 << self.bits), self.bits)
        found = PYTHON[operation](*terms)
        return found if isinstance(found, bool) else self.constant(found)
