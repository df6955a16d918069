"""A term as a formula that people read, without what only says how precisely a step is computed."""

from __future__ import annotations

from fractions import Fraction

from tiebreak.golden.arithmetic.term import Term

SIGNS = {"add": ("+", 1), "subtract": ("-", 1), "multiply": ("*", 2), "divide": ("/", 2)}  # and how closely they bind
CLOSEST = 3
NAMES = {
    "round": "round",
    "clamp": "clamp",
    "least": "min",
    "greatest": "max",
    "magnitude": "abs",
    "power-of-two": "exp2",
    "where": "where",
}
SILENT = ("step", "held", "finite", "require", "agree", "or-else", "by-form", "in-precision", "to-ends", "to-float")
VALUE = {"require": 1}  # which argument of these is the value; else the first


def text_of(term: Term) -> str:
    """The formula: operands and named numbers by their names, operations by their usual signs."""
    return written(term)[0]


def written(term: Term) -> tuple[str, int]:
    """The text, and how closely its outermost operation binds."""
    if term.label:
        return term.label, CLOSEST
    if term.name in SILENT:
        return written(term.args[VALUE.get(term.name, 0)])
    if term.name == "operand":
        return term.constant[1], CLOSEST
    if term.name == "number":
        return number_text(term.constant), CLOSEST
    if term.name == "sum":
        others = [text_of(arg) for arg in term.args if arg.name == "operand"]
        return " + ".join(["sum", *others]), 1 if others else CLOSEST
    if term.name in SIGNS:
        sign, near = SIGNS[term.name]
        first, second = (written(arg) for arg in term.args)
        return f"{bound(first, near)} {sign} {bound(second, near + 1)}", near  # x * (y / z) is another step
    name = NAMES.get(term.name, term.name)
    return f"{name}({', '.join(text_of(arg) for arg in term.args)})", CLOSEST


def bound(part: tuple[str, int], near: int) -> str:
    text, own = part
    return text if own >= near else f"({text})"


def number_text(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number.numerator)
    return f"{float(number):.7g}" if number.denominator > 1000 else f"{number.numerator}/{number.denominator}"
