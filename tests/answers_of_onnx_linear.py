"""onnx.QuantizeLinear and onnx.DequantizeLinear for inputs given as lists: the results as numbers, from both truths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tiebreak.golden import kernel, oracle
from tiebreak.golden.elements import FloatType, decode
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED, Problem
from tiebreak.golden.problems import problems_of

QUANTIZE, DEQUANTIZE = "onnx.QuantizeLinear", "onnx.DequantizeLinear"
F8 = "float8_e4m3fn"


def solve(operator: str, *inputs: Any, working: bool = False, **node: Any) -> list[Any]:
    """The results of a node."""
    (problem,) = problems_of(case(operator, *inputs, **node))
    return numbers(problem, working=working)


def case(operator: str, *inputs: Any, **node: Any) -> Case:
    """A node of make_node's keywords with inputs converted to its types; without a zero point if two are given."""
    made = make_node(operator, zero_point=len(inputs) == 3, **node)
    return Case("c", made, tuple(np.asarray(v).astype(t.dtype) for v, t in zip(inputs, made.inputs, strict=True)))


def numbers(problem: Problem, *, working: bool) -> list[Any]:
    """Each result as a number, None where the document says nothing. The kernel must give the same."""
    solved = [truth.solve(problem, working=working) for truth in (oracle, kernel)]
    for mine, other in zip(*solved, strict=True):
        assert np.array_equal(mine, other)
    codes, states = solved[0]
    return [None if s == UNDEFINED else number(problem, int(c)) for c, s in zip(codes, states, strict=True)]


def number(problem: Problem, code: int) -> float:
    kind = problem.result
    return float(decode(code & ((1 << kind.bits) - 1), kind)) if isinstance(kind, FloatType) else code


def same(got: list[Any], wanted: list[Any]) -> bool:
    return len(got) == len(wanted) and all(
        g == w or (g is not None and w is not None and math.isnan(g) and math.isnan(w))
        for g, w in zip(got, wanted, strict=True)
    )
