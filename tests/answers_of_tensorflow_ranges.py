"""tensorflow.QuantizeV2 and tensorflow.Dequantize: cases from lists, and what the truths say of them as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiebreak.golden import kernel, oracle
from tiebreak.golden.make_node import make_node
from tiebreak.golden.nodes import Case
from tiebreak.golden.problem import UNDEFINED, Elementwise, Problem
from tiebreak.golden.problems import problems_of

Q, D = "tensorflow.QuantizeV2", "tensorflow.Dequantize"
SCALED = {"mode": "SCALED"}
# What two public tests leave at its default, where the document does not say which range is meant (see the contests).
WIDTHLESS = {"ensure_minimum_range": 0.0}


def case(operator: str, inputs: Sequence[Any], attributes: dict[str, Any], **types: str) -> Case:
    node = make_node(operator, attributes=attributes, **types)
    return Case("c", node, tuple(np.array(v, t.dtype) for v, t in zip(inputs, node.inputs, strict=True)))


def outputs(found: Case, *, working: bool = False) -> list[list[float | None]]:
    return [values(problem, working=working) for problem in problems_of(found)]


def values(problem: Problem, *, working: bool) -> list[float | None]:
    """What the oracle says as numbers; None where the document says nothing."""
    codes, states = oracle.solve(problem, working=working)
    assert isinstance(problem, Elementwise)
    kind = problem.result.name
    if kind == "bfloat16":
        numbers = (codes.astype(np.uint32) << 16).view(np.float32)
    else:
        numbers = codes.astype(np.uint32).view(np.float32) if kind == "float32" else codes
    return [None if state == UNDEFINED else float(n) for n, state in zip(numbers, states, strict=True)]


def assert_truths_agree(found: Case, modes: Sequence[str]) -> None:
    for problem in problems_of(found):
        for working in (False, True):
            for mode in modes:
                wanted, got = (truth.solve(problem, working=working, mode=mode) for truth in (oracle, kernel))
                assert np.array_equal(wanted[0], got[0]), (problem.output, working, mode)
                assert np.array_equal(wanted[1], got[1]), (problem.output, working, mode)
