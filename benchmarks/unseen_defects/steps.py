"""Steps of an arithmetic and the registry of the defects that stand in for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.known_defects.numbers import Array, converted, in_type, significant
from tiebreak.golden.nodes import Node

FAMILIES = {
    "ngraph.Quantize": "Q",
    "onnx.QuantizeLinear": "Q",
    "ngraph.Dequantize": "D",
    "onnx.DequantizeLinear": "D",
    "openvino.FakeQuantize": "F",
    "tensorflow.QuantizeV2": "R",
    "tensorflow.Dequantize": "B",
    "tensorflow.QuantizeAndDequantizeV4": "A",
    "tensorflow.FakeQuantWithMinMaxVars": "M",
    "tensorflow.FakeQuantWithMinMaxVarsPerChannel": "M",
}
F32 = np.dtype(np.float32)
f32, f16, bf16 = in_type("float32"), in_type("float16"), in_type("bfloat16")
EPS = 2.0**-23


@dataclass(frozen=True)
class Defect:
    id: str
    step: str
    sentence: str
    change: Callable[..., Any]


DEFECTS: dict[tuple[str, str], Defect] = {}


def defect(families: str, step: str, name: str, sentence: str) -> Callable[[Any], Any]:
    """Register a function in place of a step, in each of the families."""

    def register(change: Any) -> Any:
        for family in families:
            assert (family, name) not in DEFECTS, name
            DEFECTS[family, name] = Defect(name, step, sentence, change)
        return change

    return register


def found(family: str, ids: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """Step to function. ValueError if two defects change the same step."""
    how = {DEFECTS[family, name].step: DEFECTS[family, name].change for name in ids}
    if len(how) != len(ids):
        raise ValueError(f"{' and '.join(ids)} change the same step")
    return how


class Context(SimpleNamespace):
    """What the steps of one node share; `c.do("step", default, …)` is the step, or the defect in place of it."""

    node: Node
    how: dict[str, Callable[..., Any]]

    def do(self, step: str, default: Callable[..., Any], *args: Any) -> Any:
        return self.how.get(step, default)(self, *args)


def same(c: Context, value: Any, *rest: Any) -> Any:
    return value


def directed(values: Array, kind: Any, up: bool) -> Array:
    """Values rounded to a type in one direction, as with a rounding mode left in the control register."""
    kind = np.dtype(kind)
    near = converted(values, kind)
    wide = near.astype(np.float64)
    wrong = wide < values if up else wide > values
    other = np.nextafter(near, kind.type(np.inf if up else -np.inf))
    return np.where(wrong, other, near).astype(np.float64)


def digits(values: Array, count: int) -> Array:
    """Numbers after they were written as text with so many significant decimal digits."""
    texts = [float(f"{value:.{count}g}") for value in np.asarray(values, np.float64).reshape(-1)]
    return np.array(texts, np.float64).reshape(np.shape(values))


def cut_bits(values: Array, bits: int) -> Array:
    """Values cut off to so many significant bits."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.trunc(np.ldexp(fraction, bits)), exponent - bits)


def estimate(values: Array, bits: int, newton: int, s: Callable[..., Array]) -> Array:
    """A reciprocal of an estimate instruction, refined by so many steps of Newton."""
    guess = significant(1 / values, bits)
    for _ in range(newton):
        guess = s(guess * s(2 - s(guess * values)))
    return guess
