"""Patterns in Python: each function gives an expression, and `pattern` makes a pattern of one.

from tiebreak.golden.patterns.build import DQ, Q, Add, pattern
pattern(Q(Add(DQ("a"), DQ("b"))))
"""

from __future__ import annotations

from dataclasses import dataclass

from tiebreak.golden.patterns.graph import Pattern
from tiebreak.golden.patterns.text import pattern_of


@dataclass(frozen=True)
class Expression:
    """A part of a pattern, as text."""

    text: str


Part = Expression | str  # a str is the name of an operand


def pattern(whole: Expression, type_: str = "uint8") -> Pattern:
    """The pattern; `type_` is the quantized type where none is named. InvalidInput as for a text."""
    return pattern_of(whole.text, type_)


def call(name: str, *parts: object, **attributes: object) -> Expression:
    words = [part.text if isinstance(part, Expression) else str(part) for part in parts]
    words += [f"{key}={value!r}" for key, value in attributes.items()]
    return Expression(f"{name}({', '.join(words)})")


def quantization(name: str, value: Part, pair: str, kind: str) -> Expression:
    return call(name, value, *([pair] if pair else []), **({"type": kind} if kind else {}))


def Q(value: Part, pair: str = "", *, type: str = "") -> Expression:  # noqa: N802 - as in the text
    """QuantizeLinear; `pair` names a scale and zero point that others share."""
    return quantization("Q", value, pair, type)


def DQ(value: Part, pair: str = "", *, type: str = "") -> Expression:  # noqa: N802
    """DequantizeLinear."""
    return quantization("DQ", value, pair, type)


def constant(name: str) -> Expression:
    """An operand that is part of the graph."""
    return call("constant", name)


def Relu(x: Part) -> Expression:  # noqa: N802
    return call("Relu", x)


def Clip(x: Part, low: float, high: float) -> Expression:  # noqa: N802
    return call("Clip", x, low, high)


def Add(a: Part, b: Part) -> Expression:  # noqa: N802
    return call("Add", a, b)


def Sub(a: Part, b: Part) -> Expression:  # noqa: N802
    return call("Sub", a, b)


def Mul(a: Part, b: Part) -> Expression:  # noqa: N802
    return call("Mul", a, b)


def MaxPool(x: Part) -> Expression:  # noqa: N802
    return call("MaxPool", x)


def AveragePool(x: Part) -> Expression:  # noqa: N802
    return call("AveragePool", x)


def GlobalAveragePool(x: Part) -> Expression:  # noqa: N802
    return call("GlobalAveragePool", x)


def Concat(a: Part, b: Part) -> Expression:  # noqa: N802
    return call("Concat", a, b)


def Resize(x: Part, mode: str = "nearest") -> Expression:  # noqa: N802
    return call("Resize", x, mode=mode)


def Sigmoid(x: Part) -> Expression:  # noqa: N802
    return call("Sigmoid", x)


def Tanh(x: Part) -> Expression:  # noqa: N802
    return call("Tanh", x)


def Softmax(x: Part) -> Expression:  # noqa: N802
    return call("Softmax", x)


def MatMul(x: Part, w: Part, k: int = 1) -> Expression:  # noqa: N802
    return call("MatMul", x, w, k=k)


def Gemm(x: Part, w: Part, k: int = 1) -> Expression:  # noqa: N802
    return call("Gemm", x, w, k=k)


def Conv(x: Part, w: Part, k: int = 1) -> Expression:  # noqa: N802
    return call("Conv", x, w, k=k)
