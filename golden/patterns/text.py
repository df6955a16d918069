"""Reads a pattern's text, such as `Q(Add(DQ(a), DQ(b)))`.

Q and DQ take a value and, if two of them share a scale and a zero point, the name of that pair; `type` is the quantized
element type. A bare name is an operand, `constant(w)` one that is part of the graph. Numbers and attributes of other
operations are those in operations.py. The text is parsed as a Python expression and never evaluated.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns.catalogue import CATALOGUE
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, REAL, Operand, Pattern, PatternStep
from tiebreak.golden.patterns.operations import OPERATIONS, SAME, Operation
from tiebreak.golden.untrusted_text import printable

TYPES = ("uint8", "int8", "uint16", "int16")
CLAIM_TYPES = (*TYPES, "uint4", "int4")
CONSTANT = "constant"
CHOOSING = ("MaxPool", "Concat", "Resize")  # they take codes, too, and give some of them
LONGEST, MOST_STEPS = 500, 16
NAME = re.compile(r"[a-x][0-9]{0,3}")  # y is the output; scripts have longer names of their own
Number = int | float


def pattern_of(words: str, type_: str = "uint8") -> Pattern:
    """The pattern of this name or text; `type_` is the quantized type where the text names none. InvalidInput."""
    if type_ not in TYPES:
        raise InvalidInput(f"type {printable(type_, 40)!r} is none of {', '.join(TYPES)}")
    text = CATALOGUE.get(words, words)
    if text.isidentifier() or "(" not in text:
        raise InvalidInput(f"no pattern {printable(words, 80)!r}; known: {', '.join(CATALOGUE)}; or a text: {EXAMPLE}")
    if len(text) > LONGEST:
        raise InvalidInput(f"a pattern's text has at most {LONGEST} characters, not {len(text)}")
    _, reader = value_of(text, type_)
    if not reader.steps:
        raise InvalidInput(f"{printable(text, 80)}: a pattern has at least one operation")
    return reader.pattern(words if words in CATALOGUE else text, text)


def value_of(text: str, type_: str, quantized: Mapping[str, str] | None = None) -> tuple[str, Reader]:
    """The name of an expression's value, and what it is made of; it may be an operand alone. InvalidInput.

    `quantized` are element types of operands that are codes though they stand right under no DQ. If it is given, DQ
    also takes what MaxPool, Concat or Resize makes of codes.
    """
    written = expression_of(text)
    reader = Reader(type_, frozenset(pairs_named_in(written)), quantized or {}, quantized is not None)
    return reader.read(written, SAME), reader


EXAMPLE = CATALOGUE["add"]


def expression_of(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InvalidInput(f"no pattern: {printable(text, 80)!r}: {what}; write it as {EXAMPLE}") from None


@dataclass
class Reader:
    """Turns expressions into steps, innermost first."""

    type: str
    taken: frozenset[str]  # names of pairs that the text has
    quantized: Mapping[str, str] = field(default_factory=dict)
    is_claim: bool = False  # then DQ takes codes that an operation has chosen, and types may be narrow
    operands: dict[str, Operand] = field(default_factory=dict)
    steps: list[PatternStep] = field(default_factory=list)
    pairs: dict[str, str] = field(default_factory=dict)

    @property
    def types(self) -> tuple[str, ...]:
        return CLAIM_TYPES if self.is_claim else TYPES

    def pattern(self, name: str, text: str) -> Pattern:
        last = self.steps[-1]
        output = self.pairs[last.pair] if last.operation == QUANTIZE else REAL
        if all(operand.constant for operand in self.operands.values()):
            raise InvalidInput(f"{printable(text, 80)}: a pattern has an operand that is no constant")
        return Pattern(name, text, tuple(self.operands.values()), tuple(self.steps), dict(self.pairs), output)

    def read(self, written: ast.expr, width: int) -> str:
        """Add what an expression needs; the name of its value. `width` is what the reader of the value needs."""
        if isinstance(written, ast.Name):
            return self.operand(written.id, self.quantized.get(written.id, REAL), width)
        if not isinstance(written, ast.Call) or not named(written):
            raise InvalidInput(f"{shown(written)} is neither an operand nor an operation; write it as {EXAMPLE}")
        name = named(written)
        if name in (QUANTIZE, DEQUANTIZE):
            return self.quantization(name, written, width)
        if name not in OPERATIONS:
            known = ", ".join((QUANTIZE, DEQUANTIZE, *OPERATIONS))
            raise InvalidInput(f"no operation {printable(name, 40)!r}; known: {known}")
        return self.operation(name, OPERATIONS[name], written, width)

    def quantization(self, name: str, written: ast.Call, width: int) -> str:
        kind = str(keywords_of(written, ("type",)).get("type", ""))
        shared = written.args[1:]
        if not written.args or len(shared) > 1 or not all(isinstance(one, ast.Name) for one in shared):
            raise InvalidInput(f"{shown(written)}: {name} takes a value and, if it is shared, the name of its scale")
        value = written.args[0]
        if kind not in ("", *self.types):
            raise InvalidInput(f"{shown(written)}: type is one of {', '.join(self.types)}")
        pair = shared[0].id if shared and isinstance(shared[0], ast.Name) else ""
        return (
            self.quantize(value, pair, kind, width) if name == QUANTIZE else self.dequantize(value, pair, kind, width)
        )

    def quantize(self, written: ast.expr, pair: str, kind: str, width: int) -> str:
        value = self.read(written, width)
        return self.add(PatternStep(QUANTIZE, (value,), "", {}, self.pair(pair, kind)))

    def dequantize(self, written: ast.expr, pair: str, kind: str, width: int) -> str:
        """DQ of an operand, of a constant, or of what a Q gives, whose pair it has if it names none."""
        if isinstance(written, ast.Call) and named(written) != CONSTANT:
            value = self.read(written, width)
            last = self.steps[-1]
            if self.is_claim and last.operation != QUANTIZE and not pair:
                raise InvalidInput(f"DQ of {shown(written)} names its scale, as in DQ(MaxPool(x), s)")
            pair = self.pair(pair or last.pair, kind)
            is_code = self.is_claim or last.operation == QUANTIZE
            if not is_code or self.type_of(value) != self.pairs[pair]:
                raise InvalidInput(f"{shown(written)}: DQ takes an operand, a constant, or what a Q of its type gives")
            return self.add(PatternStep(DEQUANTIZE, (value,), "", {}, pair))
        pair = self.pair(pair, kind)
        is_constant = isinstance(written, ast.Call)
        inner = written.args[0] if isinstance(written, ast.Call) and len(written.args) == 1 else written
        if not isinstance(inner, ast.Name):
            raise InvalidInput(f"{shown(written)}: DQ takes the name of an operand, or {CONSTANT}(NAME)")
        value = self.operand(inner.id, self.pairs[pair], width, constant=is_constant)
        return self.add(PatternStep(DEQUANTIZE, (value,), "", {}, pair))

    def type_of(self, value: str) -> str:
        """The element type of a value: a step that chooses among codes gives codes."""
        if value in self.operands:
            return self.operands[value].type
        step = next(one for one in self.steps if one.output == value)
        if step.operation == QUANTIZE:
            return self.pairs[step.pair]
        chosen_types = {self.type_of(one) for one in step.inputs}
        return chosen_types.pop() if step.operation in CHOOSING and len(chosen_types) == 1 else REAL

    def pair(self, name: str, kind: str) -> str:
        """The name of a pair of scale and zero point: a new one if it has none yet."""
        number = len(self.pairs) + 1
        while not name:
            name, number = f"s{number}", number + 1
            name = "" if name in self.taken else name
        known = self.pairs.setdefault(name, kind or self.type)
        if kind and known != kind:
            raise InvalidInput(f"scale {printable(name, 40)} is of {known} and of {kind}")
        return name

    def operand(self, name: str, kind: str, width: int, *, constant: bool = False) -> str:
        if keyword.iskeyword(name) or name in OPERATIONS or not NAME.fullmatch(name):
            raise InvalidInput(
                f"an operand can't be called {printable(name, 80)}: take a letter from a to x, and digits"
            )
        operand = Operand(name, kind, width or 1, constant)
        if self.operands.setdefault(name, operand) != operand:
            raise InvalidInput(f"operand {name} is used in two ways: {operand} and {self.operands[name]}")
        return name

    def operation(self, name: str, known: Operation, written: ast.Call, width: int) -> str:
        count = known.operands + len(known.numbers)
        if len(written.args) != count:
            raise InvalidInput(f"{shown(written)}: {name} takes {count} arguments, not {len(written.args)}")
        if known.gives != SAME and width not in (SAME, known.gives):
            raise InvalidInput(f"{shown(written)} has {known.gives} values a row where {width} are wanted")
        attributes: dict[str, Any] = {key: values[0] for key, values in known.choices.items()}
        attributes |= chosen(written, known)
        numbers = zip(known.numbers, written.args[known.operands :], strict=True)
        attributes |= {key: number_of(argument) for key, argument in numbers}
        wanted = attributes.get("k", known.takes) or width
        values = [self.read(argument, wanted) for argument in written.args[: known.operands]]
        if known.is_product:
            self.make_columns(values[1], written)
        return self.add(PatternStep(name, tuple(values), "", attributes))

    def make_columns(self, value: str, written: ast.Call) -> None:
        """Mark the operand that the second factor is made of."""
        made = {step.output: step for step in self.steps}
        while value in made:
            if len(made[value].inputs) != 1 or made[value].operation not in (QUANTIZE, DEQUANTIZE):
                raise InvalidInput(f"{shown(written)}: the second factor is an operand or DQ of one")
            value = made[value].inputs[0]
        self.operands[value] = replace(self.operands[value], columns=True)

    def add(self, step: PatternStep) -> str:
        if len(self.steps) == MOST_STEPS:
            raise InvalidInput(f"a pattern has at most {MOST_STEPS} operations")
        name = f"v{len(self.steps) + 1}"
        while name in self.operands:
            name += "_"
        self.steps.append(replace(step, output=name))
        return name


def named(written: ast.Call) -> str:
    """The operation that a call names; empty if it names none."""
    return written.func.id if isinstance(written.func, ast.Name) else ""


def pairs_named_in(written: ast.expr) -> Iterator[str]:
    for one in ast.walk(written):
        if isinstance(one, ast.Call) and named(one) in (QUANTIZE, DEQUANTIZE):
            yield from (argument.id for argument in one.args[1:] if isinstance(argument, ast.Name))


def chosen(written: ast.Call, known: Operation) -> dict[str, Any]:
    """The attributes that a call names, each one of its choices."""
    found = keywords_of(written, tuple(known.choices))
    for name, value in found.items():
        if value not in known.choices[name]:
            allowed = " or ".join(map(str, known.choices[name]))
            raise InvalidInput(f"{shown(written)}: {name} is {allowed}")
    return found


def keywords_of(written: ast.Call, allowed: tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for one in written.keywords:
        if one.arg not in allowed or not isinstance(one.value, ast.Constant):
            known = f"its attributes: {', '.join(allowed)}" if allowed else "it has no attributes"
            raise InvalidInput(f"{shown(written)}: {printable(str(one.arg), 40)} is not known; {known}")
        found[one.arg] = one.value.value
    return found


def number_of(written: ast.expr) -> Number:
    try:
        value = ast.literal_eval(written)
    except (ValueError, TypeError, RecursionError):
        value = None
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > 1e30 or value != value:
        raise InvalidInput(f"{shown(written)} is no number")
    return value


def shown(written: ast.AST) -> str:
    """An expression as one short line."""
    return printable(ast.unparse(written), 80)
