"""Turns steps into lines of source: what the languages share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Protocol

from tiebreak.conformance.emulators.steps import NAMELESS, Computed

INFIX = {
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "divide": "{} / {}",
    "less": "{} < {}",
    "greater": "{} > {}",
    "at_most": "{} <= {}",
    "at_least": "{} >= {}",
    "equal": "{} == {}",
    "negative": "-{}",
}
LOGIC = ("and", "or", "not")
PLAIN = (1 / 16, 2.0**16)  # powers of two beyond these are written as such
LONG = 90  # columns of an expression that has a line of its own
WIDEST = 110  # columns of a line with its note


class Language(Protocol):
    """How a language spells steps."""

    def number(self, value: float, type: str) -> str: ...

    def cast(self, of: Computed, type: str, text: str) -> str:
        """A text rounded to a type. Raises Unsupported if it can't be done in one rounding."""
        ...

    def call(self, one: Computed, texts: Sequence[str]) -> str:
        """An operation, in the type of its result."""
        ...

    def line(self, one: Computed, text: str) -> str:
        """The statement that gives an operation's name to it."""
        ...

    def note(self, text: str) -> str: ...


@dataclass
class Writer:
    """The lines before a result, in order, and the constants that have names."""

    language: Language
    reserved: Sequence[str] = ()  # names that no line may take: the function's inputs
    lines: list[str] = field(default_factory=list)
    constants: dict[str, Computed] = field(default_factory=dict)
    names: dict[Computed, str] = field(default_factory=dict)  # of the steps that have lines

    def text(self, one: Computed) -> str:
        """The name of a step, once its line is written; or an expression."""
        if one.op == "input" or one in self.names:
            return self.names.get(one, one.name)
        if one.op == "constant":
            if one.name:
                self.constants.setdefault(one.name, one)
            return one.name or self.language.number(one.value, one.type)
        text = self.expression(one)
        if not one.name and len(text) < LONG:
            return text
        self.names[one] = name = self.free_name(one.name or NAMELESS)
        line = self.language.line(replace(one, name=name), text)
        self.lines += with_note(line, self.language.note(one.note) if one.note else "")
        return name

    def free_name(self, name: str) -> str:
        """The name, with a number behind it if another step has it."""
        taken = {*self.reserved, *self.names.values()}
        numbered = (
            f"{name}{'' if name == NAMELESS else '_'}{number}" for number in count(1 if name == NAMELESS else 2)
        )
        return next(one for one in chain([] if name == NAMELESS else [name], numbered) if one not in taken)

    def expression(self, one: Computed) -> str:
        texts = [self.text(operand) for operand in one.operands]
        if one.op in INFIX or one.op in LOGIC or one.op == "cast":
            texts = [in_parentheses(operand, text) for operand, text in zip(one.operands, texts, strict=True)]
        if one.op == "cast":
            return self.language.cast(one.operands[0], one.type, texts[0])
        return self.language.call(one, texts)


def with_note(line: str, note: str) -> list[str]:
    """A line with its note behind it, or before it if there is no room."""
    return [line] if not note else [f"{line}  {note}"] if len(line) + len(note) < WIDEST else [note, line]


def in_parentheses(one: Computed, text: str) -> str:
    compound = not text.isidentifier() and (one.op in INFIX or one.op in LOGIC or one.op == "where")
    return f"({text})" if compound or text.startswith("-") else text


def power_of_two(value: float) -> int | None:
    """The exponent of a power of two that is better written as one."""
    fraction, exponent = math.frexp(abs(value))
    return exponent - 1 if fraction == 0.5 and not PLAIN[0] < abs(value) < PLAIN[1] else None


def formats_of(names: Mapping[str, str], form: str) -> dict[str, str]:
    """The formats of calls, from their functions' names; `form` has places for the name and the arguments."""
    return {op: form.format(name, ", ".join(["{}"] * ARGUMENTS.get(op, 1))) for op, name in names.items()}


ARGUMENTS = {
    **dict.fromkeys(
        ("copysign", "minimum", "maximum", "modulus", "remainder", "odd_sum", "flushed", "floor_divide"), 2
    ),
    **dict.fromkeys(("where", "clamp"), 3),
}
