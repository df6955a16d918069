"""What is to be proven: that two sides are equal for all codes, scales and zero points of given types."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tiebreak.conformance.proving.scalars import Scalar, columns
from tiebreak.golden.elements import INTEGER_TYPES
from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns.catalogue import CATALOGUE
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, REAL, Pattern
from tiebreak.golden.patterns.text import CHOOSING, CLAIM_TYPES, Reader, expression_of, keywords_of, named, value_of
from tiebreak.golden.untrusted_text import printable

FLOATS = ("float32", "float16", "bfloat16")
SIGNS = ("positive", "negative")
EXTENTS = ("normal", "all")
ZERO_POINTS = ("all", "lowest", "highest", "even", "odd")
EXACT = "exact"
EXAMPLE = "Q(DQ(x, s), s) = x"
LONGEST = 1000


@dataclass(frozen=True)
class ClaimSide:
    """One side: its text, the numbers of a row, and whether arithmetic is real or that of the float type."""

    text: str
    numbers: tuple[Scalar, ...]
    is_exact: bool = False
    pattern: Pattern | None = None  # none if it is an operand alone


@dataclass(frozen=True)
class Claim:
    """left = right. `pairs` are element types of zero points; scales are finite and of type `real`, of one sign.

    With the extent "normal" they are those with which no number of either side leaves the float type's normal range.
    """

    left: ClaimSide
    right: ClaimSide
    pairs: Mapping[str, str] = field(hash=False)
    real: str = "float32"
    sign: str = "positive"
    zero_points: str = "all"
    extent: str = "normal"

    @property
    def text(self) -> str:
        return f"{self.left.text} = {self.right.text}"

    def zero_points_of(self, kind: str) -> list[int]:
        """The zero points of an element type for which the claim is made."""
        return chosen_zero_points(self.zero_points, kind)

    def operands(self) -> tuple[Scalar, ...]:
        return tuple(
            dict.fromkeys(
                operand for side in (self.left, self.right) for one in side.numbers for operand in one.operands()
            )
        )


def chosen_zero_points(words: str, kind: str) -> list[int]:
    ends = INTEGER_TYPES[kind]
    every = range(ends.lowest, ends.highest + 1)
    if words == "all":
        return list(every)
    if words in ("even", "odd"):
        return [z for z in every if z % 2 == (words == "odd")]
    if words in ("lowest", "highest"):
        return [ends.lowest if words == "lowest" else ends.highest]
    try:
        numbers = [int(word) for word in words.split(",")]
    except ValueError:
        numbers = []
    if not numbers or any(number not in every for number in numbers):
        raise InvalidInput(
            f"zero points {printable(words, 60)!r} are none of {', '.join(ZERO_POINTS)}, nor numbers of {kind} "
            "with commas between"
        )
    return sorted(set(numbers))


def sides_of(text: str) -> tuple[str, str]:
    """The two sides of LEFT = RIGHT; `type="int8"` within brackets is none of its equals signs. InvalidInput."""
    depth, places = 0, []
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "=" and depth == 0:
            places.append(place)
    if len(text) > LONGEST:
        raise InvalidInput(f"a claim has at most {LONGEST} characters, not {len(text)}")
    if depth:
        raise InvalidInput(f"{printable(text, 80)!r} has a parenthesis without its other one")
    if len(places) != 1:
        raise InvalidInput(f"{printable(text, 80)!r} is no claim: write it as {EXAMPLE}; --list has rules by name")
    left, right = text[: places[0]].strip(), text[places[0] + 1 :].strip()
    if not left or not right:
        raise InvalidInput(f"{printable(text, 80)!r} lacks a side: write it as {EXAMPLE}")
    return left, right


def claim_of(
    text: str,
    type_: str = "uint8",
    real: str = "float32",
    sign: str = "positive",
    zero_points: str = "all",
    extent: str = "normal",
) -> Claim:
    """The claim that two patterns are equal. InvalidInput if it is none."""
    check_type(type_)
    if real not in FLOATS:
        raise InvalidInput(f"float type {printable(real, 40)!r} is none of {', '.join(FLOATS)}")
    texts = [unwrapped(side) for side in sides_of(text)]
    quantized: dict[str, str] = {}
    for side, _ in texts:
        quantized |= codes_in(expression_of(side), type_)
    pairs: dict[str, str] = {}
    sides = []
    for side, is_exact in texts:
        result, reader = value_of(side, type_, quantized)
        for name, kind in reader.pairs.items():
            if pairs.setdefault(name, kind) != kind:
                raise InvalidInput(f"scale {name} is of {pairs[name]} on the left and of {kind} on the right")
        numbers = columns(result, reader.operands, reader.steps, reader.pairs)
        sides.append(ClaimSide(f"{EXACT}({side})" if is_exact else side, numbers, is_exact, pattern_from(side, reader)))
    left, right = sides
    check_sides(left.numbers, right.numbers)
    for kind in dict.fromkeys(pairs.values()):
        chosen_zero_points(zero_points, kind)
    return Claim(left, right, pairs, real, sign, zero_points, extent)


def check_type(type_: str) -> None:
    known = ", ".join(CLAIM_TYPES)
    if type_ in INTEGER_TYPES and INTEGER_TYPES[type_].bits > 16:
        raise InvalidInput(f"type {type_} has more codes than can be tried with every scale; there are {known}")
    if type_ not in CLAIM_TYPES:
        raise InvalidInput(f"type {printable(type_, 40)!r} is none of {known}")


def pattern_from(text: str, reader: Reader) -> Pattern | None:
    """The pattern of a side, whose constants are operands like others: a claim is about each of their values."""
    if not reader.steps:
        return None
    last = reader.steps[-1]
    output = reader.pairs[last.pair] if last.operation == QUANTIZE else REAL
    operands = tuple(replace(one, constant=False) for one in reader.operands.values())
    return Pattern(text, text, operands, tuple(reader.steps), dict(reader.pairs), output)


def check_sides(left: Sequence[Scalar], right: Sequence[Scalar]) -> None:
    if len(left) != len(right):
        raise InvalidInput(f"the left side has {len(left)} values a row, the right side {len(right)}")
    for a, b in zip(left, right, strict=True):
        if a.type != b.type:
            raise InvalidInput(f"the left side is of {a.type}, the right side of {b.type}")
    operands = [{(o.name, o.type) for one in side for o in one.operands()} for side in (left, right)]
    for name, kind in operands[0]:
        other = dict(operands[1]).get(name, kind)
        if other != kind:
            raise InvalidInput(f"{name} is of {kind} on the left and of {other} on the right")
    if len({one.type for one in left}) > 1:
        raise InvalidInput("a side holds codes and floats in one row")
    if not any(one.operation for one in (*left, *right)):
        raise InvalidInput("a claim has at least one operation")


def unwrapped(text: str) -> tuple[str, bool]:
    """A side's pattern, names of the catalogue written out, and whether `exact(…)` stands around it."""
    text = CATALOGUE.get(text, text)
    found = re.fullmatch(rf"{EXACT}\s*\((.*)\)", text, re.DOTALL)
    if not found:
        return text, False
    inner = found[1].strip()
    return CATALOGUE.get(inner, inner), True


def codes_in(written: ast.expr, type_: str) -> dict[str, str]:
    """Element types of operands that stand under a DQ, with nothing between that computes."""
    found: dict[str, str] = {}
    for one in ast.walk(written):
        if isinstance(one, ast.Call) and named(one) == DEQUANTIZE and one.args:
            kind = str(keywords_of(one, ("type",)).get("type", type_))
            found |= dict.fromkeys(chosen_among(one.args[0]), kind)
    return found


def chosen_among(written: ast.expr) -> Iterator[str]:
    """The operands of which MaxPool, Concat or Resize gives some."""
    if isinstance(written, ast.Name):
        yield written.id
    elif isinstance(written, ast.Call) and named(written) in CHOOSING:
        for one in written.args:
            yield from chosen_among(one)
