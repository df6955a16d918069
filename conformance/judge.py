"""One case's output against its truths: a grade for each element and a verdict for the case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tiebreak.conformance.truths import Truth
from tiebreak.golden.nodes import Array, Case

# Elements are graded by these numbers; a case takes the greatest of its elements, the order being the contract's.
EXACT, WORKING, UNSPECIFIED, DEVIATES = 0, 1, 2, 3
GRADES = ("exact", "working-precision", "unspecified", "deviates")
VERDICTS = (*GRADES, "unsupported", "error", "crash", "timeout")
FAILURES = ("error", "crash", "timeout")


@dataclass(frozen=True)
class Judgement:
    """Grades (uint8, flat) and values (int64, flat) of a case that ran."""

    grades: Array
    values: Array

    @property
    def verdict(self) -> str:
        """The worst grade; a case without elements is exact."""
        return GRADES[int(self.grades.max(initial=EXACT))]

    def count(self, grade: int) -> int:
        return int(np.count_nonzero(self.grades == grade))


def output_problem(case: Case, outputs: tuple[Array, ...]) -> str:
    """What is wrong with the outputs' number, type or shape; empty if nothing."""
    wanted = case.node.outputs[0]
    if len(outputs) != 1:
        return f"{len(outputs)} outputs, the node has 1"
    if outputs[0].dtype != wanted.dtype:
        return f"output of type {outputs[0].dtype.name}, the node says {wanted.dtype.name}"
    if outputs[0].shape != case.inputs[0].shape:
        return f"output of shape {list(outputs[0].shape)}, the input has {list(case.inputs[0].shape)}"
    return ""


def judge(output: Array, truth: Truth) -> Judgement:
    """Grade each element; only equality counts, and an element on which the spec is silent is never a failure.

    An exact result is exact even where working precision leaves what the spec speaks of; any other result there is
    unspecified.
    """
    values = output.astype(np.int64).reshape(-1)
    grades = np.full(values.shape, DEVIATES, np.uint8)
    grades[~truth.specified] = UNSPECIFIED
    grades[truth.specified & (values == truth.working)] = WORKING
    grades[truth.exact_specified & (values == truth.exact)] = EXACT
    return Judgement(grades, values)
