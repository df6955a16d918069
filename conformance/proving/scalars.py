"""Patterns as expressions of single numbers: one expression for each place of a row of the output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from tiebreak.golden.errors import InvalidInput
from tiebreak.golden.patterns.graph import DEQUANTIZE, QUANTIZE, REAL, Operand, PatternStep

MAX, MEAN, LINEAR = "Max", "Mean", "Linear"
CURVES = ("Sigmoid", "Tanh", "Softmax")


@dataclass(frozen=True)
class Scalar:
    """A number of a row: an operand's `index`-th value of element type `type`, or an operation on numbers.

    `operation` is empty for an operand. Linear is 3/4 of the first number and 1/4 of the second, Mean half their sum,
    Softmax what the first of two is. Q and DQ name their pair of scale and zero point.
    """

    operation: str
    inputs: tuple[Scalar, ...] = ()
    pair: str = ""
    numbers: tuple[float, ...] = ()
    name: str = ""
    index: int = 0
    type: str = REAL

    def __str__(self) -> str:
        if not self.operation:
            return f"{self.name}[{self.index}]" if self.index else self.name
        words = [*map(str, self.inputs), *map(repr, self.numbers), *([self.pair] if self.pair else [])]
        return f"{self.operation}({', '.join(words)})"

    @property
    def is_code(self) -> bool:
        return self.type != REAL

    def parts(self) -> Iterator[Scalar]:
        """The number and all that it is made of."""
        yield self
        for one in self.inputs:
            yield from one.parts()

    def operands(self) -> tuple[Scalar, ...]:
        return tuple(dict.fromkeys(part for part in self.parts() if not part.operation))

    def pairs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part.pair for part in self.parts() if part.pair))


def columns(
    result: str, operands: Mapping[str, Operand], steps: Sequence[PatternStep], pairs: Mapping[str, str]
) -> tuple[Scalar, ...]:
    """The numbers of a row of the value called `result`. A constant of several columns stands for any one of them."""
    known = {
        one.name: tuple(Scalar("", name=one.name, index=index, type=one.type) for index in range(one.width))
        for one in operands.values()
    }
    for step in steps:
        known[step.output] = tuple(row_of(step, [known[name] for name in step.inputs], pairs))
    return known[result]


def row_of(step: PatternStep, values: list[tuple[Scalar, ...]], pairs: Mapping[str, str]) -> Iterator[Scalar]:
    first = values[0]
    if step.operation in (QUANTIZE, DEQUANTIZE):
        kind = pairs[step.pair] if step.operation == QUANTIZE else REAL
        yield from (Scalar(step.operation, (one,), step.pair, type=kind) for one in first)
    elif step.operation in ("Relu", "Clip"):
        numbers = tuple(float(step.attributes[name]) for name in ("min", "max") if name in step.attributes)
        yield from (Scalar(step.operation, (one,), numbers=numbers) for one in reals(first, step))
    elif step.operation in ("Add", "Sub", "Mul"):
        yield from (Scalar(step.operation, two) for two in zip(*(reals(one, step) for one in values), strict=True))
    elif step.operation == "MaxPool":
        yield Scalar(MAX, first, type=first[0].type)
    elif step.operation in ("AveragePool", "GlobalAveragePool"):
        yield Scalar(MEAN, reals(first, step))
    elif step.operation == "Concat":
        yield from (one for value in values for one in value)
    elif step.operation == "Resize":
        yield from resized(step, first)
    elif step.operation == "Softmax":
        a, b = reals(first, step)
        yield from (Scalar(step.operation, two) for two in ((a, b), (b, a)))
    elif step.operation in CURVES:
        yield from (Scalar(step.operation, (one,)) for one in reals(first, step))
    else:  # MatMul, Gemm, Conv
        products = [Scalar("Mul", two) for two in zip(*(reals(one, step) for one in values), strict=True)]
        yield reduce(lambda a, b: Scalar("Add", (a, b)), products)


def reals(values: tuple[Scalar, ...], step: PatternStep) -> tuple[Scalar, ...]:
    for one in values:
        if one.is_code:
            raise InvalidInput(f"{step.operation} of {one} is of codes of {one.type}: write DQ around it")
    return values


def resized(step: PatternStep, values: tuple[Scalar, ...]) -> Iterator[Scalar]:
    a, b = values
    if step.attributes["mode"] == "nearest":
        yield from (a, a, b, b)
        return
    reals(values, step)
    yield from (a, Scalar(LINEAR, (a, b)), Scalar(LINEAR, (b, a)), b)
